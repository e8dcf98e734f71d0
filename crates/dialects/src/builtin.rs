//! MLIR's `builtin` dialect: modules and casts that a conversion leaves behind.

use tangram_ir::{Arity, AttrDef, AttrKind, OpDef, OperandDef, ResultDef, Traits};

/// Every definition of this dialect.
pub static DEFS: &[&OpDef] = &[&MODULE, &UNREALIZED_CAST];

/// `builtin.module`: the root of a program.
pub static MODULE: OpDef = OpDef {
    attrs: &[
        AttrDef::optional("sym_name", AttrKind::Str, "its name"),
        AttrDef::optional(
            "sym_visibility",
            AttrKind::Str,
            "who may name it; everyone where absent",
        ),
    ],
    regions: Some(1),
    traits: Traits::ISOLATED
        .union(Traits::SYMBOL_TABLE)
        .union(Traits::NO_TERMINATOR)
        .union(Traits::SINGLE_BLOCK),
    verify: Some(crate::func::check_calls),
    default_dialect: "builtin",
    assembly: Some("module attr-dict-with-keyword region(0)"),
    ..OpDef::new("builtin.module", "holds functions and other symbols")
};

/// `builtin.unrealized_conversion_cast`: a change of type that a conversion has to explain later.
pub static UNREALIZED_CAST: OpDef = OpDef {
    operands: &[OperandDef { name: "inputs", arity: Arity::Variadic, doc: "values to convert" }],
    results: &[ResultDef { name: "outputs", arity: Arity::Variadic, doc: "converted values" }],
    traits: Traits::PURE,
    assembly: Some("( $inputs `:` type($inputs) )? `to` type($outputs) attr-dict"),
    ..OpDef::new("builtin.unrealized_conversion_cast", "converts values in a way not yet decided")
};
