//! Casts of tensors that say more: what makes a tensor makes one of the better type, what takes
//! one takes the better type. Numbers stand in the place of constant extents.

use tangram_ir::{Dim, Type, TypeData, Value};

use super::types::{remake, says_more, tensor, with_dims};
use crate::mlir::extents::in_bounds;
use crate::mlir::fold::{Cx, Rewrite};
use crate::mlir::mixed::{Mixed, OFFSETS, SIZES, STRIDES};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] = &[
    ("cast-of-cast", &["tensor.cast"], cast_of_cast),
    ("cast-of-empty", &["tensor.cast"], cast_of_empty),
    ("tensor-past-cast", PAST_CAST, past_cast),
    ("destination-past-cast", &["tensor.insert", "tensor.insert_slice"], destination_past_cast),
    ("made-of-known-size", &["tensor.empty", "tensor.generate"], made_of_known_size),
    ("bitcast-chain", &["tensor.bitcast"], bitcast_chain),
];

/// Operations whose meaning is the same for a source whose type says more.
const PAST_CAST: &[&str] = &["tensor.extract", "tensor.extract_slice", "tensor.dim", "tensor.rank"];

/// The operation called `name` whose result is cast here, if the new type says more.
pub(super) fn cast_source(cx: &Cx<'_, '_>, name: &str) -> Option<tangram_ir::Op> {
    let def = cx.def(0, cx.context.name(name))?;
    says_more(cx, cx.ty(), cx.type_of(cx.operand(0))).then_some(def)
}

fn cast_of_empty(cx: &mut Cx<'_, '_>) -> Option<()> {
    let def = cast_source(cx, "tensor.empty")?;
    let (ty, old) = (cx.ty(), cx.type_of(cx.operand(0)));
    let mut sizes = cx.module().operands(def);
    let mut kept = Vec::new();
    for (dim, before) in tensor(cx, ty)?.dims.iter().zip(&tensor(cx, old)?.dims) {
        if before.as_static().is_some() {
            continue;
        }
        let size = sizes.next()?;
        if dim.as_static().is_none() {
            kept.push(size);
        }
    }
    let value = cx.value(cx.context.name("tensor.empty"), &kept, ty);
    cx.replace(&[value])
}

/// Extents that are constant become part of the type.
fn made_of_known_size(cx: &mut Cx<'_, '_>) -> Option<()> {
    let ty = cx.ty();
    let module = cx.module();
    let all: Vec<Value> = module.operands(cx.op).collect();
    let mut operands = all.iter().copied();
    let (mut kept, mut dims) = (Vec::new(), Vec::new());
    for dim in &tensor(cx, ty)?.dims {
        if dim.as_static().is_some() {
            dims.push(*dim);
            continue;
        }
        let operand = operands.next()?;
        match cx.int(operand).and_then(|n| i64::try_from(n).ok()).filter(|&n| n >= 0) {
            Some(extent) => dims.push(Dim::fixed(extent)),
            None => {
                dims.push(*dim);
                kept.push(operand);
            }
        }
    }
    if kept.len() == all.len() {
        return None;
    }
    let new_ty = with_dims(cx, ty, dims)?;
    let attrs = cx.module().attrs(cx.op);
    remake(cx, &kept, attrs, &[new_ty])
}

/// What is written into may be of the type that says more.
fn destination_past_cast(cx: &mut Cx<'_, '_>) -> Option<()> {
    let cast = cx.def(1, cx.context.name("tensor.cast"))?;
    let source = cx.module().operand(cast, 0);
    let ty = cx.type_of(source);
    if !says_more(cx, ty, cx.type_of(cx.operand(1))) || !part_fits(cx, ty)? {
        return None;
    }
    let mut operands: Vec<Value> = cx.module().operands(cx.op).collect();
    operands[1] = source;
    let attrs = cx.module().attrs(cx.op);
    remake(cx, &operands, attrs, &[ty])
}

/// Returns whether the operation names no part that is known to lie outside of a tensor of type
/// `ty`.
fn part_fits(cx: &Cx<'_, '_>, ty: Type) -> Option<bool> {
    let Some(mixed) = Mixed::of(cx.module(), cx.op) else { return Some(true) };
    let [offsets, sizes, strides] = [OFFSETS, SIZES, STRIDES].map(|list| mixed.held(list));
    Some(in_bounds(&tensor(cx, ty)?.dims, &offsets, &sizes, &strides))
}

/// The cast that defines operand 0, with what it casts.
fn cast_before(cx: &Cx<'_, '_>) -> Option<Value> {
    let cast = cx.def(0, cx.context.name("tensor.cast"))?;
    Some(cx.module().operand(cast, 0))
}

fn past_cast(cx: &mut Cx<'_, '_>) -> Option<()> {
    let source = cast_before(cx)?;
    let ty = cx.type_of(source);
    if !says_more(cx, ty, cx.type_of(cx.operand(0))) || !part_fits(cx, ty)? {
        return None;
    }
    cx.rewriter.set_operand(cx.op, 0, source);
    Some(())
}

/// Two casts are one if what stands between says nothing that neither end says.
fn cast_of_cast(cx: &mut Cx<'_, '_>) -> Option<()> {
    let source = cast_before(cx)?;
    let (from, between, to) = (cx.type_of(source), cx.type_of(cx.operand(0)), cx.ty());
    let (b, c) = (tensor(cx, between)?, tensor(cx, to)?);
    let unknown = vec![Dim::UNKNOWN; c.dims.len()];
    let (dims, element, encoding) = match cx.context.type_data(from) {
        TypeData::Tensor(from) => (&from.dims[..], from.element, from.encoding),
        // What has no rank says nothing about extents.
        TypeData::UnrankedTensor(element) => (&unknown[..], *element, None),
        _ => return None,
    };
    let same_kind = element == c.element && encoding == c.encoding && b.encoding == c.encoding;
    let told = |((a, b), c): ((&Dim, &Dim), &Dim)| {
        let (a, b, c) = (a.as_static(), b.as_static(), c.as_static());
        (b.is_none() || b == a || b == c) && (a.is_none() || c.is_none() || a == c)
    };
    if !same_kind
        || dims.len() != c.dims.len()
        || b.dims.len() != c.dims.len()
        || !dims.iter().zip(&b.dims).zip(&c.dims).all(told)
    {
        return None;
    }
    cx.rewriter.set_operand(cx.op, 0, source);
    Some(())
}

/// The same bits twice, or not at all.
fn bitcast_chain(cx: &mut Cx<'_, '_>) -> Option<()> {
    let source = cx.operand(0);
    if cx.type_of(source) == cx.ty() {
        return cx.replace(&[source]);
    }
    let first = cx.def(0, cx.context.name("tensor.bitcast"))?;
    let source = cx.module().operand(first, 0);
    cx.rewriter.set_operand(cx.op, 0, source);
    Some(())
}
