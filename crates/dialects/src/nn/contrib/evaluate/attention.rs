//! Attention, and the rotation of positions: operands in the layouts of the kernels of
//! `nn.attention` and `nn.rotary_embedding`.

use tangram_tensor::attention::{
    AttentionMask, AttentionOperands, AttentionParams, RotaryParams, ScoreStage, rotary_embedding,
};
use tangram_tensor::elementwise::{add, cast};
use tangram_tensor::linear::matmul;
use tangram_tensor::shape::{concatenate, split, split_equal};
use tangram_tensor::{Tensor, attention as kernels};

use super::mask::Scores;
use super::{absent, extents, plus, positive};
use crate::eval::{EvalCx, EvalError, Evaluated, single, sizes};

pub(in crate::nn::contrib) use super::cache::group_query;

type Result<T> = std::result::Result<T, EvalError>;

pub(in crate::nn::contrib) fn rotary(cx: &EvalCx<'_>) -> Evaluated {
    let (x, cos) = (cx.need(0)?, cx.need(2)?);
    let number = |name: &'static str| -> Result<usize> {
        Ok(sizes(name, &[cx.attrs().int(name).unwrap_or(0)])?[0])
    };
    let (heads, rotated) = (number("num_heads")?, number("rotary_embedding_dim")?);
    let (batch, steps, heads) = match *x.shape() {
        [batch, _, steps, _] => (batch, steps, None),
        [batch, steps, _] if heads > 0 => (batch, steps, Some(heads)),
        [batch, steps, all] => {
            let width = 2 * cos.shape().last().copied().unwrap_or(0);
            (batch, steps, all.checked_div(width))
        }
        _ => return Err(EvalError::Value("x", format!("of shape {:?}", x.shape()))),
    };
    let positions = positions(cx.need(1)?, batch, steps)?;
    let params = RotaryParams { interleaved: cx.attrs().flag("interleaved"), rotated, heads };
    single(rotary_embedding(x, cos, cx.need(3)?, Some(&positions), params))
}

/// Positions by batch and step; a single one is that of the first step.
fn positions(given: &Tensor, batch: usize, steps: usize) -> Result<Tensor> {
    if given.rank() == 2 {
        return Ok(given.clone());
    }
    let first = given.i64s()?.first().copied().unwrap_or(0);
    // Positions beyond all numbers are beyond the table of rotations too, which is refused there.
    let row = (0..batch).flat_map(|_| (0..steps as i64).map(|step| first.saturating_add(step)));
    Ok(Tensor::from_vec([batch, steps], row.collect::<Vec<_>>())?)
}

/// The value that stands for a hidden key.
fn hidden(cx: &EvalCx<'_>) -> f64 {
    cx.attrs().float("mask_filter_value").unwrap_or(-10_000.0)
}

/// The attribute `scale`; 0 is as good as none.
pub(super) fn scale(cx: &EvalCx<'_>) -> Option<f64> {
    cx.attrs().float("scale").filter(|&scale| scale != 0.0)
}

pub(in crate::nn::contrib) fn attention(cx: &EvalCx<'_>) -> Evaluated {
    absent(cx, &[(6, "past_sequence_length")])?;
    if cx.attrs().int("do_rotary").unwrap_or(0) != 0 {
        return Err(EvalError::Value("do_rotary", "not known to the evaluation".into()));
    }
    let heads = positive(cx, "num_heads")?;
    let mut all = matmul(cx.need(0)?, cx.need(1)?)?;
    all = cast(&plus(cx, &all, &[2])?, all.dtype())?;
    let [batch, steps, features] = extents("x", &all)?;
    let widths = match cx.attrs().ints("qkv_hidden_sizes") {
        Some(list) => sizes("qkv_hidden_sizes", &list)?,
        None => vec![features / 3; 3],
    };
    let [q, k, v] = three(split(&all, -1, &widths)?)?;
    let past = match cx.get(4) {
        Some(past) => Some(halves(past)?),
        None => None,
    };
    let before = past.as_ref().map_or(0, |(keys, _)| keys.shape()[2]);
    let scores = Scores {
        batch,
        steps,
        keys: before + steps,
        past: before,
        causal: cx.attrs().int("unidirectional") == Some(1),
        hidden: hidden(cx),
    };
    let mask = scores.mask(cx.get(3), cx.get(5))?;
    let past = past.as_ref().map(|(keys, values)| (keys, values));
    let operands = AttentionOperands { q: &q, k: &k, v: &v, past };
    let out = attend(cx, &operands, &mask, [heads, heads])?;
    if cx.results.len() < 2 {
        return Ok(vec![out.y]);
    }
    let pair = [out.present_key, out.present_value];
    let pair: Vec<Tensor> = pair
        .iter()
        .map(|half| half.reshaped([&[1], half.shape()].concat()))
        .collect::<tangram_tensor::Result<_>>()?;
    let present = concatenate(&pair.iter().collect::<Vec<_>>(), 0)?;
    Ok(vec![out.y, present])
}

/// The kernel of `nn.attention` with a mask that is added to the scores.
fn attend(
    cx: &EvalCx<'_>,
    operands: &AttentionOperands<'_>,
    mask: &Tensor,
    [q_heads, kv_heads]: [usize; 2],
) -> Result<kernels::Attention> {
    let mask = AttentionMask { mask: Some(mask), ..AttentionMask::default() };
    let params = AttentionParams {
        scale: scale(cx),
        q_heads: Some(q_heads),
        kv_heads: Some(kv_heads),
        stage: ScoreStage::Masked,
        ..AttentionParams::default()
    };
    Ok(kernels::attention(operands, &mask, &params)?)
}

fn three(parts: Vec<Tensor>) -> Result<[Tensor; 3]> {
    parts.try_into().map_err(|parts: Vec<Tensor>| {
        EvalError::Value("qkv_hidden_sizes", format!("{} numbers", parts.len()))
    })
}

/// The two tensors of which `pair` is made.
fn halves(pair: &Tensor) -> Result<(Tensor, Tensor)> {
    let [two, batch, heads, steps, width] = extents("past", pair)?;
    let parts = split_equal(pair, 0, two)?;
    let [keys, values] = &parts[..] else {
        return Err(EvalError::Value("past", format!("of shape {:?}", pair.shape())));
    };
    let shape = [batch, heads, steps, width];
    Ok((keys.reshaped(shape)?, values.reshaped(shape)?))
}

pub(in crate::nn::contrib) fn multi_head(cx: &EvalCx<'_>) -> Evaluated {
    absent(cx, &[(8, "past_sequence_length"), (9, "cache_indirection")])?;
    let heads = positive(cx, "num_heads")?;
    let [q, k, v] = biased(projected(cx)?, cx.get(3))?;
    let past = cx.get(6).zip(cx.get(7));
    let before = past.map_or(0, |(keys, _)| keys.shape().get(2).copied().unwrap_or(0));
    let steps_of = |x: &Tensor| x.shape()[x.rank() - 2];
    let scores = Scores {
        batch: q.shape()[0],
        steps: steps_of(&q),
        keys: before + steps_of(&k),
        past: before,
        causal: cx.attrs().int("unidirectional") == Some(1),
        hidden: hidden(cx),
    };
    let mask = scores.mask(cx.get(4), cx.get(5))?;
    let operands = AttentionOperands { q: &q, k: &k, v: &v, past };
    let out = attend(cx, &operands, &mask, [heads, heads])?;
    Ok(vec![out.y, out.present_key, out.present_value, out.scores])
}

/// Queries, keys and values, each of rank 3, or of rank 4 with heads before steps.
fn projected(cx: &EvalCx<'_>) -> Result<[Tensor; 3]> {
    let q = cx.need(0)?;
    if q.rank() == 5 {
        return three(unpacked("query", q)?);
    }
    let k = cx.need(1)?;
    if k.rank() == 5 {
        let mut parts = unpacked("key", k)?;
        parts.insert(0, q.clone());
        return three(parts);
    }
    let ranked = |x: &Tensor| matches!(x.rank(), 3 | 4);
    let all = [q.clone(), k.clone(), cx.need(2)?.clone()];
    match all.iter().find(|x| !ranked(x)) {
        Some(x) => Err(EvalError::Value("query", format!("beside a shape of {:?}", x.shape()))),
        None => Ok(all),
    }
}

/// The tensors that lie side by side within each head.
fn unpacked(name: &'static str, x: &Tensor) -> Result<Vec<Tensor>> {
    let [batch, steps, heads, count, width] = extents(name, x)?;
    let parts = split_equal(x, 3, count)?;
    let flat = parts.iter().map(|part| part.reshaped([batch, steps, heads * width]));
    Ok(flat.collect::<tangram_tensor::Result<_>>()?)
}

/// Adds to each of queries, keys and values its part of a bias; one that has heads of its own
/// already comes with it.
fn biased(all: [Tensor; 3], bias: Option<&Tensor>) -> Result<[Tensor; 3]> {
    let Some(bias) = bias else { return Ok(all) };
    let width = |x: &Tensor| match *x.shape() {
        [_, _, width] => width,
        [_, heads, _, width] => heads * width,
        _ => 0,
    };
    let parts = split(bias, 0, &all.iter().map(width).collect::<Vec<_>>())?;
    let sums = all.iter().zip(&parts).map(|(x, part)| match x.rank() {
        3 => add(x, part),
        _ => Ok(x.clone()),
    });
    three(sums.collect::<tangram_tensor::Result<_>>()?)
}
