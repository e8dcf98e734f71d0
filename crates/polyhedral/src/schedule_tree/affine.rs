//! Band members as text that isl reads: `{ S[i] -> [(floor((i)/32))] }`.

use std::fmt::Write;

use crate::Conjunction;
use tangram_presburger::{Budget, Relation, Union, UnionPwMultiAff};

/// Writes a member without its parameters.
///
/// Each disjunct must give its value by an equation; others are written as relations,
/// which this crate reads and isl does not.
pub(crate) fn member(union: &Union) -> String {
    let mut pieces = Vec::new();
    for relation in union.relations() {
        let parts = relation.conjunctions();
        let piece =
            |part: &tangram_presburger::Conjunction| piece(relation, &part.narrowed().ok()?);
        match parts.iter().map(piece).collect() {
            Some(texts) => pieces.extend::<Vec<String>>(texts),
            None => pieces.push(body(&function(relation)).to_owned()),
        }
    }
    format!("{{ {} }}", pieces.join("; "))
}

/// Writes a relation as a function with quotients; what is none, as it is.
fn function(relation: &Relation) -> String {
    let budget = Budget::steps(1_000_000);
    let function = UnionPwMultiAff::from_union(&Union::from(relation.clone()), &budget);
    function.map_or_else(|_| relation.to_string(), |function| function.to_string())
}

/// Cuts parameters and braces off a printed set or relation.
fn body(text: &str) -> &str {
    let inner = text.split_once('{').map_or(text, |(_, inner)| inner);
    inner.trim().strip_suffix('}').unwrap_or(inner).trim()
}

fn piece(relation: &Relation, part: &Conjunction) -> Option<String> {
    let space = relation.space();
    let input = space.input.as_ref().filter(|input| input.nested.is_none())?;
    if space.output.dims.len() != 1 {
        return None;
    }
    let column = 1 + space.params.len() + input.dims.len();
    let (value, part) = solved(part, column)?;
    let mut names = distinct(&space.params, &input.dims);
    let tuple = names[space.params.len()..].join(", ");
    names.push(String::new());
    for division in &part.divisions {
        let numerator = sum(&division.numerator, &names);
        names.push(format!("floor(({numerator})/{})", division.denominator));
    }
    let mut text = format!("{}[{tuple}] -> [({})]", input.name, sum(&value, &names));
    let rows = part
        .equalities
        .iter()
        .map(|row| (row, "="))
        .chain(part.inequalities.iter().map(|row| (row, ">=")));
    for (index, (row, sign)) in rows.enumerate() {
        let start = if index == 0 { " : " } else { " and " };
        // Writing into a string cannot fail.
        let _ = write!(text, "{start}{} {sign} 0", sum(row, &names));
    }
    Some(text)
}

/// Solves one equation for the column of the value and puts the result in its place.
pub(crate) fn solved(part: &Conjunction, column: usize) -> Option<(Vec<i128>, Conjunction)> {
    let at = part.equalities.iter().position(|row| row[column].abs() == 1)?;
    let sign = -part.equalities[at][column];
    let mut value: Vec<i128> = part.equalities[at].iter().map(|v| v * sign).collect();
    value[column] = 0;
    let mut rest = part.clone();
    // In their order: a text that is read again is the same.
    rest.equalities.remove(at);
    for row in rest.equalities.iter_mut().chain(&mut rest.inequalities) {
        replace(row, column, &value)?;
    }
    // A division that needs the value must not be part of the value.
    for division in &mut rest.divisions {
        replace(&mut division.numerator, column, &value)?;
    }
    Some((value, rest))
}

fn replace(row: &mut [i128], column: usize, value: &[i128]) -> Option<()> {
    let factor = std::mem::take(&mut row[column]);
    if factor == 0 {
        return Some(());
    }
    if value.iter().skip(row.len()).any(|v| *v != 0) {
        return None;
    }
    for (entry, v) in row.iter_mut().zip(value) {
        *entry = entry.checked_add(v.checked_mul(factor)?)?;
    }
    Some(())
}

fn distinct(params: &[String], dims: &[String]) -> Vec<String> {
    let mut names = params.to_vec();
    for dim in dims {
        let mut name = dim.clone();
        while names.contains(&name) {
            name.push('\'');
        }
        names.push(name);
    }
    names
}

fn sum(row: &[i128], names: &[String]) -> String {
    let mut text = String::new();
    let constant = (row[0] != 0).then_some((row[0], ""));
    let terms = row[1..].iter().zip(names).filter(|(value, _)| **value != 0);
    for (value, name) in terms.map(|(value, name)| (*value, name.as_str())).chain(constant) {
        text.push_str(match (text.is_empty(), value < 0) {
            (true, false) => "",
            (true, true) => "-",
            (false, true) => " - ",
            (false, false) => " + ",
        });
        let _ = match (name, value.unsigned_abs()) {
            ("", size) => write!(text, "{size}"),
            (_, 1) => write!(text, "{name}"),
            (_, size) => write!(text, "{size}*{name}"),
        };
    }
    if text.is_empty() { "0".to_owned() } else { text }
}
