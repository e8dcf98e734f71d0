//! Operators of integers: arithmetic with owned, borrowed and machine operands, and order.

use std::cmp::Ordering;
use std::ops::{Add, AddAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use super::Integer::{self, Big, Small};

macro_rules! operator {
    ($trait:ident $method:ident, $assign:ident $assign_method:ident) => {
        impl $trait<&Integer> for &Integer {
            type Output = Integer;
            #[inline]
            fn $method(self, other: &Integer) -> Integer {
                Integer::$method(self, other)
            }
        }
        impl $trait<Integer> for &Integer {
            type Output = Integer;
            #[inline]
            fn $method(self, other: Integer) -> Integer {
                Integer::$method(self, &other)
            }
        }
        impl $trait<&Integer> for Integer {
            type Output = Integer;
            #[inline]
            fn $method(self, other: &Integer) -> Integer {
                Integer::$method(&self, other)
            }
        }
        impl $trait<Integer> for Integer {
            type Output = Integer;
            #[inline]
            fn $method(self, other: Integer) -> Integer {
                Integer::$method(&self, &other)
            }
        }
        impl $trait<i64> for &Integer {
            type Output = Integer;
            #[inline]
            fn $method(self, other: i64) -> Integer {
                Integer::$method(self, &Small(other))
            }
        }
        impl $trait<i64> for Integer {
            type Output = Integer;
            #[inline]
            fn $method(self, other: i64) -> Integer {
                Integer::$method(&self, &Small(other))
            }
        }
        impl $assign<&Integer> for Integer {
            #[inline]
            fn $assign_method(&mut self, other: &Integer) {
                *self = Integer::$method(self, other);
            }
        }
        impl $assign<Integer> for Integer {
            #[inline]
            fn $assign_method(&mut self, other: Integer) {
                *self = Integer::$method(self, &other);
            }
        }
        impl $assign<i64> for Integer {
            #[inline]
            fn $assign_method(&mut self, other: i64) {
                *self = Integer::$method(self, &Small(other));
            }
        }
    };
}

operator!(Add add, AddAssign add_assign);
operator!(Sub sub, SubAssign sub_assign);
operator!(Mul mul, MulAssign mul_assign);

impl Neg for &Integer {
    type Output = Integer;
    #[inline]
    fn neg(self) -> Integer {
        Integer::neg(self)
    }
}

impl Neg for Integer {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self::neg(&self)
    }
}

impl Ord for Integer {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Small(a), Small(b)) => a.cmp(b),
            (Big(a), Big(b)) => a.cmp(b),
            // A large value is beyond all small ones of its sign.
            (Small(_), Big(_)) => 0.cmp(&other.sign()),
            (Big(_), Small(_)) => self.sign().cmp(&0),
        }
    }
}

impl PartialOrd for Integer {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq<i64> for Integer {
    #[inline]
    fn eq(&self, other: &i64) -> bool {
        matches!(self, Small(value) if value == other)
    }
}

impl PartialOrd<i64> for Integer {
    #[inline]
    fn partial_cmp(&self, other: &i64) -> Option<Ordering> {
        Some(match self {
            Small(value) => value.cmp(other),
            Big(_) => self.sign().cmp(&0),
        })
    }
}
