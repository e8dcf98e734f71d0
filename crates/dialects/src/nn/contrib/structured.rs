//! Fused operations as loops: what they stand for, one nest after the other.

use crate::nn::conv::{Convolution, convolve};
use crate::nn::linear::{Side, contract};
use crate::nn::window::FUSED_NAMES;
use crate::structured::{
    Loops, Reducing, ScalarId, Stage, Structured, StructuredCx, TensorRef, Unary, inverse_root,
    over, scalars, wide,
};

/// The sum of all operands that are there, broadcast to the first, and a function of it.
pub(super) fn of_sum(
    cx: &StructuredCx<'_>,
    f: impl FnOnce(&mut Stage, ScalarId) -> ScalarId,
) -> Option<Structured> {
    let out = cx.result(0).filter(|out| out.element.is_float())?;
    let mut stage = Stage::over(&out.extents);
    let mut sum = stage.broadcast(&cx.operand(0)?)?;
    for i in (1..cx.operand_count()).filter(|&i| cx.has(i)) {
        let term = stage.broadcast(&cx.operand(i)?)?;
        sum = stage.add(sum, term);
    }
    let value = f(&mut stage, sum);
    Some(Structured::one(stage.store_parallel(&out, value)))
}

/// `x * sigmoid(alpha * x)`, with onnxruntime's own default.
pub(super) fn quick_gelu(cx: &StructuredCx<'_>) -> Option<Structured> {
    let alpha = cx.attrs().float("alpha").unwrap_or(f64::from(1.702_f32));
    of_sum(cx, |s, x| scalars::swish(s, x, alpha))
}

/// `alpha` times a product whose last two dimensions may be exchanged.
pub(super) fn fused_matmul(cx: &StructuredCx<'_>) -> Option<Structured> {
    let flag = |name| cx.attrs().flag(name);
    (!flag("transpose_batch_a") && !flag("transpose_batch_b")).then_some(())?;
    let (a, b) = (cx.operand(0)?, cx.operand(1)?);
    let out = cx.result(0).filter(|out| out.element.is_float() && out.element == a.element)?;
    (b.element == a.element && a.rank() >= 2 && b.rank() >= 2).then_some(())?;
    let (a, b) = (
        Side::new(a, if flag("transpose_a") { 0 } else { 1 }),
        Side::new(b, if flag("transpose_b") { 1 } else { 0 }),
    );
    let element = wide(out.element);
    let mut loops = Loops::default();
    let alpha = cx.attrs().float("alpha").unwrap_or(1.0);
    let sum = match alpha {
        1.0 => loops.accumulator(&out, element),
        _ => loops.temporary(element, &out.extents),
    };
    contract(&mut loops, &a, &b, &sum, |stage, x, y| {
        let (x, y) = (stage.cast(element, x), stage.cast(element, y));
        Some(stage.mul(x, y))
    })?;
    if alpha == 1.0 {
        loops.convert(&sum, &out);
        return Some(loops.finish());
    }
    let mut stage = Stage::over(&out.extents);
    let value = stage.broadcast(&sum)?;
    let alpha = stage.number(value, alpha);
    let value = stage.mul(value, alpha);
    loops.push(stage.store_parallel(&out, value));
    Some(loops.finish())
}

/// A convolution, then a bias for each filter, a tensor that is added, and an activation.
pub(super) fn fused_conv(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (x, w, out) = (cx.operand(0)?, cx.operand(1)?, cx.result(0)?);
    (x.element.is_float() && x.element == w.element && x.element == out.element).then_some(())?;
    let element = wide(x.element);
    let mut loops = Loops::default();
    let sum = loops.temporary(element, &out.extents);
    let convolution = Convolution { x, w, out: sum.clone() };
    convolve(cx, &mut loops, &convolution, &FUSED_NAMES, |stage, factors| {
        let (x, w) = (stage.cast(element, factors.x), stage.cast(element, factors.w));
        Some(stage.mul(x, w))
    })?;
    let mut stage = Stage::over(&out.extents);
    let mut value = stage.broadcast(&sum)?;
    if cx.has(2) {
        let bias = stage.broadcast_over(&cx.operand(2)?, &[1])?;
        value = stage.add(value, bias);
    }
    if cx.has(3) {
        let other = stage.broadcast(&cx.operand(3)?)?;
        value = stage.add(value, other);
    }
    let params = cx.attrs().floats("activation_params").unwrap_or_default();
    let value = match cx.attrs().text("activation") {
        None | Some("") => value,
        Some(name) => activated(&mut stage, value, name, &params)?,
    };
    loops.push(stage.store_parallel(&out, value));
    Some(loops.finish())
}

/// The activation `name` of onnxruntime's fusions.
fn activated(s: &mut Stage, x: ScalarId, name: &str, params: &[f64]) -> Option<ScalarId> {
    Some(match (name, params) {
        ("Relu", _) => scalars::relu(s, x),
        ("Sigmoid", _) => s.unary(Unary::Sigmoid, x),
        ("Tanh", _) => s.unary(Unary::Tanh, x),
        ("LeakyRelu", &[alpha, ..]) => scalars::leaky_relu(s, x, alpha),
        ("HardSigmoid", &[alpha, beta, ..]) => scalars::hard_sigmoid(s, x, alpha, beta),
        ("Clip", &[low, high, ..]) => {
            let (low, high) = (s.number(x, low), s.number(x, high));
            scalars::clip(s, x, Some(low), Some(high))
        }
        _ => return None,
    })
}

/// The sum of operands 0, 1 and `bias`, as far as they are there.
fn skipped(cx: &StructuredCx<'_>, loops: &mut Loops, bias: usize) -> Option<TensorRef> {
    let x = cx.operand(0).filter(|x| x.element.is_float() && cx.result_count() == 1)?;
    let mut stage = Stage::over(&x.extents);
    let mut value = stage.broadcast(&x)?;
    for i in [1, bias].into_iter().filter(|&i| cx.has(i)) {
        let term = stage.broadcast(&cx.operand(i).filter(|term| term.element == x.element)?)?;
        value = stage.add(value, term);
    }
    let sum = loops.temporary(wide(x.element), &x.extents);
    loops.push(stage.store_parallel(&sum, value));
    Some(sum)
}

fn epsilon(cx: &StructuredCx<'_>) -> f64 {
    cx.attrs().float("epsilon").unwrap_or(f64::from(1e-12_f32))
}

pub(super) fn skip_layer_norm(cx: &StructuredCx<'_>) -> Option<Structured> {
    let out = cx.result(0)?;
    let mut loops = Loops::default();
    let x = skipped(cx, &mut loops, 4)?;
    let reducing = Reducing::from(x.rank().checked_sub(1)?, x.rank());
    let (mean, inverse) = reducing.moments(&mut loops, &x, epsilon(cx))?;
    let mut stage = Stage::over(&out.extents);
    let kept = reducing.kept_loops();
    let value = stage.broadcast(&x)?;
    let (mean, inverse) =
        (stage.broadcast_over(&mean, &kept)?, stage.broadcast_over(&inverse, &kept)?);
    let centred = stage.sub(value, mean);
    let scaled = stage.mul(centred, inverse);
    let gamma = stage.broadcast(&cx.operand(2)?)?;
    let mut value = stage.mul(scaled, gamma);
    if cx.has(3) {
        let beta = stage.broadcast(&cx.operand(3)?)?;
        value = stage.add(value, beta);
    }
    loops.push(stage.store_parallel(&out, value));
    Some(loops.finish())
}

pub(super) fn skip_rms_norm(cx: &StructuredCx<'_>) -> Option<Structured> {
    let out = cx.result(0)?;
    let mut loops = Loops::default();
    let x = skipped(cx, &mut loops, 3)?;
    let reducing = Reducing::from(x.rank().checked_sub(1)?, x.rank());
    let count = reducing.count(&x.extents)?;
    let epsilon = epsilon(cx);
    let squares = reducing.sum(&mut loops, &x, |s, x| s.mul(x, x));
    let inverse = loops.map(&squares, |s, sum| {
        let mean = over(s, sum, &count);
        inverse_root(s, mean, epsilon)
    });
    let mut stage = Stage::over(&out.extents);
    let value = stage.broadcast(&x)?;
    let inverse = stage.broadcast_over(&inverse, &reducing.kept_loops())?;
    let scaled = stage.mul(value, inverse);
    let gamma = stage.broadcast(&cx.operand(2)?)?;
    let value = stage.mul(scaled, gamma);
    loops.push(stage.store_parallel(&out, value));
    Some(loops.finish())
}
