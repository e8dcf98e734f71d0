//! Integers of any size, fast while they fit into 64 bits.
//!
//! Coefficients, coordinates and counts are mostly small, but nothing bounds them: an operation
//! works on machine words and turns to `num-bigint` only when its result outgrows one. No
//! operation fails.
//! The inner loops of tableaus know that a check once a row is enough, and start again with wider
//! words instead: `solve/number`.

mod convert;
mod operators;

use std::borrow::Cow;
use std::fmt;

use num_bigint::BigInt;
use num_integer::Integer as _;
use num_traits::{Signed, ToPrimitive, Zero as _};

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
    /// One below zero.
    pub const MINUS_ONE: Self = Small(-1);

    fn from_big(value: BigInt) -> Self {
        value.to_i64().map_or_else(|| Big(Box::new(value)), Small)
    }

    #[cold]
    fn from_wide(value: i128) -> Self {
        i64::try_from(value).map_or_else(|_| Big(Box::new(BigInt::from(value))), Small)
    }

    fn big(&self) -> Cow<'_, BigInt> {
        match self {
            Small(value) => Cow::Owned(BigInt::from(*value)),
            Big(value) => Cow::Borrowed(value),
        }
    }

    #[cold]
    fn by_big(&self, other: &Self, f: impl Fn(&BigInt, &BigInt) -> BigInt) -> Self {
        Self::from_big(f(&self.big(), &other.big()))
    }

    /// Returns the value if it fits into 64 bits.
    #[inline]
    pub fn to_i64(&self) -> Option<i64> {
        match self {
            Small(value) => Some(*value),
            Big(_) => None,
        }
    }

    /// Returns the value if it fits into 128 bits.
    #[inline]
    pub fn to_i128(&self) -> Option<i128> {
        match self {
            Small(value) => Some(i128::from(*value)),
            Big(value) => value.to_i128(),
        }
    }

    /// Returns the value as `num-bigint` has it.
    pub fn to_big(&self) -> BigInt {
        self.big().into_owned()
    }

    /// Returns the two's complement, the lowest byte first, in as few bytes as hold the sign.
    pub fn to_signed_bytes(&self) -> Vec<u8> {
        self.big().to_signed_bytes_le()
    }

    /// Reads a two's complement, the lowest byte first.
    pub fn from_signed_bytes(bytes: &[u8]) -> Self {
        Self::from_big(BigInt::from_signed_bytes_le(bytes))
    }

    /// Returns the nearest floating-point number, or an infinity.
    pub fn to_f64(&self) -> f64 {
        match self {
            Small(value) => *value as f64,
            Big(value) => value.to_f64().unwrap_or(f64::NAN),
        }
    }

    /// Returns the lowest 64 bits of the two's complement.
    #[inline]
    pub(crate) fn low_bits(&self) -> u64 {
        match self {
            Small(value) => *value as u64,
            Big(value) => {
                let digit = value.iter_u64_digits().next().unwrap_or(0);
                if value.is_negative() { digit.wrapping_neg() } else { digit }
            }
        }
    }

    /// Returns the number of bits of the absolute value.
    pub(crate) fn bits(&self) -> u64 {
        match self {
            Small(value) => u64::from(64 - value.unsigned_abs().leading_zeros()),
            Big(value) => value.bits(),
        }
    }

    /// Returns whether the value is 0.
    #[inline]
    pub fn is_zero(&self) -> bool {
        matches!(self, Small(0))
    }

    /// Returns whether the value is 1 or -1.
    #[inline]
    pub(crate) fn is_unit(&self) -> bool {
        matches!(self, Small(1 | -1))
    }

    /// Returns -1, 0 or 1.
    #[inline]
    pub fn sign(&self) -> i32 {
        match self {
            Small(value) => value.signum() as i32,
            Big(value) if value.is_negative() => -1,
            Big(_) => 1,
        }
    }

    /// Adds.
    #[inline]
    pub fn add(&self, other: &Self) -> Self {
        if let (Small(a), Small(b)) = (self, other) {
            return a
                .checked_add(*b)
                .map_or_else(|| Self::from_wide(*a as i128 + *b as i128), Small);
        }
        self.by_big(other, |a, b| a + b)
    }

    /// Subtracts.
    #[inline]
    pub fn sub(&self, other: &Self) -> Self {
        if let (Small(a), Small(b)) = (self, other) {
            return a
                .checked_sub(*b)
                .map_or_else(|| Self::from_wide(*a as i128 - *b as i128), Small);
        }
        self.by_big(other, |a, b| a - b)
    }

    /// Multiplies.
    #[inline]
    pub fn mul(&self, other: &Self) -> Self {
        if let (Small(a), Small(b)) = (self, other) {
            return a
                .checked_mul(*b)
                .map_or_else(|| Self::from_wide(*a as i128 * *b as i128), Small);
        }
        self.by_big(other, |a, b| a * b)
    }

    /// Returns `self + a * b`.
    #[inline]
    pub fn add_mul(&self, a: &Self, b: &Self) -> Self {
        if let (Small(s), Small(a), Small(b)) = (self, a, b)
            && let Some(value) = a.checked_mul(*b).and_then(|product| product.checked_add(*s))
        {
            return Small(value);
        }
        self.add(&a.mul(b))
    }

    /// Returns `a * x - b * y`.
    #[inline]
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
    #[inline]
    pub fn neg(&self) -> Self {
        Self::ZERO.sub(self)
    }

    /// Returns the absolute value.
    #[inline]
    pub fn abs(&self) -> Self {
        if self.sign() < 0 { self.neg() } else { self.clone() }
    }

    /// Divides, rounding down; `other` must not be 0.
    #[inline]
    pub fn div_floor(&self, other: &Self) -> Self {
        if let (Small(a), Small(b)) = (self, other)
            && *b != -1
        {
            return Small(a.div_floor(b));
        }
        self.by_big(other, |a, b| a.div_floor(b))
    }

    /// Returns what `div_floor` leaves, between 0 and `other`.
    #[inline]
    pub fn mod_floor(&self, other: &Self) -> Self {
        if let (Small(a), Small(b)) = (self, other)
            && *b != -1
        {
            return Small(a.mod_floor(b));
        }
        self.by_big(other, |a, b| a.mod_floor(b))
    }

    /// Divides, where `other` is known to be a divisor.
    #[inline]
    pub fn div_exact(&self, other: &Self) -> Self {
        if let (Small(a), Small(b)) = (self, other)
            && *b != -1
        {
            return Small(a / b);
        }
        self.by_big(other, |a, b| a / b)
    }

    /// Returns whether `other`, which must not be 0, divides the value.
    #[inline]
    pub fn is_multiple_of(&self, other: &Self) -> bool {
        self.mod_floor(other).is_zero()
    }

    /// Returns the greatest common divisor, at least 0.
    #[inline]
    pub fn gcd(&self, other: &Self) -> Self {
        if let (Small(a), Small(b)) = (self, other) {
            let found = gcd_u64(a.unsigned_abs(), b.unsigned_abs());
            return i64::try_from(found).map_or_else(|_| Self::from_wide(found.into()), Small);
        }
        self.by_big(other, gcd_big)
    }

    /// Returns the least common multiple, at least 0.
    pub fn lcm(&self, other: &Self) -> Self {
        if self.is_zero() || other.is_zero() {
            return Self::ZERO;
        }
        self.div_exact(&self.gcd(other)).mul(other).abs()
    }

    /// Raises to a power; the result has as many bits as `exponent` times those of the value.
    pub fn pow(&self, exponent: u32) -> Self {
        match self {
            Small(value) => match value.checked_pow(exponent) {
                Some(power) => Small(power),
                None => Self::from_big(self.big().pow(exponent)),
            },
            Big(value) => Self::from_big(value.pow(exponent)),
        }
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

/// Divides while one number is much longer: `num-bigint` shifts both once for each bit of the
/// longer one, which took seconds beside a number of many digits.
pub(crate) fn gcd_big(a: &BigInt, b: &BigInt) -> BigInt {
    const MUCH: u64 = 64;
    let (mut short, mut long) = (Cow::Borrowed(a), Cow::Borrowed(b));
    loop {
        if short.bits() > long.bits() {
            std::mem::swap(&mut short, &mut long);
        }
        if short.is_zero() || long.bits() - short.bits() < MUCH {
            return short.gcd(&long);
        }
        long = Cow::Owned(&*long % &*short);
    }
}

impl Default for Integer {
    fn default() -> Self {
        Self::ZERO
    }
}

impl fmt::Display for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Small(value) => fmt::Display::fmt(value, f),
            Big(value) => fmt::Display::fmt(value, f),
        }
    }
}

impl fmt::Debug for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests;
