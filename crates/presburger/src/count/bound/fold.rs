//! Calculating with bounds: the better of two, sums with functions, multiples, restriction,
//! bounds over what relations lead to.

use super::bernstein::{PwQPolynomialFold, Side, distinct_of, keep_extremes, named};
use crate::count::piecewise::Pieces;
use crate::count::piecewise::apply::{outputs_by_input, support};
use crate::count::piecewise::card::disjoint;
use crate::count::piecewise::common_refinement::overlay;
use crate::count::piecewise::pw_qpolynomial::{PwQPolynomial, places, same_domain};
use crate::count::quasi_polynomial::QPolynomial;
use crate::count::quasi_polynomial::floors::{Floors, Linear};
use crate::count::quasi_polynomial::guard::{Guard, units};
use crate::space::joint;
use crate::{Budget, Error, Rational, Relation, Space, Tuple};

impl PwQPolynomialFold {
    /// Makes the bound that is reached where `function` has pieces: its values there.
    pub fn of(function: &PwQPolynomial, side: Side) -> Self {
        let pieces = function.pieces.all.iter();
        Self {
            params: function.params.clone(),
            domain: function.domain.clone(),
            side,
            pieces: pieces.map(|(guard, value)| (guard.clone(), vec![value.clone()])).collect(),
        }
    }

    /// Returns the pieces, which do not overlap: where each holds, and the values there.
    ///
    /// # Errors
    /// Those of [`Relation::from_conjunctions`].
    pub fn parts(&self) -> Result<Vec<(Relation, Vec<QPolynomial>)>, Error> {
        let part = |(guard, values): &(Guard, Vec<QPolynomial>)| {
            Ok((support(self.space(), [guard])?, values.clone()))
        };
        self.pieces.iter().map(part).collect()
    }

    /// Makes the bound that is a number at the points of a set.
    ///
    /// # Errors
    /// [`Error::Space`] for a relation; those of the budget.
    pub fn constant(
        set: &Relation,
        value: &Rational,
        side: Side,
        budget: &Budget,
    ) -> Result<Self, Error> {
        let one = Self::of(&PwQPolynomial::constant(set, &Rational::ONE, budget)?, side);
        let value = QPolynomial::constant(one.vars(), value.clone());
        let pieces = one.pieces.iter().map(|(guard, _)| (guard.clone(), vec![value.clone()]));
        Ok(Self { pieces: pieces.collect(), ..one })
    }

    /// The number of parameters and dimensions.
    pub(in crate::count) fn vars(&self) -> usize {
        self.params.len() + self.domain.as_ref().map_or(0, |tuple| tuple.dims.len())
    }

    /// Returns the parameters and the tuple of the arguments, `[]` if there is none.
    pub fn space(&self) -> Space {
        Space::set(self.params.clone(), self.domain.clone().unwrap_or_else(Tuple::params))
    }

    /// Returns the bound of both: the smaller of lower bounds, the greater of upper ones.
    ///
    /// # Errors
    /// [`Error::Space`] if they are on different sides, or on different tuples; those of the
    /// budget.
    pub fn fold(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        if self.side != other.side {
            return Err(other.not_on(self.side));
        }
        same_domain(&self.domain, &other.domain)?;
        let params = joint(&self.params, &other.params);
        let (a, b) = (self.aligned(&params), other.aligned(&params));
        Ok(Self { pieces: better(&a.pieces, &b.pieces, self.side, budget)?, ..a })
    }

    /// Says that this bound had to be on the other side.
    pub(in crate::count) fn not_on(&self, expected: Side) -> Error {
        Error::Space { expected: side(expected).to_owned(), found: side(self.side).to_owned() }
    }

    /// Adds a function of the same arguments to the bound.
    ///
    /// # Errors
    /// [`Error::Space`] if the tuples differ; those of the budget.
    pub fn add(&self, function: &PwQPolynomial, budget: &Budget) -> Result<Self, Error> {
        same_domain(&self.domain, &function.domain)?;
        let params = joint(&self.params, &function.params);
        let (bound, function) = (self.aligned(&params), function.aligned(&params));
        // Where there is no bound, there is none after.
        type Value = (Option<Vec<QPolynomial>>, QPolynomial);
        let zero = QPolynomial::zero(bound.vars());
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
        let scaled = |values: &Vec<QPolynomial>| {
            let mut values: Vec<_> = values.iter().map(|value| value.scale(factor)).collect();
            values.dedup();
            values
        };
        let pieces = self.pieces.iter().map(|(guard, values)| (guard.clone(), scaled(values)));
        Self { side: self.side.times(factor), pieces: pieces.collect(), ..self.clone() }
    }

    /// Keeps the bound at the points of a set only.
    ///
    /// # Errors
    /// [`Error::Space`] if `set` is not a set on the same tuple; those of the budget.
    pub fn intersect_domain(&self, set: &Relation, budget: &Budget) -> Result<Self, Error> {
        let (bound, set) = self.beside(set)?;
        let mut pieces = Vec::new();
        for part in disjoint(&set, budget)? {
            let guard = Guard::from_conjunction(bound.vars(), &part);
            for (own, values) in &bound.pieces {
                let both = own.and(&guard);
                if !both.is_empty(budget)? {
                    pieces.push((both.simplified(budget)?, values.clone()));
                }
            }
        }
        Ok(Self { pieces, ..bound })
    }

    /// Leaves out of the pieces what holds on `context`; the bound stays as it is there.
    ///
    /// # Errors
    /// [`Error::Space`] if `context` is not a set on the same tuple; those of the budget.
    pub fn gist(&self, context: &Relation, budget: &Budget) -> Result<Self, Error> {
        let (bound, context) = self.beside(context)?;
        let mut pieces = Vec::new();
        for (guard, values) in &bound.pieces {
            let short = support(bound.space(), [guard])?.gist(&context, budget)?;
            for part in short.align_params(&bound.params)?.conjunctions() {
                pieces.push((Guard::from_conjunction(bound.vars(), &part), values.clone()));
            }
        }
        Ok(Self { pieces, ..bound })
    }

    /// Returns the points, or the parameters, for which there is a bound.
    ///
    /// # Errors
    /// Those of [`Relation::from_conjunctions`].
    pub fn support(&self) -> Result<Relation, Error> {
        support(self.space(), self.pieces.iter().map(|(guard, _)| guard))
    }

    /// Bounds the bound over all its points, as [`PwQPolynomial::bound_second`] does.
    ///
    /// # Errors
    /// [`Error::Unbounded`] if a piece has infinitely many points; those of the budget.
    ///
    /// # Source
    /// isl `isl_pw_qpolynomial_fold_bound`.
    pub fn bound(&self, budget: &Budget) -> Result<Self, Error> {
        let none = PwQPolynomial::new(self.params.clone(), self.domain.clone(), {
            Pieces::zero(self.vars())
        });
        let mut result = none.bound_second(self.side, budget)?;
        for (guard, values) in &self.pieces {
            for value in values {
                let mut single = none.clone();
                // A bound of 0 holds there, though a function would need no piece for it.
                single.pieces.all.push((guard.clone(), value.clone()));
                let bound = single.bound_second(self.side, budget)?;
                result.pieces = better(&result.pieces, &bound.pieces, self.side, budget)?;
            }
        }
        Ok(result)
    }

    /// Returns the bound for `x` over all `y` that `map` relates `x` to.
    ///
    /// # Errors
    /// [`Error::Space`] unless the outputs of `map` are the points of this bound;
    /// [`Error::Unbounded`] if an input has infinitely many outputs; those of the budget.
    ///
    /// # Source
    /// isl `isl_map_apply_pw_qpolynomial_fold`.
    pub fn apply(&self, map: &Relation, budget: &Budget) -> Result<Self, Error> {
        let (params, input, outputs) = outputs_by_input(map, &self.params, &self.domain)?;
        let bound = self.aligned(&outputs.space().params).intersect_domain(&outputs, budget)?;
        // All of a pair's inputs are parameters now: nothing is left of its sides.
        let flat = bound.domain.map(|tuple| Tuple::new("", tuple.dims));
        let bound = Self { domain: flat, ..bound }.bound(budget)?;
        Ok(Self { params, domain: named(input), ..bound })
    }

    /// Rewrites both over the same parameters, if `set` is a set on the same tuple.
    fn beside(&self, set: &Relation) -> Result<(Self, Relation), Error> {
        let space = set.space();
        let domain = self.domain.clone().unwrap_or_default();
        if !set.is_set() || space.output != domain {
            let (expected, found) = (self.space().to_string(), space.to_string());
            return Err(Error::Space { expected, found });
        }
        let params = joint(&self.params, &space.params);
        Ok((self.aligned(&params), set.align_params(&params)?))
    }

    /// Rewrites over `params`, which hold all of its own.
    pub(in crate::count) fn aligned(&self, params: &[String]) -> Self {
        if self.params == params {
            return self.clone();
        }
        let to = places(&self.params, params, self.vars());
        let vars = self.vars() + params.len() - self.params.len();
        let forms: Vec<Linear> = to.iter().map(|i| units(vars)[*i].clone()).collect();
        let variables: Vec<_> = to.iter().map(|i| QPolynomial::variable(vars, *i)).collect();
        let moved = |(guard, values): &(Guard, Vec<QPolynomial>)| {
            let values = values.iter().map(|value| value.renamed(vars, &variables)).collect();
            (Guard::over(&Floors::new(vars), &forms, guard), values)
        };
        let pieces = self.pieces.iter().map(moved).collect();
        Self { params: params.to_vec(), pieces, ..self.clone() }
    }
}

type Bounds = [(Guard, Vec<QPolynomial>)];

/// Lays pieces over others; where both hold, the extreme one of all their values counts.
fn better(
    a: &Bounds,
    b: &Bounds,
    side: Side,
    budget: &Budget,
) -> Result<Vec<(Guard, Vec<QPolynomial>)>, Error> {
    let join = |a: &Vec<_>, b: &Vec<_>| distinct_of(a, b, budget);
    let mut pieces = overlay(a, b, join, budget)?;
    pieces.iter_mut().for_each(|(_, values)| keep_extremes(values, side));
    Ok(pieces)
}

fn side(side: Side) -> &'static str {
    match side {
        Side::Lower => "a lower bound",
        Side::Upper => "an upper bound",
    }
}
