//! What inference takes for granted about extents that are not known.
//!
//! Inference refuses extents that contradict each other for all values of their symbols. Where it
//! cannot tell, it goes on, and the operation is defined only if they do agree. Who needs to know
//! on what a program relies listens: a rewrite may rely on no more than what it replaces.

use std::cell::RefCell;

use tangram_ir::Dim;

/// A relation of two extents that is needed and was not decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Assumption {
    /// They are equal.
    Equal(Dim, Dim),
    /// They are equal, or one of them is 1.
    Broadcast(Dim, Dim),
}

thread_local! {
    static HEARD: RefCell<Option<Vec<Assumption>>> = const { RefCell::new(None) };
}

/// Runs `infer` and returns what was assumed meanwhile on this thread.
pub fn listen<T>(infer: impl FnOnce() -> T) -> (T, Vec<Assumption>) {
    let outer = HEARD.replace(Some(Vec::new()));
    let found = infer();
    let heard = HEARD.replace(outer);
    (found, heard.unwrap_or_default())
}

/// Tells who listens of an assumption.
pub(crate) fn assume(assumption: Assumption) {
    HEARD.with_borrow_mut(|heard| {
        if let Some(heard) = heard {
            heard.push(assumption);
        }
    });
}
