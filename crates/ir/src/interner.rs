//! Append-only interning: a value is stored once and known by a small number for ever.

use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;
use parking_lot::RwLock;
use rustc_hash::FxBuildHasher;

/// A set of values numbered in order of first appearance.
///
/// Reading by number takes no lock; interning takes a read lock when the value is there and a
/// write lock when it is new.
pub(crate) struct Interner<T> {
    items: boxcar::Vec<T>,
    index: RwLock<HashTable<u32>>,
}

impl<T: Hash + Eq> Interner<T> {
    pub(crate) fn new() -> Self {
        Self { items: boxcar::Vec::new(), index: RwLock::new(HashTable::new()) }
    }

    /// Returns the number of `key`, storing `make()` if it is not there yet.
    ///
    /// `make()` has to equal `key` and hash alike.
    pub(crate) fn intern<Q>(&self, key: &Q, make: impl FnOnce() -> T) -> u32
    where
        Q: Hash + Eq + ?Sized,
        T: Borrow<Q>,
    {
        let hash = FxBuildHasher.hash_one(key);
        if let Some(&id) = self.index.read().find(hash, |&id| self.at(id).borrow() == key) {
            return id;
        }
        let mut index = self.index.write();
        if let Some(&id) = index.find(hash, |&id| self.at(id).borrow() == key) {
            return id;
        }
        let id = u32::try_from(self.items.push(make())).expect("fewer than 2^32 interned values");
        index.insert_unique(hash, id, |&id| FxBuildHasher.hash_one(self.at(id).borrow()));
        id
    }

    /// The value with this number.
    pub(crate) fn at(&self, id: u32) -> &T {
        &self.items[id as usize]
    }

    /// The number of `key` if it is stored.
    pub(crate) fn find<Q>(&self, key: &Q) -> Option<u32>
    where
        Q: Hash + Eq + ?Sized,
        T: Borrow<Q>,
    {
        let hash = FxBuildHasher.hash_one(key);
        self.index.read().find(hash, |&id| self.at(id).borrow() == key).copied()
    }
}
