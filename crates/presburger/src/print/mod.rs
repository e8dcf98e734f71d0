//! Printing in the notation that the parser reads, for people to read.
//!
//! `{ [i, j] : j = i + 1 and i >= 0 and i <= N - 1 }` becomes `{ [i, j = i + 1] : 0 <= i < N }`:
//! a dimension that an equation defines by earlier ones stands in its tuple, redundant
//! constraints go, two bounds of one term make a chain, and `n - d * floor(n/d)` is `n mod d`.
//! A long division that is used more than once gets a name, `exists (e0 = floor(..): ..)`.

mod constraint;
mod simplify;
mod terms;

use std::fmt;

use crate::basic_map::{BasicMap, Div};
use crate::matrix::negated;
use crate::{Integer, Relation, Space};
use constraint::{constraints, constraints_of};
use simplify::simplified;
use terms::Atoms;
pub(crate) use terms::{floor, sum};

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let space = self.space();
        if !space.params.is_empty() {
            write!(f, "[{}] -> ", space.params.join(", "))?;
        }
        let mut texts = self.disjuncts();
        if texts.is_empty() {
            texts.push(said(space, tuples(space, &space.distinct_names()), "false"));
        }
        write!(f, "{{ {} }}", texts.join("; "))
    }
}

impl Relation {
    /// Prints each disjunct without braces and parameters; those seen to have no points are left
    /// out.
    pub(crate) fn disjuncts(&self) -> Vec<String> {
        let names = self.space().distinct_names();
        let mut texts: Vec<String> =
            self.parts.iter().filter_map(|part| self.disjunct(part, &names)).collect();
        // Parameters of which nothing is asked are all of them.
        if self.space().is_params()
            && let Some(all) = texts.iter().position(|text| text == ":")
        {
            texts = vec![texts.swap_remove(all)];
        }
        texts
    }

    fn disjunct(&self, part: &BasicMap, names: &[String]) -> Option<String> {
        let mut part = simplified(part, self.space().params.len())?;
        let atoms = Atoms::of(&part, names);
        let tuples = with_values(self.space(), names, &mut part, &atoms);
        Some(said(self.space(), tuples, &constraints(&part, &atoms)))
    }
}

/// Writes tuples and what holds of them; parameters alone have the colon for a tuple.
fn said(space: &Space, tuples: String, text: &str) -> String {
    match (text.is_empty(), space.is_params()) {
        (true, _) => tuples,
        (false, true) => format!("{tuples} {text}"),
        (false, false) => format!("{tuples} : {text}"),
    }
}

/// Prints a disjunct of rational points; `strict` says so of each inequality.
pub(crate) fn rational(space: &Space, mut part: BasicMap, strict: &[bool]) -> String {
    let names = space.distinct_names();
    let atoms = Atoms::of(&part, &names);
    let tuples = with_values(space, &names, &mut part, &atoms);
    let text = constraints_of(&part, Some(strict), &atoms);
    if text.is_empty() { tuples } else { format!("{tuples} : {text}") }
}

fn tuples(space: &Space, names: &[String]) -> String {
    let mut text = String::new();
    // Writing into a string cannot fail.
    let _ = space.write(&mut text, names);
    text
}

/// Writes the tuples with the values that equations give dimensions; takes those equations out.
fn with_values(space: &Space, names: &[String], part: &mut BasicMap, atoms: &Atoms) -> String {
    let mut shown = names.to_vec();
    let values = values(part, atoms, space.params.len());
    for (dim, row) in &values {
        let text = atoms.form(row).text();
        let is_used = values.iter().any(|(_, other)| !other[1 + dim].is_zero());
        shown[*dim] = match chosen_name(space, *dim) {
            Some(name) if name == names[*dim] => format!("{name} = {text}"),
            // What another value speaks of must have its name.
            _ if is_used => format!("{} = {text}", names[*dim]),
            _ => text,
        };
    }
    tuples(space, &shown)
}

/// Returns the name of a dimension unless it looks made up, as `o3` does.
fn chosen_name(space: &Space, dim: usize) -> Option<&str> {
    let dims = space.input.iter().flat_map(|tuple| &tuple.dims).chain(&space.output.dims);
    let name = dims.skip(dim - space.params.len()).map(String::as_str).next()?;
    let number = name.strip_prefix(['i', 'o']).map(|rest| rest.trim_end_matches('_'));
    let made_up = number.is_some_and(|n| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit()));
    (!made_up).then_some(name)
}

/// Takes the equations that define a dimension by earlier ones out of `part`.
fn values(part: &mut BasicMap, atoms: &Atoms, params: usize) -> Vec<(usize, Vec<Integer>)> {
    let mut values = Vec::new();
    let mut index = 0;
    while index < part.system.eqs.len() {
        let Some((dim, row)) =
            value_in(part, index, params).filter(|(_, row)| !atoms.names_any(row))
        else {
            index += 1;
            continue;
        };
        values.push((dim, row));
        part.system.eqs.swap_remove(index);
    }
    values
}

/// Returns the dimension that an equation defines and its value, if nothing else uses it.
fn value_in(part: &BasicMap, index: usize, params: usize) -> Option<(usize, Vec<Integer>)> {
    let row = part.system.eqs.row(index);
    let dim = (params..part.dims).rev().find(|dim| row[1 + dim] != 0)?;
    let col = 1 + dim;
    let others = part.system.eqs.rows().enumerate().filter(|(other, _)| *other != index);
    let used = others.map(|(_, row)| row).chain(part.system.ineqs.rows()).any(|row| row[col] != 0)
        || part.divs.iter().any(|div| div.num[col] != 0);
    if used || !row[col].is_unit() || uses_later(part, row, dim) {
        return None;
    }
    let mut value = if row[col].sign() > 0 { negated(row) } else { row.to_vec() };
    value[col] = Integer::ZERO;
    Some((dim, value))
}

/// Returns whether a division in a row depends on dimensions behind `dim`, which have no value yet
/// where that of `dim` is read.
fn uses_later(part: &BasicMap, row: &[Integer], dim: usize) -> bool {
    let mut used = row.to_vec();
    for (index, div) in part.divs.iter().enumerate().rev() {
        if !used[1 + part.dims + index].is_zero() {
            let inside = used.iter_mut().zip(&div.num).filter(|(_, value)| !value.is_zero());
            // Only whether it is 0 matters.
            inside.for_each(|(to, _)| *to = Integer::ONE);
        }
    }
    used[2 + dim..=part.dims].iter().any(|value| !value.is_zero())
}

/// Writes the constraints of a conjunction over named dimensions, `params` of them first.
pub(crate) fn conjunction(part: &BasicMap, names: &[String], params: usize) -> String {
    match simplified(part, params) {
        Some(part) => constraints(&part, &Atoms::of(&part, names)),
        None => "false".into(),
    }
}

/// Writes an affine form over named dimensions and divisions.
pub(crate) fn expression(row: &[Integer], divs: &[Div], names: &[String]) -> String {
    Atoms::inline(divs, names).form(row).text()
}
