//! Canonicalisation of casts of buffers: what takes a buffer takes it as it was before the cast.

use tangram_ir::{Dim, TypeData};

use super::layout::{before_any_cast, before_cast, buffer, may_be_cast};
use crate::mlir::fold::{Cx, Rewrite};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] = &[
    ("access-past-cast", ACCESSES, access_past_cast),
    ("view-past-cast", &["memref.view"], view_past_cast),
    ("extent-past-cast", &["memref.dim", "memref.rank"], extent_past_cast),
    ("copy-of-nothing", &["memref.copy"], copy_of_nothing),
    ("cast-of-cast-of-buffer", &["memref.cast"], cast_of_cast),
];

/// Operations that use elements of a buffer, or what a run knows of it, and whose results have
/// the same types for each buffer of the same rank.
const ACCESSES: &[&str] = &[
    "memref.load",
    "memref.store",
    "memref.dealloc",
    "memref.atomic_rmw",
    "memref.generic_atomic_rmw",
    "memref.prefetch",
    "memref.copy",
    "memref.extract_strided_metadata",
    "memref.extract_aligned_pointer_as_index",
    "affine.load",
    "affine.store",
    "affine.vector_load",
    "affine.vector_store",
    "affine.prefetch",
    "vector.load",
    "vector.store",
    "vector.maskedload",
    "vector.maskedstore",
    "vector.transfer_read",
    "vector.transfer_write",
];

/// The operands that are the buffers of such an operation.
fn buffers(name: &str) -> &'static [usize] {
    match name {
        "memref.store"
        | "memref.atomic_rmw"
        | "affine.store"
        | "affine.vector_store"
        | "vector.store"
        | "vector.transfer_write" => &[1],
        "memref.copy" => &[0, 1],
        _ => &[0],
    }
}

/// An access to a buffer behind a cast. Vectors lie where strides are known to be 1: only what a
/// cast forgets is known there before it as well.
fn access_past_cast(cx: &mut Cx<'_, '_>) -> Option<()> {
    let name = cx.module().name_text(cx.op);
    let before = if name.starts_with("vector.") { before_cast } else { before_any_cast };
    let (at, source) = buffers(name).iter().find_map(|&at| Some((at, before(cx, at)?)))?;
    cx.rewriter.set_operand(cx.op, at, source);
    Some(())
}

/// As [`access_past_cast`] for what takes bytes one after the other.
fn view_past_cast(cx: &mut Cx<'_, '_>) -> Option<()> {
    let source = before_cast(cx, 0)?;
    if buffer(cx.context, cx.type_of(source))?.1.is_some() {
        return None;
    }
    cx.rewriter.set_operand(cx.op, 0, source);
    Some(())
}

/// A cast keeps rank and extents, those that its types do not say as well.
fn extent_past_cast(cx: &mut Cx<'_, '_>) -> Option<()> {
    let cast = cx.def(0, cx.known.memref_cast)?;
    let source = cx.module().operand(cast, 0);
    let (from, to) = (cx.type_of(source), cx.type_of(cx.operand(0)));
    let unranked = matches!(cx.context.type_data(to), TypeData::UnrankedMemRef { .. });
    let forgets_all = unranked && buffer(cx.context, from).is_some();
    if !forgets_all && !may_be_cast(cx.context, from, to) {
        return None;
    }
    cx.rewriter.set_operand(cx.op, 0, source);
    Some(())
}

/// A buffer without elements.
fn copy_of_nothing(cx: &mut Cx<'_, '_>) -> Option<()> {
    let is_empty = |dim: &Dim| dim.as_static() == Some(0);
    let empty = |value| {
        buffer(cx.context, cx.type_of(value)).is_some_and(|(dims, _)| dims.iter().any(is_empty))
    };
    if !empty(cx.operand(0)) && !empty(cx.operand(1)) {
        return None;
    }
    cx.rewriter.erase(cx.op);
    Some(())
}

/// Two casts are one where neither end contradicts the other.
fn cast_of_cast(cx: &mut Cx<'_, '_>) -> Option<()> {
    let source = before_any_cast(cx, 0)?;
    if !may_be_cast(cx.context, cx.type_of(source), cx.ty()) {
        return None;
    }
    cx.rewriter.set_operand(cx.op, 0, source);
    Some(())
}
