//! Inputs and constants: their extents, element types and elements.

use fastrand::Rng;
use tangram_dialects::nn::numbers::zeros;
use tangram_dialects::nn::sample::{self, Extents};
use tangram_dialects::{constant, dtype};
use tangram_ir::{Dim, Loc, Point};
use tangram_tensor::elementwise::cast;
use tangram_tensor::{DType, Tensor, element_count};

use super::super::values::{self, Profile};
use super::{Draft, Item};
use crate::ast::{ExprId, PatId, TensorFields};
use crate::eval::AttrValue;
use crate::mapping::from_value;

/// The most elements of an input.
const MAX_LEAF: usize = 1024;
/// A constant has at most this many elements: a rule may ask for tables.
const MAX_CONSTANT: usize = 1 << 16;

impl Draft<'_> {
    /// Extents of an input or constant: what it is wanted for, bent to what the rule says.
    pub(super) fn leaf_extents(
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
            (_, rank) => sample::free(self.rng, self.cap, rank),
        };
        for i in 0..out.len() {
            let hints = self.hints.fields(id, "shape", i).to_vec();
            if let Some(AttrValue::Int(n)) = self.one_of(&hints)
                && let Ok(n @ 0..=16) = usize::try_from(n)
            {
                out[i] = n;
            }
        }
        self.lengthen(&mut out);
        out
    }

    /// Now and then one dimension is as long as numbers of the rule say, the others short.
    fn lengthen(&mut self, extents: &mut Extents) {
        // Later operands follow the first.
        if !self.leaves.is_empty() || extents.is_empty() || self.rng.u8(0..6) > 0 {
            return;
        }
        let Some(length) = self.hints.length(self.rng) else { return };
        extents.iter_mut().for_each(|n| *n = (*n).min(2));
        let at = self.rng.usize(0..extents.len());
        extents[at] = length;
    }

    /// Most of the time a value that the rule compares an attribute with.
    pub(super) fn hinted(&mut self, id: PatId, name: &str) -> Option<AttrValue> {
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

    pub(super) fn leaf_dtype(&mut self, id: PatId, fields: Option<&TensorFields>) -> Option<DType> {
        let said = fields.and_then(|f| f.dtype).and_then(|e| self.evaluate(e));
        let named = match said.or_else(|| self.hinted(id, "dtype")) {
            Some(AttrValue::Str(name)) => DType::ALL.into_iter().find(|d| d.name() == name),
            _ => None,
        };
        named.map(|dtype| if self.wide && dtype.is_float() { DType::F64 } else { dtype })
    }

    pub(super) fn leaf(
        &mut self,
        frame: usize,
        id: PatId,
        want: Option<&Extents>,
        fields: Option<&TensorFields>,
    ) -> Option<Item> {
        if let Some(list) = self.listed.take() {
            let tensor = Tensor::from_vec([list.len()], list).ok()?;
            return Some(self.constant_leaf(frame, id, &tensor));
        }
        let shape = self.leaf_extents(id, want, fields);
        let dtype = self.leaf_dtype(id, fields).unwrap_or(self.dtype);
        // Evaluation is by reference kernels: what is large says nothing that small does not.
        element_count(&shape).filter(|&count| count <= MAX_LEAF)?;
        let context = self.module.context_arc().clone();
        let dims: Vec<Dim> = shape.iter().map(|&n| Dim::fixed(n as i64)).collect();
        let ty = context.tensor_type(&dims, dtype::type_of(&context, dtype));
        let body = self.module.body();
        let value = self.module.add_arg(body, ty);
        self.leaves.push((self.name_of(frame, id), value));
        Some(Item::One(value))
    }

    pub(super) fn constant(
        &mut self,
        (frame, id): (usize, PatId),
        want: Option<&Extents>,
        (value, splat): (Option<ExprId>, bool),
        fields: &TensorFields,
    ) -> Option<Item> {
        let stated = value.and_then(|value| self.evaluate(value));
        // One number is mostly written as one, so that it stretches nothing.
        let number = stated.as_ref().is_some_and(|v| !matches!(v, AttrValue::Tuple(_)));
        let shape = if number && self.rng.u8(0..20) > u8::from(splat) * 2 {
            Extents::new()
        } else {
            self.leaf_extents(id, want, Some(fields))
        };
        element_count(&shape).filter(|&count| count <= MAX_CONSTANT)?;
        let dtype = self.leaf_dtype(id, Some(fields)).unwrap_or(self.dtype);
        let tensor = match &stated {
            Some(value) => {
                let scalar = !matches!(value, AttrValue::Tuple(_));
                let shape = (splat || scalar).then_some(shape.as_slice());
                from_value(value, dtype, shape).ok()?
            }
            None if self.hints.is_pinned(id) => self.pinned(dtype, &shape)?,
            None => self.random(dtype, &shape)?,
        };
        let item = self.constant_leaf(frame, id, &tensor);
        if let (Item::One(value), None, false) = (&item, stated, self.hints.is_pinned(id)) {
            self.free.push(*value);
        }
        Some(item)
    }

    fn constant_leaf(&mut self, frame: usize, id: PatId, tensor: &Tensor) -> Item {
        let end = Point::End(self.module.body());
        let op = constant::build(&mut self.module, end, tensor, "c", Loc::UNKNOWN);
        let value = self.module.result(op, 0);
        self.leaves.push((self.name_of(frame, id), value));
        Item::One(value)
    }

    fn random(&mut self, dtype: DType, shape: &[usize]) -> Option<Tensor> {
        let count = element_count(shape)?;
        match dtype {
            _ if count == 1 && dtype.is_float() && !self.is_scale && self.is_zero() => {
                zeros(dtype, shape)
            }
            DType::I64 if self.base != dtype => {
                values::indices(dtype, shape, self.profile, self.rng)
            }
            _ if self.is_scale => {
                values::positive(values::tensor(dtype, shape, self.profile, &[], self.rng)?)
            }
            _ => values::tensor(dtype, shape, self.profile, &[], self.rng),
        }
    }

    /// Whether a single number is 0. A quotient by 0, and 0 times what is infinite, show with no
    /// other number, and the other choices give 0 too rarely for one number of a program.
    fn is_zero(&self) -> bool {
        // Apart from the other choices, which stay as they are.
        Rng::with_seed(self.rng.clone().u64(..) ^ 0x2E60).u8(0..6) == 0
    }

    /// A constant whose elements the rule reads: an index, a list of sizes, an epsilon.
    fn pinned(&mut self, dtype: DType, shape: &[usize]) -> Option<Tensor> {
        if dtype == DType::I64 {
            let element = i64::from(!shape.is_empty() || self.rng.bool());
            let count = element_count(shape)?;
            return Tensor::from_vec(shape, vec![element; count]).ok();
        }
        let made = values::tensor(dtype, shape, Profile::Positive, &[], self.rng)?;
        // Numbers that no type but its own has, apart from the other choices.
        let mut apart = Rng::with_seed(self.rng.clone().u64(..) ^ 0xDEC1);
        if !dtype.is_float() || apart.bool() {
            return Some(made);
        }
        let numbers = made.f64s().ok()?.into_iter().map(|x| x / 10.0).collect::<Vec<f64>>();
        cast(&Tensor::from_vec(shape, numbers).ok()?, dtype).ok()
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
