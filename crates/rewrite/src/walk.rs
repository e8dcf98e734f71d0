//! The walk driver: one pass over a program.
//!
//! The operations in the regions of an operation are gone through in post-order, the operation
//! itself is not; on each the first pattern that rewrites is applied. What comes next is decided
//! before an operation is given to the patterns. So what a pattern makes or modifies is not
//! visited, and there is no folding and no removal of dead operations; an operation that a
//! pattern moves behind the next one is met again.
//!
//! A pattern that changes something and says that it did not match is named in the report, and no
//! other one is tried on that operation.
//!
//! A pattern may erase its root and what is in the regions of it, nothing else: the driver has to
//! know where to go on. One that does is named in the report, and the walk goes on all the same.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use tangram_ir::{Block, Module, Op, Region, Value};

use crate::applicator::{Attempts, PatternApplicator};
use crate::copies::Copies;
use crate::greedy::{Breach, Stop};
use crate::journal::Journal;
use crate::listener::{Listener, Outcome, Silent};
use crate::pattern::{NoMatch, RewritePattern};
use crate::rewriter::Rewriter;
use crate::set::{FrozenPatternSet, PatternReport};

/// Visits without a set limit: so many for each operation at the start, and so many more.
const VISITS_PER_OP: u64 = 64;
const VISITS: u64 = 10_000;

/// When a walk ends early.
#[derive(Clone, Debug, Default)]
pub struct WalkLimits {
    /// After this many rewrites, if one more would follow.
    pub max_rewrites: Option<u64>,
    /// How many bytes constants may take in all before rewrites are refused that copy some of
    /// them; any number if absent.
    pub max_constant_bytes: Option<u64>,
    /// At this time.
    pub deadline: Option<Instant>,
    /// When this becomes true.
    pub cancel: Option<Arc<AtomicBool>>,
}

impl WalkLimits {
    fn reached(&self, rewrites: u64) -> Option<Stop> {
        if let Some(most) = self.max_rewrites
            && rewrites >= most
        {
            return Some(Stop::Rewrites(most));
        }
        if self.cancel.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Some(Stop::Cancelled);
        }
        self.deadline.is_some_and(|end| Instant::now() >= end).then_some(Stop::Deadline)
    }
}

/// What was done.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct WalkReport {
    /// Each pattern, in the order in which they are tried.
    pub patterns: Vec<PatternReport>,
    /// How many rewrites there were.
    pub rewrites: u64,
    /// How many operations were visited.
    pub visits: u64,
    /// The limit that ended the walk: one that was set, or that of visits, which only patterns
    /// reach that move operations round in a circle.
    pub stopped_by: Option<Stop>,
    /// Patterns that broke their contract, each once.
    pub breaches: Vec<Breach>,
}

/// Applies `set` once to each operation in the regions of `root`.
///
/// ```
/// use tangram_ir::{Context, text};
/// use tangram_rewrite::{FnPattern, PatternSet, Roots, Silent, walk_and_apply};
///
/// let context = Context::new();
/// let mut module = text::parse("\"t.a\"() : () -> ()\n\"t.b\"() : () -> ()", "x", context.clone())
///     .map_err(|errors| errors[0].clone())?;
/// let mut set = PatternSet::new();
/// let roots = Roots::Names(vec![context.name("t.a")]);
/// set.add(FnPattern::new("erase-a", roots, |rewriter, op| {
///     rewriter.erase(op);
///     Ok(())
/// }));
/// let root = module.root();
/// let report = walk_and_apply(&mut module, root, &set.freeze(), &mut Silent);
/// assert_eq!((report.rewrites, report.visits), (1, 2));
/// # Ok::<(), tangram_ir::Diagnostic>(())
/// ```
pub fn walk_and_apply(
    module: &mut Module,
    root: Op,
    set: &FrozenPatternSet,
    listener: &mut dyn Listener,
) -> WalkReport {
    walk_within(module, root, set, &WalkLimits::default(), listener)
}

/// As [`walk_and_apply`], but ends where a limit is reached; what was rewritten stays.
pub fn walk_within(
    module: &mut Module,
    root: Op,
    set: &FrozenPatternSet,
    limits: &WalkLimits,
    listener: &mut dyn Listener,
) -> WalkReport {
    let applicator = PatternApplicator::new(set);
    let guard = Guard { next: listener, path: Path::new(module, root), breaches: Vec::new() };
    let copies = limits.max_constant_bytes.map(|most| Copies::new(module, most, false));
    let mut walk = Walk { guard, applicator, copies, report: WalkReport::default() };
    walk.run(module, limits);
    walk.report.breaches = walk.guard.breaches;
    walk.report.patterns = walk.applicator.into_reports();
    walk.report
}

/// A block that is being gone through.
struct Frame {
    /// The operation that is visited after what is in its regions.
    op: Op,
    /// The regions of `op` that are still to come, last first.
    regions: Vec<Region>,
    /// The block that comes after the present one.
    next_block: Option<Block>,
    /// The operation that comes after the present one.
    next_op: Option<Op>,
}

/// The way from the root to the present operation.
struct Path {
    frames: Vec<Frame>,
}

impl Path {
    fn new(module: &Module, root: Op) -> Path {
        Path { frames: vec![Frame::new(module, root)] }
    }

    /// The next operation whose regions are done; `None` once the root is reached.
    fn advance(&mut self, module: &Module) -> Option<Op> {
        loop {
            let frame = self.frames.last_mut()?;
            if let Some(op) = frame.next_op {
                frame.next_op = module.next(op);
                self.frames.push(Frame::new(module, op));
            } else if let Some(block) = frame.next_block {
                frame.next_block = module.next_block(block);
                frame.next_op = module.first_op(block);
            } else if let Some(region) = frame.regions.pop() {
                frame.next_block = module.first_block(region);
            } else {
                let op = frame.op;
                self.frames.pop();
                return (!self.frames.is_empty()).then_some(op);
            }
        }
    }
}

impl Frame {
    fn new(module: &Module, op: Op) -> Frame {
        let regions = module.regions(op).iter().rev().copied().collect();
        Frame { op, regions, next_block: None, next_op: None }
    }
}

/// Sees to it that the walk can go on.
struct Guard<'a> {
    next: &'a mut dyn Listener,
    path: Path,
    breaches: Vec<Breach>,
}

struct Walk<'a, 'l> {
    guard: Guard<'l>,
    applicator: PatternApplicator<'a>,
    copies: Option<Copies>,
    report: WalkReport,
}

/// What patterns did wrong at one operation.
#[derive(Default)]
struct Breaches(Vec<Breach>);

impl Attempts for Breaches {
    fn broke(&mut self, breach: Breach) {
        self.0.push(breach);
    }
}

impl Walk<'_, '_> {
    fn run(&mut self, module: &mut Module, limits: &WalkLimits) {
        let limit = (module.op_capacity() as u64).saturating_mul(VISITS_PER_OP) + VISITS;
        while let Some(op) = self.guard.path.advance(module) {
            if self.report.visits >= limit {
                self.report.stopped_by = Some(Stop::Rewrites(limit));
                return;
            }
            match limits.reached(self.report.rewrites) {
                None => self.visit(module, op),
                Some(Stop::Rewrites(_)) if !self.would_rewrite(module, op) => {}
                stopped => {
                    self.report.stopped_by = stopped;
                    return;
                }
            }
        }
    }

    fn visit(&mut self, module: &mut Module, op: Op) {
        self.report.visits += 1;
        self.guard.next.visit_begin(module, op);
        let mut attempt = Current { guard: &mut self.guard, op, strayed: false };
        let mut rewriter = Rewriter::new(module, &mut attempt).with_copies(self.copies.as_mut());
        let mut breaches = Breaches::default();
        let outcome = self.applicator.match_and_rewrite_if(&mut rewriter, op, &mut breaches);
        let changed = outcome.is_ok() || rewriter.changes() > 0;
        let strayed = attempt.strayed;
        self.report.rewrites += u64::from(changed);
        if strayed && let Ok(i) = outcome {
            let name = self.applicator.set().pattern(i).name().to_owned();
            breaches.broke(Breach::ErasedOutside(name));
        }
        breaches.0.into_iter().for_each(|breach| self.guard.note(breach));
        let outcome = if changed { Outcome::Rewritten } else { Outcome::Unchanged };
        self.guard.next.visit_end(module, outcome);
    }

    /// Returns whether a pattern would rewrite `op`: they are tried, and what one does is taken
    /// back.
    fn would_rewrite(&self, module: &mut Module, op: Op) -> bool {
        let (mut journal, mut silent) = (Journal::new(), Silent);
        let start = journal.mark();
        let mut copies = self.copies.clone();
        let mut rewriter = Rewriter::new(module, &mut silent)
            .with_journal(&mut journal)
            .with_copies(copies.as_mut());
        let mut applicator = PatternApplicator::new(self.applicator.set());
        let outcome = applicator.match_and_rewrite(&mut rewriter, op);
        let changed = outcome.is_ok() || rewriter.changes() > 0;
        journal.undo(module, start);
        changed
    }
}

impl Guard<'_> {
    fn note(&mut self, breach: Breach) {
        if !self.breaches.contains(&breach) {
            self.breaches.push(breach);
        }
    }
}

/// The listener while patterns are tried on one operation.
struct Current<'a, 'l> {
    guard: &'a mut Guard<'l>,
    op: Op,
    strayed: bool,
}

impl Current<'_, '_> {
    /// Returns whether `op` is the present operation or in its regions.
    fn is_inside(&self, module: &Module, op: Op) -> bool {
        let mut at = Some(op);
        while let Some(here) = at {
            if here == self.op {
                return true;
            }
            at = module.parent(here);
        }
        false
    }
}

macro_rules! forward {
    ($($name:ident($($arg:ident: $ty:ty),*);)*) => {
        $(fn $name(&mut self, module: &Module, $($arg: $ty),*) {
            self.guard.next.$name(module, $($arg),*);
        })*
    };
}

impl Listener for Current<'_, '_> {
    forward! {
        inserted(op: Op);
        vacated(op: Op);
        moved(op: Op);
        modified(op: Op);
        refined(value: Value);
        released(value: Value);
        replaced(op: Op, values: &[Value]);
        block_inserted(block: Block);
        block_moved(block: Block);
        arguments_changed(block: Block);
        pattern_begin(pattern: &dyn RewritePattern, op: Op);
        matched(ops: &[Op]);
        pattern_end(pattern: &dyn RewritePattern, outcome: &Result<(), NoMatch>);
    }

    fn erased(&mut self, module: &Module, op: Op) {
        self.strayed |= !self.is_inside(module, op);
        let path = &mut self.guard.path.frames;
        for frame in path.iter_mut() {
            if frame.next_op == Some(op) {
                frame.next_op = module.next(op);
            }
        }
        // Of an operation around the present one, nothing is left to go through.
        if let Some(depth) = path.iter().position(|frame| frame.op == op) {
            path.truncate(depth);
        }
        self.guard.next.erased(module, op);
    }

    fn block_erased(&mut self, module: &Module, block: Block) {
        for frame in &mut self.guard.path.frames {
            if frame.next_block == Some(block) {
                frame.next_block = module.next_block(block);
            }
        }
        self.guard.next.block_erased(module, block);
    }

    fn wants_reasons(&self) -> bool {
        self.guard.next.wants_reasons()
    }
}
