//! When the work ends before nothing matches any more.
//!
//! A limit is reported only where it stood in the way: at the limit of rewrites the next one is
//! tried and taken back, at that of rounds one more is tried on a copy.

use std::sync::atomic::Ordering;
use std::time::Instant;

use tangram_ir::{Module, Op};

use super::GreedyConfig;
use super::driver::Driver;
use super::report::Stop;
use super::tally::Tally;
use crate::journal::Journal;
use crate::rewriter::Rewriter;

/// Rewrites without a set limit: so many, and so many more for each operation at the start.
const REWRITES: u64 = 10_000;
const REWRITES_PER_OP: u64 = 64;
/// So many operations may be added to any module, where growth has a limit.
const GROWTH: u64 = 10_000;

/// Limits that are counts.
pub(super) struct Limits {
    rewrites: u64,
    /// How many operations there may be more than at the start.
    growth: u64,
}

impl Limits {
    /// No limit.
    pub(super) fn none() -> Limits {
        Limits { rewrites: u64::MAX, growth: u64::MAX }
    }

    /// Those of `config`, where `seeded` operations are on the list at the start.
    pub(super) fn new(config: &GreedyConfig, seeded: u64) -> Limits {
        let rewrites = REWRITES.saturating_add(seeded.saturating_mul(REWRITES_PER_OP));
        let growth = |times: u32| GROWTH.saturating_add(seeded.saturating_mul(u64::from(times)));
        Limits {
            rewrites: config.max_rewrites.unwrap_or(rewrites),
            growth: config.max_growth.map_or(u64::MAX, growth),
        }
    }
}

impl Driver<'_> {
    /// The limit that another rewrite would break.
    pub(super) fn limit(&self) -> Option<Stop> {
        // Folding in place could go round in a circle as well.
        if self.report.rewrites + self.report.folded >= self.limits.rewrites {
            return Some(Stop::Rewrites(self.limits.rewrites));
        }
        u64::try_from(self.grown)
            .is_ok_and(|grown| grown > self.limits.growth)
            .then_some(Stop::Growth(self.limits.growth))
    }

    /// What ends the work at once.
    pub(super) fn interrupted(&self) -> Option<Stop> {
        if self.config.cancel.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Some(Stop::Cancelled);
        }
        self.config.deadline.is_some_and(|end| Instant::now() >= end).then_some(Stop::Deadline)
    }

    /// Returns whether a pattern of `candidates` would rewrite `op`: it is tried, and what it does
    /// is taken back.
    pub(super) fn would_rewrite(&mut self, candidates: &[u32], op: Op) -> bool {
        let set = self.set;
        candidates.iter().any(|&i| {
            if !set.accepts(i, self.module, op) {
                return false;
            }
            let (mut journal, mut tally) = (Journal::new(), Tally::default());
            let mut copies = self.copies.clone();
            let start = journal.mark();
            tally.begin(self.module);
            let outcome = Rewriter::new(self.module, &mut tally)
                .with_journal(&mut journal)
                .with_forms(&mut self.forms)
                .with_copies(copies.as_mut())
                .with_reasons(self.config.reasons)
                .unguarded(self.config.unguarded)
                .attempt(set.pattern(i), op);
            journal.undo(self.module, start);
            let stats = &mut self.report.patterns[i as usize];
            stats.attempts += 1;
            if let Err(why) = outcome {
                stats.last_failure = why.reason.or(stats.last_failure.take());
            }
            tally.has_changed()
        })
    }

    /// Returns whether one more round would change something. O(module): a copy of it is tried.
    pub(super) fn goes_on(&self) -> bool {
        let config = GreedyConfig { max_iterations: None, check: false, ..self.config.clone() };
        let mut copy: Module = self.module.clone();
        let mut trial = Driver::new(&mut copy, self.root, self.ops, self.set, &config, None);
        trial.forms = self.forms.clone();
        trial.copies = self.copies.clone();
        trial.tracker.take_over(&self.tracker);
        trial.report.sweeps = self.report.sweeps;
        trial.seed();
        while let Some(op) = trial.take() {
            trial.visit(op);
            if trial.changes() > 0 || trial.interrupted().is_some() {
                return true;
            }
        }
        trial.simplify();
        trial.changes() > 0
    }
}
