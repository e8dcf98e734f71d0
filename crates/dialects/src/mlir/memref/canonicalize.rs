//! Folding and canonicalisation of `memref`: extents, casts, and buffers that nobody reads.

use tangram_ir::{Fold, FoldCx, Module, Op, TypeData, Use, Value};

use super::layout::extents;
use crate::mlir::extents::operand_of_extent;
use crate::mlir::fold::{Cx, Known, Look, Rewrite};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] = &[
    ("buffer-only-written", &["memref.alloc", "memref.alloca", "memref.realloc"], only_written),
    ("buffer-of-known-size", &["memref.alloc", "memref.alloca"], of_known_size),
    ("copy-onto-itself", &["memref.copy"], copy_onto_itself),
    ("aligned-already", &["memref.assume_alignment"], aligned_already),
];

/// A constant extent, or the one that a new buffer was asked for.
pub(super) fn fold_dim(cx: &FoldCx<'_>) -> Option<Fold> {
    let at = usize::try_from(cx.int(1)?).ok()?;
    let source = cx.operand(0);
    let extents = extents(cx.context(), cx.module.value_type(source))?;
    match extents.get(at)? {
        Some(extent) => cx.whole((*extent).into()),
        None => {
            let def = cx.module.def_op(source)?;
            let known = Known::of(cx.context());
            let makes = [known.alloc, known.alloca].contains(&cx.module.name(def));
            let before = extents[..at].iter().filter(|extent| extent.is_none()).count();
            let sizes = extents.iter().filter(|extent| extent.is_none()).count();
            if makes && cx.module.operand_count(def) >= sizes {
                return Some(Fold::value(cx.module.operand(def, before)));
            }
            operand_of_extent(cx.module, def, (at, extents.len()), before).map(Fold::value)
        }
    }
}

/// A cast to the same type, or back.
pub(super) fn fold_cast(cx: &FoldCx<'_>) -> Option<Fold> {
    let source = cx.operand(0);
    if cx.module.value_type(source) == cx.ty() {
        return cx.give(0);
    }
    let def = cx.module.def_op(source)?;
    let inner = cx.module.operands(def).next()?;
    let same = cx.module.name(def) == cx.module.name(cx.op);
    (same && cx.module.value_type(inner) == cx.ty()).then(|| Fold::value(inner))
}

/// The number of dimensions, which the type says.
pub(super) fn fold_rank(cx: &FoldCx<'_>) -> Option<Fold> {
    let rank = extents(cx.context(), cx.module.value_type(cx.operand(0)))?.len();
    cx.whole(rank as i128)
}

/// Returns whether operand `at` of `op` is only written to, or freed.
fn is_written(module: &Module, op: Op, at: usize) -> bool {
    match module.name_text(op) {
        "memref.dealloc" => true,
        "memref.store" | "affine.store" | "memref.copy" => at == 1,
        _ => false,
    }
}

/// A buffer that is written and freed but never read.
fn only_written(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
    let uses: Vec<Use> = module.uses(module.result(cx.op, 0)).collect();
    if !uses.iter().all(|used| is_written(module, used.op, used.index as usize)) {
        return None;
    }
    let resized = module.name_text(cx.op) == "memref.realloc";
    for used in uses {
        if resized && cx.module().name(used.op) == cx.known.dealloc {
            // What was not resized is still to be freed.
            let source = cx.operand(0);
            cx.rewriter.set_operand(used.op, 0, source);
        } else {
            cx.rewriter.erase(used.op);
        }
    }
    cx.rewriter.erase(cx.op);
    Some(())
}

/// What is aligned to more bytes is aligned to fewer.
fn aligned_already(cx: &mut Cx<'_, '_>) -> Option<()> {
    let source = cx.operand(0);
    let first = cx.def(0, cx.module().name(cx.op))?;
    let bytes = |op| cx.context.as_i64(cx.module().attr(op, "alignment")?);
    (bytes(first)? % bytes(cx.op).filter(|&n| n > 0)? == 0).then(|| cx.replace(&[source]))?
}

/// Extents that are constant become part of the type; a cast gives the old type back.
fn of_known_size(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
    let ty = cx.ty();
    let TypeData::MemRef { dims, .. } = cx.context.type_data(ty) else {
        return None;
    };
    let mut data = cx.context.type_data(ty).clone();
    let sizes = module.attr_by(cx.op, cx.known.segments)?;
    let [dynamic, symbols] = cx.module().int_list(sizes)?[..] else { return None };
    let operands: Vec<Value> = module.operands(cx.op).collect();
    let (mut kept, mut next) = (Vec::new(), 0);
    let mut fixed = dims.clone();
    for dim in fixed.iter_mut().filter(|dim| dim.as_static().is_none()) {
        let &operand = operands.get(next)?;
        next += 1;
        match cx.int(operand).and_then(|n| i64::try_from(n).ok()).filter(|&n| n >= 0) {
            Some(extent) => *dim = tangram_ir::Dim::fixed(extent),
            None => kept.push(operand),
        }
    }
    if kept.len() == next || i64::try_from(next) != Ok(dynamic) {
        return None;
    }
    let count = kept.len();
    kept.extend_from_slice(&operands[next..]);
    if let TypeData::MemRef { dims, .. } = &mut data {
        *dims = fixed;
    }
    let new_ty = cx.context.ty(data);
    let sizes = module.i32s_attr([count, usize::try_from(symbols).ok()?]);
    let name = module.name(cx.op);
    let entries = cx.context.entries(module.attrs(cx.op)).to_vec();
    let entries = entries
        .into_iter()
        .map(|(key, value)| (key, if key == cx.known.segments { sizes } else { value }));
    let attrs = cx.context.dict(entries);
    let made = cx.make(name, &kept, attrs, &[new_ty]);
    let buffer = cx.module().result(made, 0);
    let cast = cx.value(cx.known.memref_cast, &[buffer], ty);
    cx.replace(&[cast])
}

fn copy_onto_itself(cx: &mut Cx<'_, '_>) -> Option<()> {
    if cx.operand(0) != cx.operand(1) {
        return None;
    }
    cx.rewriter.erase(cx.op);
    Some(())
}
