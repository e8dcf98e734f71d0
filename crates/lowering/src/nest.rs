//! Loop nests over the tensors of a function.

use tangram_affine::symbolic::Expr;
use tangram_affine::{AffineExprs, AffineMap};
use tangram_dialects::structured::{
    Access, Body, Generic, IteratorKind, Scalar, ScalarId, TensorId,
};
use tangram_ir::Op;
use tangram_tensor::DType;

use crate::ranges::Range;

/// A tensor of the function, or one between the stages of an operation.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    pub element: DType,
    pub extents: Vec<Expr>,
    /// Its buffer, by number.
    pub buffer: usize,
    /// Whether each part of a call has one of its own.
    pub scratch: bool,
    /// Between which numbers its elements are, where it holds constants that may be indices.
    pub range: Option<Range>,
}

/// A loop nest: the places of its accesses are the numbers of tensors.
#[derive(Clone, Debug)]
pub(crate) struct Nest {
    /// The operations that it computes, the first of them first.
    pub ops: Vec<Op>,
    /// The loops; places are not used.
    pub generic: Generic,
    /// The tensor of each input.
    pub inputs: Vec<usize>,
    /// The tensor of each table.
    pub tables: Vec<usize>,
    /// The tensor that is written.
    pub output: usize,
    /// What becomes of an element when all iterations are combined; it reads the element as the
    /// input [`Finish::combined`].
    pub finish: Option<Finish>,
}

/// A function of a combined element.
#[derive(Clone, Debug)]
pub(crate) struct Finish {
    /// The body; its inputs are those of the nest.
    pub body: Body,
    /// The input that stands for the combined element.
    pub combined: usize,
}

impl Nest {
    /// Makes a nest of a stage of an operation; `tensor` finds the number of a place.
    pub fn new(
        op: Op,
        generic: Generic,
        tensor: impl Fn(TensorId) -> Option<usize>,
    ) -> Option<Nest> {
        let numbers = |places: Vec<TensorId>| places.into_iter().map(&tensor).collect();
        let inputs: Option<Vec<usize>> =
            numbers(generic.inputs.iter().map(|access| access.place).collect());
        let tables: Option<Vec<usize>> = numbers(generic.tables.clone());
        let (inputs, tables) = (inputs?, tables?);
        let output = tensor(generic.output.place)?;
        Some(Nest { ops: vec![op], generic, inputs, tables, output, finish: None })
    }

    /// Whether every iteration writes an element of its own, and nothing is combined.
    pub fn is_parallel(&self) -> bool {
        self.generic.reduction.is_none()
    }

    /// Whether iterations may be combined in any order, to the same bits: integers and truth.
    pub fn is_free_of_order(&self) -> bool {
        self.generic.reduction.is_none_or(|reduction| !reduction.initial.element().is_float())
    }

    /// The parallel iterators.
    pub fn parallel(&self) -> impl Iterator<Item = usize> {
        let kinds = self.generic.kinds.iter().enumerate();
        kinds.filter(|(_, kind)| **kind == IteratorKind::Parallel).map(|(at, _)| at)
    }

    /// Whether the nest copies elements and does nothing else.
    pub fn is_copy(&self) -> bool {
        let [Scalar::Input(_)] = self.generic.body.scalars() else { return false };
        self.is_parallel() && self.generic.inputs.iter().all(|access| access.outside.is_none())
    }

    /// The tensors that are read.
    pub fn reads(&self) -> impl Iterator<Item = usize> {
        let combined = self.finish.as_ref().map(|finish| finish.combined);
        let inputs = self.inputs.iter().enumerate();
        let inputs = inputs.filter(move |(at, _)| Some(*at) != combined).map(|(_, tensor)| *tensor);
        inputs.chain(self.tables.iter().copied())
    }

    /// Numbers of iterators by the element that they write, if each is one of its coordinates.
    pub fn written_by(&self) -> Option<Vec<usize>> {
        let map = &self.generic.output.map;
        let found: Option<Vec<usize>> = (0..map.results().len())
            .map(|at| map.as_operand(at).filter(|operand| *operand < map.dims()))
            .collect();
        let mut seen = found.clone()?;
        seen.sort_unstable();
        seen.dedup();
        let all: Vec<usize> = self.parallel().collect();
        (seen == all && seen.len() == map.results().len()).then_some(found?)
    }

    /// Puts the symbols `first` in front of the nest's own.
    fn with_symbols(&mut self, first: &[Expr]) {
        if first.is_empty() {
            return;
        }
        let own = self.generic.symbols.len();
        let count = first.len() + own;
        let accesses = self.generic.inputs.iter_mut().chain([&mut self.generic.output]);
        for access in accesses {
            access.map = shifted(&access.map, first.len(), count);
        }
        self.generic.symbols.splice(0..0, first.iter().cloned());
        let moved = |scalar: &Scalar| match scalar {
            Scalar::Symbol(at) => Scalar::Symbol(at + first.len()),
            other => other.clone(),
        };
        self.generic.body = mapped(&self.generic.body, moved);
    }

    /// The iterators of `producer` that write what this nest reads through input `input`, by its
    /// own; nothing where the producer does not have one coordinate of its output for each.
    pub fn read_as(&self, input: usize, producer: &Nest) -> Option<AffineMap> {
        let order = producer.written_by().filter(|_| producer.is_parallel())?;
        let read = &self.generic.inputs[input].map;
        let mut exprs = AffineExprs::new();
        let nodes = read.copy(&mut exprs);
        let mut results = vec![exprs.constant(0); producer.generic.extents.len()];
        for (coordinate, iterator) in order.iter().enumerate() {
            results[*iterator] = nodes[read.results()[coordinate].index()];
        }
        Some(AffineMap::new(read.dims() as u32, read.symbols() as u32, &exprs, &results))
    }

    /// Computes what `producer` writes where this nest reads it, through input `input`.
    ///
    /// Nothing changes, and the result is `false`, where the two do not fit: the producer has to
    /// be parallel, with a coordinate of its output for each iterator, and may not know its own
    /// iterators in its body.
    pub fn inline(&mut self, input: usize, producer: &Nest) -> bool {
        let uses_index = |scalar: &Scalar| matches!(scalar, Scalar::Index(_));
        let own = &self.generic.inputs[input];
        if !producer.is_parallel()
            || own.outside.is_some()
            || producer.generic.body.scalars().iter().any(uses_index)
            || self.finish.is_some()
        {
            return false;
        }
        let mut whole = self.clone();
        whole.with_symbols(&producer.generic.symbols);
        let Some(to) = whole.read_as(input, producer) else { return false };
        let (symbols, base) = (whole.generic.symbols.len(), whole.inputs.len());
        for (access, tensor) in producer.generic.inputs.iter().zip(&producer.inputs) {
            // The composition has the producer's symbols in front, which the nest's begin with.
            let Some(map) = composed(&access.map, &to, symbols) else { return false };
            whole.generic.inputs.push(Access { map, ..access.clone() });
            whole.inputs.push(*tensor);
        }
        let tables = whole.tables.len();
        whole.tables.extend(&producer.tables);
        whole.generic.tables.extend(&producer.generic.tables);
        whole.generic.body =
            spliced(&whole.generic.body, input, &producer.generic.body, |scalar| match scalar {
                Scalar::Input(at) => Scalar::Input(base + at),
                Scalar::Inside(at) => Scalar::Inside(base + at),
                Scalar::Lookup(table, at) => Scalar::Lookup(tables + table, at.clone()),
                other => other.clone(),
            });
        whole.forget(input);
        let own = std::mem::replace(&mut whole.ops, producer.ops.clone());
        let new = own.into_iter().filter(|op| !producer.ops.contains(op));
        whole.ops.extend(new);
        *self = whole;
        true
    }

    /// Reads once what several inputs read at the same place; returns the tensors of those that are
    /// gone.
    pub fn merge_equal_inputs(&mut self) -> Vec<usize> {
        let mut gone = Vec::new();
        let mut later = self.inputs.len();
        while later > 1 {
            later -= 1;
            let access = &self.generic.inputs[later];
            let same = |at: &usize| {
                let other = &self.generic.inputs[*at];
                self.inputs[*at] == self.inputs[later]
                    && (&other.map, other.outside) == (&access.map, access.outside)
            };
            let Some(first) = (0..later).find(same).filter(|_| self.finish.is_none()) else {
                continue;
            };
            let moved = |scalar: &Scalar| match scalar {
                Scalar::Input(at) if *at == later => Scalar::Input(first),
                Scalar::Inside(at) if *at == later => Scalar::Inside(first),
                other => other.clone(),
            };
            self.generic.body = mapped(&self.generic.body, moved);
            gone.push(self.inputs[later]);
            self.forget(later);
        }
        gone
    }

    /// Takes an input away that nothing reads any more.
    fn forget(&mut self, input: usize) {
        self.generic.inputs.remove(input);
        self.inputs.remove(input);
        let moved = |scalar: &Scalar| match scalar {
            Scalar::Input(at) if *at > input => Scalar::Input(at - 1),
            Scalar::Inside(at) if *at > input => Scalar::Inside(at - 1),
            other => other.clone(),
        };
        self.generic.body = mapped(&self.generic.body, moved);
    }

    /// Applies `consumer`, which reads what this nest writes at the element it writes itself, to
    /// each combined element. `false` where it does not fit.
    pub fn finish_with(&mut self, consumer: &Nest) -> bool {
        let reads = consumer.inputs.iter().filter(|tensor| **tensor == self.output).count();
        let (Some(own), Some(other), 1) = (self.written_by(), consumer.written_by(), reads) else {
            return false;
        };
        let Some(at) = consumer.inputs.iter().position(|tensor| *tensor == self.output) else {
            return false;
        };
        let access = &consumer.generic.inputs[at];
        let same = (0..access.map.results().len())
            .map(|coordinate| access.map.as_operand(coordinate))
            .eq(other.iter().map(|iterator| Some(*iterator)));
        let extents = |nest: &Nest, order: &[usize]| -> Vec<Expr> {
            order.iter().map(|at| nest.generic.extents[*at].clone()).collect()
        };
        let scalars = consumer.generic.body.scalars();
        if self.is_parallel()
            || (self.finish.is_some() && access.outside.is_some())
            || !consumer.is_parallel()
            || !same
            || !consumer.tables.is_empty()
            || extents(self, &own) != extents(consumer, &other)
            || scalars.iter().any(|s| matches!(s, Scalar::Index(_) | Scalar::Symbol(_)))
        {
            return false;
        }
        let mut whole = self.clone();
        whole.with_symbols(&consumer.generic.symbols);
        // From this nest's iterators to the consumer's.
        let mut exprs = AffineExprs::new();
        let mut results = vec![exprs.constant(0); consumer.generic.extents.len()];
        for (coordinate, iterator) in other.iter().enumerate() {
            results[*iterator] = exprs.dim(own[coordinate] as u32);
        }
        let symbols = whole.generic.symbols.len();
        let to = AffineMap::new(self.generic.extents.len() as u32, 0, &exprs, &results);
        // Where the element comes from that the consumer reads: what finishes this nest so far, or
        // the combined element itself.
        let before = whole.finish.take();
        let mut numbers = Vec::new();
        for (number, access) in consumer.generic.inputs.iter().enumerate() {
            let (map, tensor) = match (number == at, &before) {
                (true, Some(before)) => {
                    whole.inputs[before.combined] = consumer.output;
                    numbers.push(before.combined);
                    continue;
                }
                (true, None) => (whole.generic.output.map.clone(), consumer.output),
                (false, _) => {
                    let Some(map) = composed(&access.map, &to, symbols) else { return false };
                    (map, consumer.inputs[number])
                }
            };
            numbers.push(whole.inputs.len());
            whole.generic.inputs.push(Access { map, ..access.clone() });
            whole.inputs.push(tensor);
        }
        let body = mapped(&consumer.generic.body, |scalar| match scalar {
            Scalar::Input(at) => Scalar::Input(numbers[*at]),
            Scalar::Inside(at) => Scalar::Inside(numbers[*at]),
            other => other.clone(),
        });
        let combined = numbers[at];
        let body = match before {
            Some(before) => spliced(&body, combined, &before.body, Scalar::clone),
            None => body,
        };
        whole.finish = Some(Finish { body, combined });
        whole.output = consumer.output;
        whole.ops.extend(&consumer.ops);
        *self = whole;
        true
    }
}

impl Nest {
    /// Writes where `copy`, which copies all that this nest writes, would. `false`, and nothing
    /// done, where it does not fit.
    pub fn redirect(&mut self, copy: &Nest) -> bool {
        let (Some(tensor), Some(access)) = (copy.inputs.first(), copy.generic.inputs.first())
        else {
            return false;
        };
        let extents = &copy.generic.extents;
        let order: Option<Vec<usize>> =
            (0..access.map.results().len()).map(|at| access.map.as_operand(at)).collect();
        let mut seen = order.clone().unwrap_or_default();
        seen.sort_unstable();
        let Some(order) = order.filter(|_| seen == (0..extents.len()).collect::<Vec<_>>()) else {
            return false;
        };
        if *tensor != self.output || !copy.is_copy() || copy.finish.is_some() {
            return false;
        }
        let mut whole = self.clone();
        whole.with_symbols(&copy.generic.symbols);
        // From this nest's iterators to the copy's.
        let written = whole.generic.output.map.clone();
        let mut exprs = AffineExprs::new();
        let nodes = written.copy(&mut exprs);
        let mut results = vec![exprs.constant(0); extents.len()];
        for (coordinate, iterator) in order.iter().enumerate() {
            results[*iterator] = nodes[written.results()[coordinate].index()];
        }
        let to = AffineMap::new(written.dims() as u32, written.symbols() as u32, &exprs, &results);
        let symbols = whole.generic.symbols.len();
        let Some(map) = composed(&copy.generic.output.map, &to, symbols) else { return false };
        if let Some(finish) = &whole.finish {
            whole.generic.inputs[finish.combined].map = map.clone();
            whole.inputs[finish.combined] = copy.output;
        }
        whole.generic.output = Access { map, ..copy.generic.output.clone() };
        whole.output = copy.output;
        whole.ops.extend(&copy.ops);
        *self = whole;
        true
    }
}

/// `outer` after `inner`, with `symbols` symbols, those of `outer` in front.
pub(crate) fn composed(outer: &AffineMap, inner: &AffineMap, symbols: usize) -> Option<AffineMap> {
    let mut exprs = AffineExprs::new();
    let dims = inner.copy(&mut exprs);
    let dims: Vec<_> = inner.results().iter().map(|result| dims[result.index()]).collect();
    let results = outer.substitute(&mut exprs, &dims, &[]);
    Some(AffineMap::new(inner.dims() as u32, symbols as u32, &exprs, &results))
}

/// The map with `by` symbols more in front of its own.
fn shifted(map: &AffineMap, by: usize, count: usize) -> AffineMap {
    let mut exprs = AffineExprs::new();
    let symbols: Vec<_> = (0..map.symbols()).map(|at| exprs.symbol((at + by) as u32)).collect();
    let results = map.substitute(&mut exprs, &[], &symbols);
    AffineMap::new(map.dims() as u32, count as u32, &exprs, &results)
}

/// The map without an iterator that it does not use.
pub(crate) fn shifted_iterators(map: &AffineMap, gone: usize) -> AffineMap {
    let mut exprs = AffineExprs::new();
    let dims: Vec<_> = (0..map.dims())
        .map(|at| match at.cmp(&gone) {
            std::cmp::Ordering::Less => exprs.dim(at as u32),
            std::cmp::Ordering::Equal => exprs.constant(0),
            std::cmp::Ordering::Greater => exprs.dim(at as u32 - 1),
        })
        .collect();
    let results = map.substitute(&mut exprs, &dims, &[]);
    AffineMap::new(map.dims() as u32 - 1, map.symbols() as u32, &exprs, &results)
}

/// The body with other leaves.
pub(crate) fn mapped(body: &Body, leaf: impl Fn(&Scalar) -> Scalar) -> Body {
    let mut new = Body::default();
    body.scalars().iter().for_each(|scalar| {
        new.push(leaf(scalar));
    });
    if let Some(value) = body.value() {
        new.result(value);
    }
    new
}

/// `body` with the value of `inner` in the place of input `input`.
fn spliced(body: &Body, input: usize, inner: &Body, leaf: impl Fn(&Scalar) -> Scalar) -> Body {
    let mut new = Body::default();
    let first: Vec<ScalarId> =
        inner.scalars().iter().map(|scalar| new.push(leaf(scalar))).collect();
    let value = inner.value().map(|value| first[value.0 as usize]);
    let mut ids: Vec<ScalarId> = Vec::new();
    for scalar in body.scalars() {
        let id = match (scalar, value) {
            (Scalar::Input(at), Some(value)) if *at == input => value,
            _ => new.push(renumbered(scalar, &ids)),
        };
        ids.push(id);
    }
    if let Some(value) = body.value() {
        new.result(ids[value.0 as usize]);
    }
    new
}

/// The scalar with other numbers for its operands.
fn renumbered(scalar: &Scalar, ids: &[ScalarId]) -> Scalar {
    scalar.with_operands(|id| ids[id.0 as usize])
}
