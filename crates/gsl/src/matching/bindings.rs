//! What patterns stand for: the environment of a match.
//!
//! A variadic pattern has a *frame* for each of its branches, in which its templates are bound
//! anew; everything else is bound in the frame around it. The slots of all frames lie in one
//! array, so that undoing a choice is a walk along the trail of changed slots.

use tangram_ir::{Module, Name, Op, Value};

use crate::ast::{PatId, PatternKind, SymId};
use crate::plan::MatchPlan;

/// A frame, by number; 0 is the rule itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Frame(pub(crate) u32);

impl Frame {
    /// The frame of what is in no branch.
    pub(crate) const ROOT: Frame = Frame(0);
}

/// A value, or all results of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Target {
    Value(Value),
    Results(Op),
}

impl Target {
    /// The operation that makes it.
    pub(crate) fn op(self, module: &Module) -> Option<Op> {
        match self {
            Self::Value(value) => module.def_op(value),
            Self::Results(op) => Some(op),
        }
    }

    /// The value; of several results the first.
    pub(crate) fn value(self, module: &Module) -> Option<Value> {
        match self {
            Self::Value(value) => Some(value),
            Self::Results(op) => module.results(op).next(),
        }
    }
}

/// What a pattern stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    One(Target),
    /// An alternative: which option, and what it matched.
    Option(u32, Target),
    /// A variadic pattern: its frames, a range of the list of branches.
    Branches {
        start: u32,
        count: u32,
    },
}

#[derive(Clone, Copy, Debug)]
struct FrameData {
    variadic: Option<PatId>,
    index: usize,
    parent: Frame,
}

/// The environment of a match or rewrite.
#[derive(Clone, Debug)]
pub(crate) struct Bindings {
    width: usize,
    frames: Vec<FrameData>,
    slots: Vec<Option<Bound>>,
    branches: Vec<Frame>,
    /// For each operator of the rule, the operation it matched.
    pub(crate) names: Vec<Option<Name>>,
    /// The branches of a variadic output while it grows.
    pub(crate) growing: Vec<Frame>,
}

/// The sizes of the arenas at a moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    frames: usize,
    branches: usize,
}

impl Bindings {
    pub(crate) fn new(plan: &MatchPlan) -> Self {
        let root = FrameData { variadic: None, index: 0, parent: Frame::ROOT };
        Self {
            width: plan.width(),
            frames: vec![root],
            slots: vec![None; plan.width()],
            branches: Vec::new(),
            names: vec![None; plan.rule().ops().count()],
            growing: Vec::new(),
        }
    }

    pub(crate) fn extent(&self) -> Extent {
        Extent { frames: self.frames.len(), branches: self.branches.len() }
    }

    /// Drops what was added since; the slots that remain are undone one by one.
    pub(crate) fn truncate(&mut self, extent: Extent) {
        self.frames.truncate(extent.frames);
        self.slots.truncate(extent.frames * self.width);
        self.branches.truncate(extent.branches);
    }

    /// Opens branch `index` of `variadic`.
    pub(crate) fn open(&mut self, variadic: PatId, index: usize, parent: Frame) -> Frame {
        let frame = Frame(self.frames.len() as u32);
        self.frames.push(FrameData { variadic: Some(variadic), index, parent });
        self.slots.resize(self.frames.len() * self.width, None);
        frame
    }

    /// Records a list of branches.
    pub(crate) fn list(&mut self, frames: &[Frame]) -> Bound {
        let start = self.branches.len() as u32;
        self.branches.extend_from_slice(frames);
        Bound::Branches { start, count: frames.len() as u32 }
    }

    /// Returns the frames of a list of branches.
    pub(crate) fn frames_of(&self, bound: Bound) -> &[Frame] {
        match bound {
            Bound::Branches { start, count } => {
                &self.branches[start as usize..(start + count) as usize]
            }
            _ => &[],
        }
    }

    /// Finds what a pattern seen from `frame` is: the frame that owns it, and the pattern that
    /// stands for it in branch 0.
    pub(crate) fn resolve(&self, plan: &MatchPlan, frame: Frame, id: PatId) -> (Frame, PatId) {
        let (mut frame, mut id) = (frame, id);
        loop {
            let data = self.frames[frame.0 as usize];
            let Some(variadic) = data.variadic else { return (frame, id) };
            match plan.template(variadic, id) {
                Some(Some(first)) if data.index == 0 => id = first,
                Some(_) => return (frame, id),
                None => {}
            }
            frame = data.parent;
        }
    }

    /// Returns what a resolved pattern is bound to.
    pub(crate) fn slot(&self, (frame, id): (Frame, PatId)) -> Option<Bound> {
        self.slots[frame.0 as usize * self.width + id.index()]
    }

    pub(crate) fn set_slot(&mut self, (frame, id): (Frame, PatId), bound: Option<Bound>) {
        self.slots[frame.0 as usize * self.width + id.index()] = bound;
    }

    /// Returns what a pattern seen from `frame` is bound to.
    pub(crate) fn find(&self, plan: &MatchPlan, frame: Frame, id: PatId) -> Option<Bound> {
        self.slot(self.resolve(plan, frame, id))
    }

    /// Returns what a pattern stands for as one thing.
    pub(crate) fn target(&self, plan: &MatchPlan, frame: Frame, id: PatId) -> Option<Target> {
        match self.find(plan, frame, id)? {
            Bound::One(target) | Bound::Option(_, target) => Some(target),
            Bound::Branches { .. } => None,
        }
    }

    /// Returns the index that `symbol` stands for in `frame`.
    pub(crate) fn index(&self, plan: &MatchPlan, frame: Frame, symbol: SymId) -> Option<usize> {
        let mut frame = frame;
        loop {
            let data = self.frames[frame.0 as usize];
            let variadic = data.variadic?;
            if let PatternKind::Variadic { index: Some(bound), .. } =
                plan.rule().pattern(variadic).kind
                && bound == symbol
            {
                return Some(data.index);
            }
            frame = data.parent;
        }
    }

    /// Returns the frame of branch `index` of `variadic`, also while it grows.
    pub(crate) fn branch(
        &self,
        plan: &MatchPlan,
        frame: Frame,
        variadic: PatId,
        index: usize,
    ) -> Option<Frame> {
        match self.find(plan, frame, variadic) {
            Some(bound) => self.frames_of(bound).get(index).copied(),
            None if plan.rule().sources().contains(&variadic) => self.growing.get(index).copied(),
            None => None,
        }
    }

    /// Returns the frame that a path leads to: variadic patterns, each with the number of a branch.
    pub(crate) fn along(
        &self,
        plan: &MatchPlan,
        frame: Frame,
        path: &[(PatId, usize)],
    ) -> Option<Frame> {
        let mut steps = path.iter();
        steps
            .try_fold(frame, |frame, (variadic, index)| self.branch(plan, frame, *variadic, *index))
    }

    /// Lists every slot that is bound: frame, pattern, what for.
    pub(crate) fn bound(&self) -> impl Iterator<Item = (Frame, PatId, Bound)> + '_ {
        let place = |i: usize| (Frame((i / self.width) as u32), PatId::new(i % self.width));
        self.slots.iter().enumerate().filter_map(move |(i, slot)| {
            let (frame, id) = place(i);
            slot.map(|bound| (frame, id, bound))
        })
    }
}
