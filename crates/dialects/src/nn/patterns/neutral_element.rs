//! `remove-neutral-element`: `x + 0`, `x * 1` and their like are `x`.
//!
//! The other operand must not enlarge the result. `-0.0 + 0.0` is `0.0`: the sign of a zero may
//! change, as in every peer, unless the result has to be exact.

use tangram_affine::symbolic::Truth;
use tangram_ir::{Context, Dim, Module, Op, Value};
use tangram_rewrite::{NoMatch, Rewriter};
use tangram_tensor::Tensor;

use super::{Matched, Native, replace, roots, same_type};
use crate::{constant, dims};

/// Operation, its neutral element, and whether it may stand on the left as well.
const TABLE: &[(&str, f64, bool)] = &[
    ("nn.add", 0.0, true),
    ("nn.subtract", 0.0, false),
    ("nn.multiply", 1.0, true),
    ("nn.divide", 1.0, false),
    ("nn.power", 1.0, false),
    ("nn.logical_or", 0.0, true),
    ("nn.logical_xor", 0.0, true),
    ("nn.logical_and", 1.0, true),
    ("nn.bitwise_or", 0.0, true),
    ("nn.bitwise_xor", 0.0, true),
    ("nn.left_shift", 0.0, false),
    ("nn.right_shift", 0.0, false),
];

pub(super) fn pattern(context: &Context, exact: bool) -> Native {
    let names = TABLE.iter().map(|row| row.0);
    let roots = roots(context, names);
    Native::new("remove-neutral-element", "cleanup", roots, 400, move |rewriter, op| {
        rewrite(rewriter, op, exact)
    })
}

fn rewrite(rewriter: &mut Rewriter<'_>, op: Op, exact: bool) -> Matched {
    let module = rewriter.module();
    let name = module.name_text(op);
    let &(_, neutral, both) = TABLE.iter().find(|row| row.0 == name).ok_or(NoMatch::SILENT)?;
    let [lhs, rhs] = module.operands(op).collect::<Vec<_>>()[..] else {
        return Err(NoMatch::SILENT);
    };
    let fits = |x, other| {
        is_everywhere(module, other, neutral)
            && keeps_shape(module, op, x, other)
            && !(exact && changes_sign_of_zero(module, name, other))
    };
    if fits(lhs, rhs) {
        replace(rewriter, op, lhs)
    } else if both && fits(rhs, lhs) {
        replace(rewriter, op, rhs)
    } else {
        Err(NoMatch::SILENT)
    }
}

/// Returns whether `x + zero` or `x - zero` is a zero of the other sign for some zero `x`: adding
/// `-0.0` and taking away `0.0` change nothing.
fn changes_sign_of_zero(module: &Module, name: &str, zero: Value) -> bool {
    let harmless = match name {
        "nn.add" => true,
        "nn.subtract" => false,
        _ => return false,
    };
    let tensor = constant::constant_tensor(module, zero).filter(|t| t.dtype().is_float());
    let first = tensor.and_then(|tensor| tensor.f64s().ok()?.first().copied());
    first.is_some_and(|first| first.is_sign_negative() != harmless)
}

/// Returns whether `value` is a constant whose elements are all `number`.
pub(super) fn is_everywhere(module: &Module, value: Value, number: f64) -> bool {
    constant::constant_tensor(module, value).is_some_and(|tensor| is_splat_of(&tensor, number))
}

/// Returns whether there are elements, and all are `number`.
pub(super) fn is_splat_of(tensor: &Tensor, number: f64) -> bool {
    if tensor.is_empty() || !tensor.is_splat() {
        return false;
    }
    let first = match (tensor.view::<bool>(), tensor.i64s(), tensor.f64s()) {
        (Ok(flags), ..) => flags.first().map(|&flag| f64::from(u8::from(flag))),
        (_, Ok(ints), _) => ints.first().map(|&n| n as f64),
        (.., Ok(floats)) => floats.first().copied(),
        _ => None,
    };
    first == Some(number)
}

/// Returns whether the result has the type of `x`: provably, or because each extent of `other` is 1 or
/// that of `x` at the same place, counted from the last.
fn keeps_shape(module: &Module, op: Op, x: Value, other: Value) -> bool {
    let context = module.context();
    let result = module.result(op, 0);
    if same_type(module, x, result) {
        return true;
    }
    let (Some((x, element)), Some((other, _))) =
        (context.as_tensor(module.value_type(x)), context.as_tensor(module.value_type(other)))
    else {
        return false;
    };
    let fits = |(other, x): (&Dim, &Dim)| {
        other.as_static() == Some(1) || dims::equal(context, *other, *x) == Truth::True
    };
    context.element_type(module.value_type(result)) == Some(element)
        && other.len() <= x.len()
        && other.iter().rev().zip(x.iter().rev()).all(fits)
}
