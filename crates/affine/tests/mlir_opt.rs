//! Maps and sets at random, in `mlir-opt`'s words: what it prints of a text is what we print.
//!
//! The generator writes text and knows nothing of the simplifications. Without `mlir-opt` 22 the
//! test says so.

#[path = "../../ir/tests/peer/mod.rs"]
mod peer;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use tangram_affine::{AffineMap, IntegerSet};

/// Expressions as text. With `semi`, symbols may be factors and divisors.
fn expressions(semi: bool) -> BoxedStrategy<String> {
    let leaf = prop_oneof![
        4 => "[xyz]",
        2 => "[nm]",
        2 => (-8..9i64).prop_map(|n| n.to_string()),
    ];
    let symbol = if semi { "[nm]|[1-9]" } else { "[1-9]" };
    leaf.prop_recursive(5, 24, 2, move |inner| {
        let of = inner.clone();
        prop_oneof![
            4 => (of.clone(), of.clone(), "[-+]").prop_map(|(a, b, op)| format!("({a}) {op} ({b})")),
            1 => of.clone().prop_map(|a| format!("-({a})")),
            2 => (of.clone(), symbol).prop_map(|(a, b)| format!("({a}) * {b}")),
            2 => (of.clone(), "floordiv|ceildiv|mod", symbol)
                .prop_map(|(a, op, b)| format!("({a}) {op} {b}")),
            // The shape of a remainder.
            1 => (of.clone(), of, symbol)
                .prop_map(|(a, b, q)| format!("({b}) + ({a}) - (({a}) floordiv {q}) * {q}")),
        ]
    })
    .boxed()
}

/// `count` texts between `affine_map<` or `affine_set<` and `>`.
fn samples(count: usize, semi: bool) -> Vec<(bool, String)> {
    let mut runner = TestRunner::deterministic();
    let expressions = expressions(semi);
    let mut next = || expressions.new_tree(&mut runner).expect("a tree").current();
    (0..count)
        .map(|i| match i % 4 {
            0 => {
                let sign = ["==", ">=", "<="][i / 4 % 3];
                (true, format!("(x, y, z)[n, m] : ({} {sign} {})", next(), next()))
            }
            _ => (false, format!("(x, y, z)[n, m] -> ({}, {})", next(), next())),
        })
        .collect()
}

/// What `mlir-opt` prints of each, in order.
fn theirs(samples: &[(bool, String)]) -> Option<Vec<String>> {
    let kind = |set| if set { "affine_set" } else { "affine_map" };
    let op = |(set, text): &(bool, String)| {
        format!("\"t.t\"() {{m = {}<{text}>}} : () -> ()\n", kind(*set))
    };
    let input: String = samples.iter().map(op).collect();
    let options = ["--allow-unregistered-dialect", "--mlir-print-op-generic"];
    let output = peer::mlir_opt(&options, &input)?.expect("mlir-opt takes the maps");
    let mut aliases = std::collections::HashMap::new();
    let mut printed = Vec::new();
    for line in output.lines() {
        if let Some((alias, attr)) = line.split_once(" = affine_") {
            let inside = attr.split_once('<').and_then(|(_, rest)| rest.strip_suffix('>'));
            aliases.insert(alias.to_owned(), inside.expect("an attribute").to_owned());
        } else if let Some((_, alias)) = line.split_once("m = ") {
            let alias = alias.split('}').next().expect("text");
            printed.push(aliases[alias].clone());
        }
    }
    Some(printed)
}

fn check(count: usize, semi: bool) {
    let samples = samples(count, semi);
    let Some(theirs) = theirs(&samples) else {
        println!("skipped: needs mlir-opt-22");
        return;
    };
    assert_eq!(theirs.len(), samples.len());
    let mut wrong = Vec::new();
    for ((set, text), theirs) in samples.iter().zip(&theirs) {
        let ours = match set {
            true => text.parse::<IntegerSet>().expect("a set").to_string(),
            false => text.parse::<AffineMap>().expect("a map").to_string(),
        };
        if ours != *theirs {
            wrong.push(format!("{text}\n  ours:   {ours}\n  theirs: {theirs}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {count} differ:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(8)].join("\n")
    );
}

#[test]
fn prints_what_mlir_opt_prints() {
    check(3000, false);
}

#[test]
fn prints_what_mlir_opt_prints_of_products_of_symbols() {
    check(1000, true);
}

#[test]
fn reads_the_empty_set() {
    let texts = [(true, "() : ()".to_owned()), (true, "(x) : (0 == 0, -5 >= x)".to_owned())];
    if let Some(theirs) = theirs(&texts) {
        let ours = texts.map(|(_, text)| text.parse::<IntegerSet>().expect("a set").to_string());
        assert_eq!(theirs, ours);
    }
}
