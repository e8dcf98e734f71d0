//! Products of quantised tensors: ONNX `MatMulInteger`, `ConvInteger`, `QLinearMatMul`,
//! `QLinearConv`.
//!
//! Zero points are subtracted first, and products accumulate in `int32`, modulo 2^32 as the
//! standard allows.

use crate::dtype::DType;
use crate::elementwise::{add, cast, subtract};
use crate::error::Result;
use crate::layout::resolve_axis;
use crate::linear::WindowParams;
use crate::linear::conv::ConvExtents;
use crate::linear::matmul::MatMulExtents;
use crate::quant::affine::range;
use crate::refuse;
use crate::tensor::Tensor;
use crate::wide::from_f64s;

/// A quantised tensor with its scale and its zero point.
#[derive(Clone, Copy, Debug)]
pub struct Quantized<'a> {
    /// The integers, of 8 bits.
    pub values: &'a Tensor,
    /// One scale, or one for each row, column or filter.
    pub scale: &'a Tensor,
    /// The zero points: one, or as many as scales.
    pub zero_point: &'a Tensor,
}

/// Spreads a vector of several numbers along one axis of a tensor of rank `rank`.
fn along(name: &'static str, values: &Tensor, axis: i64, rank: usize) -> Result<Tensor> {
    if values.len() == 1 {
        return values.reshaped([]);
    }
    if values.rank() != 1 {
        return Ok(values.clone());
    }
    let mut shape = vec![1; rank];
    let axis = resolve_axis(name, axis, rank)?;
    shape[axis] = values.len();
    values.reshaped(&shape)
}

/// Widens to `int32` and subtracts the zero points, which change along `axis`.
fn shifted(name: &'static str, x: &Tensor, zero: Option<&Tensor>, axis: i64) -> Result<Tensor> {
    if !matches!(x.dtype(), DType::I8 | DType::U8) {
        return Err(refuse::dtype(name, "an integer of 8 bits", x.dtype()));
    }
    let wide = cast(x, DType::I32)?;
    let Some(zero) = zero else { return Ok(wide) };
    let zero = along(name, &cast(zero, DType::I32)?, axis, x.rank())?;
    let difference = subtract(&wide, &zero)?;
    if difference.shape() != x.shape() {
        return Err(refuse::shape(name, format!("zero points for shape {:?}", x.shape()), &zero));
    }
    Ok(difference)
}

/// Multiplies quantised matrices as [`matmul`](crate::linear::matmul) does; the result is `int32`.
///
/// `a_zero`: one number, or one for each row (a vector, or any shape that broadcasts to `a`).
/// `b_zero`: one number, or one for each column.
///
/// # Errors
/// Those of [`matmul`](crate::linear::matmul); [`BadDType`](crate::KernelError::BadDType) unless
/// the operands have 8 bits.
pub fn matmul_integer(
    a: &Tensor,
    b: &Tensor,
    a_zero: Option<&Tensor>,
    b_zero: Option<&Tensor>,
) -> Result<Tensor> {
    const NAME: &str = "matmul_integer";
    // Zero points of rows vary along the last axis but one; a vector is one row.
    let rows = if a.rank() > 1 { -2 } else { -1 };
    let plan = MatMulExtents::new(NAME, a, b)?;
    let (a, b) = (shifted(NAME, a, a_zero, rows)?, shifted(NAME, b, b_zero, -1)?);
    Tensor::from_vec(plan.shape(), plan.multiply(&a.view::<i32>()?, &b.view::<i32>()?)?)
}

/// Convolves quantised data as [`conv`](crate::linear::conv) does; the result is `int32`.
///
/// `x_zero`: one number. `w_zero`: one number, or one for each filter. Padding stands for the real
/// number 0, which is the zero point.
///
/// # Errors
/// Those of [`conv`](crate::linear::conv); [`BadDType`](crate::KernelError::BadDType) unless the
/// operands have 8 bits.
pub fn conv_integer(
    x: &Tensor,
    w: &Tensor,
    x_zero: Option<&Tensor>,
    w_zero: Option<&Tensor>,
    groups: usize,
    params: &WindowParams,
) -> Result<Tensor> {
    const NAME: &str = "conv_integer";
    let plan = ConvExtents::new(NAME, x, w, groups, params)?;
    let (x, w) = (shifted(NAME, x, x_zero, 1)?, shifted(NAME, w, w_zero, 0)?);
    Tensor::from_vec(plan.shape(), plan.convolve(&x.view::<i32>()?, &w.view::<i32>()?)?)
}

/// Multiplies quantised matrices, and quantises the product.
///
/// Scales and zero points of `a`: one, or one for each row; of `b`: one, or one for each column; of
/// `y`: one. The result has the type of `y_zero`. The factor `a_scale * b_scale / y_scale` is
/// computed in `f32`; the quotient is rounded, ties to even, before the zero point is added.
///
/// # Errors
/// Those of [`matmul_integer`].
pub fn qlinear_matmul(
    a: Quantized<'_>,
    b: Quantized<'_>,
    y_scale: &Tensor,
    y_zero: &Tensor,
) -> Result<Tensor> {
    const NAME: &str = "qlinear_matmul";
    let sums = matmul_integer(a.values, b.values, Some(a.zero_point), Some(b.zero_point))?;
    let rank = sums.rank();
    let rows = if a.values.rank() > 1 && b.values.rank() > 1 { -2 } else { -1 };
    let a_scale = along(NAME, a.scale, rows, rank)?;
    let b_scale = along(NAME, b.scale, -1, rank)?;
    requantize(NAME, &sums, [&a_scale, &b_scale, y_scale], y_zero)
}

/// Convolves quantised data, adds the bias, and quantises the sum.
///
/// Scale and zero point of `w`: one, or one for each filter; of `x` and `y`: one. `bias`: `int32`,
/// one for each filter, in units of `x_scale * w_scale`. Rounds as [`qlinear_matmul`].
///
/// # Errors
/// Those of [`conv_integer`].
pub fn qlinear_conv(
    x: Quantized<'_>,
    w: Quantized<'_>,
    y_scale: &Tensor,
    y_zero: &Tensor,
    bias: Option<&Tensor>,
    groups: usize,
    params: &WindowParams,
) -> Result<Tensor> {
    const NAME: &str = "qlinear_conv";
    let (x_zero, w_zero) = (Some(x.zero_point), Some(w.zero_point));
    let mut sums = conv_integer(x.values, w.values, x_zero, w_zero, groups, params)?;
    if let Some(bias) = bias {
        if bias.shape() != [sums.shape()[1]] {
            return Err(refuse::shape(NAME, "one bias for each filter", bias));
        }
        sums = add(&sums, &along(NAME, bias, 1, sums.rank())?)?;
    }
    let w_scale = along(NAME, w.scale, 1, sums.rank())?;
    requantize(NAME, &sums, [x.scale, &w_scale, y_scale], y_zero)
}

/// Computes `round(sums * (left * right / out)) + zero`, saturated to the type of `zero`.
fn requantize(
    name: &'static str,
    sums: &Tensor,
    [left, right, out]: [&Tensor; 3],
    zero: &Tensor,
) -> Result<Tensor> {
    let to = zero.dtype();
    if !matches!(to, DType::I8 | DType::U8) {
        return Err(refuse::dtype(name, "an integer of 8 bits", to));
    }
    let single = |tensor: &Tensor| cast(tensor, DType::F32);
    let [left, right, out] = [single(left)?, single(right)?, single(out)?];
    let factor = crate::elementwise::divide(
        &crate::elementwise::multiply(&left, &right)?,
        &along(name, &out, -1, sums.rank())?,
    )?;
    let factor = cast(&factor, DType::F64)?;
    let real = crate::elementwise::multiply(&cast(sums, DType::F64)?, &factor)?;
    if real.shape() != sums.shape() {
        return Err(refuse::shape(name, "scales that broadcast to the product", &factor));
    }
    let zero = match *zero.f64s()? {
        [zero] => zero,
        _ => return Err(refuse::shape(name, "one zero point of the result", zero)),
    };
    let (least, greatest) = range(to);
    let quantized = real.f64s()?.into_iter();
    let quantized = quantized.map(|x| (x.round_ties_even() + zero).max(least).min(greatest));
    from_f64s(to, sums.shape(), quantized.collect())
}
