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

    /// As [`Self::lexmin`], where every input that has outputs has a least one.
    ///
    /// # Errors
    /// [`Error::NoOptimum`] if the outputs of some input go down without bound.
    ///
    /// # Source
    /// isl `isl_map_lexmin`. Divergence: isl also fails if another disjunct has the least output.
    pub fn total_lexmin(&self, budget: &Budget) -> Result<Self, Error> {
        self.total_extremal(1, budget)
    }

    /// As [`Self::lexmax`], where every input that has outputs has a greatest one.
    ///
    /// # Errors
    /// [`Error::NoOptimum`] if the outputs of some input go up without bound.
    pub fn total_lexmax(&self, budget: &Budget) -> Result<Self, Error> {
        self.total_extremal(-1, budget)
    }

    /// Removes the points that another point with the same input precedes.
    fn extremal(&self, sign: i32, budget: &Budget) -> Result<Self, Error> {
        Ok(self.extremal_and_endless(sign, budget)?.0)
    }

    /// As [`Self::extremal`], unless an input has outputs and keeps none.
    fn total_extremal(&self, sign: i32, budget: &Budget) -> Result<Self, Error> {
        let (best, endless) = self.extremal_and_endless(sign, budget)?;
        if endless.is_empty() {
            return Ok(best);
        }
        let inputs_of = |relation: &Self| match relation.is_set() {
            true => relation.params(budget),
            false => relation.domain(budget),
        };
        let reached = inputs_of(&best)?;
        for (part, depth) in endless {
            let inputs = inputs_of(&Self::new(self.space.clone(), vec![part]))?;
            let missing = inputs.subtract(&reached, budget)?;
            if !missing.is_empty(budget)? {
                let dimension = self.space.output.described(depth);
                let end = if sign < 0 { "greatest" } else { "least" };
                let inputs = missing.coalesce(budget)?.to_string();
                return Err(Error::NoOptimum { dimension, end, inputs });
            }
        }
        Ok(best)
    }

    /// Finds the extremal points, and the parts without them, each with the number of its outputs
    /// that have an end before one that has none.
    fn extremal_and_endless(&self, sign: i32, budget: &Budget) -> Result<(Self, Endless), Error> {
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
            for (part, depth) in &endless {
                passed.extend(rivals.behind(part, *depth, budget)?);
                passed.push(part.clone());
            }
            best = subtract_parts(&best, &passed, budget)?;
        }
        Ok((Self::new(self.space.clone(), best), endless))
    }
}

/// Parts whose outputs have no extremum, with the first output that goes on without bound.
type Endless = Vec<(BasicMap, usize)>;

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
