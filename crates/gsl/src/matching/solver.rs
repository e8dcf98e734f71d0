//! The machine: agenda, trail, choices.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tangram_ir::{Block, Module, Name, Op, Value};

use super::alike::Alike;
use super::bindings::{Bindings, Bound, Extent, Frame, Target};
use super::branches::Taken;
use super::classes::Classes;
use super::miss::Miss;
use super::{Match, matched_ops};
use crate::ast::{OpId, PatId};
use crate::plan::MatchPlan;
use crate::rules::Natives;

/// The most steps that are taken for one root; past it, what was found so far counts. Where a rule
/// has several outputs there may be a root for each of thousands of operations.
pub const MAX_STEPS: usize = 1 << 20;

/// The same for a rule of several outputs.
pub const MAX_STEPS_OF_SEVERAL: usize = 1 << 17;

/// Something to be done.
#[derive(Clone, Debug)]
pub(super) enum Goal {
    /// A pattern matches a target.
    Match { frame: Frame, id: PatId, target: Target },
    /// The same, and no other member of the target's class will do.
    Member { frame: Frame, id: PatId, target: Target },
    /// The operands of a call match these values; `inner` are operations of a flattened call.
    Operands { frame: Frame, id: PatId, values: Rc<[Value]>, inner: Rc<[Op]> },
    /// The same, with the number of values for each operand pattern.
    Segments { frame: Frame, id: PatId, values: Rc<[Value]>, lengths: Rc<[usize]> },
    /// An alternative matches by one of its options.
    Option { place: (Frame, PatId), option: u32, id: PatId, target: Target },
    /// Output number `.0` is found.
    Output(usize),
    /// The further branches of a variadic output are looked for.
    Gather,
    /// Branches are taken from `pool`, from `next` on.
    Extend { pool: Rc<[Target]>, next: usize },
    /// The next branch in order is one of `left` candidates of `pool`, from `next` on and around.
    Order { pool: Rc<[Target]>, next: usize, left: usize },
    /// Candidate `next` of `pool` is taken, as the next branch in order or as one of a set.
    Take { pool: Rc<[Target]>, next: usize, ordered: bool },
    /// The branches are complete.
    Close,
    /// What was put off since is checked.
    Finish { until: Option<u32> },
}

/// A condition on what is matched.
#[derive(Clone, Copy, Debug)]
pub(super) enum Check {
    /// Attribute number `field` of a call.
    Attribute { frame: Frame, id: PatId, field: u32 },
    /// The index of a projection.
    Index { frame: Frame, id: PatId },
    /// The type of a constant or variable, and the value of a constant.
    Tensor { frame: Frame, id: PatId },
    /// The length of a variadic pattern.
    Length { frame: Frame, id: PatId },
    /// The attributes of a call are those of another.
    Rest { frame: Frame, id: PatId },
    /// No user outside the match.
    Only { frame: Frame, id: PatId },
    /// Does not match.
    Not { frame: Frame, id: PatId },
    /// Is an instance of a variadic pattern.
    Instance { frame: Frame, id: PatId, target: Target },
    /// A condition of the rule.
    Condition(u32),
}

#[derive(Clone, Copy, Debug)]
enum Undo {
    Slot(Frame, PatId),
    Holder(Target),
    Name(OpId),
    Grown,
    Taken,
    Inner,
}

#[derive(Clone, Copy, Debug)]
struct Saved {
    agenda: Option<u32>,
    deferred: Option<u32>,
    goals: usize,
    checks: usize,
    trail: usize,
    extent: Extent,
}

#[derive(Debug)]
struct Choice {
    alternatives: Rc<[Goal]>,
    next: usize,
    saved: Saved,
    /// Of candidates for an output: which are alike.
    alike: Option<Box<Alike>>,
}

/// Finds the matches of one rule at one root, one after the other.
pub struct Solver<'a> {
    pub(super) plan: &'a MatchPlan,
    pub(super) module: &'a Module,
    pub(super) natives: &'a Natives,
    pub(super) classes: Option<&'a dyn Classes>,
    pub(super) bindings: Bindings,
    pub(super) block: Option<Block>,
    pub(super) root: Op,
    /// The greatest number of branches of a match so far.
    pub(super) best: usize,
    /// The candidates that are branches of the variadic output.
    pub(super) taken: Taken,
    /// How many negations are being decided.
    pub(super) negations: usize,
    goals: Vec<(Goal, Option<u32>)>,
    agenda: Option<u32>,
    checks: Vec<(Check, Option<u32>)>,
    pub(super) deferred: Option<u32>,
    trail: Vec<Undo>,
    choices: Vec<Choice>,
    holders: FxHashMap<Target, SmallVec<[PatId; 2]>>,
    inner: Vec<Op>,
    steps: usize,
    max_steps: usize,
    /// How many matches were found.
    pub(super) matches: usize,
    started: bool,
    pub(super) reasons: bool,
    miss: Option<Miss>,
}

impl<'a> Solver<'a> {
    /// Starts at `root`, an operation that makes the first output.
    pub fn new(plan: &'a MatchPlan, module: &'a Module, natives: &'a Natives, root: Op) -> Self {
        Self {
            plan,
            module,
            natives,
            classes: None,
            bindings: Bindings::new(plan),
            block: module.block(root),
            root,
            best: 0,
            taken: Taken::default(),
            negations: 0,
            goals: Vec::new(),
            agenda: None,
            checks: Vec::new(),
            deferred: None,
            trail: Vec::new(),
            choices: Vec::new(),
            holders: FxHashMap::default(),
            inner: Vec::new(),
            steps: 0,
            max_steps: match plan.rule().sources().len() {
                0 | 1 => MAX_STEPS,
                _ => MAX_STEPS_OF_SEVERAL,
            },
            matches: 0,
            started: false,
            reasons: false,
            miss: None,
        }
    }

    /// Matches modulo equality: a pattern may match any member of the class of a value.
    #[must_use]
    pub fn with_classes(mut self, classes: &'a dyn Classes) -> Self {
        self.classes = Some(classes);
        self
    }

    /// Takes at most `steps`, if these are less than the search may take anyway.
    #[must_use]
    pub fn with_max_steps(mut self, steps: usize) -> Self {
        self.max_steps = self.max_steps.min(steps);
        self
    }

    /// Asks for the reason of a failed match, which costs time.
    #[must_use]
    pub fn with_reasons(mut self, reasons: bool) -> Self {
        self.reasons = reasons;
        self
    }

    /// Returns what failed last after most was matched, if reasons were asked for.
    pub fn miss(&self) -> Option<&Miss> {
        self.miss.as_ref()
    }

    /// Returns whether the search was cut off by [`MAX_STEPS`] or [`MAX_STEPS_OF_SEVERAL`], or by
    /// [less](Solver::with_max_steps).
    pub fn is_exhausted(&self) -> bool {
        self.steps >= self.max_steps
    }

    /// Returns how many steps were taken.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Finds the next match. Of a rule with a variadic output only the ones with the most
    /// branches are returned, of which there is one for each root.
    pub fn next_match(&mut self) -> Option<Match> {
        if self.variadic_output().is_some() { self.largest() } else { self.next_any() }
    }

    fn next_any(&mut self) -> Option<Match> {
        let found = if std::mem::replace(&mut self.started, true) {
            self.backtrack(0) && self.run(0)
        } else {
            self.start() && self.run(0)
        };
        self.matches += usize::from(found);
        found.then(|| self.result())
    }

    fn largest(&mut self) -> Option<Match> {
        if self.started {
            return None;
        }
        let mut largest = None;
        while let Some(found) = self.next_any() {
            self.best = self.bindings.growing.len();
            largest = Some(found);
        }
        largest
    }

    fn result(&self) -> Match {
        let mut ops: Vec<Op> =
            matched_ops(self.plan, self.module, &self.bindings).into_iter().collect();
        ops.extend_from_slice(&self.inner);
        ops.sort_unstable();
        ops.dedup();
        Match { bindings: self.bindings.clone(), outputs: self.outputs(), ops }
    }

    fn outputs(&self) -> Vec<Value> {
        let value = |(frame, id)| {
            self.bindings.target(self.plan, frame, id).and_then(|t| t.value(self.module))
        };
        let sources = self.plan.rule().sources();
        let places: Vec<(Frame, PatId)> = match self.variadic_output() {
            Some((_, field)) => self.bindings.growing.iter().map(|f| (*f, field)).collect(),
            None => sources.iter().map(|id| (Frame::ROOT, *id)).collect(),
        };
        places.into_iter().filter_map(value).collect()
    }

    /// Works through the agenda; false once no choice above `base` is left.
    pub(super) fn run(&mut self, base: usize) -> bool {
        while let Some(at) = self.agenda {
            if self.steps >= self.max_steps {
                return false;
            }
            self.steps += 1;
            let (goal, next) = self.goals[at as usize].clone();
            self.agenda = next;
            if !self.step(goal) && !self.backtrack(base) {
                return false;
            }
        }
        true
    }

    /// Adds a goal, to be done before those there are.
    pub(super) fn push(&mut self, goal: Goal) {
        self.goals.push((goal, self.agenda));
        self.agenda = Some(self.goals.len() as u32 - 1);
    }

    /// Adds goals, to be done in order before those there are.
    pub(super) fn push_all(&mut self, goals: Vec<Goal>) {
        goals.into_iter().rev().for_each(|goal| self.push(goal));
    }

    /// Does one of several goals: the first, and if that leads nowhere the next.
    pub(super) fn choose(&mut self, alternatives: Vec<Goal>) -> bool {
        self.choose_among(alternatives, None)
    }

    /// The same of candidates for an output, of which some are alike.
    pub(super) fn choose_among(
        &mut self,
        alternatives: Vec<Goal>,
        alike: Option<Box<Alike>>,
    ) -> bool {
        let mut alternatives = alternatives;
        let first = match alternatives.len() {
            0 => return false,
            1 => alternatives.swap_remove(0),
            _ => {
                let (saved, first) = (self.save(), alternatives[0].clone());
                let mut choice =
                    Choice { alternatives: alternatives.into(), next: 1, saved, alike };
                choice.alike.iter_mut().for_each(|alike| alike.start(self.matches));
                self.choices.push(choice);
                first
            }
        };
        self.push(first);
        true
    }

    /// Puts a check off.
    pub(super) fn defer(&mut self, check: Check) {
        self.checks.push((check, self.deferred));
        self.deferred = Some(self.checks.len() as u32 - 1);
    }

    /// Takes the check put off last.
    pub(super) fn take_deferred(&mut self, until: Option<u32>) -> Option<Check> {
        if self.deferred == until {
            return None;
        }
        let (check, next) = self.checks[self.deferred? as usize];
        self.deferred = next;
        Some(check)
    }

    fn save(&self) -> Saved {
        Saved {
            agenda: self.agenda,
            deferred: self.deferred,
            goals: self.goals.len(),
            checks: self.checks.len(),
            trail: self.trail.len(),
            extent: self.bindings.extent(),
        }
    }

    fn restore(&mut self, saved: Saved) {
        while self.trail.len() > saved.trail {
            match self.trail.pop().expect("the trail is longer than saved") {
                Undo::Slot(frame, id) => self.bindings.set_slot((frame, id), None),
                Undo::Name(op) => self.bindings.names[op.index()] = None,
                Undo::Grown => _ = self.bindings.growing.pop(),
                Undo::Taken => {
                    if let Some(place) = self.taken.places.pop() {
                        self.taken.marks[place] = false;
                    }
                }
                Undo::Inner => _ = self.inner.pop(),
                Undo::Holder(target) => {
                    if let Some(holders) = self.holders.get_mut(&target) {
                        holders.pop();
                    }
                }
            }
        }
        self.bindings.truncate(saved.extent);
        self.goals.truncate(saved.goals);
        self.checks.truncate(saved.checks);
        self.agenda = saved.agenda;
        self.deferred = saved.deferred;
    }

    fn backtrack(&mut self, base: usize) -> bool {
        while self.choices.len() > base {
            let matches = self.matches;
            let choice = self.choices.last_mut().expect("there is a choice above the base");
            if let Some(alike) = &mut choice.alike {
                choice.next = alike.next(choice.next - 1, matches);
            }
            let Some(goal) = choice.alternatives.get(choice.next).cloned() else {
                self.choices.pop();
                continue;
            };
            let saved = choice.saved;
            choice.next += 1;
            if choice.next == choice.alternatives.len() {
                self.choices.pop();
            }
            self.restore(saved);
            self.push(goal);
            return true;
        }
        false
    }

    /// Returns whether a goal can be reached, and leaves everything as it was.
    pub(super) fn can(&mut self, goal: Goal) -> bool {
        let saved = self.save();
        let base = self.choices.len();
        self.agenda = None;
        self.push(Goal::Finish { until: self.deferred });
        self.push(goal);
        let found = self.run(base);
        self.choices.truncate(base);
        self.restore(saved);
        found
    }

    /// Binds a pattern, unless another one that does not share has the target.
    pub(super) fn bind(&mut self, place: (Frame, PatId), bound: Bound) -> bool {
        if let Bound::One(target) = bound
            && self.negations == 0
        {
            let rule = self.plan.rule();
            let asks = |id: PatId| rule.pattern(id).may_alias;
            let shares = |id: PatId| rule.may_alias() || asks(id);
            // A rule of several outputs is about several values: `alias` on the rule is about
            // inputs and what is between.
            let output = |id: PatId| rule.sources().contains(&id) && !asks(id);
            let alike = |a: PatId, b: PatId| self.plan.may_be_one(a, b);
            let apart = |a: PatId, b: PatId| {
                output(a) && output(b) || !shares(a) && !shares(b) && !alike(a, b)
            };
            let key = self.key(target);
            let holders = self.holders.entry(key).or_default();
            let taken = holders.iter().copied().find(|other| apart(*other, place.1));
            if let Some(other) = taken {
                return self.missed(place.1, target.op(self.module), || {
                    let name = rule.pattern(other).name.as_deref().unwrap_or("another pattern");
                    ("a value of its own".into(), format!("what `{name}` matched"))
                });
            }
            holders.push(place.1);
            self.trail.push(Undo::Holder(key));
        }
        self.bindings.set_slot(place, Some(bound));
        self.trail.push(Undo::Slot(place.0, place.1));
        true
    }

    /// Notes the operation that an operator stands for.
    pub(super) fn bind_name(&mut self, op: OpId, name: Name) {
        self.bindings.names[op.index()] = Some(name);
        self.trail.push(Undo::Name(op));
    }

    /// Returns whether a pattern is bound to `target`.
    pub(super) fn is_held(&self, target: Target) -> bool {
        let held = |target| self.holders.get(&target).is_some_and(|holders| !holders.is_empty());
        held(self.key(target)) || held(target)
    }

    /// Adds a branch to the variadic output.
    pub(super) fn grow(&mut self, frame: Frame) {
        self.bindings.growing.push(frame);
        self.trail.push(Undo::Grown);
    }

    /// Notes that a candidate is a branch.
    pub(super) fn mark_taken(&mut self, place: usize) {
        self.taken.places.push(place);
        self.taken.marks[place] = true;
        self.trail.push(Undo::Taken);
    }

    /// Notes operations that a flattened call passes over.
    pub(super) fn note_inner(&mut self, inner: &[Op]) {
        for &op in inner {
            self.inner.push(op);
            self.trail.push(Undo::Inner);
        }
    }

    /// Lists the operations of flattened calls.
    pub(super) fn inner(&self) -> &[Op] {
        &self.inner
    }

    /// Notes a failure, if reasons are asked for and it comes after more than others. Returns false.
    pub(super) fn missed(
        &mut self,
        pattern: PatId,
        at: Option<Op>,
        texts: impl FnOnce() -> (String, String),
    ) -> bool {
        let progress = self.trail.len();
        let nearer = self.miss.as_ref().is_none_or(|miss| progress > miss.progress);
        if self.reasons && nearer && self.negations == 0 {
            let (expected, found) = texts();
            self.miss = Some(Miss { pattern, at, expected, found, progress });
        }
        false
    }
}
