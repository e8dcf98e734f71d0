//! What the command prints, and where it writes files.

use std::fmt::Display;
use std::io::{ErrorKind, Write};
use std::path::Path;

use crate::error::{self, Error};

/// Prints `text` to standard output.
///
/// A reader that has seen enough, such as `head`, is no error.
pub(crate) fn print(text: impl Display) -> Result<(), Error> {
    match write!(std::io::stdout().lock(), "{text}") {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(error::io(Path::new("standard output"))(error))
        }
        _ => Ok(()),
    }
}

/// Writes `text` to `path` through a file beside it, so that what is there stays until the new
/// text is complete.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Error> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let written = std::fs::write(&temporary, text).and_then(|()| std::fs::rename(&temporary, path));
    written.map_err(|source| {
        // What is half written is of no use; if it cannot be removed, nothing more can be done.
        let _ = std::fs::remove_file(&temporary);
        error::io(path)(source)
    })
}
