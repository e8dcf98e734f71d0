//! Patterns of which any choice comes to an end, and of which most choices have one result in
//! whatever order they are applied.

use tangram_ir::{Context, Loc, Module, Op, OpState, Order, Point, Value, walk};
use tangram_rewrite::{FnPattern, NoMatch, Rewriter};

use crate::common::rule;

const NO: NoMatch = NoMatch::SILENT;

/// The names of all patterns.
pub const NAMES: [&str; 9] = [
    "double-negation",
    "erase-empty",
    "inline",
    "count-down",
    "poke",
    "poked",
    "sole-user",
    "few",
    "renew",
];

/// Returns whether these patterns have one result whatever the order.
pub fn is_confluent(names: &[&str]) -> bool {
    // A value gets more users by one, and must have only one for the other.
    !(names.contains(&"sole-user") && names.contains(&"double-negation"))
}

pub fn pattern(context: &Context, name: &str) -> FnPattern {
    match name {
        "double-negation" => rule(context, name, "t.neg", double_negation).with_depth(3),
        "erase-empty" => rule(context, name, "t.if", erase_empty),
        "inline" => rule(context, name, "t.if", inline),
        "count-down" => rule(context, name, "t.cell", count_down),
        "poke" => rule(context, name, "t.poke", poke).with_depth(2),
        "poked" => rule(context, name, "t.target", poked),
        "sole-user" => rule(context, name, "t.sink", sole_user).with_depth(2),
        "renew" => rule(context, name, "t.old", renew),
        _ => rule(context, "few", "t.if", few),
    }
}

/// `neg(neg(x))` becomes `x`, if that is no negation: so it does not matter which comes first.
fn double_negation(rewriter: &mut Rewriter<'_>, op: Op) -> Result<(), NoMatch> {
    let module = rewriter.module();
    let negated = |value: Value| {
        let def = module.def_op(value).filter(|&def| module.name_text(def) == "t.neg")?;
        Some(module.operand(def, 0))
    };
    let x = negated(module.operand(op, 0)).ok_or(NO)?;
    if negated(x).is_some() {
        return Err(NO);
    }
    rewriter.replace(op, &[x]).map_err(|_| NO)
}

/// A nest that holds nothing goes.
fn erase_empty(rewriter: &mut Rewriter<'_>, op: Op) -> Result<(), NoMatch> {
    if walk(rewriter.module(), op, Order::Pre).len() > 1 {
        return Err(NO);
    }
    rewriter.erase(op);
    Ok(())
}

/// A nest that is marked so goes, and what it holds takes its place.
fn inline(rewriter: &mut Rewriter<'_>, op: Op) -> Result<(), NoMatch> {
    let module = rewriter.module();
    module.attr(op, "inline").ok_or(NO)?;
    let block = module.first_block(module.region(op, 0)).ok_or(NO)?;
    rewriter.inline_block(block, Point::Before(op), &[]).map_err(|_| NO)?;
    rewriter.erase(op);
    Ok(())
}

/// A number goes down to 0, and then the operation goes; `t.new` takes its place.
fn count_down(rewriter: &mut Rewriter<'_>, op: Op) -> Result<(), NoMatch> {
    let module = rewriter.module();
    let context = module.context();
    let n = module.attr(op, "value").and_then(|attr| context.as_i64(attr)).ok_or(NO)?;
    if n == 0 {
        let new = OpState::new(context.name("t.new"), Loc::UNKNOWN);
        rewriter.create(Point::Before(op), new);
        rewriter.erase(op);
        return Ok(());
    }
    let (key, less) = (context.str("value"), context.i64_attr(n - 1));
    rewriter.set_attr(op, key, Some(less));
    Ok(())
}

/// Makes an operation that other patterns match.
fn renew(rewriter: &mut Rewriter<'_>, op: Op) -> Result<(), NoMatch> {
    let context = rewriter.module().context();
    let mut state = OpState::new(context.name("t.cell"), Loc::UNKNOWN);
    state.attrs = context.dict([(context.str("value"), context.i64_attr(2))]);
    rewriter.create(Point::Before(op), state);
    rewriter.erase(op);
    Ok(())
}

/// The operation that defines the operand is marked, wherever it stands.
fn poke(rewriter: &mut Rewriter<'_>, op: Op) -> Result<(), NoMatch> {
    let module = rewriter.module();
    let def = module.def_op(module.operand(op, 0)).ok_or(NO)?;
    if module.name_text(def) != "t.target" {
        return Err(NO);
    }
    let (key, unit) = (module.context().str("poked"), module.context().i64_attr(1));
    rewriter.set_attr(def, key, Some(unit));
    rewriter.erase(op);
    Ok(())
}

/// What was marked is marked again.
fn poked(rewriter: &mut Rewriter<'_>, op: Op) -> Result<(), NoMatch> {
    let module = rewriter.module();
    module.attr(op, "poked").ok_or(NO)?;
    if module.attr(op, "done").is_some() {
        return Err(NO);
    }
    let (key, unit) = (module.context().str("done"), module.context().i64_attr(1));
    rewriter.set_attr(op, key, Some(unit));
    Ok(())
}

/// The only user of a negation goes.
fn sole_user(rewriter: &mut Rewriter<'_>, op: Op) -> Result<(), NoMatch> {
    let module = rewriter.module();
    let value = module.operand(op, 0);
    let def = module.def_op(value).ok_or(NO)?;
    if module.name_text(def) != "t.neg" || !module.has_one_use(value) {
        return Err(NO);
    }
    rewriter.erase(op);
    Ok(())
}

/// A nest with few operations, however deep, is marked.
fn few(rewriter: &mut Rewriter<'_>, op: Op) -> Result<(), NoMatch> {
    let module = rewriter.module();
    let most = module.attr(op, "few").and_then(|attr| module.context().as_i64(attr)).ok_or(NO)?;
    if held(module, op) > most || module.attr(op, "done").is_some() {
        return Err(NO);
    }
    let (key, unit) = (module.context().str("done"), module.context().i64_attr(1));
    rewriter.set_attr(op, key, Some(unit));
    Ok(())
}

fn held(module: &Module, op: Op) -> i64 {
    let counted = |op: &Op| module.name_text(*op) != "t.new";
    walk(module, op, Order::Pre)[1..].iter().copied().filter(counted).count() as i64
}
