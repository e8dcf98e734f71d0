//! Running sums and products.

use crate::dispatch;
use crate::element::Number;
use crate::error::Result;
use crate::layout::{around, resolve_axis};
use crate::tensor::Tensor;

/// Sums along an axis up to each element: ONNX `CumSum`.
///
/// `exclusive` leaves the element itself out; `reverse` starts at the other end. Adds one by one
/// in the type of arithmetic ([`Number::Wide`]).
///
/// # Errors
/// [`BadAxis`](crate::KernelError::BadAxis), [`BadDType`](crate::KernelError::BadDType) for no
/// numbers.
pub fn cumsum(tensor: &Tensor, axis: i64, exclusive: bool, reverse: bool) -> Result<Tensor> {
    dispatch!(number, "cumsum", tensor.dtype(), T => {
        type Wide = <T as Number>::Wide;
        let zero = Wide::default();
        accumulate::<T>("cumsum", tensor, axis, exclusive, reverse, zero, Number::plus)
    })
}

/// Multiplies along an axis up to each element: ONNX `CumProd`. As [`cumsum`].
///
/// # Errors
/// As [`cumsum`].
pub fn cumprod(tensor: &Tensor, axis: i64, exclusive: bool, reverse: bool) -> Result<Tensor> {
    dispatch!(number, "cumprod", tensor.dtype(), T => {
        type Wide = <T as Number>::Wide;
        let one: Wide = num_traits::One::one();
        accumulate::<T>("cumprod", tensor, axis, exclusive, reverse, one, Number::times)
    })
}

fn accumulate<T: Number>(
    kernel: &'static str,
    tensor: &Tensor,
    axis: i64,
    exclusive: bool,
    reverse: bool,
    start: T::Wide,
    combine: impl Fn(T::Wide, T::Wide) -> T::Wide,
) -> Result<Tensor> {
    let axis = resolve_axis(kernel, axis, tensor.rank())?;
    let (outer, size, inner) = around(tensor.shape(), axis);
    let data = tensor.view::<T>()?;
    if data.is_empty() {
        return Ok(tensor.clone());
    }
    let mut out = vec![T::default(); data.len()];
    let mut running = vec![start; inner];
    for row in 0..outer {
        running.fill(start);
        for step in 0..size {
            let index = if reverse { size - 1 - step } else { step };
            let from = (row * size + index) * inner;
            for column in 0..inner {
                let before = running[column];
                let after = combine(before, data[from + column].widen());
                out[from + column] = T::narrow(if exclusive { before } else { after });
                running[column] = after;
            }
        }
    }
    Tensor::from_vec(tensor.shape(), out)
}
