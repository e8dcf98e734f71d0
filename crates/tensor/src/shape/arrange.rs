//! Other shapes of the same elements: reshape, transpose, broadcast, tile, depth and space.

use smallvec::SmallVec;

use crate::cells::View;
use crate::error::{KernelError, Result};
use crate::layout::{self, resolve_axes, resolve_axis};
use crate::tensor::{Shape, Tensor};

/// Gives the elements another shape, as ONNX `Reshape` reads its second input.
///
/// One size may be -1: it takes what is left. A 0 copies the size of the same axis, unless
/// `allow_zero` makes it mean 0. Free of cost: the elements are shared.
///
/// # Errors
/// [`KernelError::BadParameter`] for a size below -1, two of -1, a -1 that does not divide, or a
/// 0 without such an axis; [`KernelError::BadLength`] if the number of elements differs.
pub fn reshape(tensor: &Tensor, sizes: &[i64], allow_zero: bool) -> Result<Tensor> {
    let bad = |expected| KernelError::BadParameter {
        kernel: "reshape",
        parameter: "shape",
        expected,
        found: format!("{sizes:?}"),
    };
    let mut shape = Shape::new();
    let mut open = None;
    for (axis, &size) in sizes.iter().enumerate() {
        shape.push(match size {
            -1 if open.replace(axis).is_some() => return Err(bad("at most one -1")),
            -1 => 1,
            0 if !allow_zero => {
                *tensor.shape().get(axis).ok_or_else(|| bad("0 only within the rank"))?
            }
            _ => usize::try_from(size).map_err(|_| bad("sizes of at least -1"))?,
        });
    }
    if let Some(axis) = open {
        let rest = crate::tensor::element_count(&shape).unwrap_or(0);
        match tensor.len().checked_rem(rest) {
            Some(0) => shape[axis] = tensor.len() / rest,
            _ => return Err(bad("sizes that divide the number of elements")),
        }
    }
    tensor.reshaped(&shape)
}

/// Folds the axes before `axis` into one and the others into another: ONNX `Flatten`.
///
/// # Errors
/// [`KernelError::BadAxis`] outside `-rank..=rank`.
pub fn flatten(tensor: &Tensor, axis: i64) -> Result<Tensor> {
    let rank = tensor.rank();
    let at = if axis == rank as i64 { rank } else { resolve_axis("flatten", axis, rank)? };
    let (before, after) = tensor.shape().split_at(at);
    tensor.reshaped([before.iter().product::<usize>(), after.iter().product()])
}

/// Reorders the axes: axis `i` of the result is axis `perm[i]`; without `perm`, reversed.
///
/// # Errors
/// [`KernelError::BadParameter`] if `perm` is no permutation of the axes.
pub fn transpose(tensor: &Tensor, perm: Option<&[i64]>) -> Result<Tensor> {
    let rank = tensor.rank();
    let reversed: SmallVec<[i64; 6]> = (0..rank as i64).rev().collect();
    let perm = perm.unwrap_or(&reversed);
    if perm.len() != rank {
        return Err(KernelError::BadParameter {
            kernel: "transpose",
            parameter: "perm",
            expected: "one entry for each axis",
            found: format!("{perm:?} for rank {rank}"),
        });
    }
    let axes = resolve_axes("transpose", perm, rank)?;
    let view = View::whole(tensor.shape()).permuted(&axes);
    if view_is_contiguous(tensor.shape(), &axes) {
        return tensor.reshaped(&view.shape);
    }
    view.copy("transpose", tensor)
}

/// Whether the axes longer than 1 keep their order.
fn view_is_contiguous(shape: &[usize], axes: &[usize]) -> bool {
    let long: SmallVec<[usize; 6]> = axes.iter().copied().filter(|&a| shape[a] != 1).collect();
    long.is_sorted()
}

/// Removes axes of size 1: the given ones, or all of them.
///
/// # Errors
/// [`KernelError::BadAxis`]; [`KernelError::BadShape`] if a given axis has another size.
pub fn squeeze(tensor: &Tensor, axes: Option<&[i64]>) -> Result<Tensor> {
    let shape = tensor.shape();
    let drop = match axes {
        Some(axes) => resolve_axes("squeeze", axes, shape.len())?,
        None => (0..shape.len()).filter(|&axis| shape[axis] == 1).collect(),
    };
    if let Some(&axis) = drop.iter().find(|&&axis| shape[axis] != 1) {
        return Err(KernelError::BadShape {
            kernel: "squeeze",
            expected: format!("size 1 at axis {axis}"),
            found: shape.into(),
        });
    }
    let kept: Shape =
        (0..shape.len()).filter(|axis| !drop.contains(axis)).map(|axis| shape[axis]).collect();
    tensor.reshaped(&kept)
}

/// Inserts axes of size 1; `axes` are positions in the result: ONNX `Unsqueeze`.
///
/// # Errors
/// [`KernelError::BadAxis`] outside the rank of the result; [`KernelError::BadParameter`] on a
/// repetition.
pub fn expand_dims(tensor: &Tensor, axes: &[i64]) -> Result<Tensor> {
    let rank = tensor.rank() + axes.len();
    let inserted = resolve_axes("expand_dims", axes, rank)?;
    let mut old = tensor.shape().iter();
    let mut shape = Shape::new();
    for axis in 0..rank {
        let size = if inserted.contains(&axis) { Some(&1) } else { old.next() };
        shape.extend(size.copied());
    }
    tensor.reshaped(&shape)
}

/// Broadcasts to what `sizes` and the tensor's own shape broadcast to: ONNX `Expand`.
///
/// # Errors
/// [`KernelError::Broadcast`]; [`KernelError::TooLarge`].
pub fn broadcast_to(tensor: &Tensor, sizes: &[usize]) -> Result<Tensor> {
    let shape = layout::broadcast("broadcast_to", tensor.shape(), sizes)?;
    if shape[..] == *tensor.shape() {
        return Ok(tensor.clone());
    }
    let strides = layout::broadcast_strides(tensor.shape(), &shape);
    View { offset: 0, shape, strides }.copy("broadcast_to", tensor)
}

/// Repeats the tensor `repeats[i]` times along axis `i`.
///
/// # Errors
/// [`KernelError::BadParameter`] if there is not one repeat for each axis.
pub fn tile(tensor: &Tensor, repeats: &[usize]) -> Result<Tensor> {
    let shape = tensor.shape();
    if repeats.len() != shape.len() {
        return Err(KernelError::BadParameter {
            kernel: "tile",
            parameter: "repeats",
            expected: "one for each axis",
            found: format!("{repeats:?} for rank {}", shape.len()),
        });
    }
    // Each axis becomes two: the repetitions, which stand still, and the axis itself.
    let whole = View::whole(shape);
    let mut view = View { offset: 0, shape: Shape::new(), strides: SmallVec::new() };
    for axis in 0..shape.len() {
        view.shape.extend([repeats[axis], shape[axis]]);
        view.strides.extend([0, whole.strides[axis]]);
    }
    let tiled = view.copy("tile", tensor)?;
    let sizes: Shape = shape.iter().zip(repeats).map(|(&s, &r)| s.saturating_mul(r)).collect();
    tiled.reshaped(&sizes)
}

/// The order in which [`depth_to_space`] reads the channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum DepthMode {
    /// Depth, column, row: the block is the outer part of the channel.
    #[default]
    Dcr,
    /// Column, row, depth: the block is the inner part of the channel.
    Crd,
}

/// Moves blocks of channels into space: `[n, c·b², h, w]` becomes `[n, c, h·b, w·b]`.
///
/// # Errors
/// [`KernelError::BadShape`] if the rank is not 4 or the channels do not divide.
pub fn depth_to_space(tensor: &Tensor, block: usize, mode: DepthMode) -> Result<Tensor> {
    let &[n, c, h, w] = tensor.shape() else { return Err(not_divisible(tensor, block)) };
    let square = block.checked_mul(block).filter(|&s| s > 0 && c % s == 0);
    let Some(depth) = square.map(|s| c / s) else { return Err(not_divisible(tensor, block)) };
    let (split, perm) = match mode {
        DepthMode::Dcr => ([n, block, block, depth, h, w], [0, 3, 4, 1, 5, 2]),
        DepthMode::Crd => ([n, depth, block, block, h, w], [0, 1, 4, 2, 5, 3]),
    };
    let moved = transpose(&tensor.reshaped(split)?, Some(&perm))?;
    moved.reshaped([n, depth, h * block, w * block])
}

/// Moves blocks of space into channels: `[n, c, h, w]` becomes `[n, c·b², h/b, w/b]`; what
/// [`depth_to_space`] of the same mode undoes.
///
/// # Errors
/// [`KernelError::BadShape`] if the rank is not 4 or height and width do not divide.
pub fn space_to_depth(tensor: &Tensor, block: usize, mode: DepthMode) -> Result<Tensor> {
    let &[n, c, h, w] = tensor.shape() else { return Err(not_divisible(tensor, block)) };
    if block == 0 || h % block != 0 || w % block != 0 {
        return Err(not_divisible(tensor, block));
    }
    let split = tensor.reshaped([n, c, h / block, block, w / block, block])?;
    let perm = match mode {
        DepthMode::Dcr => [0, 3, 5, 1, 2, 4],
        DepthMode::Crd => [0, 1, 3, 5, 2, 4],
    };
    let moved = transpose(&split, Some(&perm))?;
    moved.reshaped([n, c * block * block, h / block, w / block])
}

fn not_divisible(tensor: &Tensor, block: usize) -> KernelError {
    KernelError::BadShape {
        kernel: "depth and space",
        expected: format!("rank 4 with sizes that blocks of {block} divide"),
        found: tensor.shape().into(),
    }
}
