//! Single conjunctions that contain a union, and simplification of unions by them.

mod affine;
mod boxes;
mod convex;
mod duality;
mod implied;
mod lattice;
mod strides;

pub use boxes::{Extent, FixedBox};
pub(crate) use convex::generators;
pub(crate) use lattice::Lattice;
pub use strides::Stride;

use crate::basic::{Basic, merge};
use crate::coalesce::coalesced;
use crate::relation::{covers, subtract_parts};
use crate::solve::bounds::{bounds, reaches};
use crate::solve::feasible::is_empty;
use crate::system::System;
use crate::{Budget, Error, Integer, Relation};

impl Relation {
    /// Returns the disjunct whose constraints are those of all disjuncts, moved outwards
    /// until all points satisfy them.
    ///
    /// A superset, within the affine hull: exact only if the union is such a conjunction.
    /// Constraints that no move makes valid are dropped.
    pub fn simple_hull(&self, budget: &Budget) -> Result<Self, Error> {
        self.within_lattice(simple_hull(&self.parts, true, budget)?, budget)
    }

    /// Returns the constraints of all disjuncts that all points satisfy as they are.
    ///
    /// A superset of `self` and of [`Self::simple_hull`], within the affine hull.
    pub fn unshifted_simple_hull(&self, budget: &Budget) -> Result<Self, Error> {
        self.within_lattice(simple_hull(&self.parts, false, budget)?, budget)
    }

    /// Adds to a hull of several disjuncts what equations they share, and what strides if all of
    /// them have divisions.
    fn within_lattice(&self, hull: Option<Basic>, budget: &Budget) -> Result<Self, Error> {
        let hull = self.replaced(hull)?;
        if self.parts.len() < 2 {
            return Ok(hull);
        }
        let strided = self.parts.iter().all(|part| !part.divs.is_empty());
        let shared = if strided { self.lattice_hull(budget)? } else { self.affine_hull(budget)? };
        hull.intersect(&shared, budget)
    }

    pub(crate) fn replaced(&self, part: Option<Basic>) -> Result<Self, Error> {
        Ok(Self::new((*self.space).clone(), part.into_iter().collect()))
    }

    /// Drops inequalities that the others of their disjunct imply.
    pub fn remove_redundancies(&self, budget: &Budget) -> Result<Self, Error> {
        let mut parts = Vec::new();
        for part in self.parts.iter() {
            if !part.is_empty(budget)? {
                parts.push(part.clone().without_redundancy(budget)?);
            }
        }
        Ok(Self::new((*self.space).clone(), parts))
    }

    /// Cuts disjuncts so that no two of them share a point; the points stay the same.
    ///
    /// Disjuncts, and what is left of each, are merged as [`Self::coalesce`] does.
    pub fn make_disjoint(&self, budget: &Budget) -> Result<Self, Error> {
        let given = self.coalesce(budget)?;
        let mut parts: Vec<Basic> = Vec::new();
        for (index, part) in given.parts.iter().enumerate() {
            // Whole disjuncts cut into fewer pieces than what is left of them would.
            let fresh = subtract_parts(std::slice::from_ref(part), &given.parts[..index], budget)?;
            parts.extend(coalesced(fresh, true, budget)?);
        }
        Ok(Self::of_inhabited((*self.space).clone(), parts))
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
            parts.extend(part.simplified(&hull, budget)?);
        }
        let result = Self::new((*a.space).clone(), parts);
        // Several disjuncts may cover the whole context together.
        if result.parts.len() > 1 && covers(&a.parts, &[hull], budget)? {
            return Ok(Self::universe((*a.space).clone()));
        }
        Ok(result)
    }
}

/// Rewrites all parts over the same divisions.
pub(crate) fn with_common_divs(parts: &[Basic]) -> Vec<Basic> {
    let Some(first) = parts.first() else { return Vec::new() };
    let mut divs = first.divs.to_vec();
    for part in &parts[1..] {
        divs = merge(first.dims, &divs, &part.divs).0;
    }
    let rewritten = parts.iter().map(|part| {
        let (all, to) = merge(part.dims, &divs, &part.divs);
        let mut result = Basic::with_divs(part.dims, all);
        result.system = part.system.remap(result.cols(), &to);
        result
    });
    rewritten.collect()
}

/// Returns a conjunction that contains all parts; nothing for no parts.
pub(crate) fn simple_hull(
    parts: &[Basic],
    shift: bool,
    budget: &Budget,
) -> Result<Option<Basic>, Error> {
    if let [one] = parts {
        return Ok(Some(one.clone()));
    }
    let parts = with_common_divs(parts);
    let systems: Vec<System> = parts.iter().map(Basic::unfolded).collect();
    let Some(first) = parts.first() else { return Ok(None) };
    let mut hull = Basic::with_divs(first.dims, first.divs.to_vec());
    for (index, part) in parts.iter().enumerate() {
        let mut rows = part.half_spaces();
        // How far each row has to move; nothing if no move is enough.
        let mut moves = vec![Some(Integer::ZERO); rows.len()];
        for (_, system) in systems.iter().enumerate().filter(|(other, _)| *other != index) {
            let Some(reaches) = reaches(&rows, system, budget)? else { continue };
            for (least, low) in moves.iter_mut().zip(reaches) {
                *least = least.take().zip(low).map(|(least, low)| least.min(low));
            }
        }
        for (row, least) in rows.iter_mut().zip(moves) {
            let least = match least {
                Some(least) if least < 0 && !first.divs.is_empty() => {
                    Some(reached(row, least, &systems, budget)?)
                }
                least => least,
            };
            match least {
                Some(least) if shift || least == 0 => {
                    row[0] -= least;
                    hull.system.ineqs.push(row);
                }
                _ => {}
            }
        }
    }
    Ok(hull.tidied())
}

/// So many steps may go into an integer point that tells how far a row has to move, and so many
/// times it is asked for: the rational bound is right without, and only looser.
const STEPS: u64 = 2_000;
const TRIES: usize = 16;

/// Finds the least value of `row` at integer points, from `least` on, which nothing is below.
///
/// Divisions leave rational points between those of the lattice that are far from any of them.
fn reached(
    row: &[Integer],
    mut least: Integer,
    systems: &[System],
    budget: &Budget,
) -> Result<Integer, Error> {
    for _ in 0..TRIES {
        if least == 0 {
            break;
        }
        let mut moved = row.to_vec();
        moved[0] -= least.clone();
        for system in systems {
            let mut system = system.clone();
            system.eqs.push(&moved);
            let empty = budget.attempt(STEPS, |budget| is_empty(&system, &[], budget))?;
            if empty != Some(true) {
                return Ok(least);
            }
        }
        least += Integer::ONE;
    }
    Ok(least)
}

impl Basic {
    /// Returns all constraints as inequalities.
    pub fn half_spaces(&self) -> Vec<Vec<Integer>> {
        self.system.half_spaces()
    }

    /// Drops the constraints that `context` and the other constraints imply.
    fn simplified(&self, context: &Self, budget: &Budget) -> Result<Option<Self>, Error> {
        let mut pair = with_common_divs(&[self.clone(), context.clone()]).into_iter();
        let (Some(mut part), Some(context)) = (pair.next(), pair.next()) else {
            return Ok(None);
        };
        let given = context.unfolded();
        let equations: Vec<Vec<Integer>> =
            part.system.eqs.rows().map(<[Integer]>::to_vec).collect();
        part.system.eqs = System::new(part.cols() - 1).eqs;
        for (index, row) in equations.iter().enumerate() {
            let mut others = part.unfolded();
            others.extend(&given);
            for other in &equations[index + 1..] {
                others.eqs.push(other);
            }
            let zero = Some(Integer::ZERO);
            if bounds(row, &others, budget)? != Some((zero.clone(), zero)) {
                part.system.eqs.push(row);
            }
        }
        crate::solve::redundancy::remove_redundant_given(&mut part.system, &given, budget)?;
        Ok(part.tidied())
    }
}
