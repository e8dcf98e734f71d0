//! Which matched values a target may use.

use rustc_hash::FxHashSet;
use tangram_ir::{Module, Value};

use crate::ast::PatternKind;
use crate::eval::variadic_of;
use crate::matching::{Bound, Match, Target};
use crate::plan::{MatchPlan, parts};

/// Lists the matched values that a target may use.
pub(super) fn needed_values(plan: &MatchPlan, module: &Module, found: &Match) -> Vec<Value> {
    let rule = plan.rule();
    let mut seen = vec![false; plan.width()];
    let mut used = FxHashSet::default();
    let mut stack = rule.targets().to_vec();
    while let Some(id) = stack.pop() {
        if std::mem::replace(&mut seen[id.index()], true) {
            continue;
        }
        match &rule.pattern(id).kind {
            PatternKind::Inst { variadic, template, .. } => {
                stack.push(*template);
                let variadic = variadic_of(rule, *variadic);
                stack.extend(plan.template(variadic, *template).flatten());
            }
            PatternKind::Variadic { field, .. } if plan.in_source(id) => {
                stack.push(*field);
                stack.extend(plan.template(id, *field).flatten());
            }
            PatternKind::Tuple(_) => stack.extend(parts(rule, id)),
            _ if plan.in_source(id) => _ = used.insert(id),
            _ => stack.extend(parts(rule, id)),
        }
    }
    let mut values: Vec<Value> = Vec::new();
    for (_, id, bound) in found.bindings.bound().filter(|(_, id, _)| used.contains(id)) {
        match bound {
            Bound::One(target) | Bound::Option(_, target) => match target {
                Target::Value(value) => values.push(value),
                Target::Results(op) => values.extend(module.results(op)),
            },
            Bound::Branches { .. } => debug_assert!(false, "{id:?} is a variadic pattern"),
        }
    }
    values
}
