//! Reading the table of operators, whose form its first lines describe.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::{Attribute, Formal, Formals, Schema, Times};

/// Domain, name and version of a line about an operator, and what stands after them.
pub(super) fn head(
    line: &'static str,
) -> Option<((&'static str, &'static str), i64, &'static str)> {
    let (head, rest) = line.strip_prefix("op ")?.split_once('|')?;
    let mut words = head.split_whitespace();
    let (domain, name, since) = (words.next()?, words.next()?, words.next()?);
    let domain = if domain == "-" { "" } else { domain };
    Some(((domain, name), since.parse().ok()?, rest))
}

/// The schema on a line; `None` for an operator that is deprecated.
pub(super) fn schema(since: i64, rest: &'static str) -> Option<Schema> {
    let mut columns = rest.split('|').map(str::trim);
    let inputs = formals(columns.next()?)?;
    let outputs = formals(columns.next()?)?;
    let attributes = columns.next().unwrap_or("").split_whitespace().filter_map(attribute);
    let attributes = attributes.collect();
    let variable = |word: &'static str| {
        let (name, set) = word.split_once('=')?;
        Some((name, set.parse().ok()?))
    };
    let variables = columns.next().unwrap_or("").split_whitespace().filter_map(variable).collect();
    Some(Schema { since, inputs, outputs, attributes, variables })
}

fn formals(column: &'static str) -> Option<Formals> {
    let mut words = column.split_whitespace();
    let least = words.next()?.parse().ok()?;
    let most = words.next()?.parse().ok();
    Some(Formals { least, most, list: words.map(formal).collect() })
}

fn formal(word: &'static str) -> Formal {
    let marks = [('?', Times::Optional), ('*', Times::Many), ('+', Times::Mixed)];
    for (mark, times) in marks {
        if let Some(ty) = word.strip_suffix(mark) {
            return Formal { ty, times };
        }
    }
    Formal { ty: word, times: Times::Once }
}

fn attribute(word: &'static str) -> Option<Attribute> {
    let (name, kind) = word.split_once(':')?;
    let required = kind.ends_with('!');
    Some(Attribute { name, kind: kind.trim_end_matches('!').parse().ok()?, required })
}

/// The types in set `number`.
pub(super) fn set(table: &'static str, number: usize) -> &'static [&'static str] {
    static SETS: OnceLock<HashMap<usize, Vec<&'static str>>> = OnceLock::new();
    let read = |line: &'static str| {
        let mut words = line.strip_prefix("set ")?.split_whitespace();
        Some((words.next()?.parse().ok()?, words.collect()))
    };
    let sets = SETS.get_or_init(|| table.lines().filter_map(read).collect());
    sets.get(&number).map_or(&[], Vec::as_slice)
}
