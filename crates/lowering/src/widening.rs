//! Products of floats of 16 bits, in register tiles of `float`.
//!
//! Their definitions convert each factor where it is multiplied. Here all elements of both operands
//! are converted before: once each, and once for all runs where they are constant.
//!
//! ```text
//! out[i][j] = sum over k of (float)a[i][k] * (float)b[k][j]
//! becomes   wide_a[i][k] = (float)a[i][k]   wide_b[k][j] = (float)b[k][j]
//!           out[i][j] = sum over k of wide_a[i][k] * wide_b[k][j]
//! ```

use rustc_hash::FxHashMap;
use tangram_dialects::structured::{
    Access, Binary, Body, Generic, Number, Scalar, ScalarId, TensorId,
};
use tangram_tensor::DType;

use crate::nest::{Nest, Tensor};
use crate::storage::{Draft, Planned};

/// Converts the operands of products, before nests are joined.
pub(crate) fn widen(draft: &mut Draft<'_>) {
    // Tensors are written before they are read: one copy serves all that follows.
    let mut known: FxHashMap<usize, usize> = FxHashMap::default();
    for step in std::mem::take(&mut draft.steps) {
        let Planned::Nest(mut nest) = step else {
            draft.steps.push(step);
            continue;
        };
        for at in halves(&nest, &draft.tensors).into_iter().flatten() {
            let from = nest.inputs[at];
            let Some(wide) = known.get(&from).copied().or_else(|| converted(draft, &nest, from))
            else {
                continue;
            };
            known.insert(from, wide);
            read_instead(&mut nest, at, wide);
        }
        draft.steps.push(Planned::Nest(nest));
    }
}

/// The two inputs of a nest that sums products of them, both floats of 16 bits.
fn halves(nest: &Nest, tensors: &[Tensor]) -> Option<[usize; 2]> {
    let reduction = nest.generic.reduction?;
    let zero = |number: Number| matches!(number, Number::Float(_, value) if value == 0.0);
    let scalars = nest.generic.body.scalars();
    let scalar = |id: ScalarId| &scalars[id.0 as usize];
    let Scalar::Binary(Binary::Mul, a, b) = scalar(nest.generic.body.value()?) else { return None };
    let factor = |id: ScalarId| match scalar(id) {
        Scalar::Cast(DType::F32, from) => match scalar(*from) {
            Scalar::Input(at) => Some(*at),
            _ => None,
        },
        _ => None,
    };
    let factors = [factor(*a)?, factor(*b)?];
    let fits = |at: usize| {
        let element = tensors[nest.inputs[at]].element;
        matches!(element, DType::F16 | DType::BF16)
            && nest.generic.inputs[at].outside.is_none_or(zero)
    };
    let sum = reduction.combine == Binary::Add && zero(reduction.initial);
    let all = sum && factors[0] != factors[1] && factors.iter().all(|&at| fits(at));
    all.then_some(factors)
}

/// Adds a step that converts a tensor which `nest` reads; returns the new tensor.
fn converted(draft: &mut Draft<'_>, nest: &Nest, from: usize) -> Option<usize> {
    let extents = draft.tensors[from].extents.clone();
    let element = DType::F32;
    let output = draft.between(element, extents.clone())?;
    let all: Vec<usize> = (0..extents.len()).collect();
    let mut generic = Generic::over(extents);
    generic.read(Access::dims(TensorId::Operand(0), all.len(), &all));
    generic.write(Access::dims(TensorId::Result(0), all.len(), &all));
    let own = generic.body.input(0);
    let value = generic.body.push(Scalar::Cast(element, own));
    generic.body.result(value);
    let (ops, tables) = (nest.ops.clone(), Vec::new());
    let copy = Nest { ops, generic, inputs: vec![from], tables, output, finish: None };
    draft.steps.push(Planned::Nest(Box::new(copy)));
    Some(output)
}

/// Reads a converted tensor through an input whose elements were converted.
fn read_instead(nest: &mut Nest, input: usize, wide: usize) {
    nest.inputs[input] = wide;
    let access = &mut nest.generic.inputs[input];
    access.outside = access.outside.map(|_| Number::zero(DType::F32));
    let is_input = |id: &ScalarId, scalars: &[Scalar]| matches!(scalars[id.0 as usize], Scalar::Input(at) if at == input);
    let old = nest.generic.body.scalars();
    let mut body = Body::default();
    for scalar in old {
        body.push(match scalar {
            Scalar::Cast(DType::F32, from) if is_input(from, old) => Scalar::Input(input),
            other => other.clone(),
        });
    }
    if let Some(value) = nest.generic.body.value() {
        body.result(value);
    }
    nest.generic.body = body;
}
