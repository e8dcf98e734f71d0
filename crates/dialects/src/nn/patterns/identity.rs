//! `remove-identity`: operations that give an operand back.

use tangram_ir::{Context, Dim, Module, Op, Value};
use tangram_rewrite::{NoMatch, Rewriter};

use super::{Matched, Native, present, roots, same_type};
use crate::attrs::Attrs;
use crate::dtype::dtype_of;

/// Says which operand the operation gives back, if any.
type Check = fn(&Module, Op) -> bool;

/// Operations whose first result may be their first operand, and when it is.
const TABLE: &[(&str, Check)] = &[
    ("nn.identity", |_, _| true),
    ("nn.dropout", |module, op| module.results(op).skip(1).all(|mask| !module.has_uses(mask))),
    ("nn.reshape", |module, op| keeps_type(module, op) || writes_own_shape(module, op)),
    ("nn.batch_flatten", |module, op| keeps_type(module, op) || is_matrix(module, op)),
    ("nn.flatten", |module, op| {
        keeps_type(module, op) || is_matrix(module, op) && attrs(module, op).int("axis") == Some(1)
    }),
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
    // Without bounds, floating-point numbers are still clipped to those that are finite.
    ("nn.clip", |module, op| {
        let ty = module.context().element_type(module.value_type(module.result(op, 0)));
        let whole = ty.and_then(|ty| dtype_of(module.context(), ty)).is_some_and(|d| !d.is_float());
        let bounded = ["a_min", "a_max"].iter().any(|name| module.attr(op, name).is_some());
        whole && !bounded && present(module, op, 1).is_none() && present(module, op, 2).is_none()
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

/// A reshape to the extents that are there, all but one of them written as numbers: the open one
/// is what is left, whatever it is.
fn writes_own_shape(module: &Module, op: Op) -> bool {
    let attrs = attrs(module, op);
    let (Some(dims), Some(shape)) = (data_dims(module, op), attrs.ints("newshape")) else {
        return false;
    };
    let copies = !attrs.flag("allowzero");
    let same = |(dim, &n): (&Dim, &i64)| match dim.as_static() {
        Some(extent) => n == extent && n > 0 || n == 0 && copies,
        None => n == 0 && copies,
    };
    let others = dims.iter().zip(&shape).filter(|&pair| !same(pair));
    let open: Vec<i64> = others.map(|(_, &n)| n).collect();
    // Beside an extent of 0, -1 says nothing.
    let clear = || dims.iter().all(|dim| dim.as_static() != Some(0));
    present(module, op, 1).is_none()
        && dims.len() == shape.len()
        && (open.is_empty() || open == [-1] && clear())
}

fn is_matrix(module: &Module, op: Op) -> bool {
    data_dims(module, op).is_some_and(|dims| dims.len() == 2)
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
    let Some(axes) = unit_axes(module, op) else { return false };
    axes.is_empty() || attrs(module, op).bool("keepdims").unwrap_or(true)
}

/// The dimensions that a reduction is over, if the extent of each is 1.
pub(super) fn unit_axes(module: &Module, op: Op) -> Option<Vec<i64>> {
    if present(module, op, 1).is_some() {
        return None;
    }
    let attrs = attrs(module, op);
    let mut axes = attrs.ints("axis").unwrap_or_default();
    if axes.is_empty() && attrs.flag("noop_with_empty_axes") {
        return Some(axes);
    }
    let dims = data_dims(module, op)?;
    let rank = dims.len() as i64;
    if axes.is_empty() {
        axes = (0..rank).collect();
    }
    let one = |&axis: &i64| {
        let axis = if axis < 0 { axis + rank } else { axis };
        usize::try_from(axis).ok().and_then(|axis| dims.get(axis)) == Some(&Dim::fixed(1))
    };
    axes.iter().all(one).then_some(axes)
}
