//! A condition that tells good instances from bad ones.
//!
//! Each instance has features: the attributes of its calls, ranks, extents and element types. A
//! condition is a simple one (a feature equals a value or not, two features of one kind equal each
//! other, divide each other, are ordered), or two simple ones together. What is proposed holds on
//! all good instances and on no bad one; simple and natural ones come first ([`candidates`]).

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use tangram_dialects::constant;
use tangram_ir::{Module, Op, Value};

use super::instance::Instance;
use crate::ast::{PatternKind, Rule};
use crate::eval::AttrValue;
use crate::matching::{from_attr, from_front, of_op, show};

/// The features of an instance, by how they are written in a rule.
pub(super) type Features = BTreeMap<String, AttrValue>;

/// Fewer good instances than this say too little.
const ENOUGH: usize = 4;

/// Reads the features of an instance.
pub(super) fn features(rule: &Rule, instance: &Instance) -> Features {
    let module = &instance.module;
    let mut out = Features::new();
    for (id, value) in &instance.bound {
        let pattern = rule.pattern(*id);
        let Some(name) = &pattern.name else { continue };
        let call = matches!(pattern.kind, PatternKind::Call { .. });
        let normal = |op, attr: &str| of_op(module, op, attr).map(from_front);
        read(module, name, *value, call.then_some(&normal), &mut out);
    }
    out
}

/// What an instance covers: the features of all its calls and inputs, named or not, and which
/// operations they are.
pub(super) fn facts(rule: &Rule, instance: &Instance) -> Features {
    let mut out = Features::new();
    // As it is written: each spelling is tried.
    let written = |op, attr: &str| {
        let module = &instance.module;
        module.attr(op, attr).and_then(|attr| from_attr(module, attr))
    };
    for (id, value) in &instance.bound {
        let pattern = rule.pattern(*id);
        let name = pattern.name.clone().unwrap_or_else(|| format!("p{}", id.index()));
        let call = matches!(pattern.kind, PatternKind::Call { .. });
        read(&instance.module, &name, *value, call.then_some(&written), &mut out);
    }
    for (name, id, value) in &instance.branches {
        let call = matches!(rule.pattern(*id).kind, PatternKind::Call { .. });
        read(&instance.module, name, *value, call.then_some(&written), &mut out);
    }
    let module = &instance.module;
    for op in module.ops(module.body()) {
        let operator = module.name_text(op).trim_start_matches("nn.");
        if operator != "func.return" {
            out.insert(format!("`{operator}`"), operator.into());
        }
    }
    out
}

/// Returns an attribute of an operation.
type Attribute<'a> = dyn Fn(Op, &str) -> Option<AttrValue> + 'a;

/// Reads the type of a value and, of a call, the attributes.
fn read(
    module: &Module,
    name: &str,
    value: Value,
    attribute: Option<&Attribute<'_>>,
    out: &mut Features,
) {
    let ty = module.value_type(value);
    if let Some((dtype, shape)) = constant::static_tensor(module.context(), ty) {
        out.insert(format!("{name}.dtype"), dtype.name().into());
        out.insert(format!("{name}.ndim"), AttrValue::Int(shape.len() as i64));
        for (i, &n) in shape.iter().enumerate() {
            out.insert(format!("{name}.shape[{i}]"), AttrValue::Int(n as i64));
        }
        let shape = shape.iter().map(|&n| AttrValue::Int(n as i64)).collect();
        out.insert(format!("{name}.shape"), AttrValue::Tuple(shape));
    }
    let (Some(op), Some(attribute)) = (module.def_op(value), attribute) else { return };
    let Some(def) = module.context().def(module.name(op)) else { return };
    for attr in def.attrs {
        let found = attribute(op, attr.name);
        out.extend(found.map(|found| (format!("{name}.{}", attr.name), found)));
    }
}

/// A condition, on how many good instances it holds, and on which bad ones.
struct Candidate {
    text: String,
    good: usize,
    left: Vec<bool>,
}

impl Candidate {
    fn excludes_all(&self) -> bool {
        !self.left.contains(&true)
    }
}

/// Proposes conditions that hold on all of `good` and on none of `bad`, the simplest first.
pub(super) fn separate(good: &[Features], bad: &[Features]) -> Vec<String> {
    if good.len() < ENOUGH || bad.is_empty() {
        return Vec::new();
    }
    let all = candidates(good, bad, good.len());
    let one = all.iter().filter(|candidate| candidate.excludes_all()).map(|one| one.text.clone());
    let mut out: Vec<String> = one.collect();
    if out.is_empty() {
        out.extend(all.iter().enumerate().find_map(|(i, first)| {
            let both =
                |second: &&Candidate| first.left.iter().zip(&second.left).all(|(a, b)| !(*a && *b));
            let second = all[i + 1..].iter().find(both)?;
            Some(format!("{} && {}", first.text, second.text))
        }));
    }
    out
}

/// Proposes conditions that are enough, though they may be more than is needed: each holds on none
/// of `bad`, those that hold on more of `good` come first.
pub(super) fn suffice(good: &[Features], bad: &[Features]) -> Vec<String> {
    let least = ENOUGH.max(good.len() / 4);
    if good.len() < least || bad.is_empty() {
        return Vec::new();
    }
    let mut found = candidates(good, bad, least);
    found.retain(Candidate::excludes_all);
    found.sort_by_key(|candidate| std::cmp::Reverse(candidate.good));
    found.into_iter().map(|candidate| candidate.text).collect()
}

/// Simple conditions that hold on some of `good` and not on all of `bad`: those that fix a feature,
/// those that make two equal, those that exclude a value, then order and divisibility.
///
/// Those that hold on less than `least` of `good` are left out; most fail at once.
fn candidates(good: &[Features], bad: &[Features], least: usize) -> Vec<Candidate> {
    let columns = columns(good, bad);
    let mut out = Vec::new();
    let mut add = |text: &dyn Fn() -> String, holds: &dyn Fn(usize) -> bool| {
        let spare = good.len() - least;
        let failed = (0..good.len()).filter(|&row| !holds(row)).take(spare + 1).count();
        if failed > spare {
            return;
        }
        let left: Vec<bool> = (good.len()..good.len() + bad.len()).map(holds).collect();
        if left.contains(&false) {
            out.push(Candidate { text: text(), good: good.len() - failed, left });
        }
    };
    for column in &columns {
        equals_constant(column, good, &mut add);
    }
    for (a, b) in pairs(&columns) {
        // A rank that is as large as an extent is so by chance.
        if is_count(a.name) && is_rank(b.name) || is_rank(a.name) && is_count(b.name) {
            continue;
        }
        let equal =
            |row: usize| a.cells[row].value.is_some() && a.cells[row].value == b.cells[row].value;
        add(&|| format!("{} == {}", a.name, b.name), &equal);
    }
    for (a, b) in pairs(&columns) {
        if a.name.ends_with(".shape") && b.name.ends_with(".shape") {
            let equal =
                |row: usize| a.cells[row].tail.is_some() && a.cells[row].tail == b.cells[row].tail;
            add(&|| format!("{}[1:] == {}[1:]", a.name, b.name), &equal);
        }
    }
    for column in &columns {
        differs_from_constant(column, bad, &mut add);
    }
    for (left, right) in pairs(&columns) {
        for (a, b) in [(left, right), (right, left)] {
            let ints = |row: usize| Some((a.cells[row].int?, b.cells[row].int?));
            if comparable(a.name, b.name) {
                let ordered = |row| ints(row).is_some_and(|(a, b)| a <= b);
                add(&|| format!("{} <= {}", a.name, b.name), &ordered);
                let divides = |row| ints(row).is_some_and(|(a, b)| b > 0 && a % b == 0);
                add(&|| format!("{} mod {} == 0", a.name, b.name), &divides);
            }
        }
    }
    out
}

/// Takes a condition: how it is written, and whether it holds on an instance.
type Add<'a> = dyn FnMut(&dyn Fn() -> String, &dyn Fn(usize) -> bool) + 'a;

/// A feature of all instances, the good ones first.
struct Column<'f> {
    name: &'f str,
    cells: Vec<Cell>,
}

/// A feature of an instance; nothing where it is absent. Equal numbers mean equal values.
#[derive(Clone, Copy, Default)]
struct Cell {
    value: Option<usize>,
    /// The value without its first field.
    tail: Option<usize>,
    int: Option<i64>,
}

/// Numbers the values of all features, so that comparing them takes no time.
fn columns<'f>(good: &'f [Features], bad: &'f [Features]) -> Vec<Column<'f>> {
    let names: BTreeSet<&String> = good.iter().flat_map(Features::keys).collect();
    let mut numbers = Numbers::default();
    let mut column = |name: &'f String| {
        let cells = good.iter().chain(bad).map(|features| match features.get(name) {
            Some(value) => Cell {
                value: Some(numbers.number(value)),
                tail: tail(value).map(|tail| numbers.number(&tail)),
                int: int(value),
            },
            None => Cell::default(),
        });
        Column { name, cells: cells.collect() }
    };
    names.into_iter().map(&mut column).collect()
}

/// Numbers for values.
#[derive(Default)]
struct Numbers(FxHashMap<String, usize>);

impl Numbers {
    fn number(&mut self, value: &AttrValue) -> usize {
        let next = self.0.len();
        *self.0.entry(show(value)).or_insert(next)
    }
}

fn pairs<'c, 'f>(columns: &'c [Column<'f>]) -> Vec<(&'c Column<'f>, &'c Column<'f>)> {
    let all = columns.iter().enumerate();
    all.flat_map(|(i, left)| columns[i + 1..].iter().map(move |right| (left, right))).collect()
}

fn int(value: &AttrValue) -> Option<i64> {
    match value {
        AttrValue::Int(value) => Some(*value),
        _ => None,
    }
}

/// The fields of a tuple behind the first.
fn tail(value: &AttrValue) -> Option<AttrValue> {
    match value {
        AttrValue::Tuple(fields) => Some(AttrValue::Tuple(fields.get(1..)?.to_vec())),
        _ => None,
    }
}

/// Whether two features measure the same kind of thing: extents and groups, or ranks.
fn comparable(a: &str, b: &str) -> bool {
    is_count(a) && is_count(b) || is_rank(a) && is_rank(b)
}

fn is_count(name: &str) -> bool {
    name.contains(".shape[") || name.ends_with(".groups")
}

fn is_rank(name: &str) -> bool {
    name.ends_with(".ndim")
}

/// An element type that is one of those of good instances which no bad one has.
fn is_one_of(column: &Column<'_>, good: &[Features], add: &mut Add<'_>) {
    let (known, bad) = column.cells.split_at(good.len());
    let is_bad = |number: usize| bad.iter().any(|cell| cell.value == Some(number));
    let mut names: BTreeMap<usize, String> = BTreeMap::new();
    for (cell, features) in known.iter().zip(good) {
        if let (Some(number), Some(value)) = (cell.value, features.get(column.name))
            && !is_bad(number)
        {
            names.insert(number, show(value));
        }
    }
    let mut texts: Vec<&str> = names.values().map(String::as_str).collect();
    texts.sort_unstable();
    let holds = |row: usize| column.cells[row].value.is_some_and(|n| names.contains_key(&n));
    add(
        &|| match *texts {
            [one] => format!("{} == {one}", column.name),
            _ => format!("{} in [{}]", column.name, texts.join(", ")),
        },
        &holds,
    );
}

/// A feature that equals a value. An attribute may be absent: then it has its default, which may
/// be that value. Of all extents together nothing is said: few instances share them.
fn equals_constant(column: &Column<'_>, good: &[Features], add: &mut Add<'_>) {
    if column.name.ends_with(".dtype") {
        return is_one_of(column, good, add);
    }
    if column.name.ends_with(".shape") {
        return;
    }
    let mut values: Vec<(usize, usize, &AttrValue)> = Vec::new();
    for (cell, features) in column.cells.iter().zip(good) {
        let (Some(number), Some(value)) = (cell.value, features.get(column.name)) else { continue };
        // What is right of tensors without elements is right of nothing.
        if is_count(column.name) && int(value) == Some(0) {
            continue;
        }
        match values.iter_mut().find(|(known, ..)| *known == number) {
            Some((_, count, _)) => *count += 1,
            None => values.push((number, 1, value)),
        }
    }
    let absent = !column.name.contains(".shape") && !column.name.ends_with(".ndim");
    for (number, _, value) in values.into_iter().filter(|(_, count, _)| *count >= ENOUGH) {
        let holds = |row: usize| column.cells[row].value.map_or(absent, |found| found == number);
        add(&|| format!("{} == {}", column.name, show(value)), &holds);
    }
}

/// A feature that has one of the values of bad instances on no good one: a number of groups, an
/// axis, a rank, an element type. Extents of small instances have all small values.
fn differs_from_constant(column: &Column<'_>, bad: &[Features], add: &mut Add<'_>) {
    if column.name.contains(".shape") {
        let holds = |row: usize| column.cells[row].int != Some(1);
        return add(&|| format!("{} != 1", column.name), &holds);
    }
    let first_bad = column.cells.len() - bad.len();
    let mut tried: Vec<usize> = Vec::new();
    for (cell, features) in column.cells[first_bad..].iter().zip(bad) {
        let (Some(number), Some(value)) = (cell.value, features.get(column.name)) else { continue };
        if !tried.contains(&number) {
            tried.push(number);
            let holds = |row: usize| column.cells[row].value != Some(number);
            add(&|| format!("{} != {}", column.name, show(value)), &holds);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rank is no extent, and nothing is right of nothing.
    #[test]
    fn neither_chance_nor_emptiness_is_proposed() {
        let one = |ndim: i64, extent: i64| -> Features {
            let entries = [("b.ndim", ndim), ("b.shape[0]", extent)];
            entries.into_iter().map(|(name, n)| (name.to_owned(), AttrValue::Int(n))).collect()
        };
        let good: Vec<Features> =
            [(1, 1), (2, 2), (3, 3), (1, 1), (2, 2)].map(|(a, b)| one(a, b)).into();
        let bad = [one(1, 4), one(2, 5), one(3, 1)];
        assert_eq!(separate(&good, &bad), [""; 0]);
        let empty: Vec<Features> = (1..6).map(|n| one(n, 0)).collect();
        let found = separate(&empty, &[one(1, 2), one(2, 3)]);
        assert!(found.iter().all(|text| !text.contains("== 0")), "{found:?}");
    }

    fn features(groups: i64, a: i64, b: i64) -> Features {
        let entries = [("c.groups", groups), ("x.shape[0]", a), ("y.shape[1]", b)];
        entries.into_iter().map(|(name, n)| (name.to_owned(), AttrValue::Int(n))).collect()
    }

    #[test]
    fn the_condition_tells_good_from_bad() {
        let good: Vec<Features> = (1..6).map(|n| features(1, n, n + 1)).collect();
        let bad = [features(2, 1, 1), features(3, 2, 5)];
        assert_eq!(separate(&good, &bad).first().map(String::as_str), Some("c.groups == 1"));
        let good: Vec<Features> = (1..6).map(|n| features(n, n + 2, n + 2)).collect();
        let bad = [features(2, 1, 3), features(3, 2, 5)];
        assert_eq!(
            separate(&good, &bad).first().map(String::as_str),
            Some("x.shape[0] == y.shape[1]")
        );
        assert!(separate(&good, &[features(2, 4, 4)]).is_empty());
        assert!(separate(&good[..2], &bad).is_empty());
    }

    #[test]
    fn types_are_proposed_as_a_set() {
        let of = |name: &str| Features::from([("x.dtype".to_owned(), name.into())]);
        let good = ["float32", "float64", "float32", "float16"].map(of);
        let found = separate(&good, &[of("int8"), of("bool")]);
        let set = r#"x.dtype in ["float16", "float32", "float64"]"#;
        assert_eq!(found.first().map(String::as_str), Some(set));
        let found = separate(&["bool"; 4].map(of), &[of("int8")]);
        assert_eq!(found.first().map(String::as_str), Some(r#"x.dtype == "bool""#));
    }

    #[test]
    fn two_conditions_may_be_needed() {
        let good: Vec<Features> = (1..6).map(|n| features(1, n, n)).collect();
        let bad = [features(2, 3, 3), features(1, 2, 3)];
        let found = separate(&good, &bad);
        assert_eq!(
            found.first().map(String::as_str),
            Some("c.groups == 1 && x.shape[0] == y.shape[1]")
        );
    }

    #[test]
    fn order_and_divisibility_are_seen() {
        let good: Vec<Features> = (1..6).map(|n| features(n, 2 * n, 7 - n)).collect();
        let bad = [features(2, 5, 1), features(3, 7, 9), features(5, 8, 3)];
        assert_eq!(
            separate(&good, &bad).first().map(String::as_str),
            Some("x.shape[0] mod c.groups == 0")
        );
        let good: Vec<Features> = (2..7).map(|n| features(n, n, n + n % 3)).collect();
        let bad = [features(4, 5, 4), features(3, 7, 6), features(5, 5, 1)];
        assert_eq!(
            separate(&good, &bad).first().map(String::as_str),
            Some("x.shape[0] <= y.shape[1]")
        );
        let good: Vec<Features> = [2, 3, 5, 7, 9].map(|n| features(n, 9 - n, n)).into();
        let bad = [features(4, 5, 4), features(4, 2, 4), features(4, 7, 4)];
        assert_eq!(separate(&good, &bad).first().map(String::as_str), Some("c.groups != 4"));
    }

    #[test]
    fn a_condition_may_ask_for_more_than_is_needed() {
        let mut good: Vec<Features> = (1..6).map(|n| features(n, n, n)).collect();
        good.push(features(2, 1, 3));
        let bad = [features(2, 2, 3), features(4, 2, 4), features(3, 3, 4)];
        assert!(separate(&good, &bad).is_empty());
        assert_eq!(
            suffice(&good, &bad).first().map(String::as_str),
            Some("x.shape[0] == y.shape[1]")
        );
    }
}
