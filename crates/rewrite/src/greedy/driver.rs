//! The loop of the greedy driver: a worklist of operations, folded, erased or given to patterns.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rustc_hash::FxHashSet;
use tangram_ir::{Fold, Module, Op, Order, Traits, walk};

use super::check::{Fingerprints, Heard};
use super::constants::Constants;
use super::history::{History, identity};
use super::merge::{Merge, Table};
use super::report::{Breach, Report, Stop};
use super::simplify::simplify;
use super::tracker::Tracker;
use super::{GreedyConfig, Seeding, Simplify};
use crate::forms::Forms;
use crate::listener::{Both, Listener, Outcome};
use crate::pattern::NoMatch;
use crate::rewriter::Rewriter;
use crate::set::{FrozenPatternSet, PatternReport};

/// Rewrites without a set limit: so many, and so many more for each operation at the start.
const REWRITES: u64 = 10_000;
const REWRITES_PER_OP: u64 = 64;
/// So many operations may be added to any module, where growth has a limit.
const GROWTH: u64 = 10_000;

pub(super) struct Driver<'a> {
    module: &'a mut Module,
    root: Op,
    /// The operations to start with; all below the root if absent.
    ops: Option<&'a [Op]>,
    set: &'a FrozenPatternSet,
    config: &'a GreedyConfig,
    tracker: Tracker<'a>,
    table: Table,
    constants: Constants,
    /// Operations that hold one with an effect, as long as none with an effect is erased: looking
    /// into the regions of each would be quadratic in their depth.
    acting: FxHashSet<Op>,
    acting_removed: u64,
    random: u64,
    history: History,
    forms: Forms,
    report: Report,
    max_rewrites: u64,
    /// How many operations there may be more than at the start, and how many more there are.
    max_growth: u64,
    grown: i64,
    now: Instant,
}

impl<'a> Driver<'a> {
    pub(super) fn new(
        module: &'a mut Module,
        root: Op,
        ops: Option<&'a [Op]>,
        set: &'a FrozenPatternSet,
        config: &'a GreedyConfig,
        listener: Option<&'a mut dyn Listener>,
    ) -> Self {
        let named = |name: &str| PatternReport { name: name.to_owned(), ..Default::default() };
        let patterns = set.iter().map(|pattern| named(pattern.name())).collect();
        // Looking at every tensor is for those who set a limit.
        let forms = match config.max_growth {
            Some(_) => Forms::new(module, root),
            None => Forms::unbounded(),
        };
        Self {
            module,
            root,
            ops,
            set,
            config,
            tracker: Tracker::new(set, root, config.strictness, listener),
            table: Table::new(config.merge_equal_bytes),
            constants: Constants::default(),
            acting: FxHashSet::default(),
            acting_removed: 0,
            random: config.shuffle.unwrap_or(0),
            history: History::default(),
            forms,
            report: Report { patterns, ..Report::default() },
            max_rewrites: 0,
            max_growth: u64::MAX,
            grown: 0,
            now: Instant::now(),
        }
    }

    pub(super) fn run(mut self) -> Report {
        let seeded = self.seed() as u64;
        let default = REWRITES.saturating_add(seeded.saturating_mul(REWRITES_PER_OP));
        self.max_rewrites = self.config.max_rewrites.unwrap_or(default);
        if let Some(times) = self.config.max_growth {
            self.max_growth = GROWTH.saturating_add(seeded.saturating_mul(u64::from(times)));
        }
        loop {
            let before = self.changes();
            self.report.stopped_by = self.drain();
            if self.report.stopped_by.is_none() {
                self.simplify();
            }
            let quiet = self.changes() == before;
            if quiet || self.report.stopped_by.is_some() {
                break;
            }
            if let Some(most) = self.config.max_iterations
                && self.report.sweeps >= most
            {
                self.report.stopped_by = Some(Stop::Iterations(most));
                break;
            }
            if self.ops.is_some() {
                break;
            }
            self.seed();
        }
        if let Some(Stop::Rewrites(_) | Stop::Iterations(_) | Stop::Growth(_)) =
            self.report.stopped_by
        {
            let set = self.set;
            let name = |i: u32| set.pattern(i).name().to_owned();
            self.report.cycle = self.history.cycle(self.module, &name);
        }
        self.report
    }

    fn changes(&self) -> u64 {
        let report = &self.report;
        report.rewrites + report.dead + report.merged + report.folded + report.simplified
    }

    /// Puts every operation below the root on the list; returns how many.
    fn seed(&mut self) -> usize {
        self.report.sweeps += 1;
        let order = match self.config.seeding {
            Seeding::TopDown => Order::Pre,
            Seeding::BottomUp => Order::Post,
        };
        if let Some(ops) = self.ops {
            for &op in ops.iter().rev().filter(|&&op| self.module.is_live(op)) {
                self.tracker.seed(op);
            }
            return ops.len();
        }
        let scope = self.config.scope.unwrap_or(self.root);
        // A later round takes what a stricter mode has left.
        let later = self.report.sweeps > 1;
        let mut ops = walk(self.module, scope, order);
        // The list gives back the last first.
        if self.config.seeding == Seeding::TopDown {
            ops.reverse();
        }
        for &op in ops.iter().filter(|&&op| op != self.root && op != scope) {
            if later { self.tracker.push(op) } else { self.tracker.seed(op) }
        }
        ops.len()
    }

    /// Works until the list is empty or a limit is reached.
    fn drain(&mut self) -> Option<Stop> {
        self.now = Instant::now();
        while let Some(op) = self.take() {
            if let Some(stop) = self.limit() {
                return Some(stop);
            }
            self.report.visits += 1;
            self.tracker.visit_begin(self.module, op);
            let outcome = self.visit(op);
            self.tracker.visit_end(self.module, outcome);
        }
        None
    }

    fn take(&mut self) -> Option<Op> {
        match self.config.shuffle {
            None => self.tracker.list.pop(),
            Some(_) => self.tracker.list.pop_random(&mut self.random),
        }
    }

    fn visit(&mut self, op: Op) -> Outcome {
        if self.erase_if_dead(op) {
            Outcome::Erased
        } else if self.unique_constant(op) {
            Outcome::Merged
        } else if self.fold(op) {
            Outcome::Folded
        } else if self.merge(op) {
            Outcome::Merged
        } else if self.rewrite(op) {
            Outcome::Rewritten
        } else {
            Outcome::Unchanged
        }
    }

    /// Replaces `op` by what its folder says it gives.
    fn fold(&mut self, op: Op) -> bool {
        if !self.config.fold {
            return false;
        }
        let Some(found) = self.module.fold(op) else { return false };
        self.tracker.begin(self.module);
        let mut rewriter = Rewriter::new(self.module, &mut self.tracker);
        let folded = match found {
            Fold::InPlace { operands, attrs } => {
                rewriter.modify_in_place(op, |edit| {
                    edit.set_operands(&operands);
                    edit.set_attrs(attrs);
                });
                true
            }
            Fold::Results(results) => match self.constants.values(&mut rewriter, op, &results) {
                Some(values) => rewriter.replace(op, &values).is_ok(),
                None => false,
            },
        };
        self.tracker.flush(self.module);
        self.report.folded += u64::from(folded);
        folded
    }

    /// Gives the constant `op` its place, or the place of an equal one.
    fn unique_constant(&mut self, op: Op) -> bool {
        if !self.config.unique_constants
            || !self.module.has_traits(op, Traits::CONSTANT_LIKE)
            || !self.tracker.allows(op)
        {
            return false;
        }
        self.tracker.begin(self.module);
        let mut rewriter = Rewriter::new(self.module, &mut self.tracker);
        let merged = self.constants.adopt(&mut rewriter, op);
        // A constant that only moved is what it was to everyone.
        if merged {
            self.tracker.flush(self.module)
        } else {
            self.tracker.forget()
        }
        self.report.merged += u64::from(merged);
        merged
    }

    /// Simplifies regions between two rounds.
    fn simplify(&mut self) {
        let level = self.config.regions;
        if level == Simplify::Disabled || self.ops.is_some() {
            return;
        }
        self.tracker.begin(self.module);
        let mut rewriter = Rewriter::new(self.module, &mut self.tracker);
        self.report.simplified += simplify(&mut rewriter, self.root, level);
        self.tracker.flush(self.module);
    }

    fn limit(&mut self) -> Option<Stop> {
        // Folding in place could go round in a circle as well.
        if self.report.rewrites + self.report.folded >= self.max_rewrites {
            return Some(Stop::Rewrites(self.max_rewrites));
        }
        if u64::try_from(self.grown).is_ok_and(|grown| grown > self.max_growth) {
            return Some(Stop::Growth(self.max_growth));
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
        self.grown -= self.tracker.removed as i64;
        true
    }

    /// Returns whether `op` has no effect but its results.
    fn is_erasable(&mut self, op: Op) -> bool {
        let alone = |op: Op| {
            self.module.is_effect_free(op) || self.config.erasable.contains(&self.module.name(op))
        };
        if self.module.has_traits(op, Traits::TERMINATOR) || !alone(op) {
            return false;
        }
        if self.module.regions(op).is_empty() {
            return true;
        }
        if self.acting_removed != self.tracker.acting_removed {
            self.acting.clear();
            self.acting_removed = self.tracker.acting_removed;
        }
        // Depth first, to the first that acts; those around it are not asked again.
        let mut open = vec![op];
        while let Some(inner) = open.pop() {
            if self.acting.contains(&inner) || !alone(inner) {
                let mut at = inner;
                while at != op {
                    self.acting.insert(at);
                    let Some(parent) = self.module.parent(at) else { break };
                    at = parent;
                }
                self.acting.insert(op);
                return false;
            }
            let blocks = self.module.regions(inner).iter().flat_map(|&r| self.module.blocks(r));
            open.extend(blocks.flat_map(|block| self.module.ops(block)));
        }
        true
    }

    fn merge(&mut self, op: Op) -> bool {
        if !self.config.merge_equal {
            return false;
        }
        let Some(Merge { kept, dropped }) = self.table.find(self.module, op) else { return false };
        if !self.tracker.allows(dropped) {
            return false;
        }
        self.keep_contents(kept, dropped);
        self.tracker.begin(self.module);
        let values: Vec<_> = self.module.results(kept).collect();
        let mut rewriter = Rewriter::new(self.module, &mut self.tracker);
        rewriter.replace(dropped, &values).expect("equal operations have equally many results");
        self.tracker.flush(self.module);
        self.report.merged += 1;
        self.grown -= 1;
        // The one that stays may have been the one on the list.
        if kept == op {
            self.tracker.push(op);
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
    fn rewrite(&mut self, op: Op) -> bool {
        let set = self.set;
        let candidates = set.candidates(self.module.name(op));
        if candidates.is_empty() {
            return false;
        }
        let (name, loc) = identity(self.module, op);
        self.now = Instant::now();
        for &i in candidates {
            if !set.accepts(i, self.module, op) {
                continue;
            }
            self.tracker.begin(self.module);
            let outcome =
                if self.config.check { self.attempt_checked(i, op) } else { self.attempt(i, op) };
            let changed = self.tracker.has_changed();
            self.count(i, &outcome, changed);
            if changed {
                self.history.push(i, name, loc);
                self.tracker.flush(self.module);
                return true;
            }
            self.tracker.forget();
        }
        false
    }

    fn attempt(&mut self, i: u32, op: Op) -> Result<(), NoMatch> {
        Rewriter::new(self.module, &mut self.tracker)
            .with_forms(&mut self.forms)
            .with_reasons(self.config.reasons)
            .unguarded(self.config.unguarded)
            .attempt(self.set.pattern(i), op)
    }

    /// As [`Driver::attempt`]; compares what was changed with what was told.
    fn attempt_checked(&mut self, i: u32, op: Op) -> Result<(), NoMatch> {
        let before = Fingerprints::of(self.module, self.module.root());
        let mut heard = Heard::default();
        let pattern = self.set.pattern(i);
        let outcome = Rewriter::new(self.module, &mut Both(&mut self.tracker, &mut heard))
            .with_forms(&mut self.forms)
            .with_reasons(self.config.reasons)
            .unguarded(self.config.unguarded)
            .attempt(pattern, op);
        let tried = (pattern.name(), outcome.is_ok());
        let found = before.judge(self.module, self.module.root(), op, tried, &heard);
        if let Some(breach) = found
            && !self.report.breaches.contains(&breach)
        {
            self.report.breaches.push(breach);
        }
        outcome
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
            self.grown += self.tracker.added as i64 - self.tracker.removed as i64;
            self.report.rewrites += 1;
        }
        let breach = match outcome {
            Ok(()) if !changed => Breach::SuccessWithoutChange(stats.name.clone()),
            Err(_) if changed => Breach::ChangeWithoutSuccess(stats.name.clone()),
            Err(NoMatch { reason: Some(reason), .. }) => {
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
