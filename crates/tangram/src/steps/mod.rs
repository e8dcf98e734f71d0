//! What was done to a program, change by change, and what was refused.
//!
//! [`Recorder`] hears a driver. Whatever shows what an optimisation did, be it a report, a trace
//! or a picture, starts from the [`RewriteStep`]s that it collects.

mod node;

use rustc_hash::FxHashSet;
use serde::Serialize;
use tangram_ir::{Module, Op, Value};
use tangram_rewrite::{Listener, NoMatch, Outcome, RewritePattern};

use crate::progress::Progress;

pub use node::{Node, Port};

/// The rule of a step that replaces an operation by what its definition folds it to.
pub const FOLD: &str = "fold";
/// The rule of a step that replaces an operation by an equal one.
pub const MERGE_EQUAL: &str = "merge-equal";
/// The rule of a step that erases an operation which nobody uses.
pub const ERASE_DEAD: &str = "erase-dead";

/// The most operations of each kind that a step tells of: who changes what thousands read would
/// otherwise tell of thousands each time.
const MAX_NODES: usize = 256;

/// One change of a program.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct RewriteStep {
    /// The rule or pattern, or one of [`FOLD`], [`MERGE_EQUAL`] and [`ERASE_DEAD`].
    pub rule: String,
    /// The operation at which it was anchored.
    pub root: Node,
    /// What was matched, where the pattern says so; of a merge, the one that goes and the one
    /// that stays; else the root.
    pub matched: Vec<Node>,
    /// What was made and stayed, in order.
    pub made: Vec<Node>,
    /// What was erased, in order.
    pub removed: Vec<Node>,
    /// What was left and changed or moved, users of what was replaced among them.
    pub modified: Vec<Node>,
}

/// A match that was left as it is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Refused {
    /// The rule or pattern.
    pub rule: String,
    /// The operation at which it was anchored.
    pub root: Node,
    /// The kind of the reason: `fold-limit`, `dominance`, `cycle`...
    pub code: &'static str,
    /// The reason.
    pub reason: String,
}

/// Steps and refusals, up to the limit that was set for them.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// The first steps.
    pub steps: Vec<RewriteStep>,
    /// How many steps there were.
    pub step_count: u64,
    /// The matches that stand in the result and were refused, first come first.
    pub refused: Vec<Refused>,
    /// How many operations were folded, replaced by equal ones, and erased as dead.
    pub driver: DriverCounts,
}

/// What a driver did on its own account.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct DriverCounts {
    /// Operations replaced by what their definitions fold them to.
    pub folded: u64,
    /// Operations replaced by equal ones.
    pub merged: u64,
    /// Operations erased because nobody used them.
    pub dead: u64,
}

/// The changes since a driver took an operation, or since a pattern was tried on it.
#[derive(Default)]
struct Changes {
    root: Option<Op>,
    matched: Vec<Node>,
    made: Vec<Op>,
    removed: Vec<Node>,
    modified: Vec<Op>,
    /// What took the place of the root.
    replacements: Vec<Value>,
}

/// Hears a driver and writes down what it does.
pub struct Recorder<'a> {
    max_steps: usize,
    max_refused: usize,
    progress: Option<&'a Progress>,
    recorded: Recorded,
    changes: Changes,
    /// The operation that a pattern is being tried on.
    root: Option<Op>,
    /// Which rule was refused where.
    seen: FxHashSet<(String, Op)>,
    refusals: Vec<(Op, Refused)>,
}

impl<'a> Recorder<'a> {
    /// Keeps the first `max_steps` steps and the first `max_refused` refusals.
    pub fn new(max_steps: usize, max_refused: usize) -> Recorder<'a> {
        Recorder {
            max_steps,
            max_refused,
            progress: None,
            recorded: Recorded::default(),
            changes: Changes::default(),
            root: None,
            seen: FxHashSet::default(),
            refusals: Vec::new(),
        }
    }

    /// Counts in `progress` what is done.
    #[must_use]
    pub fn with_progress(mut self, progress: &'a Progress) -> Recorder<'a> {
        self.progress = Some(progress);
        self
    }

    /// What was recorded. A refusal whose operation is gone was of no consequence and is left
    /// out.
    pub fn finish(self, module: &Module) -> Recorded {
        let standing = |(op, refused)| module.is_live(op).then_some(refused);
        let refused = self.refusals.into_iter().filter_map(standing).collect();
        Recorded { refused, ..self.recorded }
    }

    /// Returns whether the changes of the next step are to be kept.
    fn keeps(&self) -> bool {
        self.recorded.steps.len() < self.max_steps
    }

    fn begin(&mut self, op: Op) {
        if self.keeps() {
            self.changes.clear();
            self.changes.root = Some(op);
        }
    }

    fn step(&mut self, module: &Module, rule: &str) {
        self.recorded.step_count += 1;
        if !self.keeps() {
            return;
        }
        let changes = &mut self.changes;
        let Some(root) = changes.root else { return };
        let root = match changes.removed.iter().find(|node| node.id == root.as_u32()) {
            Some(node) => node.clone(),
            None => Node::brief(module, root),
        };
        if changes.matched.is_empty() {
            changes.matched.push(root.clone());
        }
        let made: FxHashSet<Op> = changes.made.iter().copied().collect();
        changes.modified.retain(|op| !made.contains(op));
        changes.modified.sort_unstable();
        changes.modified.dedup();
        let live = |ops: &[Op]| -> Vec<Node> {
            let ops = ops.iter().filter(|&&op| module.is_live(op) && module.block(op).is_some());
            ops.take(MAX_NODES).map(|&op| Node::brief(module, op)).collect()
        };
        let step = RewriteStep {
            rule: rule.to_owned(),
            root,
            made: live(&changes.made),
            modified: live(&changes.modified),
            matched: std::mem::take(&mut changes.matched),
            removed: std::mem::take(&mut changes.removed),
        };
        self.recorded.steps.push(step);
        self.changes.clear();
    }

    fn refuse(&mut self, module: &Module, rule: &str, op: Op, code: &'static str, reason: &str) {
        let full = self.refusals.len() >= self.max_refused;
        if full || !self.seen.insert((rule.to_owned(), op)) {
            return;
        }
        let root = Node::brief(module, op);
        let (rule, reason) = (rule.to_owned(), reason.to_owned());
        self.refusals.push((op, Refused { rule, root, code, reason }));
    }
}

impl Changes {
    fn clear(&mut self) {
        self.root = None;
        self.matched.clear();
        self.made.clear();
        self.removed.clear();
        self.modified.clear();
        self.replacements.clear();
    }
}

impl Listener for Recorder<'_> {
    fn inserted(&mut self, _: &Module, op: Op) {
        if self.keeps() {
            self.changes.made.push(op);
        }
    }

    fn moved(&mut self, module: &Module, op: Op) {
        self.modified(module, op);
    }

    fn modified(&mut self, _: &Module, op: Op) {
        if self.keeps() {
            self.changes.modified.push(op);
        }
    }

    fn refined(&mut self, module: &Module, value: Value) {
        if let Some(op) = module.def_op(value)
            && self.keeps()
        {
            self.changes.modified.push(op);
        }
    }

    fn replaced(&mut self, _: &Module, _: Op, values: &[Value]) {
        if self.keeps() {
            self.changes.replacements.extend_from_slice(values);
        }
    }

    fn erased(&mut self, module: &Module, op: Op) {
        if !self.keeps() {
            return;
        }
        // What the step itself made and dropped again was never there.
        match self.changes.made.iter().position(|&made| made == op) {
            Some(i) => {
                self.changes.made.remove(i);
            }
            None if self.changes.removed.len() < MAX_NODES || self.changes.root == Some(op) => {
                self.changes.removed.push(Node::brief(module, op));
            }
            None => {}
        }
    }

    fn visit_begin(&mut self, _: &Module, op: Op) {
        if let Some(progress) = self.progress {
            progress.visit();
        }
        self.begin(op);
    }

    fn visit_end(&mut self, module: &Module, outcome: Outcome) {
        let driver = &mut self.recorded.driver;
        let (count, rule) = match outcome {
            Outcome::Folded => (&mut driver.folded, FOLD),
            Outcome::Merged => (&mut driver.merged, MERGE_EQUAL),
            Outcome::Erased => (&mut driver.dead, ERASE_DEAD),
            _ => return,
        };
        *count += 1;
        if outcome == Outcome::Merged && self.keeps() {
            let changes = &mut self.changes;
            let kept = changes.replacements.iter().filter_map(|&value| module.def_op(value));
            let kept: Vec<Op> = kept.take(1).collect();
            changes.matched.clone_from(&changes.removed);
            changes.matched.extend(kept.into_iter().map(|op| Node::brief(module, op)));
        }
        self.step(module, rule);
    }

    fn pattern_begin(&mut self, _: &Module, _: &dyn RewritePattern, op: Op) {
        self.begin(op);
        self.root = Some(op);
    }

    fn matched(&mut self, module: &Module, ops: &[Op]) {
        if self.keeps() {
            self.changes.matched.clear();
            let shown = ops.iter().take(MAX_NODES).map(|&op| Node::brief(module, op));
            self.changes.matched.extend(shown);
        }
    }

    fn pattern_end(
        &mut self,
        module: &Module,
        pattern: &dyn RewritePattern,
        outcome: &Result<(), NoMatch>,
    ) {
        let root = self.root.take();
        match (outcome, root) {
            (Ok(()), _) => {
                if let Some(progress) = self.progress {
                    progress.rewrite();
                }
                self.step(module, pattern.name());
            }
            (Err(NoMatch { reason, refused: Some(code) }), Some(root)) => {
                let reason = reason.as_deref().unwrap_or_default();
                self.refuse(module, pattern.name(), root, code, reason);
            }
            _ => {}
        }
    }
}
