//! What a rule reads of the operations that it matches.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::{ExprKind, PatId, PatternKind, Rule, subexpressions};

/// Returns how many calls the longest chain of operands has.
pub(super) fn depth(rule: &Rule) -> usize {
    let mut height: FxHashMap<PatId, usize> = FxHashMap::default();
    for id in subexpressions(rule, rule.sources()) {
        let pattern = rule.pattern(id);
        let below = pattern.parts().iter().filter_map(|part| height.get(part)).max().copied();
        let own = usize::from(matches!(pattern.kind, PatternKind::Call { .. }));
        height.insert(id, below.unwrap_or(0) + own);
    }
    height.into_values().max().unwrap_or(0).max(1)
}

/// Returns whether a rule of several outputs tells operations apart by names, attributes and types
/// alone: it reads no elements, asks for no users and calls no function, and no output is made of
/// what another one has for itself.
pub(super) fn reads_looks(rule: &Rule, source: &[PatId]) -> bool {
    let plain = |id: &PatId| {
        let pattern = rule.pattern(*id);
        let plain = match pattern.kind {
            PatternKind::Const { value, .. } => value.is_none(),
            PatternKind::Wildcard | PatternKind::Variable(_) => true,
            PatternKind::Call { associative, .. } => !associative,
            PatternKind::Proj { .. } | PatternKind::Tuple(_) => true,
            _ => false,
        };
        plain && !pattern.only
    };
    let by_type = rule.exprs().all(|(_, expr)| match &expr.kind {
        ExprKind::Access { attribute, .. } => attribute != "value",
        ExprKind::Native { .. } => false,
        _ => true,
    });
    rule.sources().len() > 1 && by_type && source.iter().all(plain) && are_apart(rule)
}

/// Whether outputs share leaves only, and each leaf that is not in all of them is in one.
fn are_apart(rule: &Rule) -> bool {
    let outputs = rule.sources();
    let mut users: FxHashMap<PatId, usize> = FxHashMap::default();
    for output in outputs {
        let below: FxHashSet<PatId> = subexpressions(rule, &[*output]).into_iter().collect();
        below.into_iter().for_each(|id| *users.entry(id).or_default() += 1);
    }
    users.iter().all(|(id, count)| {
        let leaf = rule.pattern(*id).parts().is_empty();
        *count == 1 || leaf && *count == outputs.len()
    })
}
