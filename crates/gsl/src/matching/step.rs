//! One step of the machine: what each form of a pattern asks of a value.
//!
//! The rules PM-Wildcard, -Const, -Variable, -Call, -Tuple, -Proj, -Variadic and -Inst of the GSL thesis.

use tangram_dialects::constant;
use tangram_ir::{Op, Traits, Value, ValueDef};

use super::bindings::{Bound, Frame, Target};
use super::solver::{Check, Goal, Solver};
use crate::ast::{OpId, PatId, PatternKind};

impl Solver<'_> {
    /// Starts the search.
    pub(super) fn start(&mut self) -> bool {
        let rule = self.plan.rule();
        for i in (0..rule.conditions().len()).rev() {
            self.defer(Check::Condition(i as u32));
        }
        let Some(&output) = rule.sources().first() else { return false };
        let mut goals = Vec::new();
        let (frame, id) = match self.variadic_output() {
            Some((variadic, field)) => {
                let frame = self.bindings.open(variadic, 0, Frame::ROOT);
                self.grow(frame);
                goals.push(Goal::Gather);
                (frame, field)
            }
            None => {
                goals.extend((1..rule.sources().len()).map(Goal::Output));
                (Frame::ROOT, output)
            }
        };
        goals.push(Goal::Finish { until: None });
        self.push_all(goals);
        let roots = self.root_targets(id);
        self.choose(roots.map(|target| Goal::Member { frame, id, target }).collect())
    }

    /// Lists what `root` makes that the first output could match.
    fn root_targets(&self, id: PatId) -> impl Iterator<Item = Target> + use<> {
        let tuple = self.plan.is_tuple(id).then_some(Target::Results(self.root));
        let results = self.module.results(self.root).filter(move |_| tuple.is_none());
        tuple.into_iter().chain(results.map(Target::Value))
    }

    /// Returns the variadic output and the pattern of its branches.
    pub(super) fn variadic_output(&self) -> Option<(PatId, PatId)> {
        let &output = self.plan.rule().sources().first()?;
        let field = self.plan.branch_root(output);
        (field != output).then_some((output, field))
    }

    pub(super) fn step(&mut self, goal: Goal) -> bool {
        match goal {
            Goal::Match { frame, id, target } => self.match_class(frame, id, target),
            Goal::Member { frame, id, target } => self.match_pattern(frame, id, target),
            Goal::Operands { frame, id, values, inner } => {
                self.note_inner(&inner);
                self.split_operands(frame, id, &values)
            }
            Goal::Segments { frame, id, values, lengths } => {
                self.match_segments(frame, id, &values, &lengths)
            }
            Goal::Option { place, option, id, target } => {
                self.take_option(place, option, id, target)
            }
            Goal::Output(k) => self.find_output(k),
            Goal::Gather => self.gather(),
            Goal::Extend { pool, next } => self.extend(pool, next),
            Goal::Order { pool, next, left } => self.order(pool, next, left),
            Goal::Take { pool, next, ordered } => self.take(pool, next, ordered),
            Goal::Close => self.close(),
            Goal::Finish { until } => self.finish(until),
        }
    }

    fn finish(&mut self, until: Option<u32>) -> bool {
        while let Some(check) = self.take_deferred(until) {
            if !self.check(check, true) {
                return false;
            }
        }
        until.is_some() || self.outputs_are_apart()
    }

    /// A rule of several outputs is about several values, also where one is an alternative.
    fn outputs_are_apart(&mut self) -> bool {
        let rule = self.plan.rule();
        let sources = rule.sources();
        let key = |id: PatId| Some(self.key(self.bindings.target(self.plan, Frame::ROOT, id)?));
        let same = (1..sources.len()).find(|&i| {
            let asks = |id: PatId| rule.pattern(id).may_alias;
            let own = key(sources[i]);
            let is_same = |other: &PatId| !asks(*other) && own.is_some() && key(*other) == own;
            !asks(sources[i]) && sources[..i].iter().any(is_same)
        });
        match same {
            Some(i) => self.missed(sources[i], Some(self.root), second_value),
            None => true,
        }
    }

    /// Matches any member of the class of `target`.
    fn match_class(&mut self, frame: Frame, id: PatId, target: Target) -> bool {
        let place = self.bindings.resolve(self.plan, frame, id);
        if self.bindings.slot(place).is_some() {
            return self.match_pattern(frame, id, target);
        }
        match self.ways(place.0, place.1, target) {
            Some(ways) => self.choose(ways),
            None => self.match_pattern(frame, id, target),
        }
    }

    fn match_pattern(&mut self, frame: Frame, id: PatId, target: Target) -> bool {
        let place = self.bindings.resolve(self.plan, frame, id);
        let (frame, id) = place;
        if let Some(bound) = self.bindings.slot(place) {
            let same = match bound {
                Bound::One(known) | Bound::Option(_, known) => self.key(known) == self.key(target),
                Bound::Branches { .. } => false,
            };
            return same || self.missed(id, target.op(self.module), second_value);
        }
        let plan = self.plan;
        let pattern = plan.rule().pattern(id);
        if pattern.only {
            self.defer(Check::Only { frame, id });
        }
        match &pattern.kind {
            PatternKind::Wildcard => self.bind(place, Bound::One(target)),
            PatternKind::Const { .. } => self.match_constant(place, target),
            PatternKind::Variable(_) => self.match_variable(place, target),
            PatternKind::Call { op, .. } => self.match_call(place, *op, target),
            PatternKind::Proj { tuple, .. } => self.match_projection(place, *tuple, target),
            PatternKind::Alt(options) => self.match_options(place, options, target),
            PatternKind::Not(_) => {
                self.defer(Check::Not { frame, id });
                self.bind(place, Bound::One(target))
            }
            PatternKind::Inst { .. } => {
                let check = Check::Instance { frame, id, target };
                self.check(check, false)
            }
            PatternKind::Tuple(_) | PatternKind::Variadic { .. } => {
                self.missed(id, None, || ("a tuple".into(), "a single value".into()))
            }
            PatternKind::Cond { .. } | PatternKind::Case { .. } | PatternKind::Native { .. } => {
                false
            }
        }
    }

    fn match_constant(&mut self, place: (Frame, PatId), target: Target) -> bool {
        let Target::Value(value) = target else { return false };
        if constant::constant_attr(self.module, value).is_none() {
            let def = target.op(self.module);
            return self.missed(place.1, def, || ("a constant".into(), "another value".into()));
        }
        self.bind(place, Bound::One(target))
            && self.check(Check::Tensor { frame: place.0, id: place.1 }, false)
    }

    fn match_variable(&mut self, place: (Frame, PatId), target: Target) -> bool {
        let Target::Value(value) = target else { return false };
        if !self.is_variable(value) {
            let def = target.op(self.module);
            let texts = || ("an input or parameter".into(), "a computed value".into());
            return self.missed(place.1, def, texts);
        }
        self.bind(place, Bound::One(target))
            && self.check(Check::Tensor { frame: place.0, id: place.1 }, false)
    }

    /// A parameter is a constant too; an input is an argument of a function, not of a loop.
    fn is_variable(&self, value: Value) -> bool {
        match self.module.value_def(value) {
            ValueDef::Result(op, _) => constant::is_constant(self.module, op),
            ValueDef::Arg(block, _) => {
                let parent = self.module.block_parent(block);
                parent.is_some_and(|op| self.module.has_traits(op, Traits::ISOLATED))
            }
        }
    }

    fn match_projection(&mut self, place: (Frame, PatId), tuple: PatId, target: Target) -> bool {
        let Target::Value(value) = target else { return false };
        let Some(op) = self.module.def_op(value) else {
            let texts = || ("a result of an operation".into(), "an input".into());
            return self.missed(place.1, None, texts);
        };
        let (frame, id) = place;
        if !self.bind(place, Bound::One(target)) || !self.check(Check::Index { frame, id }, false) {
            return false;
        }
        self.push(Goal::Match { frame, id: tuple, target: Target::Results(op) });
        true
    }

    fn match_options(&mut self, place: (Frame, PatId), options: &[PatId], target: Target) -> bool {
        let option =
            |(i, id): (usize, &PatId)| Goal::Option { place, option: i as u32, id: *id, target };
        self.choose(options.iter().enumerate().map(option).collect())
    }

    /// Binds an alternative to one of its options.
    pub(super) fn take_option(
        &mut self,
        place: (Frame, PatId),
        option: u32,
        id: PatId,
        target: Target,
    ) -> bool {
        self.push(Goal::Match { frame: place.0, id, target });
        self.bind(place, Bound::Option(option, target))
    }

    fn match_call(&mut self, place: (Frame, PatId), op_id: OpId, target: Target) -> bool {
        let (frame, id) = place;
        let Some(op) = self.called(target) else {
            let def = target.op(self.module);
            return self.missed(id, def, || (self.plan.describe(id), "another value".into()));
        };
        let name = self.module.name(op);
        let plan = self.plan;
        let known = self.bindings.names[op_id.index()];
        if !plan.names(op_id).contains(&name) || known.is_some_and(|known| known != name) {
            let found = self.module.name_text(op).to_owned();
            return self.missed(id, Some(op), || (plan.describe(id), found));
        }
        if known.is_none() {
            self.bind_name(op_id, name);
        }
        if !self.bind(place, Bound::One(target)) {
            return false;
        }
        let PatternKind::Call { attrs, rest, .. } = &plan.rule().pattern(id).kind else {
            return false;
        };
        for field in 0..attrs.len() as u32 {
            if !self.check(Check::Attribute { frame, id, field }, false) {
                return false;
            }
        }
        if rest.is_some() && !self.check(Check::Rest { frame, id }, false) {
            return false;
        }
        let orders = self.operand_orders(frame, id, op);
        if orders.is_empty() {
            let count = super::given_operands(self.module, op);
            let texts = || (self.plan.describe_arity(id), format!("{count} operands"));
            return self.missed(id, Some(op), texts);
        }
        self.choose(orders)
    }

    /// Returns the operation whose first or only result, or all of whose results, `target` is.
    fn called(&self, target: Target) -> Option<Op> {
        match target {
            Target::Results(op) => Some(op),
            Target::Value(value) => match self.module.value_def(value) {
                ValueDef::Result(op, 0) => Some(op),
                _ => None,
            },
        }
    }
}

fn second_value() -> (String, String) {
    ("the value that it matched elsewhere".into(), "another one".into())
}
