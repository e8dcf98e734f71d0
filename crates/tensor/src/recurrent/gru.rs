//! The gated recurrent unit: ONNX `GRU`.

use crate::error::Result;
use crate::linear::product::{Matrix, Scalar};
use crate::recurrent::activation::{Gate, gates};
use crate::recurrent::scan::{Scan, ScanStep};
use crate::recurrent::{Activation, Operands, RecurrentParams};
use crate::tensor::Tensor;

/// Runs a gated recurrent unit.
///
/// Three gates, in the order `z` (update), `r` (reset), `n` (new; the standard's `h`). At each
/// step `z` and `r` are `f` of the weighted input and state, `n = g(x w + (r * h) r_n + bias)`, or
/// `n = g(x w + r * (h r_n + state bias) + input bias)` with `linear_before_reset`; then
/// `h = (1 - z) * n + z * h`. By default `f` is the sigmoid, `g` the hyperbolic tangent.
///
/// Returns what [`rnn`](crate::recurrent::rnn) returns.
///
/// # Errors
/// As [`rnn`](crate::recurrent::rnn).
pub fn gru(
    operands: &Operands<'_>,
    params: &RecurrentParams,
    linear_before_reset: bool,
) -> Result<[Tensor; 2]> {
    let functions = gates("gru", params, [Activation::Sigmoid, Activation::Tanh])?;
    let scan = Scan::new("gru", 3, operands, &[], params)?;
    let initial = scan.initial(operands.initial_h)?;
    let mut cell = Cell { scan: &scan, linear_before_reset, gates: Vec::new(), new: Vec::new() };
    let mut results = scan
        .run(&[initial], |step, next| cell.step(functions[step.direction], &step, next))?
        .into_iter();
    match (results.next(), results.next()) {
        (Some(y), Some(y_h)) => Ok([y, y_h]),
        _ => unreachable!("one state gives two results"),
    }
}

struct Cell<'a> {
    scan: &'a Scan,
    linear_before_reset: bool,
    /// Batch by two gates: the part that comes from the state.
    gates: Vec<f64>,
    /// Batch by hidden size: the part of the new state that comes from the old one.
    new: Vec<f64>,
}

impl Cell<'_> {
    fn step(&mut self, [f, g]: [Gate; 2], step: &ScanStep<'_>, next: &mut [f64]) {
        let Scan { batch, hidden, width, .. } = *self.scan;
        let bias = self.scan.state_bias(step.direction);
        let h = Matrix::new(step.state, batch, hidden);
        let state_weights = |from, count| self.scan.state_weights(step.direction, from, count);
        let repeated = |bias: &[f64]| bias.repeat(batch);
        self.gates = repeated(&bias[..2 * hidden]);
        f64::multiply_add(h, state_weights(0, 2 * hidden).transposed(), &mut self.gates);
        for b in 0..batch {
            for k in 0..2 * hidden {
                let sum = self.gates[b * 2 * hidden + k] + step.from_input[b * width + k];
                self.gates[b * 2 * hidden + k] = f.apply(sum);
            }
        }
        let reset = |b: usize, k: usize| (2 * b + 1) * hidden + k;
        self.new = repeated(&bias[2 * hidden..]);
        let last = state_weights(2 * hidden, hidden).transposed();
        if self.linear_before_reset {
            f64::multiply_add(h, last, &mut self.new);
        } else {
            let mut kept = step.state.to_vec();
            for (at, value) in kept.iter_mut().enumerate() {
                *value *= self.gates[reset(at / hidden, at % hidden)];
            }
            f64::multiply_add(Matrix::new(&kept, batch, hidden), last, &mut self.new);
        }
        for (at, out) in next.iter_mut().enumerate() {
            let (b, k) = (at / hidden, at % hidden);
            let from_state = match self.linear_before_reset {
                true => self.gates[reset(b, k)] * self.new[at],
                false => self.new[at],
            };
            let new = g.apply(step.from_input[b * width + 2 * hidden + k] + from_state);
            let update = self.gates[2 * b * hidden + k];
            *out = (1.0 - update) * new + update * step.state[at];
        }
    }
}
