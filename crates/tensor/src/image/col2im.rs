//! Patches back into an image: ONNX `Col2Im`.

use crate::elementwise::cast;
use crate::error::Result;
use crate::linear::WindowParams;
use crate::linear::conv_transpose::scatter_add;
use crate::linear::matmul::scalars;
use crate::linear::window::{offsets, windows};
use crate::refuse;
use crate::tensor::{Shape, Tensor, checked_count};
use crate::wide::widen;

/// Adds the elements of patches where they lie in the image.
///
/// `x`: batch, channels times elements of a patch, patches. `image`: the spatial extents of the
/// image. `patch`: those of a patch. The result: batch, channels, then `image`. Numbers; `f16` and
/// `bf16` add in `f32`.
///
/// # Errors
/// [`BadShape`](crate::KernelError::BadShape), [`BadParameter`](crate::KernelError::BadParameter),
/// [`BadDType`](crate::KernelError::BadDType), [`TooLarge`](crate::KernelError::TooLarge).
pub fn col2im(
    x: &Tensor,
    image: &[usize],
    patch: &[usize],
    params: &WindowParams,
) -> Result<Tensor> {
    const NAME: &str = "col2im";
    let windows = windows(NAME, image, patch, params, false)?;
    let counts: Shape = windows.iter().map(|window| window.count).collect();
    let positions = checked_count(x.dtype(), &counts)?;
    let taps = checked_count(x.dtype(), patch)?;
    let (batch, rows) = match *x.shape() {
        [batch, rows, columns] if columns == positions && rows % taps == 0 => (batch, rows),
        _ => {
            let expected = format!("batch, a multiple of {taps}, then {positions} patches");
            return Err(refuse::shape(NAME, expected, x));
        }
    };
    let shape: Shape = [batch, rows / taps].into_iter().chain(image.iter().copied()).collect();
    let len = checked_count(x.dtype(), &shape)?;
    let wide = widen(x)?;
    let out = scalars!(NAME, wide.dtype(), T => {
        let mut out = vec![T::default(); len];
        let columns = wide.view::<T>()?;
        if !out.is_empty() && !columns.is_empty() {
            let table = offsets(&windows, 0..positions);
            let channels = out.chunks_exact_mut(image.iter().product());
            columns
                .chunks_exact(table.len())
                .zip(channels)
                .for_each(|(values, channel)| scatter_add(&table, values, channel));
        }
        Tensor::from_vec(&shape, out)?
    });
    cast(&out, x.dtype())
}
