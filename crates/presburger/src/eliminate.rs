//! Exact elimination of integer variables, after the Omega test.
//!
//! Equations go first: a unimodular change of the variables to eliminate leaves
//! one of them, `x`, with coefficient `g` in an equation `g x + e = 0`. It is then
//! `floor(-e / g)`, and stays as a defined division unless `g` is 1. Inequalities
//! follow with Fourier-Motzkin; where no coefficient of a side is 1, the integer
//! shadow is the dark shadow together with the splinters `b x = beta + i`.
//!
//! Source: W. Pugh, "The Omega test", Supercomputing 1991. Divergence: strides
//! become divisions, not fresh wildcards.

use crate::matrix::{add, combine, mul, negated};
use crate::system::System;
use crate::{Budget, Error};

/// A column that elimination turned into `floor(row / den)`.
#[derive(Debug, Clone)]
pub(crate) struct NewDiv {
    pub col: usize,
    pub row: Vec<i128>,
    pub den: i128,
}

/// One disjunct of the result; the columns in question occur only as divisions.
#[derive(Debug, Clone)]
pub(crate) struct Branch {
    pub system: System,
    pub divs: Vec<NewDiv>,
    left: Vec<usize>,
    /// An equation to add, and how many more follow with a constant less by 1 each.
    pending: Option<(Vec<i128>, i128)>,
}

/// Projects the columns `cols` away; with `first`, stops at the first disjunct.
pub(crate) fn eliminate(
    system: System,
    cols: Vec<usize>,
    first: bool,
    budget: &Budget,
) -> Result<Vec<Branch>, Error> {
    let mut stack = vec![Branch { system, divs: Vec::new(), left: cols, pending: None }];
    let mut done = Vec::new();
    while let Some(mut branch) = stack.pop() {
        budget.spend(branch.system.size())?;
        // Splinters are made one at a time: there may be more than memory holds.
        if let Some((row, more)) = branch.pending.take() {
            if more > 0 {
                let mut next = row.clone();
                next[0] = add(next[0], -1)?;
                stack.push(Branch { pending: Some((next, more - 1)), ..branch.clone() });
            }
            branch.system.eqs.push(&row);
        }
        if !branch.system.normalize()? {
            continue;
        }
        if branch.solve_equation()? {
            stack.push(branch);
            continue;
        }
        let Some((col, exact)) = branch.cheapest() else {
            done.push(branch);
            if first {
                break;
            }
            continue;
        };
        if exact {
            stack.push(branch.shadow(col, false, budget)?);
        } else if branch.relaxation_holds(budget)? {
            // The dark shadow comes off the stack first: it often decides alone.
            branch.splinters(col, &mut stack)?;
            stack.push(branch.shadow(col, true, budget)?);
        }
    }
    Ok(done)
}

impl Branch {
    /// Says whether the rational relaxation, tightened on the way, has a point.
    fn relaxation_holds(&self, budget: &Budget) -> Result<bool, Error> {
        let mut relaxed = self.clone();
        relaxed.left = (1..self.system.cols()).collect();
        loop {
            budget.spend(relaxed.system.size())?;
            if !relaxed.system.normalize()? {
                return Ok(false);
            }
            if relaxed.solve_equation()? {
                continue;
            }
            let Some((col, _)) = relaxed.cheapest() else { return Ok(true) };
            relaxed = relaxed.shadow(col, false, budget)?;
        }
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

    /// Returns the column that costs least, and whether Fourier-Motzkin is exact on it.
    fn cheapest(&self) -> Option<(usize, bool)> {
        let mut best: Option<(bool, usize, usize)> = None;
        for &col in &self.left {
            let (mut lower, mut upper) = ((0, true), (0, true));
            for row in self.system.ineqs.rows().filter(|row| row[col] != 0) {
                let side = if row[col] > 0 { &mut lower } else { &mut upper };
                *side = (side.0 + 1, side.1 && row[col].unsigned_abs() == 1);
            }
            if lower.0 + upper.0 == 0 {
                continue;
            }
            let exact = lower.0 == 0 || upper.0 == 0 || lower.1 || upper.1;
            let cost = (!exact, lower.0 * upper.0, col);
            best = Some(best.map_or(cost, |old| old.min(cost)));
        }
        best.map(|(inexact, _, col)| (col, !inexact))
    }

    /// Combines each lower with each upper bound of `col`.
    fn shadow(&self, col: usize, dark: bool, budget: &Budget) -> Result<Self, Error> {
        let mut result = self.clone();
        let mut next = System::new(self.system.cols() - 1);
        next.eqs = self.system.eqs.clone();
        let (mut lowers, mut uppers) = (Vec::new(), Vec::new());
        for row in self.system.ineqs.rows() {
            match row[col].signum() {
                0 => next.ineqs.push(row),
                1 => lowers.push(row),
                _ => uppers.push(row),
            }
        }
        budget.spend(lowers.len() * uppers.len())?;
        for (lower, upper) in lowers.iter().flat_map(|l| uppers.iter().map(move |u| (l, u))) {
            let (b, a) = (lower[col], upper[col].checked_neg().ok_or(Error::Overflow)?);
            let mut row = combine(a, lower, b, upper)?;
            if dark {
                row[0] = add(row[0], -mul(a - 1, b - 1)?)?;
            }
            next.ineqs.push(&row);
        }
        result.system = next;
        result.left.retain(|other| *other != col);
        Ok(result)
    }

    /// Pushes the copies in which a lower bound of `col` almost holds with equality.
    fn splinters(&self, col: usize, stack: &mut Vec<Self>) -> Result<(), Error> {
        let rows = self.system.ineqs.rows();
        let a = rows.clone().map(|row| row[col].saturating_neg()).max().unwrap_or(1).max(1);
        for lower in rows.filter(|row| row[col] > 0) {
            let b = lower[col];
            let last = (mul(a, b)? - a - b).div_euclid(a);
            if last >= 0 {
                stack.push(Self { pending: Some((lower.to_vec(), last)), ..self.clone() });
            }
        }
        Ok(())
    }
}
