//! Making one operation after the other legal.

use rustc_hash::FxHashSet;
use tangram_ir::{Diagnostic, Fold, Module, Name, Op, Order, Point, walk};

use super::casts::{materialize_casts, reconcile_casts};
use super::cost::PatternOrder;
use super::types::CAST;
use super::{ConversionConfig, ConversionReport, ConversionTarget, Folding, Legality, Mode};
use crate::greedy::Breach;
use crate::journal::{Journal, Mark};
use crate::listener::{Listener, Outcome};
use crate::pattern::NoMatch;
use crate::rewriter::Rewriter;
use crate::set::{FrozenPatternSet, PatternReport};

/// How deep patterns of declared recursion may follow each other.
pub const MAX_DEPTH: usize = 128;

/// How many reasons an error has.
const NOTES: usize = 8;

/// What is to be made legal, and how.
pub(super) struct Legalizer<'a> {
    module: &'a mut Module,
    root: Op,
    target: &'a ConversionTarget,
    set: &'a FrozenPatternSet,
    config: &'a ConversionConfig<'a>,
    plan: &'a PatternOrder,
    /// The name of casts.
    cast: Name,
    journal: &'a mut Journal,
    listener: &'a mut dyn Listener,
    report: ConversionReport,
    /// The patterns whose results are being made legal, outermost first.
    applied: Vec<u32>,
    /// Operations with regions that are known to be below the root, while the journal counts
    /// `upheavals`: asking upwards each time would be quadratic in the depth of regions.
    attached: FxHashSet<Op>,
    upheavals: u64,
    /// Operations that are legal because one around them is.
    settled: FxHashSet<Op>,
    /// Why patterns were refused or failed, for the error of the present operation.
    reasons: Vec<String>,
}

impl<'a> Legalizer<'a> {
    pub(super) fn new(
        module: &'a mut Module,
        root: Op,
        (target, set, plan): (&'a ConversionTarget, &'a FrozenPatternSet, &'a PatternOrder),
        config: &'a ConversionConfig<'a>,
        journal: &'a mut Journal,
        listener: &'a mut dyn Listener,
    ) -> Self {
        let named = |name: &str| PatternReport { name: name.to_owned(), ..Default::default() };
        let patterns = set.iter().map(|pattern| named(pattern.name())).collect();
        Self {
            cast: module.context().name(CAST),
            module,
            root,
            target,
            set,
            config,
            plan,
            journal,
            listener,
            report: ConversionReport { patterns, ..ConversionReport::default() },
            applied: Vec::new(),
            attached: FxHashSet::default(),
            upheavals: 0,
            settled: FxHashSet::default(),
            reasons: Vec::new(),
        }
    }

    pub(super) fn run(mut self) -> Result<ConversionReport, Vec<Diagnostic>> {
        let ops = walk(self.module, self.root, Order::Pre);
        let is_cast = |op: &Op| self.module.name(*op) == self.cast;
        let present: FxHashSet<Op> = ops.iter().copied().filter(is_cast).collect();
        let mut errors = Vec::new();
        for op in ops {
            let gone = op == self.root || !self.is_attached(op);
            if gone || self.settled.contains(&op) {
                continue;
            }
            self.reasons.clear();
            let legality = self.target.legality(self.module, op);
            let made = self.legalize(op, legality);
            match self.config.mode {
                Mode::Analysis if made => self.report.operations.push(op),
                Mode::Analysis => {}
                _ if made => {}
                Mode::Partial if legality == Legality::Unknown => self.report.operations.push(op),
                _ => errors.push(self.failure(op, legality)),
            }
        }
        if self.config.mode == Mode::Analysis {
            return Ok(self.report);
        }
        let casts = !present.is_empty() || self.journal.made(self.module, self.cast);
        if errors.is_empty() && casts {
            let mut rewriter = Rewriter::new(self.module, self.listener).with_journal(self.journal);
            reconcile_casts(&mut rewriter, self.root);
            if let Some(types) = self.config.types {
                materialize_casts(&mut rewriter, self.root, types, &present)?;
            }
        }
        if errors.is_empty() { Ok(self.report) } else { Err(errors) }
    }

    /// Returns whether `op` is still below the root.
    fn is_attached(&mut self, op: Op) -> bool {
        if self.upheavals != self.journal.upheavals {
            self.attached.clear();
            self.upheavals = self.journal.upheavals;
        }
        let mut passed = Vec::new();
        let mut at = op;
        while at != self.root && !self.attached.contains(&at) {
            let parent = if self.module.is_live(at) { self.module.parent(at) } else { None };
            let Some(parent) = parent else { return false };
            at = parent;
            passed.push(at);
        }
        self.attached.extend(passed);
        true
    }

    fn failure(&self, op: Op, legality: Legality) -> Diagnostic {
        let marked =
            if legality == Legality::Illegal { " that was explicitly marked illegal" } else { "" };
        let message =
            format!("failed to legalize operation '{}'{marked}", self.module.name_text(op));
        let error = Diagnostic::error("illegal-operation", self.module.loc(op), message);
        let notes = self.reasons.iter().cloned().chain(self.dropped(op));
        notes.fold(error, |error, reason| error.with_note(reason))
    }

    /// Why patterns for `op` were never tried.
    fn dropped(&self, op: Op) -> impl Iterator<Item = String> {
        let roots = self
            .plan
            .dropped()
            .iter()
            .filter(move |&&(i, _)| self.set.pattern(i).roots().accept(self.module, op));
        roots.take(NOTES).map(|&(i, made)| {
            let (name, made) = (self.set.pattern(i).name(), self.module.context().name_text(made));
            format!(
                "pattern `{name}` is not tried: it makes `{made}`, which is not legal and which no \
                 pattern makes legal"
            )
        })
    }

    /// Makes `op`, of which the target says `legality`, legal; if it cannot, everything is as
    /// before.
    fn legalize(&mut self, op: Op, legality: Legality) -> bool {
        self.listener.visit_begin(self.module, op);
        let outcome = self.outcome(op, legality);
        self.listener.visit_end(self.module, outcome);
        outcome != Outcome::Illegal
    }

    fn outcome(&mut self, op: Op, legality: Legality) -> Outcome {
        if self.module.name(op) == self.cast {
            return Outcome::Legal;
        }
        if let Legality::Legal { recursively } = legality {
            if recursively {
                self.settled.extend(walk(self.module, op, Order::Pre));
            }
            return Outcome::Legal;
        }
        if self.config.folding == Folding::BeforePatterns && self.fold(op) {
            return Outcome::Folded;
        }
        if self.rewrite(op) {
            return Outcome::Rewritten;
        }
        if self.config.folding == Folding::AfterPatterns && self.fold(op) {
            return Outcome::Folded;
        }
        Outcome::Illegal
    }

    /// Replaces `op` by what it is known to give, if the constants for it are or become legal.
    fn fold(&mut self, op: Op) -> bool {
        self.listener.fold_begin(self.module, op);
        let outcome = self.try_fold(op);
        self.listener.fold_end(self.module, outcome);
        self.report.folded += u64::from(outcome.is_ok());
        outcome.is_ok()
    }

    fn try_fold(&mut self, op: Op) -> Result<(), &'static str> {
        const UNABLE: &str = "unable to fold";
        let mark = self.journal.mark();
        if !matches!(self.module.fold(op), Some(Fold::Results(_))) {
            return Err(UNABLE);
        }
        let mut rewriter = Rewriter::new(self.module, self.listener).with_journal(self.journal);
        let values = rewriter.fold_values(op, Point::Before(op)).ok_or(UNABLE)?;
        let replaced = rewriter.replace(op, &values).is_ok();
        if replaced && self.legalize_created(mark) {
            return Ok(());
        }
        self.undo(mark);
        Err(if replaced { "failed to legalize a generated constant" } else { UNABLE })
    }

    fn rewrite(&mut self, op: Op) -> bool {
        let plan = self.plan;
        for &i in plan.candidates(self.module.name(op)) {
            if !self.set.accepts(i, self.module, op) || !self.may_apply(i) {
                continue;
            }
            let mark = self.journal.mark();
            let outcome = self.attempt(i, op, mark);
            self.report.patterns[i as usize].attempts += 1;
            match outcome {
                Ok(()) => {
                    self.applied.push(i);
                    let legal = self.legalize_created(mark);
                    self.applied.pop();
                    if legal {
                        self.report.patterns[i as usize].hits += 1;
                        self.report.converted += 1;
                        return true;
                    }
                    self.note(i, "made an operation that cannot become legal");
                }
                Err(NoMatch { reason: Some(reason), .. }) => {
                    self.note(i, &format!("did not match: {reason}"));
                    self.report.patterns[i as usize].last_failure = Some(reason);
                }
                Err(_) => {}
            }
            self.undo(mark);
        }
        false
    }

    /// Tries pattern `i` on `op`. One that says that it rewrote and changed nothing did not match.
    fn attempt(&mut self, i: u32, op: Op, mark: Mark) -> Result<(), NoMatch> {
        let pattern = self.set.pattern(i);
        let wanted = self.config.mode != Mode::Analysis;
        let mut rewriter = Rewriter::new(self.module, self.listener)
            .with_journal(self.journal)
            .with_reasons(wanted);
        let outcome = rewriter.attempt(pattern, op);
        let (unfinished, changes) = (rewriter.unfinished() > 0, rewriter.changes());
        let name = || pattern.name().to_owned();
        if unfinished {
            self.breach(Breach::UnfinishedModification(name()));
        }
        match outcome {
            Ok(()) if self.journal.is_unchanged_since(mark) => {
                self.breach(Breach::SuccessWithoutChange(name()));
                Err(NoMatch::because("it reported a rewrite but changed nothing"))
            }
            Err(why) if changes > 0 => {
                self.breach(Breach::ChangeWithoutSuccess(name()));
                Err(why)
            }
            outcome => outcome,
        }
    }

    fn breach(&mut self, breach: Breach) {
        if !self.report.breaches.contains(&breach) {
            self.report.breaches.push(breach);
        }
    }

    /// Returns whether pattern `i` may follow those that are being applied.
    fn may_apply(&mut self, i: u32) -> bool {
        let pattern = self.set.pattern(i);
        if self.applied.contains(&i) && !pattern.has_bounded_recursion() {
            self.note(i, "would be applied to its own result, and does not declare that this ends");
            return false;
        }
        if self.applied.len() >= MAX_DEPTH {
            self.note(i, &format!("follows {MAX_DEPTH} other rewrites"));
            return false;
        }
        true
    }

    fn note(&mut self, i: u32, what: &str) {
        let line = format!("pattern `{}` {what}", self.set.pattern(i).name());
        if self.reasons.len() < NOTES && !self.reasons.contains(&line) {
            self.reasons.push(line);
        }
    }

    /// Makes legal what was made or modified since `mark`.
    fn legalize_created(&mut self, mark: Mark) -> bool {
        // One that was legal before is asked again only if it was changed in place.
        self.journal.touched_since(self.module, mark).into_iter().all(|op| {
            !self.is_attached(op) || {
                let legality = self.target.legality(self.module, op);
                self.legalize(op, legality)
            }
        })
    }

    fn undo(&mut self, mark: Mark) {
        if !self.journal.is_unchanged_since(mark) {
            self.report.undone += 1;
            self.journal.undo(self.module, mark);
        }
    }
}
