//! Canonicalisation of `affine`: applications go into the maps that use them, bounds and
//! conditions that are known are decided.

use tangram_affine::{AffineExpr, AffineExprs, AffineMap, BinaryOp, IntegerSet, Node};
use tangram_ir::{Attr, AttrData, Context, Fold, FoldCx, Str, Value};

use super::compose::Applied;
use crate::mlir::fold::{Cx, Known, Rewrite, number};

/// The patterns, with their roots.
pub(in crate::mlir) const REWRITES: &[Rewrite] = &[
    ("affine-compose", &["affine.apply", "affine.min", "affine.max"], compose_values),
    ("affine-compose-access", ACCESSES, compose_access),
    ("affine-compose-nest", &["affine.parallel"], compose_nest),
    ("affine-one-bound", &["affine.min", "affine.max"], one_bound),
    ("affine-compose-bounds", &["affine.for"], compose_bounds),
    ("affine-for-known-trips", &["affine.for"], known_trips),
    ("affine-for-nothing-inside", &["affine.for"], nothing_inside),
    ("affine-compose-condition", &["affine.if"], compose_condition),
    ("affine-if-known-condition", &["affine.if"], known_condition),
    ("affine-if-empty-else", &["affine.if"], empty_else),
];

const ACCESSES: &[&str] = &[
    "affine.load",
    "affine.store",
    "affine.vector_load",
    "affine.vector_store",
    "affine.prefetch",
];

fn map<'a>(cx: &FoldCx<'a>) -> Option<&'a AffineMap> {
    cx.context().as_affine_map(cx.module.attr_by(cx.op, Known::of(cx.context()).map)?)
}

/// The results of the map where all operands are constants.
fn computed(cx: &FoldCx<'_>) -> Option<Vec<i64>> {
    let values: Option<Vec<i64>> = cx
        .constants
        .iter()
        .map(|attr| i64::try_from(number::as_int(cx.context(), (*attr)?)?).ok())
        .collect();
    map(cx)?.evaluate(&values?)
}

fn whole(cx: &FoldCx<'_>, value: i64) -> Option<Fold> {
    number::int_attr(cx.context(), cx.ty(), value.into()).map(Fold::attr)
}

/// The operand that the map gives as it is, or the number.
pub(super) fn fold_apply(cx: &FoldCx<'_>) -> Option<Fold> {
    if let Some(values) = computed(cx) {
        return whole(cx, *values.first()?);
    }
    let map = map(cx).filter(|map| map.results().len() == 1)?;
    if let Some(number) = map.as_constant(map.results()[0]) {
        return whole(cx, number);
    }
    let operand = map.as_operand(0)?;
    (operand < cx.module.operand_count(cx.op)).then(|| Fold::value(cx.operand(operand)))
}

pub(super) fn fold_min(cx: &FoldCx<'_>) -> Option<Fold> {
    whole(cx, computed(cx)?.into_iter().min()?)
}

pub(super) fn fold_max(cx: &FoldCx<'_>) -> Option<Fold> {
    whole(cx, computed(cx)?.into_iter().max()?)
}

fn map_attr(context: &Context, map: &AffineMap) -> Attr {
    context.attr(AttrData::AffineMap(map.clone()))
}

/// The map of `attr` over `operands` in its normal form; `None` if it is in it.
fn improved(cx: &Cx<'_, '_>, attr: Attr, operands: &[Value]) -> Option<(Attr, Vec<Value>)> {
    let applied = Applied::new(cx.context.as_affine_map(attr)?, operands)?;
    let better = applied.canonical(cx.module(), cx.op)?;
    (better != applied).then(|| (map_attr(cx.context, &better.map), better.operands))
}

fn compose_values(cx: &mut Cx<'_, '_>) -> Option<()> {
    let operands: Vec<Value> = cx.module().operands(cx.op).collect();
    let attr = cx.module().attr_by(cx.op, cx.known.map)?;
    let (attr, operands) = improved(cx, attr, &operands)?;
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
    let stores = cx.module().name_text(cx.op).ends_with("store");
    let fixed = if stores { 2 } else { 1 };
    let (kept, indices) = operands.split_at_checked(fixed)?;
    let attr = cx.module().attr_by(cx.op, cx.known.map)?;
    let (attr, indices) = improved(cx, attr, indices)?;
    change(cx, &[kept, &indices].concat(), &[(cx.known.map, attr)])
}

/// The bounds of a parallel nest, of which each counter has as many as before.
fn compose_nest(cx: &mut Cx<'_, '_>) -> Option<()> {
    let operands: Vec<Value> = cx.module().operands(cx.op).collect();
    let names = ["lowerBoundsMap", "upperBoundsMap"].map(|name| cx.context.str(name));
    let [low, high] = names.map(|name| cx.module().attr_by(cx.op, name));
    let (low, high) = (cx.context.as_affine_map(low?)?, cx.context.as_affine_map(high?)?);
    let (first, second) = operands.split_at_checked(low.inputs())?;
    let old = [Applied::new(low, first)?, Applied::new(high, second)?];
    let mut new = Vec::with_capacity(2);
    for bounds in &old {
        new.push(bounds.canonical(cx.module(), cx.op)?);
    }
    if new[..] == old[..] {
        return None;
    }
    let attrs: Vec<(Str, Attr)> =
        names.into_iter().zip(&new).map(|(name, a)| (name, map_attr(cx.context, &a.map))).collect();
    let operands: Vec<Value> = new.into_iter().flat_map(|applied| applied.operands).collect();
    change(cx, &operands, &attrs)
}

/// Of results that differ by a constant one is enough; one result is an application.
fn one_bound(cx: &mut Cx<'_, '_>) -> Option<()> {
    let operands: Vec<Value> = cx.module().operands(cx.op).collect();
    let attr = cx.module().attr_by(cx.op, cx.known.map)?;
    let map = cx.context.as_affine_map(attr)?;
    let least = cx.module().name_text(cx.op) == "affine.min";
    let fewer = undominated(map, least);
    let attr = map_attr(cx.context, &fewer);
    if fewer.results().len() == 1 {
        let ty = cx.ty();
        let attrs = cx.context.dict([(cx.known.map, attr)]);
        let made = cx.make(cx.known.apply, &operands, attrs, &[ty]);
        let value = cx.module().result(made, 0);
        return cx.replace(&[value]);
    }
    (fewer.results().len() < map.results().len())
        .then(|| change(cx, &operands, &[(cx.known.map, attr)]))?
}

/// The map without the results that another one always makes unnecessary.
fn undominated(map: &AffineMap, least: bool) -> AffineMap {
    let mut kept: Vec<(Option<AffineExpr>, i64)> = Vec::new();
    for &result in map.results() {
        let (terms, constant) = split_constant(map, result);
        match kept.iter_mut().find(|other| other.0 == terms) {
            Some(other) if least => other.1 = other.1.min(constant),
            Some(other) => other.1 = other.1.max(constant),
            None => kept.push((terms, constant)),
        }
    }
    if kept.len() == map.results().len() {
        return map.clone();
    }
    let mut exprs = AffineExprs::new();
    // Handles of the map are those of the copy of its nodes.
    let copies = map.copy(&mut exprs);
    let mut results = Vec::new();
    for (terms, constant) in kept {
        let constant = exprs.constant(constant);
        results.push(match terms {
            Some(terms) => exprs.add(copies[terms.index()], constant),
            None => constant,
        });
    }
    AffineMap::new(map.dims() as u32, map.symbols() as u32, &exprs, &results)
}

/// `expr` as something and a constant that is added to it.
fn split_constant(map: &AffineMap, expr: AffineExpr) -> (Option<AffineExpr>, i64) {
    match map.node(expr) {
        Node::Constant(value) => (None, value),
        Node::Binary(BinaryOp::Add, terms, last) => match map.as_constant(last) {
            Some(value) => (Some(terms), value),
            None => (Some(expr), 0),
        },
        _ => (Some(expr), 0),
    }
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
    let read = |name, operands| {
        Applied::new(cx.context.as_affine_map(module.attr_by(cx.op, name)?)?, operands)
    };
    let (lower, upper) = (read(cx.known.lower, low)?, read(cx.known.upper, high)?);
    Some(Bounds { lower, upper, inits: inits.to_vec() })
}

fn compose_bounds(cx: &mut Cx<'_, '_>) -> Option<()> {
    let old = bounds(cx)?;
    let mut lower = old.lower.canonical(cx.module(), cx.op)?;
    let mut upper = old.upper.canonical(cx.module(), cx.op)?;
    lower.map = undominated(&lower.map, false);
    upper.map = undominated(&upper.map, true);
    if (&lower, &upper) == (&old.lower, &old.upper) {
        return None;
    }
    let sizes = [lower.operands.len(), upper.operands.len(), old.inits.len()];
    let attrs = [
        (cx.known.lower, map_attr(cx.context, &lower.map)),
        (cx.known.upper, map_attr(cx.context, &upper.map)),
        (cx.known.segments, cx.module().i32s_attr(sizes)),
    ];
    change(cx, &[lower.operands, upper.operands, old.inits].concat(), &attrs)
}

/// How often the loop runs, if that is known.
fn trips(cx: &Cx<'_, '_>, bounds: &Bounds) -> Option<i64> {
    let low = bounds.lower.map.as_constants()?.into_iter().max()?;
    let high = bounds.upper.map.as_constants()?.into_iter().min()?;
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

/// The set of a condition over its operands, before and in its normal form.
fn condition(cx: &Cx<'_, '_>) -> Option<(Applied, Applied, Box<[bool]>)> {
    let operands: Vec<Value> = cx.module().operands(cx.op).collect();
    let set = cx.context.as_integer_set(cx.module().attr_by(cx.op, cx.known.condition)?)?;
    let applied = Applied::new(set.constraints(), &operands)?;
    let better = applied.canonical_set(cx.module(), cx.op)?;
    Some((applied, better, set.equalities().into()))
}

fn compose_condition(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (applied, better, equalities) = condition(cx)?;
    if better == applied {
        return None;
    }
    let set = IntegerSet::of(better.map, &equalities);
    let attr = cx.context.attr(AttrData::IntegerSet(set));
    change(cx, &better.operands, &[(cx.known.condition, attr)])
}

fn known_condition(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (_, better, equalities) = condition(cx)?;
    let better = better.canonical(cx.module(), cx.op)?;
    let taken = usize::from(!IntegerSet::of(better.map, &equalities).decided()?);
    match cx.only_block(taken) {
        Some(_) => cx.take_region(taken, &[]),
        None => cx.replace(&[]),
    }
}

/// An `else` that does nothing.
fn empty_else(cx: &mut Cx<'_, '_>) -> Option<()> {
    cx.drop_empty_region(1)
}
