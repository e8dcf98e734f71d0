//! Folders of comparisons and of the choice between two values.

use tangram_ir::{Attr, Fold, FoldCx, Value};

use crate::mlir::fold::Look;
use crate::mlir::fold::number::{self, Number, unsigned};

pub(super) const EQ: i64 = 0;
pub(super) const NE: i64 = 1;

/// The predicate with operands exchanged.
pub(super) fn swapped(predicate: i64) -> i64 {
    match predicate {
        2 => 4,
        3 => 5,
        4 => 2,
        5 => 3,
        6 => 8,
        7 => 9,
        8 => 6,
        9 => 7,
        same => same,
    }
}

/// The predicate that holds where this one does not.
pub(in crate::mlir) fn inverse(predicate: i64) -> i64 {
    match predicate {
        0 => 1,
        1 => 0,
        2 => 5,
        3 => 4,
        4 => 3,
        5 => 2,
        6 => 9,
        7 => 8,
        8 => 7,
        9 => 6,
        other => other,
    }
}

/// Whether integer predicate `predicate` holds.
fn holds(predicate: i64, a: i128, b: i128, width: u32) -> Option<bool> {
    let (x, y) = (unsigned(a, width), unsigned(b, width));
    Some(match predicate {
        0 => a == b,
        1 => a != b,
        2 => a < b,
        3 => a <= b,
        4 => a > b,
        5 => a >= b,
        6 => x < y,
        7 => x <= y,
        8 => x > y,
        9 => x >= y,
        _ => return None,
    })
}

fn predicate(cx: &FoldCx<'_>) -> Option<i64> {
    cx.context().as_i64(cx.module.attr_by(cx.op, cx.known().predicate)?)
}

pub(super) fn cmpi(cx: &FoldCx<'_>) -> Option<Fold> {
    let predicate = predicate(cx)?;
    let (lhs, rhs) = (cx.operand(0), cx.operand(1));
    if lhs == rhs {
        let reflexive = matches!(predicate, 0 | 3 | 5 | 7 | 9);
        return cx.whole(-i128::from(reflexive));
    }
    let ty = cx.module.value_type(lhs);
    let width = number::int_width(cx.context(), ty)?;
    if let (Some(a), Some(b)) = (cx.constant(0), cx.constant(1)) {
        let each = |row: &[Number]| match row {
            &[Number::Int(a), Number::Int(b)] => {
                holds(predicate, a, b, width).map(|holds| Number::Int(-i128::from(holds)))
            }
            _ => None,
        };
        return number::map(cx.context(), cx.ty(), &[a, b], each).map(Fold::attr);
    }
    let right = cx.int(1)?;
    if let Some(folded) = against_zero(cx, predicate, lhs, right) {
        return Some(folded);
    }
    // Comparisons with the ends of the range that all numbers or none pass.
    let (least, greatest) = (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1);
    let all = matches!((predicate, right), (3, r) if r == greatest)
        || matches!((predicate, right), (5, r) if r == least)
        || (predicate, right) == (7, -1)
        || (predicate, right) == (9, 0);
    let none = matches!((predicate, right), (4, r) if r == greatest)
        || matches!((predicate, right), (2, r) if r == least)
        || (predicate, right) == (8, -1)
        || (predicate, right) == (6, 0);
    if all || none { cx.whole(-i128::from(all)) } else { None }
}

/// `ext(x) != 0` for a boolean `x`, and `x == 1`, `x != 0` for `i1` itself.
fn against_zero(cx: &FoldCx<'_>, predicate: i64, lhs: Value, right: i128) -> Option<Fold> {
    let boolean = number::int_width(cx.context(), cx.module.value_type(lhs)) == Some(1);
    if boolean && ((predicate, right) == (NE, 0) || (predicate, right) == (EQ, -1)) {
        return Some(Fold::value(lhs));
    }
    let def = cx.module.def_op(lhs)?;
    let name = cx.module.name(def);
    if name != cx.known().extsi && name != cx.known().extui {
        return None;
    }
    let inner = cx.module.operand(def, 0);
    let one = if name == cx.known().extsi { -1 } else { 1 };
    let narrow = number::int_width(cx.context(), cx.module.value_type(inner)) == Some(1);
    let same = (predicate, right) == (NE, 0) || (predicate, right) == (EQ, one);
    (narrow && same).then_some(Fold::value(inner))
}

/// Whether float predicate `predicate` holds: bit 3 of its number says what NaN gives, the others
/// which of equal, greater and less are asked for.
fn holds_float(predicate: i64, a: f64, b: f64) -> Option<bool> {
    let ordered = !a.is_nan() && !b.is_nan();
    Some(match predicate {
        0 => false,
        15 => true,
        7 => ordered,
        14 => !ordered,
        1..=6 | 8..=13 => {
            let (relation, unordered) =
                if predicate < 8 { (predicate, false) } else { (predicate - 7, true) };
            let (less, equal, greater) = (a < b, a == b, a > b);
            let asked = match relation {
                1 => equal,
                2 => greater,
                3 => greater || equal,
                4 => less,
                5 => less || equal,
                _ => less || greater,
            };
            if ordered { asked } else { unordered }
        }
        _ => return None,
    })
}

pub(super) fn cmpf(cx: &FoldCx<'_>) -> Option<Fold> {
    let predicate = predicate(cx)?;
    match predicate {
        0 => return cx.whole(0),
        15 => return cx.whole(-1),
        _ => {}
    }
    // With NaN every comparison has one answer.
    if [0, 1].into_iter().any(|i| cx.float(i).is_some_and(f64::is_nan)) {
        return cx.whole(-i128::from(holds_float(predicate, 0.0, f64::NAN)?));
    }
    let args: [Attr; 2] = [cx.constant(0)?, cx.constant(1)?];
    let each = |row: &[Number]| match row {
        &[Number::Float(a), Number::Float(b)] => {
            Some(Number::Int(-i128::from(holds_float(predicate, a, b)?)))
        }
        _ => None,
    };
    number::map(cx.context(), cx.ty(), &args, each).map(Fold::attr)
}

pub(super) fn select(cx: &FoldCx<'_>) -> Option<Fold> {
    let (condition, yes, no) = (cx.operand(0), cx.operand(1), cx.operand(2));
    if yes == no {
        return Some(Fold::value(yes));
    }
    match cx.int(0) {
        Some(0) => return Some(Fold::value(no)),
        Some(_) => return Some(Fold::value(yes)),
        None => {}
    }
    let boolean = number::int_width(cx.context(), cx.ty()) == Some(1);
    let same_shape = cx.module.value_type(condition) == cx.ty();
    if boolean && same_shape && cx.int(1) == Some(-1) && cx.int(2) == Some(0) {
        return Some(Fold::value(condition));
    }
    if let Some(folded) = by_equality(cx, condition, yes, no) {
        return Some(folded);
    }
    let (c, a, b) = (cx.constant(0)?, cx.constant(1)?, cx.constant(2)?);
    let each = |row: &[Number]| match row {
        &[Number::Int(c), a, b] => Some(if c != 0 { a } else { b }),
        _ => None,
    };
    number::map(cx.context(), cx.ty(), &[c, a, b], each).map(Fold::attr)
}

/// `a == b ? a : b` is `b`, `a != b ? a : b` is `a`.
fn by_equality(cx: &FoldCx<'_>, condition: Value, yes: Value, no: Value) -> Option<Fold> {
    let def = cx.module.def_op(condition)?;
    if cx.module.name(def) != cx.known().cmpi {
        return None;
    }
    let (a, b) = (cx.module.operand(def, 0), cx.module.operand(def, 1));
    if (a, b) != (yes, no) && (a, b) != (no, yes) {
        return None;
    }
    match cx.context().as_i64(cx.module.attr_by(def, cx.known().predicate)?)? {
        EQ => Some(Fold::value(no)),
        NE => Some(Fold::value(yes)),
        _ => None,
    }
}
