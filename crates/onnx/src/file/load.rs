//! Opening and decoding.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use prost::Message;
use tangram_tensor::budget;

use super::{ExternalFiles, FileError};
use crate::proto::{ModelProto, UnknownField, scan, schema};

/// Holds a decoded model with what belongs to it.
#[derive(Debug)]
pub struct Loaded {
    /// The model; its payloads are slices of the file.
    pub model: ModelProto,
    /// Reads the tensors that lie in other files.
    pub files: ExternalFiles,
    /// Fields that the decoder dropped since the format, as known here, does not have them.
    pub unknown: Vec<UnknownField>,
}

/// Opens the model at `path` through a memory map.
///
/// What cannot be mapped, such as a pipe, is read to its end. External data is not touched yet.
///
/// # Errors
/// [`FileError`]: the file cannot be read, or is not a model.
pub fn open(path: impl AsRef<Path>) -> Result<Loaded, FileError> {
    let path = path.as_ref();
    decode_as(read(path)?, Some(path.to_owned()), ExternalFiles::beside(path))
}

/// Opens the model at `path` and reads all of the file: whoever writes to it later changes nothing of
/// the model, which takes as much memory as the file has bytes. External data is mapped, as by
/// [`open`].
///
/// # Errors
/// As those of [`open`]; [`FileError::Io`] where there is not so much memory.
pub fn open_whole(path: impl AsRef<Path>) -> Result<Loaded, FileError> {
    let path = path.as_ref();
    let io = |action| move |source| FileError::Io { action, path: path.to_owned(), source };
    let mut file = File::open(path).map_err(io("open"))?;
    let length = file.metadata().map_err(io("open"))?.len();
    let mut bytes = Vec::new();
    let room = usize::try_from(length).ok().and_then(|room| {
        budget::ask(room).ok()?;
        bytes.try_reserve_exact(room).ok()
    });
    room.ok_or_else(|| io("read")(io::ErrorKind::OutOfMemory.into()))?;
    file.read_to_end(&mut bytes).map_err(io("read"))?;
    decode_as(bytes.into(), Some(path.to_owned()), ExternalFiles::beside(path))
}

/// The bytes at `path`: a map of a file, all that comes out of anything else.
pub(super) fn read(path: &Path) -> Result<Bytes, FileError> {
    let io = |action| move |source| FileError::Io { action, path: path.to_owned(), source };
    let mut file = File::open(path).map_err(io("open"))?;
    if file.metadata().map_err(io("open"))?.is_file() {
        return map(&file).map_err(io("map"));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(io("read"))?;
    Ok(bytes.into())
}

/// Decodes a model; its payloads are slices of `bytes`.
///
/// # Errors
/// [`FileError`]: the bytes are not a model.
pub fn decode(bytes: Bytes) -> Result<Loaded, FileError> {
    decode_as(bytes, None, ExternalFiles::none())
}

fn decode_as(
    bytes: Bytes,
    path: Option<PathBuf>,
    files: ExternalFiles,
) -> Result<Loaded, FileError> {
    let unknown = match scan(&bytes, schema::Message::Model) {
        Ok(unknown) => unknown,
        Err(source) => return Err(FileError::Malformed { path, source }),
    };
    let model = match ModelProto::decode(bytes) {
        Ok(model) => model,
        Err(source) => return Err(FileError::Decode { path, source }),
    };
    if model.graph.is_none() && model.functions.is_empty() {
        return Err(FileError::NotAModel { path });
    }
    Ok(Loaded { model, files, unknown })
}

/// Maps a regular file for reading.
pub(super) fn map(file: &File) -> io::Result<Bytes> {
    // SAFETY: the map is only read. As with every file map, another program that cuts the file
    // short takes the pages away; the module's documentation says so.
    let map = unsafe { memmap2::Mmap::map(file) }?;
    Ok(Bytes::from_owner(map))
}
