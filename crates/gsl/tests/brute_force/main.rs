//! The matcher against all injective assignments, on small random graphs and random rules.
//!
//! `generate.rs` writes rules and graphs as text: tuples, projections, variadic fields and outputs,
//! instances, several outputs, commutative calls, shared operators, alternatives, negation, `only`,
//! attributes that other calls or an index decide. `semantics.rs` enumerates what the semantics
//! admits, without a plan, an order or any choice that could be missed.

mod generate;
mod semantics;
#[path = "../support/mod.rs"]
mod support;

use std::cell::Cell;
use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use semantics::{Assignment, Brute};
use support::Graph;
use tangram_gsl::ast::{PatternKind, Rule};
use tangram_gsl::rules::CompiledRule;
use tangram_gsl::text::parse;
use tangram_ir::Op;

/// What the matcher finds at one operation, in the terms of the enumeration.
fn matched(graph: &Graph, compiled: &CompiledRule, rule: &Rule, root: Op) -> BTreeSet<Assignment> {
    let (plan, module) = (compiled.plan(), &graph.module);
    let mut solver = compiled.matches(module, root);
    let mut found = BTreeSet::new();
    while let Some(one) = solver.next_match() {
        assert!(plan.prefix().admits(plan, module, root), "the prefix refuses a match");
        let keys = semantics::keys(rule, |id| one.branch_count(plan, id));
        let value = |(id, branch): semantics::Node| match branch {
            None => one.value(plan, module, id),
            Some(branch) => one.instance(plan, module, branch, id),
        };
        found.insert(keys.into_iter().map(|key| (key, value(key))).collect());
    }
    assert!(!solver.is_exhausted());
    found
}

fn is_variadic(rule: &Rule) -> bool {
    matches!(rule.pattern(rule.sources()[0]).kind, PatternKind::Variadic { .. })
}

/// Compares both; false if the text is no rule. Returns how many matches there are.
fn compare(graph: &Graph, text: &str) -> Option<usize> {
    let rule = parse(text).unwrap_or_else(|error| panic!("{text}\n{error}")).remove(0);
    let schema = tangram_gsl::schema::NnSchema::new(graph.module.context());
    let (_, found) = tangram_gsl::check::check_built(&rule, &schema);
    // Outputs that share nothing are no rule, nor are templates that the field does not reach.
    if tangram_gsl::check::has_errors(&found) {
        return None;
    }
    let compiled = graph.rule(text);
    let brute = Brute::new(&rule, &graph.module).all();
    let mut count = 0;
    for root in graph.module.ops(graph.module.body()) {
        let expected: BTreeSet<Assignment> =
            brute.iter().filter(|(at, ..)| *at == root).map(|(.., one)| one.clone()).collect();
        let got = matched(graph, &compiled, &rule, root);
        count += expected.len();
        if is_variadic(&rule) {
            // One match for each root, with as many branches as there can be.
            let most = brute.iter().filter(|(at, ..)| *at == root).map(|(_, n, _)| *n).max();
            let best: BTreeSet<Assignment> = brute
                .iter()
                .filter(|(at, n, _)| *at == root && Some(*n) == most)
                .map(|(.., one)| one.clone())
                .collect();
            assert_eq!(got.is_empty(), best.is_empty(), "{text}\n{}", graph.dump());
            assert!(got.is_subset(&best), "{got:?}\n{best:?}\n{text}\n{}", graph.dump());
        } else {
            assert_eq!(got, expected, "at {root:?}\n{text}\n{}", graph.dump());
        }
    }
    Some(count)
}

/// The same sample each time; others where `PROPTEST_CASES` asks for more.
fn runner() -> TestRunner {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok());
    let config = ProptestConfig {
        cases: asked.unwrap_or(300),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    match asked {
        Some(_) => TestRunner::new(config),
        None => TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha)),
    }
}

#[test]
fn the_matcher_finds_what_brute_force_finds() {
    // What is compared must not be a comparison of nothing with nothing.
    let counts: [Cell<usize>; 5] = Default::default();
    let features = ["rule", "commutative", " | ", "concatenate(v", "match variadic"];
    let cases = (
        prop::collection::vec(generate::items(3..=7), 4),
        generate::items(1..=3),
        any::<[u8; 4]>(),
        any::<bool>(),
    );
    let mut runner = runner();
    let sample = runner.config().cases as usize;
    runner
        .run(&cases, |(graphs, pattern, output, alias)| {
            let Some(text) = generate::rule(&pattern, output, alias) else { return Ok(()) };
            let palette = generate::palette(&pattern, output);
            let graphs = graphs.iter().map(|g| Graph::new(&generate::graph(g, &palette)));
            let found: usize = graphs.filter_map(|graph| compare(&graph, &text)).sum();
            for (count, feature) in counts.iter().zip(features) {
                let has = found > 0 && text.contains(feature);
                count.set(count.get() + usize::from(has));
            }
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
    let least = [5, 100, 100, 300, 100].map(|part| sample / part);
    let enough = counts.iter().zip(least).all(|(count, least)| count.get() >= least);
    assert!(enough, "{features:?}: {counts:?} of {sample}");
}

#[test]
fn fields_are_compared() {
    let graph = Graph::new("v0, v1: f32[?, ?]\nr = relu(v0)\nc = concatenate(r, v1) {axis = 0}");
    let text = "rule r { let w = *; let v = variadic w over (w); match concatenate(v); rewrite tanh(v[w, 0]); }";
    assert_eq!(compare(&graph, text), Some(1));
    let text = "rule r { let w = *; let v = variadic w over (w); match concatenate(v) as y; rewrite tanh(y); }";
    assert_eq!(compare(&graph, text), Some(1));
}
