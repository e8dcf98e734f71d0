//! Nodes with graphs in their attributes: `If`, `Loop`, `Scan`, and operators that nn does not
//! know.

use smallvec::SmallVec;
use tangram_dialects::nn;
use tangram_ir::{AttrData, Loc, Op, OpState, Point, Type, TypeData, Value};

use super::node::{is_default, misfit, odd_attribute};
use super::{Importer, describe};
use crate::error::Result;
use crate::proto::{GraphProto, NodeProto};
use crate::types;

/// Whether a node has the graphs and inputs that its operator cannot do without; one that has not
/// is carried along as it came.
fn is_control(node: &NodeProto, graphs: &[(String, GraphProto)]) -> bool {
    let (least, names): (usize, &[&str]) = match node.op_type() {
        "If" => (1, &["then_branch", "else_branch"]),
        "Loop" => (2, &["body"]),
        _ => (1, &["body"]),
    };
    is_default(node)
        && node.input.len() >= least
        && (node.op_type() != "If" || node.input.len() == 1)
        && graphs.iter().map(|(name, _)| name.as_str()).eq(names.iter().copied())
}

impl Importer {
    /// Takes the graphs out of the attributes of `node`, in order.
    pub(super) fn take_graphs(&self, node: &mut NodeProto) -> Vec<(String, GraphProto)> {
        let mut graphs = Vec::new();
        for attribute in &mut node.attribute {
            let name = attribute.name().to_owned();
            if let Some(graph) = attribute.g.take() {
                graphs.push((name.clone(), *graph));
                attribute.g = Some(Box::default());
            }
            let several = std::mem::take(&mut attribute.graphs);
            attribute.graphs = vec![GraphProto::default(); several.len()];
            graphs.extend(several.into_iter().map(|graph| (name.clone(), graph)));
        }
        graphs
    }

    /// An operation with one region for each graph.
    pub(super) fn node_with_graphs(
        &mut self,
        node: &NodeProto,
        inputs: &[Option<Value>],
        mut graphs: Vec<(String, GraphProto)>,
        loc: Loc,
    ) -> Result<(Vec<Value>, SmallVec<[Op; 2]>)> {
        if node.op_type() == "If" {
            // Regions are "then" and "else", in whatever order the attributes stand.
            graphs.sort_by_key(|(name, _)| name != "then_branch");
        }
        let op = match node.op_type() {
            // Before opset 9 a scan goes over batches as well.
            "Scan" if self.version < 9 => {
                self.opaque_node(node, inputs, graphs.len() as u32, loc)?
            }
            "If" | "Loop" | "Scan" | "SequenceMap" if is_control(node, &graphs) => {
                self.control_node(node, inputs, graphs.len() as u32, loc)?
            }
            _ => self.opaque_node(node, inputs, graphs.len() as u32, loc)?,
        };
        for (i, (_, graph)) in graphs.into_iter().enumerate() {
            let region = self.module.region(op, i);
            let block = self.module.add_block(region);
            let args = self.argument_types(node, inputs, &graph);
            self.fill(block, graph, &args, "nn.yield")?;
        }
        nn::infer_regions(&mut self.module, op);
        Ok((self.module.results(op).collect(), [op].into_iter().collect()))
    }

    fn control_node(
        &mut self,
        node: &NodeProto,
        inputs: &[Option<Value>],
        regions: u32,
        loc: Loc,
    ) -> Result<Op> {
        let name = match node.op_type() {
            "If" => "nn.if",
            "Loop" => "nn.loop",
            "Scan" => "nn.scan",
            _ => "nn.sequence_map",
        };
        let op = self.opaque_node(node, inputs, regions, loc)?;
        let kept = self.context.entries(self.module.attrs(op)).iter().copied();
        let kept = kept.filter(|e| !matches!(self.context.attr_data(e.1), AttrData::Opaque(_)));
        let (name, attrs) = (self.context.name(name), self.context.dict(kept));
        let count = self.module.operand_count(op);
        let why = self.context.def(name).and_then(|def| {
            misfit(def, count).or_else(|| odd_attribute(&self.context, def, attrs))
        });
        if let Some(why) = why {
            let line = format!("{} is carried along unchanged: {why}", describe(node));
            self.source.warnings.push(line);
            return Ok(op);
        }
        let state = OpState {
            operands: self.module.operands(op).collect(),
            results: self.module.results(op).map(|v| self.module.value_type(v)).collect(),
            attrs,
            regions,
            ..OpState::new(name, loc)
        };
        self.module.erase(op);
        Ok(self.module.create_at(Point::End(self.block), state))
    }

    /// Types of a body's arguments, to import it with. What goes around a loop may change its
    /// shape, so only the element type is believed; where the body declares none, it is that of the operand which
    /// the argument starts from.
    fn argument_types(
        &self,
        node: &NodeProto,
        inputs: &[Option<Value>],
        graph: &GraphProto,
    ) -> Vec<(Type, bool)> {
        let context = &self.context;
        let starts = matches!(node.op_type(), "Loop" | "Scan") && is_default(node);
        let start = |i: usize| {
            let value = inputs.get(i).copied().flatten().filter(|_| starts)?;
            context.element_type(self.module.value_type(value))
        };
        let loose = |ty: Type| match context.as_tensor(ty) {
            Some(([], _)) | None => ty,
            Some((_, element)) => context.ty(TypeData::UnrankedTensor(element)),
        };
        graph
            .input
            .iter()
            .enumerate()
            .map(|(i, input)| {
                let declared = loose(types::import(context, input.r#type.as_ref()));
                let ty = match (context.element_type(declared), start(i)) {
                    (None, Some(element)) if input.r#type.is_none() => {
                        context.ty(TypeData::UnrankedTensor(element))
                    }
                    _ => declared,
                };
                (ty, false)
            })
            .collect()
    }
}
