//! Attention, and the rotation of positions that goes before it.

pub(super) mod sample;
mod structured;

use tangram_ir::{AttrDef, AttrKind, Dim, InferCx};
use tangram_tensor::attention as kernels;
use tangram_tensor::attention::{AttentionMask, AttentionOperands, AttentionParams, RotaryParams};

use super::conv::agree;
use super::{NnOp, maybe, maybe_result, needed, op, operand, optional, result};
use crate::eval::{EvalCx, EvalError, Evaluated, single, sizes};
use crate::infer::{Dims, InferExt, Result, Shaped, one, several};
use crate::{dims, infer_error};

const HEADS_Q: AttrDef = maybe("q_num_heads", AttrKind::Int, "needed for operands of rank 3");
const HEADS_KV: AttrDef = maybe("kv_num_heads", AttrKind::Int, "needed for operands of rank 3");

/// The operations of this family.
pub(super) static OPS: &[NnOp] = &[
    op(
        "nn.attention",
        "`softmax(q * k^T * scale + mask) * v` for each head; heads of `k` and `v` may be shared",
        &[
            operand("q", "batch, heads, steps, width; or batch, steps, heads * width"),
            operand("k", "batch, kv heads, kv steps, width; or rank 3 likewise"),
            operand("v", "batch, kv heads, kv steps, v width; or rank 3 likewise"),
            optional("attn_mask", "broadcasts to batch, heads, steps, all kv steps"),
            optional("past_key", "batch, kv heads, past steps, width"),
            optional("past_value", "batch, kv heads, past steps, v width"),
            optional("nonpad_kv_seqlen", "batch: how many kv steps count"),
        ],
        &[
            result("output", "the rank of `q`, `v`'s width"),
            maybe_result("present_key", "batch, kv heads, all kv steps, width"),
            maybe_result("present_value", "batch, kv heads, all kv steps, v width"),
            maybe_result("qk_matmul_output", "batch, heads, steps, all kv steps"),
        ],
        &[
            HEADS_Q,
            HEADS_KV,
            maybe("is_causal", AttrKind::Bool, "a step sees none after it; false if absent"),
            maybe("scale", AttrKind::Float, "1 / sqrt(width) if absent"),
            maybe("softcap", AttrKind::Float, "bounds the scores by tanh; 0 (not) if absent"),
            maybe("softmax_precision", AttrKind::Int, "ONNX's number of the type for softmax"),
            maybe("qk_matmul_output_mode", AttrKind::Int, "which scores are returned; 0 if absent"),
            maybe("left_window_size", AttrKind::Int, "steps seen before; -1 (all) if absent"),
            maybe("right_window_size", AttrKind::Int, "steps seen after; -1 (all) if absent"),
        ],
        infer_attention,
    )
    .structured(structured::attention)
    .eval(eval_attention)
    .extents(sample::attention)
    .tried(sample::tried)
    .steps(|sizes| sizes.elements(0).isqrt()),
    op(
        "nn.rotary_embedding",
        "pairs of features rotated by an angle that grows with the position",
        &[
            operand("x", "batch, heads, steps, width; or batch, steps, heads * width"),
            operand("cos_cache", "positions by width / 2; or batch, steps, width / 2"),
            operand("sin_cache", "the shape of `cos_cache`"),
            optional("position_ids", "batch, steps"),
        ],
        &[result("output", "the shape of `x`")],
        &[
            maybe("interleaved", AttrKind::Bool, "pairs are neighbours; false if absent"),
            maybe("num_heads", AttrKind::Int, "needed for an operand of rank 3"),
            maybe("rotary_embedding_dim", AttrKind::Int, "features rotated; 0 (all) if absent"),
        ],
        infer_rotary,
    )
    .structured(structured::rotary)
    .eval(eval_rotary)
    .extents(sample::rotary),
    op(
        "nn.linear_attention",
        "attention without softmax: a state that each step changes and reads",
        &[
            operand("q", "batch, steps, heads * width"),
            operand("k", "batch, steps, kv heads * width"),
            operand("v", "batch, steps, kv heads * v width"),
            optional("past_state", "batch, kv heads, width, v width; 0 if absent"),
            optional("decay", "batch, steps, kv heads or kv heads * width: logarithms"),
            optional("beta", "batch, steps, kv heads or 1"),
        ],
        &[
            result("output", "batch, steps, heads * v width"),
            maybe_result("present_state", "the shape of `past_state`"),
        ],
        &[
            needed("q_num_heads", AttrKind::Int, "heads of `q`"),
            needed("kv_num_heads", AttrKind::Int, "heads of `k` and `v`"),
            maybe(
                "update_rule",
                AttrKind::Enum(&["linear", "gated", "delta", "gated_delta"]),
                "which of `decay` and `beta` there are; gated_delta if absent",
            ),
            maybe("scale", AttrKind::Float, "1 / sqrt(width) if absent or 0"),
            maybe("chunk_size", AttrKind::Int, "a hint without meaning"),
        ],
        infer_linear,
    )
    .eval(eval_linear)
    .extents(sample::linear)
    .tried(sample::tried),
];

fn infer_linear(cx: &InferCx<'_>) -> Result {
    let context = cx.context();
    let (q, v) = (cx.tensor(0)?, cx.tensor(2)?);
    let three = |shaped: &Shaped| -> [Dim; 3] {
        let dims = shaped.dims.as_ref().and_then(|dims| dims[..].try_into().ok());
        dims.unwrap_or([Dim::UNKNOWN; 3])
    };
    let ([batch, steps, features], [_, _, values]) = (three(&q), three(&v));
    let (heads, shared) = (cx.need_int("q_num_heads")?, cx.need_int("kv_num_heads")?);
    let width = dims::floor_div(context, features, heads);
    let v_width = dims::floor_div(context, values, shared);
    let out = [batch, steps, dims::mul(context, Dim::fixed(heads), v_width)];
    let state = [batch, Dim::fixed(shared), width, v_width];
    let element = if cx.has(3) { cx.tensor(3)?.element } else { q.element };
    let results = [Shaped::ranked(out, q.element), Shaped::ranked(state, element)];
    several(cx, results.into_iter().take(cx.result_count.unwrap_or(1).clamp(1, 2)))
}

fn eval_linear(cx: &EvalCx<'_>) -> Evaluated {
    let rule = cx.attrs().text("update_rule").unwrap_or("gated_delta");
    let (decays, corrects) = (rule.contains("gated"), rule.contains("delta"));
    if cx.get(4).is_some() != decays || cx.get(5).is_some() != corrects {
        return Err(EvalError::Value("update_rule", rule.to_owned()));
    }
    let operands = kernels::LinearOperands {
        q: cx.need(0)?,
        k: cx.need(1)?,
        v: cx.need(2)?,
        state: cx.get(3),
        decay: cx.get(4),
        beta: cx.get(5),
    };
    let heads = |name| count(cx, name).map(|heads| heads.unwrap_or(0));
    let heads = (heads("q_num_heads")?, heads("kv_num_heads")?);
    let scale = cx.attrs().float("scale").unwrap_or(0.0);
    let (output, state) = kernels::linear_attention(&operands, heads, scale)?;
    Ok(vec![output, state])
}

fn infer_rotary(cx: &InferCx<'_>) -> Result {
    one(cx, &cx.tensor(0)?)
}

/// Operand `i` as batch, heads, steps, width.
fn heads(cx: &InferCx<'_>, i: usize, attr: &str) -> Result<[Dim; 4]> {
    let context = cx.context();
    let Some(dims) = cx.tensor(i)?.dims else { return Ok([Dim::UNKNOWN; 4]) };
    match dims[..] {
        [b, h, s, d] => Ok([b, h, s, d]),
        [b, s, hd] => {
            let count = cx.need_int(attr)?;
            Ok([b, Dim::fixed(count), s, dims::floor_div(context, hd, count)])
        }
        _ => {
            let rank = dims.len();
            Err(infer_error!("operand {i} of `nn.attention` needs rank 3 or 4, found {rank}"))
        }
    }
}

fn infer_attention(cx: &InferCx<'_>) -> Result {
    let context = cx.context();
    let q = heads(cx, 0, "q_num_heads")?;
    let (k, v) = (heads(cx, 1, "kv_num_heads")?, heads(cx, 2, "kv_num_heads")?);
    agree(cx, "one batch", q[0], k[0])?;
    agree(cx, "a width of keys", q[3], k[3])?;
    agree(cx, "as many values as keys", k[2], v[2])?;
    let past = if cx.has(4) { heads(cx, 4, "kv_num_heads")?[2] } else { Dim::fixed(0) };
    let total = dims::add(context, past, k[2]);
    let shaped = cx.tensor(0)?;
    let out: Option<Dims> = match shaped.rank() {
        Some(3) => Some([q[0], q[2], dims::mul(context, q[1], v[3])].into_iter().collect()),
        Some(_) => Some([q[0], q[1], q[2], v[3]].into_iter().collect()),
        None => None,
    };
    let element = shaped.element;
    let results = [
        Shaped { dims: out, element },
        Shaped::ranked([k[0], k[1], total, k[3]], cx.tensor(1)?.element),
        Shaped::ranked([v[0], v[1], total, v[3]], cx.tensor(2)?.element),
        Shaped::ranked([q[0], q[1], q[2], total], element),
    ];
    several(cx, results.into_iter().take(cx.result_count.unwrap_or(1).clamp(1, 4)))
}

/// The attribute as a size; `None` if it is absent.
fn count(cx: &EvalCx<'_>, name: &'static str) -> Result<Option<usize>, EvalError> {
    cx.attrs().int(name).map(|n| Ok(sizes(name, &[n])?[0])).transpose()
}

fn eval_attention(cx: &EvalCx<'_>) -> Evaluated {
    let past = cx.get(4).zip(cx.get(5));
    let operands = AttentionOperands { q: cx.need(0)?, k: cx.need(1)?, v: cx.need(2)?, past };
    let windows = kernels::Windows {
        left: reach(cx, "left_window_size"),
        right: reach(cx, "right_window_size"),
    };
    let mask = AttentionMask {
        mask: cx.get(3),
        causal: cx.attrs().flag("is_causal"),
        windows,
        valid_keys: cx.get(6),
    };
    let params = AttentionParams {
        scale: cx.attrs().float("scale"),
        softcap: cx.attrs().float("softcap").unwrap_or(0.0),
        q_heads: count(cx, "q_num_heads")?,
        kv_heads: count(cx, "kv_num_heads")?,
        stage: stage(cx)?,
    };
    let out = kernels::attention(&operands, &mask, &params)?;
    Ok(vec![out.y, out.present_key, out.present_value, out.scores])
}

/// How many places a window reaches; one that is negative or absent has no end.
fn reach(cx: &EvalCx<'_>, name: &str) -> Option<usize> {
    cx.attrs().int(name).and_then(|n| usize::try_from(n).ok())
}

fn stage(cx: &EvalCx<'_>) -> Result<kernels::ScoreStage, EvalError> {
    Ok(match cx.attrs().int("qk_matmul_output_mode").unwrap_or(0) {
        0 => kernels::ScoreStage::Raw,
        1 => kernels::ScoreStage::Capped,
        2 => kernels::ScoreStage::Masked,
        3 => kernels::ScoreStage::Softmax,
        other => return Err(EvalError::Value("qk_matmul_output_mode", other.to_string())),
    })
}

fn eval_rotary(cx: &EvalCx<'_>) -> Evaluated {
    let params = RotaryParams {
        interleaved: cx.attrs().flag("interleaved"),
        rotated: count(cx, "rotary_embedding_dim")?.unwrap_or(0),
        heads: count(cx, "num_heads")?.filter(|&heads| heads > 0),
    };
    single(kernels::rotary_embedding(cx.need(0)?, cx.need(1)?, cx.need(2)?, cx.get(3), params))
}
