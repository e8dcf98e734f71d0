//! Projections that elimination leaves over.
//!
//! Parametric integer programming comes first. Where that does not end soon, an unknown of few
//! values takes each of them in turn, and what is left is eliminated.

use std::ops::Range;

use super::eliminate::{Branch, eliminate, eliminate_soon};
use crate::basic_map::BasicMap;
use crate::coalesce::coalesced;
use crate::matrix::negated;
use crate::solve::bounds::bounds;
use crate::solve::lexmin::{Query, lexmin};
use crate::system::System;
use crate::{Budget, Error, Integer};

/// What parametric integer programming may take before an unknown takes its values in turn.
const PIP_STEPS: u64 = 30_000;
/// The weight of conjunctions for which lighter ones are looked for, and what that may take for each
/// unit of it: what they cost later grows faster than their weight.
const HEAVY: usize = 100;
const LIGHTER_STEPS: u64 = 40;
/// The most values that an unknown takes in turn.
const VALUES: i64 = 64;

impl BasicMap {
    /// Projects the last `unknowns` columns away, which are beyond the divisions.
    ///
    /// Where parametric integer programming does not end soon, an unknown of few values takes
    /// each of them in turn.
    pub fn shadow(self, unknowns: usize, budget: &Budget) -> Result<Vec<Self>, Error> {
        let (mut parts, mut stack, mut split) = (Vec::new(), vec![(self, unknowns)], false);
        while let Some((outer, unknowns)) = stack.pop() {
            if let Some(found) = budget.attempt(PIP_STEPS, |budget| outer.pip(unknowns, budget))? {
                parts.extend(found);
                continue;
            }
            let kept = vec![false; outer.cols()];
            let Some((col, values)) = outer.narrowest(unknowns, budget)? else {
                let cols = (outer.cols()..outer.cols() + unknowns).collect();
                for branch in &eliminate(outer.system.clone(), cols, || Ok(true), budget)? {
                    parts.extend(outer.without(branch, &kept, 0).pip(branch.left.len(), budget)?);
                }
                continue;
            };
            split = true;
            for value in &values {
                let system = outer.system_at(col, value);
                let cols: Vec<usize> = (outer.cols()..system.cols()).collect();
                let whole = Branch::new(system.clone(), cols.clone());
                let found = eliminate_soon(system, cols, || Ok(true), budget)?;
                for branch in &found.unwrap_or_else(|| vec![whole]) {
                    let rest = outer.without(branch, &kept, 0);
                    if !branch.left.is_empty() {
                        stack.push((rest, branch.left.len()));
                    } else if let Some(part) = rest.tidied() {
                        parts.push(part);
                    }
                }
            }
        }
        if split { coalesced(&parts, false, budget) } else { Ok(parts) }
    }

    /// Returns what parametric integer programming leaves of the dimensions outside of `range`, if
    /// that is soon found and less than `parts`, what elimination leaves.
    ///
    /// Rounded bounds that are combined with each other say little in many words, and so do pieces
    /// of what elimination could not end.
    pub(super) fn lighter(
        &self,
        parts: Vec<Self>,
        range: &Range<usize>,
        budget: &Budget,
    ) -> Result<Vec<Self>, Error> {
        let before = weight(&parts);
        if before < HEAVY {
            return Ok(parts);
        }
        let steps = LIGHTER_STEPS * before as u64;
        let other = budget.attempt(steps, |budget| self.witnessed(range, budget))?;
        Ok(other.filter(|other| weight(other) < before).unwrap_or(parts))
    }

    /// Finds the unknown of the fewest values, if there are few, among the last columns.
    fn narrowest(
        &self,
        unknowns: usize,
        budget: &Budget,
    ) -> Result<Option<(usize, Vec<Integer>)>, Error> {
        let system = self.unfolded();
        let mut best: Option<(Integer, usize, Integer)> = None;
        for col in self.cols()..self.cols() + unknowns {
            let mut form = vec![Integer::ZERO; system.cols()];
            form[col] = Integer::ONE;
            match bounds(&form, &system, budget)? {
                None => return Ok(Some((col, Vec::new()))),
                Some((Some(low), Some(high))) => {
                    let found = (high - &low, col, low);
                    best = Some(best.map_or(found.clone(), |old| old.min(found)));
                }
                Some(_) => {}
            }
        }
        let Some((width, col, low)) = best else { return Ok(None) };
        let width = width.to_i64().filter(|width| *width < VALUES);
        let values = |width| (0..=width).map(|step| &low + Integer::from(step)).collect();
        Ok(width.map(|width| (col, values(width))))
    }

    /// Returns the rows where column `col` has a value; the column goes.
    fn system_at(&self, col: usize, value: &Integer) -> System {
        let mut system = self.system.clone();
        for row in system.rows_mut() {
            row[0] = row[0].add_mul(&row[col], value);
        }
        let place = |c: usize| (c != col).then_some(if c < col { c } else { c - 1 });
        let to: Vec<Option<usize>> = (0..system.cols()).map(place).collect();
        system.remap(system.cols() - 1, &to)
    }

    /// Projects the last `unknowns` columns away by parametric integer programming.
    fn pip(&self, unknowns: usize, budget: &Budget) -> Result<Vec<Self>, Error> {
        let params = self.dims + self.divs.len();
        let mut query = Query { params, unknowns, ..Query::default() };
        let inner = |row: &[Integer]| row[1 + params..].iter().any(|v| *v != 0);
        let mut outer = Self::with_divs(self.dims, self.divs.to_vec());
        for row in self.system.eqs.rows() {
            if inner(row) {
                query.rows.extend([row.to_vec(), negated(row)]);
            } else {
                outer.system.eqs.push(&row[..=params]);
            }
        }
        for row in self.system.ineqs.rows() {
            if inner(row) {
                query.rows.push(row.to_vec());
            } else {
                outer.system.ineqs.push(&row[..=params]);
            }
        }
        outer.describe(&mut query);
        let mut parts = Vec::new();
        for piece in lexmin(&query, budget)? {
            parts.extend(outer.narrowed(&piece).tidied());
        }
        Ok(parts)
    }
}

/// Says how much work is to be expected from conjunctions: rows, times divisions.
pub(crate) fn weight(parts: &[BasicMap]) -> usize {
    let rows = |part: &BasicMap| part.system.eqs.len() + part.system.ineqs.len();
    parts.iter().map(|part| (1 + rows(part)) * (1 + part.divs.len())).sum()
}
