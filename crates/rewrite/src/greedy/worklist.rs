//! A stack of operations in which each stands at most once.

use tangram_ir::Op;

/// Marks an operation that is not in the list.
const ABSENT: u32 = u32::MAX;

/// Last in, first out; membership and removal by number are O(1).
#[derive(Default)]
pub(super) struct Worklist {
    stack: Vec<Option<Op>>,
    /// The place of each operation in `stack`, by its number.
    places: Vec<u32>,
}

impl Worklist {
    /// Puts `op` on top, unless it is in the list already. Says whether it was not.
    pub(super) fn push(&mut self, op: Op) -> bool {
        let i = op.as_u32() as usize;
        if i >= self.places.len() {
            self.places.resize((i + 1).next_power_of_two(), ABSENT);
        }
        if self.places[i] != ABSENT {
            return false;
        }
        self.places[i] = self.stack.len() as u32;
        self.stack.push(Some(op));
        true
    }

    /// Takes `op` out, if it is in the list.
    pub(super) fn remove(&mut self, op: Op) {
        if let Some(place) = self.places.get_mut(op.as_u32() as usize)
            && *place != ABSENT
        {
            self.stack[*place as usize] = None;
            *place = ABSENT;
        }
    }

    /// Takes the top.
    pub(super) fn pop(&mut self) -> Option<Op> {
        while let Some(slot) = self.stack.pop() {
            if let Some(op) = slot {
                self.places[op.as_u32() as usize] = ABSENT;
                return Some(op);
            }
        }
        None
    }
}
