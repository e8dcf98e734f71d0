//! Windows that slide along the loop along which results lie side by side, with copies of what they
//! read.
//!
//! A window with steps of two reads every other element for results side by side. The copy keeps
//! columns with even and with odd numbers apart, as rows of their own, and a vector reads what lies
//! side by side:
//!
//! ```text
//! y[i] = x[2 i] + x[2 i + 1] + x[2 i + 2]    c[h, j] = x[2 j + h]
//! y[i] = c[0, i] + c[1, i] + c[0, i + 1]
//! ```

use tangram_affine::symbolic::Expr;
use tangram_affine::{AffineExpr, AffineExprs, AffineMap, BinaryOp};
use tangram_dialects::structured::{Access, Generic, Number, TensorId};

use crate::contraction::{Padded, copied, linear_terms, padded, slides};
use crate::nest::Nest;
use crate::packing::{lane, read_copy};
use crate::storage::{Draft, Planned};

/// The steps of windows whose columns are kept apart. With more of them windows overlap less, and
/// compilers take what lies further apart one by one.
const STEP: i64 = 2;

/// A nest of windows with a copy of what it reads, where windows slide along the loop along which
/// results lie side by side: with its padding, for which each lane of a vector would be tested
/// otherwise, and with even and odd columns apart where the windows have steps of two.
pub(crate) fn copied_windows(
    mut nest: Nest,
    draft: &mut Draft<'_>,
    steps: &mut Vec<Planned>,
) -> Nest {
    let Some(lane) = lane(&nest, draft) else { return nest };
    for input in 0..nest.inputs.len() {
        let access = &nest.generic.inputs[input];
        let has_steps = has_steps(&access.map, lane);
        let is_read_as_it_lies = access.outside.is_none() && !has_steps;
        if is_read_as_it_lies || !slides(&nest.generic, &access.map, lane) {
            continue;
        }
        let tensor = &draft.tensors[nest.inputs[input]];
        let (source, zero) = (tensor.extents.clone(), Number::zero(tensor.element));
        let mut copy = padded(&nest, input, &source, None);
        if has_steps {
            let line = line_read(&nest, input);
            copy = copy.and_then(|whole| in_halves(&whole, lane, line, zero));
        }
        if let Some(copy) = copy {
            let _ = read_copy(&mut nest, input, copy, draft, steps);
        }
    }
    nest
}

/// Whether windows go two columns further for the next result.
fn has_steps(map: &AffineMap, lane: usize) -> bool {
    let terms = map.results().last().and_then(|last| linear_terms(map, *last));
    terms.is_some_and(|terms| terms.contains(&(lane, STEP)))
}

/// How many columns a nest reads from the first one on, if that is known.
fn line_read(nest: &Nest, input: usize) -> Option<i64> {
    let map = &nest.generic.inputs[input].map;
    let last = nest.generic.extents.iter().map(|extent| extent.as_int()?.checked_sub(1));
    let last: Vec<i64> = last.collect::<Option<_>>()?;
    map.evaluate(&last)?.last()?.checked_add(1)
}

/// Lets a copy have two rows in the place of each: its even columns, and its odd ones; of `line`
/// columns, if what is read is not padded.
fn in_halves(whole: &Padded, lane: usize, line: Option<i64>, zero: Number) -> Option<Padded> {
    let rank = whole.extents.len();
    let (all, outer) = whole.extents.split_last()?;
    let read = &whole.copy.inputs[0];
    let line = line.filter(|_| read.outside.is_none()).map_or(all.clone(), Expr::int);
    let half = line.try_add(&Expr::int(STEP - 1))?.floor_div(&Expr::int(STEP))?;
    // The last of the odd columns may be one that there is not.
    let both = half.try_mul(&Expr::int(STEP))?;
    let is_inside = both.as_int().zip(all.as_int()).is_some_and(|(both, all)| both <= all);
    let extents: Vec<Expr> = outer.iter().cloned().chain([Expr::int(STEP), half]).collect();

    let mut exprs = AffineExprs::new();
    let step = exprs.constant(STEP);
    let mut from: Vec<AffineExpr> = (0..rank as u32).map(|at| exprs.dim(at)).collect();
    let own = exprs.dim(rank as u32);
    let first = exprs.binary(BinaryOp::Mul, own, step);
    from[rank - 1] = exprs.binary(BinaryOp::Add, first, from[rank - 1]);
    let from = read.map.substitute(&mut exprs, &from, &[]);
    let mut copy = Generic::over(extents.clone());
    let map = AffineMap::new(rank as u32 + 1, 0, &exprs, &from);
    let outside = read.outside.or((!is_inside).then_some(zero));
    copy.read(Access { outside, ..Access::new(TensorId::Operand(0), map) });
    let all: Vec<usize> = (0..=rank).collect();
    copy.write(Access::dims(TensorId::Result(0), rank + 1, &all));
    copy.body = copied();
    Some(Padded { copy, extents, access: halves(&whole.access, lane) })
}

/// The coordinates `.., 2 * lane + rest` as `.., rest mod 2, lane + rest floordiv 2`.
fn halves(access: &AffineMap, lane: usize) -> AffineMap {
    let mut exprs = AffineExprs::new();
    let (zero, step, own) = (exprs.constant(0), exprs.constant(STEP), exprs.dim(lane as u32));
    let dims: Vec<AffineExpr> =
        (0..access.dims()).map(|at| if at == lane { zero } else { exprs.dim(at as u32) }).collect();
    let mut results = access.substitute(&mut exprs, &[], &[]);
    let rest = access.substitute(&mut exprs, &dims, &[]).pop().unwrap_or(zero);
    results.pop();
    results.push(exprs.binary(BinaryOp::Mod, rest, step));
    let before = exprs.binary(BinaryOp::FloorDiv, rest, step);
    results.push(exprs.binary(BinaryOp::Add, own, before));
    AffineMap::new(access.dims() as u32, access.symbols() as u32, &exprs, &results)
}
