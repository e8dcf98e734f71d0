//! The file of external data that goes with a saved model, while it is written.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use tangram_files::{Replacement, folder_of};

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

/// Stands for the name of the new file, which depends on its content. No tensor that can be read
/// has it.
pub(super) const UNNAMED: &str = "";

/// A file of external data that is being written and has no name yet.
pub(super) struct DataFile {
    writer: BufWriter<Replacement>,
    at: u64,
}

impl DataFile {
    /// Starts the file that will be beside the model at `path`.
    pub(super) fn begin(path: &Path) -> io::Result<Self> {
        let file = Replacement::new_in(folder_of(path))?;
        Ok(Self { writer: BufWriter::with_capacity(HOLE, file), at: 0 })
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
            entry("location", Some(UNNAMED.to_owned())),
            entry("offset", Some(offset.to_string())),
            entry("length", Some(length.to_string())),
        ];
        Ok(())
    }

    /// Copies from file to file; says whether the system could.
    fn copy(&mut self, origin: &Origin, offset: u64, length: u64) -> io::Result<bool> {
        self.writer.flush()?;
        let file = self.writer.get_ref().file();
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

    /// Ends the file; it has no name yet.
    pub(super) fn finish(self) -> io::Result<Replacement> {
        let file = self.writer.into_inner().map_err(io::IntoInnerError::into_error)?;
        // A hole at the very end is otherwise no part of the file.
        file.file().set_len(self.at)?;
        file.sync()?;
        Ok(file)
    }
}
