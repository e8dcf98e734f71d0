//! Affine forms with integer divisions: the arithmetic below functions and the parser.
//!
//! It has columns, where an expression of a [`Formula`](crate::formula::Formula) has names; it becomes
//! one of these forms when a space is given. Counting has forms of its own: over floors that it
//! shares (`count/quasi_polynomial/floors`), and of rational parameters (`count/polytope/equalities`).

use crate::basic_map::{BasicMap, Div, merge};
use crate::matrix::{combine, divide, evaluate, gcd, remap, zeros};
use crate::{Error, Integer, Rational};

/// `row . (1, dimensions, divisions) / den`, where the divisions are those of the form.
///
/// `row` has a number per column; `den` is positive, or 0 for what is not a number (NaN): all of
/// `row` is 0 then. Whatever is computed from that form is not a number either, and no fact
/// about it holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Affine {
    pub dims: usize,
    pub divs: Vec<Div>,
    pub row: Vec<Integer>,
    pub den: Integer,
}

impl Affine {
    pub fn constant(value: Integer, dims: usize) -> Self {
        let mut row = zeros(1 + dims);
        row[0] = value;
        Self { dims, divs: Vec::new(), row, den: Integer::ONE }
    }

    /// Makes the form that is not a number.
    pub fn nan(dims: usize) -> Self {
        Self { den: Integer::ZERO, ..Self::constant(Integer::ZERO, dims) }
    }

    pub fn is_nan(&self) -> bool {
        self.den.is_zero()
    }

    pub fn dim(dim: usize, dims: usize) -> Self {
        let mut form = Self::constant(Integer::ZERO, dims);
        form.row[1 + dim] = Integer::ONE;
        form
    }

    /// Makes the form of `row` over the divisions `divs`; unused divisions are dropped.
    pub fn of_row(dims: usize, divs: &[Div], row: &[Integer], den: Integer) -> Self {
        Self { dims, divs: divs.to_vec(), row: row.to_vec(), den }.tidied()
    }

    pub fn is_constant(&self) -> bool {
        self.row[1..].iter().all(Integer::is_zero)
    }

    pub fn plus(&self, other: &Self) -> Self {
        self.add_mul(&Integer::ONE, other)
    }

    pub fn minus(&self, other: &Self) -> Self {
        self.add_mul(&Integer::MINUS_ONE, other)
    }

    /// Returns `self + factor * other`.
    pub fn add_mul(&self, factor: &Integer, other: &Self) -> Self {
        let one = Integer::ONE;
        if other.divs.is_empty() && self.den == one && other.den == one {
            let row = combine(&one, &self.row, factor, &other.row);
            return Self { dims: self.dims, divs: self.divs.clone(), row, den: one };
        }
        if self.is_nan() || other.is_nan() {
            return Self::nan(self.dims);
        }
        let (divs, to) = merge(self.dims, &self.divs, &other.divs);
        let cols = 1 + self.dims + divs.len();
        let g = self.den.gcd(&other.den);
        let (left, right) = (other.den.div_exact(&g), factor * self.den.div_exact(&g));
        let row = combine(&left, &self.row, &right, &remap(&other.row, cols, &to));
        Self { dims: self.dims, divs, row, den: &self.den * left }.tidied()
    }

    /// Returns `self * num / den` for a positive `den`; by 0, what is not a number.
    pub fn scaled(&self, num: &Integer, den: &Integer) -> Self {
        let row = self.row.iter().map(|v| v * num).collect();
        let (dims, divs, den) = (self.dims, self.divs.clone(), &self.den * den);
        Self { dims, divs, row, den }.tidied()
    }

    pub fn negated(&self) -> Self {
        Self { row: crate::matrix::negated(&self.row), ..self.clone() }
    }

    /// Returns the greatest integer that is not above the form.
    ///
    /// What is a multiple of the denominator moves out of the division, so that equal
    /// divisions are written alike.
    pub fn floor(&self) -> Self {
        if self.den == Integer::ONE || self.is_nan() {
            return self.clone();
        }
        let den = &self.den;
        let mut whole = vec![Integer::ZERO; self.row.len()];
        let mut num = vec![Integer::ZERO; self.row.len()];
        for (index, value) in self.row.iter().enumerate() {
            let mut rest = value.mod_floor(den);
            // Small coefficients of either sign; a constant is not negative.
            if index > 0 && rest > den - &rest {
                rest -= den;
            }
            whole[index] = (value - &rest).div_exact(den);
            num[index] = rest;
        }
        let g = gcd(&num[1..]).gcd(den);
        num.iter_mut().for_each(|v| *v = v.div_floor(&g));
        let den = den.div_exact(&g);
        let (dims, mut divs) = (self.dims, self.divs.clone());
        if den == Integer::ONE {
            whole[0] += &num[0];
            return Self { dims, divs, row: whole, den }.tidied();
        }
        if let Some(nested) = nested(dims, &divs, &num) {
            // A division of a division is one: floor((floor(n/d) + c)/m) is floor((n + c d)/(m d)).
            let inner = &divs[nested];
            let mut row = inner.num.clone();
            row[0] += &num[0] * &inner.den;
            row.resize(num.len(), Integer::ZERO);
            let flat = Self { dims, divs: divs.clone(), row, den: den * &inner.den };
            let whole = Self { dims, divs, row: whole, den: Integer::ONE };
            return whole.plus(&flat.tidied().floor());
        }
        match divs.iter().position(|div| div.den == den && same(&div.num, &num)) {
            Some(found) => whole[1 + dims + found] += 1,
            None => {
                divs.push(Div { num, den });
                whole.push(Integer::ONE);
            }
        }
        Self { dims, divs, row: whole, den: Integer::ONE }.tidied()
    }

    /// Returns `self - modulus * floor(self / modulus)`.
    pub fn modulo(&self, modulus: &Integer) -> Self {
        self.add_mul(&-modulus, &self.scaled(&Integer::ONE, modulus).floor())
    }

    /// Drops unused divisions and the factor that all numbers share.
    pub fn tidied(mut self) -> Self {
        if self.is_nan() {
            return Self::nan(self.dims);
        }
        if self.den != Integer::ONE {
            let g = gcd(&self.row).gcd(&self.den);
            divide(&mut self.row, &g);
            self.den = self.den.div_exact(&g);
        }
        let first = 1 + self.dims;
        let mut used: Vec<bool> = self.row[first..].iter().map(|v| *v != 0).collect();
        for index in (0..used.len()).rev() {
            if used[index] {
                for (inner, value) in self.divs[index].num[first..].iter().enumerate() {
                    used[inner] |= *value != 0;
                }
            }
        }
        if !used.contains(&false) {
            return self;
        }
        let mut to: Vec<Option<usize>> = (0..first).map(Some).collect();
        let mut divs: Vec<Div> = Vec::new();
        for (div, used) in self.divs.iter().zip(&used) {
            if *used {
                let num = remap(&div.num, first + divs.len(), &to);
                to.push(Some(first + divs.len()));
                divs.push(Div { num, den: div.den.clone() });
            } else {
                to.push(None);
            }
        }
        let row = remap(&self.row, first + divs.len(), &to);
        Self { dims: self.dims, divs, row, den: self.den }
    }

    /// Returns the points where the form is 0, or not negative.
    pub fn holds(&self, equation: bool) -> Option<BasicMap> {
        if self.is_nan() {
            return None;
        }
        let mut part = BasicMap::with_divs(self.dims, self.divs.clone());
        let rows = if equation { &mut part.system.eqs } else { &mut part.system.ineqs };
        rows.push(&self.row);
        part.tidied()
    }

    /// Returns the points where `self - other >= 0`; if `strict`, where it is positive.
    pub fn at_least(&self, other: &Self, strict: bool) -> Option<BasicMap> {
        let mut form = self.minus(other);
        // The numerator is an integer, so that above 0 means at least 1.
        form.row[0] -= i64::from(strict);
        form.holds(false)
    }

    /// Returns the value at a point.
    ///
    /// # Errors
    /// [`Error::NotANumber`].
    pub fn evaluate(&self, point: &[Integer]) -> Result<Rational, Error> {
        if self.is_nan() {
            return Err(Error::NotANumber);
        }
        let mut all = point.to_vec();
        for div in &self.divs {
            all.push(div.value(&all));
        }
        Ok(Rational::reduced(evaluate(&self.row, &all), self.den.clone()))
    }

    /// Moves dimension `i` to `to[i]` among `dims` dimensions.
    pub fn place(&self, dims: usize, to: &[usize]) -> Self {
        let mut all = vec![Some(0)];
        all.extend(to.iter().map(|to| Some(1 + to)));
        all.extend((0..self.divs.len()).map(|i| Some(1 + dims + i)));
        let cols = 1 + dims + self.divs.len();
        let divs = self.divs.iter().enumerate().map(|(i, div)| Div {
            num: remap(&div.num, cols, &all)[..1 + dims + i].to_vec(),
            den: div.den.clone(),
        });
        Self {
            dims,
            divs: divs.collect(),
            row: remap(&self.row, cols, &all),
            den: self.den.clone(),
        }
    }

    /// Returns `row . (1, values)`, where all values range over `dims` dimensions.
    pub fn sum(row: &[Integer], values: &[Self], dims: usize) -> Self {
        let mut sum = Self::constant(row[0].clone(), dims);
        for (factor, value) in row[1..].iter().zip(values).filter(|(factor, _)| !factor.is_zero()) {
            sum = sum.add_mul(factor, value);
        }
        sum
    }

    /// Replaces dimension `i` by `values[i]`, which range over `dims` dimensions.
    pub fn substitute(&self, values: &[Self], dims: usize) -> Self {
        let values = with_divisions(&self.divs, values, dims);
        Self::sum(&self.row, &values, dims).scaled(&Integer::ONE, &self.den)
    }
}

/// Appends the values of `divs`, whose dimensions have the given values.
fn with_divisions(divs: &[Div], values: &[Affine], dims: usize) -> Vec<Affine> {
    let mut values = values.to_vec();
    for div in divs {
        values.push(Affine::sum(&div.num, &values, dims).scaled(&Integer::ONE, &div.den).floor());
    }
    values
}

/// Returns the division that a row is, up to its constant.
fn nested(dims: usize, divs: &[Div], num: &[Integer]) -> Option<usize> {
    let mut used = (1..num.len()).filter(|col| !num[*col].is_zero());
    let (Some(col), None) = (used.next(), used.next()) else { return None };
    let unit = col > dims && num[col] == Integer::ONE && col - 1 - dims < divs.len();
    unit.then(|| col - 1 - dims)
}

/// Compares rows of which the longer one may end in zeros.
fn same(a: &[Integer], b: &[Integer]) -> bool {
    let len = a.len().min(b.len());
    a[..len] == b[..len] && a[len..].iter().chain(&b[len..]).all(Integer::is_zero)
}

impl BasicMap {
    /// Makes the points where all `zero` are 0 and no `positive` is negative.
    pub fn of_forms(dims: usize, zero: &[Affine], positive: &[Affine]) -> Option<Self> {
        if zero.iter().chain(positive).any(Affine::is_nan) {
            return None;
        }
        let mut divs: Vec<Div> = Vec::new();
        let mut placed = Vec::with_capacity(zero.len() + positive.len());
        for form in zero.iter().chain(positive) {
            let (all, to) = merge(dims, &divs, &form.divs);
            divs = all;
            placed.push(remap(&form.row, 1 + dims + divs.len(), &to));
        }
        let mut part = Self::with_divs(dims, divs);
        for (index, row) in placed.iter().enumerate() {
            let equation = index < zero.len();
            let rows = if equation { &mut part.system.eqs } else { &mut part.system.ineqs };
            rows.push(row);
        }
        part.tidied()
    }

    /// Returns the points at which `values`, over `dims` dimensions, are a point of `self`.
    pub fn preimage(&self, values: &[Affine], dims: usize) -> Option<Self> {
        let values = with_divisions(&self.divs, values, dims);
        let form = |row: &[Integer]| Affine::sum(row, &values, dims);
        let zero = self.system.eqs.rows().map(form).collect::<Vec<_>>();
        let positive = self.system.ineqs.rows().map(form).collect::<Vec<_>>();
        Self::of_forms(dims, &zero, &positive)
    }
}
