//! Lexicographic minima and maxima of relations.
//!
//! Each disjunct has its own extremal outputs; what another disjunct has before them is no
//! extremum of the union. Where outputs of a disjunct go on without bound, they go past every
//! output that starts like them, or later: `{ [i] : i <= 0 or 5 <= i <= 7 }` has no least
//! point, while `{ [0, j]; [-1, 3] }` has one, although `j` has no least value.

use crate::basic_map::BasicMap;
use crate::relation::intersect_parts;
use crate::relation::subtract_parts;
use crate::{Budget, Error, Integer, Relation};

impl Relation {
    /// Keeps, for each input and each value of the parameters, the least output.
    ///
    /// The order is lexicographic. An input for which some output precedes every other keeps
    /// it; one whose outputs go down without bound, in any disjunct, has no least output and
    /// keeps none: compare the domains to tell it from one without outputs.
    ///
    /// # Source
    /// isl `isl_map_lexmin`. Divergence: isl fails as a whole if a disjunct is unbounded somewhere.
    pub fn lexmin(&self, budget: &Budget) -> Result<Self, Error> {
        self.extremal(1, budget)
    }

    /// Keeps, for each input and each value of the parameters, the greatest output.
    ///
    /// Inputs whose outputs go up without bound keep none; see [`Self::lexmin`].
    pub fn lexmax(&self, budget: &Budget) -> Result<Self, Error> {
        self.extremal(-1, budget)
    }

    /// Removes the points that another point with the same input precedes.
    fn extremal(&self, sign: i32, budget: &Budget) -> Result<Self, Error> {
        let outs = self.space.output.dims.len();
        let rivals = Rivals { all: self.space.dims(), outs, sign };
        let (mut best, mut endless) = (Vec::<BasicMap>::new(), Vec::new());
        for part in self.parts.iter() {
            let found = part.extremal(outs, sign, budget)?;
            let new = found.reached;
            let (mut old_beaten, mut new_beaten) = (Vec::new(), Vec::new());
            for part in &new {
                old_beaten.extend(rivals.behind(part, outs, budget)?);
            }
            for part in &best {
                new_beaten.extend(rivals.behind(part, outs, budget)?);
            }
            best = subtract_parts(&best, &old_beaten, budget)?;
            best.extend(subtract_parts(&new, &new_beaten, budget)?);
            endless.extend(found.endless);
        }
        // A disjunct has no extremum where it is endless itself.
        if self.parts.len() > 1 && !best.is_empty() {
            let mut passed = Vec::new();
            for (part, depth) in endless {
                passed.extend(rivals.behind(&part, depth, budget)?);
                passed.push(part);
            }
            best = subtract_parts(&best, &passed, budget)?;
        }
        Ok(Self::new(self.space.clone(), best))
    }
}

/// Two outputs of one input: those of `all` dimensions, and `outs` more for the better one.
struct Rivals {
    all: usize,
    outs: usize,
    sign: i32,
}

impl Rivals {
    /// Returns the points that follow one of `part` with the same input, and differ from it
    /// in one of the first `depths` outputs.
    fn behind(
        &self,
        part: &BasicMap,
        depths: usize,
        budget: &Budget,
    ) -> Result<Vec<BasicMap>, Error> {
        let Self { all, outs, .. } = *self;
        let to: Vec<usize> = (0..all - outs).chain(all..all + outs).collect();
        let better = [part.place(all + outs, &to)];
        let mut behind = Vec::new();
        for depth in 0..depths {
            for pair in intersect_parts(&better, &[self.apart_at(depth)], budget)? {
                behind.extend(pair.project(all..all + outs, budget)?);
            }
        }
        Ok(behind)
    }

    /// Makes the pairs of outputs that first differ at `depth`.
    fn apart_at(&self, depth: usize) -> BasicMap {
        let Self { all, outs, sign } = *self;
        let fixed = all - outs;
        let mut order = BasicMap::universe(all + outs);
        for dim in 0..=depth {
            let mut row = vec![Integer::ZERO; 1 + all + outs];
            let sign = if dim == depth { sign } else { 1 };
            (row[1 + fixed + dim], row[1 + all + dim]) = (sign.into(), (-sign).into());
            if dim == depth {
                row[0] = Integer::MINUS_ONE;
                order.system.ineqs.push(&row);
            } else {
                order.system.eqs.push(&row);
            }
        }
        order
    }
}
