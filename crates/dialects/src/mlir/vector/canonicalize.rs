//! Canonicalisation of vectors of which all elements are known, of two changes of shape that are
//! one, and of what is repeated and taken out again.

use tangram_ir::{AttrData, TypeData, Value};

use crate::mlir::extents::list;
use crate::mlir::fold::{Cx, Rewrite, number};

/// The patterns, with their roots.
pub(super) const REWRITES: &[Rewrite] = &[
    ("vector-by-nothing", CHANGES, by_nothing),
    ("repeated-constant-vector", REPEATS, repeated_constant),
    ("constant-vector-in-another-shape", &["vector.shape_cast"], constant_in_another_shape),
    ("same-change-twice", TWICE, same_change_twice),
    ("transpose-of-transpose-vector", &["vector.transpose"], transpose_of_transpose),
    ("shape-of-repeated-scalar", &["vector.shape_cast", "vector.transpose"], shape_of_repeated),
    ("extract-of-repeated-scalar", &["vector.extract"], extract_of_repeated),
    ("extract-all", &["vector.extract"], extract_all),
];

const CHANGES: &[&str] = &[
    "vector.shape_cast",
    "vector.broadcast",
    "vector.transpose",
    "vector.bitcast",
    "vector.extract_strided_slice",
];
const REPEATS: &[&str] = &[
    "vector.broadcast",
    "vector.transpose",
    "vector.extract_strided_slice",
    "vector.extract",
    "vector.shape_cast",
];
const TWICE: &[&str] = &["vector.shape_cast", "vector.broadcast", "vector.bitcast"];
/// The type stays, and with it the elements.
fn by_nothing(cx: &mut Cx<'_, '_>) -> Option<()> {
    let source = cx.operand(0);
    let moved = list(cx.module(), cx.op, "permutation")
        .is_some_and(|order| !order.iter().enumerate().all(|(i, &n)| i as i64 == n));
    (cx.type_of(source) == cx.ty() && !moved).then(|| cx.replace(&[source]))?
}

/// One number everywhere stays so.
fn repeated_constant(cx: &mut Cx<'_, '_>) -> Option<()> {
    let ty = cx.ty();
    let one = number::splat(cx.context, cx.module().constant_value(cx.operand(0))?)?;
    let value = cx.constant(number::constant(cx.context, ty, one)?, ty)?;
    cx.replace(&[value])
}

/// The elements of a constant stay in their order.
fn constant_in_another_shape(cx: &mut Cx<'_, '_>) -> Option<()> {
    let ty = cx.ty();
    let constant = cx.module().constant_value(cx.operand(0))?;
    let AttrData::Dense { bytes, splat: false, .. } = cx.context.attr_data(constant) else {
        return None;
    };
    let data = AttrData::Dense { ty, bytes: bytes.clone(), splat: false };
    let value = cx.constant(cx.context.attr(data), ty)?;
    cx.replace(&[value])
}

/// Only the last shape counts.
fn same_change_twice(cx: &mut Cx<'_, '_>) -> Option<()> {
    let name = cx.module().name(cx.op);
    let first = cx.def(0, name)?;
    let source = cx.module().operand(first, 0);
    cx.rewriter.set_operand(cx.op, 0, source);
    Some(())
}

/// Dimension `i` of the result is dimension `first[second[i]]` of the first vector.
fn transpose_of_transpose(cx: &mut Cx<'_, '_>) -> Option<()> {
    let name = cx.module().name(cx.op);
    let inner = cx.def(0, name)?;
    let order = |op| list(cx.module(), op, "permutation");
    let (first, second) = (order(inner)?, order(cx.op)?);
    let both: Option<Vec<i64>> =
        second.iter().map(|&i| first.get(usize::try_from(i).ok()?).copied()).collect();
    let (source, both) = (cx.module().operand(inner, 0), cx.context.i64s_attr(&both?));
    let key = cx.context.str("permutation");
    cx.rewriter.modify_in_place(cx.op, |edit| {
        edit.set_operands(&[source]);
        edit.set_attr(key, Some(both));
    });
    Some(())
}

/// The scalar that `value` repeats.
fn repeated(cx: &Cx<'_, '_>, value: Value) -> Option<Value> {
    let broadcast = cx.def_of(value, cx.context.name("vector.broadcast"))?;
    let source = cx.module().operand(broadcast, 0);
    let scalar = !matches!(cx.context.type_data(cx.type_of(source)), TypeData::Vector { .. });
    scalar.then_some(source)
}

/// One value everywhere, in another shape.
fn shape_of_repeated(cx: &mut Cx<'_, '_>) -> Option<()> {
    let source = repeated(cx, cx.operand(0))?;
    cx.become_op(cx.context.name("vector.broadcast"), &[source])
}

/// A part of one value everywhere.
fn extract_of_repeated(cx: &mut Cx<'_, '_>) -> Option<()> {
    let source = repeated(cx, cx.operand(0))?;
    if cx.type_of(source) == cx.ty() {
        return cx.replace(&[source]);
    }
    cx.become_op(cx.context.name("vector.broadcast"), &[source])
}

/// No place is named: all of the vector.
fn extract_all(cx: &mut Cx<'_, '_>) -> Option<()> {
    let source = cx.operand(0);
    (cx.type_of(source) == cx.ty()).then(|| cx.replace(&[source]))?
}
