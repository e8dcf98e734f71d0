//! Rules as Python makes and sees them: JSON in, text out, and back.

use pyo3::prelude::*;
use serde_json::{Value, json};
use tangram::gsl::ast::Rule;
use tangram::gsl::check::{check_built, has_errors};
use tangram::gsl::schema::{NnSchema, onnx_names, operation_name};
use tangram::gsl::text;
use tangram::gsl::verify::Effort;
use tangram::ir::{Arity, AttrKind};
use tangram::{Library, dialects};

use crate::RuleError;
use crate::model::rule_error;

/// Checks a rule in its JSON form and writes it as text; raises `RuleError` with all that is
/// wrong.
#[pyfunction]
pub(crate) fn rule_text(json: &str) -> PyResult<String> {
    let rule = Rule::from_json(json).map_err(|e| RuleError::new_err(e.to_string()))?;
    let (sources, found) = check_built(&rule, &NnSchema::new(&dialects::context()));
    if has_errors(&found) {
        return Err(RuleError::new_err(sources.render(&found)));
    }
    Ok(text::print(&rule))
}

/// Reads rules; returns name, text in canonical form and JSON form of each.
#[pyfunction]
pub(crate) fn parse_rules(name: &str, text: &str) -> PyResult<Vec<(String, String, String)>> {
    let mut library = Library::default();
    library.add_text(name, text, None).map_err(rule_error)?;
    let found = library.errors();
    if !found.is_empty() {
        return Err(RuleError::new_err(found));
    }
    let parts = |rule: &Rule| (rule.name().to_owned(), text::print(rule), rule.to_json());
    Ok(library.rules.iter().map(|located| parts(&located.rule)).collect())
}

/// A rule: its name, its labels, what it says of itself, its text.
type Listed = (String, Vec<String>, String, String);

/// The rules that `names` stand for, all that are shipped if there is none.
#[pyfunction]
pub(crate) fn list_rules(names: Vec<String>) -> PyResult<Vec<Listed>> {
    let mut library = match names.is_empty() {
        true => Library::shipped().map_err(rule_error)?,
        false => Library::default(),
    };
    for name in &names {
        library.add(name).map_err(rule_error)?;
    }
    let parts = |rule: &Rule| {
        let labels = rule.labels().iter().map(ToString::to_string).collect();
        (rule.name().to_owned(), labels, rule.doc().to_owned(), text::print(rule))
    };
    Ok(library.rules.iter().map(|located| parts(&located.rule)).collect())
}

/// Verifies rules; returns for each its name, whether it holds, whether it is wrong, and why.
#[pyfunction]
pub(crate) fn verify_rules(
    python: Python<'_>,
    name: &str,
    text: &str,
) -> PyResult<Vec<(String, bool, bool, String)>> {
    let mut library = Library::default();
    library.add_text(name, text, None).map_err(rule_error)?;
    let verdicts = python.detach(|| library.verify(&Effort::default()));
    let parts = |(name, verdict): (String, tangram::gsl::verify::Verdict)| {
        (name, verdict.holds(), verdict.is_wrong(), verdict.to_string())
    };
    Ok(verdicts.into_iter().map(parts).collect())
}

/// The operation that the name of an operator of ONNX stands for, if it is one.
#[pyfunction]
pub(crate) fn operation_of(name: &str) -> Option<String> {
    let known = |name: &str| dialects::nn::ops().any(|op| op.def.name == operation_name(name));
    onnx_names::operation(name, &known)
}

/// The operations that rules may name, as JSON: name, summary, operands, attributes.
#[pyfunction]
pub(crate) fn operators() -> String {
    let list = dialects::nn::ops().filter(|op| op.def.regions == Some(0)).map(|op| {
        let operands = op.def.operands.iter().map(|o| {
            let arity = match o.arity {
                Arity::One => "one",
                Arity::Optional => "optional",
                Arity::Variadic => "variadic",
            };
            json!({ "name": o.name, "arity": arity, "doc": o.doc })
        });
        let attrs = op.def.attrs.iter().map(|attr| {
            json!({
                "name": attr.name, "kind": kind(attr.kind), "required": attr.required,
                "doc": attr.doc,
            })
        });
        json!({
            "name": op.def.name.trim_start_matches("nn."), "summary": op.def.summary,
            "operands": operands.collect::<Vec<_>>(), "attributes": attrs.collect::<Vec<_>>(),
        })
    });
    Value::Array(list.collect()).to_string()
}

fn kind(kind: AttrKind) -> &'static str {
    match kind {
        AttrKind::Int => "int",
        AttrKind::Float => "float",
        AttrKind::Bool => "bool",
        AttrKind::Str | AttrKind::Enum(_) | AttrKind::DType => "str",
        AttrKind::Ints => "ints",
        AttrKind::IntsOr(_) => "ints or str",
        AttrKind::Floats => "floats",
        AttrKind::Strs => "strs",
        AttrKind::Tensor | AttrKind::Type | AttrKind::Any => "any",
    }
}
