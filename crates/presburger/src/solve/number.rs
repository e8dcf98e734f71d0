//! Integers of three widths behind one interface; only the widest never overflows.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};

use crate::Error;

/// An integer whose operations report overflow as `None`.
pub(crate) trait Number: Clone + Ord + std::fmt::Debug {
    fn of(value: i128) -> Option<Self>;
    fn wide(&self) -> Option<i128>;
    fn zero() -> Self;
    fn one() -> Self;
    fn sign(&self) -> i32;
    fn times(&self, other: &Self) -> Option<Self>;
    fn plus(&self, other: &Self) -> Option<Self>;
    fn opposite(&self) -> Option<Self>;
    /// Rounds towards negative infinity; `other` is positive.
    fn floor_div(&self, other: &Self) -> Self;
    fn gcd(&self, other: &Self) -> Self;
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
    ($type:ty) => {
        impl Number for $type {
            #[inline]
            fn of(value: i128) -> Option<Self> {
                Self::try_from(value).ok()
            }
            #[inline]
            fn wide(&self) -> Option<i128> {
                Some(i128::from(*self))
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
                    (a, b) = (b, a.wrapping_rem(b));
                }
                a.wrapping_abs()
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

primitive!(i64);
primitive!(i128);

impl Number for BigInt {
    fn of(value: i128) -> Option<Self> {
        Some(Self::from(value))
    }
    fn wide(&self) -> Option<i128> {
        self.to_i128()
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
        Integer::div_floor(self, other)
    }
    fn gcd(&self, other: &Self) -> Self {
        Integer::gcd(self, other)
    }
    fn combine(row: &mut [Self], a: &Self, other: &[Self], b: &Self) -> bool {
        for (x, y) in row.iter_mut().zip(other) {
            *x = &*x * a + y * b;
        }
        true
    }
}

/// Turns a missing result into an overflow.
pub(crate) fn fit<T>(value: Option<T>) -> Result<T, Error> {
    value.ok_or(Error::Overflow)
}

/// Divides by the greatest common divisor of all numbers.
pub(crate) fn reduce<T: Number>(row: &mut [T]) {
    let one = T::one();
    let mut g = T::zero();
    for value in row.iter() {
        if !value.is_zero() {
            g = g.gcd(value);
            if g == one {
                return;
            }
        }
    }
    // The divisor is positive unless the row is zero or overflowed to the least number.
    if g.sign() > 0 {
        row.iter_mut().for_each(|v| *v = v.floor_div(&g));
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
