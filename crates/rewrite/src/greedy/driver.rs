//! The loop of the greedy driver: a worklist of operations, folded, erased or given to patterns.

use std::time::{Duration, Instant};

use tangram_ir::{Fold, Module, Op, Order, Traits, walk};

use super::acting::Acting;
use super::check::{Fingerprints, Heard};
use super::constants::Constants;
use super::history::{History, identity};
use super::limits::Limits;
use super::merge::{Merge, Table};
use super::report::{Breach, Report, Stop};
use super::simplify::simplify;
use super::tally::Tally;
use super::tracker::Tracker;
use super::{GreedyConfig, Seeding, Simplify};
use crate::copies::Copies;
use crate::forms::Forms;
use crate::listener::{Both, Listener, Outcome};
use crate::pattern::NoMatch;
use crate::rewriter::Rewriter;
use crate::set::{FrozenPatternSet, PatternReport};

pub(super) struct Driver<'a> {
    pub(super) module: &'a mut Module,
    pub(super) root: Op,
    /// The operations to start with; all in the field if absent.
    pub(super) ops: Option<&'a [Op]>,
    /// The operation whose regions sweeps go through: the root, or the scope if that is below it.
    field: Option<Op>,
    pub(super) set: &'a FrozenPatternSet,
    pub(super) config: &'a GreedyConfig,
    pub(super) tracker: Tracker<'a>,
    table: Table,
    constants: Constants,
    acting: Acting,
    random: u64,
    history: History,
    pub(super) forms: Forms,
    pub(super) copies: Option<Copies>,
    pub(super) report: Report,
    pub(super) limits: Limits,
    /// The limit that stands against what would come next.
    pub(super) held: Option<Stop>,
    /// How many operations there are more than at the start.
    pub(super) grown: i64,
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
        let copies = config.max_constant_bytes.map(|most| Copies::new(module, most, true));
        let scope = config.scope.unwrap_or(root);
        let wider = module.is_proper_ancestor(scope, root);
        let narrower = scope == root || module.is_proper_ancestor(root, scope);
        let field = if wider { Some(root) } else { narrower.then_some(scope) };
        let mut tracker = Tracker::new(set, scope, config.strictness, listener);
        if ops.is_some() || wider {
            tracker.remember();
        }
        Self {
            module,
            root,
            ops,
            field,
            set,
            config,
            tracker,
            table: Table::new(config.merge_equal_bytes),
            constants: Constants::new(scope),
            acting: Acting::default(),
            random: config.shuffle.unwrap_or(0),
            history: History::default(),
            forms,
            copies,
            report: Report { patterns, ..Report::default() },
            limits: Limits::none(),
            held: None,
            grown: 0,
            now: Instant::now(),
        }
    }

    pub(super) fn run(mut self) -> Report {
        let seeded = self.seed() as u64;
        self.limits = Limits::new(self.config, seeded);
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
                self.report.stopped_by = self.goes_on().then_some(Stop::Iterations(most));
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

    pub(super) fn changes(&self) -> u64 {
        let report = &self.report;
        report.rewrites + report.dead + report.merged + report.folded + report.simplified
    }

    /// Puts the operations to start with on the list, and in a later round those that were there
    /// before; returns how many there are.
    pub(super) fn seed(&mut self) -> usize {
        self.report.sweeps += 1;
        // A later round takes what a stricter mode has left.
        let later = self.report.sweeps > 1;
        let mut seeds = if later { self.tracker.listed(self.module) } else { Vec::new() };
        match self.ops {
            Some(ops) if !later => seeds.extend(ops),
            Some(_) => {}
            None => seeds.extend(self.sweep()),
        }
        // The list gives back the last first.
        for &op in seeds.iter().rev().filter(|&&op| self.module.is_live(op)) {
            match later {
                true => self.tracker.push(self.module, op),
                false => self.tracker.seed(self.module, op),
            }
        }
        seeds.len()
    }

    /// Everything in the field, in the order in which it is to be taken.
    fn sweep(&self) -> Vec<Op> {
        let Some(field) = self.field.filter(|&field| self.module.is_live(field)) else {
            return Vec::new();
        };
        let (order, backwards) = match self.config.seeding {
            Seeding::TopDown => (Order::Pre, false),
            Seeding::BottomUp => (Order::Post, true),
        };
        let mut ops = walk(self.module, field, order);
        if backwards {
            ops.reverse();
        }
        ops.retain(|&op| op != field);
        ops
    }

    /// Works until the list is empty or a limit is reached.
    fn drain(&mut self) -> Option<Stop> {
        self.now = Instant::now();
        while let Some(op) = self.take() {
            if let Some(stop) = self.interrupted() {
                return Some(stop);
            }
            self.report.visits += 1;
            self.tracker.visit_begin(self.module, op);
            let outcome = self.visit(op);
            self.tracker.visit_end(self.module, outcome);
            if self.held.is_some() {
                return self.held;
            }
        }
        None
    }

    /// The next operation of the list that is still in the scope.
    pub(super) fn take(&mut self) -> Option<Op> {
        loop {
            let op = match self.config.shuffle {
                None => self.tracker.list.pop(),
                Some(_) => self.tracker.list.pop_random(&mut self.random),
            }?;
            if self.tracker.scope.holds(self.module, op) {
                return Some(op);
            }
        }
    }

    pub(super) fn visit(&mut self, op: Op) -> Outcome {
        if self.erase_if_dead(op) {
            Outcome::Erased
        } else if self.unique_constant(op) {
            Outcome::Merged
        } else if self.fold(op) {
            Outcome::Folded
        } else if self.held.is_some() {
            Outcome::Unchanged
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
        if let Some(stop) = self.limit() {
            let folds = match &found {
                Fold::InPlace { .. } => true,
                Fold::Results(results) => self.constants.has_values(self.module, op, results),
            };
            self.held = folds.then_some(stop);
            return false;
        }
        self.tracker.begin(self.module);
        let mut rewriter =
            Rewriter::new(self.module, &mut self.tracker).with_copies(self.copies.as_mut());
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
        let mut rewriter =
            Rewriter::new(self.module, &mut self.tracker).with_copies(self.copies.as_mut());
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
    pub(super) fn simplify(&mut self) {
        let level = self.config.regions;
        if level == Simplify::Disabled || self.ops.is_some() {
            return;
        }
        let Some(field) = self.field.filter(|&field| self.module.is_live(field)) else { return };
        self.tracker.begin(self.module);
        let mut rewriter =
            Rewriter::new(self.module, &mut self.tracker).with_copies(self.copies.as_mut());
        self.report.simplified += simplify(&mut rewriter, field, level);
        self.tracker.flush(self.module);
    }

    fn erase_if_dead(&mut self, op: Op) -> bool {
        if !self.config.erase_dead || !self.module.is_unused(op) || !self.is_erasable(op) {
            return false;
        }
        self.tracker.begin(self.module);
        let copies = self.copies.as_mut();
        Rewriter::new(self.module, &mut self.tracker).with_copies(copies).erase(op);
        self.tracker.flush(self.module);
        self.report.dead += self.tracker.tally.removed;
        self.grown -= self.tracker.tally.removed as i64;
        true
    }

    fn is_erasable(&mut self, op: Op) -> bool {
        let (erasable, removed) = (&self.config.erasable, self.tracker.acting_removed);
        self.acting.is_erasable(self.module, op, erasable, removed)
    }

    fn merge(&mut self, op: Op) -> bool {
        if !self.config.merge_equal {
            return false;
        }
        let Some(Merge { kept, dropped }) = self.table.find(self.module, op) else { return false };
        if !self.tracker.allows(dropped) || !self.tracker.scope.holds(self.module, dropped) {
            return false;
        }
        self.keep_contents(kept, dropped);
        self.tracker.begin(self.module);
        let values: Vec<_> = self.module.results(kept).collect();
        let mut rewriter =
            Rewriter::new(self.module, &mut self.tracker).with_copies(self.copies.as_mut());
        rewriter.replace(dropped, &values).expect("equal operations have equally many results");
        self.tracker.flush(self.module);
        self.report.merged += 1;
        self.grown -= 1;
        // The one that stays may have been the one on the list.
        if kept == op {
            self.tracker.push(self.module, op);
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
        if let Some(stop) = self.limit() {
            self.held = self.would_rewrite(candidates, op).then_some(stop);
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
        let mut rewriter = Rewriter::new(self.module, &mut self.tracker)
            .with_forms(&mut self.forms)
            .with_copies(self.copies.as_mut())
            .with_reasons(self.config.reasons)
            .unguarded(self.config.unguarded);
        let outcome = rewriter.attempt(self.set.pattern(i), op);
        if rewriter.unfinished() > 0 {
            self.note(Breach::UnfinishedModification(self.set.pattern(i).name().to_owned()));
        }
        outcome
    }

    fn note(&mut self, breach: Breach) {
        if !self.report.breaches.contains(&breach) {
            self.report.breaches.push(breach);
        }
    }

    /// As [`Driver::attempt`]; compares what was changed with what was told.
    fn attempt_checked(&mut self, i: u32, op: Op) -> Result<(), NoMatch> {
        let before = Fingerprints::of(self.module, self.module.root());
        let mut heard = Heard::default();
        let pattern = self.set.pattern(i);
        let mut both = Both(&mut self.tracker, &mut heard);
        let mut rewriter = Rewriter::new(self.module, &mut both)
            .with_forms(&mut self.forms)
            .with_copies(self.copies.as_mut())
            .with_reasons(self.config.reasons)
            .unguarded(self.config.unguarded);
        let outcome = rewriter.attempt(pattern, op);
        let unfinished = rewriter.unfinished() > 0;
        let tried = (pattern.name(), outcome.is_ok());
        let found = match unfinished {
            true => Some(Breach::UnfinishedModification(pattern.name().to_owned())),
            false => before.judge(self.module, self.module.root(), op, tried, &heard),
        };
        found.into_iter().for_each(|breach| self.note(breach));
        outcome
    }

    fn count(&mut self, i: u32, outcome: &Result<(), NoMatch>, changed: bool) {
        let time = self.lap();
        let stats = &mut self.report.patterns[i as usize];
        stats.attempts += 1;
        stats.time += time;
        if changed {
            stats.hits += 1;
            let Tally { added, removed, .. } = self.tracker.tally;
            stats.added += added;
            stats.removed += removed;
            self.grown += added as i64 - removed as i64;
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
        self.note(breach);
    }

    /// The time since the last call: one reading of the clock for each attempt.
    fn lap(&mut self) -> Duration {
        let now = Instant::now();
        let time = now - self.now;
        self.now = now;
        time
    }
}
