//! `inline-constant-if`: an `if` whose condition is known is the branch that it takes.
//!
//! `inline-squeezing-if`: exporters write dropping a dimension "if its extent is 1" as a branch.
//! Where the result is known to have the rank without it, nothing is left to choose:
//!
//! ```text
//! v = if extent(x, 1) == 1 then squeeze(x, 1) else x      v of rank(x) - 1: v = squeeze(x, 1)
//! ```
//!
//! With another extent the `if` gives a tensor of another rank than its result has, and the
//! squeeze is not defined: neither goes on.

use tangram_affine::symbolic::{Expr, Truth};
use tangram_ir::{Block, Context, Dim, Module, Op, Point, Value};
use tangram_rewrite::{NoMatch, Rewriter};

use super::{Matched, Native, refused, roots};
use crate::attrs::Attrs;
use crate::infer::{axes, value_contents};
use crate::{constant, dims};

pub(super) fn constant_condition(context: &Context) -> Native {
    Native::new("inline-constant-if", "control", roots(context, ["nn.if"]), 600, rewrite_constant)
}

pub(super) fn squeezing(context: &Context) -> Native {
    Native::new("inline-squeezing-if", "control", roots(context, ["nn.if"]), 500, rewrite_squeezing)
}

fn rewrite_constant(rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    let module = rewriter.module();
    let condition = constant::constant_tensor(module, module.operand(op, 0));
    let condition = condition.as_ref().and_then(|tensor| tensor.view::<bool>().ok());
    let taken = condition.and_then(|flags| flags.first().copied()).ok_or(NoMatch::SILENT)?;
    inline(rewriter, op, usize::from(!taken))
}

fn rewrite_squeezing(rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    let module = rewriter.module();
    let (Some(yes), Some(no)) = (branch(module, op, 0), branch(module, op, 1)) else {
        return Err(NoMatch::SILENT);
    };
    let extent = is_one(module, module.operand(op, 0)).ok_or(NoMatch::SILENT)?;
    let fails_otherwise = has_other_rank(module, op, no) && squeezes(module, yes, &extent);
    if fails_otherwise { inline(rewriter, op, 0) } else { Err(NoMatch::SILENT) }
}

fn branch(module: &Module, op: Op, i: usize) -> Option<Block> {
    module.first_block(*module.regions(op).get(i)?)
}

/// The number that `condition` compares with 1.
fn is_one(module: &Module, condition: Value) -> Option<Expr> {
    let equal = module.def_op(condition).filter(|&op| module.name_text(op) == "nn.equal")?;
    let number = |i| match &value_contents(module, module.operand(equal, i))?[..] {
        [number] => number.clone(),
        _ => None,
    };
    let (a, b) = (number(0)?, number(1)?);
    let one = |number: &Expr| number.as_int() == Some(1);
    if one(&b) { Some(a) } else { one(&a).then_some(b) }
}

/// Returns whether `block` yields a tensor of another rank than the result of `op` has.
fn has_other_rank(module: &Module, op: Op, block: Block) -> bool {
    let rank = |value| Some(module.context().as_tensor(module.value_type(value))?.0.len());
    let Some(last) = module.last_op(block) else { return false };
    let mut pairs = module.results(op).zip(module.operands(last));
    pairs.any(|(result, yielded)| rank(result).zip(rank(yielded)).is_some_and(|(a, b)| a != b))
}

/// Returns whether `block` drops a dimension of extent `extent`.
fn squeezes(module: &Module, block: Block, extent: &Expr) -> bool {
    let context = module.context();
    let is_it = |dim: Dim| {
        let dim = dims::expr(context, dim);
        dim.is_some_and(|dim| dims::facts(context).equal(&dim, extent) == Truth::True)
    };
    module.ops(block).any(|op| squeezed(module, op).into_iter().any(is_it))
}

/// The extents that have to be 1 for `op`, if it is a squeeze.
fn squeezed(module: &Module, op: Op) -> Vec<Dim> {
    let context = module.context();
    if module.name_text(op) != "nn.squeeze" {
        return Vec::new();
    }
    let data = context.as_tensor(module.value_type(module.operand(op, 0)));
    let listed = Attrs::new(context, module.attrs(op)).ints("axis");
    let (Some((extents, _)), Some(listed)) = (data, listed) else { return Vec::new() };
    let places = axes(&listed, extents.len()).unwrap_or_default();
    places.into_iter().map(|at| extents[at]).collect()
}

/// Puts what a branch does in the place of `op`.
fn inline(rewriter: &mut Rewriter<'_>, op: Op, taken: usize) -> Matched {
    let module = rewriter.module();
    let block = branch(module, op, taken).ok_or(NoMatch::SILENT)?;
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
