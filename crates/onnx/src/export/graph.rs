//! Graphs: what stands around the nodes.

use rustc_hash::FxHashSet;
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
        let outputs = self.outputs(block, &proto.output);
        let copies = self.name_interface(block, &outputs);
        self.cover(block);
        let (nodes, initializers) = (Vec::new(), Vec::new());
        self.graphs.push(Graph { block, nodes, initializers });
        self.defaults(block, &proto);
        let ops: Vec<Op> = self.module.ops(block).collect();
        for op in ops {
            self.op(op)?;
        }
        for &(_, value) in &outputs {
            self.use_constant(value);
        }
        for (name, value) in copies {
            let node = NodeProto {
                op_type: Some("Identity".into()),
                input: vec![self.name(value)],
                output: vec![self.context.text(name).to_owned()],
                ..NodeProto::default()
            };
            self.push(node);
        }
        let graph = self.graphs.pop().expect("the graph pushed above");
        proto.node = graph.nodes;
        proto.initializer = graph.initializers;
        self.tidy(&mut proto);
        Ok(proto)
    }

    fn outputs(&self, block: Block, infos: &[ValueInfoProto]) -> Vec<(Str, Value)> {
        let Some(terminator) = self.module.last_op(block) else { return Vec::new() };
        let names = infos.iter().map(|info| self.context.str(info.name()));
        names.zip(self.module.operands(terminator)).collect()
    }

    /// Initializers that are graph inputs as well belong to the interface and always stay.
    fn defaults(&mut self, block: Block, proto: &GraphProto) {
        let inputs: FxHashSet<&str> = proto.input.iter().map(ValueInfoProto::name).collect();
        if self.graphs.len() > 1 || inputs.is_empty() {
            return;
        }
        for (number, tensor) in self.source.tensors.iter().enumerate() {
            if inputs.contains(tensor.name()) {
                self.defaults.insert(number as u32);
                self.write_initializer(number as u32, tensor.name().to_owned(), block);
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

    /// Drops what is said of values that are gone.
    fn tidy(&self, proto: &mut GraphProto) {
        let mut defined: FxHashSet<&str> = proto.input.iter().map(ValueInfoProto::name).collect();
        defined.extend(proto.initializer.iter().map(|t| t.name()));
        defined.extend(proto.node.iter().flat_map(|n| n.output.iter().map(String::as_str)));
        let outputs: FxHashSet<&str> = proto.output.iter().map(ValueInfoProto::name).collect();
        let kept =
            |info: &ValueInfoProto| defined.contains(info.name()) && !outputs.contains(info.name());
        let value_info: Vec<_> =
            proto.value_info.iter().filter(|info| kept(info)).cloned().collect();
        let annotations = proto.quantization_annotation.iter();
        let annotations: Vec<_> =
            annotations.filter(|a| defined.contains(a.tensor_name())).cloned().collect();
        proto.value_info = value_info;
        proto.quantization_annotation = annotations;
    }

    /// Appends a node to the innermost graph.
    pub(super) fn push(&mut self, node: NodeProto) {
        self.graphs.last_mut().expect("a graph is being written").nodes.push(node);
    }
}
