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
//!
//! Its sibling over the rationals, step by step, is `project/fourier_motzkin`.

mod bounds;
mod equations;
mod remainders;

use crate::div::Div;
use crate::solve::bounds::reaches;
use crate::solve::redundancy::remove_redundant;
use crate::system::System;
use crate::{Budget, Error};

/// A conjunction, and the columns that are left to eliminate from its inequalities.
#[derive(Debug, Clone)]
pub(crate) struct Branch {
    pub system: System,
    /// Columns that elimination turned into divisions.
    pub divs: Vec<(usize, Div)>,
    pub left: Vec<usize>,
    /// How many conjunctions this is one of.
    pub ways: i64,
    /// Whether rounded bounds were combined, which leaves many rows that say nothing.
    pub rounded: bool,
    /// Whether to stop where there are many rows or divisions.
    small: bool,
}

/// What elimination may take, and the rows and divisions of a conjunction, before other ways to
/// project are tried: rounded bounds that are combined and rounded again grow like a tower.
const SOON: u64 = 40_000;
const ROWS: usize = 80;
const DIVS: usize = 12;

/// As [`eliminate`]; nothing if that takes long or bounds would have to be rounded.
pub(crate) fn eliminate_whole(
    system: System,
    cols: Vec<usize>,
    budget: &Budget,
) -> Result<Option<Vec<Branch>>, Error> {
    let mut branch = Branch { small: true, ..Branch::new(system, cols) };
    Ok(match budget.attempt(SOON, |budget| branch.shrink_by(false, budget))? {
        Some(false) => Some(Vec::new()),
        Some(true) if branch.left.is_empty() => Some(vec![branch]),
        _ => None,
    })
}

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
        self.shrink_by(true, budget)
    }

    /// Eliminates while that is exact, without bounds that are rounded unless told so.
    fn shrink_by(&mut self, rounded: bool, budget: &Budget) -> Result<bool, Error> {
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
            } else if let Some((col, sign)) = self.roundable().filter(|_| rounded) {
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
}
