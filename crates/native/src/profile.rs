//! What a run took, and what of a model is compiled.

use std::collections::BTreeMap;
use std::time::Duration;

/// What a step of a run took.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Timing {
    /// The compiled function, or the operation that the reference kernels evaluated.
    pub name: String,
    /// The operations that it computes.
    pub operations: Vec<String>,
    /// Whether it is compiled.
    pub compiled: bool,
    /// How long it took.
    pub time: Duration,
}

/// What a run took, step by step.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Profile {
    /// The steps in order.
    pub steps: Vec<Timing>,
    /// The whole run, with what is between the steps.
    pub total: Duration,
    /// The bytes of the arena.
    pub arena: usize,
}

/// How many operations of a model are compiled, and how many run on the reference kernels.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Coverage {
    /// By operation: how many are compiled, how many are not.
    pub operations: BTreeMap<String, (usize, usize)>,
    /// The steps that are compiled functions.
    pub calls: usize,
    /// By operation: why it is not compiled, with the number of times that this is the reason.
    pub reasons: BTreeMap<String, BTreeMap<String, usize>>,
}

impl Coverage {
    /// Counts what another one has as well.
    pub(crate) fn add(&mut self, other: Coverage) {
        for (name, (compiled, reference)) in other.operations {
            let count = self.operations.entry(name).or_default();
            *count = (count.0 + compiled, count.1 + reference);
        }
        self.calls += other.calls;
        for (name, reasons) in other.reasons {
            let own = self.reasons.entry(name).or_default();
            reasons.into_iter().for_each(|(why, count)| *own.entry(why).or_default() += count);
        }
    }

    /// How many operations are compiled.
    pub fn compiled(&self) -> usize {
        self.operations.values().map(|count| count.0).sum()
    }

    /// How many run on the reference kernels.
    pub fn reference(&self) -> usize {
        self.operations.values().map(|count| count.1).sum()
    }
}
