//! Fourier transforms, windows, determinants.

mod structured;

use tangram_affine::symbolic::Expr;
use tangram_ir::{AttrDef, AttrKind, Dim, FloatKind, InferCx, OperandDef, ResultDef};
use tangram_tensor::signal as kernels;
use tangram_tensor::signal::{DftParams, MelParams, WindowFunction};
use tangram_tensor::{DType, linear};

use super::{NnOp, maybe, op, open, operand, optional, result};
use crate::eval::{EvalCx, EvalError, Evaluated, single, sizes};
use crate::infer::{InferExt, Result, Shaped, axis, one};
use crate::{dims, infer_error};

const SIZE: &[OperandDef] = &[operand("size", "a scalar: the number of points")];
const WINDOW: &[ResultDef] = &[result("window", "rank 1: `size`")];
const DTYPE: AttrDef =
    maybe("dtype", AttrKind::DType, "the element type of the result; `f32` if absent");
const WINDOW_ATTRS: &[AttrDef] = &[
    DTYPE,
    maybe("periodic", AttrKind::Bool, "one period, not a symmetric window; true if absent"),
];
const ONESIDED: AttrDef =
    maybe("onesided", AttrKind::Bool, "only the first half of the bins and one more");

/// The operations of this family.
pub(super) static OPS: &[NnOp] = &[
    op("nn.hann_window", "the Hann window", SIZE, WINDOW, WINDOW_ATTRS, infer_window)
        .eval(|cx| eval_window(cx, WindowFunction::Hann)),
    op("nn.hamming_window", "the Hamming window", SIZE, WINDOW, WINDOW_ATTRS, infer_window)
        .eval(|cx| eval_window(cx, WindowFunction::Hamming)),
    op("nn.blackman_window", "the Blackman window", SIZE, WINDOW, WINDOW_ATTRS, infer_window)
        .eval(|cx| eval_window(cx, WindowFunction::Blackman)),
    op(
        "nn.mel_weight_matrix",
        "the weights that turn a spectrum into mel bands",
        &[
            operand("num_mel_bins", "a scalar"),
            operand("dft_length", "a scalar"),
            operand("sample_rate", "a scalar"),
            operand("lower_edge_hertz", "a scalar"),
            operand("upper_edge_hertz", "a scalar"),
        ],
        &[result("output", "dft_length / 2 + 1 by num_mel_bins")],
        &[DTYPE],
        infer_mel,
    )
    .eval(eval_mel),
    op(
        "nn.dft",
        "the discrete Fourier transform along a dimension",
        &[
            operand("x", "any extents, then 1 (real) or 2 (complex)"),
            optional("dft_length", "a scalar: cut or pad to it first; the extent if absent"),
            optional("axis", "a scalar; -2 if absent"),
        ],
        &[result("output", "the extents of `x`, then 2 (1 for the inverse of a half spectrum)")],
        &[
            maybe("axis", AttrKind::Int, "the dimension, in place of the operand"),
            maybe("inverse", AttrKind::Bool, "the inverse transform; false if absent"),
            ONESIDED,
        ],
        infer_dft,
    )
    .eval(eval_dft)
    .structured(structured::dft)
    .steps(|sizes| sizes.elements(0).isqrt()),
    op(
        "nn.stft",
        "the discrete Fourier transform of overlapping frames",
        &[
            operand("signal", "batch, length, then 1 or nothing (real) or 2 (complex)"),
            operand("frame_step", "a scalar: distance of frames"),
            optional("window", "rank 1: weights of a frame"),
            optional("frame_length", "a scalar; that of `window` if absent"),
        ],
        &[result("output", "batch, frames, bins, 2")],
        &[ONESIDED],
        infer_stft,
    )
    .eval(eval_stft)
    .structured(structured::stft),
    op(
        "nn.det",
        "the determinant of each matrix",
        &[operand("x", "any extents, then n by n")],
        &[result("output", "the extents before the matrices")],
        &[],
        infer_det,
    )
    .eval(|cx| single(linear::det(cx.need(0)?)))
    .open(open::elimination)
    .steps(|sizes| sizes.elements(0).isqrt()),
];

/// The one element of operand `i`.
fn scalar(cx: &InferCx<'_>, i: usize) -> Option<Expr> {
    cx.contents(i)?.into_iter().next()?
}

fn extent(cx: &InferCx<'_>, expr: Option<Expr>) -> Dim {
    expr.map_or(Dim::UNKNOWN, |e| dims::dim(cx.context(), &e))
}

/// Bins of a transform of `length` points of which only one side is kept.
fn one_side(cx: &InferCx<'_>, length: Dim) -> Dim {
    let half = dims::floor_div(cx.context(), length, 2);
    dims::add(cx.context(), half, Dim::fixed(1))
}

fn element(cx: &InferCx<'_>) -> tangram_ir::Type {
    cx.attrs().ty("dtype").unwrap_or_else(|| cx.context().float_type(FloatKind::F32))
}

fn infer_window(cx: &InferCx<'_>) -> Result {
    one(cx, &Shaped::ranked([extent(cx, scalar(cx, 0))], element(cx)))
}

fn infer_mel(cx: &InferCx<'_>) -> Result {
    let bins = one_side(cx, extent(cx, scalar(cx, 1)));
    one(cx, &Shaped::ranked([bins, extent(cx, scalar(cx, 0))], element(cx)))
}

fn infer_dft(cx: &InferCx<'_>) -> Result {
    let context = cx.context();
    let mut x = cx.tensor(0)?;
    let Some(out) = &mut x.dims else { return one(cx, &x) };
    let Some(last) = out.len().checked_sub(1).filter(|&last| last > 0) else {
        return Err(infer_error!("`nn.dft` needs rank 2 or more, found {}", out.len()));
    };
    let (inverse, onesided) = (cx.attrs().flag("inverse"), cx.attrs().flag("onesided"));
    let parts = Dim::fixed(if inverse && onesided { 1 } else { 2 });
    let along = match cx.attrs().int("axis") {
        None if cx.has(2) => scalar(cx, 2).and_then(|e| e.as_int()),
        listed => Some(listed.unwrap_or(-2)),
    };
    let Some(along) = along else {
        out[..last].fill(Dim::UNKNOWN);
        out[last] = parts;
        return one(cx, &x);
    };
    let along = axis(along, last + 1)?;
    let given = cx.has(1).then(|| extent(cx, scalar(cx, 1)));
    out[along] = match (given, inverse && onesided) {
        (Some(length), true) => length,
        // The half spectrum of n bins comes from 2 * (n - 1) points.
        (None, true) => {
            let gaps = dims::sub(context, out[along], Dim::fixed(1));
            dims::mul(context, gaps, Dim::fixed(2))
        }
        (length, false) => {
            let length = length.unwrap_or(out[along]);
            if onesided { one_side(cx, length) } else { length }
        }
    };
    out[last] = parts;
    one(cx, &x)
}

fn infer_stft(cx: &InferCx<'_>) -> Result {
    let context = cx.context();
    let signal = cx.tensor(0)?;
    let at = |i: usize| signal.dims.as_ref().and_then(|d| d.get(i)).copied();
    let window = if cx.has(2) { cx.tensor(2)?.dims.and_then(|d| d.first().copied()) } else { None };
    let length = if cx.has(3) { extent(cx, scalar(cx, 3)) } else { window.unwrap_or(Dim::UNKNOWN) };
    let step = scalar(cx, 1).and_then(|e| e.as_int());
    let total = at(1).unwrap_or(Dim::UNKNOWN);
    let frames = match step {
        Some(step) => {
            let span = dims::sub(context, total, length);
            dims::add(context, dims::floor_div(context, span, step), Dim::fixed(1))
        }
        None => Dim::UNKNOWN,
    };
    let bins =
        if cx.attrs().bool("onesided").unwrap_or(true) { one_side(cx, length) } else { length };
    let batch = at(0).unwrap_or(Dim::UNKNOWN);
    one(cx, &Shaped::ranked([batch, frames, bins, Dim::fixed(2)], signal.element))
}

fn infer_det(cx: &InferCx<'_>) -> Result {
    let mut x = cx.tensor(0)?;
    if let Some(dims) = &mut x.dims {
        let Some(batch) = dims.len().checked_sub(2) else {
            return Err(infer_error!("`nn.det` needs rank 2 or more, found {}", dims.len()));
        };
        super::conv::agree(cx, "square matrices", dims[batch], dims[batch + 1])?;
        dims.truncate(batch);
    }
    one(cx, &x)
}

/// The one size in operand `i`; `None` if it is absent.
fn size(cx: &EvalCx<'_>, name: &'static str, i: usize) -> Result<Option<usize>, EvalError> {
    let Some(tensor) = cx.get(i) else { return Ok(None) };
    match sizes(name, &tensor.i64s()?)?[..] {
        [size] => Ok(Some(size)),
        _ => Err(EvalError::Value(name, format!("of shape {:?}", tensor.shape()))),
    }
}

fn need_size(cx: &EvalCx<'_>, name: &'static str, i: usize) -> Result<usize, EvalError> {
    size(cx, name, i)?.ok_or(EvalError::AbsentOperand(i))
}

fn eval_window(cx: &EvalCx<'_>, kind: WindowFunction) -> Evaluated {
    let periodic = cx.attrs().bool("periodic").unwrap_or(true);
    let dtype = cx.dtype(0).unwrap_or(DType::F32);
    single(kernels::window_function(kind, need_size(cx, "size", 0)?, periodic, dtype))
}

fn eval_mel(cx: &EvalCx<'_>) -> Evaluated {
    let number = |name, i: usize| {
        let first = cx.need(i)?.f64s()?.first().copied();
        first.ok_or_else(|| EvalError::Value(name, "empty".to_owned()))
    };
    let params = MelParams {
        bands: need_size(cx, "num_mel_bins", 0)?,
        dft_length: need_size(cx, "dft_length", 1)?,
        sample_rate: number("sample_rate", 2)?,
        lower_edge: number("lower_edge_hertz", 3)?,
        upper_edge: number("upper_edge_hertz", 4)?,
    };
    single(kernels::mel_weight_matrix(&params, cx.dtype(0).unwrap_or(DType::F32)))
}

fn eval_dft(cx: &EvalCx<'_>) -> Evaluated {
    let params = DftParams {
        axis: cx.int("axis", 2)?.unwrap_or(-2),
        length: size(cx, "dft_length", 1)?,
        inverse: cx.attrs().flag("inverse"),
        onesided: cx.attrs().flag("onesided"),
    };
    single(kernels::dft(cx.need(0)?, params))
}

fn eval_stft(cx: &EvalCx<'_>) -> Evaluated {
    let step = need_size(cx, "frame_step", 1)?;
    let length = size(cx, "frame_length", 3)?;
    let onesided = cx.attrs().bool("onesided").unwrap_or(true);
    single(kernels::stft(cx.need(0)?, step, cx.get(2), length, onesided))
}
