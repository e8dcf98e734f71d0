//! Wrong rules that follow from the definitions: for every operation of the nn dialect one that
//! changes an attribute, and one that gives it an operand backwards.
//!
//! What each attribute may be is declared where the operation is (its [`AttrKind`]); the verifier
//! makes its instances without looking at these rules. Most cannot be applied where the change
//! gives another type, and some make no difference: those that are said to hold are listed with
//! the reason.

use std::fmt::Write as _;
use std::sync::Arc;

use tangram_dialects::nn;
use tangram_gsl::rules::Natives;
use tangram_gsl::text::parse;
use tangram_gsl::verify::{Effort, Verdict, verify};
use tangram_ir::{Arity, AttrDef, AttrKind, OpDef};

/// Changes that are said to hold: operation (any where empty), attribute or operand, and why they
/// do.
const EQUAL: &[(&str, &str, &str)] = &[
    ("", "noop_with_empty_axes", "where axes are there; elsewhere types differ or extents are 1"),
    ("", "storage_order", "it is of places, which are another result"),
    ("", "axis  is [e.axis[len", "a set of axes"),
    ("nn.attention", "q_num_heads", "of operands of rank 3, which no longer fit"),
    ("nn.attention", "kv_num_heads", "of operands of rank 3, which no longer fit"),
    ("nn.linear_attention", "chunk_size", "how it is computed, not what"),
    ("nn.mel_weight_matrix", "operand", "a single number"),
    ("nn.resize", "extrapolation_value", "of regions, which are an operand that is absent"),
    ("nn.shape_of", "operand 0", "the extents stay"),
    ("nn.split", "axis", "where types agree, so do the parts"),
    ("nn.strided_slice", "end  is [n + 1", "where types agree, so do the ends"),
    ("nn.tensor_scatter", "mode", "without places to write to both begin at 0"),
];

/// A changed rule: operation, what is changed, text.
struct Changed {
    op: &'static str,
    what: String,
    text: String,
}

/// The operands that have to be there, and those before them, by name.
fn operands(def: &OpDef) -> Vec<String> {
    let last = def.operands.iter().rposition(|operand| operand.arity != Arity::Optional);
    let needed = &def.operands[..last.map_or(0, |last| last + 1)];
    let count = needed.iter().map(|operand| match operand.arity {
        Arity::One | Arity::Optional => 1,
        Arity::Variadic => 2,
    });
    (0..count.sum()).map(|i| format!("x{i}")).collect()
}

/// `from` and `to` of a change of an attribute, as they are written.
fn values(attr: &AttrDef) -> Vec<(String, String)> {
    let name = attr.name;
    let own = |to: &str| (String::new(), to.replace('@', &format!("e.{name}")));
    let text = |text: &str| format!("\"{text}\"");
    let pairs = |names: &[&str]| -> Vec<(String, String)> {
        let next = |i: usize| names[(i + 1) % names.len()];
        names.iter().enumerate().map(|(i, from)| (text(from), text(next(i)))).collect()
    };
    let lists = || vec![own("[n + 1 for n in @]"), own("[@[len(@) - 1 - i] for i < len(@)]")];
    match attr.kind {
        AttrKind::Bool => vec![("true".into(), "false".into()), ("false".into(), "true".into())],
        AttrKind::Enum(names) => pairs(names),
        AttrKind::Int => vec![own("@ + 1"), own("@ - 1")],
        AttrKind::Ints => lists(),
        AttrKind::IntsOr(names) => pairs(names).into_iter().chain(lists()).collect(),
        AttrKind::Float => vec![("0.5".into(), "1.0".into()), ("2.0".into(), "0.5".into())],
        _ => Vec::new(),
    }
}

/// All of them, in the order of the definitions.
fn changed() -> Vec<Changed> {
    let plain = nn::ops().filter(|op| op.eval.is_some() && op.def.name != "nn.constant");
    plain.flat_map(|op| attributes_of(&op.def).into_iter().chain(operands_of(&op.def))).collect()
}

/// Which result is compared.
fn result(def: &OpDef) -> &'static str {
    if def.results.len() > 1 { "[0]" } else { "" }
}

fn attributes_of(def: &'static OpDef) -> Vec<Changed> {
    let (names, result) = (operands(def), result(def));
    let (op, args) = (def.name, names.join(", "));
    let lets: String = names.iter().map(|name| format!("let {name} = *; ")).collect();
    let one = |attr: &AttrDef, (from, to): (String, String)| {
        let name = attr.name;
        let given = if from.is_empty() { String::new() } else { format!("{name} = {from}") };
        let text = format!(
            "rule r alias range {{ {lets} let e = {op}({args}) {{ {given} }}; match e{result}; \
             rewrite {op}({args}) {{ {name} = {to}, ..e }}{result}; }}",
        );
        Changed { op, what: format!("{name} {from} is {to}"), text }
    };
    let all = def.attrs.iter();
    all.flat_map(|attr| values(attr).into_iter().map(move |change| one(attr, change))).collect()
}

fn operands_of(def: &'static OpDef) -> Vec<Changed> {
    const BACKWARDS: &str = "begin = [-1], end = [-1000000], axes = [0], strides = [-1]";
    let (names, result) = (operands(def), result(def));
    let (op, args) = (def.name, names.join(", "));
    let lets: String = names.iter().map(|name| format!("let {name} = *; ")).collect();
    let turned = |i: usize| {
        let turned = format!("nn.strided_slice({}) {{ {BACKWARDS} }}", names[i]);
        let mut all = names.clone();
        all[i] = turned;
        let text = format!(
            "rule r alias range {{ {lets} let e = {op}({args}); match e{result}; \
             rewrite {op}({}) {{ ..e }}{result}; }}",
            all.join(", "),
        );
        Changed { op, what: format!("operand {i}"), text }
    };
    (0..names.len()).map(turned).collect()
}

fn verdict(text: &str) -> Result<Verdict, String> {
    let rule = parse(text).map_err(|e| format!("{e} in {text}"))?.remove(0);
    let (context, natives) = (tangram_dialects::context(), Arc::new(Natives::default()));
    verify(&rule, &context, &natives, &Effort::default()).map_err(|e| e.to_string())
}

/// Verifies every `step`th rule from `first` on. Returns those that hold without a reason.
fn judge(first: usize, step: usize) -> String {
    let (mut out, mut refuted, mut equal, mut unknown) = (String::new(), 0, 0, 0);
    for rule in changed().into_iter().skip(first).step_by(step) {
        let is_equal = EQUAL
            .iter()
            .any(|(op, what, _)| (op.is_empty() || *op == rule.op) && rule.what.starts_with(what));
        match verdict(&rule.text) {
            Ok(Verdict::Holds(_)) if is_equal => equal += 1,
            Ok(Verdict::Holds(evidence)) => {
                let _ = writeln!(out, "{} ({}): holds on {evidence}", rule.op, rule.what);
            }
            Ok(Verdict::Unknown { .. }) | Err(_) => unknown += 1,
            Ok(_) => refuted += 1,
        }
    }
    println!("{refuted} refuted, {equal} equal, {unknown} not decided");
    out
}

#[test]
fn changes_of_definitions_are_seen() {
    let found = judge(7, 240);
    assert!(found.is_empty(), "{found}");
}

#[test]
#[ignore = "every attribute and operand of every operation, some minutes"]
fn all_changes_of_definitions_are_seen() {
    let found = judge(0, 1);
    assert!(found.is_empty(), "{found}");
}
