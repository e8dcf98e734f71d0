//! Convolutions. Layout is `NCHW`: batch, channels, then the spatial dimensions.

mod sample;
mod structured;
mod transposed;

use smallvec::smallvec;
use tangram_ir::{AttrDef, AttrKind, Dim, InferCx, OpDef, OperandDef, ResultDef, Traits};
use tangram_tensor::linear as kernels;

use super::window::{self, NAMES, Names, PADDING, Window};
use super::{NnOp, maybe, operand, result, sample::Sample};
use crate::eval::{EvalCx, EvalError, Evaluated, single};
use crate::infer::{Dims, InferExt, Result, Shaped, one, one_element};
use crate::{dims, infer_error};

pub(super) use sample::convolution;
pub(super) use structured::{Convolution, convolve};

const X: OperandDef = operand("x", "batch, channels, then spatial extents");
const X_W: &[OperandDef] = &[X, operand("w", "filters, channels / groups, then window extents")];
const X_W_TRANSPOSED: &[OperandDef] =
    &[X, operand("w", "channels, filters / groups, then window extents")];
const OUT: &[ResultDef] = &[result("output", "batch, filters, then spatial extents")];
const STRIDES: AttrDef = maybe(
    "strides",
    AttrKind::Ints,
    "steps between windows, one for each spatial dimension; 1 if absent",
);
const DILATION: AttrDef =
    maybe("dilation", AttrKind::Ints, "steps between elements of a window; 1 if absent");
const GROUPS: AttrDef = maybe(
    "groups",
    AttrKind::Int,
    "channels are cut into that many independent parts; 1 if absent",
);
const ATTRS: &[AttrDef] = &[STRIDES, PADDING, DILATION, GROUPS];
const TRANSPOSED_ATTRS: &[AttrDef] = &[
    STRIDES,
    PADDING,
    DILATION,
    GROUPS,
    maybe("output_padding", AttrKind::Ints, "added to each spatial extent; 0 if absent"),
    maybe("output_shape", AttrKind::Ints, "the spatial extents, in place of `padding`"),
];

const fn conv(name: &'static str, summary: &'static str) -> NnOp {
    let def = OpDef {
        operands: X_W,
        results: OUT,
        attrs: ATTRS,
        traits: Traits::PURE,
        infer: Some(infer_conv),
        ..OpDef::new(name, summary)
    };
    let sample = Sample {
        rank: window::stated_rank,
        extents: Some(sample::extents),
        attr: Some(window::tried),
        ..Sample::USUAL
    };
    NnOp::new(def)
        .eval(eval_conv)
        .structured(structured::conv)
        .bilinear()
        .steps(window::filter_steps)
        .sample(sample)
}

const fn transposed(name: &'static str, summary: &'static str) -> NnOp {
    let def = OpDef {
        operands: X_W_TRANSPOSED,
        results: OUT,
        attrs: TRANSPOSED_ATTRS,
        traits: Traits::PURE,
        infer: Some(infer_transposed),
        ..OpDef::new(name, summary)
    };
    let sample = Sample {
        rank: window::stated_rank,
        extents: Some(sample::transposed),
        attr: Some(sample::of_one_group),
        ..Sample::USUAL
    };
    NnOp::new(def)
        .eval(eval_transposed)
        .structured(transposed::transposed)
        .bilinear()
        .steps(window::filter_steps)
        .sample(sample)
}

/// The operations of this family.
pub(super) static OPS: &[NnOp] = &[
    conv("nn.conv1d", "the convolution over one spatial dimension"),
    conv("nn.conv2d", "the convolution over two spatial dimensions"),
    conv("nn.conv3d", "the convolution over three spatial dimensions"),
    conv("nn.conv", "the convolution over any number of spatial dimensions"),
    transposed("nn.conv1d_transpose", "the gradient of `conv1d` by its input"),
    transposed("nn.conv2d_transpose", "the gradient of `conv2d` by its input"),
    transposed("nn.conv3d_transpose", "the gradient of `conv3d` by its input"),
    transposed("nn.conv_transpose", "the gradient of `conv` by its input"),
];

/// The number of spatial dimensions that the name of an operation states.
pub(super) fn spatial_rank(name: &str) -> Option<usize> {
    let digit = name.as_bytes().windows(2).find(|w| w[1] == b'd' && w[0].is_ascii_digit())?[0];
    Some(usize::from(digit - b'0'))
}

/// Data and filters of one rank, their extents unknown where nothing says them; `None` if not
/// even the rank is known.
pub(super) fn ranked(cx: &InferCx<'_>, x: &Shaped, w: &Shaped) -> Result<Option<[Dims; 2]>> {
    let stated = spatial_rank(cx.def.name).map(|n| n + 2);
    let Some(rank) = stated.or(x.rank()).or(w.rank()) else { return Ok(None) };
    for (what, found) in [("data", x.rank()), ("filters", w.rank())] {
        if let Some(found) = found.filter(|&found| found != rank || found < 3) {
            let (name, rank) = (cx.def.name, rank.max(3));
            return Err(infer_error!("`{name}` needs {what} of rank {rank}, found {found}"));
        }
    }
    let open = |s: &Shaped| s.dims.clone().unwrap_or_else(|| smallvec![Dim::UNKNOWN; rank]);
    Ok(Some([open(x), open(w)]))
}

fn groups(cx: &InferCx<'_>) -> Result<i64> {
    let groups = cx.attrs().int("groups").unwrap_or(1);
    if groups < 1 {
        return Err(infer_error!("`{}` has {groups} groups", cx.def.name));
    }
    Ok(groups)
}

/// Refuses two extents that can never be equal.
pub(super) fn agree(cx: &InferCx<'_>, what: &str, expected: Dim, found: Dim) -> Result<()> {
    let context = cx.context();
    if dims::differ(context, expected, found) {
        let text = |dim| dims::text(context, dim);
        let name = cx.def.name;
        let (expected, found) = (text(expected), text(found));
        return Err(infer_error!("`{name}` needs {what} of {expected}, found {found}"));
    }
    Ok(())
}

fn infer_conv(cx: &InferCx<'_>) -> Result {
    one_element(cx, 0..2)?;
    let (x, w) = (cx.tensor(0)?, cx.tensor(1)?);
    let out = convolved(cx, &x, &w, groups(cx)?, &NAMES)?;
    one(cx, &Shaped { dims: out, element: x.element })
}

/// The extents of a convolution of `x` with the filters `w`.
pub(super) fn convolved(
    cx: &InferCx<'_>,
    x: &Shaped,
    w: &Shaped,
    groups: i64,
    names: &Names,
) -> Result<Option<Dims>> {
    let Some([x, w]) = ranked(cx, x, w)? else { return Ok(None) };
    let channels = dims::mul(cx.context(), w[1], Dim::fixed(groups));
    agree(cx, "as many channels as filters times groups", channels, x[1])?;
    let windows = window::windows(cx, &w[2..], names)?;
    window::counted(cx, [x[0], w[0]], &x[2..], &windows).map(Some)
}

fn infer_transposed(cx: &InferCx<'_>) -> Result {
    one_element(cx, 0..2)?;
    let context = cx.context();
    let (data, filters) = (cx.tensor(0)?, cx.tensor(1)?);
    let Some([x, w]) = ranked(cx, &data, &filters)? else {
        return one(cx, &Shaped::unranked(data.element));
    };
    agree(cx, "as many channels as the first extent of the filters", w[0], x[1])?;
    let mut out: Dims = smallvec![x[0], dims::mul(context, w[1], Dim::fixed(groups(cx)?))];
    let windows = window::windows(cx, &w[2..], &NAMES)?;
    let spatial = match cx.attrs().ints("output_shape") {
        Some(shape) => shape.into_iter().map(Dim::fixed).collect(),
        None => grown(cx, &x[2..], &windows)?,
    };
    if spatial.len() != x.len() - 2 {
        return Err(infer_error!("`output_shape` needs {} entries", x.len() - 2));
    }
    out.extend(spatial);
    one(cx, &Shaped { dims: Some(out), element: data.element })
}

fn grown(cx: &InferCx<'_>, spatial: &[Dim], windows: &[Window]) -> Result<Vec<Dim>> {
    let extra = cx.attrs().ints("output_padding").unwrap_or_else(|| vec![0; spatial.len()]);
    if extra.len() != spatial.len() {
        return Err(infer_error!("`output_padding` needs {} entries", spatial.len()));
    }
    let covered = |i: usize| windows[i].covered(cx.context(), spatial[i], extra[i]);
    (0..spatial.len()).map(covered).collect()
}

/// The number of groups, for a kernel.
pub(super) fn group_count(cx: &EvalCx<'_>) -> Result<usize, EvalError> {
    let groups = cx.attrs().int("groups").unwrap_or(1);
    usize::try_from(groups).map_err(|_| EvalError::Value("groups", groups.to_string()))
}

fn eval_conv(cx: &EvalCx<'_>) -> Evaluated {
    let params = window::params(cx.attrs(), &NAMES);
    single(kernels::conv(cx.need(0)?, cx.need(1)?, None, group_count(cx)?, &params))
}

fn eval_transposed(cx: &EvalCx<'_>) -> Evaluated {
    let params = window::params(cx.attrs(), &NAMES);
    let list = |name| cx.attrs().ints(name).unwrap_or_default();
    let transpose = kernels::TransposeParams {
        output_padding: list("output_padding"),
        output_shape: list("output_shape"),
    };
    let (x, w) = (cx.need(0)?, cx.need(1)?);
    single(kernels::conv_transpose(x, w, None, group_count(cx)?, &params, &transpose))
}
