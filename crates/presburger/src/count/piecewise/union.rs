//! Piecewise quasi-polynomials of points in different tuples.

use std::fmt;
use std::str::FromStr;

use super::pw_qpolynomial::PwQPolynomial;
use crate::count::bound::bernstein::{PwQPolynomialFold, Side};
use crate::count::bound::union_fold::UnionPwQPolynomialFold;
use crate::space::joint;
use crate::union::{TupleKey, tuple_key};
use crate::{Budget, Error, Rational, Relation, Tuple, Union};

/// A piecewise quasi-polynomial for each of several tuples, and 0 elsewhere; immutable.
///
/// `{ S[i] -> i^2 : i >= 0; T[i, j] -> j }`. Parameters are matched by name. A function of
/// parameters alone is one of the tuple `[]`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnionPwQPolynomial {
    /// In order of their tuples, of which no two are the same.
    functions: Vec<PwQPolynomial>,
}

impl UnionPwQPolynomial {
    /// Parses pieces of any tuples; where pieces overlap their values add up.
    ///
    /// # Errors
    /// [`Error::Syntax`] with the column; those of the budget.
    pub fn parse(text: &str, budget: &Budget) -> Result<Self, Error> {
        Self::collect(crate::count::text::parse::functions(text, budget)?, budget)
    }

    /// Adds up functions; parameters are matched by name.
    ///
    /// # Errors
    /// Those of the budget.
    pub fn collect(
        functions: impl IntoIterator<Item = PwQPolynomial>,
        budget: &Budget,
    ) -> Result<Self, Error> {
        let functions = by_tuple(functions, PwQPolynomial::domain);
        let functions = joined(functions, |a, b| a.add(b, budget))?;
        Ok(Self { functions })
    }

    /// Returns the functions in the order of their tuples.
    pub fn functions(&self) -> &[PwQPolynomial] {
        &self.functions
    }

    /// Returns the function of the points of `tuple`, if there is one.
    pub fn get(&self, tuple: &Tuple) -> Option<&PwQPolynomial> {
        self.functions.iter().find(|f| *f.domain().unwrap_or(&Tuple::default()) == *tuple)
    }

    /// Returns the function on a domain as functions have it.
    pub(in crate::count) fn on(&self, domain: Option<&Tuple>) -> Option<&PwQPolynomial> {
        self.functions.iter().find(|function| function.domain() == domain)
    }

    /// Returns the parameters of all functions.
    pub fn parameters(&self) -> Vec<String> {
        parameters(self.functions.iter().map(PwQPolynomial::params))
    }

    /// Returns whether there is no function.
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    fn each(
        &self,
        budget: &Budget,
        f: impl Fn(&PwQPolynomial) -> Result<PwQPolynomial, Error>,
    ) -> Result<Self, Error> {
        Self::collect(self.functions.iter().map(f).collect::<Result<Vec<_>, _>>()?, budget)
    }

    /// Adds, tuple by tuple.
    ///
    /// # Errors
    /// Those of the budget.
    pub fn add(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        Self::collect(self.functions.iter().chain(&other.functions).cloned(), budget)
    }

    /// Subtracts, tuple by tuple.
    ///
    /// # Errors
    /// Those of the budget.
    pub fn sub(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        self.add(&other.scale(&Rational::from(-1)), budget)
    }

    /// Multiplies, tuple by tuple.
    ///
    /// # Errors
    /// Those of the budget.
    pub fn mul(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        let pairs = self.functions.iter().filter_map(|f| Some((f, other.on(f.domain())?)));
        Self::collect(pairs.map(|(f, g)| f.mul(g, budget)).collect::<Result<Vec<_>, _>>()?, budget)
    }

    /// Multiplies with a number.
    pub fn scale(&self, factor: &Rational) -> Self {
        Self { functions: self.functions.iter().map(|f| f.scale(factor)).collect() }
    }

    /// Adds up the values over all points; of pairs `[x -> y]`, over all `y` for each `x`.
    ///
    /// # Errors
    /// Those of the budget.
    ///
    /// # Source
    /// barvinok `isl_union_pw_qpolynomial_sum`.
    pub fn sum(&self, budget: &Budget) -> Result<Self, Error> {
        self.each(budget, |function| function.sum_second(budget))
    }

    /// Bounds the values over all points; of pairs `[x -> y]`, over all `y` for each `x`.
    ///
    /// # Errors
    /// [`Error::Unbounded`] if a piece has infinitely many points; those of the budget.
    ///
    /// # Source
    /// isl `isl_union_pw_qpolynomial_bound`.
    pub fn bound(&self, side: Side, budget: &Budget) -> Result<UnionPwQPolynomialFold, Error> {
        let bounds = self.functions.iter().map(|function| function.bound_second(side, budget));
        let bounds = bounds.collect::<Result<Vec<PwQPolynomialFold>, _>>()?;
        UnionPwQPolynomialFold::collect(side, bounds, budget)
    }

    /// Returns the function of `x` that adds up the values at all `y` that `maps` relate `x` to.
    ///
    /// # Errors
    /// Those of the budget.
    ///
    /// # Source
    /// barvinok `isl_union_map_apply_union_pw_qpolynomial`.
    pub fn apply(&self, maps: &Union, budget: &Budget) -> Result<Self, Error> {
        let domain = PwQPolynomial::domain;
        let all = beside(&self.functions, domain, maps.relations().filter(|map| !map.is_set()));
        let sums = all.map(|(function, map)| function.apply(map, budget));
        Self::collect(sums.collect::<Result<Vec<_>, _>>()?, budget)
    }

    /// Keeps the values at the points of `sets` only.
    ///
    /// # Errors
    /// Those of the budget.
    pub fn intersect_domain(&self, sets: &Union, budget: &Budget) -> Result<Self, Error> {
        self.within(sets, budget, |function, set| function.intersect_domain(set, budget))
    }

    /// Leaves out of the pieces what holds in `context`; values there stay.
    ///
    /// # Errors
    /// Those of the budget.
    pub fn gist(&self, context: &Union, budget: &Budget) -> Result<Self, Error> {
        self.within(context, budget, |function, set| function.gist(set, budget))
    }

    fn within(
        &self,
        sets: &Union,
        budget: &Budget,
        f: impl Fn(&PwQPolynomial, &Relation) -> Result<PwQPolynomial, Error>,
    ) -> Result<Self, Error> {
        let domain = PwQPolynomial::domain;
        if let Some(params) = sets.as_params() {
            return self.each(budget, |g| f(g, &params.params_of(&g.space(), budget)?));
        }
        let all = beside(&self.functions, domain, sets.relations().filter(|set| set.is_set()));
        Self::collect(all.map(|(g, set)| f(g, set)).collect::<Result<Vec<_>, _>>()?, budget)
    }

    /// Merges pieces of the same value where one piece holds exactly where they do.
    ///
    /// # Errors
    /// Those of the budget.
    pub fn coalesce(&self, budget: &Budget) -> Result<Self, Error> {
        self.each(budget, |function| function.coalesce(budget))
    }

    /// Replaces values by polynomials without floors: above, below, or near them.
    ///
    /// # Errors
    /// Those of the budget.
    pub fn to_polynomial(&self, side: Option<Side>, budget: &Budget) -> Result<Self, Error> {
        self.each(budget, |function| function.to_polynomial(side, budget))
    }

    /// Returns the points for which a piece holds.
    ///
    /// # Errors
    /// Those of [`Relation::from_conjunctions`].
    pub fn support(&self) -> Result<Union, Error> {
        let sets = self.functions.iter().map(PwQPolynomial::support);
        Union::collect(sets.collect::<Result<Vec<_>, _>>()?)
    }

    /// Returns whether both have the same values at all integer points, however they are written.
    ///
    /// # Errors
    /// Those of the budget.
    pub fn is_equal(&self, other: &Self, budget: &Budget) -> Result<bool, Error> {
        for function in &self.functions {
            let equal = match other.on(function.domain()) {
                Some(partner) => function.is_equal(partner, budget)?,
                None => function.is_zero(budget)?,
            };
            if !equal {
                return Ok(false);
            }
        }
        let lone = other.functions.iter().filter(|f| self.on(f.domain()).is_none());
        Self { functions: lone.cloned().collect() }.is_zero(budget)
    }

    /// Returns whether the value is 0 at all integer points, however it is written.
    ///
    /// # Errors
    /// Those of the budget.
    pub fn is_zero(&self, budget: &Budget) -> Result<bool, Error> {
        for function in &self.functions {
            if !function.is_zero(budget)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl From<PwQPolynomial> for UnionPwQPolynomial {
    fn from(function: PwQPolynomial) -> Self {
        Self { functions: vec![function] }
    }
}

impl FromStr for UnionPwQPolynomial {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text, &Budget::unlimited())
    }
}

impl fmt::Display for UnionPwQPolynomial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let params = self.parameters();
        let functions = self.functions.iter().map(|function| function.aligned(&params));
        crate::count::text::print::pieces(
            f,
            &params,
            functions.flat_map(|function| function.texts()),
        )
    }
}

/// Brings functions into the order of their tuples, in the order they came in for each.
pub(in crate::count) fn by_tuple<F>(
    functions: impl IntoIterator<Item = F>,
    domain: impl Fn(&F) -> Option<&Tuple>,
) -> Vec<(TupleKey, F)> {
    let key = |f: &F| tuple_key(domain(f).unwrap_or(&Tuple::default()));
    let mut keyed: Vec<(TupleKey, F)> = functions.into_iter().map(|f| (key(&f), f)).collect();
    keyed.sort_by(|(a, _), (b, _)| a.cmp(b));
    keyed
}

/// Joins neighbours of the same tuple.
pub(in crate::count) fn joined<F>(
    keyed: Vec<(TupleKey, F)>,
    join: impl Fn(&F, &F) -> Result<F, Error>,
) -> Result<Vec<F>, Error> {
    let mut result: Vec<(TupleKey, F)> = Vec::new();
    for (key, function) in keyed {
        match result.last_mut().filter(|(last, _)| *last == key) {
            Some((_, last)) => *last = join(last, &function)?,
            None => result.push((key, function)),
        }
    }
    Ok(result.into_iter().map(|(_, function)| function).collect())
}

/// Pairs functions with the sets of their points, and with the relations to them.
pub(in crate::count) fn beside<'a, F>(
    functions: &'a [F],
    domain: impl Fn(&F) -> Option<&Tuple> + Copy + 'a,
    relations: impl Iterator<Item = &'a Relation> + 'a,
) -> impl Iterator<Item = (&'a F, &'a Relation)> {
    relations.flat_map(move |relation| {
        let points = &relation.space().output;
        let fits = move |f: &&F| domain(f).unwrap_or(&Tuple::default()) == points;
        functions.iter().filter(fits).map(move |function| (function, relation))
    })
}

/// The parameters of all.
pub(in crate::count) fn parameters<'a>(all: impl Iterator<Item = &'a [String]>) -> Vec<String> {
    all.fold(Vec::new(), |params, others| joint(&params, others))
}
