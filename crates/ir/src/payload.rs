//! The short form of a region that holds one operation on elements: `linalg.map { arith.addf }`.
//!
//! The operation takes the arguments of the region in order, without those that stand for what is
//! written, or with the only one of these first (`linalg.reduce`); its result is the new element.

use crate::attributes::Attr;
use crate::context::Name;
use crate::module::{Module, Op, OpState, Point, Value};
use crate::op_def::Traits;
use crate::shaped::element;
use crate::types::Type;

/// An operation that stands for a region.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Payload {
    pub(crate) name: Name,
    pub(crate) attrs: Attr,
    /// The name of what ends the region.
    pub(crate) terminator: &'static str,
    /// Whether the last argument of the region is its first operand.
    pub(crate) takes_init: bool,
}

/// The operands of a payload, of the arguments of its region.
fn operands(args: &[Value], takes_init: bool) -> Vec<Value> {
    let Some((&init, inputs)) = args.split_last() else { return Vec::new() };
    takes_init.then_some(init).into_iter().chain(inputs.iter().copied()).collect()
}

impl Module {
    /// The operation that is all that the region of `op` holds besides its terminator, if it is
    /// what [`Module::make_payload`] makes.
    pub(crate) fn payload(&self, op: Op, terminator: &str, takes_init: bool) -> Option<Op> {
        let &[region] = self.regions(op) else { return None };
        let block = self.first_block(region).filter(|&block| self.next_block(block).is_none())?;
        let (payload, end) = (self.first_op(block)?, self.last_op(block)?);
        let args = self.args(block);
        let expected = operands(args, takes_init);
        let elements =
            self.operands(op).map(|value| element(self.context(), self.value_type(value)));
        let result = self.results(payload).next()?;
        let fits = self.next(payload) == Some(end)
            && self.name_text(end) == terminator
            && self.operands(end).eq([result])
            && self.result_count(payload) == 1
            && self.regions(payload).is_empty()
            && !self.has_traits(payload, Traits::TERMINATOR)
            && !expected.is_empty()
            && self.operands(payload).eq(expected)
            && args.iter().map(|&arg| Some(self.value_type(arg))).eq(elements)
            && args.last().is_some_and(|&init| self.value_type(init) == self.value_type(result));
        fits.then_some(payload)
    }

    /// Gives `op`, whose only region is empty, a body of `payload`. Returns whether its operands
    /// have elements.
    pub(crate) fn make_payload(&mut self, op: Op, payload: Payload) -> bool {
        let of = |value| element(self.context(), self.value_type(value));
        let types: Option<Vec<Type>> = self.operands(op).map(of).collect();
        let (Some(types), &[region]) = (types, self.regions(op)) else { return false };
        let Some(&result) = types.last() else { return false };
        let loc = self.loc(op);
        let block = self.add_block(region);
        let args: Vec<Value> = types.into_iter().map(|ty| self.add_arg(block, ty)).collect();
        let mut state = OpState::new(payload.name, loc);
        state.operands = operands(&args, payload.takes_init).into();
        state.attrs = payload.attrs;
        state.results.push(result);
        let made = self.create_at(Point::End(block), state);
        let mut end = OpState::new(self.context().name(payload.terminator), loc);
        end.operands.push(self.result(made, 0));
        self.create_at(Point::End(block), end);
        true
    }
}
