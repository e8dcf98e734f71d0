//! Folders of `math`: those functions whose rounded result every machine agrees on.

use tangram_ir::{Fold, FoldCx};

use crate::mlir::fold::number::{self, Number, unsigned};

/// `f` of each element, unless the result is NaN.
fn float(cx: &FoldCx<'_>, f: fn(f64) -> f64) -> Option<Fold> {
    // The square root of a wide format is not the one of `f64`.
    number::float_kind(cx.context(), cx.ty())?;
    let each = |row: &[Number]| match row {
        &[Number::Float(a)] => {
            let value = f(a);
            (!value.is_nan()).then_some(Number::Float(value))
        }
        _ => None,
    };
    number::map(cx.context(), cx.ty(), &[cx.constant(0)?], each).map(Fold::attr)
}

pub(super) fn absf(cx: &FoldCx<'_>) -> Option<Fold> {
    float(cx, f64::abs)
}

pub(super) fn ceil(cx: &FoldCx<'_>) -> Option<Fold> {
    float(cx, f64::ceil)
}

pub(super) fn floor(cx: &FoldCx<'_>) -> Option<Fold> {
    float(cx, f64::floor)
}

pub(super) fn round(cx: &FoldCx<'_>) -> Option<Fold> {
    float(cx, f64::round)
}

pub(super) fn roundeven(cx: &FoldCx<'_>) -> Option<Fold> {
    float(cx, f64::round_ties_even)
}

pub(super) fn trunc(cx: &FoldCx<'_>) -> Option<Fold> {
    float(cx, f64::trunc)
}

pub(super) fn sqrt(cx: &FoldCx<'_>) -> Option<Fold> {
    float(cx, f64::sqrt)
}

/// `f` of each element and its width.
fn integer(cx: &FoldCx<'_>, f: fn(i128, u32) -> i128) -> Option<Fold> {
    let width = number::int_width(cx.context(), cx.ty())?;
    let each = |row: &[Number]| match row {
        &[Number::Int(a)] => Some(Number::Int(f(a, width))),
        _ => None,
    };
    number::map(cx.context(), cx.ty(), &[cx.constant(0)?], each).map(Fold::attr)
}

pub(super) fn absi(cx: &FoldCx<'_>) -> Option<Fold> {
    integer(cx, |a, _| a.abs())
}

pub(super) fn ctlz(cx: &FoldCx<'_>) -> Option<Fold> {
    integer(cx, |a, width| {
        i128::from((unsigned(a, width) as u128).leading_zeros()) - (128 - i128::from(width))
    })
}

pub(super) fn cttz(cx: &FoldCx<'_>) -> Option<Fold> {
    integer(cx, |a, width| i128::from((unsigned(a, width) as u128).trailing_zeros().min(width)))
}

pub(super) fn ctpop(cx: &FoldCx<'_>) -> Option<Fold> {
    integer(cx, |a, width| i128::from((unsigned(a, width) as u128).count_ones()))
}
