//! Values: rational numbers, the two infinities, and what is no number.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use crate::{Aff, Budget, Error, Integer, PwAff, PwMultiAff, Rational, Relation, Tuple};

/// The most bits that a power of 2 may have.
const MAX_BITS: u32 = 1 << 24;

/// A rational number, an infinity, or NaN; printed `5/3`, `infty`, `-infty`, `NaN` as isl does.
///
/// Arithmetic is isl's: what has no value (`infty - infty`, `0 * infty`, anything divided by 0, or
/// computed from NaN) is NaN, and a number divided by an infinity is 0. NaN equals nothing, itself
/// included, and is neither less nor greater than anything.
#[derive(Debug, Clone)]
pub enum Value {
    /// A number.
    Number(Rational),
    /// More than every number.
    Infinity,
    /// Less than every number.
    NegativeInfinity,
    /// Not a number.
    NaN,
}

use Value::{Infinity, NaN, NegativeInfinity, Number};

impl<T: Into<Rational>> From<T> for Value {
    fn from(value: T) -> Self {
        Number(value.into())
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (NaN, _) | (_, NaN) => None,
            (Number(a), Number(b)) => Some(a.cmp(b)),
            (a, b) => Some(a.direction().cmp(&b.direction())),
        }
    }
}

impl Value {
    /// -1 for what is less than every number, 1 for what is more, else 0.
    fn direction(&self) -> i32 {
        match self {
            Infinity => 1,
            NegativeInfinity => -1,
            Number(_) | NaN => 0,
        }
    }

    /// The infinity of a sign; without a sign, NaN.
    fn infinite(sign: i32) -> Self {
        match sign.cmp(&0) {
            Ordering::Greater => Infinity,
            Ordering::Less => NegativeInfinity,
            Ordering::Equal => NaN,
        }
    }

    /// Returns the sign; that of NaN is 0.
    pub fn sign(&self) -> i32 {
        match self {
            Number(value) => value.numer().sign(),
            other => other.direction(),
        }
    }

    /// Returns whether the value is not a number.
    pub fn is_nan(&self) -> bool {
        matches!(self, NaN)
    }

    /// Returns whether the value is one of the infinities.
    pub fn is_infinite(&self) -> bool {
        self.direction() != 0
    }

    /// Returns the number, if it is one.
    pub fn to_rational(&self) -> Option<&Rational> {
        match self {
            Number(value) => Some(value),
            _ => None,
        }
    }

    /// Adds.
    pub fn add(&self, other: &Self) -> Self {
        match (self, other) {
            (NaN, _) | (_, NaN) => NaN,
            (Number(a), Number(b)) => Number(a.add(b)),
            // Opposite infinities add up to no direction.
            (a, b) => Self::infinite(a.direction() + b.direction()),
        }
    }

    /// Subtracts.
    pub fn sub(&self, other: &Self) -> Self {
        self.add(&other.neg())
    }

    /// Multiplies.
    pub fn mul(&self, other: &Self) -> Self {
        match (self, other) {
            (NaN, _) | (_, NaN) => NaN,
            (Number(a), Number(b)) => Number(a.mul(b)),
            (a, b) => Self::infinite(a.sign() * b.sign()),
        }
    }

    /// Divides.
    pub fn div(&self, other: &Self) -> Self {
        self.mul(&other.inv())
    }

    /// Returns `1 / self`; of 0, NaN.
    pub fn inv(&self) -> Self {
        match self {
            Number(value) => {
                Rational::new(value.denom().clone(), value.numer().clone()).map_or(NaN, Number)
            }
            NaN => NaN,
            Infinity | NegativeInfinity => Number(Rational::ZERO),
        }
    }

    /// Changes the sign.
    pub fn neg(&self) -> Self {
        match self {
            Number(value) => Number(value.neg()),
            other => Self::infinite(-other.direction()),
        }
    }

    /// Drops the sign.
    pub fn abs(&self) -> Self {
        if self.sign() < 0 { self.neg() } else { self.clone() }
    }

    /// Rounds down.
    pub fn floor(&self) -> Self {
        match self {
            Number(value) => Number(value.floor().into()),
            other => other.clone(),
        }
    }

    /// Rounds up.
    pub fn ceil(&self) -> Self {
        self.neg().floor().neg()
    }

    /// Returns `2^self` for an integer.
    ///
    /// # Errors
    /// [`Error::NotANumber`] for anything else, [`Error::Overflow`] for a power that is too large
    /// to be written out.
    pub fn pow2(&self) -> Result<Self, Error> {
        let exponent =
            self.to_rational().and_then(Rational::to_integer).ok_or(Error::NotANumber)?;
        let size = exponent.abs().to_i64().and_then(|size| u32::try_from(size).ok());
        let size = size.filter(|size| *size <= MAX_BITS).ok_or(Error::Overflow)?;
        let power = Self::from(Rational::from(Integer::from(2).pow(size)));
        Ok(if exponent.sign() < 0 { power.inv() } else { power })
    }

    /// Returns the greatest common divisor of two integers; of anything else, NaN.
    pub fn gcd(&self, other: &Self) -> Self {
        let integer = |value: &Self| value.to_rational().and_then(Rational::to_integer);
        match (integer(self), integer(other)) {
            (Some(a), Some(b)) => Number(a.gcd(&b).into()),
            _ => NaN,
        }
    }

    /// Returns the lesser value; NaN if one is NaN.
    pub fn min(&self, other: &Self) -> Self {
        match self.partial_cmp(other) {
            None => NaN,
            Some(Ordering::Greater) => other.clone(),
            Some(_) => self.clone(),
        }
    }

    /// Returns the greater value; NaN if one is NaN.
    pub fn max(&self, other: &Self) -> Self {
        self.neg().min(&other.neg()).neg()
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number(value) => fmt::Display::fmt(value, f),
            Infinity => f.write_str("infty"),
            NegativeInfinity => f.write_str("-infty"),
            NaN => f.write_str("NaN"),
        }
    }
}

impl FromStr for Value {
    type Err = Error;

    /// Reads `7`, `-5/3`, `infty`, `-infty` or `NaN`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let trimmed = text.trim();
        let integer = |text: &str| text.trim().parse::<Integer>().ok();
        let number = match trimmed.split_once('/') {
            Some((num, den)) => {
                integer(num).zip(integer(den)).and_then(|(num, den)| Rational::new(num, den))
            }
            None => integer(trimmed).map(Rational::from),
        };
        match trimmed {
            "infty" => Ok(Infinity),
            "-infty" => Ok(NegativeInfinity),
            _ if trimmed.eq_ignore_ascii_case("nan") => Ok(NaN),
            _ => number.map(Number).ok_or_else(|| Error::Syntax {
                column: 1 + text.chars().take_while(|c| c.is_whitespace()).count(),
                expected: "a number, `infty` or `NaN`".into(),
                found: trimmed.to_owned(),
            }),
        }
    }
}

impl Relation {
    /// Returns the greatest value of `objective` on the set, over all parameters: infinite if
    /// there is no end to them, NaN if there is no point or the objective is NaN.
    ///
    /// # Errors
    /// [`Error::Space`] unless the set is one of arguments of `objective`.
    ///
    /// # Source
    /// isl `isl_set_max_val`.
    pub fn max_value(&self, objective: &Aff, budget: &Budget) -> Result<Value, Error> {
        PwAff::from(objective.clone()).intersect_domain(self, budget)?.max_value(budget)
    }

    /// Returns the least value, as [`Self::max_value`] the greatest.
    ///
    /// # Errors
    /// As [`Self::max_value`].
    pub fn min_value(&self, objective: &Aff, budget: &Budget) -> Result<Value, Error> {
        Ok(self.max_value(&objective.neg()?, budget)?.neg())
    }
}

impl PwAff {
    /// Returns the greatest value, over all arguments and parameters: infinite if there is no end
    /// to them, NaN if there are none or one is NaN.
    pub fn max_value(&self, budget: &Budget) -> Result<Value, Error> {
        let mut greatest = NegativeInfinity;
        for (domain, value) in self.pieces() {
            if domain.is_empty(budget)? {
                continue;
            }
            if value.is_nan() {
                return Ok(NaN);
            }
            // Values are multiples of a fraction: times the denominator, they are integers.
            let (_, scale, _) = value.coefficients();
            let whole = Self::on(&domain, &value.scale(scale.clone(), 1)?, budget)?;
            let ends = whole.to_relation()?.bounding_box(budget)?;
            let Some([(_, high)]) = ends.as_deref() else { continue };
            let found = match high {
                Some(high) => Rational::new(high.clone(), scale).map_or(NaN, Number),
                None => Infinity,
            };
            greatest = greatest.max(&found);
        }
        // A value that is there is more than the negative infinity.
        Ok(if greatest == NegativeInfinity { NaN } else { greatest })
    }

    /// Returns the least value, as [`Self::max_value`] the greatest.
    pub fn min_value(&self, budget: &Budget) -> Result<Value, Error> {
        Ok(self.neg()?.max_value(budget)?.neg())
    }
}

impl PwMultiAff {
    /// Returns the greatest value of each output, as [`PwAff::max_value`].
    ///
    /// # Source
    /// isl `isl_pw_multi_aff_max_multi_val`.
    pub fn max_values(&self, budget: &Budget) -> Result<Vec<Value>, Error> {
        let Tuple { dims, .. } = &self.space().output;
        (0..dims.len()).map(|output| self.member(output)?.max_value(budget)).collect()
    }

    /// Returns the least value of each output, as [`PwAff::min_value`].
    pub fn min_values(&self, budget: &Budget) -> Result<Vec<Value>, Error> {
        let Tuple { dims, .. } = &self.space().output;
        (0..dims.len()).map(|output| self.member(output)?.min_value(budget)).collect()
    }
}
