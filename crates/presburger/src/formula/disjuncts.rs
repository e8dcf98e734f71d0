//! Lists of disjuncts: what connectives and quantifiers do to them.

use std::ops::Range;

use crate::basic_map::BasicMap;
use crate::project::weight;
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

/// What it may take to see whether names that a quantifier binds are better taken away at once.
const ALONE_STEPS: u64 = 20_000;

/// Takes away the dimensions in `range`, of a quantifier inside another; nothing unless that soon
/// leaves no more than there is.
///
/// One quantifier alone may need many disjuncts to say what all of them do not ask for. To keep the
/// dimensions of several, on the other hand, multiplies their disjuncts.
pub(crate) fn taken_away(
    parts: &[BasicMap],
    range: &Range<usize>,
    budget: &Budget,
) -> Result<Option<Vec<BasicMap>>, Error> {
    let found = budget.attempt(ALONE_STEPS, |budget| {
        let mut found: Vec<BasicMap> = Vec::new();
        for part in parts {
            for part in part.project(range.clone(), budget)? {
                if !found.contains(&part) {
                    found.push(part);
                }
            }
        }
        Ok(found)
    })?;
    Ok(found.filter(|found| found.len() <= parts.len() && weight(found) <= weight(parts)))
}

/// Puts dimensions behind those that the parts have, so that there are `dims`.
pub(crate) fn widened(mut parts: Vec<BasicMap>, dims: usize) -> Vec<BasicMap> {
    for part in parts.iter_mut().filter(|part| part.dims < dims) {
        *part = part.place(dims, &(0..part.dims).collect::<Vec<_>>());
    }
    parts
}

/// Returns the points over `dims` dimensions that are in no part.
pub(crate) fn negation(
    dims: usize,
    parts: &[BasicMap],
    budget: &Budget,
) -> Result<Vec<BasicMap>, Error> {
    subtract_parts(&[BasicMap::universe(dims)], parts, budget)
}
