//! MLIR's `func` dialect: functions, calls, returns.

use tangram_ir::{
    Arity, AttrDef, AttrKind, OpDef, OpState, OperandDef, Point, ResultDef, Traits, Value,
};

use crate::std::fold::{Cx, Rewrite};

/// Every definition of this dialect.
pub static DEFS: &[&OpDef] = &[&FUNC, &RETURN, &CALL, &CALL_INDIRECT, &CONSTANT];

const ARG_ATTRS: AttrDef =
    optional("arg_attrs", AttrKind::Any, "a dictionary for each argument, all empty where absent");
const RES_ATTRS: AttrDef =
    optional("res_attrs", AttrKind::Any, "a dictionary for each result, all empty where absent");

const fn optional(name: &'static str, kind: AttrKind, doc: &'static str) -> AttrDef {
    AttrDef { name, kind, required: false, doc }
}

/// `func.func`.
pub static FUNC: OpDef = OpDef {
    attrs: &[
        AttrDef { name: "sym_name", kind: AttrKind::Str, required: true, doc: "the name" },
        AttrDef { name: "function_type", kind: AttrKind::Type, required: true, doc: "the type" },
        optional("sym_visibility", AttrKind::Str, "who may name it; everyone where absent"),
        ARG_ATTRS,
        RES_ATTRS,
        optional("no_inline", AttrKind::Any, "present where it is not to be inlined"),
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
    attrs: &[
        AttrDef {
            name: "callee",
            kind: AttrKind::Any,
            required: true,
            doc: "the symbol of the function",
        },
        ARG_ATTRS,
        RES_ATTRS,
        optional("no_inline", AttrKind::Any, "present where it is not to be inlined"),
    ],
    ..OpDef::new("func.call", "calls a function by name")
};

/// `func.call_indirect`.
pub static CALL_INDIRECT: OpDef = OpDef {
    operands: &[
        OperandDef { name: "callee", arity: Arity::One, doc: "the function" },
        OperandDef { name: "operands", arity: Arity::Variadic, doc: "the arguments" },
    ],
    results: CALL.results,
    attrs: &[ARG_ATTRS, RES_ATTRS],
    ..OpDef::new("func.call_indirect", "calls a function that is a value")
};

/// `func.constant`.
pub static CONSTANT: OpDef = OpDef {
    results: &[ResultDef { name: "result", arity: Arity::One, doc: "the function" }],
    attrs: &[AttrDef {
        name: "value",
        kind: AttrKind::Any,
        required: true,
        doc: "the symbol of the function",
    }],
    traits: Traits::PURE.union(Traits::CONSTANT_LIKE),
    ..OpDef::new("func.constant", "a function as a value")
};

/// The patterns, with their roots.
pub(crate) const REWRITES: &[Rewrite] =
    &[("call-known-function", &["func.call_indirect"], call_known_function)];

/// A call of a function that is a constant is a call by name.
fn call_known_function(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
    let constant = module.def_op(cx.operand(0))?;
    if module.name_text(constant) != "func.constant" {
        return None;
    }
    let callee = module.attr(constant, "value")?;
    let mut state = OpState::new(cx.context.name("func.call"), cx.loc());
    state.operands.extend(module.operands(cx.op).skip(1));
    state.results.extend(module.results(cx.op).map(|value| module.value_type(value)));
    state.attrs = cx.context.dict([(cx.context.str("callee"), callee)]);
    let call = cx.rewriter.create(Point::Before(cx.op), state);
    let results: Vec<Value> = cx.module().results(call).collect();
    cx.replace(&results)
}
