//! Classes: the ring of their nodes, the list of nodes above them, and the sorted rows that
//! matching reads.

use super::nodes::{CHANGED, Core, DEAD, HIDDEN, MERGED, Op, STALE_FACT};
use crate::Id;
use crate::id::to_u32;
use std::sync::OnceLock;

/// One node of a class, with its operator beside it so that matching can skip it unread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde-1", derive(serde::Serialize, serde::Deserialize))]
pub struct Row {
    /// The operator of the node.
    pub op: u32,
    /// The id of the node.
    pub node: u32,
}

/// What is known of a class, stored at its id.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde-1", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct ClassInfo {
    /// One bit per operator modulo 32 that the class has a visible node of.
    pub(crate) mask: u32,
    /// Where in [`Core::rows`] the class's rows start; a [heading](Core::heading) lies before them.
    pub(crate) start: u32,
    /// The head of the list of uses, or [`NONE`].
    pub(crate) first_use: u32,
    /// How often the class was ever a child, which decides who keeps its id in a union.
    pub(crate) weight: u32,
}

/// The heading of a class without rows, which all such classes share at the start of the table.
pub(crate) const NO_ROWS: Row = Row { op: 0, node: 0 };
/// Where the rows of a class without rows start.
const EMPTY: u32 = 1;

/// One node above a class.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde-1", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Use {
    pub(crate) node: u32,
    pub(crate) next: u32,
}

pub(crate) const NONE: u32 = u32::MAX;

impl Default for ClassInfo {
    fn default() -> Self {
        ClassInfo { mask: 0, start: EMPTY, first_use: NONE, weight: 0 }
    }
}

/// Returns the bit of `op` in a class mask.
#[inline]
pub(crate) fn op_bit(op: u32) -> u32 {
    1 << (op & 31)
}

impl Core {
    /// Returns the rows of a canonical class, sorted by operator, as of the last rebuild.
    #[inline]
    pub fn rows(&self, class: Id) -> &[Row] {
        let (start, (count, _)) = (self.class[class.0 as usize].start, self.heading(class.0));
        &self.rows[start as usize..(start + count) as usize]
    }

    /// Returns how many rows a class has, and the latest stamp among their nodes.
    ///
    /// Both lie in the row before the first, so that they cost no memory where a class is gone and
    /// no load where its rows are read anyway.
    #[inline]
    pub(crate) fn heading(&self, class: u32) -> (u32, u32) {
        let Row { op, node } = self.rows[self.class[class as usize].start as usize - 1];
        (op, node)
    }

    /// Takes the rows from a class.
    pub(crate) fn drop_rows(&mut self, class: u32) {
        let (count, _) = self.heading(class);
        let start = &mut self.class[class as usize].start;
        if *start != EMPTY {
            self.garbage += count as usize + 1;
            *start = EMPTY;
        }
    }

    /// Returns where in [`Core::rows`] the nodes of `class` with operator `op` lie.
    #[inline]
    pub(crate) fn rows_with(&self, class: u32, op: u32) -> (u32, u32) {
        let info = &self.class[class as usize];
        if info.mask & op_bit(op) == 0 {
            return (0, 0);
        }
        let rows = self.rows(Id(class));
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
        let mut at = self.class[self.root(id.0) as usize].first_use;
        std::iter::from_fn(move || {
            let entry = self.uses.get(at as usize)?;
            at = entry.next;
            Some(entry.node)
        })
        .filter(|&node| self.flags[node as usize] & DEAD == 0)
        .map(Id)
    }

    /// Flags the nodes above a class as [`STALE_FACT`], and hands over those that were not.
    pub(crate) fn mark_above(&mut self, class: Id, mut marked: impl FnMut(u32)) {
        let mut at = self.class[self.root(class.0) as usize].first_use;
        while let Some(&Use { node, next }) = self.uses.get(at as usize) {
            at = next;
            let flags = &mut self.flags[node as usize];
            if *flags & (STALE_FACT | DEAD) == 0 {
                *flags |= STALE_FACT;
                marked(node);
            }
        }
    }

    /// Returns how often a class was ever a child.
    pub(crate) fn weight(&self, class: u32) -> u32 {
        self.class[class as usize].weight
    }

    /// Remembers that the rows of a class are out of date.
    #[inline]
    pub(crate) fn mark_changed(&mut self, class: u32) {
        if self.flags[class as usize] & CHANGED == 0 {
            self.flags[class as usize] |= CHANGED;
            self.changed.push(class);
        }
    }

    /// Returns the first id of the current generation; it and all later ones are new.
    pub(crate) fn first_new(&self) -> u32 {
        self.generations.last().copied().unwrap_or(0)
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
        if self.ring[at] == node.0 && class != node.0 {
            // The ring forgot the node while it was hidden.
            self.ring[at] = self.ring[class as usize];
            self.ring[class as usize] = node.0;
        }
        self.mark_changed(class);
    }

    /// Ends a rebuild: brings rows, masks and operator lists up to date, starts a generation.
    ///
    /// Costs O(size of the changed classes), plus a pass over all ids if there were unions.
    pub fn settle(&mut self) {
        if self.unions > 0 {
            for id in 0..to_u32(self.find.len(), "ids") {
                let root = self.root_mut(id);
                self.find[id as usize] = root;
            }
            self.unions = 0;
        }
        self.refresh_op_lists();
        let changed = std::mem::take(&mut self.changed);
        let fresh = self.first_new()..to_u32(self.find.len(), "ids");
        // A class that takes another one in is marked itself, so all that changed are here.
        for &id in &changed {
            self.refresh(id);
        }
        for id in fresh {
            self.refresh(id);
        }
        self.changed = changed;
        self.changed.clear();
        if self.garbage > self.rows.len() / 2 + 1024 {
            self.compact_rows();
        }
        self.now += 1;
        self.generations.push(to_u32(self.find.len(), "ids"));
    }

    /// Brings the rows of a class up to date, if `id` is one that changed.
    #[inline]
    fn refresh(&mut self, id: u32) {
        let flags = &mut self.flags[id as usize];
        if *flags & CHANGED != 0 {
            *flags &= !CHANGED;
            if self.find[id as usize] == id {
                self.refresh_rows(id);
            }
        }
    }

    fn refresh_op_lists(&mut self) {
        let flags = &mut self.flags;
        if self.by_class.get().is_some() {
            self.by_class = OnceLock::new();
        }
        for op in self.ops.iter_mut().filter(|op| op.stale) {
            op.stale = false;
            op.nodes.retain(|node| flags[*node as usize] & (DEAD | HIDDEN) == 0);
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

    /// Lists the visible nodes of a class anew; its ring forgets all others but its anchor.
    fn refresh_rows(&mut self, class: u32) {
        let fresh = self.rows.len();
        self.rows.push(NO_ROWS);
        let (mut mask, mut newest) = (0, 0);
        // Nodes that are pruned have no row to be stamped by, yet terms are found through them.
        let merged = &mut self.flags[class as usize];
        if *merged & MERGED != 0 {
            *merged &= !MERGED;
            newest = self.now;
        }
        let mut before = class;
        loop {
            let node = self.ring[before as usize];
            let visible = self.is_visible(node);
            if visible {
                let op = self.words[self.starts[node as usize] as usize];
                mask |= op_bit(op);
                newest = newest.max(self.stamp[node as usize]);
                self.rows.push(Row { op, node });
            }
            if node == class {
                break;
            }
            if visible {
                before = node;
            } else {
                self.ring[before as usize] = self.ring[node as usize];
                self.ring[node as usize] = node;
            }
        }
        let rows = &mut self.rows[fresh + 1..];
        if rows.len() > 1 && !rows.is_sorted() {
            rows.sort_unstable();
        }
        self.rows[fresh] = Row { op: to_u32(self.rows.len() - fresh - 1, "rows"), node: newest };
        self.class[class as usize].mask = mask;
        self.keep_rows(class, fresh);
    }

    /// Makes what starts at `fresh` the rows of a class, at their old place if they fit.
    fn keep_rows(&mut self, class: u32, fresh: usize) {
        let (old, _) = self.heading(class);
        let count = self.rows.len() - fresh - 1;
        let start = self.class[class as usize].start;
        if start != EMPTY && count <= old as usize {
            let place = start as usize - 1;
            // Most classes have few rows, and a call to copy them costs more.
            match count {
                0..8 => (0..=count).for_each(|row| self.rows[place + row] = self.rows[fresh + row]),
                _ => self.rows.copy_within(fresh.., place),
            }
            self.rows.truncate(fresh);
            self.garbage += old as usize - count;
        } else {
            self.drop_rows(class);
            self.class[class as usize].start = to_u32(fresh + 1, "rows");
        }
    }

    /// Moves the rows together, class by class in the order they lie in.
    fn compact_rows(&mut self) {
        let live = (0..to_u32(self.find.len(), "ids")).filter(|&id| self.find[id as usize] == id);
        let mut order: Vec<u32> = live.collect();
        order.retain(|&id| self.class[id as usize].start != EMPTY);
        order.sort_unstable_by_key(|&id| self.class[id as usize].start);
        let mut end = 1;
        for id in order {
            let count = self.heading(id).0 as usize;
            let from = self.class[id as usize].start as usize - 1;
            self.rows.copy_within(from..from + count + 1, end);
            self.class[id as usize].start = to_u32(end + 1, "rows");
            end += count + 1;
        }
        self.rows.truncate(end);
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
    /// Returns the generation in which a class id was made.
    #[inline]
    pub(crate) fn born(&self, id: u32) -> u32 {
        // Generations start at ever higher ids; the last few are asked for most often.
        let later = self.generations.partition_point(|&first| first <= id);
        later as u32
    }

    /// Returns the current generation: what stamps of changes from now on will say.
    pub fn generation(&self) -> u32 {
        self.now
    }
}
