//! Exact elimination of integer variables where one conjunction is enough.
//!
//! Equations go first: a unimodular change of the variables to eliminate leaves
//! one of them, `x`, with coefficient `g` in an equation `g x + e = 0`. It is then
//! `floor(-e / g)`, and stays as a defined division unless `g` is 1. Inequalities
//! follow with Fourier-Motzkin as long as all coefficients of one side are 1.
//!
//! Source: W. Pugh, "The Omega test", Supercomputing 1991. Divergence: strides
//! become divisions, not fresh wildcards; dark shadows and splinters are left to
//! parametric integer programming, which gives disjoint pieces.

use crate::matrix::{add, combine, mul, negated};
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
}

/// Projects as many of the columns `cols` away as one conjunction can express.
pub(crate) fn eliminate(
    system: System,
    cols: Vec<usize>,
    budget: &Budget,
) -> Result<Option<Branch>, Error> {
    let mut branch = Branch { system, divs: Vec::new(), left: cols };
    loop {
        budget.spend(branch.system.size())?;
        if !branch.system.normalize()? {
            return Ok(None);
        }
        if branch.solve_equation()? {
            continue;
        }
        let Some(col) = branch.cheapest() else { break };
        branch.shadow(col, budget)?;
    }
    let system = &branch.system;
    branch.left.retain(|col| system.uses(*col));
    Ok(Some(branch))
}

impl Branch {
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

    /// Returns the column that costs least among those where Fourier-Motzkin is exact.
    fn cheapest(&self) -> Option<usize> {
        let mut best: Option<(usize, usize)> = None;
        for &col in &self.left {
            let (mut lower, mut upper) = ((0, true), (0, true));
            for row in self.system.ineqs.rows().filter(|row| row[col] != 0) {
                let side = if row[col] > 0 { &mut lower } else { &mut upper };
                *side = (side.0 + 1, side.1 && row[col].unsigned_abs() == 1);
            }
            let exact = lower.0 == 0 || upper.0 == 0 || lower.1 || upper.1;
            if exact && lower.0 + upper.0 > 0 {
                let cost = (lower.0 * upper.0, col);
                best = Some(best.map_or(cost, |old| old.min(cost)));
            }
        }
        best.map(|(_, col)| col)
    }

    /// Combines each lower with each upper bound of `col`.
    fn shadow(&mut self, col: usize, budget: &Budget) -> Result<(), Error> {
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
            next.ineqs.push(&combine(a, lower, b, upper)?);
        }
        let grown = next.ineqs.len() > 2 * self.system.ineqs.len().max(12);
        self.system = next;
        self.left.retain(|other| *other != col);
        if grown && self.system.normalize()? {
            remove_redundant(&mut self.system, budget)?;
        }
        Ok(())
    }
}
