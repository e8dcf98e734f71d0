//! Scales behind products.
//!
//! ```text
//! s[r] = 1 / sum over k of e[r][k]                                              softmax
//! y[r][k] = e[r][k] * s[r];  out[r][c] = sum over k of y[r][k] * v[k][c]        times v
//! becomes   out[r][c] = (sum over k of e[r][k] * v[k][c]) * s[r]
//! ```
//!
//! That multiplies each result once instead of each term, and `y` needs neither memory nor a pass
//! over it. A term is rounded once less, a result once more. The sum is `1 / s` times what it was: `e`
//! are exponentials of numbers that are at most 0, so no partial sum is greater than the number of
//! terms times the greatest `v`, and only above the greatest float over that number is a sum infinite
//! that would not be. Scales of other kinds stay where they are: they have no such bound. So do those
//! of a number of terms that a run knows: of none, `s` is infinite, and 0 times that no number.
//! `Options::exact` keeps the definition.

use rustc_hash::FxHashMap;
use tangram_affine::{AffineExprs, AffineMap};
use tangram_dialects::structured::{
    Access, Binary, Generic, IteratorKind, Number, Reduction, Scalar, ScalarId, TensorId, Unary,
};
use tangram_tensor::DType;

use crate::Options;
use crate::contraction::factors;
use crate::fusion::pinned_by;
use crate::nest::{Nest, composed};
use crate::storage::{Draft, Planned};

/// A tensor, and which element of it an iteration reads.
pub(crate) type Place = (usize, AffineMap);

/// Multiplies results instead of normalised terms, before nests are joined.
pub(crate) fn move_behind_products(draft: &mut Draft<'_>, options: &Options) {
    if options.exact {
        return;
    }
    let steps = std::mem::take(&mut draft.steps);
    let known = Known::of(draft, &steps);
    let found: Vec<Option<Normalised>> = steps.iter().map(|step| known.in_product(step)).collect();
    let mut gone = Vec::new();
    for (step, normalised) in steps.into_iter().zip(found) {
        let moved = normalised.and_then(|of| Some((of.tensor, of.moved(&step, draft)?)));
        match moved {
            Some((tensor, nests)) => {
                gone.push(tensor);
                draft.steps.extend(nests.map(|nest| Planned::Nest(Box::new(nest))));
            }
            None => draft.steps.push(step),
        }
    }
    let is_gone =
        |step: &Planned| matches!(step, Planned::Nest(nest) if gone.contains(&nest.output));
    draft.steps.retain(|step| !is_gone(step));
}

/// A factor of a product that is made of terms and a scale.
struct Normalised {
    /// The number of the product's input, and the tensor that it reads.
    input: usize,
    tensor: usize,
    terms: Place,
    scale: Place,
}

/// The nests that alone write a tensor which nests alone read.
struct Known<'a> {
    writers: FxHashMap<usize, &'a Nest>,
    /// By how many accesses each tensor is read.
    reads: FxHashMap<usize, usize>,
}

impl<'a> Known<'a> {
    fn of(draft: &Draft<'_>, steps: &'a [Planned]) -> Known<'a> {
        let pinned = pinned_by(draft, steps);
        let (mut writers, mut reads) = (FxHashMap::default(), FxHashMap::default());
        let mut again = Vec::new();
        for step in steps {
            let Planned::Nest(nest) = step else { continue };
            nest.reads().for_each(|tensor| *reads.entry(tensor).or_insert(0) += 1);
            if writers.insert(nest.output, &**nest).is_some()
                || pinned[draft.tensors[nest.output].buffer]
            {
                again.push(nest.output);
            }
        }
        again.iter().for_each(|tensor| {
            writers.remove(tensor);
        });
        Known { writers, reads }
    }

    /// The first factor of a sum of products of floats that is normalised along the sum, and that
    /// nothing else reads.
    fn in_product(&self, step: &Planned) -> Option<Normalised> {
        let Planned::Nest(nest) = step else { return None };
        let extents = &nest.generic.extents;
        let fits = nest.generic.reduction? == Reduction::sum(DType::F32)
            && nest.finish.is_none()
            && nest.generic.reduced().all(|at| extents[at].as_int().is_some_and(|n| n > 0));
        let mut factors = factors(nest).filter(|_| fits)?.into_iter();
        factors.find_map(|input| self.normalised(nest, input))
    }

    fn normalised(&self, nest: &Nest, input: usize) -> Option<Normalised> {
        let (tensor, symbols) = (nest.inputs[input], nest.generic.symbols.len());
        let is_whole = nest.generic.inputs[input].outside.is_none();
        let from = self.writers.get(&tensor).filter(|_| self.reads.get(&tensor) == Some(&1))?;
        let simple = is_whole && from.generic.symbols.is_empty() && from.generic.inputs.len() == 2;
        let read = nest.read_as(input, from).filter(|_| simple)?;
        let Scalar::Binary(Binary::Mul, a, b) = value(from)? else { return None };
        let place = |at: usize| {
            let map = composed(&from.generic.inputs[at].map, &read, symbols)?;
            Some((from.inputs[at], map))
        };
        let [a, b] = [input_of(from, *a)?, input_of(from, *b)?];
        let (terms, scale) = (place(a)?, place(b)?);
        let varies = nest.generic.reduced().any(|at| scale.1.used().0[at]);
        let fits = !varies && self.is_reciprocal_of_sum(scale.0, terms.0);
        fits.then_some(Normalised { input, tensor, terms, scale })
    }

    /// Whether a tensor is one over sums of exponentials that are at most 1.
    fn is_reciprocal_of_sum(&self, scale: usize, terms: usize) -> bool {
        let found = || {
            let nest = self.writers.get(&scale)?;
            let Scalar::Binary(Binary::Div, one, sum) = value(nest)? else { return None };
            let one = &nest.generic.body.scalars()[one.0 as usize];
            let is_one = matches!(one, Scalar::Constant(Number::Float(_, one)) if *one == 1.0);
            let sums = self.writers.get(&nest.inputs[input_of(nest, *sum).filter(|_| is_one)?])?;
            let added = sums.inputs[input_of(sums, sums.generic.body.value()?)?];
            let adds = sums.generic.reduction? == Reduction::sum(DType::F32) && added == terms;
            self.is_at_most_one(terms).filter(|fits| *fits && adds)
        };
        found().is_some()
    }

    /// Whether a tensor is `exp(x - max x)`.
    fn is_at_most_one(&self, tensor: usize) -> Option<bool> {
        let nest = self.writers.get(&tensor)?;
        let Scalar::Unary(Unary::Exp, shifted) = value(nest)? else { return None };
        let shifted = &nest.generic.body.scalars()[shifted.0 as usize];
        let Scalar::Binary(Binary::Sub, x, top) = shifted else { return None };
        let (x, top) = (nest.inputs[input_of(nest, *x)?], nest.inputs[input_of(nest, *top)?]);
        let greatest = self.writers.get(&top)?;
        let of = greatest.inputs[input_of(greatest, greatest.generic.body.value()?)?];
        Some(greatest.generic.reduction?.combine == Binary::Max && of == x)
    }
}

/// What a nest computes in an iteration.
fn value(nest: &Nest) -> Option<&Scalar> {
    let body = &nest.generic.body;
    Some(&body.scalars()[body.value()?.0 as usize])
}

/// The input that a scalar is, if nothing is read outside of it.
fn input_of(nest: &Nest, id: ScalarId) -> Option<usize> {
    let Scalar::Input(at) = nest.generic.body.scalars()[id.0 as usize] else { return None };
    nest.generic.inputs[at].outside.is_none().then_some(at)
}

impl Normalised {
    /// The product of the terms, and what scales it.
    fn moved(self, step: &Planned, draft: &mut Draft<'_>) -> Option<[Nest; 2]> {
        let Planned::Nest(nest) = step else { return None };
        let output = &draft.tensors[nest.output];
        let output_element = output.element;
        let sums = draft.between(output_element, output.extents.clone())?;
        let scaled = scaled(nest, (sums, output_element), &[self.scale])?;
        let mut product = Nest { output: sums, ..(**nest).clone() };
        product.inputs[self.input] = self.terms.0;
        product.generic.inputs[self.input].map = self.terms.1;
        Some([product, scaled])
    }
}

/// What a nest writes, of `sums` in its place, a tensor with its type: converted to floats, times the
/// product of scales whose places are by the iterators of the nest. Nothing if a scale varies along
/// the sum.
pub(crate) fn scaled(
    nest: &Nest,
    (sums, element): (usize, DType),
    scales: &[Place],
) -> Option<Nest> {
    let varies = |map: &AffineMap| {
        let used = map.used().0;
        nest.generic.reduced().any(|at| used[at])
    };
    if scales.iter().any(|(_, map)| varies(map)) {
        return None;
    }
    let parallel: Vec<usize> = nest.parallel().collect();
    let mut exprs = AffineExprs::new();
    let mut dims = vec![exprs.constant(0); nest.generic.extents.len()];
    for (at, iterator) in parallel.iter().enumerate() {
        dims[*iterator] = exprs.dim(at as u32);
    }
    let to = AffineMap::new(parallel.len() as u32, 0, &exprs, &dims);
    let place = |map: &AffineMap| composed(map, &to, nest.generic.symbols.len());
    let extents = parallel.iter().map(|at| nest.generic.extents[*at].clone());
    let mut generic = Generic::over(extents);
    generic.symbols = nest.generic.symbols.clone();
    debug_assert!(generic.kinds.iter().all(|kind| *kind == IteratorKind::Parallel));
    let written = place(&nest.generic.output.map)?;
    let mut inputs = vec![sums];
    generic.read(Access::new(TensorId::Operand(0), written.clone()));
    generic.write(Access::new(nest.generic.output.place, written));
    let mut sum = generic.body.input(0);
    if element != DType::F32 {
        sum = generic.body.push(Scalar::Cast(DType::F32, sum));
    }
    let mut scale = None;
    for (tensor, map) in scales {
        let input = generic.read(Access::new(TensorId::Operand(0), place(map)?));
        inputs.push(*tensor);
        let own = generic.body.input(input);
        scale = Some(scale.map_or(own, |scale| generic.body.binary(Binary::Mul, scale, own)));
    }
    let value = scale.map_or(sum, |scale| generic.body.binary(Binary::Mul, sum, scale));
    generic.body.result(value);
    let (ops, tables, output) = (nest.ops.clone(), Vec::new(), nest.output);
    Some(Nest { ops, generic, inputs, tables, output, finish: None })
}
