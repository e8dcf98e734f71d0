//! What is changed about a model before it is optimised.

use clap::Args;
use tangram::onnx::edit::{Edits, edit};
use tangram::onnx::{self, Model};

/// Arguments on the model itself.
#[derive(Args, Debug)]
#[command(next_help_heading = "The model")]
pub(crate) struct EditArgs {
    /// Fix the extents of an input, as `images:1,3,224,224`; `?` leaves one open. Without a name
    /// for the only input.
    #[arg(long, value_name = "[INPUT:]N,N", value_parser = input_shape)]
    pub(crate) input_shape: Vec<(String, Vec<Option<i64>>)>,
    /// Fix a named dimension wherever it stands, as `batch=1`.
    #[arg(long, value_name = "NAME=N", value_parser = dim)]
    pub(crate) dim: Vec<(String, i64)>,
    /// Begin at these values: they become the inputs.
    #[arg(long, value_name = "VALUE", value_delimiter = ',')]
    pub(crate) inputs: Vec<String>,
    /// End at these values: they become the outputs, and what they do not need goes away.
    #[arg(long, value_name = "VALUE", value_delimiter = ',')]
    pub(crate) outputs: Vec<String>,
}

impl EditArgs {
    /// Changes `model` as is asked for.
    pub(crate) fn apply(&self, model: Model) -> Result<Model, onnx::Error> {
        let edits = Edits {
            input_shapes: self.input_shape.clone(),
            dims: self.dim.clone(),
            inputs: self.inputs.clone(),
            outputs: self.outputs.clone(),
        };
        match edits.is_empty() {
            true => Ok(model),
            false => edit(&model, &edits),
        }
    }
}

/// Reads `images:1,3,224,224`; names may have colons themselves.
fn input_shape(text: &str) -> Result<(String, Vec<Option<i64>>), String> {
    let (name, list) = text.rsplit_once([':', '=']).unwrap_or(("", text));
    let extent = |text: &str| match text.trim() {
        "?" | "-1" => Ok(None),
        number => match number.parse() {
            Ok(n) if n > 0 => Ok(Some(n)),
            _ => Err(format!("expected a number above 0 or `?`, found `{number}`")),
        },
    };
    let parts = list.split(',').filter(|part| !part.trim().is_empty());
    Ok((name.to_owned(), parts.map(extent).collect::<Result<_, _>>()?))
}

/// Reads `batch=1`.
fn dim(text: &str) -> Result<(String, i64), String> {
    let (name, size) = text.split_once('=').ok_or("expected NAME=N")?;
    match size.trim().parse() {
        Ok(size) if size > 0 => Ok((name.trim().to_owned(), size)),
        _ => Err(format!("expected a number above 0, found `{size}`")),
    }
}
