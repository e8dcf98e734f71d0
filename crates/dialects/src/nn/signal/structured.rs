//! Fourier transforms of real numbers as products.
//!
//! Each frequency is a sum over the points, and so the transform of points of known number is a
//! product with a matrix of cosines and sines, which is the same in every run. It takes more
//! multiplications than the fast algorithm, but runs in the tiles of products.

use std::f64::consts::FRAC_PI_2;

use tangram_affine::AffineExpr;
use tangram_affine::symbolic::Expr;
use tangram_tensor::DType;

use crate::structured::{
    Binary, Loops, Stage, Structured, StructuredCx, TensorRef, Unary, axis, equal,
};

/// More points are left to the fast algorithm, which takes fewer steps for them.
const MOST: i64 = 2048;

/// The matrix of a transform: a row for each point, and the two parts of each frequency side by side.
struct Waves {
    table: TensorRef,
    points: i64,
    /// Numbers of a row.
    numbers: i64,
}

impl Waves {
    /// Adds the matrix for the first `points` points of a transform of `length`; each row times the
    /// element of `window`, if there is one.
    ///
    /// At point `j`, number `2 * k + p` is the cosine of `2 pi j k / length`, a quarter of a turn
    /// further for the imaginary part. Whole turns are left out of the product of integers.
    fn new(
        loops: &mut Loops,
        element: DType,
        [points, length, bins]: [i64; 3],
        window: Option<&TensorRef>,
    ) -> Option<Waves> {
        let is_plain = matches!(element, DType::F32 | DType::F64);
        (is_plain && points > 0 && length <= MOST && bins > 0).then_some(())?;
        let numbers = 2 * bins;
        let table = loops.temporary(element, &[Expr::int(points), Expr::int(numbers)]);
        let mut stage = Stage::over(&table.extents);
        let (point, number) = (stage.index(0), stage.index(1));
        let (two, four, turn) = (stage.int(2), stage.int(4), stage.int(length));
        let (bin, part) = (stage.div(number, two), stage.binary(Binary::Mod, number, two));
        let steps = stage.mul(point, bin);
        let steps = stage.binary(Binary::Mod, steps, turn);
        let (quarters, further) = (stage.mul(steps, four), stage.mul(part, turn));
        let quarters = stage.add(quarters, further);
        let quarters = stage.cast(DType::F64, quarters);
        let scale = stage.number(quarters, FRAC_PI_2 / length as f64);
        let angle = stage.mul(quarters, scale);
        let mut wave = stage.unary(Unary::Cos, angle);
        if let Some(window) = window {
            let at = stage.at(0);
            let weight = stage.load_exact(window, &[at]);
            let weight = stage.cast(DType::F64, weight);
            wave = stage.mul(wave, weight);
        }
        let wave = stage.cast(element, wave);
        loops.push(stage.store_parallel(&table, wave));
        Some(Waves { table, points, numbers })
    }

    /// Adds the product with what `place` finds of `x`: of a stage, given the iterator of the points.
    /// Its result has the extents `others`, then the numbers of a row.
    fn product(
        &self,
        loops: &mut Loops,
        (x, others): (&TensorRef, &[Expr]),
        place: impl FnOnce(&mut Stage, AffineExpr) -> Vec<AffineExpr>,
    ) -> TensorRef {
        let extents: Vec<Expr> = others.iter().cloned().chain([Expr::int(self.numbers)]).collect();
        let sums = loops.temporary(self.table.element, &extents);
        let mut stage = Stage::over(&extents);
        let point = stage.reduce_over(&Expr::int(self.points));
        let (point, number) = (stage.at(point), stage.at(others.len()));
        let place = place(&mut stage, point);
        let (value, wave) = (stage.load(x, &place), stage.load(&self.table, &[point, number]));
        let product = stage.mul(value, wave);
        loops.push(stage.store_sum(&sums, product));
        sums
    }
}

/// Writes `sums` to `out`, where frequencies are dimension `along`, and their two parts the last one.
fn apart(loops: &mut Loops, sums: &TensorRef, out: &TensorRef, along: usize) {
    let last = out.rank() - 1;
    let mut stage = Stage::over(&out.extents);
    let mut place = stage.all((0..last).filter(|&at| at != along));
    let (bin, part) = (stage.at(along), stage.at(last));
    let first = stage.times(bin, 2);
    place.push(stage.sum(first, part));
    let value = stage.load_exact(sums, &place);
    loops.push(stage.store_parallel(out, value));
}

/// The one number in operand `i`, if it is a constant.
fn number(cx: &StructuredCx<'_>, i: usize) -> Option<i64> {
    cx.constant(i)?.i64s().ok()?.first().copied()
}

/// The transform of real numbers along a dimension, forwards.
pub(super) fn dft(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (x, out) = (cx.operand(0)?, cx.result(0)?);
    let last = x.rank().checked_sub(1)?;
    let along = match cx.attrs().int("axis") {
        Some(listed) => listed,
        None if cx.has(2) => number(cx, 2)?,
        None => -2,
    };
    let along = axis(along, x.rank())?;
    let is_real = x.extents[last].as_int() == Some(1) && along < last;
    (is_real && !cx.attrs().flag("inverse")).then_some(())?;
    let points = x.extents[along].as_int()?;
    let length = if cx.has(1) { number(cx, 1)? } else { points };
    let bins = out.extents[along].as_int()?;
    let mut loops = Loops::default();
    let waves = Waves::new(&mut loops, x.element, [points.min(length), length, bins], None)?;
    let others = (0..last).filter(|&at| at != along).map(|at| x.extents[at].clone());
    let others: Vec<Expr> = others.collect();
    let sums = waves.product(&mut loops, (&x, &others), |stage, point| {
        let mut place = stage.all(0..others.len());
        place.insert(along, point);
        place.push(stage.fixed(&Expr::int(0)));
        place
    });
    apart(&mut loops, &sums, &out, along);
    Some(loops.finish())
}

/// The transforms of frames of real numbers that start `frame_step` apart.
pub(super) fn stft(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (x, out) = (cx.operand(0)?, cx.result(0)?);
    let is_real = x.rank() == 2 || (x.rank() == 3 && x.extents[2].as_int() == Some(1));
    (is_real && out.rank() == 4).then_some(())?;
    let step = number(cx, 1).filter(|&step| step > 0)?;
    let window = if cx.has(2) { Some(cx.operand(2)?) } else { None };
    let length = match (cx.has(3), &window) {
        (true, _) => number(cx, 3)?,
        (false, Some(window)) => window.extents.first()?.as_int()?,
        (false, None) => return None,
    };
    let fits =
        |window: &TensorRef| window.rank() == 1 && equal(&window.extents[0], &Expr::int(length));
    window.iter().all(fits).then_some(())?;
    let bins = out.extents[2].as_int()?;
    let mut loops = Loops::default();
    let waves = Waves::new(&mut loops, x.element, [length, length, bins], window.as_ref())?;
    let others = [out.extents[0].clone(), out.extents[1].clone()];
    let sums = waves.product(&mut loops, (&x, &others), |stage, point| {
        let (batch, frame) = (stage.at(0), stage.at(1));
        let start = stage.times(frame, step);
        let mut place = vec![batch, stage.sum(start, point)];
        if x.rank() == 3 {
            place.push(stage.fixed(&Expr::int(0)));
        }
        place
    });
    apart(&mut loops, &sums, &out, 2);
    Some(loops.finish())
}
