//! Reading by index.

use crate::cells::{Cell, cells, from_cells, moving, with_cells};
use crate::dtype::DType;
use crate::error::{KernelError, Result};
use crate::layout::{Nest, around, resolve_axis, resolve_index, row_major};
use crate::tensor::{Shape, Tensor, checked_count};

/// Replaces `axis` by the axes of `indices`, and reads along it: ONNX `Gather`.
///
/// Negative indices count from the back.
///
/// # Errors
/// [`KernelError::BadAxis`], [`KernelError::IndexOutOfRange`], [`KernelError::BadDType`] if the
/// indices are no integers.
pub fn take(tensor: &Tensor, indices: &Tensor, axis: i64) -> Result<Tensor> {
    let axis = resolve_axis("take", axis, tensor.rank())?;
    let (outer, size, slab) = around(tensor.shape(), axis);
    let resolved = indices
        .i64s()?
        .into_iter()
        .map(|index| resolve_index("take", index, size))
        .collect::<Result<Vec<usize>>>()?;
    let mut shape: Shape = tensor.shape()[..axis].into();
    shape.extend_from_slice(indices.shape());
    shape.extend_from_slice(&tensor.shape()[axis + 1..]);
    moving("take", &[tensor], |operands| {
        let dtype = operands[0].dtype();
        let len = checked_count(dtype, &shape)?;
        with_cells!("take", dtype, C => {
            let source: &[C] = cells(&operands[0]);
            let mut out = Vec::with_capacity(len);
            for row in 0..if len == 0 { 0 } else { outer } {
                let row = &source[row * size * slab..][..size * slab];
                if slab == 1 {
                    out.extend(resolved.iter().map(|&index| row[index]));
                } else {
                    for &index in &resolved {
                        out.extend_from_slice(&row[index * slab..][..slab]);
                    }
                }
            }
            from_cells(dtype, &shape, out)
        })
    })
}

/// Reads one element for each element of `indices`, which replaces the coordinate along `axis`:
/// ONNX `GatherElements`.
///
/// # Errors
/// [`KernelError::BadAxis`], [`KernelError::IndexOutOfRange`], [`KernelError::BadDType`] if the
/// indices are no integers; [`KernelError::BadShape`] if they differ in rank or exceed another
/// axis.
pub fn gather_elements(tensor: &Tensor, indices: &Tensor, axis: i64) -> Result<Tensor> {
    let positions = element_positions("gather_elements", tensor, indices, axis)?;
    moving("gather_elements", &[tensor], |operands| {
        let dtype = operands[0].dtype();
        with_cells!("gather_elements", dtype, C => {
            let source: &[C] = cells(&operands[0]);
            let picked = positions.iter().map(|&at| source[at]).collect();
            from_cells(dtype, indices.shape(), picked)
        })
    })
}

/// Returns, for each element of `indices`, the position in `tensor` that it points to.
pub(super) fn element_positions(
    kernel: &'static str,
    tensor: &Tensor,
    indices: &Tensor,
    axis: i64,
) -> Result<Vec<usize>> {
    let (shape, spread) = (tensor.shape(), indices.shape());
    let axis = resolve_axis(kernel, axis, shape.len())?;
    let fits =
        spread.len() == shape.len() && (0..shape.len()).all(|a| a == axis || spread[a] <= shape[a]);
    if !fits {
        return Err(KernelError::BadShape {
            kernel,
            expected: format!("indices within {shape:?}, except at axis {axis}"),
            found: spread.into(),
        });
    }
    let indices = indices.i64s()?;
    let mut strides = row_major(shape);
    let along = std::mem::take(&mut strides[axis]) as usize;
    let mut positions = Vec::with_capacity(indices.len());
    let mut error = None;
    Nest::new(spread, [&strides]).walk([0], |[base]| {
        match resolve_index(kernel, indices[positions.len()], shape[axis]) {
            Ok(index) => positions.push(base as usize + index * along),
            Err(found) => {
                positions.push(0);
                error.get_or_insert(found);
            }
        }
    });
    error.map_or(Ok(positions), Err)
}

/// Reads a slice for each index tuple, the last axis of `indices`: ONNX `GatherND`.
///
/// The first `batch_dims` axes of both operands run side by side.
///
/// # Errors
/// [`KernelError::BadShape`] if the ranks or batch axes do not fit,
/// [`KernelError::IndexOutOfRange`], [`KernelError::BadDType`] if the indices are no integers.
pub fn gather_nd(tensor: &Tensor, indices: &Tensor, batch_dims: usize) -> Result<Tensor> {
    let tuples = Tuples::new("gather_nd", tensor, indices, batch_dims)?;
    let mut shape: Shape = indices.shape()[..indices.rank() - 1].into();
    shape.extend_from_slice(&tensor.shape()[batch_dims + tuples.width..]);
    checked_count(tensor.dtype(), &shape)?;
    let positions = tuples.positions(indices)?;
    moving("gather_nd", &[tensor], |operands| {
        let dtype = operands[0].dtype();
        let len = checked_count(dtype, &shape)?;
        with_cells!("gather_nd", dtype, C => {
            from_cells(dtype, &shape, read_slabs::<C>(&operands[0], &positions, tuples.slab, len))
        })
    })
}

fn read_slabs<C: Cell>(tensor: &Tensor, positions: &[usize], slab: usize, len: usize) -> Vec<C> {
    let source: &[C] = cells(tensor);
    let mut out = Vec::with_capacity(len);
    for &at in positions {
        out.extend_from_slice(&source[at..][..slab]);
    }
    out
}

/// Index tuples into the axes after the batch axes.
pub(super) struct Tuples {
    kernel: &'static str,
    shape: Shape,
    batch_dims: usize,
    /// Length of a tuple.
    pub width: usize,
    /// Number of elements that a tuple selects.
    pub slab: usize,
}

impl Tuples {
    /// Checks that `indices` fits `tensor`.
    pub fn new(
        kernel: &'static str,
        tensor: &Tensor,
        indices: &Tensor,
        batch_dims: usize,
    ) -> Result<Tuples> {
        let shape = tensor.shape();
        let width = indices.shape().last().copied();
        let fits = width.is_some_and(|width| {
            batch_dims < indices.rank()
                && batch_dims.checked_add(width).is_some_and(|used| used <= shape.len())
                && indices.shape()[..batch_dims] == shape[..batch_dims]
        });
        let (true, Some(width)) = (fits, width) else {
            return Err(KernelError::BadShape {
                kernel,
                expected: format!("tuples into {shape:?} after {batch_dims} common axes"),
                found: indices.shape().into(),
            });
        };
        let slab = shape[batch_dims + width..].iter().product();
        Ok(Tuples { kernel, shape: shape.into(), batch_dims, width, slab })
    }

    /// Returns the position of the first element that each tuple selects.
    pub fn positions(&self, indices: &Tensor) -> Result<Vec<usize>> {
        let sizes = &self.shape[self.batch_dims..][..self.width];
        let strides = row_major(&self.shape);
        let batch_size: usize = self.shape[self.batch_dims..].iter().product();
        let count: usize = indices.shape()[..indices.rank() - 1].iter().product();
        if count == 0 || self.slab == 0 {
            return Ok(Vec::new());
        }
        checked_count(DType::I64, &[count])?;
        let batches: usize = self.shape[..self.batch_dims].iter().product();
        let per_batch = count.checked_div(batches).unwrap_or(0);
        let indices = indices.i64s()?;
        (0..count)
            .map(|at| {
                let tuple = &indices[at * self.width..][..self.width];
                let mut position = at / per_batch * batch_size;
                for (axis, &index) in tuple.iter().enumerate() {
                    let index = resolve_index(self.kernel, index, sizes[axis])?;
                    position += index * strides[self.batch_dims + axis] as usize;
                }
                Ok(position)
            })
            .collect()
    }
}
