//! Calls: operands, attributes, and how many results they have.

use tangram_dialects::attrs::Attrs;
use tangram_dialects::constant;
use tangram_dialects::nn::sample::{self, Call, Extents, Tried, Wanted};
use tangram_ir::{AttrKind, Loc, Op, OpDef, Point, Traits, Value};

use super::super::values;
use super::{Draft, Item};
use crate::ast::{PatId, PatternKind};
use crate::eval::AttrValue;
use crate::mapping::to_attr;
use crate::matching::from_attr;
use crate::plan::Operand;

/// The most elements of a result.
const MAX_RESULT: usize = 1 << 16;

fn mul(a: usize, b: &usize) -> Option<usize> {
    a.checked_mul(*b)
}

impl Draft<'_> {
    pub(super) fn call(&mut self, frame: usize, id: PatId, want: Option<&Extents>) -> Option<Item> {
        let plan = self.plan;
        let PatternKind::Call { op, args, commutative, .. } = &plan.rule().pattern(id).kind else {
            return None;
        };
        let name = match self.names.get(op) {
            Some(name) => *name,
            None => *self.names.entry(*op).or_insert(*self.rng.choice(plan.names(*op))?),
        };
        let context = self.module.context_arc().clone();
        let def = context.def(name)?;
        let mut given = self.given(id);
        let mut operands = self.operands((frame, id), def, args, want, &given)?;
        if *commutative && operands.len() == 2 && self.rng.bool() {
            operands.swap(0, 1);
        }
        self.say(id, &mut given);
        let results = self.result_count(id);
        let shapes: Vec<Extents> =
            operands.iter().map(|v| self.extents(*v).unwrap_or_default()).collect();
        let style = self.rng.u8(0..8);
        let application = Call { def, shapes: &shapes, want, results, style, base: self.base };
        let attrs = self.dictionary(id, &application, &given)?;
        let meant = sample::of(def).meant;
        if meant.is_some_and(|meant| !meant(&shapes, &Attrs::new(&context, attrs))) {
            return None;
        }
        // Whether operands broadcast whose extents are not known, inference cannot say.
        let broadcasts = def.traits.contains(Traits::BROADCASTING);
        if broadcasts && operands.iter().any(|value| self.extents(*value).is_none()) {
            return None;
        }
        let end = Point::End(self.module.body());
        let made =
            self.module.build(end, name, &operands, attrs, Some(results), Loc::UNKNOWN).ok()?;
        if self.module.results(made).any(|v| self.is_large(v)) {
            return None;
        }
        Some(match self.module.result_count(made) {
            1 if !plan.is_tuple(id) => Item::One(self.module.result(made, 0)),
            _ => Item::Results(made),
        })
    }

    /// Whether a value has so many elements that evaluation takes long and says nothing more, or
    /// would have if no extent were 0: what follows reckons with extents.
    fn is_large(&self, value: Value) -> bool {
        let count = |shape: Extents| shape.iter().try_fold(1, |count, n| mul(count, &(*n).max(1)));
        let count = self.extents(value).map(count);
        count.is_some_and(|count| count.is_none_or(|count| count > MAX_RESULT))
    }

    /// The attributes that the rule fixes, as far as they are known already.
    fn given(&mut self, id: PatId) -> Vec<(String, AttrValue)> {
        let plan = self.plan;
        let PatternKind::Call { attrs, .. } = &plan.rule().pattern(id).kind else {
            return Vec::new();
        };
        let mut given = Vec::new();
        for field in attrs {
            given.extend(self.evaluate(field.value).map(|v| (field.name.clone(), v)));
        }
        let PatternKind::Call { rest, .. } = &plan.rule().pattern(id).kind else { return given };
        let copied = rest.and_then(|rest| self.bound_op(rest));
        for name in ["axis", "groups"] {
            if let Some(op) = copied
                && let Some(attr) = self.module.attr(op, name)
                && !given.iter().any(|(known, _)| known == name)
            {
                given.extend(from_attr(&self.module, attr).map(|v| (name.to_owned(), v)));
            }
            if !given.iter().any(|(known, _)| known == name) {
                given.extend(self.hinted(id, name).map(|value| (name.to_owned(), value)));
            }
        }
        given
    }

    /// Adds what the rule says of attributes by way of the operands, which are there by now: a
    /// padding of half the window.
    fn say(&mut self, id: PatId, given: &mut Vec<(String, AttrValue)>) {
        let plan = self.plan;
        let PatternKind::Call { attrs, .. } = &plan.rule().pattern(id).kind else { return };
        for field in attrs {
            let Some(value) = self.evaluate(field.value) else { continue };
            given.retain(|(name, _)| *name != field.name);
            given.push((field.name.clone(), value));
        }
    }

    /// Makes the operands, calls before leaves.
    fn operands(
        &mut self,
        (frame, id): (usize, PatId),
        def: &'static OpDef,
        args: &[PatId],
        want: Option<&Extents>,
        given: &[(String, AttrValue)],
    ) -> Option<Vec<Value>> {
        let int = |name: &str| {
            let found = given.iter().find(|(known, _)| known == name);
            found.and_then(|(_, v)| if let AttrValue::Int(n) = v { Some(*n) } else { None })
        };
        let mut flat = Vec::new();
        for &arg in args {
            match &self.plan.rule().pattern(arg).kind {
                PatternKind::Tuple(fields) => flat.extend(fields.iter().copied()),
                _ => flat.push(arg),
            }
        }
        let mut order: Vec<usize> = (0..flat.len()).collect();
        order.sort_by_key(|&i| {
            let key = self.resolve(frame, flat[i]);
            let pattern = self.plan.rule().pattern(key.1);
            let leaf = pattern.parts().is_empty();
            // Constants last: what is data says how large they are.
            let constant = matches!(pattern.kind, PatternKind::Const { .. });
            if self.made.contains_key(&key) { 0 } else { 1 + i32::from(leaf) + i32::from(constant) }
        });
        let mut made: Vec<Vec<Value>> = vec![Vec::new(); flat.len()];
        let mut known: Vec<Option<Extents>> = vec![None; flat.len()];
        for i in order {
            let (axis, groups) = (int("axis"), int("groups"));
            let cap = self.cap;
            let wanted = Wanted { def, index: i, known: &known, want, axis, groups, cap };
            let proposal = sample::extents(&wanted, self.rng);
            let listed = sample::listed(&wanted, self.rng);
            let outer = self.dtype;
            let key = self.resolve(frame, flat[i]);
            if self.plan.rule().pattern(key.1).parts().is_empty() {
                let types = (self.base, self.quantised);
                self.dtype = sample::dtype(def, i, types, cap).unwrap_or(outer);
            }
            let is_scale = sample::role(def, i).is_scale();
            let within = std::mem::replace(&mut self.is_scale, is_scale);
            self.listed = listed;
            let values = self.values(frame, flat[i], Some(&proposal));
            self.listed = None;
            let values = self.with_others(id, frame, flat[i], values, &proposal);
            (self.dtype, self.is_scale) = (outer, within);
            made[i] = values?;
            known[i] = made[i].first().and_then(|v| self.extents(*v));
        }
        Some(made.into_iter().flatten().collect())
    }

    /// Where an operand stands for as many as there are: some more of it.
    fn with_others(
        &mut self,
        call: PatId,
        frame: usize,
        operand: PatId,
        values: Option<Vec<Value>>,
        like: &Extents,
    ) -> Option<Vec<Value>> {
        let mut values = values?;
        if matches!(*self.plan.operands(call), [Operand::Any(any)] if any == operand) {
            for _ in 0..self.rng.usize(0..=2) {
                match self.leaf(frame, operand, Some(like), None)? {
                    Item::One(value) => values.push(value),
                    _ => return None,
                }
            }
        }
        Some(values)
    }

    /// How many results are projected, and now and then one more.
    fn result_count(&mut self, id: PatId) -> usize {
        let mut highest = None;
        for (_, pattern) in self.plan.rule().patterns() {
            let PatternKind::Proj { tuple, index } = &pattern.kind else { continue };
            if *tuple == id {
                let index = match self.evaluate(*index) {
                    Some(AttrValue::Int(n)) => usize::try_from(n).unwrap_or(0).min(8),
                    _ => 1,
                };
                highest = highest.max(Some(index));
            }
        }
        match highest {
            Some(index) => index + 1 + usize::from(self.rng.u8(0..4) == 0),
            None if self.plan.is_tuple(id) => self.rng.usize(1..=3),
            None => 1,
        }
    }

    fn dictionary(
        &mut self,
        id: PatId,
        call: &Call<'_>,
        given: &[(String, AttrValue)],
    ) -> Option<tangram_ir::Attr> {
        let plan = self.plan;
        let rest = match &plan.rule().pattern(id).kind {
            PatternKind::Call { rest, .. } => *rest,
            _ => None,
        };
        let copied = rest.and_then(|rest| self.bound_op(rest)).map(|op| self.module.attrs(op));
        let context = self.module.context_arc().clone();
        let mut entries = Vec::new();
        for attr in call.def.attrs {
            let fixed = given.iter().find(|(name, _)| name == attr.name).map(|(_, v)| v.clone());
            if let (None, Some(dict)) = (&fixed, copied) {
                let name = context.str(attr.name);
                entries.extend(context.entry(dict, name).map(|attr| (name, attr)));
                continue;
            }
            // Of two attributes that exclude each other the rule may have given one.
            let is_given = |name: &str| given.iter().any(|(given, _)| given == name);
            if fixed.is_none() && sample::is_excluded(call.def, attr.name, is_given) {
                continue;
            }
            let fixed = fixed.or_else(|| self.near_number(id, attr));
            let value = match fixed.or_else(|| self.hinted(id, attr.name)) {
                Some(value) => Some(to_attr(&self.module, attr.kind, &value)?),
                None if sample::is_operand(call.def, attr.name, call.shapes.len()) => None,
                None if self.is_left_out(id, call.def, attr) => None,
                None => match sample::attribute(call, attr, self.rng) {
                    Tried::Value(value) => Some(self.attribute(attr.kind, value)?),
                    Tried::Usual | Tried::Absent => None,
                },
            };
            entries.extend(value.map(|value| (context.str(attr.name), value)));
        }
        Some(context.dict(entries))
    }

    /// A proposed value as an attribute.
    fn attribute(&mut self, kind: AttrKind, value: sample::Value) -> Option<tangram_ir::Attr> {
        if value == sample::Value::Element {
            let element = values::tensor(self.dtype, &[1], self.profile, &[], self.rng)?;
            return Some(constant::tensor_attr(&mut self.module, &element, "fill"));
        }
        to_attr(&self.module, kind, &plain(value)?)
    }

    /// Now and then, for a float that the rule reads, one near the numbers that the rule names. Integers
    /// near these are tried by extents: most others an operation would refuse.
    fn near_number(&mut self, id: PatId, attr: &tangram_ir::AttrDef) -> Option<AttrValue> {
        let is_read = attr.kind == AttrKind::Float && self.hints.mentions(id, attr.name);
        if !is_read || self.rng.u8(0..4) > 0 {
            return None;
        }
        self.hints.near_number(self.rng).map(AttrValue::Float)
    }

    fn is_left_out(&mut self, id: PatId, def: &OpDef, attr: &tangram_ir::AttrDef) -> bool {
        if sample::of(def).kept.contains(&attr.name) {
            return false;
        }
        let rarely = self.hints.mentions(id, attr.name) || attr.name == "groups";
        !attr.required && self.rng.u8(0..20) < if rarely { 1 } else { 8 }
    }

    fn bound_op(&self, id: PatId) -> Option<Op> {
        match self.made.get(&self.resolve(self.at, id))? {
            Item::One(value) => self.module.def_op(*value),
            Item::Results(op) => Some(*op),
            Item::Many(_) => None,
        }
    }
}

/// A proposed value as rules have it; none of one that no rule writes.
fn plain(value: sample::Value) -> Option<AttrValue> {
    Some(match value {
        sample::Value::Int(n) => AttrValue::Int(n),
        sample::Value::Float(x) => AttrValue::Float(x),
        sample::Value::Bool(flag) => AttrValue::Bool(flag),
        sample::Value::Str(text) => AttrValue::Str(text),
        sample::Value::List(fields) => {
            AttrValue::Tuple(fields.into_iter().map(plain).collect::<Option<_>>()?)
        }
        sample::Value::Element => return None,
    })
}
