//! Nests as values: what an operation [`tg.nest`](super::NEST) says, written and read.

use tangram_affine::AffineMap;
use tangram_affine::symbolic::Expr;
use tangram_ir::{Attr, AttrData, Context, Loc, Module, Op, OpState, Point, Type, TypeData, Value};
use tangram_tensor::DType;

use super::scalars::{self, Reader, Writer, attr_number, number_attr, scalar_type};
use crate::dtype;
use crate::structured::{Access, Binary, Body, Generic, IteratorKind, Reduction, Scalar, TensorId};

/// More lanes than any machine has, and few enough to keep one sum for each.
const MOST_LANES: usize = 4096;

/// A loop that begins at an operand, and makes some iterations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row {
    /// The number of the loop, which is parallel.
    pub iterator: usize,
    /// How many iterations are run, as far as there are as many.
    pub block: i64,
}

/// What a nest computes. Tensors are operands of the operation, by number; the output is its result.
#[derive(Clone, PartialEq, Debug)]
pub struct Nest {
    /// Loops, accesses, the body, and how iterations are combined. The inputs of the finish stand
    /// behind those of the body.
    pub generic: Generic,
    /// How many inputs the body has.
    pub reads: usize,
    /// What becomes of a combined element: it is the input behind all others.
    pub finish: Option<Body>,
    /// The reduced loops in the order in which their iterations are combined, the last fastest.
    pub order: Vec<usize>,
    /// A reduced loop whose iterations are combined in so many lanes.
    pub lanes: Option<(usize, usize)>,
    /// Loops that begin at operands.
    pub rows: Vec<Row>,
    /// The names of the operations that it computes.
    pub from: Vec<String>,
    /// How it becomes code.
    pub plan: Option<Attr>,
}

/// The operands of a nest. The inputs of its [`Generic`] have them in order; those of tables follow.
#[derive(Clone, Debug)]
pub struct NestOperands {
    /// A tensor for each input.
    pub inputs: Vec<Value>,
    /// A tensor for each table.
    pub tables: Vec<Value>,
    /// The destination.
    pub into: Value,
    /// The first values of [`Nest::rows`].
    pub starts: Vec<Value>,
}

/// Why an operation is no nest.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NestError {
    /// An attribute is absent or malformed.
    #[error("attribute `{0}` is absent, or does not fit the loops and operands")]
    Attribute(&'static str),
    /// An operand or the result is no tensor of numbers.
    #[error("operand {0} is no tensor of numbers")]
    Tensor(usize),
    /// A region has other arguments than its inputs, or none where it should be.
    #[error("region {0} has no block whose arguments are the elements of its inputs")]
    Region(usize),
    /// A region ends without a value.
    #[error("a region ends without `tg.yield` of one value")]
    Yield,
    /// A region uses a value that is no argument of it.
    #[error(
        "a body uses what is defined outside of it, or a table in another way than by `tensor.extract`"
    )]
    Captured,
    /// An operation does not occur in bodies.
    #[error("`{0}` with these types occurs in no body")]
    Operation(String),
    /// The parts do not go together.
    #[error("{0}")]
    Malformed(&'static str),
}

impl Nest {
    /// A nest without a finish, whose iterations are combined in the order of its loops.
    pub fn of(generic: Generic) -> Nest {
        let (reads, order) = (generic.inputs.len(), generic.reduced().collect());
        let (lanes, rows, from) = (None, Vec::new(), Vec::new());
        Nest { generic, reads, finish: None, order, lanes, rows, from, plan: None }
    }

    /// Writes the operation. The destination is the type of the result.
    ///
    /// Returns `None`, and leaves nothing, for a body that is not well-formed.
    pub fn write(
        &self,
        module: &mut Module,
        point: Point,
        operands: &NestOperands,
        loc: Loc,
    ) -> Option<Op> {
        let (reads, finishes) = operands.inputs.split_at_checked(self.reads)?;
        let into = [operands.into];
        let groups = [reads, finishes, &operands.tables, &into, &operands.starts];
        let mut state = OpState::new(module.context().name("tg.nest"), loc);
        state.operands.extend(groups.iter().flat_map(|group| group.iter().copied()));
        state.results.push(module.value_type(operands.into));
        let segments = module.i32s_attr(groups.iter().map(|group| group.len()));
        state.attrs = self.attrs(module.context(), segments);
        state.regions = 1 + u32::from(self.finish.is_some());
        let op = module.create_at(point, state);
        if self.write_regions(module, op, operands).is_none() {
            module.erase(op);
            return None;
        }
        Some(op)
    }

    fn attrs(&self, context: &Context, segments: Attr) -> Attr {
        let texts = |list: &[Expr]| {
            let items: Vec<Attr> =
                list.iter().map(|expr| context.str_attr(&expr.to_string())).collect();
            context.array_attr(&items)
        };
        let ints =
            |list: &[usize]| context.i64s_attr(&list.iter().map(|&n| n as i64).collect::<Vec<_>>());
        let generic = &self.generic;
        let maps: Vec<Attr> = generic
            .inputs
            .iter()
            .chain([&generic.output])
            .map(|access| context.attr(AttrData::AffineMap(access.map.clone())))
            .collect();
        let mut entries = vec![
            ("operandSegmentSizes", segments),
            ("sizes", texts(&generic.extents)),
            ("maps", context.array_attr(&maps)),
        ];
        if !generic.symbols.is_empty() {
            entries.push(("symbols", texts(&generic.symbols)));
        }
        if generic.inputs.iter().any(|access| access.outside.is_some()) {
            let outside = |access: &Access| {
                access.outside.map_or(Attr::UNIT, |number| number_attr(context, number))
            };
            let all: Vec<Attr> = generic.inputs.iter().map(outside).collect();
            entries.push(("outside", context.array_attr(&all)));
        }
        if let Some(Reduction { combine, initial }) = generic.reduction {
            entries.push(("combine", context.str_attr(scalars::binary_name(combine))));
            entries.push(("initial", number_attr(context, initial)));
            entries.push(("order", ints(&self.order)));
        }
        if let Some((iterator, count)) = self.lanes {
            entries.push(("lanes", ints(&[iterator, count])));
        }
        if !self.rows.is_empty() {
            let bound: Vec<usize> = self.rows.iter().map(|row| row.iterator).collect();
            let blocks: Vec<i64> = self.rows.iter().map(|row| row.block).collect();
            entries.push(("bound", ints(&bound)));
            entries.push(("blocks", context.i64s_attr(&blocks)));
        }
        if !self.from.is_empty() {
            let names: Vec<Attr> = self.from.iter().map(|name| context.str_attr(name)).collect();
            entries.push(("from", context.array_attr(&names)));
        }
        entries.extend(self.plan.map(|plan| ("plan", plan)));
        context.dict(entries.into_iter().map(|(name, attr)| (context.str(name), attr)))
    }

    fn write_regions(&self, module: &mut Module, op: Op, operands: &NestOperands) -> Option<()> {
        let types = |module: &Module, values: &[Value]| {
            let element = |&value: &Value| element_of(module, value);
            values.iter().map(element).collect::<Option<Vec<DType>>>()
        };
        let inputs = types(module, &operands.inputs)?;
        let tables = types(module, &operands.tables)?;
        let loc = module.loc(op);
        let bodies = [Some(&self.generic.body), self.finish.as_ref()];
        for (number, body) in bodies.into_iter().enumerate() {
            let Some(body) = body else { continue };
            let region = module.region(op, number);
            let block = module.add_block(region);
            // An input that the other region has stands for nothing here.
            let mut own = vec![operands.into; inputs.len() + 1];
            let mut own_types = inputs.clone();
            let range = if number == 0 { 0..self.reads } else { self.reads..inputs.len() };
            if number == 1 {
                let combined = self.combined()?;
                let ty = scalar_type(module.context(), combined);
                own[inputs.len()] = module.add_arg(block, ty);
                own_types.push(combined);
            }
            for at in range {
                let ty = scalar_type(module.context(), inputs[at]);
                own[at] = module.add_arg(block, ty);
            }
            let mut places = Vec::new();
            for &table in operands.tables.iter().filter(|_| number == 0) {
                let ty = module.value_type(table);
                places.push(module.add_arg(block, ty));
            }
            let mut writer = Writer {
                module: &mut *module,
                block,
                loc,
                inputs: &own,
                input_types: &own_types,
                tables: &places,
                table_types: &tables,
                symbols: &self.generic.symbols,
            };
            writer.write(body)?;
        }
        Some(())
    }

    /// The type of a combined element.
    pub fn combined(&self) -> Option<DType> {
        Some(self.generic.reduction?.initial.element())
    }

    /// Reads an operation `tg.nest`.
    ///
    /// # Errors
    /// [`NestError`]: what does not go together.
    pub fn read(module: &Module, op: Op) -> Result<Nest, NestError> {
        NestReader { module, op }.read()
    }
}

/// The element type of a tensor, or of a scalar.
fn element_of(module: &Module, value: Value) -> Option<DType> {
    let context = module.context();
    let (_, element) = context.as_tensor(module.value_type(value))?;
    dtype::dtype_of(context, element)
}

#[derive(Clone, Copy)]
struct NestReader<'a> {
    module: &'a Module,
    op: Op,
}

impl NestReader<'_> {
    fn find(self, name: &'static str) -> Option<Attr> {
        self.module.attr(self.op, name)
    }

    fn array(self, name: &'static str) -> Result<Option<Vec<Attr>>, NestError> {
        let Some(attr) = self.find(name) else { return Ok(None) };
        match self.module.context().attr_data(attr) {
            AttrData::Array(items) => Ok(Some(items.to_vec())),
            _ => Err(NestError::Attribute(name)),
        }
    }

    fn exprs(self, name: &'static str) -> Result<Vec<Expr>, NestError> {
        let context = self.module.context();
        let items = self.array(name)?.unwrap_or_default();
        let expr = |attr: Attr| context.as_text(attr)?.parse().ok();
        items.into_iter().map(|attr| expr(attr).ok_or(NestError::Attribute(name))).collect()
    }

    fn ints(self, name: &'static str) -> Result<Vec<i64>, NestError> {
        let Some(attr) = self.find(name) else { return Ok(Vec::new()) };
        self.module.context().as_i64s(attr).ok_or(NestError::Attribute(name))
    }

    fn loops(self, name: &'static str, count: usize) -> Result<Vec<usize>, NestError> {
        let index = |n: i64| usize::try_from(n).ok().filter(|&n| n < count);
        let ints = self.ints(name)?;
        ints.into_iter().map(|n| index(n).ok_or(NestError::Attribute(name))).collect()
    }

    fn segments(self) -> Result<[usize; 5], NestError> {
        let sizes = self.find("operandSegmentSizes").and_then(|attr| self.module.int_list(attr));
        let sizes: Option<Vec<usize>> =
            sizes.and_then(|list| list.into_iter().map(|n| usize::try_from(n).ok()).collect());
        let sizes = sizes.and_then(|sizes| <[usize; 5]>::try_from(sizes).ok());
        let all = self.module.operand_count(self.op);
        let fits = |s: &[usize; 5]| {
            s[3] == 1 && s.iter().try_fold(0usize, |n, &s| n.checked_add(s)) == Some(all)
        };
        sizes.filter(fits).ok_or(NestError::Attribute("operandSegmentSizes"))
    }

    fn read(self) -> Result<Nest, NestError> {
        let [reads, finishes, tables, ..] = self.segments()?;
        let (inputs, count) = (reads + finishes, self.exprs("sizes")?.len());
        let mut types = Vec::new();
        for (at, value) in self.module.operands(self.op).take(inputs + tables + 1).enumerate() {
            types.push(element_of(self.module, value).ok_or(NestError::Tensor(at))?);
        }
        let mut generic = Generic::over(self.exprs("sizes")?);
        generic.symbols = self.exprs("symbols")?;
        self.accesses(&mut generic, (inputs, tables), &types)?;
        let order = self.loops("order", count)?;
        for &at in &order {
            if std::mem::replace(&mut generic.kinds[at], IteratorKind::Reduction)
                == IteratorKind::Reduction
            {
                return Err(NestError::Attribute("order"));
            }
        }
        generic.reduction = self.reduction(!order.is_empty())?;
        let lanes = match self.ints("lanes")?[..] {
            [] => None,
            [at, lanes] => {
                let pair = usize::try_from(at).ok().zip(usize::try_from(lanes).ok());
                let fits = |&(at, lanes): &(usize, usize)| {
                    order.contains(&at) && lanes.is_power_of_two() && lanes <= MOST_LANES
                };
                Some(pair.filter(fits).ok_or(NestError::Attribute("lanes"))?)
            }
            _ => return Err(NestError::Attribute("lanes")),
        };
        let rows = self.rows(&generic)?;
        let from = self.array("from")?.unwrap_or_default().into_iter();
        let from = from.filter_map(|a| Some(self.module.context().as_text(a)?.to_owned()));
        let (from, plan) = (from.collect(), self.find("plan"));
        let mut nest = Nest { generic, reads, finish: None, order, lanes, rows, from, plan };
        self.bodies(&mut nest, &types)?;
        Ok(nest)
    }

    fn accesses(
        self,
        generic: &mut Generic,
        (inputs, tables): (usize, usize),
        types: &[DType],
    ) -> Result<(), NestError> {
        let context = self.module.context();
        let maps = self.array("maps")?.unwrap_or_default();
        let outside = self.array("outside")?;
        let fits = outside.as_ref().is_none_or(|all| all.len() == inputs);
        if maps.len() != inputs + 1 || !fits {
            return Err(NestError::Attribute(if fits { "maps" } else { "outside" }));
        }
        let map = |at: usize, place: usize| -> Result<AffineMap, NestError> {
            let map = context.as_affine_map(maps[at]).ok_or(NestError::Attribute("maps"))?;
            let value = self.module.operand(self.op, place);
            let rank = context.as_tensor(self.module.value_type(value)).map(|(dims, _)| dims.len());
            let fits = map.dims() == generic.extents.len()
                && (map.symbols() == 0 || map.symbols() == generic.symbols.len())
                && Some(map.results().len()) == rank;
            fits.then(|| map.clone()).ok_or(NestError::Attribute("maps"))
        };
        let mut all = Vec::new();
        for (at, &element) in types.iter().enumerate().take(inputs) {
            let number = match &outside {
                Some(all) if all[at] != Attr::UNIT => {
                    let number = attr_number(context, all[at], element);
                    Some(number.ok_or(NestError::Attribute("outside"))?)
                }
                _ => None,
            };
            let access = Access::new(TensorId::Operand(at), map(at, at)?);
            all.push(Access { outside: number, ..access });
        }
        let output = Access::new(TensorId::Result(0), map(inputs, inputs + tables)?);
        generic.inputs = all;
        generic.output = output;
        generic.tables = (inputs..inputs + tables).map(TensorId::Operand).collect();
        Ok(())
    }

    fn reduction(self, reduced: bool) -> Result<Option<Reduction>, NestError> {
        let context = self.module.context();
        let name = self.find("combine").and_then(|attr| context.as_text(attr));
        if !reduced {
            let absent = name.is_none() && self.find("initial").is_none();
            return absent.then_some(None).ok_or(NestError::Attribute("order"));
        }
        let combine = name.filter(|name| scalars::COMBINATIONS.contains(name));
        let combine = combine.and_then(scalars::binary_named);
        let combine = combine.ok_or(NestError::Attribute("combine"))?;
        let initial = self.find("initial").ok_or(NestError::Attribute("initial"))?;
        let ty = match context.attr_data(initial) {
            AttrData::Bool(_) => Some(DType::Bool),
            AttrData::Float { ty, .. } | AttrData::Integer { ty, .. } => {
                dtype::dtype_of(context, *ty)
            }
            _ => None,
        };
        let initial = ty.and_then(|ty| attr_number(context, initial, ty));
        let initial = initial.ok_or(NestError::Attribute("initial"))?;
        let of_truth = matches!(combine, Binary::And | Binary::Or);
        if of_truth != (initial.element() == DType::Bool) {
            return Err(NestError::Attribute("combine"));
        }
        Ok(Some(Reduction { combine, initial }))
    }

    fn rows(self, generic: &Generic) -> Result<Vec<Row>, NestError> {
        let [.., starts] = self.segments()?;
        let bound = self.loops("bound", generic.extents.len())?;
        let blocks = self.ints("blocks")?;
        let parallel = |at: &usize| generic.kinds[*at] == IteratorKind::Parallel;
        let once = (1..bound.len()).all(|i| !bound[..i].contains(&bound[i]));
        if bound.len() != starts || !bound.iter().all(parallel) || !once {
            return Err(NestError::Attribute("bound"));
        }
        if blocks.len() != starts || blocks.iter().any(|&block| block <= 0) {
            return Err(NestError::Attribute("blocks"));
        }
        let context = self.module.context();
        let index = context.ty(TypeData::Index);
        let first = self.module.operand_count(self.op) - starts;
        let mut values = self.module.operands(self.op).skip(first);
        if !values.all(|value| self.module.value_type(value) == index) {
            return Err(NestError::Malformed("a bound loop begins at no `index`"));
        }
        let pairs = bound.into_iter().zip(blocks);
        Ok(pairs.map(|(iterator, block)| Row { iterator, block }).collect())
    }

    /// Reads the regions.
    fn bodies(self, nest: &mut Nest, types: &[DType]) -> Result<(), NestError> {
        let module = self.module;
        let [reads, finishes, tables, ..] = self.segments()?;
        let inputs = reads + finishes;
        let regions = module.regions(self.op).len();
        let (out, combined) = (types[inputs + tables], nest.combined());
        // What finishes an element follows a combination.
        let fits = match regions {
            1 => finishes == 0,
            2 => combined.is_some(),
            _ => false,
        };
        if !fits {
            return Err(NestError::Region(regions));
        }
        for number in 0..regions {
            let block = module.first_block(module.region(self.op, number));
            let block = block.ok_or(NestError::Region(number))?;
            let args = module.args(block).to_vec();
            let (own, first) = match number {
                0 => ((0..reads).collect::<Vec<_>>(), 0),
                _ => ([inputs].into_iter().chain(reads..inputs).collect(), 1),
            };
            let mut input_types = types[..inputs].to_vec();
            input_types.extend(combined.filter(|_| first == 1));
            let looked_up = if number == 0 { tables } else { 0 };
            let fits = args.len() == own.len() + looked_up
                && own.iter().zip(&args).all(|(&at, &arg)| {
                    let ty = scalar_type(module.context(), input_types[at]);
                    module.value_type(arg) == ty
                })
                && (0..looked_up).all(|at| {
                    let table = module.operand(self.op, inputs + at);
                    module.value_type(args[own.len() + at]) == module.value_type(table)
                });
            if !fits {
                return Err(NestError::Region(number));
            }
            let places = args[own.len()..].to_vec();
            let mut reader = Reader {
                module,
                block,
                inputs: args.into_iter().zip(own).collect(),
                input_types: &input_types,
                tables: places,
                table_types: &types[inputs..inputs + tables],
                symbols: &mut nest.generic.symbols,
            };
            let (body, found) = reader.read()?;
            let wanted = if number == 0 { combined.unwrap_or(out) } else { out };
            let body = as_type(body, found, wanted).ok_or(NestError::Yield)?;
            match number {
                0 => nest.generic.body = body,
                _ => nest.finish = Some(body),
            }
        }
        let whole = nest.finish.is_some() || combined.is_none_or(|own| own == out);
        whole.then_some(()).ok_or(NestError::Malformed("elements are combined in another type"))
    }
}

/// The body as one of a value of type `wanted`, where only the sign differs.
fn as_type(mut body: Body, found: DType, wanted: DType) -> Option<Body> {
    if found == wanted {
        return Some(body);
    }
    let (int, bits) = (found.is_int() && wanted.is_int(), found.size_bits() == wanted.size_bits());
    let value = body.value().filter(|_| int && bits)?;
    let value = body.push(Scalar::Cast(wanted, value));
    body.result(value);
    Some(body)
}

/// The type of a tensor of such elements and extents.
pub fn tensor_type(context: &Context, element: DType, extents: &[Expr]) -> Type {
    let dims: Vec<_> = extents.iter().map(|expr| context.dim(expr)).collect();
    context.tensor_type(&dims, dtype::type_of(context, element))
}
