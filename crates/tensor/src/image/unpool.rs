//! Maxima back to where they were: ONNX `MaxUnpool`.

use crate::dispatch;
use crate::error::Result;
use crate::layout::resolve_index;
use crate::linear::WindowParams;
use crate::linear::window::per_axis;
use crate::refuse;
use crate::shape::{PadMode, pad};
use crate::tensor::{Shape, Tensor, checked_count};

const NAME: &str = "max_unpool";

/// Puts each element of `x` at its index in a tensor of zeros.
///
/// `x`, `indices`: batch, channels, then spatial extents, as [`max_pool`](crate::linear::max_pool)
/// returns them with the same `kernel` and `params` (strides and pads). The indices count in a
/// tensor of spatial extents `stride * (extent - 1) + kernel - pads`; a larger `output_shape`
/// (with batch and channels) adds zeros at the ends.
///
/// # Errors
/// [`BadShape`](crate::KernelError::BadShape), [`BadParameter`](crate::KernelError::BadParameter),
/// [`IndexOutOfRange`](crate::KernelError::IndexOutOfRange),
/// [`BadDType`](crate::KernelError::BadDType), [`TooLarge`](crate::KernelError::TooLarge).
pub fn max_unpool(
    x: &Tensor,
    indices: &Tensor,
    kernel: &[usize],
    params: &WindowParams,
    output_shape: Option<&[usize]>,
) -> Result<Tensor> {
    if indices.shape() != x.shape() {
        return Err(refuse::shape(NAME, format!("indices of shape {:?}", x.shape()), indices));
    }
    let shape = inferred_shape(x, kernel, params)?;
    let len = checked_count(x.dtype(), &shape)?;
    let places = indices.i64s()?;
    let out = dispatch!(number, NAME, x.dtype(), T => {
        let mut out = vec![T::default(); len];
        for (&value, &index) in x.view::<T>()?.iter().zip(&places) {
            out[resolve_index(NAME, index, len)?] = value;
        }
        Tensor::from_vec(&shape, out)?
    });
    let Some(wanted) = output_shape else { return Ok(out) };
    let missing =
        |(&wanted, &have): (&usize, &usize)| i64::try_from(wanted.checked_sub(have)?).ok();
    let ends: Option<Vec<i64>> = wanted.iter().zip(&shape).map(missing).collect();
    match ends {
        Some(ends) if wanted.len() == shape.len() => {
            let pads = [vec![0; ends.len()], ends].concat();
            pad(&out, &pads, None, PadMode::Constant, None)
        }
        _ => {
            let expected = "extents at least as large as those computed";
            Err(refuse::parameter(NAME, "output_shape", expected, wanted))
        }
    }
}

fn inferred_shape(x: &Tensor, kernel: &[usize], params: &WindowParams) -> Result<Shape> {
    let spatial = x.rank().saturating_sub(2);
    if x.rank() < 2 || kernel.len() != spatial {
        return Err(refuse::shape(NAME, "one spatial dimension for each entry of the kernel", x));
    }
    let strides = per_axis(NAME, "strides", &params.strides, spatial, 1)?;
    let pads = per_axis(NAME, "pads", &params.pads, 2 * spatial, 0)?;
    let extent = |axis: usize| -> Option<usize> {
        let steps = i64::try_from(x.shape()[2 + axis]).ok()?.checked_sub(1)?;
        let covered =
            steps.checked_mul(strides[axis])?.checked_add(kernel[axis].try_into().ok()?)?;
        usize::try_from(covered - pads[axis] - pads[spatial + axis]).ok()
    };
    let mut shape: Shape = x.shape()[..2].into();
    for axis in 0..spatial {
        let expected = "windows that cover more than the padding";
        let extent = extent(axis);
        shape
            .push(extent.ok_or_else(|| refuse::parameter(NAME, "kernel_shape", expected, kernel))?);
    }
    Ok(shape)
}
