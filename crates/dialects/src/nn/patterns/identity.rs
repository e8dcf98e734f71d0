//! `remove-identity`: operations that give an operand back.

use tangram_ir::{Context, Dim, Module, Op, Value};
use tangram_rewrite::{NoMatch, Rewriter};

use super::{Matched, Native, present, roots, same_type};
use crate::attrs::Attrs;

/// Says which operand the operation gives back, if any.
type Check = fn(&Module, Op) -> bool;

/// Operations whose first result may be their first operand, and when it is.
const TABLE: &[(&str, Check)] = &[
    ("nn.identity", |_, _| true),
    ("nn.dropout", |module, op| module.results(op).skip(1).all(|mask| !module.has_uses(mask))),
    ("nn.reshape", keeps_type),
    ("nn.batch_flatten", keeps_type),
    ("nn.flatten", keeps_type),
    ("nn.broadcast_to", keeps_type),
    ("nn.tile", keeps_type),
    ("nn.cast", keeps_element),
    ("nn.transpose", keeps_order),
    ("nn.strided_slice", takes_all),
    ("nn.pad", pads_nothing),
    ("nn.concatenate", is_single),
    ("nn.add_n", is_single),
    ("nn.mean_n", is_single),
    ("nn.max_n", is_single),
    ("nn.min_n", is_single),
    ("nn.split", |module, op| module.result_count(op) == 1 && keeps_type(module, op)),
    ("nn.sum", reduces_nothing),
    ("nn.mean", reduces_nothing),
    ("nn.max", reduces_nothing),
    ("nn.min", reduces_nothing),
    ("nn.prod", reduces_nothing),
    ("nn.clip", |module, op| {
        let bounded = ["a_min", "a_max"].iter().any(|name| module.attr(op, name).is_some());
        !bounded && present(module, op, 1).is_none() && present(module, op, 2).is_none()
    }),
];

pub(super) fn pattern(context: &Context) -> Native {
    let names = TABLE.iter().map(|row| row.0);
    Native::new("remove-identity", "cleanup", roots(context, names), 500, rewrite)
}

fn rewrite(rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    let module = rewriter.module();
    let name = module.name_text(op);
    let data = present(module, op, 0).ok_or(NoMatch::SILENT)?;
    let (_, check) = TABLE.iter().find(|row| row.0 == name).ok_or(NoMatch::SILENT)?;
    if !check(module, op) {
        return Err(NoMatch::SILENT);
    }
    let values: Vec<Value> = vec![data; module.result_count(op)];
    // A second result is unused here, so any value may stand for it.
    rewriter.replace(op, &values).map_err(|error| NoMatch::because(error.message))
}

fn attrs(module: &Module, op: Op) -> Attrs<'_> {
    Attrs::new(module.context(), module.attrs(op))
}

fn data_dims(module: &Module, op: Op) -> Option<&[Dim]> {
    let ty = module.value_type(module.operand(op, 0));
    module.context().as_tensor(ty).map(|(dims, _)| dims)
}

fn keeps_type(module: &Module, op: Op) -> bool {
    same_type(module, module.operand(op, 0), module.result(op, 0))
}

fn keeps_element(module: &Module, op: Op) -> bool {
    let element = |value| module.context().element_type(module.value_type(value));
    let before = element(module.operand(op, 0));
    before.is_some() && before == attrs(module, op).ty("dtype")
}

fn keeps_order(module: &Module, op: Op) -> bool {
    match attrs(module, op).ints("axes") {
        Some(axes) => {
            let rank = axes.len() as i64;
            (0..).zip(&axes).all(|(i, &axis)| axis == i || axis + rank == i)
        }
        None => data_dims(module, op).is_some_and(|dims| dims.len() <= 1),
    }
}

/// A slice of all elements: the extents stay, and no step goes backwards.
fn takes_all(module: &Module, op: Op) -> bool {
    let steps = attrs(module, op).ints("strides");
    let forwards = match &steps {
        Some(steps) => steps.iter().all(|&step| step > 0),
        None => present(module, op, 4).is_none(),
    };
    forwards && (keeps_type(module, op) || takes_open_ends(module, op))
}

/// `[0 : greatest number : 1]` takes all, whatever the extent.
fn takes_open_ends(module: &Module, op: Op) -> bool {
    let list = |name| attrs(module, op).ints(name);
    let (Some(begin), Some(end)) = (list("begin"), list("end")) else { return false };
    let steps = list("strides").unwrap_or_default();
    begin.iter().all(|&n| n == 0)
        && end.iter().all(|&n| n >= i64::from(i32::MAX))
        && steps.iter().all(|&n| n == 1)
}

fn pads_nothing(module: &Module, op: Op) -> bool {
    attrs(module, op).ints("pad_width").is_some_and(|widths| widths.iter().all(|&n| n == 0))
}

fn is_single(module: &Module, op: Op) -> bool {
    module.operand_count(op) == 1
}

/// A reduction over no dimension, or over dimensions of extent 1 that stay.
fn reduces_nothing(module: &Module, op: Op) -> bool {
    if present(module, op, 1).is_some() {
        return false;
    }
    let attrs = attrs(module, op);
    let axes = attrs.ints("axis").unwrap_or_default();
    if axes.is_empty() && attrs.flag("noop_with_empty_axes") {
        return true;
    }
    let Some(dims) = data_dims(module, op) else { return false };
    let one = |axis: i64| {
        let axis = if axis < 0 { axis + dims.len() as i64 } else { axis };
        usize::try_from(axis).ok().and_then(|axis| dims.get(axis)) == Some(&Dim::fixed(1))
    };
    let ones = match axes.is_empty() {
        true => (0..dims.len() as i64).all(one),
        false => axes.into_iter().all(one),
    };
    ones && (dims.is_empty() || attrs.bool("keepdims").unwrap_or(true))
}
