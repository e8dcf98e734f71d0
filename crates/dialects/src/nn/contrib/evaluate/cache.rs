//! Attention over a cache of keys and values, in which each batch entry has a length of its own.

use tangram_tensor::attention::{
    AttentionMask, AttentionOperands, AttentionParams, RotaryParams, rotary_embedding,
};
use tangram_tensor::elementwise::{add, cast};
use tangram_tensor::shape::{concatenate, full, split, split_equal, transpose};
use tangram_tensor::{DType, Tensor, attention as kernels};

use super::attention::scale;
use super::{extents, positive};
use crate::eval::{EvalCx, EvalError, Evaluated};

type Result<T> = std::result::Result<T, EvalError>;

/// The optional operands behind the tables of the rotation.
const POSITIONS: usize = 9;
const BIAS: usize = 10;
const SINK: usize = 11;

/// One batch entry after the other.
pub(in crate::nn::contrib) fn group_query(cx: &EvalCx<'_>) -> Evaluated {
    if (SINK + 1..cx.operands.len()).any(|i| cx.get(i).is_some()) {
        return Err(EvalError::Value("others", "scales of a quantised cache, or norms".into()));
    }
    let cached = Cached::new(cx)?;
    let batch = cached.lengths.len();
    let entries = (0..batch).map(|b| cached.entry(cx, b)).collect::<Result<Vec<_>>>()?;
    let joined = |i: usize| {
        let parts: Vec<&Tensor> = entries.iter().map(|entry| &entry[i]).collect();
        concatenate(&parts, 0)
    };
    Ok(vec![joined(0)?, joined(1)?, joined(2)?])
}

struct Cached {
    heads: usize,
    shared: usize,
    steps: usize,
    width: usize,
    /// Queries, keys and values of each batch entry: 1, steps, features.
    entries: [Vec<Tensor>; 3],
    /// Keys and values of earlier steps of each entry: 1, heads, steps of the buffer, width.
    past: Option<[Vec<Tensor>; 2]>,
    /// The number of keys of each entry, the new ones with them.
    lengths: Vec<usize>,
    /// The greatest of them.
    total: usize,
}

impl Cached {
    fn new(cx: &EvalCx<'_>) -> Result<Cached> {
        let (heads, shared) = (positive(cx, "num_heads")?, positive(cx, "kv_num_heads")?);
        let [q, k, v] = match (cx.get(1), cx.get(2)) {
            (Some(k), Some(v)) => [cx.need(0)?.clone(), k.clone(), v.clone()],
            _ => packed(cx.need(0)?, heads, shared)?,
        };
        let [batch, steps, hidden] = extents("query", &q)?;
        let each = |x: &Tensor| split_equal(x, 0, batch);
        let past = match (cx.get(3), cx.get(4)) {
            (Some(keys), Some(values)) => Some([each(keys)?, each(values)?]),
            _ => None,
        };
        let last = cx.need(5)?.i64s()?;
        let lengths = last.iter().map(|&n| usize::try_from(n.saturating_add(1)));
        let lengths: Vec<usize> = lengths
            .collect::<std::result::Result<_, _>>()
            .map_err(|_| EvalError::Value("seqlens_k", format!("{last:?}")))?;
        let total = cx.need(6)?.i64s()?.first().copied().unwrap_or(0);
        let total = usize::try_from(total)
            .map_err(|_| EvalError::Value("total_sequence_length", total.to_string()))?;
        if lengths.len() != batch {
            return Err(EvalError::Value("seqlens_k", format!("{} numbers", lengths.len())));
        }
        let entries = [each(&q)?, each(&k)?, each(&v)?];
        Ok(Cached { heads, shared, steps, width: hidden / heads, entries, past, lengths, total })
    }

    /// The number of steps before the new ones of entry `b`; none where all keys are new.
    fn before(&self, b: usize) -> usize {
        if self.steps == self.total { 0 } else { self.lengths[b].saturating_sub(self.steps) }
    }

    /// The result and the new buffers of entry `b`.
    fn entry(&self, cx: &EvalCx<'_>, b: usize) -> Result<[Tensor; 3]> {
        let [q, k, v] = [&self.entries[0][b], &self.entries[1][b], &self.entries[2][b]];
        let q = self.rotated(cx, q, b, self.heads)?;
        let k = self.rotated(cx, k, b, self.shared)?;
        let keys = self.followed(b, 0, &self.by_head(&k)?)?;
        let values = self.followed(b, 1, &self.by_head(v)?)?;
        let mask = self.mask(cx, b, keys.shape()[2])?;
        let (mut all_keys, mut all_values) = (keys.clone(), values.clone());
        if mask.shape()[3] > keys.shape()[2] {
            // The sum of a softmax with one more term: a key of zeros that has a value of zeros.
            let none = full(&Tensor::scalar(0_f32), &[1, self.shared, 1, self.width])?;
            let none = cast(&none, keys.dtype())?;
            all_keys = concatenate(&[&keys, &none], 2)?;
            all_values = concatenate(&[&values, &none], 2)?;
        }
        let operands = AttentionOperands { q: &q, k: &all_keys, v: &all_values, past: None };
        let mask = AttentionMask { mask: Some(&mask), ..AttentionMask::default() };
        let params = AttentionParams {
            scale: scale(cx),
            softcap: cx.attrs().float("softcap").unwrap_or(0.0),
            q_heads: Some(self.heads),
            ..AttentionParams::default()
        };
        let out = kernels::attention(&operands, &mask, &params)?;
        Ok([out.y, self.buffer(b, 0, &keys)?, self.buffer(b, 1, &values)?])
    }

    /// 1, steps, heads * width as 1, heads, steps, width.
    fn by_head(&self, x: &Tensor) -> Result<Tensor> {
        let split = x.reshaped([1, self.steps, self.shared, self.width])?;
        Ok(transpose(&split, Some(&[0, 2, 1, 3]))?)
    }

    fn rotated(&self, cx: &EvalCx<'_>, x: &Tensor, b: usize, heads: usize) -> Result<Tensor> {
        if cx.attrs().int("do_rotary").unwrap_or(0) == 0 {
            return Ok(x.clone());
        }
        let positions = match cx.get(POSITIONS) {
            Some(given) => split_equal(given, 0, self.lengths.len())?.swap_remove(b),
            None => {
                let first = self.before(b) as i64;
                let all = (0..self.steps as i64).map(|step| first + step).collect::<Vec<_>>();
                Tensor::from_vec([1, self.steps], all)?
            }
        };
        let interleaved = cx.attrs().int("rotary_interleaved").unwrap_or(0) != 0;
        let cos = cx.need(7)?;
        let rotated = 2 * cos.shape().last().copied().unwrap_or(0);
        let params = RotaryParams { interleaved, rotated, heads: Some(heads) };
        Ok(rotary_embedding(x, cos, cx.need(8)?, Some(&positions), params)?)
    }

    /// The earlier steps of half `half` of the cache, and the new ones.
    fn followed(&self, b: usize, half: usize, new: &Tensor) -> Result<Tensor> {
        let before = self.before(b);
        let Some(past) = self.past.as_ref().filter(|_| before > 0) else { return Ok(new.clone()) };
        let buffer = &past[half][b];
        let room = buffer.shape()[2].checked_sub(before);
        let room = room.ok_or_else(|| EvalError::Value("seqlens_k", "beyond the cache".into()))?;
        let kept = split(buffer, 2, &[before, room])?.swap_remove(0);
        Ok(concatenate(&[&kept, new], 2)?)
    }

    /// A cache that holds `all`, as long as the given one or all keys, zeros at its end.
    fn buffer(&self, b: usize, half: usize, all: &Tensor) -> Result<Tensor> {
        let given = self.past.as_ref().map_or(0, |past| past[half][b].shape()[2]);
        let length = given.max(self.total).max(all.shape()[2]);
        let shape = [1, self.shared, length - all.shape()[2], self.width];
        let rest = cast(&full(&Tensor::scalar(0_f32), &shape)?, all.dtype())?;
        Ok(concatenate(&[all, &rest], 2)?)
    }

    /// 1, heads, steps, keys: what is added to scores. A query sees no key after its own, and as
    /// many as the window lets it; a sink is one key more.
    fn mask(&self, cx: &EvalCx<'_>, b: usize, keys: usize) -> Result<Tensor> {
        let window = cx.attrs().int("local_window_size").filter(|&window| window > 0);
        let window = window.map_or(usize::MAX, |window| window as usize);
        let mut out = Vec::with_capacity(self.steps * keys);
        for step in 0..self.steps {
            let own = self.before(b) + step;
            out.extend((0..keys).map(|key| {
                let seen = key <= own && own - key < window;
                if seen { 0.0 } else { f64::NEG_INFINITY }
            }));
        }
        let mut mask = Tensor::from_vec([1, 1, self.steps, keys], out)?;
        if let Some(bias) = cx.get(BIAS) {
            let [batch, ..] = extents::<4>("attention_bias", bias)?;
            let own = split_equal(bias, 0, batch)?.swap_remove(if batch == 1 { 0 } else { b });
            let after = own.shape()[3].saturating_sub(keys);
            let own = split(&own, 3, &[own.shape()[3] - after, after])?.swap_remove(0);
            mask = add(&mask, &cast(&own, DType::F64)?)?;
        }
        let smooth = cx.attrs().int("smooth_softmax").unwrap_or(0) == 1;
        let sink = match cx.get(SINK) {
            Some(sink) => cast(sink, DType::F64)?,
            None if smooth => Tensor::vector(vec![0_f64; self.heads]),
            None => return Ok(mask),
        };
        let spread = |x: &Tensor, width: usize| {
            tangram_tensor::shape::broadcast_to(x, &[1, self.heads, self.steps, width])
        };
        let sink = spread(&sink.reshaped([1, self.heads, 1, 1])?, 1)?;
        Ok(concatenate(&[&spread(&mask, keys)?, &sink], 3)?)
    }
}

/// Queries, keys and values that lie side by side in each step.
fn packed(all: &Tensor, heads: usize, shared: usize) -> Result<[Tensor; 3]> {
    let [_, _, features] = extents("query", all)?;
    let all_heads = shared.checked_mul(2).and_then(|both| both.checked_add(heads));
    let width =
        features / all_heads.ok_or_else(|| EvalError::Value("num_heads", heads.to_string()))?;
    let widths = [heads * width, shared * width, shared * width];
    let parts = split(all, -1, &widths)?;
    parts.try_into().map_err(|_| EvalError::Value("query", format!("of shape {:?}", all.shape())))
}
