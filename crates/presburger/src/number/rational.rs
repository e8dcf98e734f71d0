//! Rational numbers of any size.

use std::cmp::Ordering;
use std::fmt;

use crate::Integer;

/// A rational number in lowest terms; the denominator is positive.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Rational {
    num: Integer,
    den: Integer,
}

impl Rational {
    /// Zero.
    pub const ZERO: Self = Self { num: Integer::ZERO, den: Integer::ONE };
    /// One.
    pub const ONE: Self = Self { num: Integer::ONE, den: Integer::ONE };

    /// Returns `num / den` in lowest terms, or `None` if `den` is 0.
    pub fn new(num: Integer, den: Integer) -> Option<Self> {
        (!den.is_zero()).then(|| Self::reduced(num, den))
    }

    /// Reduces `num / den`; `den` must not be 0.
    pub(crate) fn reduced(num: Integer, den: Integer) -> Self {
        let g = num.gcd(&den);
        let g = if den.sign() < 0 { g.neg() } else { g };
        if g == Integer::ONE {
            return Self { num, den };
        }
        Self { num: num.div_exact(&g), den: den.div_exact(&g) }
    }

    /// The numerator.
    pub fn numer(&self) -> &Integer {
        &self.num
    }

    /// The denominator, at least 1.
    pub fn denom(&self) -> &Integer {
        &self.den
    }

    /// Returns whether the value is 0.
    pub fn is_zero(&self) -> bool {
        self.num.is_zero()
    }

    /// Returns the value if it is an integer.
    pub fn to_integer(&self) -> Option<Integer> {
        (self.den == Integer::ONE).then(|| self.num.clone())
    }

    /// Adds.
    pub fn add(&self, other: &Self) -> Self {
        if self.den == other.den {
            return Self::reduced(self.num.add(&other.num), self.den.clone());
        }
        let num = self.num.mul(&other.den).add(&other.num.mul(&self.den));
        Self::reduced(num, self.den.mul(&other.den))
    }

    /// Subtracts.
    pub fn sub(&self, other: &Self) -> Self {
        self.add(&other.neg())
    }

    /// Multiplies.
    pub fn mul(&self, other: &Self) -> Self {
        Self::reduced(self.num.mul(&other.num), self.den.mul(&other.den))
    }

    /// Changes the sign.
    pub fn neg(&self) -> Self {
        Self { num: self.num.neg(), den: self.den.clone() }
    }

    /// Rounds down.
    pub fn floor(&self) -> Integer {
        self.num.div_floor(&self.den)
    }
}

impl From<Integer> for Rational {
    fn from(value: Integer) -> Self {
        Self { num: value, den: Integer::ONE }
    }
}

impl From<i32> for Rational {
    fn from(value: i32) -> Self {
        Integer::from(value).into()
    }
}

impl From<i64> for Rational {
    fn from(value: i64) -> Self {
        Integer::from(value).into()
    }
}

impl Ord for Rational {
    fn cmp(&self, other: &Self) -> Ordering {
        self.num.mul(&other.den).cmp(&other.num.mul(&self.den))
    }
}

impl PartialOrd for Rational {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.num)?;
        if self.den != Integer::ONE {
            write!(f, "/{}", self.den)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
