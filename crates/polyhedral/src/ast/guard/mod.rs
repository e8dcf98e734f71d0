//! Conditions as expressions.

mod factor_guards;
mod gist;
mod if_else;

use tangram_presburger::Relation;

use super::basic_set::{BasicSet, negated};
use super::expression::affine_form::Sum;
use super::expression::simplify_divisions::Settled;
use super::generate::build::{Builder, Surroundings};
use super::{Comparison, Expr, ExprKind};
use crate::Error;

impl Builder<'_> {
    /// Writes a condition: all rows of one disjunct, or of another.
    pub fn condition(&mut self, guard: &Relation, place: &Surroundings) -> Result<Expr, Error> {
        let mut cells = BasicSet::all_of(&guard.align_params(&self.params)?)?;
        for cell in &mut cells {
            *cell = self.in_names(cell.clone(), &place.known)?;
        }
        super::basic_set::share_divisions(&mut cells);
        let has = |cell: &BasicSet, equation: bool, row: &Vec<i128>| {
            let rows = if equation { &cell.part.equalities } else { &cell.part.inequalities };
            rows.contains(row)
        };
        let mut common = BasicSet::universe(place.known.vars);
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

    /// Writes all rows of a cell; those with divisions may rely on the others.
    ///
    /// Where one row does not hold it does not matter what the others say.
    fn rows(&mut self, cell: &BasicSet, known: &BasicSet) -> Result<Vec<Expr>, Error> {
        let (first, inequalities) = (1 + cell.vars, cell.part.inequalities.len());
        let row_at = |at: usize| match at.checked_sub(inequalities) {
            None => (&cell.part.inequalities[at], Comparison::GreaterOrEqual),
            Some(at) => (&cell.part.equalities[at], Comparison::Equal),
        };
        let divides = |row: &[i128]| row[first..].iter().any(|v| *v != 0);
        let mut order: Vec<usize> = (0..inequalities + cell.part.equalities.len()).collect();
        order.sort_by_key(|at| match (*at < inequalities, divides(row_at(*at).0)) {
            (false, false) => 0,
            (true, false) => 1,
            (false, true) => 2,
            (true, true) => 3,
        });
        let mut known = known.widened(cell.vars);
        let mut result = vec![None; order.len()];
        for at in order {
            let (row, how) = row_at(at);
            result[at] = Some(self.row(cell, row, &known, how)?);
            if !cell.part.divisions.is_empty() || !cell.part.equalities.is_empty() {
                let mut said = BasicSet::universe(cell.vars);
                said.part.divisions.clone_from(&cell.part.divisions);
                match how {
                    Comparison::Equal => said.part.equalities.push(row.clone()),
                    _ => said.part.inequalities.push(row.clone()),
                }
                known.join(&said);
            }
        }
        Ok(result.into_iter().flatten().collect())
    }

    /// Writes a row in the shortest of several ways.
    fn row(
        &mut self,
        cell: &BasicSet,
        row: &[i128],
        known: &BasicSet,
        how: Comparison,
    ) -> Result<Expr, Error> {
        let mut expr = self.test(cell, row, known, how)?;
        let mut form = BasicSet::universe(cell.vars);
        form.part.divisions.clone_from(&cell.part.divisions);
        form.part.equalities.push(row.to_vec());
        if let Some(form) = self.shortened(&form, known)? {
            let other = self.test(&form, &form.part.equalities[0], known, how)?;
            expr = self.shorter(expr, other);
        }
        if row[1 + cell.vars..].iter().all(|v| *v == 0) {
            return Ok(expr);
        }
        if let Some(settled) = Settled::of(cell, known, |col| self.is_named(col), self.budget)? {
            let (row, _) = settled.row(row)?;
            let other = self.test(&settled.cell, &row, known, how)?;
            expr = self.shorter(other, expr);
        }
        if how == Comparison::GreaterOrEqual {
            for index in 0..cell.part.divisions.len() {
                if let Some(row) = cell.multiplied(row, index)? {
                    let other = self.test(cell, &row, known, how)?;
                    expr = self.shorter(expr, other);
                }
            }
        }
        Ok(expr)
    }

    /// Writes `row >= 0` or `row = 0`.
    fn test(
        &mut self,
        cell: &BasicSet,
        row: &[i128],
        known: &BasicSet,
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
    fn multiple(
        &mut self,
        cell: &BasicSet,
        row: &[i128],
        known: &BasicSet,
    ) -> Result<Option<Expr>, Error> {
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
        cell: &BasicSet,
        row: &[i128],
        known: &BasicSet,
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
        if let (ExprKind::Int(a), ExprKind::Int(b)) = (self.ast.expr(left), self.ast.expr(right)) {
            let holds = match how {
                Comparison::Equal => a == b,
                _ if flip => b <= a,
                _ => a >= b,
            };
            return Ok(self.ast.intern(ExprKind::Int(i128::from(holds))));
        }
        Ok(self.ast.intern(match how {
            _ if flip => ExprKind::Compare(Comparison::LessOrEqual, right, left),
            Comparison::Equal if matches!(self.ast.expr(left), ExprKind::Int(_)) => {
                ExprKind::Compare(how, right, left)
            }
            _ => ExprKind::Compare(how, left, right),
        }))
    }
}
