//! Canonicalisation of one value everywhere: in other shapes, padded with itself, and as the
//! background of what is inserted.

use tangram_ir::{Op, Value};

use crate::mlir::extents::DYNAMIC;
use crate::mlir::fold::number::element_type;
use crate::mlir::fold::{Cx, Rewrite};
use crate::mlir::mixed::{Entry, Mixed, OFFSETS, SIZES, STRIDES};
use crate::mlir::tensor::{extents, is_static, padded_with, sum};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] = &[
    ("transpose-of-fill", &["linalg.transpose"], transpose_of_fill),
    ("pack-of-fill", &["linalg.pack"], pack_of_fill),
    ("pad-of-fill", &["tensor.pad"], pad_of_fill),
    ("reshape-of-fill", RESHAPES, reshape_of_fill),
    ("copy-of-fill", &["linalg.copy"], copy_of_fill),
    ("copy-onto-fill", &["linalg.copy"], copy_onto_fill),
    ("extract-of-fill", &["tensor.extract"], extract_of_fill),
    ("concat-of-fills", &["tensor.concat"], concat_of_fills),
    ("insert-padded-into-fill", &["tensor.insert_slice"], insert_padded_into_fill),
];

const RESHAPES: &[&str] = &["tensor.collapse_shape", "tensor.expand_shape"];

/// The fill that defines `value`.
fn fill(cx: &Cx<'_, '_>, value: Value) -> Option<Op> {
    cx.def_of(value, cx.context.name("linalg.fill"))
}

/// Replaces the operation by `init`, which has its type, filled as `fill` does.
fn refill(cx: &mut Cx<'_, '_>, fill: Op, init: Value) -> Option<()> {
    let (value, ty) = (cx.module().operand(fill, 0), cx.ty());
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

fn transpose_of_fill(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (fill, init) = (fill(cx, cx.operand(0))?, cx.operand(1));
    (cx.module().result_count(cx.op) > 0).then(|| refill(cx, fill, init))?
}

/// A filled tensor in tiles is filled tiles, where what completes them is that value.
fn pack_of_fill(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (fill, init) = (fill(cx, cx.operand(0))?, cx.operand(1));
    let value = cx.module().operand(fill, 0);
    let same = super::packing::padding(cx.module(), cx.op).is_none_or(|padding| {
        let constant = |value| cx.module().constant_value(value);
        padding == value || constant(padding).is_some() && constant(padding) == constant(value)
    });
    same.then(|| refill(cx, fill, init))?
}

/// What is around a filled tensor is that value as well.
fn pad_of_fill(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (fill, ty) = (fill(cx, cx.operand(0))?, cx.ty());
    let value = cx.module().operand(fill, 0);
    if !padded_with(cx, cx.op, value) || !is_static(cx, ty) {
        return None;
    }
    let empty = cx.value(cx.context.name("tensor.empty"), &[], ty);
    refill(cx, fill, empty)
}

/// The output gets the other shape, then it is filled.
fn reshape_of_fill(cx: &mut Cx<'_, '_>) -> Option<()> {
    let fill = fill(cx, cx.operand(0))?;
    let (init, ty) = (cx.module().operand(fill, 1), cx.ty());
    let mut operands: Vec<Value> = cx.module().operands(cx.op).collect();
    operands[0] = init;
    let (name, attrs) = (cx.module().name(cx.op), cx.module().attrs(cx.op));
    let made = cx.make(name, &operands, attrs, &[ty]);
    let init = cx.module().result(made, 0);
    refill(cx, fill, init)
}

/// What is written over is filled directly, unless the copy turns elements into others: what fill
/// and copy lose is not what one of them loses.
fn copy_of_fill(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (fill, init) = (fill(cx, cx.operand(0))?, cx.operand(1));
    let element = |value| element_type(cx.context, cx.type_of(value));
    let same = element(cx.operand(0)) == element(init);
    (same && cx.module().result_count(cx.op) > 0).then(|| refill(cx, fill, init))?
}

/// What is written over need not be filled.
fn copy_onto_fill(cx: &mut Cx<'_, '_>) -> Option<()> {
    let fill = fill(cx, cx.operand(1))?;
    let init = cx.module().operand(fill, 1);
    (cx.type_of(init) == cx.ty()).then(|| cx.rewriter.set_operand(cx.op, 1, init))
}

/// The value that a tensor is filled with.
fn extract_of_fill(cx: &mut Cx<'_, '_>) -> Option<()> {
    let fill = fill(cx, cx.operand(0))?;
    let value = cx.module().operand(fill, 0);
    cx.replace(&[value])
}

/// Tensors filled with one value, one after the other, are one that is filled.
fn concat_of_fills(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
    let fills: Option<Vec<Op>> = module.operands(cx.op).map(|value| fill(cx, value)).collect();
    let fills = fills?;
    let value = module.operand(*fills.first()?, 0);
    let constant = module.constant_value(value);
    let same = fills.iter().all(|&fill| {
        let other = module.operand(fill, 0);
        other == value || constant.is_some() && module.constant_value(other) == constant
    });
    if !same {
        return None;
    }
    let inits: Vec<Value> = fills.iter().map(|&fill| module.operand(fill, 1)).collect();
    let (name, attrs, ty) = (module.name(cx.op), module.attrs(cx.op), cx.ty());
    let made = cx.make(name, &inits, attrs, &[ty]);
    let init = cx.module().result(made, 0);
    refill(cx, fills[0], init)
}

/// A part that is padded with what is there already: only the part is inserted.
fn insert_padded_into_fill(cx: &mut Cx<'_, '_>) -> Option<()> {
    let pad = cx.def(0, cx.context.name("tensor.pad"))?;
    let module = cx.module();
    let mut place = Mixed::of(module, cx.op)?;
    let around = Mixed::of(module, pad)?;
    let source = module.operand(pad, 0);
    let sizes = extents(cx, cx.type_of(source))?;
    let known = extents(cx, cx.type_of(cx.operand(1)))?.len() == place.lists[SIZES].len();
    if !known || sizes.len() != place.lists[SIZES].len() || sizes.contains(&None) {
        return None;
    }
    if !place.all_are(STRIDES, 1) || module.attr(pad, "nofold").is_some() {
        return None;
    }
    let fill = background(cx, &place)?;
    if !padded_with(cx, pad, module.operand(fill, 0)) {
        return None;
    }
    let low = &around.lists[0];
    let offsets = place.lists[OFFSETS].iter().zip(low);
    let overflows = |(a, b): (&Entry, &Entry)| {
        a.number().zip(b.number()).is_some_and(|(a, b)| a.checked_add(b).is_none())
    };
    if offsets.clone().any(overflows) {
        return None;
    }
    let offsets: Vec<(Entry, Entry)> = offsets.map(|(a, b)| (*a, *b)).collect();
    place.lists[OFFSETS] =
        offsets.into_iter().map(|(a, b)| sum(cx, a, b)).collect::<Option<Vec<_>>>()?;
    place.lists[SIZES] = sizes.into_iter().flatten().map(Entry::Number).collect();
    place.front[0] = source;
    let (operands, attrs) = (place.operands(), place.attrs(cx, cx.module().attrs(cx.op)));
    cx.rewriter.modify_in_place(cx.op, |edit| {
        edit.set_operands(&operands);
        edit.set_attrs(attrs);
    });
    Some(())
}

/// The fill that is all that was written at `place` of the tensor into which the operation
/// inserts: what was inserted before lies elsewhere.
fn background(cx: &Cx<'_, '_>, place: &Mixed) -> Option<Op> {
    let insert = cx.context.name("tensor.insert_slice");
    let mut value = cx.operand(1);
    while let Some(before) = cx.def_of(value, insert) {
        let other = Mixed::of(cx.module(), before)?;
        if !other.all_are(STRIDES, 1) || !apart(place, &other) {
            return None;
        }
        value = cx.module().operand(before, 1);
    }
    fill(cx, value)
}

/// Returns whether two parts with steps of 1 have no element in common.
fn apart(a: &Mixed, b: &Mixed) -> bool {
    let range = |part: &Mixed, at: usize| {
        let (first, size) = (part.held(OFFSETS)[at], part.held(SIZES)[at]);
        let known = first != DYNAMIC && size != DYNAMIC;
        known.then(|| first.checked_add(size).map(|end| (first, end)))?
    };
    let rank = a.lists[OFFSETS].len().min(b.lists[OFFSETS].len());
    (0..rank).any(|at| match (range(a, at), range(b, at)) {
        (Some((a, a_end)), Some((b, b_end))) => a_end <= b || b_end <= a,
        _ => false,
    })
}
