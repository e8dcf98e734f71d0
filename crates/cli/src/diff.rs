//! `tangram diff`.

use crate::exit::ExitCode;
use std::path::PathBuf;

use clap::Args;
use tangram::diff::Diff;
use tangram::onnx;

use crate::error::{self, Error};
use crate::out;

/// Arguments of `tangram diff`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  tangram diff model.onnx better.onnx")]
pub(crate) struct DiffArgs {
    /// The model before.
    pub(crate) before: PathBuf,
    /// The model after.
    pub(crate) after: PathBuf,
    /// Print so many nodes of each kind at most.
    #[arg(long, value_name = "N", default_value_t = 40)]
    limit: usize,
    /// Print one JSON object, with all nodes.
    #[arg(long, conflicts_with = "limit")]
    json: bool,
}

/// Prints what changed.
pub(crate) fn run(args: &DiffArgs) -> Result<ExitCode, Error> {
    let before = onnx::file::open(&args.before).map_err(error::file(&args.before))?;
    let after = onnx::file::open(&args.after).map_err(error::file(&args.after))?;
    let diff = Diff::of(&before, &after);
    match args.json {
        true => out::print(out::json(serde_json::to_string_pretty(&diff))?)?,
        false => out::print(diff.render(args.limit))?,
    }
    Ok(ExitCode::from(u8::from(!diff.is_empty())))
}
