//! The file of external data that goes with a saved model, and how files are replaced.

use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use super::copy;
use crate::proto::{StringStringEntryProto, TensorProto};

/// Tensors of at least this many bytes start on a page, so that a runtime can map them.
const LARGE: u64 = 1 << 20;
const PAGE: u64 = 4096;
/// The others start on a cache line.
const LINE: u64 = 64;
/// Blocks of this size that are all zeros are left as holes.
const HOLE: usize = 1 << 16;

/// Where bytes lie in a file.
#[derive(Debug)]
pub(super) struct Origin {
    pub(super) file: File,
    pub(super) offset: u64,
}

/// A file of external data that is being written, under a name that does not matter yet.
pub(super) struct DataFile {
    writer: BufWriter<NamedTempFile>,
    at: u64,
    location: String,
}

impl DataFile {
    /// Starts the file that will replace `location` in `folder`.
    pub(super) fn create(folder: &Path, location: String) -> io::Result<Self> {
        let file = temporary(&folder.join(&location))?;
        Ok(Self { writer: BufWriter::with_capacity(HOLE, file), at: 0, location })
    }

    /// Appends the elements of `tensor` and makes the tensor point to them. `origin` is where the
    /// same bytes lie in a file already, if they do: then they need not pass through memory.
    pub(super) fn append(
        &mut self,
        tensor: &mut TensorProto,
        bytes: &[u8],
        origin: Option<&Origin>,
    ) -> io::Result<()> {
        let length = bytes.len() as u64;
        let padding = self.at.next_multiple_of(if length >= LARGE { PAGE } else { LINE }) - self.at;
        self.writer.write_all(&[0; PAGE as usize][..padding as usize])?;
        let offset = self.at + padding;
        match origin.filter(|_| length >= LARGE) {
            Some(origin) if self.copy(origin, offset, length)? => {}
            _ => self.write(bytes)?,
        }
        self.at = offset + length;
        let entry = |key: &str, value| StringStringEntryProto { key: Some(key.into()), value };
        tensor.external_data = vec![
            entry("location", Some(self.location.clone())),
            entry("offset", Some(offset.to_string())),
            entry("length", Some(length.to_string())),
        ];
        Ok(())
    }

    /// Copies from file to file; says whether the system could.
    fn copy(&mut self, origin: &Origin, offset: u64, length: u64) -> io::Result<bool> {
        self.writer.flush()?;
        let file = self.writer.get_ref().as_file();
        let Ok(()) = copy::range(&origin.file, origin.offset, file, offset, length) else {
            // What was copied before it failed is written over.
            self.writer.seek(SeekFrom::Start(offset))?;
            return Ok(false);
        };
        self.writer.seek(SeekFrom::Start(offset + length))?;
        Ok(true)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        for block in bytes.chunks(HOLE) {
            if block == &[0; HOLE][..] {
                self.writer.seek(SeekFrom::Current(HOLE as i64))?;
            } else {
                self.writer.write_all(block)?;
            }
        }
        Ok(())
    }

    /// Ends the file; it has its name only after [`persist`].
    pub(super) fn finish(self) -> io::Result<NamedTempFile> {
        let file = self.writer.into_inner().map_err(io::IntoInnerError::into_error)?;
        // A hole at the very end is otherwise no part of the file.
        file.as_file().set_len(self.at)?;
        Ok(file)
    }
}

/// Opens a new file that will replace `path`, with the permissions it has or would get: beside it,
/// or, where `path` is no file but a device or a pipe, among the system's temporary files.
pub(super) fn temporary(path: &Path) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(".tangram-");
    if is_special(path) {
        return builder.tempfile();
    }
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let file = builder.tempfile_in(folder.unwrap_or(Path::new("."))).map_err(without_path)?;
    if let Ok(old) = fs::metadata(path) {
        File::set_permissions(file.as_file(), old.permissions())?;
    }
    Ok(file)
}

/// The system's own words: the name of the temporary file, which stands behind them, says nothing
/// to anyone.
fn without_path(error: io::Error) -> io::Error {
    let text = error.to_string();
    match text.split_once(" at path ") {
        Some((words, _)) => io::Error::new(error.kind(), words.to_owned()),
        None => error,
    }
}

/// Gives a finished file its name, in one step; what goes to a device or a pipe is written there.
pub(super) fn persist(mut file: NamedTempFile, path: &Path) -> io::Result<()> {
    if is_special(path) {
        file.rewind()?;
        let mut target = File::options().write(true).open(path)?;
        return io::copy(&mut file, &mut target).map(drop);
    }
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// Whether there is something at `path` that must not be replaced, such as `/dev/null`.
fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// The file that `path` leads to, so that it is replaced and not the link.
pub(super) fn behind_links(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}
