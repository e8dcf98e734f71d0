//! Folders of integer operations.

use tangram_ir::{Attr, AttrData, Fold, FoldCx, Module, Op, Value};

use crate::mlir::fold::Look;
use crate::mlir::fold::number::{self, Number, unsigned, wrap};

pub(super) fn divsi(cx: &FoldCx<'_>) -> Option<Fold> {
    if let Some(factor) = other_factor(cx, "nsw") {
        return Some(Fold::value(factor));
    }
    divide(cx, |a, b, w| quotient(a, b, w, a.checked_div(b)?))
}

pub(super) fn divui(cx: &FoldCx<'_>) -> Option<Fold> {
    if let Some(factor) = other_factor(cx, "nuw") {
        return Some(Fold::value(factor));
    }
    divide(cx, |a, b, w| unsigned(a, w).checked_div(unsigned(b, w)))
}

pub(super) fn ceildivsi(cx: &FoldCx<'_>) -> Option<Fold> {
    divide(cx, |a, b, w| quotient(a, b, w, -(-a).checked_div_euclid_floor(b)?))
}

pub(super) fn ceildivui(cx: &FoldCx<'_>) -> Option<Fold> {
    divide(cx, |a, b, w| {
        let (a, b) = (unsigned(a, w), unsigned(b, w));
        (b != 0).then(|| (a + b - 1) / b)
    })
}

pub(super) fn floordivsi(cx: &FoldCx<'_>) -> Option<Fold> {
    divide(cx, |a, b, w| quotient(a, b, w, a.checked_div_euclid_floor(b)?))
}

pub(super) fn remsi(cx: &FoldCx<'_>) -> Option<Fold> {
    remainder(cx, |a, b, _| a.checked_rem(b))
}

pub(super) fn remui(cx: &FoldCx<'_>) -> Option<Fold> {
    remainder(cx, |a, b, w| unsigned(a, w).checked_rem(unsigned(b, w)))
}

pub(super) fn shli(cx: &FoldCx<'_>) -> Option<Fold> {
    shift(cx, |a, n, _| a << n)
}

pub(super) fn shrsi(cx: &FoldCx<'_>) -> Option<Fold> {
    shift(cx, |a, n, _| a >> n)
}

pub(super) fn shrui(cx: &FoldCx<'_>) -> Option<Fold> {
    shift(cx, |a, n, w| unsigned(a, w) >> n)
}

pub(super) fn maxsi(cx: &FoldCx<'_>) -> Option<Fold> {
    extremum(cx, least_signed, greatest_signed, |a, b, _| a.max(b))
}

pub(super) fn minsi(cx: &FoldCx<'_>) -> Option<Fold> {
    extremum(cx, greatest_signed, least_signed, |a, b, _| a.min(b))
}

pub(super) fn maxui(cx: &FoldCx<'_>) -> Option<Fold> {
    extremum(cx, |_| 0, |_| -1, |a, b, w| if unsigned(a, w) > unsigned(b, w) { a } else { b })
}

pub(super) fn minui(cx: &FoldCx<'_>) -> Option<Fold> {
    extremum(cx, |_| -1, |_| 0, |a, b, w| if unsigned(a, w) < unsigned(b, w) { a } else { b })
}

/// Division that rounds down.
trait Floor: Sized {
    fn checked_div_euclid_floor(self, by: Self) -> Option<Self>;
}

impl Floor for i128 {
    fn checked_div_euclid_floor(self, by: i128) -> Option<i128> {
        let quotient = self.checked_div(by)?;
        Some(if self % by != 0 && (self < 0) != (by < 0) { quotient - 1 } else { quotient })
    }
}

fn least_signed(width: u32) -> i128 {
    -(1 << (width - 1))
}

fn greatest_signed(width: u32) -> i128 {
    (1 << (width - 1)) - 1
}

/// A signed quotient, unless it overflows.
fn quotient(_: i128, _: i128, width: u32, quotient: i128) -> Option<i128> {
    (quotient <= greatest_signed(width)).then_some(quotient)
}

/// `f` of two constants.
fn computed(cx: &FoldCx<'_>, f: impl Fn(i128, i128, u32) -> Option<i128>) -> Option<Fold> {
    let args: [Attr; 2] = [cx.constant(0)?, cx.constant(1)?];
    let width = number::int_width(cx.context(), cx.ty())?;
    let each = |row: &[Number]| match row {
        &[Number::Int(a), Number::Int(b)] => f(a, b, width).map(Number::Int),
        _ => None,
    };
    number::map(cx.context(), cx.ty(), &args, each).map(Fold::attr)
}

/// The operands of the operation named `name` that defines `value`.
fn operands_of(cx: &FoldCx<'_>, value: Value, name: tangram_ir::Name) -> Option<(Value, Value)> {
    let def = cx.module.def_op(value)?;
    (cx.module.name(def) == name).then(|| (cx.module.operand(def, 0), cx.module.operand(def, 1)))
}

pub(super) fn addi(cx: &FoldCx<'_>) -> Option<Fold> {
    if cx.int(1) == Some(0) {
        return cx.give(0);
    }
    if let Some(folded) = computed(cx, |a, b, _| Some(a + b)) {
        return Some(folded);
    }
    // (a - b) + b, b + (a - b)
    let (lhs, rhs) = (cx.operand(0), cx.operand(1));
    for (difference, other) in [(lhs, rhs), (rhs, lhs)] {
        if let Some((a, b)) = operands_of(cx, difference, cx.known().subi)
            && b == other
        {
            return Some(Fold::value(a));
        }
    }
    None
}

pub(super) fn subi(cx: &FoldCx<'_>) -> Option<Fold> {
    let (lhs, rhs) = (cx.operand(0), cx.operand(1));
    if lhs == rhs {
        return cx.whole(0);
    }
    if cx.int(1) == Some(0) {
        return cx.give(0);
    }
    if let Some(folded) = computed(cx, |a, b, _| Some(a - b)) {
        return Some(folded);
    }
    match operands_of(cx, lhs, cx.known().addi)? {
        (a, b) if b == rhs => Some(Fold::value(a)),
        (a, b) if a == rhs => Some(Fold::value(b)),
        _ => None,
    }
}

pub(super) fn muli(cx: &FoldCx<'_>) -> Option<Fold> {
    match cx.int(1) {
        Some(0) => cx.whole(0),
        // The 1 of `i1` is all ones.
        Some(value) if is_one(cx, value) => cx.give(0),
        _ => computed(cx, |a, b, _| Some(a.wrapping_mul(b))),
    }
}

fn is_one(cx: &FoldCx<'_>, value: i128) -> bool {
    number::int_width(cx.context(), cx.ty()).is_some_and(|width| wrap(1, width) == value)
}

/// Returns whether `op` does not overflow, as `flag` says: `nsw` or `nuw`.
pub(in crate::mlir) fn has_flag(module: &Module, op: Op, flag: &str) -> bool {
    let flags = module.attr(op, "overflowFlags").map(|attr| module.context().attr_data(attr));
    matches!(flags, Some(AttrData::Opaque(text)) if module.context().text(*text).contains(flag))
}

/// `b`, where `a * b`, which does not overflow as `flag` says, is divided by `a`.
fn other_factor(cx: &FoldCx<'_>, flag: &str) -> Option<Value> {
    let product = cx.module.def_op(cx.operand(0))?;
    if cx.module.name(product) != cx.known().muli || product == cx.op {
        return None;
    }
    let (a, b) = (cx.module.operand(product, 0), cx.module.operand(product, 1));
    if !has_flag(cx.module, product, flag) {
        return None;
    }
    let by = cx.operand(1);
    let factor = if by == a { b } else { a };
    ((by == a || by == b) && cx.module.def_op(factor) != Some(product)).then_some(factor)
}

fn divide(cx: &FoldCx<'_>, f: impl Fn(i128, i128, u32) -> Option<i128>) -> Option<Fold> {
    // In `i1` the number -1 is the signed one; dividing by it overflows or changes nothing.
    if cx.int(1).is_some_and(|value| is_one(cx, value)) {
        return cx.give(0);
    }
    computed(cx, f)
}

fn remainder(cx: &FoldCx<'_>, f: impl Fn(i128, i128, u32) -> Option<i128>) -> Option<Fold> {
    if cx.int(1).is_some_and(|value| is_one(cx, value)) {
        return cx.whole(0);
    }
    computed(cx, f)
}

/// Returns whether one of two values is the other with all bits turned.
fn are_complements(cx: &FoldCx<'_>) -> bool {
    let (lhs, rhs) = (cx.operand(0), cx.operand(1));
    [(lhs, rhs), (rhs, lhs)].into_iter().any(|(not, value)| {
        operands_of(cx, not, cx.known().xori).is_some_and(|(a, ones)| {
            let attr = cx.module.constant_value(ones);
            a == value && attr.and_then(|attr| number::as_int(cx.context(), attr)) == Some(-1)
        })
    })
}

/// `a` where the operation is `a ∘ b` and one operand is `a ∘ b` itself.
fn absorbed(cx: &FoldCx<'_>, name: tangram_ir::Name) -> Option<Fold> {
    let (lhs, rhs) = (cx.operand(0), cx.operand(1));
    for (outer, other) in [(lhs, rhs), (rhs, lhs)] {
        if let Some((a, b)) = operands_of(cx, outer, name)
            && (a == other || b == other)
        {
            return Some(Fold::value(outer));
        }
    }
    None
}

pub(super) fn andi(cx: &FoldCx<'_>) -> Option<Fold> {
    match cx.int(1) {
        Some(0) => return cx.whole(0),
        Some(-1) => return cx.give(0),
        _ if cx.operand(0) == cx.operand(1) => return cx.give(0),
        _ if are_complements(cx) => return cx.whole(0),
        _ => {}
    }
    computed(cx, |a, b, _| Some(a & b)).or_else(|| absorbed(cx, cx.known().andi))
}

pub(super) fn ori(cx: &FoldCx<'_>) -> Option<Fold> {
    match cx.int(1) {
        Some(0) => return cx.give(0),
        Some(-1) => return cx.whole(-1),
        _ if cx.operand(0) == cx.operand(1) => return cx.give(0),
        _ if are_complements(cx) => return cx.whole(-1),
        _ => {}
    }
    computed(cx, |a, b, _| Some(a | b)).or_else(|| absorbed(cx, cx.known().ori))
}

pub(super) fn xori(cx: &FoldCx<'_>) -> Option<Fold> {
    let (lhs, rhs) = (cx.operand(0), cx.operand(1));
    if lhs == rhs {
        return cx.whole(0);
    }
    if cx.int(1) == Some(0) {
        return cx.give(0);
    }
    if let Some(folded) = computed(cx, |a, b, _| Some(a ^ b)) {
        return Some(folded);
    }
    for (inner, other) in [(lhs, rhs), (rhs, lhs)] {
        match operands_of(cx, inner, cx.known().xori) {
            Some((a, b)) if b == other => return Some(Fold::value(a)),
            Some((a, b)) if a == other => return Some(Fold::value(b)),
            _ => {}
        }
    }
    None
}

fn shift(cx: &FoldCx<'_>, f: impl Fn(i128, u32, u32) -> i128) -> Option<Fold> {
    if cx.int(1) == Some(0) {
        return cx.give(0);
    }
    // A shift by the width or more gives no number to rely on.
    computed(cx, |a, n, width| {
        let n = u32::try_from(unsigned(n, width)).ok().filter(|&n| n < width)?;
        Some(f(a, n, width))
    })
}

/// The greater or smaller of two, where `neutral` changes nothing and `end` swallows all.
fn extremum(
    cx: &FoldCx<'_>,
    neutral: impl Fn(u32) -> i128,
    end: impl Fn(u32) -> i128,
    f: impl Fn(i128, i128, u32) -> i128,
) -> Option<Fold> {
    if cx.operand(0) == cx.operand(1) {
        return cx.give(0);
    }
    let width = number::int_width(cx.context(), cx.ty())?;
    let right = cx.int(1)?;
    if right == end(width) {
        return cx.give(1);
    }
    if right == neutral(width) {
        return cx.give(0);
    }
    computed(cx, |a, b, width| Some(f(a, b, width)))
}
