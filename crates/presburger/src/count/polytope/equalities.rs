//! Equations go first: what is left is full-dimensional, over integer coordinates.
//!
//! An equation with a dimension in it is brought to `g y + e = 0` by a unimodular
//! change of the dimensions, which keeps the number of points. For `g = 1` it is
//! solved. Else `y` is known from the parameters: it becomes one, and must be an
//! integer. An equation among parameters is solved the same way, so that at the end
//! `t`, the parameters left, range over a full-dimensional set, and each is an affine
//! expression of the given ones: `[n] -> { [x] : 2 x = n }` is one point for the
//! parameter `t = n / 2` where that is an integer.
//!
//! An [`Affine`] here is a rational combination of parameters, constant last as in the rows of
//! vertices and cones; it has no divisions, as those of `function/affine` have.

use super::cone::Row;
use crate::matrix::gcd;
use crate::{Budget, Error, Integer};

/// `num . (params, 1) / den`, with `den` at least 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Affine {
    pub num: Row,
    pub den: Integer,
}

impl Affine {
    pub fn variable(index: usize, params: usize) -> Self {
        let num = (0..=params).map(|i| Integer::from(i64::from(i == index))).collect();
        Self { num, den: Integer::ONE }
    }

    /// Returns `row . (defs, 1)`, where all `defs` are over `params` parameters.
    pub fn combination(row: &[Integer], defs: &[Self], params: usize) -> Self {
        let den = defs.iter().fold(Integer::ONE, |den, def| den.lcm(&def.den));
        let mut num = vec![Integer::ZERO; params + 1];
        for (factor, def) in row.iter().zip(defs).filter(|(factor, _)| !factor.is_zero()) {
            let factor = factor.mul(&den.div_exact(&def.den));
            for (sum, value) in num.iter_mut().zip(&def.num) {
                *sum = sum.add_mul(&factor, value);
            }
        }
        num[params] = num[params].add_mul(&row[defs.len()], &den);
        Self { num, den }.reduced()
    }

    /// Divides by `by`, which must not be 0.
    pub fn divided(mut self, by: &Integer) -> Self {
        self.den = self.den.mul(by);
        if self.den.sign() < 0 {
            self.den = self.den.neg();
            self.num.iter_mut().for_each(|v| *v = v.neg());
        }
        self.reduced()
    }

    pub fn reduced(mut self) -> Self {
        let g = gcd(&self.num).gcd(&self.den);
        if g > Integer::ONE {
            self.num.iter_mut().for_each(|v| *v = v.div_exact(&g));
            self.den = self.den.div_exact(&g);
        }
        self
    }
}

/// A conjunction without equations, and how it was come by.
///
/// Rows have the columns `[dims | params | 1]`.
#[derive(Debug, Clone)]
pub(crate) struct Reduced {
    pub dims: usize,
    pub ineqs: Vec<Row>,
    /// The parameters left, over the given ones.
    pub params: Vec<Affine>,
    /// What must be an integer for there to be points.
    pub integral: Vec<Affine>,
    /// What must be zero for there to be points.
    pub zero: Vec<Affine>,
    /// The given dimensions, as rows over what is left.
    pub coordinates: Vec<Row>,
    given: usize,
}

impl Reduced {
    pub fn new(dims: usize, params: usize, ineqs: Vec<Row>) -> Self {
        let unit = |i| (0..dims + params + 1).map(|j| Integer::from(i64::from(i == j))).collect();
        Self {
            dims,
            ineqs,
            params: (0..params).map(|i| Affine::variable(i, params)).collect(),
            integral: Vec::new(),
            zero: Vec::new(),
            coordinates: (0..dims).map(unit).collect(),
            given: params,
        }
    }

    pub fn cols(&self) -> usize {
        self.dims + self.params.len() + 1
    }

    /// Solves `eqs`; returns false if they have no integer solution.
    pub fn solve(&mut self, mut eqs: Vec<Row>, budget: &Budget) -> Result<bool, Error> {
        while let Some(row) = eqs.pop() {
            budget.spend(self.ineqs.len() + eqs.len())?;
            let of_dims = row[..self.dims].iter().any(|v| !v.is_zero());
            if of_dims {
                self.solve_for_dimension(row, &mut eqs);
            } else if !self.solve_for_parameter(row, &mut eqs) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn solve_for_dimension(&mut self, mut row: Row, eqs: &mut Vec<Row>) {
        let pivot = self.concentrate(0..self.dims, &mut row, eqs);
        if row[pivot].abs() == Integer::ONE {
            self.substitute(pivot, &row, eqs);
            self.drop_column(pivot, eqs);
            self.dims -= 1;
            return;
        }
        let last = self.cols() - 1;
        let def = Affine::combination(&row[self.dims..], &self.params, self.given);
        let def = def.divided(&row[pivot].neg());
        self.integral.push(def.clone());
        eqs.push(row);
        for row in self.rows(eqs) {
            row[pivot..last].rotate_left(1);
        }
        self.dims -= 1;
        self.params.push(def);
    }

    fn solve_for_parameter(&mut self, mut row: Row, eqs: &mut [Row]) -> bool {
        let last = self.cols() - 1;
        let g = gcd(&row[self.dims..last]);
        if g.is_zero() {
            return row[last].is_zero();
        }
        if !row[last].mod_floor(&g).is_zero() {
            return false;
        }
        row.iter_mut().for_each(|v| *v = v.div_exact(&g));
        let claim = Affine::combination(&row[self.dims..], &self.params, self.given);
        if claim.num.iter().any(|v| !v.is_zero()) {
            self.zero.push(claim);
        }
        let pivot = self.concentrate(self.dims..last, &mut row, eqs);
        self.substitute(pivot, &row, eqs);
        self.drop_column(pivot, eqs);
        self.params.remove(pivot - self.dims);
        true
    }

    fn rows<'a>(&'a mut self, eqs: &'a mut [Row]) -> impl Iterator<Item = &'a mut Row> {
        self.ineqs.iter_mut().chain(&mut self.coordinates).chain(eqs)
    }

    /// Changes variables in `range` until only one of them occurs in `row`; returns which.
    fn concentrate(
        &mut self,
        range: std::ops::Range<usize>,
        row: &mut Row,
        eqs: &mut [Row],
    ) -> usize {
        loop {
            let occurring = range.clone().filter(|i| !row[*i].is_zero());
            let pivot = occurring.min_by_key(|i| row[*i].abs()).unwrap_or(range.start);
            let other = range.clone().find(|i| *i != pivot && !row[*i].is_zero());
            let Some(other) = other else { return pivot };
            let times = row[other].div_floor(&row[pivot]).neg();
            for row in self.rows(eqs).chain([&mut *row]) {
                row[other] = row[other].add_mul(&times, &row[pivot]);
            }
            // The old pivot variable is the new one plus `times` the other.
            if range.start >= self.dims {
                let shift = self.params[other - self.dims].clone();
                let def = &self.params[pivot - self.dims];
                let given = self.given;
                let one = [Integer::ONE, times.neg(), Integer::ZERO];
                let new = Affine::combination(&one, &[def.clone(), shift], given);
                self.params[pivot - self.dims] = new;
            }
        }
    }

    /// Replaces the variable at `pivot`, whose factor in `row` is 1 or -1.
    fn substitute(&mut self, pivot: usize, row: &Row, eqs: &mut [Row]) {
        for target in self.rows(eqs) {
            let factor = target[pivot].mul(&row[pivot]).neg();
            if !factor.is_zero() {
                for (value, other) in target.iter_mut().zip(row) {
                    *value = value.add_mul(&factor, other);
                }
            }
        }
    }

    fn drop_column(&mut self, at: usize, eqs: &mut [Row]) {
        for row in self.rows(eqs) {
            row.remove(at);
        }
    }

    /// Divides inequalities by the factors of their variables and keeps the tightest of
    /// parallel ones. Returns false if one of them cannot hold.
    pub fn tighten(&mut self) -> bool {
        let last = self.cols() - 1;
        let mut kept: Vec<Row> = Vec::with_capacity(self.ineqs.len());
        for mut row in std::mem::take(&mut self.ineqs) {
            let g = gcd(&row[..last]);
            if g.is_zero() {
                if row[last].sign() < 0 {
                    return false;
                }
                continue;
            }
            if g > Integer::ONE {
                row.iter_mut().for_each(|v| *v = v.div_floor(&g));
            }
            match kept.iter_mut().find(|old| old[..last] == row[..last]) {
                Some(old) if row[last] < old[last] => *old = row,
                Some(_) => {}
                None => kept.push(row),
            }
        }
        self.ineqs = kept;
        true
    }
}
