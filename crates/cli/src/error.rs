//! What the command says when it cannot go on.

use std::path::PathBuf;

use tangram::onnx::file::FileError;
use tangram::{OptimiseError, RulesError, onnx};
use tangram_egraph::{RuleFileError, SerializeError};

/// Why the command cannot go on: the exit code is 2.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The model cannot be read, imported, exported or written.
    #[error("{}", about(path, &source.to_string()))]
    Model { path: PathBuf, source: Box<onnx::Error> },
    /// Rules are wrong or absent.
    #[error(transparent)]
    Rules(#[from] RulesError),
    /// The rules could not be applied.
    #[error(transparent)]
    Optimise(#[from] OptimiseError),
    /// A file of ours cannot be read or written.
    #[error("{path}: {source}", path = path.display())]
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
}

/// The text of an error about a file, which names it once.
fn about(path: &std::path::Path, text: &str) -> String {
    let name = path.display().to_string();
    if text.contains(&name) { text.to_owned() } else { format!("{name}: {text}") }
}

/// Says which model an error is about.
pub(crate) fn model(path: &std::path::Path) -> impl Fn(onnx::Error) -> Error + '_ {
    move |source| Error::Model { path: path.to_owned(), source: Box::new(source) }
}

/// Says which model an error of reading or writing is about.
pub(crate) fn file(path: &std::path::Path) -> impl Fn(FileError) -> Error + '_ {
    move |source| model(path)(source.into())
}

/// Says which file an error is about.
pub(crate) fn io(path: &std::path::Path) -> impl Fn(std::io::Error) -> Error + '_ {
    move |source| Error::Io { path: path.to_owned(), source }
}

/// Prints what is wrong with a file about loops, at its place; the exit code is 2.
///
/// `nodes` are the places of the nodes of its tree, if it has one.
pub(crate) fn refuse(
    path: &std::path::Path,
    error: &tangram_polyhedral::Error,
    nodes: &[(usize, usize)],
) -> std::process::ExitCode {
    let path = path.display();
    match error.place(nodes) {
        Some((line, column)) => {
            eprintln!("{path}:{line}:{column}: error: {}", error.without_place());
        }
        None => eprintln!("{path}: error: {}", loops(error)),
    }
    std::process::ExitCode::from(2)
}

/// Says why something about loops failed, and what helps where the budget ended.
pub(crate) fn loops(error: &tangram_polyhedral::Error) -> String {
    match error {
        tangram_polyhedral::Error::Presburger(tangram_presburger::Error::Steps { .. }) => {
            format!("{error}: `--max-steps` allows more")
        }
        _ => error.to_string(),
    }
}
