//! What is left to say of a disjunct: what neither its other constraints nor a context imply.
//!
//! Where `2 k <= 3 - i`, `i >= 1` and `k >= 1`, both are 1, and where `0 <= i <= 15`, `floor(i / 16)`
//! is 0: equations that hold take the place of inequalities and divisions first. What is left is
//! tested by rational points, and where there are divisions by integer ones as well: with
//! `i mod 4 = 1`, `i >= 0` goes where `i >= -2` holds.
//!
//! Source: isl's gist takes the equations of the intersection for those of the result
//! (`isl_map_simplify.c`). Divergence: isl tests rational points only.

use super::implied::solved;
use super::simple_hull;
use crate::basic_map::{BasicMap, merge};
use crate::matrix::negated;
use crate::relation::covers;
use crate::solve::bounds::bounds;
use crate::solve::redundancy::remove_redundant_and_flat;
use crate::system::System;
use crate::{Budget, Error, Integer, Relation};

/// What equations that no row states may take to be found: without them, the result is longer.
const EQUATION_STEPS: u64 = 2_000;
/// What a row may take, where rational points violate it, to be seen to be violated by none.
const ROW_STEPS: u64 = 500;

impl Relation {
    /// Drops inequalities that the others of their disjunct imply; the points stay the same.
    ///
    /// Those that are equations together become equations, divisions that have one value that
    /// value, where that is found out within a fixed number of steps.
    ///
    /// # Source
    /// isl `isl_map_remove_redundancies`.
    pub fn remove_redundancies(&self, budget: &Budget) -> Result<Self, Error> {
        let everything = BasicMap::universe(self.space.dims());
        let mut parts = Vec::new();
        for part in self.parts.iter() {
            if !part.is_empty(budget)? {
                parts.extend(part.within(&everything, budget)?);
            }
        }
        Ok(Self::new(self.space.clone(), parts))
    }

    /// Simplifies under the assumption that only points of `context` matter.
    ///
    /// The result agrees with `self` on `context` and may be anything elsewhere. A
    /// context of several disjuncts counts as its simple hull.
    ///
    /// # Errors
    /// [`Error::Space`] if the tuples differ.
    pub fn gist(&self, context: &Self, budget: &Budget) -> Result<Self, Error> {
        let (a, c) = self.pair(context)?;
        let Some(hull) = simple_hull(&c.parts, true, budget)? else {
            return Ok(Self::universe((*a.space).clone()));
        };
        let mut parts = Vec::new();
        for part in a.parts.iter() {
            let Some(common) = part.intersect(&hull) else { continue };
            if common.is_empty(budget)? {
                continue;
            }
            parts.extend(part.within(&hull, budget)?);
        }
        let result = Self::new(a.space.clone(), parts);
        // Several disjuncts may cover the whole context together.
        if result.parts.len() > 1 && covers(&a.parts, &[hull], budget)? {
            return Ok(Self::universe((*a.space).clone()));
        }
        Ok(result)
    }
}

impl BasicMap {
    /// Returns as few constraints as are left to say where `context` holds.
    fn within(&self, context: &Self, budget: &Budget) -> Result<Option<Self>, Error> {
        if self.divs.is_empty() {
            // Mostly there is no more to it.
            let (part, flat) = self.simplified(context, budget)?;
            if !flat {
                return Ok(part.tidied());
            }
        }
        let told = self.with_equations_of(context, budget)?;
        let (mut part, _) = told.as_ref().unwrap_or(self).simplified(context, budget)?;
        if !part.divs.is_empty() {
            part.drop_implied(context, budget)?;
        }
        Ok(part.tidied())
    }

    /// Adds the equations that hold where `context` does, but for those that context states.
    ///
    /// Nothing where there are none, or none are found.
    fn with_equations_of(&self, context: &Self, budget: &Budget) -> Result<Option<Self>, Error> {
        let common = self.joined(context);
        let Some(Some(all)) = budget.attempt(EQUATION_STEPS, |budget| common.implied(budget))?
        else {
            return Ok(None);
        };
        let stated: Vec<_> = common.system.eqs.rows().map(<[Integer]>::to_vec).collect();
        let independent = solved(stated.clone(), &[]).len();
        if all.len() == independent {
            return Ok(None);
        }
        // Divisions of the context alone are solved for first: what is left is without them.
        let foreign: Vec<usize> = (self.cols()..common.cols()).collect();
        let own = |rows| {
            let rows = solved(rows, &foreign).into_iter();
            rows.filter(|(_, col)| *col < self.cols()).map(|(mut row, _)| {
                row.truncate(self.cols());
                row
            })
        };
        let mut known: Vec<Vec<Integer>> = own(stated).collect();
        let mut rows: Vec<_> = self.system.eqs.rows().map(<[Integer]>::to_vec).collect();
        for row in own(all) {
            known.push(row.clone());
            if solved(known.clone(), &[]).len() == known.len() {
                rows.push(row);
            } else {
                known.pop();
            }
        }
        if rows.len() == self.system.eqs.len() {
            return Ok(None);
        }
        Ok(self.with_equations(rows, &(self.dims..self.dims)).tidied())
    }

    /// Drops the constraints that `context` and the other constraints imply; says whether one of
    /// the inequalities that stay is 0 wherever all hold.
    fn simplified(&self, context: &Self, budget: &Budget) -> Result<(Self, bool), Error> {
        let (mut part, context) = over_common_divs(self, context);
        let given = context.unfolded();
        let equations: Vec<Vec<Integer>> =
            part.system.eqs.rows().map(<[Integer]>::to_vec).collect();
        part.system.eqs = System::new(part.cols() - 1).eqs;
        for (index, row) in equations.iter().enumerate() {
            // Inequalities that imply an equation are more than it is, and go after it.
            let mut others = given.clone();
            part.system.eqs.rows().for_each(|other| others.eqs.push(other));
            for other in &equations[index + 1..] {
                others.eqs.push(other);
            }
            let zero = Some(Integer::ZERO);
            if bounds(row, &others, budget)? != Some((zero.clone(), zero)) {
                part.system.eqs.push(row);
            }
        }
        let flat = remove_redundant_and_flat(&mut part.system, &given, budget)?;
        Ok((part, flat))
    }

    /// Drops inequalities that no integer point of the others, and of `context`, violates.
    fn drop_implied(&mut self, context: &Self, budget: &Budget) -> Result<(), Error> {
        let context = over_common_divs(self, context).1;
        let mut kept = vec![true; self.system.ineqs.len()];
        for index in 0..kept.len() {
            let mut beyond = context.clone();
            self.system.eqs.rows().for_each(|row| beyond.system.eqs.push(row));
            for (other, row) in self.system.ineqs.rows().enumerate() {
                if other != index && kept[other] {
                    beyond.system.ineqs.push(row);
                }
            }
            let mut opposite = negated(self.system.ineqs.row(index));
            opposite[0] -= 1;
            beyond.system.ineqs.push(&opposite);
            let empty = budget.attempt(ROW_STEPS, |budget| beyond.is_empty(budget))?;
            kept[index] = empty != Some(true);
        }
        self.system.ineqs.retain(&kept);
        Ok(())
    }
}

/// Rewrites two conjunctions over the divisions of both, those of `a` first.
fn over_common_divs(a: &BasicMap, b: &BasicMap) -> (BasicMap, BasicMap) {
    let (divs, to) = merge(a.dims, &a.divs, &b.divs);
    let same: Vec<Option<usize>> = (0..a.cols()).map(Some).collect();
    let over = |part: &BasicMap, to: &[Option<usize>]| {
        let mut result = BasicMap::with_divs(part.dims, divs.clone());
        result.system = part.system.remap(result.cols(), to);
        result
    };
    (over(a, &same), over(b, &to))
}
