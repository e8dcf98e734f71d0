//! Between which numbers the integers of a body are, as far as constants say it.
//!
//! An index that is read from a table of constants, or chosen among such, needs no comparison with
//! the extent that it goes to: tables of trees, embeddings of positions, fixed permutations.

use tangram_affine::symbolic::Expr;
use tangram_dialects::structured::{Binary, Body, Comparison, Number, Scalar, ScalarId};
use tangram_tensor::{DType, Tensor as Elements};

use crate::nest::{Nest, Tensor};

/// The least and the greatest number.
pub(crate) type Range = (i64, i64);

/// Constants of more elements are not read for their range.
const MOST: usize = 1 << 22;

/// The range of a constant that may hold indices; nothing for others.
pub(crate) fn of_constant(elements: &Elements) -> Option<Range> {
    let is_index = matches!(elements.dtype(), DType::I32 | DType::I64);
    if !is_index || elements.is_empty() || elements.len() > MOST {
        return None;
    }
    let numbers = elements.i64s().ok()?;
    Some((*numbers.iter().min()?, *numbers.iter().max()?))
}

/// For each scalar of `body` whether it is a read from a table that stays within it for certain.
pub(crate) fn proven_reads(nest: &Nest, body: &Body, tensors: &[Tensor]) -> Vec<bool> {
    analysed(nest, body, tensors).into_iter().map(|known| known.is_proven).collect()
}

/// The range of what a nest that combines nothing writes, if that may be indices.
pub(crate) fn of_result(nest: &Nest, tensors: &[Tensor]) -> Option<Range> {
    let body = &nest.generic.body;
    let is_index = matches!(tensors[nest.output].element, DType::I32 | DType::I64);
    let value = body.value().filter(|_| is_index && nest.is_parallel())?;
    analysed(nest, body, tensors)[value.0 as usize].range
}

/// What is known of a scalar.
#[derive(Clone, Copy)]
struct Known {
    range: Option<Range>,
    /// Whether it is a read from a table that stays within it.
    is_proven: bool,
}

fn analysed(nest: &Nest, body: &Body, tensors: &[Tensor]) -> Vec<Known> {
    let mut known: Vec<Known> = Vec::with_capacity(body.scalars().len());
    for scalar in body.scalars() {
        let of = |id: &ScalarId| known[id.0 as usize].range;
        let next = match scalar {
            Scalar::Lookup(table, place) => {
                let table = &tensors[nest.tables[*table]];
                let is_proven = place.iter().zip(&table.extents).all(|(id, extent)| {
                    is_all_of(nest, &body.scalars()[id.0 as usize], extent)
                        || of(id).zip(extent.as_int()).is_some_and(|((least, greatest), extent)| {
                            least >= 0 && greatest < extent
                        })
                });
                // A read from elsewhere gives 0.
                let or_zero = |(least, greatest): Range| (least.min(0), greatest.max(0));
                let range = table.range.map(|range| if is_proven { range } else { or_zero(range) });
                Known { range, is_proven }
            }
            scalar => Known { range: range(scalar, nest, tensors, &of), is_proven: false },
        };
        known.push(next);
    }
    known
}

/// Whether a scalar is an iterator over all of `extent`, whatever that is.
fn is_all_of(nest: &Nest, scalar: &Scalar, extent: &Expr) -> bool {
    matches!(scalar, Scalar::Index(own) if nest.generic.extents.get(*own) == Some(extent))
}

fn range(
    scalar: &Scalar,
    nest: &Nest,
    tensors: &[Tensor],
    of: &dyn Fn(&ScalarId) -> Option<Range>,
) -> Option<Range> {
    let both = |a: &ScalarId, b: &ScalarId| Some((of(a)?, of(b)?));
    match scalar {
        Scalar::Input(at) => {
            let (tensor, access) = (nest.inputs.get(*at)?, nest.generic.inputs.get(*at)?);
            tensors[*tensor].range.filter(|_| access.outside.is_none())
        }
        Scalar::Compare(Comparison::Lt, a, b) => Some(match both(a, b) {
            Some((a, b)) if a.1 < b.0 => (1, 1),
            Some((a, b)) if a.0 >= b.1 => (0, 0),
            _ => (0, 1),
        }),
        Scalar::Inside(_) | Scalar::Compare(..) => Some((0, 1)),
        Scalar::Index(at) => Some((0, nest.generic.extents.get(*at)?.as_int()?.checked_sub(1)?)),
        // Of 64 bits without a sign a number has the bits alone.
        Scalar::Constant(Number::Int(element, value)) if *element != DType::U64 => {
            Some((*value, *value))
        }
        Scalar::Cast(to, from) => of(from).filter(|range| holds(*to, *range)),
        Scalar::Select(test, a, b) => match of(test) {
            Some((0, 0)) => of(b),
            Some((1, 1)) => of(a),
            _ => both(a, b).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1))),
        },
        Scalar::Binary(Binary::Min, a, b) => both(a, b).map(|(a, b)| (a.0.min(b.0), a.1.min(b.1))),
        Scalar::Binary(Binary::Max, a, b) => both(a, b).map(|(a, b)| (a.0.max(b.0), a.1.max(b.1))),
        _ => None,
    }
}

/// Whether numbers of a range keep their values in an integer type of 32 or 64 bits.
fn holds(to: DType, (least, greatest): Range) -> bool {
    match to {
        DType::I64 => true,
        DType::I32 => i32::try_from(least).is_ok() && i32::try_from(greatest).is_ok(),
        _ => false,
    }
}
