//! The hashcons: from the words of a node to its id.
//!
//! An open-addressing table of `(hash, id)` pairs in one `u64` each. A probe compares hashes
//! before it touches a node, growing never touches nodes at all, and removal shifts entries back
//! so that no tombstones pile up while congruence repair removes and inserts keys.

/// Hashes the words of a node: its operator, then its children.
#[inline]
pub(crate) fn hash_words(words: &[u32]) -> u32 {
    const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
    const FACTOR: u64 = 0xd6e8_feb8_6659_fd93;
    let mix = |state: u64, words: u64| {
        let product = u128::from(state ^ words) * u128::from(FACTOR);
        (product as u64) ^ ((product >> 64) as u64)
    };
    let (mut state, mut rest) = (SEED, words);
    while let [first, second, others @ ..] = rest {
        state = mix(state, u64::from(*first) << 32 | u64::from(*second));
        rest = others;
    }
    if let [last] = rest {
        state = mix(state, u64::from(*last));
    }
    (state ^ (state >> 32)) as u32
}

/// Maps node hashes to node ids; the caller compares the nodes themselves.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hashcons {
    /// `hash << 32 | id + 1`, or zero for a free place.
    table: Vec<u64>,
    len: usize,
}

const SMALLEST: usize = 16;
/// The size of an emptied table.
const KEPT: usize = 64;

impl Hashcons {
    /// Returns the number of entries.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Empties the table, and keeps its memory.
    pub(crate) fn clear(&mut self) {
        self.table.truncate(KEPT);
        self.table.fill(0);
        self.len = 0;
    }

    /// Returns the number of bytes the table holds.
    pub(crate) fn bytes(&self) -> usize {
        self.table.capacity() * 8
    }

    /// Loads the first place of `hash`, so that a later lookup finds it in the cache.
    #[inline]
    pub(crate) fn touch(&self, hash: u32) -> u64 {
        if self.table.is_empty() {
            return 0;
        }
        self.table[hash as usize & (self.table.len() - 1)]
    }

    /// Returns the id stored under `hash` for which `same` holds.
    #[inline]
    pub(crate) fn lookup(&self, hash: u32, mut same: impl FnMut(u32) -> bool) -> Option<u32> {
        if self.table.is_empty() {
            return None;
        }
        let mask = self.table.len() - 1;
        let mut place = hash as usize & mask;
        loop {
            let entry = self.table[place];
            if entry == 0 {
                return None;
            }
            if (entry >> 32) as u32 == hash {
                let id = (entry as u32).wrapping_sub(1);
                if same(id) {
                    return Some(id);
                }
            }
            place = (place + 1) & mask;
        }
    }

    /// Returns the id stored under `hash` for which `same` holds; if there is none, stores `id`.
    #[inline]
    pub(crate) fn find_or_insert(
        &mut self,
        hash: u32,
        id: u32,
        mut same: impl FnMut(u32) -> bool,
    ) -> Option<u32> {
        if (self.len + 1) * 4 > self.table.len() * 3 {
            self.grow();
        }
        let table = &mut self.table[..];
        let mask = table.len() - 1;
        let mut place = hash as usize & mask;
        loop {
            let entry = &mut table[place];
            if *entry == 0 {
                *entry = u64::from(hash) << 32 | u64::from(id.wrapping_add(1));
                self.len += 1;
                return None;
            }
            if (*entry >> 32) as u32 == hash {
                let known = (*entry as u32).wrapping_sub(1);
                if same(known) {
                    return Some(known);
                }
            }
            place = (place + 1) & mask;
        }
    }

    /// Stores `id` under `hash`; the caller knows that no equal node is stored.
    #[inline]
    pub(crate) fn insert(&mut self, hash: u32, id: u32) {
        if (self.len + 1) * 4 > self.table.len() * 3 {
            self.grow();
        }
        let entry = u64::from(hash) << 32 | u64::from(id.wrapping_add(1));
        Self::place(&mut self.table, entry);
        self.len += 1;
    }

    /// Removes the entry of `id` under `hash`, and says whether there was one.
    pub(crate) fn remove(&mut self, hash: u32, id: u32) -> bool {
        if self.table.is_empty() {
            return false;
        }
        let mask = self.table.len() - 1;
        let wanted = u64::from(hash) << 32 | u64::from(id.wrapping_add(1));
        let mut hole = hash as usize & mask;
        while self.table[hole] != wanted {
            if self.table[hole] == 0 {
                return false;
            }
            hole = (hole + 1) & mask;
        }
        self.close(hole);
        self.len -= 1;
        true
    }

    /// Moves later entries of the same run back into `hole`, as far as their own place allows.
    fn close(&mut self, mut hole: usize) {
        let mask = self.table.len() - 1;
        let mut next = (hole + 1) & mask;
        loop {
            let entry = self.table[next];
            if entry == 0 {
                break;
            }
            let home = (entry >> 32) as usize & mask;
            if next.wrapping_sub(home) & mask >= next.wrapping_sub(hole) & mask {
                self.table[hole] = entry;
                hole = next;
            }
            next = (next + 1) & mask;
        }
        self.table[hole] = 0;
    }

    /// Doubles the table where it is, so that the old one and the new one never both take memory.
    ///
    /// An entry goes to its old home or as far beyond it as the table was long. In the order of
    /// the places nothing lands on what still has to move, once the run that comes around the end
    /// of the table is out of the way.
    fn grow(&mut self) {
        let old = self.table.len();
        self.table.resize((old * 2).max(SMALLEST), 0);
        let free = self.table.iter().position(|&entry| entry == 0).unwrap_or(old).min(old);
        let around: Vec<u64> = self.table[..free].to_vec();
        self.table[..free].fill(0);
        for at in free..old {
            let entry = std::mem::take(&mut self.table[at]);
            if entry != 0 {
                Self::place(&mut self.table, entry);
            }
        }
        for entry in around {
            Self::place(&mut self.table, entry);
        }
    }

    #[inline]
    fn place(table: &mut [u64], entry: u64) {
        let mask = table.len() - 1;
        let mut place = (entry >> 32) as usize & mask;
        while table[place] != 0 {
            place = (place + 1) & mask;
        }
        table[place] = entry;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 64 }))]
        /// Few hashes force long runs, so that removal has to shift entries.
        #[test]
        fn agrees_with_a_set(steps in prop::collection::vec((0u32..7, 0u32..40, any::<bool>()), 0..if cfg!(miri) { 60 } else { 300 })) {
            let mut table = Hashcons::default();
            let mut model: HashSet<(u32, u32)> = HashSet::new();
            for (hash, id, insert) in steps {
                let hash = hash.wrapping_mul(0x4000_0001) >> 1;
                if insert {
                    if model.insert((hash, id)) {
                        table.insert(hash, id);
                    }
                } else {
                    prop_assert_eq!(table.remove(hash, id), model.remove(&(hash, id)));
                }
                prop_assert_eq!(table.len(), model.len());
                for &(hash, id) in &model {
                    prop_assert_eq!(table.lookup(hash, |found| found == id), Some(id));
                }
            }
        }
    }
}
