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
/// computes in itself. That is what [`Number::Wide`] says.
pub trait Number: Element {
    /// The type that arithmetic is carried out in.
    type Wide: Number<Wide = Self::Wide>
        + num_traits::NumCast
        + num_traits::Num
        + num_traits::Bounded
        + Send;

    /// Converts to the type of arithmetic; exact.
    fn widen(self) -> Self::Wide;

    /// Converts back, rounding to the nearest, ties to even.
    fn narrow(wide: Self::Wide) -> Self;

    /// Converts to `f64`: exact, except for integers beyond 2^53, which round.
    fn to_f64(self) -> f64;

    /// Converts from `f64`: floats round to nearest, integers truncate and saturate, NaN gives 0.
    fn from_f64(value: f64) -> Self;
}

/// A floating-point number that computes in `f32` or `f64`.
pub trait Float: Number<Wide: num_traits::Float> {}

/// A whole number.
pub trait Int: Number<Wide = Self> + Ord + Eq + num_traits::PrimInt {}

macro_rules! element {
    ($($t:ty => $dtype:ident),* $(,)?) => {$(
        impl Element for $t {
            const DTYPE: DType = DType::$dtype;

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
    fn from_le(bytes: &[u8]) -> Self {
        bytes.iter().any(|&byte| byte != 0)
    }
}

macro_rules! number_in_itself {
    ($($t:ty),*) => {$(
        impl Number for $t {
            type Wide = $t;
            fn widen(self) -> $t { self }
            fn narrow(wide: $t) -> $t { wide }
            fn to_f64(self) -> f64 { self as f64 }
            fn from_f64(value: f64) -> $t { value as $t }
        }
    )*};
}

macro_rules! number_in_f32 {
    ($($t:ty),*) => {$(
        impl Number for $t {
            type Wide = f32;
            fn widen(self) -> f32 { self.to_f32() }
            fn narrow(wide: f32) -> $t { <$t>::from_f32(wide) }
            fn to_f64(self) -> f64 { <$t>::to_f64(self) }
            fn from_f64(value: f64) -> $t { <$t>::from_f64(value) }
        }
        impl Float for $t {}
    )*};
}

macro_rules! int {
    ($($t:ty),*) => {$(impl Int for $t {})*};
}

number_in_itself!(i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);
number_in_f32!(f16, bf16);
int!(i8, i16, i32, i64, u8, u16, u32, u64);
impl Float for f32 {}
impl Float for f64 {}

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
