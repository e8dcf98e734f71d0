//! What the verifier says of two lists of rules: wrong ones, none of which may be said to hold,
//! and right ones, none of which may be refused.

use std::sync::Arc;

use tangram_gsl::rules::Natives;
use tangram_gsl::text::parse;
use tangram_gsl::verify::{Effort, Verdict, verify};

/// The rules of a list: as written, and as the text of a rule.
fn rules(list: &str) -> Vec<(String, String)> {
    let lines = list.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#'));
    lines.map(|line| (line.to_owned(), rule(line))).collect()
}

/// `PROMISE: LETS; SOURCE => TARGET where CONDITION` as a rule.
fn rule(line: &str) -> String {
    let (promise, rest) = match line.split_once(": ") {
        Some((promise, rest)) if promise.chars().all(char::is_alphabetic) => (promise, rest),
        _ => ("", line),
    };
    let (from, to) = rest.split_once(" => ").unwrap_or_else(|| panic!("no => in {line}"));
    let (lets, source) = from.rsplit_once("; ").map_or(("", from), |(l, s)| (l, s));
    let (target, conditions) = to.split_once(" where ").map_or((to, ""), |(t, c)| (t, c));
    let word = |name: &str| {
        rest.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name)
    };
    let is_defined = |name: &str| lets.contains(&format!("let {name} ="));
    let inputs =
        ["x", "y", "z", "w", "v"].into_iter().filter(|name| word(name) && !is_defined(name));
    let inputs: String = inputs.map(|name| format!("let {name} = *; ")).collect();
    let lets = if lets.is_empty() { String::new() } else { format!("{lets};") };
    let conditions =
        if conditions.is_empty() { String::new() } else { format!("where {conditions};") };
    format!(
        "rule r alias {promise} {{ {inputs}{lets} match {source}; {conditions} rewrite {target}; }}"
    )
}

fn verdict(text: &str) -> Result<Verdict, String> {
    let rule = parse(text).map_err(|e| e.to_string())?.remove(0);
    let (context, natives) = (tangram_dialects::context(), Arc::new(Natives::standard()));
    verify(&rule, &context, &natives, &Effort::default()).map_err(|e| e.to_string())
}

/// Every `step`th rule of a list that `fails`, with what was said of it.
fn failing(list: &str, step: usize, fails: impl Fn(&Verdict) -> bool) -> String {
    let mut out = String::new();
    for (line, text) in rules(list).into_iter().step_by(step) {
        match verdict(&text) {
            Ok(verdict) if !fails(&verdict) => {}
            Ok(verdict) => out += &format!("{line}\n    {verdict}\n"),
            Err(error) => out += &format!("{line}\n    {error}\n"),
        }
    }
    out
}

const RULES_ABOUT_NUMBERS: &str = "x * 1.000001 => x where x.dtype == \"float64\"";

/// What is apart by more than rounding is so only where the rule says within what.
#[test]
fn a_tolerance_is_what_the_rule_states() {
    let text = rule(RULES_ABOUT_NUMBERS);
    let plain = verdict(&text).expect("a verdict");
    assert!(plain.is_wrong(), "{plain}");
    let within = verdict(&text.replace("alias", "alias within 1e-5")).expect("a verdict");
    assert!(within.holds(), "{within}");
    assert!(within.to_string().starts_with("holds (reassociates, within 1e-5)"), "{within}");
    let fewer = verdict(&text.replace("alias", "alias within 1e-7")).expect("a verdict");
    assert!(fewer.is_wrong(), "{fewer}");
}

/// Where an operation itself loses every digit, or is a number or none by the order of its steps, a
/// difference says nothing; elsewhere it does.
#[test]
fn what_loses_all_digits_by_itself_is_no_counterexample() {
    const RIGHT: &str = "
        range: sin(x + y) => sin(x) * cos(y) + cos(x) * sin(y) where x.dtype == \"float64\", x.shape == y.shape
        det(transpose(x) { axes = [1, 0] }) => det(x)
        range: dft(dft(x) { axis = 1, inverse = false, onesided = false }) { axis = 1, inverse = true, onesided = false } => x where x.ndim == 3, x.shape[2] == 2
        let a = leaky_relu(x); leaky_relu(a) as b => leaky_relu(x) { alpha = a.alpha * b.alpha } where a.alpha >= 0.0";
    const WRONG: &str = "
        range: sin(x + y) => sin(x) * cos(y) - cos(x) * sin(y) where x.dtype == \"float64\", x.shape == y.shape
        range: sin(x + y) => sin(x) * cos(y) + cos(x) * sin(y) * const(splat 1.000001) where x.dtype == \"float64\", x.shape == y.shape
        sin(x * const(splat 10000000000.0)) => cos(x * const(splat 10000000000.0)) where x.dtype == \"float64\"
        det(transpose(x) { axes = [1, 0] }) => negative(det(x))
        det(transpose(x) { axes = [1, 0] }) => det(x) * const(splat 1.0001)
        range: dft(dft(x) { axis = 1, inverse = false, onesided = false }) { axis = 1, inverse = true, onesided = false } => x * const(splat 1.01) where x.ndim == 3, x.shape[2] == 2
        let a = leaky_relu(x); leaky_relu(a) as b => leaky_relu(x) { alpha = a.alpha + b.alpha } where a.alpha >= 0.0
        let a = leaky_relu(x); leaky_relu(a) as b => leaky_relu(x) { alpha = a.alpha * b.alpha }";
    let refused = failing(RIGHT, 1, |verdict| !verdict.holds());
    assert!(refused.is_empty(), "{refused}");
    let taken = failing(WRONG, 1, |verdict| !verdict.is_wrong());
    assert!(taken.is_empty(), "{taken}");
}

/// A rule may change what it does at a number that only its text has.
#[test]
fn attributes_are_tried_about_the_numbers_of_the_rule() {
    const WRONG: &str = "
        leaky_relu(x) as l => leaky_relu(x) { alpha = if l.alpha > 0.2 then 0.5 else l.alpha } where l.alpha > 0.0, l.alpha < 1.0
        leaky_relu(x) as l => leaky_relu(x) { alpha = min(l.alpha, 2.5) }
        elu(x) as e => elu(x) { alpha = if e.alpha > 0.7 then 0.75 else e.alpha }
        hard_sigmoid(x) as h => hard_sigmoid(x) { alpha = max(h.alpha, 0.015), ..h } where h.alpha > 0.0";
    let taken = failing(WRONG, 1, |verdict| !verdict.is_wrong());
    assert!(taken.is_empty(), "{taken}");
}

/// Each rule fires on programs of its own source in which equal operations are one.
#[test]
fn what_holds_fires() {
    let silent = failing(RIGHT, SAMPLE, |verdict| {
        verdict.holds() && verdict.evidence().is_none_or(|evidence| !evidence.fires)
    });
    assert!(silent.is_empty(), "{silent}");
}

const WRONG: &str = include_str!("verdicts/wrong.txt");
const RIGHT: &str = include_str!("verdicts/right.txt");

/// How much of the lists the usual run takes.
const SAMPLE: usize = 17;

#[test]
fn no_wrong_rule_is_said_to_hold() {
    let found = failing(WRONG, SAMPLE, Verdict::holds);
    assert!(found.is_empty(), "{found}");
}

#[test]
fn no_right_rule_is_refused() {
    let found = failing(RIGHT, SAMPLE, |verdict| !verdict.holds());
    assert!(found.is_empty(), "{found}");
}

#[test]
#[ignore = "all of the list, some minutes"]
fn no_wrong_rule_of_all_is_said_to_hold() {
    assert!(rules(WRONG).len() >= 150);
    let found = failing(WRONG, 1, Verdict::holds);
    assert!(found.is_empty(), "{found}");
}

#[test]
#[ignore = "all of the list, some minutes"]
fn no_right_rule_of_all_is_refused() {
    assert!(rules(RIGHT).len() >= 100);
    let found = failing(RIGHT, 1, |verdict| !verdict.holds());
    assert!(found.is_empty(), "{found}");
}
