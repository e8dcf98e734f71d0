//! The exact way: a bound that nothing costs less than, and where that is not enough, an integer
//! program.
//!
//! Before, the e-graph is reduced to what the roots reach, and nodes that cannot be part of a best
//! term are dropped: those over a class without finite terms, those that need a superset of what a
//! cheaper sibling needs, and those whose cost alone exceeds that of the best term known.

use super::{Choices, Selection};
use std::time::{Duration, Instant};

/// The outcome of exact extraction.
#[derive(Clone, Debug, PartialEq)]
pub struct Exact {
    /// The best selection found.
    pub selection: Selection,
    /// What it costs.
    pub cost: f64,
    /// No selection costs less than this.
    pub bound: f64,
    /// Whether the selection is proved to be the cheapest.
    pub optimal: bool,
    /// How many circles had to be forbidden.
    pub cuts: usize,
}

impl Exact {
    /// Returns how much more than necessary the selection may cost, relative to its cost.
    pub fn gap(&self) -> f64 {
        match self.cost > 0.0 {
            true => (self.cost - self.bound).max(0.0) / self.cost,
            false => 0.0,
        }
    }
}

impl Choices {
    /// Finds the cheapest selection for some roots, or the best within a time limit.
    ///
    /// `start` has to be a selection that is finite from the roots; `None` if it is not. A limit
    /// that no clock reaches is none. Without the feature `lp` only the bound is looked for.
    pub fn exact(&self, start: &Selection, roots: &[usize], limit: Duration) -> Option<Exact> {
        let deadline = Instant::now().checked_add(limit);
        let cost = self.dag_cost(start, roots)?;
        let useful = self.useful(roots, cost);
        let bound = self.lower_bound(roots, &useful, deadline.filter(|_| !limit.is_zero()));
        let optimal = bound >= cost * (1.0 - 1e-7);
        let bound = if optimal { cost } else { bound };
        let best = Exact { selection: start.clone(), cost, bound, optimal, cuts: 0 };
        #[cfg(feature = "lp")]
        let best = {
            let mut best = best;
            if !optimal && !limit.is_zero() {
                self.integer_program(&mut best, roots, &useful, deadline);
            }
            best
        };
        Some(best)
    }
}
