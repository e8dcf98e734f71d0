//! Exact projection of a conjunction, and its lexicographic minimum.

mod digits;
mod eliminate;
mod extremal;
mod fourier_motzkin;
mod loop_bounds;
mod relation;
mod shadow;

pub use fourier_motzkin::{EliminationStep, Inequalities};
pub use loop_bounds::LoopBounds;
pub(crate) use shadow::weight;

use std::ops::Range;

use crate::basic_map::{BasicMap, Div, merge};
use crate::matrix::{combine, negated, remap};
use crate::solve::lexmin::{Piece, Query};
use crate::system::System;
use crate::{Budget, Error, Integer};
use eliminate::{Branch, Relaxed, eliminate_soon, eliminate_whole, relax};

/// What may be spent on equations that help to project.
const EQUATIONS: u64 = 100_000;
/// What may be spent on what elimination has left before parametric integer programming is tried on
/// the whole, and on that.
const SEARCH_STEPS: u64 = 500_000;
const WHOLE_STEPS: u64 = 2_000_000;

impl BasicMap {
    /// Puts what equations say the dimensions in `range` are into divisions that use them.
    ///
    /// A division that is left to eliminate costs far more than one of other columns.
    fn settled(&self, range: &Range<usize>) -> Option<Self> {
        let mut part = self.clone();
        while let Some((col, index)) = part.defined_in_division(range) {
            part = part.replaced_dim(col, index).tidied()?;
        }
        Some(part)
    }

    /// Finds a dimension that some division uses, and an equation that says what it is.
    fn defined_in_division(&self, range: &Range<usize>) -> Option<(usize, usize)> {
        (1 + range.start..1 + range.end).find_map(|col| {
            let depends = self.divs_of(col);
            if !depends.contains(&true) {
                return None;
            }
            let says = |row: &[Integer]| {
                let used = row[1 + self.dims..].iter().zip(&depends);
                row[col].is_unit() && used.into_iter().all(|(v, d)| *v == 0 || !*d)
            };
            self.system.eqs.rows().position(says).map(|index| (col, index))
        })
    }

    /// Says for each division whether its value depends on a dimension.
    fn divs_of(&self, col: usize) -> Vec<bool> {
        let mut depends: Vec<bool> = Vec::with_capacity(self.divs.len());
        for div in self.divs.iter() {
            let mut inner = div.num[1 + self.dims..].iter().zip(&depends);
            let uses = div.num[col] != 0 || inner.any(|(v, depends)| *v != 0 && *depends);
            depends.push(uses);
        }
        depends
    }

    /// Puts the value that an equation gives column `col` in its place everywhere.
    fn replaced_dim(&self, col: usize, index: usize) -> Self {
        let depends = self.divs_of(col);
        let order = (0..depends.len()).filter(|i| !depends[*i]);
        let order: Vec<usize> = order.chain((0..depends.len()).filter(|i| depends[*i])).collect();
        let mut to: Vec<Option<usize>> = (0..self.cols()).map(Some).collect();
        for (target, from) in order.iter().enumerate() {
            to[1 + self.dims + from] = Some(1 + self.dims + target);
        }
        let rows = self.system.remap(self.cols(), &to);
        let equation = rows.eqs.row(index).to_vec();
        let replaced = |row: &[Integer]| {
            let factor = -&row[col] * &equation[col];
            combine(&Integer::ONE, row, &factor, &equation[..row.len()])
        };
        let mut divs = Vec::new();
        for (position, from) in order.iter().enumerate() {
            let div = &self.divs[*from];
            let num = remap(&div.num, self.cols(), &to)[..1 + self.dims + position].to_vec();
            divs.push(Div { num: replaced(&num), den: div.den.clone() });
        }
        let mut system = System::new(self.cols() - 1);
        for row in rows.eqs.rows() {
            system.eqs.push(&replaced(row));
        }
        for row in rows.ineqs.rows() {
            system.ineqs.push(&replaced(row));
        }
        // Divisions of equal numerators become one.
        let (divs, to) = merge(self.dims, &[], &divs);
        let cols = 1 + self.dims + divs.len();
        Self { dims: self.dims, divs: divs.into(), system: system.remap(cols, &to) }
    }

    /// Marks the columns of the dimensions in `range` and of divisions of them.
    ///
    /// Returns the rows with the bounds of those divisions as well.
    pub fn opened(&self, range: &Range<usize>) -> (Vec<bool>, System) {
        let mut gone = vec![false; self.cols()];
        gone[1 + range.start..1 + range.end].fill(true);
        let mut system = self.system.clone();
        for (index, div) in self.divs.iter().enumerate() {
            if div.num.iter().zip(&gone).any(|(v, gone)| *v != 0 && *gone) {
                gone[1 + self.dims + index] = true;
                self.bound_div(index, &mut system);
            }
        }
        (gone, system)
    }

    /// Projects away the dimensions in `range` to a superset in one conjunction.
    pub fn relaxed(
        &self,
        range: Range<usize>,
        how: Relaxed,
        budget: &Budget,
    ) -> Result<Option<Self>, Error> {
        let Some(part) = self.settled(&range) else { return Ok(None) };
        let (gone, system) = part.opened(&range);
        let cols: Vec<usize> = (0..part.cols()).filter(|c| gone[*c]).collect();
        let Some(branch) = relax(system, cols, how, budget)? else { return Ok(None) };
        Ok(part.without(&branch, &gone, range.len()).tidied())
    }

    /// Projects away the dimensions in `range`, exactly.
    pub fn project(&self, range: Range<usize>, budget: &Budget) -> Result<Vec<Self>, Error> {
        let settled;
        let part = if self.divs.is_empty() {
            self
        } else {
            let Some(found) = self.settled(&range) else { return Ok(Vec::new()) };
            settled = found;
            &settled
        };
        if let Some(told) = part.with_digits(&part.unknown(&range), budget)? {
            // Of what digits are, much follows from the definitions of divisions.
            let parts = told.projected(range, budget)?;
            let lean = parts.into_iter().map(|part| part.without_redundancy(budget));
            return lean.filter_map(|part| part.map(Self::tidied).transpose()).collect();
        }
        part.projected(range, budget)
    }

    /// Projects where equations say nothing more about the dimensions in `range`.
    fn projected(&self, range: Range<usize>, budget: &Budget) -> Result<Vec<Self>, Error> {
        let part = self;
        let told;
        let (part, branches) = match part.whole(&range, budget)? {
            Some(branches) => (part, branches),
            None => {
                told = part.told(&range, budget)?;
                let part = told.as_ref().unwrap_or(part);
                let inhabited = || Ok(!self.is_empty(budget)?);
                let (system, cols) = part.inside(&range);
                let soon = eliminate_soon(system.clone(), cols.clone(), inhabited, budget)?;
                (part, soon.unwrap_or_else(|| vec![Branch::new(system, cols)]))
            }
        };
        let parts = match branches.iter().all(|branch| branch.left.is_empty()) {
            true => part.after(&branches, &range, budget)?,
            false => part.searched(&branches, &range, budget)?,
        };
        part.lighter(parts, &range, budget)
    }

    /// Returns what `branches` leave of the dimensions outside of `range`.
    fn after(
        &self,
        branches: &[Branch],
        range: &Range<usize>,
        budget: &Budget,
    ) -> Result<Vec<Self>, Error> {
        let (gone, _) = self.opened(range);
        let mut parts = Vec::new();
        for branch in branches {
            let outer = self.without(branch, &gone, range.len());
            if branch.left.is_empty() {
                let Some(part) = outer.tidied() else { continue };
                // Remainders may have no point; all parts of an inhabited whole have one.
                if branches.len() > 1 && part.is_empty(budget)? {
                    continue;
                }
                if branch.rounded {
                    parts.extend(part.without_redundancy(budget)?.tidied());
                } else {
                    parts.push(part);
                }
            } else {
                parts.extend(outer.shadow(branch.left.len(), budget)?);
            }
        }
        Ok(parts)
    }

    /// As [`Self::after`], where elimination has left dimensions.
    ///
    /// What it has left may be harder than the whole was: values that unknowns take in turn, and
    /// divisions of divisions.
    fn searched(
        &self,
        branches: &[Branch],
        range: &Range<usize>,
        budget: &Budget,
    ) -> Result<Vec<Self>, Error> {
        let after = |budget: &Budget| self.after(branches, range, budget);
        if let Some(parts) = budget.attempt(SEARCH_STEPS, after)? {
            return Ok(parts);
        }
        if let Some(parts) = budget.attempt(WHOLE_STEPS, |budget| self.witnessed(range, budget))? {
            return Ok(parts);
        }
        after(budget)
    }

    /// Returns the rows to project the dimensions in `range` away from, and the columns that go.
    fn inside(&self, range: &Range<usize>) -> (System, Vec<usize>) {
        let (gone, system) = self.opened(range);
        (system, (0..self.cols()).filter(|c| gone[*c]).collect())
    }

    /// Projects the dimensions in `range` away if that takes no rounding of bounds.
    fn whole(&self, range: &Range<usize>, budget: &Budget) -> Result<Option<Vec<Branch>>, Error> {
        let (system, cols) = self.inside(range);
        eliminate_whole(system, cols, budget)
    }

    /// Adds equations that the rows imply, if there are any.
    ///
    /// A rounded bound is a division of its own; an equation takes a variable away without one.
    fn told(&self, range: &Range<usize>, budget: &Budget) -> Result<Option<Self>, Error> {
        let told = budget.attempt(EQUATIONS, |budget| self.with_implied(range, budget))?.flatten();
        let Some(told) = told.and_then(Self::tidied) else { return Ok(None) };
        Ok(told.without_redundancy(budget)?.tidied())
    }

    /// As [`Self::project`], without conjunctions that hold no point.
    pub fn project_inhabited(
        &self,
        range: Range<usize>,
        budget: &Budget,
    ) -> Result<Vec<Self>, Error> {
        let mut parts = self.project(range, budget)?;
        // Of several, those without a point are left out already.
        if let [one] = &parts[..]
            && one.is_empty(budget)?
        {
            parts.clear();
        }
        Ok(parts)
    }

    /// Drops the columns that are gone; those still to eliminate come last.
    pub fn without(&self, branch: &Branch, gone: &[bool], removed: usize) -> Self {
        let dims = self.dims - removed;
        let mut to = vec![None; branch.system.cols()];
        let kept = (0..self.cols()).filter(|c| !gone[*c]);
        let added = branch.divs.iter().map(|(col, _)| *col).chain(branch.left.iter().copied());
        let order: Vec<usize> = kept.chain(added).collect();
        for (target, col) in order.iter().enumerate() {
            to[*col] = Some(target);
        }
        let kept = self.divs.iter().enumerate().filter(|(i, _)| !gone[1 + self.dims + i]);
        let kept = kept.map(|(_, div)| div);
        let defs = kept.chain(branch.divs.iter().map(|(_, div)| div));
        let divs = defs.enumerate().map(|(i, div)| Div {
            num: remap(&div.num, order.len(), &to)[..1 + dims + i].to_vec(),
            den: div.den.clone(),
        });
        let divs: Vec<Div> = divs.collect();
        let rows = branch.system.remap(order.len(), &to);
        // A division that elimination made may be there already.
        let left = order.len() - 1 - dims - divs.len();
        let (divs, mut to) = merge(dims, &[], &divs);
        let cols = 1 + dims + divs.len() + left;
        to.extend((cols - left..cols).map(Some));
        Self { dims, divs: divs.into(), system: rows.remap(cols, &to) }
    }

    /// Makes the conjunction the context of `query`; its columns are the parameters.
    pub fn describe(&self, query: &mut Query) {
        for row in self.system.eqs.rows() {
            query.context.push(row.to_vec());
            query.context.push(negated(row));
        }
        query.context.extend(self.system.ineqs.rows().map(<[Integer]>::to_vec));
        query.context.extend(self.bounds().ineqs.rows().map(<[Integer]>::to_vec));
        query.floors.extend(self.floors());
    }

    /// Restricts the conjunction to one part of it.
    pub fn narrowed(&self, piece: &Piece) -> Self {
        let mut divs = self.divs.to_vec();
        divs.extend(piece.floors.iter().cloned());
        let mut part = Self::with_divs(self.dims, divs);
        for row in self.system.eqs.rows() {
            part.system.eqs.push(row);
        }
        for row in self.system.ineqs.rows() {
            part.system.ineqs.push(row);
        }
        for row in &piece.context {
            part.system.ineqs.push(row);
        }
        part
    }
}
