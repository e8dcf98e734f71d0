//! The part of a graph between some of its values.
//!
//! From the outputs backwards, every node is kept that a kept value comes from, until the inputs.
//! A graph inside a node uses what it names and does not define: those values count as inputs of
//! the node.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{EditError, Edits};
use crate::model::Model;
use crate::proto::{GraphProto, ModelProto, NodeProto, TypeProto, ValueInfoProto};
use crate::types;

/// Keeps the part of `proto` between the inputs and outputs of `edits`; `model` is its import,
/// which knows the types of values that are not declared.
pub(super) fn extract(
    proto: &mut ModelProto,
    model: &Model,
    edits: &Edits,
) -> Result<(), EditError> {
    let Some(graph) = &mut proto.graph else { return Ok(()) };
    let outputs: Vec<String> = match edits.outputs.is_empty() {
        true => graph.output.iter().map(|output| output.name().to_owned()).collect(),
        false => edits.outputs.clone(),
    };
    let kept = kept(graph, &edits.inputs, &outputs)?;
    let types = Types::of(graph, model);
    let inputs = match edits.inputs.is_empty() {
        true => graph.input.iter().filter(|i| kept.values.contains(i.name())).cloned().collect(),
        false => edits.inputs.iter().map(|n| types.info(n)).collect::<Result<Vec<_>, _>>()?,
    };
    graph.output = outputs.iter().map(|name| types.info(name)).collect::<Result<_, _>>()?;
    graph.input = inputs;
    let ends: FxHashSet<&str> =
        graph.input.iter().chain(&graph.output).map(ValueInfoProto::name).collect();
    let needed = |name: &str| kept.values.contains(name);
    graph.value_info.retain(|info| needed(info.name()) && !ends.contains(info.name()));
    graph.quantization_annotation.retain(|a| a.tensor_name.as_deref().is_some_and(needed));
    let begins = |name: &str| edits.inputs.iter().any(|input| input == name);
    graph.initializer.retain(|tensor| needed(tensor.name()) && !begins(tensor.name()));
    graph.sparse_initializer.retain(|s| s.values.as_ref().is_some_and(|v| needed(v.name())));
    let mut at = 0..;
    graph.node.retain(|_| at.next().is_some_and(|at| kept.nodes.contains(&at)));
    Ok(())
}

/// Nodes by number, and values by name, that are part of the result.
struct Kept {
    nodes: FxHashSet<usize>,
    values: FxHashSet<String>,
}

fn kept(graph: &GraphProto, inputs: &[String], outputs: &[String]) -> Result<Kept, EditError> {
    let mut producers: FxHashMap<&str, usize> = FxHashMap::default();
    for (at, node) in graph.node.iter().enumerate() {
        producers.extend(node.output.iter().filter(|n| !n.is_empty()).map(|n| (n.as_str(), at)));
    }
    let mut free: FxHashSet<&str> = graph.initializer.iter().map(|tensor| tensor.name()).collect();
    free.extend(graph.sparse_initializer.iter().filter_map(|s| Some(s.values.as_ref()?.name())));
    let own: FxHashSet<&str> = graph.input.iter().map(ValueInfoProto::name).collect();
    let is_there = |n: &str| producers.contains_key(n) || free.contains(n) || own.contains(n);
    if let Some(name) = inputs.iter().chain(outputs).find(|name| !is_there(name)) {
        return Err(EditError::NoValue(name.clone()));
    }
    let mut kept = Kept { nodes: FxHashSet::default(), values: FxHashSet::default() };
    for output in outputs {
        let mut open = vec![output.clone()];
        while let Some(name) = open.pop() {
            if !kept.values.insert(name.clone()) || inputs.contains(&name) {
                continue;
            }
            if let Some(&at) = producers.get(name.as_str()) {
                if kept.nodes.insert(at) {
                    open.extend(uses(&graph.node[at]));
                }
            } else if own.contains(name.as_str())
                && !free.contains(name.as_str())
                && !inputs.is_empty()
            {
                return Err(EditError::Needs { output: output.clone(), input: name });
            }
        }
    }
    kept.values.extend(inputs.iter().cloned());
    Ok(kept)
}

/// The values of the graph around that a node uses, in its inputs and in its own graphs.
///
/// A name that a graph inside defines may hide one outside; then more is kept than is needed.
fn uses(node: &NodeProto) -> Vec<String> {
    let mut found: Vec<String> =
        node.input.iter().filter(|name| !name.is_empty()).cloned().collect();
    let mut open: Vec<&GraphProto> = Vec::new();
    let mut nodes: Vec<&NodeProto> = vec![node];
    while let Some(node) = nodes.pop() {
        for attribute in &node.attribute {
            open.extend(attribute.g.as_deref());
            open.extend(&attribute.graphs);
        }
        while let Some(graph) = open.pop() {
            found.extend(graph.output.iter().map(|output| output.name().to_owned()));
            for inner in &graph.node {
                found.extend(inner.input.iter().filter(|name| !name.is_empty()).cloned());
                nodes.push(inner);
            }
        }
    }
    found
}

/// What is known of the types of values.
struct Types {
    declared: FxHashMap<String, ValueInfoProto>,
    inferred: FxHashMap<String, TypeProto>,
}

impl Types {
    fn of(graph: &GraphProto, model: &Model) -> Types {
        let infos = graph.value_info.iter().chain(&graph.output).chain(&graph.input);
        let declared = infos
            .filter(|info| info.r#type.as_ref().is_some_and(|of| of.value.is_some()))
            .map(|info| (info.name().to_owned(), info.clone()))
            .collect();
        let module = &model.module;
        let mut inferred = FxHashMap::default();
        for op in model.graph().into_iter().flat_map(|block| module.ops(block)) {
            for value in module.results(op) {
                let Some(name) = module.value_name(value) else { continue };
                if let Some(of) = types::export(module.context(), module.value_type(value)) {
                    inferred.insert(module.context().text(name).to_owned(), of);
                }
            }
        }
        Types { declared, inferred }
    }

    /// The description of a value: what is declared of the model's own inputs and outputs, else
    /// what is inferred.
    fn info(&self, name: &str) -> Result<ValueInfoProto, EditError> {
        if let Some(of) = self.inferred.get(name) {
            let info = ValueInfoProto {
                name: Some(name.to_owned()),
                r#type: Some(of.clone()),
                ..ValueInfoProto::default()
            };
            return Ok(info);
        }
        self.declared.get(name).cloned().ok_or_else(|| EditError::NoType(name.to_owned()))
    }
}
