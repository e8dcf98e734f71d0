//! Resizing to nearest elements, and cutting, as loops.

use tangram_affine::symbolic::Expr;
use tangram_tensor::Tensor;
use tangram_tensor::image::{AspectPolicy, ResizeMode, ResizeParams, ResizeTarget, resize};

use super::resize_params;
use crate::structured::{Number, Stage, Structured, StructuredCx, axis, equal};

const TRANSFORM: &str = "coordinate_transformation_mode";

/// Along each axis, the place that is read is `floor((a * i + b) / c)`; `None` where the kernel
/// reads anything else. A resized axis needs numbers as extents, or a whole number as scale.
pub(super) fn nearest(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (x, out) = (cx.operand(0)?, cx.result(0)?);
    let params = resize_params(cx.attrs(), Vec::new()).ok()?;
    let plain = params.mode == ResizeMode::Nearest && params.policy == AspectPolicy::Stretch;
    // A region of interest counts for one way of counting coordinates alone.
    let cropped = cx.has(1) && cx.attrs().text(TRANSFORM) == Some("tf_crop_and_resize");
    (plain && !cropped && x.rank() == out.rank()).then_some(())?;
    let scales = if sized(cx) {
        None
    } else {
        Some(match cx.attrs().floats("scales") {
            Some(list) => list,
            None => cx.constant(2)?.f64s().ok()?,
        })
    };
    let axes = match &params.axes {
        Some(list) => list.iter().map(|&a| axis(a, x.rank())).collect::<Option<Vec<_>>>()?,
        None => (0..x.rank()).collect(),
    };
    scales.as_ref().is_none_or(|scales| scales.len() == axes.len()).then_some(())?;
    let alone = ResizeParams { axes: None, ..params };
    let mut stage = Stage::over(&out.extents);
    let mut at = stage.all(0..x.rank());
    for (k, &axis) in axes.iter().enumerate() {
        let scale = scales.as_ref().map(|scales| scales[k] as f32);
        let whole = scale.is_none_or(|scale| scale == 1.0);
        if whole && equal(&x.extents[axis], &out.extents[axis]) {
            continue;
        }
        let [a, b, c] = match (x.extents[axis].as_int(), out.extents[axis].as_int()) {
            (Some(from), Some(to)) => line(from, to, scale, &alone)?,
            _ => [1, 0, repeats(scale?, &alone)?],
        };
        let scaled = stage.times(at[axis], a);
        let shifted = stage.plus(scaled, &Expr::int(b));
        at[axis] = stage.quotient(shifted, c);
    }
    let value = stage.load_exact(&x, &at);
    Some(Structured::one(stage.store_parallel(&out, value)))
}

/// Whether extents are given, not factors.
fn sized(cx: &StructuredCx<'_>) -> bool {
    cx.has(3) || cx.attrs().ints("sizes").is_some_and(|list| !list.is_empty())
}

/// How often each element of an axis of any extent is repeated, for a scale that is a whole number:
/// as often as the result is longer, by definition.
///
/// Where an element is read depends on its own place, the scale and the borders, so axes of a few
/// extents tell whether it is the quotient.
fn repeats(scale: f32, params: &ResizeParams) -> Option<i64> {
    const MOST: f32 = 64.0;
    (scale.fract() == 0.0 && (1.0..=MOST).contains(&scale)).then_some(())?;
    let times = scale as i64;
    let is_quotient = |extent: i64| {
        let places = Tensor::vector((0..extent).collect::<Vec<i64>>());
        let read = resize(&places, ResizeTarget::Scales(&[scale]), params).ok()?.i64s().ok()?;
        let expected = (0..extent * times).map(|at| at / times);
        read.into_iter().eq(expected).then_some(())
    };
    [1, 2, 3, 5, 1000].into_iter().try_for_each(is_quotient)?;
    Some(times)
}

/// The line under which lie the places that the kernel reads along one axis.
fn line(from: i64, to: i64, scale: Option<f32>, params: &ResizeParams) -> Option<[i64; 3]> {
    const LONGEST: i64 = 1 << 16;
    (0 < from && from <= LONGEST && to <= LONGEST).then_some(())?;
    let places = Tensor::vector((0..from).collect::<Vec<i64>>());
    let (size, factor) = ([usize::try_from(to).ok()?], [scale.unwrap_or(1.0)]);
    let target = match scale {
        Some(_) => ResizeTarget::Scales(&factor),
        None => ResizeTarget::Sizes(&size),
    };
    let read = resize(&places, target, params).ok()?.i64s().ok()?;
    (read.len() == size[0]).then_some(())?;
    let step = read.get(1).map_or(0, |second| second - read[0]);
    let first = read.first().copied().unwrap_or(0);
    // Steps of one length; the ratio of the extents, from the edge or from the middle.
    let lines =
        [[step, first, 1], [from, 0, to], [2 * from, from - 1, 2 * to], [2 * from, from, 2 * to]];
    let fits = |&[a, b, c]: &[i64; 3]| {
        let mut pairs = (0..).zip(&read);
        c > 0 && pairs.all(|(i, &place): (i64, &i64)| (a * i + b).div_euclid(c) == place)
    };
    lines.into_iter().find(fits)
}

pub(super) fn center_crop_pad(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (x, out) = (cx.operand(0)?, cx.result(0)?);
    let mut stage = Stage::over(&out.extents);
    let mut at = stage.all(0..x.rank());
    for (i, place) in at.iter_mut().enumerate() {
        if equal(&x.extents[i], &out.extents[i]) {
            continue;
        }
        let (have, want) = (x.extents[i].as_int()?, out.extents[i].as_int()?);
        let half = (want - have).abs() / 2;
        let before = if want < have { -half } else { half };
        *place = stage.plus(*place, &Expr::int(-before));
    }
    let value = stage.load_exact_or(&x, &at, Number::zero(x.element));
    Some(Structured::one(stage.store_parallel(&out, value)))
}
