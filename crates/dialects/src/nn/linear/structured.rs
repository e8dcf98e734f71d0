//! Products of matrices as loops over batches, rows, columns, and what is summed.

use tangram_affine::AffineExpr;
use tangram_affine::symbolic::Expr;
use tangram_tensor::DType;

use crate::structured::{
    Loops, ScalarId, Stage, Structured, StructuredCx, TensorRef, axis, equal, wide,
};

/// The dimensions of an operand of a product: batches, then what the loops over rows, columns and
/// the sum stand for.
pub(in crate::nn) struct Side {
    tensor: TensorRef,
    batches: usize,
    /// `true` for the dimension that is summed over.
    matrix: Vec<bool>,
}

impl Side {
    /// An operand with the summed dimension at place `at` of the last two.
    pub fn new(tensor: TensorRef, at: usize) -> Side {
        let matrix = match tensor.rank() {
            1 => vec![true],
            _ => (0..2).map(|i| i == at).collect(),
        };
        Side { batches: tensor.rank().saturating_sub(2), tensor, matrix }
    }

    /// The extent that is summed over.
    fn depth(&self) -> Option<&Expr> {
        let at = self.matrix.iter().position(|&summed| summed)?;
        self.tensor.extents.get(self.batches + at)
    }

    /// The other extent, if it has one.
    pub fn extent(&self) -> Option<&Expr> {
        let at = self.matrix.iter().position(|&summed| !summed)?;
        self.tensor.extents.get(self.batches + at)
    }

    /// The index at the loop `own` of its other dimension, and `k` of the sum.
    fn index(
        &self,
        stage: &mut Stage,
        batches: &[usize],
        own: usize,
        k: usize,
    ) -> Option<Vec<AffineExpr>> {
        let extents = self.tensor.extents[..self.batches].to_vec();
        let outer = TensorRef { extents, ..self.tensor.clone() };
        let mut index = stage.broadcast_index(&outer, batches)?;
        let matrix = self.matrix.iter().map(|&summed| if summed { k } else { own });
        index.extend(stage.all(matrix));
        Some(index)
    }
}

/// Adds up in `out` what `term` makes of elements of `a` and `b`, in the types of their tensors.
pub(in crate::nn) fn contract(
    loops: &mut Loops,
    a: &Side,
    b: &Side,
    out: &TensorRef,
    term: impl FnOnce(&mut Stage, ScalarId, ScalarId) -> Option<ScalarId>,
) -> Option<()> {
    let depth = a.depth().filter(|depth| b.depth().is_some_and(|other| equal(depth, other)))?;
    let own = usize::from(a.extent().is_some()) + usize::from(b.extent().is_some());
    let batches: Vec<usize> = (0..out.rank().checked_sub(own)?).collect();
    let mut stage = Stage::over(&out.extents);
    let k = stage.reduce_over(depth);
    let (row, column) = (batches.len(), out.rank().saturating_sub(1));
    let (a_at, b_at) =
        (a.index(&mut stage, &batches, row, k)?, b.index(&mut stage, &batches, column, k)?);
    let (x, y) = (stage.load_exact(&a.tensor, &a_at), stage.load_exact(&b.tensor, &b_at));
    let term = term(&mut stage, x, y)?;
    loops.push(stage.store_sum(out, term));
    Some(())
}

/// The product of two numbers of one type, in the type of its arithmetic.
fn times(stage: &mut Stage, x: ScalarId, y: ScalarId) -> Option<ScalarId> {
    let element = stage.type_of(x);
    (element == stage.type_of(y) && element != DType::Bool).then_some(())?;
    let (x, y) = (stage.cast(wide(element), x), stage.cast(wide(element), y));
    Some(stage.mul(x, y))
}

/// A product of operands 0 and 1; each is summed over the given place of its last two dimensions.
fn product(cx: &StructuredCx<'_>, places: [usize; 2]) -> Option<Structured> {
    let (a, b, out) = (cx.operand(0)?, cx.operand(1)?, cx.result(0)?);
    let mut loops = Loops::default();
    let sum = loops.accumulator(&out, wide(a.element));
    contract(&mut loops, &Side::new(a, places[0]), &Side::new(b, places[1]), &sum, times)?;
    loops.convert(&sum, &out);
    Some(loops.finish())
}

pub(super) fn dense(cx: &StructuredCx<'_>) -> Option<Structured> {
    product(cx, [1, 1])
}

pub(super) fn matmul(cx: &StructuredCx<'_>) -> Option<Structured> {
    product(cx, [1, 0])
}

pub(super) fn batch_matmul(cx: &StructuredCx<'_>) -> Option<Structured> {
    product(cx, [1, 1])
}

pub(super) fn gemm(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (a, b, out) = (cx.operand(0)?, cx.operand(1)?, cx.result(0)?);
    let factor = |name| cx.attrs().float(name).unwrap_or(1.0);
    let (alpha, beta) = (factor("alpha"), factor("beta"));
    // The kernel scales integers in `f64`, and saturates.
    (a.element.is_float() || (alpha, beta) == (1.0, 1.0)).then_some(())?;
    let place = |name, plain: usize| if cx.attrs().flag(name) { 1 - plain } else { plain };
    let (a, b) = (Side::new(a, place("transpose_a", 1)), Side::new(b, place("transpose_b", 0)));
    let plain = alpha == 1.0 && !cx.has(2);
    let mut loops = Loops::default();
    let element = wide(out.element);
    let sum = if plain {
        loops.accumulator(&out, element)
    } else {
        loops.temporary(element, &out.extents)
    };
    contract(&mut loops, &a, &b, &sum, times)?;
    if plain {
        loops.convert(&sum, &out);
        return Some(loops.finish());
    }
    let mut stage = Stage::over(&out.extents);
    let mut value = stage.broadcast(&sum)?;
    if alpha != 1.0 {
        let alpha = stage.number(value, alpha);
        value = stage.mul(value, alpha);
    }
    if cx.has(2) {
        let mut c = stage.broadcast(&cx.operand(2).filter(|c| c.element == out.element)?)?;
        if beta != 1.0 {
            let beta = stage.number(c, beta);
            c = stage.mul(c, beta);
        }
        value = stage.add(value, c);
    }
    loops.push(stage.store_parallel(&out, value));
    Some(loops.finish())
}

pub(super) fn bias_add(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (x, bias, out) = (cx.operand(0)?, cx.operand(1)?, cx.result(0)?);
    let along = axis(cx.attrs().int("axis").unwrap_or(1), x.rank())?;
    (bias.rank() == 1 && x.element == bias.element).then_some(())?;
    let mut stage = Stage::over(&out.extents);
    let (x, bias) = (stage.broadcast(&x)?, stage.broadcast_over(&bias, &[along])?);
    let sum = stage.add(x, bias);
    Some(Structured::one(stage.store_parallel(&out, sum)))
}
