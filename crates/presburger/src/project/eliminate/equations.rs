//! Equations over columns to eliminate: each takes one of them away.

use super::Branch;
use crate::Integer;
use crate::div::Div;
use crate::matrix::{combine, negated};

impl Branch {
    /// Uses up the equations that say what a column to eliminate is; says whether there were any.
    pub(super) fn solve_units(&mut self) -> bool {
        let before = self.left.len();
        while let Some((index, col)) = self.unit() {
            let eq = self.system.eqs.row(index).to_vec();
            self.system.eqs.swap_remove(index);
            self.substitute(&eq, col);
            self.left.retain(|other| *other != col);
        }
        self.left.len() < before
    }

    /// Finds an equation with the coefficient 1 or -1 for a column to eliminate.
    fn unit(&self) -> Option<(usize, usize)> {
        let unit = |row: &[Integer]| self.left.iter().copied().find(|col| row[*col].is_unit());
        self.system.eqs.rows().enumerate().find_map(|(index, row)| Some((index, unit(row)?)))
    }

    pub(super) fn solve_equation(&mut self) -> bool {
        let eqs = &self.system.eqs;
        let found =
            (0..eqs.len()).find(|i| self.left.iter().any(|col| !eqs.row(*i)[*col].is_zero()));
        let Some(index) = found else { return false };
        let col = self.gather(index);
        let eq = self.system.eqs.row(index).to_vec();
        self.system.eqs.swap_remove(index);
        self.substitute(&eq, col);
        self.left.retain(|other| *other != col);
        let eq = if eq[col].sign() < 0 { negated(&eq) } else { eq };
        let den = eq[col].clone();
        if den != Integer::ONE {
            let mut row = negated(&eq);
            row[col] = Integer::ZERO;
            if row[1..].iter().any(|v| *v != 0) {
                self.system.eqs.push(&eq);
                self.divs.push((col, Div { num: row, den }));
            }
        }
        true
    }

    /// Changes variables until the equation has one column to eliminate; returns it.
    fn gather(&mut self, index: usize) -> usize {
        loop {
            let row = self.system.eqs.row(index);
            let mut used = self.left.iter().copied().filter(|col| !row[*col].is_zero());
            let pivot = used.clone().min_by_key(|col| row[*col].abs());
            let pivot = pivot.expect("the equation uses a column to eliminate");
            let Some(other) = used.find(|col| *col != pivot) else { return pivot };
            // Rounded towards zero or not: the remainder is smaller than the pivot.
            let quotient = -row[other].div_floor(&row[pivot]);
            for row in self.system.rows_mut() {
                if !row[pivot].is_zero() {
                    row[other] = row[other].add_mul(&quotient, &row[pivot]);
                }
            }
        }
    }

    fn substitute(&mut self, eq: &[Integer], col: usize) {
        let g = eq[col].abs();
        for row in self.system.rows_mut() {
            if !row[col].is_zero() {
                let factor = if eq[col].sign() > 0 { -&row[col] } else { row[col].clone() };
                let new = combine(&g, row, &factor, eq);
                row.clone_from_slice(&new);
            }
        }
    }
}
