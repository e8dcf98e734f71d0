//! Integers of three widths behind one interface; only the widest never overflows.
//!
//! For tableaus, which start again with a wider type when one overflows. Values that stay are
//! [`Integer`] (`number/integer`), which grows by itself.

use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};

use crate::{Error, Integer};

/// An integer whose operations report overflow as `None`.
pub(crate) trait Number: Clone + Default + Ord + std::fmt::Debug {
    /// What arithmetic costs, in that of machine numbers.
    const COST: usize;

    /// Takes a number over; nothing if it does not fit.
    fn of(value: &Integer) -> Option<Self>;
    fn integer(&self) -> Integer;
    fn zero() -> Self;
    fn one() -> Self;
    fn sign(&self) -> i32;
    fn times(&self, other: &Self) -> Option<Self>;
    fn plus(&self, other: &Self) -> Option<Self>;
    fn opposite(&self) -> Option<Self>;
    /// Rounds towards negative infinity; `other` is positive.
    fn floor_div(&self, other: &Self) -> Self;
    fn gcd(&self, other: &Self) -> Self;
    /// Divides numbers by a positive one that divides all of them.
    fn divide_all(row: &mut [Self], divisor: &Self);
    /// Sets `row` to `row * a + other * b`; false on overflow.
    fn combine(row: &mut [Self], a: &Self, other: &[Self], b: &Self) -> bool;

    fn is_zero(&self) -> bool {
        self.sign() == 0
    }

    /// Returns the remainder in `0..other`; `other` is positive.
    fn modulo(&self, other: &Self) -> Option<Self> {
        let quotient = self.floor_div(other).times(other)?;
        self.plus(&quotient.opposite()?)
    }

    fn minus(&self, other: &Self) -> Option<Self> {
        self.plus(&other.opposite()?)
    }
}

macro_rules! primitive {
    ($type:ty, $to:ident) => {
        impl Number for $type {
            const COST: usize = 1;

            #[inline]
            fn of(value: &Integer) -> Option<Self> {
                value.$to()
            }
            #[inline]
            fn integer(&self) -> Integer {
                Integer::from(*self)
            }
            #[inline]
            fn zero() -> Self {
                0
            }
            #[inline]
            fn one() -> Self {
                1
            }
            #[inline]
            fn sign(&self) -> i32 {
                self.signum() as i32
            }
            #[inline]
            fn times(&self, other: &Self) -> Option<Self> {
                self.checked_mul(*other)
            }
            #[inline]
            fn plus(&self, other: &Self) -> Option<Self> {
                self.checked_add(*other)
            }
            #[inline]
            fn opposite(&self) -> Option<Self> {
                self.checked_neg()
            }
            #[inline]
            fn floor_div(&self, other: &Self) -> Self {
                self.div_euclid(*other)
            }
            #[inline]
            fn gcd(&self, other: &Self) -> Self {
                let (mut a, mut b) = (*self, *other);
                while b != 0 {
                    // Most numbers are small, and their remainder far cheaper.
                    if let (Ok(mut x), Ok(mut y)) = (i32::try_from(a), i32::try_from(b)) {
                        while y != 0 {
                            (x, y) = (y, x.wrapping_rem(y));
                        }
                        return Self::from(x).wrapping_abs();
                    }
                    (a, b) = (b, a.wrapping_rem(b));
                }
                a.wrapping_abs()
            }
            #[inline]
            fn divide_all(row: &mut [Self], divisor: &Self) {
                // A division without remainder is a shift, and a product with the inverse of
                // the odd rest, by Newton's iteration: the divisor is right to 3 bits.
                let shift = divisor.trailing_zeros();
                let odd = *divisor >> shift;
                let mut inverse = odd;
                for _ in 0..6 {
                    let error = (2 as $type).wrapping_sub(odd.wrapping_mul(inverse));
                    inverse = inverse.wrapping_mul(error);
                }
                row.iter_mut().for_each(|v| *v = (*v >> shift).wrapping_mul(inverse));
            }
            #[inline]
            fn combine(row: &mut [Self], a: &Self, other: &[Self], b: &Self) -> bool {
                let mut overflow = false;
                for (x, y) in row.iter_mut().zip(other) {
                    let (left, o1) = x.overflowing_mul(*a);
                    let (right, o2) = y.overflowing_mul(*b);
                    let (sum, o3) = left.overflowing_add(right);
                    overflow |= o1 | o2 | o3;
                    *x = sum;
                }
                !overflow
            }
        }
    };
}

primitive!(i64, to_i64);
primitive!(i128, to_i128);

impl Number for BigInt {
    const COST: usize = 16;

    fn of(value: &Integer) -> Option<Self> {
        Some(value.to_big())
    }
    fn integer(&self) -> Integer {
        Integer::from(self.clone())
    }
    fn zero() -> Self {
        Zero::zero()
    }
    fn one() -> Self {
        One::one()
    }
    fn sign(&self) -> i32 {
        i32::from(self.is_positive()) - i32::from(self.is_negative())
    }
    fn times(&self, other: &Self) -> Option<Self> {
        Some(self * other)
    }
    fn plus(&self, other: &Self) -> Option<Self> {
        Some(self + other)
    }
    fn opposite(&self) -> Option<Self> {
        Some(-self)
    }
    fn floor_div(&self, other: &Self) -> Self {
        num_integer::Integer::div_floor(self, other)
    }
    fn gcd(&self, other: &Self) -> Self {
        crate::number::gcd_big(self, other)
    }
    fn divide_all(row: &mut [Self], divisor: &Self) {
        row.iter_mut().for_each(|v| *v = &*v / divisor);
    }
    fn combine(row: &mut [Self], a: &Self, other: &[Self], b: &Self) -> bool {
        for (x, y) in row.iter_mut().zip(other) {
            *x = &*x * a + y * b;
        }
        true
    }
}

/// Turns a missing result into an overflow.
#[inline]
pub(crate) fn fit<T>(value: Option<T>) -> Result<T, Error> {
    // `ok_or` would make an error each time, and drop it.
    match value {
        Some(value) => Ok(value),
        None => Err(Error::Overflow),
    }
}

/// Returns the opposite of each number.
pub(crate) fn opposites<T: Number>(row: &[T]) -> Result<Vec<T>, Error> {
    let mut result = Vec::with_capacity(row.len());
    for value in row {
        result.push(fit(value.opposite())?);
    }
    Ok(result)
}

/// Divides by the greatest common divisor of all numbers.
pub(crate) fn reduce<T: Number>(row: &mut [T]) {
    let one = T::one();
    let mut g = T::zero();
    for value in row.iter() {
        if !value.is_zero() {
            g = value.gcd(&g);
            if g == one {
                return;
            }
        }
    }
    // The divisor is positive unless the row is zero or overflowed to the least number.
    if g.sign() > 0 {
        T::divide_all(row, &g);
    }
}

/// Returns the greatest common divisor, 0 for zeros.
pub(crate) fn common<T: Number>(row: &[T]) -> T {
    row.iter().fold(T::zero(), |g, v| if v.is_zero() { g } else { g.gcd(v) })
}

/// Runs `$body` with `$type` as ever wider integers until it does not overflow.
macro_rules! widening {
    ($type:ident => $body:expr) => {{
        let narrow = || -> Result<_, $crate::Error> {
            type $type = i64;
            $body
        };
        let wide = || -> Result<_, $crate::Error> {
            type $type = i128;
            $body
        };
        let exact = || -> Result<_, $crate::Error> {
            type $type = num_bigint::BigInt;
            $body
        };
        let overflows = |result: &Result<_, _>| matches!(result, Err($crate::Error::Overflow));
        let mut result = narrow();
        if overflows(&result) {
            result = wide();
        }
        if overflows(&result) {
            result = exact();
        }
        result
    }};
}
pub(crate) use widening;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_division_agrees_with_division() {
        let divisors = [1, 2, 3, 6, 7, 12, 1 << 20, 3 << 30, 1_000_000_007, i64::MAX];
        for divisor in divisors {
            for quotient in [0, 1, -1, 2, -6, 12345, -(1 << 40), i64::MIN / divisor] {
                let Some(product) = quotient.checked_mul(divisor) else { continue };
                let mut row = [product];
                i64::divide_all(&mut row, &divisor);
                assert_eq!(row, [quotient], "{product} / {divisor}");
                let (wide, large) = (i128::from(quotient) << 20, i128::from(divisor) << 20);
                let mut row = [(wide * i128::from(divisor)) << 20];
                i128::divide_all(&mut row, &large);
                assert_eq!(row, [wide], "{wide} times {large} / {large}");
            }
        }
    }

    #[test]
    fn common_divisors_of_small_and_large_numbers_agree() {
        for (a, b) in [(12, -18), (0, 5), (-7, 0), (3 << 40, 9 << 20), (i64::MIN, 1 << 33)] {
            let narrow = Number::gcd(&a, &b);
            assert_eq!(Number::gcd(&i128::from(a), &i128::from(b)), i128::from(narrow));
            assert_eq!(Number::gcd(&BigInt::from(a), &b.into()), narrow.into(), "{a} and {b}");
        }
        assert_eq!(Number::gcd(&(1_i64 << 31), &i64::from(i32::MIN)), 1 << 31);
    }
}
