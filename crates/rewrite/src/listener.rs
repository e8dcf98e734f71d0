//! Who hears of changes.

use tangram_ir::{Block, Module, Op, Value};

use crate::pattern::{NoMatch, RewritePattern};

/// What a driver did with an operation that it took.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Outcome {
    /// Nothing used it, and it was erased.
    Erased,
    /// Its results were replaced by what they are known to be.
    Folded,
    /// It was replaced by an equal operation.
    Merged,
    /// A pattern rewrote it.
    Rewritten,
    /// No pattern matched.
    Unchanged,
    /// It is as the target wants it.
    Legal,
    /// It could not be made as the target wants it.
    Illegal,
}

/// Hears of every change that a [`crate::Rewriter`] makes, and of what a driver does.
///
/// Each function gets the module in the state that its name says: `replaced` and `erased` before
/// the change, all others after it.
#[allow(unused_variables)]
pub trait Listener {
    /// `op` was made.
    fn inserted(&mut self, module: &Module, op: Op) {}
    /// `op` was moved to where it now stands.
    fn moved(&mut self, module: &Module, op: Op) {
        self.inserted(module, op);
    }
    /// Something in the regions of `op` is about to move elsewhere; `moved` or `block_moved`
    /// follows.
    fn vacated(&mut self, module: &Module, op: Op) {}
    /// Operands, attributes, location or successors of `op` were changed.
    fn modified(&mut self, module: &Module, op: Op) {}
    /// More became known of the type or the elements of `value`.
    fn refined(&mut self, module: &Module, value: Value) {}
    /// An operation is about to stop using `value`; one that is erased tells `erased` only.
    fn released(&mut self, module: &Module, value: Value) {}
    /// The results of `op` are about to be replaced by `values`.
    fn replaced(&mut self, module: &Module, op: Op, values: &[Value]) {}
    /// `op`, whose results have no uses left, is about to be erased. What its regions hold was
    /// told before, last first, blocks before those that branch to them, and all of it stands still
    /// where it stood.
    fn erased(&mut self, module: &Module, op: Op) {}

    /// `block` was made.
    fn block_inserted(&mut self, module: &Module, block: Block) {}
    /// `block` was moved to where it now stands.
    fn block_moved(&mut self, module: &Module, block: Block) {
        self.block_inserted(module, block);
    }
    /// `block` is about to be erased; of its operations this was told before.
    fn block_erased(&mut self, module: &Module, block: Block) {}
    /// Arguments of `block` were added, removed or given another type.
    fn arguments_changed(&mut self, module: &Module, block: Block) {}

    /// A driver takes `op`.
    fn visit_begin(&mut self, module: &Module, op: Op) {}
    /// A driver is done with the operation that it took; it may be gone.
    fn visit_end(&mut self, module: &Module, outcome: Outcome) {}
    /// The conversion driver is about to fold `op`; what it makes of that becomes legal inside.
    fn fold_begin(&mut self, module: &Module, op: Op) {}
    /// The conversion driver folded the operation, or says why it did not.
    fn fold_end(&mut self, module: &Module, outcome: Result<(), &'static str>) {}
    /// `pattern` is about to be tried on `op`.
    fn pattern_begin(&mut self, module: &Module, pattern: &dyn RewritePattern, op: Op) {}
    /// The pattern was tried.
    fn pattern_end(
        &mut self,
        module: &Module,
        pattern: &dyn RewritePattern,
        outcome: &Result<(), NoMatch>,
    ) {
    }
    /// The pattern that is being tried has matched these operations and is about to rewrite; it
    /// may still be refused. Patterns may leave this out.
    fn matched(&mut self, module: &Module, ops: &[Op]) {}
    /// Returns whether the reasons of failed matches are of use.
    fn wants_reasons(&self) -> bool {
        false
    }
}

/// Hears and does nothing.
pub struct Silent;

impl Listener for Silent {}

/// Tells two listeners, the first one first.
pub struct Both<'a>(pub &'a mut dyn Listener, pub &'a mut dyn Listener);

macro_rules! forward {
    ($($name:ident($($arg:ident: $ty:ty),*);)*) => {
        impl Listener for Both<'_> {
            $(fn $name(&mut self, module: &Module, $($arg: $ty),*) {
                self.0.$name(module, $($arg),*);
                self.1.$name(module, $($arg),*);
            })*
            fn wants_reasons(&self) -> bool {
                self.0.wants_reasons() || self.1.wants_reasons()
            }
        }
    };
}

forward! {
    inserted(op: Op);
    vacated(op: Op);
    moved(op: Op);
    modified(op: Op);
    refined(value: Value);
    released(value: Value);
    replaced(op: Op, values: &[Value]);
    erased(op: Op);
    block_inserted(block: Block);
    block_moved(block: Block);
    block_erased(block: Block);
    arguments_changed(block: Block);
    visit_begin(op: Op);
    visit_end(outcome: Outcome);
    fold_begin(op: Op);
    fold_end(outcome: Result<(), &'static str>);
    pattern_begin(pattern: &dyn RewritePattern, op: Op);
    matched(ops: &[Op]);
    pattern_end(pattern: &dyn RewritePattern, outcome: &Result<(), NoMatch>);
}
