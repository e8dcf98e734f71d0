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

/// Prints `text` to standard error, where standard output has the result.
pub(crate) fn note(text: impl Display) -> Result<(), Error> {
    match write!(std::io::stderr().lock(), "{text}") {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(error::io(Path::new("standard error"))(error))
        }
        _ => Ok(()),
    }
}

/// Writes `text` to `path` through a file beside it, so that what is there stays until the new
/// text is complete. A link stays a link; a device or a pipe is written to.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Error> {
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if target.metadata().is_ok_and(|found| !found.is_file()) {
        return std::fs::write(&target, text).map_err(error::io(path));
    }
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let temporary = target.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let written =
        std::fs::write(&temporary, text).and_then(|()| std::fs::rename(&temporary, &target));
    written.map_err(|source| {
        // What is half written is of no use; if it cannot be removed, nothing more can be done.
        let _ = std::fs::remove_file(&temporary);
        error::io(path)(source)
    })
}
