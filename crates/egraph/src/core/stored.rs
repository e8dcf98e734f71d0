//! What a core needs beside its fields when it comes back from storage.
//!
//! The hashcons is not stored but filled again, and what a file says is checked first: places in
//! tables have to be inside of them, and lists to end. A core that passes may be nonsense, but
//! nothing that is asked of it leaves its tables.

use super::hashcons::hash_words;
use super::nodes::{Core, DEAD};
use crate::id::to_u32;

impl Core {
    /// Fills the hashcons; `None` if the tables do not fit together.
    pub(crate) fn restored(mut self) -> Option<Self> {
        if !(self.has_sound_nodes() && self.has_sound_classes()) {
            return None;
        }
        for node in 0..to_u32(self.find.len(), "ids") {
            if self.flags[node as usize] & DEAD == 0 {
                self.memo.insert(hash_words(self.key(node)), node);
            }
        }
        Some(self)
    }

    /// Tells whether each node has an operator and as many children as that takes.
    fn has_sound_nodes(&self) -> bool {
        let ids = self.find.len();
        let per_id = [self.ring.len(), self.stamp.len(), self.flags.len(), self.class.len()];
        let ordered = self.starts.first() == Some(&0)
            && self.starts.last().is_some_and(|&end| end as usize == self.words.len())
            && self.starts.is_sorted();
        let spelled = self.log.is_none() || self.origin.len() == self.words.len();
        if self.starts.len() != ids + 1
            || !ordered
            || !spelled
            || per_id.iter().any(|&len| len != ids)
        {
            return false;
        }
        let sound = |words: &[u32]| {
            let Some((&op, kids)) = words.split_first() else { return false };
            let info = self.ops.get(op as usize);
            info.is_some_and(|info| info.arity as usize == kids.len())
                && kids.iter().all(|&kid| (kid as usize) < ids)
        };
        let spans = self.starts.windows(2).map(|span| span[0] as usize..span[1] as usize);
        spans.clone().all(|span| sound(&self.words[span]))
            && (self.log.is_none() || spans.clone().all(|span| sound(&self.origin[span])))
    }

    /// Tells whether the lists of nodes of and above each class stay inside the tables, and end.
    fn has_sound_classes(&self) -> bool {
        let ids = self.find.len();
        let inside = |list: &[u32]| list.iter().all(|&id| (id as usize) < ids);
        let mut in_ring = vec![false; ids];
        let permuted = inside(&self.ring)
            && self.ring.iter().all(|&id| !std::mem::replace(&mut in_ring[id as usize], true));
        // A list of uses is only ever extended at its front, or put in front of another one.
        let mut used = vec![false; self.uses.len()];
        let heads = self.class.iter().map(|class| class.first_use);
        let next = self.uses.iter().map(|entry| entry.next);
        let uses_end = heads
            .chain(next)
            .all(|at| used.get_mut(at as usize).is_none_or(|used| !std::mem::replace(used, true)));
        let rows = self.class.iter().all(|class| {
            let heading = (class.start as usize).checked_sub(1).and_then(|at| self.rows.get(at));
            heading.is_some_and(|row| class.start as usize + row.op as usize <= self.rows.len())
        });
        permuted
            && uses_end
            && rows
            && self.uses.iter().all(|entry| (entry.node as usize) < ids)
            && self.rows.iter().all(|row| (row.node as usize) < ids.max(self.now as usize + 1))
            && inside(&self.find)
            && self.finds_end()
            && inside(&self.pending)
            && inside(&self.changed)
            && inside(&self.returned)
            && self.ops.iter().all(|op| inside(&op.nodes))
            && self.codes.iter().flatten().all(|op| (op.0 as usize) < self.ops.len())
            && self.log.as_ref().is_none_or(|log| log.stays_inside(ids))
    }

    /// Tells whether each id leads to a root.
    fn finds_end(&self) -> bool {
        let mut known = vec![false; self.find.len()];
        for start in 0..self.find.len() {
            let (mut id, mut path) = (start, Vec::new());
            while !known[id] && self.find[id] as usize != id {
                path.push(id);
                id = self.find[id] as usize;
                if path.len() > self.find.len() {
                    return false;
                }
            }
            known[id] = true;
            path.into_iter().for_each(|id| known[id] = true);
        }
        true
    }
}
