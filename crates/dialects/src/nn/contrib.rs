//! Operations of onnxruntime's own domain, which exported and quantised models use.
//!
//! They exist so that types can be inferred behind them and rules can match them; nothing makes
//! one anew. Operands and attributes are onnxruntime's, in this dialect's names.

use tangram_ir::{
    Arity, AttrDef, AttrKind, Dim, FloatKind, InferCx, InferFn, OperandDef, ResultDef, Type,
};

use super::conv::{agree, convolved};
use super::linear::product;
use super::{NnOp, maybe, maybe_result, needed, op, operand, optional, result, variadic};
use crate::infer::{Dims, InferExt, Result, Shaped, axis, broadcast, one, several};
use crate::{dims, infer_error};

const OUT: &[ResultDef] = &[result("output", "a tensor")];
const X: OperandDef = operand("x", "any shape");
const A: OperandDef = operand("a", "matrices");
const B: OperandDef = operand("b", "matrices");
const BIAS: OperandDef = optional("bias", "one for each column; 0 if absent");
const ALPHA: AttrDef = maybe("alpha", AttrKind::Float, "a factor");
const AXIS: AttrDef = maybe("axis", AttrKind::Int, "a dimension");
const EPSILON: AttrDef = maybe("epsilon", AttrKind::Float, "added to the variance");
const TRANSPOSE_A: AttrDef = maybe("transpose_a", AttrKind::Bool, "use `a` transposed");
const TRANSPOSE_B: AttrDef = maybe("transpose_b", AttrKind::Bool, "use `b` transposed");
const ACTIVATION: AttrDef = maybe("activation", AttrKind::Str, "what follows; nothing if absent");
const HEADS: AttrDef = needed("num_heads", AttrKind::Int, "heads of the queries");
const SCALE: AttrDef = maybe("scale", AttrKind::Float, "1 / sqrt(width) if absent");
const CAUSAL: AttrDef = maybe("unidirectional", AttrKind::Int, "1: a step sees none after it");
const HIDDEN: AttrDef = maybe("mask_filter_value", AttrKind::Float, "the score of what is masked");
const ROTATED: AttrDef = maybe("rotary_embedding_dim", AttrKind::Int, "features rotated");

const fn scale(name: &'static str) -> OperandDef {
    operand(name, "a scale")
}

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
const MATMUL: &[AttrDef] = &[
    TRANSPOSE_A,
    TRANSPOSE_B,
    maybe("transpose_batch_a", AttrKind::Bool, "the first dimension of `a` is its rows"),
    maybe("transpose_batch_b", AttrKind::Bool, "the first dimension of `b` is its rows"),
    ALPHA,
];
const SKIP_RESULTS: &[ResultDef] = &[
    result("output", "the shape of `x`"),
    maybe_result("mean", "for training"),
    maybe_result("inv_std_var", "for training"),
    maybe_result("sum", "`x` plus `skip` plus the bias"),
];
const PRESENT: &[ResultDef] = &[
    result("output", "batch, steps, heads * width"),
    maybe_result("present_key", "batch, kv heads, all steps, width"),
    maybe_result("present_value", "batch, kv heads, all steps, width"),
    maybe_result("qk", "scores"),
];

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

/// The operations of this family.
pub(super) static OPS: &[NnOp] = &[
    alike("nn.contrib_gelu", "`nn.gelu`, exact", &[X], &[]),
    alike(
        "nn.contrib_fast_gelu",
        "`nn.gelu` by tanh, of `x + bias`",
        &[X, optional("bias", "rank 1")],
        &[],
    ),
    alike("nn.contrib_quick_gelu", "`x * sigmoid(alpha * x)`", &[X], &[ALPHA]),
    alike("nn.contrib_bias_gelu", "`nn.gelu` of `x + bias`", &[X, operand("bias", "rank 1")], &[]),
    alike(
        "nn.contrib_bias_add",
        "`x + bias + skip`",
        &[X, operand("bias", "rank 1"), operand("skip", "the shape of `x`")],
        &[],
    ),
    product_like(
        "nn.contrib_fused_matmul",
        "`alpha` times the product of matrices, transposed as asked",
        &[A, B],
        MATMUL,
        infer_fused_matmul,
    ),
    product_like(
        "nn.contrib_transpose_matmul",
        "`alpha` times the product of matrices, transposed as asked",
        &[A, B],
        MATMUL,
        infer_fused_matmul,
    ),
    product_like(
        "nn.contrib_fused_gemm",
        "`nn.gemm` and an activation",
        &[A, B, optional("c", "broadcasts to the result; 0 if absent")],
        &[
            TRANSPOSE_A,
            TRANSPOSE_B,
            ALPHA,
            maybe("beta", AttrKind::Float, "factor of `c`"),
            ACTIVATION,
            maybe("activation_alpha", AttrKind::Float, "of the activation"),
            maybe("activation_beta", AttrKind::Float, "of the activation"),
            maybe("activation_gamma", AttrKind::Float, "of the activation"),
        ],
        infer_gemm,
    ),
    product_like(
        "nn.contrib_fused_conv",
        "`nn.conv`, a bias, a sum and an activation",
        &[
            operand("x", "batch, channels, then spatial extents"),
            operand("w", "filters, channels / groups, then window extents"),
            optional("bias", "one for each filter"),
            optional("sum", "the shape of the result"),
        ],
        &[
            maybe("strides", AttrKind::Ints, "1 if absent"),
            maybe("padding", AttrKind::Ints, "begins, then ends; 0 if absent"),
            maybe("dilation", AttrKind::Ints, "1 if absent"),
            maybe("groups", AttrKind::Int, "1 if absent"),
            maybe("auto_pad", AttrKind::Str, "in place of `padding`"),
            maybe("kernel_shape", AttrKind::Ints, "the extents of the window"),
            ACTIVATION,
            maybe("activation_params", AttrKind::Floats, "of the activation"),
        ],
        infer_fused_conv,
    ),
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
    ),
    op(
        "nn.contrib_skip_layer_norm",
        "`nn.layer_norm` of `x + skip + bias`",
        &[
            X,
            operand("skip", "broadcasts to the shape of `x`"),
            operand("gamma", "rank 1"),
            optional("beta", "rank 1"),
            optional("bias", "rank 1"),
        ],
        SKIP_RESULTS,
        &[EPSILON],
        infer_skip,
    ),
    op(
        "nn.contrib_skip_rms_norm",
        "`nn.rms_norm` of `x + skip + bias`",
        &[
            X,
            operand("skip", "broadcasts to the shape of `x`"),
            operand("gamma", "rank 1"),
            optional("bias", "rank 1"),
        ],
        SKIP_RESULTS,
        &[EPSILON],
        infer_skip,
    ),
    op(
        "nn.contrib_embed_layer_norm",
        "`nn.layer_norm` of a sum of embeddings",
        &[
            operand("input_ids", "batch, steps"),
            optional("segment_ids", "batch, steps"),
            operand("word_embedding", "words, width"),
            operand("position_embedding", "positions, width"),
            optional("segment_embedding", "segments, width"),
            operand("gamma", "width"),
            operand("beta", "width"),
            optional("mask", "batch, steps"),
            optional("position_ids", "batch, steps"),
        ],
        &[
            result("output", "batch, steps, width"),
            maybe_result("mask_index", "batch, `i32`"),
            maybe_result("embedding_sum", "batch, steps, width"),
        ],
        &[EPSILON, maybe("mask_index_type", AttrKind::Int, "what `mask_index` holds")],
        infer_embed,
    ),
    op(
        "nn.contrib_rms_norm",
        "`nn.rms_norm`",
        &[X, operand("scale", "the normalised extents")],
        &[result("output", "the shape of `x`"), maybe_result("inv_std_var", "for training")],
        &[AXIS, EPSILON, maybe("stash_type", AttrKind::Int, "ONNX's number of a type")],
        infer_rms,
    ),
    alike(
        "nn.contrib_rotary_embedding",
        "pairs of features rotated by an angle that grows with the position",
        &[
            X,
            operand("position_ids", "batch, steps; or one"),
            operand("cos_cache", "positions, width / 2"),
            operand("sin_cache", "positions, width / 2"),
        ],
        &[
            maybe("interleaved", AttrKind::Bool, "pairs are neighbours"),
            maybe("num_heads", AttrKind::Int, "heads of an operand of rank 3"),
            ROTATED,
            maybe("is_packed_batching", AttrKind::Int, "batches are packed"),
            maybe("scale", AttrKind::Float, "1 if absent"),
        ],
    ),
    op(
        "nn.contrib_attention",
        "self-attention with the projections before it",
        &[
            operand("x", "batch, steps, width"),
            operand("weights", "width, all features of queries, keys and values"),
            optional("bias", "all features"),
            optional("mask_index", "a mask"),
            optional("past", "2, batch, heads, past steps, width"),
            optional("attention_bias", "added to the scores"),
            optional("past_sequence_length", "one number"),
        ],
        &[
            result("output", "batch, steps, features of values"),
            maybe_result("present", "2, batch, heads, all steps, width"),
        ],
        &[
            HEADS,
            SCALE,
            CAUSAL,
            HIDDEN,
            ROTATED,
            maybe("do_rotary", AttrKind::Int, "1: rotate queries and keys"),
            maybe("past_present_share_buffer", AttrKind::Int, "1: one buffer"),
            maybe("qkv_hidden_sizes", AttrKind::Ints, "features of queries, keys, values"),
        ],
        infer_attention,
    ),
    op(
        "nn.contrib_multi_head_attention",
        "attention of projected queries, keys and values",
        &[
            operand("query", "batch, steps, width; or packed: batch, steps, heads, 3, width"),
            optional("key", "batch, kv steps, width; or batch, heads, kv steps, width"),
            optional("value", "batch, kv steps, width; or batch, heads, kv steps, width"),
            optional("bias", "all features"),
            optional("key_padding_mask", "a mask"),
            optional("attention_bias", "added to the scores"),
            optional("past_key", "batch, heads, past steps, width"),
            optional("past_value", "batch, heads, past steps, width"),
            optional("past_sequence_length", "one number"),
            optional("cache_indirection", "of a beam search"),
        ],
        PRESENT,
        &[HEADS, SCALE, CAUSAL, HIDDEN],
        infer_multi_head,
    ),
    op(
        "nn.contrib_group_query_attention",
        "attention in which several heads share keys and values",
        &[
            operand("query", "batch, steps, width; or queries, keys and values packed"),
            optional("key", "batch, kv steps, width"),
            optional("value", "batch, kv steps, width"),
            optional("past_key", "batch, kv heads, past steps, width"),
            optional("past_value", "batch, kv heads, past steps, width"),
            operand("seqlens_k", "batch"),
            operand("total_sequence_length", "one number"),
            optional("cos_cache", "positions, width / 2"),
            optional("sin_cache", "positions, width / 2"),
            variadic("others", "position ids, bias of the scores, sinks, scales, norms"),
        ],
        PRESENT,
        &[
            HEADS,
            needed("kv_num_heads", AttrKind::Int, "heads of keys and values"),
            SCALE,
            maybe("softcap", AttrKind::Float, "bounds the scores"),
            maybe("do_rotary", AttrKind::Int, "1: rotate queries and keys"),
            maybe("rotary_interleaved", AttrKind::Int, "1: pairs are neighbours"),
            maybe("local_window_size", AttrKind::Int, "steps that are seen; -1: all"),
            maybe("smooth_softmax", AttrKind::Int, "1: with one more in the sum"),
        ],
        infer_group_query,
    ),
    op(
        "nn.contrib_quantize",
        "`nn.quantize`, also to 16 and 4 bits",
        &[X, scale("scale"), zero("zero_point")],
        OUT,
        &[AXIS, maybe("block_size", AttrKind::Int, "elements that share a scale")],
        infer_quantize,
    ),
    op(
        "nn.contrib_dequantize",
        "`nn.dequantize`, also of 16 and 4 bits",
        &[X, scale("scale"), zero("zero_point")],
        OUT,
        &[AXIS, maybe("block_size", AttrKind::Int, "elements that share a scale")],
        infer_dequantize,
    ),
    product_like(
        "nn.contrib_dynamic_quantize_matmul",
        "the product of `a`, quantised on the way, and quantised matrices",
        &[A, B, scale("b_scale"), zero("b_zero_point"), BIAS],
        &[],
        infer_matmul,
    ),
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
    ),
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
    ),
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
    ),
    op(
        "nn.contrib_qlinear_add",
        "the sum, quantised",
        QUANTISED_PAIR,
        OUT,
        &[],
        infer_quantised_pair,
    ),
    op(
        "nn.contrib_qlinear_multiply",
        "the product of elements, quantised",
        QUANTISED_PAIR,
        OUT,
        &[],
        infer_quantised_pair,
    ),
    alike("nn.contrib_qlinear_sigmoid", "`nn.sigmoid`, quantised", QUANTISED, &[]),
    alike("nn.contrib_qlinear_leaky_relu", "`nn.leaky_relu`, quantised", QUANTISED, &[ALPHA]),
    alike(
        "nn.contrib_qlinear_softmax",
        "`nn.softmax`, quantised",
        QUANTISED,
        &[AXIS, maybe("opset", AttrKind::Int, "whose softmax")],
    ),
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
    ),
    op(
        "nn.contrib_qlinear_global_avg_pool",
        "`nn.global_avg_pool`, quantised",
        QUANTISED,
        OUT,
        &[maybe("channels_last", AttrKind::Bool, "channels stand last")],
        infer_global_pool,
    ),
];

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

fn infer_fused_matmul(cx: &InferCx<'_>) -> Result {
    let flag = |name| cx.attrs().flag(name);
    let a = laid_out(cx, 0, flag("transpose_a"), flag("transpose_batch_a"))?;
    let b = laid_out(cx, 1, flag("transpose_b"), flag("transpose_batch_b"))?;
    let element = cx.tensor(0)?.element;
    let shaped = |dims| Shaped { dims, element };
    let (Some(a), Some(b)) = (a, b) else { return one(cx, &shaped(None)) };
    let ([batch_a @ .., m, k], [batch_b @ .., l, n]) = (&a[..], &b[..]) else {
        return one(cx, &shaped(None));
    };
    agree(cx, "an inner extent", *k, *l)?;
    let side = |dims: &[Dim]| Shaped::ranked(dims.iter().copied(), element);
    let out = broadcast(cx.context(), &[&side(batch_a), &side(batch_b)])?;
    one(cx, &shaped(out.map(|batch| batch.into_iter().chain([*m, *n]).collect())))
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

fn infer_gemm(cx: &InferCx<'_>) -> Result {
    one(cx, &Shaped::ranked(multiplied(cx, (0, 1))?, cx.tensor(0)?.element))
}

fn infer_qgemm(cx: &InferCx<'_>) -> Result {
    let element = match (cx.has(7), cx.has(8)) {
        (false, _) => f32_type(cx),
        (true, true) => cx.tensor(8)?.element,
        (true, false) => cx.tensor(0)?.element,
    };
    one(cx, &Shaped::ranked(multiplied(cx, (0, 3))?, element))
}

fn infer_fused_conv(cx: &InferCx<'_>) -> Result {
    let (x, w) = (cx.tensor(0)?, cx.tensor(1)?);
    let groups = cx.attrs().int("groups").unwrap_or(1).max(1);
    let dims = convolved(cx, &x, &w, groups)?;
    one(cx, &Shaped { dims, element: x.element })
}

fn infer_nbits(cx: &InferCx<'_>) -> Result {
    let mut a = cx.tensor(0)?;
    if let Some(last) = a.dims.as_mut().and_then(|dims| dims.last_mut()) {
        agree(cx, "an inner extent", Dim::fixed(cx.need_int("K")?), *last)?;
        *last = Dim::fixed(cx.need_int("N")?);
    }
    one(cx, &a)
}

fn infer_matmul(cx: &InferCx<'_>) -> Result {
    one(cx, &Shaped { dims: product(cx, (0, 1))?, element: cx.tensor(0)?.element })
}

fn infer_integer_to_float(cx: &InferCx<'_>) -> Result {
    one(cx, &Shaped { dims: product(cx, (0, 1))?, element: cx.tensor(2)?.element })
}

fn infer_skip(cx: &InferCx<'_>) -> Result {
    let x = cx.tensor(0)?;
    let statistics = Shaped::unranked(f32_type(cx));
    wanted(cx, [x.clone(), statistics.clone(), statistics, x])
}

fn infer_rms(cx: &InferCx<'_>) -> Result {
    wanted(cx, [cx.tensor(0)?, Shaped::unranked(f32_type(cx))])
}

fn infer_embed(cx: &InferCx<'_>) -> Result {
    let (ids, words) = (cx.tensor(0)?, cx.tensor(2)?);
    let width = words.dims.as_ref().and_then(|dims| dims.get(1).copied()).unwrap_or(Dim::UNKNOWN);
    let dims = ids.dims.as_ref().map(|dims| dims.iter().copied().chain([width]).collect());
    let out = Shaped { dims, element: words.element };
    let batch = ids.dims.and_then(|dims| dims.first().copied()).unwrap_or(Dim::UNKNOWN);
    let masks = Shaped::ranked([batch], cx.context().int_type(32));
    wanted(cx, [out.clone(), masks, out])
}

/// The extents of an operand of rank `N`, unknown if it has another.
fn of_rank<const N: usize>(cx: &InferCx<'_>, i: usize) -> Result<Option<[Dim; N]>> {
    if !cx.has(i) {
        return Ok(None);
    }
    Ok(cx.tensor(i)?.dims.and_then(|dims| dims[..].try_into().ok()))
}

fn infer_attention(cx: &InferCx<'_>) -> Result {
    let context = cx.context();
    let x = cx.tensor(0)?;
    let [batch, steps, _] = of_rank(cx, 0)?.unwrap_or([Dim::UNKNOWN; 3]);
    let [_, features] = of_rank(cx, 1)?.unwrap_or([Dim::UNKNOWN; 2]);
    let width = match cx.attrs().ints("qkv_hidden_sizes").as_deref() {
        Some(&[_, _, values]) => Dim::fixed(values),
        _ => dims::floor_div(context, features, 3),
    };
    let heads = cx.need_int("num_heads")?;
    let per_head = dims::floor_div(context, width, heads);
    let present = [Dim::fixed(2), batch, Dim::fixed(heads), Dim::UNKNOWN, per_head];
    let element = x.element;
    wanted(cx, [Shaped::ranked([batch, steps, width], element), Shaped::ranked(present, element)])
}

/// Results of attention: `heads` of keys and values, each of width `width`.
fn attended(cx: &InferCx<'_>, out: [Dim; 3], heads: Dim, width: Dim) -> Result {
    let element = cx.tensor(0)?.element;
    let present = Shaped::ranked([out[0], heads, Dim::UNKNOWN, width], element);
    let scores = Shaped::unranked(element);
    wanted(cx, [Shaped::ranked(out, element), present.clone(), present, scores])
}

fn infer_multi_head(cx: &InferCx<'_>) -> Result {
    let context = cx.context();
    let count = cx.need_int("num_heads")?;
    let heads = Dim::fixed(count);
    if let Some([batch, steps, _, _, width]) = of_rank::<5>(cx, 0)? {
        return attended(cx, [batch, steps, dims::mul(context, heads, width)], heads, width);
    }
    let [batch, steps, hidden] = of_rank(cx, 0)?.unwrap_or([Dim::UNKNOWN; 3]);
    let values = if let Some([_, _, hidden]) = of_rank::<3>(cx, 2)? {
        hidden
    } else if let Some([_, _, _, width]) = of_rank::<4>(cx, 2)? {
        dims::mul(context, heads, width)
    } else if cx.has(2) {
        Dim::UNKNOWN
    } else {
        hidden
    };
    // Keys may be of another width than values.
    attended(cx, [batch, steps, values], heads, Dim::UNKNOWN)
}

fn infer_group_query(cx: &InferCx<'_>) -> Result {
    let context = cx.context();
    let (heads, shared) = (cx.need_int("num_heads")?, cx.need_int("kv_num_heads")?);
    let [batch, steps, hidden] = of_rank(cx, 0)?.unwrap_or([Dim::UNKNOWN; 3]);
    let in_query = if cx.has(1) { heads } else { heads.saturating_add(shared.saturating_mul(2)) };
    let width = dims::floor_div(context, hidden, in_query);
    let out = if cx.has(1) { hidden } else { dims::mul(context, Dim::fixed(heads), width) };
    attended(cx, [batch, steps, out], Dim::fixed(shared), Dim::UNKNOWN)
}

fn infer_quantize(cx: &InferCx<'_>) -> Result {
    let element = if cx.has(2) { cx.tensor(2)?.element } else { cx.context().uint_type(8) };
    one(cx, &Shaped { element, ..cx.tensor(0)? })
}

fn infer_dequantize(cx: &InferCx<'_>) -> Result {
    one(cx, &Shaped { element: cx.tensor(1)?.element, ..cx.tensor(0)? })
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
