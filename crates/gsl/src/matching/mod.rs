//! Matching of rules on IR: `Γ ⊢ p ≃ e`.
//!
//! The solver is a machine with an agenda of goals ("pattern p matches value v"), a trail of what
//! was bound, and a stack of choices. It is complete: wherever the semantics leaves a choice (the
//! option of an alternative, the order of commutative operands, which user of a shared value is
//! the second output, which branches a variadic output takes) the other ways are tried when the
//! first fails. What cannot be decided yet, because it looks at something that is not matched so
//! far, is put off until it can. No recursion, and a limit on the number of steps.

mod alike;
mod attribute;
mod bindings;
mod branches;
mod candidates;
mod check;
mod classes;
mod constant;
mod env;
mod independent;
mod miss;
mod normal;
mod operands;
mod solver;
mod step;
mod symbolic;

use rustc_hash::FxHashSet;
use tangram_ir::{Module, Op, Value};

use crate::ast::{PatId, PatternKind};
use crate::plan::MatchPlan;

pub(crate) use attribute::{from_attr, of_value, show, type_text};
pub(crate) use bindings::{Bindings, Bound, Frame, Target};
pub use classes::Classes;
pub(crate) use env::Scope;
pub use miss::Miss;
pub(crate) use normal::{from_front, of_op};
pub(crate) use operands::given_operands;
pub use solver::{MAX_STEPS, MAX_STEPS_OF_SEVERAL, Solver};

/// A match of the source of a rule.
#[derive(Clone, Debug)]
pub struct Match {
    pub(crate) bindings: Bindings,
    /// The outputs in order, branches one by one.
    outputs: Vec<Value>,
    /// The matched operations.
    ops: Vec<Op>,
}

impl Match {
    /// Returns the matched outputs in order: what the target replaces.
    pub fn outputs(&self) -> &[Value] {
        &self.outputs
    }

    /// Returns the operations that calls and constants of the source matched, each once.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// Returns the value that a pattern outside all branches matched; of several results the
    /// first.
    pub fn value(&self, plan: &MatchPlan, module: &Module, id: PatId) -> Option<Value> {
        self.bindings.target(plan, Frame::ROOT, id)?.value(module)
    }

    /// Returns the number of branches of a variadic pattern outside all others.
    pub fn branch_count(&self, plan: &MatchPlan, variadic: PatId) -> Option<usize> {
        let bound = self.bindings.find(plan, Frame::ROOT, variadic)?;
        Some(self.bindings.frames_of(bound).len())
    }

    /// Returns what pattern `id` matched in branch `index` of `variadic`.
    pub fn instance(
        &self,
        plan: &MatchPlan,
        module: &Module,
        (variadic, index): (PatId, usize),
        id: PatId,
    ) -> Option<Value> {
        let frame = self.bindings.branch(plan, Frame::ROOT, variadic, index)?;
        self.bindings.target(plan, frame, id)?.value(module)
    }
}

/// Lists the operations that calls, constants and projections matched.
pub(crate) fn matched_ops(plan: &MatchPlan, module: &Module, bindings: &Bindings) -> FxHashSet<Op> {
    let ops = bindings.bound().filter_map(|(_, id, bound)| {
        let kind = &plan.rule().pattern(id).kind;
        let inside = matches!(
            kind,
            PatternKind::Call { .. } | PatternKind::Const { .. } | PatternKind::Proj { .. }
        );
        match bound {
            Bound::One(target) if inside => target.op(module),
            _ => None,
        }
    });
    ops.collect()
}
