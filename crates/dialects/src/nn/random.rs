//! Chance. These operations are never folded and never merged.

use tangram_ir::{
    AttrDef, AttrKind, Dim, FloatKind, InferCx, InferFn, OpDef, OperandDef, ResultDef, Traits,
};
use tangram_tensor::DType;

use super::{NnOp, maybe, maybe_result, needed, operand, optional, result};
use crate::dtype;
use crate::infer::{InferExt, Result, Shaped, one, several};

const X: &[OperandDef] = &[operand("x", "any shape")];
const OUT: &[ResultDef] = &[result("output", "random numbers")];
const DTYPE: AttrDef = maybe("dtype", AttrKind::DType, "the element type of the result");
const SEED: AttrDef = maybe("seed", AttrKind::Float, "of the generator; any if absent");
const SHAPE: AttrDef = needed("shape", AttrKind::Ints, "the extents");
const MEAN: AttrDef = maybe("mean", AttrKind::Float, "0 if absent");
const SCALE: AttrDef = maybe("scale", AttrKind::Float, "the standard deviation; 1 if absent");
const LOW: AttrDef = maybe("low", AttrKind::Float, "0 if absent");
const HIGH: AttrDef = maybe("high", AttrKind::Float, "1 if absent");

const fn random(
    name: &'static str,
    summary: &'static str,
    operands: &'static [OperandDef],
    attrs: &'static [AttrDef],
    infer: InferFn,
) -> NnOp {
    let def = OpDef {
        operands,
        results: OUT,
        attrs,
        traits: Traits::RANDOM,
        infer: Some(infer),
        ..OpDef::new(name, summary)
    };
    NnOp::new(def)
}

/// The operations of this family.
pub(super) static OPS: &[NnOp] = &[
    random(
        "nn.random_normal",
        "numbers of a normal distribution",
        &[],
        &[SHAPE, DTYPE, MEAN, SCALE, SEED],
        infer_shape,
    ),
    random(
        "nn.random_normal_like",
        "numbers of a normal distribution, in the shape of `x`",
        X,
        &[DTYPE, MEAN, SCALE, SEED],
        infer_like,
    ),
    random(
        "nn.random_uniform",
        "numbers between `low` and `high`, each as likely",
        &[],
        &[SHAPE, DTYPE, LOW, HIGH, SEED],
        infer_shape,
    ),
    random(
        "nn.random_uniform_like",
        "numbers between `low` and `high`, in the shape of `x`",
        X,
        &[DTYPE, LOW, HIGH, SEED],
        infer_like,
    ),
    NnOp::new(OpDef {
        operands: &[
            operand("x", "any shape"),
            optional("ratio", "a scalar: the share that becomes 0; 0.5 if absent"),
            optional("training", "a scalar: whether anything happens; false if absent"),
        ],
        results: &[
            result("output", "the shape of `x`"),
            maybe_result("mask", "the shape of `x`, `i1`: what stays"),
        ],
        attrs: &[maybe("seed", AttrKind::Int, "of the generator; any if absent")],
        traits: Traits::RANDOM,
        infer: Some(infer_dropout),
        ..OpDef::new("nn.dropout_training", "`x` with some elements 0, the others enlarged")
    }),
    random(
        "nn.bernoulli",
        "1 with the probability that `x` states, else 0",
        X,
        &[DTYPE, SEED],
        infer_like,
    ),
    random(
        "nn.multinomial",
        "classes drawn with the probabilities whose logarithms `x` states",
        &[operand("x", "batch, classes")],
        &[DTYPE, SEED, maybe("sample_size", AttrKind::Int, "draws for each batch; 1 if absent")],
        infer_multinomial,
    ),
];

fn infer_shape(cx: &InferCx<'_>) -> Result {
    let element = cx.attrs().ty("dtype");
    let element = element.unwrap_or_else(|| cx.context().float_type(FloatKind::F32));
    one(cx, &Shaped::ranked(cx.need_ints("shape")?.into_iter().map(Dim::fixed), element))
}

fn infer_like(cx: &InferCx<'_>) -> Result {
    let x = cx.tensor(0)?;
    one(cx, &Shaped { element: cx.attrs().ty("dtype").unwrap_or(x.element), ..x })
}

fn infer_dropout(cx: &InferCx<'_>) -> Result {
    let x = cx.tensor(0)?;
    let mask = Shaped { element: cx.context().int_type(1), ..x.clone() };
    several(cx, [x, mask].into_iter().take(cx.result_count.unwrap_or(1).clamp(1, 2)))
}

fn infer_multinomial(cx: &InferCx<'_>) -> Result {
    let batch = cx.tensor(0)?.dims.and_then(|d| d.first().copied()).unwrap_or(Dim::UNKNOWN);
    let element = cx.attrs().ty("dtype");
    let element = element.unwrap_or_else(|| dtype::type_of(cx.context(), DType::I32));
    let draws = Dim::fixed(cx.attrs().int("sample_size").unwrap_or(1));
    one(cx, &Shaped::ranked([batch, draws], element))
}
