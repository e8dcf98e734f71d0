//! Divisions whose values matter only by bounds on their numerators.

use crate::basic::Basic;
use crate::matrix::combine;
use crate::{Integer, Relation};

impl Relation {
    /// The same points, with bounds on numerators for bounds on divisions.
    pub(crate) fn plain(&self) -> Self {
        let parts = self.parts.iter().cloned().filter_map(Basic::plain).collect();
        Self { inhabited: self.inhabited, ..Self::new((*self.space).clone(), parts) }
    }
}

impl Basic {
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
}
