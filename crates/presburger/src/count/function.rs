//! Piecewise quasi-polynomials with named parameters and dimensions.

use super::number::{Integer, Rational};
use super::piecewise::Pieces;
use crate::{Budget, Error, Tuple};

/// A function of parameters and, where it has a domain, of the points of a tuple.
///
/// It is 0 where no piece holds. Immutable; pieces are disjoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PiecewiseQuasiPolynomial {
    pub(crate) params: Vec<String>,
    pub(crate) domain: Option<Tuple>,
    pub(crate) pieces: Pieces,
}

impl PiecewiseQuasiPolynomial {
    pub(crate) fn new(params: Vec<String>, domain: Option<Tuple>, pieces: Pieces) -> Self {
        Self { params, domain, pieces }
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
    /// [`Error::Space`] if the number of coordinates is not that of the variables.
    pub fn evaluate(&self, point: &[i64]) -> Result<Rational, Error> {
        if point.len() != self.pieces.vars() {
            let expected = Tuple::new("", self.names());
            let found = Tuple::new("", point.iter().map(i64::to_string));
            return Err(Error::Space { expected: expected.to_string(), found: found.to_string() });
        }
        let point: Vec<Integer> = point.iter().map(|v| Integer::from(*v)).collect();
        Ok(self.pieces.evaluate(&point))
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

    /// The names of all variables.
    pub(crate) fn names(&self) -> Vec<String> {
        self.params.iter().chain(self.domain.iter().flat_map(|t| &t.dims)).cloned().collect()
    }

    fn pair(&self, other: &Self) -> Result<(Self, Self), Error> {
        if self.domain != other.domain {
            let text = |tuple: &Option<Tuple>| tuple.as_ref().map_or("[]".into(), Tuple::to_string);
            return Err(Error::Space { expected: text(&self.domain), found: text(&other.domain) });
        }
        let mut params = self.params.clone();
        params.extend(other.params.iter().filter(|p| !self.params.contains(p)).cloned());
        Ok((self.aligned(&params), other.aligned(&params)))
    }

    /// Rewrites over `params`, which hold all of its own.
    fn aligned(&self, params: &[String]) -> Self {
        if self.params == params {
            return self.clone();
        }
        let place = |name: &String| params.iter().position(|p| p == name).unwrap_or(0);
        let dims = self.domain.as_ref().map_or(0, |tuple| tuple.dims.len());
        let mut to: Vec<usize> = self.params.iter().map(place).collect();
        to.extend((0..dims).map(|i| params.len() + i));
        let pieces = self.pieces.renumbered(params.len() + dims, &to);
        Self { params: params.to_vec(), domain: self.domain.clone(), pieces }
    }
}
