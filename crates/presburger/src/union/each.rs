//! Operations that take the pieces of a union one by one.

use super::key::TupleKey;
use super::{Key, Union};
use crate::{Budget, Error, Relation, Space};

impl Union {
    fn each(&self, f: impl Fn(&Relation) -> Result<Relation, Error>) -> Result<Self, Error> {
        let results: Result<Vec<_>, _> = self.relations().map(f).collect();
        Self::collect(results?)
    }

    /// As `each`, where every result lies in the space of its piece.
    pub(super) fn in_place(
        &self,
        f: impl Fn(&Key, &Relation) -> Result<Relation, Error>,
    ) -> Result<Self, Error> {
        let results = self.pieces.iter().map(|(key, piece)| Ok((key.clone(), f(key, piece)?)));
        Self::of(results.collect::<Result<Vec<_>, Error>>()?)
    }

    /// As `each`, for sets over the tuple that `side` picks.
    fn sided(
        &self,
        side: impl Fn(&Key) -> Option<&TupleKey>,
        f: impl Fn(&Relation) -> Result<Relation, Error>,
    ) -> Result<Self, Error> {
        let results = self.pieces.iter().map(|(key, piece)| {
            let tuple = side(key).unwrap_or(&key.first).clone();
            Ok((Key::set(tuple), f(piece)?))
        });
        Self::of(results.collect::<Result<Vec<_>, Error>>()?)
    }

    /// Returns the inputs of all relations.
    pub fn domain(&self, budget: &Budget) -> Result<Self, Error> {
        self.sided(|key| Some(&key.first), |piece| piece.domain(budget))
    }

    /// Returns the outputs of all relations.
    pub fn range(&self, budget: &Budget) -> Result<Self, Error> {
        self.sided(|key| key.second.as_ref(), |piece| piece.range(budget))
    }

    /// Returns the values of the parameters for which there is a point.
    pub fn params(&self, budget: &Budget) -> Result<Self, Error> {
        self.each(|piece| piece.params(budget))
    }

    /// Keeps the points whose parameters are in the parameter set `set`.
    ///
    /// # Errors
    /// [`Error::Space`] if `set` has dimensions.
    pub fn intersect_params(&self, set: &Relation, budget: &Budget) -> Result<Self, Error> {
        self.in_place(|_, piece| piece.intersect_params(set, budget))
    }

    /// Simplifies under the assumption that only values of the parameters in `set` matter.
    ///
    /// # Errors
    /// [`Error::Space`] if `set` has dimensions.
    pub fn gist_params(&self, set: &Relation, budget: &Budget) -> Result<Self, Error> {
        self.in_place(|_, piece| piece.gist(&set.params_of(piece.space(), budget)?, budget))
    }

    /// As `each`, for the pieces of spaces that the operation takes; all others are dropped.
    fn of_spaces(
        &self,
        takes: impl Fn(&Space) -> bool,
        f: impl Fn(&Relation) -> Result<Relation, Error>,
    ) -> Result<Self, Error> {
        let taken = self.relations().filter(|piece| takes(piece.space()));
        Self::collect(taken.map(f).collect::<Result<Vec<_>, _>>()?)
    }

    /// Swaps inputs and outputs.
    ///
    /// # Errors
    /// [`Error::Space`] if there is a set.
    pub fn inverse(&self) -> Result<Self, Error> {
        let results = self.pieces.iter().map(|(key, piece)| {
            let swapped = Key { first: key.output().clone(), second: key.input().cloned() };
            Ok((swapped, piece.inverse()?))
        });
        Self::of(results.collect::<Result<Vec<_>, Error>>()?)
    }

    /// Returns the differences of related points of the same tuple; drops all others.
    pub fn deltas(&self, budget: &Budget) -> Result<Self, Error> {
        self.of_spaces(within_tuple, |piece| piece.deltas(budget))
    }

    /// Relates each pair of points of the same tuple to its difference; drops all others.
    pub fn deltas_map(&self, budget: &Budget) -> Result<Self, Error> {
        self.of_spaces(within_tuple, |piece| piece.deltas_map(budget))
    }

    /// Turns relations into sets of pairs.
    ///
    /// # Errors
    /// [`Error::Space`] if there is a set.
    pub fn wrap(&self) -> Result<Self, Error> {
        self.each(Relation::wrap)
    }

    /// Turns sets of pairs into relations; drops all other sets.
    ///
    /// # Errors
    /// [`Error::Space`] if there is a relation.
    pub fn unwrap(&self) -> Result<Self, Error> {
        self.of_spaces(|space| !space.is_set() || to_pairs(space), Relation::unwrap)
    }

    /// Turns `[a -> b] -> [c -> d]` into `[a -> c] -> [b -> d]`, and drops all others.
    pub fn zip(&self) -> Result<Self, Error> {
        self.of_spaces(|space| of_pairs(space) && to_pairs(space), Relation::zip)
    }

    /// Turns `[a -> b] -> c` into `a -> [b -> c]`, and drops all others.
    pub fn curry(&self) -> Result<Self, Error> {
        self.of_spaces(of_pairs, Relation::curry)
    }

    /// Turns `a -> [b -> c]` into `[a -> b] -> c`, and drops all others.
    pub fn uncurry(&self) -> Result<Self, Error> {
        self.of_spaces(|space| !space.is_set() && to_pairs(space), Relation::uncurry)
    }

    /// Relates each pair of a relation to its input.
    ///
    /// # Errors
    /// [`Error::Space`] if there is a set.
    pub fn domain_map(&self) -> Result<Self, Error> {
        self.each(Relation::domain_map)
    }

    /// Relates each pair of a relation to its output.
    ///
    /// # Errors
    /// [`Error::Space`] if there is a set.
    pub fn range_map(&self) -> Result<Self, Error> {
        self.each(Relation::range_map)
    }

    /// Relates each point of the sets to itself; parameters alone are no points.
    ///
    /// # Errors
    /// [`Error::Space`] if there is a relation.
    pub fn identity(&self, budget: &Budget) -> Result<Self, Error> {
        self.of_spaces(
            |space| !space.is_params(),
            |set| {
                if !set.is_set() {
                    return Err(Error::Space { expected: "a set".into(), found: set.to_string() });
                }
                let space = set.space();
                let all = Relation::identity(space.params.clone(), space.output.clone());
                all.intersect_domain(set, budget)
            },
        )
    }

    /// Makes the union of all points in the spaces of `self`.
    pub fn universe(&self) -> Result<Self, Error> {
        self.in_place(|_, piece| Ok(Relation::universe(piece.space().clone())))
    }

    /// Keeps the least output for each input, space by space; see [`Relation::lexmin`].
    pub fn lexmin(&self, budget: &Budget) -> Result<Self, Error> {
        self.in_place(|_, piece| piece.lexmin(budget))
    }

    /// Keeps the greatest output for each input, space by space; see [`Relation::lexmin`].
    pub fn lexmax(&self, budget: &Budget) -> Result<Self, Error> {
        self.in_place(|_, piece| piece.lexmax(budget))
    }

    /// As [`Self::lexmin`], where every input has a least output; see [`Relation::total_lexmin`].
    pub fn total_lexmin(&self, budget: &Budget) -> Result<Self, Error> {
        self.in_place(|_, piece| piece.total_lexmin(budget))
    }

    /// As [`Self::lexmax`], where every input has a greatest output; see [`Relation::total_lexmax`].
    pub fn total_lexmax(&self, budget: &Budget) -> Result<Self, Error> {
        self.in_place(|_, piece| piece.total_lexmax(budget))
    }

    /// Merges disjuncts where that is exact, space by space.
    pub fn coalesce(&self, budget: &Budget) -> Result<Self, Error> {
        let merged = self.in_place(|_, piece| piece.coalesce(budget))?;
        Self::of(merged.pieces.iter().filter(|(_, piece)| !piece.parts.is_empty()).cloned())
    }

    /// Returns the simple hull in each space; a superset.
    pub fn simple_hull(&self, budget: &Budget) -> Result<Self, Error> {
        self.in_place(|_, piece| piece.simple_hull(budget))
    }

    /// Returns the affine hull in each space, with the strides that hold on all of it; a superset.
    pub fn affine_hull(&self, budget: &Budget) -> Result<Self, Error> {
        self.in_place(|_, piece| piece.strided_affine_hull(budget))
    }

    /// Adds the equations that each disjunct implies over the integers.
    pub fn detect_equalities(&self, budget: &Budget) -> Result<Self, Error> {
        self.in_place(|_, piece| piece.detect_equalities(budget))
    }
}

/// Returns whether relations in `space` have inputs that are pairs.
fn of_pairs(space: &Space) -> bool {
    space.input.as_ref().is_some_and(|input| input.nested.is_some())
}

/// Returns whether points or outputs in `space` are pairs.
fn to_pairs(space: &Space) -> bool {
    space.output.nested.is_some()
}

/// Returns whether `space` is one of relations from a tuple to itself.
fn within_tuple(space: &Space) -> bool {
    space.input.as_ref().is_some_and(|input| *input == space.output)
}
