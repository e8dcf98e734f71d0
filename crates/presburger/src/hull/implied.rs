//! Equations that a conjunction implies over the integers.
//!
//! `8 b - 4 <= x <= 8 b + 3` says that `floor((x + 4) / 8)` is `b`: no row says so, and rows that
//! use either do not meet. The equations are those of the affine hull of the points, divisions
//! included: as many points as needed are found, each off an equation that the others satisfy.

use std::ops::Range;

use super::affine::pass_through;
use crate::basic_map::{BasicMap, Div, merge};
use crate::matrix::{combine, divide, evaluate, gcd, zeros};
use crate::solve::feasible;
use crate::solve::number::{Number, fit, widening};
use crate::solve::redundancy::{add_rows, narrowed};
use crate::solve::simplex::{Optimum, Simplex};
use crate::system::System;
use crate::{Budget, Error, Integer, Relation};

/// An equation, and the column that no other equation uses.
pub(super) type Solved = (Vec<Integer>, usize);

impl Relation {
    /// Adds the equations that each disjunct implies; the points stay the same.
    ///
    /// Equations range over divisions as well: one that has to be some value is replaced by it.
    /// Disjuncts without points are left out.
    pub fn detect_equalities(&self, budget: &Budget) -> Result<Self, Error> {
        let mut parts = Vec::new();
        for part in self.parts.iter() {
            let Some(rows) = part.implied(budget)? else { continue };
            parts.extend(part.with_equations(rows, &(part.dims..part.dims)).tidied());
        }
        Ok(Self::new(self.space.clone(), parts))
    }
}

impl BasicMap {
    /// Makes use of equations that the rows imply, to project the dimensions in `range` away.
    ///
    /// Nothing if there are none, or no points.
    pub fn with_implied(
        &self,
        range: &Range<usize>,
        budget: &Budget,
    ) -> Result<Option<Self>, Error> {
        let Some(rows) = self.implied(budget)? else { return Ok(None) };
        let known = solved(self.system.eqs.rows().map(<[Integer]>::to_vec).collect(), &[]);
        if rows.len() == known.len() {
            return Ok(None);
        }
        Ok(Some(self.with_equations(rows, range)))
    }

    /// Returns independent equations over all columns, which imply all others; nothing if there
    /// are no points.
    pub(super) fn implied(&self, budget: &Budget) -> Result<Option<Vec<Vec<Integer>>>, Error> {
        let (system, floors) = (self.unfolded(), self.floors());
        let Some(first) = feasible::point(&system, &floors, budget)? else { return Ok(None) };
        // Rows that vanish on all points so far; each new point takes one away.
        let mut rows: Vec<Vec<Integer>> = Vec::new();
        for (col, value) in first.iter().enumerate() {
            let mut row = zeros(1 + first.len());
            (row[0], row[1 + col]) = (-value, Integer::ONE);
            rows.push(row);
        }
        widening!(T => {
            let mut simplex = Simplex::<T>::new(system.cols() - 1);
            add_rows(&mut simplex, &System::new(system.cols() - 1), &system, budget)?;
            let mut rows = rows.clone();
            let mut index = 0;
            while let Some(row) = rows.get(index) {
                match self.off(row, &mut simplex, budget)? {
                    Some(point) => pass_through(&mut rows, &point),
                    None => index += 1,
                }
            }
            Ok(Some(rows))
        })
    }

    /// Finds a point, divisions included, where `row` is not 0; `simplex` is that of all rows.
    pub fn off<T: Number>(
        &self,
        row: &[Integer],
        simplex: &mut Simplex<T>,
        budget: &Budget,
    ) -> Result<Option<Vec<Integer>>, Error> {
        for sign in [1, -1] {
            if let Optimum::Value(num, den) = simplex.optimum(&narrowed(row)?, sign, budget)? {
                let size = if sign > 0 { num } else { fit(num.opposite())? };
                if size < den {
                    continue;
                }
            }
            let sample = simplex.sample();
            let dims = sample[..self.dims].iter();
            let mut point: Vec<Integer> =
                dims.map(|(num, den)| num.floor_div(den).integer()).collect();
            if self.contains(&point) {
                for div in self.divs.iter() {
                    point.push(div.value(&point));
                }
                if !evaluate(row, &point).is_zero() {
                    return Ok(Some(point));
                }
            }
            let mut beyond = self.unfolded();
            let mut side: Vec<Integer> = row.iter().map(|v| v * &Integer::from(sign)).collect();
            side[0] -= 1;
            beyond.ineqs.push(&side);
            if let Some(point) = feasible::point(&beyond, &self.floors(), budget)? {
                return Ok(Some(point));
            }
        }
        Ok(None)
    }

    /// Adds equations that hold, and puts what they say in the place of columns.
    ///
    /// Divisions of dimensions in `range` stay: they are about to go.
    pub(super) fn with_equations(&self, rows: Vec<Vec<Integer>>, range: &Range<usize>) -> Self {
        let (gone, _) = self.opened(range);
        let first = 1 + self.dims;
        let (lost, rest): (Vec<usize>, Vec<usize>) = (1..self.cols()).rev().partition(|c| gone[*c]);
        let order: Vec<usize> = lost.into_iter().chain(rest).collect();
        let mut system = self.system.clone();
        let mut divs = self.divs.to_vec();
        let replaces = |(row, col): &Solved| {
            *col >= first
                && !gone[*col]
                && row[*col].is_unit()
                && row.iter().zip(&gone).all(|(v, gone)| v.is_zero() || !gone)
        };
        let (values, equations): (Vec<Solved>, Vec<Solved>) =
            solved(rows, &order).into_iter().partition(replaces);
        for (_, col) in &values {
            self.bound_div(col - first, &mut system);
        }
        for (row, col) in values.iter().chain(&equations).filter(|(row, col)| row[*col].is_unit()) {
            for other in system.rows_mut() {
                substitute(other, row, *col);
            }
        }
        for (row, col) in &values {
            for div in &mut divs[col - first + 1..] {
                substitute(&mut div.num, row, *col);
            }
        }
        if range.is_empty() {
            let plain = |(row, col): &&Solved| {
                row[*col].is_unit() && row[first..].iter().all(Integer::is_zero)
            };
            for (row, col) in equations.iter().filter(plain) {
                divs.iter_mut().for_each(|div| substitute(&mut div.num, row, *col));
            }
        }
        for (row, _) in &equations {
            system.eqs.push(row);
        }
        rebuilt(self.dims, &divs, &system)
    }
}

/// Makes a conjunction in which divisions that have become equal are one.
fn rebuilt(dims: usize, divs: &[Div], system: &System) -> BasicMap {
    let (divs, to) = merge(dims, &[], divs);
    let cols = 1 + dims + divs.len();
    BasicMap { dims, divs: divs.into(), system: system.remap(cols, &to) }
}

/// Puts what an equation says about column `col`, of coefficient 1 or -1, in its place.
fn substitute(row: &mut [Integer], equation: &[Integer], col: usize) {
    if row[col].is_zero() {
        return;
    }
    let factor = if equation[col].sign() > 0 { -&row[col] } else { row[col].clone() };
    for (value, share) in row.iter_mut().zip(equation) {
        if !share.is_zero() {
            *value = value.add_mul(&factor, share);
        }
    }
}

/// Solves equations for as many columns; the earlier in `order` go first, then all others.
pub(super) fn solved(mut rows: Vec<Vec<Integer>>, order: &[usize]) -> Vec<Solved> {
    let cols = rows.first().map_or(0, Vec::len);
    let rest = (1..cols).filter(|col| !order.contains(col));
    let mut result: Vec<Solved> = Vec::new();
    for col in order.iter().copied().chain(rest) {
        let used = (0..rows.len()).filter(|index| !rows[*index][col].is_zero());
        let Some(index) = used.min_by_key(|index| rows[*index][col].abs()) else { continue };
        let pivot = rows.swap_remove(index);
        for row in rows.iter_mut().chain(result.iter_mut().map(|(row, _)| row)) {
            if row[col].is_zero() {
                continue;
            }
            *row = combine(&pivot[col], row, &-&row[col], &pivot);
            let g = gcd(row);
            if !g.is_zero() {
                divide(row, &g);
            }
        }
        result.push((pivot, col));
    }
    result
}
