//! One way to write a file: whole or not at all.
//!
//! Whatever is written where a user says goes through a [`Replacement`]: a new file without a name,
//! or with one that nobody can foresee, in the folder of its target. It gets the target's name in
//! one step when it is complete and on the disk. So the target is the old file or the new one,
//! however the process or the machine ends.
//!
//! - **Links** stay links: the file behind them is replaced. A link that leads nowhere is made to
//!   lead somewhere. A device or a pipe is written to.
//! - **Permissions** are those of the old file, but for the bits that let it run as somebody else;
//!   a new file gets what the process gives to new files.
//! - **Two writers**: a [`Folder`] is locked while names change in it. Who finds another file than
//!   the [`Identity`] that was there when the work began is told, and changes nothing.
//! - **Several files** that belong together change in one step ([`commit_together`]).
//! - **What is left** by a process that was ended: nothing on Linux, where a file needs no name
//!   until it is complete; elsewhere a signal to end takes it away, and the next writer in the
//!   folder what a killed one left.

mod folder;
mod identity;
mod listing;
mod program;
mod replacement;
mod signals;
mod temporary;
mod unit;

pub use folder::Folder;
pub use identity::{Identity, same_file};
pub use listing::{Scratch, entries, remove_folder};
pub use program::{Bounds, holding, output, output_within};
pub use replacement::{Replacement, write};
pub use signals::{end_without_memory, fail_on_large_files, memory_ended};
pub use unit::{commit_together, settle};

use std::path::{Path, PathBuf};

/// The file that `path` leads to, which need not be there: links are followed to their end.
///
/// A relative path without links stays as it is.
pub fn behind_links(path: &Path) -> PathBuf {
    let mut at = path.to_owned();
    // More links in a row than a system follows are a ring: the system says so when it is opened.
    for _ in 0..40 {
        let Ok(next) = std::fs::read_link(&at) else { break };
        at = match at.parent() {
            Some(folder) => folder.join(next),
            None => next,
        };
    }
    at
}

/// The folder of a file; the current one has a name.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether there is something at `path` that is written to and not replaced, such as `/dev/null`.
pub fn is_special(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// Opens a file that lines are added to; one that is a link is refused.
///
/// # Errors
/// What the system says.
pub fn append(path: &Path) -> std::io::Result<std::fs::File> {
    let mut how = std::fs::OpenOptions::new();
    how.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut how, libc::O_NOFOLLOW);
    how.open(path)
}
