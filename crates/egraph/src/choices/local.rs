//! Local search: one choice after the other is changed as long as that pays.

use super::{Choices, Selection};

/// How many classes are looked at to tell what changes cost.
const MOST_LOOKS: usize = 1 << 26;

impl Choices {
    /// Improves a selection for given roots, trying at most `budget` changes; fewer where each
    /// takes long, as in a large e-graph.
    ///
    /// Each change replaces the node of one class that the roots reach, with what the selection
    /// says below it. The result costs no more than the start.
    pub fn improve(&self, start: &Selection, roots: &[usize], budget: usize) -> Selection {
        let mut best = start.clone();
        let Some(mut cost) = self.dag_cost(&best, roots) else {
            return best;
        };
        let (mut left, mut looks) = (budget, 0);
        loop {
            let before = cost;
            let reached = self.reach(&best, roots).unwrap_or_default();
            let each = reached.len().max(1);
            for class in reached.into_iter().rev() {
                for &node in &self.classes[class] {
                    if left == 0 || looks > MOST_LOOKS {
                        return best;
                    }
                    if best.chosen[class] == Some(node) || best.chosen[class].is_none() {
                        continue;
                    }
                    left -= 1;
                    looks += each;
                    let old = best.chosen[class].replace(node);
                    match self.dag_cost(&best, roots) {
                        Some(found) if found < cost - 1e-9 => cost = found,
                        _ => best.chosen[class] = old,
                    }
                }
            }
            if cost >= before {
                return best;
            }
        }
    }
}
