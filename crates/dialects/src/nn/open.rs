//! What the definition of an operation leaves open or forbids, where its kernel gives something all
//! the same: such a program says nothing of what another one should give.

use tangram_ir::{Module, Op, Type};
use tangram_tensor::elementwise::cast;
use tangram_tensor::shape::transpose;
use tangram_tensor::{DType, Tensor};

use super::entry;
use super::numbers::{exponents, limits, mantissa, to_odd, whole, zeros};
use crate::constant;
use crate::eval::{EvalCx, Evaluated};

/// Returns whether a program has an operation of which the standard leaves something open.
pub fn may_be_open(module: &Module) -> bool {
    let is_open = |op| entry(module.name_text(op)).is_some_and(|entry| entry.open.is_some());
    module.ops(module.body()).any(|op| is_open(op) && !constant::is_constant(module, op))
}

/// Returns whether the standard leaves open what `op` gives on these operands, or forbids them, where
/// its kernel gives `results`.
pub fn is_open(module: &Module, op: Op, operands: &[Option<Tensor>], results: &[Tensor]) -> bool {
    let Some(entry) = entry(module.name_text(op)) else { return false };
    if entry.open.is_none() && entry.forbidden.is_none() {
        return false;
    }
    let types: Vec<Type> = module.results(op).map(|v| module.value_type(v)).collect();
    let (context, dict) = (module.context(), module.attrs(op));
    let cx = EvalCx { module, context, def: &entry.def, dict, operands, results: &types };
    [entry.open, entry.forbidden].into_iter().flatten().any(|open| open(&cx, results))
}

/// A conversion to a type that has no such number, or in more than one step.
pub(super) fn conversion(cx: &EvalCx<'_>, results: &[Tensor]) -> bool {
    let (Some(x), Some(to)) = (cx.get(0), cx.dtype(0)) else { return false };
    if x.dtype().is_float() {
        let Some((least, greatest)) = limits(to) else { return false };
        // Both bounds are numbers of `f64`, which the greatest of 64 bits is not.
        let holds = |x: &f64| x.trunc() >= least as f64 && x.trunc() < (greatest + 1) as f64;
        return !x.f64s().is_ok_and(|list| list.iter().all(holds));
    }
    // Runtimes make narrow floats of integers by way of wider ones.
    let narrow = to.is_float() && mantissa(to) < mantissa(DType::F32);
    x.dtype().is_int() && narrow && results.first().is_some_and(|found| rounded_twice(x, found))
}

/// Returns whether integers became other floats than the nearest ones.
fn rounded_twice(integers: &Tensor, found: &Tensor) -> bool {
    const EXACT: i128 = 1 << 24;
    let Some(integers) = whole(integers) else { return false };
    if integers.iter().all(|n| n.abs() <= EXACT) {
        return false;
    }
    let odd = integers.into_iter().map(to_odd).collect::<Vec<f64>>();
    let once = Tensor::from_vec(found.shape(), odd).and_then(|odd| cast(&odd, found.dtype()));
    let numbers = |t: &Tensor| t.f64s().ok();
    once.is_ok_and(|once| numbers(&once) != numbers(found))
}

/// Quantised numbers: a scale is a positive number, and what they stand for is a number of the type.
pub(super) fn scaled(cx: &EvalCx<'_>, results: &[Tensor]) -> bool {
    let Some(x) = cx.get(0) else { return false };
    let positive = |t: &Tensor| {
        let least = 2f64.powi(exponents(t.dtype()).1 as i32);
        t.f64s().is_ok_and(|list| list.iter().all(|s| *s >= least && s.is_finite()))
    };
    let finite = |t: &Tensor| t.f64s().is_ok_and(|list| list.iter().all(|x| x.is_finite()));
    // What is too great becomes the greatest number of the type, and so do infinities.
    let number = x.f64s().is_ok_and(|list| list.iter().all(|x| !x.is_nan()));
    !cx.get(1).is_some_and(positive) || !number || !results.iter().all(finite)
}

/// The standard has bounds of the type of what is clipped.
pub(super) fn clipped(cx: &EvalCx<'_>, _: &[Tensor]) -> bool {
    let Some(x) = cx.get(0).filter(|x| x.dtype().is_int()) else { return false };
    let (least, greatest) = limits(x.dtype()).unwrap_or_default();
    let held = |b: f64| b.fract() == 0.0 && b >= least as f64 && b <= greatest as f64;
    ["a_min", "a_max"].iter().filter_map(|name| cx.attrs().float(name)).any(|b| !held(b))
}

/// Shifts by as many bits as the type has, or more.
pub(super) fn shifted(cx: &EvalCx<'_>, _: &[Tensor]) -> bool {
    let (Some(x), Some(by)) = (cx.get(0), cx.get(1)) else { return false };
    let width = x.dtype().size_bits() as i128;
    whole(by).unwrap_or_default().iter().any(|n| !(0..width).contains(n))
}

/// The mean of nothing.
pub(super) fn mean(cx: &EvalCx<'_>, results: &[Tensor]) -> bool {
    cx.get(0).is_some_and(Tensor::is_empty) && results.iter().any(|result| !result.is_empty())
}

/// Returns whether a determinant is a number or none by the order in which rows are eliminated: an
/// infinity may meet a 0 or be divided by. No definition names an order.
pub(super) fn elimination(cx: &EvalCx<'_>, _: &[Tensor]) -> bool {
    let Some(x) = cx.get(0) else { return false };
    let Some(rank) = x.shape().len().checked_sub(2) else { return false };
    if x.f64s().is_ok_and(|numbers| numbers.iter().all(|x| x.is_finite())) {
        return false;
    }
    let kinds = |x: &Tensor| {
        let found = again(cx, &[Some(x.clone())])?.ok()?;
        let numbers = found.first()?.f64s().ok()?;
        Some(numbers.iter().map(|x| (x.is_nan(), x.is_finite())).collect::<Vec<_>>())
    };
    let mut axes: Vec<i64> = (0..x.shape().len() as i64).collect();
    axes.swap(rank, rank + 1);
    let Ok(across) = transpose(x, Some(&axes)) else { return false };
    let Some(found) = kinds(x) else { return false };
    let in_order = kinds(&across).is_none_or(|kinds| kinds == found);
    // From the last element to the first: rows and columns, and matrices.
    let from_last = [x, &across].into_iter().filter_map(backwards).filter_map(|x| kinds(&x));
    !in_order || from_last.into_iter().any(|kinds| !kinds.iter().rev().eq(&found))
}

/// The elements from the last to the first.
fn backwards(x: &Tensor) -> Option<Tensor> {
    let numbers: Vec<f64> = x.f64s().ok()?.into_iter().rev().collect();
    cast(&Tensor::from_vec(x.shape(), numbers).ok()?, x.dtype()).ok()
}

/// Returns whether a window of a pool has padding only, or there is nothing that it could have: what
/// it is then follows from how a kernel starts, and runtimes refuse it. A window of zeros gives 0.
pub(super) fn empty_window(cx: &EvalCx<'_>, _: &[Tensor]) -> bool {
    let operands = cx.operands.iter().map(|operand| match operand {
        Some(tensor) => zeros(tensor.dtype(), tensor.shape()).map(Some),
        None => Some(None),
    });
    let Some(operands) = operands.collect::<Option<Vec<Option<Tensor>>>>() else { return false };
    let Some(Ok(found)) = again(cx, &operands) else { return false };
    let is_zero = |t: &Tensor| t.f64s().is_ok_and(|list| list.iter().all(|x| *x == 0.0));
    found.first().is_some_and(|first| !is_zero(first))
}

/// What the operation gives on other operands of these types.
fn again(cx: &EvalCx<'_>, operands: &[Option<Tensor>]) -> Option<Evaluated> {
    let eval = entry(cx.def.name)?.eval?;
    Some(eval(&EvalCx { operands, ..*cx }))
}
