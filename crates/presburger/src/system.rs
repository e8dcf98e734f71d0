//! Conjunctions of linear equations and inequalities over the integers.
//!
//! A row `[c, a1, .., an]` stands for `c + a1 x1 + .. + an xn`, which is zero in
//! an equation and not negative in an inequality.

use rustc_hash::FxHashMap;

use crate::Error;
use crate::matrix::{Matrix, add, gcd, negated};

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct System {
    pub eqs: Matrix,
    pub ineqs: Matrix,
}

impl System {
    pub fn new(vars: usize) -> Self {
        Self { eqs: Matrix::new(1 + vars), ineqs: Matrix::new(1 + vars) }
    }

    pub fn cols(&self) -> usize {
        self.eqs.cols
    }

    pub fn size(&self) -> usize {
        self.eqs.len() + self.ineqs.len()
    }

    pub fn remap(&self, cols: usize, to: &[Option<usize>]) -> Self {
        Self { eqs: self.eqs.remap(cols, to), ineqs: self.ineqs.remap(cols, to) }
    }

    pub fn rows_mut(&mut self) -> impl Iterator<Item = &mut [i128]> {
        self.eqs.rows_mut().chain(self.ineqs.rows_mut())
    }

    /// Adds all rows of `other`.
    pub fn extend(&mut self, other: &Self) {
        other.eqs.rows().for_each(|row| self.eqs.push(row));
        other.ineqs.rows().for_each(|row| self.ineqs.push(row));
    }

    pub fn uses(&self, col: usize) -> bool {
        self.eqs.rows().chain(self.ineqs.rows()).any(|row| row[col] != 0)
    }

    /// Returns all rows as inequalities.
    pub fn half_spaces(&self) -> Result<Vec<Vec<i128>>, Error> {
        let mut rows: Vec<Vec<i128>> = self.ineqs.rows().map(<[i128]>::to_vec).collect();
        for row in self.eqs.rows() {
            rows.push(row.to_vec());
            rows.push(negated(row)?);
        }
        Ok(rows)
    }

    /// Divides by common factors, tightens constants, keeps the tightest of
    /// parallel rows and turns opposite pairs into equations.
    ///
    /// Returns false if a row, or a pair of rows, has no integer solution.
    pub fn normalize(&mut self) -> Result<bool, Error> {
        let mut tightest = FxHashMap::<Vec<i128>, i128>::default();
        let mut order = Vec::new();
        for row in self.ineqs.rows() {
            let g = gcd(&row[1..])?;
            if g == 0 {
                if row[0] < 0 {
                    return Ok(false);
                }
                continue;
            }
            let normal: Vec<i128> = row[1..].iter().map(|v| v / g).collect();
            let constant = row[0].div_euclid(g);
            match tightest.get_mut(&normal) {
                Some(old) => *old = constant.min(*old),
                None => {
                    order.push(normal.clone());
                    tightest.insert(normal, constant);
                }
            }
        }
        let mut result = Self::new(self.cols() - 1);
        for normal in order {
            if !result.keep(&normal, &tightest)? {
                return Ok(false);
            }
        }
        let consistent = result.keep_equations(&self.eqs)?;
        *self = result;
        Ok(consistent)
    }

    fn keep(&mut self, normal: &[i128], all: &FxHashMap<Vec<i128>, i128>) -> Result<bool, Error> {
        let constant = all[normal];
        let mut row = vec![constant];
        row.extend_from_slice(normal);
        let opposite = negated(normal)?;
        match all.get(&opposite) {
            None => self.ineqs.push(&row),
            Some(other) => match add(constant, *other)? {
                slack if slack < 0 => return Ok(false),
                // Both rows of the pair come by; the one with the larger normal stays.
                0 if normal > opposite.as_slice() => self.eqs.push(&row),
                0 => {}
                _ => self.ineqs.push(&row),
            },
        }
        Ok(true)
    }

    fn keep_equations(&mut self, eqs: &Matrix) -> Result<bool, Error> {
        for row in eqs.rows() {
            let g = gcd(&row[1..])?;
            if g == 0 || row[0] % g != 0 {
                if row[0] != 0 {
                    return Ok(false);
                }
                continue;
            }
            let leading = row[1..].iter().find(|v| **v != 0).map_or(1, |v| v.signum());
            let row: Vec<i128> = row.iter().map(|v| v / g * leading).collect();
            if !self.eqs.rows().any(|old| old == row) {
                self.eqs.push(&row);
            }
        }
        Ok(true)
    }
}
