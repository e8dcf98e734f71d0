//! Making operations one after the other, and index arithmetic.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tangram_affine::symbolic::{Arithmetic, Expr, Operation};
use tangram_ir::{
    Attr, AttrData, Block, Context, Dim, Loc, Module, Op, OpState, Point, Str, Type, TypeData,
    Value,
};
use tangram_tensor::DType;

use crate::structured::Number;
use crate::{dims, dtype};

/// What operands an operation has, by the name of each group.
pub(super) type Segments<'a> = &'a [&'a [Value]];

/// An extent, offset or the like: a number, or a value of type `index`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Size {
    Static(i64),
    Dynamic(Value),
}

/// Where a static list of sizes has a value instead.
const DYNAMIC: i64 = i64::MIN;

/// A module in the making.
pub(super) struct Builder {
    pub context: Arc<Context>,
    pub module: Module,
    /// The block that grows.
    pub block: Block,
    pub index: Type,
    /// Constants of type `index` that can be used here.
    numbers: FxHashMap<i64, Value>,
    /// Expressions that have a value, symbols among them.
    exprs: FxHashMap<Expr, Value>,
}

impl Builder {
    pub fn new(module: Module, block: Block) -> Builder {
        let context = module.context_arc().clone();
        let index = context.ty(TypeData::Index);
        let (numbers, exprs) = (FxHashMap::default(), FxHashMap::default());
        Builder { context, module, block, index, numbers, exprs }
    }

    /// An operation at the end of the block.
    pub fn op(&mut self, name: &str, operands: &[Value], results: &[Type], attrs: Attr) -> Op {
        self.op_with_regions(name, operands, results, attrs, 0)
    }

    /// As [`Builder::op`], with regions that have no block yet.
    pub fn op_with_regions(
        &mut self,
        name: &str,
        operands: &[Value],
        results: &[Type],
        attrs: Attr,
        regions: u32,
    ) -> Op {
        let mut state = OpState::new(self.context.name(name), Loc::UNKNOWN);
        state.operands.extend_from_slice(operands);
        state.results.extend_from_slice(results);
        (state.attrs, state.regions) = (attrs, regions);
        self.module.create_at(Point::End(self.block), state)
    }

    /// The result of an operation without attributes.
    pub fn value(&mut self, name: &str, operands: &[Value], ty: Type) -> Value {
        self.value_with(name, operands, ty, Attr::EMPTY_DICT)
    }

    /// The result of an operation.
    pub fn value_with(&mut self, name: &str, operands: &[Value], ty: Type, attrs: Attr) -> Value {
        let op = self.op(name, operands, &[ty], attrs);
        self.module.result(op, 0)
    }

    /// Attributes of an operation.
    pub fn dict<const N: usize>(&self, entries: [(&str, Attr); N]) -> Attr {
        self.context.dict(entries.map(|(name, attr)| (self.context.str(name), attr)))
    }

    /// Fills the block of region `number`; what is made in it is not used after it.
    ///
    /// `fill` gets the arguments of the block.
    pub fn region<T>(
        &mut self,
        (op, number): (Op, usize),
        arguments: &[Type],
        fill: impl FnOnce(&mut Builder, &[Value]) -> T,
    ) -> T {
        let region = self.module.region(op, number);
        let block = self.module.add_block(region);
        let arguments: Vec<Value> =
            arguments.iter().map(|&ty| self.module.add_arg(block, ty)).collect();
        let outer = std::mem::replace(&mut self.block, block);
        let (numbers, exprs) = (self.numbers.clone(), self.exprs.clone());
        let filled = fill(self, &arguments);
        (self.block, self.numbers, self.exprs) = (outer, numbers, exprs);
        filled
    }

    /// What `make` makes, or nothing at all.
    pub fn attempt<T>(&mut self, make: impl FnOnce(&mut Builder) -> Option<T>) -> Option<T> {
        let (block, last) = (self.block, self.module.last_op(self.block));
        let (numbers, exprs) = (self.numbers.clone(), self.exprs.clone());
        let made = make(self);
        if made.is_none() {
            (self.block, self.numbers, self.exprs) = (block, numbers, exprs);
            while let Some(op) = self.module.last_op(block).filter(|&op| Some(op) != last) {
                self.module.erase(op);
            }
        }
        made
    }

    /// The one value or the other, of which only one is computed.
    pub fn either(
        &mut self,
        condition: Value,
        ty: Type,
        yes: impl FnOnce(&mut Builder) -> Value,
        no: impl FnOnce(&mut Builder) -> Value,
    ) -> Value {
        let op = self.op_with_regions("scf.if", &[condition], &[ty], Attr::EMPTY_DICT, 2);
        self.region((op, 0), &[], |builder, _| {
            let value = yes(builder);
            builder.op("scf.yield", &[value], &[], Attr::EMPTY_DICT);
        });
        self.region((op, 1), &[], |builder, _| {
            let value = no(builder);
            builder.op("scf.yield", &[value], &[], Attr::EMPTY_DICT);
        });
        self.module.result(op, 0)
    }

    /// A constant of type `index`.
    pub fn number(&mut self, value: i64) -> Value {
        if let Some(&known) = self.numbers.get(&value) {
            return known;
        }
        let attr = self.context.attr(AttrData::Integer { value: value.into(), ty: self.index });
        let attrs = self.context.dict([(Str::VALUE, attr)]);
        let made = self.value_with("arith.constant", &[], self.index, attrs);
        self.numbers.insert(value, made);
        made
    }

    /// A constant of an element type.
    pub fn constant(&mut self, number: Number) -> Value {
        let ty = scalar_type(&self.context, number.element());
        let attr = match number {
            Number::Float(DType::F32, value) => {
                AttrData::Float { bits: f64::from(value as f32).to_bits(), ty }
            }
            Number::Float(_, value) => AttrData::Float { bits: value.to_bits(), ty },
            Number::Int(DType::Bool, value) => AttrData::Bool(value != 0),
            Number::Int(element, value) => {
                let unused = 64 - element.size_bits() as u32;
                AttrData::Integer { value: (value << unused >> unused).into(), ty }
            }
        };
        let attrs = self.context.dict([(Str::VALUE, self.context.attr(attr))]);
        self.value_with("arith.constant", &[], ty, attrs)
    }

    /// The value of an expression; `None` if it has a symbol that no tensor names.
    pub fn size(&mut self, expr: &Expr) -> Option<Size> {
        if let Some(number) = expr.as_int() {
            return Some(Size::Static(number));
        }
        let value = match self.exprs.get(expr) {
            Some(&known) => known,
            None => expr.compute(self)?,
        };
        self.exprs.insert(expr.clone(), value);
        Some(Size::Dynamic(value))
    }

    /// A size as a value.
    pub fn size_value(&mut self, size: Size) -> Value {
        match size {
            Size::Static(number) => self.number(number),
            Size::Dynamic(value) => value,
        }
    }

    /// A function of sizes, computed at once where both are numbers.
    pub fn sizes(&mut self, operation: Operation, a: Size, b: Size) -> Option<Size> {
        let (Size::Static(x), Size::Static(y)) = (a, b) else {
            let unit = |size, unit| size == Size::Static(unit);
            return Some(match operation {
                Operation::Add if unit(a, 0) => b,
                Operation::Add if unit(b, 0) => a,
                Operation::Mul if unit(a, 1) => b,
                Operation::Mul if unit(b, 1) => a,
                _ => {
                    let (a, b) = (self.size_value(a), self.size_value(b));
                    Size::Dynamic(self.binary(operation, a, b))
                }
            });
        };
        let value = match operation {
            Operation::Add => x.checked_add(y)?,
            Operation::Mul => x.checked_mul(y)?,
            Operation::FloorDiv => x.checked_div_euclid(y)?,
            Operation::TruncDiv => x.checked_div(y)?,
            Operation::Min => x.min(y),
            Operation::Max => x.max(y),
        };
        Some(Size::Static(value))
    }

    /// Sizes as operations take them: an attribute of numbers, and the values among them.
    pub fn mixed(&self, sizes: &[Size]) -> (Attr, Vec<Value>) {
        let number = |size: &Size| match size {
            Size::Static(number) => *number,
            Size::Dynamic(_) => DYNAMIC,
        };
        let numbers: Vec<i64> = sizes.iter().map(number).collect();
        (self.context.attr(AttrData::I64s(numbers.into())), dynamic(sizes))
    }

    /// The type of a tensor.
    pub fn tensor_type(&self, element: DType, sizes: &[Size]) -> Type {
        let extent = |size: &Size| match size {
            Size::Static(number) => Dim::fixed(*number),
            Size::Dynamic(_) => Dim::UNKNOWN,
        };
        let extents: Vec<Dim> = sizes.iter().map(extent).collect();
        self.context.tensor_type(&extents, scalar_type(&self.context, element))
    }

    /// A tensor without elements that matter.
    pub fn empty(&mut self, element: DType, sizes: &[Size]) -> Value {
        let ty = self.tensor_type(element, sizes);
        self.value("tensor.empty", &dynamic(sizes), ty)
    }

    /// The extents of a tensor of this type.
    pub fn extents(&mut self, extents: &[Expr]) -> Option<Vec<Size>> {
        extents.iter().map(|extent| self.size(extent)).collect()
    }

    /// Names the extents of a tensor that are symbols and have no value yet; whether there are such.
    pub fn name_extents(&mut self, tensor: Value, extents: &[Dim]) -> bool {
        let context = self.context.clone();
        let before = self.exprs.len();
        for (axis, &extent) in extents.iter().enumerate() {
            let Some(expr) = dims::expr(&context, extent) else { continue };
            if expr.as_symbol().is_none() || self.exprs.contains_key(&expr) {
                continue;
            }
            let axis = self.number(axis as i64);
            let value = self.value("tensor.dim", &[tensor, axis], self.index);
            self.exprs.insert(expr, value);
        }
        self.exprs.len() > before
    }

    /// The sizes of groups of operands, and the operands.
    pub fn segments(&self, groups: Segments<'_>) -> (Attr, Vec<Value>) {
        let sizes = self.module.i32s_attr(groups.iter().map(|group| group.len()));
        (sizes, groups.concat())
    }
}

/// The values among sizes.
pub(super) fn dynamic(sizes: &[Size]) -> Vec<Value> {
    let value = |size: &Size| match size {
        Size::Static(_) => None,
        Size::Dynamic(value) => Some(*value),
    };
    sizes.iter().filter_map(value).collect()
}

impl Arithmetic for Builder {
    type Value = Value;

    fn constant(&mut self, value: i64) -> Value {
        self.number(value)
    }

    fn symbol(&mut self, name: &str) -> Option<Value> {
        self.exprs.get(&Expr::symbol(name)).copied()
    }

    fn binary(&mut self, operation: Operation, a: Value, b: Value) -> Value {
        let name = match operation {
            Operation::Add => "arith.addi",
            Operation::Mul => "arith.muli",
            Operation::FloorDiv => "arith.floordivsi",
            Operation::TruncDiv => "arith.divsi",
            Operation::Min => "arith.minsi",
            Operation::Max => "arith.maxsi",
        };
        self.value(name, &[a, b], self.index)
    }
}

/// The type of elements: integers without a sign, which `arith` computes with.
pub(super) fn scalar_type(context: &Context, element: DType) -> Type {
    if element.is_int() && !element.is_signed() {
        context.int_type(element.size_bits() as u32)
    } else {
        dtype::type_of(context, element)
    }
}

/// The type that values of `ty` get: a tensor whose extents are numbers or unknown, of elements
/// without a sign; any other type stays.
pub(super) fn plain_type(context: &Context, ty: Type) -> Type {
    plain_tensor(context, ty).unwrap_or(ty)
}

fn plain_tensor(context: &Context, ty: Type) -> Option<Type> {
    if let TypeData::UnrankedTensor(element) = context.type_data(ty) {
        let element = scalar_type(context, dtype::dtype_of(context, *element)?);
        return Some(context.ty(TypeData::UnrankedTensor(element)));
    }
    let (extents, element) = context.as_tensor(ty)?;
    let element = dtype::dtype_of(context, element)?;
    let extent = |extent: &Dim| extent.as_static().map_or(Dim::UNKNOWN, Dim::fixed);
    let extents: Vec<Dim> = extents.iter().map(extent).collect();
    Some(context.tensor_type(&extents, scalar_type(context, element)))
}
