//! MLIR's `arith` dialect: integers and floats, one by one or element by element.
//!
//! Integers have no sign of their own: an operation says how it reads them, `s` for signed (two's
//! complement), `u` for unsigned.

mod canonicalize;
mod cast;
mod compare;
mod extended;
mod float;
mod integer;
mod verify;

use tangram_ir::{
    Absence, Attr, AttrData, AttrDef, AttrKind, Context, FoldFn, Name, OpDef, OperandDef,
    ResultDef, Traits, Type,
};

use super::{FASTMATH, LHS_RHS, RESULT, infer, optional, required, result, value};

pub(super) use canonicalize::REWRITES;
pub(super) use compare::inverse;
pub(super) use extended::REWRITES as EXTENDED;
pub(super) use integer::has_flag;

/// Every definition of this dialect.
pub static DEFS: &[OpDef] = &[
    OpDef {
        results: RESULT,
        attrs: VALUE,
        traits: Traits::PURE.union(Traits::CONSTANT_LIKE),
        infer: Some(infer::of_value),
        assembly: Some("attr-dict $value"), ..OpDef::new("arith.constant", "a constant number, vector or tensor")
    },
    binary("arith.addi", "the sum of two integers, modulo 2^width", OVERFLOW, RING, integer::addi),
    binary(
        "arith.subi",
        "the difference of two integers, modulo 2^width",
        OVERFLOW,
        STRICT,
        integer::subi,
    ),
    OpDef {
        names: Some(super::vector::scaled_name),
        ..binary(
            "arith.muli",
            "the product of two integers, modulo 2^width",
            OVERFLOW,
            RING,
            integer::muli,
        )
    },
    binary("arith.divsi", "the signed quotient, towards zero", EXACT, TRAPS, integer::divsi),
    binary("arith.divui", "the unsigned quotient, rounded down", EXACT, TRAPS, integer::divui),
    binary("arith.ceildivsi", "the signed quotient, rounded up", &[], TRAPS, integer::ceildivsi),
    binary("arith.ceildivui", "the unsigned quotient, rounded up", &[], TRAPS, integer::ceildivui),
    binary(
        "arith.floordivsi",
        "the signed quotient, rounded down",
        &[],
        TRAPS,
        integer::floordivsi,
    ),
    binary(
        "arith.remsi",
        "the rest of the signed division towards zero",
        &[],
        TRAPS,
        integer::remsi,
    ),
    binary("arith.remui", "the rest of the unsigned division", &[], TRAPS, integer::remui),
    binary("arith.andi", "bits set in both operands", &[], RING, integer::andi),
    binary("arith.ori", "bits set in either operand", &[], RING, integer::ori),
    binary("arith.xori", "bits set in one operand only", &[], RING, integer::xori),
    binary(
        "arith.shli",
        "the left operand shifted up by the right one",
        OVERFLOW,
        PURE,
        integer::shli,
    ),
    binary(
        "arith.shrsi",
        "the left operand shifted down, its sign bit repeated",
        EXACT,
        PURE,
        integer::shrsi,
    ),
    binary(
        "arith.shrui",
        "the left operand shifted down, filled with zeros",
        EXACT,
        PURE,
        integer::shrui,
    ),
    binary("arith.maxsi", "the greater signed integer", &[], RING, integer::maxsi),
    binary("arith.maxui", "the greater unsigned integer", &[], RING, integer::maxui),
    binary("arith.minsi", "the smaller signed integer", &[], RING, integer::minsi),
    binary("arith.minui", "the smaller unsigned integer", &[], RING, integer::minui),
    pair(
        "arith.addui_extended",
        "the sum, and whether it overflows unsigned",
        SUM,
        (infer::first_and_boolean, extended::addui),
    ).text("$lhs `,` $rhs attr-dict `:` type($sum) `,` type($overflow); $lhs: $sum, $rhs: $sum").named(&["sum", "overflow"]),
    pair(
        "arith.mulsi_extended",
        "the low and high half of the signed product",
        HALVES,
        (infer::twice_first, extended::mulsi),
    ).text("$lhs `,` $rhs attr-dict `:` type($lhs); $rhs: $lhs").named(&["low", "high"]),
    pair(
        "arith.mului_extended",
        "the low and high half of the unsigned product",
        HALVES,
        (infer::twice_first, extended::mului),
    ).text("$lhs `,` $rhs attr-dict `:` type($lhs); $rhs: $lhs").named(&["low", "high"]),
    binary("arith.addf", "the sum of two floats", FASTMATH, COMMUTES, float::addf),
    binary("arith.subf", "the difference of two floats", FASTMATH, STRICT, float::subf),
    binary("arith.mulf", "the product of two floats", FASTMATH, COMMUTES, float::mulf),
    binary("arith.divf", "the quotient of two floats", FASTMATH, STRICT, float::divf),
    binary(
        "arith.remf",
        "the rest of the division towards zero, with the sign of the left operand",
        FASTMATH,
        STRICT,
        float::remf,
    ),
    binary(
        "arith.maximumf",
        "the greater float; NaN if either is; -0 below +0",
        FASTMATH,
        COMMUTES,
        float::maximumf,
    ),
    binary(
        "arith.minimumf",
        "the smaller float; NaN if either is; -0 below +0",
        FASTMATH,
        COMMUTES,
        float::minimumf,
    ),
    binary(
        "arith.maxnumf",
        "the greater float; of NaN and a number the number",
        FASTMATH,
        COMMUTES,
        float::maxnumf,
    ),
    binary(
        "arith.minnumf",
        "the smaller float; of NaN and a number the number",
        FASTMATH,
        COMMUTES,
        float::minnumf,
    ),
    OpDef {
        operands: &[value("operand", "a float")],
        results: RESULT,
        attrs: FASTMATH,
        traits: STRICT.union(Traits::SAME_TYPE).union(Traits::INVOLUTION),
        infer: Some(infer::like_first),
        fold: Some(float::negf),
        assembly: Some("$operand flags($fastmath, fastmath, arith.fastmath) attr-dict `:` type($result)"), ..OpDef::new("arith.negf", "the float with its sign turned")
    },
    compare("arith.cmpi", "compares two integers", PREDICATE_ONLY, compare::cmpi).text("enum($predicate, i64, eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge) `,` $lhs `,` $rhs attr-dict `:` type($lhs); $rhs: $lhs"),
    compare("arith.cmpf", "compares two floats", PREDICATE_FASTMATH, compare::cmpf).text("enum($predicate, i64, false, oeq, ogt, oge, olt, ole, one, ord, ueq, ugt, uge, ult, ule, une, uno, true) `,` $lhs `,` $rhs flags($fastmath, fastmath, arith.fastmath) attr-dict `:` type($lhs); $rhs: $lhs"),
    OpDef {
        operands: &[
            value("condition", "`i1`, or `i1` for each element"),
            value("true_value", "the result where the condition holds"),
            value("false_value", "the result where it does not"),
        ],
        results: RESULT,
        traits: PURE,
        infer: Some(infer::like_second),
        fold: Some(compare::select),
        assembly: Some("$condition `,` $true_value `,` $false_value attr-dict `:` select-type"), ..OpDef::new("arith.select", "one of two values, as a condition says")
    },
    cast("arith.extsi", "a wider integer of the same signed value", &[], cast::extsi).text("$in attr-dict `:` type($in) `to` type($out)"),
    cast("arith.extui", "a wider integer of the same unsigned value", &[], cast::extui).text("$in attr-dict `:` type($in) `to` type($out)"),
    cast("arith.extf", "a wider float of the same value", MAYBE_FASTMATH, cast::extf).text("$in flags($fastmath, fastmath, arith.fastmath) attr-dict `:` type($in) `to` type($out)"),
    cast("arith.trunci", "the low bits of an integer", OVERFLOW, cast::trunci).text("$in flags($overflowFlags, overflow, arith.overflow) attr-dict `:` type($in) `to` type($out)"),
    cast("arith.truncf", "the nearest narrower float", ROUNDED, cast::truncf).text("$in enum($roundingmode, i32?, to_nearest_even, downward, upward, toward_zero, to_nearest_away) flags($fastmath, fastmath, arith.fastmath) attr-dict `:` type($in) `to` type($out)"),
    cast("arith.sitofp", "the nearest float to a signed integer", &[], cast::sitofp).text("$in attr-dict `:` type($in) `to` type($out)"),
    cast("arith.uitofp", "the nearest float to an unsigned integer", &[], cast::uitofp).text("$in attr-dict `:` type($in) `to` type($out)"),
    cast("arith.fptosi", "a float rounded towards zero, as a signed integer", &[], cast::fptosi).text("$in attr-dict `:` type($in) `to` type($out)"),
    cast("arith.fptoui", "a float rounded towards zero, as an unsigned integer", &[], cast::fptoui).text("$in attr-dict `:` type($in) `to` type($out)"),
    cast(
        "arith.index_cast",
        "between `index` and an integer, sign-extended or cut",
        &[],
        cast::index_cast,
    ).text("$in attr-dict `:` type($in) `to` type($out)"),
    cast(
        "arith.index_castui",
        "between `index` and an integer, zero-extended or cut",
        &[],
        cast::index_castui,
    ).text("$in attr-dict `:` type($in) `to` type($out)"),
    cast("arith.bitcast", "the same bits as another type of the same width", &[], cast::bitcast).text("$in attr-dict `:` type($in) `to` type($out)"),
    scaling("arith.scaling_extf", "a wider float times a power of two", MAYBE_FASTMATH).text("$in `,` $scale flags($fastmath, fastmath, arith.fastmath) attr-dict `:` type($in) `,` type($scale) `to` type($out)"),
    scaling("arith.scaling_truncf", "a narrower float after division by a power of two", ROUNDED).text("$in `,` $scale enum($roundingmode, i32?, to_nearest_even, downward, upward, toward_zero, to_nearest_away) flags($fastmath, fastmath, arith.fastmath) attr-dict `:` type($in) `,` type($scale) `to` type($out)"),
];

/// What `arith.constant` is made of for a number or dense elements.
pub(super) fn constant(context: &Context, value: Attr, ty: Type) -> Option<(Name, Attr)> {
    let found = match context.attr_data(value) {
        AttrData::Bool(_) => context.int_type(1),
        AttrData::Integer { ty, .. }
        | AttrData::Float { ty, .. }
        | AttrData::WideFloat { ty, .. }
        | AttrData::Dense { ty, .. }
        | AttrData::Resource { ty, .. } => *ty,
        _ => return None,
    };
    let attrs = context.dict([(context.str("value"), value)]);
    (found == ty).then(|| (context.name("arith.constant"), attrs))
}

const PURE: Traits = Traits::PURE.union(Traits::ELEMENTWISE);
/// Computed of all of each operand.
const STRICT: Traits = PURE.union(Traits::PROPAGATES_POISON);
const COMMUTES: Traits = STRICT.union(Traits::COMMUTATIVE);
/// `(a ∘ b) ∘ c = a ∘ (b ∘ c)` and `a ∘ b = b ∘ a`.
const RING: Traits = COMMUTES.union(Traits::ASSOCIATIVE);
/// Undefined for some operands.
const TRAPS: Traits = STRICT.union(Traits::MAY_TRAP);

const VALUE: &[AttrDef] =
    &[required("value", AttrKind::Any, "a number or dense elements, with a type")];
const OVERFLOW: &[AttrDef] = &[optional(
    "overflowFlags",
    AttrKind::Any,
    "`#arith.overflow<nsw, nuw>`: overflow that cannot happen; none where absent",
)
.absent(Absence::Means("#arith.overflow<none>"))];
const EXACT: &[AttrDef] = &[optional("isExact", AttrKind::Any, "present where no rest is lost")];
const ROUNDED: &[AttrDef] = &[
    optional("roundingmode", AttrKind::Any, "to nearest, ties to even, where absent"),
    MAYBE_FASTMATH[0],
];
/// As [`FASTMATH`], but MLIR tells its absence from flags that allow nothing.
const MAYBE_FASTMATH: &[AttrDef] = &[FASTMATH[0].absent(Absence::Plain)];
const PREDICATE: AttrDef = required("predicate", AttrKind::Int, "MLIR's number of the comparison");
const PREDICATE_ONLY: &[AttrDef] = &[PREDICATE];
const PREDICATE_FASTMATH: &[AttrDef] = &[PREDICATE, FASTMATH[0]];
const SUM: &[ResultDef] =
    &[result("sum", "the sum modulo 2^width"), result("overflow", "whether it overflows")];
const HALVES: &[ResultDef] = &[result("low", "the low half"), result("high", "the high half")];
const IN: &[OperandDef] = &[value("in", "what is converted")];
const OUT: &[ResultDef] = &[result("out", "the converted value")];

const fn binary(
    name: &'static str,
    summary: &'static str,
    attrs: &'static [AttrDef],
    traits: Traits,
    fold: FoldFn,
) -> OpDef {
    OpDef {
        operands: LHS_RHS,
        results: RESULT,
        attrs,
        traits: traits.union(Traits::SAME_TYPE),
        verify: Some(verify::of_name(name)),
        infer: Some(infer::like_first),
        fold: Some(fold),
        assembly: Some(binary_text(attrs)),
        ..OpDef::new(name, summary)
    }
}

/// The text of a binary operation with these attributes.
const fn binary_text(attrs: &[AttrDef]) -> &'static str {
    match attrs {
        [] => "$lhs `,` $rhs attr-dict `:` type($result)",
        [attr, ..] => match attr.name.as_bytes() {
            b"overflowFlags" => {
                "$lhs `,` $rhs flags($overflowFlags, overflow, arith.overflow) attr-dict `:` \
                 type($result)"
            }
            b"isExact" => "$lhs `,` $rhs keyword($isExact, exact) attr-dict `:` type($result)",
            _ => {
                "$lhs `,` $rhs flags($fastmath, fastmath, arith.fastmath) attr-dict `:` \
                 type($result)"
            }
        },
    }
}

const fn pair(
    name: &'static str,
    summary: &'static str,
    results: &'static [ResultDef],
    (infer, fold): (tangram_ir::InferFn, FoldFn),
) -> OpDef {
    OpDef {
        operands: LHS_RHS,
        results,
        traits: COMMUTES,
        infer: Some(infer),
        fold: Some(fold),
        ..OpDef::new(name, summary)
    }
}

const fn compare(
    name: &'static str,
    summary: &'static str,
    attrs: &'static [AttrDef],
    fold: FoldFn,
) -> OpDef {
    OpDef {
        operands: LHS_RHS,
        results: RESULT,
        attrs,
        traits: PURE,
        infer: Some(infer::boolean_like_first),
        verify: Some(verify::of_comparison(name)),
        fold: Some(fold),
        ..OpDef::new(name, summary)
    }
}

const fn cast(
    name: &'static str,
    summary: &'static str,
    attrs: &'static [AttrDef],
    fold: FoldFn,
) -> OpDef {
    let fold = Some(fold);
    OpDef { operands: IN, results: OUT, attrs, traits: STRICT, fold, ..OpDef::new(name, summary) }
}

const fn scaling(name: &'static str, summary: &'static str, attrs: &'static [AttrDef]) -> OpDef {
    const OPERANDS: &[OperandDef] = &[IN[0], value("scale", "an exponent, as `f8E8M0FNU`")];
    OpDef { operands: OPERANDS, results: OUT, attrs, traits: PURE, ..OpDef::new(name, summary) }
}
