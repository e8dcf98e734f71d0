//! Piecewise quasi-polynomials with named parameters and dimensions.

use super::Pieces;
use super::card::summed;
use crate::count::bound::bernstein::named;
use crate::count::quasi_polynomial::nonfinite::NonFinite;
use crate::space::joint;
use crate::{Budget, Error, Integer, Rational, Relation, Tuple, Value};

/// A function of parameters and, where it has a domain, of the points of a tuple.
///
/// It is 0 where no piece holds. Immutable; pieces are disjoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PwQPolynomial {
    pub(crate) params: Vec<String>,
    pub(crate) domain: Option<Tuple>,
    pub(crate) pieces: Pieces,
}

impl PwQPolynomial {
    /// A function of `[]` is one of the parameters alone.
    pub(crate) fn new(params: Vec<String>, domain: Option<Tuple>, pieces: Pieces) -> Self {
        Self { params, domain: domain.and_then(named), pieces }
    }

    /// The names of the parameters.
    pub fn params(&self) -> &[String] {
        &self.params
    }

    /// The tuple of the arguments; none for a function of parameters alone.
    pub fn domain(&self) -> Option<&Tuple> {
        self.domain.as_ref()
    }

    /// The pieces over parameters and dimensions, in this order.
    pub fn pieces(&self) -> &Pieces {
        &self.pieces
    }

    /// Returns the value at an integer point: parameters first, then dimensions.
    ///
    /// # Errors
    /// [`Error::Space`] if the number of coordinates is not that of the variables;
    /// [`Error::NotFinite`] if it is no number.
    pub fn evaluate<T: Clone + Into<Integer>>(&self, point: &[T]) -> Result<Rational, Error> {
        match self.value_at(point)? {
            Value::Number(value) => Ok(value),
            _ => Err(Error::NotFinite),
        }
    }

    /// Returns the value of a function of nothing: a number of points without parameters.
    ///
    /// # Errors
    /// As [`Self::evaluate`].
    pub fn constant_value(&self) -> Result<Rational, Error> {
        self.evaluate::<i64>(&[])
    }

    /// As [`Self::evaluate`], where infinity is a value too.
    ///
    /// # Errors
    /// [`Error::Space`] if the number of coordinates is not that of the variables.
    pub fn value_at<T: Clone + Into<Integer>>(&self, point: &[T]) -> Result<Value, Error> {
        let point: Vec<Integer> = point.iter().cloned().map(T::into).collect();
        if point.len() != self.pieces.vars() {
            let expected = Tuple::new("", self.names());
            let found = Tuple::new("", point.iter().map(Integer::to_string));
            return Err(Error::Space { expected: expected.to_string(), found: found.to_string() });
        }
        Ok(self.pieces.value(&point))
    }

    /// Adds two functions on the same tuple; parameters are matched by name.
    ///
    /// # Errors
    /// [`Error::Space`] if the tuples differ.
    pub fn add(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        let (a, b) = self.pair(other)?;
        Ok(Self { pieces: a.pieces.add(&b.pieces, budget)?, ..a })
    }

    /// Subtracts two functions on the same tuple; parameters are matched by name.
    ///
    /// # Errors
    /// [`Error::Space`] if the tuples differ.
    pub fn sub(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        let (a, b) = self.pair(other)?;
        Ok(Self { pieces: a.pieces.sub(&b.pieces, budget)?, ..a })
    }

    /// Multiplies two functions on the same tuple; parameters are matched by name.
    ///
    /// # Errors
    /// [`Error::Space`] if the tuples differ.
    pub fn mul(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        let (a, b) = self.pair(other)?;
        Ok(Self { pieces: a.pieces.mul(&b.pieces, budget)?, ..a })
    }

    /// Multiplies with a number.
    pub fn scale(&self, factor: &Rational) -> Self {
        Self { pieces: self.pieces.scale(factor), ..self.clone() }
    }

    /// Adds up the values over all points of the tuple; a function of parameters stays.
    ///
    /// Exact. Floors with large denominators count as dimensions, so many of them make it slow.
    /// Where a piece has infinitely many points, the sum is [`NonFinite::NaN`](crate::count::NonFinite).
    ///
    /// # Errors
    /// Those of the budget.
    ///
    /// # Source
    /// barvinok `isl_pw_qpolynomial_sum`.
    pub fn sum(&self, budget: &Budget) -> Result<Self, Error> {
        let Some(domain) = &self.domain else { return Ok(self.clone()) };
        let (params, dims) = (self.params.len(), domain.dims.len());
        let mut summands = Vec::new();
        for (guard, value) in &self.pieces.all {
            summands.extend(summed(guard, value, params, dims, NonFinite::NaN, budget)?);
        }
        let sum = Pieces::total(params, summands, budget)?;
        Ok(Self::new(self.params.clone(), None, sum))
    }

    /// Keeps the values at the points of `set` only.
    ///
    /// # Errors
    /// [`Error::Space`] if `set` is not a set on the same tuple.
    pub fn intersect_domain(&self, set: &Relation, budget: &Budget) -> Result<Self, Error> {
        self.mul(&Self::constant(set, &Rational::ONE, budget)?, budget)
    }

    /// Renumbers an unbounded dimension of a piece among parameters and dimensions.
    pub(crate) fn at_own_dimension(&self, error: Error) -> Error {
        let dims = self.domain.as_ref().map_or(0, |tuple| tuple.dims.len());
        match error {
            Error::Unbounded { dim } => {
                Error::Unbounded { dim: self.params.len() + dim.min(dims.saturating_sub(1)) }
            }
            other => other,
        }
    }

    /// The names of all variables.
    pub(crate) fn names(&self) -> Vec<String> {
        self.params.iter().chain(self.domain.iter().flat_map(|t| &t.dims)).cloned().collect()
    }

    pub(in crate::count) fn pair(&self, other: &Self) -> Result<(Self, Self), Error> {
        same_domain(&self.domain, &other.domain)?;
        let params = joint(&self.params, &other.params);
        Ok((self.aligned(&params), other.aligned(&params)))
    }

    /// Rewrites over `params`, which hold all of its own.
    pub(in crate::count) fn aligned(&self, params: &[String]) -> Self {
        if self.params == params {
            return self.clone();
        }
        let to = places(&self.params, params, self.pieces.vars());
        let pieces =
            self.pieces.renumbered(self.pieces.vars() + params.len() - self.params.len(), &to);
        Self { params: params.to_vec(), domain: self.domain.clone(), pieces }
    }
}

/// Says that functions of different tuples have nothing in common.
pub(in crate::count) fn same_domain(
    expected: &Option<Tuple>,
    found: &Option<Tuple>,
) -> Result<(), Error> {
    if expected == found {
        return Ok(());
    }
    let text = |tuple: &Option<Tuple>| tuple.as_ref().map_or("[]".into(), Tuple::to_string);
    Err(Error::Space { expected: text(expected), found: text(found) })
}

/// Where the variables go, of which parameters come first, if `new` has all of their names.
pub(in crate::count) fn places(old: &[String], new: &[String], vars: usize) -> Vec<usize> {
    let place = |name: &String| new.iter().position(|other| other == name).unwrap_or(0);
    let mut to: Vec<usize> = old.iter().map(place).collect();
    to.extend((old.len()..vars).map(|i| i - old.len() + new.len()));
    to
}
