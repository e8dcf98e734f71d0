//! Integers and rationals of any size, fast while they fit into 64 bits.
//!
//! Determinants and coefficients of counting are mostly small, but nothing bounds
//! them: an operation works on machine words and falls back to `num-bigint` only
//! when its result outgrows one.

use std::cmp::Ordering;
use std::fmt;

use num_bigint::BigInt;
use num_integer::Integer as _;
use num_traits::{Signed, ToPrimitive};

/// An integer of any size.
///
/// A value that fits into an `i64` is always `Small`, so equality is structural.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Integer {
    /// A value of one machine word.
    Small(i64),
    /// A larger one.
    Big(Box<BigInt>),
}

use Integer::{Big, Small};

impl Integer {
    /// Zero.
    pub const ZERO: Self = Small(0);
    /// One.
    pub const ONE: Self = Small(1);

    fn from_big(value: BigInt) -> Self {
        value.to_i64().map_or_else(|| Big(Box::new(value)), Small)
    }

    fn from_wide(value: i128) -> Self {
        i64::try_from(value).map_or_else(|_| Big(Box::new(BigInt::from(value))), Small)
    }

    fn big(&self) -> BigInt {
        match self {
            Small(value) => BigInt::from(*value),
            Big(value) => (**value).clone(),
        }
    }

    /// Returns the value if it fits into 64 bits.
    pub fn to_i64(&self) -> Option<i64> {
        match self {
            Small(value) => Some(*value),
            Big(_) => None,
        }
    }

    /// Returns the value if it fits into 128 bits.
    pub fn to_i128(&self) -> Option<i128> {
        match self {
            Small(value) => Some(i128::from(*value)),
            Big(value) => value.to_i128(),
        }
    }

    /// Says whether the value is 0.
    pub fn is_zero(&self) -> bool {
        matches!(self, Small(0))
    }

    /// Returns -1, 0 or 1.
    pub fn sign(&self) -> i32 {
        match self {
            Small(value) => value.signum() as i32,
            Big(value) if value.is_negative() => -1,
            Big(_) => 1,
        }
    }

    /// Adds.
    pub fn add(&self, other: &Self) -> Self {
        if let (Small(a), Small(b)) = (self, other) {
            return a
                .checked_add(*b)
                .map_or_else(|| Self::from_wide(*a as i128 + *b as i128), Small);
        }
        Self::from_big(self.big() + other.big())
    }

    /// Subtracts.
    pub fn sub(&self, other: &Self) -> Self {
        if let (Small(a), Small(b)) = (self, other) {
            return a
                .checked_sub(*b)
                .map_or_else(|| Self::from_wide(*a as i128 - *b as i128), Small);
        }
        Self::from_big(self.big() - other.big())
    }

    /// Multiplies.
    pub fn mul(&self, other: &Self) -> Self {
        if let (Small(a), Small(b)) = (self, other) {
            return a
                .checked_mul(*b)
                .map_or_else(|| Self::from_wide(*a as i128 * *b as i128), Small);
        }
        Self::from_big(self.big() * other.big())
    }

    /// Returns `self + a * b`.
    pub fn add_mul(&self, a: &Self, b: &Self) -> Self {
        if let (Small(s), Small(a), Small(b)) = (self, a, b)
            && let Some(value) = a.checked_mul(*b).and_then(|product| product.checked_add(*s))
        {
            return Small(value);
        }
        self.add(&a.mul(b))
    }

    /// Returns `a * x - b * y`.
    pub fn cross(a: &Self, x: &Self, b: &Self, y: &Self) -> Self {
        if let (Small(a), Small(x), Small(b), Small(y)) = (a, x, b, y)
            && let (Some(left), Some(right)) = (a.checked_mul(*x), b.checked_mul(*y))
            && let Some(value) = left.checked_sub(right)
        {
            return Small(value);
        }
        a.mul(x).sub(&b.mul(y))
    }

    /// Changes the sign.
    pub fn neg(&self) -> Self {
        Self::ZERO.sub(self)
    }

    /// Returns the absolute value.
    pub fn abs(&self) -> Self {
        if self.sign() < 0 { self.neg() } else { self.clone() }
    }

    /// Divides, rounding down; `other` must not be 0.
    pub fn div_floor(&self, other: &Self) -> Self {
        if let (Small(a), Small(b)) = (self, other)
            && *b != -1
        {
            return Small(a.div_floor(b));
        }
        Self::from_big(self.big().div_floor(&other.big()))
    }

    /// Returns what `div_floor` leaves, between 0 and `other`.
    pub fn mod_floor(&self, other: &Self) -> Self {
        if let (Small(a), Small(b)) = (self, other)
            && *b != -1
        {
            return Small(a.mod_floor(b));
        }
        Self::from_big(self.big().mod_floor(&other.big()))
    }

    /// Divides, where `other` is known to be a divisor.
    pub fn div_exact(&self, other: &Self) -> Self {
        if let (Small(a), Small(b)) = (self, other)
            && *b != -1
        {
            return Small(a / b);
        }
        Self::from_big(self.big() / other.big())
    }

    /// Returns the greatest common divisor, at least 0.
    pub fn gcd(&self, other: &Self) -> Self {
        if let (Small(a), Small(b)) = (self, other) {
            return Self::from_wide(gcd_u64(a.unsigned_abs(), b.unsigned_abs()).into());
        }
        Self::from_big(self.big().gcd(&other.big()))
    }

    /// Returns the least common multiple, at least 0.
    pub fn lcm(&self, other: &Self) -> Self {
        if self.is_zero() || other.is_zero() {
            return Self::ZERO;
        }
        self.div_exact(&self.gcd(other)).mul(other).abs()
    }
}

fn gcd_u64(mut a: u64, mut b: u64) -> u64 {
    if a == 0 || b == 0 {
        return a | b;
    }
    let shift = (a | b).trailing_zeros();
    a >>= a.trailing_zeros();
    while b != 0 {
        b >>= b.trailing_zeros();
        (a, b) = (a.min(b), a.abs_diff(b));
    }
    a << shift
}

impl Default for Integer {
    fn default() -> Self {
        Self::ZERO
    }
}

impl From<i32> for Integer {
    fn from(value: i32) -> Self {
        Small(value.into())
    }
}

impl From<i64> for Integer {
    fn from(value: i64) -> Self {
        Small(value)
    }
}

impl From<i128> for Integer {
    fn from(value: i128) -> Self {
        Self::from_wide(value)
    }
}

impl From<BigInt> for Integer {
    fn from(value: BigInt) -> Self {
        Self::from_big(value)
    }
}

impl Ord for Integer {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Small(a), Small(b)) => a.cmp(b),
            (Small(_), Big(b)) => 0.cmp(&b.signum().to_i32().unwrap_or(0)),
            (Big(a), Small(_)) => a.signum().to_i32().unwrap_or(0).cmp(&0),
            (Big(a), Big(b)) => a.cmp(b),
        }
    }
}

impl PartialOrd for Integer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Small(value) => write!(f, "{value}"),
            Big(value) => write!(f, "{value}"),
        }
    }
}

impl fmt::Debug for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

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

    /// Says whether the value is 0.
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
