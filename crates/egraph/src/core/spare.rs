//! Tables of small e-graphs, kept for the next one.
//!
//! Programs that simplify one term after the other make and drop an e-graph for each, and would
//! spend a third of their time on getting and returning its dozen tables: on calls where the terms
//! are small, on pages that the system hands out anew where they are larger. So each thread keeps
//! those of the last e-graph that it dropped, emptied, unless they are too large to lie idle.

use super::classes::{ClassInfo, Row, Use};
use super::hashcons::Hashcons;
use super::nodes::{Core, Op, OpInfo};
use smallvec::SmallVec;
use std::cell::Cell;
use std::sync::OnceLock;

/// From how many bytes on tables are not kept.
const LARGEST: usize = 1 << 22;
/// For how many nodes there is room from the start.
const NODES: usize = 32;

/// Empty tables.
#[derive(Default)]
pub(crate) struct Spare {
    words: Vec<u32>,
    starts: Vec<u32>,
    find: Vec<u32>,
    ring: Vec<u32>,
    stamp: Vec<u32>,
    flags: Vec<u8>,
    class: Vec<ClassInfo>,
    uses: Vec<Use>,
    memo: Hashcons,
    rows: Vec<Row>,
    ops: Vec<OpInfo>,
    codes: Vec<SmallVec<[Op; 4]>>,
    pending: Vec<u32>,
    changed: Vec<u32>,
    generations: Vec<u32>,
    scratch: Vec<u32>,
}

thread_local! {
    static SPARE: Cell<Option<Spare>> = const { Cell::new(None) };
}

impl Spare {
    /// Returns tables that are kept, or new ones with room for a few nodes.
    pub(crate) fn take() -> Self {
        let kept = SPARE.try_with(Cell::take).ok().flatten();
        kept.unwrap_or_else(|| Spare {
            words: Vec::with_capacity(3 * NODES),
            starts: Vec::with_capacity(NODES),
            find: Vec::with_capacity(NODES),
            ring: Vec::with_capacity(NODES),
            stamp: Vec::with_capacity(NODES),
            flags: Vec::with_capacity(NODES),
            class: Vec::with_capacity(NODES),
            uses: Vec::with_capacity(2 * NODES),
            rows: Vec::with_capacity(2 * NODES),
            generations: Vec::with_capacity(NODES),
            ..Spare::default()
        })
    }

    /// Empties the tables and keeps them for the next e-graph of this thread.
    fn keep(mut self) {
        for list in [&mut self.words, &mut self.starts, &mut self.find, &mut self.ring] {
            list.clear();
        }
        for list in [&mut self.stamp, &mut self.pending, &mut self.changed, &mut self.generations] {
            list.clear();
        }
        self.scratch.clear();
        self.flags.clear();
        self.class.clear();
        self.uses.clear();
        self.memo.clear();
        self.rows.clear();
        self.ops.clear();
        self.codes.clear();
        // A thread that is ending keeps nothing.
        _ = SPARE.try_with(|spare| spare.set(Some(self)));
    }
}

/// Empty lists of rows, to be filled again.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    lists: Vec<Vec<u32>>,
    /// How many words they have room for together.
    words: usize,
}

impl Lists {
    /// Takes a list, a new one if there is none.
    #[inline]
    pub(crate) fn take(&mut self) -> Vec<u32> {
        let list = self.lists.pop().unwrap_or_default();
        self.words -= list.capacity();
        list
    }

    /// Keeps a list, unless there would be more than `most` words in all.
    #[inline]
    pub(crate) fn keep(&mut self, mut list: Vec<u32>, most: usize) {
        if list.capacity() > 0 && self.words + list.capacity() <= most {
            list.clear();
            self.words += list.capacity();
            self.lists.push(list);
        }
    }

    /// Drops lists until there are no more than `most` words in all.
    pub(crate) fn shrink(&mut self, most: usize) {
        while self.words > most {
            drop(self.take());
        }
    }
}

impl Core {
    /// Makes an e-graph over empty tables, which have no first entries yet.
    pub(crate) fn over(spare: Spare) -> Self {
        Core {
            words: spare.words,
            starts: spare.starts,
            origin: Vec::new(),
            find: spare.find,
            ring: spare.ring,
            stamp: spare.stamp,
            flags: spare.flags,
            class: spare.class,
            uses: spare.uses,
            memo: spare.memo,
            rows: spare.rows,
            garbage: 0,
            ops: spare.ops,
            codes: spare.codes,
            pending: spare.pending,
            changed: spare.changed,
            returned: Vec::new(),
            generations: spare.generations,
            now: 1,
            visible: 0,
            classes: 0,
            unions: 0,
            log: None,
            by_class: OnceLock::new(),
            scratch: spare.scratch,
        }
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        use std::mem::take;
        if self.words.capacity() > LARGEST / 4 || self.bytes() > LARGEST {
            return;
        }
        let spare = Spare {
            words: take(&mut self.words),
            starts: take(&mut self.starts),
            find: take(&mut self.find),
            ring: take(&mut self.ring),
            stamp: take(&mut self.stamp),
            flags: take(&mut self.flags),
            class: take(&mut self.class),
            uses: take(&mut self.uses),
            memo: take(&mut self.memo),
            rows: take(&mut self.rows),
            ops: take(&mut self.ops),
            codes: take(&mut self.codes),
            pending: take(&mut self.pending),
            changed: take(&mut self.changed),
            generations: take(&mut self.generations),
            scratch: take(&mut self.scratch),
        };
        spare.keep();
    }
}
