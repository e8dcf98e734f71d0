//! The plain recurrent layer: ONNX `RNN`.

use crate::error::Result;
use crate::linear::product::{Matrix, Scalar};
use crate::recurrent::activation::gates;
use crate::recurrent::scan::Scan;
use crate::recurrent::{Activation, Operands, RecurrentParams};
use crate::tensor::Tensor;

/// Computes `h = f(x w + h r + bias)` at each step, with `f` the hyperbolic tangent by default.
///
/// One gate. Returns the states of all steps (steps, directions, batch, hidden size; or batch,
/// steps, directions, hidden size), 0 after the end of a sequence, and the last states
/// (directions, batch, hidden size; or batch, directions, hidden size).
///
/// # Errors
/// [`BadShape`](crate::KernelError::BadShape), [`BadParameter`](crate::KernelError::BadParameter),
/// [`BadDType`](crate::KernelError::BadDType), [`MixedDTypes`](crate::KernelError::MixedDTypes),
/// [`TooLarge`](crate::KernelError::TooLarge).
pub fn rnn(operands: &Operands<'_>, params: &RecurrentParams) -> Result<[Tensor; 2]> {
    let functions = gates("rnn", params, [Activation::Tanh])?;
    let scan = Scan::new("rnn", 1, operands, &[], params)?;
    let initial = scan.initial(operands.initial_h)?;
    let mut results = scan
        .run(&[initial], |step, next| {
            let [f] = functions[step.direction];
            next.copy_from_slice(step.from_input);
            let bias = scan.state_bias(step.direction).iter().cycle();
            next.iter_mut().zip(bias).for_each(|(sum, bias)| *sum += bias);
            let r = scan.state_weights(step.direction, 0, scan.hidden);
            let h = Matrix::new(step.state, scan.batch, scan.hidden);
            f64::multiply_add(h, r.transposed(), next);
            next.iter_mut().for_each(|sum| *sum = f.apply(*sum));
        })?
        .into_iter();
    match (results.next(), results.next()) {
        (Some(y), Some(y_h)) => Ok([y, y_h]),
        _ => unreachable!("one state gives two results"),
    }
}
