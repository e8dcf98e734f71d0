//! The environment Γ of attribute expressions over a match on IR.

use std::cell::{Cell, RefCell};

use tangram_ir::Module;

use super::attribute;
use super::bindings::{Bindings, Bound, Frame, Target};
use super::normal;
use crate::ast::{ExprId, PatId, PatternKind, SymId};
use crate::eval::{AttrValue, Env};
use crate::plan::MatchPlan;
use crate::rules::Natives;

/// Bindings as seen from a frame.
pub(crate) struct Scope<'a> {
    pub(crate) plan: &'a MatchPlan,
    pub(crate) module: &'a Module,
    pub(crate) natives: &'a Natives,
    pub(crate) bindings: &'a Bindings,
    pub(crate) frame: Frame,
    locals: Vec<(SymId, Option<AttrValue>)>,
    /// Something was looked at that is not bound yet.
    unbound: Cell<bool>,
    /// Which ways conditionals went, where that is asked for.
    decisions: Option<&'a RefCell<Vec<(ExprId, bool)>>>,
}

impl<'a> Scope<'a> {
    pub(crate) fn new(
        (plan, module, natives): (&'a MatchPlan, &'a Module, &'a Natives),
        bindings: &'a Bindings,
        frame: Frame,
    ) -> Self {
        let unbound = Cell::new(false);
        let decisions = None;
        Self { plan, module, natives, bindings, frame, locals: Vec::new(), unbound, decisions }
    }

    /// The same scope, which notes which ways conditionals go.
    pub(crate) fn noting(self, decisions: &'a RefCell<Vec<(ExprId, bool)>>) -> Self {
        Self { decisions: Some(decisions), ..self }
    }

    /// Returns whether an access failed because its pattern is not bound yet.
    pub(crate) fn met_unbound(&self) -> bool {
        self.unbound.get()
    }

    fn of_bound(&self, id: PatId, frame: Frame, bound: Bound, name: &str) -> Option<AttrValue> {
        match bound {
            Bound::Branches { count, .. } => self.of_branches(id, frame, bound, count, name),
            Bound::One(target) | Bound::Option(_, target) => self.of_target(target, name),
        }
    }

    fn of_branches(
        &self,
        id: PatId,
        _: Frame,
        bound: Bound,
        count: u32,
        name: &str,
    ) -> Option<AttrValue> {
        if name == "length" {
            return Some(AttrValue::Int(i64::from(count)));
        }
        let PatternKind::Variadic { field, .. } = self.plan.rule().pattern(id).kind else {
            return None;
        };
        let fields = self.bindings.frames_of(bound).iter().map(|frame| {
            let target = self.bindings.target(self.plan, *frame, field)?;
            self.of_target(target, name)
        });
        Some(AttrValue::Tuple(fields.collect::<Option<_>>()?))
    }

    fn of_target(&self, target: Target, name: &str) -> Option<AttrValue> {
        let module = self.module;
        let value = match target {
            Target::Value(value) => value,
            Target::Results(op) => {
                let known = matches!(name, "shape" | "dtype" | "ndim" | "value");
                if name == "length" {
                    return Some(AttrValue::Int(module.result_count(op) as i64));
                } else if known {
                    let fields = module.results(op).map(|v| attribute::of_value(module, v, name));
                    return Some(AttrValue::Tuple(fields.collect::<Option<_>>()?));
                }
                return normal::of_op(module, op, name);
            }
        };
        if let Some(found) = attribute::of_value(module, value, name) {
            return Some(found);
        }
        let op = module.def_op(value)?;
        if name == "index" && module.attr(op, name).is_none() {
            let index = module.results(op).position(|result| result == value)?;
            return Some(AttrValue::Int(index as i64));
        }
        normal::of_op(module, op, name)
    }

    /// Returns the number of fields of a tuple pattern without variadic fields.
    fn tuple_length(&self, id: PatId) -> Option<AttrValue> {
        match &self.plan.rule().pattern(id).kind {
            PatternKind::Tuple(fields) => Some(AttrValue::Int(fields.len() as i64)),
            _ => None,
        }
    }
}

impl Env for Scope<'_> {
    fn symbol(&self, symbol: SymId) -> Option<AttrValue> {
        let local = self.locals.iter().rev().find(|(bound, _)| *bound == symbol);
        if let Some((_, Some(value))) = local {
            return Some(value.clone());
        }
        let index = self.bindings.index(self.plan, self.frame, symbol)?;
        Some(AttrValue::Int(index as i64))
    }

    fn decided(&self, conditional: ExprId, holds: bool) {
        if let Some(decisions) = self.decisions {
            decisions.borrow_mut().push((conditional, holds));
        }
    }

    fn bind(&mut self, symbol: SymId, value: Option<AttrValue>) {
        self.locals.retain(|(bound, _)| *bound != symbol);
        self.locals.push((symbol, value));
    }

    fn access(&self, pattern: PatId, path: &[(PatId, usize)], name: &str) -> Option<AttrValue> {
        let mut frame = self.frame;
        for &(variadic, index) in path {
            let branch = self.bindings.branch(self.plan, frame, variadic, index);
            let closed = self.bindings.find(self.plan, frame, variadic).is_some();
            self.unbound.set(self.unbound.get() || (branch.is_none() && !closed));
            frame = branch?;
        }
        let (home, id) = self.bindings.resolve(self.plan, frame, pattern);
        match self.bindings.slot((home, id)) {
            Some(bound) => self.of_bound(id, home, bound, name),
            None => {
                let length = (name == "length").then(|| self.tuple_length(id)).flatten();
                self.unbound.set(self.unbound.get() || length.is_none());
                length
            }
        }
    }

    fn option(&self, alternative: PatId) -> Option<usize> {
        match self.bindings.find(self.plan, self.frame, alternative) {
            Some(Bound::Option(option, _)) => Some(option as usize),
            Some(_) => None,
            None => {
                self.unbound.set(true);
                None
            }
        }
    }

    fn native(&self, name: &str, args: &[Result<PatId, AttrValue>]) -> Option<AttrValue> {
        let mut values = Vec::new();
        for arg in args {
            values.push(match arg {
                Err(value) => crate::rules::NativeArgument::Attribute(value.clone()),
                Ok(id) => match self.bindings.target(self.plan, self.frame, *id) {
                    Some(target) => crate::rules::NativeArgument::Value(target.value(self.module)?),
                    None => {
                        self.unbound.set(true);
                        return None;
                    }
                },
            });
        }
        self.natives.attribute(name, self.module, &values)
    }
}
