//! The masks of onnxruntime's attention, as numbers that are added to scores.

use tangram_tensor::Tensor;
use tangram_tensor::elementwise::{add, cast};

use crate::eval::EvalError;

/// Whether a batch entry, a query and a key go together.
type Seen = Box<dyn Fn(usize, usize, usize) -> bool>;

/// Scores whose masks are made: which keys a query sees.
pub(super) struct Scores {
    pub batch: usize,
    /// Queries.
    pub steps: usize,
    /// Keys, those of earlier steps first.
    pub keys: usize,
    /// Keys of earlier steps.
    pub past: usize,
    /// Whether a query sees no key after its own.
    pub causal: bool,
    /// What is added for a key that the mask hides.
    pub hidden: f64,
}

impl Scores {
    /// Batch, 1 or heads, steps, keys: what hides keys, and `bias`, which broadcasts to that.
    pub(super) fn mask(
        &self,
        mask: Option<&Tensor>,
        bias: Option<&Tensor>,
    ) -> Result<Tensor, EvalError> {
        let seen = mask.map(|mask| self.seen(mask)).transpose()?;
        let mut out = Vec::with_capacity(self.batch * self.steps * self.keys);
        for b in 0..self.batch {
            for s in 0..self.steps {
                for key in 0..self.keys {
                    out.push(match &seen {
                        _ if self.causal && key > self.past + s => f64::from(f32::MIN),
                        Some(seen) if !seen(b, s, key) => self.hidden,
                        _ => 0.0,
                    });
                }
            }
        }
        let shape = [self.batch, 1, self.steps, self.keys];
        let out = Tensor::from_vec(shape, out)?;
        Ok(match bias {
            Some(bias) => add(&out, &cast(bias, out.dtype())?)?,
            None => out,
        })
    }

    /// Whether batch entry, query and key go together.
    ///
    /// A mask has one flag for each key of a batch entry, or for each query and key; or one number
    /// for each entry, its number of keys; or, behind those, the first key of each.
    fn seen(&self, mask: &Tensor) -> Result<Seen, EvalError> {
        let flags = mask.i64s()?;
        let (batch, steps, keys) = (self.batch, self.steps, self.keys);
        Ok(match *mask.shape() {
            [n] if n == batch => Box::new(move |b, _, key| (key as i64) < flags[b]),
            [n] if n == 2 * batch => {
                Box::new(move |b, _, key| (flags[batch + b]..flags[b]).contains(&(key as i64)))
            }
            [b, k] if (b, k) == (batch, keys) => {
                Box::new(move |b, _, key| flags[b * keys + key] > 0)
            }
            [b, s, k] if (b, s, k) == (batch, steps, keys) => {
                Box::new(move |b, s, key| flags[(b * steps + s) * keys + key] > 0)
            }
            _ => return Err(EvalError::Value("mask", format!("of shape {:?}", mask.shape()))),
        })
    }
}
