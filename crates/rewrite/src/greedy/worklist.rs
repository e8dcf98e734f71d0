//! A stack of operations in which each stands at most once.

use tangram_ir::{Op, Paged};

/// Marks an operation that is not in the list.
const ABSENT: u32 = u32::MAX;

/// Last in, first out; membership and removal by number are O(1).
pub(super) struct Worklist {
    stack: Vec<Option<Op>>,
    /// The place of each operation in `stack`, by its number.
    places: Paged<u32>,
}

impl Default for Worklist {
    fn default() -> Worklist {
        Worklist { stack: Vec::new(), places: Paged::new(ABSENT) }
    }
}

impl Worklist {
    /// Puts `op` on top, unless it is in the list already. Returns whether it was not.
    pub(super) fn push(&mut self, op: Op) -> bool {
        if self.places.get(op.as_u32()) != ABSENT {
            return false;
        }
        self.places.set(op.as_u32(), self.stack.len() as u32);
        self.stack.push(Some(op));
        true
    }

    /// Takes `op` out, if it is in the list.
    pub(super) fn remove(&mut self, op: Op) {
        let place = self.places.get(op.as_u32());
        if place != ABSENT {
            self.stack[place as usize] = None;
            self.places.set(op.as_u32(), ABSENT);
        }
    }

    /// Takes one out of all, chosen by `random`, in O(1); its place is given to the top.
    pub(super) fn pop_random(&mut self, random: &mut u64) -> Option<Op> {
        while !self.stack.is_empty() {
            // SplitMix64 (Steele, Lea, Flood, 2014).
            *random = random.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = *random;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            let place = ((z ^ (z >> 31)) % self.stack.len() as u64) as usize;
            let slot = self.stack.swap_remove(place);
            if let Some(Some(moved)) = self.stack.get(place) {
                self.places.set(moved.as_u32(), place as u32);
            }
            if let Some(op) = slot {
                self.places.set(op.as_u32(), ABSENT);
                return Some(op);
            }
        }
        None
    }

    /// Takes the top.
    pub(super) fn pop(&mut self) -> Option<Op> {
        while let Some(slot) = self.stack.pop() {
            if let Some(op) = slot {
                self.places.set(op.as_u32(), ABSENT);
                return Some(op);
            }
        }
        None
    }
}
