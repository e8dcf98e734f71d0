//! What an operation takes, counted from its definition: scalar operations, and bytes.
//!
//! A nest does the operations of its body at each of its points, and one more where it combines
//! the value with others. Of a tensor it reads the elements that its map names, each once, however
//! often it comes back to them: what is read twice is still at hand.
//!
//! ```text
//! nn.matmul   (i, j, k) of 4, 5, 6   120 points, a product and a sum at each: 240 operations
//!             x: (i, k)  y: (k, j)   24 and 30 elements read, 20 written
//! ```
//!
//! No operation: a conversion, and what only says where an element lies. Tensors between nests are
//! not counted. A reshape takes nothing.

use rustc_hash::{FxHashMap, FxHashSet};
use tangram_affine::symbolic::Expr;
use tangram_affine::{AffineMap, Node};
use tangram_ir::{Module, Op};

use super::{
    Access, Binary, Body, Generic, Scalar, Structured, StructuredCx, TensorId, TensorRef, Unary,
};

/// How many points of a map are looked at, one by one; beyond, the number of elements is bounded.
const MOST_POINTS: i64 = 1 << 16;

/// What one run of an operation takes.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Work {
    /// Scalar operations, [functions](Work::functions) among them.
    pub operations: f64,
    /// Exponentials, logarithms and the like, which take many instructions.
    pub functions: f64,
    /// Bytes of operands that are read.
    pub read: f64,
    /// Bytes of results that are written.
    pub written: f64,
}

impl Work {
    /// Counts what is left to do by `definition`; `cx` is of its operation, each symbol is `symbol`.
    ///
    /// `None` if an extent has no value.
    fn of(definition: &Structured, cx: &StructuredCx<'_>, symbol: i64) -> Option<Work> {
        let Structured::Loops { stages, .. } = definition else { return Some(Work::default()) };
        let mut work = Work::default();
        for nest in stages {
            let points = product(&values(&nest.extents, symbol)?);
            let (all, functions) = counted(&nest.body);
            let combined = f64::from(u8::from(nest.reduction.is_some()));
            work.operations += points * (all + combined);
            work.functions += points * functions;
        }
        let operands: Vec<TensorRef> =
            (0..cx.operand_count()).filter_map(|i| cx.operand(i)).collect();
        let counts = read(stages, &operands, symbol)?;
        for tensor in &operands {
            let all = product(&values(&tensor.extents, symbol)?);
            let count = counts.get(&tensor.place).map_or(0.0, |count| count.min(all));
            work.read += count * bytes(tensor);
        }
        for i in 0..cx.result_count() {
            let tensor = cx.result(i)?;
            work.written += product(&values(&tensor.extents, symbol)?) * bytes(&tensor);
        }
        Some(work)
    }

    /// Bytes that are read and written.
    pub fn bytes(&self) -> f64 {
        self.read + self.written
    }
}

/// The definition of `op` and what it takes, with `size` for each symbol and for each extent of which
/// nothing is known.
///
/// `None` if the operation has no definition.
pub fn work(module: &Module, op: Op, size: i64) -> Option<(Structured, Work)> {
    let cx = StructuredCx::new(module, op).assuming(size);
    let definition = cx.definition()?;
    let work = Work::of(&definition, &cx, size)?;
    Some((definition, work))
}

fn bytes(tensor: &TensorRef) -> f64 {
    tensor.element.size_bits() as f64 / 8.0
}

/// The number of elements that `stages` read of each place of `operands`: in one pass, as a definition
/// may have as many stages as operands.
fn read(
    stages: &[Generic],
    operands: &[TensorRef],
    symbol: i64,
) -> Option<FxHashMap<TensorId, f64>> {
    let extents = operands.iter().map(|own| Some((own.place, values(&own.extents, symbol)?)));
    let extents: FxHashMap<TensorId, Vec<i64>> = extents.collect::<Option<_>>()?;
    let mut counts = FxHashMap::default();
    for nest in stages {
        let loops = values(&nest.extents, symbol)?;
        for table in nest.tables.iter().filter(|&table| extents.contains_key(table)) {
            *counts.entry(*table).or_default() += product(&loops);
        }
        let given: Option<Vec<i64>> =
            nest.symbols.iter().map(|e| e.eval(&|_| Some(symbol))).collect();
        for Access { place, map, .. } in &nest.inputs {
            if let Some(extents) = extents.get(place) {
                let count = elements_of(map, &loops, given.as_ref()?, extents);
                *counts.entry(*place).or_default() += count;
            }
        }
    }
    Some(counts)
}

fn values(extents: &[Expr], symbol: i64) -> Option<Vec<i64>> {
    extents.iter().map(|extent| Some(extent.eval(&|_| Some(symbol))?.max(0))).collect()
}

fn product(extents: &[i64]) -> f64 {
    extents.iter().map(|&extent| extent as f64).product()
}

/// The operations of a body, and the functions among them.
fn counted(body: &Body) -> (f64, f64) {
    let scalars = body.scalars();
    let mut live = vec![false; scalars.len()];
    if let Some(value) = body.value().and_then(|id| live.get_mut(id.0 as usize)) {
        *value = true;
    }
    let (mut all, mut functions) = (0.0, 0.0);
    for (at, scalar) in scalars.iter().enumerate().rev() {
        if !live[at] {
            continue;
        }
        let (operands, long) = match scalar {
            Scalar::Unary(f, x) => (vec![*x], is_function(*f)),
            Scalar::Binary(f, x, y) => (vec![*x, *y], *f == Binary::Pow),
            Scalar::Compare(_, x, y) => (vec![*x, *y], false),
            Scalar::Select(c, x, y) => (vec![*c, *x, *y], false),
            Scalar::Cast(_, x) => {
                live[x.0 as usize] = true;
                continue;
            }
            _ => continue,
        };
        all += 1.0;
        functions += f64::from(u8::from(long));
        operands.iter().for_each(|id| live[id.0 as usize] = true);
    }
    (all, functions)
}

/// Whether a function takes many instructions.
fn is_function(of: Unary) -> bool {
    !matches!(
        of,
        Unary::Neg
            | Unary::Abs
            | Unary::Sqrt
            | Unary::Floor
            | Unary::Ceil
            | Unary::Round
            | Unary::Sign
            | Unary::Not
            | Unary::BitNot
    )
}

/// The number of elements within `extents` that `map` names at the points of `loops`; an upper
/// bound of it where indices that share a loop have too many points to be looked at.
pub fn elements_of(map: &AffineMap, loops: &[i64], symbols: &[i64], extents: &[i64]) -> f64 {
    if loops.contains(&0) {
        return 0.0;
    }
    let mut parts: Vec<Part> = Vec::new();
    let reads = dims_read(map);
    for (i, result) in map.results().iter().enumerate() {
        let mut part = Part { dims: reads[result.index()].clone(), results: vec![i] };
        // Indices that share a loop are not independent of each other.
        let (joined, others) = parts.into_iter().partition(|other: &Part| other.meets(&part));
        parts = others;
        joined.into_iter().for_each(|other| part.join(other));
        parts.push(part);
    }
    parts.iter().map(|part| part.elements(map, loops, symbols, extents)).product()
}

/// The loops that each node of a map depends on.
fn dims_read(map: &AffineMap) -> Vec<Vec<usize>> {
    let mut reads: Vec<Vec<usize>> = Vec::with_capacity(map.nodes().len());
    for node in map.nodes() {
        reads.push(match *node {
            Node::Dim(i) => vec![i as usize],
            Node::Symbol(_) | Node::Constant(_) => Vec::new(),
            Node::Binary(_, a, b) => {
                let mut both = [&reads[a.index()][..], &reads[b.index()][..]].concat();
                both.sort_unstable();
                both.dedup();
                both
            }
        });
    }
    reads
}

/// Indices that share loops, and these loops.
struct Part {
    dims: Vec<usize>,
    results: Vec<usize>,
}

impl Part {
    fn meets(&self, other: &Part) -> bool {
        self.dims.iter().any(|dim| other.dims.contains(dim))
    }

    fn join(&mut self, other: Part) {
        self.dims.extend(other.dims);
        self.dims.sort_unstable();
        self.dims.dedup();
        self.results.extend(other.results);
    }

    fn elements(&self, map: &AffineMap, loops: &[i64], symbols: &[i64], extents: &[i64]) -> f64 {
        let own: Vec<i64> = self.dims.iter().map(|&dim| loops[dim]).collect();
        let whole = self.results.iter().map(|&i| extents.get(i).copied().unwrap_or(1) as f64);
        let most = product(&own).min(whole.product());
        if let [only] = self.results[..]
            && matches!(map.node(map.results()[only]), Node::Dim(_))
        {
            return most;
        }
        if product(&own) > MOST_POINTS as f64 {
            return most;
        }
        self.named(map, loops, symbols, extents).map_or(most, |count| count as f64)
    }

    /// The different elements, by looking at every point.
    fn named(
        &self,
        map: &AffineMap,
        loops: &[i64],
        symbols: &[i64],
        extents: &[i64],
    ) -> Option<usize> {
        let mut seen: FxHashSet<Vec<i64>> = FxHashSet::default();
        let mut at = vec![0i64; loops.len()];
        loop {
            let values = map.evaluate(&[&at[..], symbols].concat())?;
            let index = |&i: &usize| Some((values[i], *extents.get(i)?));
            let index: Vec<(i64, i64)> = self.results.iter().map(index).collect::<Option<_>>()?;
            if index.iter().all(|(value, extent)| (0..*extent).contains(value)) {
                seen.insert(index.into_iter().map(|(value, _)| value).collect());
            }
            let Some(&turn) = self.dims.iter().rev().find(|&&dim| at[dim] + 1 < loops[dim]) else {
                return Some(seen.len());
            };
            at[turn] += 1;
            self.dims.iter().filter(|&&dim| dim > turn).for_each(|&dim| at[dim] = 0);
        }
    }
}
