//! `tangram view`.

use crate::exit::ExitCode;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;
use tangram::dialects;
use tangram::onnx::{self, Model};
use tangram::view::{Named, view, view_both};

use crate::error::{self, Error};
use crate::out;

/// Arguments of `tangram view`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  tangram view model.onnx                          write model.html
  tangram view model.onnx better.onnx -o both.html two models, with their differences")]
pub(crate) struct ViewArgs {
    /// The model to look at.
    pub(crate) input: PathBuf,
    /// A second model, to be shown beside the first with what differs.
    pub(crate) other: Option<PathBuf>,
    /// The page to write; if absent, one of the model's name in the current folder, which must not
    /// be there yet.
    #[arg(short, long)]
    pub(crate) output: Option<PathBuf>,
    /// Open the page in a browser.
    #[arg(long)]
    pub(crate) open: bool,
}

/// Writes a page to explore one model or two.
pub(crate) fn run(args: &ViewArgs) -> Result<ExitCode, Error> {
    let output = target(args)?;
    let first = model(&args.input)?;
    let page = match &args.other {
        None => view(named(&args.input, &first)),
        Some(path) => {
            let second = model(path)?;
            let file = |path: &Path| onnx::file::open(path).map_err(error::file(path));
            let files = [file(&args.input)?, file(path)?];
            let models = [named(&args.input, &first), named(path, &second)];
            view_both(models, [&files[0], &files[1]])
        }
    };
    out::deliver(Some(&output), &out::json(page)?)?;
    if !out::is_standard(&output) {
        out::print(format!("{}\n", tangram::shown(&output.to_string_lossy())))?;
    }
    if args.open {
        open(&output)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Where the page goes. One that nobody named takes no file's place.
fn target(args: &ViewArgs) -> Result<PathBuf, Error> {
    if let Some(path) = &args.output {
        return Ok(path.clone());
    }
    let stem = args.input.file_stem().unwrap_or(OsStr::new("model"));
    let path = Path::new(stem).with_extension("html");
    match path.exists() {
        true => Err(Error::Usage(format!(
            "{0} is there already; `-o {0}` writes another in its place",
            tangram::shown(&path.to_string_lossy())
        ))),
        false => Ok(path),
    }
}

fn model(path: &Path) -> Result<Model, Error> {
    Model::open(path, dialects::context()).map_err(error::model(path))
}

fn named<'a>(path: &'a Path, model: &'a Model) -> Named<'a> {
    Named { name: path.file_name().and_then(OsStr::to_str).unwrap_or("model"), model }
}

/// Hands a page to what opens files on this system.
fn open(path: &Path) -> Result<(), Error> {
    let mut command = match std::env::consts::OS {
        "macos" => Command::new("open"),
        "windows" => Command::new("explorer"),
        _ => Command::new("xdg-open"),
    };
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let started =
        command.arg(&path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    started.map(drop).map_err(|why| {
        Error::Usage(format!(
            "{}: {why}; open {} by hand",
            command.get_program().display(),
            path.display()
        ))
    })
}
