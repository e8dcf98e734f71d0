//! Arithmetic of two operands that broadcast.

use std::cell::Cell;

use crate::dispatch;
use crate::dtype::DType;
use crate::element::{Float, Int, Number, Real};
use crate::elementwise::apply::{map_numbers, map2, same_dtype};
use crate::elementwise::cast;
use crate::error::{KernelError, Result};
use crate::tensor::Tensor;

/// Defines kernels over numbers of one type, each by an operation on the type of arithmetic.
macro_rules! arithmetic {
    ($($(#[$doc:meta])* $name:ident = $operation:path;)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// [`KernelError::MixedDTypes`], [`KernelError::BadDType`] for no numbers,
        /// [`KernelError::Broadcast`].
        pub fn $name(left: &Tensor, right: &Tensor) -> Result<Tensor> {
            same_dtype(stringify!($name), left, right)?;
            dispatch!(number, stringify!($name), left.dtype(), T => {
                map_numbers::<T>(stringify!($name), left, right, $operation)
            })
        }
    )*};
}

arithmetic! {
    /// Adds; integers wrap.
    add = Number::plus;
    /// Subtracts; integers wrap.
    subtract = Number::minus;
    /// Multiplies; integers wrap.
    multiply = Number::times;
    /// Keeps the greater; NaN if one is.
    maximum = Number::larger;
    /// Keeps the smaller; NaN if one is.
    minimum = Number::smaller;
}

/// Divides; integers truncate, and the least one divided by -1 wraps.
///
/// # Errors
/// [`KernelError::MixedDTypes`], [`KernelError::BadDType`] for no numbers,
/// [`KernelError::Broadcast`], [`KernelError::DivisionByZero`] for integers.
pub fn divide(left: &Tensor, right: &Tensor) -> Result<Tensor> {
    same_dtype("divide", left, right)?;
    if left.dtype().is_float() {
        return dispatch!(float, "divide", left.dtype(), T => {
            map_numbers::<T>("divide", left, right, |a, b| a / b)
        });
    }
    dispatch!(int, "divide", left.dtype(), T => {
        refuse_zero::<T>("divide", left, right)?;
        map2("divide", left, right, quotient::<T>)
    })
}

/// Computes the remainder: of truncated division if `truncated` (the sign of the dividend, C's
/// `fmod`), of floored division otherwise (the sign of the divisor, Python's `%`).
///
/// # Errors
/// [`KernelError::MixedDTypes`], [`KernelError::BadDType`] for no numbers,
/// [`KernelError::Broadcast`], [`KernelError::DivisionByZero`] for integers.
pub fn modulo(left: &Tensor, right: &Tensor, truncated: bool) -> Result<Tensor> {
    same_dtype("modulo", left, right)?;
    if left.dtype().is_float() {
        return dispatch!(float, "modulo", left.dtype(), T => {
            if truncated {
                map_numbers::<T>("modulo", left, right, |a, b| a % b)
            } else {
                map_numbers::<T>("modulo", left, right, floored_remainder)
            }
        });
    }
    dispatch!(int, "modulo", left.dtype(), T => {
        refuse_zero::<T>("modulo", left, right)?;
        map2("modulo", left, right, |a: T, b: T| remainder(a, b, truncated))
    })
}

/// Whether dividing by it may overflow; then the quotient is the negation.
fn is_minus_one<T: Int>(value: T) -> bool {
    value < T::zero() && value.plus(T::one()) == T::zero()
}

fn quotient<T: Int>(a: T, b: T) -> T {
    if is_minus_one(b) { T::zero().minus(a) } else { a / b }
}

fn remainder<T: Int>(a: T, b: T, truncated: bool) -> T {
    let rest = if is_minus_one(b) { T::zero() } else { a % b };
    let other_side = (rest < T::zero()) != (b < T::zero());
    if !truncated && rest != T::zero() && other_side { rest.plus(b) } else { rest }
}

fn floored_remainder<R: Real>(a: R, b: R) -> R {
    let rest = a % b;
    if rest.is_zero() {
        R::zero().copysign(b)
    } else if (rest < R::zero()) != (b < R::zero()) {
        rest + b
    } else {
        rest
    }
}

fn refuse_zero<T: Int>(kernel: &'static str, left: &Tensor, right: &Tensor) -> Result<()> {
    if !left.is_empty() && right.view::<T>()?.contains(&T::zero()) {
        return Err(KernelError::DivisionByZero { kernel });
    }
    Ok(())
}

/// Raises to powers; the result has the type of the base.
///
/// Integer to integer is exact and wraps; a negative exponent truncates towards 0. Integer to
/// float goes through `f64` and truncates. A float base takes its exponent in `f64` unless both
/// compute in `f32`.
///
/// # Errors
/// [`KernelError::BadDType`] for no numbers, [`KernelError::Broadcast`],
/// [`KernelError::DivisionByZero`] for 0 to a negative integer.
pub fn power(base: &Tensor, exponent: &Tensor) -> Result<Tensor> {
    let (kind, by) = (base.dtype(), exponent.dtype());
    match (kind.is_float(), by.is_float()) {
        (false, false) => dispatch!(int, "power", kind, T => integer_power::<T>(base, exponent)),
        (false, true) => {
            let (base, exponent) = (cast(base, DType::F64)?, cast(exponent, DType::F64)?);
            cast(&map_numbers::<f64>("power", &base, &exponent, f64::powf)?, kind)
        }
        (true, _) if kind == by => dispatch!(float, "power", kind, T => {
            small_power::<T>(base, exponent).unwrap_or_else(|| {
                map_numbers::<T>("power", base, exponent, |a, b| a.powf(b))
            })
        }),
        (true, _) if kind == DType::F64 => {
            map_numbers::<f64>("power", base, &cast(exponent, kind)?, f64::powf)
        }
        (true, _) => dispatch!(float, "power", kind, T => {
            let exponent = cast(exponent, DType::F64)?;
            map2("power", base, &exponent, |a: T, b: f64| T::from_f64(a.to_f64().powf(b)))
        }),
    }
}

/// Squares and cubes by multiplication, as runtimes do.
fn small_power<T: Float>(base: &Tensor, exponent: &Tensor) -> Option<Result<Tensor>> {
    if exponent.len() != 1 || exponent.rank() > base.rank() {
        return None;
    }
    let exponent = exponent.view::<T>().ok()?.first()?.to_f64();
    let by = |f: fn(T::Wide) -> T::Wide| super::apply::map_float::<T>(base, f);
    match exponent {
        2.0 => Some(by(|x| x * x)),
        3.0 => Some(by(|x| x * x * x)),
        _ => None,
    }
}

fn integer_power<T: Int>(base: &Tensor, exponent: &Tensor) -> Result<Tensor> {
    let negative = exponent.dtype().is_signed() && exponent.i64s()?.iter().any(|&e| e < 0);
    let by_zero = Cell::new(false);
    let exponent = match exponent.dtype() {
        DType::U64 => exponent.clone(),
        // The sign survives as the top bit, which no power that matters reaches.
        _ => cast(&cast(exponent, DType::I64)?, DType::U64)?,
    };
    let powers = map2("power", base, &exponent, |base: T, exponent: u64| {
        if negative && (exponent as i64) < 0 {
            by_zero.set(by_zero.get() || base == T::zero());
            reciprocal_power(base, exponent)
        } else {
            wrapping_power(base, exponent)
        }
    })?;
    if by_zero.get() {
        return Err(KernelError::DivisionByZero { kernel: "power" });
    }
    Ok(powers)
}

/// Only the powers of 1 and -1 do not truncate to 0.
fn reciprocal_power<T: Int>(base: T, exponent: u64) -> T {
    if base == T::one() || is_minus_one(base) {
        wrapping_power(base, exponent & 1)
    } else {
        T::zero()
    }
}

fn wrapping_power<T: Int>(mut base: T, mut exponent: u64) -> T {
    let mut result = T::one();
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result.times(base);
        }
        base = base.times(base);
        exponent >>= 1;
    }
    result
}
