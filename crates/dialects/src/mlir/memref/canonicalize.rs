//! Folding and canonicalisation of `memref`.

use tangram_ir::{Fold, FoldCx, Op, Type, TypeData, Value};

use crate::mlir::extents::operand_of_extent;
use crate::mlir::fold::{Cx, Known, Look, Rewrite};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] = &[
    ("buffer-only-written", &["memref.alloc", "memref.alloca"], only_written),
    ("buffer-of-known-size", &["memref.alloc", "memref.alloca"], of_known_size),
    ("copy-onto-itself", &["memref.copy"], copy_onto_itself),
    ("access-past-cast", ACCESSES, access_past_cast),
];

const ACCESSES: &[&str] =
    &["memref.load", "memref.store", "memref.dealloc", "memref.dim", "affine.load", "affine.store"];

/// The extents of a buffer's type; `None` in it for those that are not constant.
fn extents(context: &tangram_ir::Context, ty: Type) -> Option<Vec<Option<i64>>> {
    match context.type_data(ty) {
        TypeData::MemRef { dims, .. } => Some(dims.iter().map(|dim| dim.as_static()).collect()),
        _ => None,
    }
}

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

/// A buffer that is written and freed but never read.
fn only_written(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
    let buffer = module.result(cx.op, 0);
    let mut users: Vec<Op> = Vec::new();
    for used in module.uses(buffer) {
        let name = module.name(used.op);
        let goes = name == cx.known.dealloc || name == cx.known.store && used.index == 1;
        if !goes {
            return None;
        }
        users.push(used.op);
    }
    for user in users {
        cx.rewriter.erase(user);
    }
    cx.rewriter.erase(cx.op);
    Some(())
}

/// Extents that are constant become part of the type; a cast gives the old type back.
fn of_known_size(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
    let ty = cx.ty();
    let TypeData::MemRef { dims, layout: None, .. } = cx.context.type_data(ty) else {
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

/// An access to a buffer behind a cast that only forgets extents.
fn access_past_cast(cx: &mut Cx<'_, '_>) -> Option<()> {
    let at = usize::from(matches!(cx.module().name_text(cx.op), "memref.store" | "affine.store"));
    let cast = cx.def(at, cx.known.memref_cast)?;
    let source = cx.module().operand(cast, 0);
    let (from, to) = (cx.type_of(source), cx.type_of(cx.operand(at)));
    let (from_dims, to_dims) = (extents(cx.context, from)?, extents(cx.context, to)?);
    let forgets = from_dims.len() == to_dims.len()
        && from_dims.iter().zip(&to_dims).all(|(a, b)| a == b || b.is_none());
    if !forgets {
        return None;
    }
    cx.rewriter.set_operand(cx.op, at, source);
    Some(())
}
