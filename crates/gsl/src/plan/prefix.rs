//! Tests that a match must pass, found by following operands from the root.

use tangram_ir::{Module, Op, Traits};

use super::{MatchPlan, Operand};
use crate::ast::{OpId, PatId, PatternKind};
use crate::matching::given_operands;

/// A necessary condition on the operations around a root.
///
/// Places are numbered: 0 is the root, and each [`Instruction::Enter`] makes the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Instruction {
    /// The operation at `place` is one of those that operator `op` stands for.
    Named {
        /// Which operation.
        place: u32,
        /// The operator of the rule.
        op: OpId,
    },
    /// The operation at `place` has `least` operands, or more unless `exact`.
    Operands {
        /// Which operation.
        place: u32,
        /// How many.
        least: u32,
        /// No more than that.
        exact: bool,
    },
    /// Goes from `place` to the operation that defines its operand number `operand`.
    Enter {
        /// Where from.
        place: u32,
        /// Which operand.
        operand: u32,
    },
    /// Operand number `operand` of the operation at `place` is a constant.
    Constant {
        /// Which operation.
        place: u32,
        /// Which operand.
        operand: u32,
    },
}

/// The tests of a rule in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prefix {
    code: Vec<Instruction>,
}

impl Prefix {
    /// Returns the instructions.
    pub fn code(&self) -> &[Instruction] {
        &self.code
    }

    /// Returns whether `root` passes all tests; if not, there is no match at it.
    pub fn admits(&self, plan: &MatchPlan, module: &Module, root: Op) -> bool {
        let mut places: smallvec::SmallVec<[Op; 8]> = smallvec::smallvec![root];
        self.code.iter().all(|instruction| match *instruction {
            Instruction::Named { place, op } => {
                plan.names(op).contains(&module.name(places[place as usize]))
            }
            Instruction::Operands { place, least, exact } => {
                let count = given_operands(module, places[place as usize]);
                if exact { count == least as usize } else { count >= least as usize }
            }
            Instruction::Enter { place, operand } => {
                let value = module.operand(places[place as usize], operand as usize);
                module.def_op(value).is_some_and(|op| {
                    places.push(op);
                    true
                })
            }
            Instruction::Constant { place, operand } => {
                let value = module.operand(places[place as usize], operand as usize);
                let def = module.def_op(value);
                def.is_some_and(|op| module.has_traits(op, Traits::CONSTANT_LIKE))
            }
        })
    }
}

/// Finds the tests of a plan.
pub(super) fn prefix(plan: &MatchPlan) -> Prefix {
    let mut code = Vec::new();
    let mut places = 1;
    let mut seen = vec![false; plan.width()];
    let output = plan.rule().sources().first();
    // What stands for a template in branch 0 of a variadic output is what the root meets.
    let met = |id: PatId| output.and_then(|v| plan.template(*v, id)).flatten().unwrap_or(id);
    let root = output.map(|output| met(plan.branch_root(*output)));
    let first = root.and_then(|id| call_below(plan, id, &met));
    let mut stack: Vec<(PatId, u32)> = first.into_iter().map(|call| (call, 0)).collect();
    while let Some((id, place)) = stack.pop() {
        let PatternKind::Call { op, commutative, associative, .. } = plan.rule().pattern(id).kind
        else {
            continue;
        };
        if std::mem::replace(&mut seen[id.index()], true) {
            continue;
        }
        code.push(Instruction::Named { place, op });
        if associative {
            continue;
        }
        let operands = plan.operands(id);
        let fixed = operands.iter().take_while(|o| matches!(o, Operand::One(_))).count();
        let exact = fixed == operands.len();
        code.push(Instruction::Operands { place, least: operands.len() as u32, exact });
        if commutative {
            continue;
        }
        for (i, operand) in operands[..fixed].iter().enumerate() {
            let Operand::One(part) = *operand else { continue };
            let part = met(part);
            if let PatternKind::Const { .. } = plan.rule().pattern(part).kind {
                code.push(Instruction::Constant { place, operand: i as u32 });
            } else if let Some(call) = call_below(plan, part, &met)
                && !seen[call.index()]
            {
                code.push(Instruction::Enter { place, operand: i as u32 });
                stack.push((call, places));
                places += 1;
            }
        }
    }
    Prefix { code }
}

/// Returns the call whose operation defines what `id` matches, if there is but one.
fn call_below(plan: &MatchPlan, id: PatId, met: &impl Fn(PatId) -> PatId) -> Option<PatId> {
    match plan.rule().pattern(id).kind {
        PatternKind::Call { .. } => Some(id),
        PatternKind::Proj { tuple, .. } => {
            let tuple = met(tuple);
            let call = matches!(plan.rule().pattern(tuple).kind, PatternKind::Call { .. });
            call.then_some(tuple)
        }
        _ => None,
    }
}
