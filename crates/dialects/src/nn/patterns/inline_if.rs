//! `inline-constant-if`: an `if` whose condition is known is the branch that it takes.

use tangram_ir::{Context, Op, Point, Value};
use tangram_rewrite::{NoMatch, Rewriter};

use super::{Matched, Native, refused, roots};
use crate::constant;

pub(super) fn pattern(context: &Context) -> Native {
    Native::new("inline-constant-if", "control", roots(context, ["nn.if"]), 600, rewrite)
}

fn rewrite(rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    let module = rewriter.module();
    let condition = constant::constant_tensor(module, module.operand(op, 0));
    let condition = condition.as_ref().and_then(|tensor| tensor.view::<bool>().ok());
    let taken = condition.and_then(|flags| flags.first().copied()).ok_or(NoMatch::SILENT)?;
    let region = *module.regions(op).get(usize::from(!taken)).ok_or(NoMatch::SILENT)?;
    let block = module.first_block(region).ok_or(NoMatch::SILENT)?;
    let last = module.last_op(block).ok_or(NoMatch::SILENT)?;
    let yielded: Vec<Value> = module.operands(last).collect();
    let body: Vec<Op> = module.ops(block).filter(|&inner| inner != last).collect();
    let results: Vec<Value> = module.results(op).collect();
    let pairs = || results.iter().zip(&yielded);
    if let Some(objection) = pairs().find_map(|(&old, &new)| rewriter.objection(old, new)) {
        return refused(&objection);
    }
    for inner in body {
        rewriter.move_to(inner, Point::Before(op));
    }
    rewriter.replace(op, &yielded).map_err(|error| NoMatch::because(error.message))
}
