//! Calculating with bounds: the better of two, sums with functions, multiples, restriction.

use super::apply::support;
use super::bound::{PiecewiseBound, Side, distinct_of, keep_extremes};
use super::card::disjoint;
use super::floors::{Floors, Linear};
use super::function::PiecewiseQuasiPolynomial;
use super::guard::{Guard, units};
use super::piecewise::overlay;
use super::quasi::QuasiPolynomial;
use crate::{Budget, Error, Rational, Relation, Space, Tuple};

impl PiecewiseBound {
    /// Returns the bound of both: the smaller of lower bounds, the greater of upper ones.
    ///
    /// # Errors
    /// [`Error::Space`] if they are on different sides; those of the budget.
    pub fn fold(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        if self.side != other.side {
            let (expected, found) = (side(self.side).to_owned(), side(other.side).to_owned());
            return Err(Error::Space { expected, found });
        }
        let params = self.joint(&other.params);
        let (a, b) = (self.aligned(&params), other.aligned(&params));
        let join = |a: &Vec<_>, b: &Vec<_>| distinct_of(a, b, budget);
        let mut pieces = overlay(&a.pieces, &b.pieces, join, budget)?;
        pieces.iter_mut().for_each(|(_, values)| keep_extremes(values, self.side));
        Ok(Self { pieces, ..a })
    }

    /// Adds a function of the parameters to the bound.
    ///
    /// # Errors
    /// [`Error::Space`] if the function has dimensions; those of the budget.
    pub fn add(&self, function: &PiecewiseQuasiPolynomial, budget: &Budget) -> Result<Self, Error> {
        if let Some(domain) = function.domain() {
            let found = domain.to_string();
            return Err(Error::Space { expected: "a function of parameters".into(), found });
        }
        let params = self.joint(&function.params);
        let (bound, function) = (self.aligned(&params), function.aligned(&params));
        // Where there is no bound, there is none after.
        type Value = (Option<Vec<QuasiPolynomial>>, QuasiPolynomial);
        let zero = QuasiPolynomial::zero(params.len());
        let pieces = bound.pieces.iter();
        let left: Vec<(Guard, Value)> =
            pieces.map(|(guard, v)| (guard.clone(), (Some(v.clone()), zero.clone()))).collect();
        let pieces = function.pieces.all.iter();
        let right: Vec<(Guard, Value)> =
            pieces.map(|(guard, v)| (guard.clone(), (None, v.clone()))).collect();
        let join = |a: &Value, b: &Value| Ok((a.0.clone(), b.1.clone()));
        let pieces = overlay(&left, &right, join, budget)?;
        let moved = |(guard, (values, term)): (Guard, Value)| {
            let values = values?.iter().map(|value| value.add(&term)).collect();
            Some((guard, values))
        };
        Ok(Self { pieces: pieces.into_iter().filter_map(moved).collect(), ..bound })
    }

    /// Multiplies with a number; a negative one makes a lower bound of an upper bound.
    pub fn scale(&self, factor: &Rational) -> Self {
        let side = match (self.side, factor < &Rational::ZERO) {
            (side, false) => side,
            (Side::Lower, true) => Side::Upper,
            (Side::Upper, true) => Side::Lower,
        };
        let scaled = |values: &Vec<QuasiPolynomial>| {
            let mut values: Vec<_> = values.iter().map(|value| value.scale(factor)).collect();
            values.dedup();
            values
        };
        let pieces = self.pieces.iter().map(|(guard, values)| (guard.clone(), scaled(values)));
        Self { side, pieces: pieces.collect(), params: self.params.clone() }
    }

    /// Keeps the bound for the parameters in a set of `[]` only.
    ///
    /// # Errors
    /// [`Error::Space`] if the set has dimensions; those of the budget.
    pub fn intersect_params(&self, set: &Relation, budget: &Budget) -> Result<Self, Error> {
        let space = set.space();
        if !set.is_set() || !space.output.dims.is_empty() {
            let found = space.to_string();
            return Err(Error::Space { expected: "a set of parameters".into(), found });
        }
        let params = self.joint(&space.params);
        let bound = self.aligned(&params);
        let mut pieces = Vec::new();
        for part in disjoint(&set.align_params(&params)?, budget)? {
            let guard = Guard::from_conjunction(params.len(), &part);
            for (own, values) in &bound.pieces {
                let both = own.and(&guard);
                if !both.is_empty(budget)? {
                    pieces.push((both.simplified(budget)?, values.clone()));
                }
            }
        }
        Ok(Self { pieces, ..bound })
    }

    /// Returns the parameters for which there is a bound.
    ///
    /// # Errors
    /// Those of [`Relation::from_conjunctions`].
    pub fn support(&self) -> Result<Relation, Error> {
        let space = Space::set(self.params.clone(), Tuple::default());
        support(space, self.pieces.iter().map(|(guard, _)| guard))
    }

    fn joint(&self, others: &[String]) -> Vec<String> {
        let mut params = self.params.clone();
        params.extend(others.iter().filter(|name| !self.params.contains(name)).cloned());
        params
    }

    /// Rewrites over `params`, which hold all of its own.
    fn aligned(&self, params: &[String]) -> Self {
        if self.params == params {
            return self.clone();
        }
        let place = |name: &String| params.iter().position(|p| p == name).unwrap_or(0);
        let to: Vec<usize> = self.params.iter().map(place).collect();
        let vars = params.len();
        let forms: Vec<Linear> = to.iter().map(|i| units(vars)[*i].clone()).collect();
        let variables: Vec<_> = to.iter().map(|i| QuasiPolynomial::variable(vars, *i)).collect();
        let moved = |(guard, values): &(Guard, Vec<QuasiPolynomial>)| {
            let values = values.iter().map(|value| value.substitute(vars, &variables)).collect();
            (Guard::over(&Floors::new(vars), &forms, guard), values)
        };
        let pieces = self.pieces.iter().map(moved).collect();
        Self { params: params.to_vec(), side: self.side, pieces }
    }
}

fn side(side: Side) -> &'static str {
    match side {
        Side::Lower => "a lower bound",
        Side::Upper => "an upper bound",
    }
}
