//! Choosing between operands: `Where` and `Clip`.

use crate::cells::{Cell, cells, from_cells, moving, with_cells};
use crate::dispatch;
use crate::element::Number;
use crate::elementwise::apply::{map1, same_dtype};
use crate::error::{KernelError, Result};
use crate::layout::{Nest, broadcast, broadcast_strides};
use crate::tensor::{Shape, Tensor, checked_count};

/// Takes elements of `yes` where the condition holds and of `no` elsewhere; all three broadcast:
/// ONNX `Where`.
///
/// # Errors
/// [`KernelError::BadDType`] if the condition is not boolean, [`KernelError::MixedDTypes`],
/// [`KernelError::Broadcast`], [`KernelError::TooLarge`].
pub fn select(condition: &Tensor, yes: &Tensor, no: &Tensor) -> Result<Tensor> {
    let flags = condition.view::<bool>()?;
    let shape = broadcast("select", yes.shape(), no.shape())?;
    let shape = broadcast("select", condition.shape(), &shape)?;
    moving("select", &[yes, no], |operands| {
        let dtype = operands[0].dtype();
        let len = checked_count(dtype, &shape)?;
        let shapes = [condition.shape(), yes.shape(), no.shape()];
        with_cells!("select", dtype, C => {
            let (yes, no) = (cells::<C>(&operands[0]), cells::<C>(&operands[1]));
            from_cells(dtype, &shape, choose(&flags, yes, no, shapes, &shape, len))
        })
    })
}

fn choose<C: Cell>(
    flags: &[bool],
    yes: &[C],
    no: &[C],
    shapes: [&[usize]; 3],
    shape: &Shape,
    len: usize,
) -> Vec<C> {
    let mut out = Vec::with_capacity(len);
    if len == 0 {
        return out;
    }
    let strides = shapes.map(|own| broadcast_strides(own, shape));
    let mut nest = Nest::new(shape, [&strides[0], &strides[1], &strides[2]]);
    let (run, steps) = nest.take_inner();
    nest.walk([0, 0, 0], |[f, y, n]| {
        let (flags, yes, no) = (&flags[f as usize..], &yes[y as usize..], &no[n as usize..]);
        match steps {
            [1, 1, 1] => {
                let pairs = yes[..run].iter().zip(&no[..run]);
                out.extend(flags.iter().zip(pairs).map(|(&f, (&y, &n))| if f { y } else { n }));
            }
            [1, 0, 1] => {
                let yes = yes[0];
                let pairs = flags.iter().zip(&no[..run]);
                out.extend(pairs.map(|(&f, &n)| if f { yes } else { n }));
            }
            [1, 1, 0] => {
                let no = no[0];
                let pairs = flags.iter().zip(&yes[..run]);
                out.extend(pairs.map(|(&f, &y)| if f { y } else { no }));
            }
            [f, y, n] => out.extend((0..run).map(|i| {
                let at = |step: isize| i * step as usize;
                if flags[at(f)] { yes[at(y)] } else { no[at(n)] }
            })),
        }
    });
    out
}

/// Limits elements to at least `low` and at most `high`, each a scalar; NaN stays.
///
/// `high` is applied last: where the limits cross, it wins.
///
/// # Errors
/// [`KernelError::MixedDTypes`], [`KernelError::BadDType`] for no numbers;
/// [`KernelError::BadShape`] if a limit has not one element.
pub fn clip(tensor: &Tensor, low: Option<&Tensor>, high: Option<&Tensor>) -> Result<Tensor> {
    for limit in low.into_iter().chain(high) {
        same_dtype("clip", tensor, limit)?;
        if limit.len() != 1 {
            return Err(KernelError::BadShape {
                kernel: "clip",
                expected: "a scalar limit".to_owned(),
                found: limit.shape().into(),
            });
        }
    }
    dispatch!(number, "clip", tensor.dtype(), T => {
        let limit = |limit: Option<&Tensor>, open: T| -> Result<T> {
            limit.map_or(Ok(open), |limit| Ok(limit.view::<T>()?[0]))
        };
        let (low, high) = (limit(low, T::LOWEST)?, limit(high, T::HIGHEST)?);
        map1(tensor, |x: T| {
            let x = if x < low { low } else { x };
            if x > high { high } else { x }
        })
    })
}
