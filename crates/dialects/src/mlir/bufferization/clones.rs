//! Canonicalisation of `bufferization.clone`: a copy that takes over what it is a copy of.
//!
//! Neither buffer is written after it was cloned, so that one may stand for both while it lives:
//! until the end of the one that is freed last.

use tangram_ir::{Module, Op, Order, TypeData, Value, walk};

use crate::mlir::fold::{Cx, Rewrite};
use crate::mlir::memref::layout::{cast_to, may_be_cast};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] = &[
    ("clone-for-nothing", &["bufferization.clone"], for_nothing),
    ("clone-of-freed", &["bufferization.clone"], of_freed),
];

fn for_nothing(cx: &mut Cx<'_, '_>) -> Option<()> {
    if cx.module().has_uses(cx.module().result(cx.op, 0)) {
        return None;
    }
    cx.rewriter.erase(cx.op);
    Some(())
}

/// What frees `value`, if anything does; the outer `None` where more than one operation does.
fn freed_by(module: &Module, value: Value) -> Option<Option<Op>> {
    let users = module.uses(value).map(|used| used.op);
    let mut frees = users.filter(|&op| frees(module, op));
    let first = frees.next();
    frees.next().is_none().then_some(first)
}

fn frees(module: &Module, op: Op) -> bool {
    matches!(
        module.name_text(op),
        "memref.dealloc" | "memref.realloc" | "bufferization.dealloc" | "gpu.dealloc"
    )
}

/// The buffer that `value` is a view of.
fn viewed(module: &Module, value: Value) -> Value {
    let mut at = value;
    while let Some(def) = module.def_op(at) {
        match module.name_text(def) {
            "memref.cast"
            | "memref.subview"
            | "memref.view"
            | "memref.reinterpret_cast"
            | "memref.collapse_shape"
            | "memref.expand_shape"
            | "memref.transpose"
            | "memref.memory_space_cast" => at = module.operand(def, 0),
            _ => break,
        }
    }
    at
}

/// The buffer in the place of its copy, where one of both is freed in this block: the other one
/// lives longer.
fn of_freed(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (module, source, ty) = (cx.module(), cx.operand(0), cx.ty());
    let ranked = |ty| matches!(cx.context.type_data(ty), TypeData::MemRef { .. });
    let fits =
        cx.type_of(source) == ty || ranked(ty) && may_be_cast(cx.context, cx.type_of(source), ty);
    let copy = freed_by(module, module.result(cx.op, 0))?;
    let original = freed_by(module, viewed(module, source))?;
    let home = module.block(cx.op);
    let here = |op: &Op| module.block(*op) == home && module.name_text(*op) == "memref.dealloc";
    let end = match (copy.filter(here), original.filter(here)) {
        (Some(_), Some(_)) | (None, None) => return None,
        (Some(end), None) | (None, Some(end)) => end,
    };
    if !fits || !nothing_freed(module, cx.op, end) {
        return None;
    }
    let value = cast_to(cx, source, ty);
    cx.replace(&[value])?;
    cx.rewriter.erase(end);
    Some(())
}

/// Returns whether no memory may be given back between `first` and `end`, which comes later.
fn nothing_freed(module: &Module, first: Op, end: Op) -> bool {
    let mut at = module.next(first);
    while let Some(op) = at.filter(|&op| op != end) {
        if walk(module, op, Order::Pre).into_iter().any(|inner| frees(module, inner)) {
            return false;
        }
        at = module.next(op);
    }
    at == Some(end)
}
