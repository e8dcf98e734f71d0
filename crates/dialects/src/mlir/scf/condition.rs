//! Canonicalisation of the second region of `scf.while`, where the condition is known to hold.

use tangram_ir::{Op, Use, Value};

use super::loops::condition;
use crate::mlir::arith::inverse;
use crate::mlir::fold::{Cx, Rewrite};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] = &[
    ("while-condition-inside", &["scf.while"], condition_inside),
    ("while-comparison-inside", &["scf.while"], comparison_inside),
];

/// What the first region hands on, each with what the second one knows it as.
fn handed_on(cx: &Cx<'_, '_>, end: Op) -> Option<Vec<(Value, Value)>> {
    let module = cx.module();
    let (given, args) = (module.operands(end).skip(1), module.args(cx.only_block(1)?));
    (args.len() + 1 == module.operand_count(end)).then(|| given.zip(args.iter().copied()).collect())
}

/// The condition itself, where it is handed on.
fn condition_inside(cx: &mut Cx<'_, '_>) -> Option<()> {
    let end = condition(cx)?;
    let flag = cx.module().operands(end).next()?;
    let mut changed = None;
    for (value, arg) in handed_on(cx, end)? {
        if value == flag && cx.module().has_uses(arg) {
            let holds = cx.int_constant(-1, cx.type_of(flag))?;
            cx.rewriter.replace_uses(arg, holds);
            changed = Some(());
        }
    }
    changed
}

/// The comparison that is the condition, and its negation, made again of what was handed on.
fn comparison_inside(cx: &mut Cx<'_, '_>) -> Option<()> {
    let end = condition(cx)?;
    let flag = cx.module().operands(end).next()?;
    let test = cx.def_of(flag, cx.known.cmpi)?;
    let (predicate, sides) = comparison(cx, test)?;
    let mut known = Vec::new();
    for (side, other) in [(0, sides[1]), (1, sides[0])] {
        if !cx.is_outside(other) {
            continue;
        }
        for (value, arg) in handed_on(cx, end)? {
            let uses = cx.module().uses(arg).filter(|_| value == sides[side]);
            for Use { op, index } in uses.filter(|used| cx.module().name(used.op) == cx.known.cmpi)
            {
                let (again, operands) = comparison(cx, op)?;
                if index as usize != side || operands[1 - side] != other {
                    continue;
                }
                if again == predicate {
                    known.push((op, -1));
                } else if again == inverse(predicate) {
                    known.push((op, 0));
                }
            }
        }
    }
    known.sort_by_key(|&(op, _)| op);
    known.dedup_by_key(|(op, _)| *op);
    for &(op, value) in &known {
        let ty = cx.type_of(cx.module().result(op, 0));
        let constant = cx.int_constant(value, ty)?;
        cx.rewriter.replace(op, &[constant]).ok()?;
    }
    (!known.is_empty()).then_some(())
}

/// The predicate and the operands of a comparison.
fn comparison(cx: &Cx<'_, '_>, op: Op) -> Option<(i64, [Value; 2])> {
    let module = cx.module();
    let predicate = cx.context.as_i64(module.attr_by(op, cx.known.predicate)?)?;
    Some((predicate, [module.operand(op, 0), module.operand(op, 1)]))
}
