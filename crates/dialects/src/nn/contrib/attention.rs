//! Attention as onnxruntime's own domain has it.

use tangram_ir::{AttrDef, AttrKind, Dim, InferCx, ResultDef};

use super::evaluate;
use super::{X, alike, of_rank, wanted};
use crate::dims;
use crate::infer::{InferExt, Result, Shaped};
use crate::nn::{NnOp, maybe, maybe_result, needed, op, operand, optional, result, variadic};

const HEADS: AttrDef = needed("num_heads", AttrKind::Int, "heads of the queries");

const SCALE: AttrDef = maybe("scale", AttrKind::Float, "1 / sqrt(width) if absent");

const CAUSAL: AttrDef = maybe("unidirectional", AttrKind::Int, "1: a step sees none after it");

const HIDDEN: AttrDef = maybe("mask_filter_value", AttrKind::Float, "the score of what is masked");

const ROTATED: AttrDef = maybe("rotary_embedding_dim", AttrKind::Int, "features rotated");

const PRESENT: &[ResultDef] = &[
    result("output", "batch, steps, heads * width"),
    maybe_result("present_key", "batch, kv heads, all steps, width"),
    maybe_result("present_value", "batch, kv heads, all steps, width"),
    maybe_result("qk", "scores"),
];

/// The operations of this family.
pub(in crate::nn) static OPS: &[NnOp] = &[
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
    )
    .eval(evaluate::attention::rotary),
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
    )
    .eval(evaluate::attention::attention)
    .tried(crate::nn::attention::sample::tried),
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
    )
    .eval(evaluate::attention::multi_head)
    .extents(crate::nn::attention::sample::multi_head)
    .tried(crate::nn::attention::sample::tried),
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
    )
    .eval(evaluate::attention::group_query)
    .tried(crate::nn::attention::sample::tried),
];

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
