//! What the definition of an operation leaves open or forbids, where its kernel gives something all
//! the same: such a program says nothing of a rule.

use tangram_dialects::attrs::Attrs;
use tangram_dialects::constant;
use tangram_dialects::eval::evaluate;
use tangram_ir::{Module, Op, Value};
use tangram_tensor::elementwise::cast;
use tangram_tensor::shape::transpose;
use tangram_tensor::{DType, Tensor, within};

use super::real::MAX_BYTES;
use super::trace::type_of;
use super::values;

/// Whether a program has an operation of which the standard leaves something open.
pub(super) fn may_be_undefined(module: &Module) -> bool {
    const OPEN: &[&str] =
        &["cast", "cast_like", "quantize", "dequantize", "left_shift", "right_shift", "det"];
    module.ops(module.body()).any(|op| {
        let name = module.name_text(op).trim_start_matches("nn.");
        (OPEN.contains(&name) || name.contains("pool")) && !constant::is_constant(module, op)
    })
}

/// Whether the standard leaves open what an operation gives on these operands.
pub(super) fn is_undefined(
    module: &Module,
    op: Op,
    operands: &[Option<Tensor>],
    results: &[Tensor],
) -> bool {
    let Some(Some(x)) = operands.first() else { return false };
    match module.name_text(op).trim_start_matches("nn.") {
        "cast" | "cast_like" if x.dtype().is_float() => {
            let to = type_of(module, module.result(op, 0));
            let Some((least, greatest)) = to.and_then(values::limits) else { return false };
            // Both bounds are numbers of `f64`, which the greatest of 64 bits is not.
            let holds = |x: &f64| x.trunc() >= least as f64 && x.trunc() < (greatest + 1) as f64;
            !x.f64s().is_ok_and(|list| list.iter().all(holds))
        }
        // Runtimes make narrow floats of integers by way of wider ones.
        "cast" | "cast_like" if x.dtype().is_int() => {
            let Some(to) = type_of(module, module.result(op, 0)) else { return false };
            let narrow = to.is_float() && values::mantissa(to) < values::mantissa(DType::F32);
            narrow && results.first().is_some_and(|found| rounded_twice(x, found))
        }
        // A scale is a positive number, and what it stands for a number of the type.
        "quantize" | "dequantize" => {
            let positive = |t: &Tensor| {
                let least = 2f64.powi(values::exponents(t.dtype()).1 as i32);
                t.f64s().is_ok_and(|list| list.iter().all(|s| *s >= least && s.is_finite()))
            };
            let finite = |t: &Tensor| t.f64s().is_ok_and(|l| l.iter().all(|x| x.is_finite()));
            let scale = operands.get(1).and_then(Option::as_ref);
            // What is too great becomes the greatest number of the type, and so do infinities.
            let number = x.f64s().is_ok_and(|list| list.iter().all(|x| !x.is_nan()));
            !scale.is_some_and(positive) || !number || !results.iter().all(finite)
        }
        // The standard has bounds of the type of what is clipped.
        "clip" if x.dtype().is_int() => {
            let attrs = Attrs::new(module.context(), module.attrs(op));
            let (least, greatest) = values::limits(x.dtype()).unwrap_or_default();
            let held = |b: f64| b.fract() == 0.0 && b >= least as f64 && b <= greatest as f64;
            ["a_min", "a_max"].iter().filter_map(|name| attrs.float(name)).any(|b| !held(b))
        }
        // By as many bits as the type has, or more.
        "left_shift" | "right_shift" => operands.get(1).is_some_and(|by| {
            let by = by.as_ref().and_then(values::whole).unwrap_or_default();
            let width = x.dtype().size_bits() as i128;
            by.iter().any(|n| !(0..width).contains(n))
        }),
        "det" => depends_on_elimination(module, op, x),
        // The mean of nothing.
        "mean" => x.is_empty() && results.iter().any(|result| !result.is_empty()),
        name if name.contains("pool") => has_empty_window(module, op, operands),
        _ => false,
    }
}

/// Whether a determinant is a number or none by the order in which rows are eliminated: an infinity
/// may meet a 0 or be divided by. No definition names an order.
fn depends_on_elimination(module: &Module, op: Op, x: &Tensor) -> bool {
    let Some(rank) = x.shape().len().checked_sub(2) else { return false };
    if x.f64s().is_ok_and(|numbers| numbers.iter().all(|x| x.is_finite())) {
        return false;
    }
    let kinds = |x: &Tensor| {
        let found = within(MAX_BYTES, || evaluate(module, op, &[Some(x.clone())])).ok()?;
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

/// Whether a window of a pool has padding only, or there is nothing that it could have: what it is
/// then follows from how a kernel starts, and runtimes refuse it. A window of zeros gives 0.
fn has_empty_window(module: &Module, op: Op, operands: &[Option<Tensor>]) -> bool {
    let zeros = operands.iter().map(|operand| match operand {
        Some(tensor) => values::zeros(tensor.dtype(), tensor.shape()).map(Some),
        None => Some(None),
    });
    let Some(zeros) = zeros.collect::<Option<Vec<Option<Tensor>>>>() else { return false };
    let Ok(found) = within(MAX_BYTES, || evaluate(module, op, &zeros)) else { return false };
    let is_zero = |t: &Tensor| t.f64s().is_ok_and(|list| list.iter().all(|x| *x == 0.0));
    found.first().is_some_and(|first| !is_zero(first))
}

/// Whether a value of a program has no elements. There an operation may say that it takes no such
/// operand, as attention without heads.
pub(super) fn has_empty_value(module: &Module) -> bool {
    let is_empty = |value: Value| {
        let shape = constant::static_tensor(module.context(), module.value_type(value));
        shape.is_some_and(|(_, shape)| shape.contains(&0))
    };
    let body = module.body();
    let results = module.ops(body).flat_map(|op| module.results(op));
    module.args(body).iter().copied().chain(results).any(is_empty)
}

/// Whether integers became other floats than the nearest ones.
fn rounded_twice(integers: &Tensor, found: &Tensor) -> bool {
    const EXACT: i128 = 1 << 24;
    let Some(integers) = values::whole(integers) else { return false };
    if integers.iter().all(|n| n.abs() <= EXACT) {
        return false;
    }
    let odd = integers.into_iter().map(to_odd).collect::<Vec<f64>>();
    let once = Tensor::from_vec(found.shape(), odd).and_then(|odd| cast(&odd, found.dtype()));
    let numbers = |t: &Tensor| t.f64s().ok();
    once.is_ok_and(|once| numbers(&once) != numbers(found))
}

/// An integer in `f64`, whose last bit is set where others are lost: rounded again, it is what
/// rounding once gives. (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums", 2008.)
pub(super) fn to_odd(n: i128) -> f64 {
    let near = n as f64;
    match near as i128 - n {
        0 => near,
        off => {
            let other = if off > 0 { near.next_down() } else { near.next_up() };
            if near.to_bits() & 1 == 1 { near } else { other }
        }
    }
}
