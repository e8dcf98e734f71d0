//! A model: a module, and what of the ONNX model the module does not say.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tangram_ir::{Attr, Block, Context, Module, Op, Value};
use tangram_tensor::Tensor;

use crate::declared;
use crate::error::Result;
use crate::export::annotate::contradicts;
use crate::export::{ExportOptions, export};
use crate::file::{self, ExternalFiles, SaveOptions};
use crate::import::{import, to_tensor};
use crate::operators;
use crate::proto::{GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorProto};
use crate::schema::Violation;
use crate::types;

/// A model in IR, with the memory of where each operation comes from.
///
/// The module holds one function `main`; its arguments are the graph's inputs in their order, its
/// returned values the outputs. Rules change the module only. What no rule touched is exported
/// node for node as it was, because each operation that the import made knows its node.
#[derive(Clone)]
pub struct Model {
    /// The program.
    pub module: Module,
    pub(crate) source: Source,
}

/// What the export needs of the imported model.
#[derive(Clone)]
pub(crate) struct Source {
    /// The folder and files that weights lie in.
    pub files: Arc<ExternalFiles>,
    /// The model without its graph's nodes, initializers and subgraphs.
    pub proto: ModelProto,
    /// The version of each operator set, `""` for the default one.
    pub opsets: FxHashMap<String, i64>,
    /// Every node of every graph; the graphs in their attributes are taken out.
    pub nodes: Vec<NodeProto>,
    /// Every initializer.
    pub tensors: Vec<TensorProto>,
    /// For each block that was a graph, the graph without nodes and initializers.
    pub graphs: FxHashMap<Block, GraphProto>,
    /// For each operation that ends a group made for one node, the number of the group plus 1.
    pub origin_of: SecondaryMap<Op, u32>,
    /// The groups.
    pub origins: Vec<Origin>,
    /// Where each constant of the model comes from.
    pub constants: FxHashMap<Op, ConstantOrigin>,
    /// What the import could not make sense of and carried along.
    pub warnings: Vec<String>,
    /// Where the model itself did not keep to the schemas of its operator sets.
    pub flaws: Vec<Violation>,
    /// Nodes of the main graph whose operands inference refuses, and why.
    pub misfits: Vec<(String, String)>,
}

/// The operations made for one node, and how to see whether they are as they were.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    /// The number of the node.
    pub node: u32,
    /// The operations; the last one defines the node's outputs.
    pub members: SmallVec<[Member; 1]>,
    /// For each input of the node, where its value is found now.
    pub inputs: SmallVec<[Input; 4]>,
    /// For each output of the node, its value.
    pub outputs: SmallVec<[Option<Value>; 1]>,
}

/// An operation of a group as the import made it.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// The operation.
    pub op: Op,
    /// Its attributes.
    pub attrs: Attr,
    /// Operands that are no inputs of the node: links inside the group, absent operands.
    pub fixed: SmallVec<[(u32, Value); 1]>,
    /// How many operands it had.
    pub operand_count: u32,
}

/// An input of a node.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Input {
    /// It is absent.
    Absent,
    /// Operand `.1` of member `.0`.
    Operand(u32, u32),
    /// A constant that became an attribute. It is an outer value's name if an outer graph holds
    /// it.
    Constant(Value),
}

/// Where a constant comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConstantOrigin {
    /// The graph that held it.
    pub block: Block,
    /// What it was there.
    pub form: ConstantForm,
}

/// What a constant was in the model.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ConstantForm {
    /// Initializer number `.0` of the tensors.
    Initializer(u32),
    /// Node number `.0`, a `Constant`.
    Node(u32),
}

impl Model {
    /// Opens and imports the model at `path`; its weights stay in the memory map.
    ///
    /// # Errors
    /// [`crate::Error`]: the file cannot be read, or is no model that can be imported.
    pub fn open(path: impl AsRef<Path>, context: Arc<Context>) -> Result<Model> {
        import(file::open(path)?, context)
    }

    /// Reads and imports the model at `path`; the weights that are in it are memory of its own, which
    /// nobody who writes to the file changes.
    ///
    /// # Errors
    /// As those of [`Model::open`].
    pub fn open_whole(path: impl AsRef<Path>, context: Arc<Context>) -> Result<Model> {
        import(file::open_whole(path)?, context)
    }

    /// Decodes and imports a model; its weights stay in `bytes`.
    ///
    /// # Errors
    /// [`crate::Error`]: the bytes are no model that can be imported.
    pub fn decode(bytes: Bytes, context: Arc<Context>) -> Result<Model> {
        import(file::decode(bytes)?, context)
    }

    /// A model without inputs, nodes and outputs.
    ///
    /// # Errors
    /// None that is known of: an empty graph can be imported.
    pub fn empty(context: Arc<Context>) -> Result<Model> {
        let graph = GraphProto { name: Some("empty".to_owned()), ..GraphProto::default() };
        let opset = OperatorSetIdProto { domain: None, version: Some(17) };
        let model = ModelProto {
            ir_version: Some(8),
            graph: Some(graph),
            opset_import: vec![opset],
            ..ModelProto::default()
        };
        let files = ExternalFiles::none();
        import(file::Loaded { model, files, unknown: Vec::new() }, context)
    }

    /// Writes the model to `path`, through a temporary file beside it.
    ///
    /// # Errors
    /// [`crate::Error`]: the program has what the operator set cannot say, or the file cannot be
    /// written. What was at `path` is then still there.
    pub fn save(&self, path: impl AsRef<Path>, options: &SaveOptions) -> Result<()> {
        self.save_proto(&export(self, ExportOptions::default())?, path, options)
    }

    /// Writes `proto`, which was exported from this model, to `path`.
    ///
    /// # Errors
    /// [`crate::Error::File`]: the file cannot be written. What was at `path` is then still there.
    pub fn save_proto(
        &self,
        proto: &ModelProto,
        path: impl AsRef<Path>,
        options: &SaveOptions,
    ) -> Result<()> {
        Ok(file::save(proto, &self.source.files, path, options)?)
    }

    /// `proto`, which was exported from this model, with all its tensors in the message.
    ///
    /// # Errors
    /// [`crate::Error::File`]: a tensor cannot be read, or the message is too long.
    pub fn inline(&self, proto: &ModelProto) -> Result<ModelProto> {
        Ok(file::inline(proto, &self.source.files)?)
    }

    /// What the import could not make sense of and carried along unchanged.
    pub fn warnings(&self) -> &[String] {
        &self.source.warnings
    }

    /// The outputs whose declared type contradicts what is inferred: they are written with what is
    /// inferred.
    pub fn contradicted_outputs(&self) -> Vec<String> {
        let Some(block) = self.graph() else { return Vec::new() };
        let Some(graph) = self.source.graphs.get(&block) else { return Vec::new() };
        let values = self.module.last_op(block).into_iter().flat_map(|op| self.module.operands(op));
        let context = self.module.context();
        let wrong = graph.output.iter().zip(values).filter(|(info, value)| {
            let inferred = types::annotation(context, self.module.value_type(*value));
            contradicts(info.r#type.as_ref(), inferred.as_ref())
        });
        wrong.map(|(info, _)| info.name().to_owned()).collect()
    }

    /// Operators of other domains that are carried along as they are: their names, how many nodes
    /// each has, and whether it is declared what they give.
    pub fn foreign(&self) -> Vec<(String, usize, bool)> {
        let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for node in &self.source.nodes {
            let (domain, name) = (node.domain(), node.op_type());
            let standard = matches!(domain, "" | "ai.onnx" | "ai.onnx.ml");
            if !standard && operators::by_onnx(domain, name).is_none() {
                *counts.entry((domain, name)).or_default() += 1;
            }
        }
        for function in &self.source.proto.functions {
            counts.remove(&(function.domain(), function.name()));
        }
        let context = self.module.context();
        counts.retain(|&(domain, name), _| !declared::is_defined(context, domain, name));
        let told = |((domain, name), count)| {
            let declared = declared::is_declared(context, domain, name);
            (format!("{domain}.{name}"), count, declared)
        };
        counts.into_iter().map(told).collect()
    }

    /// The model that was imported, without its graph: who made it, what it says of itself.
    pub fn header(&self) -> &ModelProto {
        &self.source.proto
    }

    /// The graph that was imported, without nodes, weights and subgraphs.
    pub fn graph_header(&self) -> Option<&GraphProto> {
        self.source.graphs.get(&self.graph()?)
    }

    /// The version of operator set `domain` (`""`: the default one).
    pub fn opset(&self, domain: &str) -> Option<i64> {
        self.source.opsets.get(domain).copied()
    }

    /// The function `main`.
    pub fn main(&self) -> Option<Op> {
        self.module.first_op(self.module.body())
    }

    /// The block of the main graph: its arguments are the inputs, its terminator has the outputs.
    pub fn graph(&self) -> Option<Block> {
        self.module.first_block(*self.module.regions(self.main()?).first()?)
    }

    /// The names of the graph's outputs, in order.
    pub fn output_names(&self) -> Vec<String> {
        let graph = self.graph().and_then(|block| self.source.graphs.get(&block));
        graph.map_or_else(Vec::new, |g| g.output.iter().map(|o| o.name().to_owned()).collect())
    }

    /// What input `name` of the main graph is when it is not given: from version 4 of the format
    /// on, the initializer of the same name.
    pub fn default_of(&self, name: &str) -> Option<Tensor> {
        let tensor = self.source.tensors.iter().find(|tensor| tensor.name() == name)?;
        to_tensor(&file::tensor_bytes(tensor, &self.source.files).ok()?)
    }

    /// Whether `op` gives the results of a node of the model, as they were.
    pub fn is_node(&self, op: Op) -> bool {
        self.source.origin_of[op] != 0
    }

    /// The name of the ONNX node that `op` was made for.
    pub fn node_name(&self, op: Op) -> Option<&str> {
        self.node(op)?.name.as_deref()
    }

    /// The ONNX operator of the node that `op` was made for.
    pub fn operator(&self, op: Op) -> Option<&str> {
        self.node(op)?.op_type.as_deref()
    }

    fn node(&self, op: Op) -> Option<&NodeProto> {
        let number = self.source.origin_of[op].checked_sub(1)?;
        let node = self.source.origins.get(number as usize)?.node;
        self.source.nodes.get(node as usize)
    }
}
