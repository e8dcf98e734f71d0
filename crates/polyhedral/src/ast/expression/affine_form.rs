//! Affine forms as expressions.
//!
//! A [`Linear`] is a row over columns, as a [`BasicSet`] has it; a [`Sum`] holds expressions already, of which
//! a minimum may be one, and ends as code.

use super::simplify_divisions::Settled;
use super::substitute_equalities::Equal;
use crate::Error;
use crate::ast::basic_set::{BasicSet, Linear};
use crate::ast::generate::build::Builder;
use crate::ast::{Expr, ExprKind};

/// No larger constant is added to a numerator to make it positive.
const LARGEST: i128 = 1 << 20;

/// A sum under construction: a constant and multiples of expressions.
#[derive(Debug, Default)]
pub(in crate::ast) struct Sum {
    pub constant: i128,
    pub terms: Vec<(i128, Expr)>,
}

impl Builder<'_> {
    /// Writes an affine form; `known` says where divisions may round towards zero.
    pub fn linear(&mut self, value: &Linear, known: &BasicSet) -> Result<Expr, Error> {
        let cell = tidy(self.in_names(self.cell_of(value, known.vars), known)?);
        let plain = self.form(&cell, known)?;
        match self.shortened(&cell, known)? {
            Some(cell) => {
                let form = self.form(&tidy(cell), known)?;
                Ok(self.shorter(form, plain))
            }
            None => Ok(plain),
        }
    }

    /// Makes the only equation of a cell shorter by what is known, if that is possible.
    pub fn shortened(&self, cell: &BasicSet, known: &BasicSet) -> Result<Option<BasicSet>, Error> {
        match Equal::of(known, &|col| self.is_named(col)) {
            Some(equal) => Ok(equal.shortened(cell)?),
            None => Ok(None),
        }
    }

    /// Writes the only equation of a cell as a form.
    fn form(&mut self, cell: &BasicSet, known: &BasicSet) -> Result<Expr, Error> {
        let row = cell.part.equalities[0].clone();
        let sum = self.sum(cell, &row, known)?;
        let plain = self.write_sum(sum);
        let Some(settled) = Settled::of(cell, known, |col| self.is_named(col), self.budget)? else {
            return Ok(plain);
        };
        let (row, den) = settled.row(&row)?;
        let sum = self.sum(&settled.cell, &row, known)?;
        let mut settled = self.write_sum(sum);
        if den > 1 {
            settled = self.ast.intern(ExprKind::Quotient(settled, den));
        }
        Ok(self.shorter(settled, plain))
    }

    /// Returns the expression with fewer operators, of two as long the first.
    pub fn shorter(&self, a: Expr, b: Expr) -> Expr {
        if self.ast.operators(b) < self.ast.operators(a) { b } else { a }
    }

    fn cell_of(&self, value: &Linear, vars: usize) -> BasicSet {
        let value = self.spread(value, vars.max(value.row.len() - 1 - value.divisions.len()));
        let mut cell = BasicSet::universe(value.row.len() - 1 - value.divisions.len());
        cell.part.divisions = value.divisions;
        cell.part.equalities.push(value.row);
        cell
    }

    pub fn sum(&mut self, cell: &BasicSet, row: &[i128], known: &BasicSet) -> Result<Sum, Error> {
        let first = 1 + cell.vars;
        let mut row = row.to_vec();
        let mut remainders = Vec::new();
        for index in (0..cell.part.divisions.len()).rev() {
            let division = &cell.part.divisions[index];
            let factor = row[first + index];
            let modulus = division.denominator;
            if factor == 0 || factor % modulus != 0 {
                continue;
            }
            // m * floor(e / m) = e - e mod m; worth it if terms cancel.
            let times = factor / modulus;
            let mut other = row.clone();
            other[first + index] = 0;
            for (value, part) in other.iter_mut().zip(&division.numerator) {
                *value += times * part;
            }
            let terms = |row: &[i128]| row[1..].iter().filter(|v| **v != 0).count();
            if terms(&other) < terms(&row)
                && let Some(more) = self.lift(cell, index, known)?
            {
                remainders.push((-times, index, more));
                row = other;
            }
        }
        let mut sum = Sum { constant: row[0], terms: Vec::new() };
        for (col, factor) in row.iter().enumerate().take(first).skip(1) {
            if *factor != 0 {
                let atom = self.variable(col);
                sum.terms.push((*factor, atom));
            }
        }
        for index in 0..cell.part.divisions.len() {
            if row[first + index] != 0 {
                let atom = self.division(cell, index, known)?;
                sum.terms.push((row[first + index], atom));
            }
        }
        for (factor, index, more) in remainders {
            let atom = self.remainder(cell, index, known, more)?;
            sum.terms.push((factor, atom));
        }
        Ok(sum)
    }

    fn variable(&mut self, col: usize) -> Expr {
        let params = self.params.len();
        self.ast.intern(match col - 1 {
            index if index < params => ExprKind::Param(index as u32),
            index => ExprKind::Iterator((index - params) as u32),
        })
    }

    fn division(&mut self, cell: &BasicSet, index: usize, known: &BasicSet) -> Result<Expr, Error> {
        let division = cell.part.divisions[index].clone();
        let mut row = division.numerator;
        row.resize(cell.cols(), 0);
        let natural = self.is_natural(cell, &row, known)?;
        let sum = self.sum(cell, &row, known)?;
        let numerator = self.write_sum(sum);
        Ok(self.ast.intern(match natural {
            true => ExprKind::Quotient(numerator, division.denominator),
            false => ExprKind::FloorDiv(numerator, division.denominator),
        }))
    }

    /// Writes the remainder of a division whose numerator and `more` are not negative.
    fn remainder(
        &mut self,
        cell: &BasicSet,
        index: usize,
        known: &BasicSet,
        more: i128,
    ) -> Result<Expr, Error> {
        let division = cell.part.divisions[index].clone();
        let mut row = division.numerator;
        row.resize(cell.cols(), 0);
        row[0] += more;
        let sum = self.sum(cell, &row, known)?;
        let numerator = self.write_sum(sum);
        Ok(self.ast.intern(ExprKind::Remainder(numerator, division.denominator)))
    }

    /// Finds a multiple of the denominator that makes a numerator at least 0, if it has a bound.
    ///
    /// In C, the remainder of a negative number is negative.
    fn lift(&self, cell: &BasicSet, index: usize, known: &BasicSet) -> Result<Option<i128>, Error> {
        let division = &cell.part.divisions[index];
        let mut context = BasicSet::universe(cell.vars);
        context.import(&cell.part.divisions);
        context.join(&known.widened(cell.vars));
        let mut points = context.relaxation(self.budget)?;
        if points.is_empty() {
            return Ok(Some(0));
        }
        let least = points.range(&division.numerator, self.budget)?.0;
        let modulus = division.denominator;
        Ok(match least.and_then(|least| least.to_i128()) {
            Some(0..) => Some(0),
            Some(least) if least >= -LARGEST => {
                Some(-least.div_euclid(modulus) * modulus).filter(|more| *more <= LARGEST)
            }
            _ => None,
        })
    }

    /// Returns whether a form is known not to be negative.
    fn is_natural(&self, cell: &BasicSet, row: &[i128], known: &BasicSet) -> Result<bool, Error> {
        let mut context = BasicSet::universe(cell.vars);
        context.import(&cell.part.divisions);
        context.join(&known.widened(cell.vars));
        Ok(context.relaxation(self.budget)?.implies(row, self.budget)?)
    }

    /// Writes positive terms first, so that a sum rarely starts with a sign.
    pub fn write_sum(&mut self, sum: Sum) -> Expr {
        let (plus, minus): (Vec<_>, Vec<_>) = sum.terms.into_iter().partition(|(f, _)| *f > 0);
        let mut constant = sum.constant;
        let mut result = None;
        for (factor, atom) in plus {
            let term = self.scaled(factor, atom);
            result = Some(match result {
                None => term,
                Some(left) => self.ast.intern(ExprKind::Add(left, term)),
            });
        }
        if result.is_none() && (constant > 0 || minus.is_empty()) {
            result = Some(self.ast.intern(ExprKind::Int(constant)));
            constant = 0;
        }
        for (factor, atom) in minus {
            let term = self.scaled(-factor, atom);
            let kind = result.map_or(ExprKind::Neg(term), |left| ExprKind::Sub(left, term));
            result = Some(self.ast.intern(kind));
        }
        let left = match result {
            Some(left) => left,
            None => self.ast.intern(ExprKind::Int(0)),
        };
        if constant == 0 {
            return left;
        }
        let size = self.ast.intern(ExprKind::Int(constant.abs()));
        self.ast.intern(if constant > 0 {
            ExprKind::Add(left, size)
        } else {
            ExprKind::Sub(left, size)
        })
    }

    fn scaled(&mut self, factor: i128, atom: Expr) -> Expr {
        if factor == 1 { atom } else { self.ast.intern(ExprKind::Mul(factor, atom)) }
    }

    pub fn minimum(&mut self, values: Vec<Expr>) -> Expr {
        self.extremum(values, true)
    }

    pub fn maximum(&mut self, values: Vec<Expr>) -> Expr {
        self.extremum(values, false)
    }

    fn extremum(&mut self, values: Vec<Expr>, least: bool) -> Expr {
        let mut list: Vec<Expr> = Vec::new();
        let mut constant: Option<i128> = None;
        for value in values {
            match self.ast.expr(value) {
                ExprKind::Int(v) => {
                    let v = *v;
                    constant =
                        Some(constant.map_or(v, |c| if least { c.min(v) } else { c.max(v) }));
                }
                _ if list.contains(&value) => {}
                _ => list.push(value),
            }
        }
        if let Some(constant) = constant {
            let constant = self.ast.intern(ExprKind::Int(constant));
            list.insert(0, constant);
        }
        if let [one] = list[..] {
            return one;
        }
        self.ast.intern(if least { ExprKind::Min(list) } else { ExprKind::Max(list) })
    }
}

/// Drops divisions that are not used, or of constants: a value in the place of a variable may
/// leave one.
fn tidy(cell: BasicSet) -> BasicSet {
    let cell = cell.without_idle_divisions();
    let constant = |division: &crate::Division| division.numerator[1..].iter().all(|v| *v == 0);
    match cell.part.divisions.iter().any(constant) {
        true => cell.reduced().ok().filter(|c| !c.part.equalities.is_empty()).unwrap_or(cell),
        false => cell,
    }
}
