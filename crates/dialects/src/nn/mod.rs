//! The `nn` dialect: tensor operations at graph level, with the names and attributes of Relay.
//!
//! One entry of type [`NnOp`] for each operation, in the table of its family's file. Operands are
//! tensors; an optional operand that is absent before a present one is a value of type `none`
//! made by `nn.none`. Layout is `NCHW` throughout, padding is written begins first, then ends.

mod binary;
mod constant;
mod elementwise;
mod index;
mod movement;
mod reduce;
mod shape;

use tangram_ir::{Arity, AttrDef, AttrKind, Context, OpDef, OperandDef, ResultDef};

use crate::eval::{EvalFn, EvalTable};

/// An operation of the dialect.
#[derive(Debug)]
pub struct NnOp {
    /// The definition.
    pub def: OpDef,
    /// Reference evaluation; `None` if it has none.
    pub eval: Option<EvalFn>,
}

/// Every family of operations.
static FAMILIES: &[&[NnOp]] = &[
    constant::OPS,
    index::OPS,
    reduce::OPS,
    elementwise::OPS,
    binary::OPS,
    shape::OPS,
    movement::OPS,
];

/// Every operation of the dialect.
pub fn ops() -> impl Iterator<Item = &'static NnOp> {
    FAMILIES.iter().flat_map(|family| family.iter())
}

/// Makes the dialect known to `context`.
pub fn register(context: &Context) {
    context.register(ops().map(|op| &op.def));
    let mut functions = context.extension::<EvalTable>().functions.write();
    for op in ops() {
        if let Some(eval) = op.eval {
            functions.insert(context.name(op.def.name), eval);
        }
    }
}

const fn operand(name: &'static str, doc: &'static str) -> OperandDef {
    OperandDef { name, arity: Arity::One, doc }
}

const fn optional(name: &'static str, doc: &'static str) -> OperandDef {
    OperandDef { name, arity: Arity::Optional, doc }
}

const fn variadic(name: &'static str, doc: &'static str) -> OperandDef {
    OperandDef { name, arity: Arity::Variadic, doc }
}

const fn result(name: &'static str, doc: &'static str) -> ResultDef {
    ResultDef { name, arity: Arity::One, doc }
}

/// An attribute that has to be there.
const fn needed(name: &'static str, kind: AttrKind, doc: &'static str) -> AttrDef {
    AttrDef { name, kind, required: true, doc }
}

/// An attribute whose absence has the meaning that `doc` states.
const fn maybe(name: &'static str, kind: AttrKind, doc: &'static str) -> AttrDef {
    AttrDef { name, kind, required: false, doc }
}
