//! Folders of floating-point operations.
//!
//! Sums, products and quotients of the formats up to `f32` are computed in `f64` and rounded
//! once more, which gives the nearest number: `f64` has more than twice their digits.

use tangram_ir::{Attr, AttrData, Fold, FoldCx};

use crate::mlir::fold::Look;
use crate::mlir::fold::number::{self, Number};

pub(super) fn addf(cx: &FoldCx<'_>) -> Option<Fold> {
    neutral(cx, -0.0, |a, b| a + b)
}

pub(super) fn subf(cx: &FoldCx<'_>) -> Option<Fold> {
    neutral(cx, 0.0, |a, b| a - b)
}

/// A product with zero is zero where neither NaN nor the sign of zero counts.
pub(super) fn mulf(cx: &FoldCx<'_>) -> Option<Fold> {
    let flags = cx.module.attr(cx.op, "fastmath").map(|attr| cx.context().attr_data(attr));
    let ignores = |flag| match flags {
        Some(AttrData::Opaque(text)) => {
            let text = cx.context().text(*text);
            text.contains(flag) || text.ends_with("<fast>")
        }
        _ => false,
    };
    if cx.float(1) == Some(0.0) && ignores("nnan") && ignores("nsz") {
        return cx.give(1);
    }
    neutral(cx, 1.0, |a, b| a * b)
}

pub(super) fn divf(cx: &FoldCx<'_>) -> Option<Fold> {
    neutral(cx, 1.0, |a, b| a / b)
}

pub(super) fn remf(cx: &FoldCx<'_>) -> Option<Fold> {
    computed(cx, |a, b| a % b)
}

pub(super) fn maximumf(cx: &FoldCx<'_>) -> Option<Fold> {
    extremum(cx, f64::NEG_INFINITY, maximum)
}

pub(super) fn minimumf(cx: &FoldCx<'_>) -> Option<Fold> {
    extremum(cx, f64::INFINITY, |a, b| -maximum(-a, -b))
}

pub(super) fn maxnumf(cx: &FoldCx<'_>) -> Option<Fold> {
    extremum(cx, f64::NAN, |a, b| number_or(a, b, maximum(a, b)))
}

pub(super) fn minnumf(cx: &FoldCx<'_>) -> Option<Fold> {
    extremum(cx, f64::NAN, |a, b| number_or(a, b, -maximum(-a, -b)))
}

/// The greater, with -0 below +0; NaN if either is.
fn maximum(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else if a > b || a == b && b.is_sign_negative() {
        a
    } else {
        b
    }
}

/// `both`, unless one of them is NaN: then the other.
fn number_or(a: f64, b: f64, both: f64) -> f64 {
    match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ => both,
    }
}

/// `f` of two constants. A result that is NaN is the operand that is, made quiet, the left one
/// first; the one without sign and payload where none is.
fn computed(cx: &FoldCx<'_>, f: impl Fn(f64, f64) -> f64) -> Option<Fold> {
    let args: [Attr; 2] = [cx.constant(0)?, cx.constant(1)?];
    let each = |row: &[Number]| match row {
        &[Number::Float(a), Number::Float(b)] => {
            let value = f(a, b);
            Some(Number::Float(if value.is_nan() { nan_of(a, b) } else { value }))
        }
        _ => None,
    };
    number::map(cx.context(), cx.ty(), &args, each).map(Fold::attr)
}

/// What operations make of `a` and `b` that have no number as their result.
fn nan_of(a: f64, b: f64) -> f64 {
    const QUIET: u64 = 1 << 51;
    let nan = [a, b].into_iter().find(|value| value.is_nan());
    f64::from_bits(nan.map_or(0x7ff8_0000_0000_0000, |nan| nan.to_bits() | QUIET))
}

/// `x ∘ neutral = x`, or `f` of two constants.
fn neutral(cx: &FoldCx<'_>, neutral: f64, f: impl Fn(f64, f64) -> f64) -> Option<Fold> {
    if cx.float(1).is_some_and(|value| value.to_bits() == neutral.to_bits()) {
        return cx.give(0);
    }
    computed(cx, f)
}

fn extremum(cx: &FoldCx<'_>, neutral: f64, f: impl Fn(f64, f64) -> f64) -> Option<Fold> {
    if cx.operand(0) == cx.operand(1) {
        return cx.give(0);
    }
    let same = |value: f64| value == neutral || value.is_nan() && neutral.is_nan();
    if cx.float(1).is_some_and(same) {
        return cx.give(0);
    }
    computed(cx, f)
}

pub(super) fn negf(cx: &FoldCx<'_>) -> Option<Fold> {
    let def = cx.module.def_op(cx.operand(0))?;
    if cx.module.name(def) == cx.known().negf {
        return Some(Fold::value(cx.module.operand(def, 0)));
    }
    let each = |row: &[Number]| match row {
        &[Number::Float(a)] => Some(Number::Float(-a)),
        _ => None,
    };
    number::map(cx.context(), cx.ty(), &[cx.constant(0)?], each).map(Fold::attr)
}
