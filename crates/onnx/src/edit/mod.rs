//! What a user changes about a model before it is optimised: sizes of inputs, where the graph
//! begins and ends, calls of local functions. [`narrow`](fn@narrow) changes the result, to narrower floats.
//!
//! ```text
//! x: [batch, 3, H, W]  --input-shape x:1,3,224,224-->  x: [1, 3, 224, 224]
//! x: [batch, seq]      --dim batch=1-->                x: [1, seq], and every other `batch` is 1
//! x: [batch, seq]      --dim seq=1..512-->             the same, and `max(seq, 1)` is `seq`
//! x -> a -> b -> y     --inputs a --outputs b-->       a -> b
//! y = local.F(x)       --inline-functions-->           the body of F
//! ```
//!
//! The model is exported, edited as a message, and imported again: what follows from the sizes is
//! inferred anew, and nodes keep their names.

mod evaluable;
mod extract;
pub(crate) mod functions;
mod names;
mod narrow;
mod shapes;

pub use evaluable::evaluable;
pub use narrow::{Kept, Narrowed, Narrowing, Precision, narrow};

use std::sync::Arc;

use tangram_dialects::dims;
use tangram_ir::{Context, Dim};

use crate::declared;
use crate::error::Result;
use crate::export::{ExportOptions, export};
use crate::import::import_beside;
use crate::model::Model;
use crate::proto::ModelProto;

/// What is changed; nothing by default.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Edits {
    /// Extents of inputs by name; the empty name stands for the only input. `None` leaves an extent
    /// as it is.
    pub input_shapes: Vec<(String, Vec<Option<i64>>)>,
    /// Sizes of named dimensions.
    pub dims: Vec<(String, i64)>,
    /// The least and the greatest size of named dimensions that stay open: what is inferred, folded
    /// and rewritten may rely on them.
    pub ranges: Vec<(String, (i64, i64))>,
    /// The values that become the inputs; the model's own if empty.
    pub inputs: Vec<String>,
    /// The values that become the outputs; the model's own if empty.
    pub outputs: Vec<String>,
    /// Whether the bodies of the model's functions take the place of their calls.
    pub inline_functions: bool,
    /// Whether extents of inputs that the model says nothing of get names: `?`, the input's name,
    /// a dot and the axis. What is inferred from them is then known as an expression.
    pub name_open: bool,
}

/// Returns `model` with a name for each extent of an input that is neither known nor named, as
/// [`Edits::name_open`] has it; itself where there is none.
///
/// # Errors
/// As [`edit`].
pub fn with_named_extents(model: Model) -> Result<Model> {
    let context = model.module.context();
    let args = model.graph().map(|block| model.module.args(block)).unwrap_or_default();
    let is_open = |ty| context.as_tensor(ty).is_some_and(|(dims, _)| dims.contains(&Dim::UNKNOWN));
    match args.iter().any(|&value| is_open(model.module.value_type(value))) {
        true => edit(&model, &Edits { name_open: true, ..Edits::default() }),
        false => Ok(model),
    }
}

/// Returns `model` with a name of its own for each extent that an input shares by its name with an
/// earlier one; `None` where they share none. What relates the two is then what operations need, not
/// what the model says.
///
/// # Errors
/// As [`edit`].
pub fn with_inputs_apart(model: &Model) -> Result<Option<Model>> {
    let mut proto = export(model, ExportOptions::default())?;
    match proto.graph.as_mut().is_some_and(shapes::apart) {
        true => reimport(proto, model, Vec::new()).map(Some),
        false => Ok(None),
    }
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
    /// A named dimension has a size outside of its range, or the range is empty.
    #[error("dimension `{name}` cannot be {size}: it is between {least} and {greatest}")]
    Range {
        /// The dimension.
        name: String,
        /// The size, or `anything`.
        size: String,
        /// The least size.
        least: i64,
        /// The greatest.
        greatest: i64,
    },
    /// With the sizes that were asked for, a node has operands that do not fit together.
    #[error("with these sizes the model cannot run: {node}: {why}")]
    Misfit {
        /// The node.
        node: String,
        /// What does not fit.
        why: String,
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
    /// A local function calls itself.
    #[error("function `{0}` calls itself, so that it cannot take the place of its calls")]
    Recursive(String),
    /// The bodies of functions are more than can be written.
    #[error("the calls in function `{0}` become too many nodes, or lie too deep, to be written")]
    TooMany(String),
    /// What was to stay as it is names nothing.
    #[error("`{0}` is no operator, node or value of the model; `tangram show` lists its operators")]
    NothingToKeep(String),
    /// The operator set has no `Cast` to the element type.
    #[error("operator set {opset} has no {to}: write the result in {least} or later by `--opset`")]
    NoNarrow {
        /// The element type.
        to: Precision,
        /// The operator set.
        opset: i64,
        /// The first one that has it.
        least: i64,
    },
}

/// Returns `model` with these changes.
///
/// # Errors
/// [`EditError`], as [`crate::Error::Edit`]; or what the export and the import say.
pub fn edit(model: &Model, edits: &Edits) -> Result<Model> {
    if edits.inline_functions {
        let inlined = inline_functions(model)?;
        // The import has inferred the types of what stood in functions.
        let others = Edits { inline_functions: false, ..edits.clone() };
        return if others.is_empty() { Ok(inlined) } else { edit(&inlined, &others) };
    }
    let mut proto = export(model, ExportOptions::default())?;
    if !(edits.inputs.is_empty() && edits.outputs.is_empty()) {
        extract::extract(&mut proto, model, edits)?;
    }
    shapes::set(&mut proto, edits)?;
    if edits.ranges.is_empty() {
        return fitting(reimport(proto, model, Vec::new())?, model, edits);
    }
    // Ranges hold in a context: not in that of the model, which stays what it is.
    let context = tangram_dialects::context();
    declared::copy(model.module.context(), &context);
    let old = dims::ranges(model.module.context());
    for (name, (least, greatest)) in old.iter().chain(&edits.ranges) {
        if !dims::assume_range(&context, name, *least, *greatest) {
            let (name, size) = (name.clone(), "anything".to_owned());
            return Err(EditError::Range { name, size, least: *least, greatest: *greatest }.into());
        }
    }
    fitting(reimport_into(context, proto, model, Vec::new())?, model, edits)
}

/// Returns `model` in another context, which may know more operators of the caller's.
///
/// # Errors
/// What the export and the import say.
pub fn within(model: &Model, context: Arc<Context>) -> Result<Model> {
    let proto = export(model, ExportOptions::default())?;
    declared::copy(model.module.context(), &context);
    for (name, (least, greatest)) in &dims::ranges(model.module.context()) {
        dims::assume_range(&context, name, *least, *greatest);
    }
    reimport_into(context, proto, model, Vec::new())
}

/// `edited`, unless sizes were asked for with which operands of a node do not fit together that did
/// in `model`.
fn fitting(edited: Model, model: &Model, edits: &Edits) -> Result<Model> {
    let sized =
        !(edits.dims.is_empty() && edits.input_shapes.is_empty() && edits.ranges.is_empty());
    let known = &model.source.misfits;
    let is_new = |node: &str| sized && !known.iter().any(|(other, _)| other == node);
    match edited.source.misfits.iter().find(|(node, _)| is_new(node)) {
        Some((node, why)) => Err(EditError::Misfit { node: node.clone(), why: why.clone() }.into()),
        None => Ok(edited),
    }
}

/// Returns `model` with the bodies of its local functions in the place of their calls.
pub(crate) fn inline_functions(model: &Model) -> Result<Model> {
    let mut proto = export(model, ExportOptions::default())?;
    let stay = functions::inline(&mut proto)?;
    reimport(proto, model, stay)
}

/// Imports what was made of `model`, with further warnings.
fn reimport(proto: ModelProto, model: &Model, warnings: Vec<String>) -> Result<Model> {
    reimport_into(model.module.context_arc().clone(), proto, model, warnings)
}

fn reimport_into(
    context: Arc<Context>,
    proto: ModelProto,
    model: &Model,
    warnings: Vec<String>,
) -> Result<Model> {
    let mut edited = import_beside(proto, Arc::clone(&model.source.files), context)?;
    // What was wrong with the model before is still no mistake of ours.
    edited.source.flaws.extend(model.source.flaws.iter().cloned());
    let before = model.source.warnings.iter().cloned().chain(warnings);
    edited.source.warnings.splice(0..0, before);
    Ok(edited)
}
