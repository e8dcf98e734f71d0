//! Whole slabs of memory side by side: concatenate, compress, reverse sequences.

use crate::cells::{Cell, cells, from_cells, moving, with_cells};
use crate::error::{KernelError, Result};
use crate::index::take;
use crate::layout::{around, resolve_axis};
use crate::tensor::{Shape, Tensor, checked_count};

/// Joins tensors along an axis; the other axes must agree.
///
/// # Errors
/// [`KernelError::BadParameter`] without operands, [`KernelError::MixedDTypes`],
/// [`KernelError::BadAxis`], [`KernelError::BadShape`] if the other axes differ.
pub fn concatenate(tensors: &[&Tensor], axis: i64) -> Result<Tensor> {
    let Some(first) = tensors.first() else {
        return Err(KernelError::BadParameter {
            kernel: "concatenate",
            parameter: "tensors",
            expected: "at least one",
            found: "none".to_owned(),
        });
    };
    let axis = resolve_axis("concatenate", axis, first.rank())?;
    let mut shape: Shape = first.shape().into();
    for tensor in &tensors[1..] {
        let agrees = tensor.rank() == shape.len()
            && (0..shape.len()).all(|a| a == axis || tensor.shape()[a] == shape[a]);
        if !agrees {
            return Err(KernelError::BadShape {
                kernel: "concatenate",
                expected: format!("shape {:?} except at axis {axis}", first.shape()),
                found: tensor.shape().into(),
            });
        }
        shape[axis] = shape[axis].saturating_add(tensor.shape()[axis]);
    }
    moving("concatenate", tensors, |operands| {
        let dtype = operands[0].dtype();
        let len = checked_count(dtype, &shape)?;
        with_cells!("concatenate", dtype, C => {
            from_cells(dtype, &shape, join::<C>(operands, axis, len))
        })
    })
}

fn join<C: Cell>(operands: &[Tensor], axis: usize, len: usize) -> Vec<C> {
    let mut out: Vec<C> = Vec::with_capacity(len);
    if len == 0 {
        return out;
    }
    let outer: usize = operands[0].shape()[..axis].iter().product();
    let slabs: Vec<(&[C], usize)> = operands
        .iter()
        .map(|tensor| (cells(tensor), tensor.shape()[axis..].iter().product()))
        .collect();
    for row in 0..outer {
        for &(cells, slab) in &slabs {
            out.extend_from_slice(&cells[row * slab..][..slab]);
        }
    }
    out
}

/// Keeps the slices along `axis` whose condition is true; without `axis`, of the elements in
/// row-major order. A condition shorter than the axis drops the rest.
///
/// # Errors
/// [`KernelError::BadAxis`]; [`KernelError::BadDType`] if the condition is not boolean;
/// [`KernelError::IndexOutOfRange`] if it is true beyond the axis.
pub fn compress(tensor: &Tensor, condition: &Tensor, axis: Option<i64>) -> Result<Tensor> {
    let condition = condition.view::<bool>()?;
    let kept: Vec<i64> = (0..condition.len()).filter(|&i| condition[i]).map(|i| i as i64).collect();
    let indices = Tensor::vector(kept);
    match axis {
        Some(axis) => take(tensor, &indices, axis),
        None => take(&tensor.reshaped([tensor.len()])?, &indices, 0),
    }
}

/// Reverses the first `lengths[b]` time steps of each batch entry `b`.
///
/// # Errors
/// [`KernelError::BadShape`] unless one axis is 0 and the other 1 of at least two;
/// [`KernelError::BadParameter`] unless there is one length for each entry, within the time axis.
pub fn reverse_sequence(
    tensor: &Tensor,
    lengths: &[i64],
    batch_axis: i64,
    time_axis: i64,
) -> Result<Tensor> {
    let shape = tensor.shape();
    let (2.., (0, 1) | (1, 0)) = (shape.len(), (batch_axis, time_axis)) else {
        return Err(KernelError::BadShape {
            kernel: "reverse_sequence",
            expected: "rank 2 or more, with axes 0 and 1 as batch and time".to_owned(),
            found: shape.into(),
        });
    };
    let (batches, times) = (shape[batch_axis as usize], shape[time_axis as usize]);
    let valid = |&length: &i64| (0..=times as i64).contains(&length);
    if lengths.len() != batches || !lengths.iter().all(valid) {
        return Err(KernelError::BadParameter {
            kernel: "reverse_sequence",
            parameter: "sequence_lens",
            expected: "one for each batch entry, within the time axis",
            found: format!("{lengths:?}"),
        });
    }
    if tensor.is_empty() {
        return Ok(tensor.clone());
    }
    moving("reverse_sequence", &[tensor], |operands| {
        let dtype = operands[0].dtype();
        let (_, _, slab) = around(shape, 1);
        with_cells!("reverse_sequence", dtype, C => {
            let source: &[C] = cells(&operands[0]);
            let mut out = Vec::with_capacity(source.len());
            for row in 0..shape[0] {
                for column in 0..shape[1] {
                    let (batch, time) = if batch_axis == 0 { (row, column) } else { (column, row) };
                    let length = lengths[batch] as usize;
                    let from = if time < length { length - 1 - time } else { time };
                    let (r, c) = if batch_axis == 0 { (row, from) } else { (from, column) };
                    out.extend_from_slice(&source[(r * shape[1] + c) * slab..][..slab]);
                }
            }
            from_cells(dtype, shape, out)
        })
    })
}
