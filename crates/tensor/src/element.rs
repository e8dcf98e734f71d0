//! The Rust types behind the element types, and dispatch over them.

use std::fmt::Debug;

use bytemuck::{CheckedBitPattern, NoUninit};
use half::{bf16, f16};

use crate::dtype::DType;

/// A Rust type that is the element of some tensor.
///
/// The types that Rust lacks (eight-bit floats, packed integers, complex numbers, text) are no
/// `Element`: kernels that move data handle their bytes, and casts go through `f32` or `i64`.
pub trait Element:
    Copy + Debug + Default + PartialEq + PartialOrd + NoUninit + CheckedBitPattern + Send + Sync
{
    /// The element type that this Rust type stands for.
    const DTYPE: DType;

    /// Reads one element from its little-endian bytes, `size_of::<Self>()` of them.
    fn from_le(bytes: &[u8]) -> Self;
}

/// A number: every [`Element`] except `bool`.
///
/// Floats narrower than `f32` compute in `f32` and round once at the end; every other type
/// computes in itself. That is what [`Number::Wide`] says. Integer arithmetic wraps.
pub trait Number: Element {
    /// The type that arithmetic is carried out in.
    type Wide: Number<Wide = Self::Wide>
        + num_traits::NumCast
        + num_traits::Num
        + num_traits::Bounded
        + Send;

    /// The least value: minus infinity, or the least integer.
    const LOWEST: Self;
    /// The greatest value: infinity, or the greatest integer.
    const HIGHEST: Self;

    /// Converts to the type of arithmetic; exact.
    fn widen(self) -> Self::Wide;

    /// Converts back, rounding to the nearest, ties to even.
    fn narrow(wide: Self::Wide) -> Self;

    /// Converts to `f64`: exact, except for integers beyond 2^53, which round.
    fn to_f64(self) -> f64;

    /// Converts to `f32`, rounding to nearest, ties to even.
    fn to_f32(self) -> f32;

    /// Converts from `f32`: floats round to nearest, integers truncate and saturate, NaN gives 0.
    fn from_f32(value: f32) -> Self;

    /// Converts to `i64`: integers wrap, floats truncate and saturate, NaN gives 0.
    fn to_i64(self) -> i64;

    /// Converts from `i64`: integers wrap, floats round to nearest.
    fn from_i64(value: i64) -> Self;

    /// Converts from `f64`: floats round to nearest, integers truncate and saturate, NaN gives 0.
    fn from_f64(value: f64) -> Self;

    /// Adds; integers wrap.
    fn plus(self, other: Self) -> Self;

    /// Subtracts; integers wrap.
    fn minus(self, other: Self) -> Self;

    /// Multiplies; integers wrap.
    fn times(self, other: Self) -> Self;

    /// Whether the value is not a number; never for integers.
    fn is_not_a_number(self) -> bool;

    /// Returns the greater of two values; NaN if one is.
    fn larger(self, other: Self) -> Self {
        if self > other || self.is_not_a_number() { self } else { other }
    }

    /// Returns the smaller of two values; NaN if one is.
    fn smaller(self, other: Self) -> Self {
        if self < other || self.is_not_a_number() { self } else { other }
    }
}

/// A real number of the machine: `f32` or `f64`.
pub trait Real: Number<Wide = Self> + num_traits::Float {
    /// Converts a constant, rounding to nearest.
    fn constant(value: f64) -> Self;

    /// Returns the error function.
    fn erf(self) -> Self;
}

/// A floating-point number that computes in `f32` or `f64`.
pub trait Float: Number<Wide: Real> {}

/// A whole number.
pub trait Int: Number<Wide = Self> + Ord + Eq + num_traits::PrimInt {}

macro_rules! element {
    ($($t:ty => $dtype:ident),* $(,)?) => {$(
        impl Element for $t {
            const DTYPE: DType = DType::$dtype;

            #[inline]
            fn from_le(bytes: &[u8]) -> Self {
                let mut raw = [0; size_of::<$t>()];
                raw.copy_from_slice(bytes);
                <$t>::from_le_bytes(raw)
            }
        }
    )*};
}

element! {
    i8 => I8, i16 => I16, i32 => I32, i64 => I64,
    u8 => U8, u16 => U16, u32 => U32, u64 => U64,
    f16 => F16, bf16 => BF16, f32 => F32, f64 => F64,
}

impl Element for bool {
    const DTYPE: DType = DType::Bool;

    /// Any byte but 0 is true, as numpy reads it.
    #[inline]
    fn from_le(bytes: &[u8]) -> Self {
        bytes.iter().any(|&byte| byte != 0)
    }
}

macro_rules! integers {
    ($($t:ty),*) => {$(
        impl Number for $t {
            type Wide = $t;
            const LOWEST: $t = <$t>::MIN;
            const HIGHEST: $t = <$t>::MAX;
            fn widen(self) -> $t { self }
            fn narrow(wide: $t) -> $t { wide }
            fn to_f64(self) -> f64 { self as f64 }
            fn from_f64(value: f64) -> $t { value as $t }
            fn to_f32(self) -> f32 { self as f32 }
            fn from_f32(value: f32) -> $t { value as $t }
            fn to_i64(self) -> i64 { self as i64 }
            fn from_i64(value: i64) -> $t { value as $t }
            fn plus(self, other: $t) -> $t { self.wrapping_add(other) }
            fn minus(self, other: $t) -> $t { self.wrapping_sub(other) }
            fn times(self, other: $t) -> $t { self.wrapping_mul(other) }
            fn is_not_a_number(self) -> bool { false }
        }
        impl Int for $t {}
    )*};
}

macro_rules! reals {
    ($($t:ty, $erf:path);*) => {$(
        impl Number for $t {
            type Wide = $t;
            const LOWEST: $t = <$t>::NEG_INFINITY;
            const HIGHEST: $t = <$t>::INFINITY;
            fn widen(self) -> $t { self }
            fn narrow(wide: $t) -> $t { wide }
            fn to_f64(self) -> f64 { f64::from(self) }
            fn from_f64(value: f64) -> $t { value as $t }
            fn to_f32(self) -> f32 { self as f32 }
            fn from_f32(value: f32) -> $t { value as $t }
            fn to_i64(self) -> i64 { self as i64 }
            fn from_i64(value: i64) -> $t { value as $t }
            fn plus(self, other: $t) -> $t { self + other }
            fn minus(self, other: $t) -> $t { self - other }
            fn times(self, other: $t) -> $t { self * other }
            fn is_not_a_number(self) -> bool { self.is_nan() }
        }
        impl Float for $t {}
        impl Real for $t {
            fn constant(value: f64) -> $t { value as $t }
            fn erf(self) -> $t { $erf(self) }
        }
    )*};
}

macro_rules! halves {
    ($($t:ty),*) => {$(
        impl Number for $t {
            type Wide = f32;
            const LOWEST: $t = <$t>::NEG_INFINITY;
            const HIGHEST: $t = <$t>::INFINITY;
            fn widen(self) -> f32 { <$t>::to_f32(self) }
            fn narrow(wide: f32) -> $t { <$t>::from_f32(wide) }
            fn to_f64(self) -> f64 { <$t>::to_f64(self) }
            fn from_f64(value: f64) -> $t { <$t>::from_f32(to_odd(value)) }
            fn to_f32(self) -> f32 { <$t>::to_f32(self) }
            fn from_f32(value: f32) -> $t { <$t>::from_f32(value) }
            fn to_i64(self) -> i64 { <$t>::to_f32(self) as i64 }
            fn from_i64(value: i64) -> $t { <$t>::from_f32(value as f32) }
            fn plus(self, other: $t) -> $t { <$t>::from_f32(<$t>::to_f32(self) + <$t>::to_f32(other)) }
            fn minus(self, other: $t) -> $t { <$t>::from_f32(<$t>::to_f32(self) - <$t>::to_f32(other)) }
            fn times(self, other: $t) -> $t { <$t>::from_f32(<$t>::to_f32(self) * <$t>::to_f32(other)) }
            fn is_not_a_number(self) -> bool { self.is_nan() }
        }
        impl Float for $t {}
    )*};
}

/// Rounds to odd: to the neighbour of which the last bit is set, unless the number is exact.
///
/// Rounded to nearest twice, a number just beside a tie of the narrower type would first become
/// the tie. An odd last bit remembers on which side it was, so that rounding the `f32` to 22 bits or
/// fewer gives what rounding `value` gives. (Boldo and Melquiond, "Emulation of FMA and correctly
/// rounded sums: proved algorithms using rounding to odd", 2008.)
fn to_odd(value: f64) -> f32 {
    let nearest = value as f32;
    let found = f64::from(nearest);
    if found == value || value.is_nan() {
        return nearest;
    }
    // Magnitudes are ordered as their bits, and there is one below whatever was rounded up.
    let truncated = nearest.to_bits() - u32::from(found.abs() > value.abs());
    f32::from_bits(truncated | 1)
}

integers!(i8, i16, i32, i64, u8, u16, u32, u64);
reals!(f32, libm::erff; f64, libm::erf);
halves!(f16, bf16);

/// Runs a block once with `$t` bound to the Rust type of an element type.
///
/// `dispatch!(number, "add", tensor.dtype(), T => add::<T>(a, b))` returns from the surrounding
/// function with [`KernelError::BadDType`](crate::KernelError::BadDType) for any other type. The
/// sets are `element` (numbers and booleans), `number`, `float` (16 to 64 bits), `int` (8 to 64
/// bits), `signed` (floats and signed integers).
#[macro_export]
macro_rules! dispatch {
    (element, $kernel:expr, $dtype:expr, $t:ident => $body:expr) => {
        $crate::dispatch!(@ $kernel, "a number or bool", $dtype, $t => $body;
            Bool bool, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64,
            F16 $crate::f16, BF16 $crate::bf16, F32 f32, F64 f64)
    };
    (number, $kernel:expr, $dtype:expr, $t:ident => $body:expr) => {
        $crate::dispatch!(@ $kernel, "a number", $dtype, $t => $body;
            I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64,
            F16 $crate::f16, BF16 $crate::bf16, F32 f32, F64 f64)
    };
    (float, $kernel:expr, $dtype:expr, $t:ident => $body:expr) => {
        $crate::dispatch!(@ $kernel, "a float of 16 to 64 bits", $dtype, $t => $body;
            F16 $crate::f16, BF16 $crate::bf16, F32 f32, F64 f64)
    };
    (int, $kernel:expr, $dtype:expr, $t:ident => $body:expr) => {
        $crate::dispatch!(@ $kernel, "an integer of 8 to 64 bits", $dtype, $t => $body;
            I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64)
    };
    (signed, $kernel:expr, $dtype:expr, $t:ident => $body:expr) => {
        $crate::dispatch!(@ $kernel, "a signed number", $dtype, $t => $body;
            I8 i8, I16 i16, I32 i32, I64 i64,
            F16 $crate::f16, BF16 $crate::bf16, F32 f32, F64 f64)
    };
    (@ $kernel:expr, $expected:expr, $dtype:expr, $t:ident => $body:expr;
        $($variant:ident $rust:ty),*) => {
        match $dtype {
            $($crate::DType::$variant => { type $t = $rust; $body })*
            found => {
                return Err($crate::KernelError::BadDType {
                    kernel: $kernel,
                    expected: $expected,
                    found,
                })
            }
        }
    };
}
