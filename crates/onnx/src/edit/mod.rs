//! What a user changes about a model before it is optimised: sizes of inputs, and where the graph
//! begins and ends.
//!
//! ```text
//! x: [batch, 3, H, W]  --input-shape x:1,3,224,224-->  x: [1, 3, 224, 224]
//! x: [batch, seq]      --dim batch=1-->                x: [1, seq], and every other `batch` is 1
//! x -> a -> b -> y     --inputs a --outputs b-->       a -> b
//! ```
//!
//! The model is exported, edited as a message, and imported again: what follows from the sizes is
//! inferred anew, and nodes keep their names.

mod extract;
mod shapes;

use std::sync::Arc;

use crate::error::Result;
use crate::export::{ExportOptions, export};
use crate::import::import_beside;
use crate::model::Model;

/// What is changed; nothing by default.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Edits {
    /// Extents of inputs by name; the empty name stands for the only input. `None` leaves an extent
    /// as it is.
    pub input_shapes: Vec<(String, Vec<Option<i64>>)>,
    /// Sizes of named dimensions.
    pub dims: Vec<(String, i64)>,
    /// The values that become the inputs; the model's own if empty.
    pub inputs: Vec<String>,
    /// The values that become the outputs; the model's own if empty.
    pub outputs: Vec<String>,
}

impl Edits {
    /// Whether nothing is changed.
    pub fn is_empty(&self) -> bool {
        self == &Edits::default()
    }
}

/// Why a model cannot be changed in this way.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// There is no input of this name.
    #[error("there is no input `{name}`; there are {known}")]
    NoInput {
        /// The name; empty if one was expected.
        name: String,
        /// The inputs that there are.
        known: String,
    },
    /// An input is no tensor, and has no shape.
    #[error("input `{0}` is no tensor")]
    NoTensor(String),
    /// The declared shape has other extents.
    #[error("input `{name}` is declared as [{declared}], which cannot be [{wanted}]")]
    Shape {
        /// The input.
        name: String,
        /// Its extents in the model.
        declared: String,
        /// Those that were asked for.
        wanted: String,
    },
    /// A named dimension would have two sizes.
    #[error("dimension `{name}` would be {first} and {second}")]
    Conflict {
        /// The dimension.
        name: String,
        /// One size.
        first: i64,
        /// The other.
        second: i64,
    },
    /// No input has a dimension of this name.
    #[error("no input has a dimension `{name}`; there are {known}")]
    NoDim {
        /// The name.
        name: String,
        /// The dimensions that there are.
        known: String,
    },
    /// There is no value of this name in the graph.
    #[error("no value of the graph is named `{0}`")]
    NoValue(String),
    /// An output needs an input that is not among those that were asked for.
    #[error("`{output}` needs the input `{input}` as well: name it, or a value behind it")]
    Needs {
        /// The output.
        output: String,
        /// The input of the model.
        input: String,
    },
    /// The type of a value that is to become an input or output is not known.
    #[error(
        "the type of `{0}` is not known: the model does not declare it, and it cannot be inferred"
    )]
    NoType(String),
}

/// Returns `model` with these changes.
///
/// # Errors
/// [`EditError`], as [`crate::Error::Edit`]; or what the export and the import say.
pub fn edit(model: &Model, edits: &Edits) -> Result<Model> {
    let mut proto = export(model, ExportOptions::default())?;
    if !(edits.inputs.is_empty() && edits.outputs.is_empty()) {
        extract::extract(&mut proto, model, edits)?;
    }
    shapes::set(&mut proto, edits)?;
    let mut edited =
        import_beside(proto, Arc::clone(&model.source.files), model.module.context_arc().clone())?;
    // What was wrong with the model before is still no mistake of ours.
    edited.source.flaws.extend(model.source.flaws.iter().cloned());
    edited.source.warnings.splice(0..0, model.source.warnings.iter().cloned());
    Ok(edited)
}
