//! What each node takes and gives, and why some stay as they are.
//!
//! The schema of the operator says where the narrow type may stand. Beyond that, for `float16`,
//! results that may leave its range (`Exp`, powers, sums of squares, what reads a constant that does
//! not fit) are *wide*, and so is all that is computed from them, until an operator gives small
//! numbers again: `Softmax`, `Sqrt`, a division. `bfloat16` has the range of `float32` but for its
//! last numbers, which masks are made of. Sums over many numbers one after the other, and counting,
//! stay in both.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};
use tangram_tensor::Tensor;
use tangram_tensor::elementwise::cast;

use super::types::{Kind, Types};
use super::{Kept, Narrowing, Precision};
use crate::edit::EditError;
use crate::error::Result;
use crate::file::{ExternalFiles, tensor_bytes};
use crate::import::to_tensor;
use crate::model::Model;
use crate::proto::{AttributeProto, DataType, GraphProto, NodeProto, TensorProto};
use crate::schema::{Found, Schema, Types as Admitted, find, knows_domain};

/// In which type a node wants an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Want {
    /// It is no `float32`, or either will do.
    Any,
    Wide,
    Narrow,
}

/// What a node takes and gives.
#[derive(Clone, Debug, Default)]
pub(super) struct Decision {
    pub inputs: Vec<Want>,
    /// Whether each output is narrow.
    pub outputs: Vec<bool>,
    /// The number of the narrow type is to stand in the node itself.
    pub made: Option<Made>,
}

/// A node whose attributes say the type of its result.
#[derive(Clone, Debug)]
pub(super) enum Made {
    /// `Cast`: the attribute `to`.
    Cast,
    /// `Constant`, `ConstantOfShape`: this tensor.
    Value(Tensor),
}

/// In which types a constant is wanted.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Uses {
    pub wide: bool,
    pub narrow: bool,
}

/// How a constant is in the narrow type.
#[derive(Clone, Debug)]
pub(super) enum Fit {
    Fits(Tensor),
    /// A finite number, here the greatest, becomes infinite.
    Over(f32),
    /// The only number becomes 0.
    Under(f32),
    /// It cannot be read.
    Unknown,
}

/// What was decided of all graphs.
#[derive(Default)]
pub(super) struct Decisions {
    /// In the order in which nodes stand, those inside a node behind it.
    pub nodes: VecDeque<Decision>,
    pub uses: FxHashMap<String, Uses>,
    pub constants: FxHashMap<String, Fit>,
    /// The names that outputs of graphs have: they keep their type.
    pub fixed: FxHashSet<String>,
    pub kept: Vec<Kept>,
    pub narrow_nodes: usize,
}

/// Goes through the graphs, and decides.
pub(super) struct Survey<'a> {
    how: &'a Narrowing,
    types: &'a Types,
    model: &'a Model,
    files: &'a ExternalFiles,
    done: Decisions,
    /// Values that may be beyond the range of the narrow type.
    beyond: FxHashSet<String>,
    /// Names to keep that were found.
    found: FxHashSet<String>,
    /// The functions of the model, by domain and name.
    functions: FxHashSet<(&'a str, &'a str)>,
}

impl<'a> Survey<'a> {
    pub(super) fn new(
        how: &'a Narrowing,
        types: &'a Types,
        model: &'a Model,
        files: &'a ExternalFiles,
    ) -> Self {
        let done = Decisions::default();
        let (beyond, found) = (FxHashSet::default(), FxHashSet::default());
        let functions = model.header().functions.iter().map(|f| (f.domain(), f.name())).collect();
        Survey { how, types, model, files, done, beyond, found, functions }
    }

    /// Decides on all nodes of `graph`.
    pub(super) fn graph(&mut self, graph: &GraphProto) {
        let inputs: FxHashSet<&str> = graph.input.iter().map(|input| input.name()).collect();
        for tensor in graph.initializer.iter().filter(|t| !inputs.contains(t.name())) {
            self.constant(tensor.name(), tensor);
        }
        for output in &graph.output {
            let name = output.name().to_owned();
            self.done.uses.entry(name.clone()).or_default().wide = true;
            self.done.fixed.insert(name);
        }
        for node in &graph.node {
            self.node(node);
        }
    }

    /// What was decided.
    ///
    /// # Errors
    /// [`EditError::NothingToKeep`].
    pub(super) fn finish(self) -> Result<Decisions> {
        match self.how.keep.iter().find(|name| !self.found.contains(*name)) {
            Some(name) => Err(EditError::NothingToKeep(name.clone()).into()),
            None => Ok(self.done),
        }
    }

    fn constant(&mut self, name: &str, tensor: &TensorProto) {
        if tensor.data_type() == DataType::Float as i32 {
            let fit = self.fit(tensor);
            self.done.constants.insert(name.to_owned(), fit);
        }
    }

    fn fit(&self, tensor: &TensorProto) -> Fit {
        let read = tensor_bytes(tensor, self.files).ok().and_then(|read| to_tensor(&read));
        let Some(wide) = read else { return Fit::Unknown };
        let Ok(narrow) = cast(&wide, self.how.to.dtype()) else { return Fit::Unknown };
        let (Ok(before), Ok(after)) = (wide.view::<f32>(), narrow.f64s()) else {
            return Fit::Unknown;
        };
        let lost = before.iter().zip(&after).filter(|(b, a)| b.is_finite() && !a.is_finite());
        let greatest = lost.map(|(b, _)| *b).max_by(|a, b| a.abs().total_cmp(&b.abs()));
        match (greatest, &before[..], &after[..]) {
            (Some(greatest), ..) => Fit::Over(greatest),
            (None, &[one], &[zero]) if one != 0.0 && zero == 0.0 => Fit::Under(one),
            _ => Fit::Fits(narrow),
        }
    }

    fn node(&mut self, node: &NodeProto) {
        let decision = self.decide(node);
        for (name, want) in node.input.iter().zip(&decision.inputs) {
            let uses = self.done.uses.entry(name.clone()).or_default();
            uses.wide |= *want == Want::Wide;
            uses.narrow |= *want == Want::Narrow;
        }
        let is_constant = node.op_type() == "Constant";
        let narrow = decision.outputs.contains(&true) || decision.inputs.contains(&Want::Narrow);
        self.done.narrow_nodes += usize::from(narrow && !is_constant);
        self.done.nodes.push_back(decision);
        for attribute in &node.attribute {
            attribute.g.iter().for_each(|graph| self.graph(graph));
            attribute.graphs.iter().for_each(|graph| self.graph(graph));
        }
    }

    fn decide(&mut self, node: &NodeProto) -> Decision {
        self.note_kept_names(node);
        let names = || node.input.iter().chain(&node.output);
        if !names().any(|name| self.types.is_float(name)) {
            return self.untouched(node);
        }
        if node.op_type() == "Constant" && node.domain().is_empty() {
            return self.constant_node(node);
        }
        match self.stays(node) {
            Ok(schema) => self.by_schema(node, schema),
            Err(why) => self.stay(node, why),
        }
    }

    /// A node that has nothing of `float32`.
    fn untouched(&self, node: &NodeProto) -> Decision {
        Decision {
            inputs: vec![Want::Any; node.input.len()],
            outputs: vec![false; node.output.len()],
            made: None,
        }
    }

    /// A node that stays what it is.
    fn stay(&mut self, node: &NodeProto, why: String) -> Decision {
        let operator = node.op_type().to_owned();
        let name = node.output.iter().find(|name| !name.is_empty()).cloned().unwrap_or_default();
        match self.done.kept.iter_mut().find(|k| k.operator == operator && k.why == why) {
            Some(kept) => kept.nodes.push(name),
            None => self.done.kept.push(Kept { operator, why, nodes: vec![name] }),
        }
        let want = |name: &String| match self.types.is_float(name) {
            true => Want::Wide,
            false => Want::Any,
        };
        Decision { inputs: node.input.iter().map(want).collect(), ..self.untouched(node) }
    }

    fn constant_node(&mut self, node: &NodeProto) -> Decision {
        let Some(tensor) = node.attribute.iter().find_map(stated_tensor) else {
            return self.untouched(node);
        };
        let name = node.output.first().cloned().unwrap_or_default();
        self.constant(&name, &tensor);
        self.untouched(node)
    }

    /// The schema of a node that may take or give the narrow type, or why it may not.
    fn stays(&mut self, node: &NodeProto) -> std::result::Result<&'static Schema, String> {
        if let Some(name) = self.how.keep.iter().find(|name| is_named(node, name)) {
            return Err(format!("`{name}` was asked to stay"));
        }
        if node.attribute.iter().any(|a| a.g.is_some() || !a.graphs.is_empty()) {
            return Err("what goes into its graphs and comes out of them stays".to_owned());
        }
        let mut names = node.input.iter().chain(&node.output);
        if names.any(|name| self.types.kind(name) == Kind::Unknown) {
            return Err("it has values that are no tensors of a known type".to_owned());
        }
        let domain = if node.domain() == "ai.onnx" { "" } else { node.domain() };
        let version = self.model.opset(domain).unwrap_or(0);
        let schema = match find(domain, node.op_type(), version) {
            Found::Schema(schema) if knows_domain(domain) && !self.is_function(node) => schema,
            _ => return Err(format!("which types it takes is not known of `{domain}`")),
        };
        self.range(node)?;
        if !self.admits_any(schema, node) {
            return Err(format!("has no {} in operator set {version}", self.how.to));
        }
        self.fits(node)?;
        Ok(schema)
    }

    fn is_function(&self, node: &NodeProto) -> bool {
        self.functions.contains(&(node.domain(), node.op_type()))
    }

    /// Says why results of the node may be beyond the range or the digits of the narrow type.
    fn range(&mut self, node: &NodeProto) -> std::result::Result<(), String> {
        const COUNTS: &[&str] = &["CumSum", "CumProd", "Range"];
        if COUNTS.contains(&node.op_type()) {
            return Err("it counts or adds up step by step".to_owned());
        }
        let read = node.input.iter().find(|name| self.beyond.contains(*name)).cloned();
        // bfloat16 has the range of float32: only constants next to its end are beyond.
        let grows = self.how.to == Precision::Float16 && GROWING.contains(&node.op_type());
        let tame = TAMING.contains(&node.op_type());
        if read.is_some() && !tame || grows {
            self.beyond.extend(node.output.iter().filter(|name| !name.is_empty()).cloned());
        }
        match read {
            _ if grows => Err("results may leave the range of float16".to_owned()),
            Some(_) => Err(format!("reads what may leave the range of {}", self.how.to)),
            None => Ok(()),
        }
    }

    /// Says which constant of the node the narrow type does not hold.
    fn fits(&mut self, node: &NodeProto) -> std::result::Result<(), String> {
        let to = self.how.to;
        for name in &node.input {
            match self.done.constants.get(name) {
                Some(Fit::Over(greatest)) => {
                    let outputs = node.output.iter().filter(|name| !name.is_empty()).cloned();
                    self.beyond.extend(outputs);
                    return Err(format!("reads `{name}`: {to} has no {greatest:e}"));
                }
                Some(Fit::Under(one)) => {
                    return Err(format!("reads `{name}`: {one:e} is 0 in {to}"));
                }
                Some(Fit::Unknown) => return Err(format!("reads `{name}`, which is not read")),
                Some(Fit::Fits(_)) | None => {}
            }
        }
        Ok(())
    }

    fn admits_any(&self, schema: &'static Schema, node: &NodeProto) -> bool {
        let admits = |formal: Option<crate::schema::Formal>| {
            formal.is_some_and(|formal| self.admits(schema, formal.ty))
        };
        let mut inputs = node.input.iter().enumerate();
        let mut outputs = node.output.iter().enumerate();
        inputs.any(|(i, name)| self.types.is_float(name) && admits(schema.inputs.at(i)))
            || outputs.any(|(i, name)| self.types.is_float(name) && admits(schema.outputs.at(i)))
    }

    fn admits(&self, schema: &'static Schema, ty: &'static str) -> bool {
        match schema.types(ty) {
            Admitted::OneOf(all) => all.contains(&self.how.to.name()),
            Admitted::Only(only) => only == self.how.to.name(),
        }
    }

    fn by_schema(&mut self, node: &NodeProto, schema: &'static Schema) -> Decision {
        let mut bound: FxHashSet<&str> = FxHashSet::default();
        let mut inputs = Vec::new();
        for (i, name) in node.input.iter().enumerate() {
            let formal = schema.inputs.at(i).filter(|_| self.types.is_float(name));
            inputs.push(match formal {
                Some(formal) if self.admits(schema, formal.ty) => {
                    bound.insert(formal.ty);
                    Want::Narrow
                }
                Some(_) => Want::Wide,
                None => Want::Any,
            });
        }
        let made = self.made(node);
        let narrow = |(i, name): (usize, &String)| {
            let formal = schema.outputs.at(i);
            let is_bound = formal.is_some_and(|formal| bound.contains(formal.ty));
            self.types.is_float(name) && (is_bound || made.is_some())
        };
        let outputs: Vec<bool> = node.output.iter().enumerate().map(narrow).collect();
        // What gives no floats takes its only float as it is there.
        let floats = inputs.iter().filter(|want| **want != Want::Any).count();
        if !node.output.iter().any(|name| self.types.is_float(name)) && floats == 1
            || node.op_type() == "Cast"
        {
            inputs.fill(Want::Any);
        }
        Decision { inputs, outputs, made }
    }

    /// What is to stand in the node itself, whose attributes say the type of its result.
    fn made(&self, node: &NodeProto) -> Option<Made> {
        match node.op_type() {
            "Cast" => Some(Made::Cast),
            "ConstantOfShape" => {
                let stated = node.attribute.iter().find_map(|a| a.t.as_deref());
                let zero = || Tensor::vector(vec![0f32]);
                let wide = match stated {
                    Some(tensor) => to_tensor(&tensor_bytes(tensor, self.files).ok()?)?,
                    None => zero(),
                };
                let narrow = cast(&wide, self.how.to.dtype()).ok()?;
                let holds =
                    |tensor: &Tensor| tensor.f64s().is_ok_and(|n| n.iter().all(|n| n.is_finite()));
                (!holds(&wide) || holds(&narrow)).then_some(Made::Value(narrow))
            }
            _ => None,
        }
    }

    fn note_kept_names(&mut self, node: &NodeProto) {
        let named = self.how.keep.iter().filter(|name| is_named(node, name));
        self.found.extend(named.cloned());
    }
}

/// Operators whose results may be far greater than what they read.
const GROWING: &[&str] = &[
    "Cosh",
    "Exp",
    "Pow",
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSumExp",
    "ReduceProd",
    "ReduceSum",
    "ReduceSumSquare",
    "Sinh",
    "Tan",
];

/// Operators whose results are small, or bounded, also where what they read is great.
const TAMING: &[&str] = &[
    "Acosh",
    "Asinh",
    "Atan",
    "BatchNormalization",
    "Clip",
    "Cos",
    "Div",
    "Erf",
    "Gelu",
    "GroupNormalization",
    "HardSigmoid",
    "InstanceNormalization",
    "LayerNormalization",
    "Log",
    "LogSoftmax",
    "LpNormalization",
    "MeanVarianceNormalization",
    "RMSNormalization",
    "Reciprocal",
    "Sigmoid",
    "Sign",
    "Sin",
    "Softmax",
    "Softsign",
    "Sqrt",
    "Tanh",
];

/// Whether `name` is the node's operator, its own name, or a value that it makes.
fn is_named(node: &NodeProto, name: &str) -> bool {
    node.op_type() == name || node.name() == name || node.output.iter().any(|o| o == name)
}

/// The tensor of `float32` that an attribute of `Constant` says.
fn stated_tensor(attribute: &AttributeProto) -> Option<TensorProto> {
    let floats = |dims: Vec<i64>, data: Vec<f32>| TensorProto {
        dims,
        data_type: Some(DataType::Float as i32),
        float_data: data,
        ..TensorProto::default()
    };
    match attribute.name() {
        "value" => attribute.t.as_deref().cloned(),
        "value_float" => Some(floats(Vec::new(), vec![attribute.f?])),
        "value_floats" => {
            Some(floats(vec![attribute.floats.len() as i64], attribute.floats.clone()))
        }
        _ => None,
    }
}
