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
pub mod decompose;
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
pub mod numbers;
mod open;
pub mod patterns;
mod pool;
mod quant;
mod random;
mod recurrent;
mod reduce;
mod reference;
mod region_types;
pub mod sample;
mod shape;
mod signal;
mod text;
mod window;

use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use tangram_ir::{
    Arity, AttrDef, AttrKind, Context, InferFn, Module, Op, OpDef, OperandDef, ResultDef, Traits,
};

use self::decompose::{DecomposeFn, DecomposeTable};
use crate::budget::StepsFn;
use crate::eval::{EvalFn, EvalTable};
use crate::field::{self, FieldFn};
use crate::structured::{StructuredFn, StructuredTable};

pub(crate) use learned::evaluate_maps;
pub use numbers::{AdditionFn, Numbers, OpenFn};
pub use open::{is_open, may_be_open};
pub use reference::{describe, describe_attribute, reference};
pub use region_types::{infer_regions, join};
use sample::{AttrFn, ExtentsFn, ListedFn, RankFn, Role, Sample};

/// An operation of the dialect.
#[derive(Debug)]
pub struct NnOp {
    /// The definition.
    pub def: OpDef,
    /// Reference evaluation; `None` if it has none.
    pub eval: Option<EvalFn>,
    /// What it computes, as loops; `None` if it has no such definition.
    pub structured: Option<StructuredFn>,
    /// What other operations it is made of; `None` if it is no composition.
    pub decompose: Option<DecomposeFn>,
    /// What is known of the numbers that it gives.
    pub numbers: Numbers,
    /// Evaluation over a prime field. `None`: a function of each element of which nothing is known,
    /// if its traits say that it is one, else none.
    pub over_field: Option<FieldFn>,
    /// Whether the standard leaves open what it gives; `None` if it says what for all operands.
    pub open: Option<OpenFn>,
    /// Whether its definition forbids operands that its kernel takes.
    pub forbidden: Option<OpenFn>,
    /// An addition theorem; `None` if it has none or needs none.
    pub addition: Option<AdditionFn>,
    /// Operands that attributes may say instead.
    pub either: &'static [Either],
    /// Steps of its evaluation for each element of a result; `None` if they are few.
    pub steps: Option<StepsFn>,
    /// What is tried where programs with it are made at random.
    pub sample: Sample,
}

/// An entry reads as its definition and, behind it, what else is known of the operation.
impl NnOp {
    /// An operation of which nothing is known but its definition.
    const fn new(def: OpDef) -> NnOp {
        NnOp {
            def,
            eval: None,
            structured: None,
            decompose: None,
            numbers: Numbers::NOTHING,
            over_field: None,
            open: None,
            forbidden: None,
            addition: None,
            either: &[],
            steps: None,
            sample: Sample::USUAL,
        }
    }

    /// The operation with a reference evaluation.
    const fn eval(self, eval: EvalFn) -> NnOp {
        NnOp { eval: Some(eval), ..self }
    }

    /// The operation with a structured definition.
    const fn structured(self, structured: StructuredFn) -> NnOp {
        NnOp { structured: Some(structured), ..self }
    }

    /// The operation as a composition of others.
    const fn decomposed(self, decompose: DecomposeFn) -> NnOp {
        NnOp { decompose: Some(decompose), ..self }
    }

    /// The operation with these properties too.
    const fn with(self, traits: Traits) -> NnOp {
        NnOp { def: OpDef { traits: self.def.traits.union(traits), ..self.def }, ..self }
    }

    /// The operation, of whose numbers this is known too.
    const fn numbers(self, numbers: Numbers) -> NnOp {
        NnOp { numbers: self.numbers.union(numbers), ..self }
    }

    /// The operation with an evaluation over a prime field.
    const fn over_field(self, function: FieldFn) -> NnOp {
        NnOp { over_field: Some(function), ..self }
    }

    /// An operation that only moves elements about.
    const fn moves(self) -> NnOp {
        self.numbers(Numbers::CHOSEN).over_field(field::moved)
    }

    /// An operation that adds up elements.
    const fn sums(self) -> NnOp {
        self.numbers(Numbers::INTEGRAL).over_field(field::summed)
    }

    /// An operation that is linear in each of two operands.
    const fn bilinear(self) -> NnOp {
        self.numbers(Numbers::INTEGRAL).over_field(field::bilinear)
    }

    /// The operation, of which the standard leaves something open.
    const fn open(self, open: OpenFn) -> NnOp {
        NnOp { open: Some(open), ..self }
    }

    /// The operation with operands that attributes may say instead.
    const fn either(self, either: &'static [Either]) -> NnOp {
        NnOp { either, ..self }
    }

    /// The operation, of which an element takes so many steps.
    const fn steps(self, steps: StepsFn) -> NnOp {
        NnOp { steps: Some(steps), ..self }
    }

    /// The operation with what is tried for it.
    const fn sample(self, sample: Sample) -> NnOp {
        NnOp { sample, ..self }
    }

    /// The operation, with these extents tried for its operands.
    const fn extents(self, extents: ExtentsFn) -> NnOp {
        NnOp { sample: Sample { extents: Some(extents), ..self.sample }, ..self }
    }

    /// The operation, with these values tried for its attributes.
    const fn tried(self, attr: AttrFn) -> NnOp {
        NnOp { sample: Sample { attr: Some(attr), ..self.sample }, ..self }
    }

    /// The operation, with these elements of operands that list extents.
    const fn listed(self, listed: ListedFn) -> NnOp {
        NnOp { sample: Sample { listed: Some(listed), ..self.sample }, ..self }
    }

    /// The operation, whose attribute `axis` names this dimension most of the time.
    const fn axis(self, axis: i64) -> NnOp {
        NnOp { sample: Sample { axis: Some(axis), ..self.sample }, ..self }
    }

    /// The operation, with operands for this.
    const fn roles(self, roles: &'static [Role]) -> NnOp {
        NnOp { sample: Sample { roles, ..self.sample }, ..self }
    }

    /// The operation, with operands of these ranks.
    const fn rank(self, rank: RankFn) -> NnOp {
        NnOp { sample: Sample { rank, ..self.sample }, ..self }
    }

    /// The operation, whose definition forbids some operands.
    const fn forbids(self, forbidden: OpenFn) -> NnOp {
        NnOp { forbidden: Some(forbidden), ..self }
    }

    /// The operation with an addition theorem.
    const fn addition(self, addition: AdditionFn) -> NnOp {
        NnOp { addition: Some(addition), ..self }
    }
}

/// The form of the attribute that says what an operand says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// An integer.
    Int,
    /// A list of integers.
    Ints,
    /// A number.
    Number,
    /// A list of numbers.
    Numbers,
    /// Extents of parts: the places where parts 1, 2... start.
    Starts,
    /// Extents of the result.
    Shape,
}

/// An operand that an attribute may say instead: ONNX turned attributes into inputs over the years.
#[derive(Clone, Copy, Debug)]
pub struct Either {
    /// The number of the operand.
    pub operand: usize,
    /// The attribute.
    pub attr: &'static str,
    /// Its form.
    pub form: Form,
}

const fn either(operand: usize, attr: &'static str, form: Form) -> Either {
    Either { operand, attr, form }
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

/// The entry of operation `name`, `nn.` included; `None` if the dialect has no such operation.
pub fn entry(name: &str) -> Option<&'static NnOp> {
    static ENTRIES: LazyLock<FxHashMap<&str, &NnOp>> =
        LazyLock::new(|| ops().map(|op| (op.def.name, op)).collect());
    ENTRIES.get(name).copied()
}

/// What is known of the numbers that `op` gives: nothing, if it is of another dialect.
pub fn numbers(module: &Module, op: Op) -> Numbers {
    entry(module.name_text(op)).map_or(Numbers::NOTHING, |entry| entry.numbers)
}

/// Makes the dialect known to `context`.
pub fn register(context: &Context) {
    context.register(ops().map(|op| &op.def));
    let mut functions = context.extension::<EvalTable>().functions.write();
    let mut definitions = context.extension::<StructuredTable>().functions.write();
    let mut compositions = context.extension::<DecomposeTable>().functions.write();
    for op in ops() {
        let name = context.name(op.def.name);
        op.eval.map(|eval| functions.insert(name, eval));
        op.structured.map(|structured| definitions.insert(name, structured));
        op.decompose.map(|decompose| compositions.insert(name, decompose));
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
    NnOp::new(def)
}
