//! Joining, cutting and repeating as loops: copies whose indices are shifted.

use tangram_affine::symbolic::{Expr, Facts, Truth};
use tangram_tensor::Tensor;
use tangram_tensor::elementwise::cast;

use super::super::index::only_element;
use super::symbolic_bound;
use crate::structured::{
    Binary, Loops, Number, ScalarId, Stage, Structured, StructuredCx, TensorRef, axis, equal,
    number_of,
};

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
        let start = slice_start(&cx.facts(), x.extents.get(axis)?, begin, step)?;
        let moved = stage.times(from[axis], step);
        from[axis] = stage.plus(moved, &start);
    }
    let value = stage.load_exact(&x, &from);
    Some(Structured::one(stage.store_parallel(&out, value)))
}

/// The first place that a slice takes.
fn slice_start(facts: &Facts, extent: &Expr, begin: &Expr, step: i64) -> Option<Expr> {
    let (Some(n), Some(b)) = (extent.as_int(), begin.as_int()) else {
        return (step > 0).then(|| symbolic_bound(facts, extent, begin, true))?;
    };
    let from_front = if b < 0 { b.saturating_add(n) } else { b };
    let last = if step > 0 { n } else { (n - 1).max(0) };
    Some(Expr::int(from_front.clamp(0, last)))
}

pub(super) fn broadcast_to(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (x, out) = (cx.operand(0)?, cx.result(0)?);
    let loops: Vec<usize> = (0..out.rank()).collect();
    let mut stage = Stage::over(&out.extents);
    let value = stage.broadcast_exact(&x, &loops)?;
    Some(Structured::one(stage.store_parallel(&out, value)))
}

/// For each dimension a loop over copies around that over elements, unless there is one copy.
pub(super) fn tile(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (x, out) = (cx.operand(0)?, cx.result(0)?);
    let copies = cx.exprs("reps", 1)??;
    (copies.len() == x.rank() && out.rank() == x.rank()).then_some(())?;
    let is_open = |(copies, extent): (&Expr, &Expr)| copies.as_int() != Some(1) && !extent.is_int();
    if copies.iter().zip(&x.extents).any(is_open) {
        return Some(tile_by_remainder(&x, &out, &copies));
    }
    let mut extents = Vec::new();
    for (copies, extent) in copies.iter().zip(&x.extents) {
        extents.extend([copies.clone(), extent.clone()]);
    }
    let mut stage = Stage::over(&extents);
    let (mut from, mut to) = (Vec::new(), Vec::new());
    for (i, (copies, extent)) in copies.iter().zip(&x.extents).enumerate() {
        let (copy, element) = (stage.at(2 * i), stage.at(2 * i + 1));
        from.push(element);
        to.push(match (copies.as_int(), extent.as_int()) {
            (Some(1), _) => element,
            (_, extent) => {
                let first = stage.times(copy, extent?);
                stage.sum(first, element)
            }
        });
    }
    let value = stage.load_exact(&x, &from);
    Some(Structured::one(stage.store(&out, &to, value)))
}

/// One nest over the result, as copies of an open extent start at no affine place.
fn tile_by_remainder(x: &TensorRef, out: &TensorRef, copies: &[Expr]) -> Structured {
    let mut stage = Stage::over(&out.extents);
    let mut place = Vec::new();
    for (i, (copies, extent)) in copies.iter().zip(&x.extents).enumerate() {
        let here = stage.index(i);
        place.push(match copies.as_int() {
            Some(1) => here,
            _ => {
                let extent = stage.extent(extent);
                stage.binary(Binary::Rem, here, extent)
            }
        });
    }
    let value = stage.lookup(x, place);
    Structured::one(stage.store_parallel(out, value))
}

/// Reads shifted: a number outside for constants, else at places that the body computes.
pub(super) fn pad(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (x, out) = (cx.operand(0)?, cx.result(0)?);
    let widths = cx.exprs("pad_width", 1)??;
    let axes = match cx.ints("axes", 3)? {
        Some(list) => list.iter().map(|&a| axis(a, x.rank())).collect::<Option<Vec<_>>>()?,
        None => (0..x.rank()).collect(),
    };
    (widths.len() == 2 * axes.len()).then_some(())?;
    // Before and after each dimension.
    let mut around = vec![[Expr::int(0), Expr::int(0)]; x.rank()];
    for (k, &axis) in axes.iter().enumerate() {
        around[axis] = [widths[k].clone(), widths[k + axes.len()].clone()];
    }
    let mode = cx.attrs().text("pad_mode").unwrap_or("constant");
    let mut stage = Stage::over(&out.extents);
    if mode != "constant" {
        let place = around.iter().enumerate();
        let place = place.map(|(i, around)| {
            repeated_around(&mut stage, i, (&x.extents[i], around), (mode, &cx.facts()))
        });
        let place = place.collect::<Option<Vec<_>>>()?;
        let value = stage.lookup(&x, place);
        return Some(Structured::one(stage.store_parallel(&out, value)));
    }
    let mut at = stage.all(0..x.rank());
    for (at, [before, _]) in at.iter_mut().zip(&around) {
        *at = stage.plus(*at, &before.neg()?);
    }
    let value = match padding(cx, &x)? {
        Some(number) => stage.load_exact_or(&x, &at, number),
        None => {
            let element = stage.load_exact_or(&x, &at, Number::zero(x.element));
            let inside = stage.inside_last();
            let outside = only_element(&mut stage, &cx.operand(2)?)?;
            let outside = stage.cast(x.element, outside);
            stage.select(inside, element, outside)
        }
    };
    Some(Structured::one(stage.store_parallel(&out, value)))
}

/// What the tensor is filled with; `Some(None)` if that is computed at run time.
fn padding(cx: &StructuredCx<'_>, x: &TensorRef) -> Option<Option<Number>> {
    let scalar = match (cx.attrs().int("pad_value"), cx.attrs().float("pad_value")) {
        (Some(n), _) => Tensor::scalar(n),
        (None, Some(n)) => Tensor::scalar(n),
        (None, None) if !cx.has(2) => return Some(Some(Number::zero(x.element))),
        (None, None) => match cx.constant(2) {
            Some(tensor) => tensor,
            None => return Some(None),
        },
    };
    number_of(&cast(&scalar, x.element).ok()?).map(Some)
}

/// The coordinate `i` of what stands around a tensor that is repeated there. A crop, of a negative
/// width, comes first, and what is repeated is what it leaves.
fn repeated_around(
    stage: &mut Stage,
    i: usize,
    (extent, around): (&Expr, &[Expr; 2]),
    (mode, facts): (&str, &Facts),
) -> Option<ScalarId> {
    let at = stage.index(i);
    if around.iter().all(|width| width.as_int() == Some(0)) {
        return Some(at);
    }
    // Which of the two a width is has to be known.
    let crop = |width: &Expr| match width.as_int() {
        Some(width) => Some(Expr::int(width.saturating_neg().max(0))),
        None => (facts.nonneg(width) == Truth::True).then(|| Expr::int(0)),
    };
    let [first, last] = [crop(&around[0])?, crop(&around[1])?];
    let left = extent.try_sub(&first)?.try_sub(&last)?;
    // Of nothing, an element that was cropped away would stand there.
    let is_cropped = [&first, &last].iter().any(|crop| crop.as_int() != Some(0));
    if is_cropped && facts.positive(&left) != Truth::True {
        return None;
    }
    let shift = around[0].try_add(&first)?;
    let (shift, first) = (stage.extent(&shift), stage.extent(&first));
    let at = stage.sub(at, shift);
    let at = repeated(stage, at, &left, mode)?;
    Some(stage.add(at, first))
}

/// The place of the element that stands at `at`, which may be outside of the extent.
fn repeated(stage: &mut Stage, at: ScalarId, extent: &Expr, mode: &str) -> Option<ScalarId> {
    let (zero, one) = (stage.int(0), stage.int(1));
    let extent = stage.extent(extent);
    let last = stage.sub(extent, one);
    Some(match mode {
        "edge" => {
            let low = stage.binary(Binary::Max, at, zero);
            stage.binary(Binary::Min, low, last)
        }
        "wrap" => stage.binary(Binary::Mod, at, extent),
        "reflect" => {
            // Back and forth; by a period of 0 for one element, which gives 0.
            let period = stage.add(last, last);
            let forth = stage.binary(Binary::Mod, at, period);
            let back = stage.sub(period, forth);
            stage.binary(Binary::Min, forth, back)
        }
        _ => return None,
    })
}
