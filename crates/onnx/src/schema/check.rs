//! Whether a model keeps to the schemas of its operator sets.
//!
//! ```text
//! opset 13:  y = Resize(x, , , sizes) { keep_aspect_ratio_policy = "stretch" }
//!            Resize has no attribute `keep_aspect_ratio_policy` in operator set 13
//! ```
//!
//! Element types are known of graph inputs, constants, and of outputs whose type variable an input
//! has bound or that can only be of one type; what is not known is not judged.

use std::collections::{HashMap, HashSet};
use std::fmt;

use super::{Formal, Found, Schema, Times, Types, find, knows_domain, values};
use crate::import::describe;
use crate::proto::{
    AttributeProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TypeProto, TypeValue,
    ValueInfoProto,
};

/// A node that does not keep to the schema of its operator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The node, as messages name it.
    pub node: String,
    /// Its operator.
    pub operator: String,
    /// The version of the operator set.
    pub version: i64,
    /// What is wrong.
    pub problem: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Violation { node, operator, version, problem } = self;
        write!(f, "{node}: {operator} of operator set {version} {problem}")
    }
}

impl Violation {
    /// Returns whether both are the same mistake, wherever it is made.
    pub(crate) fn is_like(&self, other: &Violation) -> bool {
        self.operator == other.operator && self.problem == other.problem
    }
}

/// Lists where `model` does not keep to the schemas of its own operator sets: unknown and
/// deprecated operators, inputs, outputs and attributes that they do not have or lack, and element
/// types. Operators of other domains, and those that functions of the model define, are not judged.
pub fn violations(model: &ModelProto) -> Vec<Violation> {
    let functions = model.functions.iter().map(|f| (plain(f.domain()), f.name())).collect();
    let mut checker = Checker::new(&functions, &model.opset_import);
    checker.graphs(model.graph.iter().collect());
    let mut found = checker.found;
    for function in &model.functions {
        let mut checker = Checker::new(&functions, &function.opset_import);
        let graphs = checker.nodes(&function.node);
        checker.graphs(graphs);
        found.append(&mut checker.found);
    }
    found
}

struct Checker<'m> {
    versions: HashMap<&'m str, i64>,
    functions: &'m HashSet<(&'m str, &'m str)>,
    /// The types of values, as far as they are known.
    types: HashMap<&'m str, String>,
    found: Vec<Violation>,
}

/// ONNX's own domain has two names.
fn plain(domain: &str) -> &str {
    if domain == "ai.onnx" { "" } else { domain }
}

impl<'m> Checker<'m> {
    /// A checker of nodes that refer to these operator sets.
    fn new(functions: &'m HashSet<(&'m str, &'m str)>, sets: &'m [OperatorSetIdProto]) -> Self {
        Self {
            versions: sets.iter().map(|set| (plain(set.domain()), set.version())).collect(),
            functions,
            types: HashMap::new(),
            found: Vec::new(),
        }
    }

    /// Checks graphs and those in the attributes of their nodes.
    fn graphs(&mut self, mut waiting: Vec<&'m GraphProto>) {
        while let Some(graph) = waiting.pop() {
            self.declare(graph);
            waiting.extend(self.nodes(&graph.node));
        }
    }

    /// Checks nodes; returns the graphs in their attributes.
    fn nodes(&mut self, nodes: &'m [NodeProto]) -> Vec<&'m GraphProto> {
        let mut inner = Vec::new();
        for node in nodes {
            self.node(node);
            for attribute in &node.attribute {
                inner.extend(attribute.g.as_deref());
                inner.extend(&attribute.graphs);
            }
        }
        inner
    }

    /// Takes down what a graph says of its inputs and constants.
    fn declare(&mut self, graph: &'m GraphProto) {
        for input in &graph.input {
            self.declare_value(input);
        }
        for tensor in &graph.initializer {
            if let Some(name) = element_name(tensor.data_type()) {
                self.types.insert(tensor.name(), name.to_owned());
            }
        }
    }

    fn declare_value(&mut self, info: &'m ValueInfoProto) {
        if let Some(ty) = info.r#type.as_ref().and_then(type_text) {
            self.types.insert(info.name(), ty);
        }
    }

    fn node(&mut self, node: &'m NodeProto) {
        let domain = plain(node.domain());
        if !knows_domain(domain) || self.functions.contains(&(domain, node.op_type())) {
            return;
        }
        let version = self.versions.get(domain).copied().unwrap_or(0);
        match find(domain, node.op_type(), version) {
            Found::Absent => self.note(node, version, "does not exist".to_owned()),
            Found::Deprecated => self.note(node, version, "is deprecated".to_owned()),
            Found::Schema(schema) => {
                let mut problems = Vec::new();
                attributes(schema, node, &mut problems);
                values::later(node, version, &mut problems);
                counts(schema, node, &mut problems);
                self.bind_types(schema, node, &mut problems);
                problems.into_iter().for_each(|problem| self.note(node, version, problem));
            }
        }
    }

    fn note(&mut self, node: &NodeProto, version: i64, problem: String) {
        let (operator, node) = (node.op_type().to_owned(), describe(node));
        self.found.push(Violation { node, operator, version, problem });
    }

    /// Compares the types of inputs with the schema, and takes down those of outputs.
    fn bind_types(
        &mut self,
        schema: &'static Schema,
        node: &'m NodeProto,
        problems: &mut Vec<String>,
    ) {
        let mut bound: HashMap<&str, &str> = HashMap::new();
        for (i, name) in node.input.iter().enumerate() {
            let (Some(ty), Some(formal)) = (self.types.get(name.as_str()), schema.inputs.at(i))
            else {
                continue;
            };
            if !admits(schema, formal, ty) {
                problems.push(format!("takes no {ty} as input {i}"));
            } else if formal.times != Times::Mixed && *bound.entry(formal.ty).or_insert(ty) != ty {
                let first = bound[formal.ty];
                problems.push(format!("has inputs of one type `{}`: {first} and {ty}", formal.ty));
            }
        }
        let stated = stated_output(node);
        let mut made = Vec::new();
        for (i, name) in node.output.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
            let Some(formal) = schema.outputs.at(i) else { continue };
            let ty = match schema.types(formal.ty) {
                _ if formal.times == Times::Mixed => None,
                Types::Only(ty) => Some(ty.to_owned()),
                Types::OneOf(&[ty]) => Some(ty.to_owned()),
                Types::OneOf(_) => {
                    bound.get(formal.ty).map(|ty| (*ty).to_owned()).or(stated.clone())
                }
            };
            if let Some(ty) = ty.as_ref().filter(|ty| !admits(schema, formal, ty)) {
                problems.push(format!("gives no {ty} as output {i}"));
            }
            made.extend(ty.map(|ty| (name.as_str(), ty)));
        }
        self.types.extend(made);
    }
}

/// Returns whether an input may be of type `ty`.
fn admits(schema: &'static Schema, formal: Formal, ty: &str) -> bool {
    match schema.types(formal.ty) {
        Types::OneOf(all) => all.contains(&ty),
        Types::Only(only) => only == ty,
    }
}

/// Returns whether the operator of `node` gives results of type `ty` in version `version`, as far
/// as the table knows it.
pub(crate) fn gives(node: &NodeProto, version: i64, output: usize, ty: &TypeProto) -> bool {
    let Found::Schema(schema) = find(plain(node.domain()), node.op_type(), version) else {
        return true;
    };
    let formal = schema.outputs.at(output);
    formal.zip(type_text(ty)).is_none_or(|(formal, ty)| admits(schema, formal, &ty))
}

/// Returns whether a `Constant` may hold a tensor of elements `data_type` in version `version`.
pub(crate) fn holds(version: i64, data_type: i32) -> bool {
    let Found::Schema(schema) = find("", "Constant", version) else { return false };
    let formal = schema.outputs.at(0).zip(element_name(data_type));
    formal.is_some_and(|(formal, ty)| admits(schema, formal, ty))
}

/// The element type that a node says its output has.
fn stated_output(node: &NodeProto) -> Option<String> {
    let number = node.attribute.iter().find_map(|attribute| match attribute.name() {
        "to" => i32::try_from(attribute.i?).ok(),
        "value" if node.op_type() == "Constant" => Some(attribute.t.as_ref()?.data_type()),
        _ => None,
    });
    element_name(number?).map(str::to_owned)
}

fn attributes(schema: &Schema, node: &NodeProto, problems: &mut Vec<String>) {
    for attribute in &node.attribute {
        match schema.attributes.iter().find(|known| known.name == attribute.name()) {
            None => problems.push(format!("has no attribute `{}`", attribute.name())),
            Some(known) if is_of_another_kind(attribute, known.kind) => {
                problems.push(format!("has attribute `{}` of another kind", attribute.name()));
            }
            Some(_) => {}
        }
    }
    let given = |name: &str| node.attribute.iter().any(|attribute| attribute.name() == name);
    for known in schema.attributes.iter().filter(|known| known.required && !given(known.name)) {
        problems.push(format!("needs attribute `{}`", known.name));
    }
}

fn is_of_another_kind(attribute: &AttributeProto, kind: i32) -> bool {
    let stated = attribute.r#type.unwrap_or(0);
    stated != 0 && stated != kind && attribute.ref_attr_name.is_none()
}

fn counts(schema: &Schema, node: &NodeProto, problems: &mut Vec<String>) {
    let both = [("input", &schema.inputs, &node.input), ("output", &schema.outputs, &node.output)];
    for (what, formals, names) in both {
        let found = names.len();
        if found < formals.least || formals.most.is_some_and(|most| found > most) {
            let most = formals.most.map_or("any number".to_owned(), |most| most.to_string());
            problems.push(format!("has {} to {most} {what}s, not {found}", formals.least));
        }
        for (i, _) in names.iter().enumerate().filter(|(_, name)| name.is_empty()) {
            // Outputs that nobody wants need no name.
            let needed = formals.at(i).is_some_and(|formal| formal.times == Times::Once);
            if needed && what == "input" {
                problems.push(format!("needs input {i}"));
            }
        }
    }
}

/// The name of an element type in schemas.
fn element_name(number: i32) -> Option<&'static str> {
    const NAMES: &[&str] = &[
        "float",
        "uint8",
        "int8",
        "uint16",
        "int16",
        "int32",
        "int64",
        "string",
        "bool",
        "float16",
        "double",
        "uint32",
        "uint64",
        "complex64",
        "complex128",
        "bfloat16",
        "float8e4m3fn",
        "float8e4m3fnuz",
        "float8e5m2",
        "float8e5m2fnuz",
        "uint4",
        "int4",
        "float4e2m1",
        "float8e8m0",
        "uint2",
        "int2",
    ];
    usize::try_from(number).ok()?.checked_sub(1).and_then(|i| NAMES.get(i)).copied()
}

/// A type as schemas write it; `None` for what they have no simple form for.
fn type_text(proto: &TypeProto) -> Option<String> {
    let mut around = Vec::new();
    let mut proto = proto;
    let inner = loop {
        match proto.value.as_ref()? {
            TypeValue::TensorType(tensor) => break element_name(tensor.elem_type())?,
            TypeValue::SequenceType(list) => {
                around.push("seq(");
                proto = list.elem_type.as_deref()?;
            }
            TypeValue::OptionalType(optional) => {
                around.push("optional(");
                proto = optional.elem_type.as_deref()?;
            }
            _ => return None,
        }
    };
    Some(around.concat() + inner + &")".repeat(around.len()))
}
