//! Parts of a tensor: strided slices, reversals, splits.

use crate::cells::View;
use crate::error::{KernelError, Result};
use crate::layout::{resolve_axes, resolve_axis};
use crate::tensor::Tensor;

/// Slices along axes, with ONNX's clamping: ONNX `Slice`.
///
/// Negative starts and ends count from the back; both are clamped to the axis. A negative step
/// walks backwards, and then an end below the first element includes it. Without `axes`, the
/// first `starts.len()` axes; without `steps`, 1.
///
/// # Errors
/// [`KernelError::BadAxis`], [`KernelError::BadParameter`] for lengths that differ or a step of 0.
pub fn strided_slice(
    tensor: &Tensor,
    starts: &[i64],
    ends: &[i64],
    axes: Option<&[i64]>,
    steps: Option<&[i64]>,
) -> Result<Tensor> {
    let bad = |expected, found: String| KernelError::BadParameter {
        kernel: "strided_slice",
        parameter: "starts, ends, axes, steps",
        expected,
        found,
    };
    let count = starts.len();
    let leading: Vec<i64> = (0..count as i64).collect();
    let ones = vec![1; count];
    let (axes, steps) = (axes.unwrap_or(&leading), steps.unwrap_or(&ones));
    if [ends.len(), axes.len(), steps.len()] != [count; 3] {
        let found = [count, ends.len(), axes.len(), steps.len()];
        return Err(bad("equal lengths", format!("{found:?}")));
    }
    let axes = resolve_axes("strided_slice", axes, tensor.rank())?;
    let mut view = View::whole(tensor.shape());
    let mut whole = true;
    for (i, &axis) in axes.iter().enumerate() {
        let size = tensor.shape()[axis];
        if steps[i] == 0 {
            return Err(bad("steps other than 0", format!("{steps:?}")));
        }
        let (start, kept) = clamp(starts[i], ends[i], steps[i], size);
        whole &= kept == size && (steps[i] > 0 || size <= 1);
        let step = isize::try_from(steps[i]).unwrap_or(isize::MAX);
        view = view.sliced(axis, start, step, kept);
    }
    if whole { Ok(tensor.clone()) } else { view.copy("strided_slice", tensor) }
}

/// Returns the first index and the number of indices of one sliced axis.
fn clamp(start: i64, end: i64, step: i64, size: usize) -> (usize, usize) {
    if size == 0 {
        return (0, 0);
    }
    let size = i128::from(size as u64);
    let from_back = |at: i64| if at < 0 { i128::from(at) + size } else { i128::from(at) };
    let (start, end, step) = (from_back(start), from_back(end), i128::from(step));
    let (low, high) = if step > 0 { (0, size) } else { (-1, size - 1) };
    // The standard lets a backward walk start before the first element; numpy would keep nothing.
    let start = start.clamp(0, high);
    let end = end.clamp(low, high);
    let distance = if step > 0 { end - start } else { start - end };
    if distance <= 0 {
        return (0, 0);
    }
    (start as usize, ((distance - 1) / step.abs() + 1) as usize)
}

/// Reverses the order of the elements along the axes.
///
/// # Errors
/// [`KernelError::BadAxis`]; [`KernelError::BadParameter`] on a repetition.
pub fn flip(tensor: &Tensor, axes: &[i64]) -> Result<Tensor> {
    let mut view = View::whole(tensor.shape());
    for axis in resolve_axes("flip", axes, tensor.rank())? {
        let size = tensor.shape()[axis];
        view = view.sliced(axis, size.saturating_sub(1), -1, size);
    }
    view.copy("flip", tensor)
}

/// Splits along an axis into parts of the given sizes, which must add up to the axis.
///
/// # Errors
/// [`KernelError::BadAxis`]; [`KernelError::BadParameter`] if the sizes do not add up.
pub fn split(tensor: &Tensor, axis: i64, sizes: &[usize]) -> Result<Vec<Tensor>> {
    let axis = resolve_axis("split", axis, tensor.rank())?;
    let total = sizes.iter().try_fold(0usize, |sum, &size| sum.checked_add(size));
    if total != Some(tensor.shape()[axis]) {
        return Err(KernelError::BadParameter {
            kernel: "split",
            parameter: "sizes",
            expected: "sizes that add up to the axis",
            found: format!("{sizes:?} for size {}", tensor.shape()[axis]),
        });
    }
    let mut start = 0;
    sizes
        .iter()
        .map(|&size| {
            let view = View::whole(tensor.shape()).sliced(axis, start, 1, size);
            start += size;
            view.copy("split", tensor)
        })
        .collect()
}

/// Splits along an axis into `parts` of equal size; the last one is smaller if they do not divide.
///
/// # Errors
/// [`KernelError::BadAxis`]; [`KernelError::BadParameter`] if there are no parts, or more of them
/// than the last can be left anything.
pub fn split_equal(tensor: &Tensor, axis: i64, parts: usize) -> Result<Vec<Tensor>> {
    let resolved = resolve_axis("split", axis, tensor.rank())?;
    let size = tensor.shape()[resolved];
    let bad = || KernelError::BadParameter {
        kernel: "split",
        parameter: "num_outputs",
        expected: "at least 1, and few enough to fill the axis",
        found: format!("{parts} for size {size}"),
    };
    if parts == 0 {
        return Err(bad());
    }
    let part = size.div_ceil(parts);
    let full = part.checked_mul(parts - 1).filter(|&full| full <= size).ok_or_else(bad)?;
    let mut sizes = vec![part; parts];
    sizes[parts - 1] = size - full;
    split(tensor, axis, &sizes)
}
