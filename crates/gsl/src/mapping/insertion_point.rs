//! Where new operations go.
//!
//! They must come after everything they use and before everyone who uses what they replace. With
//! one output the root is such a place. With several, values that are needed may be made after
//! the first user of an output; what makes them moves up, unless it depends on an output itself:
//! then the rewrite would close a cycle.

use rustc_hash::FxHashSet;
use tangram_ir::{Diagnostic, Module, Op, Point, Traits, Value};

use super::refuse;
use crate::plan::MatchPlan;

/// The most operations that are moved for one rewrite.
const MAX_MOVED: usize = 1024;

/// Where the target is built, and what happens when it is kept.
#[derive(Clone, Debug)]
pub(super) struct InsertionPoint {
    /// Where all needed values are visible.
    pub(super) point: Point,
    /// The first user of an output, if it stands before `point`.
    pub(super) first_user: Option<Op>,
    /// What moves before it, in order.
    pub(super) moved: Vec<Op>,
}

/// Finds the place for a rewrite.
///
/// # Errors
/// If every place would close a cycle.
pub(super) fn plan_place(
    plan: &MatchPlan,
    module: &Module,
    root: Op,
    outputs: &[Value],
    needed: &[Value],
) -> Result<InsertionPoint, Diagnostic> {
    // After the root, since the target may use what it replaces.
    let single = InsertionPoint { point: Point::After(root), first_user: None, moved: Vec::new() };
    let Some(block) = module.block(root).filter(|_| outputs.len() > 1) else { return Ok(single) };
    let defs = needed.iter().filter_map(|value| module.def_op(*value));
    let in_block = defs.filter(|op| module.block(*op) == Some(block));
    let last = in_block.reduce(|a, b| if module.is_before(a, b) { b } else { a });
    let point = match last {
        Some(last) => Point::After(last),
        None => Point::Start(block),
    };
    let users = outputs.iter().flat_map(|value| module.uses(*value));
    let users = users.filter_map(|user| module.ancestor_in(block, user.op));
    let first_user = users.reduce(|a, b| if module.is_before(b, a) { b } else { a });
    let late = |user: &Op| last.is_some_and(|last| *user == last || module.is_before(*user, last));
    let Some(first_user) = first_user.filter(late) else {
        return Ok(InsertionPoint { point, first_user: None, moved: Vec::new() });
    };
    let moved = moved_up(plan, module, root, (outputs, needed), first_user)?;
    Ok(InsertionPoint { point, first_user: Some(first_user), moved })
}

/// Lists what must move before `first_user` so that all needed values are made before it.
fn moved_up(
    plan: &MatchPlan,
    module: &Module,
    root: Op,
    (outputs, needed): (&[Value], &[Value]),
    first_user: Op,
) -> Result<Vec<Op>, Diagnostic> {
    let block = module.block(first_user);
    let mut seen = FxHashSet::default();
    let mut moved = Vec::new();
    let mut stack: Vec<Op> = needed.iter().filter_map(|value| module.def_op(*value)).collect();
    while let Some(op) = stack.pop() {
        let late = module.block(op) == block && !module.is_before(op, first_user);
        if !late || !seen.insert(op) {
            continue;
        }
        if module.operands(op).any(|value| outputs.contains(&value)) {
            let message = "what the target needs depends on what it replaces: a cycle";
            return Err(refuse(plan, module, root, "cycle", message));
        }
        let free = module.has_traits(op, Traits::PURE) && module.regions(op).is_empty();
        if !free || moved.len() >= MAX_MOVED {
            let message = format!("`{}` cannot be moved up", module.name_text(op));
            return Err(refuse(plan, module, root, "dominance", &message));
        }
        moved.push(op);
        stack.extend(module.operands(op).filter_map(|value| module.def_op(value)));
    }
    moved.sort_by(|a, b| module.is_before(*b, *a).cmp(&module.is_before(*a, *b)));
    Ok(moved)
}
