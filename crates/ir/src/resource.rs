//! Big tensors, held beside the program under a key.

use std::io::{self, Write};

use bytes::Bytes;
use rustc_hash::FxHashMap;

use crate::context::Str;

/// The byte buffers of a module, by key.
///
/// A buffer is a range of a mapped file or an owned vector; [`Bytes`] makes both cheap to share,
/// and nothing here copies their contents. Elements are little endian, in row-major order,
/// without alignment.
#[derive(Clone, Default, Debug)]
pub struct Resources {
    buffers: FxHashMap<Str, Bytes>,
    /// The alignments that the text asked for, where they are not the usual one.
    alignments: FxHashMap<Str, u32>,
    /// What belongs to others, in the order of the text.
    foreign: Vec<ForeignResource>,
}

/// A resource of a tool or of another dialect, which is carried along as it was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ForeignResource {
    /// Whether a tool put it there (`external_resources`), not a dialect (`dialect_resources`).
    pub external: bool,
    /// The tool or the dialect.
    pub owner: Str,
    /// Its key.
    pub key: Str,
    /// Its value as text: a string in quotes, `"0x..."`, `true` or `false`.
    pub value: Str,
}

impl Resources {
    /// The buffer under `key`.
    pub fn find(&self, key: Str) -> Option<&Bytes> {
        self.buffers.get(&key)
    }

    /// Stores `bytes` under `key`, in place of what was there.
    pub fn insert(&mut self, key: Str, bytes: Bytes) {
        self.buffers.insert(key, bytes);
    }

    /// The alignment in bytes that the text asked for under `key`, if it is not the usual one.
    pub(crate) fn alignment(&self, key: Str) -> Option<u32> {
        self.alignments.get(&key).copied()
    }

    /// Notes that the buffer under `key` is to have this alignment, in bytes.
    pub(crate) fn set_alignment(&mut self, key: Str, alignment: u32) {
        self.alignments.insert(key, alignment);
    }

    /// The resources of tools and of other dialects, in order.
    pub fn foreign(&self) -> &[ForeignResource] {
        &self.foreign
    }

    /// Adds a resource of a tool or of another dialect.
    pub fn add_foreign(&mut self, resource: ForeignResource) {
        self.foreign.push(resource);
    }

    /// Drops the buffer under `key`.
    pub fn remove(&mut self, key: Str) {
        self.buffers.remove(&key);
        self.alignments.remove(&key);
    }

    /// Returns whether `bytes` are part of a buffer that is here, so that keeping them costs nothing.
    pub fn share(&self, bytes: &Bytes) -> bool {
        let wanted = bytes.as_ptr_range();
        self.buffers
            .values()
            .map(|buffer| buffer.as_ptr_range())
            .any(|range| range.start <= wanted.start && wanted.end <= range.end)
    }

    /// Every key, in no particular order.
    pub fn keys(&self) -> impl Iterator<Item = Str> + '_ {
        self.buffers.keys().copied()
    }
}

/// Copies `bytes` to a temporary file without a name, and maps it: the copy takes no memory that
/// the system cannot take back, and is gone with the last handle on it.
///
/// # Errors
/// The file cannot be made, written or mapped; the disk is full, for one.
pub fn to_file(bytes: &[u8]) -> io::Result<Bytes> {
    let mut file = tempfile::tempfile()?;
    file.write_all(bytes)?;
    // SAFETY: the map is only read, and no other program can reach a file without a name to
    // change it or to cut it short.
    let map = unsafe { memmap2::Mmap::map(&file) }?;
    Ok(Bytes::from_owner(map))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Context;

    #[test]
    fn a_file_without_a_name_holds_the_same_bytes() {
        let bytes: Vec<u8> = (0..100_000u32).flat_map(u32::to_le_bytes).collect();
        let mapped = to_file(&bytes).unwrap();
        assert_eq!(mapped, bytes);
        assert_ne!(mapped.as_ptr(), bytes.as_ptr());
    }

    #[test]
    fn parts_of_a_buffer_share_it_and_copies_do_not() {
        let mut resources = Resources::default();
        let bytes = Bytes::from(vec![7; 64]);
        resources.insert(Context::new().str("w"), bytes.clone());
        assert!(resources.share(&bytes) && resources.share(&bytes.slice(8..16)));
        assert!(!resources.share(&Bytes::from(vec![7; 64])));
    }
}
