//! A loop nest as `linalg.generic`.
//!
//! What is read at a place that is linear in the loops is an operand with a map. Where the place
//! may leave the tensor, the tensor is padded first; any other place is computed in the body, from
//! `linalg.index`, and read by `tensor.extract`. A result that the nest writes in part is made
//! apart, and inserted as a slice.

use tangram_affine::symbolic::{Expr, Operation};
use tangram_affine::{AffineExprs, AffineMap};
use tangram_ir::{AttrData, Value};
use tangram_tensor::DType;

use super::access::{Linear, indices, linear, range};
use super::builder::{Builder, Size, scalar_type};
use crate::structured::{Access, Generic, IteratorKind, Number, Scalar, TensorId};

/// A tensor and its extents.
#[derive(Clone, Debug)]
pub(super) struct Tensor {
    pub value: Value,
    pub element: DType,
    pub sizes: Vec<Size>,
}

/// The tensors of an operation.
#[derive(Clone, Default, Debug)]
pub(super) struct Frame {
    pub operands: Vec<Option<Tensor>>,
    pub results: Vec<Tensor>,
    pub temporaries: Vec<Tensor>,
}

impl Frame {
    pub fn get(&self, place: TensorId) -> Option<&Tensor> {
        match place {
            TensorId::Operand(i) => self.operands.get(i)?.as_ref(),
            TensorId::Result(i) => self.results.get(i),
            TensorId::Temporary(i) => self.temporaries.get(i),
        }
    }

    pub fn set(&mut self, place: TensorId, value: Value) {
        let tensor = match place {
            TensorId::Operand(_) => None,
            TensorId::Result(i) => self.results.get_mut(i),
            TensorId::Temporary(i) => self.temporaries.get_mut(i),
        };
        if let Some(tensor) = tensor {
            tensor.value = value;
        }
    }
}

/// How an element that a nest reads gets to the body.
enum Read {
    /// As an operand with a map.
    Operand(Value, AffineMap),
    /// By `tensor.extract`.
    Extract,
}

/// What a nest is written from.
struct Nest<'a> {
    generic: &'a Generic,
    frame: &'a Frame,
    /// The value of the first loop, where that is outside of the nest.
    step: Option<Value>,
    extents: Vec<Size>,
    symbols: Vec<Size>,
}

/// How the nest writes its result.
enum Write {
    /// The result is an operand with this map.
    Whole(AffineMap),
    /// A tensor of these extents is, and becomes a slice.
    Slice { map: AffineMap, shape: Vec<Size>, slice: Vec<[Size; 3]> },
}

/// Writes a nest; `None` if something of it cannot be said. `step`: the value of its first loop,
/// which then runs around it.
pub(super) fn write(
    builder: &mut Builder,
    frame: &mut Frame,
    generic: &Generic,
    step: Option<Value>,
) -> Option<()> {
    let forwards = forwards(generic, usize::from(step.is_some()));
    let generic = forwards.as_ref().unwrap_or(generic);
    let mut extents = builder.extents(&generic.extents)?;
    let symbols = builder.extents(&generic.symbols)?;
    if step.is_some() {
        *extents.first_mut()? = Size::Static(1);
    }
    let nest = Nest { generic, frame, step, extents, symbols };
    let written = nest.write(builder)?;
    frame.set(generic.output.place, written);
    Some(())
}

/// The nest with those loops from `first` on reversed that walk the result backwards, since a slice
/// has no negative stride; nothing if there are none.
fn forwards(generic: &Generic, first: usize) -> Option<Generic> {
    let indices = linear(&generic.output.map, &[]);
    let backwards = |index: &Linear| index.only_loop().filter(|&(dim, f)| dim >= first && f < 0);
    let dims: Vec<usize> =
        indices.iter().flatten().filter_map(|index| Some(backwards(index)?.0)).collect();
    let mut turned = (!dims.is_empty()).then(|| generic.clone())?;
    for dim in dims {
        turned = reversed(&turned, dim)?;
    }
    Some(turned)
}

/// The nest with a loop that runs from its last iteration to its first.
fn reversed(generic: &Generic, dim: usize) -> Option<Generic> {
    let named = |scalar: &Scalar| *scalar == Scalar::Index(dim);
    if generic.body.scalars().iter().any(named) {
        return None;
    }
    let mut turned = generic.clone();
    turned.symbols.push(generic.extents[dim].try_add(&Expr::int(-1))?);
    let (dims, last) = (generic.extents.len() as u32, generic.symbols.len() as u32);
    let turn = |map: &AffineMap| {
        let mut exprs = AffineExprs::new();
        let from_end = {
            let (last, own) = (exprs.symbol(last), exprs.dim(dim as u32));
            exprs.sub(last, own)
        };
        let mut places: Vec<_> = (0..dims).map(|i| exprs.dim(i)).collect();
        places[dim] = from_end;
        let results = map.substitute(&mut exprs, &places, &[]);
        AffineMap::new(dims, last + 1, &exprs, &results)
    };
    for access in turned.inputs.iter_mut().chain([&mut turned.output]) {
        access.map = turn(&access.map);
    }
    Some(turned)
}

impl Nest<'_> {
    fn write(&self, builder: &mut Builder) -> Option<Value> {
        let target = self.frame.get(self.generic.output.place)?.clone();
        let write = self.target(builder, &target)?;
        let mut reads = Vec::with_capacity(self.generic.inputs.len());
        for access in &self.generic.inputs {
            reads.push(self.read(builder, access)?);
        }
        let (map, init) = match &write {
            Write::Whole(map) => (map, target.value),
            Write::Slice { map, shape, .. } => (map, builder.empty(target.element, shape)),
        };
        let init = match self.generic.reduction {
            Some(reduction) => fill(builder, init, reduction.initial),
            None => init,
        };
        let made = self.generic_op(builder, &reads, map, init, target.element)?;
        Some(match write {
            Write::Whole(_) => made,
            Write::Slice { slice, .. } => insert(builder, made, target.value, &slice),
        })
    }

    /// The loops of the operation: all but one that runs around it.
    fn loops(&self) -> std::ops::Range<usize> {
        usize::from(self.step.is_some())..self.extents.len()
    }

    /// The number of a loop in the operation.
    fn position(&self, dim: usize) -> Option<u32> {
        let first = self.loops().start;
        dim.checked_sub(first).map(|at| at as u32)
    }

    /// A map of the operation from indices over all loops; `None` if the index needs a value.
    fn map(&self, indices: &[Linear]) -> Option<AffineMap> {
        let mut exprs = AffineExprs::new();
        let mut results = Vec::with_capacity(indices.len());
        for index in indices {
            index.symbols.iter().all(|&factor| factor == 0).then_some(())?;
            let mut sum = None;
            for (dim, &factor) in index.loops.iter().enumerate().filter(|(_, f)| **f != 0) {
                let dim = exprs.dim(self.position(dim)?);
                let factor = exprs.constant(factor);
                let term = exprs.mul(dim, factor);
                sum = Some(match sum {
                    None => term,
                    Some(sum) => exprs.add(sum, term),
                });
            }
            let constant = exprs.constant(index.constant);
            results.push(sum.map_or(constant, |sum| exprs.add(sum, constant)));
        }
        Some(AffineMap::new(self.loops().len() as u32, 0, &exprs, &results))
    }

    /// How the result is written.
    fn target(&self, builder: &mut Builder, target: &Tensor) -> Option<Write> {
        let indices = linear(&self.generic.output.map, &self.symbols);
        let indices: Vec<Linear> = indices.into_iter().collect::<Option<_>>()?;
        let whole = |(index, &size): (&Linear, &Size)| {
            let own = index.symbols.iter().all(|&factor| factor == 0) && index.constant == 0;
            let dim = index.only_loop().filter(|&(_, factor)| own && factor == 1)?.0;
            (self.loops().contains(&dim) && self.extents[dim] == size).then_some(dim)
        };
        let dims: Option<Vec<usize>> = indices.iter().zip(&target.sizes).map(whole).collect();
        if dims.is_some_and(|dims| (1..dims.len()).all(|i| !dims[..i].contains(&dims[i]))) {
            return self.map(&indices).map(Write::Whole);
        }
        let (mut shape, mut kept, mut slice) = (Vec::new(), Vec::new(), Vec::new());
        for index in indices {
            let (offset, _) =
                range(builder, &Linear { loops: Vec::new(), ..index.clone() }, &[], &self.symbols)?;
            let Some((dim, factor)) = index.only_loop() else {
                index.is_fixed().then_some(())?;
                slice.push([offset, Size::Static(1), Size::Static(1)]);
                continue;
            };
            if let (Some(step), 0) = (self.step, dim) {
                let scaled =
                    builder.sizes(Operation::Mul, Size::Dynamic(step), Size::Static(factor))?;
                let offset = builder.sizes(Operation::Add, offset, scaled)?;
                slice.push([offset, Size::Static(1), Size::Static(1)]);
                continue;
            }
            (factor > 0).then_some(())?;
            slice.push([offset, self.extents[dim], Size::Static(factor)]);
            shape.push(self.extents[dim]);
            let one = Linear { symbols: Vec::new(), constant: 0, ..index };
            let mut unit = one.clone();
            unit.loops[dim] = 1;
            kept.push(unit);
        }
        Some(Write::Slice { map: self.map(&kept)?, shape, slice })
    }

    /// How an element is read; pads the tensor where the index leaves it.
    fn read(&self, builder: &mut Builder, access: &Access) -> Option<Read> {
        let tensor = self.frame.get(access.place)?.clone();
        let indices = linear(&access.map, &self.symbols);
        let Some(mut indices) = indices.into_iter().collect::<Option<Vec<Linear>>>() else {
            return Some(Read::Extract);
        };
        let step = |index: &Linear| self.step.is_some() && index.loops.first() != Some(&0);
        if indices.iter().any(step) {
            return Some(Read::Extract);
        }
        let tensor = match access.outside {
            None => tensor,
            Some(outside) => match self.padded(builder, &tensor, &mut indices, outside)? {
                Some(padded) => padded,
                None => return Some(Read::Extract),
            },
        };
        // The verifier of `linalg` looks at the last iteration, also where there is none.
        let runs = !self.extents.contains(&Size::Static(0));
        let fits = |(index, &size): (&Linear, &Size)| match index.only_loop() {
            // A loop by itself says how often it runs: as often as the tensor is long.
            Some((dim, 1)) if index.constant == 0 => self.extents[dim] == size,
            _ => runs && index.loops.iter().all(|&factor| factor >= 0) && index.constant >= 0,
        };
        let direct = indices.iter().zip(&tensor.sizes).all(fits);
        Some(match self.map(&indices).filter(|_| direct) {
            Some(map) => Read::Operand(tensor.value, map),
            None => Read::Extract,
        })
    }

    /// The tensor with a margin, so that indices stay within it; they are moved accordingly.
    /// `Some(None)` where it cannot be said how wide the margin in front is.
    fn padded(
        &self,
        builder: &mut Builder,
        tensor: &Tensor,
        indices: &mut [Linear],
        outside: Number,
    ) -> Option<Option<Tensor>> {
        let (mut low, mut high, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
        for (index, &size) in indices.iter_mut().zip(&tensor.sizes) {
            let (least, greatest) = range(builder, index, &self.extents, &self.symbols)?;
            let Size::Static(least) = least else { return Some(None) };
            let front = least.min(0).checked_neg()?;
            let end = builder.sizes(Operation::Add, greatest, Size::Static(1))?;
            let minus = builder.sizes(Operation::Mul, size, Size::Static(-1))?;
            let beyond = builder.sizes(Operation::Add, end, minus)?;
            let back = builder.sizes(Operation::Max, beyond, Size::Static(0))?;
            let sum = builder.sizes(Operation::Add, size, Size::Static(front))?;
            sizes.push(builder.sizes(Operation::Add, sum, back)?);
            low.push(Size::Static(front));
            high.push(back);
            index.constant = index.constant.checked_add(front)?;
        }
        if low.iter().chain(&high).all(|&size| size == Size::Static(0)) {
            return Some(Some(tensor.clone()));
        }
        let value = pad(builder, tensor, [&low, &high], &sizes, outside);
        Some(Some(Tensor { value, sizes, ..tensor.clone() }))
    }

    /// The operation itself.
    fn generic_op(
        &self,
        builder: &mut Builder,
        reads: &[Read],
        output: &AffineMap,
        init: Value,
        element: DType,
    ) -> Option<Value> {
        let (mut operands, mut maps) = (Vec::new(), Vec::new());
        for read in reads {
            if let Read::Operand(value, map) = read {
                operands.push(*value);
                maps.push(map.clone());
            }
        }
        maps.push(output.clone());
        if let Some((shape, map)) = self.shape_operand(builder, &maps, element) {
            operands.push(shape);
            maps.insert(maps.len() - 1, map);
        }
        let (segments, all) = builder.segments(&[&operands, &[init]]);
        let maps: Vec<_> =
            maps.into_iter().map(|map| builder.context.attr(AttrData::AffineMap(map))).collect();
        let kind = |dim: usize| match self.generic.kinds[dim] {
            IteratorKind::Parallel => builder.opaque("linalg.iterator_type<parallel>"),
            IteratorKind::Reduction => builder.opaque("linalg.iterator_type<reduction>"),
        };
        let kinds: Vec<_> = self.loops().map(kind).collect();
        let attrs = builder.dict([
            ("indexing_maps", builder.context.array_attr(&maps)),
            ("iterator_types", builder.context.array_attr(&kinds)),
            ("operandSegmentSizes", segments),
        ]);
        let ty = builder.module.value_type(init);
        let op = builder.op_with_regions("linalg.generic", &all, &[ty], attrs, 1);
        let element_of = |value: &Value| {
            builder.context.as_tensor(builder.module.value_type(*value)).map(|(_, element)| element)
        };
        let arguments = all.iter().map(element_of).collect::<Option<Vec<_>>>()?;
        builder.region((op, 0), &arguments, |builder, arguments| {
            let value = self.body(builder, reads, arguments)?;
            let value = match (self.generic.reduction, arguments.last()) {
                (Some(reduction), Some(&sum)) => {
                    builder.two(reduction.combine, element, sum, value)?
                }
                _ => value,
            };
            builder.op("linalg.yield", &[value], &[], tangram_ir::Attr::EMPTY_DICT);
            Some(())
        })?;
        Some(builder.module.result(op, 0))
    }

    /// An operand that only says how often the loops run of which no other operand says it.
    fn shape_operand(
        &self,
        builder: &mut Builder,
        maps: &[AffineMap],
        element: DType,
    ) -> Option<(Value, AffineMap)> {
        let said = |at: usize| {
            maps.iter().any(|map| (0..map.results().len()).any(|i| map.as_operand(i) == Some(at)))
        };
        let unsaid: Vec<usize> = (0..self.loops().len()).filter(|&at| !said(at)).collect();
        let first = self.loops().start;
        let sizes: Vec<Size> = unsaid.iter().map(|&at| self.extents[first + at]).collect();
        let mut exprs = AffineExprs::new();
        let results: Vec<_> = unsaid.iter().map(|&at| exprs.dim(at as u32)).collect();
        let map = AffineMap::new(self.loops().len() as u32, 0, &exprs, &results);
        (!unsaid.is_empty()).then(|| (builder.empty(element, &sizes), map))
    }

    /// The value of the body.
    fn body(&self, builder: &mut Builder, reads: &[Read], arguments: &[Value]) -> Option<Value> {
        let inputs: Option<Vec<DType>> =
            self.generic.inputs.iter().map(|a| Some(self.frame.get(a.place)?.element)).collect();
        let tables: Option<Vec<DType>> =
            self.generic.tables.iter().map(|&t| Some(self.frame.get(t)?.element)).collect();
        let types = self.generic.body.types(&inputs?, &tables?)?;
        let mut made: Vec<Value> = Vec::with_capacity(types.len());
        for scalar in self.generic.body.scalars() {
            let value = match scalar {
                Scalar::Input(i) => self.input(builder, reads, arguments, *i)?,
                Scalar::Inside(i) => {
                    let at = self.indices(builder, *i)?;
                    self.inside(builder, self.generic.inputs[*i].place, &at)?
                }
                Scalar::Index(i) => {
                    let at = self.dim(builder, *i);
                    builder.index_as_integer(at)
                }
                Scalar::Symbol(i) => {
                    let value = builder.size_value(*self.symbols.get(*i)?);
                    builder.index_as_integer(value)
                }
                Scalar::Constant(number) => builder.constant(*number),
                Scalar::Unary(f, x) => {
                    builder.unary(*f, types[x.0 as usize], made[x.0 as usize])?
                }
                Scalar::Binary(f, x, y) => {
                    let (x, y) = (x.0 as usize, y.0 as usize);
                    builder.two(*f, types[x], made[x], made[y])?
                }
                Scalar::Compare(by, x, y) => {
                    let (x, y) = (x.0 as usize, y.0 as usize);
                    builder.compare(*by, types[x], made[x], made[y])
                }
                Scalar::Select(condition, x, y) => {
                    let [c, x, y] = [condition, x, y].map(|id| made[id.0 as usize]);
                    builder.select(c, x, y)
                }
                Scalar::Cast(to, x) => {
                    builder.cast(types[x.0 as usize], *to, made[x.0 as usize])?
                }
                Scalar::Lookup(table, at) => {
                    let at: Vec<Value> = at.iter().map(|id| made[id.0 as usize]).collect();
                    self.look_up(builder, *self.generic.tables.get(*table)?, &at)?
                }
            };
            made.push(value);
        }
        made.get(self.generic.body.value()?.0 as usize).copied()
    }

    /// The value of a loop, as an index.
    fn dim(&self, builder: &mut Builder, dim: usize) -> Value {
        match (self.step, self.position(dim)) {
            (Some(step), None) => step,
            (_, at) => {
                let at = builder.context.i64_attr(at.unwrap_or_default().into());
                let attrs = builder.dict([("dim", at)]);
                builder.value_with("linalg.index", &[], builder.index, attrs)
            }
        }
    }

    /// The element that an access names, as values.
    fn indices(&self, builder: &mut Builder, input: usize) -> Option<Vec<Value>> {
        let access = self.generic.inputs.get(input)?;
        let (used, _) = access.map.used();
        let loops: Vec<Value> = (0..self.extents.len())
            .map(|dim| match used.get(dim) {
                Some(true) => self.dim(builder, dim),
                _ => builder.number(0),
            })
            .collect();
        Some(indices(builder, &access.map, &loops, &self.symbols))
    }

    fn inside(&self, builder: &mut Builder, place: TensorId, at: &[Value]) -> Option<Value> {
        let sizes = self.frame.get(place)?.sizes.clone();
        let mut within = Vec::with_capacity(at.len());
        for (&index, &size) in at.iter().zip(&sizes) {
            let extent = builder.size_value(size);
            within.push(builder.is_within(index, extent));
        }
        match builder.all(&within) {
            Some(all) => Some(all),
            None => Some(builder.constant(Number::Int(DType::Bool, 1))),
        }
    }

    fn input(
        &self,
        builder: &mut Builder,
        reads: &[Read],
        arguments: &[Value],
        input: usize,
    ) -> Option<Value> {
        if let Read::Operand(..) = reads.get(input)? {
            let before = &reads[..input];
            let at = before.iter().filter(|read| matches!(read, Read::Operand(..))).count();
            return arguments.get(at).copied();
        }
        let access = &self.generic.inputs[input];
        let tensor = self.frame.get(access.place)?.clone();
        let at = self.indices(builder, input)?;
        let Some(outside) = access.outside else { return Some(extract(builder, &tensor, &at)) };
        let inside = self.inside(builder, access.place, &at)?;
        let ty = scalar_type(&builder.context, tensor.element);
        Some(builder.either(
            inside,
            ty,
            |builder| extract(builder, &tensor, &at),
            |builder| builder.constant(outside),
        ))
    }

    /// The element of a table at a computed place, which is moved into the table.
    fn look_up(&self, builder: &mut Builder, place: TensorId, at: &[Value]) -> Option<Value> {
        let table = self.frame.get(place)?.clone();
        let mut indices = Vec::with_capacity(at.len());
        for (&at, &size) in at.iter().zip(&table.sizes) {
            let index = builder.integer_as_index(at);
            let last = builder.sizes(Operation::Add, size, Size::Static(-1))?;
            let (zero, last) = (builder.number(0), builder.size_value(last));
            let index = builder.value("arith.minsi", &[index, last], builder.index);
            indices.push(builder.value("arith.maxsi", &[index, zero], builder.index));
        }
        Some(extract(builder, &table, &indices))
    }
}

fn extract(builder: &mut Builder, tensor: &Tensor, at: &[Value]) -> Value {
    let ty = scalar_type(&builder.context, tensor.element);
    let operands = [&[tensor.value], at].concat();
    builder.value("tensor.extract", &operands, ty)
}

/// The tensor with one number everywhere.
fn fill(builder: &mut Builder, init: Value, number: Number) -> Value {
    let value = builder.constant(number);
    let ty = builder.module.value_type(init);
    let (segments, operands) = builder.segments(&[&[value], &[init]]);
    let attrs = builder.dict([("operandSegmentSizes", segments)]);
    let op = builder.op_with_regions("linalg.fill", &operands, &[ty], attrs, 1);
    let scalar = builder.module.value_type(value);
    builder.region((op, 0), &[scalar, scalar], |builder, arguments| {
        builder.op("linalg.yield", &[arguments[0]], &[], tangram_ir::Attr::EMPTY_DICT);
    });
    builder.module.result(op, 0)
}

/// `into` with `source` at a slice: offset, size and stride of each dimension.
fn insert(builder: &mut Builder, source: Value, into: Value, slice: &[[Size; 3]]) -> Value {
    let part = |i: usize| -> Vec<Size> { slice.iter().map(|part| part[i]).collect() };
    let [(offsets, a), (sizes, b), (strides, c)] = [0, 1, 2].map(|i| builder.mixed(&part(i)));
    let (segments, operands) = builder.segments(&[&[source], &[into], &a, &b, &c]);
    let attrs = builder.dict([
        ("static_offsets", offsets),
        ("static_sizes", sizes),
        ("static_strides", strides),
        ("operandSegmentSizes", segments),
    ]);
    let ty = builder.module.value_type(into);
    builder.value_with("tensor.insert_slice", &operands, ty, attrs)
}

/// `tensor.pad`.
fn pad(
    builder: &mut Builder,
    tensor: &Tensor,
    [low, high]: [&[Size]; 2],
    sizes: &[Size],
    outside: Number,
) -> Value {
    let [(static_low, a), (static_high, b)] = [low, high].map(|sizes| builder.mixed(sizes));
    let (segments, operands) = builder.segments(&[&[tensor.value], &a, &b]);
    let attrs = builder.dict([
        ("static_low", static_low),
        ("static_high", static_high),
        ("operandSegmentSizes", segments),
    ]);
    let ty = builder.tensor_type(tensor.element, sizes);
    let op = builder.op_with_regions("tensor.pad", &operands, &[ty], attrs, 1);
    let arguments = vec![builder.index; sizes.len()];
    builder.region((op, 0), &arguments, |builder, _| {
        let value = builder.constant(outside);
        builder.op("tensor.yield", &[value], &[], tangram_ir::Attr::EMPTY_DICT);
    });
    builder.module.result(op, 0)
}
