//! `cast-like-to-cast`: of the second operand only its element type counts, which is known.

use tangram_ir::{Context, Op};
use tangram_rewrite::{NoMatch, Rewriter};

use super::{Matched, Native, rebuild, roots};

pub(super) fn pattern(context: &Context) -> Native {
    Native::new("cast-like-to-cast", "fold", roots(context, ["nn.cast_like"]), 700, rewrite)
}

fn rewrite(rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    let module = rewriter.module();
    let context = module.context();
    let [x, y] = module.operands(op).collect::<Vec<_>>()[..] else { return Err(NoMatch::SILENT) };
    let element = context.element_type(module.value_type(y)).ok_or(NoMatch::SILENT)?;
    let dtype = (context.str("dtype"), context.type_attr(element));
    let attrs = context.dict(context.entries(module.attrs(op)).iter().copied().chain([dtype]));
    let name = context.name("nn.cast");
    rebuild(rewriter, op, name, &[x], attrs)
}
