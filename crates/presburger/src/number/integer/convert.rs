//! Integers from machine numbers, large numbers and text.

use std::str::FromStr;

use num_bigint::BigInt;

use super::{Integer, Small};

macro_rules! from_small {
    ($($type:ty),*) => {$(
        impl From<$type> for Integer {
            #[inline]
            fn from(value: $type) -> Self {
                Small(value.into())
            }
        }
    )*};
}

from_small!(bool, u32, i32, i64);

impl From<u64> for Integer {
    fn from(value: u64) -> Self {
        i64::try_from(value).map_or_else(|_| Self::from_wide(value.into()), Small)
    }
}

impl From<usize> for Integer {
    fn from(value: usize) -> Self {
        Self::from(value as u64)
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

impl From<&Self> for Integer {
    fn from(value: &Self) -> Self {
        value.clone()
    }
}

impl FromStr for Integer {
    type Err = num_bigint::ParseBigIntError;

    /// Reads decimal digits, with a sign before them if there is one.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.parse() {
            Ok(value) => Ok(Small(value)),
            Err(_) => text.parse().map(Self::from_big),
        }
    }
}
