//! Canonicalisation of views of buffers: those that are the whole buffer, views of views, and
//! constants among offsets, sizes and strides.

use tangram_ir::{AttrData, Module, Op, Type, Value};

use super::layout::{
    Layout, before_cast, buffer, cast_to, extents, is_static, layout, may_be_cast, remake, retyped,
};
use crate::mlir::extents::{in_bounds, operand_of_extent};
use crate::mlir::fold::{Cx, Rewrite};
use crate::mlir::mixed::{Entry, Mixed, OFFSETS, SIZES, STRIDES};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] = &[
    ("part-by-numbers", &["memref.subview"], part_by_numbers),
    ("reinterpret-by-numbers", &["memref.reinterpret_cast"], reinterpret_by_numbers),
    ("subview-of-all", &["memref.subview"], subview_of_all),
    ("reinterpret-past-view", &["memref.reinterpret_cast"], reinterpret_past_view),
    ("reinterpret-as-itself", &["memref.reinterpret_cast"], reinterpret_as_itself),
    ("transpose-by-nothing", &["memref.transpose"], transpose_by_nothing),
    ("space-cast-chain", &["memref.memory_space_cast"], space_cast_chain),
    ("view-by-numbers", &["memref.view"], view_by_numbers),
    ("view-as-itself", &["memref.view"], view_as_itself),
];

/// The layout of all dimensions of a part of a buffer of layout `source`.
fn part_layout(source: &Layout, mixed: &Mixed) -> Layout {
    let mut offset = source.offset;
    for (at, stride) in mixed.lists[OFFSETS].iter().zip(&source.strides) {
        let step = match (at.number(), stride) {
            (Some(0), _) => Some(0),
            (Some(at), Some(stride)) => at.checked_mul(*stride),
            _ => None,
        };
        offset = offset.zip(step).and_then(|(a, b)| a.checked_add(b));
    }
    let of = |(by, stride): (&Entry, &Option<i64>)| {
        by.number().zip(*stride).and_then(|(a, b)| a.checked_mul(b))
    };
    let strides = mixed.lists[STRIDES].iter().zip(&source.strides).map(of).collect();
    Layout { offset, strides }
}

/// The dimensions of a part that a type of these extents and strides shows; the others have one
/// point.
fn shown(
    sizes: &[Entry],
    strides: &[Option<i64>],
    ty: (&[Option<i64>], &[Option<i64>]),
) -> Option<Vec<usize>> {
    let (mut left, mut kept) = (ty.0.iter().zip(ty.1).peekable(), Vec::new());
    for (at, (size, stride)) in sizes.iter().zip(strides).enumerate() {
        if left.peek().is_some_and(|(n, by)| **n == size.number() && *by == stride) {
            left.next();
            kept.push(at);
        } else if *size != Entry::Number(1) {
            return None;
        }
    }
    left.next().is_none().then_some(kept)
}

/// The dimensions of a subview that its type shows.
fn shown_by(cx: &Cx<'_, '_>, mixed: &Mixed) -> Option<Vec<usize>> {
    let (ty, source) = (cx.ty(), cx.type_of(cx.operand(0)));
    let whole = part_layout(&layout(cx.context, source)?, mixed);
    let (extents, own) = (extents(cx.context, ty)?, layout(cx.context, ty)?);
    shown(&mixed.lists[SIZES], &whole.strides, (&extents, &own.strides))
}

/// The type of a part of a buffer of type `source`, of which dimensions `shown` are shown.
fn part_type(cx: &Cx<'_, '_>, source: Type, mixed: &Mixed, shown: &[usize]) -> Option<Type> {
    let whole = part_layout(&layout(cx.context, source)?, mixed);
    let sizes: Vec<Option<i64>> = shown.iter().map(|&at| mixed.lists[SIZES][at].number()).collect();
    let strides = shown.iter().map(|&at| whole.strides[at]).collect();
    retyped(cx.context, cx.ty(), &sizes, Some(&Layout { offset: whole.offset, strides }))
}

/// Constants among offsets, sizes and strides become numbers, a cast of the buffer is passed by,
/// and the type says both.
fn part_by_numbers(cx: &mut Cx<'_, '_>) -> Option<()> {
    let mut mixed = Mixed::of(cx.module(), cx.op)?;
    let shown = shown_by(cx, &mixed)?;
    let fits = |mixed: &Mixed, source: Value| {
        let dims = buffer(cx.context, cx.type_of(source))?.0;
        let [offsets, sizes, strides] = [OFFSETS, SIZES, STRIDES].map(|i| mixed.held(i));
        in_bounds(dims, &offsets, &sizes, &strides).then_some(())
    };
    let mut changed = mixed.fix(cx, |list, _, n| list == STRIDES || n >= 0);
    fits(&mixed, cx.operand(0))?;
    if let Some(source) = before_cast(cx, 0).filter(|&source| fits(&mixed, source).is_some()) {
        mixed.front[0] = source;
        changed = true;
    }
    let new_ty = part_type(cx, cx.type_of(mixed.front[0]), &mixed, &shown)?;
    if !changed || !may_be_cast(cx.context, new_ty, cx.ty()) {
        return None;
    }
    let attrs = mixed.attrs(cx, cx.module().attrs(cx.op));
    remake(cx, &mixed.operands(), attrs, new_ty)
}

fn reinterpret_by_numbers(cx: &mut Cx<'_, '_>) -> Option<()> {
    let mut mixed = Mixed::of(cx.module(), cx.op)?;
    if !mixed.fix(cx, |list, _, n| list == STRIDES || n >= 0) {
        return None;
    }
    let numbers = |list: usize| mixed.lists[list].iter().map(|entry| entry.number());
    let layout = Layout { offset: numbers(OFFSETS).next()?, strides: numbers(STRIDES).collect() };
    let sizes: Vec<Option<i64>> = numbers(SIZES).collect();
    let new_ty = retyped(cx.context, cx.ty(), &sizes, Some(&layout))?;
    if !may_be_cast(cx.context, new_ty, cx.ty()) {
        return None;
    }
    let attrs = mixed.attrs(cx, cx.module().attrs(cx.op));
    remake(cx, &mixed.operands(), attrs, new_ty)
}

/// Extent `at` of a buffer, as its type or what made it says.
fn extent(cx: &Cx<'_, '_>, source: Value, at: usize) -> Option<Entry> {
    let extents = extents(cx.context, cx.type_of(source))?;
    if let Some(known) = *extents.get(at)? {
        return Some(Entry::Number(known));
    }
    let module = cx.module();
    let def = module.def_op(source).filter(|&def| def != cx.op)?;
    let before = extents[..at].iter().filter(|extent| extent.is_none()).count();
    let makes = [cx.known.alloc, cx.known.alloca].contains(&module.name(def));
    let operand = if makes {
        module.operands(def).nth(before)
    } else {
        operand_of_extent(module, def, (at, extents.len()), before)
    };
    operand.map(Entry::Value)
}

/// Returns whether `entry` is extent `at` of `source`.
fn is_extent(cx: &Cx<'_, '_>, entry: Entry, source: Value, at: usize) -> bool {
    if extent(cx, source, at) == Some(entry) {
        return true;
    }
    let Entry::Value(value) = entry else { return false };
    let module = cx.module();
    cx.def_of(value, cx.context.name("memref.dim")).is_some_and(|dim| {
        module.operand(dim, 0) == source && cx.int(module.operand(dim, 1)) == Some(at as i128)
    })
}

/// A part that begins at the origin and has all elements of the buffer.
fn subview_of_all(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (source, ty) = (cx.operand(0), cx.ty());
    let mixed = Mixed::of(cx.module(), cx.op)?;
    let sizes = mixed.lists[SIZES].iter().enumerate();
    let all = mixed.all_are(OFFSETS, 0)
        && mixed.all_are(STRIDES, 1)
        && sizes.into_iter().all(|(at, &size)| is_extent(cx, size, source, at));
    if !all || !may_be_cast(cx.context, cx.type_of(source), ty) {
        return None;
    }
    let value = cast_to(cx, source, ty);
    cx.replace(&[value])
}

/// A reinterpretation says all of a layout: what was said before does not matter.
fn reinterpret_past_view(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
    let def = module.def_op(cx.operand(0)).filter(|&def| def != cx.op)?;
    let passes = match module.name_text(def) {
        "memref.cast" | "memref.reinterpret_cast" => true,
        "memref.extract_strided_metadata" => module.results(def).next() == Some(cx.operand(0)),
        "memref.subview" => Mixed::of(module, def)?.all_are(OFFSETS, 0),
        _ => false,
    };
    let source = if passes { module.operand(def, 0) } else { return None };
    buffer(cx.context, cx.type_of(source))?;
    cx.rewriter.set_operand(cx.op, 0, source);
    Some(())
}

fn reinterpret_as_itself(cx: &mut Cx<'_, '_>) -> Option<()> {
    let source = cx.operand(0);
    let ty = cx.type_of(source);
    let at_origin = Mixed::of(cx.module(), cx.op)?.all_are(OFFSETS, 0);
    if ty != cx.ty() || !at_origin || !is_static(cx.context, ty) {
        return None;
    }
    cx.replace(&[source])
}

/// The dimensions stay in their order, or two transpositions are one.
fn transpose_by_nothing(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
    let map = |op| cx.context.as_affine_map(module.attr(op, "permutation")?);
    let outer = map(cx.op)?.clone();
    let source = cx.operand(0);
    if outer.is_identity() && cx.type_of(source) == cx.ty() {
        return cx.replace(&[source]);
    }
    let first = cx.def(0, cx.context.name("memref.transpose"))?;
    let both = outer.compose(map(first)?)?;
    let source = module.operand(first, 0);
    let attr = cx.context.attr(AttrData::AffineMap(both));
    let name = cx.context.str("permutation");
    cx.rewriter.modify_in_place(cx.op, |edit| {
        edit.set_operand(0, source);
        edit.set_attr(name, Some(attr));
    });
    Some(())
}

fn space_cast_chain(cx: &mut Cx<'_, '_>) -> Option<()> {
    let source = cx.operand(0);
    if cx.type_of(source) == cx.ty() {
        return cx.replace(&[source]);
    }
    let first = cx.def(0, cx.context.name("memref.memory_space_cast"))?;
    let source = cx.module().operand(first, 0);
    cx.rewriter.set_operand(cx.op, 0, source);
    Some(())
}

/// The operands of `op` that say extents which its type does not say.
fn sizes(module: &Module, op: Op) -> Vec<Value> {
    module.operands(op).skip(2).collect()
}

/// Constant extents of elements in a buffer of bytes become part of the type.
fn view_by_numbers(cx: &mut Cx<'_, '_>) -> Option<()> {
    let ty = cx.ty();
    let all = sizes(cx.module(), cx.op);
    let (mut operands, mut kept) = (all.iter(), vec![cx.operand(0), cx.operand(1)]);
    let mut extents = extents(cx.context, ty)?;
    for extent in extents.iter_mut().filter(|extent| extent.is_none()) {
        let &operand = operands.next()?;
        match cx.int(operand).and_then(|n| i64::try_from(n).ok()).filter(|&n| n >= 0) {
            Some(number) => *extent = Some(number),
            None => kept.push(operand),
        }
    }
    if kept.len() == all.len() + 2 || buffer(cx.context, ty)?.1.is_some() {
        return None;
    }
    let new_ty = retyped(cx.context, ty, &extents, None)?;
    let attrs = cx.module().attrs(cx.op);
    remake(cx, &kept, attrs, new_ty)
}

/// All bytes of a buffer, as bytes.
fn view_as_itself(cx: &mut Cx<'_, '_>) -> Option<()> {
    let source = cx.operand(0);
    let ty = cx.type_of(source);
    let asked = sizes(cx.module(), cx.op);
    let all = is_static(cx.context, ty)
        || matches!(asked[..], [size] if is_extent(cx, Entry::Value(size), source, 0));
    if ty != cx.ty() || cx.int(cx.operand(1)) != Some(0) || !all {
        return None;
    }
    cx.replace(&[source])
}
