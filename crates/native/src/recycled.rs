//! Memory of outputs that their callers have let go of, for the next run.
//!
//! Whoever runs a model again and again drops the outputs of one run before or after the next. Fresh
//! pages are zeroed by the system and cost more than many a step that fills them; those of an array
//! that is gone are there. So the owner of an output's memory gives it back when the last handle to it
//! goes, and a run asks here first. A session keeps no more than the outputs of one run take, and
//! nothing once it is gone itself.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tangram_tensor::budget;

use crate::memory::Block;
use crate::shared::Shared;

/// Outputs of fewer bytes are quickly had anew.
const LEAST: usize = 64 << 10;

/// The memory of outputs of one session. Handles are to the same.
#[derive(Clone, Default)]
pub(crate) struct Recycled(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    /// The oldest first.
    blocks: Vec<Block>,
    /// The most bytes that these may have.
    room: usize,
}

impl Kept {
    /// Lets blocks go until there is room for those that stay.
    fn trim(&mut self) -> Vec<Block> {
        let mut total: usize = self.blocks.iter().map(Block::len).sum();
        let mut gone = 0;
        while total > self.room && gone < self.blocks.len() {
            total -= self.blocks[gone].len();
            gone += 1;
        }
        self.blocks.drain(..gone).collect()
    }
}

impl Recycled {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Memory of `len` bytes, which may be those of an output that is gone: whoever asks writes all of
    /// them. `None` where there are not as many.
    pub(crate) fn output(&self, len: usize) -> Option<Shared> {
        if len < LEAST {
            return Shared::zeroed(len);
        }
        let (found, grows) = self.find(len);
        let block = match found {
            Some(mut block) => {
                budget::ask(len).ok()?;
                if cfg!(debug_assertions) {
                    // Tests would see what is not written.
                    block.bytes_mut()[..len].fill(0xA5);
                }
                block
            }
            // Outputs that grow, as those of a loop over tokens do, grow again.
            None if grows => {
                let roomy = Block::zeroed(len.saturating_add(len / 4));
                roomy.or_else(|| Block::zeroed(len))?
            }
            None => Block::zeroed(len)?,
        };
        Shared::of_block(len, block, |block| {
            let back = Lent { block: Some(block), to: Arc::downgrade(&self.0) };
            Box::new(back)
        })
    }

    /// The smallest block of `len` bytes that wastes less than half of itself; and, if there is none,
    /// whether one was there which is a little too small, which goes.
    fn find(&self, len: usize) -> (Option<Block>, bool) {
        let mut kept = self.kept();
        let fits = |block: &Block| block.len() >= len && block.len() / 2 <= len;
        let fitting = kept.blocks.iter().enumerate().filter(|(_, block)| fits(block));
        if let Some((at, _)) = fitting.min_by_key(|(_, block)| block.len()) {
            return (Some(kept.blocks.remove(at)), false);
        }
        let near = |block: &Block| block.len() < len && block.len() >= len - len / 4;
        let small = kept.blocks.iter().position(near).map(|at| kept.blocks.remove(at));
        drop(kept);
        (None, small.is_some())
    }

    /// Keeps as many bytes from now on: those of the outputs of a run.
    pub(crate) fn make_room(&self, outputs: usize) {
        let mut kept = self.kept();
        // What grows has a quarter more than it needs.
        kept.room = outputs.saturating_add(outputs / 4);
        let gone = kept.trim();
        // The system takes its time with pages that go.
        drop(kept);
        drop(gone);
    }
}

/// The owner of an output's memory.
struct Lent {
    block: Option<Block>,
    to: Weak<Mutex<Kept>>,
}

impl Drop for Lent {
    fn drop(&mut self) {
        let (Some(block), Some(to)) = (self.block.take(), self.to.upgrade()) else { return };
        let mut kept = to.lock().unwrap_or_else(PoisonError::into_inner);
        kept.blocks.push(block);
        let gone = kept.trim();
        drop(kept);
        drop(gone);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_let_go_of_comes_again_and_what_is_held_does_not() {
        let recycled = Recycled::default();
        recycled.make_room(4 * LEAST);
        let (first, held) = (recycled.output(LEAST), recycled.output(LEAST));
        let (first, held) = (first.expect("memory"), held.expect("memory"));
        let start = first.start();
        let reader = first.bytes();
        drop(first);
        held.write(&[7; LEAST]);
        assert_ne!(recycled.output(LEAST).expect("memory").start(), start, "it is read yet");
        drop(reader);
        let again: Vec<_> = (0..3).map(|_| recycled.output(LEAST).expect("memory")).collect();
        assert!(again.iter().any(|shared| shared.start() == start));
        assert!(again.iter().all(|shared| !shared.overlaps(held.as_slice())));
        assert!(held.as_slice().iter().all(|&byte| byte == 7));
    }

    #[test]
    fn no_more_is_kept_than_one_run_gives() {
        let recycled = Recycled::default();
        recycled.make_room(2 * LEAST);
        let many: Vec<_> = (0..10).map(|_| recycled.output(LEAST).expect("memory")).collect();
        drop(many);
        assert_eq!(recycled.kept().blocks.len(), 2);
        recycled.make_room(0);
        assert!(recycled.kept().blocks.is_empty());
        drop(recycled.output(LEAST));
        assert!(recycled.kept().blocks.is_empty());
    }

    #[test]
    fn what_grows_gets_room_and_what_is_far_too_large_stays() {
        let recycled = Recycled::default();
        recycled.make_room(100 * LEAST);
        drop(recycled.output(10 * LEAST));
        drop(recycled.output(11 * LEAST));
        let grown = recycled.output(12 * LEAST).expect("memory");
        assert_eq!(grown.len(), 12 * LEAST);
        drop(grown);
        assert_eq!(recycled.kept().blocks.len(), 1, "the room for 11 did for 12");
        let small = recycled.output(LEAST).expect("memory");
        assert_eq!(recycled.kept().blocks.len(), 1, "a small output does not hold a large block");
        drop(small);
    }

    #[test]
    fn memory_outlives_its_session() {
        let recycled = Recycled::default();
        recycled.make_room(LEAST);
        let output = recycled.output(LEAST).expect("memory");
        output.write(&[3; LEAST]);
        drop(recycled);
        assert!(output.as_slice().iter().all(|&byte| byte == 3));
    }
}
