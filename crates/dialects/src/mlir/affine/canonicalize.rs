//! Canonicalisation of `affine`: applications go into the maps that use them, bounds and
//! conditions that are known are decided.

use tangram_ir::{Attr, Fold, FoldCx, Str, Value};

use super::compose::Applied;
use super::expr::Expr;
use super::map::Map;
use crate::mlir::fold::{Cx, Known, Rewrite, number};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] = &[
    ("affine-compose", &["affine.apply", "affine.min", "affine.max"], compose_values),
    ("affine-compose-access", &["affine.load", "affine.store"], compose_access),
    ("affine-one-bound", &["affine.min", "affine.max"], one_bound),
    ("affine-compose-bounds", &["affine.for"], compose_bounds),
    ("affine-for-known-trips", &["affine.for"], known_trips),
    ("affine-for-nothing-inside", &["affine.for"], nothing_inside),
    ("affine-compose-condition", &["affine.if"], compose_condition),
    ("affine-if-known-condition", &["affine.if"], known_condition),
    ("affine-if-empty-else", &["affine.if"], empty_else),
];

/// The value of `map` where all operands are constants.
fn computed(cx: &FoldCx<'_>) -> Option<(Map, Vec<i64>)> {
    let map = Map::read(cx.context(), cx.module.attr_by(cx.op, Known::of(cx.context()).map)?)?;
    let values: Option<Vec<i64>> = cx
        .constants
        .iter()
        .map(|attr| i64::try_from(number::as_int(cx.context(), (*attr)?)?).ok())
        .collect();
    let results = map.evaluate(&values?)?;
    Some((map, results))
}

fn whole(cx: &FoldCx<'_>, value: i64) -> Option<Fold> {
    number::int_attr(cx.context(), cx.ty(), value.into()).map(Fold::attr)
}

/// The operand that the map gives as it is, or the number.
pub(super) fn fold_apply(cx: &FoldCx<'_>) -> Option<Fold> {
    if let Some((_, values)) = computed(cx) {
        return whole(cx, *values.first()?);
    }
    let map = Map::read(cx.context(), cx.module.attr_by(cx.op, Known::of(cx.context()).map)?)?;
    let [result] = &map.results[..] else { return None };
    if let Some(number) = result.as_number() {
        return whole(cx, number);
    }
    let operand = variable(&map, result)?;
    (operand < cx.module.operand_count(cx.op)).then(|| Fold::value(cx.operand(operand)))
}

/// The number of the operand that `result` is.
fn variable(map: &Map, result: &Expr) -> Option<usize> {
    use super::expr::Atom;
    match &result.terms[..] {
        [(Atom::Dim(i), 1)] if result.constant == 0 => Some(*i as usize),
        [(Atom::Symbol(i), 1)] if result.constant == 0 => Some((map.dims + i) as usize),
        _ => None,
    }
}

pub(super) fn fold_min(cx: &FoldCx<'_>) -> Option<Fold> {
    whole(cx, computed(cx)?.1.into_iter().min()?)
}

pub(super) fn fold_max(cx: &FoldCx<'_>) -> Option<Fold> {
    whole(cx, computed(cx)?.1.into_iter().max()?)
}

/// Puts the map of `attr` over `operands` into its normal form; `None` if it is in it.
fn improved(
    cx: &Cx<'_, '_>,
    attr: Attr,
    operands: &[Value],
) -> Option<(Attr, Vec<Value>, Applied)> {
    let applied = Applied::read(cx.context, attr, operands)?;
    let better = applied.canonical(cx.module())?;
    let attr_now = better.map.write(cx.context);
    let changed = attr_now != attr && better != applied || better.operands != operands;
    changed.then(|| (attr_now, better.operands.clone(), better))
}

fn compose_values(cx: &mut Cx<'_, '_>) -> Option<()> {
    let operands: Vec<Value> = cx.module().operands(cx.op).collect();
    let attr = cx.module().attr_by(cx.op, cx.known.map)?;
    let (attr, operands, _) = improved(cx, attr, &operands)?;
    change(cx, &operands, &[(cx.known.map, attr)])
}

/// Gives the operation these operands and attributes.
fn change(cx: &mut Cx<'_, '_>, operands: &[Value], attrs: &[(Str, Attr)]) -> Option<()> {
    cx.rewriter.modify_in_place(cx.op, |edit| {
        edit.set_operands(operands);
        for &(name, attr) in attrs {
            edit.set_attr(name, Some(attr));
        }
    });
    Some(())
}

fn compose_access(cx: &mut Cx<'_, '_>) -> Option<()> {
    let operands: Vec<Value> = cx.module().operands(cx.op).collect();
    let fixed = if cx.module().name_text(cx.op) == "affine.load" { 1 } else { 2 };
    let (kept, indices) = operands.split_at_checked(fixed)?;
    let attr = cx.module().attr_by(cx.op, cx.known.map)?;
    let (attr, indices, _) = improved(cx, attr, indices)?;
    change(cx, &[kept, &indices].concat(), &[(cx.known.map, attr)])
}

/// Of results that differ by a constant one is enough; one result is an application.
fn one_bound(cx: &mut Cx<'_, '_>) -> Option<()> {
    let operands: Vec<Value> = cx.module().operands(cx.op).collect();
    let attr = cx.module().attr_by(cx.op, cx.known.map)?;
    let applied = Applied::read(cx.context, attr, &operands)?;
    let least = cx.module().name_text(cx.op) == "affine.min";
    let results = undominated(&applied.map.results, least);
    let map = Map { results, ..applied.map.clone() };
    let attr = map.write(cx.context);
    if map.results.len() == 1 {
        let ty = cx.ty();
        let attrs = cx.context.dict([(cx.known.map, attr)]);
        let made = cx.make(cx.known.apply, &operands, attrs, &[ty]);
        let value = cx.module().result(made, 0);
        return cx.replace(&[value]);
    }
    (map.results.len() < applied.map.results.len())
        .then(|| change(cx, &operands, &[(cx.known.map, attr)]))?
}

/// The results without those that another one always makes unnecessary.
fn undominated(results: &[Expr], least: bool) -> Vec<Expr> {
    let mut kept: Vec<Expr> = Vec::new();
    for result in results {
        match kept.iter_mut().find(|other| other.terms == result.terms) {
            Some(other) if least => other.constant = other.constant.min(result.constant),
            Some(other) => other.constant = other.constant.max(result.constant),
            None => kept.push(result.clone()),
        }
    }
    kept
}

/// The bounds of a loop: lower, upper, and what it carries.
struct Bounds {
    lower: Applied,
    upper: Applied,
    inits: Vec<Value>,
}

fn bounds(cx: &Cx<'_, '_>) -> Option<Bounds> {
    let module = cx.module();
    let sizes = module.attr_by(cx.op, cx.known.segments)?;
    let [low, high, _] = cx.module().int_list(sizes)?[..] else { return None };
    let operands: Vec<Value> = module.operands(cx.op).collect();
    let (low, rest) = operands.split_at_checked(usize::try_from(low).ok()?)?;
    let (high, inits) = rest.split_at_checked(usize::try_from(high).ok()?)?;
    let read = |name, operands| Applied::read(cx.context, module.attr_by(cx.op, name)?, operands);
    let (lower, upper) = (read(cx.known.lower, low)?, read(cx.known.upper, high)?);
    Some(Bounds { lower, upper, inits: inits.to_vec() })
}

fn compose_bounds(cx: &mut Cx<'_, '_>) -> Option<()> {
    let old = bounds(cx)?;
    let mut lower = old.lower.canonical(cx.module())?;
    let mut upper = old.upper.canonical(cx.module())?;
    lower.map.results = undominated(&lower.map.results, false);
    upper.map.results = undominated(&upper.map.results, true);
    if (&lower, &upper) == (&old.lower, &old.upper) {
        return None;
    }
    let sizes = [lower.operands.len(), upper.operands.len(), old.inits.len()];
    let attrs = [
        (cx.known.lower, lower.map.write(cx.context)),
        (cx.known.upper, upper.map.write(cx.context)),
        (cx.known.segments, cx.module().i32s_attr(sizes)),
    ];
    change(cx, &[lower.operands, upper.operands, old.inits].concat(), &attrs)
}

/// How often the loop runs, if that is known.
fn trips(cx: &Cx<'_, '_>, bounds: &Bounds) -> Option<i64> {
    let numbers = |applied: &Applied| -> Option<Vec<i64>> {
        applied.map.results.iter().map(Expr::as_number).collect()
    };
    let low = numbers(&bounds.lower)?.into_iter().max()?;
    let high = numbers(&bounds.upper)?.into_iter().min()?;
    let step = cx.context.as_i64(cx.module().attr_by(cx.op, cx.known.step)?)?;
    let span = high.checked_sub(low)?;
    if step <= 0 {
        return None;
    }
    Some(if span <= 0 { 0 } else { (span - 1) / step + 1 })
}

/// A loop that does not run gives what it started with.
fn known_trips(cx: &mut Cx<'_, '_>) -> Option<()> {
    let bounds = bounds(cx)?;
    if trips(cx, &bounds)? != 0 {
        return None;
    }
    cx.replace(&bounds.inits)
}

/// A loop whose body makes nothing.
fn nothing_inside(cx: &mut Cx<'_, '_>) -> Option<()> {
    let body = cx.only_block(0)?;
    let module = cx.module();
    if module.first_op(body) != module.last_op(body) {
        return None;
    }
    let (bounds, yielded) = (bounds(cx)?, cx.yields(body)?);
    if yielded.is_empty() {
        return cx.replace(&[]);
    }
    let trips = trips(cx, &bounds);
    let args = cx.module().args(body).to_vec();
    let mut values = Vec::new();
    for (i, &value) in yielded.iter().enumerate() {
        values.push(match args.iter().position(|&arg| arg == value) {
            Some(at) if at == i + 1 || trips == Some(1) && at > 0 => bounds.inits[at - 1],
            Some(_) => return None,
            None if trips? > 0 => value,
            None => return None,
        });
    }
    cx.replace(&values)
}

fn compose_condition(cx: &mut Cx<'_, '_>) -> Option<()> {
    let operands: Vec<Value> = cx.module().operands(cx.op).collect();
    let attr = cx.module().attr_by(cx.op, cx.known.condition)?;
    let (attr, operands, better) = improved(cx, attr, &operands)?;
    // What is decided is left to the pattern that takes the region.
    if better.map.results.is_empty() {
        return None;
    }
    change(cx, &operands, &[(cx.known.condition, attr)])
}

fn known_condition(cx: &mut Cx<'_, '_>) -> Option<()> {
    let operands: Vec<Value> = cx.module().operands(cx.op).collect();
    let attr = cx.module().attr_by(cx.op, cx.known.condition)?;
    let set = Applied::read(cx.context, attr, &operands)?.canonical(cx.module())?.map;
    let holds = |(e, &eq): (&Expr, &bool)| e.as_number().map(|n| if eq { n == 0 } else { n >= 0 });
    let each: Vec<Option<bool>> =
        set.results.iter().zip(set.equalities.as_ref()?).map(holds).collect();
    let taken = if each.contains(&Some(false)) {
        1
    } else if each.iter().all(|known| *known == Some(true)) {
        0
    } else {
        return None;
    };
    match cx.only_block(taken) {
        Some(_) => cx.take_region(taken, &[]),
        None => cx.replace(&[]),
    }
}

/// An `else` that does nothing.
fn empty_else(cx: &mut Cx<'_, '_>) -> Option<()> {
    cx.drop_empty_region(1)
}
