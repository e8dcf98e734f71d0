//! Functions of one number.

use num_traits::{Float as _, Zero};

use crate::dispatch;
use crate::dtype::DType;
use crate::element::{Float, Int, Number, Real};
use crate::elementwise::apply::{map_float, map1};
use crate::error::Result;
use crate::tensor::Tensor;

/// Defines kernels over floats, each by a formula in the type of arithmetic.
macro_rules! float_kernels {
    ($($(#[$doc:meta])* $name:ident($x:ident) = $formula:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// [`BadDType`](crate::KernelError::BadDType) unless the elements are floats of 16 to 64 bits.
        pub fn $name(tensor: &Tensor) -> Result<Tensor> {
            dispatch!(float, stringify!($name), tensor.dtype(), T => {
                map_float::<T>(tensor, |$x| $formula)
            })
        }
    )*};
}

float_kernels! {
    /// Takes square roots.
    sqrt(x) = x.sqrt();
    /// Raises e to each element.
    exp(x) = x.exp();
    /// Takes natural logarithms.
    log(x) = x.ln();
    /// Computes the error function.
    erf(x) = Real::erf(x);
    /// Computes sines.
    sin(x) = x.sin();
    /// Computes cosines.
    cos(x) = x.cos();
    /// Computes tangents.
    tan(x) = x.tan();
    /// Computes arc sines.
    asin(x) = x.asin();
    /// Computes arc cosines.
    acos(x) = x.acos();
    /// Computes arc tangents.
    atan(x) = x.atan();
    /// Computes hyperbolic sines.
    sinh(x) = x.sinh();
    /// Computes hyperbolic cosines.
    cosh(x) = x.cosh();
    /// Computes hyperbolic tangents.
    tanh(x) = x.tanh();
    /// Computes inverse hyperbolic sines.
    asinh(x) = x.asinh();
    /// Computes inverse hyperbolic cosines.
    acosh(x) = x.acosh();
    /// Computes inverse hyperbolic tangents.
    atanh(x) = x.atanh();
    /// Divides 1 by each element.
    reciprocal(x) = x.recip();
    /// Rounds down.
    floor(x) = x.floor();
    /// Rounds up.
    ceil(x) = x.ceil();
    /// Rounds to the nearest integer, halves to the even one.
    round(x) = round_half_even(x);
}

/// Rounds to the nearest integer, halves to the even one.
pub(super) fn round_half_even<R: Real>(x: R) -> R {
    let two = R::constant(2.0);
    let rounded = x.round();
    // `round` takes halves away from zero; an odd result of a half goes back towards it.
    if (x - x.trunc()).abs() == R::constant(0.5) && (rounded % two).abs() == R::constant(1.0) {
        rounded - x.signum()
    } else {
        rounded
    }
    .copysign(x)
}

/// Takes absolute values; the least signed integer stays itself.
///
/// # Errors
/// [`BadDType`](crate::KernelError::BadDType) for no numbers.
pub fn abs(tensor: &Tensor) -> Result<Tensor> {
    match tensor.dtype() {
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => Ok(tensor.clone()),
        dtype if dtype.is_int() => {
            dispatch!(int, "abs", dtype, T => map1(tensor, |x: T| {
                if x < T::zero() { T::zero().minus(x) } else { x }
            }))
        }
        dtype => dispatch!(float, "abs", dtype, T => map_float::<T>(tensor, |x| x.abs())),
    }
}

/// Negates; integers wrap.
///
/// # Errors
/// [`BadDType`](crate::KernelError::BadDType) unless the elements are signed numbers.
pub fn negative(tensor: &Tensor) -> Result<Tensor> {
    match tensor.dtype() {
        dtype if dtype.is_int() && dtype.is_signed() => {
            dispatch!(int, "negative", dtype, T => map1(tensor, |x: T| T::zero().minus(x)))
        }
        dtype => dispatch!(float, "negative", dtype, T => map_float::<T>(tensor, |x| -x)),
    }
}

/// Returns -1, 0 or 1; NaN stays NaN, as in numpy.
///
/// # Errors
/// [`BadDType`](crate::KernelError::BadDType) for no numbers.
pub fn sign(tensor: &Tensor) -> Result<Tensor> {
    match tensor.dtype() {
        dtype if dtype.is_int() => {
            dispatch!(int, "sign", dtype, T => map1(tensor, sign_of_int::<T>))
        }
        dtype => dispatch!(float, "sign", dtype, T => map1(tensor, sign_of_float::<T>)),
    }
}

fn sign_of_int<T: Int>(x: T) -> T {
    match x.cmp(&T::zero()) {
        std::cmp::Ordering::Greater => T::one(),
        std::cmp::Ordering::Equal => T::zero(),
        std::cmp::Ordering::Less => T::zero().minus(T::one()),
    }
}

fn sign_of_float<T: Float>(x: T) -> T {
    let x = x.widen();
    T::narrow(if x.is_zero() || x.is_nan() { x } else { x.signum() })
}
