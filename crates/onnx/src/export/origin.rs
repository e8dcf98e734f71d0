//! Giving nodes of the import back.

use tangram_dialects::constant::is_none_type;
use tangram_ir::{Block, Dim, Op, Region, Value};

use super::Exporter;
use crate::error::Result;
use crate::model::{Input, Origin};
use crate::proto::{GraphProto, NodeProto};
use crate::{schema, types};

/// The first operator set in which the branches of an `If` may give other shapes.
const FREE_BRANCHES: i64 = 11;

fn is_default(node: &NodeProto) -> bool {
    matches!(node.domain(), "" | "ai.onnx")
}

impl<'m> Exporter<'m> {
    /// Finds the operations of `block` that are written together with a later one.
    pub(super) fn cover(&mut self, block: Block) {
        for op in self.module.ops(block) {
            if let Some(origin) = self.intact(op) {
                self.covered.extend(origin.members.iter().map(|m| m.op).filter(|&m| m != op));
            } else if let Some(inner) = self.fused(op) {
                self.covered.insert(inner);
            }
        }
    }

    /// The group that `op` ends, if it is as the import made it but for other values of its
    /// node's inputs.
    pub(super) fn intact(&self, op: Op) -> Option<&'m Origin> {
        let number = self.source.origin_of[op].checked_sub(1)?;
        let origin = &self.source.origins[number as usize];
        let node = &self.source.nodes[origin.node as usize];
        // What the default operator set does not define means the same in each version of it.
        (self.same_opset || !is_default(node) || self.means_the_same(node)).then_some(())?;
        let same = origin.members.iter().all(|member| {
            let m = member.op;
            self.module.is_live(m)
                && self.module.block(m) == self.module.block(op)
                && self.module.attrs(m) == member.attrs
                && self.module.operand_count(m) == member.operand_count as usize
                && member
                    .fixed
                    .iter()
                    .all(|&(i, v)| self.same(self.module.operand(m, i as usize), v))
                && (m == op || self.inside(origin, m))
        });
        same.then_some(origin)
    }

    /// Whether the operator of `node` is the same in the model's operator set and in the wanted
    /// one. Control flow differs in the types that it carries only, if its inputs and attributes
    /// are the same.
    fn means_the_same(&self, node: &NodeProto) -> bool {
        let schema = |version| match schema::find("", node.op_type(), version) {
            schema::Found::Schema(schema) if is_default(node) => Some(schema),
            _ => None,
        };
        let (Some(own), Some(wanted)) = (schema(self.own_opset), schema(self.opset)) else {
            return false;
        };
        let control = matches!(node.op_type(), "If" | "Loop" | "Scan");
        own.since == wanted.since || control && own.is_used_alike(wanted)
    }

    fn same(&self, a: Value, b: Value) -> bool {
        let none = |v: Value| is_none_type(self.context, self.module.value_type(v));
        a == b || (none(a) && none(b))
    }

    /// Returns whether the results of `member` are used in the group only.
    fn inside(&self, origin: &Origin, member: Op) -> bool {
        self.module.results(member).all(|value| {
            self.module.uses(value).all(|u| origin.members.iter().any(|m| m.op == u.op))
        })
    }

    /// Writes the node of `origin`, with the present names.
    pub(super) fn give_back(&mut self, origin: &Origin, op: Op) -> Result<()> {
        let mut node = self.source.nodes[origin.node as usize].clone();
        let mut inputs = Vec::with_capacity(origin.inputs.len());
        for input in &origin.inputs {
            inputs.push(match *input {
                Input::Absent => String::new(),
                Input::Operand(member, i) => {
                    let value = self.module.operand(origin.members[member as usize].op, i as usize);
                    self.input(value)
                }
                Input::Constant(value) => self.input(value),
            });
        }
        node.input = inputs;
        for (i, output) in node.output.iter_mut().enumerate() {
            if let (Some(Some(value)), false) = (origin.outputs.get(i), output.is_empty()) {
                *output = self.name(*value);
            }
        }
        self.fill_graphs(&mut node, op)?;
        if !self.same_opset {
            self.results_fit(&node, op)?;
        }
        self.push(node);
        Ok(())
    }

    /// Refuses a node whose results are of types that its operator does not give in the wanted
    /// operator set, such as sequences of an `If` before 13.
    fn results_fit(&self, node: &NodeProto, op: Op) -> Result<()> {
        for (i, value) in self.module.results(op).enumerate() {
            let ty = types::export(self.context, self.module.value_type(value));
            if ty.is_some_and(|ty| !schema::gives(node, self.opset, i, &ty)) {
                return Err(
                    self.inexpressible(op, "its results are of types that it does not give there")
                );
            }
        }
        if self.opset < FREE_BRANCHES && self.module.name_text(op) == "nn.if" {
            self.branches_fit(op)?;
        }
        Ok(())
    }

    /// Refuses an `If` whose branches give other shapes, where that has to be the same.
    fn branches_fit(&self, op: Op) -> Result<()> {
        let given = |region: &Region| -> Option<Vec<Value>> {
            let block = self.module.first_block(*region)?;
            Some(self.module.operands(self.module.last_op(block)?).collect())
        };
        let all: Option<Vec<Vec<Value>>> = self.module.regions(op).iter().map(given).collect();
        let Some([first, second]) = all.as_deref() else { return Ok(()) };
        let apart = |(a, b): (&Value, &Value)| {
            let dims = |value: &Value| self.context.as_tensor(self.module.value_type(*value));
            let (Some((a, _)), Some((b, _))) = (dims(a), dims(b)) else { return false };
            let differ = |(a, b): (&Dim, &Dim)| {
                a.as_static().zip(b.as_static()).is_some_and(|(a, b)| a != b)
            };
            a.len() != b.len() || a.iter().zip(b).any(differ)
        };
        if first.iter().zip(second).any(apart) {
            return Err(self.inexpressible(op, "its branches give results of other shapes"));
        }
        Ok(())
    }

    /// Writes the regions of `op` into the places that the import left empty.
    fn fill_graphs(&mut self, node: &mut NodeProto, op: Op) -> Result<()> {
        let regions = self.module.regions(op).to_vec();
        if regions.is_empty() {
            return Ok(());
        }
        let branches = self.module.name_text(op) == "nn.if";
        let mut next = 0;
        for attribute in &mut node.attribute {
            let else_branch = attribute.name() == "else_branch";
            let places: Vec<&mut GraphProto> =
                attribute.g.as_deref_mut().into_iter().chain(attribute.graphs.iter_mut()).collect();
            for place in places {
                let at = if branches { usize::from(else_branch) } else { next };
                next += 1;
                let block = regions.get(at).and_then(|&region| self.module.first_block(region));
                if let Some(block) = block {
                    *place = self.graph(block)?;
                }
            }
        }
        Ok(())
    }
}
