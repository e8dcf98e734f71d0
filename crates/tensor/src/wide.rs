//! Arithmetic in types wider than the elements.
//!
//! Kernels whose cost is a product of matrices compute in [`Number::Wide`](crate::Number::Wide),
//! which [`widen`] brings the operands to. The others compute in `f64` from [`floats`] on and
//! round once, in [`from_f64s`].

use crate::dtype::DType;
use crate::elementwise::cast;
use crate::error::{KernelError, Result};
use crate::refuse;
use crate::tensor::Tensor;

/// Runs a block with `$t` bound to `f32` or `f64`.
macro_rules! reals {
    ($kernel:expr, $dtype:expr, $t:ident => $body:expr) => {
        $crate::dispatch!(@ $kernel, "a float of 16 to 64 bits", $dtype, $t => $body;
            F32 f32, F64 f64)
    };
}
pub(crate) use reals;

/// Whether elements of the type are numbers that kernels of floats take.
pub(crate) fn is_plain_float(dtype: DType) -> bool {
    dtype.is_float() && dtype.size_bits() >= 16
}

/// Checks that the operands are floats of 16 to 64 bits, of one type, and returns it.
pub(crate) fn one_float(kernel: &'static str, operands: &[&Tensor]) -> Result<DType> {
    let dtype = one_dtype(kernel, operands)?;
    if is_plain_float(dtype) {
        return Ok(dtype);
    }
    Err(refuse::dtype(kernel, "a float of 16 to 64 bits", dtype))
}

/// Checks that the operands have one type, and returns it; that of no operand is `f32`.
pub(crate) fn one_dtype(kernel: &'static str, operands: &[&Tensor]) -> Result<DType> {
    let Some(first) = operands.first() else { return Ok(DType::F32) };
    let left = first.dtype();
    match operands.iter().map(|operand| operand.dtype()).find(|&right| right != left) {
        Some(right) => Err(KernelError::MixedDTypes { kernel, left, right }),
        None => Ok(left),
    }
}

/// Converts floats of 16 bits to `f32`, and leaves everything else as it is.
pub(crate) fn widen(tensor: &Tensor) -> Result<Tensor> {
    match tensor.dtype() {
        DType::F16 | DType::BF16 => cast(tensor, DType::F32),
        _ => Ok(tensor.clone()),
    }
}

/// Reads the elements, which must be floats of 16 to 64 bits.
pub(crate) fn floats(kernel: &'static str, tensor: &Tensor) -> Result<Vec<f64>> {
    one_float(kernel, &[tensor])?;
    tensor.f64s()
}

/// Makes a tensor of any numeric type, rounding each number once.
pub(crate) fn from_f64s(dtype: DType, shape: &[usize], data: Vec<f64>) -> Result<Tensor> {
    cast(&Tensor::from_vec(shape, data)?, dtype)
}
