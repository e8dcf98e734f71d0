//! Quantised operations: on real numbers, or on integers where sums are exact.

use tangram_tensor::elementwise::{add, cast, leaky_relu, multiply, sigmoid};
use tangram_tensor::linear::global_avg_pool;
use tangram_tensor::quant::{
    QuantizeParams, dequantize_linear, dynamic_quantize_linear, matmul_integer, quantize_linear,
};
use tangram_tensor::shape::{concatenate, transpose};
use tangram_tensor::softmax::{Softmax, softmax, softmax_flattened};
use tangram_tensor::{DType, Tensor};

use super::{plus, scaled};
use crate::eval::{EvalCx, EvalError, Evaluated, single};

type Result<T> = std::result::Result<T, EvalError>;

pub(in crate::nn::contrib) fn quantize(cx: &EvalCx<'_>) -> Evaluated {
    let params = QuantizeParams {
        axis: cx.attrs().int("axis").unwrap_or(1),
        block_size: block_size(cx)?,
        ..QuantizeParams::default()
    };
    single(quantize_linear(cx.need(0)?, cx.need(1)?, cx.get(2), params))
}

pub(in crate::nn::contrib) fn dequantize(cx: &EvalCx<'_>) -> Evaluated {
    let (axis, size) = (cx.attrs().int("axis").unwrap_or(1), block_size(cx)?);
    single(dequantize_linear(cx.need(0)?, cx.need(1)?, cx.get(2), axis, size, None))
}

fn block_size(cx: &EvalCx<'_>) -> Result<usize> {
    let size = cx.attrs().int("block_size").unwrap_or(0);
    usize::try_from(size).map_err(|_| EvalError::Value("block_size", size.to_string()))
}

/// The real numbers that operands `i` to `i + 2` stand for: values, scale, zero point.
fn real(cx: &EvalCx<'_>, i: usize) -> Result<Tensor> {
    let (x, scale) = (cx.need(i)?, cx.need(i + 1)?);
    Ok(dequantize_linear(x, scale, cx.get(i + 2), 0, 0, Some(DType::F32))?)
}

/// Real numbers in the type of `like`, with operands `i` and `i + 1` as scale and zero point.
fn stored(cx: &EvalCx<'_>, x: &Tensor, i: usize, like: DType) -> Evaluated {
    let zero = cx.get(i + 1);
    let output = if zero.is_none() { Some(like) } else { None };
    let params = QuantizeParams { output, ..QuantizeParams::default() };
    single(quantize_linear(x, cx.need(i)?, zero, params))
}

/// A function of one quantised tensor.
fn through(cx: &EvalCx<'_>, f: impl FnOnce(&Tensor) -> Result<Tensor>) -> Evaluated {
    stored(cx, &f(&real(cx, 0)?)?, 3, cx.need(0)?.dtype())
}

pub(in crate::nn::contrib) fn qlinear_add(cx: &EvalCx<'_>) -> Evaluated {
    let sum = add(&real(cx, 0)?, &real(cx, 3)?)?;
    stored(cx, &sum, 6, cx.need(0)?.dtype())
}

pub(in crate::nn::contrib) fn qlinear_multiply(cx: &EvalCx<'_>) -> Evaluated {
    let product = multiply(&real(cx, 0)?, &real(cx, 3)?)?;
    stored(cx, &product, 6, cx.need(0)?.dtype())
}

pub(in crate::nn::contrib) fn qlinear_sigmoid(cx: &EvalCx<'_>) -> Evaluated {
    through(cx, |x| Ok(sigmoid(x)?))
}

pub(in crate::nn::contrib) fn qlinear_leaky_relu(cx: &EvalCx<'_>) -> Evaluated {
    let alpha = cx.attrs().float("alpha").unwrap_or(f64::from(0.01_f32));
    through(cx, |x| Ok(leaky_relu(x, alpha)?))
}

pub(in crate::nn::contrib) fn qlinear_softmax(cx: &EvalCx<'_>) -> Evaluated {
    let axis = cx.attrs().int("axis").unwrap_or(-1);
    let flattened = cx.attrs().int("opset").is_some_and(|opset| opset < 13);
    let function = if flattened { softmax_flattened } else { softmax };
    through(cx, |x| Ok(function(Softmax::Softmax, x, axis)?))
}

pub(in crate::nn::contrib) fn qlinear_concat(cx: &EvalCx<'_>) -> Evaluated {
    let axis = cx.attrs().int("axis").ok_or(EvalError::Attribute("axis"))?;
    let parts = (2..cx.operands.len()).step_by(3).map(|i| real(cx, i));
    let parts: Vec<Tensor> = parts.collect::<Result<_>>()?;
    let joined = concatenate(&parts.iter().collect::<Vec<_>>(), axis)?;
    stored(cx, &joined, 0, DType::U8)
}

pub(in crate::nn::contrib) fn qlinear_global_avg_pool(cx: &EvalCx<'_>) -> Evaluated {
    let last = cx.attrs().flag("channels_last");
    through(cx, |x| {
        let rank = x.rank() as i64;
        if !last || rank < 3 {
            return Ok(global_avg_pool(x)?);
        }
        let front: Vec<i64> = [0, rank - 1].into_iter().chain(1..rank - 1).collect();
        let back: Vec<i64> = [0].into_iter().chain(2..rank).chain([1]).collect();
        Ok(transpose(&global_avg_pool(&transpose(x, Some(&front))?)?, Some(&back))?)
    })
}

pub(in crate::nn::contrib) fn qgemm(cx: &EvalCx<'_>) -> Evaluated {
    let side = |i: usize, name: &str| -> Result<Tensor> {
        let x = cx.need(i)?;
        Ok(if cx.attrs().flag(name) { transpose(x, Some(&[1, 0]))? } else { x.clone() })
    };
    let (a, b) = (side(0, "transpose_a")?, side(3, "transpose_b")?);
    let sums = plus(cx, &matmul_integer(&a, &b, cx.get(2), cx.get(5))?, &[6])?;
    let scales = multiply(cx.need(1)?, cx.need(4)?)?;
    let real = multiply(&cast(&sums, scales.dtype())?, &scales)?;
    let real = scaled(&real, cx.attrs().float("alpha").unwrap_or(1.0))?;
    match cx.get(7) {
        Some(_) => stored(cx, &real, 7, a.dtype()),
        None => Ok(vec![real]),
    }
}

pub(in crate::nn::contrib) fn matmul_integer_to_float(cx: &EvalCx<'_>) -> Evaluated {
    let sums = matmul_integer(cx.need(0)?, cx.need(1)?, cx.get(4), cx.get(5))?;
    product(cx, &sums, [cx.need(2)?, cx.need(3)?], 6)
}

pub(in crate::nn::contrib) fn dynamic_quantize_matmul(cx: &EvalCx<'_>) -> Evaluated {
    let (a, scale, zero) = dynamic_quantize_linear(cx.need(0)?)?;
    let sums = matmul_integer(&a, cx.need(1)?, Some(&zero), cx.get(3))?;
    product(cx, &sums, [&scale, cx.need(2)?], 4)
}

/// Sums of integers times both scales, plus a bias.
fn product(cx: &EvalCx<'_>, sums: &Tensor, scales: [&Tensor; 2], bias: usize) -> Evaluated {
    let scales = multiply(scales[0], scales[1])?;
    let real = multiply(&cast(sums, scales.dtype())?, &scales)?;
    Ok(vec![plus(cx, &real, &[bias])?])
}
