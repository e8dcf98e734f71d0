//! Operations of onnxruntime's own domain, which exported and quantised models use.
//!
//! They exist so that models that have them can be looked through and run; nothing makes one anew. Operands and attributes are onnxruntime's, in this dialect's names.

pub(super) mod attention;
mod evaluate;
pub(super) mod fused;
pub(super) mod quantised;
mod structured;

use fastrand::Rng;
use tangram_ir::{
    AttrDef, AttrKind, Dim, FloatKind, InferCx, InferFn, OperandDef, ResultDef, Type,
};

use super::conv::agree;
use super::recurrent::sample::ACTIVATIONS;
use super::sample::{Call, Tried, any_of};
use super::window;
use super::{NnOp, maybe, op, operand, result};
use crate::infer::{Dims, InferExt, Result, Shaped, one, several};

const OUT: &[ResultDef] = &[result("output", "a tensor")];

const X: OperandDef = operand("x", "any shape");

const A: OperandDef = operand("a", "matrices");

const B: OperandDef = operand("b", "matrices");

const ALPHA: AttrDef = maybe("alpha", AttrKind::Float, "a factor");

const AXIS: AttrDef = maybe("axis", AttrKind::Int, "a dimension");

const TRANSPOSE_A: AttrDef = maybe("transpose_a", AttrKind::Bool, "use `a` transposed");

const TRANSPOSE_B: AttrDef = maybe("transpose_b", AttrKind::Bool, "use `b` transposed");

const fn scale(name: &'static str) -> OperandDef {
    operand(name, "a scale")
}

/// An operation whose result has the type of its first operand.
const fn alike(
    name: &'static str,
    summary: &'static str,
    operands: &'static [OperandDef],
    attrs: &'static [AttrDef],
) -> NnOp {
    op(name, summary, operands, OUT, attrs, infer_alike)
}

const fn product_like(
    name: &'static str,
    summary: &'static str,
    operands: &'static [OperandDef],
    attrs: &'static [AttrDef],
    infer: InferFn,
) -> NnOp {
    op(name, summary, operands, OUT, attrs, infer)
}

fn wanted(cx: &InferCx<'_>, results: impl IntoIterator<Item = Shaped>) -> Result {
    let most = cx.def.results.len();
    several(cx, results.into_iter().take(cx.result_count.unwrap_or(1).clamp(1, most)))
}

fn infer_alike(cx: &InferCx<'_>) -> Result {
    one(cx, &cx.tensor(0)?)
}

fn f32_type(cx: &InferCx<'_>) -> Type {
    cx.context().float_type(FloatKind::F32)
}

/// The extents of operand `i`, with the last two exchanged if `swapped`; for `batch`, the first
/// comes behind the others but the last, before that.
fn laid_out(cx: &InferCx<'_>, i: usize, swapped: bool, batch: bool) -> Result<Option<Dims>> {
    let Some(mut dims) = cx.tensor(i)?.dims else { return Ok(None) };
    let rank = dims.len();
    if batch && rank > 2 {
        dims[..rank - 1].rotate_left(1);
    }
    if swapped && rank > 1 {
        dims.swap(rank - 2, rank - 1);
    }
    Ok(Some(dims))
}

/// The result of a product of matrices `a` and `b`, transposed as the attributes say.
fn multiplied(cx: &InferCx<'_>, (a, b): (usize, usize)) -> Result<[Dim; 2]> {
    let side = |i: usize, name| -> Result<[Dim; 2]> {
        let dims = laid_out(cx, i, cx.attrs().flag(name), false)?;
        Ok(dims.and_then(|dims| dims[..].try_into().ok()).unwrap_or([Dim::UNKNOWN; 2]))
    };
    let ([m, k], [l, n]) = (side(a, "transpose_a")?, side(b, "transpose_b")?);
    agree(cx, "an inner extent", k, l)?;
    Ok([m, n])
}

/// The extents of an operand of rank `N`, unknown if it has another.
fn of_rank<const N: usize>(cx: &InferCx<'_>, i: usize) -> Result<Option<[Dim; N]>> {
    if !cx.has(i) {
        return Ok(None);
    }
    Ok(cx.tensor(i)?.dims.and_then(|dims| dims[..].try_into().ok()))
}

/// The function that is fused behind.
fn activation(call: &Call<'_>, attr: &AttrDef, rng: &mut Rng) -> Tried {
    match attr.name {
        "activation" => any_of(&ACTIVATIONS, rng),
        _ => window::tried(call, attr, rng),
    }
}
