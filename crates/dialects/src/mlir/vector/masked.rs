//! Reads and writes of neighbouring or scattered elements whose masks are known.

use tangram_ir::{Attr, OpState, Point, Value};

use super::reductions::is_all_set;
use crate::mlir::extents::list;
use crate::mlir::fold::{Cx, Rewrite};

/// The patterns, with their roots.
pub(super) const REWRITES: &[Rewrite] = &[
    ("load-of-all", &["vector.maskedload", "vector.expandload"], load_of_all),
    ("store-of-all", &["vector.maskedstore", "vector.compressstore"], store_of_all),
    ("load-of-nothing", LOADS, load_of_nothing),
    ("store-of-nothing", STORES, store_of_nothing),
];

const LOADS: &[&str] = &["vector.maskedload", "vector.expandload", "vector.gather"];
const STORES: &[&str] = &["vector.maskedstore", "vector.compressstore", "vector.scatter"];

/// The operands in front of the mask, the mask, and what follows.
fn parts(cx: &Cx<'_, '_>) -> Option<(Vec<Value>, Value, Value)> {
    let operands: Vec<Value> = cx.module().operands(cx.op).collect();
    let (&[mask, last], front) = operands.split_last_chunk().map(|(front, last)| (last, front))?;
    Some((front.to_vec(), mask, last))
}

/// Returns whether the mask `value` is set nowhere.
fn is_unset(cx: &Cx<'_, '_>, value: Value) -> bool {
    let constant = cx.def_of(value, cx.context.name("vector.constant_mask"));
    let sizes = constant.and_then(|def| list(cx.module(), def, "mask_dim_sizes"));
    cx.int(value) == Some(0) || sizes.is_some_and(|sizes| sizes.contains(&0))
}

/// What an access without a mask has of the attributes of this one.
fn attrs(cx: &Cx<'_, '_>) -> Attr {
    let alignment = cx.module().attr(cx.op, "alignment");
    cx.context.dict(alignment.map(|attr| (cx.context.str("alignment"), attr)))
}

fn load_of_all(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (front, mask, _) = parts(cx)?;
    if !is_all_set(cx, mask) {
        return None;
    }
    let (attrs, ty) = (attrs(cx), cx.ty());
    let made = cx.make(cx.context.name("vector.load"), &front, attrs, &[ty]);
    let value = cx.module().result(made, 0);
    cx.replace(&[value])
}

fn store_of_all(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (front, mask, value) = parts(cx)?;
    if !is_all_set(cx, mask) {
        return None;
    }
    let state = OpState {
        operands: [value].into_iter().chain(front).collect(),
        attrs: attrs(cx),
        ..OpState::new(cx.context.name("vector.store"), cx.loc())
    };
    cx.rewriter.create(Point::Before(cx.op), state);
    cx.rewriter.erase(cx.op);
    Some(())
}

fn load_of_nothing(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (_, mask, passed) = parts(cx)?;
    is_unset(cx, mask).then(|| cx.replace(&[passed]))?
}

/// A tensor that nothing is written to is the one that was given.
fn store_of_nothing(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (front, mask, _) = parts(cx)?;
    if !is_unset(cx, mask) {
        return None;
    }
    match cx.module().result_count(cx.op) {
        0 => {
            cx.rewriter.erase(cx.op);
            Some(())
        }
        _ => cx.replace(&[*front.first()?]),
    }
}
