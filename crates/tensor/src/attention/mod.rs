//! Attention: ONNX `Attention`, `LinearAttention` and `RotaryEmbedding`.
//!
//! All compute in `f64` and round once at the end; the roundings between the steps that the
//! standard's function spells out are left out, and so is its attribute `softmax_precision`.

mod linear;
mod mask;
mod rotary;

pub use linear::{LinearOperands, linear_attention};
pub use mask::{AttentionMask, Windows};
pub use rotary::{RotaryParams, rotary_embedding};

use crate::dtype::DType;
use crate::error::Result;
use crate::linear::product::{Matrix, Scalar};
use crate::refuse;
use crate::tensor::{Tensor, checked_count};
use crate::wide::{floats, from_f64s, one_float};

const NAME: &str = "attention";

/// How far the scores that [`attention`] returns have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ScoreStage {
    /// Scaled products of queries and keys.
    #[default]
    Raw,
    /// Capped.
    Capped,
    /// Capped and masked.
    Masked,
    /// Probabilities.
    Softmax,
}

/// The operands of [`attention`].
///
/// Rank 4: batch, heads, steps, width. Rank 3: batch, steps, heads * width. All of one rank.
#[derive(Clone, Copy, Debug)]
pub struct AttentionOperands<'a> {
    /// Queries.
    pub q: &'a Tensor,
    /// Keys; their heads divide those of the queries, each serves as many in a row.
    pub k: &'a Tensor,
    /// Values, as many as keys; their width is that of the result.
    pub v: &'a Tensor,
    /// Keys and values of earlier steps, each batch, heads, steps, width.
    pub past: Option<(&'a Tensor, &'a Tensor)>,
}

/// How [`attention`] works.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct AttentionParams {
    /// Factor of the products; `1 / sqrt(width)` if absent.
    pub scale: Option<f64>,
    /// Bound of the scores, `softcap * tanh(score / softcap)`; none if 0.
    pub softcap: f64,
    /// Heads of the queries, for operands of rank 3.
    pub q_heads: Option<usize>,
    /// Heads of the keys and values, for operands of rank 3.
    pub kv_heads: Option<usize>,
    /// Which scores are returned.
    pub stage: ScoreStage,
}

/// What [`attention`] returns.
#[derive(Clone, Debug, PartialEq)]
pub struct Attention {
    /// The result, laid out as the queries.
    pub y: Tensor,
    /// All keys: batch, heads, steps, width.
    pub present_key: Tensor,
    /// All values, likewise.
    pub present_value: Tensor,
    /// The scores: batch, heads of the queries, steps, steps of all keys.
    pub scores: Tensor,
}

/// Computes `softmax(scale * q k^T + mask) v` for each head.
///
/// A query that the mask lets see no key gives zeros.
///
/// # Errors
/// [`BadShape`](crate::KernelError::BadShape), [`BadParameter`](crate::KernelError::BadParameter),
/// [`BadDType`](crate::KernelError::BadDType), [`MixedDTypes`](crate::KernelError::MixedDTypes),
/// [`Broadcast`](crate::KernelError::Broadcast), [`TooLarge`](crate::KernelError::TooLarge).
pub fn attention(
    operands: &AttentionOperands<'_>,
    mask: &AttentionMask<'_>,
    params: &AttentionParams,
) -> Result<Attention> {
    let AttentionOperands { q, k, v, past } = *operands;
    let dtype = one_float(NAME, &[q, k])?;
    let queries = Heads::read(q, params.q_heads)?;
    let mut keys = Heads::read(k, params.kv_heads)?;
    let mut values = Heads::read(v, params.kv_heads)?;
    let past_steps = match past {
        Some((past_keys, past_values)) => {
            one_float(NAME, &[k, past_keys])?;
            one_float(NAME, &[v, past_values])?;
            keys = Heads::read(past_keys, None)?.followed_by(&keys, past_keys)?;
            values = Heads::read(past_values, None)?.followed_by(&values, past_values)?;
            keys.steps - Heads::read(k, params.kv_heads)?.steps
        }
        None => 0,
    };
    check(&queries, &keys, &values, operands)?;
    let shape = [queries.batch, queries.heads, queries.steps, keys.steps];
    let mask = mask.lay_over(shape, past.map(|_| past_steps))?;
    let plan =
        CheckedAttention { queries: &queries, keys: &keys, values: &values, mask: &mask, params };
    let (result, scores) = plan.run(checked_count(DType::F64, &shape)?)?;
    Ok(Attention {
        y: result.write(dtype, q.rank())?,
        present_key: keys.write(dtype, 4)?,
        present_value: values.write(v.dtype(), 4)?,
        scores: from_f64s(dtype, &shape, scores)?,
    })
}

fn check(
    queries: &Heads,
    keys: &Heads,
    values: &Heads,
    operands: &AttentionOperands<'_>,
) -> Result<()> {
    let divides = keys.heads > 0 && queries.heads.is_multiple_of(keys.heads);
    if queries.batch != keys.batch || queries.width != keys.width || !divides {
        let expected = format!("keys that go with queries of shape {:?}", operands.q.shape());
        return Err(refuse::shape(NAME, expected, operands.k));
    }
    if (values.batch, values.heads, values.steps) != (keys.batch, keys.heads, keys.steps) {
        let expected = format!("values that go with keys of shape {:?}", operands.k.shape());
        return Err(refuse::shape(NAME, expected, operands.v));
    }
    Ok(())
}

/// Numbers by batch, head, step and width, in that order.
struct Heads {
    batch: usize,
    heads: usize,
    steps: usize,
    width: usize,
    data: Vec<f64>,
}

impl Heads {
    /// Reads an operand; one of rank 3 has `heads` heads.
    fn read(tensor: &Tensor, heads: Option<usize>) -> Result<Heads> {
        let data = floats(NAME, tensor)?;
        match (tensor.shape(), heads) {
            (&[batch, heads, steps, width], _) => Ok(Heads { batch, heads, steps, width, data }),
            (&[batch, steps, all], Some(heads)) if heads > 0 && all % heads == 0 => {
                let width = all / heads;
                let data = swap_middle(&data, [batch, steps, heads, width]);
                Ok(Heads { batch, heads, steps, width, data })
            }
            _ => Err(refuse::shape(NAME, "rank 4, or rank 3 and a number of heads", tensor)),
        }
    }

    /// Appends the steps of `later` to those of each head.
    fn followed_by(&self, later: &Heads, own: &Tensor) -> Result<Heads> {
        let Heads { batch, heads, width, .. } = *later;
        if (self.batch, self.heads, self.width) != (batch, heads, width) {
            let expected = format!("batch {batch}, heads {heads}, steps, width {width}");
            return Err(refuse::shape(NAME, expected, own));
        }
        let steps = self.steps.saturating_add(later.steps);
        checked_count(DType::F64, &[batch, heads, steps, width])?;
        let mut data = Vec::with_capacity(self.data.len() + later.data.len());
        for head in 0..if self.data.len() + later.data.len() == 0 { 0 } else { batch * heads } {
            data.extend(self.head(head));
            data.extend(later.head(head));
        }
        Ok(Heads { steps, data, ..*later })
    }

    /// Steps by width of one head; heads are counted over all batches.
    fn head(&self, index: usize) -> &[f64] {
        let size = self.steps * self.width;
        &self.data[index * size..][..size]
    }

    /// Writes in the layout of an operand of this rank.
    fn write(&self, dtype: DType, rank: usize) -> Result<Tensor> {
        let Heads { batch, heads, steps, width, .. } = *self;
        if rank == 4 {
            return from_f64s(dtype, &[batch, heads, steps, width], self.data.clone());
        }
        let data = swap_middle(&self.data, [batch, heads, steps, width]);
        from_f64s(dtype, &[batch, steps, heads.saturating_mul(width)], data)
    }
}

/// Exchanges the two middle dimensions.
fn swap_middle(data: &[f64], [outer, rows, columns, run]: [usize; 4]) -> Vec<f64> {
    let mut out = Vec::with_capacity(data.len());
    for block in 0..if data.is_empty() { 0 } else { outer } {
        for column in 0..columns {
            for row in 0..rows {
                out.extend(&data[((block * rows + row) * columns + column) * run..][..run]);
            }
        }
    }
    out
}

/// Checked operands.
struct CheckedAttention<'a> {
    queries: &'a Heads,
    keys: &'a Heads,
    values: &'a Heads,
    mask: &'a mask::Bias,
    params: &'a AttentionParams,
}

impl CheckedAttention<'_> {
    /// Returns the result and the scores; there are `count` scores.
    fn run(&self, count: usize) -> Result<(Heads, Vec<f64>)> {
        let Heads { batch, heads, steps, width, .. } = *self.queries;
        let out_width = self.values.width;
        let len = checked_count(DType::F64, &[batch, heads, steps, out_width])?;
        let (mut result, mut all) = (vec![0.0; len], Vec::with_capacity(count));
        let total = self.keys.steps;
        let scale = self.params.scale.unwrap_or(1.0 / (width as f64).sqrt());
        let shared = heads / self.keys.heads;
        for head in 0..if count == 0 { 0 } else { batch * heads } {
            let served = head / shared;
            let mut scores = vec![0.0; steps * total];
            let q = Matrix::new(self.queries.head(head), steps, width);
            let k = Matrix::new(self.keys.head(served), total, width);
            f64::multiply_add(q, k.transposed(), &mut scores);
            scores.iter_mut().for_each(|score| *score *= scale);
            self.finish(head, &mut scores, &mut all);
            let scores = Matrix::new(&scores, steps, total);
            let v = Matrix::new(self.values.head(served), total, out_width);
            let out = &mut result[head * steps * out_width..][..steps * out_width];
            f64::multiply_add(scores, v, out);
        }
        let data = result;
        Ok((Heads { batch, heads, steps, width: out_width, data }, all))
    }

    /// Turns the scores of a head into probabilities, and keeps them as they are at the stage
    /// asked for.
    fn finish(&self, head: usize, scores: &mut [f64], kept: &mut Vec<f64>) {
        let stage = |at: ScoreStage, scores: &[f64], kept: &mut Vec<f64>| {
            if self.params.stage == at {
                kept.extend(scores);
            }
        };
        stage(ScoreStage::Raw, scores, kept);
        let cap = self.params.softcap;
        if cap > 0.0 {
            scores.iter_mut().for_each(|score| *score = cap * (*score / cap).tanh());
        }
        stage(ScoreStage::Capped, scores, kept);
        let mut hidden = Vec::with_capacity(self.queries.steps);
        for (step, row) in scores.chunks_exact_mut(self.keys.steps).enumerate() {
            let mut sees_none = true;
            for (key, score) in row.iter_mut().enumerate() {
                let bias = self.mask.bias(head, step, key);
                sees_none &= bias == f64::NEG_INFINITY;
                *score += bias;
            }
            hidden.push(sees_none);
        }
        stage(ScoreStage::Masked, scores, kept);
        for (row, hidden) in scores.chunks_exact_mut(self.keys.steps).zip(hidden) {
            if hidden { row.fill(0.0) } else { softmax(row) }
        }
        stage(ScoreStage::Softmax, scores, kept);
    }
}

/// Exponentials by their sum; all 0 where every score is minus infinity.
fn softmax(row: &mut [f64]) {
    let greatest =
        row.iter().fold(f64::NEG_INFINITY, |a, &b| if b > a || b.is_nan() { b } else { a });
    if greatest == f64::NEG_INFINITY {
        return row.fill(0.0);
    }
    row.iter_mut().for_each(|score| *score = (*score - greatest).exp());
    let sum: f64 = row.iter().sum();
    row.iter_mut().for_each(|score| *score /= sum);
}
