//! The files that rule files use.

use std::path::{Path, PathBuf};

use tangram::gsl::text::Loader;

/// Files of the file system, each beside the one that uses it.
pub(super) struct Files;

impl Loader for Files {
    fn load(&mut self, from: &str, path: &str) -> Result<(String, String), String> {
        let file = beside(Path::new(from), path).ok_or("this text cannot use other files")?;
        let text = std::fs::read_to_string(&file).map_err(|error| error.to_string())?;
        Ok((file.to_string_lossy().into_owned(), text))
    }
}

/// The file `path` as the file `from` names it.
pub(super) fn beside(from: &Path, path: &str) -> Option<PathBuf> {
    let folder = from.parent().filter(|_| from.is_absolute())?;
    Some(folder.join(path))
}
