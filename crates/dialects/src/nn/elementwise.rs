//! Functions of one tensor, applied to each element.

use tangram_ir::{AttrDef, AttrKind, InferCx, OpDef, OperandDef, ResultDef, Traits};

use tangram_tensor::elementwise as kernels;
use tangram_tensor::packed::ExponentRounding;
use tangram_tensor::{DType, Tensor, shape};

use super::container::{is_container, plain};
use super::{NnOp, maybe, needed, operand, optional, result};
use crate::dtype;
use crate::eval::{EvalCx, EvalError, EvalFn, Evaluated, single};
use crate::infer::{InferExt, Result, Shaped, one, one_with, several};
use crate::infer_error;
use crate::structured::{
    self, Binary, Comparison, Loops, Number, ScalarId, Stage, Structured, StructuredCx, TensorRef,
    Unary, elementwise, number_of, scalars,
};

const X: &[OperandDef] = &[operand("x", "any shape")];
const Y: &[ResultDef] = &[result("y", "the shape of `x`")];

const PLAIN: Traits = Traits::PURE.union(Traits::ELEMENTWISE);
const IDEMPOTENT: Traits = PLAIN.union(Traits::IDEMPOTENT);
const INVOLUTION: Traits = PLAIN.union(Traits::INVOLUTION);

/// An operation whose result has the type of its operand.
const fn unary(
    name: &'static str,
    summary: &'static str,
    traits: Traits,
    attrs: &'static [AttrDef],
    eval: EvalFn,
) -> NnOp {
    let def = OpDef {
        operands: X,
        results: Y,
        attrs,
        traits,
        infer: Some(infer_same),
        ..OpDef::new(name, summary)
    };
    NnOp { def, eval: Some(eval), structured: None }
}

/// An operation whose result is a boolean for each element.
const fn test(
    name: &'static str,
    summary: &'static str,
    attrs: &'static [AttrDef],
    eval: EvalFn,
) -> NnOp {
    let def = OpDef { infer: Some(infer_test), ..unary(name, summary, PLAIN, attrs, eval).def };
    NnOp { def, eval: Some(eval), structured: None }
}

const fn float(name: &'static str, doc: &'static str) -> AttrDef {
    maybe(name, AttrKind::Float, doc)
}

/// The operations of this family.
pub(super) static OPS: &[NnOp] = &[
    unary("nn.identity", "`x`", IDEMPOTENT, &[], |cx| Ok(vec![cx.need(0)?.clone()]))
        .structured(structured::reshape),
    unary("nn.abs", "`|x|`", IDEMPOTENT, &[], |cx| map(cx, kernels::abs))
        .structured(structured_abs),
    unary("nn.negative", "`-x`", INVOLUTION, &[], |cx| map(cx, kernels::negative))
        .structured(|cx| each(cx, |s, x| s.unary(Unary::Neg, x))),
    unary("nn.sqrt", "the square root of `x`", PLAIN, &[], |cx| map(cx, kernels::sqrt))
        .structured(|cx| of_float(cx, |s, x| s.unary(Unary::Sqrt, x))),
    unary("nn.exp", "`e^x`", PLAIN, &[], |cx| map(cx, kernels::exp))
        .structured(|cx| of_float(cx, |s, x| s.unary(Unary::Exp, x))),
    unary("nn.log", "the natural logarithm of `x`", PLAIN, &[], |cx| map(cx, kernels::log))
        .structured(|cx| of_float(cx, |s, x| s.unary(Unary::Log, x))),
    unary("nn.erf", "the Gauss error function of `x`", PLAIN, &[], |cx| map(cx, kernels::erf))
        .structured(|cx| of_float(cx, |s, x| s.unary(Unary::Erf, x))),
    unary("nn.sin", "the sine of `x` in radians", PLAIN, &[], |cx| map(cx, kernels::sin))
        .structured(|cx| of_float(cx, |s, x| s.unary(Unary::Sin, x))),
    unary("nn.cos", "the cosine of `x` in radians", PLAIN, &[], |cx| map(cx, kernels::cos))
        .structured(|cx| of_float(cx, |s, x| s.unary(Unary::Cos, x))),
    unary("nn.tan", "the tangent of `x` in radians", PLAIN, &[], |cx| map(cx, kernels::tan))
        .structured(|cx| of_float(cx, |s, x| s.unary(Unary::Tan, x))),
    unary("nn.asin", "the arc sine of `x`, in radians", PLAIN, &[], |cx| map(cx, kernels::asin))
        .structured(|cx| of_float(cx, |s, x| s.unary(Unary::Asin, x))),
    unary("nn.acos", "the arc cosine of `x`, in radians", PLAIN, &[], |cx| map(cx, kernels::acos))
        .structured(|cx| of_float(cx, |s, x| s.unary(Unary::Acos, x))),
    unary("nn.atan", "the arc tangent of `x`, in radians", PLAIN, &[], |cx| map(cx, kernels::atan))
        .structured(|cx| of_float(cx, |s, x| s.unary(Unary::Atan, x))),
    unary("nn.sinh", "the hyperbolic sine of `x`", PLAIN, &[], |cx| map(cx, kernels::sinh))
        .structured(|cx| of_float(cx, |s, x| s.unary(Unary::Sinh, x))),
    unary("nn.cosh", "the hyperbolic cosine of `x`", PLAIN, &[], |cx| map(cx, kernels::cosh))
        .structured(|cx| of_float(cx, |s, x| s.unary(Unary::Cosh, x))),
    unary("nn.tanh", "the hyperbolic tangent of `x`", PLAIN, &[], |cx| map(cx, kernels::tanh))
        .structured(|cx| of_float(cx, |s, x| s.unary(Unary::Tanh, x))),
    unary("nn.asinh", "the inverse hyperbolic sine of `x`", PLAIN, &[], |cx| {
        map(cx, kernels::asinh)
    })
    .structured(|cx| of_float(cx, |s, x| s.unary(Unary::Asinh, x))),
    unary("nn.acosh", "the inverse hyperbolic cosine of `x`", PLAIN, &[], |cx| {
        map(cx, kernels::acosh)
    })
    .structured(|cx| of_float(cx, |s, x| s.unary(Unary::Acosh, x))),
    unary("nn.atanh", "the inverse hyperbolic tangent of `x`", PLAIN, &[], |cx| {
        map(cx, kernels::atanh)
    })
    .structured(|cx| of_float(cx, |s, x| s.unary(Unary::Atanh, x))),
    unary("nn.sigmoid", "`1 / (1 + e^-x)`", PLAIN, &[], |cx| map(cx, kernels::sigmoid))
        .structured(|cx| of_float(cx, |s, x| s.unary(Unary::Sigmoid, x))),
    unary("nn.relu", "`max(x, 0)`", IDEMPOTENT, &[], |cx| map(cx, kernels::relu))
        .structured(|cx| each(cx, scalars::relu)),
    unary("nn.softplus", "`log(1 + e^x)`", PLAIN, &[], |cx| map(cx, kernels::softplus))
        .structured(|cx| of_float(cx, scalars::softplus)),
    unary("nn.softsign", "`x / (1 + |x|)`", PLAIN, &[], |cx| map(cx, kernels::softsign))
        .structured(|cx| of_float(cx, scalars::softsign)),
    unary("nn.mish", "`x * tanh(softplus(x))`", PLAIN, &[], |cx| map(cx, kernels::mish))
        .structured(|cx| of_float(cx, scalars::mish)),
    unary("nn.floor", "the greatest integer at most `x`", IDEMPOTENT, &[], |cx| {
        map(cx, kernels::floor)
    })
    .structured(|cx| of_float(cx, |s, x| s.unary(Unary::Floor, x))),
    unary("nn.ceil", "the least integer at least `x`", IDEMPOTENT, &[], |cx| {
        map(cx, kernels::ceil)
    })
    .structured(|cx| of_float(cx, |s, x| s.unary(Unary::Ceil, x))),
    unary("nn.round", "the nearest integer, ties to even", IDEMPOTENT, &[], |cx| {
        map(cx, kernels::round)
    })
    .structured(|cx| of_float(cx, |s, x| s.unary(Unary::Round, x))),
    unary("nn.sign", "-1, 0 or 1", IDEMPOTENT, &[], |cx| map(cx, kernels::sign))
        .structured(|cx| each(cx, |s, x| s.unary(Unary::Sign, x))),
    unary("nn.reciprocal", "`1 / x`", PLAIN, &[], |cx| map(cx, kernels::reciprocal))
        .structured(|cx| of_float(cx, scalars::reciprocal)),
    unary("nn.logical_not", "not `x`", INVOLUTION, &[], |cx| map(cx, kernels::logical_not))
        .structured(|cx| each(cx, |s, x| s.unary(Unary::Not, x))),
    unary("nn.bitwise_not", "each bit of `x` flipped", INVOLUTION, &[], |cx| {
        map(cx, kernels::bitwise_not)
    })
    .structured(|cx| each(cx, |s, x| s.unary(Unary::BitNot, x))),
    unary("nn.hard_swish", "`x * max(0, min(1, x / 6 + 0.5))`", PLAIN, &[], |cx| {
        map(cx, kernels::hard_swish)
    })
    .structured(|cx| of_float(cx, scalars::hard_swish)),
    unary(
        "nn.leaky_relu",
        "`x` where positive, else `alpha * x`",
        PLAIN,
        &[float("alpha", "slope for negative `x`; 0.01 if absent")],
        |cx| single(kernels::leaky_relu(cx.need(0)?, number(cx, "alpha", 0.01))),
    )
    .structured(|cx| of_float(cx, |s, x| scalars::leaky_relu(s, x, factor(cx, "alpha", 0.01)))),
    unary(
        "nn.elu",
        "`x` where positive, else `alpha * (e^x - 1)`",
        PLAIN,
        &[float("alpha", "1 if absent")],
        |cx| single(kernels::elu(cx.need(0)?, number(cx, "alpha", 1.0))),
    )
    .structured(|cx| of_float(cx, |s, x| scalars::elu(s, x, factor(cx, "alpha", 1.0)))),
    unary(
        "nn.selu",
        "`gamma * x` where positive, else `gamma * alpha * (e^x - 1)`",
        PLAIN,
        &[float("alpha", "1.67326 if absent"), float("gamma", "1.0507 if absent")],
        |cx| {
            single(kernels::selu(
                cx.need(0)?,
                number(cx, "alpha", 1.673_263_2),
                number(cx, "gamma", 1.050_701),
            ))
        },
    )
    .structured(structured_selu),
    unary(
        "nn.celu",
        "`max(0, x) + min(0, alpha * (e^(x / alpha) - 1))`",
        PLAIN,
        &[float("alpha", "1 if absent")],
        |cx| single(kernels::celu(cx.need(0)?, number(cx, "alpha", 1.0))),
    )
    .structured(|cx| of_float(cx, |s, x| scalars::celu(s, x, factor(cx, "alpha", 1.0)))),
    unary(
        "nn.thresholded_relu",
        "`x` where greater than `alpha`, else 0",
        PLAIN,
        &[float("alpha", "1 if absent")],
        |cx| single(kernels::thresholded_relu(cx.need(0)?, number(cx, "alpha", 1.0))),
    )
    .structured(|cx| {
        of_float(cx, |s, x| scalars::thresholded_relu(s, x, factor(cx, "alpha", 1.0)))
    }),
    unary(
        "nn.hard_sigmoid",
        "`max(0, min(1, alpha * x + beta))`",
        PLAIN,
        &[float("alpha", "0.2 if absent"), float("beta", "0.5 if absent")],
        |cx| {
            single(kernels::hard_sigmoid(
                cx.need(0)?,
                number(cx, "alpha", 0.2),
                number(cx, "beta", 0.5),
            ))
        },
    )
    .structured(structured_hard_sigmoid),
    unary(
        "nn.gelu",
        "`x` times the normal distribution function at `x`",
        PLAIN,
        &[maybe("approximate", AttrKind::Enum(&["none", "tanh"]), "`none` (exact) if absent")],
        eval_gelu,
    )
    .structured(structured_gelu),
    unary("nn.swish", "`x * sigmoid(alpha * x)`", PLAIN, &[float("alpha", "1 if absent")], |cx| {
        single(kernels::swish(cx.need(0)?, number(cx, "alpha", 1.0)))
    })
    .structured(|cx| of_float(cx, |s, x| scalars::swish(s, x, factor(cx, "alpha", 1.0)))),
    unary(
        "nn.shrink",
        "`x + bias` below `-lambd`, `x - bias` above `lambd`, else 0",
        PLAIN,
        &[float("bias", "0 if absent"), float("lambd", "0.5 if absent")],
        |cx| {
            single(kernels::shrink(cx.need(0)?, number(cx, "bias", 0.0), number(cx, "lambd", 0.5)))
        },
    )
    .structured(structured_shrink),
    test("nn.isnan", "whether `x` is not a number", &[], |cx| map(cx, kernels::isnan))
        .structured(|cx| of_float(cx, |s, x| s.compare(Comparison::Ne, x, x))),
    test(
        "nn.isinf",
        "whether `x` is infinite",
        &[
            maybe("detect_negative", AttrKind::Bool, "count minus infinity; true if absent"),
            maybe("detect_positive", AttrKind::Bool, "count plus infinity; true if absent"),
        ],
        eval_isinf,
    )
    .structured(structured_isinf),
    NnOp {
        def: OpDef {
            operands: X,
            results: Y,
            attrs: &[
                needed("dtype", AttrKind::DType, "the element type of the result"),
                maybe("saturate", AttrKind::Bool, "for eight-bit floats; true if absent"),
                maybe(
                    "round_mode",
                    AttrKind::Enum(&["up", "down", "nearest"]),
                    "to a power of two, for `f8E8M0FNU`; up if absent",
                ),
            ],
            traits: PLAIN,
            infer: Some(infer_cast),
            ..OpDef::new("nn.cast", "`x` converted to another element type")
        },
        eval: Some(eval_cast),
        structured: Some(structured_cast),
    },
    NnOp {
        def: OpDef {
            operands: &[operand("x", "any shape"), operand("y", "only its element type counts")],
            results: Y,
            attrs: &[maybe("saturate", AttrKind::Bool, "for eight-bit floats; true if absent")],
            traits: PLAIN,
            infer: Some(infer_cast_like),
            ..OpDef::new("nn.cast_like", "`x` converted to the element type of `y`")
        },
        eval: Some(eval_cast),
        structured: Some(structured_cast),
    },
    NnOp {
        def: OpDef {
            operands: X,
            results: Y,
            attrs: &[needed("dtype", AttrKind::DType, "an element type of the same width")],
            traits: PLAIN,
            infer: Some(infer_bitcast),
            ..OpDef::new("nn.bitcast", "the bits of `x` read as another element type")
        },
        eval: Some(eval_bitcast),
        structured: None,
    },
    NnOp {
        def: OpDef {
            operands: &[
                operand("x", "any shape"),
                optional("min", "a scalar; no lower bound if absent"),
                optional("max", "a scalar; no upper bound if absent"),
            ],
            results: Y,
            attrs: &[
                maybe("a_min", AttrKind::Float, "lower bound in place of `min`"),
                maybe("a_max", AttrKind::Float, "upper bound in place of `max`"),
            ],
            traits: IDEMPOTENT,
            infer: Some(infer_same),
            ..OpDef::new("nn.clip", "`min(max(x, a_min), a_max)`")
        },
        eval: Some(eval_clip),
        structured: Some(structured_clip),
    },
    NnOp {
        def: OpDef {
            operands: X,
            results: &[
                result("y", "`x`"),
                ResultDef {
                    name: "mask",
                    arity: tangram_ir::Arity::Optional,
                    doc: "all true, the shape of `x`",
                },
            ],
            attrs: &[float("rate", "the share of elements dropped in training")],
            traits: PLAIN,
            infer: Some(infer_dropout),
            ..OpDef::new("nn.dropout", "`x`: dropout as it is in inference")
        },
        eval: Some(eval_dropout),
        structured: Some(structured_dropout),
    },
];

/// One result like operand 0; small contents survive where the function keeps integers.
fn infer_same(cx: &InferCx<'_>) -> Result {
    // Sequences and optional values are handed on as well.
    let held = cx.operand_type(0).filter(|&ty| is_container(cx.context(), ty));
    if let ("nn.identity", Some(ty)) = (cx.def.name, held) {
        return Ok(plain(ty));
    }
    let contents = (cx.def.name == "nn.identity").then(|| cx.contents(0)).flatten();
    if cx.def.name == "nn.negative" {
        let negated = cx.contents(0).map(|c| c.iter().map(|e| e.as_ref()?.neg()).collect());
        return one_with(cx, &cx.tensor(0)?, negated);
    }
    one_with(cx, &cx.tensor(0)?, contents)
}

fn infer_test(cx: &InferCx<'_>) -> Result {
    one(cx, &Shaped { element: cx.context().int_type(1), ..cx.tensor(0)? })
}

fn infer_cast(cx: &InferCx<'_>) -> Result {
    let missing = || infer_error!("`nn.cast` needs the type attribute `dtype`");
    let element = cx.attrs().ty("dtype").ok_or_else(missing)?;
    cast_to(cx, element)
}

fn infer_cast_like(cx: &InferCx<'_>) -> Result {
    cast_to(cx, cx.tensor(1)?.element)
}

/// Extents stay exact in the 32- and 64-bit integers; narrower types might wrap.
fn cast_to(cx: &InferCx<'_>, element: tangram_ir::Type) -> Result {
    let wide = dtype::dtype_of(cx.context(), element)
        .is_some_and(|dtype| dtype.is_int() && dtype.size_bits() >= 32);
    let contents = if wide { cx.contents(0) } else { None };
    one_with(cx, &Shaped { element, ..cx.tensor(0)? }, contents)
}

fn infer_bitcast(cx: &InferCx<'_>) -> Result {
    let missing = || infer_error!("`nn.bitcast` needs the type attribute `dtype`");
    let element = cx.attrs().ty("dtype").ok_or_else(missing)?;
    one(cx, &Shaped { element, ..cx.tensor(0)? })
}

fn infer_dropout(cx: &InferCx<'_>) -> Result {
    let x = cx.tensor(0)?;
    let mask = Shaped { element: cx.context().int_type(1), ..x.clone() };
    let wanted = cx.result_count.unwrap_or(1);
    several(cx, [x, mask].into_iter().take(wanted.max(1)))
}

fn map(cx: &EvalCx<'_>, kernel: fn(&Tensor) -> tangram_tensor::Result<Tensor>) -> Evaluated {
    single(kernel(cx.need(0)?))
}

/// Attribute `name`, or its default, which is a `float` as the attribute is: in a model of `double`
/// as well.
fn number(cx: &EvalCx<'_>, name: &str, default: f32) -> f64 {
    cx.attrs().float(name).unwrap_or(f64::from(default))
}

fn eval_gelu(cx: &EvalCx<'_>) -> Evaluated {
    let approximation = match cx.attrs().text("approximate") {
        Some("tanh") => kernels::GeluApproximation::Tanh,
        _ => kernels::GeluApproximation::None,
    };
    single(kernels::gelu(cx.need(0)?, approximation))
}

fn eval_isinf(cx: &EvalCx<'_>) -> Evaluated {
    let detect = |name| cx.attrs().bool(name).unwrap_or(true);
    single(kernels::isinf(cx.need(0)?, detect("detect_negative"), detect("detect_positive")))
}

fn eval_cast(cx: &EvalCx<'_>) -> Evaluated {
    let dtype = cx.dtype(0).ok_or(EvalError::Attribute("dtype"))?;
    let saturate = cx.attrs().bool("saturate").unwrap_or(true);
    let rounding = match cx.attrs().text("round_mode") {
        Some("down") => ExponentRounding::Down,
        Some("nearest") => ExponentRounding::Nearest,
        _ => ExponentRounding::Up,
    };
    let options = kernels::CastOptions { saturate, rounding };
    single(kernels::cast_with(cx.need(0)?, dtype, options))
}

fn eval_bitcast(cx: &EvalCx<'_>) -> Evaluated {
    let dtype = cx.dtype(0).ok_or(EvalError::Attribute("dtype"))?;
    single(cx.need(0)?.bitcast(dtype))
}

fn eval_clip(cx: &EvalCx<'_>) -> Evaluated {
    let x = cx.need(0)?;
    let (low, high) = (cx.scalar("a_min", 1, x.dtype())?, cx.scalar("a_max", 2, x.dtype())?);
    single(kernels::clip(x, low.as_ref(), high.as_ref()))
}

fn eval_dropout(cx: &EvalCx<'_>) -> Evaluated {
    let x = cx.need(0)?;
    let mask = shape::full(&Tensor::scalar(true), x.shape())?;
    Ok(vec![x.clone(), mask])
}

/// One parallel loop nest over numbers or booleans.
fn each(
    cx: &StructuredCx<'_>,
    f: impl FnOnce(&mut Stage, ScalarId) -> ScalarId,
) -> Option<Structured> {
    elementwise(cx, |s, xs| Some(f(s, *xs.first()?)))
}

/// The same over floats.
fn of_float(
    cx: &StructuredCx<'_>,
    f: impl FnOnce(&mut Stage, ScalarId) -> ScalarId,
) -> Option<Structured> {
    cx.operand(0)?.element.is_float().then(|| each(cx, f))?
}

fn factor(cx: &StructuredCx<'_>, name: &str, default: f32) -> f64 {
    cx.attrs().float(name).unwrap_or(f64::from(default))
}

fn structured_abs(cx: &StructuredCx<'_>) -> Option<Structured> {
    match cx.operand(0)?.element {
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => structured::reshape(cx),
        _ => each(cx, |s, x| s.unary(Unary::Abs, x)),
    }
}

fn structured_selu(cx: &StructuredCx<'_>) -> Option<Structured> {
    let alpha = factor(cx, "alpha", 1.673_263_2);
    let gamma = factor(cx, "gamma", 1.050_701);
    of_float(cx, |s, x| scalars::selu(s, x, alpha, gamma))
}

fn structured_hard_sigmoid(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (alpha, beta) = (factor(cx, "alpha", 0.2), factor(cx, "beta", 0.5));
    of_float(cx, |s, x| scalars::hard_sigmoid(s, x, alpha, beta))
}

fn structured_gelu(cx: &StructuredCx<'_>) -> Option<Structured> {
    match cx.attrs().text("approximate") {
        Some("tanh") => of_float(cx, scalars::gelu_tanh),
        _ => of_float(cx, scalars::gelu),
    }
}

/// In `f64`, as the kernel.
fn structured_shrink(cx: &StructuredCx<'_>) -> Option<Structured> {
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

fn structured_isinf(cx: &StructuredCx<'_>) -> Option<Structured> {
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

fn structured_cast(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (x, y) = (cx.operand(0)?, cx.result(0)?);
    let mut stage = Stage::over(&y.extents);
    let at = stage.all(0..y.rank());
    let value = stage.load_exact(&x, &at);
    Some(Structured::one(stage.store(&y, &at, value)))
}

fn structured_clip(cx: &StructuredCx<'_>) -> Option<Structured> {
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

fn structured_dropout(cx: &StructuredCx<'_>) -> Option<Structured> {
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
