//! Structured definitions, interpreted, against the reference kernels.
//!
//! Each case is a line in the notation of the spec files: those of `spec/` themselves, and random
//! ones over attributes, ranks, extents and element types. A case is judged with its extents as
//! numbers and, where it has symbols, with these as symbols. Where a definition is one nest without a
//! sum, its bits are those of the kernel; sums and what follows them agree within [`difference::tolerance`].

mod compare;
mod counts;
mod difference;
mod generate;
mod mistakes;
#[path = "../support/mod.rs"]
mod support;

use std::collections::{BTreeMap, BTreeSet};

use compare::{Judgement, judge};
use support::{Case, cases, cases_in};

/// What became of the cases of each operation.
#[derive(Default)]
struct Tally {
    structured: usize,
    symbolic: usize,
    without: usize,
    unusable: usize,
}

/// Judges cases, and fails with those that differ.
fn run(cases: impl Iterator<Item = Case>, seed: u64) -> BTreeMap<String, Tally> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    let mut failures = Vec::new();
    for case in cases {
        let tally = tallies.entry(format!("nn.{}", case.name)).or_default();
        match judge(&case, &mut random) {
            Judgement::Agrees { symbolic } => {
                tally.structured += 1;
                tally.symbolic += usize::from(symbolic);
            }
            Judgement::Without => tally.without += 1,
            Judgement::Unusable => tally.unusable += 1,
            Judgement::Differs(why) => failures.push(format!("{}: {why}", case.place)),
        }
    }
    let count = failures.len();
    failures.truncate(25);
    assert!(failures.is_empty(), "{count} cases differ:\n{}", failures.join("\n"));
    tallies
}

#[test]
fn the_cases_of_inference_compute_what_the_kernels_do() {
    let usable = cases().into_iter().filter(|case| !case.expected.starts_with("error"));
    let tallies = run(usable, 1);
    let judged: usize = tallies.values().map(|tally| tally.structured).sum();
    assert!(judged > 200, "only {judged} cases have a structured form");
}

/// Operations with loops that nothing compares but a line of their own in `generate`.
const WITHOUT: &[&str] = &[
    "nn.full",
    "nn.arange",
    "nn.one_hot",
    "nn.compress",
    "nn.center_crop_pad",
    "nn.stft",
    "nn.contrib_dynamic_quantize_lstm",
    "nn.ml_tree_leaves",
];

#[test]
fn what_entries_propose_is_compared() {
    let mut random = fastrand::Rng::with_seed(3);
    let lines: Vec<String> = (0..60).flat_map(|_| generate::proposed(&mut random)).collect();
    let named: Vec<Case> = lines.iter().flat_map(|line| cases_in(line, line)).collect();
    let tallies = run(named.into_iter(), 3);
    let is_judged = |name: &str| tallies.get(name).is_some_and(|tally| tally.structured > 0);
    let missing: Vec<&str> = tangram_dialects::nn::ops()
        .filter(|op| op.structured.is_some() && op.eval.is_some() && !is_judged(op.def.name))
        .map(|op| op.def.name)
        .collect();
    assert_eq!(missing, WITHOUT);
}

#[test]
fn random_operations_compute_what_the_kernels_do() {
    let seed = std::env::var("TANGRAM_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(7);
    let rounds = std::env::var("TANGRAM_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(24);
    let mut random = fastrand::Rng::with_seed(seed);
    let lines: Vec<String> = (0..rounds).flat_map(|_| generate::lines(&mut random)).collect();
    let named: Vec<Case> = lines.iter().flat_map(|line| cases_in(line, line)).collect();
    let tallies = run(named.into_iter(), seed);
    let defined: BTreeSet<&str> = tangram_dialects::nn::ops()
        .filter(|op| op.structured.is_some() && op.eval.is_some())
        .map(|op| op.def.name)
        .collect();
    let judged: BTreeSet<&str> = tallies
        .iter()
        .filter(|(_, tally)| tally.structured >= rounds / 8)
        .map(|(name, _)| &name[..])
        .collect();
    let missing: Vec<_> = defined.difference(&judged).collect();
    for (name, tally) in &tallies {
        let Tally { structured, symbolic, without, unusable } = tally;
        println!(
            "{name}: {structured} ({symbolic} symbolic), {without} without, {unusable} unusable"
        );
    }
    assert!(missing.is_empty(), "no random case has a structured form: {missing:?}");
    let symbolic: usize = tallies.values().map(|tally| tally.symbolic).sum();
    assert!(symbolic > 30 * rounds, "only {symbolic} cases have symbols as extents");
}
