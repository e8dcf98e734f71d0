//! Operations and values as steps and traces show them.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use serde::Serialize;
use tangram_ir::{Attr, AttrData, Context, Loc, LocData, Module, Op, Value, text};

use crate::picture;

/// An operation as a step shows it: as it was after the step, or before it was erased.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Node {
    /// Its number in the program, given once.
    pub id: u32,
    /// Its name, such as `nn.conv2d`.
    pub operation: String,
    /// What it reads, in order.
    pub operands: Vec<Port>,
    /// What it makes, in order.
    pub results: Vec<Port>,
    /// Its attributes; long ones are cut.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, String>,
    /// The nodes of the model that it comes from.
    pub source: Vec<String>,
    /// The operation in whose region it stands, if that is not the graph itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<u32>,
    /// How many operands, results and names are left out: a step shows some dozens of them, so that
    /// what is told of a program grows as its steps do.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: usize,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A value where an operation reads or makes it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Port {
    /// Its number in the program, given once.
    pub value: u32,
    /// Its name; `%` and a number for one without a name.
    pub name: String,
    /// Its element type and extents, such as `float32[N, 3, 224, 224]`.
    #[serde(rename = "type")]
    pub ty: String,
}

/// The most operands, results and names that a step shows of an operation.
const MAX_LIST: usize = 48;
/// The longest text of an attribute, in characters.
const MAX_ATTRIBUTE: usize = 80;

impl Node {
    /// Shows `op`, which is live, with the first operands, results and names of each.
    pub fn brief(module: &Module, op: Op) -> Node {
        Node::limited(module, op, MAX_LIST)
    }

    /// Shows `op`, which is live.
    pub fn of(module: &Module, op: Op) -> Node {
        Node::limited(module, op, usize::MAX)
    }

    fn limited(module: &Module, op: Op, most: usize) -> Node {
        let context = module.context();
        let attributes = context.entries(module.attrs(op)).iter();
        let parent = module.parent(op).filter(|&parent| !is_frame(module, parent));
        let (names, unnamed) = source(context, module.loc(op), most);
        Node {
            id: op.as_u32(),
            operation: module.name_text(op).to_owned(),
            operands: module.operands(op).take(most).map(|value| Port::of(module, value)).collect(),
            results: module.results(op).take(most).map(|value| Port::of(module, value)).collect(),
            attributes: attributes
                .map(|&(name, attr)| (context.text(name).to_owned(), attribute(module, attr)))
                .collect(),
            source: names,
            parent: parent.map(Op::as_u32),
            left_out: unnamed
                + module.operands(op).count().saturating_sub(most)
                + module.result_count(op).saturating_sub(most),
        }
    }

    /// The names of its results.
    pub fn result_names(&self) -> String {
        let names: Vec<&str> = self.results.iter().map(|port| port.name.as_str()).collect();
        names.join(", ")
    }
}

impl Port {
    /// Shows `value`.
    pub fn of(module: &Module, value: Value) -> Port {
        let name = match module.value_name(value) {
            Some(name) => module.context().text(name).to_owned(),
            None => value.to_string(),
        };
        Port { value: value.as_u32(), name, ty: picture::type_text(module, value) }
    }
}

/// Whether `op` only holds the graph: the module, and its functions.
fn is_frame(module: &Module, op: Op) -> bool {
    let name = module.name_text(op);
    name.starts_with("builtin.") || name.starts_with("func.")
}

/// The text of an attribute without the types that its operation's definition implies.
fn attribute(module: &Module, attr: Attr) -> String {
    let context = module.context();
    let text = match context.attr_data(attr) {
        AttrData::Integer { value, .. } => value.to_string(),
        AttrData::Float { bits, .. } => number(f64::from_bits(*bits)),
        AttrData::String(name) => context.text(*name).to_owned(),
        AttrData::I64s(list) => format!("{list:?}"),
        _ => text::attr_text_elided(module, attr),
    };
    match text.char_indices().nth(MAX_ATTRIBUTE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// A number as short as it was written, if it came as one of 32 bits.
fn number(value: f64) -> String {
    let short = value as f32;
    if f64::from(short) == value { short.to_string() } else { value.to_string() }
}

/// The first `most` names in `loc`, each once, and whether there are more; of many, only the first
/// places are looked at.
fn source(context: &Context, loc: Loc, most: usize) -> (Vec<String>, usize) {
    let mut out: Vec<String> = Vec::new();
    let mut known = FxHashSet::default();
    let mut stack = vec![loc];
    while let Some(loc) = stack.pop() {
        if out.len() >= most {
            return (out, 1);
        }
        let name = match context.loc_data(loc) {
            LocData::Unknown => continue,
            LocData::Name { name, .. } => context.text(*name).to_owned(),
            LocData::File { file, line, column }
            | LocData::Range { file, start: (line, column), .. } => {
                format!("{}:{line}:{column}", context.text(*file))
            }
            LocData::Fused { parts, .. } => {
                stack.extend(parts.iter().take(most.saturating_mul(2)).rev());
                continue;
            }
            LocData::CallSite { callee, .. } => {
                stack.push(*callee);
                continue;
            }
        };
        if !name.is_empty() && known.insert(name.clone()) {
            out.push(name);
        }
    }
    (out, 0)
}
