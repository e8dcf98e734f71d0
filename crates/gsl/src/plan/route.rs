//! The ways from a matched pattern up to an output.

use std::collections::VecDeque;

use super::{MatchPlan, parts};
use crate::ast::{PatId, PatternKind};

/// A way from a pattern to an output: from each pattern to one that has it as a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Where it starts.
    pub from: PatId,
    /// The patterns above, the output last; empty if it starts at the output.
    pub steps: Vec<PatId>,
}

/// The ways to one pattern, each of which every match has; nearest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ways {
    /// The ways that pass through no alternative.
    pub direct: Vec<Route>,
    /// The ways that start at an alternative, with those to each of its options: a match has only
    /// the ways through the option that it takes.
    pub options: Vec<(Route, Vec<Ways>)>,
}

/// Options of alternatives within each other double with each level, and are not followed beyond so
/// many: without a way, outputs are looked for everywhere.
const MOST_OPTIONS: usize = 1_000;

/// Lists a shortest way to `root` from each pattern below it.
pub(super) fn ways(plan: &MatchPlan, root: PatId) -> Ways {
    ways_within(plan, root, &mut { MOST_OPTIONS })
}

/// Follows at most `left` options.
fn ways_within(plan: &MatchPlan, root: PatId, left: &mut usize) -> Ways {
    let mut above: Vec<Option<PatId>> = vec![None; plan.width()];
    let mut seen = vec![false; plan.width()];
    let mut queue = VecDeque::from([root]);
    let mut found = Ways::default();
    seen[root.index()] = true;
    while let Some(id) = queue.pop_front() {
        let steps = std::iter::successors(above[id.index()], |id| above[id.index()]);
        let route = Route { from: id, steps: steps.collect() };
        found.direct.push(route.clone());
        if let PatternKind::Alt(options) = &plan.rule().pattern(id).kind {
            // A match takes any of the options: some of them alone are no way.
            if let Some(rest) = left.checked_sub(options.len()) {
                *left = rest;
                let each = options.iter().map(|option| ways_within(plan, *option, left));
                found.options.push((route, each.collect()));
            }
            continue;
        }
        for part in same_or_operands(plan, id) {
            if !std::mem::replace(&mut seen[part.index()], true) {
                above[part.index()] = Some(id);
                queue.push_back(part);
            }
        }
    }
    found
}

/// Lists the parts whose value is an operand of `id` or that of `id`, in every match.
fn same_or_operands(plan: &MatchPlan, id: PatId) -> Vec<PatId> {
    match &plan.rule().pattern(id).kind {
        // Branch 0 is always there; what stands for an inner template in it is no branch.
        PatternKind::Variadic { field, templates, .. } => {
            let first = templates.iter().find(|t| t.pattern == *field).and_then(|t| t.first);
            vec![first.unwrap_or(*field)]
        }
        // What is negated is not there to be walked through.
        PatternKind::Not(_) => Vec::new(),
        _ => parts(plan.rule(), id),
    }
}
