//! Rotation of pairs of features by an angle that grows with the position.

use crate::error::Result;
use crate::layout::resolve_index;
use crate::refuse;
use crate::tensor::Tensor;
use crate::wide::{floats, from_f64s, one_float};

const NAME: &str = "rotary_embedding";

/// How [`rotary_embedding`] works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct RotaryParams {
    /// Whether the two features of a pair are neighbours, not half of the rotated width apart.
    pub interleaved: bool,
    /// The number of features that are rotated, the first ones; all if 0.
    pub rotated: usize,
    /// The number of heads, for data of rank 3.
    pub heads: Option<usize>,
}

/// Rotates pairs of features.
///
/// `x`: batch, heads, steps, width; or batch, steps, heads * width. `cos`, `sin`: positions by
/// half of the rotated width, read at `positions` (batch, steps); without `positions`, batch,
/// steps, half of the rotated width. A pair `(a, b)` becomes `(cos * a - sin * b, sin * a + cos *
/// b)`.
///
/// # Errors
/// [`BadShape`](crate::KernelError::BadShape),
/// [`IndexOutOfRange`](crate::KernelError::IndexOutOfRange),
/// [`BadDType`](crate::KernelError::BadDType), [`MixedDTypes`](crate::KernelError::MixedDTypes).
pub fn rotary_embedding(
    x: &Tensor,
    cos: &Tensor,
    sin: &Tensor,
    positions: Option<&Tensor>,
    params: RotaryParams,
) -> Result<Tensor> {
    let dtype = one_float(NAME, &[x, cos, sin])?;
    let mut data = floats(NAME, x)?;
    // Batch, heads, steps, width, and whether heads come before steps.
    let (batch, heads, steps, width, heads_first) = match (x.shape(), params.heads) {
        (&[batch, heads, steps, width], _) => (batch, heads, steps, width, true),
        (&[batch, steps, all], Some(heads)) if heads > 0 && all % heads == 0 => {
            (batch, heads, steps, all / heads, false)
        }
        _ => return Err(refuse::shape(NAME, "rank 4, or rank 3 and a number of heads", x)),
    };
    let rotated = if params.rotated == 0 { width } else { params.rotated };
    if rotated > width || rotated % 2 != 0 {
        let expected = "an even number up to the width";
        return Err(refuse::parameter(NAME, "rotary_embedding_dim", expected, rotated));
    }
    let half = rotated / 2;
    let angles = Angles::new(cos, sin, positions, [batch, steps, half])?;
    if rotated == 0 {
        return Ok(x.clone());
    }
    for (row, features) in data.chunks_exact_mut(width).enumerate() {
        let (batch, step) = match heads_first {
            true => (row / steps / heads, row % steps),
            false => (row / heads / steps, row / heads % steps),
        };
        let place = angles.rows[batch * steps + step] * half;
        for pair in 0..half {
            let (i, j) = match params.interleaved {
                true => (2 * pair, 2 * pair + 1),
                false => (pair, half + pair),
            };
            let (cos, sin) = (angles.cos[place + pair], angles.sin[place + pair]);
            let (a, b) = (features[i], features[j]);
            (features[i], features[j]) = (cos * a - sin * b, sin * a + cos * b);
        }
    }
    from_f64s(dtype, x.shape(), data)
}

/// Cosines and sines, and which row of them each step of each batch takes.
struct Angles {
    cos: Vec<f64>,
    sin: Vec<f64>,
    rows: Vec<usize>,
}

impl Angles {
    fn new(
        cos: &Tensor,
        sin: &Tensor,
        positions: Option<&Tensor>,
        [batch, steps, half]: [usize; 3],
    ) -> Result<Angles> {
        if cos.shape() != sin.shape() {
            return Err(refuse::shape(NAME, format!("sines of shape {:?}", cos.shape()), sin));
        }
        let rows = match positions {
            None if cos.shape() == [batch, steps, half] => {
                crate::tensor::checked_count(crate::DType::I64, &[batch, steps])?;
                (0..batch * steps).collect()
            }
            None => {
                let expected = format!("shape {:?} without positions", [batch, steps, half]);
                return Err(refuse::shape(NAME, expected, cos));
            }
            Some(at) if at.shape() != [batch, steps] => {
                return Err(refuse::shape(NAME, format!("positions [{batch}, {steps}]"), at));
            }
            Some(at) => {
                let count = match *cos.shape() {
                    [count, width] if width == half => count,
                    _ => return Err(refuse::shape(NAME, format!("positions by {half}"), cos)),
                };
                let row = |index: i64| resolve_index(NAME, index, count);
                at.i64s()?.into_iter().map(row).collect::<Result<_>>()?
            }
        };
        Ok(Angles { cos: floats(NAME, cos)?, sin: floats(NAME, sin)?, rows })
    }
}
