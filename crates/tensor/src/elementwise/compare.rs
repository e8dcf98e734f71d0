//! Comparisons, which give booleans.

use crate::dispatch;
use crate::dtype::DType;
use crate::element::Number;
use crate::elementwise::apply::{map1, map2, same_dtype};
use crate::error::Result;
use crate::layout::{Nest, broadcast, broadcast_strides};
use crate::tensor::{Tensor, checked_count};

macro_rules! orders {
    ($($(#[$doc:meta])* $name:ident = $operator:tt;)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// [`MixedDTypes`](crate::KernelError::MixedDTypes), [`BadDType`](crate::KernelError::BadDType) for no numbers,
        /// [`Broadcast`](crate::KernelError::Broadcast).
        pub fn $name(left: &Tensor, right: &Tensor) -> Result<Tensor> {
            same_dtype(stringify!($name), left, right)?;
            dispatch!(number, stringify!($name), left.dtype(), T => {
                map2(stringify!($name), left, right, |a: T, b: T| a $operator b)
            })
        }
    )*};
}

orders! {
    /// Whether the left is less; never with NaN.
    less = <;
    /// Whether the left is less or equal; never with NaN.
    less_equal = <=;
    /// Whether the left is greater; never with NaN.
    greater = >;
    /// Whether the left is greater or equal; never with NaN.
    greater_equal = >=;
}

/// Whether two elements are equal; NaN is not equal to itself. Text is compared byte by byte.
///
/// # Errors
/// [`MixedDTypes`](crate::KernelError::MixedDTypes); [`BadDType`](crate::KernelError::BadDType) for complex numbers and types narrower
/// than 16 bits, except booleans and integers of 8 bits; [`Broadcast`](crate::KernelError::Broadcast).
pub fn equal(left: &Tensor, right: &Tensor) -> Result<Tensor> {
    same_dtype("equal", left, right)?;
    if left.dtype() == DType::String {
        return equal_text(left, right);
    }
    dispatch!(element, "equal", left.dtype(), T => {
        map2("equal", left, right, |a: T, b: T| a == b)
    })
}

fn equal_text(left: &Tensor, right: &Tensor) -> Result<Tensor> {
    let shape = broadcast("equal", left.shape(), right.shape())?;
    let mut out = Vec::with_capacity(checked_count(DType::Bool, &shape)?);
    let strides = [left, right].map(|tensor| broadcast_strides(tensor.shape(), &shape));
    let (a, b) = (left.strings().unwrap_or_default(), right.strings().unwrap_or_default());
    Nest::new(&shape, [&strides[0], &strides[1]])
        .walk([0, 0], |[i, j]| out.push(a[i as usize] == b[j as usize]));
    Tensor::from_vec(shape, out)
}

/// Whether an element is NaN.
///
/// # Errors
/// [`BadDType`](crate::KernelError::BadDType) unless the elements are floats of 16 to 64 bits.
pub fn isnan(tensor: &Tensor) -> Result<Tensor> {
    dispatch!(float, "isnan", tensor.dtype(), T => {
        map1(tensor, |x: T| x.is_not_a_number())
    })
}

/// Whether an element is infinite, of a sign that is asked for.
///
/// # Errors
/// [`BadDType`](crate::KernelError::BadDType) unless the elements are floats of 16 to 64 bits.
pub fn isinf(tensor: &Tensor, detect_negative: bool, detect_positive: bool) -> Result<Tensor> {
    dispatch!(float, "isinf", tensor.dtype(), T => {
        map1(tensor, |x: T| {
            let x = x.widen();
            x.is_infinite() && if x.is_sign_negative() { detect_negative } else { detect_positive }
        })
    })
}
