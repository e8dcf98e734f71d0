//! Printing functions in the notation that is read.

use std::fmt;

use super::affine::Affine;
use super::pieces::{Piece, domain_dims};
use super::{Aff, MultiAff, MultiPwAff, PwAff, PwMultiAff, UnionPwMultiAff};
use crate::basic_map::BasicMap;
use crate::print::{conjunction, expression as affine};
use crate::{Integer, Space};

/// Writes the form over named parameters and inputs, in parentheses.
fn expression(form: &Affine, names: &[String]) -> String {
    if form.is_nan() {
        return "(NaN)".to_owned();
    }
    let text = affine(&form.row, &form.divs, names);
    match form.den == Integer::ONE {
        true => format!("({text})"),
        false => format!("(({text})/{})", form.den),
    }
}

fn condition(part: &BasicMap, names: &[String], params: usize) -> String {
    let text = conjunction(part, names, params);
    if text.is_empty() { text } else { format!(" : {text}") }
}

/// Writes the tuples with `outputs` in place of the output dimensions.
fn tuples(space: &Space, outputs: Vec<String>) -> String {
    let mut names = argument_names(space);
    names.extend(outputs);
    let mut text = String::new();
    // Writing into a string cannot fail.
    let _ = space.write(&mut text, &names);
    text
}

fn argument_names(space: &Space) -> Vec<String> {
    let mut names = space.distinct_names();
    names.truncate(domain_dims(space));
    names
}

fn piece(space: &Space, piece: &Piece) -> String {
    let names = argument_names(space);
    let outputs = piece.forms.iter().map(|form| expression(form, &names)).collect();
    tuples(space, outputs) + &condition(&piece.domain, &names, space.params.len())
}

fn braces(f: &mut fmt::Formatter<'_>, params: &[String], texts: &[String]) -> fmt::Result {
    if !params.is_empty() {
        write!(f, "[{}] -> ", params.join(", "))?;
    }
    match texts {
        [] => f.write_str("{ }"),
        texts => write!(f, "{{ {} }}", texts.join("; ")),
    }
}

/// Writes the pieces of a function, or of one that has a value nowhere.
fn pieces(space: &Space, all: &[Piece]) -> Vec<String> {
    if all.is_empty() {
        let zeros = vec!["(0)".to_owned(); space.output.dims.len()];
        return vec![format!("{} : false", tuples(space, zeros))];
    }
    all.iter().map(|one| piece(space, one)).collect()
}

impl fmt::Display for Aff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let output = vec![expression(&self.form, &argument_names(&self.space))];
        braces(f, &self.space.params, &[tuples(&self.space, output)])
    }
}

impl fmt::Display for MultiAff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = argument_names(&self.space);
        let outputs = self.forms.iter().map(|form| expression(form, &names)).collect();
        braces(f, &self.space.params, &[tuples(&self.space, outputs)])
    }
}

impl fmt::Display for PwAff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        braces(f, &self.0.space.params, &pieces(&self.0.space, &self.0.all))
    }
}

impl fmt::Display for PwMultiAff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        braces(f, &self.0.space.params, &pieces(&self.0.space, &self.0.all))
    }
}

impl fmt::Display for MultiPwAff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = argument_names(&self.space);
        let member = |member: &PwAff| match &member.0.all[..] {
            [] => "(0 : false)".to_owned(),
            all => {
                let one = |piece: &Piece| {
                    expression(&piece.forms[0], &names)
                        + &condition(&piece.domain, &names, self.space.params.len())
                };
                format!("({})", all.iter().map(one).collect::<Vec<_>>().join("; "))
            }
        };
        let text = tuples(&self.space, self.members.iter().map(member).collect());
        let params = self.space.params.len();
        let domain = self.explicit.as_ref().map_or(String::new(), |domain| {
            let parts: Vec<String> =
                domain.parts.iter().map(|part| conjunction(part, &names, params)).collect();
            match &parts[..] {
                [] => " : false".to_owned(),
                parts if parts.iter().any(String::is_empty) => String::new(),
                parts => format!(" : ({})", parts.join(") or (")),
            }
        });
        braces(f, &self.space.params, &[text + &domain])
    }
}

impl fmt::Display for UnionPwMultiAff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let params = self.parameters();
        if !params.is_empty() {
            write!(f, "[{}] -> ", params.join(", "))?;
        }
        f.write_str(&union_body(self, &params))
    }
}

/// Writes the pieces over `params`, which are not written themselves.
pub(super) fn union_body(functions: &UnionPwMultiAff, params: &[String]) -> String {
    let mut texts = Vec::new();
    for function in functions.functions().filter(|function| !function.0.all.is_empty()) {
        let function = function.0.aligned(params);
        texts.extend(pieces(&function.space, &function.all));
    }
    match &texts[..] {
        [] => "{ }".to_owned(),
        texts => format!("{{ {} }}", texts.join("; ")),
    }
}
