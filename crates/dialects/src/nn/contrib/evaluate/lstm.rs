//! A recurrent layer whose weights are quantised, and whose inputs and states are on the way.

use tangram_tensor::Tensor;
use tangram_tensor::quant::{dequantize_linear, dynamic_quantize_linear};
use tangram_tensor::recurrent::{
    Activation, Direction, LstmOperands, Operands, RecurrentParams, lstm,
};
use tangram_tensor::shape::{concatenate, full, reverse_sequence, split, split_equal, transpose};

use super::extents;
use crate::eval::{EvalCx, EvalError, Evaluated};
use crate::nn::recurrent;

type Result<T> = std::result::Result<T, EvalError>;

/// Runs each direction step by step.
///
/// The input is quantised with one scale for all steps in which some sequence runs, states with one
/// for each step.
pub(in crate::nn::contrib) fn dynamic_quantize_lstm(cx: &EvalCx<'_>) -> Evaluated {
    let params = recurrent::params(cx)?;
    let [steps, batch, _] = extents("x", cx.need(0)?)?;
    let lengths = match cx.get(4) {
        Some(lengths) => lengths.i64s()?,
        None => vec![steps as i64; batch],
    };
    let longest = lengths.iter().copied().max().unwrap_or(0).clamp(0, steps as i64) as usize;
    let x = &split(cx.need(0)?, 0, &[longest, steps - longest])?[0];
    let (x, scale, zero) = dynamic_quantize_linear(x)?;
    let x = dequantize_linear(&x, &scale, Some(&zero), 0, 0, None)?;
    let count = params.direction.count();
    let mut ways = Vec::with_capacity(count);
    for (direction, activations) in functions(&params, count).into_iter().enumerate() {
        let backward = direction == 1 || params.direction == Direction::Reverse;
        let forward = RecurrentParams { direction: Direction::Forward, ..params.clone() };
        let layer = Layer::new(cx, direction, count, RecurrentParams { activations, ..forward })?;
        let turned =
            |x: &Tensor| if backward { reverse_sequence(x, &lengths, 1, 0) } else { Ok(x.clone()) };
        let hidden = layer.r.shape()[2];
        let [y, h, c] = layer.run(&turned(&x)?, &lengths)?;
        let y = turned(&y.reshaped([longest, batch, hidden])?)?;
        let ended = full(&Tensor::scalar(0_f32), &[steps - longest, batch, hidden])?;
        let y = concatenate(&[&y, &ended], 0)?.reshaped([steps, 1, batch, hidden])?;
        ways.push([y, h, c]);
    }
    let joined = |i: usize, axis: i64| {
        let parts: Vec<&Tensor> = ways.iter().map(|way| &way[i]).collect();
        concatenate(&parts, axis)
    };
    Ok(vec![joined(0, 1)?, joined(1, 0)?, joined(2, 0)?])
}

/// The functions of each direction.
fn functions(params: &RecurrentParams, count: usize) -> Vec<Vec<Activation>> {
    let each = params.activations.len() / count;
    (0..count).map(|i| params.activations[i * each..(i + 1) * each].to_vec()).collect()
}

/// One direction.
struct Layer {
    w: Tensor,
    r: Tensor,
    bias: Option<Tensor>,
    peepholes: Option<Tensor>,
    h: Tensor,
    c: Tensor,
    input_forget: bool,
    params: RecurrentParams,
}

impl Layer {
    fn new(
        cx: &EvalCx<'_>,
        direction: usize,
        count: usize,
        params: RecurrentParams,
    ) -> Result<Layer> {
        let own =
            |x: &Tensor| -> Result<Tensor> { Ok(split_equal(x, 0, count)?.swap_remove(direction)) };
        let optional = |i: usize| cx.get(i).map(own).transpose();
        let weights = |i: usize, scale: usize| -> Result<Tensor> {
            let (x, zero) = (own(cx.need(i)?)?, cx.get(scale + 1).map(own).transpose()?);
            let scale = own(cx.need(scale)?)?;
            // One number, or one for each column.
            let (axis, flat) = (2, |x: &Tensor| x.reshaped([x.len()]));
            let zero = zero.as_ref().map(flat).transpose()?;
            let real = dequantize_linear(&x, &flat(&scale)?, zero.as_ref(), axis, 0, None)?;
            Ok(transpose(&real, Some(&[0, 2, 1]))?)
        };
        let r = weights(2, 10)?;
        let batch = cx.need(0)?.shape()[1];
        let hidden = r.shape()[2];
        let zeros = full(&Tensor::scalar(0_f32), &[1, batch, hidden])?;
        Ok(Layer {
            w: weights(1, 8)?,
            r,
            bias: optional(3)?,
            peepholes: optional(7)?,
            h: optional(5)?.unwrap_or_else(|| zeros.clone()),
            c: optional(6)?.unwrap_or(zeros),
            input_forget: cx.attrs().flag("input_forget"),
            params,
        })
    }

    /// All states, the last state and the last cells.
    fn run(mut self, x: &Tensor, lengths: &[i64]) -> Result<[Tensor; 3]> {
        let steps = x.shape()[0];
        let mut all = vec![full(&Tensor::scalar(0_f32), &[0, 1, x.shape()[1], self.r.shape()[2]])?];
        // What the next step quantises: 0 for a sequence that has ended.
        let mut seen = self.h.clone();
        for (t, x) in split_equal(x, 0, steps.max(1))?.iter().enumerate().take(steps) {
            let (state, scale, zero) = dynamic_quantize_linear(&seen)?;
            let state = dequantize_linear(&state, &scale, Some(&zero), 0, 0, None)?;
            // A sequence that has ended keeps its state; its result is 0.
            let running: Vec<i32> = lengths.iter().map(|&n| i32::from((t as i64) < n)).collect();
            let running = Tensor::vector(running);
            let operands = Operands {
                x,
                w: &self.w,
                r: &self.r,
                bias: self.bias.as_ref(),
                sequence_lens: Some(&running),
                initial_h: Some(&state),
            };
            let more = LstmOperands {
                initial_c: Some(&self.c),
                peepholes: self.peepholes.as_ref(),
                input_forget: self.input_forget,
            };
            let layer = lstm(&operands, &more, &self.params)?;
            self.h = kept(&layer.y_h, &self.h, &running)?;
            self.c = kept(&layer.y_c, &self.c, &running)?;
            seen = layer.y.reshaped(self.h.shape())?;
            all.push(layer.y);
        }
        let y = concatenate(&all.iter().collect::<Vec<_>>(), 0)?;
        Ok([y, self.h, self.c])
    }
}

/// The new state where a sequence runs, else the old one.
fn kept(new: &Tensor, old: &Tensor, running: &Tensor) -> Result<Tensor> {
    let flags = tangram_tensor::elementwise::cast(running, tangram_tensor::DType::Bool)?;
    let flags = flags.reshaped([1, running.len(), 1])?;
    Ok(tangram_tensor::elementwise::select(&flags, new, old)?)
}
