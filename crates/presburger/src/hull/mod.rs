//! Single conjunctions that contain a union, and simplification of unions by them.

mod affine;
mod boxes;
mod convex;
mod duality;
mod gist;
mod implied;
mod lattice;
mod simple;
mod strides;

pub use boxes::{Extent, FixedBox};
pub(crate) use convex::{convex_rows, generators};
pub(crate) use lattice::Lattice;
pub(crate) use simple::simple_hull;
pub use strides::Stride;

use std::borrow::Cow;

use simple::Shared;

use crate::basic_map::{BasicMap, merge};
use crate::coalesce::coalesced;
use crate::relation::subtract_parts;
use crate::solve::number::widening;
use crate::{Budget, Error, Integer, Relation};

impl Relation {
    /// Returns the disjunct whose constraints are those of all disjuncts, moved outwards
    /// until all points satisfy them.
    ///
    /// A superset, within the affine hull: exact only if the union is such a conjunction.
    /// Constraints that no move makes valid are dropped.
    pub fn simple_hull(&self, budget: &Budget) -> Result<Self, Error> {
        self.own_constraints(true, budget)
    }

    /// Returns the constraints of all disjuncts that all points satisfy as they are.
    ///
    /// A superset of `self` and of [`Self::simple_hull`], within the affine hull.
    pub fn unshifted_simple_hull(&self, budget: &Budget) -> Result<Self, Error> {
        self.own_constraints(false, budget)
    }

    /// Returns the simple hull, moved or not; of several disjuncts also what equations they share,
    /// and what strides if all of them have divisions.
    fn own_constraints(&self, shift: bool, budget: &Budget) -> Result<Self, Error> {
        if self.parts.len() < 2 {
            return Ok(self.clone());
        }
        let strided = self.parts.iter().all(|part| !part.divs.is_empty());
        let parts = with_common_divs(&self.parts);
        let hull = widening!(T => {
            let mut shared = Shared::<T>::of(&parts, budget)?;
            let Some(mut hull) = shared.hull(shift, budget)? else { return Ok(None) };
            if strided {
                let lattice = shared.lattice(budget)?.and_then(|lattice| lattice.basic());
                return Ok(lattice.and_then(|lattice| hull.intersect(&lattice)));
            }
            let Some(rows) = shared.equations(budget)? else { return Ok(None) };
            rows.iter().for_each(|row| hull.system.eqs.push(row));
            Ok(hull.tidied())
        })?;
        self.replaced(hull)
    }

    pub(crate) fn replaced(&self, part: Option<BasicMap>) -> Result<Self, Error> {
        Ok(Self::new(self.space.clone(), part.into_iter().collect()))
    }

    /// Cuts disjuncts so that no two of them share a point; the points stay the same.
    ///
    /// Disjuncts, and what is left of each, are merged as [`Self::coalesce`] does.
    pub fn make_disjoint(&self, budget: &Budget) -> Result<Self, Error> {
        let given = self.coalesce(budget)?;
        let mut parts: Vec<BasicMap> = Vec::new();
        for (index, part) in given.parts.iter().enumerate() {
            // Whole disjuncts cut into fewer pieces than what is left of them would.
            let fresh = subtract_parts(std::slice::from_ref(part), &given.parts[..index], budget)?;
            parts.extend(coalesced(&fresh, true, budget)?);
        }
        Ok(Self::of_inhabited(self.space.clone(), parts))
    }
}

/// Rewrites all parts over the same divisions.
pub(crate) fn with_common_divs(parts: &[BasicMap]) -> Cow<'_, [BasicMap]> {
    let Some(first) = parts.first().filter(|first| parts.iter().any(|p| p.divs != first.divs))
    else {
        return Cow::Borrowed(parts);
    };
    let mut divs = first.divs.to_vec();
    for part in &parts[1..] {
        divs = merge(first.dims, &divs, &part.divs).0;
    }
    let rewritten = parts.iter().map(|part| {
        let (all, to) = merge(part.dims, &divs, &part.divs);
        let mut result = BasicMap::with_divs(part.dims, all);
        result.system = part.system.remap(result.cols(), &to);
        result
    });
    Cow::Owned(rewritten.collect())
}

impl BasicMap {
    /// Returns all constraints as inequalities.
    pub fn half_spaces(&self) -> Vec<Vec<Integer>> {
        self.system.half_spaces()
    }
}
