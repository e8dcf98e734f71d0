//! Exact elimination of integer variables where few conjunctions are enough.
//!
//! Equations go first: a unimodular change of the variables to eliminate leaves
//! one of them, `x`, with coefficient `g` in an equation `g x + e = 0`. It is then
//! `floor(-e / g)`, and stays as a defined division unless `g` is 1. Inequalities
//! follow with Fourier-Motzkin as long as all coefficients of one side are 1. A bound
//! `a x + l >= 0` over kept columns alone is `x >= -floor(l / a)`: with the rounded value as a
//! division its coefficient is 1, so a last variable never splits the conjunction. Where `l` uses
//! variables to eliminate, or `floor((e + c x) / a)` is one of them, the conjunction is split by
//! their remainders modulo a period, of which the rounded values are linear.
//!
//! Source: W. Pugh, "The Omega test", Supercomputing 1991; D. Cooper, "Theorem proving in
//! arithmetic without multiplication", 1972, for periods. Divergence: strides and rounded
//! bounds become divisions, not fresh wildcards; variables that bound each other with larger
//! coefficients are left to parametric integer programming, which gives disjoint pieces.

use crate::matrix::{add, combine, mul, negated};
use crate::solve::bounds::reaches;
use crate::solve::redundancy::remove_redundant;
use crate::system::System;
use crate::{Budget, Error};

/// A column that elimination turned into `floor(row / den)`.
#[derive(Debug, Clone)]
pub(crate) struct NewDiv {
    pub col: usize,
    pub row: Vec<i128>,
    pub den: i128,
}

/// A conjunction, and the columns that are left to eliminate from its inequalities.
#[derive(Debug, Clone)]
pub(crate) struct Branch {
    pub system: System,
    pub divs: Vec<NewDiv>,
    pub left: Vec<usize>,
    /// How many conjunctions this is one of.
    pub ways: i128,
    /// Whether rounded bounds were combined, which leaves many rows that say nothing.
    pub rounded: bool,
}

/// The most conjunctions that one step may split one into, and all steps together.
const SPLITS: i128 = 12;
const WAYS: i128 = 24;

/// A division `q = floor((e + c x) / a)` of a variable `x`, both to eliminate.
struct Strided {
    /// The rows `e + c x - a q >= 0` and `slack - (e + c x - a q) >= 0`.
    rows: [usize; 2],
    quotient: usize,
    variable: usize,
    /// The value of `q` grows by a whole number when `x` grows by this much.
    period: i128,
}

/// Projects as many of the columns `cols` away as few conjunctions can express.
///
/// Where that takes more than one, `inhabited` is asked whether there is a point at all.
pub(crate) fn eliminate(
    system: System,
    cols: Vec<usize>,
    inhabited: impl Fn() -> Result<bool, Error>,
    budget: &Budget,
) -> Result<Vec<Branch>, Error> {
    let first = Branch { system, divs: Vec::new(), left: cols, ways: 1, rounded: false };
    let mut stack = vec![first];
    let mut done = Vec::new();
    while let Some(mut branch) = stack.pop() {
        // Some remainders have no points.
        let split = branch.ways > 1;
        if split && reaches(&[], &branch.system, budget)?.is_none() || !branch.shrink(budget)? {
            continue;
        }
        if !branch.left.is_empty() {
            if !split && !inhabited()? {
                return Ok(Vec::new());
            }
            // A row that says nothing may be all that ties two variables together.
            remove_redundant(&mut branch.system, budget)?;
            if !branch.shrink(budget)? {
                continue;
            }
        }
        match branch.strided()? {
            Some(found) => {
                for rest in (0..found.period).rev() {
                    stack.push(branch.split(&found, rest)?);
                }
            }
            None => match branch.coupled() {
                Some(periods) => stack.extend(branch.residues(&periods)?),
                None => done.push(branch),
            },
        }
    }
    Ok(done)
}

/// What becomes of inequalities over columns to eliminate, once equations are used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relaxed {
    /// They are combined, over the rationals.
    Combined,
    /// They are left out.
    Dropped,
}

/// Projects the columns `cols` away to a superset in one conjunction.
///
/// What equations say is kept exactly, as remainders; nothing if it cannot hold.
pub(crate) fn relax(
    system: System,
    cols: Vec<usize>,
    how: Relaxed,
    budget: &Budget,
) -> Result<Option<Branch>, Error> {
    let mut branch = Branch { system, divs: Vec::new(), left: cols, ways: 1, rounded: false };
    loop {
        budget.spend(branch.system.size())?;
        if !branch.system.normalize()? {
            return Ok(None);
        }
        if branch.solve_equation()? {
            continue;
        }
        if how == Relaxed::Dropped {
            branch.drop_bounds();
            return Ok(Some(branch));
        }
        let Some(col) = branch.cheapest(false) else { break };
        branch.shadow(col, None, budget)?;
    }
    branch.left.clear();
    Ok(Some(branch))
}

impl Branch {
    /// Eliminates while one conjunction is enough; false if it holds no point.
    fn shrink(&mut self, budget: &Budget) -> Result<bool, Error> {
        loop {
            budget.spend(self.system.size())?;
            if !self.system.normalize()? {
                return Ok(false);
            }
            if self.solve_equation()? {
                continue;
            }
            if let Some(col) = self.cheapest(true) {
                self.shadow(col, None, budget)?;
            } else if let Some((col, sign)) = self.roundable() {
                self.shadow(col, Some(sign), budget)?;
            } else {
                break;
            }
        }
        let system = &self.system;
        self.left.retain(|col| system.uses(*col));
        Ok(true)
    }

    /// Leaves out the inequalities over columns to eliminate.
    fn drop_bounds(&mut self) {
        let mut system = System::new(self.system.cols() - 1);
        system.eqs = self.system.eqs.clone();
        for row in self.system.ineqs.rows().filter(|row| self.left.iter().all(|c| row[*c] == 0)) {
            system.ineqs.push(row);
        }
        self.system = system;
        self.left.clear();
    }

    /// Finds a division of one variable, of those that repeat after few steps.
    fn strided(&self) -> Result<Option<Strided>, Error> {
        let mut best: Option<Strided> = None;
        let rows: Vec<&[i128]> = self.system.ineqs.rows().collect();
        let opposite = |a: &[i128], b: &[i128]| a[1..].iter().zip(&b[1..]).all(|(a, b)| *a == -*b);
        for (lower, row) in rows.iter().enumerate() {
            let mut used = self.left.iter().copied().filter(|col| row[*col] != 0);
            let (Some(x), Some(y), None) = (used.next(), used.next(), used.next()) else {
                continue;
            };
            let Some(upper) = rows.iter().position(|other| opposite(row, other)) else { continue };
            let slack = add(row[0], rows[upper][0])?;
            for (quotient, variable) in [(x, y), (y, x)] {
                let a = -row[quotient];
                if a <= 1 || slack >= a {
                    continue;
                }
                let period = a / crate::matrix::gcd(&[a, row[variable]])?;
                let most = SPLITS.min(WAYS / self.ways);
                if period <= best.as_ref().map_or(most, |best| best.period - 1) {
                    best = Some(Strided { rows: [lower, upper], quotient, variable, period });
                }
            }
        }
        Ok(best)
    }

    /// Keeps the values of the variable that leave `rest`: the division does not use it then.
    fn split(&self, found: &Strided, rest: i128) -> Result<Self, Error> {
        let (q, x) = (found.quotient, found.variable);
        let [lower, upper] = found.rows;
        let row = self.system.ineqs.row(lower);
        let a = row[q].checked_neg().ok_or(Error::Overflow)?;
        let slack = add(row[0], self.system.ineqs.row(upper)[0])?;
        let step = mul(row[x], found.period)? / a;
        let mut all = self.system.clone();
        for row in all.rows_mut() {
            // The variable is `period x + rest`, the quotient `q + step x`.
            row[0] = add(row[0], mul(row[x], rest)?)?;
            row[x] = add(mul(row[x], found.period)?, mul(row[q], step)?)?;
        }
        let mut row = all.ineqs.row(lower).to_vec();
        row[q] = 0;
        let mut system = System::new(all.cols() - 1);
        system.eqs = all.eqs.clone();
        for (index, row) in all.ineqs.rows().enumerate() {
            // What follows from the definition is left out.
            if index != lower && (index != upper || slack < a - 1) {
                system.ineqs.push(row);
            }
        }
        let mut divs = self.divs.clone();
        divs.push(NewDiv { col: q, row, den: a });
        let left = self.left.iter().copied().filter(|col| *col != q).collect();
        Ok(Self { system, divs, left, ways: self.ways * found.period, rounded: true })
    }

    /// Returns variables and periods: modulo those, some other variable has bounds to round.
    ///
    /// A bound `a x + l >= 0` can be rounded where `a` divides the coefficients in `l` of all
    /// variables to eliminate.
    fn coupled(&self) -> Option<Vec<(usize, i128)>> {
        let mut best: Option<(i128, Vec<(usize, i128)>)> = None;
        for (&col, sign) in self.left.iter().flat_map(|col| [(col, 1), (col, -1)]) {
            let mut periods: Vec<(usize, i128)> = Vec::new();
            for other in self.left.iter().copied().filter(|other| *other != col) {
                let mut period: i128 = 1;
                for row in self.system.ineqs.rows().filter(|row| row[col].signum() == sign) {
                    let a = row[col].checked_abs()?;
                    let needed = a / crate::matrix::gcd(&[a, row[other]]).ok()?;
                    let common = crate::matrix::gcd(&[period, needed]).ok()?;
                    period = (period / common).checked_mul(needed)?;
                }
                if period > 1 {
                    periods.push((other, period));
                }
            }
            let cost =
                periods.iter().try_fold(1_i128, |cost, (_, period)| cost.checked_mul(*period));
            let Some(cost) = cost.filter(|cost| *cost <= SPLITS && *cost <= WAYS / self.ways)
            else {
                continue;
            };
            if best.as_ref().is_none_or(|(old, _)| cost < *old) {
                best = Some((cost, periods));
            }
        }
        best.map(|(_, periods)| periods).filter(|periods| !periods.is_empty())
    }

    /// Splits by the remainders of some variables: `x` becomes `period x + rest`.
    fn residues(self, periods: &[(usize, i128)]) -> Result<Vec<Self>, Error> {
        let mut all = vec![self];
        for (col, period) in periods {
            let mut next = Vec::new();
            for branch in &all {
                for rest in 0..*period {
                    let mut part = branch.clone();
                    part.ways *= period;
                    for row in part.system.rows_mut() {
                        row[0] = add(row[0], mul(row[*col], rest)?)?;
                        row[*col] = mul(row[*col], *period)?;
                    }
                    next.push(part);
                }
            }
            all = next;
        }
        Ok(all)
    }

    fn solve_equation(&mut self) -> Result<bool, Error> {
        let eqs = &self.system.eqs;
        let found = (0..eqs.len()).find(|i| self.left.iter().any(|col| eqs.row(*i)[*col] != 0));
        let Some(index) = found else { return Ok(false) };
        let col = self.gather(index)?;
        let eq = self.system.eqs.row(index).to_vec();
        self.system.eqs.swap_remove(index);
        self.substitute(&eq, col)?;
        self.left.retain(|other| *other != col);
        let eq = if eq[col] < 0 { negated(&eq)? } else { eq };
        let den = eq[col];
        if den != 1 {
            let mut row = negated(&eq)?;
            row[col] = 0;
            if row[1..].iter().any(|v| *v != 0) {
                self.system.eqs.push(&eq);
                self.divs.push(NewDiv { col, row, den });
            }
        }
        Ok(true)
    }

    /// Changes variables until the equation has one column to eliminate; returns it.
    fn gather(&mut self, index: usize) -> Result<usize, Error> {
        loop {
            let row = self.system.eqs.row(index);
            let mut used = self.left.iter().copied().filter(|col| row[*col] != 0);
            let pivot = used.clone().min_by_key(|col| row[*col].unsigned_abs());
            let pivot = pivot.expect("the equation uses a column to eliminate");
            let Some(other) = used.find(|col| *col != pivot) else { return Ok(pivot) };
            let quotient = row[other].checked_div(row[pivot]).ok_or(Error::Overflow)?;
            for row in self.system.rows_mut() {
                if row[pivot] != 0 {
                    row[other] = add(row[other], mul(-quotient, row[pivot])?)?;
                }
            }
        }
    }

    fn substitute(&mut self, eq: &[i128], col: usize) -> Result<(), Error> {
        let g = eq[col].checked_abs().ok_or(Error::Overflow)?;
        for row in self.system.rows_mut() {
            if row[col] != 0 {
                let factor = mul(-row[col], eq[col].signum())?;
                let new = combine(g, row, factor, eq)?;
                row.copy_from_slice(&new);
            }
        }
        Ok(())
    }

    /// Returns the column that costs least; with `exactly`, where Fourier-Motzkin is exact.
    fn cheapest(&self, exactly: bool) -> Option<usize> {
        let mut best: Option<(usize, usize)> = None;
        for &col in &self.left {
            let (mut lower, mut upper) = ((0, true), (0, true));
            for row in self.system.ineqs.rows().filter(|row| row[col] != 0) {
                let side = if row[col] > 0 { &mut lower } else { &mut upper };
                *side = (side.0 + 1, side.1 && row[col].unsigned_abs() == 1);
            }
            let exact = lower.0 == 0 || upper.0 == 0 || lower.1 || upper.1;
            if (exact || !exactly) && lower.0 + upper.0 > 0 {
                let cost = (lower.0 * upper.0, col);
                best = Some(best.map_or(cost, |old| old.min(cost)));
            }
        }
        best.map(|(_, col)| col)
    }

    /// Returns a column, and the sign of its bounds that can be rounded: their coefficient divides
    /// those of all other columns to eliminate.
    ///
    /// Of several, the one that needs the fewest divisions.
    fn roundable(&self) -> Option<(usize, i128)> {
        let mut best: Option<(usize, usize, i128)> = None;
        for (&col, sign) in self.left.iter().flat_map(|col| [(col, 1), (col, -1)]) {
            let side = self.system.ineqs.rows().filter(|row| row[col].signum() == sign);
            let mut open = side.filter(|row| row[col].unsigned_abs() > 1).peekable();
            if open.peek().is_none() {
                continue;
            }
            let alone = |row: &[i128]| self.left.iter().all(|c| row[*c] % row[col] == 0);
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
    fn shadow(&mut self, col: usize, round: Option<i128>, budget: &Budget) -> Result<(), Error> {
        let rows: Vec<Vec<i128>> = self.system.ineqs.rows().map(<[i128]>::to_vec).collect();
        let side = |sign: i128| rows.iter().filter(move |row| row[col].signum() == sign);
        let (lowers, uppers): (Vec<_>, Vec<_>) = (side(1).collect(), side(-1).collect());
        budget.spend(lowers.len() * uppers.len())?;
        let (near, far) = if round == Some(-1) { (&uppers, &lowers) } else { (&lowers, &uppers) };
        let mut next: Vec<Vec<i128>> = side(0).cloned().collect();
        for bound in near {
            let mut rounded: Option<Vec<i128>> = None;
            for other in far {
                let (a, b) = (magnitude(bound[col])?, magnitude(other[col])?);
                let row = combine(b, bound, a, other)?;
                let exact = a == 1 || b == 1;
                if round.is_none() || exact || always_wide(&row, a, b)? {
                    next.push(row);
                    continue;
                }
                if rounded.is_none() {
                    rounded = Some(self.rounded(bound, col)?);
                }
                if let Some(rounded) = &rounded {
                    next.push(combine(b, rounded, 1, other)?);
                }
            }
        }
        let grown = next.len() > 2 * rows.len().max(12);
        let mut system = System::new(self.system.cols() - 1);
        system.eqs = self.system.eqs.clone();
        next.iter().for_each(|row| system.ineqs.push(row));
        self.system = system;
        self.rounded |= round.is_some();
        self.left.retain(|other| *other != col);
        if grown && self.system.normalize()? {
            remove_redundant(&mut self.system, budget)?;
        }
        Ok(())
    }

    /// Rewrites `a x + a y + l >= 0` as `x + y + floor(l / a) >= 0`, with a column for the
    /// division; `x` and `y` are to be eliminated.
    fn rounded(&mut self, bound: &[i128], col: usize) -> Result<Vec<i128>, Error> {
        let den = magnitude(bound[col])?;
        let mut row = bound.to_vec();
        self.left.iter().for_each(|col| row[*col] = 0);
        let known = self.divs.iter().find(|div| div.den == den && same(&div.row, &row));
        let new = known.map_or(self.system.cols(), |div| div.col);
        if known.is_none() {
            let all: Vec<Option<usize>> = (0..new).map(Some).collect();
            self.system = self.system.remap(new + 1, &all);
            self.divs.push(NewDiv { col: new, row, den });
        }
        let mut result = vec![0; self.system.cols()];
        for col in &self.left {
            result[*col] = bound[*col] / den;
        }
        result[new] = 1;
        Ok(result)
    }
}

fn magnitude(value: i128) -> Result<i128, Error> {
    value.checked_abs().ok_or(Error::Overflow)
}

/// Says whether two rows are the same but for zeros at the end.
fn same(a: &[i128], b: &[i128]) -> bool {
    let n = a.len().min(b.len());
    a[..n] == b[..n] && a[n..].iter().chain(&b[n..]).all(|v| *v == 0)
}

/// Says whether parallel bounds with coefficients `a` and `b` always leave an integer between.
fn always_wide(row: &[i128], a: i128, b: i128) -> Result<bool, Error> {
    Ok(row[1..].iter().all(|v| *v == 0) && row[0] >= mul(a - 1, b - 1)?)
}
