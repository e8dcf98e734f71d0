//! Recurrent layers whose weights are bytes, as loops.

use tangram_tensor::{DType, Tensor};

use super::structured::{LSTM, Layer, lstm_of};
use crate::nn::quant::there_and_back;
use crate::structured::{Loops, Stage, Structured, StructuredCx, TensorRef, equal};

/// An LSTM with weights that are quantised; the input is quantised, and back, and so is each state.
pub(in crate::nn) fn dynamic_quantize_lstm(cx: &StructuredCx<'_>) -> Option<Structured> {
    let x = cx.operand(0).filter(|x| x.element == DType::F32)?;
    // The range would be that of the steps in which a sequence runs.
    (!cx.has(4)).then_some(())?;
    let mut loops = Loops::default();
    let x = there_and_back(&mut loops, &x, &[])?;
    let w = real_weights(cx, &mut loops, 1, 8)?;
    let r = real_weights(cx, &mut loops, 2, 10)?;
    let mut layer = Layer::new(cx, [x, w, r], true, (4, &LSTM))?;
    layer.rounds_states = true;
    lstm_of(cx, &layer, loops)
}

/// Operand `i`, weights with gates last, as numbers of type `f32`: operands `scale` and the next one
/// hold a scale and a zero point for each direction, or for each of its columns.
fn real_weights(
    cx: &StructuredCx<'_>,
    loops: &mut Loops,
    i: usize,
    scale: usize,
) -> Option<TensorRef> {
    let x = cx.operand(i).filter(|x| x.rank() == 3 && x.element.is_int())?;
    let mut stage = Stage::over(&x.extents);
    let at = stage.all(0..3);
    let own = |stage: &mut Stage, tensor: &TensorRef| {
        let index = match tensor.rank() {
            1 => vec![at[0]],
            2 if equal(&tensor.extents[1], &x.extents[2]) => vec![at[0], at[2]],
            _ => return None,
        };
        let fits = equal(&tensor.extents[0], &x.extents[0]);
        let value = stage.load_exact(tensor, &index);
        fits.then(|| stage.cast(DType::F32, value))
    };
    let value = stage.load_exact(&x, &at);
    let mut value = stage.cast(DType::F32, value);
    let is_zero = |zero: &Tensor| zero.i64s().is_ok_and(|all| all.iter().all(|zero| *zero == 0));
    if cx.has(scale + 1) && !cx.constant(scale + 1).as_ref().is_some_and(is_zero) {
        let zero = own(&mut stage, &cx.operand(scale + 1)?)?;
        value = stage.sub(value, zero);
    }
    let factor = own(&mut stage, &cx.operand(scale)?)?;
    let value = stage.mul(value, factor);
    let out = loops.temporary(DType::F32, &x.extents);
    loops.push(stage.store_parallel(&out, value));
    Some(out)
}
