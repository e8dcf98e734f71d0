//! Recurrent layers, with operands and attributes as in ONNX.

mod quantised;
pub(super) mod sample;
mod structured;

pub(super) use quantised::dynamic_quantize_lstm;

use tangram_ir::{AttrDef, AttrKind, Dim, InferCx, OperandDef, ResultDef};
use tangram_tensor::recurrent as kernels;
use tangram_tensor::recurrent::{Activation, Direction, LstmOperands, Operands, RecurrentParams};

use super::conv::agree;
use super::{NnOp, maybe, maybe_result, op, operand, optional};
use crate::eval::{EvalCx, EvalError, Evaluated};
use crate::infer::{InferExt, Result, Shaped, several};
use crate::{dims, infer_error};

const X: OperandDef = operand("x", "steps, batch, in (`layout` 1: batch, steps, in)");
const W: OperandDef = operand("w", "directions, gates * hidden, in: weights of the input");
const R: OperandDef = operand("r", "directions, gates * hidden, hidden: weights of the state");
const B: OperandDef = optional("b", "directions, 2 * gates * hidden; 0 if absent");
const LENGTHS: OperandDef = optional("sequence_lens", "batch, `i32`; all steps if absent");
const H: OperandDef = optional("initial_h", "directions, batch, hidden; 0 if absent");
const C: OperandDef = optional("initial_c", "directions, batch, hidden; 0 if absent");
const P: OperandDef = optional("p", "directions, 3 * hidden: peepholes; 0 if absent");

const Y: ResultDef = maybe_result(
    "y",
    "steps, directions, batch, hidden (`layout` 1: batch, steps, directions, hidden)",
);
const Y_H: ResultDef =
    maybe_result("y_h", "directions, batch, hidden (`layout` 1: batch, directions, hidden)");
const Y_C: ResultDef = maybe_result("y_c", "the shape of `y_h`");

const ACTIVATIONS: AttrDef =
    maybe("activations", AttrKind::Strs, "functions of the gates; ONNX's defaults if absent");
const ALPHA: AttrDef = maybe("activation_alpha", AttrKind::Floats, "parameters of the functions");
const BETA: AttrDef = maybe("activation_beta", AttrKind::Floats, "parameters of the functions");
const CLIP: AttrDef = maybe("clip", AttrKind::Float, "bound of the gates' inputs; none if absent");
const DIRECTION: AttrDef = maybe(
    "direction",
    AttrKind::Enum(&["forward", "reverse", "bidirectional"]),
    "forward if absent",
);
const HIDDEN: AttrDef =
    maybe("hidden_size", AttrKind::Int, "extent of the state; that of `r` if absent");
const LAYOUT: AttrDef = maybe("layout", AttrKind::Int, "1: batch before steps; 0 if absent");

/// The operations of this family.
pub(super) static OPS: &[NnOp] = &[
    op(
        "nn.lstm",
        "a layer of long short-term memory; gates in the order input, output, forget, cell",
        &[X, W, R, B, LENGTHS, H, C, P],
        &[Y, Y_H, Y_C],
        &[
            ACTIVATIONS,
            ALPHA,
            BETA,
            CLIP,
            DIRECTION,
            HIDDEN,
            maybe("input_forget", AttrKind::Bool, "forget = 1 - input; false if absent"),
            LAYOUT,
        ],
        infer_lstm,
    )
    .eval(eval_lstm)
    .structured(structured::lstm)
    .roles(sample::ROLES)
    .extents(sample::extents::<4>)
    .tried(sample::tried::<3>)
    .steps(|sizes| 8 * sizes.last(1)),
    op(
        "nn.gru",
        "a layer of gated recurrent units; gates in the order update, reset, hidden",
        &[X, W, R, B, LENGTHS, H],
        &[Y, Y_H],
        &[
            ACTIVATIONS,
            ALPHA,
            BETA,
            CLIP,
            DIRECTION,
            HIDDEN,
            LAYOUT,
            maybe(
                "linear_before_reset",
                AttrKind::Bool,
                "the reset gate applies after the weights; false if absent",
            ),
        ],
        infer_gru,
    )
    .eval(eval_gru)
    .structured(structured::gru)
    .roles(sample::ROLES)
    .extents(sample::extents::<3>)
    .tried(sample::tried::<2>)
    .steps(|sizes| 8 * sizes.last(1)),
    op(
        "nn.rnn",
        "a layer of plain recurrent units",
        &[X, W, R, B, LENGTHS, H],
        &[Y, Y_H],
        &[ACTIVATIONS, ALPHA, BETA, CLIP, DIRECTION, HIDDEN, LAYOUT],
        infer_rnn,
    )
    .eval(eval_rnn)
    .structured(structured::rnn)
    .roles(sample::ROLES)
    .extents(sample::extents::<1>)
    .tried(sample::tried::<1>)
    .steps(|sizes| 8 * sizes.last(1)),
];

/// The extents of an operand of rank 3, unknown where the rank is.
fn three(cx: &InferCx<'_>, i: usize) -> Result<[Dim; 3]> {
    let Some(dims) = cx.tensor(i)?.dims else { return Ok([Dim::UNKNOWN; 3]) };
    <[Dim; 3]>::try_from(&dims[..]).map_err(|_| {
        infer_error!("operand {i} of `{}` needs rank 3, found {}", cx.def.name, dims.len())
    })
}

fn infer_layer(cx: &InferCx<'_>, gates: i64) -> Result {
    let (x, w, r) = (three(cx, 0)?, three(cx, 1)?, three(cx, 2)?);
    let batch_first = cx.attrs().int("layout") == Some(1);
    let (steps, batch) = if batch_first { (x[1], x[0]) } else { (x[0], x[1]) };
    let directions = match cx.attrs().text("direction") {
        Some("bidirectional") => Dim::fixed(2),
        _ => Dim::fixed(1),
    };
    let hidden = cx.attrs().int("hidden_size").map_or(r[2], Dim::fixed);
    let batch = with_states(cx, batch, batch_first)?;
    agree(cx, "weights for each direction", directions, w[0])?;
    agree(cx, "an input", w[2], x[2])?;
    agree(cx, "a state", hidden, r[2])?;
    agree(cx, "weights of all gates", dims::mul(cx.context(), hidden, Dim::fixed(gates)), w[1])?;
    let element = cx.tensor(0)?.element;
    let (all, last) = if batch_first {
        (vec![batch, steps, directions, hidden], vec![batch, directions, hidden])
    } else {
        (vec![steps, directions, batch, hidden], vec![directions, batch, hidden])
    };
    let last = Shaped::ranked(last, element);
    let count = cx.result_count.unwrap_or(1).clamp(1, cx.def.results.len());
    several(cx, [Shaped::ranked(all, element), last.clone(), last].into_iter().take(count))
}

/// The extent of the batch, which the initial states have as well.
fn with_states(cx: &InferCx<'_>, batch: Dim, batch_first: bool) -> Result<Dim> {
    let mut batch = batch;
    for i in (5..cx.def.operands.len().min(7)).filter(|&i| cx.has(i)) {
        let state = three(cx, i)?[if batch_first { 0 } else { 1 }];
        agree(cx, "one batch", batch, state)?;
        batch = if batch.is_unknown() { state } else { batch };
    }
    Ok(batch)
}

fn infer_lstm(cx: &InferCx<'_>) -> Result {
    infer_layer(cx, 4)
}

fn infer_gru(cx: &InferCx<'_>) -> Result {
    infer_layer(cx, 3)
}

fn infer_rnn(cx: &InferCx<'_>) -> Result {
    infer_layer(cx, 1)
}

fn operands<'a>(cx: &EvalCx<'a>) -> Result<Operands<'a>, EvalError> {
    Ok(Operands {
        x: cx.need(0)?,
        w: cx.need(1)?,
        r: cx.need(2)?,
        bias: cx.get(3),
        sequence_lens: cx.get(4),
        initial_h: cx.get(5),
    })
}

pub(super) fn params(cx: &EvalCx<'_>) -> Result<RecurrentParams, EvalError> {
    let attrs = cx.attrs();
    let numbers = |name| attrs.floats(name).unwrap_or_default();
    let names = attrs.texts("activations").unwrap_or_default();
    let (alpha, beta) = (numbers("activation_alpha"), numbers("activation_beta"));
    Ok(RecurrentParams {
        direction: match attrs.text("direction") {
            Some("reverse") => Direction::Reverse,
            Some("bidirectional") => Direction::Bidirectional,
            _ => Direction::Forward,
        },
        activations: Activation::parse_list(&names, &alpha, &beta)?,
        clip: attrs.float("clip"),
        batch_first: attrs.int("layout") == Some(1),
    })
}

fn eval_lstm(cx: &EvalCx<'_>) -> Evaluated {
    let more = LstmOperands {
        initial_c: cx.get(6),
        peepholes: cx.get(7),
        input_forget: cx.attrs().flag("input_forget"),
    };
    let layer = kernels::lstm(&operands(cx)?, &more, &params(cx)?)?;
    Ok(vec![layer.y, layer.y_h, layer.y_c])
}

fn eval_gru(cx: &EvalCx<'_>) -> Evaluated {
    let linear_before_reset = cx.attrs().flag("linear_before_reset");
    Ok(kernels::gru(&operands(cx)?, &params(cx)?, linear_before_reset)?.into())
}

fn eval_rnn(cx: &EvalCx<'_>) -> Evaluated {
    Ok(kernels::rnn(&operands(cx)?, &params(cx)?)?.into())
}
