//! `loop-invariant`: what a loop carries from step to step unchanged is what went in.
//!
//! Exporters pass weights and lengths through the states of a loop. Read from outside, a constant is
//! one in the body too, and what is computed of it there can be folded. The state itself stays, as
//! the interface of the body; nothing reads it any more.

use tangram_ir::{Block, Context, Module, Op, Value};
use tangram_rewrite::{NoMatch, Rewriter};

use super::{Matched, Native, refused, roots};
use crate::attrs::Attrs;

pub(super) fn pattern(context: &Context) -> Native {
    Native::new("loop-invariant", "control", roots(context, ["nn.loop", "nn.scan"]), 600, rewrite)
}

/// A state that a body hands on as it came.
struct Invariant {
    initial: Value,
    inside: Value,
    after: Value,
}

fn rewrite(rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    let module = rewriter.module();
    let region = *module.regions(op).first().ok_or(NoMatch::SILENT)?;
    let block = module.first_block(region).ok_or(NoMatch::SILENT)?;
    let last = module.last_op(block).ok_or(NoMatch::SILENT)?;
    let found = invariants(module, op, block, last);
    let read = |state: &Invariant| {
        module.uses(state.inside).any(|used| used.op != last)
            || module.uses(state.after).count() > 0
    };
    let found: Vec<Invariant> = found.into_iter().filter(read).collect();
    if found.is_empty() {
        return Err(NoMatch::SILENT);
    }
    let mut objection = None;
    let mut changed = false;
    for Invariant { initial, inside, after } in found {
        let said = [inside, after].into_iter().find_map(|old| rewriter.objection(old, initial));
        if let Some(said) = said {
            objection.get_or_insert(said);
            continue;
        }
        rewriter.replace_uses_except(inside, initial, &[last]);
        rewriter.replace_uses_if(after, initial, |_| true);
        changed = true;
    }
    match objection {
        Some(objection) if !changed => refused(&objection),
        _ => Ok(()),
    }
}

/// The states of `op` that its body yields unchanged, and whose type says no more than that of what
/// goes in.
fn invariants(module: &Module, op: Op, block: Block, last: Op) -> Vec<Invariant> {
    // Operands, arguments and yielded values before the first state, and the number of states.
    let operands: Vec<Value> = module.operands(op).collect();
    let (before, given, yielded, states) = match module.name_text(op) {
        "nn.loop" => (2, 2, 1, operands.len().saturating_sub(2)),
        _ => {
            let attrs = Attrs::new(module.context(), module.attrs(op));
            let scanned = attrs.int("num_scan_inputs").and_then(|n| usize::try_from(n).ok());
            (0, 0, 0, scanned.map_or(0, |n| operands.len().saturating_sub(n)))
        }
    };
    let yields: Vec<Value> = module.operands(last).collect();
    let results: Vec<Value> = module.results(op).collect();
    let state = |i: usize| {
        let (initial, after) = (*operands.get(before + i)?, *results.get(i)?);
        let inside = *module.args(block).get(given + i)?;
        let unchanged = yields.get(yielded + i) == Some(&inside);
        let types = [initial, inside, after].map(|value| module.value_type(value));
        let element = |at: usize| module.context().element_type(types[at]);
        let tensors = element(0).is_some() && element(0) == element(1) && element(0) == element(2);
        (unchanged && tensors).then_some(Invariant { initial, inside, after })
    };
    (0..states).filter_map(state).collect()
}
