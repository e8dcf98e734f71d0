//! Counts what a rewrite does, to tell one that changed something from one that did not.

use tangram_ir::{Block, Module, Op, Value};

use crate::listener::Listener;

/// What was heard since the last start.
#[derive(Default)]
pub(super) struct Tally {
    /// Operations from this number on are new.
    old_below: u32,
    pub(super) added: u64,
    pub(super) removed: u64,
    events: u64,
    /// How many operations were made and erased again.
    transient: u64,
}

impl Tally {
    /// Starts to count anew.
    pub(super) fn begin(&mut self, module: &Module) {
        *self = Tally { old_below: module.op_capacity() as u32, ..Tally::default() };
    }

    /// Returns whether anything is other than it was: a rewrite that is refused may have built its
    /// target, and taken it away again.
    pub(super) fn has_changed(&self) -> bool {
        self.events > 2 * self.transient
    }

    fn is_new(&self, op: Op) -> bool {
        op.as_u32() >= self.old_below
    }
}

impl Listener for Tally {
    fn inserted(&mut self, _: &Module, op: Op) {
        self.events += 1;
        self.added += u64::from(self.is_new(op));
    }

    fn moved(&mut self, _: &Module, _: Op) {
        self.events += 1;
    }

    fn modified(&mut self, _: &Module, _: Op) {
        self.events += 1;
    }

    fn refined(&mut self, _: &Module, _: Value) {
        self.events += 1;
    }

    fn replaced(&mut self, _: &Module, _: Op, _: &[Value]) {
        self.events += 1;
    }

    fn erased(&mut self, _: &Module, op: Op) {
        self.events += 1;
        self.removed += 1;
        self.transient += u64::from(self.is_new(op));
    }

    fn block_inserted(&mut self, _: &Module, _: Block) {
        self.events += 1;
    }

    fn block_moved(&mut self, _: &Module, _: Block) {
        self.events += 1;
    }

    fn block_erased(&mut self, _: &Module, _: Block) {
        self.events += 1;
    }

    fn arguments_changed(&mut self, _: &Module, _: Block) {
        self.events += 1;
    }
}
