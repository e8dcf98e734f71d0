//! Making the target of a rule: `Γ; p ↦ e`.
//!
//! A rewrite is planned before anything is touched: where the new operations go, and what has to
//! move up for that. Then the target is built, its types are compared with those of the source,
//! and only then are users redirected and dead operations erased. If anything is refused on the
//! way, all that was made is erased again.

mod attribute;
mod build;
mod fold;
mod needed;
mod place;
mod replace;
mod tensor;
mod types;

pub(crate) use attribute::to_attr;
pub(crate) use tensor::from_value;
pub use types::merged;

use tangram_ir::{Diagnostic, Op, Point, Value};
use tangram_rewrite::Rewriter;

use crate::matching::Match;
use crate::plan::Plan;
use crate::rules::Natives;

/// The code of the diagnostic that says that the target is what was matched.
pub(crate) const NO_CHANGE: &str = "no-change";

/// Applies a match; returns the operations that were made and remain.
///
/// # Errors
/// Why the rewrite is refused; the module is as it was then.
pub(crate) fn apply(
    plan: &Plan,
    settings: (&Natives, Option<usize>),
    rewriter: &mut Rewriter<'_>,
    root: Op,
    found: &Match,
) -> Result<Vec<Op>, Diagnostic> {
    let needed = needed::needed_values(plan, rewriter.module(), found);
    let place = place::plan_place(plan, rewriter.module(), root, found.outputs(), &needed)?;
    let mut builder = build::Builder::new(plan, settings, rewriter, found, root, place.point);
    let built = match builder.outputs() {
        Ok(values) => values,
        Err(diagnostic) => {
            builder.erase_all();
            return Err(diagnostic);
        }
    };
    let checked = check_outputs(plan, builder.module(), root, found.outputs(), &built);
    if let Err(diagnostic) = checked {
        builder.erase_all();
        return Err(diagnostic);
    }
    let made = builder.finish(&built);
    replace::commit(rewriter, found, &built, &made, &place);
    Ok(made.into_iter().filter(|op| rewriter.module().is_live(*op)).collect())
}

/// Builds the target of a match at `point` and leaves the source as it is.
///
/// # Errors
/// Why this is refused; the module is as it was then.
pub(crate) fn instantiate(
    plan: &Plan,
    settings: (&Natives, Option<usize>),
    rewriter: &mut Rewriter<'_>,
    (root, point): (Op, Point),
    found: &Match,
    fold_limit: usize,
) -> Result<(Vec<Value>, Vec<Op>), Diagnostic> {
    let mut builder = build::Builder::new(plan, settings, rewriter, found, root, point);
    builder.fold_limit = fold_limit;
    let built = builder.outputs().and_then(|values| {
        check_outputs(plan, builder.module(), root, found.outputs(), &values)?;
        Ok(values)
    });
    match built {
        Ok(values) => {
            let made = builder.finish(&values);
            Ok((values, made))
        }
        Err(diagnostic) => {
            builder.erase_all();
            Err(diagnostic)
        }
    }
}

fn check_outputs(
    plan: &Plan,
    module: &tangram_ir::Module,
    root: Op,
    old: &[Value],
    new: &[Value],
) -> Result<(), Diagnostic> {
    if old.len() != new.len() {
        let message = format!("the source has {} outputs, the target {}", old.len(), new.len());
        return Err(refuse(plan, module, root, "output-count", &message));
    }
    if old == new {
        return Err(refuse(plan, module, root, NO_CHANGE, "the target is what was matched"));
    }
    for (old, new) in old.iter().zip(new) {
        types::compatible(plan, module, root, *old, *new)?;
    }
    Ok(())
}

/// Says that a rule refuses to rewrite at an operation.
fn refuse(
    plan: &Plan,
    module: &tangram_ir::Module,
    root: Op,
    code: &'static str,
    message: &str,
) -> Diagnostic {
    let text = format!(
        "rule `{}` at `{}` ({root:?}): {message}",
        plan.rule().name(),
        module.name_text(root)
    );
    Diagnostic::error(code, module.loc(root), text)
}
