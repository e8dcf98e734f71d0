//! Divisions that others can stand in for.
//!
//! The value of one may matter only by bounds on its numerator, or only inside another:
//! `floor((floor(n/2) + m)/3)` is `floor((n + 2 m)/6)`.

use crate::basic_map::{BasicMap, Div, merge};
use crate::matrix::{combine, gcd};
use crate::system::System;
use crate::{Integer, Relation};

impl Relation {
    /// The same points, with bounds on numerators for bounds on divisions.
    pub(crate) fn plain(&self) -> Self {
        let parts = self.parts.iter().cloned().filter_map(BasicMap::plain).collect();
        Self { inhabited: self.inhabited, ..Self::new((*self.space).clone(), parts) }
    }
}

impl BasicMap {
    /// Writes bounds on divisions as bounds on their numerators, where no division is left then.
    ///
    /// Nothing is left of an obvious contradiction.
    pub fn plain(mut self) -> Option<Self> {
        loop {
            let before = (self.divs.len(), self.system.eqs.len());
            if before.0 == 0 {
                return Some(self);
            }
            self = self.with_plain_values().with_plain_bounds().tidied()?;
            // Opposite inequalities may have become an equation.
            if before.0 <= self.divs.len() && before.1 >= self.system.eqs.len() {
                return Some(self);
            }
        }
    }

    /// Writes `floor(n/d) = v` for a number `v` as `d v <= n < d v + d`, and `v` for the division.
    pub fn with_plain_values(mut self) -> Self {
        let mut divs = self.divs.to_vec();
        for (index, div) in self.divs.iter().enumerate() {
            let col = 1 + self.dims + index;
            let tells = |row: &&[Integer]| {
                row[col].is_unit() && row[1..].iter().filter(|v| **v != 0).count() == 1
            };
            let Some(row) = self.system.eqs.rows().find(tells) else { continue };
            let value = -&row[0] * &row[col];
            for row in self.system.eqs.rows_mut().chain(self.system.ineqs.rows_mut()) {
                let factor = std::mem::take(&mut row[col]);
                row[0] += &factor * &value;
            }
            for later in &mut divs[index + 1..] {
                let factor = std::mem::take(&mut later.num[col]);
                later.num[0] += &factor * &value;
            }
            let mut low = divs[index].num.clone();
            low.resize(self.system.cols(), Integer::ZERO);
            low[0] -= &div.den * &value;
            let mut high: Vec<Integer> = low.iter().map(|v| -v).collect();
            high[0] += &div.den - 1;
            self.system.ineqs.push(&low);
            self.system.ineqs.push(&high);
        }
        let mut result = Self::with_divs(self.dims, divs);
        result.system = self.system;
        result
    }

    /// Writes `a <= floor(n/d)` as `d a <= n` where that makes the division superfluous.
    pub fn with_plain_bounds(mut self) -> Self {
        for index in (0..self.divs.len()).rev() {
            let col = 1 + self.dims + index;
            let bare = self.system.eqs.rows().all(|row| row[col] == 0)
                && self.system.ineqs.rows().all(|row| row[col].is_zero() || row[col].is_unit())
                && self.divs[index + 1..].iter().all(|div| div.num[col] == 0);
            if !bare {
                continue;
            }
            let div = self.divs[index].clone();
            for row in self.system.ineqs.rows_mut().filter(|row| row[col] != 0) {
                let sign = std::mem::take(&mut row[col]);
                let mut new = combine(&div.den, row, &sign, &div.num);
                if sign.sign() < 0 {
                    new[0] += &div.den - 1;
                }
                row.clone_from_slice(&new);
            }
        }
        self
    }

    /// Writes divisions that only other divisions use as a part of those, as far as that goes.
    ///
    /// Each division is a dimension to whatever counts or searches; rows that use one keep it.
    pub fn without_nests(mut self) -> Self {
        let first = 1 + self.dims;
        let mut divs = self.divs.to_vec();
        let mut flat = false;
        for index in (0..divs.len()).rev() {
            let col = first + index;
            if divs[index + 1..].iter().all(|div| div.num[col] == 0) {
                continue;
            }
            if self.system.uses(col) {
                flat |= self.system.takes_out(&mut divs, first, index);
            } else if let Some(new) = flattened(&divs[index + 1..], col, &divs[index]) {
                divs.splice(index + 1.., new);
                // Nothing uses it any more, and neither do those inside it need to know of it.
                divs[index].num.fill(Integer::ZERO);
                flat = true;
            }
        }
        if !flat {
            return self;
        }
        let (divs, to) = merge(self.dims, &[], &divs);
        let cols = 1 + self.dims + divs.len();
        Self { dims: self.dims, divs: divs.into(), system: self.system.remap(cols, &to) }
    }
}

impl System {
    /// Writes `floor((m + d q)/d)` as `q + floor(m/d)` for the division `index`, `q`; says whether
    /// there is such a division. The columns of divisions begin at `first`.
    fn takes_out(&mut self, divs: &mut [Div], first: usize, index: usize) -> bool {
        let col = first + index;
        let mut any = false;
        for user in index + 1..divs.len() {
            let div = &mut divs[user];
            if div.num[col].is_zero() || !div.num[col].is_multiple_of(&div.den) {
                continue;
            }
            let times = std::mem::take(&mut div.num[col]).div_exact(&div.den);
            let later = divs[user + 1..].iter_mut().map(|div| &mut div.num[..]);
            for row in self.rows_mut().chain(later) {
                row[col] = row[col].add_mul(&times, &row[first + user]);
            }
            any = true;
        }
        any
    }
}

/// Writes `floor((q + m)/d)` with `q = floor(a/b)` as `floor((a + b m)/(b d))`, in all of `divs`;
/// nothing if one of them uses `q` otherwise.
fn flattened(divs: &[Div], col: usize, inner: &Div) -> Option<Vec<Div>> {
    let one = |div: &Div| {
        if div.num[col].is_zero() {
            return Some(div.clone());
        }
        let Div { mut num, den } = reduced(div);
        let factor = std::mem::take(&mut num[col]);
        if !factor.is_unit() {
            return None;
        }
        num.iter_mut().for_each(|v| *v *= &inner.den);
        // `-floor(a/b)` is `floor((b - 1 - a)/b)`.
        if factor.sign() < 0 {
            num[0] += &inner.den - 1;
        }
        for (value, inner) in num.iter_mut().zip(&inner.num) {
            *value = value.add_mul(&factor, inner);
        }
        Some(reduced(&Div { num, den: &den * &inner.den })).filter(|div| div.den != 1)
    };
    divs.iter().map(one).collect()
}

/// Writes a division with smaller numbers: `floor((2 n + 1)/4)` is `floor(n/2)`.
fn reduced(div: &Div) -> Div {
    let factor = gcd(&div.num[1..]).gcd(&div.den);
    let num = div.num.iter().map(|v| v.div_floor(&factor)).collect();
    Div { num, den: div.den.div_exact(&factor) }
}
