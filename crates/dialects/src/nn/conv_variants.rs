//! Convolutions of other kinds: one with bent windows, one that carries a state along.

use tangram_ir::{AttrKind, Dim, InferCx};
use tangram_tensor::elementwise::{cast, swish};
use tangram_tensor::linear::{self as kernels, WindowParams};
use tangram_tensor::shape::{concatenate, strided_slice};
use tangram_tensor::{KernelError, Tensor};

use super::conv::{agree, group_count};
use super::window::{self, NAMES};
use super::{NnOp, maybe, maybe_result, op, operand, optional, result};
use crate::dims;
use crate::eval::{EvalCx, EvalError, Evaluated, single, sizes};
use crate::infer::{InferExt, Result, Shaped, one, several};

/// The operations of this family.
pub(super) static OPS: &[NnOp] = &[
    op(
        "nn.deform_conv",
        "the convolution in which each place of each window is moved by an offset",
        &[
            operand("x", "batch, channels, then spatial extents"),
            operand("w", "filters, channels / groups, then window extents"),
            operand("offset", "batch, offset groups * window places * 2, then spatial extents"),
            optional("bias", "one for each filter; 0 if absent"),
            optional("mask", "batch, offset groups * window places, then spatial extents"),
        ],
        &[result("output", "batch, filters, then the spatial extents of `offset`")],
        &[
            maybe("strides", AttrKind::Ints, "steps between windows; 1 if absent"),
            maybe("padding", AttrKind::Ints, "begins, then ends; 0 if absent"),
            maybe("dilation", AttrKind::Ints, "steps between places of a window; 1 if absent"),
            maybe("groups", AttrKind::Int, "independent parts; 1 if absent"),
            maybe("offset_group", AttrKind::Int, "parts with offsets of their own; 1 if absent"),
            maybe("kernel_shape", AttrKind::Ints, "window extents; those of `w` if absent"),
        ],
        infer_deform,
    )
    .eval(eval_deform)
    .tried(window::tried)
    .steps(window::filter_steps),
    op(
        "nn.causal_conv_with_state",
        "the convolution of each channel over the past, with what came before",
        &[
            operand("x", "batch, channels, steps"),
            operand("w", "channels, 1, window"),
            optional("bias", "one for each channel; 0 if absent"),
            optional("past_state", "batch, channels, window - 1; 0 if absent"),
        ],
        &[
            result("output", "the shape of `x`"),
            maybe_result("present_state", "the last window - 1 steps"),
        ],
        &[maybe(
            "activation",
            AttrKind::Enum(&["none", "silu", "swish"]),
            "what follows; none if absent",
        )],
        infer_causal,
    )
    .eval(eval_causal)
    .steps(window::filter_steps),
];

fn infer_deform(cx: &InferCx<'_>) -> Result {
    let (x, w, offset) = (cx.tensor(0)?, cx.tensor(1)?, cx.tensor(2)?);
    let dims = match (x.dims, w.dims, offset.dims) {
        (Some(x), Some(w), Some(offset)) if offset.len() >= 2 && x.len() >= 2 && !w.is_empty() => {
            agree(cx, "an offset for each batch", x[0], offset[0])?;
            Some([x[0], w[0]].into_iter().chain(offset[2..].iter().copied()).collect())
        }
        _ => None,
    };
    one(cx, &Shaped { dims, element: x.element })
}

fn eval_deform(cx: &EvalCx<'_>) -> Evaluated {
    let operands = kernels::DeformOperands {
        x: cx.need(0)?,
        w: cx.need(1)?,
        offset: cx.need(2)?,
        bias: cx.get(3),
        mask: cx.get(4),
    };
    let parts = sizes("offset_group", &[cx.attrs().int("offset_group").unwrap_or(1)])?[0];
    let params = window::params(cx.attrs(), &NAMES);
    single(kernels::deform_conv(&operands, group_count(cx)?, parts, &params))
}

fn infer_causal(cx: &InferCx<'_>) -> Result {
    let (x, w) = (cx.tensor(0)?, cx.tensor(1)?);
    let dims = match (&x.dims, &w.dims) {
        (Some(x), Some(w)) if x.len() == 3 && w.len() == 3 => {
            agree(cx, "a window for each channel", x[1], w[0])?;
            let kept = dims::sub(cx.context(), w[2], Dim::fixed(1));
            Some([x[0], x[1], kept].into_iter().collect())
        }
        _ => None,
    };
    let state = Shaped { dims, element: x.element };
    several(cx, [x, state].into_iter().take(cx.result_count.unwrap_or(1).clamp(1, 2)))
}

fn eval_causal(cx: &EvalCx<'_>) -> Evaluated {
    let (x, w) = (cx.need(0)?, cx.need(1)?);
    let (&[batch, channels, _], &[_, _, window]) = (x.shape(), w.shape()) else {
        return Err(EvalError::Value("x", format!("of shape {:?}", x.shape())));
    };
    let kept = window.saturating_sub(1);
    let state = match cx.get(3) {
        Some(state) => state.clone(),
        None => zeros(x, &[batch, channels, kept])?,
    };
    let padded = concatenate(&[&state, x], 2)?;
    let out = kernels::conv(&padded, w, cx.get(2), channels, &WindowParams::default())?;
    let out = match cx.attrs().text("activation") {
        Some("silu" | "swish") => swish(&out, 1.0)?,
        _ => out,
    };
    let last = padded.shape()[2] - kept.min(padded.shape()[2]);
    let state = strided_slice(&padded, &[last as i64], &[i64::MAX], Some(&[2]), None)?;
    Ok(vec![out, state])
}

/// Zeros of the element type of `like`.
fn zeros(like: &Tensor, shape: &[usize]) -> std::result::Result<Tensor, KernelError> {
    let count = tangram_tensor::checked_count(like.dtype(), shape)?;
    cast(&Tensor::from_vec(shape, vec![0f32; count])?, like.dtype())
}
