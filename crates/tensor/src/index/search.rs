//! Where something is: the non-zero elements, the greatest and the least.

use bytemuck::Zeroable;

use crate::budget;
use crate::cells::{cells, with_cells};
use crate::dispatch;
use crate::dtype::DType;
use crate::element::Element;
use crate::error::{KernelError, Result};
use crate::layout::{around, resolve_axis};
use crate::tensor::{Shape, Tensor, checked_count};

/// Returns the coordinates of the elements other than zero, one column each: shape `[rank, n]`.
///
/// Text counts as non-zero unless it is empty. A scalar gives shape `[0, n]`.
///
/// # Errors
/// [`KernelError::TooLarge`].
pub fn nonzero(tensor: &Tensor) -> Result<Tensor> {
    budget::ask(tensor.len().saturating_mul(size_of::<usize>()))?;
    let found = nonzero_positions(tensor)?;
    checked_count(DType::I64, &[tensor.rank(), found.len()])?;
    let mut out = Vec::with_capacity(tensor.rank() * found.len());
    for axis in 0..tensor.rank() {
        let (_, size, inner) = around(tensor.shape(), axis);
        out.extend(found.iter().map(|&at| (at / inner % size) as i64));
    }
    Tensor::from_vec([tensor.rank(), found.len()], out)
}

fn nonzero_positions(tensor: &Tensor) -> Result<Vec<usize>> {
    if let Some(strings) = tensor.strings() {
        return Ok((0..strings.len()).filter(|&i| !strings[i].is_empty()).collect());
    }
    let dtype = tensor.dtype();
    if dtype.is_packed() || dtype.is_float() && dtype.size_bits() == 8 {
        return Ok(positions(&tensor.f64s()?, |&v| v != 0.0));
    }
    if dtype.is_float() {
        // Minus zero is zero, though not all its bits are.
        return dispatch!(float, "nonzero", dtype, T => {
            Ok(positions(&tensor.view::<T>()?, |&v| v != T::default()))
        });
    }
    with_cells!("nonzero", dtype, C => {
        Ok(positions(cells::<C>(tensor), |&cell| cell != C::zeroed()))
    })
}

fn positions<T>(elements: &[T], is_set: impl Fn(&T) -> bool) -> Vec<usize> {
    (0..elements.len()).filter(|&i| is_set(&elements[i])).collect()
}

/// Returns the index of the greatest element along an axis; of equals the first, or the last on
/// request. NaN counts as greater than everything, as in numpy.
///
/// # Errors
/// [`KernelError::BadAxis`], [`KernelError::BadDType`] for no numbers; [`KernelError::BadShape`]
/// if the axis is empty and the result is not.
pub fn argmax(tensor: &Tensor, axis: i64, keepdims: bool, select_last: bool) -> Result<Tensor> {
    dispatch!(element, "argmax", tensor.dtype(), T => {
        let beats = |new: T, old: T| new.gt(&old) || (is_nan(new) && !is_nan(old));
        search::<T>("argmax", tensor, axis, keepdims, select_last, beats)
    })
}

/// Returns the index of the least element along an axis; of equals the first, or the last on
/// request. NaN counts as less than everything, as in numpy.
///
/// # Errors
/// As [`argmax`].
pub fn argmin(tensor: &Tensor, axis: i64, keepdims: bool, select_last: bool) -> Result<Tensor> {
    dispatch!(element, "argmin", tensor.dtype(), T => {
        let beats = |new: T, old: T| new.lt(&old) || (is_nan(new) && !is_nan(old));
        search::<T>("argmin", tensor, axis, keepdims, select_last, beats)
    })
}

#[allow(clippy::eq_op)] // Only NaN differs from itself.
fn is_nan<T: Element>(value: T) -> bool {
    value != value
}

fn search<T: Element>(
    kernel: &'static str,
    tensor: &Tensor,
    axis: i64,
    keepdims: bool,
    select_last: bool,
    beats: impl Fn(T, T) -> bool,
) -> Result<Tensor> {
    let axis = resolve_axis(kernel, axis, tensor.rank())?;
    let (outer, size, inner) = around(tensor.shape(), axis);
    if size == 0 && outer * inner > 0 {
        return Err(KernelError::BadShape {
            kernel,
            expected: format!("elements along axis {axis}"),
            found: tensor.shape().into(),
        });
    }
    let data = tensor.view::<T>()?;
    let mut best = vec![0i64; checked_count(DType::I64, &[outer, inner])?];
    for row in 0..if best.is_empty() { 0 } else { outer } {
        let block = &data[row * size * inner..][..size * inner];
        let best = &mut best[row * inner..][..inner];
        for index in 1..size {
            for column in 0..inner {
                let (new, old) =
                    (block[index * inner + column], block[best[column] as usize * inner + column]);
                if beats(new, old) || (select_last && !beats(old, new)) {
                    best[column] = index as i64;
                }
            }
        }
    }
    let mut shape: Shape = tensor.shape().into();
    if keepdims {
        shape[axis] = 1;
    } else {
        shape.remove(axis);
    }
    Tensor::from_vec(shape, best)
}
