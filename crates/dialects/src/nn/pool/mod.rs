//! Pools: windows reduced to one element. Layout is `NCHW`.

mod structured;

use fastrand::Rng;
use smallvec::smallvec;
use tangram_ir::{AttrDef, AttrKind, Dim, InferCx, OpDef, OperandDef, ResultDef, Traits};
use tangram_tensor::image;
use tangram_tensor::linear::{self as kernels, PoolParams, StorageOrder};
use tangram_tensor::reduce::{Reduce, reduce};

use super::conv::spatial_rank;
use super::window::{self, NAMES, ONNX_NAMES, PADDING};
use super::{
    NnOp, Numbers, maybe, maybe_result, needed, op, open, operand, optional, result,
    sample::{Extents, Role, Sample, Wanted},
};
use crate::eval::{EvalCx, EvalError, EvalFn, Evaluated, single, sizes};
use crate::infer::{Dims, InferExt, Result, Shaped, one, several};
use crate::{dims, infer_error};

const DATA: OperandDef = operand("x", "batch, channels, then spatial extents");
const X: &[OperandDef] = &[DATA];
const POOLED: ResultDef = result("output", "batch, channels, then the number of windows");
const OUT: &[ResultDef] = &[POOLED];
const MAX_OUT: &[ResultDef] =
    &[POOLED, maybe_result("indices", "where each element was in the flattened data, `i64`")];
const SIZE: AttrDef = needed("pool_size", AttrKind::Ints, "the extents of a window");
const STRIDES: AttrDef = maybe("strides", AttrKind::Ints, "steps between windows; 1 if absent");
const DILATION: AttrDef =
    maybe("dilation", AttrKind::Ints, "steps between elements of a window; 1 if absent");
const CEIL: AttrDef =
    maybe("ceil_mode", AttrKind::Bool, "a last window may reach over the end; false if absent");

const fn pool(
    name: &'static str,
    summary: &'static str,
    results: &'static [ResultDef],
    attrs: &'static [AttrDef],
    eval: EvalFn,
) -> NnOp {
    let sample = Sample { rank: window::stated_rank, attr: Some(window::tried), ..Sample::USUAL };
    op(name, summary, X, results, attrs, infer_pool)
        .eval(eval)
        .open(open::empty_window)
        .steps(window::pool_steps)
        .sample(sample)
}

const MAX_ATTRS: &[AttrDef] = &[
    SIZE,
    STRIDES,
    PADDING,
    DILATION,
    CEIL,
    maybe("storage_order", AttrKind::Int, "1: `indices` count column-major; 0 if absent"),
];
const AVG_ATTRS: &[AttrDef] = &[
    SIZE,
    STRIDES,
    PADDING,
    DILATION,
    CEIL,
    maybe("count_include_pad", AttrKind::Bool, "padding counts as zeros; false if absent"),
];
const LP_ATTRS: &[AttrDef] = &[
    SIZE,
    STRIDES,
    PADDING,
    DILATION,
    CEIL,
    maybe("p", AttrKind::Int, "the exponent of the norm; 2 if absent"),
];

/// What the counts of elements divide that windows have: up to 9 and some more.
const COUNTS: f64 = 2520.0;

/// The operations of this family.
pub(super) static OPS: &[NnOp] = &[
    pool("nn.max_pool1d", "the greatest element of each window", MAX_OUT, MAX_ATTRS, eval_max)
        .structured(structured::max_pool)
        .numbers(Numbers::CHOSEN),
    pool("nn.max_pool2d", "the greatest element of each window", MAX_OUT, MAX_ATTRS, eval_max)
        .structured(structured::max_pool)
        .numbers(Numbers::CHOSEN),
    pool("nn.max_pool3d", "the greatest element of each window", MAX_OUT, MAX_ATTRS, eval_max)
        .structured(structured::max_pool)
        .numbers(Numbers::CHOSEN),
    pool(
        "nn.max_pool",
        "the greatest element of each window, any rank",
        MAX_OUT,
        MAX_ATTRS,
        eval_max,
    )
    .structured(structured::max_pool)
    .numbers(Numbers::CHOSEN),
    pool("nn.avg_pool1d", "the mean of each window", OUT, AVG_ATTRS, eval_avg)
        .structured(structured::avg_pool)
        .over_field(|cx| cx.mean(COUNTS)),
    pool("nn.avg_pool2d", "the mean of each window", OUT, AVG_ATTRS, eval_avg)
        .structured(structured::avg_pool)
        .over_field(|cx| cx.mean(COUNTS)),
    pool("nn.avg_pool3d", "the mean of each window", OUT, AVG_ATTRS, eval_avg)
        .structured(structured::avg_pool)
        .over_field(|cx| cx.mean(COUNTS)),
    pool("nn.avg_pool", "the mean of each window, any rank", OUT, AVG_ATTRS, eval_avg)
        .structured(structured::avg_pool)
        .over_field(|cx| cx.mean(COUNTS)),
    pool("nn.lp_pool", "the p-norm of each window", OUT, LP_ATTRS, eval_lp)
        .structured(structured::lp_pool),
    op("nn.global_max_pool", "the greatest element of each channel", X, OUT, &[], infer_global)
        .structured(structured::global_max)
        .eval(|cx| whole(cx, Reduce::Max))
        .numbers(Numbers::CHOSEN)
        .open(open::empty_window)
        .steps(window::pool_steps),
    op("nn.global_avg_pool", "the mean of each channel", X, OUT, &[], infer_global)
        .structured(structured::global_avg)
        .eval(|cx| whole(cx, Reduce::Mean))
        .over_field(|cx| cx.mean(cx.operand(0)?.len() as f64))
        .open(open::empty_window)
        .steps(window::pool_steps),
    op(
        "nn.global_lp_pool",
        "the p-norm of each channel",
        X,
        OUT,
        &[maybe("p", AttrKind::Int, "the exponent of the norm; 2 if absent")],
        infer_global,
    )
    .structured(structured::global_lp)
    .eval(|cx| single(kernels::global_lp_pool(cx.need(0)?, exponent(cx))))
    .open(open::empty_window)
    .steps(window::pool_steps),
    NnOp::new(OpDef {
        operands: &[
            DATA,
            operand("indices", "the shape of `x`: places in the flattened result"),
            optional("output_shape", "the shape of the result, rank 1"),
        ],
        results: &[result("output", "the extents before the pool")],
        attrs: &[
            needed("kernel_shape", AttrKind::Ints, "the extents of a window"),
            STRIDES,
            maybe("pads", AttrKind::Ints, "begins, then ends; 0 if absent"),
        ],
        traits: Traits::PURE,
        infer: Some(infer_unpool),
        ..OpDef::new("nn.max_unpool", "elements of a pool put back where they were")
    })
    .eval(eval_unpool)
    .tried(window::tried)
    .steps(window::pool_steps),
    op(
        "nn.roi_pool",
        "the greatest element of each cell of each region",
        &[DATA, operand("rois", "regions by 5: batch, x1, y1, x2, y2")],
        &[result("output", "regions, channels, then `pooled_shape`")],
        &[
            needed("pooled_shape", AttrKind::Ints, "cells: height, width"),
            maybe("spatial_scale", AttrKind::Float, "from regions to data; 1 if absent"),
        ],
        infer_roi_pool,
    )
    .eval(eval_roi_pool)
    .open(open::empty_window)
    .steps(window::pool_steps),
    op(
        "nn.roi_align",
        "the mean or maximum of interpolated samples in each cell of each region",
        &[
            DATA,
            operand("rois", "regions by 4: x1, y1, x2, y2"),
            operand("batch_indices", "the batch of each region"),
        ],
        &[result("output", "regions, channels, `output_height`, `output_width`")],
        &[
            maybe("output_height", AttrKind::Int, "1 if absent"),
            maybe("output_width", AttrKind::Int, "1 if absent"),
            maybe("sampling_ratio", AttrKind::Int, "samples for each cell; 0 (adapts) if absent"),
            maybe("spatial_scale", AttrKind::Float, "from regions to data; 1 if absent"),
            maybe("mode", AttrKind::Enum(&["avg", "max"]), "avg if absent"),
            maybe(
                "coordinate_transformation_mode",
                AttrKind::Enum(&["half_pixel", "output_half_pixel"]),
                "half_pixel if absent",
            ),
        ],
        infer_roi_align,
    )
    .eval(eval_roi_align)
    .roles(&[Role::Data, Role::Data, Role::Places])
    .extents(tried_regions),
];

fn infer_pool(cx: &InferCx<'_>) -> Result {
    let x = cx.tensor(0)?;
    let size = cx.need_ints("pool_size")?;
    let rank = size.len() + 2;
    let stated = spatial_rank(cx.def.name).unwrap_or(size.len());
    if stated != size.len() || x.rank().is_some_and(|found| found != rank) {
        return Err(infer_error!(
            "`{}` has windows of rank {} on data of rank {:?}",
            cx.def.name,
            size.len(),
            x.rank()
        ));
    }
    let from: Dims = x.dims.clone().unwrap_or_else(|| smallvec![Dim::UNKNOWN; rank]);
    let kernel: Vec<Dim> = size.into_iter().map(Dim::fixed).collect();
    let windows = window::windows(cx, &kernel, &NAMES)?;
    let out = Some(window::counted(cx, [from[0], from[1]], &from[2..], &windows)?);
    let indices = Shaped { dims: out.clone(), element: cx.context().int_type(64) };
    let wanted = cx.result_count.unwrap_or(1).clamp(1, cx.def.results.len());
    several(cx, [Shaped { dims: out, ..x }, indices].into_iter().take(wanted))
}

fn infer_global(cx: &InferCx<'_>) -> Result {
    let mut x = cx.tensor(0)?;
    for dim in x.dims.iter_mut().flatten().skip(2) {
        *dim = Dim::fixed(1);
    }
    one(cx, &x)
}

fn infer_unpool(cx: &InferCx<'_>) -> Result {
    let context = cx.context();
    let x = cx.tensor(0)?;
    if cx.has(2) {
        let open = x.dims.map(|d| d.iter().map(|_| Dim::UNKNOWN).collect());
        let known = cx.contents(2).map(|list| dims::known(context, &list));
        return one(cx, &Shaped { dims: known.or(open), element: x.element });
    }
    let kernel: Vec<Dim> = cx.need_ints("kernel_shape")?.into_iter().map(Dim::fixed).collect();
    let Some(from) = &x.dims else { return one(cx, &x) };
    if from.len() != kernel.len() + 2 {
        let (name, rank) = (cx.def.name, kernel.len() + 2);
        return Err(infer_error!("`{name}` needs data of rank {rank}, found {}", from.len()));
    }
    let windows = window::windows(cx, &kernel, &ONNX_NAMES)?;
    let mut out: Dims = from[..2].into();
    for (&extent, window) in from[2..].iter().zip(&windows) {
        out.push(window.covered(context, extent, 0)?);
    }
    one(cx, &Shaped { dims: Some(out), element: x.element })
}

/// Regions, channels, then the extents of the cells.
fn regions(cx: &InferCx<'_>, cells: &[i64]) -> Result {
    let (x, rois) = (cx.tensor(0)?, cx.tensor(1)?);
    let at = |s: &Shaped, i: usize| {
        s.dims.as_ref().and_then(|d| d.get(i)).copied().unwrap_or(Dim::UNKNOWN)
    };
    let cells = cells.iter().map(|&n| Dim::fixed(n));
    one(cx, &Shaped::ranked([at(&rois, 0), at(&x, 1)].into_iter().chain(cells), x.element))
}

fn infer_roi_pool(cx: &InferCx<'_>) -> Result {
    regions(cx, &cx.need_ints("pooled_shape")?)
}

fn infer_roi_align(cx: &InferCx<'_>) -> Result {
    let extent = |name| cx.attrs().int(name).unwrap_or(1);
    regions(cx, &[extent("output_height"), extent("output_width")])
}

/// Reduces all dimensions but the first two.
fn whole(cx: &EvalCx<'_>, kind: Reduce) -> Evaluated {
    let x = cx.need(0)?;
    let axes: Vec<i64> = (2..x.rank() as i64).collect();
    // An empty list would mean every axis.
    single(reduce(kind, x, &axes, true, true))
}

fn params(cx: &EvalCx<'_>) -> Result<PoolParams, EvalError> {
    let size = cx.attrs().ints("pool_size").ok_or(EvalError::Attribute("pool_size"))?;
    Ok(PoolParams {
        kernel: sizes("pool_size", &size)?,
        window: window::params(cx.attrs(), &NAMES),
        ceil_mode: cx.attrs().flag("ceil_mode"),
    })
}

fn exponent(cx: &EvalCx<'_>) -> i64 {
    cx.attrs().int("p").unwrap_or(2)
}

fn eval_max(cx: &EvalCx<'_>) -> Evaluated {
    let order = match cx.attrs().int("storage_order") {
        Some(1) => StorageOrder::ColumnMajor,
        _ => StorageOrder::RowMajor,
    };
    let (output, indices) = kernels::max_pool(cx.need(0)?, &params(cx)?, order)?;
    Ok(vec![output, indices])
}

fn eval_avg(cx: &EvalCx<'_>) -> Evaluated {
    let include_pad = cx.attrs().flag("count_include_pad");
    single(kernels::avg_pool(cx.need(0)?, &params(cx)?, include_pad))
}

fn eval_lp(cx: &EvalCx<'_>) -> Evaluated {
    single(kernels::lp_pool(cx.need(0)?, &params(cx)?, exponent(cx)))
}

fn eval_unpool(cx: &EvalCx<'_>) -> Evaluated {
    let kernel = cx.attrs().ints("kernel_shape").ok_or(EvalError::Attribute("kernel_shape"))?;
    let shape = match cx.get(2) {
        Some(shape) => Some(sizes("output_shape", &shape.i64s()?)?),
        None => None,
    };
    single(image::max_unpool(
        cx.need(0)?,
        cx.need(1)?,
        &sizes("kernel_shape", &kernel)?,
        &window::params(cx.attrs(), &ONNX_NAMES),
        shape.as_deref(),
    ))
}

fn scale(cx: &EvalCx<'_>) -> f64 {
    cx.attrs().float("spatial_scale").unwrap_or(1.0)
}

fn eval_roi_pool(cx: &EvalCx<'_>) -> Evaluated {
    let cells = cx.attrs().ints("pooled_shape").ok_or(EvalError::Attribute("pooled_shape"))?;
    let cells = <[usize; 2]>::try_from(sizes("pooled_shape", &cells)?);
    let cells = cells.map_err(|list| EvalError::Value("pooled_shape", format!("{list:?}")))?;
    single(image::max_roi_pool(cx.need(0)?, cx.need(1)?, cells, scale(cx)))
}

fn eval_roi_align(cx: &EvalCx<'_>) -> Evaluated {
    let count = |name, default| {
        let n = cx.attrs().int(name).unwrap_or(default);
        usize::try_from(n).map_err(|_| EvalError::Value(name, n.to_string()))
    };
    let params = image::RoiAlignParams {
        output_height: count("output_height", 1)?,
        output_width: count("output_width", 1)?,
        sampling_ratio: count("sampling_ratio", 0)?,
        spatial_scale: scale(cx),
        mode: match cx.attrs().text("mode") {
            Some("max") => image::RoiMode::Max,
            _ => image::RoiMode::Avg,
        },
        half_pixel: cx.attrs().text("coordinate_transformation_mode") != Some("output_half_pixel"),
    };
    single(image::roi_align(cx.need(0)?, cx.need(1)?, cx.need(2)?, &params))
}

/// Regions by their corners, and the batch of each.
fn tried_regions(wanted: &Wanted<'_>, rng: &mut Rng) -> Option<Extents> {
    Some(match (wanted.index, wanted.of(1)) {
        (0, _) => wanted.free(rng, Some(4)),
        (2, Some(regions)) => regions.iter().copied().take(1).collect(),
        _ => vec![rng.usize(1..=2), 4],
    })
}
