//! Folders of `index`: a number is known only if it is the same where an index has 32 bits and
//! where it has 64.

use tangram_ir::{Fold, FoldCx};

use crate::mlir::fold::Look;
use crate::mlir::fold::number::{unsigned, wrap};

/// `f` of the operands and of a width, where it does not depend on the width.
fn computed(cx: &FoldCx<'_>, f: fn(i128, i128, u32) -> i128) -> Option<Fold> {
    let (a, b) = (cx.int(0)?, cx.int(1)?);
    let wide = wrap(f(a, b, 64), 64);
    let narrow = wrap(f(wrap(a, 32), wrap(b, 32), 32), 32);
    (wrap(wide, 32) == narrow).then(|| cx.whole(wide))?
}

pub(super) fn add(cx: &FoldCx<'_>) -> Option<Fold> {
    match cx.int(1) {
        Some(0) => cx.give(0),
        _ => computed(cx, |a, b, _| a + b),
    }
}

pub(super) fn sub(cx: &FoldCx<'_>) -> Option<Fold> {
    match cx.int(1) {
        Some(0) => cx.give(0),
        _ => computed(cx, |a, b, _| a - b),
    }
}

pub(super) fn mul(cx: &FoldCx<'_>) -> Option<Fold> {
    match cx.int(1) {
        Some(0) => cx.whole(0),
        Some(1) => cx.give(0),
        _ => computed(cx, |a, b, _| a.wrapping_mul(b)),
    }
}

pub(super) fn maxs(cx: &FoldCx<'_>) -> Option<Fold> {
    computed(cx, |a, b, _| a.max(b))
}

pub(super) fn maxu(cx: &FoldCx<'_>) -> Option<Fold> {
    computed(cx, |a, b, width| unsigned(a, width).max(unsigned(b, width)))
}

pub(super) fn mins(cx: &FoldCx<'_>) -> Option<Fold> {
    computed(cx, |a, b, _| a.min(b))
}

pub(super) fn minu(cx: &FoldCx<'_>) -> Option<Fold> {
    computed(cx, |a, b, width| unsigned(a, width).min(unsigned(b, width)))
}

pub(super) fn and(cx: &FoldCx<'_>) -> Option<Fold> {
    computed(cx, |a, b, _| a & b)
}

pub(super) fn or(cx: &FoldCx<'_>) -> Option<Fold> {
    computed(cx, |a, b, _| a | b)
}

pub(super) fn xor(cx: &FoldCx<'_>) -> Option<Fold> {
    computed(cx, |a, b, _| a ^ b)
}
