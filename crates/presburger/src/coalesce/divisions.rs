//! What a disjunct says of divisions that only another one has.
//!
//! Where `a = 4`, `floor((2c - 4a) / 9)` is `floor((2c + 2) / 9) - 2`, and where `0 < a < 16`,
//! `floor(a / 16)` is 0. Without such equations disjuncts look further apart than they are.
//!
//! Source: isl harmonizes divisions of disjuncts, and takes those of the larger one for the
//! smaller one's too (`isl_coalesce.c`). Divergence: the equations are found from those of the
//! disjunct, and from the bounds of numerators, with no regard to what the other one looks like.

use super::side::Side;
use crate::basic_map::{BasicMap, Div};
use crate::matrix::{combine, zeros};
use crate::solve::number::{Number, fit};
use crate::solve::redundancy::narrowed;
use crate::solve::simplex::{Optimum, Simplex};
use crate::{Budget, Error, Integer};

impl<T: Number> Side<T> {
    /// Adds an equation for each of the `added` divisions that the constraints leave one value in
    /// terms of the others.
    pub(super) fn settle_divs(&mut self, added: &[usize], budget: &Budget) -> Result<(), Error> {
        for &index in added {
            if self.simplex.is_empty() {
                break;
            }
            let known = |other: &usize| *other < index || !added.contains(other);
            let others = (0..self.part.divs.len()).filter(|other| *other != index);
            let others: Vec<usize> = others.filter(known).collect();
            let equation = match self.part.linked(index, &others) {
                None if self.varies(index) => None,
                None => self.part.pinned(index, &mut self.simplex, budget)?,
                linked => linked,
            };
            if let Some(row) = equation {
                self.settle(&row, budget)?;
            }
        }
        Ok(())
    }

    /// Returns whether known points have different values of a division.
    fn varies(&self, index: usize) -> bool {
        let mut values = self.points.iter().map(|point| &point[self.part.dims + index]);
        let first = values.next();
        values.any(|value| Some(value) != first)
    }
}

impl BasicMap {
    /// Returns the equation of a division that the equations give the value of a row, or that of one
    /// of `others` and a row.
    fn linked(&self, index: usize, others: &[usize]) -> Option<Vec<Integer>> {
        let echelon = self.echelon();
        let numerator = |index: usize| reduced(self.divs[index].widened(self.cols()), &echelon);
        let own = numerator(index);
        let apart = |other: &usize| Some((Some(*other), whole(&own, Some(&numerator(*other)))?));
        let alone = whole(&own, None).map(|row| (None, row));
        let (other, mut row) = alone.or_else(|| others.iter().find_map(apart))?;
        if let Some(other) = other {
            row[1 + self.dims + other] += 1;
        }
        row[1 + self.dims + index] -= 1;
        Some(row)
    }

    /// Returns the equations with a column each that later ones do not use.
    fn echelon(&self) -> Vec<(Vec<Integer>, usize)> {
        let mut echelon: Vec<(Vec<Integer>, usize)> = Vec::new();
        for row in self.system.eqs.rows() {
            let own = Div { num: row.to_vec(), den: Integer::ONE };
            let row = reduced(own, &echelon).num;
            let pivot = (1..row.len()).find(|col| !row[*col].is_zero());
            echelon.extend(pivot.map(|pivot| (row, pivot)));
        }
        echelon
    }

    /// Returns the equation of a division whose numerator stays within one multiple of its
    /// denominator.
    fn pinned<T: Number>(
        &self,
        index: usize,
        simplex: &mut Simplex<T>,
        budget: &Budget,
    ) -> Result<Option<Vec<Integer>>, Error> {
        let div = &self.divs[index];
        let (mut form, den) = (narrowed::<T>(&div.num)?, fit(T::of(&div.den))?);
        form.resize(self.cols(), T::zero());
        let mut quotient = |direction| -> Result<Option<T>, Error> {
            match simplex.optimum(&form, direction, budget)? {
                Optimum::Unbounded => Ok(None),
                Optimum::Value(num, scale) => Ok(Some(num.floor_div(&fit(scale.times(&den))?))),
            }
        };
        let Some(low) = quotient(-1)? else { return Ok(None) };
        if quotient(1)? != Some(low.clone()) {
            return Ok(None);
        }
        let mut row = zeros(self.cols());
        (row[0], row[1 + self.dims + index]) = (low.integer(), Integer::MINUS_ONE);
        Ok(Some(row))
    }
}

/// Puts what equations say of their columns into a quotient.
fn reduced(div: Div, echelon: &[(Vec<Integer>, usize)]) -> Div {
    let Div { mut num, mut den } = div;
    for (row, pivot) in echelon {
        if num[*pivot].is_zero() {
            continue;
        }
        let size = row[*pivot].abs();
        let factor = &num[*pivot] * i64::from(-row[*pivot].sign());
        num = combine(&size, &num, &factor, row);
        den *= &size;
    }
    Div { num, den }
}

/// Returns a quotient, or its difference from another one, as a row of integers; a quotient alone
/// is rounded down. Nothing if that is no row of integers.
fn whole(Div { num, den }: &Div, other: Option<&Div>) -> Option<Vec<Integer>> {
    let (row, den, first) = match other {
        None => (num.clone(), den.clone(), 1),
        Some(Div { num: other, den: scale }) => (combine(scale, num, &-den, other), den * scale, 0),
    };
    let whole = row[first..].iter().all(|v| v.is_multiple_of(&den));
    whole.then(|| row.iter().map(|v| v.div_floor(&den)).collect())
}
