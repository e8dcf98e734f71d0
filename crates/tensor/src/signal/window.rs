//! Window functions: ONNX `HannWindow`, `HammingWindow`, `BlackmanWindow`.

use std::f64::consts::PI;

use crate::dtype::DType;
use crate::error::Result;
use crate::tensor::{Tensor, checked_count};
use crate::wide::from_f64s;

/// Which window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowFunction {
    /// `sin(pi n / N)^2`.
    Hann,
    /// `25/46 - 21/46 cos(2 pi n / N)`.
    Hamming,
    /// `0.42 - 0.5 cos(2 pi n / N) + 0.08 cos(4 pi n / N)`.
    Blackman,
}

/// Makes a window of `size` points, of type `dtype`.
///
/// `N` is the size if `periodic`, else one less, so that the window is symmetric. A symmetric
/// window of one point, where the standard divides by 0, is 1.
///
/// # Errors
/// [`TooLarge`](crate::KernelError::TooLarge), [`BadDType`](crate::KernelError::BadDType).
pub fn window_function(
    kind: WindowFunction,
    size: usize,
    periodic: bool,
    dtype: DType,
) -> Result<Tensor> {
    checked_count(DType::F64, &[size])?;
    let period = if periodic { size } else { size.saturating_sub(1) } as f64;
    let point = |n: usize| {
        if period == 0.0 {
            return 1.0;
        }
        let turn = 2.0 * PI * n as f64 / period;
        match kind {
            WindowFunction::Hann => (turn / 2.0).sin().powi(2),
            WindowFunction::Hamming => (25.0 - 21.0 * turn.cos()) / 46.0,
            WindowFunction::Blackman => 0.42 - 0.5 * turn.cos() + 0.08 * (2.0 * turn).cos(),
        }
    };
    from_f64s(dtype, &[size], (0..size).map(point).collect())
}
