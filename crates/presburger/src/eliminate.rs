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

use crate::matrix::{combine, negated, zeros};
use crate::solve::bounds::reaches;
use crate::solve::redundancy::remove_redundant;
use crate::system::{System, opposite};
use crate::{Budget, Error, Integer};

/// A column that elimination turned into `floor(row / den)`.
#[derive(Debug, Clone)]
pub(crate) struct NewDiv {
    pub col: usize,
    pub row: Vec<Integer>,
    pub den: Integer,
}

/// A conjunction, and the columns that are left to eliminate from its inequalities.
#[derive(Debug, Clone)]
pub(crate) struct Branch {
    pub system: System,
    pub divs: Vec<NewDiv>,
    pub left: Vec<usize>,
    /// How many conjunctions this is one of.
    pub ways: i64,
    /// Whether rounded bounds were combined, which leaves many rows that say nothing.
    pub rounded: bool,
    /// Whether to stop where there are many rows or divisions.
    small: bool,
}

/// The most conjunctions that one step may split one into, and all steps together.
const SPLITS: i64 = 12;
const WAYS: i64 = 24;

/// A division `q = floor((e + c x) / a)` of a variable `x`, both to eliminate.
struct Strided {
    /// The rows `e + c x - a q >= 0` and `slack - (e + c x - a q) >= 0`.
    rows: [usize; 2],
    quotient: usize,
    variable: usize,
    /// The value of `q` grows by a whole number when `x` grows by this much.
    period: i64,
}

/// What elimination may take, and the rows and divisions of a conjunction, before other ways to
/// project are tried: rounded bounds that are combined and rounded again grow like a tower.
const SOON: u64 = 40_000;
const ROWS: usize = 80;
const DIVS: usize = 12;

/// As [`eliminate`]; nothing if that takes long or gives large conjunctions.
pub(crate) fn eliminate_soon(
    system: System,
    cols: Vec<usize>,
    inhabited: impl Fn() -> Result<bool, Error>,
    budget: &Budget,
) -> Result<Option<Vec<Branch>>, Error> {
    let first = Branch { small: true, ..Branch::new(system, cols) };
    budget.attempt(SOON, |budget| run(first, inhabited, budget))
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
    run(Branch::new(system, cols), inhabited, budget)
}

fn run(
    first: Branch,
    inhabited: impl Fn() -> Result<bool, Error>,
    budget: &Budget,
) -> Result<Vec<Branch>, Error> {
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
        match branch.strided() {
            Some(found) => {
                for rest in (0..found.period).rev() {
                    stack.push(branch.split(&found, rest));
                }
            }
            None => match branch.coupled() {
                Some(periods) => stack.extend(branch.residues(&periods)),
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
    let mut branch = Branch::new(system, cols);
    loop {
        budget.spend(branch.system.size())?;
        if !branch.system.normalize() {
            return Ok(None);
        }
        if branch.solve_equation() {
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
    /// Makes the branch that has all of `cols` left.
    pub fn new(system: System, left: Vec<usize>) -> Self {
        Self { system, divs: Vec::new(), left, ways: 1, rounded: false, small: false }
    }

    /// Eliminates while one conjunction is enough; false if it holds no point.
    fn shrink(&mut self, budget: &Budget) -> Result<bool, Error> {
        loop {
            budget.spend(self.system.size())?;
            if !self.system.normalize() {
                return Ok(false);
            }
            if self.solve_units() || self.solve_equation() {
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
        for row in
            self.system.ineqs.rows().filter(|row| self.left.iter().all(|c| row[*c].is_zero()))
        {
            system.ineqs.push(row);
        }
        self.system = system;
        self.left.clear();
    }

    /// Finds a division of one variable, of those that repeat after few steps.
    fn strided(&self) -> Option<Strided> {
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
    fn split(&self, found: &Strided, rest: i64) -> Self {
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
        divs.push(NewDiv { col: q, row, den: a });
        let left = self.left.iter().copied().filter(|col| *col != q).collect();
        let ways = self.ways * found.period;
        Self { system, divs, left, ways, rounded: true, small: self.small }
    }

    /// Returns variables and periods: modulo those, some other variable has bounds to round.
    ///
    /// A bound `a x + l >= 0` can be rounded where `a` divides the coefficients in `l` of all
    /// variables to eliminate.
    fn coupled(&self) -> Option<Vec<(usize, i64)>> {
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
    fn residues(self, periods: &[(usize, i64)]) -> Vec<Self> {
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

    /// Uses up the equations that say what a column to eliminate is; says whether there were any.
    fn solve_units(&mut self) -> bool {
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

    fn solve_equation(&mut self) -> bool {
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
                self.divs.push(NewDiv { col, row, den });
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

    /// Returns the column that costs least; with `exactly`, where Fourier-Motzkin is exact.
    fn cheapest(&self, exactly: bool) -> Option<usize> {
        let mut best: Option<(usize, usize)> = None;
        for &col in &self.left {
            let (mut lower, mut upper) = ((0, true), (0, true));
            for row in self.system.ineqs.rows().filter(|row| !row[col].is_zero()) {
                let side = if row[col].sign() > 0 { &mut lower } else { &mut upper };
                *side = (side.0 + 1, side.1 && row[col].is_unit());
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
    fn roundable(&self) -> Option<(usize, i32)> {
        let mut best: Option<(usize, usize, i32)> = None;
        for (&col, sign) in self.left.iter().flat_map(|col| [(col, 1), (col, -1)]) {
            let side = self.system.ineqs.rows().filter(|row| row[col].sign() == sign);
            let mut open = side.filter(|row| !row[col].is_unit()).peekable();
            if open.peek().is_none() {
                continue;
            }
            let alone =
                |row: &[Integer]| self.left.iter().all(|c| row[*c].is_multiple_of(&row[col]));
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
    fn shadow(&mut self, col: usize, round: Option<i32>, budget: &Budget) -> Result<(), Error> {
        let rows: Vec<Vec<Integer>> = self.system.ineqs.rows().map(<[Integer]>::to_vec).collect();
        let side = |sign: i32| rows.iter().filter(move |row| row[col].sign() == sign);
        let (lowers, uppers): (Vec<_>, Vec<_>) = (side(1).collect(), side(-1).collect());
        budget.spend(lowers.len() * uppers.len())?;
        let (near, far) = if round == Some(-1) { (&uppers, &lowers) } else { (&lowers, &uppers) };
        let mut next: Vec<Vec<Integer>> = side(0).cloned().collect();
        for bound in near {
            let mut rounded: Option<Vec<Integer>> = None;
            for other in far {
                let (a, b) = (bound[col].abs(), other[col].abs());
                let row = combine(&b, bound, &a, other);
                let exact = a == Integer::ONE || b == Integer::ONE;
                if round.is_none() || exact || always_wide(&row, &a, &b) {
                    next.push(row);
                    continue;
                }
                if rounded.is_none() {
                    rounded = Some(self.rounded(bound, col));
                }
                if let Some(rounded) = &rounded {
                    next.push(combine(&b, rounded, &Integer::ONE, other));
                }
            }
        }
        if self.small && (next.len() > ROWS || self.divs.len() > DIVS) {
            return Err(Error::Steps { limit: SOON });
        }
        let grown = next.len() > 2 * rows.len().max(12);
        let mut system = System::new(self.system.cols() - 1);
        system.eqs = self.system.eqs.clone();
        next.iter().for_each(|row| system.ineqs.push(row));
        self.system = system;
        self.rounded |= round.is_some();
        self.left.retain(|other| *other != col);
        if grown && self.system.normalize() {
            remove_redundant(&mut self.system, budget)?;
        }
        Ok(())
    }

    /// Rewrites `a x + a y + l >= 0` as `x + y + floor(l / a) >= 0`, with a column for the
    /// division; `x` and `y` are to be eliminated.
    fn rounded(&mut self, bound: &[Integer], col: usize) -> Vec<Integer> {
        let den = bound[col].abs();
        let mut row = bound.to_vec();
        self.left.iter().for_each(|col| row[*col] = Integer::ZERO);
        let known = self.divs.iter().find(|div| div.den == den && same(&div.row, &row));
        let new = known.map_or(self.system.cols(), |div| div.col);
        if known.is_none() {
            let all: Vec<Option<usize>> = (0..new).map(Some).collect();
            self.system = self.system.remap(new + 1, &all);
            self.divs.push(NewDiv { col: new, row, den: den.clone() });
        }
        let mut result = zeros(self.system.cols());
        for col in &self.left {
            result[*col] = bound[*col].div_exact(&den);
        }
        result[new] = Integer::ONE;
        result
    }
}

/// Says whether two rows are the same but for zeros at the end.
fn same(a: &[Integer], b: &[Integer]) -> bool {
    let n = a.len().min(b.len());
    a[..n] == b[..n] && a[n..].iter().chain(&b[n..]).all(Integer::is_zero)
}

/// Says whether parallel bounds with coefficients `a` and `b` always leave an integer between.
fn always_wide(row: &[Integer], a: &Integer, b: &Integer) -> bool {
    row[1..].iter().all(Integer::is_zero) && row[0] >= (a - 1) * (b - 1)
}
