//! Putting the target in place of the source.

use rustc_hash::FxHashSet;
use tangram_dialects::constant;
use tangram_ir::{Op, Point, Traits, Value};
use tangram_rewrite::Rewriter;

use super::insertion_point::InsertionPoint;
use super::types::merged;
use crate::matching::Match;

/// Redirects users, moves what has to move, and erases what is dead.
pub(super) fn commit(
    rewriter: &mut Rewriter<'_>,
    found: &Match,
    built: &[Value],
    made: &[Op],
    place: &InsertionPoint,
) {
    if let Some(user) = place.first_user {
        for &op in place.moved.iter().chain(made) {
            rewriter.move_to(op, Point::Before(user));
        }
    }
    let fresh: FxHashSet<Op> = made.iter().copied().collect();
    for (&old, &new) in found.outputs().iter().zip(built) {
        refine(rewriter, old, new, &fresh);
        redirect(rewriter, old, new, &fresh);
    }
    erase_dead(rewriter, found);
}

/// A new value takes over the name of the old one and what is known of its type.
fn refine(rewriter: &mut Rewriter<'_>, old: Value, new: Value, fresh: &FxHashSet<Op>) {
    let module = rewriter.module();
    if !module.def_op(new).is_some_and(|op| fresh.contains(&op)) {
        return;
    }
    let (from, to) = (module.value_type(old), module.value_type(new));
    let ty = merged(module.context(), from, to).filter(|ty| *ty != to);
    let name = module.value_name(old).filter(|_| module.value_name(new).is_none());
    let module = rewriter.module_mut_unheard();
    if let Some(ty) = ty {
        module.set_value_type(new, ty);
    }
    if name.is_some() {
        module.set_value_name(new, name);
    }
}

/// Makes the users of `old` use `new`, but for new operations: those mean the matched value.
fn redirect(rewriter: &mut Rewriter<'_>, old: Value, new: Value, fresh: &FxHashSet<Op>) {
    if old == new {
        return;
    }
    let users: Vec<_> = rewriter.module().uses(old).collect();
    if !users.iter().any(|user| fresh.contains(&user.op)) {
        rewriter.replace_uses(old, new);
        return;
    }
    for user in users.into_iter().filter(|user| !fresh.contains(&user.op)) {
        rewriter.set_operand(user.op, user.index as usize, new);
    }
}

/// Erases the matched operations that nobody uses any more, users before operands.
fn erase_dead(rewriter: &mut Rewriter<'_>, found: &Match) {
    let outputs: FxHashSet<Op> =
        found.outputs().iter().filter_map(|value| rewriter.module().def_op(*value)).collect();
    let mut ops: Vec<Op> = found.ops().to_vec();
    loop {
        let module = rewriter.module();
        let dead = ops.iter().position(|&op| {
            let replaced = outputs.contains(&op) || module.has_traits(op, Traits::PURE);
            // Constants stay for the pass that removes what nobody uses: they may be shared.
            replaced && module.is_unused(op) && !constant::is_constant(module, op)
        });
        let Some(dead) = dead else { return };
        let op = ops.swap_remove(dead);
        rewriter.erase(op);
    }
}
