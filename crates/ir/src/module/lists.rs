//! The operands and the results of an operation, in order.
//!
//! As iterators whose `nth` is one step: those that map over a range walk to it, and a loop over
//! "operand `i`" of an operation with thousands of them would take the square.

use std::ops::Range;

use super::{Module, Operand, Value};

/// The operands of an operation.
#[derive(Clone)]
pub struct Operands<'m> {
    pub(super) module: &'m Module,
    pub(super) slots: Range<u32>,
}

impl Operands<'_> {
    fn value(&self, slot: u32) -> Value {
        self.module.operands[Operand(slot)].value.expect("an operand of a live operation")
    }
}

impl Iterator for Operands<'_> {
    type Item = Value;

    fn next(&mut self) -> Option<Value> {
        self.slots.next().map(|slot| self.value(slot))
    }

    fn nth(&mut self, n: usize) -> Option<Value> {
        self.slots.nth(n).map(|slot| self.value(slot))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.slots.size_hint()
    }
}

impl DoubleEndedIterator for Operands<'_> {
    fn next_back(&mut self) -> Option<Value> {
        self.slots.next_back().map(|slot| self.value(slot))
    }
}

impl ExactSizeIterator for Operands<'_> {}

/// The results of an operation.
#[derive(Clone)]
pub struct Results {
    pub(super) values: Range<u32>,
}

impl Iterator for Results {
    type Item = Value;

    fn next(&mut self) -> Option<Value> {
        self.values.next().map(Value)
    }

    fn nth(&mut self, n: usize) -> Option<Value> {
        self.values.nth(n).map(Value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.values.size_hint()
    }
}

impl DoubleEndedIterator for Results {
    fn next_back(&mut self) -> Option<Value> {
        self.values.next_back().map(Value)
    }
}

impl ExactSizeIterator for Results {}
