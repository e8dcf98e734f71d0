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
    index: RwLock<HashTable<Entry>>,
}

/// A number in the index, with a part of the hash of its value: most of what is not the same is
/// told apart, and the table grows, without a look at the values.
struct Entry {
    hash: u32,
    id: u32,
}

impl Entry {
    /// The hash under which the table keeps it.
    fn spread(hash: u32) -> u64 {
        u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

/// A part of the hash of `key`.
pub(crate) fn hash<Q: Hash + ?Sized>(key: &Q) -> u32 {
    let hash = FxBuildHasher.hash_one(key);
    (hash ^ (hash >> 32)) as u32
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
        self.intern_by(hash(key), |value| value.borrow() == key, make)
    }

    /// Returns the number of `value`, which is stored if it is not there yet.
    pub(crate) fn intern_owned(&self, value: T) -> u32 {
        let hash = hash(&value);
        self.known(hash, |other| *other == value)
            .unwrap_or_else(|count| self.store(hash, value, count))
    }

    /// Returns the number of the value with this hash that is the `same`, storing `make()` if it is
    /// not there yet.
    ///
    /// `make()` has to be the `same`, and to have this hash.
    pub(crate) fn intern_by(
        &self,
        hash: u32,
        same: impl Fn(&T) -> bool,
        make: impl FnOnce() -> T,
    ) -> u32 {
        self.known(hash, same).unwrap_or_else(|count| self.store(hash, make(), count))
    }

    /// The number of the value with this hash that is the `same`, or how many values there are.
    fn known(&self, hash: u32, same: impl Fn(&T) -> bool) -> Result<u32, usize> {
        let index = self.index.read();
        self.look(&index, hash, same).ok_or(index.len())
    }

    /// Stores `value`, which was not there among the first `count` values.
    fn store(&self, hash: u32, value: T, count: usize) -> u32 {
        let mut index = self.index.write();
        if index.len() != count
            && let Some(id) = self.look(&index, hash, |other| *other == value)
        {
            return id;
        }
        let id = u32::try_from(self.items.push(value)).expect("fewer than 2^32 interned values");
        let spread = |entry: &Entry| Entry::spread(entry.hash);
        index.insert_unique(Entry::spread(hash), Entry { hash, id }, spread);
        id
    }

    fn look(&self, index: &HashTable<Entry>, hash: u32, same: impl Fn(&T) -> bool) -> Option<u32> {
        let same = |entry: &Entry| entry.hash == hash && same(self.at(entry.id));
        index.find(Entry::spread(hash), same).map(|entry| entry.id)
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
        self.look(&self.index.read(), hash(key), |value| value.borrow() == key)
    }
}
