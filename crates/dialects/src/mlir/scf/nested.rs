//! Canonicalisation of `scf.if` around another one, and of one under a negated condition.

use tangram_ir::{Op, Point, Value};

use crate::mlir::fold::{Cx, Rewrite};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] =
    &[("if-in-if", &["scf.if"], in_if), ("if-not", &["scf.if"], negated)];

/// What the `else` of `op` yields, if it does nothing else; nothing where there is no `else`.
fn idle_else(cx: &Cx<'_, '_>, op: Op) -> Option<Vec<Value>> {
    let module = cx.module();
    let block = module.regions(op).get(1).and_then(|&region| module.first_block(region));
    let Some(block) = block else { return Some(Vec::new()) };
    let end = module.first_op(block)?;
    (module.last_op(block) == Some(end)).then(|| module.operands(end).collect())
}

/// A result of an `if` around another one that depends on its own condition alone.
struct Chosen {
    at: usize,
    yes: Value,
    no: Value,
}

/// The results of the operation, around `inner` alone, that depend on its condition alone. `None`
/// if one of the others is not the same wherever either condition fails.
fn chosen(cx: &Cx<'_, '_>, inner: Op, outside: &[Value]) -> Option<Vec<Chosen>> {
    let (module, beside) = (cx.module(), idle_else(cx, inner)?);
    let mut out = Vec::new();
    for (at, yes) in cx.yields(cx.only_block(0)?)?.into_iter().enumerate() {
        let no = *outside.get(at)?;
        match module.results(inner).position(|result| result == yes) {
            Some(from) if *beside.get(from)? == no => {}
            None if cx.is_outside(yes) => out.push(Chosen { at, yes, no }),
            _ => return None,
        }
    }
    Some(out)
}

/// `if a { if b { .. } }` is `if a and b { .. }`, where nothing is done if one of them fails.
fn in_if(cx: &mut Cx<'_, '_>) -> Option<()> {
    let module = cx.module();
    let block = cx.only_block(0)?;
    let inner = module.first_op(block)?;
    let alone = module.next(inner).is_some() && module.next(inner) == module.last_op(block);
    let outside = idle_else(cx, cx.op)?;
    if !alone || module.name(inner) != module.name(cx.op) {
        return None;
    }
    let chosen = chosen(cx, inner, &outside)?;
    let (a, b) = (cx.operand(0), module.operand(inner, 0));
    let inside = module.first_block(module.region(inner, 0))?;
    let end = module.last_op(inner_block(cx, inside)?)?;
    if !cx.is_outside(b) {
        return None;
    }
    let given: Vec<Value> = cx.module().operands(end).collect();
    let results: Vec<Value> = cx.module().results(cx.op).collect();
    let both = cx.value(cx.known.andi, &[a, b], cx.type_of(a));
    for &Chosen { at, yes, no } in &chosen {
        let value =
            if yes == no { yes } else { cx.value(cx.known.select, &[a, yes, no], cx.type_of(yes)) };
        cx.rewriter.replace_uses(results[at], value);
    }
    cx.rewriter.set_operand(cx.op, 0, both);
    cx.rewriter.erase(end);
    cx.rewriter.inline_block(inside, Point::Before(inner), &[]).ok()?;
    cx.rewriter.replace(inner, &given).ok()?;
    if chosen.is_empty() {
        return Some(());
    }
    let keep: Vec<bool> =
        (0..results.len()).map(|i| !chosen.iter().any(|chosen| chosen.at == i)).collect();
    cx.drop_results(&[0, 1], &keep).map(drop)
}

/// `block`, if it is the only one of its region.
fn inner_block(cx: &Cx<'_, '_>, block: tangram_ir::Block) -> Option<tangram_ir::Block> {
    cx.module().next_block(block).is_none().then_some(block)
}

/// `if not a { .. } else { .. }` is the same with the regions exchanged.
fn negated(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (yes, no) = (cx.only_block(0)?, cx.only_block(1)?);
    let not = cx.def(0, cx.known.xori)?;
    let (value, ones) = (cx.module().operand(not, 0), cx.module().operand(not, 1));
    if cx.int(ones) != Some(-1) {
        return None;
    }
    let [first, second] = [0, 1].map(|i| cx.module().region(cx.op, i));
    cx.rewriter.move_block(yes, second, Some(no));
    cx.rewriter.move_block(no, first, None);
    cx.rewriter.set_operand(cx.op, 0, value);
    Some(())
}
