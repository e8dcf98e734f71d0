//! Products of quantised numbers, as products of integers of 16 bits.
//!
//! ```text
//! out[i][j] = sum over k of ((int32)a[i][k] - za) * ((int32)b[k][j] - zb)          MatMulInteger
//! becomes   p[i][k] = (int16)(a[i][k] - za)     q[k][j] = (int16)(b[k][j] - zb)
//!           out[i][j] = sum over k of (int32)p[i][k] * (int32)q[k][j]
//!
//! out[i][j] = sum over k of (sa * (a[i][k] - za)) * (sb[j] * (b[k][j] - zb))       dequantised
//! becomes   out[i][j] = (float)(sum over k of p[i][k] * q[k][j]) * (sa * sb[j])
//! ```
//!
//! The difference of two bytes fits into 16 bits, and tiles multiply pairs of such numbers
//! (`tangram_kernel::Element::Pairs`). Integers are converted once each, and once for all runs where
//! they are constant; zero points may be computed.
//!
//! The first form is the definition to the bit, since sums of integers do not depend on their order.
//! The second one is for scales that do not vary along the sum, and as long as no sum can leave 32
//! bits. It is exact up to three roundings (of the sum, where it has more than 24 bits, of the product
//! of the scales, and of the result): within `3 * 2^-24` of the real sum, of whatever length, while
//! the definition rounds each term. What is quantised behind it differs by one step where the two
//! are at different sides of a tie. `Options::exact` keeps the definition. So it is with the states
//! of recurrent layers ([`layers`]).

mod layers;

use rustc_hash::{FxHashMap, FxHashSet};
use tangram_affine::{AffineExprs, AffineMap};
use tangram_dialects::structured::{
    Access, Binary, Body, Generic, Number, Reduction, Scalar, ScalarId, TensorId,
};
use tangram_ir::Op;
use tangram_tensor::DType;

use crate::Options;
use crate::collapse::one;
use crate::contraction::factors;
use crate::nest::{Nest, Tensor, composed};
use crate::scaling::{Place, scaled};
use crate::scop::count;
use crate::storage::{Draft, Planned};

/// Bytes less a zero point: what is multiplied.
#[derive(Clone)]
struct Shifted {
    /// The tensor of the bytes.
    values: usize,
    /// The tensor of the zero points, and the place of that of an element.
    zero: Option<(usize, AffineMap)>,
    ops: Vec<Op>,
}

/// What a tensor of floats was made of: `scale * shifted`.
struct Dequantised {
    shifted: Shifted,
    /// The tensor of the scales, and the place of that of an element.
    scale: (usize, AffineMap),
}

/// Makes products of integers of products of quantised numbers, before nests are joined.
pub(crate) fn to_integers(draft: &mut Draft<'_>, options: &Options) {
    let mut conversions = Conversions::default();
    // By the tensor of floats.
    let mut known: FxHashMap<usize, Dequantised> = FxHashMap::default();
    let readers = readers(&draft.steps);
    for step in std::mem::take(&mut draft.steps) {
        let nest = match step {
            Planned::Nest(nest) => nest,
            Planned::Recurrent(nests) if !options.exact => {
                let mut layer = layers::to_integers(nests, &known, &mut conversions, draft);
                layer.drop_unread(&readers, draft);
                draft.steps.extend(layer.before);
                draft.steps.push(Planned::Recurrent(layer.nests));
                continue;
            }
            other => {
                draft.steps.push(other);
                continue;
            }
        };
        if let Some(of) = dequantised(&nest, &draft.tensors) {
            known.insert(nest.output, of);
        }
        let made = match shifted_factors(&nest, &draft.tensors) {
            Some(factors) => conversions.product(&nest, factors, nest.output, draft),
            None if options.exact => None,
            None => conversions.scaled(&nest, &known, draft),
        };
        match made {
            Some(nests) => draft.steps.extend(nests),
            None => draft.steps.push(Planned::Nest(nest)),
        }
    }
}

/// How many steps read each tensor.
fn readers(steps: &[Planned]) -> FxHashMap<usize, usize> {
    let mut readers = FxHashMap::default();
    for step in steps {
        let nests = match step {
            Planned::Nest(nest) => std::slice::from_ref(&**nest),
            Planned::Recurrent(nests) => nests,
            _ => &[],
        };
        let read: FxHashSet<usize> = nests.iter().flat_map(Nest::reads).collect();
        read.into_iter().for_each(|tensor| *readers.entry(tensor).or_insert(0) += 1);
    }
    readers
}

fn is_byte(element: DType) -> bool {
    matches!(element, DType::I8 | DType::U8)
}

/// The input that a scalar is, converted to `ty`, if it is one of bytes.
fn byte(nest: &Nest, tensors: &[Tensor], ty: DType, id: ScalarId) -> Option<usize> {
    let scalars = nest.generic.body.scalars();
    let Scalar::Cast(to, from) = scalars[id.0 as usize] else { return None };
    let Scalar::Input(at) = scalars[from.0 as usize] else { return None };
    (to == ty && is_byte(tensors[nest.inputs[at]].element)).then_some(at)
}

/// The bytes and the zero point in a scalar `(ty)bytes - (ty)zero`.
fn difference(
    nest: &Nest,
    tensors: &[Tensor],
    ty: DType,
    id: ScalarId,
) -> Option<(usize, Option<usize>)> {
    match nest.generic.body.scalars()[id.0 as usize] {
        Scalar::Binary(Binary::Sub, a, b) => {
            let (values, zero) = (byte(nest, tensors, ty, a)?, byte(nest, tensors, ty, b)?);
            nest.generic.inputs[zero].outside.is_none().then_some((values, Some(zero)))
        }
        _ => Some((byte(nest, tensors, ty, id)?, None)),
    }
}

/// Reads a nest as one that dequantises bytes element by element.
fn dequantised(nest: &Nest, tensors: &[Tensor]) -> Option<Dequantised> {
    let scalars = nest.generic.body.scalars();
    let value = nest.generic.body.value()?;
    let Scalar::Binary(Binary::Mul, a, b) = scalars[value.0 as usize] else { return None };
    let (values, zero) = difference(nest, tensors, DType::F32, a)?;
    let Scalar::Input(scale) = scalars[b.0 as usize] else { return None };
    let rank = tensors[nest.output].extents.len();
    let all: Vec<usize> = (0..rank).collect();
    let own = &nest.generic.inputs[values];
    let element_by_element = nest.is_parallel()
        && nest.generic.symbols.is_empty()
        && nest.written_by()? == all
        && (0..rank).all(|at| own.map.as_operand(at) == Some(at))
        && own.map.results().len() == rank
        && tensors[nest.inputs[values]].extents == tensors[nest.output].extents
        && nest.generic.inputs.iter().all(|access| access.outside.is_none());
    let place = |at: usize| (nest.inputs[at], nest.generic.inputs[at].map.clone());
    element_by_element.then(|| Dequantised {
        shifted: Shifted {
            values: nest.inputs[values],
            zero: zero.map(place),
            ops: nest.ops.clone(),
        },
        scale: place(scale),
    })
}

/// The factors of a sum of products of differences of bytes, each with its input.
fn shifted_factors(nest: &Nest, tensors: &[Tensor]) -> Option<[(usize, Shifted); 2]> {
    let generic = &nest.generic;
    if generic.reduction? != Reduction::sum(DType::I32) {
        return None;
    }
    let scalars = generic.body.scalars();
    let Scalar::Binary(Binary::Mul, a, b) = scalars[generic.body.value()?.0 as usize] else {
        return None;
    };
    let factor = |id: ScalarId| {
        let (id, inside) = match scalars[id.0 as usize] {
            Scalar::Select(test, value, other) => {
                let Scalar::Inside(of) = scalars[test.0 as usize] else { return None };
                let Scalar::Constant(Number::Int(_, 0)) = scalars[other.0 as usize] else {
                    return None;
                };
                (value, Some(of))
            }
            _ => (id, None),
        };
        let (values, zero) = difference(nest, tensors, DType::I32, id)?;
        let access = &generic.inputs[values];
        // What lies outside counts as 0, after the zero point is subtracted.
        let padded = match (access.outside, inside) {
            (_, Some(of)) => of == values,
            (None, None) => true,
            (Some(Number::Int(_, outside)), None) => outside == 0 && zero.is_none(),
            _ => false,
        };
        let zero = match zero {
            None => None,
            Some(at) => {
                let rank = tensors[nest.inputs[values]].extents.len();
                let map = in_coordinates(&generic.inputs[at].map, &access.map, rank)?;
                Some((nest.inputs[at], map))
            }
        };
        let shifted = Shifted { values: nest.inputs[values], zero, ops: Vec::new() };
        padded.then_some((values, shifted))
    };
    Some([factor(a)?, factor(b)?])
}

/// A place over the coordinates that `base` has, if it is one: each of its own coordinates is a
/// number, or one of those.
fn in_coordinates(map: &AffineMap, base: &AffineMap, rank: usize) -> Option<AffineMap> {
    let mut exprs = AffineExprs::new();
    let mut results = Vec::new();
    for (at, result) in map.results().iter().enumerate() {
        let own = one(map, at);
        results.push(match map.as_constant(*result) {
            Some(number) => exprs.constant(number),
            None => exprs.dim((0..rank).find(|of| one(base, *of) == own)? as u32),
        });
    }
    Some(AffineMap::new(rank as u32, 0, &exprs, &results))
}

/// Tensors of 16 bits by the bytes and zero points that they are made of.
#[derive(Default)]
struct Conversions {
    known: FxHashMap<(usize, Option<(usize, String)>), usize>,
}

impl Conversions {
    /// The product of two factors, each read through an input of `nest`, into `output`, behind the
    /// conversions that it needs.
    fn product(
        &mut self,
        nest: &Nest,
        factors: [(usize, Shifted); 2],
        output: usize,
        draft: &mut Draft<'_>,
    ) -> Option<Vec<Planned>> {
        let known = |at: usize| count(&draft.tensors[at].extents).is_some();
        if !factors.iter().all(|(_, factor)| known(factor.values)) {
            return None;
        }
        let mut steps = Vec::new();
        let mut generic = Generic { inputs: Vec::new(), ..nest.generic.clone() };
        let mut inputs = Vec::new();
        for (input, factor) in &factors {
            inputs.push(self.converted(nest, factor, draft, &mut steps)?);
            let access = nest.generic.inputs[*input].clone();
            let outside = access.outside.map(|_| Number::zero(DType::I16));
            generic.inputs.push(Access { outside, ..access });
        }
        sum_of_products(&mut generic, [0, 1]);
        let (ops, tables, finish) = (nest.ops.clone(), Vec::new(), None);
        steps.push(Planned::Nest(Box::new(Nest { ops, generic, inputs, tables, output, finish })));
        Some(steps)
    }

    /// The tensor of the differences.
    fn converted(
        &mut self,
        nest: &Nest,
        shifted: &Shifted,
        draft: &mut Draft<'_>,
        steps: &mut Vec<Planned>,
    ) -> Option<usize> {
        let zero = shifted.zero.as_ref().map(|(tensor, map)| (*tensor, map.to_string()));
        let key = (shifted.values, zero);
        if let Some(known) = self.known.get(&key) {
            return Some(*known);
        }
        let extents = draft.tensors[shifted.values].extents.clone();
        let output = draft.between(DType::I16, extents.clone())?;
        let all: Vec<usize> = (0..extents.len()).collect();
        let mut generic = Generic::over(extents);
        generic.read(Access::dims(TensorId::Operand(0), all.len(), &all));
        generic.write(Access::dims(TensorId::Result(0), all.len(), &all));
        let mut inputs = vec![shifted.values];
        if let Some((tensor, map)) = &shifted.zero {
            generic.read(Access::new(TensorId::Operand(1), map.clone()));
            inputs.push(*tensor);
        }
        generic.body = shifted_body(shifted.zero.is_some());
        let ops = if shifted.ops.is_empty() { nest.ops.clone() } else { shifted.ops.clone() };
        let (tables, finish) = (Vec::new(), None);
        steps.push(Planned::Nest(Box::new(Nest { ops, generic, inputs, tables, output, finish })));
        self.known.insert(key, output);
        Some(output)
    }

    /// A sum of products of floats that were dequantised, as one of integers, and behind it the
    /// product with the scales.
    fn scaled(
        &mut self,
        nest: &Nest,
        known: &FxHashMap<usize, Dequantised>,
        draft: &mut Draft<'_>,
    ) -> Option<Vec<Planned>> {
        let factors = factors(nest)?;
        let of = |at: usize| known.get(&nest.inputs[at]);
        let (a, b) = (of(factors[0])?, of(factors[1])?);
        if nest.generic.reduction? != Reduction::sum(DType::F32)
            || nest.generic.inputs.len() != 2
            || !fits(nest, [&a.shifted, &b.shifted], &draft.tensors)
        {
            return None;
        }
        let scales = [scale_of(nest, factors[0], a)?, scale_of(nest, factors[1], b)?];
        let sums = draft.between(DType::I32, draft.tensors[nest.output].extents.clone())?;
        let scaled = scaled(nest, (sums, DType::I32), &scales)?;
        let shifted = [(factors[0], a.shifted.clone()), (factors[1], b.shifted.clone())];
        let mut steps = self.product(nest, shifted, sums, draft)?;
        steps.push(Planned::Nest(Box::new(scaled)));
        Some(steps)
    }
}

/// Where the scale of what a product reads through an input stands, by the iterators of the product.
fn scale_of(nest: &Nest, input: usize, of: &Dequantised) -> Option<Place> {
    let read = &nest.generic.inputs[input].map;
    Some((of.scale.0, composed(&of.scale.1, read, nest.generic.symbols.len())?))
}

/// Lets loops sum the products of these inputs as integers.
fn sum_of_products(generic: &mut Generic, inputs: [usize; 2]) {
    generic.reduction = Some(Reduction::sum(DType::I32));
    generic.body = Body::default();
    let [a, b] = inputs.map(|at| {
        let own = generic.body.input(at);
        generic.body.push(Scalar::Cast(DType::I32, own))
    });
    let value = generic.body.binary(Binary::Mul, a, b);
    generic.body.result(value);
}

/// The first input, less the second one if there is one, as 16 bits.
fn shifted_body(has_zero: bool) -> Body {
    let mut body = Body::default();
    let mut wide = |at: usize| {
        let own = body.input(at);
        body.push(Scalar::Cast(DType::I32, own))
    };
    let value = wide(0);
    let zero = has_zero.then(|| wide(1));
    let value = zero.map_or(value, |zero| body.binary(Binary::Sub, value, zero));
    let value = body.push(Scalar::Cast(DType::I16, value));
    body.result(value);
    body
}

/// Whether no sum of as many products leaves 32 bits.
fn fits(nest: &Nest, factors: [&Shifted; 2], tensors: &[Tensor]) -> bool {
    let greatest = |shifted: &Shifted| match (tensors[shifted.values].element, &shifted.zero) {
        (DType::I8, None) => 128,
        _ => 255,
    };
    let mut terms = nest.generic.reduced().map(|at| nest.generic.extents[at].as_int());
    let bound = greatest(factors[0]) * greatest(factors[1]);
    let bound = terms.try_fold(bound, |bound: i64, extent| bound.checked_mul(extent?));
    bound.is_some_and(|bound| bound <= i64::from(i32::MAX))
}

/// A sum of integers with what follows it, and the number of the step that was this: the only one
/// that reads the sums, element by element. Sums in a tile have a type of their own, so this is for
/// what runs in tiles alone.
pub(crate) fn finished(
    nest: &Nest,
    steps: &[Option<Planned>],
    pinned: &[bool],
    draft: &Draft<'_>,
) -> Option<(usize, Box<Nest>)> {
    let reduction = nest.generic.reduction?;
    let buffer = draft.tensors[nest.output].buffer;
    let sums_bytes = reduction == Reduction::sum(DType::I32)
        && factors(nest)?.iter().all(|at| draft.tensors[nest.inputs[*at]].element == DType::I16);
    if !sums_bytes || nest.finish.is_some() || pinned[buffer] {
        return None;
    }
    let reads = |step: &Option<Planned>| match step {
        Some(Planned::Nest(other)) => other.reads().filter(|at| *at == nest.output).count(),
        _ => 0,
    };
    let all: usize = steps.iter().map(reads).sum();
    let end = steps.iter().position(|step| reads(step) == 1).filter(|_| all == 1)?;
    let Some(Planned::Nest(consumer)) = &steps[end] else { return None };
    let mut joined = Box::new(nest.clone());
    joined.finish_with(consumer).then_some((end, joined))
}
