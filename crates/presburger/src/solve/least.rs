//! A tableau whose least point is found again as rows come in.
//!
//! A row reads `d * r = c + a1 u1 + .. + an un` as in [`simplex`](super::simplex), over column
//! unknowns that are 0. The columns stay lexicographically positive in the order of the
//! variables, so that the sample point is the least of all that satisfy the rows without a
//! negative constant: each pivot raises it, and rows that come later leave the work of the
//! earlier ones in place.
//!
//! Source: the dual method of R. Gomory, "An algorithm for integer solutions to linear
//! programs" (1963), with his fractional cuts.

use std::cmp::Ordering;

use super::number::{Number, fit, opposites, reduce};
use super::redundancy::narrowed;
use super::simplex::{add_row, pivot_rows};
use crate::{Budget, Error, Integer};

const FIRST: usize = 2;
const CONSTRAINT: usize = usize::MAX;
const CUT: usize = usize::MAX - 1;

#[derive(Debug, Clone, Copy)]
struct UnknownPosition {
    in_row: bool,
    pos: usize,
}

/// Columns: denominator, constant, column unknowns. Every unknown is not negative.
#[derive(Debug, Clone)]
pub(crate) struct Tableau<T> {
    data: Vec<T>,
    cols: usize,
    /// The places of the variables, in their order.
    places: Vec<UnknownPosition>,
    /// The variable of each row and of each column from `FIRST` on, or what else is there.
    row_of: Vec<usize>,
    col_of: Vec<usize>,
    /// Columns whose unknown stays 0 for good: all their numbers are 0 until they go together.
    dead: Vec<usize>,
    empty: bool,
}

impl<T: Number> Tableau<T> {
    /// Makes the tableau of all points without negative coordinates.
    pub fn new(vars: usize) -> Self {
        Self {
            data: Vec::new(),
            cols: FIRST + vars,
            places: (0..vars).map(|i| UnknownPosition { in_row: false, pos: FIRST + i }).collect(),
            row_of: Vec::new(),
            col_of: (0..vars).collect(),
            dead: Vec::new(),
            empty: false,
        }
    }

    /// Adds a row `[constant, variables..]` that is not negative, or is 0 for an equation.
    pub fn add(&mut self, form: &[Integer], equation: bool, budget: &Budget) -> Result<(), Error> {
        if self.empty {
            return Ok(());
        }
        let row = self.express(&narrowed::<T>(form)?)?;
        if equation {
            return self.add_equation(row, budget);
        }
        let is_held = row[1..].iter().all(|value| value.sign() >= 0);
        if !is_held {
            self.push(row, CONSTRAINT);
        }
        Ok(())
    }

    /// Spends a column on an equation.
    fn add_equation(&mut self, mut row: Vec<T>, budget: &Budget) -> Result<(), Error> {
        let rises = |row: &[T]| row[FIRST..].iter().any(|value| value.sign() > 0);
        let sign = row[1].sign();
        if sign > 0 || (sign == 0 && !rises(&row)) {
            let opposite = opposites(&row[1..])?;
            row[1..].clone_from_slice(&opposite);
        }
        if row[1].is_zero() && !rises(&row) {
            return Ok(());
        }
        let at = self.rows();
        self.push(row, CONSTRAINT);
        let Some(col) = self.column(at)? else {
            self.empty = true;
            return Ok(());
        };
        self.lift(at, col, budget)?;
        self.remove_column(col);
        Ok(())
    }

    /// Writes a form over the variables as a row over the column unknowns.
    fn express(&self, form: &[T]) -> Result<Vec<T>, Error> {
        let mut new = vec![T::zero(); self.cols];
        (new[0], new[1]) = (T::one(), form[0].clone());
        for (coefficient, place) in form[1..].iter().zip(&self.places) {
            if coefficient.is_zero() {
                continue;
            }
            if !place.in_row {
                let share = fit(coefficient.times(&new[0]))?;
                new[place.pos] = fit(new[place.pos].plus(&share))?;
                continue;
            }
            add_row(&mut new, self.row(place.pos), coefficient)?;
        }
        reduce(&mut new);
        Ok(new)
    }

    fn push(&mut self, row: Vec<T>, kind: usize) {
        self.data.extend(row);
        self.row_of.push(kind);
    }

    fn rows(&self) -> usize {
        self.row_of.len()
    }

    fn row(&self, row: usize) -> &[T] {
        &self.data[row * self.cols..][..self.cols]
    }

    /// Finds the least integer point; nothing if there is none, or none before `limit`.
    pub fn least(
        &mut self,
        limit: Option<&[T]>,
        budget: &Budget,
    ) -> Result<Option<Vec<Integer>>, Error> {
        while self.relax(limit, budget)? {
            let fractions = self.fractions()?;
            if fractions.is_empty() {
                return Ok(Some(self.values()));
            }
            fractions.into_iter().try_for_each(|row| self.cut(row))?;
        }
        Ok(None)
    }

    /// Finds the least point that need not be an integer one, as `[denominator, numerators..]`;
    /// nothing if there is none, or none before `limit`.
    pub fn relaxed(
        &mut self,
        limit: Option<&[T]>,
        budget: &Budget,
    ) -> Result<Option<Vec<Integer>>, Error> {
        if !self.relax(limit, budget)? {
            return Ok(None);
        }
        let mut point = vec![T::one()];
        for place in self.places.iter().filter(|place| place.in_row) {
            let den = &self.row(place.pos)[0];
            let share = den.floor_div(&den.gcd(&point[0]));
            point[0] = fit(point[0].times(&share))?;
        }
        for place in &self.places {
            let value = if place.in_row {
                let row = self.row(place.pos);
                fit(row[1].times(&point[0].floor_div(&row[0])))?
            } else {
                T::zero()
            };
            point.push(value);
        }
        Ok(Some(point.iter().map(T::integer).collect()))
    }

    /// Raises the sample point to where no row is negative; false if there is none, or none
    /// before `limit`.
    fn relax(&mut self, limit: Option<&[T]>, budget: &Budget) -> Result<bool, Error> {
        while !self.empty {
            if limit.map_or(Ok(false), |limit| self.passes(limit))? {
                return Ok(false);
            }
            let mut best: Option<(usize, usize)> = None;
            for row in (0..self.rows()).filter(|row| self.row(*row)[1].sign() < 0) {
                let Some(col) = self.column(row)? else {
                    self.empty = true;
                    return Ok(false);
                };
                if best.is_none_or(|(other, at)| self.rises_more(row, col, other, at)) {
                    best = Some((row, col));
                }
            }
            let Some((row, col)) = best else { return Ok(true) };
            self.lift(row, col, budget)?;
        }
        Ok(false)
    }

    /// Finds the column on which a pivot lifts a row to 0 and raises the point the least.
    fn column(&self, row: usize) -> Result<Option<usize>, Error> {
        let mut best: Option<usize> = None;
        for col in FIRST..self.cols {
            if self.row(row)[col].sign() > 0
                && best.map_or(Ok(true), |old| self.precedes(row, col, old))?
            {
                best = Some(col);
            }
        }
        Ok(best)
    }

    /// Returns whether lifting row `a` raises the point more than lifting row `b`: a long way in few
    /// pivots. That is a matter of speed alone, so numbers that are too large decide nothing.
    fn rises_more(&self, a: usize, a_col: usize, b: usize, b_col: usize) -> bool {
        let (first, second) = (self.row(a), self.row(b));
        let far = first[1].times(&second[b_col]).zip(second[1].times(&first[a_col]));
        let Some((far_a, far_b)) = far else { return false };
        for place in &self.places {
            let order = if place.in_row {
                let unknown = self.row(place.pos);
                let rises = unknown[a_col].times(&far_a).zip(unknown[b_col].times(&far_b));
                // Both are turned around by the negative constants.
                rises.map_or(Ordering::Equal, |(a, b)| b.cmp(&a))
            } else {
                (place.pos == a_col).cmp(&(place.pos == b_col))
            };
            if order.is_ne() {
                return order.is_gt();
            }
        }
        false
    }

    /// Makes a negative row 0 by a pivot.
    fn lift(&mut self, row: usize, col: usize, budget: &Budget) -> Result<(), Error> {
        budget.spend(self.data.len() * T::COST / 16)?;
        let (r, c) = (self.row_of[row], self.col_of[col - FIRST]);
        (self.row_of[row], self.col_of[col - FIRST]) = (c, r);
        if let Some(place) = self.places.get_mut(r) {
            *place = UnknownPosition { in_row: false, pos: col };
        }
        if let Some(place) = self.places.get_mut(c) {
            *place = UnknownPosition { in_row: true, pos: row };
        }
        pivot_rows(&mut self.data, self.cols, row, col)?;
        if c == CUT {
            self.remove_row(row);
        }
        Ok(())
    }

    /// Returns whether a pivot on column `a` gives a lesser sample point than one on `b`.
    fn precedes(&self, row: usize, a: usize, b: usize) -> Result<bool, Error> {
        let (pa, pb) = (&self.row(row)[a], &self.row(row)[b]);
        for place in &self.places {
            if !place.in_row {
                if place.pos == a || place.pos == b {
                    return Ok(place.pos == b);
                }
                continue;
            }
            let unknown = self.row(place.pos);
            let (left, right) = (&unknown[a], &unknown[b]);
            if left.is_zero() && right.is_zero() {
                continue;
            }
            let (left, right) = (fit(left.times(pb))?, fit(right.times(pa))?);
            if left != right {
                return Ok(left < right);
            }
        }
        Ok(false)
    }

    /// Finds the rows of variables whose values are fractions.
    fn fractions(&self) -> Result<Vec<usize>, Error> {
        let mut found = Vec::new();
        for place in self.places.iter().filter(|place| place.in_row) {
            let row = self.row(place.pos);
            if row[0] != T::one() && !fit(row[1].modulo(&row[0]))?.is_zero() {
                found.push(place.pos);
            }
        }
        Ok(found)
    }

    /// Adds a row that cuts off the fractional value of a row.
    fn cut(&mut self, row: usize) -> Result<(), Error> {
        let source = self.row(row);
        let den = source[0].clone();
        let mut cut = vec![den.clone()];
        let rest = fit(fit(source[1].opposite())?.modulo(&den))?;
        cut.push(fit(rest.opposite())?);
        for value in &source[FIRST..] {
            cut.push(fit(value.modulo(&den))?);
        }
        reduce(&mut cut);
        self.push(cut, CUT);
        Ok(())
    }

    /// Returns whether the sample point, and with it all that follow, is not before `limit`.
    fn passes(&self, limit: &[T]) -> Result<bool, Error> {
        for (place, limit) in self.places.iter().zip(limit) {
            let order = if place.in_row {
                let row = self.row(place.pos);
                row[1].cmp(&fit(limit.times(&row[0]))?)
            } else {
                T::zero().cmp(limit)
            };
            if order.is_ne() {
                return Ok(order.is_gt());
            }
        }
        Ok(true)
    }

    fn values(&self) -> Vec<Integer> {
        let value = |place: &UnknownPosition| {
            if !place.in_row {
                return Integer::ZERO;
            }
            let row = self.row(place.pos);
            row[1].floor_div(&row[0]).integer()
        };
        self.places.iter().map(value).collect()
    }

    fn remove_row(&mut self, row: usize) {
        let (last, cols) = (self.rows() - 1, self.cols);
        for col in 0..cols {
            self.data.swap(row * cols + col, last * cols + col);
        }
        self.data.truncate(last * cols);
        self.row_of.swap_remove(row);
        if let Some(place) = self.row_of.get(row).and_then(|var| self.places.get_mut(*var)) {
            place.pos = row;
        }
    }

    /// Takes out a column whose unknown, of a constraint, stays 0 for good.
    ///
    /// Columns leave in groups, as each time all numbers move.
    fn remove_column(&mut self, col: usize) {
        for row in 0..self.rows() {
            self.data[row * self.cols + col] = T::zero();
        }
        self.dead.push(col);
        if self.dead.len() * 8 > self.cols {
            self.compact();
        }
    }

    fn compact(&mut self) {
        let mut alive = vec![true; self.cols];
        for col in self.dead.drain(..) {
            alive[col] = false;
        }
        let mut cols = 0;
        let place = |alive: &bool| {
            cols += usize::from(*alive);
            cols - usize::from(*alive)
        };
        let places: Vec<usize> = alive.iter().map(place).collect();
        let mut at = 0;
        self.data.retain(|_| {
            let kept = alive[at];
            at = (at + 1) % alive.len();
            kept
        });
        let mut kinds = alive[FIRST..].iter();
        self.col_of.retain(|_| kinds.next().is_some_and(|alive| *alive));
        for place in self.places.iter_mut().filter(|place| !place.in_row) {
            place.pos = places[place.pos];
        }
        self.cols = cols;
    }
}
