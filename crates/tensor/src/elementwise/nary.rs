//! Sums, means and extremes of any number of operands that broadcast.

use crate::dispatch;
use crate::element::{Number, Real};
use crate::elementwise::apply::map_float;
use crate::elementwise::arithmetic::{add, maximum, minimum};
use crate::error::{KernelError, Result};
use crate::tensor::Tensor;

fn fold(
    kernel: &'static str,
    operands: &[&Tensor],
    combine: fn(&Tensor, &Tensor) -> Result<Tensor>,
) -> Result<Tensor> {
    let Some((&first, rest)) = operands.split_first() else {
        return Err(KernelError::BadParameter {
            kernel,
            parameter: "operands",
            expected: "at least one",
            found: "none".to_owned(),
        });
    };
    rest.iter().try_fold(first.clone(), |folded, operand| combine(&folded, operand))
}

/// Adds all operands, from the left.
///
/// # Errors
/// [`KernelError::BadParameter`] without operands; those of [`add`].
pub fn sum(operands: &[&Tensor]) -> Result<Tensor> {
    fold("sum", operands, add)
}

/// Keeps the greatest; NaN if one is.
///
/// # Errors
/// [`KernelError::BadParameter`] without operands; those of [`maximum`].
pub fn max(operands: &[&Tensor]) -> Result<Tensor> {
    fold("max", operands, maximum)
}

/// Keeps the smallest; NaN if one is.
///
/// # Errors
/// [`KernelError::BadParameter`] without operands; those of [`minimum`].
pub fn min(operands: &[&Tensor]) -> Result<Tensor> {
    fold("min", operands, minimum)
}

/// Averages all operands.
///
/// # Errors
/// [`KernelError::BadParameter`] without operands, [`KernelError::BadDType`] unless they are
/// floats of 16 to 64 bits; those of [`add`].
pub fn mean(operands: &[&Tensor]) -> Result<Tensor> {
    let total = fold("mean", operands, add)?;
    let count = operands.len() as f64;
    dispatch!(float, "mean", total.dtype(), T => {
        let count = <<T as Number>::Wide as Real>::constant(count);
        map_float::<T>(&total, |x| x / count)
    })
}
