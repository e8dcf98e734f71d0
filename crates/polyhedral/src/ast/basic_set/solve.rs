//! Solving for columns, and getting rid of them.
//!
//! Elimination is that of Fourier and Motzkin, to the end, with constants tightened for integers and
//! implied rows taken out when there are many; `schedule/projection` goes only as far as rows do not
//! grow.

use super::rows::{combine, moved, negated, tightened};
use super::{BasicSet, Linear};
use crate::number::gcd;
use tangram_presburger::{Budget, Error, Relaxation};

impl BasicSet {
    /// Puts `value`, which does not use it, in the place of variable column `col`.
    pub fn substitute(&self, col: usize, value: &Linear) -> Result<Self, Error> {
        let mut result = Self::universe(self.vars);
        let value = result.row_of(value);
        let mut to: Vec<usize> = (0..=self.vars).collect();
        let replaced = |row: &[i128], to: &[usize], cols: usize| {
            let factor = row[col];
            let mut row = moved(row, to, cols);
            if factor != 0 {
                row[col] = 0;
                row = combine(1, &row, factor, &value)?;
            }
            Ok::<_, Error>(row)
        };
        for division in &self.part.divisions {
            let numerator = replaced(&division.numerator, &to, result.cols())?;
            to.push(result.division(&numerator, division.denominator));
        }
        let cols = result.cols();
        for row in &self.part.equalities {
            result.part.equalities.push(replaced(row, &to, cols)?);
        }
        for row in &self.part.inequalities {
            result.part.inequalities.push(replaced(row, &to, cols)?);
        }
        Ok(result)
    }

    /// Solves an equation for variable column `col`, if one says what it is.
    pub fn solved(&self, col: usize) -> Option<Linear> {
        let depends = self.dependent(col);
        let gives = |row: &&Vec<i128>| {
            row[col].abs() == 1
                && row.iter().zip(&depends).skip(1).filter(|(v, d)| **v != 0 && **d).count() == 1
        };
        let row = self.part.equalities.iter().find(gives)?;
        let sign = -row[col];
        let mut value: Vec<i128> = row.iter().map(|v| v * sign).collect();
        value[col] = 0;
        Some(self.linear(&value))
    }

    /// Adds combinations of equations without the divisions that use columns from `from` on.
    ///
    /// `x = 4 floor(i/4)` and `y = i - 4 floor(i/4)` give `i = x + y`.
    pub fn combine_equations(&mut self, from: usize) {
        let first = 1 + self.vars;
        let mut depends = vec![false; self.cols()];
        for col in from..first {
            depends.iter_mut().zip(self.dependent(col)).for_each(|(all, one)| *all |= one);
        }
        let mut rows = self.part.equalities.clone();
        for col in (first..self.cols()).filter(|col| depends[*col]) {
            let used = (0..rows.len()).filter(|i| rows[*i][col] != 0);
            let Some(pivot) = used.min_by_key(|i| rows[*i][col].unsigned_abs()) else { continue };
            let pivot = rows.swap_remove(pivot);
            let without = |row: &Vec<i128>| {
                let g = gcd(pivot[col], row[col]);
                let row = combine(pivot[col] / g, row, -row[col] / g, &pivot).ok()?;
                let g = row.iter().fold(0, |g, v| gcd(g, *v));
                (g != 0).then(|| row.iter().map(|v| v / g).collect())
            };
            rows = rows
                .iter()
                .filter_map(|row| if row[col] == 0 { Some(row.clone()) } else { without(row) })
                .collect();
        }
        for row in rows {
            if !self.part.equalities.contains(&row) {
                self.part.equalities.push(row);
            }
        }
    }

    /// Adds `col = value`.
    pub fn fix(&mut self, col: usize, value: &Linear) {
        let mut row = negated(&self.row_of(value));
        row[col] = 1;
        self.part.equalities.push(row);
    }

    /// Eliminates columns over the rationals; their divisions must be unfolded before.
    pub fn eliminate(&mut self, cols: &[usize], budget: &Budget) -> Result<(), Error> {
        for &col in cols {
            let eqs = &self.part.equalities;
            let pivot =
                (0..eqs.len()).filter(|i| eqs[*i][col] != 0).min_by_key(|i| eqs[*i][col].abs());
            if let Some(pivot) = pivot {
                let eq = self.part.equalities.swap_remove(pivot);
                let eq = if eq[col] < 0 { negated(&eq) } else { eq };
                for row in self.rows_mut().filter(|row| row[col] != 0) {
                    *row = combine(eq[col], row, -row[col], &eq)?;
                }
                for row in &mut self.part.inequalities {
                    tightened(row);
                }
                continue;
            }
            let rows = std::mem::take(&mut self.part.inequalities);
            let (used, mut kept): (Vec<_>, Vec<_>) = rows.into_iter().partition(|r| r[col] != 0);
            let (lower, upper): (Vec<_>, Vec<_>) = used.into_iter().partition(|r| r[col] > 0);
            for (l, u) in lower.iter().flat_map(|l| upper.iter().map(move |u| (l, u))) {
                let mut row = combine(-u[col], l, l[col], u)?;
                tightened(&mut row);
                if row[1..].iter().any(|v| *v != 0) && !kept.contains(&row) {
                    kept.push(row);
                }
            }
            if kept.len() > 40 {
                let fixed = Relaxation::new(self.cols() - 1);
                kept = essential(&kept, fixed, budget)?;
            }
            self.part.inequalities = kept;
        }
        Ok(())
    }
}

/// Returns the rows that `fixed` and the rows kept do not imply; earlier rows go first.
pub(in crate::ast) fn essential(
    rows: &[Vec<i128>],
    mut fixed: Relaxation,
    budget: &Budget,
) -> Result<Vec<Vec<i128>>, Error> {
    if fixed.is_empty() {
        return Ok(rows.to_vec());
    }
    // Mostly few are left of those that outer loops do not make sure of already.
    let mut open: Vec<&Vec<i128>> = Vec::new();
    for row in rows {
        if !fixed.implies(row, budget)? {
            open.push(row);
        }
    }
    let mut suffix = vec![fixed];
    for row in open.iter().rev() {
        let mut next = suffix[suffix.len() - 1].clone();
        next.add(row, budget)?;
        suffix.push(next);
    }
    if suffix[open.len()].is_empty() {
        return Ok(rows.to_vec());
    }
    let mut kept: Vec<Vec<i128>> = Vec::new();
    suffix.pop();
    for row in open {
        let Some(mut others) = suffix.pop() else { break };
        for row in &kept {
            others.add(row, budget)?;
        }
        if !others.implies(row, budget)? {
            kept.push(row.clone());
        }
    }
    Ok(kept)
}
