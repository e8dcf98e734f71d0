//! Which file is at a path.

use std::fs::{self, Metadata};
use std::path::Path;
use std::time::SystemTime;

/// What tells the file at a path from another one that takes its place, and from itself after it
/// was written to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Identity(Option<(u64, u64, u64, Option<SystemTime>)>);

impl Identity {
    /// The file that `path` leads to now; where there is none, that there is none.
    pub fn of(path: &Path) -> Identity {
        Identity(fs::metadata(path).ok().map(|found| {
            let (device, number) = place(&found);
            (device, number, found.len(), found.modified().ok())
        }))
    }

    /// Whether there was a file.
    pub fn exists(&self) -> bool {
        self.0.is_some()
    }
}

#[cfg(unix)]
fn place(found: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (found.dev(), found.ino())
}

#[cfg(not(unix))]
fn place(_: &Metadata) -> (u64, u64) {
    (0, 0)
}

/// Whether two paths are one file: by any name or link, and also where it is not there yet.
pub fn same_file(a: &Path, b: &Path) -> bool {
    let (a, b) = (crate::behind_links(a), crate::behind_links(b));
    if let (Ok(one), Ok(other)) = (fs::metadata(&a), fs::metadata(&b)) {
        return match cfg!(unix) {
            true => place(&one) == place(&other),
            false => fs::canonicalize(&a).ok() == fs::canonicalize(&b).ok(),
        };
    }
    let folder = |path: &Path| fs::canonicalize(crate::folder_of(path)).ok();
    a.file_name() == b.file_name() && folder(&a).is_some_and(|own| folder(&b) == Some(own))
}
