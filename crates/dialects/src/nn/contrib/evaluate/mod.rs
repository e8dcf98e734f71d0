//! Reference evaluation of onnxruntime's own operations, by the kernels of those that they fuse.

pub(super) mod attention;
mod cache;
pub(super) mod fused;
pub(super) mod lstm;
mod mask;
pub(super) mod nbits;
pub(super) mod quantised;

use tangram_tensor::elementwise::{add, cast, multiply};
use tangram_tensor::{DType, Tensor};

use crate::eval::{EvalCx, EvalError};

/// Refuses operands that change what the operation computes in a way that is not known here.
fn absent(cx: &EvalCx<'_>, operands: &[(usize, &'static str)]) -> Result<(), EvalError> {
    match operands.iter().find(|(i, _)| cx.get(*i).is_some()) {
        Some((_, name)) => Err(EvalError::Value(name, "not known to the evaluation".into())),
        None => Ok(()),
    }
}

/// The attribute `name`, which has to be a number of at least 1.
fn positive(cx: &EvalCx<'_>, name: &'static str) -> Result<usize, EvalError> {
    let n = cx.attrs().int(name).ok_or(EvalError::Attribute(name))?;
    let size = usize::try_from(n).ok().filter(|&n| n > 0);
    size.ok_or_else(|| EvalError::Value(name, n.to_string()))
}

/// The extents of a tensor of rank `N`.
fn extents<const N: usize>(name: &'static str, tensor: &Tensor) -> Result<[usize; N], EvalError> {
    tensor
        .shape()
        .try_into()
        .map_err(|_| EvalError::Value(name, format!("of shape {:?}", tensor.shape())))
}

/// `x` times a number, in its own type.
fn scaled(x: &Tensor, factor: f64) -> Result<Tensor, EvalError> {
    if factor == 1.0 {
        return Ok(x.clone());
    }
    Ok(multiply(x, &cast(&Tensor::scalar(factor), x.dtype())?)?)
}

/// `x` plus each operand of a list that is there; short floats are not rounded between.
fn plus(cx: &EvalCx<'_>, x: &Tensor, operands: &[usize]) -> Result<Tensor, EvalError> {
    let terms = operands.iter().filter_map(|&i| cx.get(i));
    terms.into_iter().try_fold(wide(x)?, |sum, term| Ok(add(&sum, &wide(term)?)?))
}

/// Floats of 16 bits as `f32`, everything else as it is.
fn wide(x: &Tensor) -> Result<Tensor, EvalError> {
    Ok(match x.dtype() {
        DType::F16 | DType::BF16 => cast(x, DType::F32)?,
        _ => x.clone(),
    })
}
