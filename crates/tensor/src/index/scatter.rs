//! Writing by index.

use crate::cells::{Cell, cells, from_cells, moving, with_cells};
use crate::dispatch;
use crate::element::Number;
use crate::error::{KernelError, Result};
use crate::index::gather::{Tuples, element_positions};
use crate::layout::{around, resolve_axis};
use crate::tensor::Tensor;

/// How a written element meets the one that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Reduction {
    /// Replaces it; of several, the last wins.
    #[default]
    None,
    /// Adds.
    Add,
    /// Multiplies.
    Mul,
    /// Keeps the greater.
    Max,
    /// Keeps the smaller.
    Min,
}

impl Reduction {
    fn combine<T: Number>(self, old: T, new: T) -> T {
        match self {
            Reduction::None => new,
            Reduction::Add => old.plus(new),
            Reduction::Mul => old.times(new),
            Reduction::Max => old.larger(new),
            Reduction::Min => old.smaller(new),
        }
    }
}

/// Writes each element of `updates` where the same element of `indices` points along `axis`:
/// ONNX `ScatterElements`.
///
/// # Errors
/// [`KernelError::BadAxis`], [`KernelError::IndexOutOfRange`], [`KernelError::MixedDTypes`],
/// [`KernelError::BadShape`] if indices and updates differ or exceed another axis;
/// [`KernelError::BadDType`] if the indices are no integers, or a reduction meets no numbers.
pub fn scatter_elements(
    tensor: &Tensor,
    indices: &Tensor,
    updates: &Tensor,
    axis: i64,
    reduction: Reduction,
) -> Result<Tensor> {
    check_updates("scatter_elements", updates, indices.shape())?;
    let positions = element_positions("scatter_elements", tensor, indices, axis)?;
    write("scatter_elements", tensor, updates, &positions, 1, reduction)
}

/// Writes a slice of `updates` where each index tuple, the last axis of `indices`, points: ONNX
/// `ScatterND`.
///
/// # Errors
/// [`KernelError::IndexOutOfRange`], [`KernelError::MixedDTypes`], [`KernelError::BadShape`] if
/// the shapes do not fit; [`KernelError::BadDType`] if the indices are no integers, or a reduction
/// meets no numbers.
pub fn scatter_nd(
    tensor: &Tensor,
    indices: &Tensor,
    updates: &Tensor,
    reduction: Reduction,
) -> Result<Tensor> {
    let tuples = Tuples::new("scatter_nd", tensor, indices, 0)?;
    let mut expected = indices.shape()[..indices.rank() - 1].to_vec();
    expected.extend_from_slice(&tensor.shape()[tuples.width..]);
    check_updates("scatter_nd", updates, &expected)?;
    let positions = tuples.positions(indices)?;
    write("scatter_nd", tensor, updates, &positions, tuples.slab, reduction)
}

/// Writes `update` into a cache along the sequence `axis`, for each batch entry from its own
/// start: ONNX `TensorScatter`.
///
/// `starts` has one entry for each batch entry (axis 0); absent means 0. `circular` wraps at the
/// end of the cache.
///
/// # Errors
/// [`KernelError::BadAxis`], also for axis 0; [`KernelError::BadShape`] if the shapes differ
/// elsewhere; [`KernelError::IndexOutOfRange`] beyond the end of a cache that is not circular.
pub fn tensor_scatter(
    cache: &Tensor,
    update: &Tensor,
    starts: Option<&[i64]>,
    axis: i64,
    circular: bool,
) -> Result<Tensor> {
    const KERNEL: &str = "tensor_scatter";
    let rank = cache.rank();
    let at = resolve_axis(KERNEL, axis, rank)?;
    if at == 0 {
        return Err(KernelError::BadAxis { kernel: KERNEL, axis, rank });
    }
    let mut expected = cache.shape().to_vec();
    expected[at] = update.shape().get(at).copied().unwrap_or(0);
    check_updates(KERNEL, update, &expected)?;
    if update.is_empty() {
        return Ok(cache.clone());
    }
    let (outer, size, slab) = around(cache.shape(), at);
    let (batches, steps) = (cache.shape()[0], expected[at]);
    if starts.is_some_and(|starts| starts.len() != batches) {
        return Err(KernelError::BadParameter {
            kernel: KERNEL,
            parameter: "write_indices",
            expected: "one for each batch entry",
            found: format!("{starts:?}"),
        });
    }
    let mut positions = Vec::with_capacity(outer * steps);
    for row in 0..outer {
        let start = starts.map_or(0, |starts| starts[row / (outer / batches)]);
        for step in 0..steps {
            let index = start.saturating_add(step as i64);
            let index = if circular { index.rem_euclid((size as i64).max(1)) } else { index };
            if !(0..size as i64).contains(&index) {
                return Err(KernelError::IndexOutOfRange { kernel: KERNEL, index, size });
            }
            positions.push((row * size + index as usize) * slab);
        }
    }
    write(KERNEL, cache, update, &positions, slab, Reduction::None)
}

fn check_updates(kernel: &'static str, updates: &Tensor, expected: &[usize]) -> Result<()> {
    if updates.shape() == expected {
        return Ok(());
    }
    Err(KernelError::BadShape {
        kernel,
        expected: format!("updates of shape {expected:?}"),
        found: updates.shape().into(),
    })
}

/// Writes slabs of the updates at the positions, in order.
fn write(
    kernel: &'static str,
    tensor: &Tensor,
    updates: &Tensor,
    positions: &[usize],
    slab: usize,
    reduction: Reduction,
) -> Result<Tensor> {
    if reduction == Reduction::None {
        return moving(kernel, &[tensor, updates], |operands| {
            let dtype = operands[0].dtype();
            with_cells!(kernel, dtype, C => {
                let written = write_slabs::<C>(&operands[0], &operands[1], positions, slab);
                from_cells(dtype, operands[0].shape(), written)
            })
        });
    }
    if tensor.dtype() != updates.dtype() {
        let (left, right) = (tensor.dtype(), updates.dtype());
        return Err(KernelError::MixedDTypes { kernel, left, right });
    }
    dispatch!(number, kernel, tensor.dtype(), T => {
        let mut out = tensor.to_vec::<T>()?;
        let updates = updates.view::<T>()?;
        for (i, &at) in positions.iter().enumerate() {
            for (old, &new) in out[at..][..slab].iter_mut().zip(&updates[i * slab..]) {
                *old = reduction.combine(*old, new);
            }
        }
        Tensor::from_vec(tensor.shape(), out)
    })
}

fn write_slabs<C: Cell>(
    tensor: &Tensor,
    updates: &Tensor,
    positions: &[usize],
    slab: usize,
) -> Vec<C> {
    let mut out = cells::<C>(tensor).to_vec();
    let updates: &[C] = cells(updates);
    for (i, &at) in positions.iter().enumerate() {
        out[at..][..slab].copy_from_slice(&updates[i * slab..][..slab]);
    }
    out
}
