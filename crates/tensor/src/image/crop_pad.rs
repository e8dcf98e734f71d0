//! Cropping and padding around the centre: ONNX `CenterCropPad`.

use crate::error::Result;
use crate::layout::resolve_axes;
use crate::refuse;
use crate::shape::{PadMode, pad};
use crate::tensor::Tensor;

/// Crops or pads with zeros to the extents `shape` of `axes` (all axes if absent).
///
/// Half of the difference, rounded down, falls to the beginning.
///
/// # Errors
/// [`BadAxis`](crate::KernelError::BadAxis), [`BadParameter`](crate::KernelError::BadParameter)
/// unless there is one extent for each axis, [`TooLarge`](crate::KernelError::TooLarge).
pub fn center_crop_pad(x: &Tensor, shape: &[usize], axes: Option<&[i64]>) -> Result<Tensor> {
    const NAME: &str = "center_crop_pad";
    let all: Vec<i64> = (0..x.rank() as i64).collect();
    let axes = resolve_axes(NAME, axes.unwrap_or(&all), x.rank())?;
    if shape.len() != axes.len() {
        return Err(refuse::parameter(NAME, "shape", "one extent for each axis", shape));
    }
    let mut pads = vec![0; 2 * x.rank()];
    for (&axis, &size) in axes.iter().zip(shape) {
        let have = x.shape()[axis];
        let difference = i64::try_from(size.abs_diff(have))
            .map_err(|_| refuse::parameter(NAME, "shape", "smaller extents", shape))?;
        let sign = if size < have { -1 } else { 1 };
        pads[axis] = sign * (difference / 2);
        pads[x.rank() + axis] = sign * (difference - difference / 2);
    }
    pad(x, &pads, None, PadMode::Constant, None)
}
