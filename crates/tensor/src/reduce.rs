//! Reductions over axes.
//!
//! Sums of floats run in `f64` and round once at the end, so the result is within half a unit of
//! the last place of the exact one for anything but extreme cancellation; runtimes that sum in
//! `f32` differ from it by their own error. Integers wrap in their own type; roots and logarithms of
//! their sums become integers as a cast makes them.

use smallvec::SmallVec;

use crate::dispatch;
use crate::dtype::DType;
use crate::element::{Element, Float, Int, Number};
use crate::elementwise::{int_of, map1};
use crate::error::{KernelError, Result};
use crate::layout::resolve_axes;
use crate::shape::transpose;
use crate::tensor::{Shape, Tensor, checked_count};

/// What becomes of the elements that are reduced to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduce {
    /// Their sum.
    Sum,
    /// Their sum divided by their number.
    Mean,
    /// The greatest; NaN if one is.
    Max,
    /// The smallest; NaN if one is.
    Min,
    /// Their product.
    Prod,
    /// The sum of the absolute values.
    L1,
    /// The square root of the sum of squares.
    L2,
    /// The logarithm of the sum.
    LogSum,
    /// The logarithm of the sum of the exponentials, without overflow.
    LogSumExp,
    /// The sum of squares.
    SumSquare,
}

/// Reduces the elements along `axes`, or along all of them if there are none.
///
/// With `keepdims` the axes stay, with size 1. With `noop_with_empty_axes`, no axes means none:
/// each element is reduced alone. Of nothing, sums are 0, products 1, extremes infinite (or the
/// limits of the integer type), means NaN. Booleans know `Max` and `Min`.
///
/// # Errors
/// [`KernelError::BadAxis`]; [`KernelError::BadParameter`] on a repeated axis;
/// [`KernelError::BadDType`] for no numbers; [`KernelError::DivisionByZero`] for the mean of no
/// integers.
pub fn reduce(
    kind: Reduce,
    tensor: &Tensor,
    axes: &[i64],
    keepdims: bool,
    noop_with_empty_axes: bool,
) -> Result<Tensor> {
    let rank = tensor.rank();
    let mut reduced = resolve_axes("reduce", axes, rank)?;
    if reduced.is_empty() && !noop_with_empty_axes {
        reduced = (0..rank).collect();
    }
    let (ordered, extents) = arrange(tensor, &reduced)?;
    let mut shape = Shape::new();
    for (axis, &size) in tensor.shape().iter().enumerate() {
        match reduced.contains(&axis) {
            false => shape.push(size),
            true if keepdims => shape.push(1),
            true => {}
        }
    }
    let result = match tensor.dtype() {
        DType::Bool if matches!(kind, Reduce::Max | Reduce::Min) => {
            let bytes = map1(&ordered, |b: bool| u8::from(b))?;
            map1(&extremes_of_bool(kind, &bytes, extents)?, |byte: u8| byte != 0)?
        }
        dtype if dtype.is_float() => {
            dispatch!(float, "reduce", dtype, T => reduce_floats::<T>(kind, &ordered, extents)?)
        }
        dtype => dispatch!(int, "reduce", dtype, T => reduce_ints::<T>(kind, &ordered, extents)?),
    };
    result.reshaped(&shape)
}

/// Elements before, along and after the reduced axes.
#[derive(Clone, Copy)]
struct Extents {
    outer: usize,
    size: usize,
    inner: usize,
}

/// Brings the reduced axes side by side; they stay in place if they are already.
fn arrange(tensor: &Tensor, reduced: &[usize]) -> Result<(Tensor, Extents)> {
    let shape = tensor.shape();
    let is_reduced = |axis: &usize| reduced.contains(axis);
    let product = |axes: &[usize]| axes.iter().map(|&axis| shape[axis]).product::<usize>();
    let long: SmallVec<[usize; 6]> = (0..shape.len()).filter(|&axis| shape[axis] != 1).collect();
    let first = long.iter().position(is_reduced).unwrap_or(long.len());
    let last = long.iter().rposition(is_reduced).map_or(first, |last| last + 1);
    if long[first..last].iter().all(is_reduced) {
        let (outer, size, inner) =
            (product(&long[..first]), product(&long[first..last]), product(&long[last..]));
        return Ok((tensor.clone(), Extents { outer, size, inner }));
    }
    let (back, front): (Vec<usize>, Vec<usize>) = (0..shape.len()).partition(is_reduced);
    let extents = Extents { outer: product(&front), size: product(&back), inner: 1 };
    let perm: Vec<i64> = front.into_iter().chain(back).map(|axis| axis as i64).collect();
    Ok((transpose(tensor, Some(&perm))?, extents))
}

fn extremes_of_bool(kind: Reduce, bytes: &Tensor, extents: Extents) -> Result<Tensor> {
    // Of nothing: no element is true for the maximum, and none is false for the minimum.
    reduce_ints::<u8>(kind, bytes, extents)
}

fn reduce_floats<T: Float>(kind: Reduce, tensor: &Tensor, extents: Extents) -> Result<Tensor> {
    let sum = |lift: fn(f64) -> f64, finish: &dyn Fn(f64) -> f64| {
        let lift = |x: T| lift(x.to_f64());
        fold(tensor, extents, 0.0, lift, |a, b| a + b, |a| T::from_f64(finish(a)))
    };
    match kind {
        Reduce::Sum => sum(|x| x, &|a| a),
        Reduce::Mean => sum(|x| x, &|a| a / extents.size as f64),
        Reduce::L1 => sum(f64::abs, &|a| a),
        Reduce::L2 => sum(|x| x * x, &f64::sqrt),
        Reduce::LogSum => sum(|x| x, &f64::ln),
        Reduce::SumSquare => sum(|x| x * x, &|a| a),
        Reduce::Prod => {
            fold(tensor, extents, 1.0, T::to_f64, |a: f64, b| a * b, |a| T::from_f64(a))
        }
        Reduce::Max => fold(tensor, extents, T::LOWEST, |x: T| x, T::larger, |a| a),
        Reduce::Min => fold(tensor, extents, T::HIGHEST, |x: T| x, T::smaller, |a| a),
        Reduce::LogSumExp => log_sum_exp(tensor, extents, T::from_f64),
    }
}

fn reduce_ints<T: Int>(kind: Reduce, tensor: &Tensor, extents: Extents) -> Result<Tensor> {
    let (zero, one) = (T::zero(), T::one());
    let sum = |lift: fn(T) -> T| fold(tensor, extents, zero, lift, T::plus, |a| a);
    match kind {
        Reduce::Sum => sum(|x| x),
        Reduce::L1 => sum(|x| if x < T::zero() { T::zero().minus(x) } else { x }),
        Reduce::SumSquare => sum(|x| x.times(x)),
        Reduce::Prod => fold(tensor, extents, one, |x: T| x, T::times, |a| a),
        Reduce::Max => fold(tensor, extents, T::LOWEST, |x: T| x, T::larger, |a| a),
        Reduce::Min => fold(tensor, extents, T::HIGHEST, |x: T| x, T::smaller, |a| a),
        Reduce::Mean if extents.size == 0 && extents.outer * extents.inner > 0 => {
            Err(KernelError::DivisionByZero { kernel: "reduce" })
        }
        Reduce::Mean => {
            let count = (extents.size as i128).max(1);
            let exact = |x: T| x.to_i128().unwrap_or(0);
            let finish = |a: i128| num_traits::cast(a / count).unwrap_or(zero);
            fold(tensor, extents, 0i128, exact, |a, b| a + b, finish)
        }
        Reduce::L2 => {
            let square = |x: T| Number::to_f64(x) * Number::to_f64(x);
            fold(tensor, extents, 0.0, square, |a, b| a + b, |a: f64| int_of::<T>(a.sqrt()))
        }
        Reduce::LogSum => fold(
            tensor,
            extents,
            0.0,
            <T as Number>::to_f64,
            |a, b| a + b,
            |a: f64| int_of::<T>(a.ln()),
        ),
        Reduce::LogSumExp => log_sum_exp(tensor, extents, int_of::<T>),
    }
}

/// Keeps the greatest element so far, and the sum of the exponentials relative to it.
fn log_sum_exp<T: Number>(
    tensor: &Tensor,
    extents: Extents,
    round: fn(f64) -> T,
) -> Result<Tensor> {
    let join = |(m, s): (f64, f64), (n, t): (f64, f64)| {
        if m == n {
            return (m, s + t);
        }
        let greatest = m.larger(n);
        // Infinity less itself is no number.
        let scaled = |m: f64, s: f64| if m == greatest { s } else { s * (m - greatest).exp() };
        (greatest, scaled(m, s) + scaled(n, t))
    };
    let nothing = (f64::NEG_INFINITY, 0.0);
    let finish = |(m, s): (f64, f64)| round(m + s.ln());
    fold(tensor, extents, nothing, |x: T| (x.to_f64(), 1.0), join, finish)
}

/// Folds along the middle extent. `join` is associative but for rounding, with `nothing` neutral.
fn fold<T: Element, A: Copy, R: Element>(
    tensor: &Tensor,
    extents: Extents,
    nothing: A,
    lift: impl Fn(T) -> A,
    join: impl Fn(A, A) -> A,
    finish: impl Fn(A) -> R,
) -> Result<Tensor> {
    let Extents { outer, size, inner } = extents;
    let data = tensor.view::<T>()?;
    let mut out = vec![R::default(); checked_count(R::DTYPE, &[outer, inner])?];
    // Without results, an extent may be any number.
    let mut columns = vec![nothing; if out.is_empty() { 0 } else { inner }];
    let blocks = (0..outer).map(|row| &data[row * size * inner..][..size * inner]);
    for (block, out) in blocks.zip(out.chunks_exact_mut(inner.max(1))) {
        if let [out] = out {
            *out = finish(fold_run(block, nothing, &lift, &join));
            continue;
        }
        columns.fill(nothing);
        for line in block.chunks_exact(inner) {
            for (column, &x) in columns.iter_mut().zip(line) {
                *column = join(*column, lift(x));
            }
        }
        for (to, &column) in out.iter_mut().zip(&columns) {
            *to = finish(column);
        }
    }
    Tensor::from_vec([outer, inner], out)
}

/// Folds in eight lanes, so that one addition need not wait for another.
fn fold_run<T: Copy, A: Copy>(
    run: &[T],
    nothing: A,
    lift: impl Fn(T) -> A,
    join: impl Fn(A, A) -> A,
) -> A {
    let mut lanes = [nothing; 8];
    let chunks = run.chunks_exact(8);
    let rest = chunks.remainder();
    for chunk in chunks {
        for lane in 0..8 {
            lanes[lane] = join(lanes[lane], lift(chunk[lane]));
        }
    }
    let mut folded = nothing;
    for &x in rest {
        folded = join(folded, lift(x));
    }
    for lane in lanes {
        folded = join(folded, lane);
    }
    folded
}
