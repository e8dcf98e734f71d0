//! Canonicalisation of `linalg` between whole tensors: copies that change nothing, transpositions
//! that cancel, and one value everywhere in another order.

use tangram_affine::AffineMap;
use tangram_ir::{Attr, AttrData, Module, Op, Value, ValueDef};

use crate::mlir::fold::{Cx, Rewrite};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] = &[
    ("copy-of-a-tensor", &["linalg.copy"], copy_of_a_tensor),
    ("broadcast-along-nothing", &["linalg.broadcast"], broadcast_along_nothing),
    ("transpose-by-identity", &["linalg.transpose"], transpose_by_identity),
    ("transpose-twice", &["linalg.transpose"], transpose_twice),
    ("transpose-of-fill", &["linalg.transpose"], transpose_of_fill),
    ("generic-that-yields-inputs", &["linalg.generic"], generic_that_yields_inputs),
    ("extract-of-fill", &["tensor.extract"], extract_of_fill),
];

/// Returns whether the operation works on tensors: then it has a result for each output.
fn on_tensors(cx: &Cx<'_, '_>) -> bool {
    cx.module().result_count(cx.op) > 0
}

/// The operation named `name` that defines `value`.
fn def(cx: &Cx<'_, '_>, value: Value, name: &str) -> Option<Op> {
    let op = cx.module().def_op(value)?;
    (op != cx.op && cx.module().name_text(op) == name).then_some(op)
}

/// The numbers of attribute `name`.
fn numbers(module: &Module, op: Op, name: &str) -> Option<Vec<usize>> {
    let numbers = module.context().as_i64s(module.attr(op, name)?)?;
    numbers.into_iter().map(|n| usize::try_from(n).ok()).collect()
}

fn is_identity(permutation: &[usize]) -> bool {
    permutation.iter().enumerate().all(|(i, &n)| i == n)
}

/// A tensor in the place of a copy of it.
fn copy_of_a_tensor(cx: &mut Cx<'_, '_>) -> Option<()> {
    if !on_tensors(cx) || cx.module().operand_count(cx.op) != 2 {
        return None;
    }
    let source = cx.operand(0);
    cx.replace(&[source])
}

fn broadcast_along_nothing(cx: &mut Cx<'_, '_>) -> Option<()> {
    let dimensions = numbers(cx.module(), cx.op, "dimensions")?;
    if !on_tensors(cx) || !dimensions.is_empty() {
        return None;
    }
    let source = cx.operand(0);
    cx.replace(&[source])
}

fn transpose_by_identity(cx: &mut Cx<'_, '_>) -> Option<()> {
    let permutation = numbers(cx.module(), cx.op, "permutation")?;
    if !on_tensors(cx) || !is_identity(&permutation) {
        return None;
    }
    let source = cx.operand(0);
    cx.replace(&[source])
}

/// Dimension `i` of the result is dimension `inner[outer[i]]` of the first tensor.
fn transpose_twice(cx: &mut Cx<'_, '_>) -> Option<()> {
    if !on_tensors(cx) {
        return None;
    }
    let inner = def(cx, cx.operand(0), "linalg.transpose")?;
    let (first, second) =
        (numbers(cx.module(), inner, "permutation")?, numbers(cx.module(), cx.op, "permutation")?);
    let both: Option<Vec<usize>> = second.iter().map(|&i| first.get(i).copied()).collect();
    let both = both?;
    let (source, init) = (cx.module().operand(inner, 0), cx.operand(1));
    if cx.module().def_op(source) == Some(inner) {
        return None;
    }
    if is_identity(&both) && cx.type_of(source) == cx.ty() {
        return cx.replace(&[source]);
    }
    let both: Vec<i64> = both.into_iter().map(|i| i as i64).collect();
    let (name, attr) = (cx.context.str("permutation"), cx.context.i64s_attr(&both));
    cx.rewriter.modify_in_place(cx.op, |edit| {
        edit.set_operands(&[source, init]);
        edit.set_attr(name, Some(attr));
    });
    Some(())
}

/// One value everywhere stays so: the output is filled.
fn transpose_of_fill(cx: &mut Cx<'_, '_>) -> Option<()> {
    if !on_tensors(cx) {
        return None;
    }
    let fill = def(cx, cx.operand(0), "linalg.fill")?;
    let (value, init) = (cx.module().operand(fill, 0), cx.operand(1));
    let ty = cx.ty();
    if cx.type_of(init) != ty {
        return None;
    }
    // The region of the fill casts the value, so it is copied with it.
    let mut mapping = tangram_rewrite::Mapping::new();
    let point = tangram_ir::Point::Before(cx.op);
    let copy = cx.rewriter.clone_op(fill, point, &mut mapping);
    let result = cx.module().result(copy, 0);
    cx.rewriter.set_operands(copy, &[value, init]);
    cx.rewriter.refine(result, ty, None);
    cx.replace(&[result])
}

/// Returns whether `attr` is the map of a point to itself.
fn is_identity_map(cx: &Cx<'_, '_>, attr: Attr) -> bool {
    cx.context.as_affine_map(attr).is_some_and(AffineMap::is_identity)
}

/// An operation that gives its inputs as they are.
fn generic_that_yields_inputs(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
    let outputs = module.result_count(cx.op);
    let inputs = module.operand_count(cx.op).checked_sub(outputs)?;
    let AttrData::Array(maps) = cx.context.attr_data(module.attr(cx.op, "indexing_maps")?) else {
        return None;
    };
    if outputs == 0 || !maps.iter().all(|&map| is_identity_map(cx, map)) {
        return None;
    }
    let block = module.first_block(*module.regions(cx.op).first()?)?;
    let end = module.first_op(block)?;
    if module.name_text(end) != "linalg.yield" || module.operand_count(end) != outputs {
        return None;
    }
    let given = |value: Value| match module.value_def(value) {
        ValueDef::Arg(home, i) if home == block && (i as usize) < inputs => {
            Some(module.operand(cx.op, i as usize))
        }
        _ => None,
    };
    let values: Option<Vec<Value>> = module.operands(end).map(given).collect();
    let values = values?;
    cx.replace(&values)
}

/// The value that a tensor is filled with.
fn extract_of_fill(cx: &mut Cx<'_, '_>) -> Option<()> {
    let fill = def(cx, cx.operand(0), "linalg.fill")?;
    let value = cx.module().operand(fill, 0);
    cx.replace(&[value])
}
