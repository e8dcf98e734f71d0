//! Folders of conversions.

use tangram_ir::{Fold, FoldCx, Name};

use crate::mlir::fold::Look;
use crate::mlir::fold::number::{self, Number, float_kind, int_width, unsigned};

pub(super) fn extsi(cx: &FoldCx<'_>) -> Option<Fold> {
    computed(cx, |n, _| int(n))
}

pub(super) fn extui(cx: &FoldCx<'_>) -> Option<Fold> {
    computed(cx, |n, from| Some(Number::Int(unsigned(as_int(n)?, from))))
}

pub(super) fn extf(cx: &FoldCx<'_>) -> Option<Fold> {
    computed(cx, |n, _| float(n))
}

pub(super) fn sitofp(cx: &FoldCx<'_>) -> Option<Fold> {
    computed(cx, |n, _| exact(as_int(n)?))
}

pub(super) fn uitofp(cx: &FoldCx<'_>) -> Option<Fold> {
    computed(cx, |n, from| exact(unsigned(as_int(n)?, from)))
}

pub(super) fn fptosi(cx: &FoldCx<'_>) -> Option<Fold> {
    float_to_int(cx, true)
}

pub(super) fn fptoui(cx: &FoldCx<'_>) -> Option<Fold> {
    float_to_int(cx, false)
}

pub(super) fn index_cast(cx: &FoldCx<'_>) -> Option<Fold> {
    there_and_back(cx, cx.known().index_cast, |n, _| int(n))
}

pub(super) fn index_castui(cx: &FoldCx<'_>) -> Option<Fold> {
    there_and_back(cx, cx.known().index_castui, |n, w| Some(Number::Int(unsigned(as_int(n)?, w))))
}

fn as_int(number: Number) -> Option<i128> {
    match number {
        Number::Int(value) => Some(value),
        Number::Float(_) => None,
    }
}

fn int(number: Number) -> Option<Number> {
    as_int(number).map(Number::Int)
}

fn float(number: Number) -> Option<Number> {
    match number {
        Number::Float(value) if !value.is_nan() => Some(Number::Float(value)),
        _ => None,
    }
}

/// An integer that `f64` holds exactly, so that one rounding remains.
fn exact(value: i128) -> Option<Number> {
    let float = value as f64;
    (float as i128 == value).then_some(Number::Float(float))
}

/// `f` of each element and the width of the operand's integers.
fn computed(cx: &FoldCx<'_>, f: impl Fn(Number, u32) -> Option<Number>) -> Option<Fold> {
    let from = cx.module.value_type(cx.operand(0));
    let width = int_width(cx.context(), from).unwrap_or(64);
    number::map(cx.context(), cx.ty(), &[cx.constant(0)?], |row| f(*row.first()?, width))
        .map(Fold::attr)
}

/// What the operation of one of `names` that defines the operand converts.
fn source(cx: &FoldCx<'_>, names: &[Name]) -> Option<tangram_ir::Value> {
    let def = cx.module.def_op(cx.operand(0))?;
    names.contains(&cx.module.name(def)).then(|| cx.module.operand(def, 0))
}

pub(super) fn trunci(cx: &FoldCx<'_>) -> Option<Fold> {
    if let Some(inner) = source(cx, &[cx.known().extsi, cx.known().extui])
        && cx.module.value_type(inner) == cx.ty()
    {
        return Some(Fold::value(inner));
    }
    computed(cx, |n, _| int(n))
}

pub(super) fn truncf(cx: &FoldCx<'_>) -> Option<Fold> {
    if let Some(inner) = source(cx, &[cx.known().extf])
        && cx.module.value_type(inner) == cx.ty()
    {
        return Some(Fold::value(inner));
    }
    // Other ways of rounding than to nearest are left alone, and so is what is lost.
    if cx.module.attr(cx.op, "roundingmode").is_some() {
        return None;
    }
    let kind = float_kind(cx.context(), cx.ty())?;
    computed(cx, |n, _| match float(n)? {
        Number::Float(value) if kind.decode(kind.encode(value)) == value => {
            Some(Number::Float(value))
        }
        _ => None,
    })
}

fn float_to_int(cx: &FoldCx<'_>, signed: bool) -> Option<Fold> {
    let width = int_width(cx.context(), cx.ty())?;
    let (low, high) = if signed {
        (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1)
    } else {
        (0, (1i128 << width) - 1)
    };
    computed(cx, |n, _| match n {
        Number::Float(value) if value.is_finite() => {
            let whole = value.trunc() as i128;
            (low..=high).contains(&whole).then_some(Number::Int(whole))
        }
        _ => None,
    })
}

/// A cast undone, where nothing is lost on the way; or of a constant.
fn there_and_back(
    cx: &FoldCx<'_>,
    name: Name,
    f: impl Fn(Number, u32) -> Option<Number>,
) -> Option<Fold> {
    if let Some(inner) = source(cx, &[name])
        && cx.module.value_type(inner) == cx.ty()
    {
        let way = cx.module.value_type(cx.operand(0));
        let width = |ty| int_width(cx.context(), ty);
        if width(cx.ty())? <= width(way)? {
            return Some(Fold::value(inner));
        }
    }
    computed(cx, f)
}

pub(super) fn bitcast(cx: &FoldCx<'_>) -> Option<Fold> {
    let from = cx.module.value_type(cx.operand(0));
    if from == cx.ty() {
        return cx.give(0);
    }
    if let Some(inner) = source(cx, &[cx.known().bitcast])
        && cx.module.value_type(inner) == cx.ty()
    {
        return Some(Fold::value(inner));
    }
    if let Some(inner) = source(cx, &[cx.known().bitcast]) {
        let operands = [inner].as_slice().into();
        return Some(Fold::InPlace { operands, attrs: cx.module.attrs(cx.op) });
    }
    let context = cx.context();
    let (was, is) = (float_kind(context, from), float_kind(context, cx.ty()));
    computed(cx, |n, width| match (n, was, is) {
        (Number::Float(value), Some(kind), None) if !value.is_nan() => {
            Some(Number::Int(kind.encode(value) as i128))
        }
        (Number::Float(value), Some(from), Some(to)) if !value.is_nan() => {
            float(Number::Float(to.decode(from.encode(value))))
        }
        (Number::Int(value), None, Some(kind)) => {
            float(Number::Float(kind.decode(unsigned(value, width) as u128)))
        }
        _ => None,
    })
}
