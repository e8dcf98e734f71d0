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
    /// Fix a named dimension wherever it stands, as `batch=1`; or say between which sizes it
    /// stays, as `seq=1..512`, which rules and folding rely on.
    #[arg(long, value_name = "NAME=N|A..B", value_parser = dim)]
    pub(crate) dim: Vec<(String, Size)>,
    /// Begin at these values: they become the inputs.
    #[arg(long, value_name = "VALUE", value_delimiter = ',')]
    pub(crate) inputs: Vec<String>,
    /// End at these values: they become the outputs, and what they do not need goes away.
    #[arg(long, value_name = "VALUE", value_delimiter = ',')]
    pub(crate) outputs: Vec<String>,
    /// Put the bodies of the model's own functions in the place of their calls, so that rules see
    /// what is in them.
    #[arg(long)]
    pub(crate) inline_functions: bool,
}

/// The size of a dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Size {
    Fixed(i64),
    /// Both ends are included.
    Range(i64, i64),
}

impl EditArgs {
    /// Whether nothing is asked for.
    pub(crate) fn is_empty(&self) -> bool {
        self.edits().is_empty()
    }

    /// Changes `model` as is asked for.
    pub(crate) fn apply(&self, model: Model) -> Result<Model, onnx::Error> {
        let edits = self.edits();
        match edits.is_empty() {
            true => Ok(model),
            false => edit(&model, &edits),
        }
    }

    fn edits(&self) -> Edits {
        Edits {
            input_shapes: self.input_shape.clone(),
            dims: self.dims(|size| match size {
                Size::Fixed(size) => Some(size),
                Size::Range(..) => None,
            }),
            ranges: self.dims(|size| match size {
                Size::Fixed(_) => None,
                Size::Range(least, greatest) => Some((least, greatest)),
            }),
            inputs: self.inputs.clone(),
            outputs: self.outputs.clone(),
            inline_functions: self.inline_functions,
            ..Edits::default()
        }
    }

    fn dims<T>(&self, of: impl Fn(Size) -> Option<T>) -> Vec<(String, T)> {
        let given = self.dim.iter();
        given.filter_map(|(name, size)| Some((name.clone(), of(*size)?))).collect()
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

/// Reads `batch=1` and `seq=1..512`.
fn dim(text: &str) -> Result<(String, Size), String> {
    let (name, size) = text.split_once('=').ok_or("expected NAME=N or NAME=A..B")?;
    let number = |text: &str, least: i64| match text.trim().parse() {
        Ok(size) if size >= least => Ok(size),
        _ => Err(format!("expected a number above {}, found `{text}`", least - 1)),
    };
    let size = match size.split_once("..") {
        None => Size::Fixed(number(size, 1)?),
        Some((least, greatest)) => {
            let greatest = greatest.trim_start_matches('=');
            let greatest = if greatest.trim().is_empty() { i64::MAX } else { number(greatest, 1)? };
            let least = number(least, 0)?;
            if least > greatest {
                return Err(format!("no size is between {least} and {greatest}"));
            }
            Size::Range(least, greatest)
        }
    };
    Ok((name.trim().to_owned(), size))
}
