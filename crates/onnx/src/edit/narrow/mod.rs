//! A model in floats of 16 bits: values of `float32` become `float16` or `bfloat16` wherever the
//! operators allow it and nothing is known to go wrong. Inputs and outputs of the model stay what
//! they are.
//!
//! ```text
//! x: f32 -> Conv(x, w) -> Exp -> y: f32
//! x -> Cast -> Conv(.., w: f16) -> Cast -> Exp -> y        Exp may leave the range of float16
//! ```
//!
//! [`decide`] says of each node in which type it takes and gives its values, and why it stays where
//! it does; then the graph is written anew with a `Cast` wherever a value is wanted in the other
//! type, one for each value. Constants that are wanted in one type only have no `Cast`.

mod decide;
mod types;
mod write;

use std::fmt;

use super::{EditError, reimport};
use crate::error::Result;
use crate::export::{ExportOptions, export};
use crate::import::import_beside;
use crate::model::Model;
use crate::proto::DataType;
use decide::Survey;
use tangram_tensor::DType;
use types::Types;

/// A float of 16 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Precision {
    /// 10 bits behind the point, up to 65,504.
    Float16,
    /// 7 bits behind the point, the range of `float32`.
    BFloat16,
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Precision {
    /// The name of the element type in ONNX's schemas.
    pub fn name(self) -> &'static str {
        match self {
            Precision::Float16 => "float16",
            Precision::BFloat16 => "bfloat16",
        }
    }

    /// The precision of this name.
    pub fn named(name: &str) -> Option<Precision> {
        [Precision::Float16, Precision::BFloat16].into_iter().find(|to| to.name() == name)
    }

    /// The element type.
    pub fn dtype(self) -> DType {
        match self {
            Precision::Float16 => DType::F16,
            Precision::BFloat16 => DType::BF16,
        }
    }

    fn number(self) -> i32 {
        match self {
            Precision::Float16 => DataType::Float16 as i32,
            Precision::BFloat16 => DataType::Bfloat16 as i32,
        }
    }

    /// The first operator set that casts to it.
    fn since(self) -> i64 {
        match self {
            Precision::Float16 => 6,
            Precision::BFloat16 => 13,
        }
    }
}

/// What is asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Narrowing {
    /// What `float32` becomes.
    pub to: Precision,
    /// Operators, nodes and values by name: what they are, or what makes them, stays.
    pub keep: Vec<String>,
}

/// What became of a model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Narrowed {
    /// What `float32` became.
    pub to: Precision,
    /// Nodes that take or give the narrow type.
    pub nodes: usize,
    /// Constants in the narrow type.
    pub weights: usize,
    /// Nodes `Cast` that were added.
    pub casts: usize,
    /// What stayed.
    pub kept: Vec<Kept>,
}

/// Nodes of one operator that stayed for one reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kept {
    /// The operator.
    pub operator: String,
    /// Why.
    pub why: String,
    /// The nodes, by the names of their first outputs.
    pub nodes: Vec<String>,
}

/// Returns `model` with values of 16 bits in place of 32, and what stayed.
///
/// # Errors
/// [`EditError::NothingToKeep`], [`EditError::NoNarrow`]; or what the export and the import say.
pub fn narrow(model: &Model, how: &Narrowing, options: ExportOptions) -> Result<(Model, Narrowed)> {
    let mut proto = export(model, options)?;
    let files = model.source.files.clone();
    let context = model.module.context_arc().clone();
    let known = import_beside(proto.clone(), files.clone(), context)?;
    let opset = known.opset("").unwrap_or(0);
    if opset < how.to.since() {
        let (to, least) = (how.to, how.to.since());
        return Err(EditError::NoNarrow { to, opset, least }.into());
    }
    let Some(graph) = proto.graph.take() else { return reimported(proto, model, how) };
    let types = Types::of(&graph, &known);
    let mut survey = Survey::new(how, &types, &known, &files);
    survey.graph(&graph);
    let survey = survey.finish()?;
    let (graph, narrowed) = write::graph(graph, how.to, &types, survey);
    proto.graph = Some(graph);
    Ok((reimport(proto, model, Vec::new())?, narrowed))
}

/// A model without a graph is what it was.
fn reimported(
    proto: crate::proto::ModelProto,
    model: &Model,
    how: &Narrowing,
) -> Result<(Model, Narrowed)> {
    let none = Narrowed { to: how.to, nodes: 0, weights: 0, casts: 0, kept: Vec::new() };
    Ok((reimport(proto, model, Vec::new())?, none))
}
