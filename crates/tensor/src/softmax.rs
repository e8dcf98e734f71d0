//! Softmax and its relatives.

use crate::dispatch;
use crate::element::{Number, Real};
use crate::error::Result;
use crate::layout::{around, resolve_axis};
use crate::shape::flatten;
use crate::tensor::Tensor;

/// Which of the three functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Softmax {
    /// Exponentials divided by their sum.
    Softmax,
    /// The logarithm of that, without going through it.
    LogSoftmax,
    /// 1 at the first maximum, 0 elsewhere.
    Hardmax,
}

/// Normalises along an axis, as opset 13 and later do.
///
/// Exponentials are taken relative to the maximum and summed in `f64`.
///
/// # Errors
/// [`BadAxis`](crate::KernelError::BadAxis), [`BadDType`](crate::KernelError::BadDType) unless the
/// elements are floats of 16 to 64 bits.
pub fn softmax(kind: Softmax, tensor: &Tensor, axis: i64) -> Result<Tensor> {
    dispatch!(float, "softmax", tensor.dtype(), T => {
        let axis = resolve_axis("softmax", axis, tensor.rank())?;
        let (outer, size, inner) = around(tensor.shape(), axis);
        let data = tensor.view::<T>()?;
        let mut out = vec![T::default(); data.len()];
        let mut run = Vec::with_capacity(size);
        // An empty tensor may still have more rows than could be counted through.
        let outer = if data.is_empty() { 0 } else { outer };
        for row in 0..outer {
            for column in 0..inner {
                let at = |index: usize| (row * size + index) * inner + column;
                run.clear();
                run.extend((0..size).map(|index| data[at(index)].widen()));
                normalise(kind, &mut run);
                for (index, &value) in run.iter().enumerate() {
                    out[at(index)] = <T as Number>::narrow(value);
                }
            }
        }
        Tensor::from_vec(tensor.shape(), out)
    })
}

/// Normalises all axes from `axis` on together, as the opsets before 13 do.
///
/// # Errors
/// As [`softmax`]; an axis equal to the rank is allowed.
pub fn softmax_flattened(kind: Softmax, tensor: &Tensor, axis: i64) -> Result<Tensor> {
    softmax(kind, &flatten(tensor, axis)?, 1)?.reshaped(tensor.shape())
}

fn normalise<R: Real>(kind: Softmax, run: &mut [R]) {
    let greatest = run.iter().fold(R::LOWEST, |a, &b| a.larger(b));
    if kind == Softmax::Hardmax {
        let first = run.iter().position(|&x| x == greatest || x.is_nan());
        for (index, value) in run.iter_mut().enumerate() {
            *value = if Some(index) == first { R::one() } else { R::zero() };
        }
        return;
    }
    let mut sum = 0.0;
    for value in run.iter_mut() {
        let shifted = *value - greatest;
        let power = shifted.exp();
        sum += Number::to_f64(power);
        *value = if kind == Softmax::Softmax { power } else { shifted };
    }
    let (scale, offset) = (R::constant(1.0 / sum), R::constant(sum.ln()));
    for value in run.iter_mut() {
        *value = if kind == Softmax::Softmax { *value * scale } else { *value - offset };
    }
}
