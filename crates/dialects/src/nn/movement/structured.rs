//! Joining, cutting and repeating as loops: copies whose indices are shifted.

use tangram_affine::symbolic::Expr;

use super::symbolic_bound;
use crate::structured::{Loops, Stage, Structured, StructuredCx, TensorRef, axis, equal};

/// One nest for each input, which writes its part of the result.
pub(super) fn concatenate(cx: &StructuredCx<'_>) -> Option<Structured> {
    let out = cx.result(0)?;
    let along = axis(cx.attrs().int("axis")?, out.rank())?;
    let mut loops = Loops::default();
    let mut start = Expr::int(0);
    for i in 0..cx.operand_count() {
        let x = cx.operand(i)?;
        fits(&x, &out, along)?;
        let mut stage = Stage::over(&x.extents);
        let from = stage.all(0..x.rank());
        let mut to = from.clone();
        to[along] = stage.plus(to[along], &start);
        let value = stage.load_exact(&x, &from);
        loops.push(stage.store(&out, &to, value));
        start = start.try_add(&x.extents[along])?;
    }
    equal(&start, &out.extents[along]).then(|| loops.finish())
}

/// Whether a part and the whole agree in all dimensions but one.
fn fits(part: &TensorRef, whole: &TensorRef, along: usize) -> Option<()> {
    let same = |i: usize| i == along || equal(&part.extents[i], &whole.extents[i]);
    let agree = part.rank() == whole.rank() && part.element == whole.element;
    (agree && (0..part.rank()).all(same)).then_some(())
}

/// One nest for each part.
pub(super) fn split(cx: &StructuredCx<'_>) -> Option<Structured> {
    let x = cx.operand(0)?;
    let along = axis(cx.attrs().int("axis")?, x.rank())?;
    let parts = (0..cx.result_count()).map(|i| cx.result(i)).collect::<Option<Vec<_>>>()?;
    let extent = |part: &TensorRef| part.extents[along].clone();
    // Of a symbolic extent, the last of some equal parts may be shorter, and more than the last.
    let even = parts.windows(2).all(|pair| equal(&extent(&pair[0]), &extent(&pair[1])));
    let listed = cx.attrs().ints("indices_or_sections").is_some() || cx.has(1);
    (listed || even || x.extents[along].is_int()).then_some(())?;
    let mut loops = Loops::default();
    let mut start = Expr::int(0);
    for part in &parts {
        fits(part, &x, along)?;
        let mut stage = Stage::over(&part.extents);
        let mut from = stage.all(0..x.rank());
        from[along] = stage.plus(from[along], &start);
        let value = stage.load_exact(&x, &from);
        loops.push(stage.store_parallel(part, value));
        start = start.try_add(&extent(part))?;
    }
    equal(&start, &x.extents[along]).then(|| loops.finish())
}

/// One nest that reads at every `strides`-th place.
pub(super) fn slice(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (x, out) = (cx.operand(0)?, cx.result(0)?);
    let begin = cx.exprs("begin", 1)??;
    let axes = match cx.ints("axes", 3)? {
        Some(list) => list.iter().map(|&a| axis(a, x.rank())).collect::<Option<Vec<_>>>()?,
        None => (0..begin.len()).collect(),
    };
    let steps = cx.ints("strides", 4)?.unwrap_or_else(|| vec![1; begin.len()]);
    (axes.len() == begin.len() && steps.len() == begin.len() && out.rank() == x.rank())
        .then_some(())?;
    let mut stage = Stage::over(&out.extents);
    let mut from = stage.all(0..x.rank());
    for ((&axis, begin), &step) in axes.iter().zip(&begin).zip(&steps) {
        let start = slice_start(x.extents.get(axis)?, begin, step)?;
        let moved = stage.times(from[axis], step);
        from[axis] = stage.plus(moved, &start);
    }
    let value = stage.load_exact(&x, &from);
    Some(Structured::one(stage.store_parallel(&out, value)))
}

/// The first place that a slice takes.
fn slice_start(extent: &Expr, begin: &Expr, step: i64) -> Option<Expr> {
    let (Some(n), Some(b)) = (extent.as_int(), begin.as_int()) else {
        return (step > 0).then(|| symbolic_bound(extent, begin, true))?;
    };
    let from_front = if b < 0 { b.saturating_add(n) } else { b };
    let last = if step > 0 { n } else { (n - 1).max(0) };
    Some(Expr::int(from_front.clamp(0, last)))
}
