//! Merging disjuncts whose union is a single conjunction.
//!
//! `{ [i] : 0 <= i <= 4 }` and `{ [i] : 5 <= i <= 9 }` become `{ [i] : 0 <= i <= 9 }`. Known
//! points of two disjuncts come first: what lies on the way from one to the other, and in
//! neither, keeps them apart. Else the candidate for both starts as their simple hull. While it
//! holds an integer point that neither disjunct has, a linear program tells whether the convex
//! hull of both has that point too: then nothing merges them. Otherwise its dual is a valid
//! constraint that cuts the point off, and the candidate gets smaller.
//!
//! Source: S. Verdoolaege, "Integer set coalescing", IMPACT 2015, for the conditions on pairs,
//! and for one tableau per disjunct that all its pairs share. Divergence: cutting planes find
//! the rotated constraints that wrapping facets gives there.

mod between;
mod divisions;
mod pair;
mod segment;
mod side;

use crate::basic_map::{BasicMap, merge};
use crate::solve::number::Number;
use crate::{Budget, Error, Relation};
use pair::{Merged, Pair};
pub(crate) use side::{Side, sample};

/// The most disjuncts that are tried in pairs.
const PAIRS: usize = 64;
/// What a pair may take: those that merge are mostly plain to see. Divisions that differ get less.
const PAIR_STEPS: u64 = 4000;

impl Relation {
    /// Merges disjuncts where a single conjunction holds exactly their points.
    ///
    /// The points stay the same. Two disjuncts are merged if a conjunction over their
    /// divisions has no further points and that is found out within a fixed number of steps; a
    /// disjunct inside another is dropped.
    pub fn coalesce(&self, budget: &Budget) -> Result<Self, Error> {
        let parts = coalesced(&self.parts, self.inhabited, budget)?;
        Ok(Self::of_inhabited(self.space.clone(), parts))
    }
}

/// Merges conjunctions over the same dimensions; those without points are left out.
pub(crate) fn coalesced(
    given: &[BasicMap],
    inhabited: bool,
    budget: &Budget,
) -> Result<Vec<BasicMap>, Error> {
    let mut parts = Vec::new();
    for part in given {
        parts.extend(Entry::new(part, inhabited, budget)?);
    }
    // Parts before `next` have met each other; what two of them become goes to the end.
    let mut next = 1;
    while next < parts.len() {
        match partner(&mut parts, next, budget)? {
            Some((index, Merged::New(merged))) => {
                parts.remove(next);
                parts.remove(index);
                parts.extend(Entry::new(&merged, true, budget)?);
                next = next.saturating_sub(1).max(1);
            }
            Some((_, Merged::Side(0))) => drop(parts.remove(next)),
            Some((index, Merged::Side(_))) => {
                // The new one meets the others again, with what it has learnt.
                parts.remove(index);
                next = next.saturating_sub(1).max(1);
            }
            None => next += 1,
        }
    }
    Ok(parts.into_iter().map(Entry::into_part).collect())
}

/// A disjunct, and what every pair asks of it.
enum Entry {
    Narrow(Box<Side<i64>>),
    /// Its rational points need wider numbers.
    Wide(BasicMap),
}

impl Entry {
    /// Drops redundant constraints; nothing is left of a disjunct without points.
    fn new(part: &BasicMap, inhabited: bool, budget: &Budget) -> Result<Option<Self>, Error> {
        match Side::minimal(part, inhabited, budget) {
            Ok(side) => Ok(side.map(Box::new).map(Self::Narrow)),
            Err(Error::Overflow) => {
                if !inhabited && part.is_empty(budget)? {
                    return Ok(None);
                }
                Ok(Some(Self::Wide(part.clone().without_redundancy(budget)?)))
            }
            Err(error) => Err(error),
        }
    }

    fn part(&self) -> &BasicMap {
        match self {
            Self::Narrow(side) => &side.part,
            Self::Wide(part) => part,
        }
    }

    fn into_part(self) -> BasicMap {
        match self {
            Self::Narrow(side) => side.part,
            Self::Wide(part) => part,
        }
    }
}

/// Finds an earlier part that merges with part `next`.
fn partner(
    parts: &mut [Entry],
    next: usize,
    budget: &Budget,
) -> Result<Option<(usize, Merged)>, Error> {
    let (before, rest) = parts.split_at_mut(next);
    let Some(new) = rest.first_mut() else { return Ok(None) };
    for (index, old) in before.iter_mut().enumerate().skip(next.saturating_sub(PAIRS)) {
        let steps = if old.part().divs == new.part().divs { PAIR_STEPS } else { PAIR_STEPS / 3 };
        let merged = budget.attempt(steps, |budget| merged(old, new, budget))?.flatten();
        if let Some(merged) = merged {
            return Ok(Some((index, merged)));
        }
    }
    Ok(None)
}

/// Merges two disjuncts if that is possible with 64 bits, else with 128.
fn merged(a: &mut Entry, b: &mut Entry, budget: &Budget) -> Result<Option<Merged>, Error> {
    if let (Entry::Narrow(left), Entry::Narrow(right)) = (&mut *a, &mut *b) {
        match joined(left, right, budget) {
            Err(Error::Overflow) => {}
            result => return result,
        }
    }
    let side = |part: &BasicMap| Side::<i128>::of(part, budget);
    let result = side(a.part()).and_then(|mut left| {
        let mut right = side(b.part())?;
        joined(&mut left, &mut right, budget)
    });
    match result {
        // Both stay as they are.
        Err(Error::Overflow) => Ok(None),
        result => result,
    }
}

/// Merges two disjuncts; those with nothing in common, neither division nor normal, stay apart.
fn joined<T: Number>(
    left: &mut Side<T>,
    right: &mut Side<T>,
    budget: &Budget,
) -> Result<Option<Merged>, Error> {
    if left.part.divs == right.part.divs {
        return Pair { sides: [left, right] }.merged(budget);
    }
    let (divs, to) = merge(left.part.dims, &left.part.divs, &right.part.divs);
    if divs.len() == left.part.divs.len() + right.part.divs.len() && !left.shares_a_normal(right) {
        return Ok(None);
    }
    let same: Vec<Option<usize>> = (0..left.part.cols()).map(Some).collect();
    let (Some(mut left), Some(mut right)) =
        (left.over(&divs, &same, budget)?, right.over(&divs, &to, budget)?)
    else {
        return Ok(None);
    };
    Pair { sides: [&mut left, &mut right] }.merged(budget)
}
