//! Whether quasi-polynomials have the same values at all integer points.
//!
//! With floors as variables of their own, a piece is a polynomial on the integer points of a
//! polyhedron. These span a lattice, in whose coordinates the polynomial has free variables. If
//! the polyhedron goes on without end in all directions of the lattice, only the polynomial 0 is 0
//! on all of it. Else a constraint has few values there, and each leaves a polyhedron of fewer
//! dimensions: with `r = i mod 2`, `r^2` is `r` for 0 and for 1.

use super::QPolynomial;
use super::floors::Floors;
use super::guard::Guard;
use crate::basic_map::BasicMap;
use crate::count::bound::bernstein::PwQPolynomialFold;
use crate::count::piecewise::pw_qpolynomial::{PwQPolynomial, same_domain};
use crate::hull::Lattice;
use crate::solve::bounds::bounds;
use crate::space::joint;
use crate::{Budget, Error, Integer, Rational};

impl PwQPolynomial {
    /// Returns whether both have the same values at all integer points, however they are written.
    ///
    /// Decides; takes long where polynomials differ in form on large but bounded sets.
    ///
    /// # Errors
    /// [`Error::Space`] if the tuples differ.
    pub fn is_equal(&self, other: &Self, budget: &Budget) -> Result<bool, Error> {
        let (a, b) = self.pair(other)?;
        if !(a.pieces.has_non_finite() || b.pieces.has_non_finite()) {
            return a.sub(&b, budget)?.is_zero(budget);
        }
        let finite = |f: &Self| Self { pieces: f.pieces.finite(), ..f.clone() };
        Ok(a.pieces.same_non_finite(&b.pieces, budget)?
            && finite(&a).sub(&finite(&b), budget)?.is_zero(budget)?)
    }

    /// Returns whether the value is 0 at all integer points, as [`Self::is_equal`] does.
    pub fn is_zero(&self, budget: &Budget) -> Result<bool, Error> {
        for (guard, value) in &self.pieces.all {
            if guard.never || value.is_empty() {
                continue;
            }
            if value.as_non_finite().is_some() && !guard.is_empty(budget)? {
                return Ok(false);
            }
            if !vanishes(guard, value, budget)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl PwQPolynomialFold {
    /// Returns whether both have bounds at the same points, and are the extreme of the same values
    /// there, however they are written.
    ///
    /// Bounds may agree without that: `max(0, i)` is `max(i)` where `i >= 0`.
    ///
    /// # Errors
    /// [`Error::Space`] if the tuples differ; those of the budget.
    pub fn plain_is_equal(&self, other: &Self, budget: &Budget) -> Result<bool, Error> {
        same_domain(&self.domain, &other.domain)?;
        let params = joint(&self.params, &other.params);
        let (a, b) = (self.aligned(&params), other.aligned(&params));
        if a.side != b.side || !a.support()?.is_equal(&b.support()?, budget)? {
            return Ok(false);
        }
        for (left, ours) in &a.pieces {
            for (right, theirs) in &b.pieces {
                let both = left.and(right);
                if both.is_empty(budget)? {
                    continue;
                }
                let known = all_among(ours, theirs, &both, budget)?;
                if !known || !all_among(theirs, ours, &both, budget)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

/// Returns whether each of `values` is one of `others` where `guard` holds.
fn all_among(
    values: &[QPolynomial],
    others: &[QPolynomial],
    guard: &Guard,
    budget: &Budget,
) -> Result<bool, Error> {
    for value in values {
        let mut found = others.contains(value);
        for other in others {
            found = found || vanishes(guard, &value.sub(other), budget)?;
        }
        if !found {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns whether `value` is 0 at all integer points at which `guard` holds.
fn vanishes(guard: &Guard, value: &QPolynomial, budget: &Budget) -> Result<bool, Error> {
    // The floors of the value come first, so that its atoms keep their numbers.
    let joined = with_floors(&value.floors).joined(&guard.to_basic());
    let dims = joined.cols() - 1;
    let value = QPolynomial::over_atoms(dims, value.terms.clone());
    let mut stack = vec![BasicMap { dims, divs: [].into(), system: joined.unfolded() }];
    while let Some(part) = stack.pop() {
        let Some(part) = part.tidied() else { continue };
        let one = std::slice::from_ref(&part);
        let Some(lattice) = Lattice::around(one, budget)? else { continue };
        if restricted(&value, &lattice, budget)?.is_empty() {
            continue;
        }
        let Some((row, low, high)) = narrowest(&part, &lattice, budget)? else {
            return Ok(false);
        };
        let mut at = low;
        while at <= high {
            budget.spend(1)?;
            let mut row = row.clone();
            row[0] -= &at;
            let mut slice = part.clone();
            slice.system.eqs.push(&row);
            stack.push(slice);
            at += 1;
        }
    }
    Ok(true)
}

fn with_floors(floors: &Floors) -> BasicMap {
    BasicMap::with_divs(floors.vars, floors.divisions().collect())
}

/// Writes a polynomial in the coordinates of the lattice.
fn restricted(
    value: &QPolynomial,
    lattice: &Lattice,
    budget: &Budget,
) -> Result<QPolynomial, Error> {
    let free = lattice.basis.len();
    let atom = |dim: u32| {
        let start = Rational::from(lattice.origin[dim as usize].clone());
        let mut sum = QPolynomial::constant(free, start);
        for (index, row) in lattice.basis.iter().enumerate() {
            let factor = Rational::from(row[dim as usize].clone());
            sum = sum.add(&QPolynomial::variable(free, index).scale(&factor));
        }
        sum
    };
    let mut result = QPolynomial::zero(free);
    for (monomial, factor) in &value.terms {
        let mut product = QPolynomial::constant(free, factor.clone());
        for dim in monomial {
            product = product.mul(&atom(*dim));
            budget.spend(product.len())?;
        }
        result = result.add(&product);
    }
    Ok(result)
}

/// Finds the inequality with the fewest values, of those that are not constant on the lattice and
/// have an end on both sides.
fn narrowest(
    part: &BasicMap,
    lattice: &Lattice,
    budget: &Budget,
) -> Result<Option<(Vec<Integer>, Integer, Integer)>, Error> {
    let mut best: Option<(Vec<Integer>, Integer, Integer)> = None;
    for row in part.system.ineqs.rows() {
        let along = |step: &Vec<Integer>| {
            let pairs = row[1..].iter().zip(step);
            !pairs.fold(Integer::ZERO, |sum, (a, b)| sum.add_mul(a, b)).is_zero()
        };
        if !lattice.basis.iter().any(along) {
            continue;
        }
        let Some((Some(low), Some(high))) = bounds(row, &part.system, budget)? else { continue };
        if best.as_ref().is_none_or(|(_, least, most)| &high - &low < most - least) {
            best = Some((row.to_vec(), low, high));
        }
    }
    Ok(best)
}
