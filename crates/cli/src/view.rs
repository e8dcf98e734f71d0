//! `tangram view`.

use crate::exit::ExitCode;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;
use tangram::dialects;
use tangram::onnx::{self, Model};
use tangram::view::{Named, Times, view, view_both};
use tangram::{Library, Options, Report, optimise};

use crate::error::{self, Error};
use crate::opt::on_interrupt;
use crate::out;

/// Arguments of `tangram view`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  tangram view model.onnx                          write model.html
  tangram view model.onnx better.onnx -o both.html two models, with their differences
  tangram view model.onnx --rules                  and which rules fire where
  tangram view model.onnx --profile profile.json   and how long onnxruntime takes for each node")]
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
    /// Say at each node which rules of `tangram opt` fire there, and which match and are not
    /// applied, and why.
    #[arg(long)]
    pub(crate) rules: bool,
    /// A profile that onnxruntime wrote: how long each node took. Given twice, one of each model.
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: Vec<PathBuf>,
}

/// Writes a page to explore one model or two.
pub(crate) fn run(args: &ViewArgs) -> Result<ExitCode, Error> {
    let output = target(args)?;
    let paths: Vec<&PathBuf> = [&args.input].into_iter().chain(&args.other).collect();
    if args.profile.len() > paths.len() {
        let message = "`--profile` is given more often than there are models";
        return Err(Error::Usage(message.to_owned()));
    }
    let all = (0..paths.len()).map(|at| Known::new(paths[at], args.profile.get(at), args.rules));
    let all: Vec<Known> = all.collect::<Result<_, _>>()?;
    let page = match (all.as_slice(), paths.as_slice()) {
        ([first, second], [before, after]) => {
            let file = |path: &Path| onnx::file::open(path).map_err(error::file(path));
            let files = [file(before)?, file(after)?];
            view_both([first.named(), second.named()], [&files[0], &files[1]])
        }
        (all, _) => view(all[0].named()),
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

/// A model and what is known of it.
struct Known<'a> {
    path: &'a Path,
    model: Model,
    report: Option<Report>,
    times: Option<Times>,
}

impl<'a> Known<'a> {
    fn new(path: &'a Path, profile: Option<&PathBuf>, rules: bool) -> Result<Known<'a>, Error> {
        let model = Model::open(path, dialects::context()).map_err(error::model(path))?;
        let times = profile.map(|path| {
            let text = out::read(path)?;
            let named = |why| Error::Usage(format!("{}: {why}", path.display()));
            Times::from_profile(&text).map_err(named)
        });
        let report = rules.then(|| of_rules(model.clone())).transpose()?;
        Ok(Known { path, model, report, times: times.transpose()? })
    }

    fn named(&self) -> Named<'_> {
        let name = self.path.file_name().and_then(OsStr::to_str).unwrap_or("model");
        let (report, times) = (self.report.as_ref(), self.times.as_ref());
        Named { report, times, ..Named::new(name, &self.model) }
    }
}

/// What `tangram opt` does to a model, step by step.
fn of_rules(mut copy: Model) -> Result<Report, Error> {
    let options = Options { max_steps: usize::MAX, cancel: on_interrupt(), ..Options::default() };
    let library = Library::shipped_for(&options)?;
    Ok(optimise(&mut copy, &library, &options)?)
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
