//! Big tensors, held beside the program under a key.

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

    /// Drops the buffer under `key`.
    pub fn remove(&mut self, key: Str) {
        self.buffers.remove(&key);
    }

    /// Every key, in no particular order.
    pub fn keys(&self) -> impl Iterator<Item = Str> + '_ {
        self.buffers.keys().copied()
    }
}
