//! The cheapest trees, and the next ones after them.

use super::{Choices, Selection};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

/// A term as a tree of chosen nodes; children are places in a list of trees per class.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// The cost, shared parts counted each time.
    pub cost: f64,
    /// The node at the root.
    pub node: usize,
    /// For each child of the node, which of its class's trees is used.
    pub ranks: Vec<usize>,
}

/// A candidate in the order of the heap: cheapest first.
struct Candidate(Tree);

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        let (left, right) = (&self.0, &other.0);
        let cost = right.cost.total_cmp(&left.cost);
        cost.then_with(|| right.node.cmp(&left.node)).then_with(|| right.ranks.cmp(&left.ranks))
    }
}

impl Choices {
    /// Chooses the node of the cheapest tree for each class that has one.
    pub fn cheapest_trees(&self) -> Selection {
        let parents = self.parents();
        let mut best: Vec<Option<(f64, usize)>> = vec![None; self.classes.len()];
        let mut todo: VecDeque<usize> = (0..self.nodes.len()).collect();
        let mut queued = vec![true; self.nodes.len()];
        while let Some(node) = todo.pop_front() {
            queued[node] = false;
            let choice = &self.nodes[node];
            let kids = choice.kids.iter().map(|&kid| best[kid].map(|(cost, _)| cost));
            let Some(below) = kids.sum::<Option<f64>>() else {
                continue;
            };
            let cost = choice.cost + below;
            if best[choice.class].is_some_and(|(known, _)| cost >= known) {
                continue;
            }
            best[choice.class] = Some((cost, node));
            for &above in &parents[choice.class] {
                if !std::mem::replace(&mut queued[above], true) {
                    todo.push_back(above);
                }
            }
        }
        let chosen = best.into_iter().map(|best| best.map(|(_, node)| node)).collect();
        Selection { chosen }
    }

    /// Lists the `count` cheapest trees of a class, cheapest first, with those of the classes
    /// below that they use, by class.
    ///
    /// Trees come up in the order of their costs over all classes at once, so each is built from
    /// trees that are known.
    pub fn cheapest_of_each(&self, root: usize, count: usize) -> Vec<Vec<Tree>> {
        let mut queue = Queue {
            choices: self,
            trees: vec![Vec::new(); self.classes.len()],
            heap: BinaryHeap::new(),
            waiting: FxHashMap::default(),
        };
        for (node, choice) in self.nodes.iter().enumerate() {
            queue.consider(node, vec![0; choice.kids.len()]);
        }
        while queue.trees[root].len() < count {
            let Some(Candidate(tree)) = queue.heap.pop() else {
                break;
            };
            if queue.trees[self.nodes[tree.node].class].len() < count {
                queue.accept(tree);
            }
        }
        queue.trees
    }
}

/// A node with the ranks of the trees below it.
type Waiting = (usize, Vec<usize>);

/// The trees found so far, and those that may come next.
struct Queue<'a> {
    choices: &'a Choices,
    trees: Vec<Vec<Tree>>,
    heap: BinaryHeap<Candidate>,
    /// Trees that need the n-th tree of a class, which is not known yet.
    waiting: FxHashMap<(usize, usize), Vec<Waiting>>,
}

impl Queue<'_> {
    /// Puts a tree on the heap, or makes it wait for the first child that is missing.
    fn consider(&mut self, node: usize, ranks: Vec<usize>) {
        let choice = &self.choices.nodes[node];
        let mut cost = choice.cost;
        for (&kid, &rank) in choice.kids.iter().zip(&ranks) {
            match self.trees[kid].get(rank) {
                Some(tree) => cost += tree.cost,
                None => {
                    self.waiting.entry((kid, rank)).or_default().push((node, ranks));
                    return;
                }
            }
        }
        self.heap.push(Candidate(Tree { cost, node, ranks }));
    }

    fn accept(&mut self, tree: Tree) {
        let class = self.choices.nodes[tree.node].class;
        for place in 0..tree.ranks.len() {
            let mut ranks = tree.ranks.clone();
            ranks[place] += 1;
            self.consider(tree.node, ranks);
            // Only places up to the first that was raised are raised: each combination once.
            if tree.ranks[place] > 0 {
                break;
            }
        }
        let rank = self.trees[class].len();
        self.trees[class].push(tree);
        for (node, ranks) in self.waiting.remove(&(class, rank)).unwrap_or_default() {
            self.consider(node, ranks);
        }
    }
}
