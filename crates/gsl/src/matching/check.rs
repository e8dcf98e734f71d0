//! Conditions on attributes, types, values and users, at once or when all they look at is bound.

use tangram_ir::{Op, Value};

use super::bindings::{Frame, Target};
use super::env::Scope;
use super::solver::{Check, Goal, Solver};
use super::{attribute, constant, matched_ops, normal};
use crate::ast::{ExprId, ExprKind, Field, PatId, PatternKind, TensorFields};
use crate::eval::{self, AttrValue, evaluate};
use crate::text;

/// What a condition says now.
enum Verdict {
    Holds,
    Fails(String, String),
    /// It looks at something that is not bound yet.
    Open,
}

impl From<bool> for Verdict {
    fn from(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::Fails(String::new(), String::new()) }
    }
}

impl<'a> Solver<'a> {
    /// Checks now, or puts off what cannot be decided unless it is the `last` time.
    pub(super) fn check(&mut self, check: Check, last: bool) -> bool {
        let (id, at, verdict) = match check {
            Check::Attribute { frame, id, field } => self.attribute(frame, id, field),
            Check::Rest { frame, id } => self.rest(frame, id),
            Check::Index { frame, id } => self.index(frame, id),
            Check::Tensor { frame, id } => self.tensor(frame, id),
            Check::Length { frame, id } => self.length(frame, id),
            Check::Instance { frame, id, target } => self.instance(frame, id, target),
            Check::Condition(i) => self.condition(i),
            Check::Only { frame, id } => self.only(frame, id),
            Check::Not { frame, id } => return self.not(frame, id),
        };
        match verdict {
            Verdict::Holds => true,
            Verdict::Open if !last => {
                self.defer(check);
                true
            }
            Verdict::Open => self.missed(id, at, || ("a value".into(), "nothing matched".into())),
            Verdict::Fails(expected, found) => self.missed(id, at, || (expected, found)),
        }
    }

    fn scope(&self, frame: Frame) -> Scope<'_> {
        Scope::new((self.plan, self.module, self.natives), &self.bindings, frame)
    }

    /// Matches a value against an expression: the rules AM-*.
    fn compare(&self, frame: Frame, expr: ExprId, value: &AttrValue, what: &str) -> Verdict {
        let mut scope = self.scope(frame);
        if eval::matches(self.plan.rule(), expr, value, &mut scope) {
            Verdict::Holds
        } else if scope.met_unbound() {
            Verdict::Open
        } else {
            self.unequal(frame, expr, value, what)
        }
    }

    fn unequal(&self, frame: Frame, expr: ExprId, value: &AttrValue, what: &str) -> Verdict {
        let wanted = match evaluate(self.plan.rule(), expr, &mut self.scope(frame)) {
            Ok(wanted) => attribute::show(&wanted),
            Err(error) => format!("something else ({error})"),
        };
        Verdict::Fails(format!("{what} = {wanted}"), attribute::show(value))
    }

    fn bound_op(&self, frame: Frame, id: PatId) -> Option<Op> {
        self.bindings.target(self.plan, frame, id)?.op(self.module)
    }

    fn bound_value(&self, frame: Frame, id: PatId) -> Option<Value> {
        self.bindings.target(self.plan, frame, id)?.value(self.module)
    }

    fn attribute(&self, frame: Frame, id: PatId, field: u32) -> (PatId, Option<Op>, Verdict) {
        let op = self.bound_op(frame, id);
        let PatternKind::Call { attrs, .. } = &self.plan.rule().pattern(id).kind else {
            return (id, op, Verdict::Open);
        };
        let field = &attrs[field as usize];
        if let Some(verdict) = self.copied(frame, &field.name, field.value, op) {
            return (id, op, verdict);
        }
        let value = op.and_then(|op| normal::of_op(self.module, op, &field.name));
        let any = matches!(self.plan.rule().expr(field.value).kind, ExprKind::Any);
        let verdict = match value {
            Some(value) => match self.compare(frame, field.value, &value, &field.name) {
                Verdict::Fails(..) if self.is_same_set(frame, field, op, &value) => Verdict::Holds,
                verdict => verdict,
            },
            None if any => Verdict::Holds,
            None => Verdict::Fails(format!("attribute `{}`", field.name), "none".into()),
        };
        (id, op, verdict)
    }

    /// Whether a list of dimensions is the wanted one in another order, where that says nothing.
    fn is_same_set(&self, frame: Frame, field: &Field, op: Option<Op>, found: &AttrValue) -> bool {
        let wanted = evaluate(self.plan.rule(), field.value, &mut self.scope(frame));
        let (Ok(wanted), Some(op)) = (wanted, op) else { return false };
        normal::same_dimensions(self.module, op, &field.name, (found, &wanted))
    }

    /// The attribute of the same name of another call: both may be absent, and mean nothing that a
    /// value says.
    fn copied(&self, frame: Frame, name: &str, expr: ExprId, op: Option<Op>) -> Option<Verdict> {
        let ExprKind::Access { pattern, attribute } = &self.plan.rule().expr(expr).kind else {
            return None;
        };
        if attribute != name || is_tensor_attribute(name) {
            return None;
        }
        let PatternKind::Call { .. } = self.plan.rule().pattern(*pattern).kind else {
            return None;
        };
        let (Some(op), Some(other)) = (op, self.bound_op(frame, *pattern)) else {
            return Some(Verdict::Open);
        };
        if normal::agree(self.module, (op, other), name) {
            return Some(Verdict::Holds);
        }
        let show = |op: Op| match normal::of_op(self.module, op, name) {
            Some(value) => attribute::show(&value),
            None => "no attribute".to_owned(),
        };
        Some(Verdict::Fails(format!("{name} = {}", show(other)), show(op)))
    }

    /// All attributes that are not constrained one by one are those of another call.
    fn rest(&self, frame: Frame, id: PatId) -> (PatId, Option<Op>, Verdict) {
        let op = self.bound_op(frame, id);
        let PatternKind::Call { attrs, rest: Some(rest), .. } = &self.plan.rule().pattern(id).kind
        else {
            return (id, op, Verdict::Holds);
        };
        let (Some(this), Some(other)) = (op, self.bound_op(frame, *rest)) else {
            return (id, op, Verdict::Open);
        };
        let context = self.module.context();
        let entries = |op: Op| context.entries(self.module.attrs(op)).iter();
        let names = entries(this).chain(entries(other)).map(|(name, _)| context.text(*name));
        let equal = names
            .filter(|name| !attrs.iter().any(|field| field.name == **name))
            .all(|name| normal::agree(self.module, (this, other), name));
        let texts = ("the same attributes".to_owned(), "others".to_owned());
        (id, op, if equal { Verdict::Holds } else { Verdict::Fails(texts.0, texts.1) })
    }

    fn index(&self, frame: Frame, id: PatId) -> (PatId, Option<Op>, Verdict) {
        let value = self.bound_value(frame, id);
        let op = value.and_then(|value| self.module.def_op(value));
        let PatternKind::Proj { index, .. } = self.plan.rule().pattern(id).kind else {
            return (id, op, Verdict::Holds);
        };
        let position = |op| self.module.results(op).position(|result| Some(result) == value);
        let Some(found) = op.and_then(position) else { return (id, op, Verdict::Open) };
        (id, op, self.compare(frame, index, &AttrValue::Int(found as i64), "index"))
    }

    fn tensor(&self, frame: Frame, id: PatId) -> (PatId, Option<Op>, Verdict) {
        let Some(value) = self.bound_value(frame, id) else { return (id, None, Verdict::Open) };
        let op = self.module.def_op(value);
        let verdict = match &self.plan.rule().pattern(id).kind {
            PatternKind::Variable(fields) => self.fields(frame, fields, value),
            PatternKind::Const { value: wanted, splat, tensor } => {
                match self.fields(frame, tensor, value) {
                    Verdict::Holds => {
                        wanted.map_or(Verdict::Holds, |e| self.elements(frame, e, *splat, value))
                    }
                    other => other,
                }
            }
            _ => Verdict::Holds,
        };
        (id, op, verdict)
    }

    fn fields(&self, frame: Frame, fields: &TensorFields, value: Value) -> Verdict {
        let mut open = false;
        for (name, expr) in fields.fields() {
            let verdict = match attribute::of_value(self.module, value, name) {
                Some(found) => self.compare(frame, expr, &found, name),
                None if matches!(self.plan.rule().expr(expr).kind, ExprKind::Any) => Verdict::Holds,
                None => Verdict::Fails(format!("a known {name}"), "an unknown one".into()),
            };
            match verdict {
                Verdict::Holds => {}
                Verdict::Open => open = true,
                fails => return fails,
            }
        }
        if open { Verdict::Open } else { Verdict::Holds }
    }

    fn elements(&self, frame: Frame, expr: ExprId, splat: bool, value: Value) -> Verdict {
        let rule = self.plan.rule();
        let found = if splat {
            let one = constant::splat(self.module, value);
            one.and_then(|one| Some((attribute::scalars(&one)?.pop()?, one.dtype())))
        } else {
            constant::elements(self.module, value)
        };
        let Some((found, dtype)) = found else {
            return Verdict::Fails("a constant of one value".into(), "other elements".into());
        };
        let mut scope = self.scope(frame);
        if constant::matches(rule, expr, &found, dtype, &mut scope) {
            Verdict::Holds
        } else if scope.met_unbound() {
            Verdict::Open
        } else {
            self.unequal(frame, expr, &found, "value")
        }
    }

    fn length(&self, frame: Frame, id: PatId) -> (PatId, Option<Op>, Verdict) {
        let PatternKind::Variadic { length: Some(length), .. } = self.plan.rule().pattern(id).kind
        else {
            return (id, None, Verdict::Holds);
        };
        let count = self.bindings.find(self.plan, frame, id);
        let Some(count) = count.map(|bound| self.bindings.frames_of(bound).len()) else {
            return (id, None, Verdict::Open);
        };
        (id, None, self.compare(frame, length, &AttrValue::Int(count as i64), "length"))
    }

    /// The rule PM-Inst.
    fn instance(&self, frame: Frame, id: PatId, target: Target) -> (PatId, Option<Op>, Verdict) {
        let at = target.op(self.module);
        let PatternKind::Inst { template, .. } = self.plan.rule().pattern(id).kind else {
            return (id, at, Verdict::Holds);
        };
        let mut scope = self.scope(frame);
        let path = eval::instance_path(self.plan.rule(), id, &mut scope);
        let open = scope.met_unbound();
        let Ok(path) = path else {
            let fails = Verdict::Fails("an index".into(), "no value".into());
            return (id, at, if open { Verdict::Open } else { fails });
        };
        let branch = self.bindings.along(self.plan, frame, &path);
        let found = branch.and_then(|frame| self.bindings.target(self.plan, frame, template));
        let indices = || path.iter().map(|(_, i)| i.to_string()).collect::<Vec<_>>().join(", ");
        let verdict = match found {
            Some(found) if self.key(found) == self.key(target) => Verdict::Holds,
            Some(_) => Verdict::Fails(format!("instance {}", indices()), "another value".into()),
            None => Verdict::Open,
        };
        (id, at, verdict)
    }

    fn condition(&self, i: u32) -> (PatId, Option<Op>, Verdict) {
        let rule = self.plan.rule();
        let id = rule.sources()[0];
        let mut scope = self.scope(Frame::ROOT);
        let fails = |found: &dyn Fn() -> String| {
            // Most conditions that fail are those of matches that nobody asks about.
            if !self.reasons {
                return Verdict::Fails(String::new(), String::new());
            }
            let text = text::condition(rule, i as usize).unwrap_or_default();
            Verdict::Fails(format!("`{text}` to hold"), found())
        };
        let verdict = match evaluate(rule, rule.conditions()[i as usize], &mut scope) {
            Ok(AttrValue::Bool(true)) => Verdict::Holds,
            Ok(value) => fails(&|| attribute::show(&value)),
            Err(_) if scope.met_unbound() => Verdict::Open,
            Err(error) => fails(&|| error.to_string()),
        };
        (id, Some(self.root), verdict)
    }

    fn only(&self, frame: Frame, id: PatId) -> (PatId, Option<Op>, Verdict) {
        let Some(target) = self.bindings.target(self.plan, frame, id) else {
            return (id, None, Verdict::Open);
        };
        // Among equals the original stays for its other users; whether that pays is a matter of
        // cost.
        if self.classes.is_some() {
            return (id, None, Verdict::Holds);
        }
        let mut matched = matched_ops(self.plan, self.module, &self.bindings);
        matched.extend(self.inner());
        let inside = |value| self.module.uses(value).all(|user| matched.contains(&user.op));
        let holds = match target {
            Target::Value(value) => inside(value),
            Target::Results(op) => self.module.results(op).all(inside),
        };
        let texts = ("no user outside the match".to_owned(), "one".to_owned());
        let fails = Verdict::Fails(texts.0, texts.1);
        (id, target.op(self.module), if holds { Verdict::Holds } else { fails })
    }

    /// Nothing that the pattern stands for may match; what it binds may be bound elsewhere too.
    fn not(&mut self, frame: Frame, id: PatId) -> bool {
        let PatternKind::Not(inner) = self.plan.rule().pattern(id).kind else { return true };
        let Some(target) = self.bindings.target(self.plan, frame, id) else { return false };
        self.negations += 1;
        let matches = self.can(Goal::Match { frame, id: inner, target });
        self.negations -= 1;
        let at = target.op(self.module);
        !matches || self.missed(id, at, || ("what does not match".into(), "what does".into()))
    }
}

/// Returns whether every value has an attribute of this name, which hides that of an operation.
pub(super) fn is_tensor_attribute(name: &str) -> bool {
    matches!(name, "shape" | "dtype" | "ndim" | "value")
}
