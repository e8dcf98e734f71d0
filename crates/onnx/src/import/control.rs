//! Nodes with graphs in their attributes: `If`, `Loop`, `Scan`, and operators that nn does not
//! know.

use smallvec::SmallVec;
use tangram_dialects::dims;
use tangram_ir::{AttrData, Context, Dim, Loc, Op, OpState, Point, Type, TypeData, Value};

use super::{Importer, node::is_default};
use crate::error::Result;
use crate::proto::{GraphProto, NodeProto};
use crate::types;

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
            "If" | "Loop" | "Scan" if is_default(node) => {
                self.control_node(node, inputs, graphs.len() as u32, loc)?
            }
            _ => self.opaque_node(node, inputs, graphs.len() as u32, loc)?,
        };
        let mut yields = Vec::new();
        for (i, (_, graph)) in graphs.into_iter().enumerate() {
            let region = self.module.region(op, i);
            let block = self.module.add_block(region);
            let args = self.argument_types(node, inputs, &graph);
            yields.push(self.fill(block, graph, &args, "nn.yield")?);
        }
        self.result_types(node, op, &yields);
        Ok((self.module.results(op).collect(), [op].into_iter().collect()))
    }

    fn control_node(
        &mut self,
        node: &NodeProto,
        inputs: &[Option<Value>],
        regions: u32,
        loc: Loc,
    ) -> Result<Op> {
        let op = self.opaque_node(node, inputs, regions, loc)?;
        let kept = self.context.entries(self.module.attrs(op)).iter().copied();
        let kept = kept.filter(|e| !matches!(self.context.attr_data(e.1), AttrData::Opaque(_)));
        let state = OpState {
            operands: self.module.operands(op).collect(),
            results: self.module.results(op).map(|v| self.module.value_type(v)).collect(),
            attrs: self.context.dict(kept),
            regions,
            ..OpState::new(self.context.name(&format!("nn.{}", node.op_type().to_lowercase())), loc)
        };
        self.module.erase(op);
        Ok(self.module.create_at(Point::End(self.block), state))
    }

    /// Types of a body's arguments. What goes around a loop may change its shape, so only the
    /// element type is believed; where the body declares none, it is that of the operand which
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

    /// Results of a branch have what both branches agree on.
    fn result_types(&mut self, node: &NodeProto, op: Op, yields: &[Vec<Value>]) {
        let results: Vec<Value> = self.module.results(op).collect();
        for (i, result) in results.into_iter().enumerate() {
            let ty = match (node.op_type(), yields) {
                ("If", [a, b]) => match (a.get(i), b.get(i)) {
                    (Some(&a), Some(&b)) => {
                        let ty = |v: Value| self.module.value_type(v);
                        join(&self.context, ty(a), ty(b))
                    }
                    _ => continue,
                },
                ("Loop", [body]) => match body.get(i + 1) {
                    Some(&v) => loose(&self.context, self.module.value_type(v)),
                    None => continue,
                },
                ("Scan", [body]) => match body.get(i) {
                    Some(&v) => loose(&self.context, self.module.value_type(v)),
                    None => continue,
                },
                _ => continue,
            };
            self.module.set_value_type(result, ty);
        }
    }
}

fn loose(context: &Context, ty: Type) -> Type {
    match context.element_type(ty) {
        Some(element) => context.ty(TypeData::UnrankedTensor(element)),
        None => ty,
    }
}

/// The type that says what `a` and `b` both say.
fn join(context: &Context, a: Type, b: Type) -> Type {
    if a == b {
        return a;
    }
    match (context.as_tensor(a), context.as_tensor(b)) {
        (Some((da, ea)), Some((db, eb))) if ea == eb && da.len() == db.len() => {
            use tangram_presburger::symbolic::Truth;
            let both = |(&a, &b): (&Dim, &Dim)| match dims::equal(context, a, b) {
                Truth::True => a,
                _ => Dim::UNKNOWN,
            };
            let dims: Vec<Dim> = da.iter().zip(db).map(both).collect();
            context.tensor_type(&dims, ea)
        }
        _ => loose(context, a),
    }
}
