//! Canonicalisation of `linalg` between whole tensors: what changes nothing, and transpositions and
//! broadcasts one after the other.

use tangram_affine::Node;
use tangram_ir::{Attr, AttrData, Dim, Module, Op, Point, Type, TypeData, Value, ValueDef};

use crate::mlir::fold::{Cx, Rewrite};
use crate::mlir::tensor::{cast_to, extents, may_be_cast, with_dims};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] = &[
    ("broadcast-along-nothing", &["linalg.broadcast"], broadcast_along_nothing),
    ("transpose-by-identity", &["linalg.transpose"], transpose_by_identity),
    ("transpose-twice", &["linalg.transpose"], transpose_twice),
    ("transpose-of-broadcast", &["linalg.transpose"], transpose_of_broadcast),
    ("generic-that-yields-operands", &["linalg.generic"], generic_that_yields_operands),
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

/// Returns whether `attr` is a map that only puts the dimensions in another order.
fn is_permutation(cx: &Cx<'_, '_>, attr: Attr) -> bool {
    let Some(map) = cx.context.as_affine_map(attr) else { return false };
    let mut seen = vec![false; map.dims()];
    let once = map.results().iter().all(|&result| match map.node(result) {
        Node::Dim(dim) => !std::mem::replace(&mut seen[dim as usize], true),
        _ => false,
    });
    once && map.symbols() == 0 && map.results().len() == map.dims()
}

/// An operation that gives its inputs as they are, or leaves its outputs as they are.
fn generic_that_yields_operands(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
    let AttrData::Array(maps) = cx.context.attr_data(module.attr(cx.op, "indexing_maps")?) else {
        return None;
    };
    let block = module.first_block(*module.regions(cx.op).first()?)?;
    let end = module.first_op(block)?;
    if module.name_text(end) != "linalg.yield" {
        return None;
    }
    let outputs = module.operand_count(end);
    let inputs = module.operand_count(cx.op).checked_sub(outputs)?;
    let mut values = Vec::with_capacity(outputs);
    for (i, value) in module.operands(end).enumerate() {
        let ValueDef::Arg(home, at) = module.value_def(value) else { return None };
        let (at, own) = (at as usize, inputs + i);
        let same = maps.get(at)? == maps.get(own)? && is_permutation(cx, maps[at]);
        if home != block || at != own && !same {
            return None;
        }
        values.push((module.operand(cx.op, at), module.operand(cx.op, own)));
    }
    if module.result_count(cx.op) == 0 {
        // A buffer is written with what it holds.
        let stays = outputs > 0 && values.iter().all(|(read, written)| read == written);
        return stays.then(|| cx.rewriter.erase(cx.op));
    }
    let types: Vec<Type> = module.results(cx.op).map(|result| cx.type_of(result)).collect();
    let fits = |((read, _), &ty): (&(Value, Value), &Type)| {
        cx.type_of(*read) == ty || may_be_cast(cx, cx.type_of(*read), ty)
    };
    if types.len() != outputs || !values.iter().zip(&types).all(fits) {
        return None;
    }
    let values: Vec<Value> =
        values.iter().zip(types).map(|((read, _), ty)| cast_to(cx, *read, ty)).collect();
    cx.replace(&values)
}

/// New dimensions, then all in another order: the others are ordered first, then the new ones are
/// made where they end up.
fn transpose_of_broadcast(cx: &mut Cx<'_, '_>) -> Option<()> {
    if !on_tensors(cx) {
        return None;
    }
    let broadcast = def(cx, cx.operand(0), "linalg.broadcast")?;
    let module = cx.module();
    let (made, order) =
        (numbers(module, broadcast, "dimensions")?, numbers(module, cx.op, "permutation")?);
    let kept: Vec<usize> = order.iter().copied().filter(|at| !made.contains(at)).collect();
    if !kept.is_sorted() && !module.has_one_use(cx.operand(0)) {
        return None;
    }
    let place = |from: &usize| Some(order.iter().position(|at| at == from)? as i64);
    let dimensions: Option<Vec<i64>> = made.iter().map(place).collect();
    let dimensions = cx.context.i64s_attr(&dimensions?);
    let (source, init, ty) = (module.operand(broadcast, 0), cx.operand(1), cx.ty());
    let source = if kept.is_sorted() { source } else { ordered(cx, source, &kept)? };
    // The region hands the element on, in both.
    let copy = copied(cx, broadcast, [source, init], ("dimensions", dimensions), ty);
    cx.replace(&[copy])
}

/// `source` with its dimensions in the order of these numbers.
fn ordered(cx: &mut Cx<'_, '_>, source: Value, numbers: &[usize]) -> Option<Value> {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    let order: Vec<usize> = numbers.iter().filter_map(|n| sorted.binary_search(n).ok()).collect();
    let known = extents(cx, cx.type_of(source)).filter(|known| known.len() == order.len())?;
    let index = cx.context.ty(TypeData::Index);
    let (mut dims, mut sizes) = (Vec::new(), Vec::new());
    // Extents are asked for in the order of the source.
    let mut asked = vec![None; known.len()];
    for (at, _) in known.iter().enumerate().filter(|(_, extent)| extent.is_none()) {
        let number = cx.int_constant(at as i128, index)?;
        asked[at] = Some(cx.value(cx.context.name("tensor.dim"), &[source, number], index));
    }
    for &at in &order {
        dims.push(known[at].map_or(Dim::UNKNOWN, Dim::fixed));
        sizes.extend(asked[at]);
    }
    let ty = with_dims(cx, cx.type_of(source), dims)?;
    let init = cx.value(cx.context.name("tensor.empty"), &sizes, ty);
    let order: Vec<i64> = order.into_iter().map(|at| at as i64).collect();
    let order = cx.context.i64s_attr(&order);
    Some(copied(cx, cx.op, [source, init], ("permutation", order), ty))
}

/// The result of a copy of `op` with other operands, another attribute and another type.
fn copied(
    cx: &mut Cx<'_, '_>,
    op: Op,
    operands: [Value; 2],
    (name, attr): (&str, Attr),
    ty: Type,
) -> Value {
    let mut mapping = tangram_rewrite::Mapping::new();
    let copy = cx.rewriter.clone_op(op, Point::Before(cx.op), &mut mapping);
    let (result, key) = (cx.module().result(copy, 0), cx.context.str(name));
    cx.rewriter.modify_in_place(copy, |edit| {
        edit.set_operands(&operands);
        edit.set_attr(key, Some(attr));
    });
    cx.rewriter.refine(result, ty, None);
    result
}
