//! Pools as loops: batch, channels and positions, then the places of the window.

use tangram_affine::AffineExpr;
use tangram_affine::symbolic::Expr;
use tangram_tensor::DType;

use super::super::window::{self, NAMES};
use crate::structured::{
    Binary, Comparison, Loops, Number, Reducing, ScalarId, Slide, Stage, Structured, StructuredCx,
    TensorRef, Unary, over, slides, wide,
};

/// A pool: what it reads, and its windows.
struct Pool {
    x: TensorRef,
    out: TensorRef,
    windows: Vec<Slide>,
}

impl Pool {
    fn new(cx: &StructuredCx<'_>) -> Option<Pool> {
        let (x, out) = (cx.operand(0)?, cx.result(0)?);
        let kernel: Vec<Expr> = cx.attrs().ints("pool_size")?.into_iter().map(Expr::int).collect();
        (x.rank() == kernel.len() + 2 && out.rank() == x.rank()).then_some(())?;
        let ceil = cx.attrs().flag("ceil_mode");
        let params = window::params(cx.attrs(), &NAMES);
        let windows = slides(&params, [&x.extents[2..], &kernel, &out.extents[2..]], ceil)?;
        Some(Pool { x, out, windows })
    }

    fn is_padded(&self) -> bool {
        self.windows.iter().any(|window| window.padded)
    }

    /// A nest over the places of all windows, and the index of an element.
    fn nest(&self) -> Option<(Stage, Vec<AffineExpr>)> {
        let mut stage = Stage::over(&self.out.extents);
        let mut at = stage.all(0..2);
        for (i, window) in self.windows.iter().enumerate() {
            let place = stage.reduce_over(&window.kernel);
            let (position, place) = (stage.at(i + 2), stage.at(place));
            at.push(window.index(&mut stage, position, place)?);
        }
        Some((stage, at))
    }

    fn load(&self, stage: &mut Stage, at: &[AffineExpr], outside: Number) -> ScalarId {
        if self.is_padded() { stage.load_or(&self.x, at, outside) } else { stage.load(&self.x, at) }
    }

    /// Adds up what `lift` makes of the elements of each window.
    fn sum(
        &self,
        loops: &mut Loops,
        lift: impl FnOnce(&mut Stage, ScalarId) -> ScalarId,
    ) -> Option<TensorRef> {
        let (mut stage, at) = self.nest()?;
        let element = self.load(&mut stage, &at, Number::zero(self.x.element));
        let term = lift(&mut stage, element);
        let sum = loops.temporary(stage.type_of(term), &self.out.extents);
        loops.push(stage.store_sum(&sum, term));
        Some(sum)
    }
}

pub(super) fn max_pool(cx: &StructuredCx<'_>) -> Option<Structured> {
    let pool = Pool::new(cx)?;
    let (mut stage, at) = pool.nest()?;
    let lowest = Number::lowest(pool.x.element);
    let element = pool.load(&mut stage, &at, lowest);
    let mut loops = Loops::default();
    let element_type = stage.type_of(element);
    let best = loops.accumulator(&pool.out, element_type);
    let greatest = (Binary::Max, Number::lowest(element_type));
    loops.push(stage.store_reduced(&best, greatest, element));
    loops.convert(&best, &pool.out);
    if cx.result_count() > 1 {
        let columns = cx.attrs().int("storage_order") == Some(1);
        places(&pool, &mut loops, &best, &cx.result(1)?, columns)?;
    }
    Some(loops.finish())
}

/// Adds the nests that find where in the flattened data the first greatest elements are.
fn places(
    pool: &Pool,
    loops: &mut Loops,
    best: &TensorRef,
    out: &TensorRef,
    columns: bool,
) -> Option<()> {
    let (mut stage, at) = pool.nest()?;
    let element = pool.load(&mut stage, &at, Number::lowest(pool.x.element));
    let inside = stage.inside_last();
    let positions = stage.all(0..pool.out.rank());
    let top = stage.load(best, &positions);
    let equal = stage.compare(Comparison::Eq, element, top);
    let nan = stage.compare(Comparison::Ne, element, element);
    let hit = stage.binary(Binary::Or, equal, nan);
    let hit = stage.binary(Binary::And, hit, inside);
    let coordinates = coordinates(pool, &mut stage)?;
    let rows = flattened(&mut stage, &coordinates, &pool.x.extents);
    let none = stage.int(i64::MAX);
    let place = stage.select(hit, rows, none);
    let first = loops.temporary(DType::I64, &out.extents);
    loops.push(stage.store_reduced(&first, (Binary::Min, Number::highest(DType::I64)), place));
    let mut stage = Stage::over(&out.extents);
    let first = stage.broadcast(&first)?;
    let (none, nowhere) = (stage.int(i64::MAX), stage.int(-1));
    let found = stage.compare(Comparison::Ne, first, none);
    let place = if columns { by_columns(pool, &mut stage, first)? } else { first };
    let place = stage.select(found, place, nowhere);
    loops.push(stage.store_parallel(out, place));
    Some(())
}

/// The index of the element that a nest over the places of windows reads, as scalars.
fn coordinates(pool: &Pool, stage: &mut Stage) -> Option<Vec<ScalarId>> {
    let mut list = vec![stage.index(0), stage.index(1)];
    for (i, window) in pool.windows.iter().enumerate() {
        let (position, place) = (stage.index(i + 2), stage.index(pool.out.rank() + i));
        let (stride, dilation) = (stage.int(window.stride), stage.int(window.dilation));
        let (start, step) = (stage.mul(position, stride), stage.mul(place, dilation));
        let padded = stage.add(start, step);
        let before = stage.extent(&window.before);
        list.push(stage.sub(padded, before));
    }
    Some(list)
}

/// The row-major place of an element.
fn flattened(stage: &mut Stage, at: &[ScalarId], extents: &[Expr]) -> ScalarId {
    let mut place = stage.int(0);
    for (&at, extent) in at.iter().zip(extents) {
        let extent = stage.extent(extent);
        let scaled = stage.mul(place, extent);
        place = stage.add(scaled, at);
    }
    place
}

/// The place of an element of a channel with the first spatial dimension fastest, from the
/// row-major one.
fn by_columns(pool: &Pool, stage: &mut Stage, mut place: ScalarId) -> Option<ScalarId> {
    let spatial = &pool.x.extents[2..];
    let mut digits = Vec::new();
    for extent in spatial.iter().rev() {
        let extent = stage.extent(extent);
        digits.push((stage.binary(Binary::Rem, place, extent), extent));
        place = stage.div(place, extent);
    }
    for (digit, extent) in digits {
        let scaled = stage.mul(place, extent);
        place = stage.add(scaled, digit);
    }
    Some(place)
}

pub(super) fn avg_pool(cx: &StructuredCx<'_>) -> Option<Structured> {
    let pool = Pool::new(cx)?;
    let include = cx.attrs().flag("count_include_pad");
    pool.x.element.is_float().then_some(())?;
    let mut loops = Loops::default();
    let sum = pool.sum(&mut loops, |_, x| x)?;
    let mut stage = Stage::over(&pool.out.extents);
    let sum = stage.broadcast(&sum)?;
    let (mut count, mut inside) = (stage.int(1), stage.int(1));
    for (i, window) in pool.windows.iter().enumerate() {
        let input = &pool.x.extents[i + 2];
        let own = taps(&mut stage, i + 2, window, (&Expr::int(0), input))?;
        inside = stage.mul(inside, own);
        let counted = if include {
            let end = input.try_add(&window.after)?;
            taps(&mut stage, i + 2, window, (&window.before.neg()?, &end))?
        } else {
            own
        };
        count = stage.mul(count, counted);
    }
    let count = stage.cast(stage.type_of(sum), count);
    let mean = stage.div(sum, count);
    let value = if pool.is_padded() {
        let nothing = stage.int(0);
        let zero = stage.number(mean, 0.0);
        let empty = stage.compare(Comparison::Eq, inside, nothing);
        stage.select(empty, zero, mean)
    } else {
        mean
    };
    loops.push(stage.store_parallel(&pool.out, value));
    Some(loops.finish())
}

/// How many places of a window lie from `begin` on and before `end`.
fn taps(
    stage: &mut Stage,
    position: usize,
    window: &Slide,
    (begin, end): (&Expr, &Expr),
) -> Option<ScalarId> {
    let kernel = stage.extent(&window.kernel);
    if !window.padded {
        return Some(kernel);
    }
    let (index, stride) = (stage.index(position), stage.int(window.stride));
    let first = stage.mul(index, stride);
    // Places up to `bound`: the distance, rounded up to whole steps.
    let mut below = |bound: &Expr| {
        let bound = stage.extent(&bound.try_add(&window.before)?);
        let distance = stage.sub(bound, first);
        let zero = stage.int(0);
        let distance = stage.binary(Binary::Max, distance, zero);
        let (gap, dilation) = (stage.int(window.dilation - 1), stage.int(window.dilation));
        let raised = stage.add(distance, gap);
        let steps = stage.div(raised, dilation);
        Some(stage.binary(Binary::Min, steps, kernel))
    };
    let (past, before) = (below(end)?, below(begin)?);
    Some(stage.sub(past, before))
}

/// `|x|^p` and its inverse, as far as they are not the identity.
fn powered(stage: &mut Stage, x: ScalarId, p: i64) -> ScalarId {
    let magnitude = stage.unary(Unary::Abs, x);
    match p {
        1 => magnitude,
        2 => stage.mul(x, x),
        _ => {
            let exponent = stage.number(x, p as f64);
            stage.binary(Binary::Pow, magnitude, exponent)
        }
    }
}

fn rooted(stage: &mut Stage, x: ScalarId, p: i64) -> ScalarId {
    match p {
        1 => x,
        2 => stage.unary(Unary::Sqrt, x),
        _ => {
            let exponent = stage.number(x, 1.0 / p as f64);
            stage.binary(Binary::Pow, x, exponent)
        }
    }
}

fn exponent(cx: &StructuredCx<'_>) -> Option<i64> {
    let p = cx.attrs().int("p").unwrap_or(2);
    (p > 0 && p <= i64::from(i32::MAX)).then_some(p)
}

pub(super) fn lp_pool(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (pool, p) = (Pool::new(cx)?, exponent(cx)?);
    pool.x.element.is_float().then_some(())?;
    let mut loops = Loops::default();
    let sum = pool.sum(&mut loops, |s, x| powered(s, x, p))?;
    let mut stage = Stage::over(&pool.out.extents);
    let sum = stage.broadcast(&sum)?;
    let value = rooted(&mut stage, sum, p);
    loops.push(stage.store_parallel(&pool.out, value));
    Some(loops.finish())
}

/// All dimensions but the first two, to one element each.
fn whole(
    cx: &StructuredCx<'_>,
    combine: Option<(Binary, Number)>,
    lift: impl FnOnce(&mut Stage, ScalarId) -> ScalarId,
    finish: impl FnOnce(&mut Stage, ScalarId, &Expr) -> ScalarId,
) -> Option<Structured> {
    let (x, out) = (cx.operand(0)?, cx.result(0)?);
    (x.rank() >= 2).then_some(())?;
    let reducing = Reducing::from(2, x.rank());
    let combine = combine.unwrap_or((Binary::Add, Number::zero(wide(x.element))));
    let mut loops = Loops::default();
    let reduced = reducing.reduce(&mut loops, &x, combine, lift);
    let mut stage = Stage::over(&reduced.extents);
    let value = stage.broadcast(&reduced)?;
    let value = finish(&mut stage, value, &reducing.count(&x.extents)?);
    let to = reducing.with_units(&mut stage);
    loops.push(stage.store(&out, &to, value));
    Some(loops.finish())
}

pub(super) fn global_max(cx: &StructuredCx<'_>) -> Option<Structured> {
    let lowest = Number::lowest(wide(cx.operand(0)?.element));
    (cx.operand(0)?.element != DType::Bool).then_some(())?;
    whole(cx, Some((Binary::Max, lowest)), |_, x| x, |_, x, _| x)
}

pub(super) fn global_avg(cx: &StructuredCx<'_>) -> Option<Structured> {
    cx.operand(0)?.element.is_float().then_some(())?;
    whole(cx, None, |_, x| x, over)
}

pub(super) fn global_lp(cx: &StructuredCx<'_>) -> Option<Structured> {
    let p = exponent(cx)?;
    cx.operand(0)?.element.is_float().then_some(())?;
    whole(cx, None, |s, x| powered(s, x, p), |s, x, _| rooted(s, x, p))
}
