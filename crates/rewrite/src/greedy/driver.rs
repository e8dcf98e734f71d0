//! The loop.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tangram_ir::{Module, Op, Order, Traits, walk};

use super::history::{History, identity};
use super::merge::{Merge, Table};
use super::report::{Breach, Report, Stop};
use super::tracker::Tracker;
use super::{GreedyConfig, Seeding};
use crate::listener::Listener;
use crate::pattern::NoMatch;
use crate::rewriter::Rewriter;
use crate::set::{FrozenPatternSet, PatternReport};

/// Rewrites without a set limit: so many, and so many more for each operation at the start.
const REWRITES: u64 = 10_000;
const REWRITES_PER_OP: u64 = 64;

pub(super) struct Driver<'a> {
    module: &'a mut Module,
    root: Op,
    set: &'a FrozenPatternSet,
    config: &'a GreedyConfig,
    tracker: Tracker<'a>,
    table: Table,
    history: History,
    report: Report,
    max_rewrites: u64,
    now: Instant,
}

impl<'a> Driver<'a> {
    pub(super) fn new(
        module: &'a mut Module,
        root: Op,
        set: &'a FrozenPatternSet,
        config: &'a GreedyConfig,
        listener: Option<&'a mut dyn Listener>,
    ) -> Self {
        let named = |name: &str| PatternReport { name: name.to_owned(), ..Default::default() };
        let patterns = set.iter().map(|pattern| named(pattern.name())).collect();
        Self {
            module,
            root,
            set,
            config,
            tracker: Tracker::new(set, root, listener),
            table: Table::default(),
            history: History::default(),
            report: Report { patterns, ..Report::default() },
            max_rewrites: 0,
            now: Instant::now(),
        }
    }

    pub(super) fn run(mut self) -> Report {
        let seeded = self.seed() as u64;
        let default = REWRITES.saturating_add(seeded.saturating_mul(REWRITES_PER_OP));
        self.max_rewrites = self.config.max_rewrites.unwrap_or(default);
        loop {
            let before = self.changes();
            self.report.stopped_by = self.drain();
            let quiet = self.changes() == before;
            if quiet || self.report.stopped_by.is_some() {
                break;
            }
            self.seed();
        }
        if let Some(Stop::Rewrites(_)) = self.report.stopped_by {
            let set = self.set;
            let name = |i: u32| set.pattern(i).name().to_owned();
            self.report.cycle = self.history.cycle(self.module, &name);
        }
        self.report
    }

    fn changes(&self) -> u64 {
        self.report.rewrites + self.report.dead + self.report.merged
    }

    /// Puts every operation below the root on the list; returns how many.
    fn seed(&mut self) -> usize {
        self.report.sweeps += 1;
        let order = match self.config.seeding {
            Seeding::TopDown => Order::Pre,
            Seeding::BottomUp => Order::Post,
        };
        let mut ops = walk(self.module, self.root, order);
        // The list gives back the last first.
        if self.config.seeding == Seeding::TopDown {
            ops.reverse();
        }
        for &op in ops.iter().filter(|&&op| op != self.root) {
            self.tracker.list.push(op);
        }
        ops.len()
    }

    /// Works until the list is empty or a limit is reached.
    fn drain(&mut self) -> Option<Stop> {
        self.now = Instant::now();
        while let Some(op) = self.tracker.list.pop() {
            if let Some(stop) = self.limit() {
                return Some(stop);
            }
            self.report.visits += 1;
            if !(self.erase_if_dead(op) || self.merge(op)) {
                self.rewrite(op);
            }
        }
        None
    }

    fn limit(&mut self) -> Option<Stop> {
        if self.report.rewrites >= self.max_rewrites {
            return Some(Stop::Rewrites(self.max_rewrites));
        }
        if self.config.cancel.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Some(Stop::Cancelled);
        }
        self.config.deadline.is_some_and(|end| Instant::now() >= end).then_some(Stop::Deadline)
    }

    fn erase_if_dead(&mut self, op: Op) -> bool {
        if !self.config.erase_dead || !self.module.is_unused(op) || !self.is_erasable(op) {
            return false;
        }
        self.tracker.begin(self.module);
        Rewriter::new(self.module, &mut self.tracker).erase(op);
        self.tracker.flush(self.module);
        self.report.dead += self.tracker.removed;
        true
    }

    /// Says whether `op` has no effect but its results.
    fn is_erasable(&self, op: Op) -> bool {
        let alone = |op: Op| {
            self.module
                .def(op)
                .is_some_and(|def| def.traits.intersects(Traits::PURE | Traits::RECURSIVE_EFFECTS))
                || self.config.erasable.contains(&self.module.name(op))
        };
        if self.module.has_traits(op, Traits::TERMINATOR) || !alone(op) {
            return false;
        }
        match self.module.regions(op) {
            [] => true,
            _ => walk(self.module, op, Order::Pre).into_iter().all(alone),
        }
    }

    fn merge(&mut self, op: Op) -> bool {
        if !self.config.merge_equal {
            return false;
        }
        let Some(Merge { kept, dropped }) = self.table.find(self.module, op) else { return false };
        self.keep_contents(kept, dropped);
        self.tracker.begin(self.module);
        let values: Vec<_> = self.module.results(kept).collect();
        let mut rewriter = Rewriter::new(self.module, &mut self.tracker);
        rewriter.replace(dropped, &values).expect("equal operations have equally many results");
        self.tracker.flush(self.module);
        self.report.merged += 1;
        // The one that stays may have been the one on the list.
        if kept == op {
            self.tracker.list.push(op);
        }
        true
    }

    /// What is known only of the dropped operation's elements holds for the kept one's.
    fn keep_contents(&mut self, kept: Op, dropped: Op) {
        for (k, d) in self.module.results(kept).zip(self.module.results(dropped)) {
            if self.module.contents(k).is_none() {
                let contents = self.module.contents(d);
                self.module.set_contents(k, contents);
            }
        }
    }

    /// Tries the patterns for `op` until one rewrites.
    fn rewrite(&mut self, op: Op) {
        let set = self.set;
        let candidates = set.candidates(self.module.name(op));
        if candidates.is_empty() {
            return;
        }
        let (name, loc) = identity(self.module, op);
        self.now = Instant::now();
        for &i in candidates {
            self.tracker.begin(self.module);
            let mut rewriter =
                Rewriter::new(self.module, &mut self.tracker).with_reasons(self.config.reasons);
            let outcome = set.pattern(i).match_and_rewrite(&mut rewriter, op);
            let changed = self.tracker.events > 0;
            self.count(i, &outcome, changed);
            if changed {
                self.history.push(i, name, loc);
                self.tracker.flush(self.module);
                return;
            }
        }
    }

    fn count(&mut self, i: u32, outcome: &Result<(), NoMatch>, changed: bool) {
        let time = self.lap();
        let stats = &mut self.report.patterns[i as usize];
        stats.attempts += 1;
        stats.time += time;
        if changed {
            stats.hits += 1;
            stats.added += self.tracker.added;
            stats.removed += self.tracker.removed;
            self.report.rewrites += 1;
        }
        let breach = match outcome {
            Ok(()) if !changed => Breach::SuccessWithoutChange(stats.name.clone()),
            Err(_) if changed => Breach::ChangeWithoutSuccess(stats.name.clone()),
            Err(NoMatch { reason: Some(reason) }) => {
                stats.last_failure = Some(reason.clone());
                return;
            }
            _ => return,
        };
        if !self.report.breaches.contains(&breach) {
            self.report.breaches.push(breach);
        }
    }

    /// The time since the last call: one reading of the clock for each attempt.
    fn lap(&mut self) -> Duration {
        let now = Instant::now();
        let time = now - self.now;
        self.now = now;
        time
    }
}
