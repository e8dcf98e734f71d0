//! The `nn` dialect: tensor operations at graph level, with the names and attributes of Relay.
//!
//! One entry of type [`NnOp`] for each operation, in the table of its family's file. Operands are
//! tensors; an optional operand that is absent before a present one is a value of type `none`
//! made by `nn.none`. Layout is `NCHW` throughout, padding is written begins first, then ends.

mod attention;
pub mod bias;
mod binary;
mod constant;
pub mod container;
mod contrib;
mod control;
mod conv;
mod conv_variants;
mod einsum;
mod elementwise;
mod fill;
mod image;
mod index;
mod learned;
mod linear;
mod loss;
mod movement;
mod norm;
pub mod patterns;
mod pool;
mod quant;
mod random;
mod recurrent;
mod reduce;
mod reference;
mod region_types;
mod shape;
mod signal;
mod text;
mod window;

use tangram_ir::{
    Arity, AttrDef, AttrKind, Context, InferFn, OpDef, OperandDef, ResultDef, Traits,
};

use crate::eval::{EvalFn, EvalTable};
use crate::structured::{StructuredFn, StructuredTable};

pub(crate) use learned::evaluate_maps;
pub use reference::{describe, describe_attribute, reference};
pub use region_types::{infer_regions, join};

/// An operation of the dialect.
#[derive(Debug)]
pub struct NnOp {
    /// The definition.
    pub def: OpDef,
    /// Reference evaluation; `None` if it has none.
    pub eval: Option<EvalFn>,
    /// What it computes, as loops; `None` if it has no such definition.
    pub structured: Option<StructuredFn>,
}

impl NnOp {
    /// The operation with a reference evaluation.
    const fn eval(self, eval: EvalFn) -> NnOp {
        NnOp { eval: Some(eval), ..self }
    }

    /// The operation with a structured definition.
    const fn structured(self, structured: StructuredFn) -> NnOp {
        NnOp { structured: Some(structured), ..self }
    }

    /// The operation with these properties too.
    const fn with(self, traits: Traits) -> NnOp {
        NnOp { def: OpDef { traits: self.def.traits.union(traits), ..self.def }, ..self }
    }
}

/// Every family of operations, with its title.
static FAMILIES: &[(&str, &[NnOp])] = &[
    ("Constants", constant::OPS),
    ("Functions of one tensor", elementwise::OPS),
    ("Functions of several tensors", binary::OPS),
    ("Arrangement and extents", shape::OPS),
    ("Joining, cutting, repeating", movement::OPS),
    ("Making tensors, fixed schemes", fill::OPS),
    ("Picking and placing by index", index::OPS),
    ("Reductions", reduce::OPS),
    ("Products", linear::OPS),
    ("Convolutions", conv::OPS),
    ("Other convolutions", conv_variants::OPS),
    ("Pools", pool::OPS),
    ("Normalisations", norm::OPS),
    ("Recurrent layers", recurrent::OPS),
    ("Attention", attention::OPS),
    ("Images", image::OPS),
    ("Quantisation", quant::OPS),
    ("Signals", signal::OPS),
    ("Losses", loss::OPS),
    ("Chance", random::OPS),
    ("Texts", text::OPS),
    ("Containers", container::OPS),
    ("Control flow", control::OPS),
    ("Of onnxruntime's own domain: fused", contrib::fused::OPS),
    ("Of onnxruntime's own domain: attention", contrib::attention::OPS),
    ("Of onnxruntime's own domain: quantised", contrib::quantised::OPS),
    ("Of the domain ai.onnx.ml: features", learned::features::OPS),
    ("Of the domain ai.onnx.ml: labels", learned::labels::OPS),
    ("Of the domain ai.onnx.ml: linear models", learned::linear::OPS),
    ("Of the domain ai.onnx.ml: support vector machines", learned::svm::OPS),
    ("Of the domain ai.onnx.ml: trees", learned::trees::OPS),
    ("Of the domain ai.onnx.ml: maps", learned::maps::OPS),
];

/// Every operation of the dialect.
pub fn ops() -> impl Iterator<Item = &'static NnOp> {
    FAMILIES.iter().flat_map(|(_, family)| family.iter())
}

/// Makes the dialect known to `context`.
pub fn register(context: &Context) {
    context.register(ops().map(|op| &op.def));
    let mut functions = context.extension::<EvalTable>().functions.write();
    let mut definitions = context.extension::<StructuredTable>().functions.write();
    for op in ops() {
        let name = context.name(op.def.name);
        op.eval.map(|eval| functions.insert(name, eval));
        op.structured.map(|structured| definitions.insert(name, structured));
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
    AttrDef::required(name, kind, doc)
}

/// An attribute whose absence has the meaning that `doc` states.
const fn maybe(name: &'static str, kind: AttrKind, doc: &'static str) -> AttrDef {
    AttrDef::optional(name, kind, doc)
}

const fn variadic_result(name: &'static str, doc: &'static str) -> ResultDef {
    ResultDef { name, arity: Arity::Variadic, doc }
}

/// A result that is left out when it is not asked for.
const fn maybe_result(name: &'static str, doc: &'static str) -> ResultDef {
    ResultDef { name, arity: Arity::Optional, doc }
}

/// A pure operation.
const fn op(
    name: &'static str,
    summary: &'static str,
    operands: &'static [OperandDef],
    results: &'static [ResultDef],
    attrs: &'static [AttrDef],
    infer: InferFn,
) -> NnOp {
    let def = OpDef {
        operands,
        results,
        attrs,
        traits: Traits::PURE,
        infer: Some(infer),
        ..OpDef::new(name, summary)
    };
    NnOp { def, eval: None, structured: None }
}
