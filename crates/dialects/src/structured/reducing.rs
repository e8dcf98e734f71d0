//! Reductions over some dimensions of a tensor.

use tangram_affine::AffineExpr;
use tangram_affine::symbolic::Expr;
use tangram_tensor::DType;

use super::{
    Binary, Comparison, Loops, Number, ScalarId, Stage, TensorRef, Unary, axis, product, wide,
};

/// Which dimensions of a tensor are reduced.
pub(crate) struct Reducing {
    reduced: Vec<bool>,
}

impl Reducing {
    /// These dimensions, some counted from the end; `None` if one does not exist.
    pub fn new(axes: &[i64], rank: usize) -> Option<Reducing> {
        let mut reduced = vec![false; rank];
        for &listed in axes {
            reduced[axis(listed, rank)?] = true;
        }
        Some(Reducing { reduced })
    }

    /// All dimensions from `first` on.
    pub fn from(first: usize, rank: usize) -> Reducing {
        Reducing { reduced: (0..rank).map(|i| i >= first).collect() }
    }

    fn places(&self, reduced: bool) -> Vec<usize> {
        (0..self.reduced.len()).filter(|&i| self.reduced[i] == reduced).collect()
    }

    /// The extents of the dimensions that stay.
    pub fn kept(&self, extents: &[Expr]) -> Vec<Expr> {
        self.places(false).into_iter().map(|i| extents[i].clone()).collect()
    }

    /// How many elements become one.
    pub fn count(&self, extents: &[Expr]) -> Option<Expr> {
        let reduced: Vec<Expr> =
            self.places(true).into_iter().map(|i| extents[i].clone()).collect();
        product(&reduced)
    }

    /// A nest that reduces a tensor of these extents: loops over what stays, then over what is
    /// reduced; and the index of an element.
    pub fn nest(&self, extents: &[Expr]) -> (Stage, Vec<AffineExpr>) {
        let mut stage = Stage::over(&self.kept(extents));
        let mut kept = 0..;
        let mut loops = Vec::new();
        for (extent, &reduced) in extents.iter().zip(&self.reduced) {
            loops.extend(if reduced { Some(stage.reduce_over(extent)) } else { kept.next() });
        }
        let at = stage.all(loops);
        (stage, at)
    }

    /// Where a nest over all dimensions finds what they were reduced to.
    pub fn kept_loops(&self) -> Vec<usize> {
        self.places(false)
    }

    /// Where a nest over what stays writes if the reduced dimensions stay with extent 1.
    pub fn with_units(&self, stage: &mut Stage) -> Vec<AffineExpr> {
        let mut kept = 0..;
        let mut index = Vec::new();
        for &reduced in &self.reduced {
            index.extend(if reduced {
                Some(stage.fixed(&Expr::int(0)))
            } else {
                kept.next().map(|i| stage.at(i))
            });
        }
        index
    }

    /// Adds a nest that combines what `lift` makes of the elements of `x`; returns the tensor of
    /// the dimensions that stay, in the type of arithmetic.
    pub fn reduce(
        &self,
        loops: &mut Loops,
        x: &TensorRef,
        (combine, initial): (Binary, Number),
        lift: impl FnOnce(&mut Stage, ScalarId) -> ScalarId,
    ) -> TensorRef {
        let (mut stage, at) = self.nest(&x.extents);
        let element = stage.load(x, &at);
        let value = lift(&mut stage, element);
        let out = loops.temporary(stage.type_of(value), &self.kept(&x.extents));
        loops.push(stage.store_reduced(&out, (combine, initial), value));
        out
    }

    /// [`Reducing::reduce`] by addition.
    pub fn sum(
        &self,
        loops: &mut Loops,
        x: &TensorRef,
        lift: impl FnOnce(&mut Stage, ScalarId) -> ScalarId,
    ) -> TensorRef {
        let zero = Number::zero(wide(x.element));
        self.reduce(loops, x, (Binary::Add, zero), lift)
    }

    /// [`Reducing::reduce`] to the greatest element.
    pub fn greatest(&self, loops: &mut Loops, x: &TensorRef) -> TensorRef {
        let lowest = Number::lowest(wide(x.element));
        self.reduce(loops, x, (Binary::Max, lowest), |_, x| x)
    }

    /// Which of the elements that become one, in row-major order, is that of a nest whose loops
    /// `loops` are over the reduced dimensions.
    pub fn position(
        &self,
        stage: &mut Stage,
        extents: &[Expr],
        loops: impl IntoIterator<Item = usize>,
    ) -> ScalarId {
        let mut position = None;
        for (dimension, own) in self.places(true).into_iter().zip(loops) {
            let own = stage.index(own);
            position = Some(match position {
                None => own,
                Some(outer) => {
                    let extent = stage.extent(&extents[dimension]);
                    let outer = stage.mul(outer, extent);
                    stage.add(outer, own)
                }
            });
        }
        position.unwrap_or_else(|| stage.int(0))
    }

    /// Where a nest over all dimensions has its loops over those that are reduced.
    pub fn reduced_loops(&self) -> Vec<usize> {
        self.places(true)
    }

    /// The first (or `last`) place, in row-major order over the reduced dimensions of `x`, that has
    /// the `best` element, or a NaN; -1 if none has.
    pub fn place(
        &self,
        loops: &mut Loops,
        x: &TensorRef,
        best: &TensorRef,
        last: bool,
    ) -> TensorRef {
        let (mut stage, at) = self.nest(&x.extents);
        let element = stage.load(x, &at);
        let kept = stage.all(0..best.rank());
        let best = stage.load(best, &kept);
        let equal = stage.compare(Comparison::Eq, element, best);
        let nan = stage.compare(Comparison::Ne, element, element);
        let hit = stage.binary(Binary::Or, equal, nan);
        let (by, none) = if last { (Binary::Max, -1) } else { (Binary::Min, i64::MAX) };
        let here = self.position(&mut stage, &x.extents, kept.len()..);
        let nowhere = stage.int(none);
        let place = stage.select(hit, here, nowhere);
        let found = loops.temporary(DType::I64, &self.kept(&x.extents));
        loops.push(stage.store_reduced(&found, (by, Number::Int(DType::I64, none)), place));
        found
    }

    /// The mean of the elements of `x`, and the sum of the squares of their distances from it.
    pub fn squares(&self, loops: &mut Loops, x: &TensorRef) -> Option<(TensorRef, TensorRef)> {
        let count = self.count(&x.extents)?;
        let sum = self.sum(loops, x, |_, x| x);
        let mean = loops.map(&sum, |s, sum| over(s, sum, &count));
        let (mut stage, at) = self.nest(&x.extents);
        let element = stage.load(x, &at);
        let kept = stage.all(0..mean.rank());
        let average = stage.load(&mean, &kept);
        let difference = stage.sub(element, average);
        let square = stage.mul(difference, difference);
        let squares = loops.temporary(mean.element, &mean.extents);
        loops.push(stage.store_sum(&squares, square));
        Some((mean, squares))
    }

    /// The mean of the elements of `x`, and one over the square root of their variance plus
    /// `epsilon`.
    pub fn moments(
        &self,
        loops: &mut Loops,
        x: &TensorRef,
        epsilon: f64,
    ) -> Option<(TensorRef, TensorRef)> {
        let (mean, squares) = self.squares(loops, x)?;
        let count = self.count(&x.extents)?;
        let inverse = loops.map(&squares, |s, squares| {
            let variance = over(s, squares, &count);
            inverse_root(s, variance, epsilon)
        });
        Some((mean, inverse))
    }
}

/// `x / count`.
pub(crate) fn over(s: &mut Stage, x: ScalarId, count: &Expr) -> ScalarId {
    let element = s.type_of(x);
    let count = s.extent(count);
    let mut count = s.cast(element, count);
    if element.is_int() {
        count = s.unary(Unary::Nonzero, count);
    }
    s.div(x, count)
}

/// `1 / sqrt(x + epsilon)`.
pub(crate) fn inverse_root(s: &mut Stage, x: ScalarId, epsilon: f64) -> ScalarId {
    let epsilon = s.number(x, epsilon);
    let shifted = s.add(x, epsilon);
    let root = s.unary(Unary::Sqrt, shifted);
    super::scalars::reciprocal(s, root)
}
