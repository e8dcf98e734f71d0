//! Values in classes of equals: matching modulo what an e-graph knows.
//!
//! The operations of an e-graph stand in one block, and every operand is the representative of
//! its class. A pattern that asks how a value is made then has a choice: any member of its class
//! may be the one that matches. Two patterns meet in one value if they meet in one class.

use smallvec::{SmallVec, smallvec};
use tangram_ir::{Op, Value, ValueDef};

use super::bindings::Target;
use super::solver::{Goal, Solver};
use crate::ast::{PatId, PatternKind};
use crate::matching::Frame;

/// Which values are equal.
pub trait Classes {
    /// The value that stands for the class of `value`; what uses the class uses this one.
    fn representative(&self, value: Value) -> Value;

    /// All values of the class of `value`, each made in another way.
    fn members(&self, value: Value) -> &[Value];
}

impl Solver<'_> {
    /// The same for all members of a class.
    pub(super) fn key(&self, target: Target) -> Target {
        match (self.classes, target) {
            (Some(classes), Target::Value(value)) => Target::Value(classes.representative(value)),
            _ => target,
        }
    }

    /// Returns the values that may stand for `value`, itself if nothing else is known.
    pub(super) fn equals(&self, value: Value) -> SmallVec<[Value; 4]> {
        match self.classes {
            Some(classes) => SmallVec::from_slice(classes.members(value)),
            None => smallvec![value],
        }
    }

    /// Lists the ways to make `target` that pattern `id` may match; none if it does not ask.
    pub(super) fn ways(&self, frame: Frame, id: PatId, target: Target) -> Option<Vec<Goal>> {
        let (Some(classes), Target::Value(value)) = (self.classes, target) else { return None };
        let names = match self.plan.rule().pattern(id).kind {
            PatternKind::Call { op, .. } => Some(self.plan.names(op)),
            PatternKind::Const { .. } | PatternKind::Variable(_) | PatternKind::Proj { .. } => None,
            _ => return None,
        };
        let fits = |value: &Value| match (names, self.module.value_def(*value)) {
            (None, _) => true,
            (Some(names), ValueDef::Result(op, 0)) => names.contains(&self.module.name(op)),
            (Some(_), _) => false,
        };
        let members = classes.members(value).iter().copied().filter(fits);
        Some(members.map(|v| Goal::Member { frame, id, target: Target::Value(v) }).collect())
    }

    /// Returns the operation whose results, all and in order, are `values`.
    pub(super) fn maker(&self, values: &[Value]) -> Option<Op> {
        let same = |a: Value, b: Value| self.key(Target::Value(a)) == self.key(Target::Value(b));
        self.equals(*values.first()?).into_iter().find_map(|first| {
            let op = self.module.def_op(first)?;
            let results = self.module.results(op);
            let all = results.len() == values.len();
            (all && results.zip(values).all(|(a, b)| same(a, *b))).then_some(op)
        })
    }
}
