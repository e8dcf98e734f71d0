//! Long short-term memory: ONNX `LSTM`.

use crate::error::Result;
use crate::linear::product::{Matrix, Scalar};
use crate::recurrent::activation::{Gate, gates};
use crate::recurrent::scan::{Scan, ScanStep};
use crate::recurrent::{Activation, Operands, RecurrentParams};
use crate::tensor::Tensor;

/// What a long short-term memory has beside the operands of every layer.
#[derive(Clone, Copy, Debug, Default)]
pub struct LstmOperands<'a> {
    /// Directions, batch, hidden size (batch first if so asked): the first cells; 0 if absent.
    pub initial_c: Option<&'a Tensor>,
    /// Directions, 3 * hidden size: weights of the cells in the gates `i`, `o`, `f`; 0 if absent.
    pub peepholes: Option<&'a Tensor>,
    /// Whether the forget gate is 1 less the input gate, and has no weights of its own.
    pub input_forget: bool,
}

/// What [`lstm`] returns.
#[derive(Clone, Debug, PartialEq)]
pub struct Lstm {
    /// The states of all steps: steps, directions, batch, hidden size; or batch, steps,
    /// directions, hidden size. 0 after the end of a sequence.
    pub y: Tensor,
    /// The last states: directions, batch, hidden size; or batch, directions, hidden size.
    pub y_h: Tensor,
    /// The last cells, in the shape of `y_h`.
    pub y_c: Tensor,
}

/// Runs a long short-term memory.
///
/// Four gates, in the order `i` (input), `o` (output), `f` (forget), `c` (cell). At each step
/// `i` and `f` are `f` of the weighted input and state and the weighted cells, `c` is `g` of the
/// weighted input and state; then `C = f * C + i * c`, and `h = o * h(C)`, where `o` sees the new
/// cells. By default `f` is the sigmoid, `g` and `h` the hyperbolic tangent.
///
/// # Errors
/// As [`rnn`](crate::recurrent::rnn).
pub fn lstm(
    operands: &Operands<'_>,
    more: &LstmOperands<'_>,
    params: &RecurrentParams,
) -> Result<Lstm> {
    let usual = [Activation::Sigmoid, Activation::Tanh, Activation::Tanh];
    let functions = gates("lstm", params, usual)?;
    let scan = Scan::new("lstm", 4, operands, &[more.initial_c, more.peepholes], params)?;
    let initial = [scan.initial(operands.initial_h)?, scan.initial(more.initial_c)?];
    let peepholes = more.peepholes.map(|peepholes| scan.per_direction(peepholes, 3)).transpose()?;
    let mut cell =
        Cell { scan: &scan, peepholes, input_forget: more.input_forget, sums: Vec::new() };
    let mut results = scan
        .run(&initial, |step, next| cell.step(functions[step.direction], &step, next))?
        .into_iter();
    match (results.next(), results.next(), results.next()) {
        (Some(y), Some(y_h), Some(y_c)) => Ok(Lstm { y, y_h, y_c }),
        _ => unreachable!("two states give three results"),
    }
}

struct Cell<'a> {
    scan: &'a Scan,
    peepholes: Option<Vec<f64>>,
    input_forget: bool,
    /// Batch by gates: what goes into the functions, but for the weighted cells.
    sums: Vec<f64>,
}

impl Cell<'_> {
    fn step(&mut self, [f, g, h]: [Gate; 3], step: &ScanStep<'_>, next: &mut [f64]) {
        let Scan { batch, hidden, width, .. } = *self.scan;
        let (state, cells) = step.state.split_at(batch * hidden);
        self.sums.clear();
        self.sums.extend(step.from_input);
        let bias = self.scan.state_bias(step.direction).iter().cycle();
        self.sums.iter_mut().zip(bias).for_each(|(sum, bias)| *sum += bias);
        let weights = self.scan.state_weights(step.direction, 0, width).transposed();
        f64::multiply_add(Matrix::new(state, batch, hidden), weights, &mut self.sums);
        let (next_state, next_cells) = next.split_at_mut(batch * hidden);
        let peepholes = self.peepholes.as_ref().map(|all| &all[step.direction * 3 * hidden..]);
        for at in 0..batch * hidden {
            let (b, k) = (at / hidden, at % hidden);
            let sum = |gate: usize| self.sums[b * width + gate * hidden + k];
            // Without peepholes infinite cells are not seen, not even times 0.
            let seen = |gate: usize, cell: f64| {
                peepholes.map_or(0.0, |weights| weights[gate * hidden + k] * cell)
            };
            let input = f.apply(sum(0) + seen(0, cells[at]));
            let forget = match self.input_forget {
                true => 1.0 - input,
                false => f.apply(sum(2) + seen(2, cells[at])),
            };
            let cell = forget * cells[at] + input * g.apply(sum(3));
            let output = f.apply(sum(1) + seen(1, cell));
            next_cells[at] = cell;
            next_state[at] = output * h.apply_unclipped(cell);
        }
    }
}
