//! Calls: operands, attributes, and how many results they have.

use rustc_hash::FxHashMap;
use tangram_dialects::attrs::Attrs;
use tangram_dialects::constant;
use tangram_ir::{AttrKind, Loc, Op, OpDef, Point, Traits, Value};
use tangram_tensor::DType;

use super::super::attributes::{self, Call};
use super::super::shapes::{self, Extents, Request};
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
        let short = def.name.trim_start_matches("nn.");
        let broadcasts = def.traits.contains(Traits::BROADCASTING);
        let mut operands = self.operands((frame, id), def, args, want, &given)?;
        if *commutative && operands.len() == 2 && self.rng.bool() {
            operands.swap(0, 1);
        }
        self.say(id, &mut given);
        let results = self.result_count(id);
        let attrs = self.dictionary(id, def, &given, &operands, (want, results))?;
        if broadcasts && !self.types_agree(short, &operands) {
            return None;
        }
        if short == "einsum" && !self.labels_agree(&given, attrs, &operands) {
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

    /// Whether the data operands of an operation that broadcasts have one element type.
    fn types_agree(&self, name: &str, operands: &[Value]) -> bool {
        let context = self.module.context();
        let first = usize::from(name == "where");
        let mut types = operands.iter().skip(first).map(|v| {
            constant::static_tensor(context, self.module.value_type(*v)).map(|(dtype, _)| dtype)
        });
        let like = types.next().flatten();
        name == "power" || types.all(|dtype| dtype == like)
    }

    /// Whether equal labels of an einsum stand for equal extents. Kernels stretch extents of 1,
    /// of which the standard says nothing.
    fn labels_agree(
        &self,
        given: &[(String, AttrValue)],
        attrs: tangram_ir::Attr,
        operands: &[Value],
    ) -> bool {
        let context = self.module.context();
        let stated = given.iter().find_map(|(name, value)| match value {
            AttrValue::Str(text) if name == "equation" => Some(text.as_str()),
            _ => None,
        });
        let equation = stated.or_else(|| Attrs::new(context, attrs).text("equation"));
        let inputs = equation.and_then(|e| e.split("->").next()).unwrap_or_default();
        let mut known: FxHashMap<char, usize> = FxHashMap::default();
        inputs.split(',').zip(operands).all(|(labels, value)| {
            let extents = self.extents(*value).unwrap_or_default();
            let (front, back) = labels.split_once("...").unwrap_or((labels, ""));
            let named = |text: &str| text.chars().filter(|c| c.is_alphabetic()).collect::<Vec<_>>();
            let (front, back) = (named(front), named(back));
            let last = extents.len().saturating_sub(back.len());
            let places = (0..front.len()).chain(last..extents.len());
            front.into_iter().chain(back).zip(places).all(|(label, at)| {
                let n = extents.get(at).copied().unwrap_or(0);
                *known.entry(label).or_insert(n) == n
            })
        })
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
        def: &OpDef,
        args: &[PatId],
        want: Option<&Extents>,
        given: &[(String, AttrValue)],
    ) -> Option<Vec<Value>> {
        let name = def.name.trim_start_matches("nn.");
        let broadcasts = def.traits.contains(Traits::BROADCASTING);
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
            match self.made.contains_key(&key) {
                true => 0,
                false => 1 + i32::from(leaf) + i32::from(constant),
            }
        });
        let mut made: Vec<Vec<Value>> = vec![Vec::new(); flat.len()];
        let mut known: Vec<Option<Extents>> = vec![None; flat.len()];
        for i in order {
            let (axis, groups) = (int("axis"), int("groups"));
            let request = Request { name, index: i, known: &known, want, axis, groups, broadcasts };
            let scaled = Scaled::of(def, i);
            let proposal = match scaled {
                Some(Scaled::Scale | Scaled::Zero) => Extents::new(),
                _ => shapes::propose(&request, self.rng, self.cap),
            };
            let listed = shapes::listed(&request, self.rng);
            let outer = self.dtype;
            let key = self.resolve(frame, flat[i]);
            if self.plan.rule().pattern(key.1).parts().is_empty() {
                let types = (self.base, self.quantised);
                let dtype = scaled.map(|scaled| scaled.dtype(self.cap));
                let dtype = dtype.or_else(|| operand_dtype(name, i, self.cap, types));
                self.dtype = dtype.unwrap_or(outer);
            }
            let within = std::mem::replace(&mut self.is_scale, values::is_scale(name, i));
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
        def: &'static OpDef,
        given: &[(String, AttrValue)],
        operands: &[Value],
        (want, results): (Option<&Extents>, usize),
    ) -> Option<tangram_ir::Attr> {
        let plan = self.plan;
        let rest = match &plan.rule().pattern(id).kind {
            PatternKind::Call { rest, .. } => *rest,
            _ => None,
        };
        let copied = rest.and_then(|rest| self.bound_op(rest)).map(|op| self.module.attrs(op));
        let shapes: Vec<Extents> =
            operands.iter().map(|v| self.extents(*v).unwrap_or_default()).collect();
        let short = def.name.trim_start_matches("nn.");
        let style = self.rng.u8(0..8);
        let call = Call { name: short, shapes: &shapes, want, results, style, base: self.base };
        let context = self.module.context_arc().clone();
        let mut entries = Vec::new();
        for attr in def.attrs {
            let fixed = given.iter().find(|(name, _)| name == attr.name).map(|(_, v)| v.clone());
            if let (None, Some(dict)) = (&fixed, copied) {
                let name = context.str(attr.name);
                entries.extend(context.entry(dict, name).map(|attr| (name, attr)));
                continue;
            }
            if (short, attr.name) == ("full", "value") {
                let element = values::tensor(self.dtype, &[1], self.profile, &[], self.rng)?;
                let made = constant::tensor_attr(&mut self.module, &element, "fill");
                entries.push((context.str(attr.name), made));
                continue;
            }
            // Of two attributes that exclude each other the rule may have given one.
            if fixed.is_none() && attributes::is_excluded(short, attr.name, given) {
                continue;
            }
            let fixed = fixed.or_else(|| self.near_number(id, attr));
            let value = match fixed.or_else(|| self.hinted(id, attr.name)) {
                Some(value) => Some(value),
                None if attributes::is_operand(&call, attr.name) => None,
                None if self.is_left_out(id, attr) => None,
                None => attributes::propose(&call, attr, self.rng),
            };
            if let Some(value) = value {
                let made = to_attr(&self.module, attr.kind, &value)?;
                entries.push((context.str(attr.name), made));
            }
        }
        Some(context.dict(entries))
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

    fn is_left_out(&mut self, id: PatId, attr: &tangram_ir::AttrDef) -> bool {
        if attr.name == "indices_or_sections" {
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

/// What an operand of a contributed operation on quantised numbers is, by its name.
#[derive(Clone, Copy)]
enum Scaled {
    Values,
    Scale,
    Zero,
}

impl Scaled {
    fn of(def: &OpDef, index: usize) -> Option<Scaled> {
        let name = def.operands.get(index)?.name;
        if !def.name.starts_with("nn.contrib_") {
            return None;
        }
        let zero = |zero: &str| zero.strip_suffix("_zero_point") == Some(name);
        match name {
            _ if name.ends_with("scale") => Some(Scaled::Scale),
            _ if name.ends_with("zero_point") => Some(Scaled::Zero),
            _ if def.operands.iter().any(|operand| zero(operand.name)) => Some(Scaled::Values),
            _ => None,
        }
    }

    /// One type for all values.
    fn dtype(self, cap: usize) -> DType {
        match self {
            Scaled::Scale => DType::F32,
            Scaled::Values | Scaled::Zero if cap.is_multiple_of(2) => DType::U8,
            Scaled::Values | Scaled::Zero => DType::I8,
        }
    }
}

/// The element type of operands that are no data, or whose type another one decides.
fn operand_dtype(
    name: &str,
    index: usize,
    cap: usize,
    (base, quantised): (DType, DType),
) -> Option<DType> {
    match (name, index) {
        ("where", 0) | ("compress", 1) => Some(DType::Bool),
        ("logical_and" | "logical_or" | "logical_xor" | "logical_not", _) => Some(DType::Bool),
        (
            "take" | "gather_elements" | "gather_nd" | "scatter_elements" | "scatter_nd"
            | "sequence_at" | "split_to_sequence" | "one_hot" | "reverse_sequence",
            1,
        ) => Some(DType::I64),
        ("one_hot", 0) => Some(DType::I64),
        ("rnn" | "gru" | "lstm", 4) => Some(DType::I32),
        ("quantize", 0) | ("quantize" | "dequantize", 1) if !base.is_float() => Some(DType::F32),
        ("dequantize", 0 | 2) | ("quantize", 2) => Some(quantised),
        // One type for all of them.
        ("qlinear_matmul" | "qlinear_conv", 0 | 2 | 3 | 5 | 7)
        | ("matmul_integer" | "conv_integer", _) => {
            Some(if cap.is_multiple_of(2) { DType::U8 } else { DType::I8 })
        }
        ("qlinear_matmul" | "qlinear_conv", 1 | 4 | 6) => Some(DType::F32),
        ("tensor_scatter" | "roi_align", 2) => Some(DType::I64),
        ("nll_loss" | "softmax_cross_entropy_loss", 1) => Some(DType::I64),
        _ => None,
    }
}
