//! The operators that rules may name, read from the registered operation definitions.
//!
//! Operations of the nn dialect go by their name without `nn.`; all others by their whole name.

pub mod onnx_names;

use std::collections::BTreeMap;

use tangram_dialects::defined;
use tangram_ir::{Arity, AttrDef, AttrKind as IrKind, Context, Name, OpDef, Traits};

use crate::check::{AttrKind, AttrSchema, OpSchema, OperandCount, OperandSchema, Results, Schema};
use crate::eval::AttrValue;

/// The dialect whose name rules leave out.
const DIALECT: &str = "nn.";

/// A schema made from the operations that a context knows.
#[derive(Clone, Debug, Default)]
pub struct NnSchema {
    table: BTreeMap<String, OpSchema>,
}

impl NnSchema {
    /// Reads every registered definition.
    pub fn new(context: &Context) -> Self {
        let ops = context.defs().into_iter().map(schema_of);
        Self { table: ops.map(|op| (op.name.clone(), op)).collect() }
    }
}

impl Schema for NnSchema {
    fn operator(&self, name: &str) -> Option<&OpSchema> {
        self.table.get(name.strip_prefix(DIALECT).unwrap_or(name))
    }

    fn operators(&self) -> Box<dyn Iterator<Item = &OpSchema> + '_> {
        Box::new(self.table.values())
    }
}

/// Returns the operation name that `name` in a rule stands for.
pub fn operation_name(name: &str) -> String {
    if name.contains('.') { name.to_owned() } else { format!("{DIALECT}{name}") }
}

/// Lists the operations that have the trait `name`, in order of their names.
pub fn operations_with(context: &Context, name: &str) -> Vec<Name> {
    let Some(traits) = trait_named(name) else { return Vec::new() };
    let defs = context.defs().into_iter().filter(|def| def.traits.contains(traits));
    defs.map(|def| context.name(def.name)).collect()
}

/// The traits that rules may name.
const TRAITS: &[(&str, Traits)] = &[
    ("associative", Traits::ASSOCIATIVE),
    ("broadcasting", Traits::BROADCASTING),
    ("commutative", Traits::COMMUTATIVE),
    ("element_wise", Traits::ELEMENTWISE),
    ("idempotent", Traits::IDEMPOTENT),
    ("involution", Traits::INVOLUTION),
    ("pure", Traits::PURE),
    ("random", Traits::RANDOM),
];

/// The names of the traits that rules may name.
pub fn traits() -> impl Iterator<Item = &'static str> {
    TRAITS.iter().map(|(name, _)| *name)
}

fn trait_named(name: &str) -> Option<Traits> {
    TRAITS.iter().find(|(known, _)| *known == name).map(|(_, traits)| *traits)
}

fn schema_of(def: &OpDef) -> OpSchema {
    let operand = |operand: &tangram_ir::OperandDef| OperandSchema {
        name: operand.name.to_owned(),
        count: match operand.arity {
            Arity::One => OperandCount::One,
            Arity::Optional => OperandCount::Optional,
            Arity::Variadic => OperandCount::Variadic,
        },
    };
    let attribute = |attr: &AttrDef| AttrSchema {
        name: attr.name.to_owned(),
        kind: kind_of(attr.kind),
        required: attr.required,
    };
    let traits = TRAITS.iter().filter(|(_, traits)| def.traits.contains(*traits));
    let fixed = def.results.iter().all(|result| result.arity == Arity::One);
    OpSchema {
        is_defined: defined::is_defined(def),
        name: def.name.strip_prefix(DIALECT).unwrap_or(def.name).to_owned(),
        operands: def.operands.iter().map(operand).collect(),
        results: if fixed { Results::Fixed(def.results.len()) } else { Results::Variadic },
        attributes: def.attrs.iter().map(attribute).collect(),
        traits: traits.map(|(name, _)| (*name).to_owned()).collect(),
    }
}

fn kind_of(kind: IrKind) -> AttrKind {
    match kind {
        IrKind::Int => AttrKind::Int,
        IrKind::Float => AttrKind::Float,
        IrKind::Bool => AttrKind::Bool,
        IrKind::Str | IrKind::Enum(_) | IrKind::DType => AttrKind::Str,
        IrKind::Ints | IrKind::Floats | IrKind::Strs => AttrKind::Tuple,
        IrKind::IntsOr(_) => AttrKind::TupleOrStr,
        IrKind::Tensor | IrKind::Type | IrKind::Any => AttrKind::Any,
    }
}

/// Returns what an attribute that is absent means, as its definition says: -1 for
/// `the dimension; -1 if absent`.
///
/// The text before "if absent" is the contract of [`AttrDef::doc`]; where it is no plain value, such
/// as "that of `data`", there is none.
pub fn meaning_of_absence(def: &AttrDef) -> Option<AttrValue> {
    let (said, _) = def.doc.split_once(" if absent")?;
    let said = said.rsplit("; ").next()?.trim();
    let said = said.split_once(" (").map_or(said, |(value, _)| value).trim_matches('`');
    match def.kind {
        IrKind::Int => said.parse().ok().map(AttrValue::Int),
        IrKind::Bool => said.parse().ok().map(AttrValue::Bool),
        IrKind::Float => said.parse::<f32>().ok().map(|x| AttrValue::Single(f64::from(x))),
        IrKind::Enum(names) => names.contains(&said).then(|| said.into()),
        _ => None,
    }
}
