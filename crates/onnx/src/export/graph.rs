//! Graphs: what stands around the nodes.

use rustc_hash::{FxHashMap, FxHashSet};
use tangram_ir::{Block, Op, Str, Value};

use super::{Exporter, Graph};
use crate::error::Result;
use crate::model::ConstantForm;
use crate::proto::{GraphProto, NodeProto, ValueInfoProto};

impl Exporter<'_> {
    /// Writes the graph in `block`.
    pub(super) fn graph(&mut self, block: Block) -> Result<GraphProto> {
        let source = self.source;
        let mut proto = source.graphs.get(&block).cloned().unwrap_or_default();
        self.graphs.push(Graph::new(block));
        let mut outputs = self.outputs(block, &proto.output);
        let copies = self.name_interface(block, &mut outputs);
        let returned = outputs.iter().map(|&(_, value)| value).collect();
        self.graphs.last_mut().expect("the graph pushed above").returned = returned;
        for (info, &(name, _)) in proto.output.iter_mut().zip(&outputs) {
            info.name = Some(self.context.text(name).to_owned());
        }
        self.rename_inputs(block, &mut proto.input);
        self.cover(block);
        self.defaults(&proto);
        let ops: Vec<Op> = self.module.ops(block).collect();
        for op in ops {
            self.op(op)?;
        }
        for &(_, value) in &outputs {
            self.use_constant(value);
        }
        for (name, value) in copies {
            let name = self.context.text(name).to_owned();
            let node = match self.once_more(value, &name) {
                Some(node) => node,
                None => NodeProto {
                    op_type: Some("Identity".into()),
                    input: vec![self.name(value)],
                    output: vec![name],
                    ..NodeProto::default()
                },
            };
            self.push(node);
        }
        let graph = self.graphs.pop().expect("the graph pushed above");
        proto.node = graph.nodes;
        proto.initializer = graph.initializers;
        self.annotate(block, &mut proto);
        let values: Vec<Value> = outputs.iter().map(|&(_, value)| value).collect();
        self.correct(&mut proto.output, &values);
        tidy(&mut proto);
        Ok(proto)
    }

    /// Gives the inputs that the graph had the names that its arguments have now.
    fn rename_inputs(&self, block: Block, inputs: &mut [ValueInfoProto]) {
        let text = |name| self.context.text(name);
        let args = self.module.args(block).iter().rev();
        let new: FxHashMap<&str, Value> =
            args.map(|&arg| (self.module.value_name(arg).map_or("", text), arg)).collect();
        for info in inputs {
            if let Some(&arg) = new.get(info.name()) {
                info.name = self.names[arg].map(|name| text(name).to_owned());
            }
        }
    }

    /// The node that makes `value`, which is no tensor, with its result under another name: before
    /// operator set 14 `Identity` is for tensors only.
    fn once_more(&mut self, value: Value, name: &str) -> Option<NodeProto> {
        let is_tensor = self.context.element_type(self.module.value_type(value)).is_some();
        if self.opset >= 14 || is_tensor {
            return None;
        }
        let own = self.name(value);
        let nodes = &self.graphs.last()?.nodes;
        let mut node = nodes.iter().find(|node| node.output.contains(&own))?.clone();
        for output in &mut node.output {
            if *output == own {
                *output = name.to_owned();
            } else if !output.is_empty() {
                let fresh = self.fresh_name(output);
                *output = self.context.text(fresh).to_owned();
            }
        }
        Some(node)
    }

    fn outputs(&self, block: Block, infos: &[ValueInfoProto]) -> Vec<(Str, Value)> {
        let Some(terminator) = self.module.last_op(block) else { return Vec::new() };
        let names = infos.iter().map(|info| self.context.str(info.name()));
        names.zip(self.module.operands(terminator)).collect()
    }

    /// Initializers that are graph inputs as well belong to the interface and always stay.
    fn defaults(&mut self, proto: &GraphProto) {
        let inputs: FxHashSet<&str> = proto.input.iter().map(ValueInfoProto::name).collect();
        if self.graphs.len() > 1 || inputs.is_empty() {
            return;
        }
        for (number, tensor) in self.source.tensors.iter().enumerate() {
            if inputs.contains(tensor.name()) {
                self.defaults.insert(number as u32);
                self.write_initializer(number as u32, tensor.name().to_owned(), 0);
            }
        }
        for (&op, origin) in &self.source.constants {
            let ConstantForm::Initializer(number) = origin.form else { continue };
            if self.defaults.contains(&number) && self.module.is_live(op) {
                let value = self.module.result(op, 0);
                self.names[value] = self.module.value_name(value);
            }
        }
    }

    /// Appends a node to the innermost graph. Its name is changed if a node there has it: nodes of
    /// two graphs may have one name, and come to lie in one graph.
    pub(super) fn push(&mut self, mut node: NodeProto) {
        if matches!(node.domain(), "" | "ai.onnx") {
            self.needs("");
        }
        let taken = |graph: &Graph| graph.node_names.contains(node.name());
        if self.graphs.last().is_some_and(taken) {
            node.name = Some(self.fresh_node_name(node.name()));
        }
        let graph = self.graphs.last_mut().expect("a graph is being written");
        if !node.name().is_empty() {
            graph.node_names.insert(node.name().to_owned());
        }
        graph.nodes.push(node);
    }

    /// Takes down that a node of a domain is written.
    pub(super) fn needs(&mut self, domain: &str) {
        if !self.domains.contains(domain) {
            self.domains.insert(domain.to_owned());
        }
    }

    /// A name for a new node whose first output is `output`.
    pub(super) fn node_name(&mut self, output: Option<&String>) -> Option<String> {
        let output = output?;
        let taken = self.own_nodes.contains(output.as_str());
        Some(if taken { self.fresh_node_name(output) } else { output.clone() })
    }

    fn fresh_node_name(&mut self, stem: &str) -> String {
        loop {
            let name = self.fresh_name(stem);
            let name = self.context.text(name);
            if !self.own_nodes.contains(name) {
                return name.to_owned();
            }
        }
    }
}

/// Drops what is said of the scales of values that are gone.
fn tidy(proto: &mut GraphProto) {
    let mut defined: FxHashSet<&str> = proto.input.iter().map(ValueInfoProto::name).collect();
    defined.extend(proto.initializer.iter().map(|t| t.name()));
    defined.extend(proto.node.iter().flat_map(|n| n.output.iter().map(String::as_str)));
    let annotations = proto.quantization_annotation.iter();
    let annotations: Vec<_> =
        annotations.filter(|a| defined.contains(a.tensor_name())).cloned().collect();
    proto.quantization_annotation = annotations;
}
