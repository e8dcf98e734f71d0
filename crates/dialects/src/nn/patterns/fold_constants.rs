//! `fold-constants`: an operation whose operands are all constants becomes a constant. So does one of
//! the caller's that has a definition.
//!
//! What is folded may not outgrow what dies with it by more than a limit, so that a model never
//! blows up: weights that others use stay shared, and cheap operations that make big tensors
//! stay operations. Whatever that limit is, memory and time have a budget.

use rustc_hash::FxHashSet;
use tangram_ir::{Context, Module, Op, Traits, Value};
use tangram_rewrite::{Exchange, Made, NoMatch, Rewriter, Roots};
use tangram_tensor::{Tensor, within};

use super::{Matched, Native, Options, because, key_for, make_constant, replace_all};
use crate::budget::{self, FoldBudget};
use crate::{constant, defined, eval, nn};

/// Operations that say in which form weights are kept: runtimes look for them.
const FORMS: &[&str] = &["nn.dequantize", "nn.contrib_dequantize"];

/// Learned models whose sums a runtime rounds in an order of its own, and may decide a tie by.
const ROUNDED: &[&str] =
    &["nn.ml_linear", "nn.ml_normalizer", "nn.ml_scaler", "nn.ml_svm", "nn.ml_tree"];

pub(super) fn pattern(context: &Context, options: &Options) -> Native {
    let (limit, budget) = (options.max_growth_bytes, options.budget.clone());
    let foldable =
        nn::ops().filter(|op| op.eval.is_some() && is_foldable(op.def.name, op.def.traits));
    let mut names: Vec<_> = foldable.map(|op| context.name(op.def.name)).collect();
    names.extend(defined::names(context));
    Native::new("fold-constants", "fold", Roots::Names(names), 800, move |rewriter, op| {
        fold(rewriter, op, limit, &budget)
    })
}

fn is_foldable(name: &str, traits: Traits) -> bool {
    let barred = Traits::RANDOM | Traits::CONSTANT_LIKE;
    traits.contains(Traits::PURE)
        && !traits.intersects(barred)
        && !FORMS.iter().chain(ROUNDED).any(|form| name.starts_with(form))
}

fn fold(rewriter: &mut Rewriter<'_>, op: Op, limit: Option<u64>, budget: &FoldBudget) -> Matched {
    let module = rewriter.module();
    if !module.regions(op).is_empty() || module.operands(op).any(|v| !is_known(module, v)) {
        return Err(NoMatch::SILENT);
    }
    if eval::is_order_open(module, op) {
        return because(rewriter, || "the order of its results is left open".to_owned());
    }
    let room = limit.map(|limit| limit.saturating_add(dying_bytes(module, op)));
    let fits = |bytes: u64| room.is_none_or(|room| bytes <= room);
    // Known before the work is done, where types leave nothing open.
    let bytes =
        module.results(op).map(|value| type_bytes(module, value)).fold(0, u64::saturating_add);
    if !fits(bytes) {
        return Err(too_big());
    }
    let grown = match limit {
        Some(_) => growth(rewriter, op, bytes).ok_or_else(|| NoMatch::refused("copies", COPIES))?,
        None => 0,
    };
    let module = rewriter.module();
    if let Err(why) = budget.spend(bytes, budget::work(module, op)) {
        return Err(NoMatch::refused("fold-budget", why.to_string()));
    }
    let operands = module.operands(op).map(|value| constant::constant_tensor(module, value));
    let operands: Vec<Option<Tensor>> = operands.collect();
    let most = usize::try_from(budget::MAX_FOLDED_BYTES).unwrap_or(usize::MAX);
    let tensors = match within(most, || eval::evaluate(module, op, &operands)) {
        Ok(tensors) => tensors,
        Err(error) => return because(rewriter, || error.to_string()),
    };
    if tensors.len() != module.result_count(op) {
        return because(rewriter, || "some results were not evaluated".to_owned());
    }
    if !fits(tensors.iter().map(|tensor| tensor.byte_len() as u64).sum()) {
        return Err(too_big());
    }
    let results: Vec<Value> = module.results(op).collect();
    let mut values = Vec::with_capacity(results.len());
    for (tensor, &result) in tensors.iter().zip(&results) {
        let key = key_for(rewriter.module(), result);
        values.push(make_constant(rewriter, op, tensor, &key));
    }
    let made: Vec<Op> = values.iter().filter_map(|&v| rewriter.module().def_op(v)).collect();
    replace_all(rewriter, op, &values, &made)?;
    rewriter.allow_constants(grown);
    Ok(())
}

const COPIES: &str = "the result is a copy of a constant that others use";

/// By how many bytes constants grow if a result of so many is stored; `None` if that would be beside
/// an operand that stays, and there is no room for both.
fn growth(rewriter: &mut Rewriter<'_>, op: Op, bytes: u64) -> Option<u64> {
    let read: FxHashSet<Value> = rewriter.module().operands(op).collect();
    let gone = FxHashSet::from_iter([op]);
    // Equal operations are one by now: no two make the same.
    let made = Made { bytes, contents: u64::from(op.as_u32()) };
    rewriter.admits_making(&Exchange { made, read: &read, gone: &gone })
}

fn too_big() -> NoMatch {
    NoMatch::refused("fold-limit", "the result is too big to be folded")
}

/// Returns whether `value` is a constant, or absent.
fn is_known(module: &Module, value: Value) -> bool {
    constant::constant_attr(module, value).is_some()
        || constant::is_none_type(module.context(), module.value_type(value))
}

/// The bytes of constant operands that nothing but `op` uses.
fn dying_bytes(module: &Module, op: Op) -> u64 {
    let mut seen: Vec<Value> = Vec::new();
    for value in module.operands(op) {
        if !seen.contains(&value) && module.uses(value).all(|u| u.op == op) {
            seen.push(value);
        }
    }
    seen.into_iter().map(|value| type_bytes(module, value)).sum()
}

/// The bytes of a tensor of the type of `value`; 0 where that is open.
fn type_bytes(module: &Module, value: Value) -> u64 {
    let Some((dtype, shape)) = constant::static_tensor(module.context(), module.value_type(value))
    else {
        return 0;
    };
    let count = shape.iter().try_fold(1u64, |n, &d| n.checked_mul(d as u64));
    count
        .and_then(|n| n.checked_mul(dtype.size_bits() as u64))
        .map_or(u64::MAX, |bits| bits.div_ceil(8))
}
