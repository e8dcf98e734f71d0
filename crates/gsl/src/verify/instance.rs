//! An instance of the source of a rule: a small program that the rule should match.
//!
//! Operands are made before what uses them. Inputs and constants get extents from what uses them
//! first ([`shapes`](super::shapes)), attributes from the rule where it says what they are, else
//! at random ([`attributes`](super::attributes)). Whether the rule really matches is for the
//! matcher to say; here it is only made likely.

use fastrand::Rng;
use rustc_hash::FxHashMap;
use tangram_dialects::{constant, dtype};
use tangram_ir::{Dim, Loc, Module, Name, Op, OpDef, OpState, Point, Value};
use tangram_tensor::elementwise::cast;
use tangram_tensor::{DType, Tensor};

use super::attributes::{self, Call};
use super::hints::Hints;
use super::shapes::{self, Extents, Request};
use crate::ast::{ExprId, PatId, PatternKind, SymId, TensorFields};
use crate::eval::{AttrValue, Env, evaluate};
use crate::mapping::{from_value, to_attr};
use crate::matching::{from_attr, of_value};
use crate::plan::Plan;
use crate::rules::{NativeArgument, Natives};

/// A program made from the source of a rule.
pub(super) struct Instance {
    pub(super) module: Module,
    /// Constants that may have any elements.
    pub(super) free: Vec<Value>,
    /// What each pattern outside all branches stands for.
    pub(super) bound: Vec<(PatId, Value)>,
    /// Inputs and constants by name, in the order in which they were made.
    pub(super) leaves: Vec<(String, Value)>,
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
    plan: &'a Plan,
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
    positive: bool,
}

impl<'a> Draft<'a> {
    pub(super) fn new(
        (plan, natives, hints): (&'a Plan, &'a Natives, &'a Hints),
        module: Module,
        rng: &'a mut Rng,
        cap: usize,
        dtype: DType,
    ) -> Self {
        let root = Frame { variadic: None, index: 0, parent: 0 };
        let positive = rng.bool();
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
            positive,
        }
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
        for ((frame, id), item) in &self.made {
            let value = match item {
                Item::One(value) => Some(*value),
                Item::Results(op) => self.module.results(*op).next(),
                Item::Many(_) => None,
            };
            bound.extend(value.filter(|_| *frame == 0).map(|value| (*id, value)));
        }
        bound.sort_unstable_by_key(|(id, _)| *id);
        Some(Instance { module: self.module, free: self.free, bound, leaves: self.leaves })
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
            PatternKind::Inst { variadic, template, index } => {
                let branch = match self.evaluate(*index)? {
                    AttrValue::Int(n) => usize::try_from(n).ok()?,
                    _ => return None,
                };
                let home = self.resolve(frame, *variadic);
                let inner = *self.branches.get(&home)?.get(branch)?;
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

    /// Extents of an input or constant: what it is wanted for, bent to what the rule says.
    fn leaf_extents(
        &mut self,
        id: PatId,
        want: Option<&Extents>,
        fields: Option<&TensorFields>,
    ) -> Extents {
        let given = fields.and_then(|f| f.shape).and_then(|e| self.evaluate(e)).and_then(extents);
        if let Some(shape) = given.or_else(|| extents(self.hinted(id, "shape")?)) {
            return shape;
        }
        let ndim = fields.and_then(|f| f.ndim).and_then(|e| self.evaluate(e));
        let rank = match ndim.or_else(|| self.hinted(id, "ndim")) {
            Some(AttrValue::Int(n)) => usize::try_from(n).ok().filter(|n| *n <= 6),
            _ => None,
        };
        let mut out = match (want, rank.or(self.hints.rank(id))) {
            (Some(want), None) => want.clone(),
            (Some(want), Some(rank)) if want.len() == rank => want.clone(),
            (Some(want), Some(rank)) if want.len() > rank => want[want.len() - rank..].to_vec(),
            (_, rank) => shapes::free(self.rng, self.cap, rank),
        };
        for i in 0..out.len() {
            let hints = self.hints.fields(id, "shape", i).to_vec();
            if let Some(AttrValue::Int(n)) = self.one_of(&hints)
                && let Ok(n @ 0..=16) = usize::try_from(n)
            {
                out[i] = n;
            }
        }
        out
    }

    /// Most of the time a value that the rule compares an attribute with.
    fn hinted(&mut self, id: PatId, name: &str) -> Option<AttrValue> {
        let hints = self.hints.values(id, name).to_vec();
        self.one_of(&hints)
    }

    fn one_of(&mut self, hints: &[ExprId]) -> Option<AttrValue> {
        if hints.is_empty() || self.rng.u8(0..4) == 0 {
            return None;
        }
        let expr = *self.rng.choice(hints)?;
        let found = self.evaluate(expr)?;
        // Between two bounds.
        if let (AttrValue::Float(a), [first, second]) = (&found, hints)
            && let (Some(AttrValue::Float(b)), Some(AttrValue::Float(c))) =
                (self.evaluate(*first), self.evaluate(*second))
        {
            return Some(AttrValue::Float(if self.rng.bool() { (b + c) / 2.0 } else { *a }));
        }
        Some(found)
    }

    fn leaf_dtype(&mut self, id: PatId, fields: Option<&TensorFields>) -> Option<DType> {
        let said = fields.and_then(|f| f.dtype).and_then(|e| self.evaluate(e));
        match said.or_else(|| self.hinted(id, "dtype")) {
            Some(AttrValue::Str(name)) => DType::ALL.into_iter().find(|d| d.name() == name),
            _ => None,
        }
    }

    fn leaf(
        &mut self,
        frame: usize,
        id: PatId,
        want: Option<&Extents>,
        fields: Option<&TensorFields>,
    ) -> Option<Item> {
        let shape = self.leaf_extents(id, want, fields);
        let dtype = self.leaf_dtype(id, fields).unwrap_or(self.dtype);
        let context = self.module.context_arc().clone();
        let dims: Vec<Dim> = shape.iter().map(|&n| Dim::fixed(n as i64)).collect();
        let ty = context.tensor_type(&dims, dtype::type_of(&context, dtype));
        let body = self.module.body();
        let value = self.module.add_arg(body, ty);
        self.leaves.push((self.name_of(frame, id), value));
        Some(Item::One(value))
    }

    fn constant(
        &mut self,
        (frame, id): (usize, PatId),
        want: Option<&Extents>,
        (value, splat): (Option<ExprId>, bool),
        fields: &TensorFields,
    ) -> Option<Item> {
        let shape = self.leaf_extents(id, want, Some(fields));
        let dtype = self.leaf_dtype(id, Some(fields)).unwrap_or(self.dtype);
        let stated = value.and_then(|value| self.evaluate(value));
        let tensor = match &stated {
            Some(value) => {
                let scalar = !matches!(value, AttrValue::Tuple(_));
                let shape = (splat || scalar).then_some(shape.as_slice());
                from_value(value, dtype, shape).ok()?
            }
            None if self.hints.is_pinned(id) => self.pinned(dtype, &shape)?,
            None => self.random(dtype, &shape)?,
        };
        let end = Point::End(self.module.body());
        let op = constant::build(&mut self.module, end, &tensor, "c", Loc::UNKNOWN);
        let value = self.module.result(op, 0);
        if stated.is_none() && !self.hints.is_pinned(id) {
            self.free.push(value);
        }
        self.leaves.push((self.name_of(frame, id), value));
        Some(Item::One(value))
    }

    fn random(&mut self, dtype: DType, shape: &[usize]) -> Option<Tensor> {
        random(dtype, shape, self.positive, self.rng)
    }

    /// A constant whose elements the rule reads: an index, a list of sizes, an epsilon.
    fn pinned(&mut self, dtype: DType, shape: &[usize]) -> Option<Tensor> {
        if dtype == DType::I64 {
            let element = i64::from(!shape.is_empty() || self.rng.bool());
            let count = tangram_tensor::element_count(shape)?;
            return Tensor::from_vec(shape, vec![element; count]).ok();
        }
        random(dtype, shape, true, self.rng)
    }

    fn call(&mut self, frame: usize, id: PatId, want: Option<&Extents>) -> Option<Item> {
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
        let given = self.given(id);
        let short = def.name.trim_start_matches("nn.");
        let mut operands = self.operands((frame, id), short, args, want, &given)?;
        if *commutative && operands.len() == 2 && self.rng.bool() {
            operands.swap(0, 1);
        }
        let results = self.result_count(id);
        let attrs = self.dictionary(id, def, &given, &operands, (want, results))?;
        let end = Point::End(self.module.body());
        let made =
            self.module.build(end, name, &operands, attrs, Some(results), Loc::UNKNOWN).ok()?;
        Some(match self.module.result_count(made) {
            1 if !plan.is_tuple(id) => Item::One(self.module.result(made, 0)),
            _ => Item::Results(made),
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
        for name in ["axis", "groups"] {
            if !given.iter().any(|(known, _)| known == name) {
                given.extend(self.hinted(id, name).map(|value| (name.to_owned(), value)));
            }
        }
        given
    }

    /// Makes the operands, calls before leaves.
    fn operands(
        &mut self,
        (frame, _): (usize, PatId),
        name: &str,
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
            let leaf = self.plan.rule().pattern(key.1).parts().is_empty();
            if self.made.contains_key(&key) { 0 } else { 1 + i32::from(leaf) }
        });
        let mut made: Vec<Vec<Value>> = vec![Vec::new(); flat.len()];
        let mut known: Vec<Option<Extents>> = vec![None; flat.len()];
        for i in order {
            let (axis, groups) = (int("axis"), int("groups"));
            let request = Request { name, index: i, known: &known, want, axis, groups };
            let proposal = shapes::propose(&request, self.rng, self.cap);
            let outer = self.dtype;
            self.dtype = operand_dtype(name, i).unwrap_or(outer);
            let values = self.values(frame, flat[i], Some(&proposal));
            self.dtype = outer;
            made[i] = values?;
            known[i] = made[i].first().and_then(|v| self.extents(*v));
        }
        Some(made.into_iter().flatten().collect())
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
        let call = Call { name: short, shapes: &shapes, want, results };
        let context = self.module.context_arc().clone();
        let mut entries = Vec::new();
        for attr in def.attrs {
            let fixed = given.iter().find(|(name, _)| name == attr.name).map(|(_, v)| v.clone());
            if let (None, Some(dict)) = (&fixed, copied) {
                let name = context.str(attr.name);
                entries.extend(context.entry(dict, name).map(|attr| (name, attr)));
                continue;
            }
            let value = match fixed.or_else(|| self.hinted(id, attr.name)) {
                Some(value) => Some(value),
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

    fn is_left_out(&mut self, id: PatId, attr: &tangram_ir::AttrDef) -> bool {
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

    fn evaluate(&mut self, expr: ExprId) -> Option<AttrValue> {
        let plan = self.plan;
        evaluate(plan.rule(), expr, self).ok()
    }
}

/// Random small numbers.
pub(super) fn random(
    dtype: DType,
    shape: &[usize],
    positive: bool,
    rng: &mut Rng,
) -> Option<Tensor> {
    let count = tangram_tensor::element_count(shape)?;
    let low = if positive { 1 } else { -4 };
    let element = |rng: &mut Rng| match dtype {
        DType::Bool => f64::from(u8::from(rng.bool())),
        _ => rng.i64(low..=4) as f64,
    };
    let elements = (0..count).map(|_| element(rng)).collect();
    cast(&Tensor::from_vec(shape, elements).ok()?, dtype).ok()
}

/// The element type of operands that are no data.
fn operand_dtype(name: &str, index: usize) -> Option<DType> {
    match (name, index) {
        ("where", 0) | ("compress", 1) => Some(DType::Bool),
        ("logical_and" | "logical_or" | "logical_xor" | "logical_not", _) => Some(DType::Bool),
        ("take" | "gather_elements" | "gather_nd" | "sequence_at" | "split_to_sequence", 1) => {
            Some(DType::I64)
        }
        _ => None,
    }
}

fn extents(value: AttrValue) -> Option<Extents> {
    let AttrValue::Tuple(fields) = value else { return None };
    let extent = |field: AttrValue| match field {
        AttrValue::Int(n) => usize::try_from(n).ok().filter(|n| *n <= 64),
        _ => None,
    };
    fields.into_iter().map(extent).collect()
}

impl Env for Draft<'_> {
    fn symbol(&self, symbol: SymId) -> Option<AttrValue> {
        if let Some((_, value)) = self.symbols.iter().rev().find(|(known, _)| *known == symbol) {
            return value.clone();
        }
        let mut frame = self.at;
        while let Frame { variadic: Some(id), index, parent } = self.frames[frame] {
            if let PatternKind::Variadic { index: Some(bound), .. } =
                self.plan.rule().pattern(id).kind
                && bound == symbol
            {
                return Some(AttrValue::Int(index as i64));
            }
            frame = parent;
        }
        None
    }

    fn bind(&mut self, symbol: SymId, value: Option<AttrValue>) {
        self.symbols.retain(|(known, _)| *known != symbol);
        self.symbols.extend(value.map(|value| (symbol, Some(value))));
    }

    fn access(&self, id: PatId, instance: Option<(PatId, usize)>, name: &str) -> Option<AttrValue> {
        let frame = match instance {
            Some((variadic, index)) => {
                *self.branches.get(&self.resolve(self.at, variadic))?.get(index)?
            }
            None => self.at,
        };
        let key = self.resolve(frame, id);
        if name == "length"
            && let Some(branches) = self.branches.get(&key)
        {
            return Some(AttrValue::Int(branches.len() as i64));
        }
        let (op, value) = match self.made.get(&key)? {
            Item::One(value) => (self.module.def_op(*value), Some(*value)),
            Item::Results(op) => (Some(*op), self.module.results(*op).next()),
            Item::Many(values) if name == "length" => {
                return Some(AttrValue::Int(values.len() as i64));
            }
            Item::Many(_) => return None,
        };
        let of_value = value.and_then(|value| of_value(&self.module, value, name));
        of_value.or_else(|| from_attr(&self.module, self.module.attr(op?, name)?))
    }

    fn option(&self, alternative: PatId) -> Option<usize> {
        self.options.get(&alternative).copied()
    }

    fn native(&self, name: &str, args: &[Result<PatId, AttrValue>]) -> Option<AttrValue> {
        let value = |arg: &Result<PatId, AttrValue>| match arg {
            Err(value) => Some(NativeArgument::Attribute(value.clone())),
            Ok(id) => match self.made.get(&self.resolve(self.at, *id))? {
                Item::One(value) => Some(NativeArgument::Value(*value)),
                _ => None,
            },
        };
        let args = args.iter().map(value).collect::<Option<Vec<_>>>()?;
        self.natives.attribute(name, &self.module, &args)
    }
}
