//! `unit-reduction`: a reduction that drops dimensions of extent 1 has one element to reduce at
//! each place, so that it only drops them.
//!
//! ```text
//! mean(x: [n, 1]) { axis = [1], keepdims = false }   is   squeeze(x) { axis = [1] }
//! ```
//!
//! Where the dimensions stay, `remove-identity` takes it away altogether.

use tangram_ir::{Context, Op};
use tangram_rewrite::{NoMatch, Rewriter};

use super::identity::unit_axes;
use super::{Matched, Native, present, rebuild, roots};

const REDUCTIONS: [&str; 5] = ["nn.sum", "nn.mean", "nn.max", "nn.min", "nn.prod"];

pub(super) fn pattern(context: &Context) -> Native {
    Native::new("unit-reduction", "simplify", roots(context, REDUCTIONS), 400, rewrite)
}

fn rewrite(rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    let module = rewriter.module();
    let data = present(module, op, 0).ok_or(NoMatch::SILENT)?;
    // With kept dimensions, or none at all, it is an identity.
    let axes = unit_axes(module, op).filter(|axes| !axes.is_empty()).ok_or(NoMatch::SILENT)?;
    let context = module.context();
    let keeps = module.attr(op, "keepdims").is_none_or(|a| context.as_bool(a) != Some(false));
    if keeps {
        return Err(NoMatch::SILENT);
    }
    let attrs = context.dict([(context.str("axis"), context.i64s_attr(&axes))]);
    let squeeze = context.name("nn.squeeze");
    rebuild(rewriter, op, squeeze, &[data], attrs)
}
