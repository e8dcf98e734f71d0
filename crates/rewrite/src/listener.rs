//! Who hears of changes.

use tangram_ir::{Module, Op, Value};

/// Hears of every change that a [`crate::Rewriter`] makes.
///
/// Each function gets the module in the state that its name says: `inserted` and `modified`
/// after the change, `replaced` and `erased` before it.
#[allow(unused_variables)]
pub trait Listener {
    /// `op` was made, or moved to where it now stands.
    fn inserted(&mut self, module: &Module, op: Op) {}
    /// Operands, attributes or successors of `op` were changed.
    fn modified(&mut self, module: &Module, op: Op) {}
    /// More became known of the type or the elements of `value`.
    fn refined(&mut self, module: &Module, value: Value) {}
    /// An operation is about to stop using `value`; one that is erased tells `erased` only.
    fn released(&mut self, module: &Module, value: Value) {}
    /// The results of `op` are about to be replaced by `values`.
    fn replaced(&mut self, module: &Module, op: Op, values: &[Value]) {}
    /// `op`, whose results have no uses left, is about to be erased.
    fn erased(&mut self, module: &Module, op: Op) {}
}

/// Hears and does nothing.
pub struct Silent;

impl Listener for Silent {}
