//! Operations that match pieces of one union with those of another.

use super::key::{Piece, TupleKey, tuple_key};
use super::{Key, Union};
use crate::{Budget, Error, Order, Relation, Tuple};

impl Union {
    /// The relations from a tuple.
    fn leaving(&self, tuple: &TupleKey) -> impl Iterator<Item = &Piece> {
        let start = self.pieces.partition_point(|(key, _)| key.first < *tuple);
        let same = self.pieces[start..].iter().take_while(move |(key, _)| key.first == *tuple);
        same.filter(|(key, _)| key.second.is_some())
    }

    /// Combines each piece with every relation of `other` from the tuple that `side` picks.
    fn matched(
        &self,
        other: &Self,
        side: impl Fn(&Key) -> Option<&TupleKey>,
        f: impl Fn(&Piece, &Piece) -> Result<Piece, Error>,
    ) -> Result<Self, Error> {
        let mut results = Vec::new();
        for a in self.pieces.iter() {
            for b in side(&a.0).into_iter().flat_map(|tuple| other.leaving(tuple)) {
                results.push(f(a, b)?);
            }
        }
        Self::of(results)
    }

    /// Relates `x` to `z` where `self` relates `x` to some `y` and `next` that `y` to `z`.
    ///
    /// Sets give the sets of their images.
    pub fn apply_range(&self, next: &Self, budget: &Budget) -> Result<Self, Error> {
        self.matched(
            next,
            |key| Some(key.output()),
            |(from, a), (to, b)| {
                let key = match from.input() {
                    Some(input) => Key { first: input.clone(), second: Some(to.output().clone()) },
                    None => Key::set(to.output().clone()),
                };
                Ok((key, a.apply_range(b, budget)?))
            },
        )
    }

    /// Applies `map` to every input.
    pub fn apply_domain(&self, map: &Self, budget: &Budget) -> Result<Self, Error> {
        self.inverse()?.apply_range(map, budget)?.inverse()
    }

    /// Keeps the pairs `x -> z` for which `first` relates `x` to some `y` and `second` that `y`
    /// to `z`.
    ///
    /// As the intersection with `first.apply_range(second)`, of which only what lies between
    /// spaces of `self` is made.
    pub fn intersect_composition(
        &self,
        first: &Self,
        second: &Self,
        budget: &Budget,
    ) -> Result<Self, Error> {
        let mut results = Vec::new();
        for (key, pairs) in self.pieces.iter().filter(|(_, pairs)| !pairs.parts.is_empty()) {
            for (step, one) in first.leaving(&key.first) {
                let rest = Key { first: step.output().clone(), second: key.second.clone() };
                if let Some(two) = second.find(&rest) {
                    let composed = one.apply_range(two, budget)?;
                    results.push((key.clone(), pairs.intersect(&composed, budget)?));
                }
            }
        }
        Self::of(results)
    }

    /// Keeps the pairs `[x -> y] -> z` for which some output of `x` under `schedule` is, in this
    /// `order`, before or after one of `z`.
    ///
    /// # Errors
    /// [`Error::Space`] if the outputs of `schedule` are in different spaces.
    pub fn intersect_ordered(
        &self,
        schedule: &Self,
        order: Order,
        budget: &Budget,
    ) -> Result<Self, Error> {
        let mut results = Vec::new();
        for (key, pairs) in self.pieces.iter().filter(|(_, pairs)| !pairs.parts.is_empty()) {
            let space = pairs.space();
            let Some((x, _)) = space.input.as_ref().and_then(Tuple::sides) else { continue };
            let (from, to) = (tuple_key(&x), key.output());
            let both = schedule.leaving(&from).flat_map(|(_, first)| {
                schedule
                    .leaving(to)
                    .map(move |(_, second)| first.inputs_ordered(second, order, budget))
            });
            for ordered in both {
                let lifted = ordered?.with_inputs_of(space, x.dims.len());
                results.push((key.clone(), pairs.intersect(&lifted, budget)?));
            }
        }
        Self::of(results)
    }

    /// Changes each piece by the set of `sets` over the tuple that `side` picks, if there is
    /// one; what becomes nothing is dropped.
    fn restricted(
        &self,
        sets: &Self,
        side: impl Fn(&Key) -> Option<&TupleKey>,
        f: impl Fn(&Relation, Option<&Relation>) -> Result<Option<Relation>, Error>,
    ) -> Result<Self, Error> {
        let mut results = Vec::new();
        for (key, a) in self.pieces.iter() {
            let set = side(key).and_then(|tuple| sets.find(&Key::set(tuple.clone())));
            if let Some(result) = f(a, set)? {
                results.push((key.clone(), result));
            }
        }
        Self::of(results)
    }

    /// Keeps the pairs whose input is in `sets`, or whose parameters are in a set of them alone.
    pub fn intersect_domain(&self, sets: &Self, budget: &Budget) -> Result<Self, Error> {
        if let Some(params) = sets.as_params() {
            return self.intersect_params(params, budget);
        }
        self.restricted(sets, Key::input, |a, set| {
            set.map(|set| a.intersect_domain(set, budget)).transpose()
        })
    }

    /// Keeps the pairs whose output is in `sets`.
    pub fn intersect_range(&self, sets: &Self, budget: &Budget) -> Result<Self, Error> {
        self.restricted(
            sets,
            |key| Some(key.output()),
            |a, set| set.map(|set| a.intersect_range(set, budget)).transpose(),
        )
    }

    /// Drops the pairs whose input is in `sets`.
    pub fn subtract_domain(&self, sets: &Self, budget: &Budget) -> Result<Self, Error> {
        self.restricted(sets, Key::input, |a, set| match set {
            Some(set) => a.subtract_domain(set, budget).map(Some),
            None => Ok(Some(a.clone())),
        })
    }

    /// Drops the pairs whose output is in `sets`.
    pub fn subtract_range(&self, sets: &Self, budget: &Budget) -> Result<Self, Error> {
        self.restricted(
            sets,
            |key| Some(key.output()),
            |a, set| match set {
                Some(set) => a.subtract_range(set, budget).map(Some),
                None => Ok(Some(a.clone())),
            },
        )
    }

    /// Leaves out of the pairs what holds for all inputs in `sets`, or for all parameters in a set
    /// of them alone; drops the pairs of other spaces.
    pub fn gist_domain(&self, sets: &Self, budget: &Budget) -> Result<Self, Error> {
        if let Some(params) = sets.as_params() {
            return self.gist_params(params, budget);
        }
        self.gist(&self.universe()?.intersect_domain(sets, budget)?, budget)
    }

    /// Leaves out of the pairs what holds for all outputs in `sets`; drops the pairs of other
    /// spaces.
    pub fn gist_range(&self, sets: &Self, budget: &Budget) -> Result<Self, Error> {
        self.gist(&self.universe()?.intersect_range(sets, budget)?, budget)
    }

    /// Pairs every point of `self` with every point of `other`.
    ///
    /// # Errors
    /// [`Error::Space`] for a set and a relation.
    pub fn product(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        let all = self.relations().flat_map(|a| other.relations().map(move |b| (a, b)));
        let results: Result<Vec<_>, _> = all.map(|(a, b)| a.product(b, budget)).collect();
        Self::collect(results?)
    }

    /// Relates `x` to `[y -> z]` where `self` relates it to `y` and `other` to `z`.
    pub fn range_product(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        self.paired(other, |a, b| a.range_product(b, budget))
    }

    /// As [`Self::range_product`], with the pairs flattened into nameless tuples.
    pub fn flat_range_product(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        self.paired(other, |a, b| a.flat_range_product(b, budget))
    }

    /// Combines relations from one tuple.
    fn paired(
        &self,
        other: &Self,
        f: impl Fn(&Relation, &Relation) -> Result<Relation, Error>,
    ) -> Result<Self, Error> {
        self.matched(other, Key::input, |(_, a), (_, b)| {
            let result = f(a, b)?;
            Ok((Key::of(result.space()), result))
        })
    }

    /// Relates `[x -> y]` to `z` where `self` relates `x` to `z` and `other` relates `y` to it.
    pub fn domain_product(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        self.inverse()?.range_product(&other.inverse()?, budget)?.inverse()
    }

    /// Relates every point of the sets of `self` to every point of the sets of `other`.
    ///
    /// # Errors
    /// [`Error::Space`] if there is a relation.
    pub fn cross(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        self.product(other, budget)?.unwrap()
    }

    /// Relates points of sets in the same space by lexicographic order; inputs of relations by
    /// that of their outputs. Sets of parameters have no points.
    pub fn ordered(&self, other: &Self, order: Order, budget: &Budget) -> Result<Self, Error> {
        let is_map = |union: &Self| union.relations().any(|piece| !piece.is_set());
        if is_map(self) && is_map(other) {
            let pairs = self.relations().flat_map(|a| other.relations().map(move |b| (a, b)));
            let pairs = pairs.filter(|(a, b)| a.space().output == b.space().output);
            let ordered = pairs.map(|(a, b)| a.inputs_ordered(b, order, budget));
            return Self::collect(ordered.collect::<Result<Vec<_>, _>>()?);
        }
        let mut pieces = Vec::new();
        for (key, set) in self.pieces.iter() {
            let space = set.space();
            if let Some(other) = other.find(key).filter(|_| !space.is_params()) {
                let all =
                    Relation::lexicographic(space.params.clone(), space.output.clone(), order);
                pieces.push(all.intersect_domain(set, budget)?.intersect_range(other, budget)?);
            }
        }
        Self::collect(pieces)
    }
}
