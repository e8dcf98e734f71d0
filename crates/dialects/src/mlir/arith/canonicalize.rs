//! Canonicalisation patterns of `arith`: constants go right and together, negations away.

use tangram_ir::{Name, Op, Value};

use super::compare::{inverse, swapped};
use crate::mlir::fold::{Cx, Rewrite, number};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] = &[
    ("constant-to-the-right", COMMUTATIVE, constant_to_the_right),
    ("compare-constant-on-the-right", &["arith.cmpi"], compare_constant_on_the_right),
    ("add-constants-of-a-sum", &["arith.addi"], add_constants_of_a_sum),
    ("subtract-constants-of-a-sum", &["arith.subi"], subtract_constants_of_a_sum),
    ("multiply-constants-of-a-product", &["arith.muli"], |cx| {
        constants_together(cx, cx.known.muli, |a, b| a.wrapping_mul(b))
    }),
    ("and-constants", &["arith.andi"], |cx| constants_together(cx, cx.known.andi, |a, b| a & b)),
    ("or-constants", &["arith.ori"], |cx| constants_together(cx, cx.known.ori, |a, b| a | b)),
    ("xor-constants", &["arith.xori"], |cx| constants_together(cx, cx.known.xori, |a, b| a ^ b)),
    ("add-negated", &["arith.addi"], add_negated),
    ("subtract-difference-from-its-start", &["arith.subi"], subtract_from_start),
    ("not-of-a-comparison", &["arith.xori"], not_of_a_comparison),
    ("bits-of-extended", &["arith.andi", "arith.ori", "arith.xori"], bits_of_extended),
    ("compare-extended", &["arith.cmpi"], compare_extended),
    ("extend-twice", &["arith.extsi", "arith.extui"], extend_twice),
    ("truncate-extended", &["arith.trunci"], truncate_extended),
    ("truncate-shifted", &["arith.trunci"], truncate_shifted),
    ("index-cast-of-extended", &["arith.index_cast", "arith.index_castui"], cast_of_extended),
    ("unsigned-to-float", &["arith.sitofp"], unsigned_to_float),
    ("negations-cancel", &["arith.mulf", "arith.divf"], negations_cancel),
    ("select-negated", &["arith.select"], select_negated),
    ("select-to-bits", &["arith.select"], select_to_bits),
    ("select-same-condition", &["arith.select"], select_same_condition),
    ("select-twice", &["arith.select"], select_twice),
    ("sum-without-overflow-bit", &["arith.addui_extended"], sum_without_overflow),
    ("product-without-high-half", EXTENDED_PRODUCTS, product_without_high),
];

const COMMUTATIVE: &[&str] = &[
    "arith.addi",
    "arith.muli",
    "arith.andi",
    "arith.ori",
    "arith.xori",
    "arith.maxsi",
    "arith.maxui",
    "arith.minsi",
    "arith.minui",
    "arith.addf",
    "arith.mulf",
    "arith.maximumf",
    "arith.minimumf",
    "arith.maxnumf",
    "arith.minnumf",
    "arith.addui_extended",
    "arith.mulsi_extended",
    "arith.mului_extended",
];
const EXTENDED_PRODUCTS: &[&str] = &["arith.mulsi_extended", "arith.mului_extended"];

/// The operands of `op`, unless it uses its own result, as only code that is never reached may.
fn parts(cx: &Cx<'_, '_>, op: Op) -> Option<(Value, Value)> {
    let (a, b) = (cx.module().operand(op, 0), cx.module().operand(op, 1));
    let own = |value: Value| cx.module().def_op(value) == Some(op);
    (!own(a) && !own(b)).then_some((a, b))
}

fn constant_to_the_right(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (lhs, rhs) = (cx.operand(0), cx.operand(1));
    if !cx.is_constant(lhs) || cx.is_constant(rhs) {
        return None;
    }
    cx.rewriter.set_operands(cx.op, &[rhs, lhs]);
    Some(())
}

fn compare_constant_on_the_right(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (lhs, rhs) = (cx.operand(0), cx.operand(1));
    if !cx.is_constant(lhs) || cx.is_constant(rhs) {
        return None;
    }
    let predicate = swapped(predicate(cx, cx.op)?);
    cx.rewriter.set_operands(cx.op, &[rhs, lhs]);
    let attr = cx.i64_attr(predicate);
    cx.set_attr(cx.known.predicate, Some(attr));
    Some(())
}

fn predicate(cx: &Cx<'_, '_>, op: Op) -> Option<i64> {
    cx.context.as_i64(cx.module().attr_by(op, cx.known.predicate)?)
}

/// `(x ∘ a) ∘ b = x ∘ (a ∘ b)`.
fn constants_together(cx: &mut Cx<'_, '_>, name: Name, f: fn(i128, i128) -> i128) -> Option<()> {
    let b = cx.int(cx.operand(1))?;
    let inner = cx.def(0, name)?;
    let (x, a) = parts(cx, inner)?;
    let a = cx.int(a)?;
    let constant = cx.int_constant(f(a, b), cx.ty())?;
    cx.combine(&[x, constant], inner)
}

/// `(x + a) + b`, `(x - a) + b` and `(a - x) + b`.
fn add_constants_of_a_sum(cx: &mut Cx<'_, '_>) -> Option<()> {
    let b = cx.int(cx.operand(1))?;
    if let Some(inner) = cx.def(0, cx.known.addi) {
        let (x, a) = parts(cx, inner)?;
        let a = cx.int(a)?;
        let constant = cx.int_constant(a + b, cx.ty())?;
        return cx.combine(&[x, constant], inner);
    }
    let inner = cx.def(0, cx.known.subi)?;
    let (l, r) = parts(cx, inner)?;
    if let Some(a) = cx.int(r) {
        let constant = cx.int_constant(b - a, cx.ty())?;
        return cx.combine(&[l, constant], inner);
    }
    let a = cx.int(l)?;
    let constant = cx.int_constant(a + b, cx.ty())?;
    cx.become_op(cx.known.subi, &[constant, r])
}

/// A constant less a sum or difference with a constant, and the other way round.
fn subtract_constants_of_a_sum(cx: &mut Cx<'_, '_>) -> Option<()> {
    let ty = cx.ty();
    if let Some(b) = cx.int(cx.operand(1)) {
        if let Some(inner) = cx.def(0, cx.known.addi) {
            let (x, a) = parts(cx, inner)?;
            let a = cx.int(a)?;
            let constant = cx.int_constant(a - b, ty)?;
            return cx.become_op(cx.known.addi, &[x, constant]);
        }
        let inner = cx.def(0, cx.known.subi)?;
        let (l, r) = parts(cx, inner)?;
        if let Some(a) = cx.int(r) {
            let constant = cx.int_constant(a + b, ty)?;
            return cx.combine(&[l, constant], inner);
        }
        let a = cx.int(l)?;
        let constant = cx.int_constant(a - b, ty)?;
        return cx.combine(&[constant, r], inner);
    }
    let b = cx.int(cx.operand(0))?;
    if let Some(inner) = cx.def(1, cx.known.addi) {
        let (x, a) = parts(cx, inner)?;
        let a = cx.int(a)?;
        let constant = cx.int_constant(b - a, ty)?;
        return cx.combine(&[constant, x], inner);
    }
    let inner = cx.def(1, cx.known.subi)?;
    let (l, r) = parts(cx, inner)?;
    if let Some(a) = cx.int(r) {
        let constant = cx.int_constant(a + b, ty)?;
        return cx.combine(&[constant, l], inner);
    }
    let a = cx.int(l)?;
    let constant = cx.int_constant(b - a, ty)?;
    cx.become_op(cx.known.addi, &[r, constant])
}

/// `x + y * -1 = x - y`.
fn add_negated(cx: &mut Cx<'_, '_>) -> Option<()> {
    for (i, other) in [(1, 0), (0, 1)] {
        let Some(inner) = cx.def(i, cx.known.muli) else { continue };
        let (y, factor) = parts(cx, inner)?;
        if cx.int(factor) == Some(-1) {
            let x = cx.operand(other);
            return cx.become_op(cx.known.subi, &[x, y]);
        }
    }
    None
}

/// `(a - b) - a = 0 - b`.
fn subtract_from_start(cx: &mut Cx<'_, '_>) -> Option<()> {
    let inner = cx.def(0, cx.known.subi)?;
    let (a, b) = parts(cx, inner)?;
    if a != cx.operand(1) {
        return None;
    }
    let zero = cx.int_constant(0, cx.ty())?;
    cx.combine(&[zero, b], inner)
}

/// `not (a < b)` is `a >= b`.
fn not_of_a_comparison(cx: &mut Cx<'_, '_>) -> Option<()> {
    if cx.int(cx.operand(1)) != Some(-1) {
        return None;
    }
    let inner = cx.def(0, cx.known.cmpi)?;
    let (a, b) = parts(cx, inner)?;
    let attr = cx.i64_attr(inverse(predicate(cx, inner)?));
    let attrs = cx.context.dict([(cx.known.predicate, attr)]);
    let ty = cx.ty();
    let op = cx.make(cx.known.cmpi, &[a, b], attrs, &[ty]);
    let value = cx.module().result(op, 0);
    cx.replace(&[value])
}

/// The extension that defines both operands from the same type.
fn both_extended(cx: &Cx<'_, '_>) -> Option<(Name, Value, Value)> {
    for name in [cx.known.extui, cx.known.extsi] {
        let (Some(a), Some(b)) = (cx.def(0, name), cx.def(1, name)) else { continue };
        let (a, b) = (cx.module().operand(a, 0), cx.module().operand(b, 0));
        if cx.type_of(a) == cx.type_of(b) {
            return Some((name, a, b));
        }
    }
    None
}

/// `ext(a) & ext(b) = ext(a & b)`.
fn bits_of_extended(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (name, a, b) = both_extended(cx)?;
    let operation = cx.module().name(cx.op);
    let narrow = cx.type_of(a);
    let bits = cx.value(operation, &[a, b], narrow);
    cx.become_op(name, &[bits])
}

/// `ext(a) < ext(b)` is `a < b` where the comparison has the sign of the extension.
fn compare_extended(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (name, a, b) = both_extended(cx)?;
    let predicate = predicate(cx, cx.op)?;
    let signed = (2..6).contains(&predicate);
    if predicate >= 2 && signed != (name == cx.known.extsi) {
        return None;
    }
    cx.rewriter.set_operands(cx.op, &[a, b]);
    Some(())
}

/// An extension of an extension; what was extended with zeros has no sign.
fn extend_twice(cx: &mut Cx<'_, '_>) -> Option<()> {
    let outer = cx.module().name(cx.op);
    if let Some(inner) = cx.def(0, cx.known.extui) {
        let source = cx.module().operand(inner, 0);
        return cx.become_op(cx.known.extui, &[source]);
    }
    if outer != cx.known.extsi {
        return None;
    }
    let inner = cx.def(0, cx.known.extsi)?;
    let source = cx.module().operand(inner, 0);
    cx.become_op(cx.known.extsi, &[source])
}

/// `trunc(ext(x))` and `trunc(trunc(x))`.
fn truncate_extended(cx: &mut Cx<'_, '_>) -> Option<()> {
    if let Some(inner) = cx.def(0, cx.known.trunci) {
        let source = cx.module().operand(inner, 0);
        return cx.become_op(cx.known.trunci, &[source]);
    }
    for name in [cx.known.extsi, cx.known.extui] {
        let Some(inner) = cx.def(0, name) else { continue };
        let source = cx.module().operand(inner, 0);
        let width = |ty| number::int_width(cx.context, ty);
        let (from, to) = (width(cx.type_of(source))?, width(cx.ty())?);
        return match from.cmp(&to) {
            std::cmp::Ordering::Less => cx.become_op(name, &[source]),
            std::cmp::Ordering::Equal => None,
            std::cmp::Ordering::Greater => cx.become_op(cx.known.trunci, &[source]),
        };
    }
    None
}

/// Where only bits below those shifted in stay, it does not matter which ones they are.
fn truncate_shifted(cx: &mut Cx<'_, '_>) -> Option<()> {
    let inner = cx.def(0, cx.known.shrsi)?;
    let (x, by) = parts(cx, inner)?;
    let width = |ty| number::int_width(cx.context, ty);
    let (wide, narrow) = (width(cx.type_of(x))?, width(cx.ty())?);
    let shift = cx.int(by)?;
    if !(0..=i128::from(wide.checked_sub(narrow)?)).contains(&shift) {
        return None;
    }
    let ty = cx.type_of(x);
    let shifted = cx.value(cx.known.shrui, &[x, by], ty);
    cx.become_op(cx.known.trunci, &[shifted])
}

/// `index_cast(extsi(x)) = index_cast(x)`, and the same without sign.
fn cast_of_extended(cx: &mut Cx<'_, '_>) -> Option<()> {
    let name = cx.module().name(cx.op);
    let extension = if name == cx.known.index_cast { cx.known.extsi } else { cx.known.extui };
    let inner = cx.def(0, extension)?;
    // Bits that the extension has and `index` has not would be cut.
    number::int_width(cx.context, cx.type_of(cx.operand(0)))?;
    let source = cx.module().operand(inner, 0);
    cx.become_op(name, &[source])
}

/// What was extended with zeros has no sign.
fn unsigned_to_float(cx: &mut Cx<'_, '_>) -> Option<()> {
    let inner = cx.def(0, cx.known.extui)?;
    let source = cx.module().operand(inner, 0);
    cx.become_op(cx.known.uitofp, &[source])
}

/// `-a * -b = a * b`, and the same of quotients.
fn negations_cancel(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (a, b) = (cx.def(0, cx.known.negf)?, cx.def(1, cx.known.negf)?);
    let (a, b) = (cx.module().operand(a, 0), cx.module().operand(b, 0));
    cx.rewriter.set_operands(cx.op, &[a, b]);
    Some(())
}

/// The value that `value` is the negation of.
fn negated(cx: &Cx<'_, '_>, value: Value) -> Option<Value> {
    let (inner, ones) = parts(cx, cx.def_of(value, cx.known.xori)?)?;
    (cx.int(ones) == Some(-1)).then_some(inner)
}

/// `not c ? a : b = c ? b : a`.
fn select_negated(cx: &mut Cx<'_, '_>) -> Option<()> {
    let condition = negated(cx, cx.operand(0))?;
    let (a, b) = (cx.operand(1), cx.operand(2));
    cx.rewriter.set_operands(cx.op, &[condition, b, a]);
    Some(())
}

/// `c ? 0 : 1` of booleans is `not c`; of integers it is `extui (not c)`, and `c ? 1 : 0` is
/// `extui c`.
fn select_to_bits(cx: &mut Cx<'_, '_>) -> Option<()> {
    let ty = cx.ty();
    let (c, yes, no) = (cx.operand(0), cx.int(cx.operand(1))?, cx.int(cx.operand(2))?);
    let width = number::int_width(cx.context, ty)?;
    let scalar = cx.context.is_boolean(cx.type_of(c));
    if width == 1 && cx.type_of(c) == ty && (yes, no) == (0, -1) {
        let ones = cx.int_constant(-1, ty)?;
        return cx.become_op(cx.known.xori, &[c, ones]);
    }
    let plain = scalar && number::element_type(cx.context, ty) == ty;
    let index = matches!(cx.context.type_data(ty), tangram_ir::TypeData::Index);
    if width > 1 && plain && !index && (yes, no) == (1, 0) {
        return cx.become_op(cx.known.extui, &[c]);
    }
    if width > 1 && plain && !index && (yes, no) == (0, 1) {
        let boolean = cx.type_of(c);
        let ones = cx.int_constant(-1, boolean)?;
        let not = cx.value(cx.known.xori, &[c, ones], boolean);
        return cx.become_op(cx.known.extui, &[not]);
    }
    None
}

/// `c ? (c ? a : b) : d` is `c ? a : d`.
fn select_same_condition(cx: &mut Cx<'_, '_>) -> Option<()> {
    let condition = cx.operand(0);
    for (i, taken) in [(1, 1), (2, 2)] {
        let Some(inner) = cx.def(i, cx.known.select) else { continue };
        let value = cx.module().operand(inner, taken);
        let own = cx.module().def_op(value) == Some(inner);
        if cx.module().operand(inner, 0) == condition && !own {
            cx.rewriter.set_operand(cx.op, i, value);
            return Some(());
        }
    }
    None
}

/// `c ? (d ? a : b) : b` is `c and d ? a : b`, and the three forms that mirror it.
fn select_twice(cx: &mut Cx<'_, '_>) -> Option<()> {
    let condition = cx.operand(0);
    if !cx.context.is_boolean(cx.type_of(condition)) {
        return None;
    }
    for (i, other) in [(1, 2), (2, 1)] {
        let Some(inner) = cx.def(i, cx.known.select) else { continue };
        let part = |n| cx.module().operand(inner, n);
        let (d, a, b) = (part(0), part(1), part(2));
        let shared = cx.operand(other);
        let own = [d, a, b].iter().any(|&value| cx.module().def_op(value) == Some(inner));
        if own || cx.type_of(d) != cx.type_of(condition) || (a != shared) == (b != shared) {
            continue;
        }
        let negate = (b == shared) != (i == 1);
        let boolean = cx.type_of(d);
        let second = if negate {
            let ones = cx.int_constant(-1, boolean)?;
            cx.value(cx.known.xori, &[d, ones], boolean)
        } else {
            d
        };
        let name = if i == 1 { cx.known.andi } else { cx.known.ori };
        let both = cx.value(name, &[condition, second], boolean);
        let kept = if a == shared { b } else { a };
        let operands = if i == 1 { [both, kept, shared] } else { [both, shared, kept] };
        cx.rewriter.set_operands(cx.op, &operands);
        return Some(());
    }
    None
}

/// A sum whose overflow nobody looks at.
fn sum_without_overflow(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (sum, overflow) = (cx.module().result(cx.op, 0), cx.module().result(cx.op, 1));
    let (a, b) = (cx.operand(0), cx.operand(1));
    if cx.int(b) == Some(0) {
        let no = cx.int_constant(0, cx.type_of(overflow))?;
        return cx.replace(&[a, no]);
    }
    if cx.module().has_uses(overflow) {
        return None;
    }
    let ty = cx.type_of(sum);
    // The flag needs some value; nobody reads it.
    let no = cx.int_constant(0, cx.type_of(overflow))?;
    let value = cx.value(cx.known.addi, &[a, b], ty);
    cx.replace(&[value, no])
}

/// A product whose high half nobody looks at.
fn product_without_high(cx: &mut Cx<'_, '_>) -> Option<()> {
    let high = cx.module().result(cx.op, 1);
    let (a, b) = (cx.operand(0), cx.operand(1));
    let ty = cx.ty();
    if cx.int(b) == Some(0) {
        let zero = cx.int_constant(0, ty)?;
        return cx.replace(&[zero, zero]);
    }
    if cx.module().has_uses(high) {
        return None;
    }
    let low = cx.value(cx.known.muli, &[a, b], ty);
    cx.replace(&[low, low])
}
