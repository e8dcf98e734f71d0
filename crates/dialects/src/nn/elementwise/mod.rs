//! Functions of one tensor, applied to each element.

mod loops;

use fastrand::Rng;
use tangram_ir::{AttrDef, AttrKind, InferCx, OpDef, OperandDef, ResultDef, Traits};

use tangram_tensor::elementwise as kernels;
use tangram_tensor::packed::ExponentRounding;
use tangram_tensor::{Tensor, shape};

use loops::{each, factor, of_float};

use super::container::{is_container, plain};
use super::{
    Form, NnOp, Numbers, either, maybe, needed, open, operand, optional, result,
    sample::{self, Call, Role, Tried, Value},
};
use crate::dtype;
use crate::eval::{EvalCx, EvalError, EvalFn, Evaluated, single};
use crate::field::{Evaluated as OverField, Evaluation, prime};
use crate::infer::{InferExt, Result, Shaped, one, one_with, several};
use crate::infer_error;
use crate::structured::{self, Comparison, Unary, scalars};

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
    NnOp::new(def).eval(eval)
}

/// An operation whose result is a boolean for each element.
const fn test(
    name: &'static str,
    summary: &'static str,
    attrs: &'static [AttrDef],
    eval: EvalFn,
) -> NnOp {
    let def = OpDef { infer: Some(infer_test), ..unary(name, summary, PLAIN, attrs, eval).def };
    NnOp::new(def).eval(eval)
}

const fn float(name: &'static str, doc: &'static str) -> AttrDef {
    maybe(name, AttrKind::Float, doc)
}

/// The operations of this family.
pub(super) static OPS: &[NnOp] = &[
    unary("nn.identity", "`x`", IDEMPOTENT, &[], |cx| Ok(vec![cx.need(0)?.clone()]))
        .structured(structured::reshape)
        .moves(),
    unary("nn.abs", "`|x|`", IDEMPOTENT, &[], |cx| map(cx, kernels::abs))
        .structured(loops::abs)
        .numbers(Numbers::EXACT.union(Numbers::INTEGRAL)),
    unary("nn.negative", "`-x`", INVOLUTION, &[], |cx| map(cx, kernels::negative))
        .structured(|cx| each(cx, |s, x| s.unary(Unary::Neg, x)))
        .sums()
        .numbers(Numbers::EXACT),
    unary("nn.sqrt", "the square root of `x`", PLAIN, &[], |cx| map(cx, kernels::sqrt))
        .structured(|cx| of_float(cx, |s, x| s.unary(Unary::Sqrt, x)))
        .over_field(|cx| on_field(cx, prime::root)),
    unary("nn.exp", "`e^x`", PLAIN, &[], |cx| map(cx, kernels::exp))
        .structured(|cx| of_float(cx, |s, x| s.unary(Unary::Exp, x)))
        .numbers(Numbers::EXPONENTIAL),
    unary("nn.log", "the natural logarithm of `x`", PLAIN, &[], |cx| map(cx, kernels::log))
        .structured(|cx| of_float(cx, |s, x| s.unary(Unary::Log, x)))
        .numbers(Numbers::POLES),
    unary("nn.erf", "the Gauss error function of `x`", PLAIN, &[], |cx| map(cx, kernels::erf))
        .structured(|cx| of_float(cx, |s, x| s.unary(Unary::Erf, x))),
    unary("nn.sin", "the sine of `x` in radians", PLAIN, &[], |cx| map(cx, kernels::sin))
        .structured(|cx| of_float(cx, |s, x| s.unary(Unary::Sin, x)))
        .addition(|x, by| x.sin() * by.cos() + x.cos() * by.sin()),
    unary("nn.cos", "the cosine of `x` in radians", PLAIN, &[], |cx| map(cx, kernels::cos))
        .structured(|cx| of_float(cx, |s, x| s.unary(Unary::Cos, x)))
        .addition(|x, by| x.cos() * by.cos() - x.sin() * by.sin()),
    unary("nn.tan", "the tangent of `x` in radians", PLAIN, &[], |cx| map(cx, kernels::tan))
        .structured(|cx| of_float(cx, |s, x| s.unary(Unary::Tan, x)))
        .addition(|x, by| (x.tan() + by.tan()) / (1.0 - x.tan() * by.tan())),
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
    .structured(|cx| of_float(cx, |s, x| s.unary(Unary::Atanh, x)))
    .numbers(Numbers::POLES),
    unary("nn.sigmoid", "`1 / (1 + e^-x)`", PLAIN, &[], |cx| map(cx, kernels::sigmoid))
        .structured(|cx| of_float(cx, |s, x| s.unary(Unary::Sigmoid, x)))
        .numbers(Numbers::EXPONENTIAL),
    unary("nn.relu", "`max(x, 0)`", IDEMPOTENT, &[], |cx| map(cx, kernels::relu))
        .structured(|cx| each(cx, scalars::relu))
        .numbers(Numbers::CHOSEN),
    unary("nn.softplus", "`log(1 + e^x)`", PLAIN, &[], |cx| map(cx, kernels::softplus))
        .structured(|cx| of_float(cx, scalars::softplus))
        .numbers(Numbers::EXPONENTIAL),
    unary("nn.softsign", "`x / (1 + |x|)`", PLAIN, &[], |cx| map(cx, kernels::softsign))
        .structured(|cx| of_float(cx, scalars::softsign)),
    unary("nn.mish", "`x * tanh(softplus(x))`", PLAIN, &[], |cx| map(cx, kernels::mish))
        .structured(|cx| of_float(cx, scalars::mish)),
    unary("nn.floor", "the greatest integer at most `x`", IDEMPOTENT, &[], |cx| {
        map(cx, kernels::floor)
    })
    .structured(|cx| of_float(cx, |s, x| s.unary(Unary::Floor, x)))
    .numbers(Numbers::CHOSEN.union(Numbers::JUMPS)),
    unary("nn.ceil", "the least integer at least `x`", IDEMPOTENT, &[], |cx| {
        map(cx, kernels::ceil)
    })
    .structured(|cx| of_float(cx, |s, x| s.unary(Unary::Ceil, x)))
    .numbers(Numbers::CHOSEN.union(Numbers::JUMPS)),
    unary("nn.round", "the nearest integer, ties to even", IDEMPOTENT, &[], |cx| {
        map(cx, kernels::round)
    })
    .structured(|cx| of_float(cx, |s, x| s.unary(Unary::Round, x)))
    .numbers(Numbers::CHOSEN.union(Numbers::JUMPS)),
    unary("nn.sign", "-1, 0 or 1", IDEMPOTENT, &[], |cx| map(cx, kernels::sign))
        .structured(|cx| each(cx, |s, x| s.unary(Unary::Sign, x)))
        .numbers(Numbers::CHOSEN.union(Numbers::JUMPS)),
    unary("nn.reciprocal", "`1 / x`", PLAIN, &[], |cx| map(cx, kernels::reciprocal))
        .structured(|cx| of_float(cx, scalars::reciprocal))
        .numbers(Numbers::QUOTIENT)
        .over_field(|cx| on_field(cx, prime::inverse)),
    unary("nn.logical_not", "not `x`", INVOLUTION, &[], |cx| map(cx, kernels::logical_not))
        .structured(|cx| each(cx, |s, x| s.unary(Unary::Not, x)))
        .numbers(Numbers::CHOSEN)
        .roles(&[Role::Truth]),
    unary("nn.bitwise_not", "each bit of `x` flipped", INVOLUTION, &[], |cx| {
        map(cx, kernels::bitwise_not)
    })
    .structured(|cx| each(cx, |s, x| s.unary(Unary::BitNot, x)))
    .numbers(Numbers::CHOSEN),
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
    .structured(loops::selu),
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
    .structured(loops::hard_sigmoid),
    unary(
        "nn.gelu",
        "`x` times the normal distribution function at `x`",
        PLAIN,
        &[maybe("approximate", AttrKind::Enum(&["none", "tanh"]), "`none` (exact) if absent")],
        eval_gelu,
    )
    .structured(loops::gelu),
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
    .structured(loops::shrink),
    test("nn.isnan", "whether `x` is not a number", &[], |cx| map(cx, kernels::isnan))
        .structured(|cx| of_float(cx, |s, x| s.compare(Comparison::Ne, x, x)))
        .numbers(Numbers::CHOSEN.union(Numbers::JUMPS)),
    test(
        "nn.isinf",
        "whether `x` is infinite",
        &[
            maybe("detect_negative", AttrKind::Bool, "count minus infinity; true if absent"),
            maybe("detect_positive", AttrKind::Bool, "count plus infinity; true if absent"),
        ],
        eval_isinf,
    )
    .structured(loops::isinf)
    .numbers(Numbers::CHOSEN.union(Numbers::JUMPS)),
    NnOp::new(OpDef {
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
    })
    .eval(eval_cast)
    .structured(loops::cast)
    .moves()
    .numbers(Numbers::CONVERTS)
    .open(open::conversion)
    .tried(tried_type),
    NnOp::new(OpDef {
        operands: &[operand("x", "any shape"), operand("y", "only its element type counts")],
        results: Y,
        attrs: &[maybe("saturate", AttrKind::Bool, "for eight-bit floats; true if absent")],
        traits: PLAIN,
        infer: Some(infer_cast_like),
        ..OpDef::new("nn.cast_like", "`x` converted to the element type of `y`")
    })
    .eval(eval_cast)
    .structured(loops::cast)
    .moves()
    .numbers(Numbers::CONVERTS)
    .open(open::conversion),
    NnOp::new(OpDef {
        operands: X,
        results: Y,
        attrs: &[needed("dtype", AttrKind::DType, "an element type of the same width")],
        traits: PLAIN,
        infer: Some(infer_bitcast),
        ..OpDef::new("nn.bitcast", "the bits of `x` read as another element type")
    })
    .eval(eval_bitcast)
    .numbers(Numbers::EXACT.union(Numbers::FITS)),
    NnOp::new(OpDef {
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
    })
    .eval(eval_clip)
    .structured(loops::clip)
    .numbers(Numbers::EXACT.union(Numbers::FITS))
    .forbids(open::clipped)
    .either(&[either(1, "a_min", Form::Number), either(2, "a_max", Form::Number)])
    .tried(tried_bounds),
    NnOp::new(OpDef {
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
    })
    .eval(eval_dropout)
    .structured(loops::dropout),
];

/// A function of each element that the field has.
fn on_field(cx: &Evaluation<'_>, f: fn(f64) -> f64) -> Option<OverField> {
    Some(cx.polynomial(prime::map(cx.operand(0)?, f).ok()?, 1))
}

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

/// The type of the data now and then: what a type loses is seen where numbers come back.
fn tried_type(call: &Call<'_>, attr: &AttrDef, rng: &mut Rng) -> Tried {
    match attr.name {
        "dtype" if rng.u8(0..4) == 0 => Value::from(call.base.name()).into(),
        _ => Tried::Usual,
    }
}

fn tried_bounds(_: &Call<'_>, attr: &AttrDef, rng: &mut Rng) -> Tried {
    match attr.name {
        "a_min" => sample::number(&[-4.0, -2.0, 0.0, 1.0, 0.5, -100.0], rng),
        "a_max" => sample::number(&[-3.0, 0.0, 2.0, 6.0, 0.5, 100.0], rng),
        _ => Tried::Usual,
    }
}
