//! What each form of a target pattern makes: the rules PE-*.

mod constants;

use rustc_hash::{FxHashMap, FxHashSet};
use tangram_dialects::constant;
use tangram_ir::{
    Attr, Diagnostic, Loc, Module, Name, Op, OpDef, OpState, Point, Str, Traits, TypeData, Value,
};
use tangram_rewrite::Rewriter;
use tangram_tensor::DType;

use super::{Settings, refuse};
use crate::ast::{ExprId, OpId, PatId, PatternKind};
use crate::check::{LengthSource, target_length};
use crate::eval::{AttrValue, EvalError, MAX_ELEMENTS, evaluate, instance_path, variadic_of};
use crate::matching::{Bindings, Bound, Frame, Match, Scope, Target};
use crate::plan::MatchPlan;

/// What a pattern was mapped to.
#[derive(Clone, Debug)]
pub(super) enum Made {
    One(Value),
    Many(Vec<Value>),
}

impl Made {
    fn values(&self) -> &[Value] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Many(values) => values,
        }
    }
}

type Result<T> = std::result::Result<T, Diagnostic>;

/// Builds the target of a match at a point.
pub(super) struct Builder<'b, 'r> {
    pub(super) plan: &'b MatchPlan,
    pub(super) settings: &'b Settings<'b>,
    pub(super) rewriter: &'b mut Rewriter<'r>,
    pub(super) bindings: Bindings,
    pub(super) root: Op,
    pub(super) loc: Loc,
    point: Point,
    outputs: Vec<Value>,
    made: Vec<Op>,
    pub(super) keys: Vec<Str>,
    memo: FxHashMap<(Frame, PatId), Made>,
    constants: FxHashMap<(Frame, PatId, Option<DType>), Value>,
}

impl<'b, 'r> Builder<'b, 'r> {
    pub(super) fn new(
        plan: &'b MatchPlan,
        settings: &'b Settings<'b>,
        rewriter: &'b mut Rewriter<'r>,
        found: &Match,
        root: Op,
        point: Point,
    ) -> Self {
        let module = rewriter.module();
        let loc = module.context().fuse(found.ops().iter().map(|op| module.loc(*op)));
        Self {
            plan,
            settings,
            rewriter,
            bindings: found.bindings.clone(),
            root,
            loc,
            point,
            outputs: found.outputs().to_vec(),
            made: Vec::new(),
            keys: Vec::new(),
            memo: FxHashMap::default(),
            constants: FxHashMap::default(),
        }
    }

    pub(super) fn module(&self) -> &Module {
        self.rewriter.module()
    }

    /// The new operations so far.
    pub(super) fn made(&self) -> &[Op] {
        &self.made
    }

    /// Where the next operation goes.
    pub(super) fn point(&self) -> Point {
        self.point
    }

    /// Notes a new operation; the next one comes after it.
    pub(super) fn note(&mut self, op: Op) {
        self.made.push(op);
        if !matches!(self.point, Point::Before(_)) {
            self.point = Point::After(op);
        }
    }

    /// Erases a new operation again; the next one goes where it was.
    pub(super) fn forget(&mut self, op: Op) {
        self.made.retain(|made| *made != op);
        if self.point == Point::After(op) {
            let module = self.rewriter.module();
            let block = module.block(op).expect("a new operation stands in a block");
            self.point = module.prev(op).map_or(Point::Start(block), Point::After);
        }
        self.rewriter.erase(op);
    }

    /// Maps the target outputs.
    pub(super) fn outputs(&mut self) -> Result<Vec<Value>> {
        let mut values = Vec::new();
        for (i, &id) in self.plan.rule().targets().iter().enumerate() {
            let made = match self.pending_constant(Frame::ROOT, id) {
                Some(_) => {
                    // What a constant replaces says its element type.
                    let like = self.outputs.get(i).and_then(|value| self.dtype(*value));
                    Made::One(self.constant(Frame::ROOT, id, like)?)
                }
                None => self.map(Frame::ROOT, id)?,
            };
            let variadic =
                matches!(self.plan.rule().pattern(id).kind, PatternKind::Variadic { .. });
            match &made {
                Made::Many(all) if variadic => values.extend_from_slice(all),
                made => values.extend(made.values().first()),
            }
        }
        Ok(values)
    }

    /// Erases what nobody uses, and returns what was made.
    pub(super) fn finish(mut self, outputs: &[Value]) -> Vec<Op> {
        let kept: FxHashSet<Op> =
            outputs.iter().filter_map(|value| self.module().def_op(*value)).collect();
        for op in self.made.clone().into_iter().rev() {
            if self.module().is_unused(op) && !kept.contains(&op) {
                self.forget(op);
            }
        }
        self.made
    }

    /// Erases all that was made.
    pub(super) fn erase_all(mut self) {
        for op in std::mem::take(&mut self.made).into_iter().rev() {
            self.rewriter.erase(op);
        }
        for key in std::mem::take(&mut self.keys) {
            self.rewriter.module_mut_unheard().resources_mut().remove(key);
        }
    }

    pub(super) fn refuse(&self, code: &'static str, message: &str) -> Diagnostic {
        refuse(self.plan, self.module(), self.root, code, message)
    }

    /// Maps a pattern seen from `frame`. Recursion is bounded by the depth of a rule.
    fn map(&mut self, frame: Frame, id: PatId) -> Result<Made> {
        let place = self.bindings.resolve(self.plan, frame, id);
        if let Some(made) = self.memo.get(&place) {
            return Ok(made.clone());
        }
        let made = match self.matched(place) {
            Some(made) => made,
            None => self.make(place)?,
        };
        self.memo.insert(place, made.clone());
        Ok(made)
    }

    /// The rule PE-Match.
    fn matched(&self, place: (Frame, PatId)) -> Option<Made> {
        if !self.plan.in_source(place.1) {
            return None;
        }
        match self.bindings.slot(place)? {
            Bound::One(target) | Bound::Option(_, target) => Some(match target {
                Target::Value(value) => Made::One(value),
                Target::Results(op) => Made::Many(self.module().results(op).collect()),
            }),
            bound => {
                let PatternKind::Variadic { field, .. } = self.plan.rule().pattern(place.1).kind
                else {
                    return None;
                };
                let value = |frame: &Frame| {
                    let target = self.bindings.target(self.plan, *frame, field)?;
                    target.value(self.module())
                };
                let values: Option<_> = self.bindings.frames_of(bound).iter().map(value).collect();
                values.map(Made::Many)
            }
        }
    }

    fn make(&mut self, (frame, id): (Frame, PatId)) -> Result<Made> {
        let plan = self.plan;
        match &plan.rule().pattern(id).kind {
            PatternKind::Const { .. } => self.constant(frame, id, None).map(Made::One),
            PatternKind::Call { op, args, .. } => self.make_call(frame, id, *op, args),
            PatternKind::Tuple(fields) => {
                let mut values = Vec::new();
                for field in fields {
                    values.extend_from_slice(self.map(frame, *field)?.values());
                }
                Ok(Made::Many(values))
            }
            PatternKind::Proj { tuple, index } => {
                let made = self.map(frame, *tuple)?;
                let index = self.index(frame, *index)?;
                let count = made.values().len();
                let field = made.values().get(index).copied();
                let message = || format!("field {index} of {count} is taken");
                field.map(Made::One).ok_or_else(|| self.refuse("field-range", &message()))
            }
            PatternKind::Variadic { field, .. } => self.make_branches(frame, id, *field),
            PatternKind::Inst { template, .. } => self.make_instance(frame, id, *template),
            PatternKind::Cond { condition, then, otherwise } => {
                let holds = match self.evaluate(frame, *condition)? {
                    AttrValue::Bool(holds) => holds,
                    other => {
                        let message = format!("a condition is {}", other.kind());
                        return Err(self.refuse("evaluation", &message));
                    }
                };
                self.map(frame, if holds { *then } else { *otherwise })
            }
            PatternKind::Case { subject, arms } => {
                let arm = match self.bindings.find(plan, frame, *subject) {
                    Some(Bound::Option(option, _)) => arms.get(option as usize),
                    _ => None,
                };
                match arm {
                    Some(arm) => self.map(frame, *arm),
                    None => Err(self.refuse("evaluation", "no option of a `case` was matched")),
                }
            }
            PatternKind::Native { name, args, .. } => self.make_native(frame, id, name, args),
            _ => Err(self.refuse("not-matched", "the target uses what was not matched")),
        }
    }

    /// The rule PE-Variadic.
    fn make_branches(&mut self, frame: Frame, id: PatId, field: PatId) -> Result<Made> {
        let count = self.branch_count(frame, id)?;
        let frames: Vec<Frame> = (0..count).map(|i| self.bindings.open(id, i, frame)).collect();
        let bound = self.bindings.list(&frames);
        self.bindings.set_slot((frame, id), Some(bound));
        let mut values = Vec::new();
        for branch in frames {
            values.extend_from_slice(self.map(branch, field)?.values());
        }
        Ok(Made::Many(values))
    }

    fn branch_count(&mut self, frame: Frame, id: PatId) -> Result<usize> {
        let count = match target_length(self.plan.rule(), id) {
            Some(LengthSource::Expr(expr)) => self.index(frame, expr)?,
            Some(LengthSource::Variadic(variadic)) => {
                let rule = self.plan.rule();
                let frame = match rule.pattern(variadic).kind {
                    PatternKind::Inst { .. } => self.instance_frame(frame, variadic)?,
                    _ => frame,
                };
                let bound = self.bindings.find(self.plan, frame, variadic_of(rule, variadic));
                bound.map_or(0, |bound| self.bindings.frames_of(bound).len())
            }
            None => 0,
        };
        if count == 0 || count > MAX_ELEMENTS {
            return Err(
                self.refuse("evaluation", &format!("a variadic pattern of {count} branches"))
            );
        }
        Ok(count)
    }

    /// The rule PE-Inst.
    fn make_instance(&mut self, frame: Frame, id: PatId, template: PatId) -> Result<Made> {
        let branch = self.instance_frame(frame, id)?;
        self.map(branch, template)
    }

    /// The branch that an instance is taken from.
    fn instance_frame(&self, frame: Frame, id: PatId) -> Result<Frame> {
        let parts = (self.plan, self.module(), self.settings.natives);
        let mut scope = Scope::new(parts, &self.bindings, frame);
        let path = instance_path(self.plan.rule(), id, &mut scope);
        let path = path.map_err(|error| self.refuse("evaluation", &error.to_string()))?;
        self.bindings.along(self.plan, frame, &path).ok_or_else(|| {
            let at = path.iter().map(|(_, i)| i.to_string()).collect::<Vec<_>>().join(", ");
            self.refuse("field-range", &format!("there is no instance {at}"))
        })
    }

    fn make_native(&mut self, frame: Frame, id: PatId, name: &str, args: &[PatId]) -> Result<Made> {
        let mut operands = Vec::new();
        for arg in args {
            operands.extend_from_slice(self.map(frame, *arg)?.values());
        }
        let mut attributes = Vec::new();
        if let PatternKind::Native { attrs, .. } = &self.plan.rule().pattern(id).kind {
            for field in attrs {
                attributes.push((field.name.clone(), self.evaluate(frame, field.value)?));
            }
        }
        let message = format!("native `{name}` makes nothing");
        let Some(function) = self.settings.natives.builder(name) else {
            return Err(self.refuse("native", &message));
        };
        let before = self.module().op_capacity();
        let made = function(self.rewriter, self.point, &operands, &attributes);
        let new = (before..self.module().op_capacity()).map(|i| Op::from_u32(i as u32));
        for op in new.filter(|op| self.module().is_live(*op)).collect::<Vec<_>>() {
            self.note(op);
        }
        match made {
            Some(values) if values.len() == 1 => Ok(Made::One(values[0])),
            Some(values) => Ok(Made::Many(values)),
            None => Err(self.refuse("native", &message)),
        }
    }

    /// The rule PE-Call.
    fn make_call(&mut self, frame: Frame, id: PatId, op: OpId, args: &[PatId]) -> Result<Made> {
        let name = match (self.plan.names(op), self.bindings.names[op.index()]) {
            (&[name], _) | (_, Some(name)) => name,
            _ => return Err(self.refuse("not-matched", "no operator was matched for a call")),
        };
        let def = self.module().context().def(name);
        let broadcasts = def.is_some_and(|def| def.traits.contains(Traits::BROADCASTING));
        let operands = self.operands(frame, args, broadcasts)?;
        let attrs = self.attributes(frame, id, def, &operands)?;
        if def.is_none() {
            return Ok(self.make_foreign(id, name, &operands, attrs));
        }
        let results = def.and_then(|def| self.wanted_results(frame, id, def));
        let built = self.rewriter.build(self.point, name, &operands, attrs, results, self.loc);
        let op = built.map_err(|error| {
            let name = self.module().context().name_text(name);
            self.refuse("inference", &format!("`{name}` cannot be made: {error}"))
        })?;
        self.note(op);
        let values = match self.fold(op, &operands)? {
            Some(values) => values,
            None => self.module().results(op).collect(),
        };
        Ok(if values.len() == 1 { Made::One(values[0]) } else { Made::Many(values) })
    }

    /// Makes an operation of which nothing is known: it gives what it takes the place of, and in
    /// between what its first operand is, of any extents.
    fn make_foreign(&mut self, id: PatId, name: Name, operands: &[Value], attrs: Attr) -> Made {
        let module = self.module();
        let output = self.plan.rule().targets().iter().position(|target| *target == id);
        let replaced = output.and_then(|i| self.outputs.get(i).copied());
        let element =
            operands.iter().find_map(|v| module.context().element_type(module.value_type(*v)));
        let ty = match (replaced, element) {
            (Some(value), _) => module.value_type(value),
            (None, Some(element)) => module.context().ty(TypeData::UnrankedTensor(element)),
            (None, None) => module.context().ty(TypeData::None),
        };
        let mut state = OpState::new(name, self.loc);
        state.attrs = attrs;
        state.operands.extend_from_slice(operands);
        state.results.push(ty);
        let op = self.rewriter.create(self.point, state);
        self.note(op);
        Made::One(self.module().result(op, 0))
    }

    /// How many results the rule takes of a call, where it takes one that is only there if wanted.
    fn wanted_results(&self, frame: Frame, id: PatId, def: &OpDef) -> Option<usize> {
        let index = |kind: &PatternKind| match kind {
            PatternKind::Proj { tuple, index } if *tuple == id => self.index(frame, *index).ok(),
            _ => None,
        };
        let taken = self.plan.rule().patterns().filter_map(|(_, pattern)| index(&pattern.kind));
        taken.max().filter(|last| (1..def.results.len()).contains(last)).map(|last| last + 1)
    }

    /// Maps operands; new constants come last, since they take their type from the others.
    fn operands(&mut self, frame: Frame, args: &[PatId], broadcasts: bool) -> Result<Vec<Value>> {
        let mut slots: Vec<(PatId, Vec<Value>)> = Vec::new();
        for &arg in args {
            let made = match self.pending_constant(frame, arg) {
                Some(_) => Vec::new(),
                None => self.map(frame, arg)?.values().to_vec(),
            };
            slots.push((arg, made));
        }
        let known: Vec<DType> =
            slots.iter().flat_map(|(_, made)| made).filter_map(|v| self.dtype(*v)).collect();
        let number = known.iter().find(|dtype| **dtype != DType::Bool).or(known.first()).copied();
        let float = known.iter().find(|dtype| dtype.is_float()).copied();
        let mut operands = Vec::new();
        for (arg, made) in slots {
            match self.pending_constant(frame, arg) {
                Some(whole) => {
                    // An integer beside floats may be an axis or a shape: only broadcasting
                    // operations want all operands of one type.
                    let like = if broadcasts { number } else { float.filter(|_| !whole) };
                    operands.push(self.constant(frame, arg, like)?);
                }
                None => operands.extend(made),
            }
        }
        Ok(operands)
    }

    pub(super) fn evaluate(&self, frame: Frame, expr: ExprId) -> Result<AttrValue> {
        let parts = (self.plan, self.module(), self.settings.natives);
        let mut scope = Scope::new(parts, &self.bindings, frame);
        let found = evaluate(self.plan.rule(), expr, &mut scope).map(AttrValue::into_plain);
        found.map_err(|error: EvalError| self.refuse("evaluation", &error.to_string()))
    }

    fn index(&self, frame: Frame, expr: ExprId) -> Result<usize> {
        let found = self.evaluate(frame, expr)?;
        let index = match found {
            AttrValue::Int(index) => usize::try_from(index).ok(),
            _ => None,
        };
        let message = || format!("{} is no index", crate::matching::show(&found));
        index.ok_or_else(|| self.refuse("evaluation", &message()))
    }
}

/// Returns whether a value is a constant.
pub(super) fn is_constant(module: &Module, value: Value) -> bool {
    constant::constant_attr(module, value).is_some()
}
