//! From an ONNX model to IR.
//!
//! Each node becomes one operation, or a few (a convolution with a bias becomes `nn.conv2d` and
//! `nn.bias_add`). The group remembers its node, so that the export can give the node back. A
//! node that nn has no operation for, or whose operands type inference refuses, becomes an
//! operation `onnx.<operator>` of the declared types: it is carried along and never looked into.
//!
//! Declared types are claims. They are believed for graph inputs, and for results of operations
//! that nn does not know; everything else is inferred.

mod attributes;
mod control;
mod graph;
mod node;
mod order;
mod special;

use std::sync::Arc;

use cranelift_entity::SecondaryMap;
use rustc_hash::{FxHashMap, FxHashSet};
use tangram_ir::{Block, Context, Module, Str, Value};

use crate::error::{Error, Result};
use crate::file::{ExternalFiles, Loaded};
use crate::model::{Model, Source};
use crate::proto::{ModelProto, NodeProto, UnknownField, ValueInfoProto};
use crate::schema::{Violation, violations};
pub(crate) use graph::to_tensor;

/// The first version of the default operator set that is supported.
pub(crate) const OLDEST: i64 = 7;

/// The state of an import.
pub(crate) struct Importer {
    pub(crate) module: Module,
    pub(crate) context: Arc<Context>,
    pub(crate) source: Source,
    /// The names of each graph around the current place, innermost last.
    scopes: Vec<FxHashMap<Str, Value>>,
    /// Declared types, of the graphs around the current place.
    claims: FxHashMap<Str, ValueInfoProto>,
    /// The block that operations are appended to.
    block: Block,
    /// The version of the default operator set.
    version: i64,
    /// The functions of the model, by domain and name.
    functions: FxHashSet<(String, String)>,
}

/// Imports a loaded model.
///
/// # Errors
/// [`Error`]: the model is not well formed, or of an operator set before 7.
pub fn import(loaded: Loaded, context: Arc<Context>) -> Result<Model> {
    let Loaded { model, files, unknown } = loaded;
    let dropped = |field: &UnknownField| {
        format!("field {} of {} is unknown and was dropped", field.number, field.message.name())
    };
    let mut imported = import_beside(model, Arc::new(files), context)?;
    let said = unknown.iter().map(dropped).chain(invalid(&imported.source.flaws));
    let said: Vec<String> = said.collect();
    imported.source.warnings.splice(0..0, said);
    Ok(imported)
}

/// Says that a model does not keep to the schemas of its operators: it is written with the mistakes
/// it came with, and runtimes refuse it.
fn invalid(flaws: &[Violation]) -> Vec<String> {
    /// How many different mistakes are told.
    const TOLD: usize = 3;
    let mut different: Vec<&Violation> = Vec::new();
    for flaw in flaws {
        if !different.iter().any(|known| known.is_like(flaw)) {
            different.push(flaw);
        }
    }
    let line = |flaw: &&Violation| format!("the model is invalid as it came: {flaw}");
    let mut lines: Vec<String> = different.iter().take(TOLD).map(line).collect();
    if flaws.len() > lines.len() {
        lines.push(format!("the model came with {} mistakes of this kind in all", flaws.len()));
    }
    lines
}

/// Imports a model whose external data is read through `files`.
pub(crate) fn import_beside(
    mut model: ModelProto,
    files: Arc<ExternalFiles>,
    context: Arc<Context>,
) -> Result<Model> {
    let flaws = violations(&model);
    let graph = model.graph.take().ok_or(Error::NoGraph)?;
    let mut opsets = opsets(&model);
    // A model may well use other domains only; one that names no set at all says nothing.
    if !opsets.is_empty() {
        opsets.entry(String::new()).or_insert_with(|| opset_beside(model.ir_version()));
    }
    let version = opsets.get("").copied().unwrap_or(0);
    if version < OLDEST {
        return Err(Error::Opset { found: version });
    }
    let module = Module::new(context.clone());
    let block = module.body();
    let source = Source {
        files,
        proto: model,
        opsets,
        nodes: Vec::new(),
        tensors: Vec::new(),
        graphs: FxHashMap::default(),
        origin_of: SecondaryMap::new(),
        origins: Vec::new(),
        constants: FxHashMap::default(),
        warnings: Vec::new(),
        flaws,
        misfits: Vec::new(),
    };
    let scopes = Vec::new();
    let claims = FxHashMap::default();
    let named = source.proto.functions.iter();
    let functions = named.map(|f| (f.domain().to_owned(), f.name().to_owned())).collect();
    let mut importer =
        Importer { module, context, source, scopes, claims, block, version, functions };
    importer.main_function(graph)?;
    Ok(Model { module: importer.module, source: importer.source })
}

/// The newest version of the default operator set that is not newer than a version of ONNX's format: that
/// of a model which imports other sets alone, where something of the default one is to be written.
fn opset_beside(ir_version: i64) -> i64 {
    match ir_version {
        ..=3 => 8,
        4 => 9,
        5 => 10,
        6 => 11,
        7 => 14,
        8 => 18,
        9 => 20,
        10 => 22,
        _ => 23,
    }
}

fn opsets(model: &ModelProto) -> FxHashMap<String, i64> {
    let entry = |set: &crate::proto::OperatorSetIdProto| {
        let domain = match set.domain() {
            "ai.onnx" => "",
            domain => domain,
        };
        (domain.to_owned(), set.version())
    };
    model.opset_import.iter().map(entry).collect()
}

/// A node as messages name it.
pub(crate) fn describe(node: &NodeProto) -> String {
    match node.name() {
        "" => match node.output.iter().find(|name| !name.is_empty()) {
            Some(output) => format!("the {} node of `{output}`", node.op_type()),
            None => format!("a {} node", node.op_type()),
        },
        name => format!("{} node `{name}`", node.op_type()),
    }
}

impl Importer {
    /// The value that `name` stands for, in the innermost graph that defines it.
    pub(crate) fn lookup(&self, name: Str) -> Option<Value> {
        self.scopes.iter().rev().find_map(|scope| scope.get(&name).copied())
    }

    /// Makes `name` stand for `value` in the innermost graph.
    pub(crate) fn define(&mut self, name: Str, value: Value) -> bool {
        self.module.set_value_name(value, Some(name));
        let scope = self.scopes.last_mut().expect("a graph is being imported");
        scope.insert(name, value).is_none()
    }
}
