//! Operations that stand for several of ONNX's.

use tangram_tensor::elementwise::{GeluApproximation, add, cast, gelu, map1, swish};
use tangram_tensor::index::take;
use tangram_tensor::linear::{GemmParams, conv, gemm, matmul};
use tangram_tensor::norm::{layer_norm, rms_norm};
use tangram_tensor::recurrent::Activation;
use tangram_tensor::reduce::{Reduce, reduce};
use tangram_tensor::shape::transpose;
use tangram_tensor::{DType, Tensor};

use super::{extents, plus, scaled, wide};
use crate::eval::{EvalCx, EvalError, Evaluated, single};
use crate::nn::conv::group_count;
use crate::nn::window::{FUSED_NAMES, params};

type Result<T> = std::result::Result<T, EvalError>;

/// `gelu` of the sum of all operands.
pub(in crate::nn::contrib) fn exact_gelu(cx: &EvalCx<'_>) -> Evaluated {
    single(gelu(&plus(cx, cx.need(0)?, &[1])?, GeluApproximation::None))
}

pub(in crate::nn::contrib) fn fast_gelu(cx: &EvalCx<'_>) -> Evaluated {
    single(gelu(&plus(cx, cx.need(0)?, &[1])?, GeluApproximation::Tanh))
}

pub(in crate::nn::contrib) fn quick_gelu(cx: &EvalCx<'_>) -> Evaluated {
    single(swish(cx.need(0)?, cx.attrs().float("alpha").unwrap_or(f64::from(1.702_f32))))
}

pub(in crate::nn::contrib) fn bias_add(cx: &EvalCx<'_>) -> Evaluated {
    Ok(vec![plus(cx, cx.need(0)?, &[1, 2])?])
}

pub(in crate::nn::contrib) fn fused_matmul(cx: &EvalCx<'_>) -> Evaluated {
    let side = |i, batch, swapped| {
        let flag = |name| cx.attrs().flag(name);
        laid_out(&wide(cx.need(i)?)?, flag(batch), flag(swapped))
    };
    let a = side(0, "transpose_batch_a", "transpose_a")?;
    let b = side(1, "transpose_batch_b", "transpose_b")?;
    let product = matmul(&a, &b)?;
    Ok(vec![scaled(&product, cx.attrs().float("alpha").unwrap_or(1.0))?])
}

/// The matrices of `x`: for `batch` the first dimension is their rows; for `swapped` the last two
/// are exchanged then.
fn laid_out(x: &Tensor, batch: bool, swapped: bool) -> Result<Tensor> {
    let rank = x.rank();
    let mut order: Vec<i64> = (0..rank as i64).collect();
    if batch && rank > 2 {
        order[..rank - 1].rotate_left(1);
    }
    if swapped && rank > 1 {
        order.swap(rank - 2, rank - 1);
    }
    Ok(transpose(x, Some(&order))?)
}

pub(in crate::nn::contrib) fn fused_gemm(cx: &EvalCx<'_>) -> Evaluated {
    let attrs = cx.attrs();
    let factors = GemmParams {
        alpha: attrs.float("alpha").unwrap_or(1.0),
        beta: attrs.float("beta").unwrap_or(1.0),
        trans_a: attrs.flag("transpose_a"),
        trans_b: attrs.flag("transpose_b"),
    };
    let (a, b) = (wide(cx.need(0)?)?, wide(cx.need(1)?)?);
    let c = cx.get(2).map(wide).transpose()?;
    let sum = gemm(&a, &b, c.as_ref(), factors)?;
    let number = |name: &str| attrs.float(name);
    let list = [number("activation_alpha"), number("activation_beta")];
    let list: Vec<f64> = list.into_iter().flatten().collect();
    Ok(vec![activated(cx, &sum, &list)?])
}

pub(in crate::nn::contrib) fn fused_conv(cx: &EvalCx<'_>) -> Evaluated {
    let windows = params(cx.attrs(), &FUSED_NAMES);
    let (x, w) = (wide(cx.need(0)?)?, wide(cx.need(1)?)?);
    let bias = cx.get(2).map(wide).transpose()?;
    let sum = conv(&x, &w, bias.as_ref(), group_count(cx)?, &windows)?;
    let sum = plus(cx, &sum, &[3])?;
    let list = cx.attrs().floats("activation_params").unwrap_or_default();
    Ok(vec![activated(cx, &sum, &list)?])
}

/// The attribute `activation`, with its parameters, of each element.
fn activated(cx: &EvalCx<'_>, x: &Tensor, list: &[f64]) -> Result<Tensor> {
    let Some(name) = cx.attrs().text("activation").filter(|name| !name.is_empty()) else {
        return Ok(x.clone());
    };
    let each = |f: &dyn Fn(f64) -> f64| {
        let wide = map1::<f64, f64>(&cast(x, DType::F64)?, f)?;
        Ok(cast(&wide, x.dtype())?)
    };
    if name == "Clip" {
        let at = |i: usize, otherwise: f64| list.get(i).copied().unwrap_or(otherwise);
        let (low, high) = (at(0, f64::NEG_INFINITY), at(1, f64::INFINITY));
        return each(&|x| x.max(low).min(high));
    }
    let function = Activation::parse_list(&[name], list, list.get(1..).unwrap_or_default())?;
    let [function] = function[..] else { return Ok(x.clone()) };
    each(&|x| function.apply(x))
}

fn epsilon(cx: &EvalCx<'_>, otherwise: f32) -> f64 {
    cx.attrs().float("epsilon").unwrap_or(f64::from(otherwise))
}

pub(in crate::nn::contrib) fn skip_layer_norm(cx: &EvalCx<'_>) -> Evaluated {
    let sum = plus(cx, cx.need(0)?, &[1, 4])?;
    let gamma = Some(cx.need(2)?);
    let normal = layer_norm(&sum, gamma, cx.get(3), -1, epsilon(cx, 1e-12), DType::F32)?;
    Ok(vec![normal.y, normal.mean, normal.inv_std, sum])
}

pub(in crate::nn::contrib) fn skip_rms_norm(cx: &EvalCx<'_>) -> Evaluated {
    let sum = plus(cx, cx.need(0)?, &[1, 3])?;
    let y = rms_norm(&sum, Some(cx.need(2)?), -1, epsilon(cx, 1e-12))?;
    let mean = reduce(Reduce::Mean, &cast(&sum, DType::F32)?, &[-1], true, false)?;
    Ok(vec![y, mean, inverse_root(&sum, -1, epsilon(cx, 1e-12))?, sum])
}

pub(in crate::nn::contrib) fn root_mean_square_norm(cx: &EvalCx<'_>) -> Evaluated {
    let x = cx.need(0)?;
    let (axis, epsilon) = (cx.attrs().int("axis").unwrap_or(-1), epsilon(cx, 1e-5));
    let y = rms_norm(x, Some(cx.need(1)?), axis, epsilon)?;
    Ok(vec![y, inverse_root(x, axis, epsilon)?])
}

/// The reciprocal of the root of the mean square over all dimensions from `axis` on.
fn inverse_root(x: &Tensor, axis: i64, epsilon: f64) -> Result<Tensor> {
    let wide = cast(x, DType::F64)?;
    let squares = map1::<f64, f64>(&wide, |x| x * x)?;
    let first = if axis < 0 { axis + x.rank() as i64 } else { axis };
    let axes: Vec<i64> = (first..x.rank() as i64).collect();
    let means = reduce(Reduce::Mean, &squares, &axes, true, false)?;
    let roots = map1::<f64, f64>(&means, |mean| 1.0 / (mean + epsilon).sqrt())?;
    Ok(cast(&roots, DType::F32)?)
}

pub(in crate::nn::contrib) fn embed_layer_norm(cx: &EvalCx<'_>) -> Evaluated {
    let ids = cx.need(0)?;
    let [batch, steps] = extents("input_ids", ids)?;
    let taken = |table: &Tensor, at: &Tensor| take(&wide(table)?, at, 0).map_err(EvalError::from);
    let mut sum = taken(cx.need(2)?, ids)?;
    let places = match cx.get(8) {
        Some(places) => places.clone(),
        None => Tensor::vector((0..steps as i64).collect()).reshaped([1, steps])?,
    };
    sum = add(&sum, &taken(cx.need(3)?, &places)?)?;
    if let (Some(segments), Some(table)) = (cx.get(1), cx.get(4)) {
        sum = add(&sum, &taken(table, segments)?)?;
    }
    let (gamma, beta) = (Some(cx.need(5)?), Some(cx.need(6)?));
    let normal = layer_norm(&sum, gamma, beta, -1, epsilon(cx, 1e-12), DType::F32)?;
    let seen = match cx.get(7) {
        Some(mask) => {
            let mask = mask.i64s()?;
            let row = |b: usize| &mask[b * steps..(b + 1) * steps];
            (0..batch).map(|b| row(b).iter().filter(|&&m| m == 1).count() as i32).collect()
        }
        None => vec![0; batch],
    };
    Ok(vec![normal.y, Tensor::vector(seen), sum])
}
