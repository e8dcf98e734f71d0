//! Lists of disjuncts: what connectives do to them.

use crate::basic_map::BasicMap;
use crate::relation::subtract_parts;
use crate::{Budget, Error};

/// Intersects; disjuncts without points go where the result has more than both.
pub(crate) fn both(
    a: &[BasicMap],
    b: &[BasicMap],
    budget: &Budget,
) -> Result<Vec<BasicMap>, Error> {
    let mut parts = Vec::with_capacity(a.len() * b.len());
    let grows = a.len() > 1 && b.len() > 1;
    for (left, right) in a.iter().flat_map(|l| b.iter().map(move |r| (l, r))) {
        budget.spend(left.system.size() + right.system.size())?;
        let Some(part) = left.intersect(right) else { continue };
        if !grows || !part.is_empty(budget)? {
            parts.push(part);
        }
    }
    Ok(parts)
}

/// Returns the points over `dims` dimensions that are in no part.
pub(crate) fn negation(
    dims: usize,
    parts: &[BasicMap],
    budget: &Budget,
) -> Result<Vec<BasicMap>, Error> {
    subtract_parts(&[BasicMap::universe(dims)], parts, budget)
}
