//! An instance of the source of a rule: a small program that the rule should match.
//!
//! Operands are made before what uses them. Inputs and constants get extents from what uses them
//! first, attributes from the rule where it says what they are, else at random: both as the entries
//! of operations say ([`sample`](tangram_dialects::nn::sample)). Whether the rule really matches is for the
//! matcher to say; here it is only made likely.

mod call;
mod env;
mod leaf;

use fastrand::Rng;
use rustc_hash::FxHashMap;
use tangram_dialects::constant;
use tangram_dialects::nn::sample::Extents;
use tangram_ir::{Loc, Module, Name, Op, OpState, Point, Value};
use tangram_tensor::DType;

use super::hints::Hints;
use super::values::{self, Profile};
use crate::ast::{ExprId, PatId, PatternKind, SymId};
use crate::eval::{AttrValue, evaluate, instance_path};
use crate::plan::MatchPlan;
use crate::rules::Natives;

/// A program made from the source of a rule.
pub(super) struct Instance {
    pub(super) module: Module,
    /// Constants that may have any elements.
    pub(super) free: Vec<Value>,
    /// What each pattern outside all branches stands for.
    pub(super) bound: Vec<(PatId, Value)>,
    /// What the patterns of branches stand for, with the names that they have there: `w[1]`.
    pub(super) branches: Vec<(String, PatId, Value)>,
    /// Inputs and constants by name, in the order in which they were made.
    pub(super) leaves: Vec<(String, Value)>,
    /// The element type of data; integers beside another one are places.
    pub(super) base: DType,
}

/// Branch `index` of a variadic pattern; number 0 is the rule itself.
#[derive(Clone, Copy)]
struct Frame {
    variadic: Option<PatId>,
    index: usize,
    parent: usize,
}

#[derive(Clone, Debug)]
enum Item {
    One(Value),
    Results(Op),
    Many(Vec<Value>),
}

/// Makes instances.
pub(super) struct Draft<'a> {
    plan: &'a MatchPlan,
    natives: &'a Natives,
    hints: &'a Hints,
    rng: &'a mut Rng,
    cap: usize,
    dtype: DType,
    module: Module,
    frames: Vec<Frame>,
    made: FxHashMap<(usize, PatId), Item>,
    branches: FxHashMap<(usize, PatId), Vec<usize>>,
    options: FxHashMap<PatId, usize>,
    names: FxHashMap<crate::ast::OpId, Name>,
    symbols: Vec<(SymId, Option<AttrValue>)>,
    at: usize,
    free: Vec<Value>,
    leaves: Vec<(String, Value)>,
    base: DType,
    profile: Profile,
    /// Numbers are `float64` whatever types the rule names.
    wide: bool,
    /// The element type of what is quantised: one for all, so that it can be read again.
    quantised: DType,
    /// What is made is a scale.
    is_scale: bool,
    /// What is made is a list of these extents.
    listed: Option<Vec<i64>>,
}

/// Element types of what is quantised, most of the time the usual ones.
const QUANTISED: [DType; 10] = [
    DType::U8,
    DType::I8,
    DType::U8,
    DType::I8,
    DType::I16,
    DType::U16,
    DType::I4,
    DType::U4,
    DType::F8E4M3FN,
    DType::F8E5M2,
];

impl<'a> Draft<'a> {
    pub(super) fn new(
        (plan, natives, hints): (&'a MatchPlan, &'a Natives, &'a Hints),
        module: Module,
        rng: &'a mut Rng,
        cap: usize,
        dtype: DType,
    ) -> Self {
        let root = Frame { variadic: None, index: 0, parent: 0 };
        // Apart from the other choices, which are the same for rules without.
        let mut apart = Rng::with_seed(rng.clone().u64(..) ^ 0x5CA1E);
        let quantised = QUANTISED[apart.usize(0..QUANTISED.len())];
        let profile = values::CONSTANTS[rng.usize(0..values::CONSTANTS.len())];
        Self {
            plan,
            natives,
            hints,
            rng,
            cap,
            dtype,
            module,
            frames: vec![root],
            made: FxHashMap::default(),
            branches: FxHashMap::default(),
            options: FxHashMap::default(),
            names: FxHashMap::default(),
            symbols: Vec::new(),
            at: 0,
            free: Vec::new(),
            leaves: Vec::new(),
            base: dtype,
            profile,
            wide: false,
            quantised,
            is_scale: false,
            listed: None,
        }
    }

    /// The same program in `float64`, also where the rule names narrower types.
    pub(super) fn widened(mut self) -> Self {
        self.wide = true;
        self
    }

    /// Makes the program; none where some operation could not be made.
    pub(super) fn build(mut self) -> Option<Instance> {
        let mut outputs = Vec::new();
        for &source in self.plan.rule().sources() {
            match self.item(0, source, None)? {
                Item::One(value) => outputs.push(value),
                Item::Results(op) => outputs.extend(self.module.results(op)),
                Item::Many(values) => outputs.extend(values),
            }
        }
        let context = self.module.context_arc().clone();
        let mut state = OpState::new(context.name("func.return"), Loc::UNKNOWN);
        state.operands.extend(outputs);
        self.module.create_at(Point::End(self.module.body()), state);
        let mut bound: Vec<(PatId, Value)> = Vec::new();
        let mut branches = Vec::new();
        for (&(frame, id), item) in &self.made {
            let value = match item {
                Item::One(value) => Some(*value),
                Item::Results(op) => self.module.results(*op).next(),
                Item::Many(_) => None,
            };
            match (value, frame) {
                (None, _) => {}
                (Some(value), 0) => bound.push((id, value)),
                (Some(value), _) => branches.push((self.name_of(frame, id), id, value)),
            }
        }
        bound.sort_unstable_by_key(|(id, _)| *id);
        branches.sort_unstable_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
        let Self { module, free, leaves, base, .. } = self;
        Some(Instance { module, free, bound, branches, leaves, base })
    }

    /// Where a pattern is kept that is met in `frame`.
    fn resolve(&self, mut frame: usize, mut id: PatId) -> (usize, PatId) {
        while let Frame { variadic: Some(variadic), index, parent } = self.frames[frame] {
            match self.plan.template(variadic, id) {
                Some(Some(first)) if index == 0 => (frame, id) = (parent, first),
                Some(_) => return (frame, id),
                None => frame = parent,
            }
        }
        (frame, id)
    }

    /// The branch that a path leads to from the frame that is being made.
    fn along(&self, path: &[(PatId, usize)]) -> Option<usize> {
        path.iter().try_fold(self.at, |frame, (variadic, index)| {
            self.branches.get(&self.resolve(frame, *variadic))?.get(*index).copied()
        })
    }

    fn item(&mut self, frame: usize, id: PatId, want: Option<&Extents>) -> Option<Item> {
        let key = self.resolve(frame, id);
        if let Some(item) = self.made.get(&key) {
            return Some(item.clone());
        }
        let plan = self.plan;
        let (frame, id) = key;
        let outer = std::mem::replace(&mut self.at, frame);
        let item = match &plan.rule().pattern(id).kind {
            PatternKind::Wildcard | PatternKind::Not(_) => self.leaf(frame, id, want, None),
            PatternKind::Variable(fields) => self.leaf(frame, id, want, Some(fields)),
            PatternKind::Const { value, splat, tensor } => {
                self.constant((frame, id), want, (*value, *splat), tensor)
            }
            PatternKind::Call { .. } => self.call(frame, id, want),
            PatternKind::Tuple(fields) => {
                let mut values = Vec::new();
                for field in fields {
                    values.extend(self.values(frame, *field, want)?);
                }
                Some(Item::Many(values))
            }
            PatternKind::Proj { tuple, index } => self.projection(frame, *tuple, *index),
            PatternKind::Variadic { .. } => self.variadic(frame, id, want),
            PatternKind::Inst { template, .. } => {
                let path = instance_path(plan.rule(), id, self).ok()?;
                let inner = self.along(&path)?;
                self.item(inner, *template, want)
            }
            PatternKind::Alt(options) => {
                let option = self.rng.usize(0..options.len());
                self.options.insert(id, option);
                self.item(frame, options[option], want)
            }
            _ => None,
        };
        self.at = outer;
        let item = item?;
        self.made.insert(key, item.clone());
        Some(item)
    }

    /// The values that a pattern stands for as operands.
    fn values(&mut self, frame: usize, id: PatId, want: Option<&Extents>) -> Option<Vec<Value>> {
        Some(match self.item(frame, id, want)? {
            Item::One(value) => vec![value],
            Item::Results(op) => self.module.results(op).collect(),
            Item::Many(values) => values,
        })
    }

    fn projection(&mut self, frame: usize, tuple: PatId, index: ExprId) -> Option<Item> {
        let index = match self.evaluate(index) {
            Some(AttrValue::Int(n)) => usize::try_from(n).ok()?,
            _ => self.rng.usize(0..2),
        };
        let values = self.values(frame, tuple, None)?;
        values.get(index).copied().map(Item::One)
    }

    fn variadic(&mut self, frame: usize, id: PatId, want: Option<&Extents>) -> Option<Item> {
        let PatternKind::Variadic { field, length, min_len, .. } =
            &self.plan.rule().pattern(id).kind
        else {
            return None;
        };
        let least = min_len.unwrap_or(1).max(1) as usize;
        let count = match length.and_then(|length| self.evaluate(length)) {
            Some(AttrValue::Int(n)) => usize::try_from(n).ok().filter(|n| *n <= 8)?,
            _ => self.rng.usize(least..=least + 2),
        };
        let mut values = Vec::new();
        for index in 0..count {
            self.frames.push(Frame { variadic: Some(id), index, parent: frame });
            let inner = self.frames.len() - 1;
            self.branches.entry((frame, id)).or_default().push(inner);
            let like = values.first().and_then(|v| self.extents(*v));
            let like = like.or(want.cloned());
            values.extend(self.values(inner, *field, like.as_ref())?);
        }
        Some(Item::Many(values))
    }

    fn extents(&self, value: Value) -> Option<Extents> {
        let ty = self.module.value_type(value);
        constant::static_tensor(self.module.context(), ty).map(|(_, shape)| shape)
    }

    fn name_of(&self, frame: usize, id: PatId) -> String {
        let name = self.plan.rule().pattern(id).name.clone();
        let name = name.unwrap_or_else(|| format!("p{}", id.index()));
        match self.frames[frame] {
            Frame { variadic: Some(_), index, .. } => format!("{name}[{index}]"),
            _ => name,
        }
    }

    fn evaluate(&mut self, expr: ExprId) -> Option<AttrValue> {
        let plan = self.plan;
        evaluate(plan.rule(), expr, self).ok().map(AttrValue::into_plain)
    }
}
