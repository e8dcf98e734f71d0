//! Building loop nests: accesses and scalars as a definition mentions them.

use std::ops::Range;

use tangram_affine::symbolic::Expr;
use tangram_affine::{AffineExpr, AffineExprs, AffineMap};
use tangram_tensor::{DType, Tensor};

use super::cx::{TensorRef, equal, wide};
use super::{
    Access, Binary, Body, Comparison, Generic, IteratorKind, Number, Reduction, Scalar, ScalarId,
    Structured, StructuredCx, Temporary, TensorId, Unary,
};

/// A read that the body has seen.
struct Read {
    place: TensorId,
    at: Vec<AffineExpr>,
    outside: Option<Number>,
}

/// A loop nest that is being built: indices are affine expressions of its loops, scalars know
/// their types.
pub(crate) struct Stage {
    extents: Vec<Expr>,
    kinds: Vec<IteratorKind>,
    symbols: Vec<Expr>,
    exprs: AffineExprs,
    reads: Vec<Read>,
    tables: Vec<TensorId>,
    body: Body,
    types: Vec<DType>,
    reduction: Option<Reduction>,
}

/// Loops, and indices.
impl Stage {
    /// Parallel loops of these extents.
    pub fn over(extents: &[Expr]) -> Stage {
        Stage {
            extents: extents.to_vec(),
            kinds: vec![IteratorKind::Parallel; extents.len()],
            symbols: Vec::new(),
            exprs: AffineExprs::new(),
            reads: Vec::new(),
            tables: Vec::new(),
            body: Body::default(),
            types: Vec::new(),
            reduction: None,
        }
    }

    /// Adds a reduced loop inside of all others; returns its number.
    pub fn reduce_over(&mut self, extent: &Expr) -> usize {
        self.extents.push(extent.clone());
        self.kinds.push(IteratorKind::Reduction);
        self.extents.len() - 1
    }

    /// The iterator of loop `i`.
    pub fn at(&mut self, i: usize) -> AffineExpr {
        self.exprs.dim(i as u32)
    }

    /// The iterators of the loops `list`.
    pub fn all(&mut self, list: impl IntoIterator<Item = usize>) -> Vec<AffineExpr> {
        list.into_iter().map(|i| self.at(i)).collect()
    }

    /// An index that is the same for all iterations.
    pub fn fixed(&mut self, value: &Expr) -> AffineExpr {
        match value.as_int() {
            Some(n) => self.exprs.constant(n),
            None => {
                let symbol = self.symbol(value);
                self.exprs.symbol(symbol as u32)
            }
        }
    }

    fn symbol(&mut self, value: &Expr) -> usize {
        let known = self.symbols.iter().position(|symbol| symbol == value);
        known.unwrap_or_else(|| {
            self.symbols.push(value.clone());
            self.symbols.len() - 1
        })
    }

    /// `a + b`.
    pub fn sum(&mut self, a: AffineExpr, b: AffineExpr) -> AffineExpr {
        self.exprs.add(a, b)
    }

    /// `expr + by`.
    pub fn plus(&mut self, expr: AffineExpr, by: &Expr) -> AffineExpr {
        let by = self.fixed(by);
        self.exprs.add(expr, by)
    }

    /// `expr * factor`.
    pub fn times(&mut self, expr: AffineExpr, factor: i64) -> AffineExpr {
        let factor = self.exprs.constant(factor);
        self.exprs.mul(expr, factor)
    }

    /// `floor(expr / by)`, for `by` above 0.
    pub fn quotient(&mut self, expr: AffineExpr, by: i64) -> AffineExpr {
        let by = self.exprs.constant(by);
        self.exprs.floor_div(expr, by)
    }

    /// The iterators that are not reduced.
    fn parallel(&mut self) -> Vec<AffineExpr> {
        let kinds = self.kinds.iter().enumerate();
        let parallel = kinds.filter(|(_, kind)| **kind == IteratorKind::Parallel);
        let loops: Vec<usize> = parallel.map(|(i, _)| i).collect();
        self.all(loops)
    }

    fn map(&self, at: &[AffineExpr]) -> AffineMap {
        let (dims, symbols) = (self.extents.len() as u32, self.symbols.len() as u32);
        AffineMap::new(dims, symbols, &self.exprs, at)
    }
}

/// Elements of tensors.
impl Stage {
    /// The element of `tensor` at `at`, in the type of the tensor.
    pub fn load_exact(&mut self, tensor: &TensorRef, at: &[AffineExpr]) -> ScalarId {
        self.read(tensor, at, None)
    }

    /// The element of `tensor` at `at`, in the type of its arithmetic.
    pub fn load(&mut self, tensor: &TensorRef, at: &[AffineExpr]) -> ScalarId {
        let element = self.read(tensor, at, None);
        self.widened(element)
    }

    /// The same, or `outside` where `at` is no place of the tensor.
    pub fn load_or(&mut self, tensor: &TensorRef, at: &[AffineExpr], outside: Number) -> ScalarId {
        let element = self.read(tensor, at, Some(outside));
        self.widened(element)
    }

    /// The same in the type of the tensor.
    pub fn load_exact_or(&mut self, tensor: &TensorRef, at: &[AffineExpr], or: Number) -> ScalarId {
        self.read(tensor, at, Some(or))
    }

    fn read(&mut self, tensor: &TensorRef, at: &[AffineExpr], or: Option<Number>) -> ScalarId {
        self.reads.push(Read { place: tensor.place, at: at.to_vec(), outside: or });
        let input = self.reads.len() - 1;
        self.push(Scalar::Input(input), tensor.element)
    }

    /// Whether the place that was read last is inside of its tensor.
    pub fn inside_last(&mut self) -> ScalarId {
        let last = self.reads.len().saturating_sub(1);
        self.push(Scalar::Inside(last), DType::Bool)
    }

    /// The element of `tensor` at the loops `loops`, with which it is broadcast as in NumPy;
    /// `None` if it is not clear that it fits.
    pub fn broadcast_over(&mut self, tensor: &TensorRef, loops: &[usize]) -> Option<ScalarId> {
        let element = self.broadcast_exact(tensor, loops)?;
        Some(self.widened(element))
    }

    /// The same, in the type of the tensor.
    pub fn broadcast_exact(&mut self, tensor: &TensorRef, loops: &[usize]) -> Option<ScalarId> {
        match self.broadcast_index(tensor, loops) {
            Some(at) => Some(self.load_exact(tensor, &at)),
            None => self.broadcast_lookup(tensor, loops),
        }
    }

    /// The same where only a run says of an extent whether it is that of its loop or 1; any other
    /// one is refused.
    fn broadcast_lookup(&mut self, tensor: &TensorRef, loops: &[usize]) -> Option<ScalarId> {
        let lead = loops.len().checked_sub(tensor.rank())?;
        let mut place = Vec::new();
        for (extent, &at) in tensor.extents.iter().zip(&loops[lead..]) {
            let whole = self.extents[at].clone();
            place.push(match (extent.as_int(), whole.as_int()) {
                _ if equal(extent, &whole) => self.index(at),
                (Some(1), _) => self.int(0),
                (Some(_), Some(_)) => return None,
                _ => self.broadcast_place(extent, &whole, at),
            });
        }
        Some(self.lookup(tensor, place))
    }

    /// The iterator of loop `at` where `extent` is `whole`, 0 where it is 1, else no place.
    fn broadcast_place(&mut self, extent: &Expr, whole: &Expr, at: usize) -> ScalarId {
        let (own, whole) = (self.extent(extent), self.extent(whole));
        let (here, zero, one, nowhere) = (self.index(at), self.int(0), self.int(1), self.int(-1));
        let fits = self.compare(Comparison::Eq, own, whole);
        let here = self.select(fits, here, nowhere);
        let single = self.compare(Comparison::Eq, own, one);
        self.select(single, zero, here)
    }

    /// The index for that.
    pub fn broadcast_index(
        &mut self,
        tensor: &TensorRef,
        loops: &[usize],
    ) -> Option<Vec<AffineExpr>> {
        let lead = loops.len().checked_sub(tensor.rank())?;
        let pairs = tensor.extents.iter().zip(&loops[lead..]);
        let index = |(extent, &at): (&Expr, &usize)| {
            // Where the loop has one iteration too, its value says which tensors go side by side.
            if equal(extent, &self.extents[at]) {
                Some(self.exprs.dim(at as u32))
            } else {
                (extent.as_int() == Some(1)).then(|| self.exprs.constant(0))
            }
        };
        pairs.map(index).collect()
    }

    /// The element of `tensor`, broadcast over all loops.
    pub fn broadcast(&mut self, tensor: &TensorRef) -> Option<ScalarId> {
        let loops: Vec<usize> = (0..self.extents.len()).collect();
        self.broadcast_over(tensor, &loops)
    }

    /// The element of `tensor` at computed places, of type `i64`.
    pub fn lookup(&mut self, tensor: &TensorRef, at: Vec<ScalarId>) -> ScalarId {
        let known = self.tables.iter().position(|&table| table == tensor.place);
        let table = known.unwrap_or_else(|| {
            self.tables.push(tensor.place);
            self.tables.len() - 1
        });
        self.push(Scalar::Lookup(table, at), tensor.element)
    }

    /// Writes `value`, converted if need be, at `at`: the nest is complete.
    pub fn store(mut self, out: &TensorRef, at: &[AffineExpr], value: ScalarId) -> Generic {
        let value = if self.reduction.is_some() { value } else { self.cast(out.element, value) };
        self.body.result(value);
        let access = |read: &Read| Access {
            outside: read.outside,
            ..Access::new(read.place, self.map(&read.at))
        };
        let inputs = self.reads.iter().map(access).collect();
        let output = Access::new(out.place, self.map(at));
        Generic {
            inputs,
            output,
            extents: self.extents,
            kinds: self.kinds,
            symbols: self.symbols,
            tables: self.tables,
            body: self.body,
            reduction: self.reduction,
        }
    }

    /// Writes `value` at the parallel loops.
    pub fn store_parallel(mut self, out: &TensorRef, value: ScalarId) -> Generic {
        let at = self.parallel();
        self.store(out, &at, value)
    }

    /// Combines what the reduced loops make, from `initial` on, and writes it at the others.
    ///
    /// `out` has the type of `value`.
    pub fn store_reduced(
        mut self,
        out: &TensorRef,
        combine: (Binary, Number),
        value: ScalarId,
    ) -> Generic {
        let at = self.parallel();
        self.store_reduced_at(out, &at, combine, value)
    }

    /// The same, written at `at`.
    pub fn store_reduced_at(
        mut self,
        out: &TensorRef,
        at: &[AffineExpr],
        (combine, initial): (Binary, Number),
        value: ScalarId,
    ) -> Generic {
        let reduced = self.kinds.contains(&IteratorKind::Reduction);
        self.reduction = reduced.then_some(Reduction { combine, initial });
        self.store(out, at, value)
    }

    /// Adds up what the reduced loops make.
    pub fn store_sum(self, out: &TensorRef, value: ScalarId) -> Generic {
        self.store_reduced(out, (Binary::Add, Number::zero(out.element)), value)
    }

    /// The same, written at `at`.
    pub fn store_sum_at(self, out: &TensorRef, at: &[AffineExpr], value: ScalarId) -> Generic {
        self.store_reduced_at(out, at, (Binary::Add, Number::zero(out.element)), value)
    }
}

/// Scalars.
impl Stage {
    fn push(&mut self, scalar: Scalar, ty: DType) -> ScalarId {
        self.types.push(ty);
        self.body.push(scalar)
    }

    /// The type of a scalar.
    pub fn type_of(&self, x: ScalarId) -> DType {
        self.types[x.0 as usize]
    }

    /// A function of one number.
    pub fn unary(&mut self, function: Unary, x: ScalarId) -> ScalarId {
        self.push(Scalar::Unary(function, x), self.type_of(x))
    }

    /// A function of two numbers of one type.
    pub fn binary(&mut self, function: Binary, x: ScalarId, y: ScalarId) -> ScalarId {
        self.push(Scalar::Binary(function, x, y), self.type_of(x))
    }

    /// `x + y`.
    pub fn add(&mut self, x: ScalarId, y: ScalarId) -> ScalarId {
        self.binary(Binary::Add, x, y)
    }

    /// `x - y`.
    pub fn sub(&mut self, x: ScalarId, y: ScalarId) -> ScalarId {
        self.binary(Binary::Sub, x, y)
    }

    /// `x * y`.
    pub fn mul(&mut self, x: ScalarId, y: ScalarId) -> ScalarId {
        self.binary(Binary::Mul, x, y)
    }

    /// `x / y`.
    pub fn div(&mut self, x: ScalarId, y: ScalarId) -> ScalarId {
        self.binary(Binary::Div, x, y)
    }

    /// A comparison.
    pub fn compare(&mut self, comparison: Comparison, x: ScalarId, y: ScalarId) -> ScalarId {
        self.push(Scalar::Compare(comparison, x, y), DType::Bool)
    }

    /// `x` where `condition`, else `y`.
    pub fn select(&mut self, condition: ScalarId, x: ScalarId, y: ScalarId) -> ScalarId {
        self.push(Scalar::Select(condition, x, y), self.type_of(x))
    }

    /// `x` in another type; itself if it has that type.
    pub fn cast(&mut self, to: DType, x: ScalarId) -> ScalarId {
        if self.type_of(x) == to { x } else { self.push(Scalar::Cast(to, x), to) }
    }

    fn widened(&mut self, x: ScalarId) -> ScalarId {
        self.cast(wide(self.type_of(x)), x)
    }

    /// `x` rounded to a type, in its own.
    pub fn rounded(&mut self, to: DType, x: ScalarId) -> ScalarId {
        let own = self.type_of(x);
        let rounded = self.cast(to, x);
        self.cast(own, rounded)
    }

    /// A number.
    pub fn constant(&mut self, number: Number) -> ScalarId {
        self.push(Scalar::Constant(number), number.element())
    }

    /// A number of the type of `x`.
    pub fn number(&mut self, x: ScalarId, value: f64) -> ScalarId {
        let element = self.type_of(x);
        self.constant(if element.is_float() {
            Number::Float(element, value)
        } else {
            Number::Int(element, value as i64)
        })
    }

    /// An integer, as `i64`.
    pub fn int(&mut self, value: i64) -> ScalarId {
        self.constant(Number::Int(DType::I64, value))
    }

    /// The iterator of loop `i`, as `i64`.
    pub fn index(&mut self, i: usize) -> ScalarId {
        self.push(Scalar::Index(i), DType::I64)
    }

    /// An extent, as `i64`.
    pub fn extent(&mut self, extent: &Expr) -> ScalarId {
        match extent.as_int() {
            Some(n) => self.int(n),
            None => {
                let symbol = self.symbol(extent);
                self.push(Scalar::Symbol(symbol), DType::I64)
            }
        }
    }
}

/// Loop nests one after the other, and what is between them.
#[derive(Default)]
pub(crate) struct Loops {
    temporaries: Vec<Temporary>,
    stages: Vec<Generic>,
    recurrent: Vec<Range<usize>>,
}

impl Loops {
    /// A tensor between stages.
    pub fn temporary(&mut self, element: DType, extents: &[Expr]) -> TensorRef {
        self.temporaries.push(Temporary { element, extents: extents.to_vec() });
        let place = TensorId::Temporary(self.temporaries.len() - 1);
        TensorRef { place, element, extents: extents.to_vec() }
    }

    /// `out` itself if it has elements of type `element`, else a temporary like it that has.
    pub fn accumulator(&mut self, out: &TensorRef, element: DType) -> TensorRef {
        if out.element == element { out.clone() } else { self.temporary(element, &out.extents) }
    }

    /// Writes `from` to `out`, rounded, unless it is `out`.
    pub fn convert(&mut self, from: &TensorRef, out: &TensorRef) {
        if from == out {
            return;
        }
        self.copy(from, out);
    }

    /// Writes `from`, converted if need be, to `out`, which has the same extents.
    pub fn copy(&mut self, from: &TensorRef, out: &TensorRef) {
        let mut stage = Stage::over(&out.extents);
        let at = stage.all(0..out.rank());
        let value = stage.load_exact(from, &at);
        self.push(stage.store(out, &at, value));
    }

    /// A temporary with a function of each element of `x`.
    pub fn map(
        &mut self,
        x: &TensorRef,
        f: impl FnOnce(&mut Stage, ScalarId) -> ScalarId,
    ) -> TensorRef {
        let mut stage = Stage::over(&x.extents);
        let at = stage.all(0..x.rank());
        let value = stage.load(x, &at);
        let value = f(&mut stage, value);
        let out = self.temporary(stage.type_of(value), &x.extents);
        self.push(stage.store(&out, &at, value));
        out
    }

    /// Adds a nest.
    pub fn push(&mut self, stage: Generic) {
        self.stages.push(stage);
    }

    /// Runs the first loop of the nests that `add` adds around all of them.
    pub fn recurrent<T>(&mut self, add: impl FnOnce(&mut Loops) -> T) -> T {
        let first = self.stages.len();
        let made = add(self);
        self.recurrent.push(first..self.stages.len());
        made
    }

    /// The definition.
    pub fn finish(self) -> Structured {
        let Loops { temporaries, stages, recurrent } = self;
        Structured::Loops { temporaries, stages, recurrent }
    }
}

/// One parallel nest over the first result, of all operands broadcast to it.
pub(crate) fn elementwise(
    cx: &StructuredCx<'_>,
    body: impl FnOnce(&mut Stage, &[ScalarId]) -> Option<ScalarId>,
) -> Option<Structured> {
    let out = cx.result(0)?;
    let mut stage = Stage::over(&out.extents);
    let operands = broadcast_operands(cx, &mut stage)?;
    let value = body(&mut stage, &operands)?;
    Some(Structured::one(stage.store_parallel(&out, value)))
}

/// The operands' elements at those of a stage.
fn broadcast_operands(cx: &StructuredCx<'_>, stage: &mut Stage) -> Option<Vec<ScalarId>> {
    (0..cx.operand_count()).map(|i| stage.broadcast(&cx.operand(i)?)).collect()
}

/// The first operand's elements in the same order.
pub(crate) fn reshape(cx: &StructuredCx<'_>) -> Option<Structured> {
    cx.operand(0).and(cx.result(0)).map(|_| Structured::Reshape { operand: 0 })
}

/// The number that a tensor of one element holds.
pub(crate) fn number_of(tensor: &Tensor) -> Option<Number> {
    let element = tensor.dtype();
    if element == DType::Bool {
        return Some(Number::Int(element, i64::from(*tensor.view::<bool>().ok()?.first()?)));
    }
    if element.is_float() {
        Some(Number::Float(element, *tensor.f64s().ok()?.first()?))
    } else {
        Some(Number::Int(element, *tensor.i64s().ok()?.first()?))
    }
}
