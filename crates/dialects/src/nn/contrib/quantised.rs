//! Quantised operations of onnxruntime's own domain.

use tangram_ir::{Arity, AttrKind, Dim, InferCx, OperandDef};

use super::evaluate;
use super::{
    A, ALPHA, AXIS, B, OUT, TRANSPOSE_A, TRANSPOSE_B, X, alike, f32_type, multiplied, of_rank,
    product_like, scale, wanted,
};
use crate::infer::{Dims, InferExt, Result, Shaped, axis, broadcast, one};
use crate::nn::Numbers;
use crate::nn::conv::agree;
use crate::nn::linear::product;
use crate::nn::quant::structured;
use crate::nn::{NnOp, maybe, maybe_result, needed, op, operand, optional, variadic};
use crate::{dims, infer_error};

const BIAS: OperandDef = optional("bias", "one for each column; 0 if absent");

const fn zero(name: &'static str) -> OperandDef {
    OperandDef { name, arity: Arity::Optional, doc: "a zero point; 0 if absent" }
}

/// Four operands that quantise: `x` and its scale and zero point, then those of the result.
const QUANTISED: &[OperandDef] =
    &[X, scale("x_scale"), zero("x_zero_point"), scale("y_scale"), zero("y_zero_point")];

const QUANTISED_PAIR: &[OperandDef] = &[
    operand("a", "any shape"),
    scale("a_scale"),
    zero("a_zero_point"),
    operand("b", "a shape that broadcasts with `a`"),
    scale("b_scale"),
    zero("b_zero_point"),
    scale("y_scale"),
    zero("y_zero_point"),
];

/// The operations of this family.
pub(in crate::nn) static OPS: &[NnOp] = &[
    op(
        "nn.contrib_quantize",
        "`nn.quantize`, also to 16 and 4 bits",
        &[X, scale("scale"), zero("zero_point")],
        OUT,
        &[AXIS, maybe("block_size", AttrKind::Int, "elements that share a scale")],
        infer_quantize,
    )
    .structured(structured::quantize)
    .eval(evaluate::quantised::quantize)
    .numbers(Numbers::JUMPS)
    .tried(crate::nn::quant::tried),
    op(
        "nn.contrib_dequantize",
        "`nn.dequantize`, also of 16 and 4 bits",
        &[X, scale("scale"), zero("zero_point")],
        OUT,
        &[AXIS, maybe("block_size", AttrKind::Int, "elements that share a scale")],
        infer_dequantize,
    )
    .structured(structured::dequantize)
    .eval(evaluate::quantised::dequantize)
    .numbers(Numbers::JUMPS)
    .tried(crate::nn::quant::tried),
    product_like(
        "nn.contrib_dynamic_quantize_matmul",
        "the product of `a`, quantised on the way, and quantised matrices",
        &[A, B, scale("b_scale"), zero("b_zero_point"), BIAS],
        &[],
        infer_matmul,
    )
    .eval(evaluate::quantised::dynamic_quantize_matmul)
    .numbers(Numbers::JUMPS),
    product_like(
        "nn.contrib_matmul_nbits",
        "`a` times a matrix of few bits, quantised in blocks",
        &[
            operand("a", "batch extents, then rows and `K`"),
            operand("b", "packed"),
            scale("scales"),
            optional("zero_points", "of the blocks"),
            optional("g_idx", "of the blocks"),
            optional("bias", "`N`"),
        ],
        &[
            needed("K", AttrKind::Int, "columns of `a`"),
            needed("N", AttrKind::Int, "columns of the result"),
            maybe("bits", AttrKind::Int, "of an element of `b`"),
            maybe("block_size", AttrKind::Int, "elements that share a scale"),
            maybe("accuracy_level", AttrKind::Int, "of the product"),
            maybe("weight_prepacked", AttrKind::Int, "the layout of `b`"),
        ],
        infer_nbits,
    )
    .eval(evaluate::nbits::matmul_nbits),
    product_like(
        "nn.contrib_matmul_integer_to_float",
        "the product of quantised matrices, as real numbers",
        &[
            A,
            B,
            scale("a_scale"),
            scale("b_scale"),
            zero("a_zero_point"),
            zero("b_zero_point"),
            BIAS,
        ],
        &[],
        infer_integer_to_float,
    )
    .eval(evaluate::quantised::matmul_integer_to_float),
    op(
        "nn.contrib_dynamic_quantize_lstm",
        "`nn.lstm` with quantised weights, transposed; the input is quantised on the way",
        &[
            operand("x", "steps, batch, in"),
            operand("w", "directions, in, 4 * hidden"),
            operand("r", "directions, hidden, 4 * hidden"),
            optional("b", "directions, 8 * hidden"),
            optional("sequence_lens", "batch"),
            optional("initial_h", "directions, batch, hidden"),
            optional("initial_c", "directions, batch, hidden"),
            optional("p", "directions, 3 * hidden"),
            scale("w_scale"),
            operand("w_zero_point", "of `w`"),
            scale("r_scale"),
            operand("r_zero_point", "of `r`"),
        ],
        &[
            maybe_result("y", "steps, directions, batch, hidden"),
            maybe_result("y_h", "directions, batch, hidden"),
            maybe_result("y_c", "directions, batch, hidden"),
        ],
        &[
            maybe("activations", AttrKind::Strs, "functions of the gates"),
            maybe("activation_alpha", AttrKind::Floats, "parameters of the functions"),
            maybe("activation_beta", AttrKind::Floats, "parameters of the functions"),
            maybe("clip", AttrKind::Float, "bound of the gates' inputs"),
            maybe("direction", AttrKind::Str, "forward, reverse or bidirectional"),
            maybe("hidden_size", AttrKind::Int, "extent of the state"),
            maybe("input_forget", AttrKind::Bool, "forget = 1 - input"),
        ],
        infer_lstm,
    )
    .structured(crate::nn::recurrent::dynamic_quantize_lstm)
    .eval(evaluate::lstm::dynamic_quantize_lstm)
    .numbers(Numbers::JUMPS)
    .tried(crate::nn::recurrent::sample::tried::<3>)
    .steps(|sizes| 8 * sizes.last(1)),
    product_like(
        "nn.contrib_qgemm",
        "`nn.gemm` of quantised matrices",
        &[
            A,
            scale("a_scale"),
            zero("a_zero_point"),
            B,
            scale("b_scale"),
            zero("b_zero_point"),
            optional("c", "one for each column, `i32`"),
            optional("y_scale", "absent: the result is real"),
            zero("y_zero_point"),
        ],
        &[TRANSPOSE_A, TRANSPOSE_B, ALPHA],
        infer_qgemm,
    )
    .eval(evaluate::quantised::qgemm),
    op(
        "nn.contrib_qlinear_add",
        "the sum, quantised",
        QUANTISED_PAIR,
        OUT,
        &[],
        infer_quantised_pair,
    )
    .structured(structured::qlinear_add)
    .eval(evaluate::quantised::qlinear_add),
    op(
        "nn.contrib_qlinear_multiply",
        "the product of elements, quantised",
        QUANTISED_PAIR,
        OUT,
        &[],
        infer_quantised_pair,
    )
    .structured(structured::qlinear_multiply)
    .eval(evaluate::quantised::qlinear_multiply),
    alike("nn.contrib_qlinear_sigmoid", "`nn.sigmoid`, quantised", QUANTISED, &[])
        .structured(structured::qlinear_sigmoid)
        .eval(evaluate::quantised::qlinear_sigmoid),
    alike("nn.contrib_qlinear_leaky_relu", "`nn.leaky_relu`, quantised", QUANTISED, &[ALPHA])
        .structured(structured::qlinear_leaky_relu)
        .eval(evaluate::quantised::qlinear_leaky_relu),
    alike(
        "nn.contrib_qlinear_softmax",
        "`nn.softmax`, quantised",
        QUANTISED,
        &[AXIS, maybe("opset", AttrKind::Int, "whose softmax")],
    )
    .eval(evaluate::quantised::qlinear_softmax),
    op(
        "nn.contrib_qlinear_concat",
        "quantised tensors joined along a dimension",
        &[
            scale("y_scale"),
            operand("y_zero_point", "says the element type"),
            variadic("inputs", "for each tensor: values, scale, zero point"),
        ],
        OUT,
        &[needed("axis", AttrKind::Int, "the dimension along which to join")],
        infer_concat,
    )
    .eval(evaluate::quantised::qlinear_concat),
    op(
        "nn.contrib_qlinear_global_avg_pool",
        "`nn.global_avg_pool`, quantised",
        QUANTISED,
        OUT,
        &[maybe("channels_last", AttrKind::Bool, "channels stand last")],
        infer_global_pool,
    )
    .eval(evaluate::quantised::qlinear_global_avg_pool)
    .steps(crate::nn::window::pool_steps),
];

fn infer_quantize(cx: &InferCx<'_>) -> Result {
    let element = if cx.has(2) { cx.tensor(2)?.element } else { cx.context().uint_type(8) };
    one(cx, &Shaped { element, ..cx.tensor(0)? })
}

fn infer_dequantize(cx: &InferCx<'_>) -> Result {
    one(cx, &Shaped { element: cx.tensor(1)?.element, ..cx.tensor(0)? })
}

fn infer_nbits(cx: &InferCx<'_>) -> Result {
    let mut a = cx.tensor(0)?;
    if let Some(last) = a.dims.as_mut().and_then(|dims| dims.last_mut()) {
        agree(cx, "an inner extent", Dim::fixed(cx.need_int("K")?), *last)?;
        *last = Dim::fixed(cx.need_int("N")?);
    }
    one(cx, &a)
}

fn infer_lstm(cx: &InferCx<'_>) -> Result {
    let [steps, batch, _] = of_rank(cx, 0)?.unwrap_or([Dim::UNKNOWN; 3]);
    let [_, state, _] = of_rank(cx, 2)?.unwrap_or([Dim::UNKNOWN; 3]);
    let hidden = cx.attrs().int("hidden_size").map_or(state, Dim::fixed);
    let both = cx.attrs().text("direction") == Some("bidirectional");
    let directions = Dim::fixed(if both { 2 } else { 1 });
    let element = cx.tensor(0)?.element;
    let last = Shaped::ranked([directions, batch, hidden], element);
    wanted(cx, [Shaped::ranked([steps, directions, batch, hidden], element), last.clone(), last])
}

fn infer_quantised_pair(cx: &InferCx<'_>) -> Result {
    let (a, b) = (cx.tensor(0)?, cx.tensor(3)?);
    let dims = broadcast(cx.context(), &[&a, &b])?;
    one(cx, &Shaped { dims, element: a.element })
}

fn infer_concat(cx: &InferCx<'_>) -> Result {
    let context = cx.context();
    let element = cx.tensor(1)?.element;
    let parts: Vec<Shaped> =
        (2..cx.operands.len()).step_by(3).map(|i| cx.tensor(i)).collect::<Result<_>>()?;
    let ranked: Option<Vec<&Dims>> = parts.iter().map(|part| part.dims.as_ref()).collect();
    let Some((first, rest)) = ranked.as_ref().and_then(|all| all.split_first()) else {
        return one(cx, &Shaped::unranked(element));
    };
    let along = axis(cx.need_int("axis")?, first.len())?;
    let mut out = (*first).clone();
    for part in rest {
        if part.len() != out.len() {
            return Err(infer_error!("`{}` joins tensors of different ranks", cx.def.name));
        }
        for (i, &dim) in part.iter().enumerate() {
            if i == along {
                out[i] = dims::add(context, out[i], dim);
            } else if out[i].is_unknown()
                || out[i].as_static().is_none() && dim.as_static().is_some()
            {
                out[i] = dim;
            }
        }
    }
    one(cx, &Shaped { dims: Some(out), element })
}

fn infer_global_pool(cx: &InferCx<'_>) -> Result {
    let mut x = cx.tensor(0)?;
    if let Some(dims) = x.dims.as_mut().filter(|dims| dims.len() > 2) {
        let last = dims.len() - 1;
        let spatial = if cx.attrs().flag("channels_last") { 1..last } else { 2..last + 1 };
        dims[spatial].fill(Dim::fixed(1));
    }
    one(cx, &x)
}

fn infer_qgemm(cx: &InferCx<'_>) -> Result {
    let element = match (cx.has(7), cx.has(8)) {
        (false, _) => f32_type(cx),
        (true, true) => cx.tensor(8)?.element,
        (true, false) => cx.tensor(0)?.element,
    };
    one(cx, &Shaped::ranked(multiplied(cx, (0, 3))?, element))
}

fn infer_matmul(cx: &InferCx<'_>) -> Result {
    one(cx, &Shaped { dims: product(cx, (0, 1))?, element: cx.tensor(0)?.element })
}

fn infer_integer_to_float(cx: &InferCx<'_>) -> Result {
    one(cx, &Shaped { dims: product(cx, (0, 1))?, element: cx.tensor(2)?.element })
}
