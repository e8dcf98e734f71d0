//! Logic on booleans and on the bits of integers.

use crate::dispatch;
use crate::element::Int;
use crate::elementwise::apply::{map1, map2, same_dtype};
use crate::error::Result;
use crate::tensor::Tensor;

macro_rules! logical {
    ($($(#[$doc:meta])* $name:ident = |$a:ident, $b:ident| $formula:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// [`BadDType`](crate::KernelError::BadDType) unless the elements are boolean,
        /// [`Broadcast`](crate::KernelError::Broadcast).
        pub fn $name(left: &Tensor, right: &Tensor) -> Result<Tensor> {
            map2(stringify!($name), left, right, |$a: bool, $b: bool| $formula)
        }
    )*};
}

logical! {
    /// Whether both are true.
    logical_and = |a, b| a & b;
    /// Whether either is true.
    logical_or = |a, b| a | b;
    /// Whether exactly one is true.
    logical_xor = |a, b| a ^ b;
}

/// Negates booleans.
///
/// # Errors
/// [`BadDType`](crate::KernelError::BadDType) unless the elements are boolean.
pub fn logical_not(tensor: &Tensor) -> Result<Tensor> {
    map1(tensor, |a: bool| !a)
}

macro_rules! bitwise {
    ($($(#[$doc:meta])* $name:ident = |$a:ident, $b:ident| $formula:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// [`MixedDTypes`](crate::KernelError::MixedDTypes),
        /// [`BadDType`](crate::KernelError::BadDType) for no integers,
        /// [`Broadcast`](crate::KernelError::Broadcast).
        pub fn $name(left: &Tensor, right: &Tensor) -> Result<Tensor> {
            same_dtype(stringify!($name), left, right)?;
            dispatch!(int, stringify!($name), left.dtype(), T => {
                map2(stringify!($name), left, right, |$a: T, $b: T| $formula)
            })
        }
    )*};
}

bitwise! {
    /// Intersects the bits.
    bitwise_and = |a, b| a & b;
    /// Unites the bits.
    bitwise_or = |a, b| a | b;
    /// Takes the bits that differ.
    bitwise_xor = |a, b| a ^ b;
}

/// Inverts the bits.
///
/// # Errors
/// [`BadDType`](crate::KernelError::BadDType) for no integers.
pub fn bitwise_not(tensor: &Tensor) -> Result<Tensor> {
    dispatch!(int, "bitwise_not", tensor.dtype(), T => map1(tensor, |a: T| !a))
}

/// Which way [`bit_shift`] moves the bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShiftDirection {
    /// Towards the high bits: multiplies.
    Left,
    /// Towards the low bits: divides.
    Right,
}

/// Shifts the bits of the left operand by the right one. A shift by the width or more leaves 0
/// (-1 for a negative number shifted right), as numpy does.
///
/// # Errors
/// [`MixedDTypes`](crate::KernelError::MixedDTypes),
/// [`BadDType`](crate::KernelError::BadDType) for no integers,
/// [`Broadcast`](crate::KernelError::Broadcast).
pub fn bit_shift(left: &Tensor, right: &Tensor, direction: ShiftDirection) -> Result<Tensor> {
    same_dtype("bit_shift", left, right)?;
    dispatch!(int, "bit_shift", left.dtype(), T => {
        map2("bit_shift", left, right, |a: T, by: T| shift(a, by, direction))
    })
}

fn shift<T: Int>(value: T, by: T, direction: ShiftDirection) -> T {
    let width = T::zero().count_zeros();
    let by = by.to_u32().unwrap_or(width).min(width);
    match direction {
        ShiftDirection::Left if by == width => T::zero(),
        ShiftDirection::Left => value.unsigned_shl(by),
        ShiftDirection::Right => value >> (by.min(width - 1) as usize) >> usize::from(by == width),
    }
}
