//! What evaluation at compile time may cost.
//!
//! A limit on what a constant may add to a model is the user's to lift; memory and time are not
//! without end even then. [`work`] estimates the elementary steps of an evaluation from types
//! alone, so that the same model gives the same result on every machine; [`FoldBudget`] adds up
//! what one run has spent.

use std::sync::atomic::{AtomicU64, Ordering};

use tangram_ir::{Module, Op, Value};

use crate::attrs::Attrs;
use crate::{constant, defined, nn};

/// The most bytes that one evaluation may make.
pub const MAX_FOLDED_BYTES: u64 = 1 << 30;
/// The most steps of one evaluation: some tenths of a second.
pub const MAX_FOLD_WORK: u64 = 1 << 30;
/// The most bytes and steps of all evaluations of one run.
const ALL_BYTES: u64 = 1 << 32;
const ALL_WORK: u64 = 1 << 34;

/// Which limit on evaluation is in the way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BudgetError {
    /// One result takes more than [`MAX_FOLDED_BYTES`].
    #[error("the result takes more memory than may be spent on one constant")]
    Bytes,
    /// One evaluation takes more than [`MAX_FOLD_WORK`].
    #[error("the evaluation takes more time than may be spent on one constant")]
    Work,
    /// The results of the run so far leave too little memory.
    #[error("the memory that may be spent on constants is used up")]
    AllBytes,
    /// The evaluations of the run so far leave too little time.
    #[error("the time that may be spent on constants is used up")]
    AllWork,
}

/// What is left to be spent on evaluation in one run.
#[derive(Debug)]
pub struct FoldBudget {
    bytes: AtomicU64,
    work: AtomicU64,
}

impl Default for FoldBudget {
    fn default() -> Self {
        FoldBudget { bytes: AtomicU64::new(ALL_BYTES), work: AtomicU64::new(ALL_WORK) }
    }
}

impl FoldBudget {
    /// Takes what the evaluation of an operation costs; says why not where it is too much.
    ///
    /// # Errors
    /// Which limit is in the way.
    pub fn spend(&self, bytes: u64, work: u64) -> Result<(), BudgetError> {
        if bytes > MAX_FOLDED_BYTES {
            return Err(BudgetError::Bytes);
        }
        if work > MAX_FOLD_WORK {
            return Err(BudgetError::Work);
        }
        let take = |left: &AtomicU64, amount: u64| {
            let less = |left: u64| left.checked_sub(amount);
            left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
        };
        if !take(&self.bytes, bytes) {
            return Err(BudgetError::AllBytes);
        }
        if !take(&self.work, work) {
            return Err(BudgetError::AllWork);
        }
        Ok(())
    }
}

/// Estimates how many elementary steps the evaluation of `op` takes, from the extents of its
/// operands and results, or of those that it is defined by; extents that are not known count as 1.
pub fn work(module: &Module, op: Op) -> u64 {
    if let Some(steps) = defined::work(module, op) {
        return steps;
    }
    let results = sum(module, module.results(op));
    let operands = sum(module, module.operands(op));
    let steps = nn::entry(module.name_text(op)).and_then(|entry| entry.steps);
    let inner = steps.map_or(USUAL, |steps| steps(&Sizes { module, op }));
    results.saturating_mul(inner.max(1)).saturating_add(operands)
}

/// Estimates how many steps an element of a result takes.
pub type StepsFn = fn(&Sizes<'_>) -> u64;

/// Steps of an element of which nothing else is known.
const USUAL: u64 = 4;

/// What an estimate may look at.
pub struct Sizes<'a> {
    module: &'a Module,
    op: Op,
}

impl Sizes<'_> {
    /// The extents of operand `i`, if they are known.
    pub fn extents(&self, i: usize) -> Option<Vec<usize>> {
        let value = self.module.operands(self.op).nth(i)?;
        let ty = self.module.value_type(value);
        Some(constant::static_tensor(self.module.context(), ty)?.1)
    }

    /// The last extent of operand `i`.
    pub fn last(&self, i: usize) -> u64 {
        self.extents(i).and_then(|shape| shape.last().copied()).unwrap_or(1) as u64
    }

    /// The number of elements of operand `i`.
    pub fn elements(&self, i: usize) -> u64 {
        self.extents(i).map_or(1, |shape| count(&shape))
    }

    /// The attributes.
    pub fn attrs(&self) -> Attrs<'_> {
        Attrs::new(self.module.context(), self.module.attrs(self.op))
    }
}

/// The number of elements of a tensor.
pub fn count(shape: &[usize]) -> u64 {
    shape.iter().map(|&n| n as u64).fold(1, u64::saturating_mul)
}

fn sum(module: &Module, values: impl Iterator<Item = Value>) -> u64 {
    let shapes = values
        .filter_map(|value| constant::static_tensor(module.context(), module.value_type(value)));
    shapes.map(|(_, shape)| count(&shape)).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_spent_once() {
        let budget = FoldBudget::default();
        assert_eq!(budget.spend(MAX_FOLDED_BYTES + 1, 0), Err(BudgetError::Bytes));
        assert_eq!(budget.spend(0, MAX_FOLD_WORK + 1), Err(BudgetError::Work));
        let times = (0..100).take_while(|_| budget.spend(MAX_FOLDED_BYTES, 0).is_ok()).count();
        assert_eq!(times as u64, ALL_BYTES / MAX_FOLDED_BYTES);
        assert_eq!(budget.spend(MAX_FOLDED_BYTES, 0), Err(BudgetError::AllBytes));
        assert!(budget.spend(0, MAX_FOLD_WORK).is_ok(), "time is counted by itself");
    }
}
