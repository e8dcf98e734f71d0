//! Which nodes may be part of a best term.
//!
//! A node is beaten by a sibling that costs no more and needs no class that it does not need. In
//! the order of cost, then of how many classes a node needs, what beats a node stands before it,
//! and something that nothing beats is among what does: each node is compared with those only that
//! were kept. These stand in lists, each under the class that the fewest siblings need: what needs
//! all that it needs, needs this one.

use super::Choices;
use rustc_hash::{FxHashMap, FxHashSet};

/// How many classes are compared for each node, on the average. Beyond that, what others beat may
/// stay, unless it needs the same: that costs time later on, and no result.
const COMPARISONS: usize = 256;

impl Choices {
    /// Tells for each node whether it may be part of a best term from `roots`, when one of this
    /// cost is known.
    pub(super) fn useful(&self, roots: &[usize], cost: f64) -> Vec<bool> {
        let finite = self.cheapest_trees();
        let fits = |node: usize| {
            let choice = &self.nodes[node];
            let founded =
                choice.kids.iter().all(|&kid| finite.chosen[kid].is_some() && kid != choice.class);
            founded && choice.cost <= cost + 1e-9
        };
        let mut useful = vec![false; self.nodes.len()];
        let mut seen = vec![false; self.classes.len()];
        let mut stack: Vec<usize> = roots.to_vec();
        while let Some(class) = stack.pop() {
            if std::mem::replace(&mut seen[class], true) {
                continue;
            }
            let nodes: Vec<usize> =
                self.classes[class].iter().copied().filter(|&node| fits(node)).collect();
            for node in self.unbeaten(&nodes) {
                useful[node] = true;
                stack.extend(&self.nodes[node].kids);
            }
        }
        useful
    }

    /// The siblings that none of the others beats.
    fn unbeaten(&self, nodes: &[usize]) -> Vec<usize> {
        if nodes.len() < 2 {
            return nodes.to_vec();
        }
        let mut siblings: Vec<(usize, Vec<usize>)> =
            nodes.iter().map(|&node| (node, self.nodes[node].distinct_kids())).collect();
        let mut needed_by: FxHashMap<usize, usize> = FxHashMap::default();
        for &kid in siblings.iter().flat_map(|sibling| &sibling.1) {
            *needed_by.entry(kid).or_default() += 1;
        }
        // Stable: of those that need the same at the same cost the first is kept.
        siblings.sort_by(|(a, needs), (b, others)| {
            let cost = |&node: &usize| self.nodes[node].cost;
            cost(a).total_cmp(&cost(b)).then(needs.len().cmp(&others.len()))
        });
        let mut left = COMPARISONS.saturating_mul(nodes.len());
        let mut lists: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        let mut known: FxHashSet<&[usize]> = FxHashSet::default();
        let mut kept: Vec<usize> = Vec::new();
        for (at, (node, needs)) in siblings.iter().enumerate() {
            if !known.insert(needs) {
                continue;
            }
            let mut rivals = needs.iter().filter_map(|kid| lists.get(kid)).flatten();
            let beaten = rivals.any(|&rival| {
                let rival = &siblings[rival].1;
                // Longer lists take longer.
                let looks = rival.len().min(left);
                left -= looks;
                looks == rival.len() && rival.iter().all(|kid| needs.binary_search(kid).is_ok())
            });
            if beaten {
                continue;
            }
            kept.push(*node);
            match needs.iter().min_by_key(|&kid| needed_by[kid]) {
                Some(&rarest) => lists.entry(rarest).or_default().push(at),
                // It needs nothing, and what follows costs no less.
                None => break,
            }
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether `rival` costs no more than `node` and needs nothing that it does not need; of two
    /// that say the same, whether it stands before.
    fn beats(choices: &Choices, rival: usize, node: usize) -> bool {
        let (cost, other_cost) = (choices.nodes[rival].cost, choices.nodes[node].cost);
        let [needs, others] = [rival, node].map(|node| choices.nodes[node].distinct_kids());
        let no_more = cost <= other_cost && needs.iter().all(|kid| others.contains(kid));
        no_more && (cost != other_cost || needs != others || rival < node)
    }

    #[test]
    fn what_is_kept_is_what_nothing_beats() {
        let mut state = 1u32;
        let mut below = |most: usize| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) as usize % most
        };
        for _ in 0..if cfg!(miri) { 20 } else { 500 } {
            let mut choices = Choices::new(7);
            for _ in 0..below(30) {
                let kids: Vec<usize> = (0..below(5)).map(|_| 1 + below(6)).collect();
                choices.push(0, below(4) as f64, kids);
            }
            let nodes = choices.classes[0].clone();
            let mut kept = choices.unbeaten(&nodes);
            kept.sort_unstable();
            let unbeaten =
                |&node: &usize| !nodes.iter().any(|&r| r != node && beats(&choices, r, node));
            assert_eq!(kept, nodes.iter().copied().filter(unbeaten).collect::<Vec<_>>());
        }
    }

    /// A class of very many nodes takes time in proportion, whatever they share.
    #[test]
    fn many_siblings_are_compared_with_few() {
        // Miri runs a thousand times slower.
        const SIDE: usize = if cfg!(miri) { 12 } else { 400 };
        let mut choices = Choices::new(1 + 2 * SIDE);
        for i in 0..SIDE {
            for j in 0..SIDE {
                choices.push(0, ((i * 7 + j) % 5) as f64, [1 + i, 1 + SIDE + j]);
            }
        }
        assert_eq!(choices.unbeaten(&choices.classes[0].clone()).len(), SIDE * SIDE);
        // Of each pair of classes twice, the cheaper one stays.
        for i in 0..SIDE {
            for j in 0..SIDE {
                choices.push(0, ((i * 7 + j) % 5) as f64 + 0.5, [1 + SIDE + j, 1 + i]);
            }
        }
        let kept = choices.unbeaten(&choices.classes[0].clone());
        assert_eq!(kept.len(), SIDE * SIDE);
        assert!(kept.iter().all(|&node| node < SIDE * SIDE));
    }
}
