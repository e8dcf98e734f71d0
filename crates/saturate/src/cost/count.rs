//! What an operation is counted as: arithmetic, bytes, parts.

use tangram_dialects::{dims, dtype};
use tangram_ir::{Dim, Module, Op, Value};

use super::kind::Kind;

/// What the time of an operation depends on.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Counts {
    /// Arithmetic operations.
    pub flops: f64,
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
    /// Counts `op`.
    pub fn counts(&self, op: Op, kind: Kind) -> Counts {
        let bytes = if kind == Kind::View { 0.0 } else { self.traffic(op) };
        let plain = Counts { flops: self.flops(op, kind), bytes, ..Counts::default() };
        match kind {
            Kind::Convolution => Counts {
                parts: self.batch(op) * self.groups(op),
                unfolded: self.unfolded(op),
                ..plain
            },
            Kind::Product => Counts { parts: self.batches(op), ..plain },
            Kind::Split => Counts { parts: self.module.result_count(op) as f64, ..plain },
            Kind::Concatenate => Counts { parts: self.module.operand_count(op) as f64, ..plain },
            _ => plain,
        }
    }

    /// The arithmetic of `op`.
    pub fn flops(&self, op: Op, kind: Kind) -> f64 {
        let out = self.outputs(op);
        match kind {
            Kind::Convolution => self.convolution(op).unwrap_or(out),
            Kind::Product => {
                let inner = self.extents(op, 0).and_then(|extents| extents.last().copied());
                2.0 * out * inner.unwrap_or(1.0)
            }
            Kind::View | Kind::Copy | Kind::Transpose | Kind::Split | Kind::Concatenate => 0.0,
            Kind::Reduction => {
                out.max(self.module.operands(op).next().map_or(0.0, |value| self.elements(value)))
            }
            Kind::Window => out * self.window(op),
            Kind::ElementWise | Kind::Transcendental => out,
        }
    }

    /// Bytes that `op` reads and writes.
    pub fn traffic(&self, op: Op) -> f64 {
        let values = self.module.operands(op).chain(self.module.results(op));
        values.map(|value| self.bytes(value)).sum()
    }

    /// The number of elements that `op` makes.
    pub fn outputs(&self, op: Op) -> f64 {
        self.module.results(op).map(|value| self.elements(value)).sum()
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

    fn bytes(&self, value: Value) -> f64 {
        let context = self.module.context();
        let element = context.element_type(self.module.value_type(value));
        let dtype = element.and_then(|element| dtype::dtype_of(context, element));
        dtype.map_or(0.0, |dtype| self.elements(value) * dtype.size_bits() as f64 / 8.0)
    }

    /// Each output element sums over the weights of its output channel; where a convolution is
    /// transposed, each input element is spread over those of its input channel.
    fn convolution(&self, op: Op) -> Option<f64> {
        let weight = self.extents(op, 1)?;
        let channel = weight.iter().product::<f64>() / weight.first()?.max(1.0);
        let transposed = self.module.name_text(op).ends_with("_transpose");
        let each = match transposed {
            true => self.extents(op, 0)?.iter().product(),
            false => self.outputs(op),
        };
        Some(2.0 * each * channel)
    }

    /// Windows of single elements next to each other are read in place.
    fn unfolded(&self, op: Op) -> f64 {
        let (Some(weight), Some(result)) = (self.extents(op, 1), self.module.results(op).next())
        else {
            return 0.0;
        };
        let stepping = self.integers(op, "strides").iter().any(|&stride| stride > 1);
        let single = weight.iter().skip(2).all(|&extent| extent == 1.0);
        let channels = weight.first().copied().unwrap_or(1.0).max(1.0);
        if single && !stepping {
            return 0.0;
        }
        let window = weight.iter().product::<f64>() / channels * self.groups(op);
        self.bytes(result) / channels * window
    }

    fn groups(&self, op: Op) -> f64 {
        let groups = self.module.attr(op, "groups");
        groups.and_then(|attr| self.module.context().as_i64(attr)).unwrap_or(1).max(1) as f64
    }

    fn batch(&self, op: Op) -> f64 {
        self.extents(op, 0).and_then(|extents| extents.first().copied()).unwrap_or(1.0)
    }

    /// Products that are computed one after another: those with a second operand of their own.
    fn batches(&self, op: Op) -> f64 {
        match self.extents(op, 1).as_deref() {
            Some([batches @ .., _, _]) if !batches.is_empty() => batches.iter().product(),
            _ => 0.0,
        }
    }

    fn window(&self, op: Op) -> f64 {
        let window = self.integers(op, "pool_size");
        window.iter().map(|&extent| extent.max(1) as f64).product()
    }

    fn integers(&self, op: Op, name: &str) -> Vec<i64> {
        let attr = self.module.attr(op, name);
        attr.and_then(|attr| self.module.context().as_i64s(attr)).unwrap_or_default()
    }
}
