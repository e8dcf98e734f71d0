//! Casts that cancel, casts that nobody uses, casts that have to become operations.

use tangram_ir::{Diagnostic, Op, Order, Value, text, walk};

use super::types::{CAST, TypeConverter};
use crate::rewriter::Rewriter;

/// Removes casts without use, and those that undo each other: `B -> A` of `A -> B`.
pub fn reconcile_casts(rewriter: &mut Rewriter<'_>, root: Op) {
    let mut casts = casts(rewriter, root);
    for &op in &casts {
        let module = rewriter.module();
        let Some(inner) = inner(rewriter, op) else { continue };
        let back: Vec<Value> = module.operands(inner).collect();
        let same = back.len() == module.result_count(op)
            && back
                .iter()
                .zip(module.results(op))
                .all(|(&a, b)| module.value_type(a) == module.value_type(b));
        if same {
            rewriter.replace_op_uses(op, &back);
        }
    }
    // From the last: a cast may be used by a later one only.
    casts.reverse();
    for op in casts {
        if rewriter.module().is_unused(op) {
            rewriter.erase(op);
        }
    }
}

/// Replaces the casts that are left by what `types` makes of them.
///
/// # Errors
/// One for each cast that stays in use.
pub(super) fn materialize_casts(
    rewriter: &mut Rewriter<'_>,
    root: Op,
    types: &TypeConverter,
    present: &rustc_hash::FxHashSet<Op>,
) -> Result<(), Vec<Diagnostic>> {
    let mut errors = Vec::new();
    for op in casts(rewriter, root) {
        if present.contains(&op) {
            continue;
        }
        match types.materialize(rewriter, op) {
            Some(values) if values.len() == rewriter.module().result_count(op) => {
                if rewriter.replace(op, &values).is_err() {
                    errors.push(unresolved(rewriter, op));
                }
            }
            _ => errors.push(unresolved(rewriter, op)),
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

fn unresolved(rewriter: &Rewriter<'_>, op: Op) -> Diagnostic {
    let module = rewriter.module();
    let types = |values: &mut dyn Iterator<Item = Value>| {
        let texts: Vec<String> =
            values.map(|value| text::type_text(module, module.value_type(value))).collect();
        texts.join(", ")
    };
    let (from, to) = (types(&mut module.operands(op)), types(&mut module.results(op)));
    let message = format!(
        "failed to legalize unresolved materialization from ({from}) to ({to}) that remained live \
         after conversion"
    );
    let error = Diagnostic::error("unresolved-materialization", module.loc(op), message);
    let user = module.results(op).flat_map(|value| module.uses(value)).next();
    match user {
        None => error,
        Some(used) => error.with_note(format!("used by `{}`", module.name_text(used.op))),
    }
    .with_hint("convert the user as well, or give the type converter a materialization")
}

/// The casts below `root`, in order.
fn casts(rewriter: &Rewriter<'_>, root: Op) -> Vec<Op> {
    let module = rewriter.module();
    let mut ops = walk(module, root, Order::Pre);
    ops.retain(|&op| module.name_text(op) == CAST);
    ops
}

/// The cast all of whose results are the operands of `op`, in order.
fn inner(rewriter: &Rewriter<'_>, op: Op) -> Option<Op> {
    let module = rewriter.module();
    let def = module.def_op(module.operands(op).next()?)?;
    (module.name_text(def) == CAST && module.results(def).eq(module.operands(op))).then_some(def)
}
