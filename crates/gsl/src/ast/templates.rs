//! The templates of a variadic pattern that names none.

use rustc_hash::FxHashSet;

use super::{Expr, ExprId, PatId, Pattern, Reference, SymId};

/// Lists what must be made anew for each branch: the field, and in it all that depends on `index`.
///
/// The nodes come operands first. Recursion over parts is by an explicit stack.
pub(crate) fn default_templates(
    patterns: &[Pattern],
    exprs: &[Expr],
    field: PatId,
    index: Option<SymId>,
) -> Vec<PatId> {
    templates(patterns, exprs, (field, index), true)
}

/// Lists what of a field depends on `index`.
pub(crate) fn dependent_templates(
    patterns: &[Pattern],
    exprs: &[Expr],
    field: PatId,
    index: SymId,
) -> Vec<PatId> {
    templates(patterns, exprs, (field, Some(index)), false)
}

fn templates(
    patterns: &[Pattern],
    exprs: &[Expr],
    (field, index): (PatId, Option<SymId>),
    with_field: bool,
) -> Vec<PatId> {
    let mut seen = FxHashSet::default();
    let mut dependent = FxHashSet::default();
    let mut found = Vec::new();
    let mut stack = vec![(field, false)];
    while let Some((id, left)) = stack.pop() {
        let Some(pattern) = patterns.get(id.index()) else { continue };
        if !left {
            if seen.insert(id) {
                stack.push((id, true));
                stack.extend(pattern.parts().into_iter().rev().map(|part| (part, false)));
            }
            continue;
        }
        let below = pattern.parts().iter().any(|part| dependent.contains(part));
        let here = index.is_some_and(|symbol| reads(patterns, exprs, pattern, symbol));
        if below || here {
            dependent.insert(id);
        }
        if below || here || with_field && id == field {
            found.push(id);
        }
    }
    found
}

/// Returns whether the expressions of a pattern read `symbol`.
fn reads(patterns: &[Pattern], exprs: &[Expr], pattern: &Pattern, symbol: SymId) -> bool {
    let mut seen: FxHashSet<ExprId> = FxHashSet::default();
    let mut stack = pattern.references();
    stack.retain(|reference| matches!(reference, Reference::Expr(_)));
    while let Some(reference) = stack.pop() {
        match reference {
            Reference::Symbol(read) if read == symbol => return true,
            Reference::Expr(id) if seen.insert(id) => {
                stack.extend(exprs.get(id.index()).into_iter().flat_map(Expr::references));
            }
            // An instance looked at by its attribute reads the symbols of its index.
            Reference::Mention(id) => {
                let inst = patterns.get(id.index()).into_iter().flat_map(Pattern::references);
                stack.extend(inst.filter(|reference| matches!(reference, Reference::Expr(_))));
            }
            _ => {}
        }
    }
    false
}
