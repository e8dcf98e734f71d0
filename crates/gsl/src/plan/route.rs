//! The ways from a matched pattern up to an output.

use std::collections::VecDeque;

use super::{Plan, parts};
use crate::ast::{PatId, PatternKind};

/// A way from a pattern to an output: from each pattern to one that has it as a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Where it starts.
    pub from: PatId,
    /// The patterns above, the output last; empty if it starts at the output.
    pub steps: Vec<PatId>,
}

/// Lists a shortest way to `root` from each pattern below it, nearest first.
pub(super) fn routes(plan: &Plan, root: PatId) -> Vec<Route> {
    let mut above: Vec<Option<PatId>> = vec![None; plan.width()];
    let mut seen = vec![false; plan.width()];
    let mut queue = VecDeque::from([root]);
    let mut routes = Vec::new();
    seen[root.index()] = true;
    while let Some(id) = queue.pop_front() {
        let steps = std::iter::successors(above[id.index()], |id| above[id.index()]);
        routes.push(Route { from: id, steps: steps.collect() });
        // What is negated is not there to be walked through.
        if matches!(plan.rule().pattern(id).kind, PatternKind::Not(_)) {
            continue;
        }
        for part in same_or_operands(plan, id) {
            if !std::mem::replace(&mut seen[part.index()], true) {
                above[part.index()] = Some(id);
                queue.push_back(part);
            }
        }
    }
    routes
}

/// Lists the parts whose value is an operand of `id` or that of `id`.
fn same_or_operands(plan: &Plan, id: PatId) -> Vec<PatId> {
    match &plan.rule().pattern(id).kind {
        // What stands for an inner template in branch 0 is no branch.
        PatternKind::Variadic { field, templates, .. } => {
            let first = templates.iter().filter(|t| t.pattern == *field).filter_map(|t| t.first);
            std::iter::once(*field).chain(first).collect()
        }
        _ => parts(plan.rule(), id),
    }
}
