//! Sampling at given coordinates: ONNX `GridSample` and `AffineGrid`.

use smallvec::SmallVec;

use crate::dtype::DType;
use crate::error::{KernelError, Result};
use crate::image::filter::{Filter, ResizeMode};
use crate::linear::window::unravel;
use crate::refuse;
use crate::tensor::{Shape, Tensor, checked_count};
use crate::wide::{floats, from_f64s};

const NAME: &str = "grid_sample";

/// A sample reads two or four elements along each spatial dimension: more dimensions than this are
/// refused.
const MAX_SPATIAL: usize = 8;

/// How elements between others are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum GridMode {
    /// Straight lines between neighbours.
    #[default]
    Linear,
    /// The nearest element; the even one of two equally near.
    Nearest,
    /// Cubic convolution over four neighbours, with the coefficient -0.75.
    Cubic,
}

/// What lies outside the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum GridPadding {
    /// Zeros.
    #[default]
    Zeros,
    /// The elements at the border.
    Border,
    /// The mirror image.
    Reflection,
}

/// How [`grid_sample`] works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct GridParams {
    /// How elements between others are made.
    pub mode: GridMode,
    /// What lies outside.
    pub padding: GridPadding,
    /// Whether -1 and 1 are the centres of the first and last elements, not their outer edges.
    pub align_corners: bool,
}

/// Samples `x` at the coordinates in `grid`.
///
/// `x`: batch, channels, then spatial extents. `grid`: batch, the spatial extents of the result,
/// then one coordinate for each spatial dimension, innermost first, from -1 to 1. The result:
/// batch, channels, then those extents.
///
/// # Errors
/// [`KernelError::BadShape`], [`KernelError::BadDType`], [`KernelError::TooLarge`];
/// [`KernelError::Unsupported`] for more than eight spatial dimensions.
pub fn grid_sample(x: &Tensor, grid: &Tensor, params: GridParams) -> Result<Tensor> {
    let (data, points) = (floats(NAME, x)?, floats(NAME, grid)?);
    let spatial = x.rank().saturating_sub(2);
    let fits = x.rank() >= 3
        && grid.rank() == x.rank()
        && grid.shape()[0] == x.shape()[0]
        && grid.shape()[grid.rank() - 1] == spatial;
    if !fits {
        let expected = format!("a grid for data of shape {:?}", x.shape());
        return Err(refuse::shape(NAME, expected, grid));
    }
    if spatial > MAX_SPATIAL {
        let what = format!("sampling over {spatial} dimensions");
        return Err(KernelError::Unsupported { kernel: NAME, what });
    }
    let (channels, extents) = (x.shape()[1], &x.shape()[2..]);
    let places = &grid.shape()[1..grid.rank() - 1];
    let mut shape: Shape = x.shape()[..2].into();
    shape.extend_from_slice(places);
    let mut out = vec![0.0; checked_count(DType::F64, &shape)?];
    let (size, count): (usize, usize) = (extents.iter().product(), places.iter().product());
    let sampler = Sampler::new(extents, params);
    if !out.is_empty() && size > 0 {
        for (place, point) in points.chunks_exact(spatial).enumerate() {
            let (batch, at) = (place / count, place % count);
            let taps = sampler.taps(point);
            for channel in batch * channels..(batch + 1) * channels {
                let data = &data[channel * size..][..size];
                out[channel * count + at] = taps.iter().map(|&(tap, w)| w * data[tap]).sum();
            }
        }
    }
    from_f64s(x.dtype(), &shape, out)
}

/// Finds the elements that a point reads.
struct Sampler<'a> {
    extents: &'a [usize],
    params: GridParams,
    filter: Filter,
}

/// Offsets of elements with their weights.
type Taps = Vec<(usize, f64)>;

impl<'a> Sampler<'a> {
    fn new(extents: &'a [usize], params: GridParams) -> Self {
        let mode = match params.mode {
            GridMode::Cubic => ResizeMode::Cubic { a: -0.75 },
            _ => ResizeMode::Linear,
        };
        Sampler { extents, params, filter: Filter::new(mode, false, 1.0) }
    }

    /// The elements that a point reads; those in the zeros outside are left out.
    fn taps(&self, point: &[f64]) -> Taps {
        let mut taps: Taps = vec![(0, 1.0)];
        for (axis, &extent) in self.extents.iter().enumerate() {
            // Coordinates come innermost first.
            let along = self.taps_along(point[self.extents.len() - 1 - axis], extent);
            let join = |&(offset, weight): &(usize, f64)| {
                along.iter().map(move |&(at, w)| (offset * extent + at, weight * w))
            };
            taps = taps.iter().flat_map(join).collect();
        }
        taps
    }

    fn taps_along(&self, normal: f64, extent: usize) -> SmallVec<[(usize, f64); 4]> {
        let size = extent as f64;
        let (low, high) =
            if self.params.align_corners { (0.0, size - 1.0) } else { (-0.5, size - 0.5) };
        let mut x = (normal + 1.0) / 2.0 * (high - low) + low;
        let nearest = self.params.mode == GridMode::Nearest;
        if nearest {
            x = x.round_ties_even();
        }
        if !(low..=high).contains(&x) {
            x = match self.params.padding {
                GridPadding::Zeros => x,
                GridPadding::Border => x.max(0.0).min(size - 1.0),
                GridPadding::Reflection => reflect(x, low, high),
            };
        }
        let place = |at: f64| -> Option<usize> {
            let at = match self.params.padding {
                GridPadding::Zeros if (0.0..size).contains(&at) => at,
                GridPadding::Zeros => return None,
                GridPadding::Border => at,
                GridPadding::Reflection => reflect(at, low, high),
            };
            Some(at.clamp(0.0, size - 1.0) as usize)
        };
        if nearest {
            return place(x.trunc()).into_iter().map(|at| (at, 1.0)).collect();
        }
        let (base, mut weights) = (x.floor(), Vec::with_capacity(4));
        self.filter.weigh(x - base, &mut weights);
        let at = |tap: usize| place(base + (self.filter.first + tap as i64) as f64);
        (0..weights.len()).filter_map(|tap| Some((at(tap)?, weights[tap]))).collect()
    }
}

/// Mirrors a coordinate at the borders until it lies within them.
fn reflect(x: f64, low: f64, high: f64) -> f64 {
    let range = high - low;
    if range <= 0.0 || !x.is_finite() {
        return low.max(0.0);
    }
    let beyond = if x < low {
        low - x
    } else if x > high {
        x - high
    } else {
        return x;
    };
    let (turns, rest) = ((beyond / range).floor(), beyond % range);
    let from_low = (x < low) == (turns % 2.0 == 0.0);
    if from_low { low + rest } else { high - rest }
}

/// Makes the grid of an affine transformation, for [`grid_sample`].
///
/// `theta`: batch, then 2 by 3 or 3 by 4. `size`: batch, channels, then two or three spatial
/// extents. The result: batch, those extents, then the transformed coordinates, innermost first.
///
/// # Errors
/// [`KernelError::BadShape`], [`KernelError::BadParameter`], [`KernelError::BadDType`],
/// [`KernelError::TooLarge`].
pub fn affine_grid(theta: &Tensor, size: &[usize], align_corners: bool) -> Result<Tensor> {
    const NAME: &str = "affine_grid";
    let &[batch, _, ref extents @ ..] = size else {
        return Err(refuse::parameter(NAME, "size", "four or five extents", size));
    };
    let n = extents.len();
    if !matches!(n, 2 | 3) {
        return Err(refuse::parameter(NAME, "size", "four or five extents", size));
    }
    if theta.shape() != [batch, n, n + 1] {
        return Err(refuse::shape(NAME, format!("shape {:?}", [batch, n, n + 1]), theta));
    }
    let factors = floats(NAME, theta)?;
    let mut shape: Shape = Shape::from_slice(&[batch]);
    shape.extend(extents.iter().copied().chain([n]));
    let len = checked_count(DType::F64, &shape)?;
    let mut out = Vec::with_capacity(len);
    let normal = |at: usize, extent: usize| match align_corners {
        // A single element is at the first corner.
        true if extent == 1 => -1.0,
        true => 2.0 * at as f64 / (extent - 1) as f64 - 1.0,
        false => (2 * at + 1) as f64 / extent as f64 - 1.0,
    };
    let places = if len == 0 { 0 } else { extents.iter().product() };
    for matrix in factors.chunks_exact(n * (n + 1)) {
        for place in 0..places {
            let at = unravel(place, extents.iter().copied());
            let point = (0..n).rev().map(|axis| normal(at[axis], extents[axis]));
            let point: SmallVec<[f64; 4]> = point.chain([1.0]).collect();
            let rows = matrix.chunks_exact(n + 1);
            out.extend(rows.map(|row| row.iter().zip(&point).map(|(a, b)| a * b).sum::<f64>()));
        }
    }
    from_f64s(theta.dtype(), &shape, out)
}
