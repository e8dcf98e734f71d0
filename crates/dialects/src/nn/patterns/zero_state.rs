//! `remove-zero-state`: a recurrent layer starts from zeros when it is given no state, so that a
//! state of zeros need not be made, which exporters do from the extents of the input.

use tangram_ir::{Context, Module, Op, Value};
use tangram_rewrite::{NoMatch, Rewriter};

use super::neutral_element::{is_everywhere, is_splat_of};
use super::static_operands::drop_operands;
use super::{Matched, Native, present, roots};
use crate::constant;

/// Layers, and their operands that are initial states.
const TABLE: &[(&str, &[usize])] = &[("nn.lstm", &[5, 6]), ("nn.gru", &[5]), ("nn.rnn", &[5])];

/// Operations whose elements are elements of their first operand, or numbers equal to them.
const MOVES: &[&str] = &[
    "nn.broadcast_to",
    "nn.cast",
    "nn.expand_dims",
    "nn.identity",
    "nn.reshape",
    "nn.split",
    "nn.squeeze",
    "nn.strided_slice",
    "nn.tile",
    "nn.transpose",
];

pub(super) fn pattern(context: &Context) -> Native {
    let names = TABLE.iter().map(|row| row.0);
    Native::new("remove-zero-state", "cleanup", roots(context, names), 400, rewrite)
}

fn rewrite(rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    let module = rewriter.module();
    let name = module.name_text(op);
    let (_, states) = TABLE.iter().find(|row| row.0 == name).ok_or(NoMatch::SILENT)?;
    let zeros = |&i: &usize| present(module, op, i).is_some_and(|state| is_zero(module, state));
    let found: Vec<usize> = states.iter().copied().filter(zeros).collect();
    if found.is_empty() {
        return Err(NoMatch::SILENT);
    }
    drop_operands(rewriter, op, &found);
    Ok(())
}

/// How many operations are looked at.
const MOST: usize = 64;

/// Returns whether every element is provably 0, whatever the extents. States of two directions are
/// concatenated.
fn is_zero(module: &Module, value: Value) -> bool {
    let mut waiting = vec![value];
    for _ in 0..MOST {
        let Some(value) = waiting.pop() else { return true };
        if is_everywhere(module, value, 0.0) {
            continue;
        }
        let Some(op) = module.def_op(value) else { return false };
        match module.name_text(op) {
            "nn.full" if fills_with_zero(module, op) => {}
            "nn.concatenate" => waiting.extend(module.operands(op)),
            name if MOVES.contains(&name) => waiting.push(module.operand(op, 0)),
            _ => return false,
        }
    }
    false
}

/// Without a value, the elements are 0.
fn fills_with_zero(module: &Module, op: Op) -> bool {
    let Some(fill) = module.attr(op, "value") else { return true };
    let tensor = constant::attr_tensor(module, fill, module.value_type(module.result(op, 0)));
    tensor.is_some_and(|tensor| is_splat_of(&tensor, 0.0))
}
