//! Graphs: inputs, initializers, nodes, outputs.

use tangram_dialects::constant;
use tangram_ir::{Attr, AttrData, Block, Loc, Op, OpState, Point, Type, TypeData, Value};
use tangram_tensor::Tensor;

use super::{Importer, order};
use crate::error::{Error, Result};
use crate::file::{Elements, TensorBytes, tensor_bytes};
use crate::model::{ConstantForm, ConstantOrigin};
use crate::proto::{GraphProto, TensorProto, ValueInfoProto};
use crate::types;

impl Importer {
    /// Makes function `main` of the model's graph.
    pub(super) fn main_function(&mut self, graph: GraphProto) -> Result<()> {
        let context = self.context.clone();
        let mut state = OpState::new(context.name("func.func"), Loc::UNKNOWN);
        state.regions = 1;
        let func = self.module.create_at(Point::End(self.module.body()), state);
        let region = self.module.region(func, 0);
        let block = self.module.add_block(region);
        let defaults: Vec<&str> = graph.initializer.iter().map(TensorProto::name).collect();
        let mut inputs = Vec::new();
        for input in &graph.input {
            // An initializer that is an input as well is a default that the caller may replace:
            // from IR version 4 on it stays an input; before, it had to be listed.
            let constant = self.source.proto.ir_version() < 4 && defaults.contains(&input.name());
            inputs.push((types::import(&context, input.r#type.as_ref()), constant));
        }
        let outputs = self.fill(block, graph, &inputs, "func.return")?;
        let results = outputs.iter().map(|&v| self.module.value_type(v)).collect();
        let args = self.module.args(block).iter().map(|&v| self.module.value_type(v)).collect();
        let ty = context.ty(TypeData::Function { inputs: args, results });
        let attrs = [
            (context.str("sym_name"), context.str_attr("main")),
            (context.str("function_type"), context.type_attr(ty)),
        ];
        self.module.set_attrs(func, context.dict(attrs));
        Ok(())
    }

    /// Fills `block` with `graph`, and returns the values of its outputs.
    ///
    /// `inputs`: the type of each input, and whether it is no argument of the block because an
    /// initializer of the same name is its only value.
    pub(super) fn fill(
        &mut self,
        block: Block,
        mut graph: GraphProto,
        inputs: &[(Type, bool)],
        terminator: &str,
    ) -> Result<Vec<Value>> {
        let outer = std::mem::replace(&mut self.block, block);
        self.scopes.push(Default::default());
        let claimed = self.claim(&graph);
        self.arguments(&graph, inputs);
        for tensor in std::mem::take(&mut graph.initializer) {
            self.initializer(tensor)?;
        }
        self.sparse_initializers(&graph);
        for node in order::sort(std::mem::take(&mut graph.node))? {
            self.node(node)?;
        }
        let outputs = self.outputs(&graph)?;
        let mut state = OpState::new(self.context.name(terminator), Loc::UNKNOWN);
        state.operands.extend_from_slice(&outputs);
        self.module.create_at(Point::End(block), state);
        for (name, old) in claimed {
            match old {
                Some(old) => self.claims.insert(name, old),
                None => self.claims.remove(&name),
            };
        }
        self.source.graphs.insert(block, graph);
        self.scopes.pop();
        self.block = outer;
        Ok(outputs)
    }

    /// Notes the declared types of the graph; returns what they hide.
    fn claim(&mut self, graph: &GraphProto) -> Vec<(tangram_ir::Str, Option<ValueInfoProto>)> {
        let infos = graph.value_info.iter().chain(&graph.output);
        infos
            .map(|info| {
                let name = self.context.str(info.name());
                (name, self.claims.insert(name, info.clone()))
            })
            .collect()
    }

    fn arguments(&mut self, graph: &GraphProto, inputs: &[(Type, bool)]) {
        for (input, &(ty, constant)) in graph.input.iter().zip(inputs) {
            if constant {
                continue;
            }
            let value = self.module.add_arg(self.block, ty);
            let name = self.context.str(input.name());
            self.define(name, value);
        }
    }

    fn initializer(&mut self, tensor: TensorProto) -> Result<()> {
        let name = self.context.str(tensor.name());
        let number = self.source.tensors.len() as u32;
        // An input of the same name wins: its initializer is only a default value.
        let shadowed = self.scopes.last().is_some_and(|scope| scope.contains_key(&name));
        if !shadowed {
            let op = self.constant(&tensor)?;
            let form = ConstantForm::Initializer(number);
            self.source.constants.insert(op, ConstantOrigin { block: self.block, form });
            let value = self.module.result(op, 0);
            self.define(name, value);
        }
        self.source.tensors.push(tensor);
        Ok(())
    }

    /// Makes a constant operation for `tensor`.
    pub(super) fn constant(&mut self, tensor: &TensorProto) -> Result<Op> {
        let read = tensor_bytes(tensor, &self.source.files).map_err(|error| Error::Tensor {
            name: tensor.name().to_owned(),
            source: error.into(),
        })?;
        let loc = self.context.name_loc(tensor.name());
        let point = Point::End(self.block);
        match to_tensor(&read) {
            Some(value) => Ok(constant::build(&mut self.module, point, &value, tensor.name(), loc)),
            None => Ok(self.opaque_constant(tensor, &read, loc)),
        }
    }

    /// A constant whose elements tensors here cannot have: its bytes are kept and not looked at.
    fn opaque_constant(&mut self, tensor: &TensorProto, read: &TensorBytes, loc: Loc) -> Op {
        let element = types::element(&self.context, tensor.data_type());
        let dims: Vec<_> = read.dims.iter().map(|&n| tangram_ir::Dim::fixed(n as i64)).collect();
        let mut state = OpState::new(self.context.name("onnx.constant"), loc);
        state.results.push(self.context.tensor_type(&dims, element));
        self.module.create_at(Point::End(self.block), state)
    }

    /// Sparse initializers stay with the graph; the program sees them as opaque values.
    fn sparse_initializers(&mut self, graph: &GraphProto) {
        for sparse in &graph.sparse_initializer {
            let values = sparse.values.as_ref();
            let element = types::element(&self.context, values.map_or(0, |v| v.data_type()));
            let dims: Vec<_> = sparse.dims.iter().map(|&n| tangram_ir::Dim::fixed(n)).collect();
            let mut state =
                OpState::new(self.context.name("onnx.sparse_initializer"), Loc::UNKNOWN);
            state.results.push(self.context.tensor_type(&dims, element));
            let op = self.module.create_at(Point::End(self.block), state);
            let name = self.context.str(values.map_or("", |v| v.name()));
            let value = self.module.result(op, 0);
            self.define(name, value);
        }
    }

    fn outputs(&mut self, graph: &GraphProto) -> Result<Vec<Value>> {
        let output = |info: &ValueInfoProto| {
            let name = self.context.str(info.name());
            self.lookup(name).ok_or_else(|| Error::Undefined {
                node: format!("the graph `{}`", graph.name()),
                name: info.name().to_owned(),
            })
        };
        graph.output.iter().map(output).collect()
    }

    /// The attribute that holds `tensor`; an opaque one if tensors here cannot have its elements.
    pub(super) fn tensor_attr(&mut self, tensor: &TensorProto) -> Result<Attr> {
        let read = tensor_bytes(tensor, &self.source.files).map_err(|error| Error::Tensor {
            name: tensor.name().to_owned(),
            source: error.into(),
        })?;
        Ok(match to_tensor(&read) {
            Some(value) => constant::tensor_attr(&mut self.module, &value, tensor.name()),
            None => self.context.attr(AttrData::Opaque(self.context.str("onnx.tensor"))),
        })
    }
}

/// The tensor with these elements, sharing their bytes; `None` for types that tensors lack.
pub(crate) fn to_tensor(read: &TensorBytes) -> Option<Tensor> {
    let dtype = types::dtype_of(read.data_type as i64)?;
    match &read.elements {
        Elements::Bytes(bytes) => Tensor::from_bytes(dtype, &read.dims, bytes.clone()).ok(),
        Elements::Strings(strings) => {
            Tensor::from_strings(&read.dims, strings.iter().map(|s| s.to_vec()).collect::<Vec<_>>())
                .ok()
        }
    }
}
