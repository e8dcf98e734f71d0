//! Classes: the ring of their nodes, the list of nodes above them, and the sorted rows that
//! matching reads.

use super::nodes::{CHANGED, Core, DEAD, HIDDEN, Op};
use crate::Id;

/// One node of a class, with its operator beside it so that matching can skip it unread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    /// The operator of the node.
    pub op: u32,
    /// The id of the node.
    pub node: u32,
}

/// What is known of a class, stored at its id.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClassInfo {
    /// One bit per operator modulo 64 that the class has a visible node of.
    pub(crate) mask: u64,
    pub(crate) start: u32,
    pub(crate) len: u32,
    /// The last entry of the circular list of uses, or [`NONE`].
    pub(crate) last_use: u32,
    pub(crate) uses: u32,
    /// The latest stamp among the nodes.
    pub(crate) newest: u32,
}

/// One node above a class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Use {
    pub(crate) node: u32,
    pub(crate) next: u32,
}

pub(crate) const NONE: u32 = u32::MAX;

impl Default for ClassInfo {
    fn default() -> Self {
        ClassInfo { mask: 0, start: 0, len: 0, last_use: NONE, uses: 0, newest: 0 }
    }
}

/// Returns the bit of `op` in a class mask.
#[inline]
pub(crate) fn op_bit(op: u32) -> u64 {
    1 << (op & 63)
}

impl Core {
    /// Returns the rows of a canonical class, sorted by operator, as of the last rebuild.
    #[inline]
    pub fn rows(&self, class: Id) -> &[Row] {
        let info = &self.class[class.0 as usize];
        &self.rows[info.start as usize..(info.start + info.len) as usize]
    }

    /// Returns where in [`Core::rows`] the nodes of `class` with operator `op` lie.
    #[inline]
    pub(crate) fn rows_with(&self, class: u32, op: u32) -> (u32, u32) {
        let info = &self.class[class as usize];
        if info.mask & op_bit(op) == 0 {
            return (0, 0);
        }
        let (start, end) = (info.start as usize, (info.start + info.len) as usize);
        let rows = &self.rows[start..end];
        let skip = if rows.len() <= 16 {
            rows.iter().take_while(|row| row.op < op).count()
        } else {
            rows.partition_point(|row| row.op < op)
        };
        let count = rows[skip..].iter().take_while(|row| row.op == op).count();
        (info.start + skip as u32, info.start + (skip + count) as u32)
    }

    /// Tells whether a canonical class has a visible node with operator `op`.
    pub fn class_has(&self, class: Id, op: Op) -> bool {
        let (start, end) = self.rows_with(class.0, op.0);
        start < end
    }

    /// Iterates over all nodes of the class whose canonical id is `class`, dead ones too.
    pub(crate) fn ring_of(&self, class: u32) -> Ring<'_> {
        Ring { core: self, first: class, next: Some(class) }
    }

    /// Iterates over the nodes that have the class of `id` as a child; some may be copies.
    pub fn uses_of(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        let last = self.class[self.root(id.0) as usize].last_use;
        let mut at = (last != NONE).then(|| self.uses[last as usize].next);
        std::iter::from_fn(move || {
            let here = at?;
            let entry = self.uses[here as usize];
            at = (here != last).then_some(entry.next);
            Some(entry.node)
        })
        .filter(|&node| self.flags[node as usize] & DEAD == 0)
        .map(Id)
    }

    /// Returns how many nodes were ever recorded above the class of `id`.
    pub(crate) fn use_count(&self, class: u32) -> u32 {
        self.class[class as usize].uses
    }

    pub(crate) fn push_use(&mut self, class: u32, node: u32) {
        let at = self.uses.len() as u32;
        let info = &mut self.class[class as usize];
        info.uses += 1;
        if info.last_use == NONE {
            self.uses.push(Use { node, next: at });
        } else {
            let last = &mut self.uses[info.last_use as usize];
            let first = std::mem::replace(&mut last.next, at);
            self.uses.push(Use { node, next: first });
        }
        info.last_use = at;
    }

    /// Remembers that the rows of a class are out of date.
    #[inline]
    pub(crate) fn mark_changed(&mut self, class: u32) {
        if self.flags[class as usize] & CHANGED == 0 {
            self.flags[class as usize] |= CHANGED;
            self.changed.push(class);
        }
    }

    /// Prunes a node: matching no longer sees it, while the hashcons and congruence still do.
    pub fn hide(&mut self, node: Id) {
        let at = node.0 as usize;
        if self.flags[at] & (DEAD | HIDDEN) != 0 {
            return;
        }
        self.flags[at] |= HIDDEN;
        self.visible -= 1;
        let op = self.op(node);
        self.ops[op.0 as usize].stale = true;
        let class = self.root_mut(node.0);
        self.mark_changed(class);
    }

    /// Makes a pruned node visible again.
    pub fn unhide(&mut self, node: Id) {
        let at = node.0 as usize;
        if self.flags[at] & HIDDEN == 0 || self.flags[at] & DEAD != 0 {
            return;
        }
        self.flags[at] &= !HIDDEN;
        self.returned.push(node.0);
        self.stamp[at] = self.now;
        self.visible += 1;
        let op = self.op(node);
        self.ops[op.0 as usize].stale = true;
        let class = self.root_mut(node.0);
        self.mark_changed(class);
    }

    /// Ends a rebuild: brings rows, masks and operator lists up to date, starts a generation.
    ///
    /// Costs O(size of the changed classes), plus a pass over all ids if there were unions.
    pub fn settle(&mut self) {
        if self.unions > 0 {
            for id in 0..self.find.len() as u32 {
                let root = self.root_mut(id);
                self.find[id as usize] = root;
            }
            self.unions = 0;
        }
        self.refresh_op_lists();
        let changed = std::mem::take(&mut self.changed);
        for &id in &changed {
            self.flags[id as usize] &= !CHANGED;
        }
        for &id in &changed {
            let class = self.find[id as usize];
            if self.class[class as usize].newest != u32::MAX {
                self.refresh_rows(class);
                self.class[class as usize].newest = u32::MAX;
            }
        }
        for &id in &changed {
            let class = self.find[id as usize];
            self.class[class as usize].newest = self.newest_of(class);
        }
        self.changed = changed;
        self.changed.clear();
        if self.garbage > self.rows.len() / 2 + 1024 {
            self.compact_rows();
        }
        self.now += 1;
        self.generations.push(self.find.len() as u32);
    }

    fn newest_of(&self, class: u32) -> u32 {
        let rows = self.rows(Id(class)).iter();
        rows.map(|row| self.stamp[row.node as usize]).max().unwrap_or(0)
    }

    fn refresh_op_lists(&mut self) {
        let flags = &mut self.flags;
        for op in self.ops.iter_mut().filter(|op| op.stale) {
            op.stale = false;
            op.nodes.retain(|&node| flags[node as usize] & (DEAD | HIDDEN) == 0);
        }
        // A node that came back may or may not have left its list before; listing is idempotent.
        for node in std::mem::take(&mut self.returned) {
            self.relist(node);
        }
    }

    fn relist(&mut self, node: u32) {
        if !self.is_visible(node) {
            return;
        }
        let op = self.op(Id(node)).0 as usize;
        let list = &mut self.ops[op].nodes;
        if let Err(place) = list.binary_search(&node) {
            list.insert(place, node);
        }
    }

    fn refresh_rows(&mut self, class: u32) {
        let (start, old_len) = {
            let info = &self.class[class as usize];
            (info.start as usize, info.len as usize)
        };
        let fresh = self.rows.len();
        let mut mask = 0;
        let mut before = class;
        loop {
            let node = self.ring[before as usize];
            let flags = self.flags[node as usize];
            if flags & (DEAD | HIDDEN) == 0 {
                let op = self.words[self.starts[node as usize] as usize];
                mask |= op_bit(op);
                self.rows.push(Row { op, node });
            }
            if node == class {
                break;
            }
            if flags & DEAD != 0 {
                // The ring forgets dead nodes; the one that names the class stays as its anchor.
                self.ring[before as usize] = self.ring[node as usize];
                self.ring[node as usize] = node;
            } else {
                before = node;
            }
        }
        let len = self.rows.len() - fresh;
        if len > 1 {
            self.rows[fresh..].sort_unstable();
        }
        let start = if len <= old_len {
            self.rows.copy_within(fresh.., start);
            self.rows.truncate(fresh);
            self.garbage += old_len - len;
            start
        } else {
            self.garbage += old_len;
            fresh
        };
        let info = &mut self.class[class as usize];
        info.start = start as u32;
        info.len = len as u32;
        info.mask = mask;
    }

    fn compact_rows(&mut self) {
        let mut rows = Vec::with_capacity(self.visible);
        for id in 0..self.find.len() {
            if self.find[id] != id as u32 {
                continue;
            }
            let info = &mut self.class[id];
            let start = rows.len();
            rows.extend_from_slice(
                &self.rows[info.start as usize..(info.start + info.len) as usize],
            );
            info.start = start as u32;
        }
        self.rows = rows;
        self.garbage = 0;
    }
}

/// Iterates over a circular list of nodes.
pub(crate) struct Ring<'a> {
    core: &'a Core,
    first: u32,
    next: Option<u32>,
}

impl Iterator for Ring<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let node = self.next?;
        let after = self.core.ring[node as usize];
        self.next = (after != self.first).then_some(after);
        Some(node)
    }
}

impl Core {
    /// Returns the current generation: what stamps of changes from now on will say.
    pub fn generation(&self) -> u32 {
        self.now
    }
}
