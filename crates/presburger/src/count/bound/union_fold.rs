//! Bounds that depend on points in different tuples.

use std::fmt;
use std::str::FromStr;

use super::bernstein::{PwQPolynomialFold, Side};
use crate::count::piecewise::union::{UnionPwQPolynomial, beside, by_tuple, joined, parameters};
use crate::{Budget, Error, Rational, Relation, Union};

/// A bound for each of several tuples, all on the same side; immutable.
///
/// `{ S[i] -> max(i, 2) : i >= 0; T[i, j] -> max(j) }`. A bound that depends on parameters alone
/// is one of the tuple `[]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnionPwQPolynomialFold {
    side: Side,
    /// In order of their tuples, of which no two are the same.
    bounds: Vec<PwQPolynomialFold>,
}

impl UnionPwQPolynomialFold {
    /// Parses pieces of any tuples, with `min` in all of them or `max`; where pieces overlap, the
    /// extreme one of all their values counts.
    ///
    /// # Errors
    /// [`Error::Syntax`] with the column; those of the budget.
    pub fn parse(text: &str, budget: &Budget) -> Result<Self, Error> {
        let (side, bounds) = crate::count::text::parse::bounds(text, budget)?;
        Self::collect(side, bounds, budget)
    }

    /// Takes together bounds that are all on `side`.
    ///
    /// # Errors
    /// [`Error::Space`] if one is on the other side; those of the budget.
    pub fn collect(
        side: Side,
        bounds: impl IntoIterator<Item = PwQPolynomialFold>,
        budget: &Budget,
    ) -> Result<Self, Error> {
        let bounds = by_tuple(bounds, PwQPolynomialFold::domain);
        let bounds = joined(bounds, |a, b| a.fold(b, budget))?;
        match bounds.iter().find(|bound| bound.side() != side) {
            Some(other) => Err(other.not_on(side)),
            None => Ok(Self { side, bounds }),
        }
    }

    /// Which side all bounds are on.
    pub fn side(&self) -> Side {
        self.side
    }

    /// Returns the bounds in the order of their tuples.
    pub fn bounds(&self) -> &[PwQPolynomialFold] {
        &self.bounds
    }

    /// Returns the parameters of all bounds.
    pub fn parameters(&self) -> Vec<String> {
        parameters(self.bounds.iter().map(PwQPolynomialFold::params))
    }

    fn each(
        &self,
        budget: &Budget,
        f: impl Fn(&PwQPolynomialFold) -> Result<PwQPolynomialFold, Error>,
    ) -> Result<Self, Error> {
        let bounds = self.bounds.iter().map(f).collect::<Result<Vec<_>, _>>()?;
        Self::collect(self.side, bounds, budget)
    }

    /// Returns the bound of both, tuple by tuple.
    ///
    /// # Errors
    /// [`Error::Space`] if they are on different sides; those of the budget.
    pub fn fold(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        Self::collect(self.side, self.bounds.iter().chain(&other.bounds).cloned(), budget)
    }

    /// Adds functions, tuple by tuple; those where there is no bound have no effect.
    ///
    /// # Errors
    /// Those of the budget.
    pub fn add(&self, functions: &UnionPwQPolynomial, budget: &Budget) -> Result<Self, Error> {
        self.each(budget, |bound| match functions.on(bound.domain()) {
            Some(function) => bound.add(function, budget),
            None => Ok(bound.clone()),
        })
    }

    /// Multiplies with a number; a negative one makes lower bounds of upper bounds.
    pub fn scale(&self, factor: &Rational) -> Self {
        let side = self.side.times(factor);
        Self { side, bounds: self.bounds.iter().map(|bound| bound.scale(factor)).collect() }
    }

    /// Bounds the bounds over all points; of pairs `[x -> y]`, over all `y` for each `x`.
    ///
    /// # Errors
    /// [`Error::Unbounded`] if a piece has infinitely many points; those of the budget.
    pub fn bound(&self, budget: &Budget) -> Result<Self, Error> {
        self.each(budget, |bound| bound.bound(budget))
    }

    /// Returns the bound for `x` over all `y` that `maps` relate `x` to.
    ///
    /// # Errors
    /// [`Error::Unbounded`] if an input has infinitely many outputs; those of the budget.
    ///
    /// # Source
    /// isl `isl_union_map_apply_union_pw_qpolynomial_fold`.
    pub fn apply(&self, maps: &Union, budget: &Budget) -> Result<Self, Error> {
        let maps = maps.relations().filter(|map| !map.is_set());
        self.with(maps, budget, |bound, map| bound.apply(map, budget))
    }

    /// Keeps the bounds at the points of `sets` only.
    ///
    /// # Errors
    /// Those of the budget.
    pub fn intersect_domain(&self, sets: &Union, budget: &Budget) -> Result<Self, Error> {
        self.within(sets, budget, |bound, set| bound.intersect_domain(set, budget))
    }

    /// Leaves out of the pieces what holds in `context`; bounds there stay.
    ///
    /// # Errors
    /// Those of the budget.
    pub fn gist(&self, context: &Union, budget: &Budget) -> Result<Self, Error> {
        self.within(context, budget, |bound, set| bound.gist(set, budget))
    }

    /// As `with`, for sets; one of parameters alone is one for every tuple.
    fn within(
        &self,
        sets: &Union,
        budget: &Budget,
        f: impl Fn(&PwQPolynomialFold, &Relation) -> Result<PwQPolynomialFold, Error>,
    ) -> Result<Self, Error> {
        match sets.as_params() {
            Some(params) => {
                self.each(budget, |bound| f(bound, &params.params_of(&bound.space(), budget)?))
            }
            None => self.with(sets.relations().filter(|set| set.is_set()), budget, f),
        }
    }

    fn with<'a>(
        &'a self,
        relations: impl Iterator<Item = &'a Relation> + 'a,
        budget: &Budget,
        f: impl Fn(&PwQPolynomialFold, &Relation) -> Result<PwQPolynomialFold, Error>,
    ) -> Result<Self, Error> {
        let all = beside(&self.bounds, PwQPolynomialFold::domain, relations);
        let all = all.map(|(bound, relation)| f(bound, relation)).collect::<Result<Vec<_>, _>>()?;
        Self::collect(self.side, all, budget)
    }

    /// Returns whether both are the extreme of the same values, as [`PwQPolynomialFold::plain_is_equal`]
    /// does, tuple by tuple.
    ///
    /// # Errors
    /// Those of the budget.
    pub fn plain_is_equal(&self, other: &Self, budget: &Budget) -> Result<bool, Error> {
        let matched = |a: &Self, b: &Self| {
            for bound in &a.bounds {
                let partner = b.bounds.iter().find(|other| other.domain() == bound.domain());
                let equal = match partner {
                    Some(partner) => bound.plain_is_equal(partner, budget)?,
                    None => bound.support()?.is_empty(budget)?,
                };
                if !equal {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        Ok(self.side == other.side && matched(self, other)? && matched(other, self)?)
    }

    /// Returns the points for which there is a bound.
    ///
    /// # Errors
    /// Those of [`Relation::from_conjunctions`].
    pub fn support(&self) -> Result<Union, Error> {
        let sets = self.bounds.iter().map(PwQPolynomialFold::support);
        Union::collect(sets.collect::<Result<Vec<_>, _>>()?)
    }
}

impl From<PwQPolynomialFold> for UnionPwQPolynomialFold {
    fn from(bound: PwQPolynomialFold) -> Self {
        Self { side: bound.side(), bounds: vec![bound] }
    }
}

impl FromStr for UnionPwQPolynomialFold {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text, &Budget::unlimited())
    }
}

impl fmt::Display for UnionPwQPolynomialFold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let params = self.parameters();
        let bounds = self.bounds.iter().map(|bound| bound.aligned(&params));
        crate::count::text::print::pieces(f, &params, bounds.flat_map(|bound| bound.texts()))
    }
}
