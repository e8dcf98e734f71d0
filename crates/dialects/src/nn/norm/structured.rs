//! Normalisations as loops: statistics over some dimensions, then a line for each element.
//!
//! Sums are of the type of arithmetic, `f32` or `f64`, where the kernels sum in `f64`.

use tangram_affine::symbolic::Expr;

use super::axis;
use crate::structured::{
    Binary, Comparison, Loops, Number, Reducing, Stage, Structured, StructuredCx, TensorRef, Unary,
    inverse_root, over, wide,
};

fn epsilon(cx: &StructuredCx<'_>) -> f64 {
    cx.attrs().float("epsilon").unwrap_or(f64::from(1e-5_f32))
}

/// Operand 0, if it has floats.
fn data(cx: &StructuredCx<'_>) -> Option<TensorRef> {
    cx.operand(0).filter(|x| x.element.is_float())
}

/// Operand `i`, one float for each of `channels`.
fn per_channel(cx: &StructuredCx<'_>, i: usize) -> Option<TensorRef> {
    cx.operand(i).filter(|x| x.element.is_float() && x.rank() == 1)
}

/// `(x - mean) * factor + beta` with `factor = gamma / sqrt(variance + epsilon)`.
pub(super) fn batch_norm(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (x, out) = (data(cx).filter(|x| x.rank() >= 2)?, cx.result(0)?);
    let list = (1..5).map(|i| per_channel(cx, i)).collect::<Option<Vec<_>>>()?;
    let [gamma, beta, mean, variance] = &list[..] else { return None };
    let element = wide(x.element);
    let mut loops = Loops::default();
    let mut stage = Stage::over(&gamma.extents);
    let (gamma_here, variance) = (stage.broadcast(gamma)?, stage.broadcast(variance)?);
    let (gamma_here, variance) = (stage.cast(element, gamma_here), stage.cast(element, variance));
    let epsilon = stage.number(variance, epsilon(cx));
    let variance = stage.add(variance, epsilon);
    let root = stage.unary(Unary::Sqrt, variance);
    let factor = stage.div(gamma_here, root);
    let factors = loops.temporary(element, &gamma.extents);
    loops.push(stage.store_parallel(&factors, factor));
    let mut stage = Stage::over(&out.extents);
    let value = stage.broadcast(&x)?;
    let [mean, factor, beta] = [mean, &factors, beta].map(|t| stage.broadcast_over(t, &[1]));
    let [mean, factor, beta] = [mean?, factor?, beta?].map(|x| stage.cast(element, x));
    let centred = stage.sub(value, mean);
    let scaled = stage.mul(centred, factor);
    let value = stage.add(scaled, beta);
    loops.push(stage.store_parallel(&out, value));
    Some(loops.finish())
}

pub(super) fn layer_norm(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (x, out) = (data(cx)?, cx.result(0)?);
    let first = axis(cx.attrs().int("axis").unwrap_or(-1), x.rank()).ok()?;
    let reducing = Reducing::from(first, x.rank());
    let mut loops = Loops::default();
    let (mean, inverse) = reducing.moments(&mut loops, &x, epsilon(cx))?;
    let mut stage = Stage::over(&out.extents);
    let kept = reducing.kept_loops();
    let value = stage.broadcast(&x)?;
    let element = stage.type_of(value);
    let (average, factor) =
        (stage.broadcast_over(&mean, &kept)?, stage.broadcast_over(&inverse, &kept)?);
    let centred = stage.sub(value, average);
    let mut value = stage.mul(centred, factor);
    if cx.has(1) {
        let gamma = stage.broadcast(&cx.operand(1)?)?;
        let gamma = stage.cast(element, gamma);
        value = stage.mul(value, gamma);
    }
    if cx.has(2) {
        let beta = stage.broadcast(&cx.operand(2)?)?;
        let beta = stage.cast(element, beta);
        value = stage.add(value, beta);
    }
    loops.push(stage.store_parallel(&out, value));
    for (i, statistic) in [(1, &mean), (2, &inverse)].into_iter().take(cx.result_count() - 1) {
        let out = cx.result(i)?;
        let mut stage = Stage::over(&statistic.extents);
        let value = stage.broadcast(statistic)?;
        let at = reducing.with_units(&mut stage);
        loops.push(stage.store(&out, &at, value));
    }
    Some(loops.finish())
}

pub(super) fn rms_norm(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (x, out) = (data(cx)?, cx.result(0)?);
    let first = axis(cx.attrs().int("axis").unwrap_or(-1), x.rank()).ok()?;
    let reducing = Reducing::from(first, x.rank());
    let count = reducing.count(&x.extents)?;
    let epsilon = epsilon(cx);
    let mut loops = Loops::default();
    let squares = reducing.sum(&mut loops, &x, |s, x| s.mul(x, x));
    let inverse = loops.map(&squares, |s, sum| {
        let mean = over(s, sum, &count);
        inverse_root(s, mean, epsilon)
    });
    let mut stage = Stage::over(&out.extents);
    let value = stage.broadcast(&x)?;
    let factor = stage.broadcast_over(&inverse, &reducing.kept_loops())?;
    let mut value = stage.mul(value, factor);
    if cx.has(1) {
        let scale = stage.broadcast(&cx.operand(1)?)?;
        let scale = stage.cast(stage.type_of(value), scale);
        value = stage.mul(value, scale);
    }
    loops.push(stage.store_parallel(&out, value));
    Some(loops.finish())
}

/// Statistics of each channel of each batch.
pub(super) fn instance_norm(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (x, out) = (data(cx).filter(|x| x.rank() >= 2)?, cx.result(0)?);
    let (gamma, beta) = (per_channel(cx, 1)?, per_channel(cx, 2)?);
    let reducing = Reducing::from(2, x.rank());
    let mut loops = Loops::default();
    let (mean, inverse) = reducing.moments(&mut loops, &x, epsilon(cx))?;
    let mut stage = Stage::over(&out.extents);
    let value = stage.broadcast(&x)?;
    let element = stage.type_of(value);
    let (average, factor) =
        (stage.broadcast_over(&mean, &[0, 1])?, stage.broadcast_over(&inverse, &[0, 1])?);
    let (gamma, beta) = (stage.broadcast_over(&gamma, &[1])?, stage.broadcast_over(&beta, &[1])?);
    let (gamma, beta) = (stage.cast(element, gamma), stage.cast(element, beta));
    let centred = stage.sub(value, average);
    let scaled = stage.mul(centred, factor);
    let scaled = stage.mul(scaled, gamma);
    let value = stage.add(scaled, beta);
    loops.push(stage.store_parallel(&out, value));
    Some(loops.finish())
}

/// Statistics of each group of channels: loops over groups, then over the channels of one.
pub(super) fn group_norm(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (x, out) = (data(cx).filter(|x| x.rank() >= 2)?, cx.result(0)?);
    let (gamma, beta) = (per_channel(cx, 1)?, per_channel(cx, 2)?);
    let groups = cx.attrs().int("num_groups").filter(|&n| n > 0)?;
    let channels = x.extents[1].as_int().filter(|n| n % groups == 0)?;
    let own = channels / groups;
    let grouped = Grouped { x, groups, own };
    let epsilon = epsilon(cx);
    let count = grouped.count()?;
    let mut loops = Loops::default();
    let element = wide(grouped.x.element);
    let kept = [grouped.x.extents[0].clone(), Expr::int(groups)];
    let sum = loops.temporary(element, &kept);
    let (mut stage, at) = grouped.nest(&kept);
    let value = stage.load(&grouped.x, &at);
    loops.push(stage.store_sum(&sum, value));
    let mean = loops.map(&sum, |s, sum| over(s, sum, &count));
    let (mut stage, at) = grouped.nest(&kept);
    let value = stage.load(&grouped.x, &at);
    let average = stage.broadcast_over(&mean, &[0, 1])?;
    let centred = stage.sub(value, average);
    let square = stage.mul(centred, centred);
    let squares = loops.temporary(element, &kept);
    loops.push(stage.store_sum(&squares, square));
    let inverse = loops.map(&squares, |s, sum| {
        let variance = over(s, sum, &count);
        inverse_root(s, variance, epsilon)
    });
    let mut stage = grouped.whole();
    let at = grouped.index(&mut stage);
    let value = stage.load(&grouped.x, &at);
    let (average, factor) =
        (stage.broadcast_over(&mean, &[0, 1])?, stage.broadcast_over(&inverse, &[0, 1])?);
    // One number for each channel, or for each group.
    let by_group = gamma.extents[0].as_int() == Some(groups) && groups != channels;
    let place = if by_group { stage.at(1) } else { at[1] };
    let (gamma, beta) = (stage.load(&gamma, &[place]), stage.load(&beta, &[place]));
    let (gamma, beta) = (stage.cast(element, gamma), stage.cast(element, beta));
    let centred = stage.sub(value, average);
    let scaled = stage.mul(centred, factor);
    let scaled = stage.mul(scaled, gamma);
    let value = stage.add(scaled, beta);
    loops.push(stage.store(&out, &at, value));
    Some(loops.finish())
}

/// A tensor whose channels are in groups of `own`.
struct Grouped {
    x: TensorRef,
    groups: i64,
    own: i64,
}

impl Grouped {
    fn count(&self) -> Option<Expr> {
        crate::structured::product(&self.x.extents[2..])?.try_mul(&Expr::int(self.own))
    }

    /// Sums over the channels of a group and all places.
    fn nest(&self, kept: &[Expr]) -> (Stage, Vec<tangram_affine::AffineExpr>) {
        let mut stage = Stage::over(kept);
        stage.reduce_over(&Expr::int(self.own));
        for extent in &self.x.extents[2..] {
            stage.reduce_over(extent);
        }
        let at = self.index(&mut stage);
        (stage, at)
    }

    /// Batches, groups, channels of a group, places.
    fn whole(&self) -> Stage {
        let own = [Expr::int(self.groups), Expr::int(self.own)];
        Stage::over(&[&self.x.extents[..1], &own, &self.x.extents[2..]].concat())
    }

    /// The index of an element in either nest.
    fn index(&self, stage: &mut Stage) -> Vec<tangram_affine::AffineExpr> {
        let mut at = stage.all(0..=self.x.rank());
        let (group, channel) = (at[1], at.remove(2));
        let first = stage.times(group, self.own);
        at[1] = stage.sum(first, channel);
        at
    }
}

/// Sums of squares over nearby channels, then a power of them for each element.
pub(super) fn lrn(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (x, out) = (data(cx).filter(|x| x.rank() >= 2)?, cx.result(0)?);
    let size = cx.attrs().int("size").filter(|&n| n > 0)?;
    let number = |name, default: f32| cx.attrs().float(name).unwrap_or(f64::from(default));
    let mut loops = Loops::default();
    let mut stage = Stage::over(&x.extents);
    let near = stage.reduce_over(&Expr::int(size));
    let mut at = stage.all(0..x.rank());
    let near = stage.at(near);
    let channel = stage.sum(at[1], near);
    at[1] = stage.plus(channel, &Expr::int(-((size - 1) / 2)));
    let element = stage.load_or(&x, &at, Number::zero(x.element));
    let square = stage.mul(element, element);
    let squares = loops.temporary(wide(x.element), &x.extents);
    loops.push(stage.store_sum(&squares, square));
    let mut stage = Stage::over(&out.extents);
    let (value, squares) = (stage.broadcast(&x)?, stage.broadcast(&squares)?);
    let factor = stage.number(value, number("alpha", 1e-4) / size as f64);
    let (beta, bias) =
        (stage.number(value, number("beta", 0.75)), stage.number(value, number("bias", 1.0)));
    let scaled = stage.mul(factor, squares);
    let sum = stage.add(bias, scaled);
    let power = stage.binary(Binary::Pow, sum, beta);
    let value = stage.div(value, power);
    loops.push(stage.store_parallel(&out, value));
    Some(loops.finish())
}

/// Divided by a norm that is not 0.
pub(super) fn lp_norm(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (x, out) = (data(cx)?, cx.result(0)?);
    let p = cx.attrs().int("p").unwrap_or(2);
    matches!(p, 1 | 2).then_some(())?;
    let reducing = Reducing::new(&[cx.attrs().int("axis").unwrap_or(-1)], x.rank())?;
    let mut loops = Loops::default();
    let sum = reducing.sum(&mut loops, &x, |s, x| match p {
        1 => s.unary(Unary::Abs, x),
        _ => s.mul(x, x),
    });
    let norm = loops.map(&sum, |s, sum| {
        let norm = if p == 1 { sum } else { s.unary(Unary::Sqrt, sum) };
        let (zero, one) = (s.number(norm, 0.0), s.number(norm, 1.0));
        let none = s.compare(Comparison::Eq, norm, zero);
        s.select(none, one, norm)
    });
    let mut stage = Stage::over(&out.extents);
    let value = stage.broadcast(&x)?;
    let norm = stage.broadcast_over(&norm, &reducing.kept_loops())?;
    let value = stage.div(value, norm);
    loops.push(stage.store_parallel(&out, value));
    Some(loops.finish())
}

/// `(x - mean) / (deviation + 1e-9)`.
pub(super) fn mean_variance(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (x, out) = (data(cx)?, cx.result(0)?);
    let axes = cx.attrs().ints("axes").unwrap_or_else(|| vec![0, 2, 3]);
    let reducing = Reducing::new(&axes, x.rank())?;
    let mut loops = Loops::default();
    let (mean, squares) = reducing.squares(&mut loops, &x)?;
    let count = reducing.count(&x.extents)?;
    let deviation = loops.map(&squares, |s, squares| {
        let variance = over(s, squares, &count);
        let root = s.unary(Unary::Sqrt, variance);
        let least = s.number(root, 1e-9);
        s.add(root, least)
    });
    let mut stage = Stage::over(&out.extents);
    let kept = reducing.kept_loops();
    let value = stage.broadcast(&x)?;
    let (mean, deviation) =
        (stage.broadcast_over(&mean, &kept)?, stage.broadcast_over(&deviation, &kept)?);
    let centred = stage.sub(value, mean);
    let value = stage.div(centred, deviation);
    loops.push(stage.store_parallel(&out, value));
    Some(loops.finish())
}
