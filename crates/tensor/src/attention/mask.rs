//! Which query sees which key.

use crate::dtype::DType;
use crate::error::Result;
use crate::layout::{Strides, broadcast, broadcast_strides};
use crate::refuse;
use crate::tensor::Tensor;
use crate::wide::floats;

const NAME: &str = "attention";

/// How many keys a query sees before and after its own place; any number if absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Windows {
    /// Before.
    pub left: Option<usize>,
    /// After.
    pub right: Option<usize>,
}

/// What hides keys from queries; all of it applies at once.
///
/// The place of a query among the keys is its number plus the number of keys before the first
/// query: the past steps; or, where `valid_keys` says how many keys there are, that less the
/// number of queries; or 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct AttentionMask<'a> {
    /// Booleans (true is seen) or floats that are added to the scores; broadcasts to batch, heads,
    /// steps, keys, where keys that the last dimension does not reach are hidden.
    pub mask: Option<&'a Tensor>,
    /// Whether keys after the place of a query are hidden.
    pub causal: bool,
    /// Which places around that of a query are seen.
    pub windows: Windows,
    /// The number of valid keys of each batch.
    pub valid_keys: Option<&'a Tensor>,
}

/// A mask, laid over scores.
pub(super) struct Bias {
    /// What is added, and how it is read along batch, heads, steps and keys.
    values: Option<(Vec<f64>, Strides)>,
    /// Keys that the mask reaches.
    reach: usize,
    heads: usize,
    /// First and last place that a query sees, relative to its own.
    sees: (i64, i64),
    /// The place of the first query, and the number of valid keys, for each batch.
    places: Vec<(i64, i64)>,
}

impl AttentionMask<'_> {
    /// Lays the mask over scores: batch, heads, steps, keys. `past`: earlier steps, if any.
    pub(super) fn lay_over(&self, shape: [usize; 4], past: Option<usize>) -> Result<Bias> {
        let [batch, heads, steps, keys] = shape;
        let limit = |window: Option<usize>| window.map_or(i64::MAX, |n| n.min(1 << 62) as i64);
        let right = if self.causal { 0 } else { limit(self.windows.right) };
        let mut bias = Bias {
            values: None,
            reach: keys,
            heads,
            sees: (-limit(self.windows.left), right),
            places: self.places(batch, steps, keys, past)?,
        };
        if let Some(mask) = self.mask {
            bias.lay(mask, shape)?;
        }
        Ok(bias)
    }

    fn places(
        &self,
        batch: usize,
        steps: usize,
        keys: usize,
        past: Option<usize>,
    ) -> Result<Vec<(i64, i64)>> {
        let Some(valid) = self.valid_keys else {
            crate::tensor::checked_count(DType::I64, &[batch, 2])?;
            return Ok(vec![(past.unwrap_or(0) as i64, keys as i64); batch]);
        };
        if valid.shape() != [batch] || past.is_some() {
            let expected = format!("shape [{batch}], and no past");
            return Err(refuse::shape(NAME, expected, valid));
        }
        let place = |valid: i64| (valid.saturating_sub(steps as i64), valid);
        Ok(valid.i64s()?.into_iter().map(place).collect())
    }
}

impl Bias {
    fn lay(&mut self, mask: &Tensor, [batch, heads, steps, keys]: [usize; 4]) -> Result<()> {
        let Some(&reach) = mask.shape().last().filter(|&&reach| reach <= keys) else {
            return Err(refuse::shape(NAME, format!("a mask of up to {keys} keys"), mask));
        };
        let target = [batch, heads, steps, reach];
        if broadcast(NAME, mask.shape(), &target)?[..] != target {
            return Err(refuse::shape(NAME, format!("what broadcasts to {target:?}"), mask));
        }
        let values = match mask.dtype() {
            DType::Bool => {
                let seen = mask.view::<bool>()?;
                seen.iter().map(|&seen| if seen { 0.0 } else { f64::NEG_INFINITY }).collect()
            }
            _ => floats(NAME, mask)?,
        };
        self.reach = reach;
        self.values = Some((values, broadcast_strides(mask.shape(), &target)));
        Ok(())
    }

    /// What is added to a score; heads are counted over all batches.
    pub(super) fn bias(&self, head: usize, step: usize, key: usize) -> f64 {
        let (batch, head) = (head / self.heads, head % self.heads);
        let (first, valid) = self.places[batch];
        let distance = (key as i64).saturating_sub(first.saturating_add(step as i64));
        let seen = self.sees.0 <= distance && distance <= self.sees.1 && (key as i64) < valid;
        if !seen || key >= self.reach {
            return f64::NEG_INFINITY;
        }
        let Some((values, steps)) = &self.values else { return 0.0 };
        let at = [batch, head, step, key];
        values[at.iter().zip(steps).map(|(&at, &step)| at * step as usize).sum::<usize>()]
    }
}
