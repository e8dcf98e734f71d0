//! Values that are no numbers: what there are infinitely many of, and what has no sum.
//!
//! `card { [i] : i >= 0 }` is `{ infty }`, and `sum { [i] -> i : i >= 0 }`, which goes on without
//! end, is `{ NaN }`. Such a value is one of a whole piece.
//!
//! Source: `isl_qpolynomial_infty_on_domain` and barvinok's counts. A product with a polynomial
//! that is no number is NaN, as there: its sign is not the same everywhere.

use std::fmt;

use super::QPolynomial;
use super::guard::Guard;
use crate::count::piecewise::Pieces;
use crate::count::piecewise::apply::support;
use crate::count::piecewise::card::disjoint;
use crate::{Budget, Error, Relation, Space, Tuple, Value};

/// What the value of a piece is instead of a polynomial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NonFinite {
    /// More than every number.
    Infinity,
    /// Less than every number.
    NegativeInfinity,
    /// Not a number.
    NaN,
}

use NonFinite::{Infinity, NaN, NegativeInfinity};

impl fmt::Display for NonFinite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Infinity => "infty",
            NegativeInfinity => "-infty",
            NaN => "NaN",
        })
    }
}

impl From<NonFinite> for Value {
    fn from(value: NonFinite) -> Self {
        match value {
            Infinity => Self::Infinity,
            NegativeInfinity => Self::NegativeInfinity,
            NaN => Self::NaN,
        }
    }
}

impl NonFinite {
    const ALL: [Self; 3] = [Infinity, NegativeInfinity, NaN];

    pub(in crate::count) fn add(self, other: Self) -> Self {
        if self == other { self } else { NaN }
    }

    /// Multiplies with a number of this sign that is not 0.
    pub(in crate::count) fn signed(self, sign: i32) -> Self {
        match self {
            Infinity if sign < 0 => NegativeInfinity,
            NegativeInfinity if sign < 0 => Infinity,
            other => other,
        }
    }

    pub(in crate::count) fn mul(self, other: Self) -> Self {
        match other {
            Infinity => self,
            NegativeInfinity => self.signed(-1),
            NaN => NaN,
        }
    }
}

impl QPolynomial {
    /// Makes the value that is no number, in `vars` variables.
    pub fn non_finite(vars: usize, value: NonFinite) -> Self {
        Self { non_finite: Some(value), ..Self::zero(vars) }
    }

    /// Returns what the value is where it is no polynomial.
    pub fn as_non_finite(&self) -> Option<NonFinite> {
        self.non_finite
    }

    /// Returns the product where one of the factors is no polynomial.
    pub(in crate::count) fn non_finite_product(&self, other: &Self) -> Option<Self> {
        let (value, factor) = match (self.non_finite, other.non_finite) {
            (None, None) => return None,
            (Some(a), Some(b)) => return Some(Self::non_finite(self.vars(), a.mul(b))),
            (Some(value), None) => (value, other),
            (None, Some(value)) => (value, self),
        };
        if factor.is_empty() {
            return Some(Self::zero(self.vars()));
        }
        let constant = factor.constant_term();
        let value = match factor.degree() {
            0 => value.signed(constant.numer().sign()),
            _ => NaN,
        };
        Some(Self::non_finite(self.vars(), value))
    }
}

impl Pieces {
    /// Returns the value at an integer point.
    pub fn value(&self, point: &[crate::Integer]) -> Value {
        let piece = self.all.iter().find(|(guard, _)| guard.contains(point));
        match piece.and_then(|(_, value)| value.non_finite) {
            Some(value) => value.into(),
            None => self.evaluate(point).into(),
        }
    }

    /// Returns whether some piece has a value that is no number.
    pub(in crate::count) fn has_non_finite(&self) -> bool {
        self.all.iter().any(|(_, value)| value.non_finite.is_some())
    }

    /// Returns whether both have the same values that are no numbers at the same points.
    pub(in crate::count) fn same_non_finite(
        &self,
        other: &Self,
        budget: &Budget,
    ) -> Result<bool, Error> {
        for value in NonFinite::ALL {
            let (a, b) = (self.points_with(value)?, other.points_with(value)?);
            if !a.is_equal(&b, budget)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the points with a value that is no number.
    fn points_with(&self, value: NonFinite) -> Result<Relation, Error> {
        let pieces = self.all.iter().filter(|(_, other)| other.non_finite == Some(value));
        let space = Space::set(Vec::new(), Tuple::anonymous(self.vars));
        support(space, pieces.map(|(guard, _)| guard))
    }

    /// Drops the pieces whose values are no numbers.
    pub(in crate::count) fn finite(&self) -> Self {
        let mut result = self.clone();
        result.all.retain(|(_, value)| value.non_finite.is_none());
        result
    }
}

/// Returns the function that is `value` for parameters with a point where `guard` holds, over
/// `params` parameters and `dims` dimensions, and 0 for others.
pub(in crate::count) fn wherever(
    guard: &Guard,
    params: usize,
    dims: usize,
    value: NonFinite,
    budget: &Budget,
) -> Result<Pieces, Error> {
    let names = (0..params).map(|at| format!("p{at}")).collect();
    let points = support(Space::set(names, Tuple::anonymous(dims)), [guard])?;
    let mut pieces = Pieces::zero(params);
    for part in disjoint(&points.params(budget)?, budget)? {
        pieces.push(Guard::from_conjunction(params, &part), QPolynomial::non_finite(params, value));
    }
    Ok(pieces)
}

/// Refuses a function with values that are no numbers.
pub(in crate::count) fn refuse(pieces: &Pieces) -> Result<(), Error> {
    if pieces.has_non_finite() { Err(Error::NotFinite) } else { Ok(()) }
}
