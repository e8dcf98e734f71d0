//! Linear attention: ONNX `LinearAttention`, one step after the other.

use super::Heads;
use crate::dtype::DType;
use crate::error::Result;
use crate::refuse;
use crate::tensor::{Tensor, checked_count};
use crate::wide::{floats, from_f64s, one_float};

const NAME: &str = "linear_attention";

/// The operands of [`linear_attention`].
///
/// Queries, keys and values: batch, steps, heads * width.
#[derive(Clone, Copy, Debug)]
pub struct LinearOperands<'a> {
    /// Queries.
    pub q: &'a Tensor,
    /// Keys; their heads divide those of the queries, each serves as many in a row.
    pub k: &'a Tensor,
    /// Values, as many as keys.
    pub v: &'a Tensor,
    /// The state before the first step: batch, kv heads, width of keys, width of values; 0 if
    /// absent.
    pub state: Option<&'a Tensor>,
    /// Logarithms of what is kept of the state: batch, steps, kv heads, or kv heads * width.
    pub decay: Option<&'a Tensor>,
    /// How much of the error is corrected: batch, steps, kv heads or 1.
    pub beta: Option<&'a Tensor>,
}

/// Goes through the steps; returns what is read, batch, steps, heads * width of values, and the
/// last state.
///
/// At each step the state `s` becomes `exp(decay) * s`, then `s + k v^T`, where `v` is
/// `beta * (v - s^T k)` if there is a `beta`; `scale * s^T q` is read. `scale` is
/// `1 / sqrt(width)` if 0.
///
/// # Errors
/// [`BadShape`](crate::KernelError::BadShape), [`BadParameter`](crate::KernelError::BadParameter),
/// [`BadDType`](crate::KernelError::BadDType), [`MixedDTypes`](crate::KernelError::MixedDTypes).
pub fn linear_attention(
    operands: &LinearOperands<'_>,
    (q_heads, kv_heads): (usize, usize),
    scale: f64,
) -> Result<(Tensor, Tensor)> {
    let dtype = one_float(NAME, &[operands.q, operands.k, operands.v])?;
    if kv_heads == 0 || q_heads == 0 || !q_heads.is_multiple_of(kv_heads) {
        let found = (q_heads, kv_heads);
        return Err(refuse::parameter(NAME, "heads", "a multiple of those of keys", found));
    }
    let q = Heads::read(operands.q, Some(q_heads))?;
    let k = Heads::read(operands.k, Some(kv_heads))?;
    let v = Heads::read(operands.v, Some(kv_heads))?;
    let (batch, steps) = (q.batch, q.steps);
    // Operands of rank 4 say themselves how many heads they have.
    if (q.heads, k.heads, v.heads) != (q_heads, kv_heads, kv_heads) {
        let found = (q.heads, k.heads, v.heads);
        return Err(refuse::parameter(NAME, "heads", "as many as the operands have", found));
    }
    if (k.batch, k.steps, k.width) != (batch, steps, q.width) {
        return Err(refuse::shape(NAME, "keys that go with the queries", operands.k));
    }
    if (v.batch, v.steps) != (batch, steps) {
        return Err(refuse::shape(NAME, "values that go with the queries", operands.v));
    }
    let rates = |tensor: Option<&Tensor>, widths: &[usize]| -> Result<Option<(Vec<f64>, usize)>> {
        let Some(tensor) = tensor else { return Ok(None) };
        match *tensor.shape() {
            [b, t, all] if (b, t) == (batch, steps) && widths.contains(&all) => {
                Ok(Some((floats(NAME, tensor)?, all)))
            }
            _ => Err(refuse::shape(NAME, "batch, steps, a rate for each head", tensor)),
        }
    };
    let decay = rates(operands.decay, &[kv_heads, kv_heads.saturating_mul(k.width)])?;
    let beta = rates(operands.beta, &[kv_heads, 1])?;
    let state_shape = [batch, kv_heads, k.width, v.width];
    let size = checked_count(DType::F64, &state_shape)?;
    let mut state = match operands.state {
        None => vec![0.0; size],
        Some(state) if state.shape() == state_shape => floats(NAME, state)?,
        Some(state) => return Err(refuse::shape(NAME, format!("{state_shape:?}"), state)),
    };
    let out_shape = [batch, q_heads, steps, v.width];
    let mut out = vec![0.0; checked_count(DType::F64, &out_shape)?];
    let scale = if scale == 0.0 { 1.0 / (k.width as f64).sqrt() } else { scale };
    let shared = q_heads / kv_heads;
    for head in 0..if size == 0 { 0 } else { batch * kv_heads } {
        let (b, h) = (head / kv_heads, head % kv_heads);
        let state = &mut state[head * k.width * v.width..][..k.width * v.width];
        for t in 0..steps {
            let key = &k.head(head)[t * k.width..][..k.width];
            let mut value = v.head(head)[t * v.width..][..v.width].to_vec();
            if let Some((decay, all)) = &decay {
                let rates = &decay[(b * steps + t) * all..][..*all];
                for (d, row) in state.chunks_exact_mut(v.width).enumerate() {
                    let rate = if *all == kv_heads { rates[h] } else { rates[h * k.width + d] };
                    row.iter_mut().for_each(|s| *s *= rate.exp());
                }
            }
            if let Some((beta, all)) = &beta {
                let rate = beta[(b * steps + t) * all + if *all == 1 { 0 } else { h }];
                for (m, value) in value.iter_mut().enumerate() {
                    let recalled: f64 = (0..k.width).map(|d| state[d * v.width + m] * key[d]).sum();
                    *value = rate * (*value - recalled);
                }
            }
            for (row, &key) in state.chunks_exact_mut(v.width).zip(key) {
                row.iter_mut().zip(&value).for_each(|(s, value)| *s += key * value);
            }
            for served in 0..shared {
                let reader = b * q_heads + h * shared + served;
                let query = &q.head(reader)[t * q.width..][..q.width];
                let read = &mut out[(reader * steps + t) * v.width..][..v.width];
                for (row, &query) in state.chunks_exact(v.width).zip(query) {
                    read.iter_mut().zip(row).for_each(|(out, s)| *out += scale * query * s);
                }
            }
        }
    }
    let out = Heads { batch, heads: q_heads, steps, width: v.width, data: out };
    let state_dtype = operands.state.map_or(dtype, Tensor::dtype);
    Ok((out.write(dtype, 3)?, from_f64s(state_dtype, &state_shape, state)?))
}
