//! Making the target of a rule: `Γ; p ↦ e`.
//!
//! A rewrite is planned before anything is touched: where the new operations go, and what has to
//! move up for that. Then the target is built, its types are compared with those of the source,
//! and only then are users redirected and dead operations erased. If anything is refused on the
//! way, all that was made is erased again.

mod absorbed;
mod attribute;
mod build;
mod copied;
mod extents;
mod finite;
mod fold;
mod insertion_point;
mod needed;
mod progress;
mod range;
mod replace;
mod tensor;
mod types;
mod worth;

pub(crate) use attribute::to_attr;
pub(crate) use tensor::from_value;
pub use types::merged;
pub use worth::{BREAKS_EVEN, PAYS};

use tangram_ir::{Diagnostic, Op, Point, Value};
use tangram_rewrite::{Rewriter, form};

use crate::matching::Match;
use crate::plan::MatchPlan;
use crate::rules::Natives;

/// The code of the diagnostic that says that the target is what was matched.
pub(crate) const NO_CHANGE: &str = "no-change";

/// What a target is made with.
#[derive(Clone, Copy)]
pub(crate) struct Settings<'a> {
    /// The functions that rules may call.
    pub(crate) natives: &'a Natives,
    /// By how many bytes the result of folding may exceed its operands, if there is folding.
    pub(crate) fold_growth: Option<usize>,
    /// The most bytes that the result of folding may have.
    pub(crate) fold_limit: usize,
    /// Whether the rule is relied on where extents are unknown.
    pub(crate) trusted: bool,
    /// Whether rewrites are refused that have to pay and do not, or that copy constants.
    pub(crate) guarded: bool,
    /// Whether verification finds that the rule may be relied on where extents are unknown.
    pub(crate) keeps_extents: &'a dyn Fn() -> bool,
}

/// Applies a match; returns the operations that were made and remain.
///
/// # Errors
/// Why the rewrite is refused; the module is as it was then.
pub(crate) fn apply(
    plan: &MatchPlan,
    settings: &Settings<'_>,
    rewriter: &mut Rewriter<'_>,
    root: Op,
    found: &Match,
) -> Result<Vec<Op>, Diagnostic> {
    let needed = needed::needed_values(plan, rewriter.module(), found);
    let place =
        insertion_point::plan_place(plan, rewriter.module(), root, found.outputs(), &needed)?;
    let mut builder = build::Builder::new(plan, settings, rewriter, found, root, place.point);
    let checked = builder.checked_outputs(found);
    let checked = checked.and_then(|values| builder.progress(found, &values).map(|()| values));
    let checked = checked.and_then(|values| builder.pays(found, &values).map(|()| values));
    let checked = checked.and_then(|values| builder.accepted(found, &values).map(|()| values));
    let checked = checked.and_then(|values| builder.finite(found).map(|()| values));
    let built = match checked.and_then(|values| builder.copies(found, &values).map(|()| values)) {
        Ok(values) => values,
        Err(diagnostic) => {
            builder.erase_all();
            return Err(diagnostic);
        }
    };
    let loc = builder.loc;
    let given_up = form(builder.module(), found.outputs());
    let made = builder.finish(&built);
    rewriter.give_up(given_up, loc);
    replace::commit(rewriter, found, &built, &made, &place);
    Ok(made.into_iter().filter(|op| rewriter.module().is_live(*op)).collect())
}

/// Builds the target of a match at `point` and leaves the source as it is.
///
/// # Errors
/// Why this is refused; the module is as it was then.
pub(crate) fn instantiate(
    plan: &MatchPlan,
    settings: &Settings<'_>,
    rewriter: &mut Rewriter<'_>,
    (root, point): (Op, Point),
    found: &Match,
) -> Result<(Vec<Value>, Vec<Op>), Diagnostic> {
    let mut builder = build::Builder::new(plan, settings, rewriter, found, root, point);
    let checked = builder.checked_outputs(found);
    match checked.and_then(|values| builder.finite(found).map(|()| values)) {
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

/// Says that a rule refuses to rewrite at an operation.
fn refuse(
    plan: &MatchPlan,
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
