//! MLIR's `index` dialect: numbers as wide as an address of the machine.

mod fold;

use tangram_ir::{
    Attr, AttrData, AttrKind, Context, Module, Name, Op, OpDef, OperandDef, ResultDef, Traits,
    Type, TypeData,
};

use super::{LHS_RHS, RESULT, required, result, value};

/// Every definition of this dialect.
pub static DEFS: &[OpDef] = &[
    OpDef { fold: Some(fold::add), ..binary("index.add", "the sum", RING) },
    OpDef { fold: Some(fold::sub), ..binary("index.sub", "the difference", Traits::PURE) },
    OpDef { fold: Some(fold::mul), ..binary("index.mul", "the product", RING) },
    binary("index.divs", "the signed quotient, truncated toward zero", TRAPS),
    binary("index.divu", "the unsigned quotient, rounded down", TRAPS),
    binary("index.ceildivs", "the signed quotient, rounded up", TRAPS),
    binary("index.ceildivu", "the unsigned quotient, rounded up", TRAPS),
    binary("index.floordivs", "the signed quotient, rounded down", TRAPS),
    binary("index.rems", "the remainder of signed division, truncated toward zero", TRAPS),
    binary("index.remu", "the remainder of unsigned division", TRAPS),
    OpDef { fold: Some(fold::maxs), ..binary("index.maxs", "the greater signed number", RING) },
    OpDef { fold: Some(fold::maxu), ..binary("index.maxu", "the greater unsigned number", RING) },
    OpDef { fold: Some(fold::mins), ..binary("index.mins", "the smaller signed number", RING) },
    OpDef { fold: Some(fold::minu), ..binary("index.minu", "the smaller unsigned number", RING) },
    binary("index.shl", "the left operand shifted up", Traits::PURE),
    binary("index.shrs", "the left operand shifted down, its sign bit repeated", Traits::PURE),
    binary("index.shru", "the left operand shifted down, filled with zeros", Traits::PURE),
    OpDef { fold: Some(fold::and), ..binary("index.and", "bits set in both operands", RING) },
    OpDef { fold: Some(fold::or), ..binary("index.or", "bits set in either operand", RING) },
    OpDef { fold: Some(fold::xor), ..binary("index.xor", "bits set in one operand only", RING) },
    cast("index.casts", "between `index` and an integer, sign-extended or cut"),
    cast("index.castu", "between `index` and an integer, zero-extended or cut"),
    OpDef {
        operands: LHS_RHS,
        attrs: &[required("pred", AttrKind::Any, "`#index<cmp_predicate ...>`")],
        ..pure("index.cmp", "compares two numbers")
    }
    .text(
        "word($pred, index<cmp_predicate, eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge) `` `(` \
         $lhs `,` $rhs `)` attr-dict; $lhs: index, $rhs: index, $result: i1",
    ),
    pure("index.sizeof", "how many bits an index has").text("attr-dict; $result: index"),
    OpDef {
        attrs: &[required("value", AttrKind::Int, "the number")],
        traits: Traits::PURE.union(Traits::CONSTANT_LIKE),
        names: Some(constant_name),
        ..pure("index.constant", "a constant number")
    }
    .text("attr-dict int($value, index); $result: index"),
    OpDef {
        attrs: &[required("value", AttrKind::Bool, "the truth value")],
        traits: Traits::PURE.union(Traits::CONSTANT_LIKE),
        ..pure("index.bool.constant", "a constant truth value")
    }
    .text("attr-dict $value; $result: i1"),
];

/// Commutative and associative.
const RING: Traits = Traits::PURE.union(Traits::COMMUTATIVE).union(Traits::ASSOCIATIVE);
/// Undefined for some operands.
const TRAPS: Traits = Traits::PURE.union(Traits::MAY_TRAP);
const OUTPUT: &[ResultDef] = &[result("output", "the number")];
const INPUT: &[OperandDef] = &[value("input", "what is converted")];

const fn pure(name: &'static str, summary: &'static str) -> OpDef {
    OpDef { results: RESULT, traits: Traits::PURE, ..OpDef::new(name, summary) }
}

const fn binary(name: &'static str, summary: &'static str, traits: Traits) -> OpDef {
    OpDef { operands: LHS_RHS, traits, ..pure(name, summary) }
        .text("$lhs `,` $rhs attr-dict; $lhs: index, $rhs: index, $result: index")
}

const fn cast(name: &'static str, summary: &'static str) -> OpDef {
    OpDef { operands: INPUT, results: OUTPUT, ..pure(name, summary) }
        .text("$input attr-dict `:` type($input) `to` type($output)")
}

/// `idx42`.
fn constant_name(module: &Module, op: Op) -> Option<String> {
    let value: Attr = module.attr(op, "value")?;
    Some(format!("idx{}", module.context().as_i64(value)?))
}

/// What `index.constant` is made of for a number.
pub(super) fn constant(context: &Context, value: Attr, ty: Type) -> Option<(Name, Attr)> {
    let number =
        matches!(context.attr_data(value), AttrData::Integer { ty: own, .. } if *own == ty);
    let fits = number && matches!(context.type_data(ty), TypeData::Index);
    let attrs = context.dict([(context.str("value"), value)]);
    fits.then(|| (context.name("index.constant"), attrs))
}
