//! The greedy way: each class keeps the set of classes that its best term uses.
//!
//! The cost of a node is that of the union of its children's sets, and its own. A worklist visits
//! a node again when a class below it got cheaper, as tree extraction does. What it misses is that
//! a dearer child may share more with its siblings; local search makes up for some of that.
//!
//! The sets of a chain are as long as it is. So they are bounded, all together: an e-graph that
//! would need more is read by its cheapest trees, which need one number for each class.

use super::{Choices, Selection};
use crate::id::to_u32;
use std::collections::VecDeque;

/// How many classes all sets together may have, and how many are looked at to make them.
const MOST_KEPT: usize = 1 << 25;
const MOST_LOOKS: usize = 1 << 28;

/// The best term of a class so far: the classes it uses in order, its cost, its node.
#[derive(Clone, Debug)]
struct Best {
    uses: Vec<u32>,
    cost: f64,
    node: usize,
}

impl Choices {
    /// Chooses a node for every class that has a finite term.
    pub fn greedy(&self) -> Selection {
        self.greedy_within(MOST_KEPT, MOST_LOOKS).unwrap_or_else(|| self.cheapest_trees())
    }

    /// The same, if it needs no more than so much.
    fn greedy_within(&self, most_kept: usize, most_looks: usize) -> Option<Selection> {
        let parents = self.parents();
        let mut best: Vec<Option<Best>> = vec![None; self.classes.len()];
        let mut queued = vec![true; self.nodes.len()];
        let mut todo: VecDeque<usize> = (0..self.nodes.len()).collect();
        let (mut kept, mut looks) = (0, 0);
        while let Some(node) = todo.pop_front() {
            queued[node] = false;
            let class = self.nodes[node].class;
            let Some(found) = self.weigh(node, &best) else {
                continue;
            };
            looks += found.uses.len() * (1 + self.nodes[node].kids.len());
            // The first term is taken at any cost: sums of great ones are infinite.
            let is_known = |best: &Best| found.cost >= best.cost - 1e-9 * best.cost.min(1.0);
            if best[class].as_ref().is_some_and(is_known) {
                continue;
            }
            kept += found.uses.len();
            kept -= best[class].replace(found).map_or(0, |old| old.uses.len());
            if kept > most_kept || looks > most_looks {
                return None;
            }
            for &above in &parents[class] {
                if !std::mem::replace(&mut queued[above], true) {
                    todo.push_back(above);
                }
            }
        }
        Some(self.founded(&best))
    }

    /// Returns the term of a node over the best terms below it.
    fn weigh(&self, node: usize, best: &[Option<Best>]) -> Option<Best> {
        let choice = &self.nodes[node];
        let own = to_u32(choice.class, "classes");
        let mut uses: Vec<u32> = Vec::new();
        for &kid in &choice.kids {
            let below = best[kid].as_ref()?;
            if below.uses.binary_search(&own).is_ok() {
                return None;
            }
            uses = match uses.is_empty() {
                true => below.uses.clone(),
                false => merge(&uses, &below.uses),
            };
        }
        let cost_of = |&class: &u32| match &best[class as usize] {
            Some(best) => self.nodes[best.node].cost,
            None => 0.0,
        };
        let cost = choice.cost + uses.iter().map(cost_of).sum::<f64>();
        let place = uses.partition_point(|&class| class < own);
        uses.insert(place, own);
        Some(Best { uses, cost, node })
    }

    /// Replaces choices that lie on a cycle, which late changes below can bring about, by those
    /// of the cheapest tree.
    fn founded(&self, best: &[Option<Best>]) -> Selection {
        let chosen = best.iter().map(|best| best.as_ref().map(|best| best.node));
        let mut selection = Selection { chosen: chosen.collect() };
        let trees = self.cheapest_trees();
        let finite = self.finite(&selection);
        for class in 0..self.classes.len() {
            if selection.chosen[class].is_some() && !finite[class] {
                selection.chosen[class] = trees.chosen[class];
            }
        }
        // Mixing the two may leave a cycle; the trees alone never have one.
        let chosen: Vec<usize> =
            (0..self.classes.len()).filter(|&class| selection.chosen[class].is_some()).collect();
        match self.reach(&selection, &chosen) {
            Some(_) => selection,
            None => trees,
        }
    }
}

/// Merges two ordered sets.
fn merge(left: &[u32], right: &[u32]) -> Vec<u32> {
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
    loop {
        let next = match (left.peek(), right.peek()) {
            (Some(a), Some(b)) if a <= b => left.next(),
            (_, Some(_)) => right.next(),
            (_, None) => left.next(),
        };
        match next {
            Some(&class) if merged.last() != Some(&class) => merged.push(class),
            Some(_) => {}
            None => return merged,
        }
    }
}
