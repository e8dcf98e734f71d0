//! Splits by the remainders of variables modulo a period.

use super::Branch;
use crate::Integer;
use crate::div::Div;
use crate::system::{System, opposite};

/// The most conjunctions that one step may split one into, and all steps together.
const SPLITS: i64 = 12;
const WAYS: i64 = 24;

/// A division `q = floor((e + c x) / a)` of a variable `x`, both to eliminate.
pub(super) struct Strided {
    /// The rows `e + c x - a q >= 0` and `slack - (e + c x - a q) >= 0`.
    rows: [usize; 2],
    quotient: usize,
    variable: usize,
    /// The value of `q` grows by a whole number when `x` grows by this much.
    pub period: i64,
}

impl Branch {
    /// Finds a division of one variable, of those that repeat after few steps.
    pub(super) fn strided(&self) -> Option<Strided> {
        let mut best: Option<Strided> = None;
        let rows: Vec<&[Integer]> = self.system.ineqs.rows().collect();
        for (lower, row) in rows.iter().enumerate() {
            let mut used = self.left.iter().copied().filter(|col| !row[*col].is_zero());
            let (Some(x), Some(y), None) = (used.next(), used.next(), used.next()) else {
                continue;
            };
            let Some(upper) = rows.iter().position(|other| opposite(row, other)) else { continue };
            let slack = &row[0] + &rows[upper][0];
            for (quotient, variable) in [(x, y), (y, x)] {
                let a = -&row[quotient];
                if a <= 1 || slack >= a {
                    continue;
                }
                let period = a.div_exact(&a.gcd(&row[variable])).to_i64();
                let most = SPLITS.min(WAYS / self.ways);
                let most = best.as_ref().map_or(most, |best| best.period - 1);
                if let Some(period) = period.filter(|period| *period <= most) {
                    best = Some(Strided { rows: [lower, upper], quotient, variable, period });
                }
            }
        }
        best
    }

    /// Keeps the values of the variable that leave `rest`: the division does not use it then.
    pub(super) fn split(&self, found: &Strided, rest: i64) -> Self {
        let (q, x) = (found.quotient, found.variable);
        let [lower, upper] = found.rows;
        let row = self.system.ineqs.row(lower);
        let a = -&row[q];
        let slack = &row[0] + &self.system.ineqs.row(upper)[0];
        let (period, rest) = (Integer::from(found.period), Integer::from(rest));
        let step = (&row[x] * &period).div_exact(&a);
        let mut all = self.system.clone();
        for row in all.rows_mut() {
            // The variable is `period x + rest`, the quotient `q + step x`.
            row[0] = row[0].add_mul(&row[x], &rest);
            row[x] = (&row[x] * &period).add_mul(&row[q], &step);
        }
        let mut row = all.ineqs.row(lower).to_vec();
        row[q] = Integer::ZERO;
        let mut system = System::new(all.cols() - 1);
        system.eqs = all.eqs.clone();
        for (index, row) in all.ineqs.rows().enumerate() {
            // What follows from the definition is left out.
            if index != lower && (index != upper || slack < &a - 1) {
                system.ineqs.push(row);
            }
        }
        let mut divs = self.divs.clone();
        divs.push((q, Div { num: row, den: a }));
        let left = self.left.iter().copied().filter(|col| *col != q).collect();
        let ways = self.ways * found.period;
        Self { system, divs, left, ways, rounded: true, small: self.small }
    }

    /// Returns variables and periods: modulo those, some other variable has bounds to round.
    ///
    /// A bound `a x + l >= 0` can be rounded where `a` divides the coefficients in `l` of all
    /// variables to eliminate.
    pub(super) fn coupled(&self) -> Option<Vec<(usize, i64)>> {
        let mut best: Option<(i64, Vec<(usize, i64)>)> = None;
        for (&col, sign) in self.left.iter().flat_map(|col| [(col, 1), (col, -1)]) {
            let mut periods: Vec<(usize, Integer)> = Vec::new();
            for other in self.left.iter().copied().filter(|other| *other != col) {
                let mut period = Integer::ONE;
                for row in self.system.ineqs.rows().filter(|row| row[col].sign() == sign) {
                    let needed = row[col].div_exact(&row[col].gcd(&row[other]));
                    period = period.lcm(&needed);
                }
                if period > 1 {
                    periods.push((other, period));
                }
            }
            let most = SPLITS.min(WAYS / self.ways);
            let small = |(col, period): (usize, Integer)| Some((col, period.to_i64()?));
            let periods: Option<Vec<(usize, i64)>> = periods.into_iter().map(small).collect();
            let Some(periods) = periods else { continue };
            let cost =
                periods.iter().try_fold(1_i64, |cost, (_, period)| cost.checked_mul(*period));
            let Some(cost) = cost.filter(|cost| *cost <= most) else { continue };
            if best.as_ref().is_none_or(|(old, _)| cost < *old) {
                best = Some((cost, periods));
            }
        }
        best.map(|(_, periods)| periods).filter(|periods| !periods.is_empty())
    }

    /// Splits by the remainders of some variables: `x` becomes `period x + rest`.
    pub(super) fn residues(self, periods: &[(usize, i64)]) -> Vec<Self> {
        let mut all = vec![self];
        for (col, period) in periods {
            let mut next = Vec::new();
            for branch in &all {
                for rest in 0..*period {
                    let mut part = branch.clone();
                    part.ways *= period;
                    for row in part.system.rows_mut() {
                        row[0] = row[0].add_mul(&row[*col], &rest.into());
                        row[*col] *= *period;
                    }
                    next.push(part);
                }
            }
            all = next;
        }
        all
    }
}
