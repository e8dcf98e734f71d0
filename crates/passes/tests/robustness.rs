//! Whatever text comes in: no panic, no invalid program, no end that never comes, in the parser, the
//! printer and every pass.

mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};

use support::mutate;
use support::strange::{Reached, follow, pipelines};

/// The seeds of programs that something went wrong with, and how many programs were valid.
fn search(seeds: std::ops::Range<u64>) -> (Vec<u64>, usize) {
    let pipelines = pipelines();
    let (mut wrong, mut valid) = (Vec::new(), 0);
    for seed in seeds {
        let source = mutate::program(seed);
        let reached = catch_unwind(AssertUnwindSafe(|| follow(&source, &pipelines)));
        match reached {
            Ok(reached) => valid += usize::from(reached == Reached::Valid),
            Err(_) => {
                println!("seed {seed}:\n{source}");
                wrong.push(seed);
            }
        }
    }
    (wrong, valid)
}

#[test]
fn hundreds_of_strange_programs() {
    let (wrong, valid) = search(1..301);
    assert_eq!(wrong, Vec::<u64>::new());
    assert!(valid >= 25, "only {valid} of 300 programs are valid");
}

/// `TANGRAM_SEEDS=FROM..TO` chooses the programs.
#[test]
#[ignore = "takes minutes; `cargo xtask long` runs it"]
fn many_thousands_of_strange_programs() {
    let (wrong, valid) = search(support::asked_seeds().unwrap_or(1_000..16_000));
    println!("{valid} valid");
    assert_eq!(wrong, Vec::<u64>::new());
}
