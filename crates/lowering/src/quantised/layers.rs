//! Products of quantised numbers in recurrent layers.
//!
//! ```text
//! b[t][k] = quantised(h[t][k]);  x[t][k] = s[t] * (b[t][k] - z[t])
//! out[t][g] = sum over k of x[t][k] * (sw[g] * (w[k][g] - zw[g]))
//! becomes   p[t][k] = (int16)(b[t][k] - z[t])
//!           n[t][g] = sum over k of p[t][k] * w[k][g];  out[t][g] = (float)n[t][g] * (s[t] * sw[g])
//! ```
//!
//! A step multiplies one state with all weights, and waits for these: weights with a sign and no zero
//! point stay bytes, a quarter of what floats take. Others become 16 bits, as those of any product.

use rustc_hash::{FxHashMap, FxHashSet};
use tangram_affine::symbolic::Expr;
use tangram_dialects::structured::{Access, Binary, Scalar};
use tangram_tensor::DType;

use super::{
    Conversions, Dequantised, dequantised, difference, fits, scale_of, shifted_body,
    sum_of_products,
};
use crate::contraction::{Product, factors};
use crate::nest::Nest;
use crate::scaling::scaled;
use crate::storage::{Draft, Planned};

/// The nests of a layer, and what comes before them.
#[derive(Default)]
pub(super) struct Layer {
    pub before: Vec<Planned>,
    pub nests: Vec<Nest>,
    /// Tensors of states that were quantised and are real numbers again.
    states: FxHashSet<usize>,
}

/// Makes products of integers in a layer; `known`: what was dequantised before it.
pub(super) fn to_integers(
    nests: Vec<Nest>,
    known: &FxHashMap<usize, Dequantised>,
    conversions: &mut Conversions,
    draft: &mut Draft<'_>,
) -> Layer {
    let mut layer = Layer::default();
    let mut states: FxHashMap<usize, Dequantised> = FxHashMap::default();
    for nest in nests {
        if let Some(of) = dequantised(&nest, &draft.tensors) {
            states.insert(nest.output, of);
        }
        let found = Found::of(&nest, &states, known, draft);
        let made = found.and_then(|found| {
            let from = layer.nests.iter().find(|own| own.output == nest.inputs[found.state])?;
            found.made(&nest, from, conversions, draft, &mut layer.before)
        });
        match made {
            Some(made) => layer.nests.extend(made),
            None => layer.nests.push(nest),
        }
    }
    layer.states = states.into_keys().collect();
    layer
}

impl Layer {
    /// Takes real states away that no product reads any more; `readers`: how many steps read each
    /// tensor.
    pub fn drop_unread(&mut self, readers: &FxHashMap<usize, usize>, draft: &Draft<'_>) {
        let read: FxHashSet<usize> = self.nests.iter().flat_map(Nest::reads).collect();
        let is_value = |tensor: usize| draft.values.values().any(|value| *value == tensor);
        let is_elsewhere = |tensor: usize| readers.get(&tensor).is_some_and(|count| *count > 1);
        let is_read = |at: usize| read.contains(&at) || is_elsewhere(at) || is_value(at);
        let states = std::mem::take(&mut self.states);
        self.nests.retain(|nest| !states.contains(&nest.output) || is_read(nest.output));
    }
}

/// A product of a state with weights, both dequantised.
struct Found<'a> {
    /// The inputs of the product.
    state: usize,
    weights: usize,
    states: &'a Dequantised,
    constants: &'a Dequantised,
}

impl<'a> Found<'a> {
    fn of(
        nest: &Nest,
        states: &'a FxHashMap<usize, Dequantised>,
        known: &'a FxHashMap<usize, Dequantised>,
        draft: &Draft<'_>,
    ) -> Option<Found<'a>> {
        let [a, b] = factors(nest)?;
        let of = |at: usize| states.get(&nest.inputs[at]);
        let (state, weights) = if of(a).is_some() { (a, b) } else { (b, a) };
        let (states, constants) = (of(state)?, known.get(&nest.inputs[weights])?);
        let product = Product::of(nest, draft)?;
        let all = nest.generic.inputs.len() == 2
            && product.rows_input == state
            && draft.is_constant(constants.shifted.values)
            && has_pairs(nest, &product, draft)
            && fits(nest, [&states.shifted, &constants.shifted], &draft.tensors);
        all.then_some(Found { state, weights, states, constants })
    }

    /// The state as integers, the sum, and the product with the scales.
    fn made(
        &self,
        nest: &Nest,
        from: &Nest,
        conversions: &mut Conversions,
        draft: &mut Draft<'_>,
        before: &mut Vec<Planned>,
    ) -> Option<[Nest; 3]> {
        let scales = [
            scale_of(nest, self.state, self.states)?,
            scale_of(nest, self.weights, self.constants)?,
        ];
        let sums = draft.between(DType::I32, draft.tensors[nest.output].extents.clone())?;
        let behind = scaled(nest, (sums, DType::I32), &scales)?;
        let shifted = &self.constants.shifted;
        let is_plain = shifted.zero.is_none() && draft.tensors[shifted.values].element == DType::I8;
        let weights = match is_plain {
            true => shifted.values,
            false => conversions.converted(nest, shifted, draft, before)?,
        };
        let state = converted(from, draft)?;
        let mut generic = nest.generic.clone();
        sum_of_products(&mut generic, [self.state, self.weights]);
        let mut inputs = nest.inputs.clone();
        (inputs[self.state], inputs[self.weights]) = (state.output, weights);
        let (ops, tables, finish) = (nest.ops.clone(), Vec::new(), None);
        let sum = Nest { ops, generic, inputs, tables, output: sums, finish };
        Some([state, sum, behind])
    }
}

/// Whether the state has pairs side by side: the one loop that is reduced is the last coordinate, of
/// even extent.
fn has_pairs(nest: &Nest, product: &Product, draft: &Draft<'_>) -> bool {
    let [reduced] = product.reduced[..] else { return false };
    let access = &nest.generic.inputs[product.rows_input];
    let extents = &draft.tensors[nest.inputs[product.rows_input]].extents;
    let is_even = |extent: &Expr| extent.as_int().is_some_and(|extent| extent % 2 == 0);
    extents.last().is_some_and(is_even)
        && is_even(&nest.generic.extents[reduced])
        && access.outside.is_none()
        && access.map.as_operand(extents.len() - 1) == Some(reduced)
}

/// The differences of a nest that dequantises, over the same loops.
fn converted(from: &Nest, draft: &mut Draft<'_>) -> Option<Nest> {
    let output = draft.between(DType::I16, draft.tensors[from.output].extents.clone())?;
    let mut nest = Nest { output, ..from.clone() };
    let scalars = from.generic.body.scalars();
    let value = from.generic.body.value()?;
    let Scalar::Binary(Binary::Mul, real, _) = scalars[value.0 as usize] else { return None };
    let (values, zero) = difference(from, &draft.tensors, DType::F32, real)?;
    let read = |at: usize| from.generic.inputs[at].clone();
    nest.generic.inputs = [values].into_iter().chain(zero).map(read).collect::<Vec<Access>>();
    nest.inputs = [values].into_iter().chain(zero).map(|at| from.inputs[at]).collect();
    nest.generic.body = shifted_body(zero.is_some());
    Some(nest)
}
