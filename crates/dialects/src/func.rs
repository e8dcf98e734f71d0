//! MLIR's `func` dialect: functions, calls, returns.

use tangram_ir::{Arity, AttrDef, AttrKind, OpDef, OperandDef, ResultDef, Traits};

/// Every definition of this dialect.
pub static DEFS: &[&OpDef] = &[&FUNC, &RETURN, &CALL];

/// `func.func`.
pub static FUNC: OpDef = OpDef {
    attrs: &[
        AttrDef { name: "sym_name", kind: AttrKind::Str, required: true, doc: "the name" },
        AttrDef { name: "function_type", kind: AttrKind::Type, required: true, doc: "the type" },
    ],
    regions: Some(1),
    traits: Traits::ISOLATED.union(Traits::SYMBOL),
    ..OpDef::new("func.func", "a function")
};

/// `func.return`.
pub static RETURN: OpDef = OpDef {
    operands: &[OperandDef { name: "operands", arity: Arity::Variadic, doc: "the results" }],
    traits: Traits::TERMINATOR.union(Traits::PURE),
    ..OpDef::new("func.return", "ends a function with its results")
};

/// `func.call`.
pub static CALL: OpDef = OpDef {
    operands: &[OperandDef { name: "operands", arity: Arity::Variadic, doc: "the arguments" }],
    results: &[ResultDef { name: "results", arity: Arity::Variadic, doc: "the results" }],
    attrs: &[AttrDef {
        name: "callee",
        kind: AttrKind::Any,
        required: true,
        doc: "the symbol of the function",
    }],
    ..OpDef::new("func.call", "calls a function by name")
};
