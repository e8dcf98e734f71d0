//! Expressions for affine forms and conditions.

use tangram_presburger::Relation;

use super::build::{Builder, Place};
use super::cell::{Cell, Linear, negated};
use super::settle::Settled;
use super::{Comparison, Expr, ExprKind};
use crate::Error;

/// A sum under construction: a constant and multiples of expressions.
#[derive(Debug, Default)]
struct Sum {
    constant: i128,
    terms: Vec<(i128, Expr)>,
}

impl Builder<'_> {
    /// Writes an affine form; `known` says where divisions may round towards zero.
    pub fn linear(&mut self, value: &Linear, known: &Cell) -> Result<Expr, Error> {
        let cell = self.cell_of(value, known.vars);
        let row = cell.part.equalities[0].clone();
        let sum = self.sum(&cell, &row, known)?;
        let plain = self.write_sum(sum);
        let Some(settled) = Settled::of(&cell, known, self.budget)? else { return Ok(plain) };
        let (row, den) = settled.row(&row)?;
        let sum = self.sum(&settled.cell, &row, known)?;
        let mut settled = self.write_sum(sum);
        if den > 1 {
            settled = self.ast.intern(ExprKind::Quotient(settled, den));
        }
        Ok(self.shorter(settled, plain))
    }

    /// Returns the expression with fewer operators, of two as long the first.
    fn shorter(&self, a: Expr, b: Expr) -> Expr {
        if self.ast.operators(b) < self.ast.operators(a) { b } else { a }
    }

    fn cell_of(&self, value: &Linear, vars: usize) -> Cell {
        let value = self.spread(value, vars.max(value.row.len() - 1 - value.divisions.len()));
        let mut cell = Cell::universe(value.row.len() - 1 - value.divisions.len());
        cell.part.divisions = value.divisions;
        cell.part.equalities.push(value.row);
        let cell = cell.without_idle_divisions();
        // A value in the place of a variable may leave a division of constants.
        let constant = |division: &crate::Division| division.numerator[1..].iter().all(|v| *v == 0);
        match cell.part.divisions.iter().any(constant) {
            true => cell.reduced().ok().filter(|c| !c.part.equalities.is_empty()).unwrap_or(cell),
            false => cell,
        }
    }

    fn sum(&mut self, cell: &Cell, row: &[i128], known: &Cell) -> Result<Sum, Error> {
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
            if terms(&other) < terms(&row) && self.is_natural(cell, &division.numerator, known)? {
                remainders.push((-times, index));
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
                let atom = self.division(cell, index, known, false)?;
                sum.terms.push((row[first + index], atom));
            }
        }
        for (factor, index) in remainders {
            let atom = self.division(cell, index, known, true)?;
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

    fn division(
        &mut self,
        cell: &Cell,
        index: usize,
        known: &Cell,
        remainder: bool,
    ) -> Result<Expr, Error> {
        let division = cell.part.divisions[index].clone();
        let mut row = division.numerator;
        row.resize(cell.cols(), 0);
        let natural = remainder || self.is_natural(cell, &row, known)?;
        let sum = self.sum(cell, &row, known)?;
        let numerator = self.write_sum(sum);
        Ok(self.ast.intern(match (remainder, natural) {
            (true, _) => ExprKind::Remainder(numerator, division.denominator),
            (false, true) => ExprKind::Quotient(numerator, division.denominator),
            (false, false) => ExprKind::FloorDiv(numerator, division.denominator),
        }))
    }

    /// Says whether a form is known not to be negative.
    fn is_natural(&self, cell: &Cell, row: &[i128], known: &Cell) -> Result<bool, Error> {
        let mut context = Cell::universe(cell.vars);
        context.import(&cell.part.divisions);
        context.join(&known.widened(cell.vars));
        Ok(context.relaxation(self.budget)?.implies(row, self.budget)?)
    }

    /// Writes positive terms first, so that a sum rarely starts with a sign.
    fn write_sum(&mut self, sum: Sum) -> Expr {
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

    /// Writes a condition: all rows of one disjunct, or of another.
    pub fn condition(&mut self, guard: &Relation, place: &Place) -> Result<Expr, Error> {
        let mut cells = Cell::all_of(&guard.align_params(&self.params)?)?;
        super::cell::share_divisions(&mut cells);
        let has = |cell: &Cell, equation: bool, row: &Vec<i128>| {
            let rows = if equation { &cell.part.equalities } else { &cell.part.inequalities };
            rows.contains(row)
        };
        let mut common = Cell::universe(place.known.vars);
        if let Some(first) = cells.first().filter(|_| cells.len() > 1).cloned() {
            common.part.divisions.clone_from(&first.part.divisions);
            let shared =
                |row: &&Vec<i128>, equation| cells.iter().all(|cell| has(cell, equation, row));
            common.part.equalities =
                first.part.equalities.iter().filter(|row| shared(row, true)).cloned().collect();
            common.part.inequalities =
                first.part.inequalities.iter().filter(|row| shared(row, false)).cloned().collect();
        }
        let mut parts = self.rows(&common, &place.known)?;
        let mut choices = Vec::new();
        for mut cell in cells {
            cell.part.equalities.retain(|row| !common.part.equalities.contains(row));
            cell.part.inequalities.retain(|row| !common.part.inequalities.contains(row));
            let rows = self.rows(&cell, &place.known)?;
            let all = self.all(rows);
            if !choices.contains(&all) {
                choices.push(all);
            }
        }
        match choices[..] {
            [] => parts.push(self.ast.intern(ExprKind::Int(0))),
            [one] => parts.push(one),
            _ => parts.push(self.ast.intern(ExprKind::Or(choices))),
        }
        Ok(self.all(parts))
    }

    fn all(&mut self, parts: Vec<Expr>) -> Expr {
        let mut flat: Vec<Expr> = Vec::new();
        for part in parts {
            let inner = match self.ast.expr(part) {
                ExprKind::And(list) => list.clone(),
                ExprKind::Int(1) => Vec::new(),
                _ => vec![part],
            };
            for part in inner {
                if !flat.contains(&part) {
                    flat.push(part);
                }
            }
        }
        match flat[..] {
            [] => self.ast.intern(ExprKind::Int(1)),
            [one] => one,
            _ => self.ast.intern(ExprKind::And(flat)),
        }
    }

    fn rows(&mut self, cell: &Cell, known: &Cell) -> Result<Vec<Expr>, Error> {
        let settled = Settled::of(cell, known, self.budget)?;
        let mut result = Vec::new();
        let of = |how| move |row| (row, how);
        let inequalities = cell.part.inequalities.iter().map(of(Comparison::GreaterOrEqual));
        let equalities = cell.part.equalities.iter().map(of(Comparison::Equal));
        for (row, how) in inequalities.chain(equalities) {
            let mut expr = self.test(cell, row, known, how)?;
            if let Some(settled) = &settled {
                let (row, _) = settled.row(row)?;
                let other = self.test(&settled.cell, &row, known, how)?;
                expr = self.shorter(other, expr);
            }
            result.push(expr);
        }
        Ok(result)
    }

    /// Writes `row >= 0` or `row = 0`.
    fn test(
        &mut self,
        cell: &Cell,
        row: &[i128],
        known: &Cell,
        how: Comparison,
    ) -> Result<Expr, Error> {
        if how == Comparison::Equal
            && let Some(expr) = self.multiple(cell, row, known)?
        {
            return Ok(expr);
        }
        self.comparison(cell, row, known, how)
    }

    /// Writes `e - m floor(e / m) = 0` as a test of the remainder.
    fn multiple(&mut self, cell: &Cell, row: &[i128], known: &Cell) -> Result<Option<Expr>, Error> {
        let first = 1 + cell.vars;
        let mut used = (0..cell.part.divisions.len()).filter(|i| row[first + i] != 0);
        let Some(index) =
            used.find(|index| row[first + index].abs() == cell.part.divisions[*index].denominator)
        else {
            return Ok(None);
        };
        let division = cell.part.divisions[index].clone();
        let row = if row[first + index] > 0 { negated(row) } else { row.to_vec() };
        let at = |i: usize| division.numerator.get(i).copied().unwrap_or(0);
        let same = (0..row.len()).all(|i| i == first + index || row[i] == at(i));
        if !same {
            return Ok(None);
        }
        let mut form = division.numerator.clone();
        form.resize(cell.cols(), 0);
        let sum = self.sum(cell, &form, known)?;
        let value = self.write_sum(sum);
        Ok(Some(self.ast.intern(ExprKind::Multiple(value, division.denominator))))
    }

    /// Writes `row >= 0` or `row = 0` with no negative terms, where that is possible.
    fn comparison(
        &mut self,
        cell: &Cell,
        row: &[i128],
        known: &Cell,
        how: Comparison,
    ) -> Result<Expr, Error> {
        let sum = self.sum(cell, row, known)?;
        let (left, right): (Vec<_>, Vec<_>) = sum.terms.into_iter().partition(|(f, _)| *f > 0);
        let right: Vec<(i128, Expr)> = right.into_iter().map(|(f, atom)| (-f, atom)).collect();
        let constant = sum.constant;
        let (left_constant, right_constant) = if left.is_empty() {
            (constant, 0)
        } else if right.is_empty() || constant < 0 {
            (0, -constant)
        } else {
            (constant, 0)
        };
        let flip = left.is_empty() && how == Comparison::GreaterOrEqual;
        let left = self.write_sum(Sum { constant: left_constant, terms: left });
        let right = self.write_sum(Sum { constant: right_constant, terms: right });
        Ok(self.ast.intern(match how {
            _ if flip => ExprKind::Compare(Comparison::LessOrEqual, right, left),
            Comparison::Equal if matches!(self.ast.expr(left), ExprKind::Int(_)) => {
                ExprKind::Compare(how, right, left)
            }
            _ => ExprKind::Compare(how, left, right),
        }))
    }
}
