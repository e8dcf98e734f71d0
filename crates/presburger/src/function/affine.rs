//! Affine forms with integer divisions: the arithmetic below functions and the parser.

use crate::Error;
use crate::basic::{Basic, Div, merge};
use crate::matrix::{add, combine, evaluate, gcd, mul, remap};

/// `row . (1, dimensions, divisions) / den`, where the divisions are those of the form.
///
/// `row` has a number per column; `den` is positive.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Affine {
    pub dims: usize,
    pub divs: Vec<Div>,
    pub row: Vec<i128>,
    pub den: i128,
}

impl Affine {
    pub fn constant(value: i128, dims: usize) -> Self {
        let mut row = vec![0; 1 + dims];
        row[0] = value;
        Self { dims, divs: Vec::new(), row, den: 1 }
    }

    pub fn dim(dim: usize, dims: usize) -> Self {
        let mut form = Self::constant(0, dims);
        form.row[1 + dim] = 1;
        form
    }

    /// Makes the form of `row` over the divisions `divs`; unused divisions are dropped.
    pub fn of_row(dims: usize, divs: &[Div], row: &[i128], den: i128) -> Result<Self, Error> {
        Self { dims, divs: divs.to_vec(), row: row.to_vec(), den }.tidied()
    }

    pub fn is_constant(&self) -> bool {
        self.row[1..].iter().all(|v| *v == 0)
    }

    /// Returns `self + factor * other`.
    pub fn plus(&self, factor: i128, other: &Self) -> Result<Self, Error> {
        if other.divs.is_empty() && self.den == 1 && other.den == 1 {
            let row = combine(1, &self.row, factor, &other.row)?;
            return Ok(Self { dims: self.dims, divs: self.divs.clone(), row, den: 1 });
        }
        let (divs, to) = merge(self.dims, &self.divs, &other.divs);
        let cols = 1 + self.dims + divs.len();
        let g = gcd(&[self.den, other.den])?;
        let (left, right) = (other.den / g, mul(factor, self.den / g)?);
        let row = combine(left, &self.row, right, &remap(&other.row, cols, &to))?;
        Self { dims: self.dims, divs, row, den: mul(self.den, left)? }.tidied()
    }

    /// Returns `self * num / den` for a positive `den`.
    pub fn scaled(&self, num: i128, den: i128) -> Result<Self, Error> {
        let row = self.row.iter().map(|v| mul(*v, num)).collect::<Result<_, _>>()?;
        let (dims, divs, den) = (self.dims, self.divs.clone(), mul(self.den, den)?);
        Self { dims, divs, row, den }.tidied()
    }

    /// Returns the greatest integer that is not above the form.
    ///
    /// What is a multiple of the denominator moves out of the division, so that equal
    /// divisions are written alike.
    pub fn floor(&self) -> Result<Self, Error> {
        if self.den == 1 {
            return Ok(self.clone());
        }
        let den = self.den;
        let mut whole = vec![0; self.row.len()];
        let mut num = vec![0; self.row.len()];
        for (index, value) in self.row.iter().enumerate() {
            let mut rest = value.rem_euclid(den);
            // Small coefficients of either sign; a constant is not negative.
            if index > 0 && rest > den - rest {
                rest -= den;
            }
            whole[index] = value.checked_sub(rest).ok_or(Error::Overflow)? / den;
            num[index] = rest;
        }
        let g = gcd(&[gcd(&num[1..])?, den])?;
        num.iter_mut().for_each(|v| *v = v.div_euclid(g));
        let den = den / g;
        let (dims, mut divs) = (self.dims, self.divs.clone());
        if den == 1 {
            whole[0] = add(whole[0], num[0])?;
            return Self { dims, divs, row: whole, den: 1 }.tidied();
        }
        match divs.iter().position(|div| div.den == den && same(&div.num, &num)) {
            Some(found) => whole[1 + dims + found] = add(whole[1 + dims + found], 1)?,
            None => {
                divs.push(Div { num, den });
                whole.push(1);
            }
        }
        Self { dims, divs, row: whole, den: 1 }.tidied()
    }

    /// Returns `self - modulus * floor(self / modulus)`.
    pub fn modulo(&self, modulus: i128) -> Result<Self, Error> {
        self.plus(-modulus, &self.scaled(1, modulus)?.floor()?)
    }

    /// Drops unused divisions and the factor that all numbers share.
    pub fn tidied(mut self) -> Result<Self, Error> {
        if self.den != 1 {
            let g = gcd(&[gcd(&self.row)?, self.den])?;
            if g > 1 {
                self.row.iter_mut().for_each(|v| *v /= g);
                self.den /= g;
            }
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
            return Ok(self);
        }
        let mut to: Vec<Option<usize>> = (0..first).map(Some).collect();
        let mut divs: Vec<Div> = Vec::new();
        for (div, used) in self.divs.iter().zip(&used) {
            if *used {
                let num = remap(&div.num, first + divs.len(), &to);
                to.push(Some(first + divs.len()));
                divs.push(Div { num, den: div.den });
            } else {
                to.push(None);
            }
        }
        let row = remap(&self.row, first + divs.len(), &to);
        Ok(Self { dims: self.dims, divs, row, den: self.den })
    }

    /// Returns the points where the form is 0, or not negative.
    pub fn holds(&self, equation: bool) -> Result<Option<Basic>, Error> {
        let mut part = Basic::with_divs(self.dims, self.divs.clone());
        let rows = if equation { &mut part.system.eqs } else { &mut part.system.ineqs };
        rows.push(&self.row);
        part.tidied()
    }

    /// Returns the points where `self - other >= 0`; if `strict`, where it is positive.
    pub fn at_least(&self, other: &Self, strict: bool) -> Result<Option<Basic>, Error> {
        let mut form = self.plus(-1, other)?;
        // The numerator is an integer, so that above 0 means at least 1.
        form.row[0] = add(form.row[0], -i128::from(strict))?;
        form.holds(false)
    }

    /// Returns numerator and positive denominator of the value at a point.
    pub fn evaluate(&self, point: &[i128]) -> Result<(i128, i128), Error> {
        let mut all = point.to_vec();
        for div in &self.divs {
            all.push(evaluate(&div.num, &all)?.div_euclid(div.den));
        }
        let num = evaluate(&self.row, &all)?;
        let g = gcd(&[num, self.den])?.max(1);
        Ok((num / g, self.den / g))
    }

    /// Moves dimension `i` to `to[i]` among `dims` dimensions.
    pub fn place(&self, dims: usize, to: &[usize]) -> Self {
        let mut all = vec![Some(0)];
        all.extend(to.iter().map(|to| Some(1 + to)));
        all.extend((0..self.divs.len()).map(|i| Some(1 + dims + i)));
        let cols = 1 + dims + self.divs.len();
        let divs = self.divs.iter().enumerate().map(|(i, div)| Div {
            num: remap(&div.num, cols, &all)[..1 + dims + i].to_vec(),
            den: div.den,
        });
        Self { dims, divs: divs.collect(), row: remap(&self.row, cols, &all), den: self.den }
    }

    /// Returns `row . (1, values)`, where all values range over `dims` dimensions.
    pub fn sum(row: &[i128], values: &[Self], dims: usize) -> Result<Self, Error> {
        let mut sum = Self::constant(row[0], dims);
        for (factor, value) in row[1..].iter().zip(values).filter(|(factor, _)| **factor != 0) {
            sum = sum.plus(*factor, value)?;
        }
        Ok(sum)
    }

    /// Replaces dimension `i` by `values[i]`, which range over `dims` dimensions.
    pub fn substitute(&self, values: &[Self], dims: usize) -> Result<Self, Error> {
        let values = with_divisions(&self.divs, values, dims)?;
        Self::sum(&self.row, &values, dims)?.scaled(1, self.den)
    }
}

/// Appends the values of `divs`, whose dimensions have the given values.
fn with_divisions(divs: &[Div], values: &[Affine], dims: usize) -> Result<Vec<Affine>, Error> {
    let mut values = values.to_vec();
    for div in divs {
        values.push(Affine::sum(&div.num, &values, dims)?.scaled(1, div.den)?.floor()?);
    }
    Ok(values)
}

/// Compares rows of which the longer one may end in zeros.
fn same(a: &[i128], b: &[i128]) -> bool {
    let len = a.len().min(b.len());
    a[..len] == b[..len] && a[len..].iter().chain(&b[len..]).all(|v| *v == 0)
}

impl Basic {
    /// Makes the points where all `zero` are 0 and no `positive` is negative.
    pub fn of_forms(
        dims: usize,
        zero: &[Affine],
        positive: &[Affine],
    ) -> Result<Option<Self>, Error> {
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
    pub fn preimage(&self, values: &[Affine], dims: usize) -> Result<Option<Self>, Error> {
        let values = with_divisions(&self.divs, values, dims)?;
        let form = |row: &[i128]| Affine::sum(row, &values, dims);
        let zero = self.system.eqs.rows().map(form).collect::<Result<Vec<_>, _>>()?;
        let positive = self.system.ineqs.rows().map(form).collect::<Result<Vec<_>, _>>()?;
        Self::of_forms(dims, &zero, &positive)
    }
}
