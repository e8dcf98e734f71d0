//! Canonicalisation of tensors whose elements are known: constants, one value everywhere, listed
//! and computed elements.

use tangram_ir::{AttrData, Point, Traits, Value};

use super::types::is_static;
use crate::mlir::fold::{Cx, Rewrite, number};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] = &[
    ("constant-elsewhere", ELSEWHERE, constant_elsewhere),
    ("constant-in-another-shape", RESHAPES, constant_in_another_shape),
    ("listed-in-another-shape", RESHAPES, listed_in_another_shape),
    ("repeated-in-another-shape", RESHAPES, repeated_in_another_shape),
    ("listed-constants", &["tensor.from_elements"], listed_constants),
    ("repeated-constant", &["tensor.splat"], repeated_constant),
    ("insert-what-is-everywhere", &["tensor.insert"], insert_what_is_everywhere),
    ("extract-of-computed", &["tensor.extract"], extract_of_computed),
    ("extract-of-cast-numbers", &["tensor.extract"], extract_of_cast),
];

/// Operations that give elements of their first operand.
const ELSEWHERE: &[&str] =
    &["tensor.extract_slice", "tensor.gather", "tensor.reshape", "tensor.cast"];
const RESHAPES: &[&str] = &["tensor.collapse_shape", "tensor.expand_shape"];

/// Parts of one value everywhere.
fn constant_elsewhere(cx: &mut Cx<'_, '_>) -> Option<()> {
    constant_of_type(cx, true)
}

/// The elements of a constant stay in their order.
fn constant_in_another_shape(cx: &mut Cx<'_, '_>) -> Option<()> {
    constant_of_type(cx, false)
}

/// The constant that is operand 0 as one of the result's type, if `repeats` only where all its
/// elements are equal.
fn constant_of_type(cx: &mut Cx<'_, '_>, repeats: bool) -> Option<()> {
    let ty = cx.ty();
    let constant = cx.module().constant_value(cx.operand(0))?;
    let AttrData::Dense { bytes, splat, .. } = cx.context.attr_data(constant) else { return None };
    if repeats && !splat || !is_static(cx, ty) {
        return None;
    }
    let data = AttrData::Dense { ty, bytes: bytes.clone(), splat: *splat };
    let value = cx.constant(cx.context.attr(data), ty)?;
    cx.replace(&[value])
}

/// The elements that a tensor was made of stay in their order.
fn listed_in_another_shape(cx: &mut Cx<'_, '_>) -> Option<()> {
    let name = cx.context.name("tensor.from_elements");
    let made = cx.def(0, name)?;
    let ty = cx.ty();
    if !is_static(cx, ty) {
        return None;
    }
    let elements: Vec<Value> = cx.module().operands(made).collect();
    let value = cx.value(name, &elements, ty);
    cx.replace(&[value])
}

/// One value everywhere, in another shape.
fn repeated_in_another_shape(cx: &mut Cx<'_, '_>) -> Option<()> {
    let name = cx.context.name("tensor.splat");
    let splat = cx.def(0, name)?;
    let ty = cx.ty();
    if !is_static(cx, ty) {
        return None;
    }
    let value = cx.module().operand(splat, 0);
    let value = cx.value(name, &[value], ty);
    cx.replace(&[value])
}

/// Elements that are all constant are a constant.
fn listed_constants(cx: &mut Cx<'_, '_>) -> Option<()> {
    let ty = cx.ty();
    let module = cx.module();
    let elements: Option<Vec<_>> =
        module.operands(cx.op).map(|value| module.constant_value(value)).collect();
    let attr = number::listed(cx.context, ty, &elements?)?;
    let value = cx.constant(attr, ty)?;
    cx.replace(&[value])
}

fn repeated_constant(cx: &mut Cx<'_, '_>) -> Option<()> {
    let ty = cx.ty();
    let constant = cx.module().constant_value(cx.operand(0))?;
    if !is_static(cx, ty) {
        return None;
    }
    let one = number::splat(cx.context, constant)?;
    let value = cx.constant(number::constant(cx.context, ty, one)?, ty)?;
    cx.replace(&[value])
}

/// The element is in every place already.
fn insert_what_is_everywhere(cx: &mut Cx<'_, '_>) -> Option<()> {
    let tensor = cx.operand(1);
    let [new, old] = [cx.operand(0), tensor].map(|value| cx.module().constant_value(value));
    let AttrData::Dense { splat: true, .. } = cx.context.attr_data(old?) else { return None };
    let element = number::element(cx.context, old?, 0, cx.type_of(cx.operand(0)));
    (element.is_some() && element == new).then(|| cx.replace(&[tensor]))?
}

/// An element of numbers that were all cast is one number that is cast.
fn extract_of_cast(cx: &mut Cx<'_, '_>) -> Option<()> {
    let cast = cx.def(0, cx.known.index_cast)?;
    let (source, ty) = (cx.module().operand(cast, 0), cx.ty());
    let (_, element) = cx.context.as_tensor(cx.type_of(source))?;
    let mut operands: Vec<Value> = cx.module().operands(cx.op).collect();
    operands[0] = source;
    let value = cx.value(cx.module().name(cx.op), &operands, element);
    let cast = cx.value(cx.known.index_cast, &[value], ty);
    cx.replace(&[cast])
}

/// An element that a region computes from its place: the region is run for that place.
fn extract_of_computed(cx: &mut Cx<'_, '_>) -> Option<()> {
    let generate = cx.def(0, cx.context.name("tensor.generate"))?;
    let module = cx.module();
    let block = module.first_block(module.region(generate, 0))?;
    let end = module.last_op(block)?;
    // It was run for every place, so it may be run for this one, which is in bounds.
    let pure = |op| module.has_traits(op, Traits::PURE) && module.regions(op).is_empty();
    let ops: Vec<_> = module.ops(block).filter(|&op| op != end).collect();
    let indices: Vec<Value> = module.operands(cx.op).skip(1).collect();
    if !ops.iter().all(|&op| pure(op)) || module.args(block).len() != indices.len() {
        return None;
    }
    let mut mapping = tangram_rewrite::Mapping::new();
    for (&arg, &index) in module.args(block).iter().zip(&indices) {
        mapping.map(arg, index);
    }
    let given = module.operand(end, 0);
    for op in ops {
        cx.rewriter.clone_op(op, Point::Before(cx.op), &mut mapping);
    }
    cx.replace(&[mapping.value(given)])
}
