//! The operand lists of calls, with tuples spread out.

use tangram_ir::{Arity, Context};

use crate::ast::{OpChoice, PatId, PatternKind, Reference, Rule};
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
    /// As many operands as there are, of which nothing is asked.
    Any(PatId),
}

/// Lists the operands of a call; none for other patterns.
pub(super) fn spread(rule: &Rule, call: PatId, context: &Context) -> Box<[Operand]> {
    let PatternKind::Call { op, args, associative, .. } = &rule.pattern(call).kind else {
        return Box::default();
    };
    let variadic = match &rule.op(*op).choice {
        OpChoice::Name(name) => takes_any_number(context, name),
        _ => false,
    };
    let mut found = Vec::new();
    if let [only] = args.as_slice()
        && starts_with_any_number(rule, *op, context)
        && is_anything(rule, *only)
    {
        return Box::new([Operand::Any(*only)]);
    }
    let mut stack: Vec<PatId> = args.iter().rev().copied().collect();
    while let Some(id) = stack.pop() {
        match &rule.pattern(id).kind {
            PatternKind::Tuple(fields) => stack.extend(fields.iter().rev()),
            PatternKind::Variadic { .. } => found.push(Operand::Branches(id)),
            PatternKind::Call { op: inner, args, .. }
                if *associative && rule.op(*inner) == rule.op(*op) && is_inner(rule, id) =>
            {
                stack.extend(args.iter().rev());
            }
            PatternKind::Call { op, .. } if variadic && has_many_results(rule, *op, context) => {
                found.push(Operand::Results(id));
            }
            _ => found.push(Operand::One(id)),
        }
    }
    found.into()
}

/// Returns whether a pattern is `*` and nothing else reads what it matches: where any number of
/// operands may stand it is as many as there are.
fn is_anything(rule: &Rule, id: PatId) -> bool {
    let pattern = rule.pattern(id);
    let any = matches!(pattern.kind, PatternKind::Wildcard) && !pattern.only;
    any && uses(rule, id) == 1
}

/// Returns how often a rule refers to a pattern, its outputs counted.
fn uses(rule: &Rule, id: PatId) -> usize {
    let refers = |reference: &Reference| matches!(reference, Reference::Part(other) | Reference::Mention(other) if *other == id);
    let in_patterns = rule.patterns().flat_map(|(_, pattern)| pattern.references());
    let in_exprs = rule.exprs().flat_map(|(_, expr)| expr.references());
    let outputs = rule.sources().iter().chain(rule.targets()).filter(|output| **output == id);
    in_patterns.chain(in_exprs).filter(refers).count() + outputs.count()
}

/// Returns whether nobody asks for a nested call itself: then only its operands matter.
fn is_inner(rule: &Rule, id: PatId) -> bool {
    let pattern = rule.pattern(id);
    let plain = match &pattern.kind {
        PatternKind::Call { attrs, rest, .. } => attrs.is_empty() && rest.is_none(),
        _ => false,
    };
    plain && !pattern.only && uses(rule, id) == 1
}

fn takes_any_number(context: &Context, name: &str) -> bool {
    let def = context.def(context.name(&operation_name(name)));
    def.is_some_and(|def| def.operands.iter().any(|o| o.arity == Arity::Variadic))
}

/// Returns whether the first operands of an operation are as many as there are.
fn starts_with_any_number(rule: &Rule, op: crate::ast::OpId, context: &Context) -> bool {
    let OpChoice::Name(name) = &rule.op(op).choice else { return false };
    let def = context.def(context.name(&operation_name(name)));
    def.and_then(|def| def.operands.first()).is_some_and(|o| o.arity == Arity::Variadic)
}

fn has_many_results(rule: &Rule, op: crate::ast::OpId, context: &Context) -> bool {
    let OpChoice::Name(name) = &rule.op(op).choice else { return false };
    let def = context.def(context.name(&operation_name(name)));
    def.is_some_and(|def| def.results.iter().any(|r| r.arity == Arity::Variadic))
}
