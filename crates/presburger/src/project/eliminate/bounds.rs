//! Fourier-Motzkin on integer variables: lower bounds with upper bounds, rounded where need be.

use super::{Branch, DIVS, ROWS, SOON};
use crate::div::Div;
use crate::matrix::{Matrix, combine, zeros};
use crate::solve::redundancy::remove_redundant;
use crate::{Budget, Error, Integer};

impl Branch {
    /// Returns the column that costs least; with `exactly`, where Fourier-Motzkin is exact.
    pub(super) fn cheapest(&self, exactly: bool) -> Option<usize> {
        let mut best: Option<(usize, usize)> = None;
        for &col in &self.left {
            let (mut lower, mut upper) = ((0, true), (0, true));
            for row in self.system.ineqs.rows().filter(|row| !row[col].is_zero()) {
                let side = if row[col].sign() > 0 { &mut lower } else { &mut upper };
                *side = (side.0 + 1, side.1 && row[col].is_unit());
            }
            let exact = lower.0 == 0 || upper.0 == 0 || lower.1 || upper.1;
            if lower.0 + upper.0 > 0 && (exact || !exactly || self.is_wide(col)) {
                let cost = (lower.0 * upper.0, col);
                best = Some(best.map_or(cost, |old| old.min(cost)));
            }
        }
        best.map(|(_, col)| col)
    }

    /// Returns whether bounds of `col` with larger coefficients always leave an integer between, as
    /// those of a division do.
    fn is_wide(&self, col: usize) -> bool {
        let side = |sign: i32| {
            let rows = self.system.ineqs.rows();
            rows.filter(move |row| row[col].sign() == sign && !row[col].is_unit())
        };
        side(1).all(|lower| {
            side(-1).all(|upper| {
                let (a, b) = (lower[col].abs(), upper[col].abs());
                always_wide(&combine(&b, lower, &a, upper), &a, &b)
            })
        })
    }

    /// Returns a column, and the sign of its bounds that can be rounded: their coefficient divides
    /// those of all other columns to eliminate.
    ///
    /// Of several, the one that needs the fewest divisions.
    pub(super) fn roundable(&self) -> Option<(usize, i32)> {
        let mut best: Option<(usize, usize, i32)> = None;
        for (&col, sign) in self.left.iter().flat_map(|col| [(col, 1), (col, -1)]) {
            let side = self.system.ineqs.rows().filter(|row| row[col].sign() == sign);
            let mut open = side.filter(|row| !row[col].is_unit()).peekable();
            if open.peek().is_none() {
                continue;
            }
            let alone =
                |row: &[Integer]| self.left.iter().all(|c| row[*c].is_multiple_of(&row[col]));
            let mut cost = 0;
            if open.all(|row| {
                cost += 1;
                alone(row)
            }) {
                let found = (cost, col, sign);
                best = Some(best.map_or(found, |old| old.min(found)));
            }
        }
        best.map(|(_, col, sign)| (col, sign))
    }

    /// Combines each lower with each upper bound of `col`.
    ///
    /// Pairs of larger coefficients use the rounded bounds of the sign `round`.
    pub(super) fn shadow(
        &mut self,
        col: usize,
        round: Option<i32>,
        budget: &Budget,
    ) -> Result<(), Error> {
        let cols = self.system.cols();
        let rows = std::mem::replace(&mut self.system.ineqs, Matrix::new(cols));
        let side = |sign: i32| rows.rows().filter(move |row| row[col].sign() == sign);
        let (lowers, uppers): (Vec<_>, Vec<_>) = (side(1).collect(), side(-1).collect());
        budget.spend(lowers.len() * uppers.len())?;
        let (near, far) = if round == Some(-1) { (&uppers, &lowers) } else { (&lowers, &uppers) };
        let mut next = Matrix::new(cols);
        next.reserve(rows.len() - near.len() - far.len() + near.len() * far.len());
        side(0).for_each(|row| next.push(row));
        for bound in near {
            let mut rounded: Option<Vec<Integer>> = None;
            for other in far {
                let (a, b) = (bound[col].abs(), other[col].abs());
                let exact = a == Integer::ONE || b == Integer::ONE;
                if round.is_none() || exact || always_wide(&combine(&b, bound, &a, other), &a, &b) {
                    next.push_combined(&b, bound, &a, other);
                    continue;
                }
                let rounded = rounded.get_or_insert_with(|| self.rounded(bound, col));
                if self.system.cols() > next.cols {
                    let same: Vec<Option<usize>> = (0..next.cols).map(Some).collect();
                    next = next.remap(self.system.cols(), &same);
                }
                next.push_combined(&b, rounded, &Integer::ONE, other);
            }
        }
        if self.small && (next.len() > ROWS || self.divs.len() > DIVS) {
            return Err(Error::Steps { limit: SOON });
        }
        let grown = next.len() > 2 * rows.len().max(12);
        self.system.ineqs = next;
        self.rounded |= round.is_some();
        self.left.retain(|other| *other != col);
        if grown && self.system.normalize() {
            remove_redundant(&mut self.system, budget)?;
        }
        Ok(())
    }

    /// Rewrites `a x + a y + l >= 0` as `x + y + floor(l / a) >= 0`, with a column for the
    /// division; `x` and `y` are to be eliminated.
    fn rounded(&mut self, bound: &[Integer], col: usize) -> Vec<Integer> {
        let den = bound[col].abs();
        let mut row = bound.to_vec();
        self.left.iter().for_each(|col| row[*col] = Integer::ZERO);
        let known = self.divs.iter().find(|(_, div)| div.den == den && same(&div.num, &row));
        let new = known.map_or(self.system.cols(), |(col, _)| *col);
        if known.is_none() {
            let all: Vec<Option<usize>> = (0..new).map(Some).collect();
            self.system = self.system.remap(new + 1, &all);
            self.divs.push((new, Div { num: row, den: den.clone() }));
        }
        let mut result = zeros(self.system.cols());
        for col in &self.left {
            result[*col] = bound[*col].div_exact(&den);
        }
        result[new] = Integer::ONE;
        result
    }
}

/// Returns whether two rows are the same but for zeros at the end.
fn same(a: &[Integer], b: &[Integer]) -> bool {
    let n = a.len().min(b.len());
    a[..n] == b[..n] && a[n..].iter().chain(&b[n..]).all(Integer::is_zero)
}

/// Returns whether parallel bounds with coefficients `a` and `b` always leave an integer between.
fn always_wide(row: &[Integer], a: &Integer, b: &Integer) -> bool {
    row[1..].iter().all(Integer::is_zero) && row[0] >= (a - 1) * (b - 1)
}
