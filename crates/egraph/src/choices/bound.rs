//! What no selection can cost less than, without an integer program.
//!
//! The linear program behind extraction with shared costs has one variable for each node. Some
//! node of each root is chosen, and for classes `c` and `k` no more nodes of `c` that need `k` than
//! nodes of `k`. Its dual is a flow: each root is given an amount, a class passes on parts
//! `z(c, k)` of what flows in, and for each node `m` of a class `c`
//!
//! ```text
//! inflow of c  <=  cost of m  +  sum of z(c, k) over the children k of m
//! ```
//!
//! What the roots are given is a lower bound as long as this holds. It is raised step by step (dual
//! ascent): a node that is *tight*, its two sides being equal, has to pass on what comes more, to
//! a child that can take it. A class can take more if each of its tight nodes has such a child, so
//! these classes are found from the leaves up. A step ends where the next node becomes tight.
//!
//! A second bound, which circles do not lower, is the cost of a way from a root to a leaf.

use super::Choices;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::time::Instant;

/// How many children of nodes are looked at before the ascent ends.
const BUDGET: usize = 60_000_000;
/// Costs closer than this, relative to the largest, count as equal.
const EPSILON: f64 = 1e-9;

/// The flow so far, and room for a step.
struct Ascent<'a> {
    choices: &'a Choices,
    /// The nodes that a best selection may use.
    useful: &'a [bool],
    kids: Vec<Vec<usize>>,
    parents: Vec<Vec<usize>>,
    /// How much the right side of each node is above the left.
    slack: Vec<f64>,
    tight: f64,
    /// For each tight node the child that takes what comes more.
    heir: Vec<Option<usize>>,
    /// The classes that can take more, each after those that it relies on.
    order: Vec<usize>,
    waits: Vec<usize>,
    rate: Vec<f64>,
    raised: Vec<usize>,
}

impl Choices {
    /// Returns a number that no selection of useful nodes costs less than.
    pub(crate) fn lower_bound(
        &self,
        roots: &[usize],
        useful: &[bool],
        deadline: Option<Instant>,
    ) -> f64 {
        let mut roots = roots.to_vec();
        roots.sort_unstable();
        roots.dedup();
        let mut ascent = Ascent::new(self, useful);
        let edges: usize = ascent.kids.iter().map(|kids| kids.len() + 1).sum();
        let mut steps = BUDGET / edges.max(1);
        let mut bound = self.chain_bound(&roots, &ascent.kids, useful);
        let mut flow = 0.0;
        for root in roots {
            while steps > 0 && deadline.is_none_or(|deadline| Instant::now() < deadline) {
                steps -= 1;
                let Some(step) = ascent.raise(root) else { break };
                flow += step;
            }
        }
        bound = flow.max(bound);
        // Sums of many small steps may be off in their last digits.
        bound * (1.0 - EPSILON)
    }

    /// The cost of the cheapest way from a root down to a leaf, where of the children of a node the
    /// most expensive one counts; the largest over the roots.
    ///
    /// The flow knows nothing of circles: classes that need each other in turn may hold each other
    /// up at no cost. A selection without circles has such a way, and pays for each node on it.
    /// O(n log n) for n nodes and children, in the order of Knuth, "A generalization of Dijkstra's
    /// algorithm", 1977.
    fn chain_bound(&self, roots: &[usize], kids: &[Vec<usize>], useful: &[bool]) -> f64 {
        let mut parents = vec![Vec::new(); self.classes.len()];
        let mut waits: Vec<usize> = kids.iter().map(Vec::len).collect();
        let mut ready = BinaryHeap::new();
        for (node, kids) in kids.iter().enumerate().filter(|(node, _)| useful[*node]) {
            kids.iter().for_each(|&kid| parents[kid].push(node));
            if kids.is_empty() {
                ready.push(Reverse((Cost(self.nodes[node].cost), node)));
            }
        }
        let mut known: Vec<Option<f64>> = vec![None; self.classes.len()];
        while let Some(Reverse((Cost(cost), node))) = ready.pop() {
            let class = self.nodes[node].class;
            if known[class].is_some() {
                continue;
            }
            known[class] = Some(cost);
            for &above in &parents[class] {
                waits[above] -= 1;
                if waits[above] == 0 {
                    // Of its children this one came last, and is the most expensive.
                    ready.push(Reverse((Cost(cost + self.nodes[above].cost), above)));
                }
            }
        }
        roots.iter().filter_map(|&root| known[root]).fold(0.0, f64::max)
    }
}

/// A cost in the order of numbers.
#[derive(Clone, Copy, PartialEq)]
struct Cost(f64);

impl Eq for Cost {}

impl PartialOrd for Cost {
    fn partial_cmp(&self, other: &Cost) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Cost {
    fn cmp(&self, other: &Cost) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl<'a> Ascent<'a> {
    fn new(choices: &'a Choices, useful: &'a [bool]) -> Self {
        let kids: Vec<Vec<usize>> = choices.nodes.iter().map(|node| node.distinct_kids()).collect();
        let mut parents = vec![Vec::new(); choices.classes.len()];
        for (node, kids) in kids.iter().enumerate().filter(|(node, _)| useful[*node]) {
            kids.iter().for_each(|&kid| parents[kid].push(node));
        }
        let slack: Vec<f64> = choices.nodes.iter().map(|node| node.cost).collect();
        let largest = slack.iter().copied().fold(0.0, f64::max);
        Ascent {
            choices,
            useful,
            kids,
            parents,
            slack,
            tight: largest * EPSILON,
            heir: vec![None; choices.nodes.len()],
            order: Vec::new(),
            waits: vec![0; choices.classes.len()],
            rate: vec![0.0; choices.classes.len()],
            raised: vec![usize::MAX; choices.classes.len()],
        }
    }

    /// Gives a root as much more as one step allows; `None` if it can take nothing more.
    fn raise(&mut self, root: usize) -> Option<f64> {
        self.find_takers();
        if self.waits[root] > 0 {
            return None;
        }
        self.rate.fill(0.0);
        self.rate[root] = 1.0;
        let step = self.flow(f64::INFINITY);
        if !step.is_finite() || step <= 0.0 {
            return None;
        }
        self.rate.fill(0.0);
        self.rate[root] = 1.0;
        self.flow(step);
        Some(step)
    }

    /// Lists the classes that can take more, and for each tight node a child among them.
    fn find_takers(&mut self) {
        self.heir.fill(None);
        self.order.clear();
        for (class, nodes) in self.choices.classes.iter().enumerate() {
            let tight = nodes.iter().filter(|&&node| self.is_tight(node));
            self.waits[class] = tight.count();
            if self.waits[class] == 0 && nodes.iter().any(|&node| self.useful[node]) {
                self.order.push(class);
            }
        }
        let mut next = 0;
        while let Some(&class) = self.order.get(next) {
            next += 1;
            for &node in &self.parents[class] {
                if self.is_tight(node) && self.heir[node].is_none() {
                    self.heir[node] = Some(class);
                    let above = self.choices.nodes[node].class;
                    self.waits[above] -= 1;
                    if self.waits[above] == 0 {
                        self.order.push(above);
                    }
                }
            }
        }
    }

    fn is_tight(&self, node: usize) -> bool {
        self.useful[node] && self.slack[node] <= self.tight
    }

    /// Sends what the rates say down to the leaves; returns how far that may go, and takes it off
    /// the slack if `step` is finite.
    fn flow(&mut self, step: f64) -> f64 {
        let mut longest = f64::INFINITY;
        for at in (0..self.order.len()).rev() {
            let class = self.order[at];
            let rate = self.rate[class];
            if rate == 0.0 {
                continue;
            }
            let nodes = &self.choices.classes[class];
            for heir in nodes.iter().filter_map(|&node| self.heir[node]) {
                if self.raised[heir] != class {
                    self.raised[heir] = class;
                    self.rate[heir] += rate;
                }
            }
            for &node in nodes.iter().filter(|&&node| self.useful[node]) {
                let passed = self.kids[node].iter().filter(|&&kid| self.raised[kid] == class);
                let change = rate * (passed.count() as f64 - 1.0);
                if step.is_finite() {
                    self.slack[node] += step * change;
                } else if change < 0.0 {
                    longest = longest.min(self.slack[node] / -change);
                }
            }
            // Another class may pass something on to the same one.
            for heir in nodes.iter().filter_map(|&node| self.heir[node]) {
                self.raised[heir] = usize::MAX;
            }
        }
        longest
    }
}
