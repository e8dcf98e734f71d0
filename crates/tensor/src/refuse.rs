//! Short ways to say no.

use std::fmt::Debug;

use crate::dtype::DType;
use crate::error::KernelError;
use crate::tensor::Tensor;

/// Refuses the shape of a tensor.
pub(crate) fn shape(
    kernel: &'static str,
    expected: impl Into<String>,
    found: &Tensor,
) -> KernelError {
    KernelError::BadShape { kernel, expected: expected.into(), found: found.shape().into() }
}

/// Refuses the value of a parameter.
pub(crate) fn parameter(
    kernel: &'static str,
    parameter: &'static str,
    expected: &'static str,
    found: impl Debug,
) -> KernelError {
    KernelError::BadParameter { kernel, parameter, expected, found: format!("{found:?}") }
}

/// Refuses an element type.
pub(crate) fn dtype(kernel: &'static str, expected: &'static str, found: DType) -> KernelError {
    KernelError::BadDType { kernel, expected, found }
}
