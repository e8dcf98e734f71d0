//! Conversion between element types: ONNX `Cast`.

use half::f16;
use half::slice::HalfFloatSliceExt;

use crate::dispatch;
use crate::dtype::DType;
use crate::element::Number;
use crate::elementwise::apply::map1;
use crate::elementwise::text;
use crate::error::{KernelError, Result};
use crate::packed::{self, ExponentRounding};
use crate::tensor::{Tensor, checked_count};

/// What the standard leaves to attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CastOptions {
    /// Whether floats of 8 bits stop at their greatest number instead of overflowing.
    pub saturate: bool,
    /// How a number becomes a power of two.
    pub rounding: ExponentRounding,
}

impl Default for CastOptions {
    fn default() -> Self {
        CastOptions { saturate: true, rounding: ExponentRounding::Up }
    }
}

/// Converts elements with the default options. See [`cast_with`].
///
/// # Errors
/// As [`cast_with`].
pub fn cast(tensor: &Tensor, to: DType) -> Result<Tensor> {
    cast_with(tensor, to, CastOptions::default())
}

/// Converts elements to another type.
///
/// Floats round to nearest, ties to even, and overflow to infinity. Floats become integers by
/// truncation; beyond the range of the integer, where the standard is silent, the result is what
/// x86 processors and so most runtimes give: the least `int32` or `int64`, the low bits of the
/// `int64` for the other types. Integers keep their low bits. All but 0 is true. Text is read as a
/// number; numbers are written as C's `%.8g` (`%.17g` for `float64`), infinities as `INF`, and
/// NaN as `NaN`.
///
/// # Errors
/// [`KernelError::BadDType`] for complex numbers, [`KernelError::BadElement`] for text that is no
/// number, [`KernelError::TooLarge`].
pub fn cast_with(tensor: &Tensor, to: DType, options: CastOptions) -> Result<Tensor> {
    let from = tensor.dtype();
    if from == to {
        return Ok(tensor.clone());
    }
    checked_count(to, tensor.shape())?;
    if from == DType::String {
        return cast_with(&text::parse(tensor, to)?, to, options);
    }
    let numbers = plain(tensor)?;
    match to {
        DType::String => text::format(&numbers, from),
        DType::Bool => dispatch!(number, "cast", numbers.dtype(), S => {
            map1(&numbers, |x: S| x != S::default())
        }),
        _ if to.is_packed() && to.is_int() => {
            let codes = dispatch!(number, "cast", numbers.dtype(), S => {
                numbers.view::<S>()?.iter().map(|&x| to_int::<S, i64>(x) as u8).collect::<Vec<_>>()
            });
            Tensor::from_bytes(to, tensor.shape(), packed::pack(&codes, to))
        }
        _ if packed::is_small_float(to) => {
            let CastOptions { saturate, rounding } = options;
            let codes = dispatch!(number, "cast", numbers.dtype(), S => {
                let encode = |&x: &S| packed::encode_float(to, x.to_f64(), saturate, rounding);
                numbers.view::<S>()?.iter().map(encode).collect::<Vec<_>>()
            });
            Tensor::from_bytes(to, tensor.shape(), packed::pack(&codes, to))
        }
        _ => cast_numbers(&numbers, to),
    }
}

/// Decodes booleans, packed integers and small floats to the narrowest number that holds them.
fn plain(tensor: &Tensor) -> Result<Tensor> {
    let dtype = tensor.dtype();
    if dtype == DType::Bool {
        return map1(tensor, |x: bool| u8::from(x));
    }
    if !dtype.is_packed() && !packed::is_small_float(dtype) {
        return Ok(tensor.clone());
    }
    let codes = packed::unpack(tensor.bytes(), dtype, tensor.len());
    if dtype.is_float() {
        let decode = |code| packed::decode_float(dtype, code);
        Tensor::from_vec(tensor.shape(), codes.into_iter().map(decode).collect::<Vec<f32>>())
    } else if dtype.is_signed() {
        let decode = |code| packed::decode_int(dtype, code) as i8;
        Tensor::from_vec(tensor.shape(), codes.into_iter().map(decode).collect::<Vec<i8>>())
    } else {
        Tensor::from_vec(tensor.shape(), codes)
    }
}

fn cast_numbers(tensor: &Tensor, to: DType) -> Result<Tensor> {
    match (tensor.dtype(), to) {
        (from, to) if from == to => Ok(tensor.clone()),
        // The two conversions that processors do eight at a time.
        (DType::F16, DType::F32) => {
            let source = tensor.view::<f16>()?;
            let mut out = vec![0f32; source.len()];
            source.convert_to_f32_slice(&mut out);
            Tensor::from_vec(tensor.shape(), out)
        }
        (DType::F32, DType::F16) => {
            let source = tensor.view::<f32>()?;
            let mut out = vec![f16::ZERO; source.len()];
            out.convert_from_f32_slice(&source);
            Tensor::from_vec(tensor.shape(), out)
        }
        (from, to) => dispatch!(number, "cast", from, S => {
            dispatch!(number, "cast", to, T => map1(tensor, convert::<S, T>))
        }),
    }
}

fn convert<S: Number, T: Number>(value: S) -> T {
    match (S::DTYPE, T::DTYPE) {
        (_, to) if to.is_int() => to_int(value),
        // One rounding from 64 bits to fewer; integers reach half precision through `f32`.
        (DType::F64, _) | (_, DType::F64) => T::from_f64(value.to_f64()),
        _ => T::from_f32(value.to_f32()),
    }
}

fn to_int<S: Number, T: Number>(value: S) -> T {
    match S::DTYPE.is_int() {
        true => T::from_i64(value.to_i64()),
        false => int_of(value.to_f64()),
    }
}

/// The integer that [`cast_with`] makes of a float, and every kernel that computes integers by way
/// of floats.
pub(crate) fn int_of<T: Number>(value: f64) -> T {
    match T::DTYPE {
        DType::U64 if value >= 0.0 => T::from_f64(value),
        DType::I32 if !(-2147483649.0 < value && value < 2147483648.0) => T::LOWEST,
        _ if !(-9223372036854775808.0..9223372036854775808.0).contains(&value) => {
            T::from_i64(i64::MIN)
        }
        _ => T::from_i64(value as i64),
    }
}

/// What [`cast_with`] reports for an element of text.
pub(super) fn not_a_number(to: DType, element: &[u8]) -> KernelError {
    KernelError::BadElement { to, found: String::from_utf8_lossy(element).into_owned() }
}
