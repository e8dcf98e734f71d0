//! Resizing: ONNX `Resize` and `Upsample`.
//!
//! Every mode is separable, so the axes are resized one after the other.
//!
//! Where the sizes are given, coordinates are quotients of integers, each rounded once: `x *
//! input / output`, not `x / (output / input)`. So a coordinate that is an integer or a half is
//! exact, and ties fall as the standard says.

use crate::dtype::DType;
use crate::elementwise::cast;
use crate::error::Result;
use crate::image::filter::{Filter, NearestMode, ResizeMode, normalise};
use crate::index::take;
use crate::layout::{around, resolve_axes};
use crate::refuse;
use crate::tensor::{Tensor, checked_count};
use crate::wide::from_f64s;

const NAME: &str = "resize";

/// Which coordinate of the input an element of the result is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum CoordinateTransform {
    /// Centres of elements: `(x + 0.5) / scale - 0.5`.
    #[default]
    HalfPixel,
    /// Likewise, around the centre of the image where the scale gives no whole size.
    HalfPixelSymmetric,
    /// Likewise, but 0 for a single element.
    PytorchHalfPixel,
    /// The first and the last elements coincide.
    AlignCorners,
    /// The first elements coincide: `x / scale`.
    Asymmetric,
    /// `(x + 0.5) / scale`: `tf_half_pixel_for_nn` of opsets 11 and 12.
    HalfPixelFloor,
    /// A region of the input, its corners like `AlignCorners`.
    TfCropAndResize,
}

/// What sizes mean for the ratio of width to height.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum AspectPolicy {
    /// Nothing: exactly these sizes.
    #[default]
    Stretch,
    /// One scale for all axes: the greatest with which no axis exceeds its size.
    NotLarger,
    /// One scale for all axes: the least with which no axis falls below its size.
    NotSmaller,
}

/// How large the result is: one number for each axis that is resized.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ResizeTarget<'a> {
    /// Factors; the size is the product rounded down, in `f32`.
    Scales(&'a [f32]),
    /// Sizes.
    Sizes(&'a [usize]),
}

/// How [`resize`] works.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ResizeParams {
    /// How elements between others are made.
    pub mode: ResizeMode,
    /// Which element is the nearest, for [`ResizeMode::Nearest`].
    pub nearest: NearestMode,
    /// Where the elements of the result are in the input.
    pub transform: CoordinateTransform,
    /// What sizes mean.
    pub policy: AspectPolicy,
    /// The axes that are resized; all if absent. May count from the back.
    pub axes: Option<Vec<i64>>,
    /// The region for [`CoordinateTransform::TfCropAndResize`]: starts of all resized axes, then
    /// ends, where 0 is the first and 1 the last element.
    pub roi: Vec<f64>,
    /// Whether the filter stretches when the image shrinks. Not for [`ResizeMode::Nearest`].
    pub antialias: bool,
    /// Whether elements beyond the ends have no weight, instead of repeating the ends.
    pub exclude_outside: bool,
    /// The value outside the input, for [`CoordinateTransform::TfCropAndResize`].
    pub extrapolation_value: f64,
}

/// Resizes a tensor along some axes.
///
/// Elements of any type for [`ResizeMode::Nearest`] (numbers if a region reaches outside), else
/// real numbers. Floats round once; integers round to nearest, ties to even, and saturate.
///
/// # Errors
/// [`BadAxis`](crate::KernelError::BadAxis), [`BadParameter`](crate::KernelError::BadParameter)
/// for lists of wrong length, scales that are not positive, and a region or an antialiasing that
/// does not fit the mode; [`BadShape`](crate::KernelError::BadShape) for an empty input of a
/// result that is not; [`BadDType`](crate::KernelError::BadDType),
/// [`TooLarge`](crate::KernelError::TooLarge).
pub fn resize(x: &Tensor, target: ResizeTarget<'_>, params: &ResizeParams) -> Result<Tensor> {
    if params.antialias && params.mode == ResizeMode::Nearest {
        return Err(refuse::parameter(NAME, "antialias", "a mode other than nearest", true));
    }
    let axes = plan_axes(x, target, params)?;
    let mut shape = x.shape().to_vec();
    axes.iter().for_each(|axis| shape[axis.axis] = axis.output);
    checked_count(x.dtype(), &shape)?;
    if axes.iter().any(|axis| axis.input == 0 && axis.output > 0) {
        return Err(refuse::shape(NAME, "at least one element", x));
    }
    if shape.contains(&0) {
        return empty(x.dtype(), &shape);
    }
    let axes: Vec<&Axis> = axes.iter().filter(|axis| !axis.is_identity(params)).collect();
    let outside = |axis: &&Axis| (0..axis.output).any(|y| axis.is_outside(y, params));
    if params.mode == ResizeMode::Nearest && !axes.iter().any(outside) {
        return axes.iter().try_fold(x.clone(), |x, axis| axis.take_nearest(&x, params));
    }
    let mut data = x.f64s()?;
    let mut sizes = x.shape().to_vec();
    for axis in axes {
        data = axis.interpolate(&data, &sizes, params)?;
        sizes[axis.axis] = axis.output;
    }
    rounded(x.dtype(), &sizes, data)
}

/// Enlarges as the `Upsample` of old does: every axis by its factor, first elements in place.
///
/// `mode`: nearest (the one before) or linear.
///
/// # Errors
/// As [`resize`].
pub fn upsample(x: &Tensor, scales: &[f32], mode: ResizeMode) -> Result<Tensor> {
    let params = ResizeParams {
        mode,
        nearest: NearestMode::Floor,
        transform: CoordinateTransform::Asymmetric,
        ..ResizeParams::default()
    };
    resize(x, ResizeTarget::Scales(scales), &params)
}

fn empty(dtype: DType, shape: &[usize]) -> Result<Tensor> {
    match dtype {
        DType::String => Tensor::from_strings(shape, Vec::new()),
        _ => Tensor::from_bytes(dtype, shape, Vec::new()),
    }
}

fn rounded(dtype: DType, shape: &[usize], mut data: Vec<f64>) -> Result<Tensor> {
    if dtype.is_int() {
        let bits = dtype.size_bits() as i32 - i32::from(dtype.is_signed());
        let (least, past) =
            (if dtype.is_signed() { -2f64.powi(bits) } else { 0.0 }, 2f64.powi(bits));
        // The greatest integer of 64 bits is no `f64`: the next below stands for it.
        let greatest = if bits > 53 { past.next_down() } else { past - 1.0 };
        data.iter_mut().for_each(|x| *x = x.round_ties_even().max(least).min(greatest));
    }
    match dtype {
        DType::Bool => cast(&Tensor::from_vec(shape, data)?, DType::Bool),
        _ => from_f64s(dtype, shape, data),
    }
}

/// How one axis is resized.
struct Axis {
    axis: usize,
    input: usize,
    output: usize,
    /// The scale, as a quotient of two numbers.
    scale: (f64, f64),
    /// Size of the result before it was rounded to an integer.
    width: f64,
    /// Start and end of the region.
    region: (f64, f64),
}

fn plan_axes(x: &Tensor, target: ResizeTarget<'_>, params: &ResizeParams) -> Result<Vec<Axis>> {
    let all: Vec<i64> = (0..x.rank() as i64).collect();
    let axes = resolve_axes(NAME, params.axes.as_deref().unwrap_or(&all), x.rank())?;
    let count = match target {
        ResizeTarget::Scales(scales) => scales.len(),
        ResizeTarget::Sizes(sizes) => sizes.len(),
    };
    if count != axes.len() {
        return Err(refuse::parameter(NAME, "target", "one number for each axis", target));
    }
    let crops = params.transform == CoordinateTransform::TfCropAndResize;
    if crops && params.roi.len() != 2 * axes.len() {
        return Err(refuse::parameter(NAME, "roi", "two numbers for each axis", &params.roi));
    }
    let shared = shared_scale(x, &axes, target, params.policy);
    let plan = |(index, &axis): (usize, &usize)| {
        let input = x.shape()[axis];
        let (output, scale) = match (target, shared) {
            (ResizeTarget::Scales(scales), _) => {
                let scale = scales[index];
                if !(scale > 0.0 && scale.is_finite()) {
                    return Err(refuse::parameter(NAME, "scales", "positive numbers", scales));
                }
                ((input as f32 * scale).floor() as usize, (f64::from(scale), 1.0))
            }
            (_, Some((size, extent))) => {
                ((size * input as f64 / extent + 0.5).floor() as usize, (size, extent))
            }
            (ResizeTarget::Sizes(sizes), None) => {
                (sizes[index], (sizes[index] as f64, input as f64))
            }
        };
        let width = input as f64 * scale.0 / scale.1;
        let region = match crops {
            true => (params.roi[index], params.roi[axes.len() + index]),
            false => (0.0, 1.0),
        };
        Ok(Axis { axis, input, output, scale, width, region })
    };
    axes.iter().enumerate().map(plan).collect()
}

/// The scale that all axes share, as a quotient, unless each has its own.
fn shared_scale(
    x: &Tensor,
    axes: &[usize],
    target: ResizeTarget<'_>,
    policy: AspectPolicy,
) -> Option<(f64, f64)> {
    let ResizeTarget::Sizes(sizes) = target else { return None };
    let ratios = sizes.iter().zip(axes).map(|(&size, &axis)| (size as f64, x.shape()[axis] as f64));
    let smaller = |a: (f64, f64), b: (f64, f64)| b.0 / b.1 < a.0 / a.1;
    match policy {
        AspectPolicy::Stretch => None,
        AspectPolicy::NotLarger => ratios.reduce(|a, b| if smaller(a, b) { b } else { a }),
        AspectPolicy::NotSmaller => ratios.reduce(|a, b| if smaller(b, a) { b } else { a }),
    }
}

impl Axis {
    /// Whether every element stays where it is.
    fn is_identity(&self, params: &ResizeParams) -> bool {
        let whole = match params.transform {
            CoordinateTransform::TfCropAndResize => self.region == (0.0, 1.0),
            // Half an element further on, which is not always the same element.
            CoordinateTransform::HalfPixelFloor => false,
            _ => true,
        };
        self.input == self.output && self.scale.0 == self.scale.1 && whole
    }

    /// The coordinate in the input of element `y` of the result.
    fn coordinate(&self, y: usize, params: &ResizeParams) -> f64 {
        let (y, (by, scale)) = (y as f64, (self.scale.1, self.scale.0));
        let last = self.input as f64 - 1.0;
        let half_pixel = || (y + 0.5) * by / scale - 0.5;
        match params.transform {
            CoordinateTransform::HalfPixel => half_pixel(),
            CoordinateTransform::PytorchHalfPixel if self.width <= 1.0 => 0.0,
            CoordinateTransform::PytorchHalfPixel => half_pixel(),
            // The standard's formula with one division, so that ties are exact.
            CoordinateTransform::HalfPixelSymmetric => {
                let from_centre = y + 0.5 - self.output as f64 / 2.0;
                last / 2.0 + from_centre * by / scale
            }
            CoordinateTransform::AlignCorners if self.width == 1.0 => 0.0,
            CoordinateTransform::AlignCorners => y * last / (self.width - 1.0),
            CoordinateTransform::Asymmetric => y * by / scale,
            CoordinateTransform::HalfPixelFloor => (y + 0.5) * by / scale,
            CoordinateTransform::TfCropAndResize => {
                let (start, end) = self.region;
                let along =
                    if self.width == 1.0 { 0.5 * last } else { y * last / (self.width - 1.0) };
                (end - start) * along + start * last
            }
        }
    }

    /// Whether an element of the result lies outside the input, and takes the extrapolated value.
    fn is_outside(&self, y: usize, params: &ResizeParams) -> bool {
        params.transform == CoordinateTransform::TfCropAndResize
            && !(0.0..=self.input as f64 - 1.0).contains(&self.coordinate(y, params))
    }

    fn take_nearest(&self, x: &Tensor, params: &ResizeParams) -> Result<Tensor> {
        let last = self.input as f64 - 1.0;
        let nearest =
            |y| params.nearest.round(self.coordinate(y, params)).clamp(0.0, last.max(0.0));
        let indices = (0..self.output).map(|y| nearest(y) as i64).collect();
        take(x, &Tensor::vector(indices), self.axis as i64)
    }

    /// Computes all elements of the result along this axis.
    fn interpolate(
        &self,
        data: &[f64],
        shape: &[usize],
        params: &ResizeParams,
    ) -> Result<Vec<f64>> {
        let (outer, input, inner) = around(shape, self.axis);
        let len = checked_count(DType::F64, &[outer, self.output, inner])?;
        let mut out = vec![0.0; len];
        if len == 0 {
            return Ok(out);
        }
        let (count, indices, weights) = self.taps(params);
        for (row, out) in out.chunks_exact_mut(inner).enumerate() {
            let (outer, y) = (row / self.output, row % self.output);
            if self.is_outside(y, params) {
                out.fill(params.extrapolation_value);
                continue;
            }
            for tap in y * count..(y + 1) * count {
                let line = &data[(outer * input + indices[tap]) * inner..][..inner];
                let weight = weights[tap];
                // A weight of 0 takes no infinity or NaN along.
                if weight != 0.0 {
                    out.iter_mut().zip(line).for_each(|(out, x)| *out += weight * x);
                }
            }
        }
        Ok(out)
    }

    /// For each element of the result: elements of the input and their weights.
    fn taps(&self, params: &ResizeParams) -> (usize, Vec<usize>, Vec<f64>) {
        let filter = Filter::new(params.mode, params.antialias, self.scale.0 / self.scale.1);
        let last = self.input as f64 - 1.0;
        let nearest = params.mode == ResizeMode::Nearest;
        let count = if nearest { 1 } else { filter.count };
        let mut indices = Vec::with_capacity(count * self.output);
        let mut weights = Vec::with_capacity(count * self.output);
        for y in 0..self.output {
            let x = self.coordinate(y, params);
            if nearest {
                indices.push(params.nearest.round(x).clamp(0.0, last) as usize);
                weights.push(1.0);
                continue;
            }
            let base = x.ceil() - 1.0;
            filter.weigh(x - base, &mut weights);
            for tap in 0..count {
                let at = base + (filter.first + tap as i64) as f64;
                let inside = (0.0..=last).contains(&at);
                if params.exclude_outside && !inside {
                    weights[y * count + tap] = 0.0;
                }
                indices.push(at.clamp(0.0, last) as usize);
            }
            if params.exclude_outside {
                normalise(&mut weights[y * count..]);
            }
        }
        (count, indices, weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_elements_of_tensorflow_are_half_an_element_further_on() {
        let x = Tensor::from_vec([4], vec![1i64, 2, 3, 4]).expect("numbers");
        let at = |nearest, scale: f32| {
            let transform = CoordinateTransform::HalfPixelFloor;
            let params = ResizeParams { nearest, transform, ..ResizeParams::default() };
            let resized = resize(&x, ResizeTarget::Scales(&[scale]), &params).expect("a resize");
            resized.i64s().expect("numbers")
        };
        assert_eq!(at(NearestMode::Floor, 2.0), [1, 1, 2, 2, 3, 3, 4, 4]);
        assert_eq!(at(NearestMode::Floor, 0.5), [2, 4]);
        assert_eq!(at(NearestMode::RoundPreferCeil, 1.0), [2, 3, 4, 4]);
    }
}
