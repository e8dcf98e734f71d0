//! Canonicalisation of `scf.for` and `scf.while`.

use tangram_ir::{Op, Value};

use crate::mlir::arith::has_flag;
use crate::mlir::fold::{Cx, Rewrite, number};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] = &[
    ("for-known-trips", &["scf.for"], known_trips),
    ("for-nothing-inside", &["scf.for"], nothing_inside),
    ("for-carried-for-nothing", &["scf.for"], carried_for_nothing),
    ("while-never", &["scf.while"], never),
    ("while-unused-results", &["scf.while"], unused_results),
    ("while-handed-on", &["scf.while"], handed_on),
    ("while-carried-for-nothing", &["scf.while"], carried_by_while),
];

/// A loop, taken apart.
struct For {
    inits: Vec<Value>,
    /// The counter, then what is carried.
    args: Vec<Value>,
    yielded: Vec<Value>,
}

fn parts(cx: &Cx<'_, '_>) -> Option<For> {
    let inits: Vec<Value> = cx.module().operands(cx.op).skip(3).collect();
    let body = cx.only_block(0)?;
    let (args, yielded) = (cx.module().args(body).to_vec(), cx.yields(body)?);
    let fits = args.len() == inits.len() + 1 && yielded.len() == inits.len();
    fits.then_some(For { inits, args, yielded })
}

/// How often the loop runs, if that is known: 0, 1, or 2 for more than once.
fn trips(cx: &Cx<'_, '_>) -> Option<u8> {
    let (low, high) = (cx.operand(0), cx.operand(1));
    if low == high {
        return Some(0);
    }
    let width = number::int_width(cx.context, cx.type_of(low))?;
    let unsigned = cx.module().attr(cx.op, "unsignedCmp").is_some();
    let read = |value| {
        let n = cx.int(value)?;
        Some(if unsigned { number::unsigned(n, width) } else { n })
    };
    let span = match (read(low), read(high)) {
        (Some(low), Some(high)) => high - low,
        _ => above(cx, low, high, unsigned)?,
    };
    if span <= 0 {
        return Some(0);
    }
    let step = read(cx.operand(2))?;
    (step > 0).then_some(if span <= step { 1 } else { 2 })
}

/// How much `high` is above `low`: it is a sum with a number that does not overflow.
fn above(cx: &Cx<'_, '_>, low: Value, high: Value, unsigned: bool) -> Option<i128> {
    let sum = cx.def_of(high, cx.known.addi)?;
    let (a, b) = (cx.module().operand(sum, 0), cx.module().operand(sum, 1));
    let by = if a == low { b } else { (b == low).then_some(a)? };
    let width = number::int_width(cx.context, cx.type_of(low))?;
    let flag = if unsigned { "nuw" } else { "nsw" };
    let by = cx.int(by).filter(|_| has_flag(cx.module(), sum, flag))?;
    Some(if unsigned { number::unsigned(by, width) } else { by })
}

/// A loop that runs never or once.
fn known_trips(cx: &mut Cx<'_, '_>) -> Option<()> {
    let parts = parts(cx)?;
    match trips(cx)? {
        0 => cx.replace(&parts.inits),
        1 => {
            let args = [&[cx.operand(0)], &parts.inits[..]].concat();
            cx.take_region(0, &args)
        }
        _ => None,
    }
}

/// A loop that runs, whose body only hands on values from outside.
fn nothing_inside(cx: &mut Cx<'_, '_>) -> Option<()> {
    let body = cx.only_block(0)?;
    if cx.module().first_op(body) != cx.module().last_op(body) || trips(cx)? != 2 {
        return None;
    }
    let parts = parts(cx)?;
    if parts.yielded.iter().any(|&value| !cx.is_outside(value)) {
        return None;
    }
    cx.replace(&parts.yielded)
}

/// What a loop carries without need: values that never change, that nobody uses, or that are
/// carried twice.
fn carried_for_nothing(cx: &mut Cx<'_, '_>) -> Option<()> {
    let parts = parts(cx)?;
    let results: Vec<Value> = cx.module().results(cx.op).collect();
    let mut keep = vec![true; results.len()];
    // By number: what the argument and the result are besides.
    let mut same: Vec<Option<(Value, Value)>> = vec![None; results.len()];
    let constant = unchanging(&parts);
    for i in 0..results.len() {
        let (init, arg, yielded) = (parts.inits[i], parts.args[i + 1], parts.yielded[i]);
        let twin =
            (0..i).find(|&j| keep[j] && (parts.inits[j], parts.yielded[j]) == (init, yielded));
        if constant[i] {
            same[i] = Some((init, init));
        } else if let Some(j) = twin {
            same[i] = Some((parts.args[j + 1], results[j]));
        } else if !cx.module().has_uses(results[i]) && unused_inside(cx, arg, yielded) {
            same[i] = Some((init, init));
        }
        keep[i] = same[i].is_none();
    }
    if keep.iter().all(|&keep| keep) {
        return None;
    }
    for (i, same) in same.iter().enumerate() {
        if let &Some((inside, outside)) = same {
            cx.rewriter.replace_uses(parts.args[i + 1], inside);
            cx.rewriter.replace_uses(results[i], outside);
        }
    }
    narrow(cx, &keep, 3, &[0], &[0])
}

/// Which carried values never change: those that are given what they started with, or others
/// that started alike and never change. O(values squared).
fn unchanging(parts: &For) -> Vec<bool> {
    let mut constant = vec![true; parts.inits.len()];
    loop {
        let stays = |i: usize| {
            let (init, yielded) = (parts.inits[i], parts.yielded[i]);
            let from = parts.args[1..].iter().position(|&arg| arg == yielded);
            yielded == init || from.is_some_and(|j| constant[j] && parts.inits[j] == init || j == i)
        };
        let next: Vec<bool> = (0..constant.len()).map(|i| constant[i] && stays(i)).collect();
        if next == constant {
            return constant;
        }
        constant = next;
    }
}

/// Returns whether `arg` is used for nothing but what becomes `yielded`.
fn unused_inside(cx: &Cx<'_, '_>, arg: Value, yielded: Value) -> bool {
    let module = cx.module();
    if !module.has_uses(arg) {
        return true;
    }
    // `x = f(x)`, where nothing else looks at either.
    let Some(def) = module.def_op(yielded) else { return false };
    let pure = module.has_traits(def, tangram_ir::Traits::PURE) && module.result_count(def) == 1;
    pure && module.has_one_use(yielded)
        && module.regions(def).is_empty()
        && module.uses(arg).all(|used| used.op == def)
}

/// Makes the operation anew with the carried values that `keep` names: operands from number
/// `first` on, results, what the terminators of `yields` yield, and arguments of the blocks of
/// `regions` after the first `first.min(1)`.
fn narrow(
    cx: &mut Cx<'_, '_>,
    keep: &[bool],
    first: usize,
    yields: &[usize],
    regions: &[usize],
) -> Option<()> {
    let operands: Vec<Value> = cx.module().operands(cx.op).collect();
    let lead = first.min(1);
    for &i in regions {
        let block = cx.only_block(i)?;
        for (n, _) in keep.iter().enumerate().rev().filter(|(_, keep)| !**keep) {
            // What still uses the argument is about to go with the yielded value.
            let arg = cx.module().args(block)[lead + n];
            let init = operands[first + n];
            cx.rewriter.replace_uses(arg, init);
        }
    }
    let new = cx.drop_results(yields, keep)?;
    let kept = operands.iter().enumerate().filter(|(i, _)| *i < first || keep[i - first]);
    let kept: Vec<Value> = kept.map(|(_, &value)| value).collect();
    cx.rewriter.set_operands(new, &kept);
    for &i in regions {
        let region = cx.module().region(new, i);
        let block = cx.module().first_block(region)?;
        for (n, _) in keep.iter().enumerate().rev().filter(|(_, keep)| !**keep) {
            cx.rewriter.erase_argument(block, lead + n);
        }
    }
    Some(())
}

/// The terminator of the first region of `scf.while`.
pub(super) fn condition(cx: &Cx<'_, '_>) -> Option<Op> {
    let before = cx.only_block(0)?;
    cx.module().last_op(before).filter(|&op| cx.module().name_text(op) == "scf.condition")
}

/// A loop whose test is never met runs its first region once.
fn never(cx: &mut Cx<'_, '_>) -> Option<()> {
    let end = condition(cx)?;
    let flag = cx.module().operands(end).next()?;
    if cx.int(flag)? != 0 {
        return None;
    }
    let given: Vec<Value> = cx.module().operands(end).skip(1).collect();
    let inits: Vec<Value> = cx.module().operands(cx.op).collect();
    let block = cx.only_block(0)?;
    if given.len() != cx.module().result_count(cx.op)
        || cx.module().args(block).len() != inits.len()
    {
        return None;
    }
    cx.rewriter.inline_block(block, tangram_ir::Point::Before(cx.op), &inits).ok()?;
    let given: Vec<Value> = cx.module().operands(end).skip(1).collect();
    cx.rewriter.erase(end);
    cx.rewriter.replace(cx.op, &given).ok()
}

/// Values that the first region hands on and nobody looks at.
fn unused_results(cx: &mut Cx<'_, '_>) -> Option<()> {
    let end = condition(cx)?;
    let after = cx.only_block(1)?;
    let module = cx.module();
    let args = module.args(after).to_vec();
    let results: Vec<Value> = module.results(cx.op).collect();
    if args.len() != results.len() || module.operand_count(end) != results.len() + 1 {
        return None;
    }
    let used = |(&arg, &result): (&Value, &Value)| module.has_uses(arg) || module.has_uses(result);
    let keep: Vec<bool> = args.iter().zip(&results).map(used).collect();
    if keep.iter().all(|&keep| keep) {
        return None;
    }
    let operands: Vec<Value> = module.operands(end).collect();
    let kept = operands.iter().enumerate().filter(|(i, _)| *i == 0 || keep[i - 1]);
    let kept: Vec<Value> = kept.map(|(_, &value)| value).collect();
    cx.rewriter.set_operands(end, &kept);
    for i in (0..keep.len()).rev().filter(|&i| !keep[i]) {
        cx.rewriter.erase_argument(after, i);
    }
    cx.rewriter.erase_results(cx.op, |i| keep[i]);
    Some(())
}

/// Values from outside, and values given twice, that the first region hands on.
fn handed_on(cx: &mut Cx<'_, '_>) -> Option<()> {
    let given: Vec<Value> = cx.module().operands(condition(cx)?).skip(1).collect();
    let args = cx.module().args(cx.only_block(1)?).to_vec();
    let results: Vec<Value> = cx.module().results(cx.op).collect();
    if args.len() != given.len() || results.len() != given.len() {
        return None;
    }
    let mut changed = None;
    for (i, &value) in given.iter().enumerate() {
        let twin = given[..i].iter().position(|&other| other == value);
        let (inside, outside) = match twin {
            _ if cx.is_outside(value) => (value, value),
            Some(j) => (args[j], results[j]),
            None => continue,
        };
        for (old, new) in [(args[i], inside), (results[i], outside)] {
            if cx.module().has_uses(old) {
                cx.rewriter.replace_uses(old, new);
                changed = Some(());
            }
        }
    }
    changed
}

/// What the first region is given and does not look at, or that never changes.
fn carried_by_while(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (before, after) = (cx.only_block(0)?, cx.only_block(1)?);
    let inits: Vec<Value> = cx.module().operands(cx.op).collect();
    let args = cx.module().args(before).to_vec();
    let (back, end) = (cx.yields(after)?, cx.module().last_op(after)?);
    let given: Vec<Value> = cx.module().operands(condition(cx)?).skip(1).collect();
    let after_args = cx.module().args(after).to_vec();
    if args.len() != inits.len() || back.len() != inits.len() || given.len() != after_args.len() {
        return None;
    }
    // What comes back is what went in: itself, or what the first region handed on of it.
    let same = |i: usize| {
        let through = after_args.iter().position(|&arg| arg == back[i]).map(|j| given[j]);
        [Some(back[i]), through].into_iter().flatten().any(|v| v == args[i] || v == inits[i])
    };
    let mut keep: Vec<bool> =
        (0..args.len()).map(|i| cx.module().has_uses(args[i]) && !same(i)).collect();
    // What starts alike and comes back alike is one value.
    let mut instead = inits.clone();
    for i in 0..args.len() {
        let twin = (0..i).find(|&j| keep[j] && (inits[j], back[j]) == (inits[i], back[i]));
        if let Some(twin) = twin.filter(|_| keep[i]) {
            (keep[i], instead[i]) = (false, args[twin]);
        }
    }
    if keep.iter().all(|&keep| keep) {
        return None;
    }
    let kept = |values: &[Value]| -> Vec<Value> {
        values.iter().zip(&keep).filter(|(_, keep)| **keep).map(|(&value, _)| value).collect()
    };
    let (kept_inits, kept_back) = (kept(&inits), kept(&back));
    for i in (0..keep.len()).rev().filter(|&i| !keep[i]) {
        cx.rewriter.replace_uses(args[i], instead[i]);
    }
    cx.rewriter.set_operands(end, &kept_back);
    for i in (0..keep.len()).rev().filter(|&i| !keep[i]) {
        cx.rewriter.erase_argument(before, i);
    }
    cx.rewriter.set_operands(cx.op, &kept_inits);
    Some(())
}
