//! What evaluation at compile time may cost.
//!
//! A limit on what a constant may add to a model is the user's to lift; memory and time are not
//! without end even then. [`work`] estimates the elementary steps of an evaluation from types
//! alone, so that the same model gives the same result on every machine; [`FoldBudget`] adds up
//! what one run has spent.

use std::sync::atomic::{AtomicU64, Ordering};

use tangram_ir::{Module, Op, Value};

use crate::attrs::Attrs;
use crate::{constant, defined};

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
    let shape = |i: usize| {
        let value = module.operands(op).nth(i)?;
        Some(constant::static_tensor(module.context(), module.value_type(value))?.1)
    };
    let elements = |i| shape(i).map_or(1, |shape| count(&shape));
    let name = module.name_text(op).trim_start_matches("nn.");
    let inner = match name {
        "matmul" | "dense" | "gemm" | "matmul_integer" | "qlinear_matmul" => {
            shape(0).and_then(|shape| shape.last().copied()).unwrap_or(1) as u64
        }
        "einsum" => einsum(module, op, &[shape(0), shape(1)]).unwrap_or_else(|| elements(0)),
        _ if name.contains("conv") => match shape(1) {
            Some(weight) => count(&weight) / weight.first().map_or(1, |&n| n.max(1) as u64),
            None => 1,
        },
        _ if name.contains("pool") => {
            let window = Attrs::new(module.context(), module.attrs(op)).ints("pool_size");
            let window = window.unwrap_or_default();
            window.iter().map(|&n| n.unsigned_abs().max(1)).fold(1, u64::saturating_mul)
        }
        "resize" => 64,
        "lstm" | "gru" | "rnn" | "contrib_dynamic_quantize_lstm" => {
            shape(1).and_then(|shape| shape.last().copied()).unwrap_or(1) as u64 * 8
        }
        "dft" | "det" | "cumsum" | "cumprod" | "attention" => elements(0).isqrt(),
        _ => 4,
    };
    results.saturating_mul(inner.max(1)).saturating_add(operands)
}

/// The extent of each index that is summed over, multiplied.
fn einsum(module: &Module, op: Op, shapes: &[Option<Vec<usize>>]) -> Option<u64> {
    let attrs = Attrs::new(module.context(), module.attrs(op));
    let equation = attrs.text("equation")?.replace(' ', "");
    let (left, right) = equation.split_once("->")?;
    let mut seen = String::new();
    let mut product = 1u64;
    for (term, shape) in left.split(',').zip(shapes) {
        let shape = shape.as_ref().filter(|shape| shape.len() == term.chars().count())?;
        for (index, &extent) in term.chars().zip(shape) {
            if !right.contains(index) && !seen.contains(index) {
                seen.push(index);
                product = product.saturating_mul(extent as u64);
            }
        }
    }
    Some(product)
}

fn count(shape: &[usize]) -> u64 {
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
