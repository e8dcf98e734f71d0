//! What the command prints, and where it writes files.
//!
//! All that is printed goes through [`print`] and [`say`]: the lints of this crate refuse
//! `println!` and `eprintln!`, which panic once nobody reads any more.

use std::fmt::Display;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;

use tangram::{message, shown};
use tangram_files::Replacement;

use crate::colour;
use crate::error::{self, Error};

/// Prints `text` to standard output; what is in names is shown as text.
///
/// A reader that has seen enough, such as `head`, is no error.
pub(crate) fn print(text: impl Display) -> Result<(), Error> {
    let text = text.to_string();
    put(&shown(&text))
}

fn put(text: &str) -> Result<(), Error> {
    let mut to = std::io::stdout().lock();
    match write!(to, "{text}").and_then(|()| to.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(error::io(Path::new("standard output"))(error))
        }
        _ => Ok(()),
    }
}

/// Prints a message to standard error, long names in it cut. If nobody reads that, nobody can be
/// told.
pub(crate) fn say(text: impl Display) {
    let text = text.to_string();
    let text = colour::for_standard_error(&message(&text));
    let _ = write!(std::io::stderr().lock(), "{text}");
}

/// Writes `text` to `path`, or to standard output if there is none or it is `-`: as it is where
/// another program reads it.
pub(crate) fn deliver(path: Option<&Path>, text: &str) -> Result<(), Error> {
    match path.filter(|path| !is_standard(path)) {
        Some(path) => write(path, text),
        None if std::io::stdout().is_terminal() => print(text),
        None => put(text),
    }
}

/// JSON on lines of its own.
pub(crate) fn json(text: serde_json::Result<String>) -> Result<String, Error> {
    let text = text.map_err(|source| error::io(Path::new("standard output"))(source.into()))?;
    Ok(text + "\n")
}

/// Returns whether a path stands for standard input or standard output.
pub(crate) fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

/// Reads a text: from standard input if `path` is `-`.
pub(crate) fn read(path: &Path) -> Result<String, Error> {
    let read = match is_standard(path) {
        true => std::io::read_to_string(std::io::stdin()),
        false => std::fs::read_to_string(path),
    };
    read.map_err(error::io(path))
}

/// Says early what would keep a file from being written, so that a long run is not for nothing.
pub(crate) fn check(path: &Path) -> Result<(), Error> {
    let refused = |kind: ErrorKind| Err(error::io(path)(kind.into()));
    if path.is_dir() {
        return refused(ErrorKind::IsADirectory);
    }
    match path.parent() {
        Some(folder) if folder != Path::new("") && !folder.is_dir() => {
            Err(Error::Usage(format!("{}: its folder is not there", path.display())))
        }
        _ => Ok(()),
    }
}

/// Writes `text` to `path`: what is there stays until the new text is complete. A link stays a
/// link; a device or a pipe is written to.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Error> {
    write_bytes(path, text.as_bytes())
}

/// The same for bytes.
pub(crate) fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    check(path)?;
    tangram_files::write(path, bytes).map_err(error::io(path))
}

/// Begins the file at `path` with all of its content: it has its place when it is committed.
pub(crate) fn started(path: &Path, bytes: &[u8]) -> Result<Replacement, Error> {
    check(path)?;
    let begun = Replacement::of(path).and_then(|mut file| {
        file.write_all(bytes)?;
        Ok(file)
    });
    begun.map_err(error::io(path))
}
