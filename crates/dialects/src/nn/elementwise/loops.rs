//! Functions of each element as loops.

use tangram_tensor::elementwise as kernels;
use tangram_tensor::{DType, Tensor};

use crate::structured::{
    self, Binary, Comparison, Loops, Number, ScalarId, Stage, Structured, StructuredCx, TensorRef,
    Unary, elementwise, number_of, scalars,
};

/// One parallel loop nest over numbers or booleans.
pub(super) fn each(
    cx: &StructuredCx<'_>,
    f: impl FnOnce(&mut Stage, ScalarId) -> ScalarId,
) -> Option<Structured> {
    elementwise(cx, |s, xs| Some(f(s, *xs.first()?)))
}

/// The same over floats.
pub(super) fn of_float(
    cx: &StructuredCx<'_>,
    f: impl FnOnce(&mut Stage, ScalarId) -> ScalarId,
) -> Option<Structured> {
    cx.operand(0)?.element.is_float().then(|| each(cx, f))?
}

pub(super) fn factor(cx: &StructuredCx<'_>, name: &str, default: f32) -> f64 {
    cx.attrs().float(name).unwrap_or(f64::from(default))
}

pub(super) fn abs(cx: &StructuredCx<'_>) -> Option<Structured> {
    match cx.operand(0)?.element {
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => structured::reshape(cx),
        _ => each(cx, |s, x| s.unary(Unary::Abs, x)),
    }
}

pub(super) fn selu(cx: &StructuredCx<'_>) -> Option<Structured> {
    let alpha = factor(cx, "alpha", 1.673_263_2);
    let gamma = factor(cx, "gamma", 1.050_701);
    of_float(cx, |s, x| scalars::selu(s, x, alpha, gamma))
}

pub(super) fn hard_sigmoid(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (alpha, beta) = (factor(cx, "alpha", 0.2), factor(cx, "beta", 0.5));
    of_float(cx, |s, x| scalars::hard_sigmoid(s, x, alpha, beta))
}

pub(super) fn gelu(cx: &StructuredCx<'_>) -> Option<Structured> {
    match cx.attrs().text("approximate") {
        Some("tanh") => of_float(cx, scalars::gelu_tanh),
        _ => of_float(cx, scalars::gelu),
    }
}

/// In `f64`, as the kernel.
pub(super) fn shrink(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (bias, limit) = (factor(cx, "bias", 0.0), factor(cx, "lambd", 0.5));
    each(cx, |s, x| {
        let value = s.cast(DType::F64, x);
        let [bias, low, high, zero] = [bias, -limit, limit, 0.0].map(|n| s.number(value, n));
        let (raised, lowered) = (s.add(value, bias), s.sub(value, bias));
        let below = s.compare(Comparison::Lt, value, low);
        let above = s.compare(Comparison::Gt, value, high);
        let upper = s.select(above, lowered, zero);
        let value = s.select(below, raised, upper);
        let to = s.type_of(x);
        if to.is_float() { value } else { scalars::saturated(s, value, to) }
    })
}

pub(super) fn isinf(cx: &StructuredCx<'_>) -> Option<Structured> {
    let detect = |name| cx.attrs().bool(name).unwrap_or(true);
    let (negative, positive) = (detect("detect_negative"), detect("detect_positive"));
    of_float(cx, |s, x| {
        // A limit that nothing reaches stands for a sign that does not count.
        let bound = |counts, limit: f64| if counts { limit } else { f64::NAN };
        let low = s.number(x, bound(negative, f64::NEG_INFINITY));
        let high = s.number(x, bound(positive, f64::INFINITY));
        let low = s.compare(Comparison::Eq, x, low);
        let high = s.compare(Comparison::Eq, x, high);
        s.binary(Binary::Or, low, high)
    })
}

pub(super) fn cast(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (x, y) = (cx.operand(0)?, cx.result(0)?);
    let mut stage = Stage::over(&y.extents);
    let at = stage.all(0..y.rank());
    let value = stage.load_exact(&x, &at);
    Some(Structured::one(stage.store(&y, &at, value)))
}

pub(super) fn clip(cx: &StructuredCx<'_>) -> Option<Structured> {
    let out = cx.result(0)?;
    let mut stage = Stage::over(&out.extents);
    let x = stage.broadcast(&cx.operand(0)?)?;
    let low = limit(cx, &mut stage, x, ("a_min", 1))?;
    let high = limit(cx, &mut stage, x, ("a_max", 2))?;
    let value = scalars::clip(&mut stage, x, low, high);
    Some(Structured::one(stage.store_parallel(&out, value)))
}

/// The limit that attribute `name` or operand `i` states, in the type of `x`.
fn limit(
    cx: &StructuredCx<'_>,
    stage: &mut Stage,
    x: ScalarId,
    (name, i): (&str, usize),
) -> Option<Option<ScalarId>> {
    let element = cx.operand(0)?.element;
    let scalar = match (cx.attrs().int(name), cx.attrs().float(name)) {
        (Some(n), _) => kernels::cast(&Tensor::scalar(n), element).ok()?,
        (None, Some(n)) => kernels::cast(&Tensor::scalar(n), element).ok()?,
        (None, None) if !cx.has(i) => return Some(None),
        (None, None) => {
            let bound = stage.broadcast(&cx.operand(i).filter(is_one_element)?)?;
            let bound = stage.cast(element, bound);
            return Some(Some(stage.cast(stage.type_of(x), bound)));
        }
    };
    let bound = stage.constant(number_of(&scalar)?);
    Some(Some(stage.cast(stage.type_of(x), bound)))
}

fn is_one_element(tensor: &TensorRef) -> bool {
    tensor.extents.iter().all(|extent| extent.as_int() == Some(1))
}

pub(super) fn dropout(cx: &StructuredCx<'_>) -> Option<Structured> {
    if cx.result_count() == 1 {
        return structured::reshape(cx);
    }
    let (x, y, mask) = (cx.operand(0)?, cx.result(0)?, cx.result(1)?);
    let mut loops = Loops::default();
    loops.copy(&x, &y);
    let mut stage = Stage::over(&mask.extents);
    let kept = stage.constant(Number::Int(DType::Bool, 1));
    loops.push(stage.store_parallel(&mask, kept));
    Some(loops.finish())
}
