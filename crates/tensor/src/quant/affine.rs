//! To small integers and back: ONNX `QuantizeLinear`, `DequantizeLinear`,
//! `DynamicQuantizeLinear`.

use crate::dtype::DType;
use crate::elementwise::{CastOptions, cast, cast_with};
use crate::error::{KernelError, Result};
use crate::quant::granularity::Granularity;
use crate::refuse;
use crate::tensor::Tensor;
use crate::wide::from_f64s;

/// What quantisation has beside its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuantizeParams {
    /// The axis along which scales change; may count from the back.
    pub axis: i64,
    /// Places along the axis that share a scale; 0 for no blocks.
    pub block_size: usize,
    /// Whether floats of 8 bits stop at their greatest number instead of overflowing.
    pub saturate: bool,
    /// The element type of the result, if no zero point and no scale says it.
    pub output: Option<DType>,
    /// The type to divide in; that of the scale by default.
    pub precision: Option<DType>,
}

impl Default for QuantizeParams {
    fn default() -> Self {
        QuantizeParams { axis: 1, block_size: 0, saturate: true, output: None, precision: None }
    }
}

/// The least and the greatest value of an integer type.
pub(super) fn range(dtype: DType) -> (f64, f64) {
    let bits = dtype.size_bits() as i32;
    if dtype.is_signed() {
        (-2f64.powi(bits - 1), 2f64.powi(bits - 1) - 1.0)
    } else {
        (0.0, 2f64.powi(bits) - 1.0)
    }
}

/// Checks that zero points lie as scales do, and reads them; 0 if there are none.
fn zero_points(name: &'static str, scale: &Tensor, zero: Option<&Tensor>) -> Result<Vec<f64>> {
    let Some(zero) = zero else { return Ok(vec![0.0; scale.len()]) };
    if zero.len() != scale.len() {
        return Err(refuse::shape(name, format!("zero points of shape {:?}", scale.shape()), zero));
    }
    zero.f64s()
}

/// Quantises: `round(x / scale) + zero_point`, ties to even, saturated.
///
/// `scale`: one number, one for each place along `params.axis`, or one for each block of
/// `params.block_size` places along it (the shape of `x`, that axis divided by the block, rounded
/// up). `zero_point`: the shape of `scale`. The result has the type of the zero point, else
/// `params.output`, else `uint8`: an integer of 2 to 16 bits or a float of 4 or 8 bits. The
/// quotient is rounded to `params.precision`, by default the type of the scale; NaN becomes the
/// least integer.
///
/// # Errors
/// [`KernelError::BadShape`], [`KernelError::BadAxis`], [`KernelError::BadDType`];
/// [`KernelError::MixedDTypes`] if zero point and `output` disagree.
pub fn quantize_linear(
    x: &Tensor,
    scale: &Tensor,
    zero_point: Option<&Tensor>,
    params: QuantizeParams,
) -> Result<Tensor> {
    const NAME: &str = "quantize_linear";
    let to = match (zero_point.map(Tensor::dtype), params.output) {
        (Some(left), Some(right)) if left != right => {
            return Err(KernelError::MixedDTypes { kernel: NAME, left, right });
        }
        (stated, other) => stated.or(other).unwrap_or(DType::U8),
    };
    let small =
        if to.is_float() { to.size_bits() <= 8 } else { to.is_int() && to.size_bits() <= 16 };
    if !small || to == DType::F8E8M0 {
        return Err(refuse::dtype(NAME, "a type to quantise to", to));
    }
    let granularity = Granularity::of(NAME, x, scale, params.axis, params.block_size)?;
    let zeros = zero_points(NAME, scale, zero_point)?;
    let quotients = divide(x, scale, granularity, params.precision.unwrap_or(scale.dtype()))?;
    let (least, greatest) = if to.is_float() { (0.0, 0.0) } else { range(to) };
    let shifted = quotients.into_iter().enumerate().map(|(at, quotient)| {
        let zero = zeros[granularity.scale_of(at)];
        if to.is_float() {
            return quotient + zero;
        }
        // The maximum of NaN and a number is the number.
        (quotient.round_ties_even() + zero).max(least).min(greatest)
    });
    let shifted = Tensor::from_vec(x.shape(), shifted.collect::<Vec<f64>>())?;
    cast_with(&shifted, to, CastOptions { saturate: params.saturate, ..CastOptions::default() })
}

/// Divides in type `precision`. Rounding the quotient of `f64` is as good, because `f64` has more
/// than twice the digits.
fn divide(
    x: &Tensor,
    scale: &Tensor,
    granularity: Granularity,
    precision: DType,
) -> Result<Vec<f64>> {
    let scales = cast(scale, precision)?.f64s()?;
    let numbers = cast(x, precision)?.f64s()?;
    let divided =
        numbers.into_iter().enumerate().map(|(at, x)| x / scales[granularity.scale_of(at)]);
    from_f64s(precision, x.shape(), divided.collect())?.f64s()
}

/// Computes `(x - zero_point) * scale`; scales and zero points lie as for [`quantize_linear`].
///
/// The result has the type `output`, else that of the scale, and is rounded once.
///
/// # Errors
/// [`KernelError::BadShape`], [`KernelError::BadAxis`], [`KernelError::BadDType`];
/// [`KernelError::MixedDTypes`] if `x` and the zero point differ in type.
pub fn dequantize_linear(
    x: &Tensor,
    scale: &Tensor,
    zero_point: Option<&Tensor>,
    axis: i64,
    block_size: usize,
    output: Option<DType>,
) -> Result<Tensor> {
    const NAME: &str = "dequantize_linear";
    if let Some(zero) = zero_point.filter(|zero| zero.dtype() != x.dtype()) {
        let (left, right) = (x.dtype(), zero.dtype());
        return Err(KernelError::MixedDTypes { kernel: NAME, left, right });
    }
    let granularity = Granularity::of(NAME, x, scale, axis, block_size)?;
    let zeros = zero_points(NAME, scale, zero_point)?;
    let scales = scale.f64s()?;
    let real = x.f64s()?.into_iter().enumerate().map(|(at, x)| {
        let shared = granularity.scale_of(at);
        (x - zeros[shared]) * scales[shared]
    });
    from_f64s(output.unwrap_or(scale.dtype()), x.shape(), real.collect())
}

/// Quantises to `uint8` with a scale that just covers the range of `x` and 0.
///
/// `x`: `float32`. Returns the quantised tensor, the scale and the zero point. All in `f32`; the
/// scale of zeros alone is 1.
///
/// # Errors
/// [`KernelError::BadDType`].
pub fn dynamic_quantize_linear(x: &Tensor) -> Result<(Tensor, Tensor, Tensor)> {
    if x.dtype() != DType::F32 {
        return Err(refuse::dtype("dynamic_quantize_linear", "float32", x.dtype()));
    }
    let data = x.view::<f32>()?;
    let least = data.iter().fold(0f32, |a, &b| a.min(b));
    let greatest = data.iter().fold(0f32, |a, &b| a.max(b));
    let scale = if least == greatest { 1.0 } else { (greatest - least) / 255.0 };
    let zero = (-least / scale).clamp(0.0, 255.0).round_ties_even() as u8;
    let (scale, zero) = (Tensor::scalar(scale), Tensor::scalar(zero));
    let y = quantize_linear(x, &scale, Some(&zero), QuantizeParams::default())?;
    Ok((y, scale, zero))
}
