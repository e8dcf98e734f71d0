//! What the command says when it cannot go on.

use std::path::{Path, PathBuf};

use tangram::onnx::file::FileError;
use tangram::pipeline::PipelineError;
use tangram::{OptimiseError, RulesError, onnx};
use tangram_egraph::{RuleFileError, SerializeError};

use crate::exit::ExitCode;
use crate::out;

/// Why the command cannot go on: the exit code is 2.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The model cannot be read, imported, exported or written.
    #[error("{}", placed(path, source))]
    Model { path: PathBuf, source: Box<onnx::Error> },
    /// Rules are wrong or absent.
    #[error(transparent)]
    Rules(#[from] RulesError),
    /// The rules could not be applied.
    #[error(transparent)]
    Optimise(#[from] OptimiseError),
    /// A program does not verify.
    #[error("{path}: {source}", path = path.display())]
    Pipeline { path: PathBuf, source: Box<PipelineError> },
    /// A file of ours cannot be read or written.
    #[error("{path}: {source}", path = named(path))]
    Io { path: PathBuf, source: std::io::Error },
    /// A file with rules over terms is wrong.
    #[error("{path}: {source}", path = path.display())]
    TermRules { path: PathBuf, source: RuleFileError },
    /// A file with an e-graph is wrong.
    #[error("{path}: {source}", path = path.display())]
    Egraph { path: PathBuf, source: SerializeError },
    /// The command line asks for what there is not.
    #[error("{0}")]
    Usage(String),
    /// Diagnostics of a source, each with its place and its kind.
    #[error("{0}")]
    Diagnostics(String),
}

impl Error {
    /// Returns what is printed: `error: ` is in front, but of diagnostics, which say it themselves.
    pub(crate) fn report(&self) -> String {
        match self {
            Error::Diagnostics(text) | Error::Rules(RulesError::Wrong { rendered: text }) => {
                format!("{}\n", text.trim_end())
            }
            other => format!("error: {other}\n"),
        }
    }
}

/// Puts the path in front of a reason that does not name it.
fn placed(path: &Path, source: &onnx::Error) -> String {
    let (path, reason) = (path.display().to_string(), source.to_string());
    if reason.contains(&path) { reason } else { format!("{path}: {reason}") }
}

/// Names a path, or what `-` stands for.
fn named(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}

/// Says which model an error is about.
pub(crate) fn model(path: &Path) -> impl Fn(onnx::Error) -> Error + '_ {
    move |source| Error::Model { path: path.to_owned(), source: Box::new(source) }
}

/// Says which model an error of the pipeline is about.
pub(crate) fn pipeline(path: &Path) -> impl Fn(PipelineError) -> Error + '_ {
    move |source| match source {
        PipelineError::Model(source) => model(path)(source),
        PipelineError::Rules(source) => Error::Optimise(source),
        PipelineError::Library(source) => Error::Rules(source),
        source => Error::Pipeline { path: path.to_owned(), source: Box::new(source) },
    }
}

/// Says which model an error of reading or writing is about.
pub(crate) fn file(path: &Path) -> impl Fn(FileError) -> Error + '_ {
    move |source| model(path)(source.into())
}

/// Says which file an error is about.
pub(crate) fn io(path: &Path) -> impl Fn(std::io::Error) -> Error + '_ {
    move |source| Error::Io { path: path.to_owned(), source }
}

/// Prints what is wrong with a file about loops, at its place; the exit code is 2.
///
/// `nodes` are the places of the nodes of its tree, if it has one.
pub(crate) fn refuse(
    path: &Path,
    error: &tangram_polyhedral::Error,
    nodes: &[(usize, usize)],
) -> ExitCode {
    out::say(line(path, "error", error, nodes));
    ExitCode::from(2)
}

/// Returns the line about something in a file about loops, with its place.
pub(crate) fn line(
    path: &Path,
    kind: &str,
    error: &tangram_polyhedral::Error,
    nodes: &[(usize, usize)],
) -> String {
    let path = path.display();
    match error.place(nodes) {
        Some((line, column)) => {
            format!("{path}:{line}:{column}: {kind}: {}\n", error.without_place())
        }
        None => format!("{path}: {kind}: {}\n", loops(error)),
    }
}

/// Says why something about loops failed, and what helps where the budget ended.
pub(crate) fn loops(error: &tangram_polyhedral::Error) -> String {
    match error {
        tangram_polyhedral::Error::Presburger(tangram_presburger::Error::Steps { .. }) => {
            format!("{error}: `--max-steps` allows more")
        }
        tangram_polyhedral::Error::Presburger(tangram_presburger::Error::UnboundedParameter {
            name,
        }) => format!("{error}: `--set {name}=...` gives it one"),
        _ => error.to_string(),
    }
}
