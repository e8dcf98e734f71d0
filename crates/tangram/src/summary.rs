//! What a model is, at a glance: what goes in and out, what it is made of, what it costs.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use tangram_dialects::dims;
use tangram_ir::text::type_text;
use tangram_ir::{Dim, Module, Type, TypeData};
use tangram_onnx::file::byte_len;
use tangram_onnx::proto::{DataType, GraphProto, ModelProto, TensorProto};
use tangram_onnx::{ExportOptions, Model, export};

use crate::cost::{self, Cost};
use crate::report::{Shares, histogram, shares, warnings};

/// What a model is.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Summary {
    /// The inputs that a caller gives.
    pub inputs: Vec<Port>,
    /// The outputs.
    pub outputs: Vec<Port>,
    /// Names of dimensions that are left open.
    pub symbols: BTreeSet<String>,
    /// Nodes by operator, constants not counted.
    pub operators: BTreeMap<String, usize>,
    /// All nodes, constants not counted.
    pub nodes: usize,
    /// Numbers in weights.
    pub parameters: u64,
    /// Bytes of weights.
    pub weight_bytes: u64,
    /// Estimated cost; symbols are given a small size.
    pub cost: Cost,
    /// Versions of operator sets by domain.
    pub opsets: BTreeMap<String, i64>,
    /// The version of the format.
    pub ir_version: i64,
    /// Who wrote the model, with the version.
    pub producer: String,
    /// How much is known of it.
    pub shares: Shares,
    /// What could not be made sense of.
    pub warnings: Vec<String>,
}

/// An input or output.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// Its elements, such as `f32`; the whole type of what is no tensor.
    pub element: String,
    /// Its extents: numbers, names, `?`; none where not even their number is known.
    pub shape: Option<Vec<String>>,
}

impl Summary {
    /// Looks at `model`.
    ///
    /// # Errors
    /// As [`export`].
    pub fn of(model: &Model) -> Result<Summary, tangram_onnx::Error> {
        let proto = export(model, ExportOptions::default())?;
        let operators = histogram(&proto);
        let (parameters, weight_bytes) = weights(&proto);
        let (inputs, outputs) = ports(model);
        let name = |domain: &str| if domain.is_empty() { "ai.onnx" } else { domain }.to_owned();
        let opsets = proto.opset_import.iter().map(|set| (name(set.domain()), set.version()));
        let producer = format!("{} {}", proto.producer_name(), proto.producer_version());
        Ok(Summary {
            symbols: symbols(model),
            nodes: operators.values().sum(),
            operators,
            parameters,
            weight_bytes,
            cost: cost::estimate(&model.module),
            opsets: opsets.collect(),
            ir_version: proto.ir_version(),
            producer: producer.trim().to_owned(),
            shares: shares(&model.module),
            warnings: warnings(model),
            inputs,
            outputs,
        })
    }
}

/// Numbers and bytes of all weights, of graphs inside nodes as well.
fn weights(proto: &ModelProto) -> (u64, u64) {
    let (mut numbers, mut bytes) = (0u64, 0u64);
    let mut graphs: Vec<&GraphProto> = proto.graph.iter().collect();
    while let Some(graph) = graphs.pop() {
        let mut tensors: Vec<&TensorProto> = graph.initializer.iter().collect();
        for node in &graph.node {
            for attribute in &node.attribute {
                graphs.extend(attribute.g.as_deref());
                graphs.extend(&attribute.graphs);
                tensors.extend(attribute.t.as_deref());
            }
        }
        for tensor in tensors {
            let count = tensor.dims.iter().fold(1u64, |n, &d| n.saturating_mul(d.max(0) as u64));
            numbers = numbers.saturating_add(count);
            let size = DataType::try_from(tensor.data_type())
                .ok()
                .and_then(|t| byte_len(t, count))
                .unwrap_or(0);
            bytes = bytes.saturating_add(size);
        }
    }
    (numbers, bytes)
}

fn ports(model: &Model) -> (Vec<Port>, Vec<Port>) {
    let module = &model.module;
    let context = module.context();
    let Some(block) = model.graph() else { return (Vec::new(), Vec::new()) };
    let named = |value| module.value_name(value).map_or("", |name| context.text(name)).to_owned();
    let inputs = module.args(block).iter();
    let inputs = inputs.map(|&arg| port(module, named(arg), module.value_type(arg))).collect();
    let last = module.ops(block).last();
    let values = last.into_iter().flat_map(|op| module.operands(op));
    let outputs = model.output_names().into_iter().zip(values);
    let outputs = outputs.map(|(name, v)| port(module, name, module.value_type(v))).collect();
    (inputs, outputs)
}

fn port(module: &Module, name: String, of: Type) -> Port {
    let context = module.context();
    let element = type_text(module, context.element_type(of).unwrap_or(of));
    let shown = |dim: &Dim| match dim.is_unknown() {
        true => "?".to_owned(),
        false => dims::text(context, *dim),
    };
    let shape = context.as_tensor(of).map(|(extents, _)| extents.iter().map(shown).collect());
    Port { name, element, shape }
}

/// The symbols in the types of inputs.
fn symbols(model: &Model) -> BTreeSet<String> {
    let module = &model.module;
    let context = module.context();
    let args = model.graph().map(|block| module.args(block)).unwrap_or_default();
    let mut found = BTreeSet::new();
    for &arg in args {
        let TypeData::Tensor(tensor) = context.type_data(module.value_type(arg)) else { continue };
        for &dim in tensor.dims.iter().filter(|dim| dim.as_static().is_none()) {
            if let Some(expr) = dims::expr(context, dim) {
                found.extend(expr.symbols().into_iter().map(str::to_owned));
            }
        }
    }
    found
}
