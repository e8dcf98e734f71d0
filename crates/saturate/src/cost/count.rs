//! What an operation is counted as: arithmetic, bytes, parts.
//!
//! All of it is read off the structured definition: the points of its nests, the operations at each,
//! and the elements that its maps name ([`work`]). What has no definition counts as one operation
//! for each element that it reads or makes, whichever are more, and as the bytes of both.

use tangram_dialects::structured::{Generic, Structured, elements_of, work};
use tangram_dialects::{dims, dtype};
use tangram_ir::{Dim, Module, Op, Value};

use super::kind::{Kind, is_contraction};

/// What the time of an operation depends on.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Counts {
    /// Arithmetic operations.
    pub flops: f64,
    /// Those of them that take many instructions.
    pub functions: f64,
    /// Bytes read and written.
    pub bytes: f64,
    /// Groups, batches, pieces.
    pub parts: f64,
    /// Bytes that a convolution copies to have each window of its input in one column.
    pub unfolded: f64,
}

/// Counts, where extents are numbers.
pub(super) struct Sizes<'a> {
    pub module: &'a Module,
    /// What a symbol is taken to be.
    pub symbol: i64,
}

impl Sizes<'_> {
    /// What `op` is, and what it takes.
    pub fn counts(&self, op: Op) -> (Kind, Counts) {
        let Some((definition, work)) = work(self.module, op, self.symbol) else {
            let (made, read) = (self.outputs(op), self.inputs(op));
            let plain =
                Counts { flops: made.max(read), bytes: self.traffic(op), ..Counts::default() };
            return (Kind::without_definition(self.module, op), plain);
        };
        let kind = Kind::of(&definition, work.functions > 0.0);
        let plain = Counts {
            flops: work.operations,
            functions: work.functions,
            bytes: work.bytes(),
            ..Counts::default()
        };
        (kind, self.in_parts(op, kind, &definition, plain))
    }

    fn in_parts(&self, op: Op, kind: Kind, definition: &Structured, plain: Counts) -> Counts {
        let contraction = match definition {
            Structured::Loops { stages, .. } => stages.iter().find(|nest| is_contraction(nest)),
            Structured::Reshape { .. } => None,
        };
        let parts = match kind {
            Kind::Split => self.module.result_count(op) as f64,
            Kind::Concatenate => self.module.operand_count(op) as f64,
            _ => contraction.map_or(0.0, |nest| self.batches(nest)),
        };
        let windows = contraction.filter(|_| kind == Kind::Convolution);
        let unfolded = windows.map_or(0.0, |nest| self.unfolded(op, nest));
        let batch = match kind {
            Kind::Convolution => self.extents(op, 0).and_then(|all| all.first().copied()),
            _ => None,
        };
        Counts { parts: batch.map_or(parts, |batch| batch * parts.max(1.0)), unfolded, ..plain }
    }

    /// The number of elements that `op` makes.
    pub fn outputs(&self, op: Op) -> f64 {
        self.module.results(op).map(|value| self.elements(value)).sum()
    }

    fn inputs(&self, op: Op) -> f64 {
        self.module.operands(op).map(|value| self.elements(value)).sum()
    }

    fn traffic(&self, op: Op) -> f64 {
        let values = self.module.operands(op).chain(self.module.results(op));
        values.map(|value| self.bytes(value)).sum()
    }

    fn size(&self, dim: Dim) -> f64 {
        let known = dims::expr(self.module.context(), dim);
        let known = known.and_then(|expr| expr.eval(&|_| Some(self.symbol)));
        known.unwrap_or(self.symbol).max(0) as f64
    }

    fn value_extents(&self, value: Value) -> Option<Vec<f64>> {
        let (list, _) = self.module.context().as_tensor(self.module.value_type(value))?;
        Some(list.iter().map(|&dim| self.size(dim)).collect())
    }

    /// The extents of operand number `operand`.
    fn extents(&self, op: Op, operand: usize) -> Option<Vec<f64>> {
        self.value_extents(self.module.operands(op).nth(operand)?)
    }

    /// The number of elements of `value`; 1 if nothing is known.
    fn elements(&self, value: Value) -> f64 {
        self.value_extents(value).map_or(1.0, |extents| extents.iter().product())
    }

    pub fn bytes(&self, value: Value) -> f64 {
        self.elements(value) * self.width(value)
    }

    /// The bytes of one element; none of what is no tensor.
    fn width(&self, value: Value) -> f64 {
        let context = self.module.context();
        let element = context.element_type(self.module.value_type(value));
        let dtype = element.and_then(|element| dtype::dtype_of(context, element));
        dtype.map_or(0.0, |dtype| dtype.size_bits() as f64 / 8.0)
    }

    fn loops(&self, nest: &Generic) -> Vec<i64> {
        let value = |extent: &tangram_affine::symbolic::Expr| extent.eval(&|_| Some(self.symbol));
        nest.extents.iter().map(|extent| value(extent).unwrap_or(self.symbol).max(0)).collect()
    }

    /// Products that are computed one after another: the iterations of loops that both operands and
    /// the sum have. 0 where there is no such loop.
    fn batches(&self, nest: &Generic) -> f64 {
        let uses: Vec<Vec<bool>> = nest.inputs.iter().map(|input| input.map.used().0).collect();
        let written = nest.output.map.used().0;
        let loops = self.loops(nest);
        let shared = |dim: &usize| written[*dim] && uses.iter().all(|used| used[*dim]);
        let own: Vec<f64> = (0..loops.len()).filter(shared).map(|dim| loops[dim] as f64).collect();
        if own.is_empty() { 0.0 } else { own.iter().product() }
    }

    /// Windows of single elements next to each other are read in place.
    fn unfolded(&self, op: Op, nest: &Generic) -> f64 {
        let (Some(data), Some(value)) = (nest.inputs.first(), self.module.operands(op).next())
        else {
            return 0.0;
        };
        let loops = self.loops(nest);
        let (used, _) = data.map.used();
        let points: f64 =
            (0..loops.len()).filter(|&dim| used[dim]).map(|dim| loops[dim] as f64).product();
        let extents = self.value_extents(value).unwrap_or_default();
        let extents: Vec<i64> = extents.iter().map(|&extent| extent as i64).collect();
        let symbols = nest.symbols.iter().map(|e| e.eval(&|_| Some(self.symbol)).unwrap_or(0));
        let named = elements_of(&data.map, &loops, &symbols.collect::<Vec<_>>(), &extents);
        // Each element of the data once, all of them: nothing is copied.
        if points == named && named == self.elements(value) {
            return 0.0;
        }
        points * self.width(value)
    }
}
