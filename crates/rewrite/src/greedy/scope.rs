//! The scope of a run: which operations may come onto the list by where they stand.
//!
//! Whoever puts an operation on the list asks first. The answer is found by walking up from it;
//! operations that are known to stand inside end the walk, so that a deep nest is not climbed
//! again for each operation in it.

use rustc_hash::FxHashSet;
use tangram_ir::{Module, Op};

/// What stands in the regions of one operation.
pub(super) struct Scope {
    around: Op,
    /// Operations with regions that are known to stand inside.
    known: FxHashSet<Op>,
    passed: Vec<Op>,
}

impl Scope {
    /// What stands in the regions of `around`, which is not in it itself.
    pub(super) fn new(around: Op) -> Scope {
        Scope { around, known: FxHashSet::default(), passed: Vec::new() }
    }

    /// Returns whether `op` stands inside. O(nesting depth), less where its neighbours are known.
    pub(super) fn holds(&mut self, module: &Module, op: Op) -> bool {
        self.passed.clear();
        let mut at = op;
        let inside = loop {
            if !module.is_live(at) || at == self.around {
                break false;
            }
            let Some(parent) = module.parent(at) else { break false };
            if parent == self.around || self.known.contains(&parent) {
                break true;
            }
            self.passed.push(parent);
            at = parent;
        };
        if inside {
            self.known.extend(self.passed.drain(..));
        }
        inside
    }

    /// The next operation around `op` that stands inside, where `op` does.
    pub(super) fn parent(&self, module: &Module, op: Op) -> Option<Op> {
        module.parent(op).filter(|&parent| parent != self.around)
    }

    /// Operations with regions may stand elsewhere now.
    pub(super) fn forget(&mut self) {
        self.known.clear();
    }
}
