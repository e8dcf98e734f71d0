//! Operations that make tensors, and those that move elements by a fixed scheme.

mod sample;
mod structured;

use tangram_affine::symbolic::{Expr, Truth};
use tangram_ir::{AttrKind, Dim, InferCx, OpDef, Traits};
use tangram_tensor::shape::{self as kernels, DepthMode};
use tangram_tensor::{DType, Tensor};

use super::movement::shape_list;
use super::{
    Form, NnOp, Numbers, either, maybe, needed, operand, optional, result, sample::Sample,
};
use crate::eval::{EvalCx, EvalError, Evaluated, single, sizes};
use crate::infer::{Contents, Dims, InferExt, Result, Shaped, one, one_with};
use crate::{constant, dims, infer_error};

pub(super) use structured::listed;

/// The operations of this family.
pub(super) static OPS: &[NnOp] = &[
    NnOp::new(OpDef {
        operands: &[optional("shape", "the extents, when they are no attribute")],
        results: &[result("output", "every element is `value`")],
        attrs: &[
            maybe("shape", AttrKind::Ints, "the extents"),
            maybe("value", AttrKind::Tensor, "one element; `0 : f32` if absent"),
        ],
        traits: Traits::PURE,
        infer: Some(infer_full),
        ..OpDef::new("nn.full", "a tensor with one value throughout")
    })
    .eval(eval_full)
    .structured(structured::full)
    .numbers(Numbers::EXACT.union(Numbers::FITS))
    .either(&[either(0, "shape", Form::Ints)])
    .sample(Sample { kept: &["value"], ..Sample::USUAL })
    .tried(sample::full),
    NnOp::new(OpDef {
        operands: &[
            operand("start", "a scalar: the first element"),
            operand("limit", "a scalar: elements stay before it"),
            operand("delta", "a scalar: the step"),
        ],
        results: &[result("output", "rank 1")],
        traits: Traits::PURE,
        infer: Some(infer_arange),
        ..OpDef::new("nn.arange", "`start`, `start + delta`... up to `limit`")
    })
    .eval(eval_arange)
    .structured(structured::arange),
    NnOp::new(OpDef {
        operands: &[operand("data", "any shape"), optional("k", "the diagonal, a scalar")],
        results: &[result("output", "the shape of `data`")],
        attrs: &[
            maybe("k", AttrKind::Int, "the diagonal that bounds the triangle; 0 if absent"),
            maybe("upper", AttrKind::Bool, "keep the upper triangle; true if absent"),
        ],
        traits: Traits::PURE,
        infer: Some(infer_like),
        ..OpDef::new("nn.trilu", "a triangle of each matrix of `data`, zeros elsewhere")
    })
    .eval(eval_trilu)
    .structured(structured::trilu)
    .moves()
    .either(&[either(1, "k", Form::Int)]),
    NnOp::new(OpDef {
        operands: &[operand("data", "rank 2; only its shape counts")],
        results: &[result("output", "the shape of `data`")],
        attrs: &[
            maybe("k", AttrKind::Int, "the diagonal that holds ones; 0 if absent"),
            maybe("dtype", AttrKind::DType, "the element type; that of `data` if absent"),
        ],
        traits: Traits::PURE,
        infer: Some(infer_like),
        ..OpDef::new("nn.eye_like", "ones on a diagonal, zeros elsewhere")
    })
    .eval(eval_eye_like)
    .structured(structured::eye_like)
    .moves(),
    NnOp::new(OpDef {
        operands: &[operand("data", "rank 4: batch, channels, height, width")],
        results: &[result("output", "channels / block_size², height and width * block_size")],
        attrs: &[
            needed("block_size", AttrKind::Int, "the side of a block"),
            maybe("mode", AttrKind::Enum(&["DCR", "CRD"]), "order of channels; DCR if absent"),
        ],
        traits: Traits::PURE,
        infer: Some(infer_depth_to_space),
        ..OpDef::new("nn.depth_to_space", "channels rearranged into blocks of pixels")
    })
    .eval(eval_depth_to_space)
    .structured(|cx| structured::blocks(cx, true))
    .moves()
    .rank(|_, _| Some(4))
    .extents(sample::depth_to_space)
    .tried(sample::channel_blocks),
    NnOp::new(OpDef {
        operands: &[operand("data", "rank 4: batch, channels, height, width")],
        results: &[result("output", "channels * block_size², height and width / block_size")],
        attrs: &[
            needed("block_size", AttrKind::Int, "the side of a block"),
            maybe("mode", AttrKind::Enum(&["DCR", "CRD"]), "order of channels; DCR if absent"),
        ],
        traits: Traits::PURE,
        infer: Some(infer_space_to_depth),
        ..OpDef::new("nn.space_to_depth", "blocks of pixels rearranged into channels")
    })
    .eval(eval_space_to_depth)
    .structured(|cx| structured::blocks(cx, false))
    .moves()
    .rank(|_, _| Some(4))
    .extents(sample::space_to_depth)
    .tried(sample::spatial_blocks),
    NnOp::new(OpDef {
        operands: &[
            operand("data", "any shape"),
            operand("lengths", "rank 1: for each batch, how many steps are reversed"),
        ],
        results: &[result("output", "the shape of `data`")],
        attrs: &[
            maybe("batch_axis", AttrKind::Int, "1 if absent"),
            maybe("time_axis", AttrKind::Int, "0 if absent"),
        ],
        traits: Traits::PURE,
        infer: Some(infer_like),
        ..OpDef::new("nn.reverse_sequence", "the first steps of each batch in reverse order")
    })
    .eval(eval_reverse_sequence)
    .structured(structured::reverse_sequence)
    .moves()
    .roles(sample::LENGTHS)
    .extents(sample::lengths),
];

fn infer_like(cx: &InferCx<'_>) -> Result {
    let data = cx.tensor(0)?;
    let element = cx.attrs().ty("dtype").unwrap_or(data.element);
    one(cx, &Shaped { element, ..data })
}

fn infer_full(cx: &InferCx<'_>) -> Result {
    let context = cx.context();
    let value = cx.attrs().find("value");
    let value_type = value.and_then(|value| match context.attr_data(value) {
        tangram_ir::AttrData::Dense { ty, .. } => context.element_type(*ty),
        _ => None,
    });
    let element = match value_type {
        Some(element) => element,
        None => context.float_type(tangram_ir::FloatKind::F32),
    };
    let Some(out) = shape_list(cx, "shape", 0) else {
        return one(cx, &Shaped::unranked(element));
    };
    let contents = filled(cx, &out);
    one_with(cx, &Shaped { dims: Some(out), element }, contents)
}

fn filled(cx: &InferCx<'_>, out: &Dims) -> Option<Contents> {
    let attr = cx.attrs().find("value")?;
    let ty = cx.context().int_type(64);
    let value = constant::attr_tensor(cx.module, attr, ty)?.i64s().ok()?;
    let n = out.first().map_or(Some(1), |d| d.as_static())?;
    let small = out.len() <= 1 && n <= crate::infer::MAX_CONTENTS as i64;
    small.then(|| vec![value.first().map(|&v| Expr::int(v)); n as usize])
}

fn infer_arange(cx: &InferCx<'_>) -> Result {
    let element = cx.tensor(0)?.element;
    let scalar = |i: usize| cx.contents(i)?.into_iter().next()?;
    let extent = || {
        let (start, limit, delta) = (scalar(0)?, scalar(1)?, scalar(2)?);
        let step = delta.as_int().filter(|&n| n != 0)?;
        let (span, step) = if step > 0 {
            (limit.try_sub(&start)?, step)
        } else {
            (start.try_sub(&limit)?, step.checked_neg()?)
        };
        let count = span.ceil_div(&Expr::int(step))?;
        match dims::facts(cx.context()).nonneg(&count) {
            Truth::True => Some(count),
            _ => Expr::max(&count, &Expr::int(0)),
        }
    };
    let extent = extent().map_or(Dim::UNKNOWN, |count| dims::dim(cx.context(), &count));
    let contents = extent.as_static().filter(|&n| n <= crate::infer::MAX_CONTENTS as i64);
    let contents = contents.and_then(|n| {
        let (start, delta) = (scalar(0)?, scalar(2)?);
        Some((0..n).map(|k| start.try_add(&delta.try_mul(&Expr::int(k))?)).collect())
    });
    one_with(cx, &Shaped::ranked([extent], element), contents)
}

fn block_dims(cx: &InferCx<'_>) -> Result<(Shaped, i64)> {
    let data = cx.tensor(0)?;
    let block = cx.need_int("block_size")?;
    if block <= 0 || data.rank().is_some_and(|rank| rank != 4) {
        return Err(infer_error!("`{}` needs rank 4 and a block of at least 1", cx.def.name));
    }
    Ok((data, block))
}

fn infer_depth_to_space(cx: &InferCx<'_>) -> Result {
    let context = cx.context();
    let (data, block) = block_dims(cx)?;
    let Some(d) = &data.dims else { return one(cx, &data) };
    let grow = |dim| dims::mul(context, dim, Dim::fixed(block));
    let channels = dims::floor_div(context, d[1], block.saturating_mul(block));
    one(cx, &Shaped::ranked([d[0], channels, grow(d[2]), grow(d[3])], data.element))
}

fn infer_space_to_depth(cx: &InferCx<'_>) -> Result {
    let context = cx.context();
    let (data, block) = block_dims(cx)?;
    let Some(d) = &data.dims else { return one(cx, &data) };
    let shrink = |dim| dims::floor_div(context, dim, block);
    let channels = dims::mul(context, d[1], Dim::fixed(block.saturating_mul(block)));
    one(cx, &Shaped::ranked([d[0], channels, shrink(d[2]), shrink(d[3])], data.element))
}

fn eval_full(cx: &EvalCx<'_>) -> Evaluated {
    let shape = cx.ints("shape", 0)?.ok_or(EvalError::Attribute("shape"))?;
    let value = match cx.attrs().find("value") {
        Some(attr) => constant::dense_tensor(cx.context, attr),
        None => Some(Tensor::scalar(0f32)),
    };
    let value = value.ok_or(EvalError::Attribute("value"))?;
    single(kernels::full(&value, &sizes("shape", &shape)?))
}

fn eval_arange(cx: &EvalCx<'_>) -> Evaluated {
    single(kernels::arange(cx.need(0)?, cx.need(1)?, cx.need(2)?))
}

fn eval_trilu(cx: &EvalCx<'_>) -> Evaluated {
    let k = cx.int("k", 1)?.unwrap_or(0);
    single(kernels::trilu(cx.need(0)?, k, cx.attrs().bool("upper").unwrap_or(true)))
}

fn eval_eye_like(cx: &EvalCx<'_>) -> Evaluated {
    let data = cx.need(0)?;
    let &[rows, columns] = data.shape() else {
        return Err(EvalError::Value("data", format!("of rank {}", data.rank())));
    };
    let dtype: DType = cx.dtype(0).unwrap_or(data.dtype());
    single(kernels::eye_like(rows, columns, cx.attrs().int("k").unwrap_or(0), dtype))
}

fn block_size(cx: &EvalCx<'_>) -> std::result::Result<usize, EvalError> {
    let size = cx.attrs().int("block_size").ok_or(EvalError::Attribute("block_size"))?;
    Ok(sizes("block_size", &[size])?[0])
}

fn eval_depth_to_space(cx: &EvalCx<'_>) -> Evaluated {
    single(kernels::depth_to_space(cx.need(0)?, block_size(cx)?, depth_mode(cx)))
}

fn eval_space_to_depth(cx: &EvalCx<'_>) -> Evaluated {
    single(kernels::space_to_depth(cx.need(0)?, block_size(cx)?, depth_mode(cx)))
}

fn depth_mode(cx: &EvalCx<'_>) -> DepthMode {
    match cx.attrs().text("mode") {
        Some("CRD") => DepthMode::Crd,
        _ => DepthMode::Dcr,
    }
}

fn eval_reverse_sequence(cx: &EvalCx<'_>) -> Evaluated {
    let axis = |name, default| cx.attrs().int(name).unwrap_or(default);
    let (batch, time) = (axis("batch_axis", 1), axis("time_axis", 0));
    single(kernels::reverse_sequence(cx.need(0)?, &cx.need(1)?.i64s()?, batch, time))
}
