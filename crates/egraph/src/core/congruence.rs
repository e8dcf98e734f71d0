//! Union and congruence closure by worklist.
//!
//! A union moves the nodes above the smaller class onto a worklist. Each of them leaves the
//! hashcons under its old key, gets canonical children in place, and enters again; if an equal
//! node is there already, the two are congruent: one dies and the driver unites their classes.

use super::classes::{NONE, Use};
use super::hashcons::hash_words;
use super::log::Why;
use super::nodes::{CHANGED, Core, DEAD, DIRTY, HIDDEN, MERGED, is_at};
use crate::Id;

/// A union that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merge {
    /// The class that lives on.
    pub into: Id,
    /// The class that is gone.
    pub from: Id,
}

impl Core {
    /// Unites the classes of `left` and `right`; `None` if they were one already.
    ///
    /// The class with more nodes above it keeps its id, `left` if both have as many. Congruence is
    /// left for [`Core::next_congruence`].
    pub fn union(&mut self, left: Id, right: Id, why: Why) -> Option<Merge> {
        let merge = self.direction(left, right)?;
        self.carry_out(merge, left, right, why);
        Some(merge)
    }

    /// Carries out what [`Core::direction`] said of two ids.
    #[inline]
    pub(crate) fn carry_out(&mut self, merge: Merge, left: Id, right: Id, why: Why) {
        let (into, from) = (merge.into.0, merge.from.0);
        if let Some(log) = &mut self.log {
            log.push(left.0, right.0, why);
        }
        self.queue_uses(into, from);
        self.restamp(from);
        self.find[from as usize] = into;
        self.ring.swap(into as usize, from as usize);
        self.drop_rows(from);
        self.flags[from as usize] &= !CHANGED;
        self.mark_changed(into);
        self.flags[into as usize] |= MERGED;
        self.classes -= 1;
        self.unions += 1;
    }

    /// Says what uniting two ids would do; `None` if they are in one class.
    #[inline]
    pub fn direction(&mut self, left: Id, right: Id) -> Option<Merge> {
        let (left, right) = (Id(self.root_mut(left.0)), Id(self.root_mut(right.0)));
        if left == right {
            return None;
        }
        let swap = self.weight(left.0) < self.weight(right.0);
        let (into, from) = if swap { (right, left) } else { (left, right) };
        Some(Merge { into, from })
    }

    /// Puts the nodes above `from` on the worklist and hands the list over to `into`.
    ///
    /// Dead nodes drop out on the way.
    fn queue_uses(&mut self, into: u32, from: u32) {
        let weight = self.class[from as usize].weight;
        self.class[into as usize].weight += weight;
        let mut here = std::mem::replace(&mut self.class[from as usize].first_use, NONE);
        let (mut first, mut last) = (NONE, NONE);
        while here != NONE {
            let Use { node, next } = self.uses[here as usize];
            let flags = &mut self.flags[node as usize];
            if *flags & DEAD == 0 {
                if *flags & DIRTY == 0 {
                    *flags |= DIRTY;
                    self.pending.push(node);
                }
                match last {
                    NONE => first = here,
                    _ => self.uses[last as usize].next = here,
                }
                last = here;
            }
            here = next;
        }
        if last != NONE {
            let kept = &mut self.class[into as usize].first_use;
            self.uses[last as usize].next = std::mem::replace(kept, first);
        }
    }

    /// Stamps all nodes of a class, whose class id is about to change.
    ///
    /// Its rows are the nodes that it had at the last [`Core::settle`]; those that came since were
    /// stamped when they came. So each node is stamped once between two settlements, in whatever
    /// order classes are united.
    fn restamp(&mut self, class: u32) {
        let start = self.class[class as usize].start as usize;
        let (count, _) = self.heading(class);
        for row in &self.rows[start..start + count as usize] {
            self.stamp[row.node as usize] = self.now;
        }
    }

    /// Repairs nodes until two of them turn out to be congruent, and returns these two.
    ///
    /// The driver unites their classes (which may be one already) with [`Why::Congruence`], and
    /// calls again until `None`.
    pub fn next_congruence(&mut self) -> Option<(Id, Id)> {
        while let Some(node) = self.pending.pop() {
            self.flags[node as usize] &= !DIRTY;
            if self.flags[node as usize] & DEAD != 0 {
                continue;
            }
            if let Some(twin) = self.repair(node) {
                return Some((Id(twin), Id(node)));
            }
        }
        None
    }

    /// Makes the children of `node` canonical; returns the node that it is a copy of, if any.
    fn repair(&mut self, node: u32) -> Option<u32> {
        let at = node as usize;
        let (start, end) = (self.starts[at] as usize, self.starts[at + 1] as usize);
        if (start + 1..end).all(|word| self.find[self.words[word] as usize] == self.words[word]) {
            return None;
        }
        self.memo.remove(hash_words(&self.words[start..end]), node);
        for word in start + 1..end {
            self.words[word] = self.root_mut(self.words[word]);
        }
        let class = self.root_mut(node);
        self.mark_changed(class);
        let Core { memo, words, starts, .. } = self;
        let key = &words[start..end];
        let twin = memo.find_or_insert(hash_words(key), node, |id| is_at(words, starts, id, key));
        match twin {
            None => {
                self.stamp[at] = self.now;
                None
            }
            Some(twin) => {
                self.bury(node, twin);
                Some(twin)
            }
        }
    }

    /// Marks `node` as a copy of `twin`, which takes over its visibility.
    fn bury(&mut self, node: u32, twin: u32) {
        let hidden = self.flags[node as usize] & HIDDEN != 0;
        self.flags[node as usize] |= DEAD;
        if !hidden {
            self.visible -= 1;
            let op = self.words[self.starts[node as usize] as usize];
            self.ops[op as usize].stale = true;
            self.unhide(Id(twin));
        }
    }

    /// Tells whether nothing waits for repair or for [`Core::settle`].
    pub fn is_settled(&self) -> bool {
        self.pending.is_empty()
            && self.changed.is_empty()
            && self.first_new() as usize == self.find.len()
    }

    /// Makes proofs spell a node, still the newest one, with other children that equal its own.
    pub(crate) fn respell(&mut self, node: u32, key: &[u32]) {
        let (start, end) = (self.starts[node as usize], self.starts[node as usize + 1]);
        if let Some(words) = self.origin.get_mut(start as usize..end as usize) {
            words.copy_from_slice(key);
        }
    }

    /// Adds another spelling of the class of `like`: an id with its own words, for proofs only.
    pub(crate) fn add_spelling(&mut self, key: &[u32], like: u32) -> u32 {
        let id = self.push_node(key);
        self.flags[id as usize] = DEAD;
        let class = self.root_mut(like);
        self.find[id as usize] = class;
        if let Some(log) = &mut self.log {
            log.push(like, id, Why::Congruence);
        }
        id
    }
}
