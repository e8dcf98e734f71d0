//! Differences of unions of conjunctions.

use crate::basic_map::BasicMap;
use crate::matrix::negated;
use crate::solve::number::{Number, widening};
use crate::solve::redundancy::{add_rows, narrowed};
use crate::solve::simplex::Simplex;
use crate::system::System;
use crate::{Budget, Error, Integer};

/// Returns disjoint conjunctions, for each of `a`, that make up `a` without `b`.
pub(crate) fn subtract_parts(
    a: &[BasicMap],
    b: &[BasicMap],
    budget: &Budget,
) -> Result<Vec<BasicMap>, Error> {
    remaining(a, b, false, budget)
}

/// Returns whether all of `a` is in `b`; stops at the first piece that is not.
pub(crate) fn covers(b: &[BasicMap], a: &[BasicMap], budget: &Budget) -> Result<bool, Error> {
    Ok(remaining(a, b, true, budget)?.is_empty())
}

/// Works depth first: a piece meets all of `b` before the next piece is looked at.
fn remaining(
    a: &[BasicMap],
    b: &[BasicMap],
    first: bool,
    budget: &Budget,
) -> Result<Vec<BasicMap>, Error> {
    let mut stack: Vec<(BasicMap, usize)> = a.iter().rev().map(|part| (part.clone(), 0)).collect();
    let mut result = Vec::new();
    while let Some((piece, index)) = stack.pop() {
        let Some(other) = b.get(index) else {
            if first && piece.is_empty(budget)? {
                continue;
            }
            result.push(piece);
            if first {
                break;
            }
            continue;
        };
        let pieces = widening!(T => outside::<T>(&piece, other, budget))?;
        stack.extend(pieces.into_iter().rev().map(|piece| (piece, index + 1)));
    }
    Ok(result)
}

/// Splits `piece` along the constraints of `other` and keeps what violates one.
fn outside<T: Number>(
    piece: &BasicMap,
    other: &BasicMap,
    budget: &Budget,
) -> Result<Vec<BasicMap>, Error> {
    budget.spend(piece.system.size() + other.system.size())?;
    let Some(common) = piece.intersect(other) else { return Ok(vec![piece.clone()]) };
    if common.is_empty(budget)? {
        return Ok(vec![piece.clone()]);
    }
    let (mut rest, rows) = piece.with_rows_of(other);
    let mut simplex = Simplex::<T>::new(rest.cols() - 1);
    add_rows(&mut simplex, &rest.system, &rest.unfolded(), budget)?;
    let mut pieces = Vec::new();
    for row in rows {
        let form = narrowed(&row)?;
        if simplex.is_empty() || simplex.implies(&form, budget)? {
            continue;
        }
        let mut violated = negated(&row);
        violated[0] -= 1;
        let mut part = rest.clone();
        part.system.ineqs.push(&violated);
        if let Some(part) = part.tidied()
            && !part.is_empty(budget)?
        {
            pieces.push(part);
        }
        rest.system.ineqs.push(&row);
        simplex.add_inequality(&form, budget)?;
    }
    Ok(pieces)
}

impl BasicMap {
    /// Adds the divisions of `other`; returns its constraints as inequalities over them.
    fn with_rows_of(&self, other: &Self) -> (Self, Vec<Vec<Integer>>) {
        let (divs, to) = crate::basic_map::merge(self.dims, &self.divs, &other.divs);
        let mut result = Self::with_divs(self.dims, divs);
        for row in self.system.eqs.rows() {
            result.system.eqs.push(row);
        }
        for row in self.system.ineqs.rows() {
            result.system.ineqs.push(row);
        }
        let placed: System = other.system.remap(result.cols(), &to);
        let mut rows = Vec::new();
        for row in placed.eqs.rows() {
            rows.push(row.to_vec());
            rows.push(negated(row));
        }
        rows.extend(placed.ineqs.rows().map(<[Integer]>::to_vec));
        (result, rows)
    }
}
