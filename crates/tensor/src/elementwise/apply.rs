//! The loops: one function over one operand, or over two that broadcast.

use crate::element::{Element, Float, Number};
use crate::error::{KernelError, Result};
use crate::layout::{Nest, broadcast, broadcast_strides};
use crate::tensor::{Tensor, checked_count};

/// Applies a function to each element.
///
/// # Errors
/// [`KernelError::BadDType`] if the elements are not of type `A`; [`KernelError::TooLarge`].
pub fn map1<A: Element, R: Element>(tensor: &Tensor, f: impl Fn(A) -> R) -> Result<Tensor> {
    checked_count(R::DTYPE, tensor.shape())?;
    let mapped = tensor.view::<A>()?.iter().map(|&a| f(a)).collect();
    Tensor::from_vec(tensor.shape(), mapped)
}

/// Applies a function to each pair of elements of two tensors that broadcast together.
///
/// # Errors
/// [`KernelError::BadDType`] if the elements are not of types `A` and `B`,
/// [`KernelError::Broadcast`], [`KernelError::TooLarge`].
pub fn map2<A: Element, B: Element, R: Element>(
    kernel: &'static str,
    left: &Tensor,
    right: &Tensor,
    f: impl Fn(A, B) -> R,
) -> Result<Tensor> {
    let shape = broadcast(kernel, left.shape(), right.shape())?;
    let len = checked_count(R::DTYPE, &shape)?;
    let (a, b) = (left.view::<A>()?, right.view::<B>()?);
    let strides = [left, right].map(|tensor| broadcast_strides(tensor.shape(), &shape));
    let mut nest = Nest::new(&shape, [&strides[0], &strides[1]]);
    let (run, steps) = nest.take_inner();
    let mut out = Vec::with_capacity(len);
    if len > 0 {
        nest.walk([0, 0], |[i, j]| {
            let (a, b) = (&a[i as usize..], &b[j as usize..]);
            match steps {
                [1, 0] => {
                    let b = b[0];
                    out.extend(a[..run].iter().map(|&a| f(a, b)));
                }
                [0, 1] => {
                    let a = a[0];
                    out.extend(b[..run].iter().map(|&b| f(a, b)));
                }
                // A single pair has steps of 0.
                _ => out.extend(a[..run].iter().zip(&b[..run]).map(|(&a, &b)| f(a, b))),
            }
        });
    }
    Tensor::from_vec(shape, out)
}

/// Applies a function to each float, in the type of arithmetic.
pub(super) fn map_float<T: Float>(
    tensor: &Tensor,
    f: impl Fn(T::Wide) -> T::Wide,
) -> Result<Tensor> {
    map1(tensor, |value: T| T::narrow(f(value.widen())))
}

/// Applies a function to each pair of numbers, in the type of arithmetic.
pub(super) fn map_numbers<T: Number>(
    kernel: &'static str,
    left: &Tensor,
    right: &Tensor,
    f: impl Fn(T::Wide, T::Wide) -> T::Wide,
) -> Result<Tensor> {
    map2(kernel, left, right, |a: T, b: T| T::narrow(f(a.widen(), b.widen())))
}

/// Checks that two operands have one element type.
pub(super) fn same_dtype(kernel: &'static str, left: &Tensor, right: &Tensor) -> Result<()> {
    if left.dtype() == right.dtype() {
        return Ok(());
    }
    Err(KernelError::MixedDTypes { kernel, left: left.dtype(), right: right.dtype() })
}
