//! Images: resizing, sampling at coordinates, boxes, columns of patches.

mod sample;
mod structured;

use tangram_affine::symbolic::Expr;
use tangram_ir::{AttrDef, AttrKind, Context, Dim, InferCx, OperandDef, ResultDef};
use tangram_tensor::image as kernels;

use super::conv::agree;
use super::window::{self, ONNX_NAMES};
use super::{Form, NnOp, either, maybe, op, operand, optional, result, sample::Sample};
use crate::attrs::Attrs;
use crate::eval::{EvalCx, EvalError, Evaluated, single, sizes as counts};
use crate::infer::{Dims, InferExt, Result, Shaped, axes, one};
use crate::{dims, infer_error};

const X: OperandDef = operand("x", "batch, channels, then spatial extents");
const ALIGN: AttrDef = maybe(
    "align_corners",
    AttrKind::Bool,
    "-1 and 1 are the centres of the outer pixels, not their edges; false if absent",
);
const LIKE_SHAPE: &[ResultDef] = &[result("output", "the given extents")];

/// The operations of this family.
pub(super) static OPS: &[NnOp] = &[
    op(
        "nn.resize",
        "`x` with other extents, by interpolation",
        &[
            operand("x", "any shape"),
            optional("roi", "starts, then ends, between 0 and 1; for `tf_crop_and_resize`"),
            optional("scales", "a factor for each axis, when they are no attribute"),
            optional("sizes", "an extent for each axis, when they are no attribute"),
        ],
        &[result("output", "`sizes`, or `floor(extent * scale)`")],
        RESIZE_ATTRS,
        infer_resize,
    )
    .structured(structured::nearest)
    .eval(eval_resize)
    .either(&[either(2, "scales", Form::Numbers), either(3, "sizes", Form::Ints)])
    .sample(Sample { one_of: Some(["scales", "sizes"]), ..Sample::USUAL })
    .tried(sample::resized)
    .steps(|_| 64),
    op(
        "nn.grid_sample",
        "`x` interpolated at coordinates between -1 and 1",
        &[X, operand("grid", "batch, spatial extents, then coordinates, innermost first")],
        &[result("output", "batch, channels, then the spatial extents of `grid`")],
        &[
            maybe("mode", AttrKind::Enum(&["linear", "nearest", "cubic"]), "linear if absent"),
            maybe(
                "padding_mode",
                AttrKind::Enum(&["zeros", "border", "reflection"]),
                "what lies outside; zeros if absent",
            ),
            ALIGN,
        ],
        infer_grid_sample,
    )
    .eval(eval_grid_sample),
    op(
        "nn.affine_grid",
        "the coordinates that affine maps give, for `nn.grid_sample`",
        &[
            operand("theta", "batch, then 2 by 3 or 3 by 4"),
            operand("size", "batch, channels, then spatial extents; rank 1"),
        ],
        &[result("grid", "batch, spatial extents, 2 or 3")],
        &[ALIGN],
        infer_affine_grid,
    )
    .eval(eval_affine_grid)
    .extents(sample::affine_grid)
    .listed(sample::grid_size),
    op(
        "nn.non_max_suppression",
        "the boxes that overlap no better one too much",
        &[
            operand("boxes", "batch, boxes, 4"),
            operand("scores", "batch, classes, boxes"),
            optional("max_output_boxes_per_class", "a scalar; 0 if absent"),
            optional("iou_threshold", "a scalar; 0 if absent"),
            optional("score_threshold", "a scalar; none if absent"),
        ],
        &[result("selected", "boxes by 3: batch, class, box; `i64`")],
        &[maybe("center_point_box", AttrKind::Int, "1: centre and extents; 0 (corners) if absent")],
        infer_non_max_suppression,
    )
    .eval(eval_non_max_suppression)
    .extents(sample::boxes),
    op(
        "nn.col2im",
        "columns of patches added up into an image",
        &[
            operand("x", "batch, channels * patch elements, patches"),
            operand("image_shape", "the spatial extents of the image, rank 1"),
            operand("block_shape", "the spatial extents of a patch, rank 1"),
        ],
        &[result("output", "batch, channels, then `image_shape`")],
        &[
            maybe("dilations", AttrKind::Ints, "1 if absent"),
            maybe("pads", AttrKind::Ints, "begins, then ends; 0 if absent"),
            maybe("strides", AttrKind::Ints, "1 if absent"),
        ],
        infer_col2im,
    )
    .eval(eval_col2im)
    .extents(sample::col2im)
    .listed(sample::patches),
    op(
        "nn.center_crop_pad",
        "`x` cut or padded with zeros at both ends so that it has the given extents",
        &[operand("x", "any shape"), operand("shape", "an extent for each axis, rank 1")],
        LIKE_SHAPE,
        &[maybe("axes", AttrKind::Ints, "the axes that `shape` speaks of; all if absent")],
        infer_center_crop_pad,
    )
    .structured(structured::center_crop_pad)
    .eval(eval_center_crop_pad),
    op(
        "nn.image_decoder",
        "the pixels of an encoded picture",
        &[operand("stream", "the bytes of a file, rank 1, `ui8`")],
        &[result("output", "height, width, channels; `ui8`")],
        &[maybe(
            "pixel_format",
            AttrKind::Enum(&["RGB", "BGR", "Grayscale"]),
            "what channels there are; RGB if absent",
        )],
        infer_image_decoder,
    ),
];

fn infer_image_decoder(cx: &InferCx<'_>) -> Result {
    let gray = cx.attrs().text("pixel_format") == Some("Grayscale");
    let channels = Dim::fixed(if gray { 1 } else { 3 });
    let element = cx.context().uint_type(8);
    one(cx, &Shaped::ranked([Dim::UNKNOWN, Dim::UNKNOWN, channels], element))
}

const RESIZE_ATTRS: &[AttrDef] = &[
    maybe("scales", AttrKind::Floats, "a factor for each axis"),
    maybe("sizes", AttrKind::Ints, "an extent for each axis"),
    maybe("axes", AttrKind::Ints, "the axes that `scales`, `sizes`, `roi` speak of; all if absent"),
    maybe("mode", AttrKind::Enum(&["nearest", "linear", "cubic"]), "nearest if absent"),
    maybe(
        "coordinate_transformation_mode",
        AttrKind::Enum(&[
            "half_pixel",
            "half_pixel_symmetric",
            "pytorch_half_pixel",
            "align_corners",
            "asymmetric",
            "tf_half_pixel_for_nn",
            "tf_crop_and_resize",
        ]),
        "half_pixel if absent",
    ),
    maybe(
        "nearest_mode",
        AttrKind::Enum(&["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]),
        "round_prefer_floor if absent",
    ),
    maybe("cubic_coeff_a", AttrKind::Float, "-0.75 if absent"),
    maybe("exclude_outside", AttrKind::Bool, "weights outside are 0; false if absent"),
    maybe("extrapolation_value", AttrKind::Float, "for `tf_crop_and_resize`; 0 if absent"),
    maybe("antialias", AttrKind::Bool, "stretch the filter when shrinking; false if absent"),
    maybe(
        "keep_aspect_ratio_policy",
        AttrKind::Enum(&["stretch", "not_larger", "not_smaller"]),
        "how `sizes` are meant; stretch if absent",
    ),
];

fn infer_resize(cx: &InferCx<'_>) -> Result {
    let x = cx.tensor(0)?;
    let Some(from) = &x.dims else { return one(cx, &x) };
    let listed = match cx.attrs().ints("axes") {
        Some(list) => {
            axes(&list, from.len())?;
            list.iter().map(|&a| crate::infer::axis(a, from.len())).collect::<Result<Vec<_>>>()?
        }
        None => (0..from.len()).collect(),
    };
    let mut out = from.clone();
    if let Some(sizes) = sizes(cx) {
        check_count(cx, "sizes", listed.len(), sizes.len())?;
        for (&axis, &size) in listed.iter().zip(&resized(cx, from, &listed, &sizes)) {
            out[axis] = size;
        }
    } else if let Some(scales) = scales(cx) {
        check_count(cx, "scales", listed.len(), scales.len())?;
        for (&axis, &scale) in listed.iter().zip(&scales) {
            out[axis] = scaled(cx.context(), from[axis], scale);
        }
    } else {
        listed.iter().for_each(|&axis| out[axis] = Dim::UNKNOWN);
    }
    one(cx, &Shaped { dims: Some(out), ..x })
}

fn check_count(cx: &InferCx<'_>, what: &str, expected: usize, found: usize) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(infer_error!("`{}` needs {expected} {what}, found {found}", cx.def.name))
}

fn sizes(cx: &InferCx<'_>) -> Option<Dims> {
    match cx.attrs().ints("sizes") {
        Some(list) => Some(list.into_iter().map(Dim::fixed).collect()),
        None if cx.has(3) => Some(dims::known(cx.context(), &cx.contents(3)?)),
        None => None,
    }
}

fn scales(cx: &InferCx<'_>) -> Option<Vec<f64>> {
    match cx.attrs().floats("scales") {
        Some(list) => Some(list),
        None if cx.has(2) => cx.constant(2)?.f64s().ok().filter(|list| !list.is_empty()),
        None => None,
    }
}

/// The extents that `sizes` ask for, by the policy on the ratio of the sides.
fn resized(cx: &InferCx<'_>, from: &Dims, listed: &[usize], sizes: &Dims) -> Dims {
    let smaller = match cx.attrs().text("keep_aspect_ratio_policy") {
        Some("not_larger") => true,
        Some("not_smaller") => false,
        _ => return sizes.clone(),
    };
    let pairs = listed.iter().zip(sizes);
    let ratios = pairs.map(|(&axis, size)| {
        let (size, from) = (size.as_static()?, from[axis].as_static()?);
        Some(size as f64 / from as f64)
    });
    let ratios: Option<Vec<f64>> = ratios.collect();
    let pick: fn(f64, f64) -> f64 = if smaller { f64::min } else { f64::max };
    let Some(scale) = ratios.and_then(|list| list.into_iter().reduce(pick)) else {
        return sizes.iter().map(|_| Dim::UNKNOWN).collect();
    };
    let round = |axis: &usize| {
        let extent = from[*axis].as_static().unwrap_or(-1);
        Dim::fixed((extent as f64 * scale + 0.5).floor() as i64)
    };
    listed.iter().map(round).collect()
}

/// `floor(dim * scale)`; unknown for an extent that is no number and a scale that is no simple
/// fraction.
fn scaled(context: &Context, dim: Dim, scale: f64) -> Dim {
    // The product is one of 32-bit floats, as in ONNX.
    let scale = scale as f32;
    if scale == 1.0 {
        return dim;
    }
    if let Some(n) = dim.as_static() {
        return Dim::fixed((n as f32 * scale).floor() as i64);
    }
    let Some((numerator, denominator)) = fraction(scale) else { return Dim::UNKNOWN };
    let grown = dims::mul(context, dim, Dim::fixed(numerator));
    dims::floor_div(context, grown, denominator)
}

/// A positive number as a fraction with a denominator of at most 16, if it is one exactly.
fn fraction(scale: f32) -> Option<(i64, i64)> {
    let denominator = [1, 2, 4, 8, 16].into_iter().find(|&d| (scale * d as f32).fract() == 0.0)?;
    let numerator = scale * denominator as f32;
    (numerator > 0.0 && numerator < 65536.0).then_some((numerator as i64, denominator))
}

fn infer_grid_sample(cx: &InferCx<'_>) -> Result {
    let (x, grid) = (cx.tensor(0)?, cx.tensor(1)?);
    let at = |s: &Shaped, i: usize| s.dims.as_ref().map_or(Dim::UNKNOWN, |d| d[i]);
    if let Some(rank) = [x.rank(), grid.rank()].into_iter().flatten().find(|&rank| rank < 3) {
        return Err(infer_error!("`nn.grid_sample` needs rank 3 or more, found {rank}"));
    }
    let Some(rank) = x.rank().or(grid.rank()) else { return one(cx, &x) };
    if let Some(found) = grid.rank().filter(|&found| found != rank) {
        return Err(infer_error!("`nn.grid_sample` needs a grid of rank {rank}, found {found}"));
    }
    agree(cx, "one batch", at(&x, 0), at(&grid, 0))?;
    agree(cx, "a number of coordinates", Dim::fixed(rank as i64 - 2), at(&grid, rank - 1))?;
    let spatial = (1..rank - 1).map(|i| at(&grid, i));
    one(cx, &Shaped::ranked([at(&x, 0), at(&x, 1)].into_iter().chain(spatial), x.element))
}

fn infer_affine_grid(cx: &InferCx<'_>) -> Result {
    let context = cx.context();
    let theta = cx.tensor(0)?;
    let spatial = theta.dims.as_ref().and_then(|d| d.get(1)?.as_static());
    let size: Option<Dims> = cx.contents(1).map(|list| dims::known(context, &list));
    let rank = match (&size, spatial) {
        (Some(size), _) => size.len(),
        (None, Some(n)) => usize::try_from(n).unwrap_or(0).saturating_add(2).min(5),
        (None, None) => return one(cx, &Shaped::unranked(theta.element)),
    };
    if !(4..=5).contains(&rank) {
        return Err(infer_error!("`nn.affine_grid` needs 4 or 5 extents, found {rank}"));
    }
    let at = |i: usize| size.as_ref().map_or(Dim::UNKNOWN, |size| size[i]);
    let coordinates = Dim::fixed(rank as i64 - 2);
    let out = [at(0)].into_iter().chain((2..rank).map(at)).chain([coordinates]);
    one(cx, &Shaped::ranked(out, theta.element))
}

fn infer_non_max_suppression(cx: &InferCx<'_>) -> Result {
    one(cx, &Shaped::ranked([Dim::UNKNOWN, Dim::fixed(3)], cx.context().int_type(64)))
}

fn infer_col2im(cx: &InferCx<'_>) -> Result {
    let context = cx.context();
    let x = cx.tensor(0)?;
    let listed = |i: usize| -> Option<Dims> { Some(dims::known(context, &cx.contents(i)?)) };
    let Some(image) = listed(1) else { return one(cx, &Shaped::unranked(x.element)) };
    let at = |i: usize| x.dims.as_ref().and_then(|d| d.get(i)).copied().unwrap_or(Dim::UNKNOWN);
    let patch = listed(2).map_or(Dim::UNKNOWN, |block| dims::product(context, &block));
    let channels = match patch.as_static() {
        Some(patch) => dims::floor_div(context, at(1), patch),
        None => Dim::UNKNOWN,
    };
    one(cx, &Shaped::ranked([at(0), channels].into_iter().chain(image), x.element))
}

fn infer_center_crop_pad(cx: &InferCx<'_>) -> Result {
    let x = cx.tensor(0)?;
    let list: Option<Vec<Option<Expr>>> = cx.contents(1);
    let (Some(from), axes) = (&x.dims, cx.attrs().ints("axes")) else { return one(cx, &x) };
    let axes = axes.unwrap_or_else(|| (0..from.len() as i64).collect());
    let wanted: Dims = match &list {
        Some(list) => dims::known(cx.context(), list),
        None => axes.iter().map(|_| Dim::UNKNOWN).collect(),
    };
    check_count(cx, "extents", axes.len(), wanted.len())?;
    let mut out = from.clone();
    for (&axis, &extent) in axes.iter().zip(&wanted) {
        out[crate::infer::axis(axis, from.len())?] = extent;
    }
    one(cx, &Shaped { dims: Some(out), ..x })
}

fn eval_resize(cx: &EvalCx<'_>) -> Evaluated {
    let x = cx.need(0)?;
    let roi = cx.get(1).map(|roi| roi.f64s()).transpose()?.unwrap_or_default();
    let params = resize_params(cx.attrs(), roi)?;
    let sizes = cx.ints("sizes", 3)?.filter(|list| !list.is_empty());
    if let Some(sizes) = sizes {
        let sizes = counts("sizes", &sizes)?;
        return single(kernels::resize(x, kernels::ResizeTarget::Sizes(&sizes), &params));
    }
    let scales = match (cx.attrs().floats("scales"), cx.get(2)) {
        (Some(list), _) => list,
        (None, Some(tensor)) => tensor.f64s()?,
        (None, None) => return Err(EvalError::AbsentOperand(2)),
    };
    let scales: Vec<f32> = scales.iter().map(|&scale| scale as f32).collect();
    single(kernels::resize(x, kernels::ResizeTarget::Scales(&scales), &params))
}

fn resize_params(attrs: Attrs<'_>, roi: Vec<f64>) -> Result<kernels::ResizeParams, EvalError> {
    use kernels::{AspectPolicy, CoordinateTransform, NearestMode, ResizeMode};
    let unknown = |name, text: &str| Err(EvalError::Value(name, text.to_owned()));
    let transform = attrs.text("coordinate_transformation_mode");
    Ok(kernels::ResizeParams {
        mode: match attrs.text("mode") {
            Some("linear") => ResizeMode::Linear,
            Some("cubic") => ResizeMode::Cubic { a: attrs.float("cubic_coeff_a").unwrap_or(-0.75) },
            _ => ResizeMode::Nearest,
        },
        nearest: match attrs.text("nearest_mode") {
            Some("round_prefer_ceil") => NearestMode::RoundPreferCeil,
            Some("floor") => NearestMode::Floor,
            Some("ceil") => NearestMode::Ceil,
            _ => NearestMode::RoundPreferFloor,
        },
        transform: match transform {
            None | Some("half_pixel") => CoordinateTransform::HalfPixel,
            Some("half_pixel_symmetric") => CoordinateTransform::HalfPixelSymmetric,
            Some("pytorch_half_pixel") => CoordinateTransform::PytorchHalfPixel,
            Some("align_corners") => CoordinateTransform::AlignCorners,
            Some("asymmetric") => CoordinateTransform::Asymmetric,
            Some("tf_half_pixel_for_nn") => CoordinateTransform::HalfPixelFloor,
            Some("tf_crop_and_resize") => CoordinateTransform::TfCropAndResize,
            Some(other) => return unknown("coordinate_transformation_mode", other),
        },
        policy: match attrs.text("keep_aspect_ratio_policy") {
            Some("not_larger") => AspectPolicy::NotLarger,
            Some("not_smaller") => AspectPolicy::NotSmaller,
            _ => AspectPolicy::Stretch,
        },
        axes: attrs.ints("axes"),
        roi,
        antialias: attrs.flag("antialias"),
        exclude_outside: attrs.flag("exclude_outside"),
        extrapolation_value: attrs.float("extrapolation_value").unwrap_or(0.0),
    })
}

fn eval_grid_sample(cx: &EvalCx<'_>) -> Evaluated {
    let params = kernels::GridParams {
        mode: match cx.attrs().text("mode") {
            Some("nearest") => kernels::GridMode::Nearest,
            Some("cubic") => kernels::GridMode::Cubic,
            _ => kernels::GridMode::Linear,
        },
        padding: match cx.attrs().text("padding_mode") {
            Some("border") => kernels::GridPadding::Border,
            Some("reflection") => kernels::GridPadding::Reflection,
            _ => kernels::GridPadding::Zeros,
        },
        align_corners: cx.attrs().flag("align_corners"),
    };
    single(kernels::grid_sample(cx.need(0)?, cx.need(1)?, params))
}

/// The sizes that operand `i` lists.
fn listed(cx: &EvalCx<'_>, name: &'static str, i: usize) -> Result<Vec<usize>, EvalError> {
    counts(name, &cx.need(i)?.i64s()?)
}

fn eval_affine_grid(cx: &EvalCx<'_>) -> Evaluated {
    let align_corners = cx.attrs().flag("align_corners");
    single(kernels::affine_grid(cx.need(0)?, &listed(cx, "size", 1)?, align_corners))
}

fn eval_non_max_suppression(cx: &EvalCx<'_>) -> Evaluated {
    let first = |i: usize| -> Result<Option<f64>, EvalError> {
        Ok(cx.get(i).map(|t| t.f64s()).transpose()?.and_then(|list| list.first().copied()))
    };
    let most = cx.get(2).map(|t| t.i64s()).transpose()?.and_then(|list| list.first().copied());
    let params = kernels::NmsParams {
        // Negative numbers mean none, as 0 does.
        max_boxes_per_class: most.map_or(0, |n| usize::try_from(n).unwrap_or(0)),
        iou_threshold: first(3)?.unwrap_or(0.0),
        score_threshold: first(4)?,
        center_point_box: cx.attrs().int("center_point_box") == Some(1),
    };
    single(kernels::non_max_suppression(cx.need(0)?, cx.need(1)?, &params))
}

fn eval_col2im(cx: &EvalCx<'_>) -> Evaluated {
    let (image, block) = (listed(cx, "image_shape", 1)?, listed(cx, "block_shape", 2)?);
    let params = window::params(cx.attrs(), &ONNX_NAMES);
    single(kernels::col2im(cx.need(0)?, &image, &block, &params))
}

fn eval_center_crop_pad(cx: &EvalCx<'_>) -> Evaluated {
    let axes = cx.attrs().ints("axes");
    single(kernels::center_crop_pad(cx.need(0)?, &listed(cx, "shape", 1)?, axes.as_deref()))
}
