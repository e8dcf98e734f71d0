//! The loops: one function over one operand, or over two that broadcast.

use crate::element::{Element, Float, Number};
use crate::error::{KernelError, Result};
use crate::layout::{Nest, broadcast, broadcast_strides};
use crate::tensor::{Tensor, checked_count};

// Each operation on each type is compiled by itself, so what does not depend on the function stands
// outside of what takes it: the code of this crate is mostly these loops.

/// Applies a function to each element.
///
/// # Errors
/// [`KernelError::BadDType`] if the elements are not of type `A`; [`KernelError::TooLarge`].
pub fn map1<A: Element, R: Element>(tensor: &Tensor, f: impl Fn(A) -> R) -> Result<Tensor> {
    let from = tensor.view::<A>()?;
    filled::<R>(tensor.shape(), &mut |out| {
        for (to, &a) in out.iter_mut().zip(&*from) {
            *to = f(a);
        }
        Ok(())
    })
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
    filled::<R>(&shape, &mut |out| {
        let mut at = 0;
        pairs::<A, B>(&shape, left, right, &mut |a, b| {
            for ((to, &a), &b) in out[at..].iter_mut().zip(a).zip(b) {
                *to = f(a, b);
            }
            at += a.len();
        })
    })
}

/// A tensor of this shape whose elements `fill` has set.
fn filled<R: Element>(
    shape: &[usize],
    fill: &mut dyn FnMut(&mut [R]) -> Result<()>,
) -> Result<Tensor> {
    let mut out = vec![R::default(); checked_count(R::DTYPE, shape)?];
    fill(&mut out)?;
    Tensor::from_vec(shape, out)
}

/// How often a scalar is repeated at once to stand beside a run of the other operand.
const REPEATED: usize = 64;

/// Calls `visit` with runs of as many elements of one tensor as of the other, in the order in which
/// both broadcast to `shape`.
fn pairs<A: Element, B: Element>(
    shape: &[usize],
    left: &Tensor,
    right: &Tensor,
    visit: &mut dyn FnMut(&[A], &[B]),
) -> Result<()> {
    let (a, b) = (left.view::<A>()?, right.view::<B>()?);
    let strides = [left, right].map(|tensor| broadcast_strides(tensor.shape(), shape));
    let mut nest = Nest::new(shape, [&strides[0], &strides[1]]);
    let (run, steps) = nest.take_inner();
    if shape.contains(&0) {
        return Ok(());
    }
    for [i, j] in nest.offsets([0, 0]) {
        let (a, b) = (&a[i as usize..], &b[j as usize..]);
        match steps {
            [1, 0] => {
                let repeated = [b[0]; REPEATED];
                a[..run].chunks(REPEATED).for_each(|a| visit(a, &repeated[..a.len()]));
            }
            [0, 1] => {
                let repeated = [a[0]; REPEATED];
                b[..run].chunks(REPEATED).for_each(|b| visit(&repeated[..b.len()], b));
            }
            // A single pair has steps of 0.
            _ => visit(&a[..run], &b[..run]),
        }
    }
    Ok(())
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
