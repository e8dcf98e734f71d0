//! A dialect for tests.

use std::sync::Arc;

use tangram_ir::{
    Arity, AttrDef, AttrKind, Context, Diagnostic, InferCx, InferError, Inferred, Module, Op,
    OpDef, OperandDef, ResultDef, Traits,
};

const X: OperandDef = OperandDef { name: "x", arity: Arity::One, doc: "a value" };
const XS: OperandDef = OperandDef { name: "xs", arity: Arity::Variadic, doc: "values" };
const BIAS: OperandDef = OperandDef { name: "bias", arity: Arity::Optional, doc: "a value" };
const Y: ResultDef = ResultDef { name: "y", arity: Arity::One, doc: "a value" };

static MODULE: OpDef = OpDef {
    regions: Some(1),
    traits: Traits::ISOLATED
        .union(Traits::SYMBOL_TABLE)
        .union(Traits::NO_TERMINATOR)
        .union(Traits::SINGLE_BLOCK),
    ..OpDef::new("builtin.module", "holds symbols")
};
static FUNC: OpDef = OpDef {
    attrs: &[
        AttrDef::required("sym_name", AttrKind::Str, "the name"),
        AttrDef::optional("kind", AttrKind::Enum(&["a", "b"]), "a or b"),
    ],
    regions: Some(1),
    traits: Traits::ISOLATED.union(Traits::SYMBOL),
    ..OpDef::new("test.func", "a function")
};
static RETURN: OpDef = OpDef {
    operands: &[XS],
    traits: Traits::TERMINATOR,
    ..OpDef::new("test.return", "ends a block")
};
static UNARY: OpDef = OpDef {
    operands: &[X, BIAS],
    results: &[Y],
    attrs: &[
        AttrDef::optional("axes", AttrKind::Ints, "axes"),
        AttrDef::optional("scale", AttrKind::Float, "a factor"),
    ],
    infer: Some(same_as_operand),
    verify: Some(no_bad),
    ..OpDef::new("test.unary", "keeps its type")
};
static SAME: OpDef = OpDef {
    operands: &[X, X],
    results: &[Y],
    traits: Traits::SAME_TYPE,
    ..OpDef::new("test.same", "has one type")
};
static TWO: OpDef =
    OpDef { operands: &[X, XS, BIAS], ..OpDef::new("test.segments", "divides its operands") };
static TWO_LISTS: OpDef =
    OpDef { operands: &[XS, XS], ..OpDef::new("test.two_lists", "two variadic operands") };
static ONE_BLOCK: OpDef = OpDef {
    regions: Some(2),
    traits: Traits::SINGLE_BLOCK,
    ..OpDef::new("test.blocks", "two regions of one block")
};

fn same_as_operand(cx: &InferCx<'_>) -> Result<Inferred, InferError> {
    let ty = cx.operand_type(0).ok_or_else(|| InferError::mismatch("expected an operand"))?;
    if cx.context().as_tensor(ty).is_none() {
        return Err(InferError::mismatch("expected a tensor"));
    }
    Ok(Inferred { types: [ty].into_iter().collect(), ..Inferred::default() })
}

fn no_bad(module: &Module, op: Op) -> Result<(), Diagnostic> {
    match module.attr(op, "bad") {
        None => Ok(()),
        Some(_) => Err(Diagnostic::error("bad", module.loc(op), "expected no `bad`, found it")),
    }
}

/// A context that knows the dialect.
#[allow(dead_code)]
pub fn context() -> Arc<Context> {
    let context = Context::new();
    context.register([&MODULE, &FUNC, &RETURN, &UNARY, &SAME, &TWO, &TWO_LISTS, &ONE_BLOCK]);
    context
}
