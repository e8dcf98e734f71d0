//! Canonicalisation of parts of tensors that are taken out and put in.

use tangram_ir::{Op, Point, Value};

use super::types::{extents, remake, says_more, tensor, with_extents};
use crate::mlir::extents::in_bounds;
use crate::mlir::fold::{Cx, Rewrite};
use crate::mlir::mixed::{Entry, Mixed, OFFSETS, SIZES, STRIDES, shown};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] = &[
    ("slice-by-numbers", SLICE, slice_by_numbers),
    ("insert-slice-by-numbers", INSERT, insert_by_numbers),
    ("inserted-past-cast", INSERT, inserted_past_cast),
    ("slice-of-inserted", SLICE, slice_of_inserted),
    ("insert-what-was-there", &["tensor.insert_slice"], insert_what_was_there),
    ("insert-over-inserted", &["tensor.insert_slice"], insert_over_inserted),
    ("insert-nothing", &["tensor.insert_slice"], insert_nothing),
    ("cast-of-slice", &["tensor.cast"], cast_of_slice),
];

const SLICE: &[&str] = &["tensor.extract_slice"];
const INSERT: &[&str] = &["tensor.insert_slice", "tensor.parallel_insert_slice"];

/// Returns whether no number of `mixed` is known to lead outside of the tensor `whole`.
fn fits(cx: &Cx<'_, '_>, mixed: &Mixed, whole: Value) -> Option<bool> {
    let dims = &tensor(cx, cx.type_of(whole))?.dims;
    Some(in_bounds(dims, &mixed.held(OFFSETS), &mixed.held(SIZES), &mixed.held(STRIDES)))
}

/// The sizes of `mixed` that a type shows.
fn shown_sizes(mixed: &Mixed, shown: &[usize]) -> Vec<Option<i64>> {
    shown.iter().map(|&at| mixed.lists[SIZES][at].number()).collect()
}

/// An offset or size below 0 is an error that stays as it is.
fn is_allowed(list: usize, _at: usize, n: i64) -> bool {
    list == STRIDES || n >= 0
}

/// Constants among offsets, sizes and strides become numbers.
fn slice_by_numbers(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (ty, source) = (cx.ty(), cx.operand(0));
    let mut mixed = Mixed::of(cx.module(), cx.op)?;
    let shown = shown(&mixed.lists[SIZES], &extents(cx, ty)?)?;
    if !mixed.fix(cx, is_allowed) || !fits(cx, &mixed, source)? {
        return None;
    }
    let new_ty = with_extents(cx, ty, &shown_sizes(&mixed, &shown))?;
    let attrs = mixed.attrs(cx, cx.module().attrs(cx.op));
    remake(cx, &mixed.operands(), attrs, &[new_ty])
}

/// Gives an operation that inserts other lists and another part.
fn reinsert(cx: &mut Cx<'_, '_>, mixed: &Mixed) {
    let attrs = mixed.attrs(cx, cx.module().attrs(cx.op));
    let operands = mixed.operands();
    cx.rewriter.modify_in_place(cx.op, |edit| {
        edit.set_operands(&operands);
        edit.set_attrs(attrs);
    });
}

/// As [`slice_by_numbers`]; a part whose type does not say a size that is now written is cast.
fn insert_by_numbers(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (part, whole) = (cx.operand(0), cx.operand(1));
    let ty = cx.type_of(part);
    let mut mixed = Mixed::of(cx.module(), cx.op)?;
    let shown = shown(&mixed.lists[SIZES], &extents(cx, ty)?)?;
    if !mixed.fix(cx, is_allowed) || !fits(cx, &mixed, whole)? {
        return None;
    }
    let new_ty = with_extents(cx, ty, &shown_sizes(&mixed, &shown))?;
    if new_ty != ty {
        // What ends a parallel loop holds nothing but insertions.
        let around = cx.module().parent(cx.op)?;
        let inside = cx.module().name_text(around) == "scf.forall.in_parallel";
        let point = Point::Before(if inside { around } else { cx.op });
        let mut state = tangram_ir::OpState::new(cx.context.name("tensor.cast"), cx.loc());
        state.operands = [part].as_slice().into();
        state.results = [new_ty].as_slice().into();
        let cast = cx.rewriter.create(point, state);
        mixed.front[0] = cx.module().result(cast, 0);
    }
    reinsert(cx, &mixed);
    Some(())
}

/// What is inserted may say its extents, which are then those of the place.
fn inserted_past_cast(cx: &mut Cx<'_, '_>) -> Option<()> {
    let cast = cx.def(0, cx.context.name("tensor.cast"))?;
    let (source, whole) = (cx.module().operand(cast, 0), cx.operand(1));
    let (from, ty) = (cx.type_of(source), cx.type_of(cx.operand(0)));
    if !says_more(cx, from, ty) {
        return None;
    }
    let mut mixed = Mixed::of(cx.module(), cx.op)?;
    let shown = shown(&mixed.lists[SIZES], &extents(cx, ty)?)?;
    for (at, extent) in shown.into_iter().zip(extents(cx, from)?) {
        let Some(extent) = extent else { continue };
        match &mut mixed.lists[SIZES][at] {
            Entry::Number(n) if *n != extent => return None,
            entry => *entry = Entry::Number(extent),
        }
    }
    if !fits(cx, &mixed, whole)? {
        return None;
    }
    mixed.front[0] = source;
    reinsert(cx, &mixed);
    Some(())
}

/// The operation called `name` that defines `value`, and its lists, if they are those of `lists`.
fn at_same_place(cx: &Cx<'_, '_>, value: Value, name: &str, lists: &Mixed) -> Option<Op> {
    let def = cx.def_of(value, cx.context.name(name))?;
    let other = Mixed::of(cx.module(), def)?;
    (other.lists == lists.lists).then_some(def)
}

/// The part that was just put there.
fn slice_of_inserted(cx: &mut Cx<'_, '_>) -> Option<()> {
    let mixed = Mixed::of(cx.module(), cx.op)?;
    let insert = at_same_place(cx, cx.operand(0), "tensor.insert_slice", &mixed)?;
    let part = cx.module().operand(insert, 0);
    cx.replace(&[part])
}

/// A part is put back where it was taken from.
fn insert_what_was_there(cx: &mut Cx<'_, '_>) -> Option<()> {
    let mixed = Mixed::of(cx.module(), cx.op)?;
    let slice = at_same_place(cx, cx.operand(0), "tensor.extract_slice", &mixed)?;
    let whole = cx.operand(1);
    (cx.module().operand(slice, 0) == whole).then(|| cx.replace(&[whole]))?
}

/// What is overwritten does not have to be written.
fn insert_over_inserted(cx: &mut Cx<'_, '_>) -> Option<()> {
    let mixed = Mixed::of(cx.module(), cx.op)?;
    let first = at_same_place(cx, cx.operand(1), "tensor.insert_slice", &mixed)?;
    let (part, whole) = (cx.module().operand(first, 0), cx.module().operand(first, 1));
    if cx.type_of(part) != cx.type_of(cx.operand(0)) {
        return None;
    }
    cx.rewriter.set_operand(cx.op, 1, whole);
    Some(())
}

fn insert_nothing(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (part, whole) = (cx.operand(0), cx.operand(1));
    let empty = extents(cx, cx.type_of(part))?.contains(&Some(0));
    empty.then(|| cx.replace(&[whole]))?
}

/// A part whose extents the cast knows.
fn cast_of_slice(cx: &mut Cx<'_, '_>) -> Option<()> {
    let def = super::casts::cast_source(cx, "tensor.extract_slice")?;
    let ty = cx.ty();
    let mut mixed = Mixed::of(cx.module(), def)?;
    let shown = shown(&mixed.lists[SIZES], &extents(cx, cx.type_of(cx.operand(0)))?)?;
    for (at, extent) in shown.into_iter().zip(extents(cx, ty)?) {
        if let Some(extent) = extent {
            mixed.lists[SIZES][at] = Entry::Number(extent);
        }
    }
    if !fits(cx, &mixed, mixed.front[0])? {
        return None;
    }
    let (name, attrs) = (cx.module().name(def), mixed.attrs(cx, cx.module().attrs(def)));
    let made = cx.make(name, &mixed.operands(), attrs, &[ty]);
    let value = cx.module().result(made, 0);
    cx.replace(&[value])
}
