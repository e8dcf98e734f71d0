//! The operand lists of calls, with tuples spread out.

use tangram_ir::{Arity, Context};

use crate::ast::{OpChoice, PatId, PatternKind, Rule};
use crate::schema::operation_name;

/// What stands for one or more operands of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// One operand.
    One(PatId),
    /// As many operands as a variadic pattern has branches.
    Branches(PatId),
    /// All results of an operation, one after the other.
    Results(PatId),
}

/// Lists the operands of a call; none for other patterns.
pub(super) fn spread(rule: &Rule, call: PatId, context: &Context) -> Box<[Operand]> {
    let PatternKind::Call { op, args, .. } = &rule.pattern(call).kind else {
        return Box::default();
    };
    let variadic = match &rule.op(*op).choice {
        OpChoice::Name(name) => takes_any_number(context, name),
        _ => false,
    };
    let mut found = Vec::new();
    let mut stack: Vec<PatId> = args.iter().rev().copied().collect();
    while let Some(id) = stack.pop() {
        match &rule.pattern(id).kind {
            PatternKind::Tuple(fields) => stack.extend(fields.iter().rev()),
            PatternKind::Variadic { .. } => found.push(Operand::Branches(id)),
            PatternKind::Call { op, .. } if variadic && has_many_results(rule, *op, context) => {
                found.push(Operand::Results(id));
            }
            _ => found.push(Operand::One(id)),
        }
    }
    found.into()
}

fn takes_any_number(context: &Context, name: &str) -> bool {
    let def = context.def(context.name(&operation_name(name)));
    def.is_some_and(|def| def.operands.iter().any(|o| o.arity == Arity::Variadic))
}

fn has_many_results(rule: &Rule, op: crate::ast::OpId, context: &Context) -> bool {
    let OpChoice::Name(name) = &rule.op(op).choice else { return false };
    let def = context.def(context.name(&operation_name(name)));
    def.is_some_and(|def| def.results.iter().any(|r| r.arity == Arity::Variadic))
}
