//! The graph anew, with the types that were decided and casts between them.

use rustc_hash::FxHashMap;
use tangram_tensor::Tensor;

use super::decide::{Decision, Decisions, Fit, Made, Want};
use super::types::Types;
use super::{Narrowed, Precision};
use crate::edit::names::Names;
use crate::export::tensor::to_proto;
use crate::proto::{
    AttributeProto, AttributeType, DataType, GraphProto, NodeProto, TensorProto, TypeValue,
    ValueInfoProto,
};

/// Writes `graph` as it was decided.
pub(super) fn graph(
    graph: GraphProto,
    to: Precision,
    types: &Types,
    decisions: Decisions,
) -> (GraphProto, Narrowed) {
    let mut names = Names::default();
    names.take(&graph);
    let told =
        Narrowed { to, nodes: decisions.narrow_nodes, weights: 0, casts: 0, kept: Vec::new() };
    let mut writer = Writer { types, decisions, names, scopes: Vec::new(), told };
    let graph = writer.graph(graph);
    writer.told.kept = writer.decisions.kept;
    writer.told.kept.sort_by_key(|kept| std::cmp::Reverse(kept.nodes.len()));
    (graph, writer.told)
}

/// Under which names a value is there.
#[derive(Clone, Default)]
struct Held {
    wide: Option<String>,
    narrow: Option<String>,
}

struct Writer<'a> {
    types: &'a Types,
    decisions: Decisions,
    names: Names,
    /// The values of `float32`, by their names in the model, of the graphs around the current
    /// place.
    scopes: Vec<FxHashMap<String, Held>>,
    told: Narrowed,
}

impl Writer<'_> {
    fn graph(&mut self, mut graph: GraphProto) -> GraphProto {
        self.scopes.push(FxHashMap::default());
        for input in graph.input.iter().filter(|input| self.types.is_float(input.name())) {
            self.hold(input.name(), Some(input.name().to_owned()), None);
        }
        let mut initializers = Vec::new();
        for tensor in std::mem::take(&mut graph.initializer) {
            self.initializer(tensor, &mut initializers);
        }
        let mut nodes = Vec::new();
        for node in std::mem::take(&mut graph.node) {
            let decision = self.decisions.nodes.pop_front().unwrap_or_default();
            self.node(node, &decision, &mut nodes);
        }
        let held = self.scopes.pop().unwrap_or_default();
        for info in &mut graph.value_info {
            self.declare(info, &held);
        }
        graph.initializer = initializers;
        graph.node = nodes;
        graph
    }

    fn hold(&mut self, name: &str, wide: Option<String>, narrow: Option<String>) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), Held { wide, narrow });
        }
    }

    /// What is declared of a value is true of the one that has its name now.
    fn declare(&self, info: &mut ValueInfoProto, held: &FxHashMap<String, Held>) {
        let is_narrow = held.get(info.name()).and_then(|held| held.narrow.as_deref());
        if is_narrow != Some(info.name()) {
            return;
        }
        let value = info.r#type.as_mut().and_then(|of| of.value.as_mut());
        if let Some(TypeValue::TensorType(tensor)) = value {
            tensor.elem_type = Some(self.told.to.number());
        }
    }

    /// Takes over a constant in the types that it is wanted in.
    fn initializer(&mut self, tensor: TensorProto, to: &mut Vec<TensorProto>) {
        let name = tensor.name().to_owned();
        if !self.types.is_float(&name) {
            to.push(tensor);
            return;
        }
        let (narrow, wide) = self.constant(&name);
        if let Some((name, data)) = &narrow {
            to.push(to_proto(data, name));
            self.told.weights += 1;
        }
        if wide {
            to.push(tensor);
        }
        self.hold(&name, wide.then(|| name.clone()), narrow.map(|(name, _)| name));
    }

    /// The narrow form of a constant under a name for it, and whether the wide one is needed.
    fn constant(&mut self, name: &str) -> (Option<(String, Tensor)>, bool) {
        let uses = self.decisions.uses.get(name).copied().unwrap_or_default();
        let Some(Fit::Fits(data)) = self.decisions.constants.get(name) else {
            return (None, true);
        };
        let data = data.clone();
        match (uses.narrow, uses.wide) {
            (false, _) => (None, true),
            (true, false) => (Some((name.to_owned(), data)), false),
            (true, true) => (Some((self.fresh(name, true), data)), true),
        }
    }

    fn fresh(&mut self, name: &str, narrow: bool) -> String {
        let suffix = if narrow { self.told.to.name() } else { "float32" };
        self.names.fresh(format!("{name}_{suffix}"))
    }

    fn node(&mut self, mut node: NodeProto, decision: &Decision, to: &mut Vec<NodeProto>) {
        if node.op_type() == "Constant" && self.decisions.constants.contains_key(output(&node)) {
            self.constant_node(node, to);
            return;
        }
        for (i, name) in node.input.iter_mut().enumerate() {
            let want = decision.inputs.get(i).copied().unwrap_or(Want::Any);
            *name = self.held(name, want, to);
        }
        for attribute in &mut node.attribute {
            if let Some(graph) = attribute.g.take() {
                attribute.g = Some(Box::new(self.graph(*graph)));
            }
            let graphs = std::mem::take(&mut attribute.graphs);
            attribute.graphs = graphs.into_iter().map(|graph| self.graph(graph)).collect();
        }
        if let Some(made) = &decision.made {
            self.make(&mut node, made);
        }
        let mut casts = Vec::new();
        for (i, name) in node.output.iter_mut().enumerate() {
            if !self.types.is_float(name) {
                continue;
            }
            if !decision.outputs.get(i).copied().unwrap_or(false) {
                self.hold(name, Some(name.clone()), None);
            } else if self.decisions.fixed.contains(name) {
                let own = std::mem::take(name);
                *name = self.fresh(&own, true);
                casts.push(self.cast(name, &own, DataType::Float as i32));
                self.hold(&own, Some(own.clone()), Some(name.clone()));
            } else {
                self.hold(name, None, Some(name.clone()));
            }
        }
        to.push(node);
        to.extend(casts);
    }

    /// A node `Constant`, in the types that it is wanted in.
    fn constant_node(&mut self, node: NodeProto, to: &mut Vec<NodeProto>) {
        let name = output(&node).to_owned();
        let (narrow, wide) = self.constant(&name);
        if let Some((name, data)) = &narrow {
            let mut twin = node.clone();
            twin.output = vec![name.clone()];
            twin.attribute = vec![tensor_attribute(data)];
            if wide {
                twin.name = None;
            }
            to.push(twin);
            self.told.weights += 1;
        }
        if wide {
            to.push(node);
        }
        self.hold(&name, wide.then(|| name.clone()), narrow.map(|(name, _)| name));
    }

    /// Writes into the node what type its result has.
    fn make(&self, node: &mut NodeProto, made: &Made) {
        match made {
            Made::Cast => {
                let number = i64::from(self.told.to.number());
                let is_wide =
                    |a: &&mut AttributeProto| a.name() == "to" && a.i() == DataType::Float as i64;
                if let Some(attribute) = node.attribute.iter_mut().find(is_wide) {
                    attribute.i = Some(number);
                }
            }
            Made::Value(data) => {
                node.attribute.retain(|attribute| attribute.name() != "value");
                node.attribute.push(tensor_attribute(data));
            }
        }
    }

    /// The name of a value in the type that is wanted; casts it if it is not there in it.
    fn held(&mut self, name: &str, want: Want, to: &mut Vec<NodeProto>) -> String {
        let found = self.scopes.iter().rev().find_map(|scope| scope.get(name)).cloned();
        let Some(held) = found else { return name.to_owned() };
        let (there, other, number) = match want {
            Want::Narrow => (held.narrow.clone(), held.wide.clone(), self.told.to.number()),
            Want::Wide => (held.wide.clone(), held.narrow.clone(), DataType::Float as i32),
            Want::Any => (held.wide.clone().or(held.narrow.clone()), None, 0),
        };
        if let Some(there) = there {
            return there;
        }
        let Some(from) = other else { return name.to_owned() };
        let fresh = self.fresh(name, want == Want::Narrow);
        to.push(self.cast(&from, &fresh, number));
        match want {
            Want::Narrow => self.hold(name, held.wide, Some(fresh.clone())),
            _ => self.hold(name, Some(fresh.clone()), held.narrow),
        }
        fresh
    }

    fn cast(&mut self, from: &str, into: &str, number: i32) -> NodeProto {
        self.told.casts += 1;
        let to = AttributeProto {
            name: Some("to".into()),
            r#type: Some(AttributeType::Int as i32),
            i: Some(i64::from(number)),
            ..AttributeProto::default()
        };
        NodeProto {
            op_type: Some("Cast".into()),
            name: Some(format!("{into}/Cast")),
            input: vec![from.to_owned()],
            output: vec![into.to_owned()],
            attribute: vec![to],
            ..NodeProto::default()
        }
    }
}

fn output(node: &NodeProto) -> &str {
    node.output.first().map_or("", String::as_str)
}

fn tensor_attribute(data: &Tensor) -> AttributeProto {
    AttributeProto {
        name: Some("value".into()),
        r#type: Some(AttributeType::Tensor as i32),
        t: Some(Box::new(TensorProto { name: None, ..to_proto(data, "") })),
        ..AttributeProto::default()
    }
}
