//! Recurrent layers: ONNX `RNN`, `GRU` and `LSTM`.
//!
//! A layer runs over the steps once (forward or reverse) or twice (bidirectional), each direction
//! with its own weights. All compute in `f64` and round once, at the end: the state between steps
//! is not rounded.

mod activation;
mod gru;
mod lstm;
mod rnn;
mod scan;

pub use activation::Activation;
pub use gru::gru;
pub use lstm::{Lstm, LstmOperands, lstm};
pub use rnn::rnn;

use crate::tensor::Tensor;

/// In which order a layer sees the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Direction {
    /// From the first to the last.
    #[default]
    Forward,
    /// From the last of each sequence to the first.
    Reverse,
    /// Both ways, with weights of their own.
    Bidirectional,
}

impl Direction {
    /// The number of directions.
    pub fn count(self) -> usize {
        if self == Direction::Bidirectional { 2 } else { 1 }
    }
}

/// The operands of every recurrent layer, all of one float type.
#[derive(Clone, Copy, Debug)]
pub struct Operands<'a> {
    /// Steps, batch, input size; with `batch_first`: batch, steps, input size.
    pub x: &'a Tensor,
    /// Directions, gates * hidden size, input size: weights of the input.
    pub w: &'a Tensor,
    /// Directions, gates * hidden size, hidden size: weights of the state.
    pub r: &'a Tensor,
    /// Directions, 2 * gates * hidden size: biases of the input, then of the state; 0 if absent.
    pub bias: Option<&'a Tensor>,
    /// Number of valid steps of each sequence of the batch; all if absent.
    pub sequence_lens: Option<&'a Tensor>,
    /// Directions, batch, hidden size (batch first if so asked): the first state; 0 if absent.
    pub initial_h: Option<&'a Tensor>,
}

/// The parameters of every recurrent layer.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct RecurrentParams {
    /// In which order the steps are seen.
    pub direction: Direction,
    /// The functions of the gates, those of the first direction first; the usual ones if empty.
    pub activations: Vec<Activation>,
    /// Bound of the absolute values that go into the functions.
    pub clip: Option<f64>,
    /// Whether the batch is the first dimension of operands and results, not the steps.
    pub batch_first: bool,
}
