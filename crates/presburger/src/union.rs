//! Unions of sets and relations over different spaces.
//!
//! Operations work space by space: what has no partner in the other operand is kept
//! by a union or a difference and dropped by an intersection.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::{Budget, Error, Order, Relation, Space, Tuple};

/// An immutable union of relations over different tuples; a clone shares everything.
///
/// Two spaces are the same if their tuples have the same names, numbers of dimensions
/// and nesting. Parameters are matched by name.
#[derive(Debug, Clone, Default)]
pub struct Union {
    pieces: Arc<BTreeMap<String, Relation>>,
}

/// Tells spaces apart, whatever their dimensions are called.
pub(crate) fn tuple_key(tuple: &Tuple) -> String {
    match tuple.nested.as_deref() {
        Some((a, b)) => format!("{}[{}->{}]", tuple.name, tuple_key(a), tuple_key(b)),
        None => format!("{}[{}]", tuple.name, tuple.dims.len()),
    }
}

pub(crate) fn key(space: &Space) -> String {
    let output = tuple_key(&space.output);
    space.input.as_ref().map_or(output.clone(), |input| format!("{}->{output}", tuple_key(input)))
}

impl From<Relation> for Union {
    fn from(relation: Relation) -> Self {
        let mut pieces = BTreeMap::new();
        pieces.insert(key(relation.space()), relation);
        Self { pieces: pieces.into() }
    }
}

impl FromStr for Union {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text, &Budget::unlimited())
    }
}

impl fmt::Display for Union {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let params = self.parameters();
        if !params.is_empty() {
            write!(f, "[{}] -> ", params.join(", "))?;
        }
        let full = self.pieces.values().filter(|piece| !piece.parts.is_empty());
        let texts: Vec<String> =
            full.flat_map(|piece| piece.aligned(&params).disjuncts()).collect();
        if texts.is_empty() { f.write_str("{ }") } else { write!(f, "{{ {} }}", texts.join("; ")) }
    }
}

impl Union {
    /// Makes the union without points.
    pub fn empty() -> Self {
        Self::default()
    }

    /// Parses isl's notation; disjuncts may lie in different spaces.
    ///
    /// # Errors
    /// [`Error::Syntax`] with the column.
    pub fn parse(text: &str, budget: &Budget) -> Result<Self, Error> {
        Self::collect(crate::parse::relations(text, budget)?)
    }

    /// Unites relations of any spaces.
    pub fn collect(relations: impl IntoIterator<Item = Relation>) -> Result<Self, Error> {
        let mut pieces = BTreeMap::new();
        for relation in relations {
            add(&mut pieces, relation)?;
        }
        Ok(Self { pieces: pieces.into() })
    }

    /// Returns the relations, one for each space, in the order of their tuples.
    pub fn relations(&self) -> impl Iterator<Item = &Relation> {
        self.pieces.values()
    }

    /// Returns the relation over the tuples of `space`, if there is one.
    pub fn get(&self, space: &Space) -> Option<&Relation> {
        self.pieces.get(&key(space))
    }

    /// Returns the parameters of all pieces.
    pub fn parameters(&self) -> Vec<String> {
        let mut params: Vec<String> = Vec::new();
        for piece in self.pieces.values() {
            for param in &piece.space().params {
                if !params.contains(param) {
                    params.push(param.clone());
                }
            }
        }
        params
    }

    /// Returns the only relation.
    ///
    /// # Errors
    /// [`Error::Space`] if there are none or several spaces.
    pub fn single(&self) -> Result<&Relation, Error> {
        let mut all = self.pieces.values();
        match (all.next(), all.next()) {
            (Some(one), None) => Ok(one),
            _ => Err(Error::Space { expected: "one space".into(), found: self.to_string() }),
        }
    }

    fn each(&self, f: impl Fn(&Relation) -> Result<Relation, Error>) -> Result<Self, Error> {
        let results: Result<Vec<_>, _> = self.pieces.values().map(f).collect();
        Self::collect(results?)
    }

    /// Unites both.
    pub fn union(&self, other: &Self) -> Result<Self, Error> {
        Self::collect(self.pieces.values().chain(other.pieces.values()).cloned())
    }

    /// Keeps the points in both.
    pub fn intersect(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        let pairs = self.pieces.iter().filter_map(|(k, a)| Some((a, other.pieces.get(k)?)));
        let results: Result<Vec<_>, _> = pairs.map(|(a, b)| a.intersect(b, budget)).collect();
        Self::collect(results?)
    }

    /// Keeps the points of `self` that are not in `other`.
    pub fn subtract(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        self.each(|a| match other.pieces.get(&key(a.space())) {
            Some(b) => a.subtract(b, budget),
            None => Ok(a.clone()),
        })
    }

    /// Says whether there is no point in any space.
    pub fn is_empty(&self, budget: &Budget) -> Result<bool, Error> {
        for piece in self.pieces.values() {
            if !piece.is_empty(budget)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Says whether every point of `self` is in `other`.
    pub fn is_subset(&self, other: &Self, budget: &Budget) -> Result<bool, Error> {
        for (key, a) in self.pieces.iter() {
            let inside = match other.pieces.get(key) {
                Some(b) => a.is_subset(b, budget)?,
                None => a.is_empty(budget)?,
            };
            if !inside {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Says whether every point of `self` is in `other`, and not the other way round.
    pub fn is_strict_subset(&self, other: &Self, budget: &Budget) -> Result<bool, Error> {
        Ok(self.is_subset(other, budget)? && !other.is_subset(self, budget)?)
    }

    /// Says whether both hold the same points.
    pub fn is_equal(&self, other: &Self, budget: &Budget) -> Result<bool, Error> {
        Ok(self.is_subset(other, budget)? && other.is_subset(self, budget)?)
    }

    /// Says whether no point is in both.
    pub fn is_disjoint(&self, other: &Self, budget: &Budget) -> Result<bool, Error> {
        self.intersect(other, budget)?.is_empty(budget)
    }

    /// Returns the inputs of all relations.
    pub fn domain(&self, budget: &Budget) -> Result<Self, Error> {
        self.each(|piece| piece.domain(budget))
    }

    /// Returns the outputs of all relations.
    pub fn range(&self, budget: &Budget) -> Result<Self, Error> {
        self.each(|piece| piece.range(budget))
    }

    /// Returns the values of the parameters for which there is a point.
    pub fn params(&self, budget: &Budget) -> Result<Self, Error> {
        self.each(|piece| piece.params(budget))
    }

    /// Swaps inputs and outputs.
    ///
    /// # Errors
    /// [`Error::Space`] if there is a set.
    pub fn inverse(&self) -> Result<Self, Error> {
        self.each(Relation::inverse)
    }

    /// Relates `x` to `z` where `self` relates `x` to some `y` and `next` that `y` to `z`.
    ///
    /// Sets give the sets of their images.
    pub fn apply_range(&self, next: &Self, budget: &Budget) -> Result<Self, Error> {
        self.matched(next, |space| Some(tuple_key(&space.output)), |a, b| a.apply_range(b, budget))
    }

    /// Applies `map` to every input.
    pub fn apply_domain(&self, map: &Self, budget: &Budget) -> Result<Self, Error> {
        self.inverse()?.apply_range(map, budget)?.inverse()
    }

    /// Combines each piece with every relation of `other` whose input has the key of the piece.
    fn matched(
        &self,
        other: &Self,
        key: impl Fn(&Space) -> Option<String>,
        f: impl Fn(&Relation, &Relation) -> Result<Relation, Error>,
    ) -> Result<Self, Error> {
        let mut by_input: BTreeMap<String, Vec<&Relation>> = BTreeMap::new();
        for piece in other.pieces.values() {
            if let Some(input) = &piece.space().input {
                by_input.entry(tuple_key(input)).or_default().push(piece);
            }
        }
        let mut pieces = BTreeMap::new();
        for a in self.pieces.values() {
            let partners = key(a.space()).and_then(|key| by_input.get(&key));
            for b in partners.into_iter().flatten() {
                add(&mut pieces, f(a, b)?)?;
            }
        }
        Ok(Self { pieces: pieces.into() })
    }

    /// Pairs each piece with the set of `sets` over the tuple that `side` picks.
    fn restricted(
        &self,
        sets: &Self,
        side: impl Fn(&Space) -> Option<&Tuple>,
        f: impl Fn(&Relation, Option<&Relation>) -> Result<Option<Relation>, Error>,
    ) -> Result<Self, Error> {
        let mut pieces = BTreeMap::new();
        for a in self.pieces.values() {
            let set = side(a.space()).and_then(|tuple| sets.pieces.get(&tuple_key(tuple)));
            if let Some(result) = f(a, set)? {
                add(&mut pieces, result)?;
            }
        }
        Ok(Self { pieces: pieces.into() })
    }

    /// Keeps the pairs whose input is in `sets`.
    pub fn intersect_domain(&self, sets: &Self, budget: &Budget) -> Result<Self, Error> {
        self.restricted(
            sets,
            |space| space.input.as_ref(),
            |a, set| set.map(|set| a.intersect_domain(set, budget)).transpose(),
        )
    }

    /// Keeps the pairs whose output is in `sets`.
    pub fn intersect_range(&self, sets: &Self, budget: &Budget) -> Result<Self, Error> {
        self.restricted(
            sets,
            |space| Some(&space.output),
            |a, set| set.map(|set| a.intersect_range(set, budget)).transpose(),
        )
    }

    /// Drops the pairs whose input is in `sets`.
    pub fn subtract_domain(&self, sets: &Self, budget: &Budget) -> Result<Self, Error> {
        self.restricted(
            sets,
            |space| space.input.as_ref(),
            |a, set| match set {
                Some(set) => a.subtract_domain(set, budget).map(Some),
                None => Ok(Some(a.clone())),
            },
        )
    }

    /// Drops the pairs whose output is in `sets`.
    pub fn subtract_range(&self, sets: &Self, budget: &Budget) -> Result<Self, Error> {
        self.restricted(
            sets,
            |space| Some(&space.output),
            |a, set| match set {
                Some(set) => a.subtract_range(set, budget).map(Some),
                None => Ok(Some(a.clone())),
            },
        )
    }

    /// Keeps the points whose parameters are in the parameter set `set`.
    ///
    /// # Errors
    /// [`Error::Space`] if `set` has dimensions.
    pub fn intersect_params(&self, set: &Relation, budget: &Budget) -> Result<Self, Error> {
        self.each(|piece| piece.intersect_params(set, budget))
    }

    /// Pairs every point of `self` with every point of `other`.
    ///
    /// # Errors
    /// [`Error::Space`] for a set and a relation.
    pub fn product(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        let mut pieces = BTreeMap::new();
        for (a, b) in self.pieces.values().flat_map(|a| other.pieces.values().map(move |b| (a, b)))
        {
            add(&mut pieces, a.product(b, budget)?)?;
        }
        Ok(Self { pieces: pieces.into() })
    }

    /// Relates `x` to `[y -> z]` where `self` relates it to `y` and `other` to `z`.
    pub fn range_product(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        self.matched(
            other,
            |space| space.input.as_ref().map(tuple_key),
            |a, b| a.range_product(b, budget),
        )
    }

    /// As [`Self::range_product`], with the pairs flattened into nameless tuples.
    pub fn flat_range_product(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        self.matched(
            other,
            |space| space.input.as_ref().map(tuple_key),
            |a, b| a.flat_range_product(b, budget),
        )
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
    /// that of their outputs.
    pub fn ordered(&self, other: &Self, order: Order, budget: &Budget) -> Result<Self, Error> {
        let is_map = |union: &Self| union.relations().any(|piece| !piece.is_set());
        if is_map(self) && is_map(other) {
            let outputs = self.range(budget)?.ordered(&other.range(budget)?, order, budget)?;
            return self.apply_range(&outputs, budget)?.apply_range(&other.inverse()?, budget);
        }
        let mut pieces = Vec::new();
        for set in self.relations() {
            let space = set.space();
            for other in other.relations().filter(|other| other.space().same_tuples(space)) {
                let all =
                    Relation::lexicographic(space.params.clone(), space.output.clone(), order);
                pieces.push(all.intersect_domain(set, budget)?.intersect_range(other, budget)?);
            }
        }
        Self::collect(pieces)
    }

    /// Returns the differences of related points.
    ///
    /// # Errors
    /// [`Error::Space`] unless input and output are the same tuple.
    pub fn deltas(&self, budget: &Budget) -> Result<Self, Error> {
        self.each(|piece| piece.deltas(budget))
    }

    /// Relates each pair to its difference.
    ///
    /// # Errors
    /// [`Error::Space`] unless input and output are the same tuple.
    pub fn deltas_map(&self, budget: &Budget) -> Result<Self, Error> {
        self.each(|piece| piece.deltas_map(budget))
    }

    /// Turns relations into sets of pairs.
    ///
    /// # Errors
    /// [`Error::Space`] if there is a set.
    pub fn wrap(&self) -> Result<Self, Error> {
        self.each(Relation::wrap)
    }

    /// Turns sets of pairs into relations.
    ///
    /// # Errors
    /// [`Error::Space`] unless all are sets of pairs.
    pub fn unwrap(&self) -> Result<Self, Error> {
        self.each(Relation::unwrap)
    }

    /// Turns `[a -> b] -> [c -> d]` into `[a -> c] -> [b -> d]`, and drops all others.
    pub fn zip(&self) -> Result<Self, Error> {
        let pairs = |space: &Space| {
            space.output.nested.is_some()
                && space.input.as_ref().is_some_and(|input| input.nested.is_some())
        };
        let results: Result<Vec<_>, _> =
            self.pieces.values().filter(|p| pairs(p.space())).map(Relation::zip).collect();
        Self::collect(results?)
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

    /// Relates each point of the sets to itself.
    ///
    /// # Errors
    /// [`Error::Space`] if there is a relation.
    pub fn identity(&self, budget: &Budget) -> Result<Self, Error> {
        self.each(|set| {
            if !set.is_set() {
                return Err(Error::Space { expected: "a set".into(), found: set.to_string() });
            }
            let space = set.space();
            let all = Relation::identity(space.params.clone(), space.output.clone());
            all.intersect_domain(set, budget)
        })
    }

    /// Makes the union of all points in the spaces of `self`.
    pub fn universe(&self) -> Result<Self, Error> {
        self.each(|piece| Ok(Relation::universe(piece.space().clone())))
    }

    /// Keeps the least output for each input, space by space.
    pub fn lexmin(&self, budget: &Budget) -> Result<Self, Error> {
        self.each(|piece| piece.lexmin(budget))
    }

    /// Keeps the greatest output for each input, space by space.
    pub fn lexmax(&self, budget: &Budget) -> Result<Self, Error> {
        self.each(|piece| piece.lexmax(budget))
    }

    /// Merges disjuncts where that is exact, space by space.
    pub fn coalesce(&self, budget: &Budget) -> Result<Self, Error> {
        let mut pieces = BTreeMap::new();
        for (key, piece) in self.pieces.iter() {
            let merged = piece.coalesce(budget)?;
            if !merged.parts.is_empty() {
                pieces.insert(key.clone(), merged);
            }
        }
        Ok(Self { pieces: pieces.into() })
    }

    /// Simplifies under the assumption that only points of `context` matter.
    pub fn gist(&self, context: &Self, budget: &Budget) -> Result<Self, Error> {
        let pairs = self.pieces.iter().filter_map(|(k, a)| Some((a, context.pieces.get(k)?)));
        let results: Result<Vec<_>, _> = pairs.map(|(a, c)| a.gist(c, budget)).collect();
        Self::collect(results?)
    }

    /// Returns the simple hull in each space; a superset.
    pub fn simple_hull(&self, budget: &Budget) -> Result<Self, Error> {
        self.each(|piece| piece.simple_hull(budget))
    }

    /// Returns the affine hull in each space; a superset.
    pub fn affine_hull(&self, budget: &Budget) -> Result<Self, Error> {
        self.each(|piece| piece.affine_hull(budget))
    }

    /// Keeps one point of one space.
    pub fn sample(&self, budget: &Budget) -> Result<Self, Error> {
        for piece in self.pieces.values() {
            if let Some(point) = piece.sample(budget)? {
                return Ok(Relation::point(piece.space().clone(), &point)?.into());
            }
        }
        Ok(Self::empty())
    }

    /// Says whether no input has two outputs, in one space or in two.
    pub fn is_single_valued(&self, budget: &Budget) -> Result<bool, Error> {
        let mut seen: BTreeMap<String, Vec<Relation>> = BTreeMap::new();
        for piece in self.pieces.values() {
            let Some(input) = &piece.space().input else { continue };
            let domain = piece.domain(budget)?;
            let others = seen.entry(tuple_key(input)).or_default();
            for other in others.iter() {
                if !other.is_disjoint(&domain, budget)? {
                    return Ok(false);
                }
            }
            others.push(domain);
            if !piece.is_single_valued(budget)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Says whether no output has two inputs, in one space or in two.
    ///
    /// # Errors
    /// [`Error::Space`] if there is a set.
    pub fn is_injective(&self, budget: &Budget) -> Result<bool, Error> {
        self.inverse()?.is_single_valued(budget)
    }

    /// Says whether the union is single-valued and injective.
    ///
    /// # Errors
    /// [`Error::Space`] if there is a set.
    pub fn is_bijective(&self, budget: &Budget) -> Result<bool, Error> {
        Ok(self.is_single_valued(budget)? && self.is_injective(budget)?)
    }

    /// Says whether every point of `codomain` is an output.
    pub fn is_surjective_onto(&self, codomain: &Self, budget: &Budget) -> Result<bool, Error> {
        codomain.is_subset(&self.range(budget)?, budget)
    }
}

fn add(pieces: &mut BTreeMap<String, Relation>, relation: Relation) -> Result<(), Error> {
    let key = key(relation.space());
    let united = match pieces.get(&key) {
        Some(old) => old.union(&relation)?,
        None => relation,
    };
    pieces.insert(key, united);
    Ok(())
}
