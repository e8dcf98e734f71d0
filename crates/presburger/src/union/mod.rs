//! Unions of sets and relations over different spaces.
//!
//! Operations work space by space: what has no partner in the other operand is kept
//! by a union or a difference and dropped by an intersection.

mod each;
mod key;
mod pairs;
mod properties;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

pub(crate) use self::key::{Key, TupleKey, tuple_key};
use self::key::{Piece, merged};
use crate::parse::token::Tokens;
use crate::space::joint;
use crate::{Budget, Error, Relation, Space};

/// An immutable union of relations over different tuples; a clone shares everything.
///
/// Two spaces are the same if their tuples have the same names, numbers of dimensions
/// and nesting. Parameters are matched by name.
#[derive(Debug, Clone, Default)]
pub struct Union {
    /// In order of their keys, of which no two are the same.
    pieces: Arc<[Piece]>,
}

impl From<Relation> for Union {
    fn from(relation: Relation) -> Self {
        Self { pieces: [(Key::of(relation.space()), relation)].into() }
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
        let texts: Vec<String> =
            self.relations().flat_map(|piece| piece.aligned(&params).disjuncts()).collect();
        if texts.is_empty() {
            // No parameters either: a union without points is in no space.
            return f.write_str("{ }");
        }
        if !params.is_empty() {
            write!(f, "[{}] -> ", params.join(", "))?;
        }
        write!(f, "{{ {} }}", texts.join("; "))
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
        Self::read(Tokens::of(text)?, budget)
    }

    /// Parses a union, perhaps one that another notation holds.
    pub(crate) fn read(tokens: Tokens, budget: &Budget) -> Result<Self, Error> {
        Self::collect(crate::parse::relations(tokens, budget)?)
    }

    /// Unites relations of any spaces.
    pub fn collect(relations: impl IntoIterator<Item = Relation>) -> Result<Self, Error> {
        Self::of(relations.into_iter().map(|relation| (Key::of(relation.space()), relation)))
    }

    /// As `collect`, where the keys are known already.
    fn of(pieces: impl IntoIterator<Item = Piece>) -> Result<Self, Error> {
        Ok(Self { pieces: merged(pieces.into_iter().collect())? })
    }

    /// Returns the relations, one for each space, in the order of their tuples.
    pub fn relations(&self) -> impl Iterator<Item = &Relation> {
        self.pieces.iter().map(|(_, relation)| relation)
    }

    /// Returns whether both are written alike; see [`Relation::plain_is_equal`].
    pub fn plain_is_equal(&self, other: &Self) -> bool {
        let mut pairs = self.relations().zip(other.relations());
        Arc::ptr_eq(&self.pieces, &other.pieces)
            || self.pieces.len() == other.pieces.len() && pairs.all(|(a, b)| a.plain_is_equal(b))
    }

    /// Returns the relation over the tuples of `space`, if there is one.
    pub fn get(&self, space: &Space) -> Option<&Relation> {
        self.find(&Key::of(space))
    }

    fn find(&self, key: &Key) -> Option<&Relation> {
        let at = self.pieces.binary_search_by(|(other, _)| other.cmp(key)).ok()?;
        Some(&self.pieces[at].1)
    }

    /// The pieces of both that lie in one space, which `f` makes one.
    fn common(
        &self,
        other: &Self,
        f: impl Fn(&Relation, &Relation) -> Result<Relation, Error>,
    ) -> Result<Self, Error> {
        let partners = self.pieces.iter().filter_map(|(k, a)| Some((k, a, other.find(k)?)));
        let results: Result<Vec<_>, Error> =
            partners.map(|(k, a, b)| Ok((k.clone(), f(a, b)?))).collect();
        Self::of(results?)
    }

    /// Returns the parameters of all pieces.
    pub fn parameters(&self) -> Vec<String> {
        self.relations().fold(Vec::new(), |all, piece| joint(&all, &piece.space().params))
    }

    /// Returns the only relation.
    ///
    /// # Errors
    /// [`Error::Space`] if there are none or several spaces.
    pub fn single(&self) -> Result<&Relation, Error> {
        let mut all = self.relations();
        match (all.next(), all.next()) {
            (Some(one), None) => Ok(one),
            _ => Err(Error::Space { expected: "one space".into(), found: self.to_string() }),
        }
    }

    /// Unites both.
    pub fn union(&self, other: &Self) -> Result<Self, Error> {
        Self::of(self.pieces.iter().chain(other.pieces.iter()).cloned())
    }

    /// Returns the only piece if it is a set of parameters alone.
    pub fn as_params(&self) -> Option<&Relation> {
        match &*self.pieces {
            [(_, piece)] if piece.space().is_params() => Some(piece),
            _ => None,
        }
    }

    /// Keeps the points in both; a set of parameters alone restricts those of the other.
    ///
    /// # Source
    /// isl `isl_union_set_intersect`, `isl_union_map_intersect_params`.
    pub fn intersect(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        match (self.as_params(), other.as_params()) {
            (_, Some(params)) => self.intersect_params(params, budget),
            (Some(params), _) => other.intersect_params(params, budget),
            _ => self.common(other, |a, b| a.intersect(b, budget)),
        }
    }

    /// Keeps the points of `self` that are not in `other`.
    pub fn subtract(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        self.in_place(|key, a| match other.find(key) {
            Some(b) => a.subtract(b, budget),
            None => Ok(a.clone()),
        })
    }

    /// Simplifies under the assumption that only points of `context` matter, or only those whose
    /// parameters are in it.
    pub fn gist(&self, context: &Self, budget: &Budget) -> Result<Self, Error> {
        if let Some(params) = context.as_params() {
            return self.gist_params(params, budget);
        }
        self.common(context, |a, context| a.gist(context, budget))
    }

    /// Returns whether there is no point in any space.
    pub fn is_empty(&self, budget: &Budget) -> Result<bool, Error> {
        for piece in self.relations() {
            if !piece.is_empty(budget)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns whether every point of `self` is in `other`.
    pub fn is_subset(&self, other: &Self, budget: &Budget) -> Result<bool, Error> {
        for (key, a) in self.pieces.iter() {
            let inside = match other.find(key) {
                Some(b) => a.is_subset(b, budget)?,
                None => a.is_empty(budget)?,
            };
            if !inside {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns whether every point of `self` is in `other`, and not the other way round.
    pub fn is_strict_subset(&self, other: &Self, budget: &Budget) -> Result<bool, Error> {
        Ok(self.is_subset(other, budget)? && !other.is_subset(self, budget)?)
    }

    /// Returns whether both hold the same points.
    pub fn is_equal(&self, other: &Self, budget: &Budget) -> Result<bool, Error> {
        Ok(self.is_subset(other, budget)? && other.is_subset(self, budget)?)
    }

    /// Returns whether no point is in both.
    pub fn is_disjoint(&self, other: &Self, budget: &Budget) -> Result<bool, Error> {
        self.common(other, |a, b| a.intersect(b, budget))?.is_empty(budget)
    }

    /// Keeps one point of each space that has one.
    pub fn sample(&self, budget: &Budget) -> Result<Self, Error> {
        let mut points = Vec::new();
        for (key, piece) in self.pieces.iter() {
            if let Some(point) = piece.sample(budget)? {
                points.push((key.clone(), Relation::point(piece.space().clone(), &point)?));
            }
        }
        Self::of(points)
    }

    /// Lists the points, each as a disjunct of its own.
    ///
    /// # Errors
    /// [`Error::Unbounded`] for an infinite set.
    pub fn scan(&self, budget: &Budget) -> Result<Self, Error> {
        self.in_place(|_, piece| {
            let points = piece.points(budget)?;
            // Each becomes a disjunct with an equation for each dimension.
            let size = 1 + piece.space().dims();
            budget.spend(points.len().saturating_mul(size * size))?;
            let points = points.iter().map(|point| Relation::point(piece.space().clone(), point));
            let points = points.collect::<Result<Vec<_>, _>>()?;
            match points.is_empty() {
                true => Ok(Relation::empty(piece.space().clone())),
                false => Relation::unite(points.iter()),
            }
        })
    }
}
