//! The tableau of unknowns over parameters, with a big `M`.
//!
//! A row reads `d * r = c + m M + a1 u1 + .. + an un + b1 p1 + .. + bk pk`: columns hold the
//! denominator `d`, the constant, the factor of `M`, one column unknown each, and the parameters.
//! Column unknowns are 0 in the sample point, so that a row's value there is what stands in
//! constant, `M` and parameters. An unknown `x` may be negative; what is stored is `x' = x + M`,
//! which is not, as `M` counts as larger than every number.
//!
//! The least `x` with `x >= p` begins as the column `x'` and one row, `r = x' - M - p`. At the
//! sample point the row is `-M - p`, which is negative, so `x'` takes its place: `x' = r + M + p`.
//! Now `r` is the column, at 0, and `x = x' - M` is `p`.
//!
//! [`Tableau::lift`] keeps the columns lexicographically positive in the order of the unknowns: the
//! first point without a negative row is then the lexicographic minimum. What decides the sign of a
//! row that has parameters is the context (`context`).
//!
//! Source: P. Feautrier, "Parametric integer programming", RAIRO 22(3), 1988, sections 3 and 4.

use super::Query;
use super::context::Known;
use crate::solve::number::{Number, common, fit, reduce};
use crate::solve::redundancy::narrowed;
use crate::solve::simplex::pivot_rows;
use crate::{Budget, Error};

pub(super) const BIG: usize = 2;
pub(super) const FIRST: usize = 3;
const CONSTRAINT: usize = usize::MAX;

#[derive(Debug, Clone, Copy)]
struct UnknownPosition {
    in_row: bool,
    pos: usize,
}

/// Columns: denominator, constant, `M`, column unknowns, parameters.
#[derive(Debug, Clone)]
pub(super) struct Tableau<T> {
    data: Vec<T>,
    pub cols: usize,
    places: Vec<UnknownPosition>,
    row_of: Vec<usize>,
    col_of: Vec<usize>,
    /// Rows that are known to be nowhere negative in the context.
    settled: Vec<bool>,
}

impl<T: Number> Tableau<T> {
    pub fn of(query: &Query) -> Result<Self, Error> {
        let (n, p) = (query.unknowns, query.params);
        let mut tableau = Self {
            data: Vec::new(),
            cols: FIRST + n + p,
            places: (0..n).map(|i| UnknownPosition { in_row: false, pos: FIRST + i }).collect(),
            row_of: Vec::new(),
            col_of: (0..n).collect(),
            settled: Vec::new(),
        };
        for row in &query.rows {
            let row: Vec<T> = narrowed(row)?;
            let mut big = T::zero();
            for value in &row[1 + p..] {
                big = fit(big.minus(value))?;
            }
            let mut new = vec![T::one(), row[0].clone(), big];
            new.extend_from_slice(&row[1 + p..]);
            new.extend_from_slice(&row[1..=p]);
            tableau.push(new);
        }
        Ok(tableau)
    }

    pub fn push(&mut self, row: Vec<T>) {
        self.data.extend(row);
        self.row_of.push(CONSTRAINT);
        self.settled.push(false);
    }

    pub fn is_settled(&self, row: usize) -> bool {
        self.settled[row]
    }

    pub fn settle(&mut self, row: usize) {
        self.settled[row] = true;
    }

    /// Returns whether no unknown can raise a row.
    pub fn is_critical(&self, row: usize) -> bool {
        self.row(row)[FIRST..self.params_from()].iter().all(|value| value.sign() <= 0)
    }

    /// Replaces a parameter by what is known of it.
    pub fn substitute(&mut self, known: &Known<T>) -> Result<(), Error> {
        let from = self.params_from();
        let turned = known.row[1 + known.col].sign() > 0;
        for row in self.data.chunks_exact_mut(self.cols) {
            let factor = row[from + known.col].clone();
            if factor.is_zero() {
                continue;
            }
            let factor = if turned { fit(factor.opposite())? } else { factor };
            for (col, value) in std::iter::once(1).chain(from..).zip(&known.row) {
                if !value.is_zero() {
                    row[col] = fit(row[col].plus(&fit(value.times(&factor))?))?;
                }
            }
            reduce(row);
        }
        Ok(())
    }

    pub fn rows(&self) -> usize {
        self.row_of.len()
    }

    pub fn row(&self, row: usize) -> &[T] {
        &self.data[row * self.cols..][..self.cols]
    }

    pub fn params_from(&self) -> usize {
        FIRST + self.places.len()
    }

    pub fn add_param(&mut self) {
        let mut data = Vec::with_capacity(self.data.len() + self.rows());
        for row in self.data.chunks_exact(self.cols) {
            data.extend_from_slice(row);
            data.push(T::zero());
        }
        self.data = data;
        self.cols += 1;
    }

    /// Makes row `row` 0 by a pivot; false if that is impossible.
    pub fn lift(&mut self, row: usize, budget: &Budget) -> Result<bool, Error> {
        let mut best: Option<usize> = None;
        for col in FIRST..self.params_from() {
            if self.row(row)[col].sign() > 0
                && best.map_or(Ok(true), |old| self.precedes(row, col, old))?
            {
                best = Some(col);
            }
        }
        let Some(col) = best else { return Ok(false) };
        budget.spend(self.data.len() / 16)?;
        let (r, c) = (self.row_of[row], self.col_of[col - FIRST]);
        self.row_of[row] = c;
        self.col_of[col - FIRST] = r;
        if let Some(place) = self.places.get_mut(r) {
            *place = UnknownPosition { in_row: false, pos: col };
        }
        if let Some(place) = self.places.get_mut(c) {
            *place = UnknownPosition { in_row: true, pos: row };
        }
        for other in 0..self.rows() {
            if other == row || !self.row(other)[col].is_zero() {
                self.settled[other] = false;
            }
        }
        pivot_rows(&mut self.data, self.cols, row, col)?;
        Ok(true)
    }

    /// Returns whether a pivot on column `a` gives a lesser sample point than one on `b`.
    fn precedes(&self, row: usize, a: usize, b: usize) -> Result<bool, Error> {
        let (pa, pb) = (&self.row(row)[a], &self.row(row)[b]);
        for place in &self.places {
            if !place.in_row {
                if place.pos == a {
                    return Ok(false);
                }
                if place.pos == b {
                    return Ok(true);
                }
                continue;
            }
            let unknown = self.row(place.pos);
            let (left, right) = (fit(unknown[a].times(pb))?, fit(unknown[b].times(pa))?);
            if left != right {
                return Ok(left < right);
            }
        }
        Ok(false)
    }

    /// Returns whether a row is greater than 0 wherever its [`form`](Self::form) is 0.
    pub fn is_strict(&self, row: usize) -> bool {
        let row = self.row(row);
        let g = common(&row[self.params_from()..]);
        g.sign() > 0 && row[1].modulo(&g).is_none_or(|rest| !rest.is_zero())
    }

    /// Returns the sample value of a row over the parameters, up to its denominator.
    pub fn form(&self, row: usize) -> Vec<T> {
        let row = self.row(row);
        let mut form = vec![row[1].clone()];
        form.extend_from_slice(&row[self.params_from()..]);
        let g = common(&form[1..]);
        if g.sign() > 0 {
            form.iter_mut().for_each(|v| *v = v.floor_div(&g));
        }
        form
    }

    /// Finds an unknown, the first in order, whose value is a fraction.
    pub fn fraction(&self) -> Result<Option<usize>, Error> {
        for place in self.places.iter().filter(|place| place.in_row) {
            let row = self.row(place.pos);
            let params = &row[self.params_from()..];
            if row[0] != T::one() {
                for value in std::iter::once(&row[1]).chain(params) {
                    if !fit(value.modulo(&row[0]))?.is_zero() {
                        return Ok(Some(place.pos));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Returns the values of the unknowns before the first that depends on `M`.
    pub fn values(&self) -> Vec<Vec<T>> {
        let value = |place: &UnknownPosition| {
            if !place.in_row {
                return None;
            }
            let row = self.row(place.pos);
            if row[BIG] != row[0] {
                return None;
            }
            let numbers = std::iter::once(&row[1]).chain(&row[self.params_from()..]);
            Some(numbers.map(|v| v.floor_div(&row[0])).collect())
        };
        self.places.iter().map_while(value).collect()
    }
}
