//! Mutation testing of verification: rules of the library with one change each.

use tangram::Library;
use tangram::gsl::verify::Effort;
use tangram::gsl::verify::mutate::{Fate, Judgement, Mutant};

/// Verifies every `step`th mutant; returns what is missed, and how many are refuted.
fn missed(library: &Library, step: usize) -> (Vec<String>, usize) {
    let found = library.mutate(&Effort::default(), step);
    let refuted = found.iter().filter(|(.., found)| found.fate == Fate::Refuted).count();
    let told = |(rule, mutant, found): &(String, Mutant, Judgement)| {
        let missed = found.fate == Fate::Missed;
        missed.then(|| format!("{rule}: {}: {}", mutant.change, found.reason))
    };
    (found.iter().filter_map(told).collect(), refuted)
}

#[test]
fn a_sample_of_mutants_is_refuted() {
    let all = Library::shipped().expect("the shipped rules");
    for (name, least) in [("transpose-transpose", 1), ("clip-clip", 2), ("bias-bias", 1)] {
        let (missed, refuted) = missed(&all.named(name), 3);
        assert!(missed.is_empty(), "{missed:?}");
        assert!(refuted >= least, "{name}: {refuted}");
    }
}

#[test]
#[ignore = "all mutants of all rules, an hour without optimisation"]
fn all_mutants_are_refuted() {
    let library = Library::shipped().expect("the shipped rules");
    let (missed, refuted) = missed(&library, 1);
    println!("{refuted} refuted, {} missed", missed.len());
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
