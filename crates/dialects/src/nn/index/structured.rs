//! Picking by index as loops: places that the body computes, or affine ones where the indices are
//! constants that go up by equal steps.

use tangram_affine::AffineExpr;
use tangram_affine::symbolic::Expr;
use tangram_tensor::{DType, Tensor};

use crate::structured::{
    Binary, Comparison, Loops, Number, Reducing, ScalarId, Stage, Structured, StructuredCx,
    TensorRef, axis, number_of, wide,
};

fn along(cx: &StructuredCx<'_>, rank: usize) -> Option<usize> {
    axis(cx.attrs().int("axis").unwrap_or(0), rank)
}

/// An index of a dimension of extent `extent`, counted from the front; `i64`.
fn from_front(stage: &mut Stage, index: ScalarId, extent: &Expr) -> ScalarId {
    let index = stage.cast(DType::I64, index);
    let (zero, extent) = (stage.int(0), stage.extent(extent));
    let negative = stage.compare(Comparison::Lt, index, zero);
    let wrapped = stage.add(index, extent);
    stage.select(negative, wrapped, index)
}

pub(super) fn take(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (data, indices, out) = (cx.operand(0)?, cx.operand(1)?, cx.result(0)?);
    let at = along(cx, data.rank())?;
    let inner = at + indices.rank();
    let mut stage = Stage::over(&out.extents);
    let steady = cx.constant(1).and_then(|indices| steady(&indices, &data.extents[at]));
    if let Some((first, step)) = steady {
        let mut from = stage.all((0..at).chain(at..=at).chain(inner..out.rank()));
        let place = match indices.rank() {
            0 => stage.fixed(&Expr::int(0)),
            _ => stage.at(at),
        };
        let place = stage.times(place, step);
        from[at] = stage.plus(place, &first);
        from.truncate(data.rank());
        let value = stage.load_exact(&data, &from);
        return Some(Structured::one(stage.store_parallel(&out, value)));
    }
    let index = stage.all(at..inner);
    let index = stage.load_exact(&indices, &index);
    let index = from_front(&mut stage, index, &data.extents[at]);
    let mut place: Vec<ScalarId> = (0..at).map(|i| stage.index(i)).collect();
    place.push(index);
    place.extend((inner..out.rank()).map(|i| stage.index(i)));
    let value = stage.lookup(&data, place);
    Some(Structured::one(stage.store_parallel(&out, value)))
}

/// The first index and the distance of any two, of at most rank 1.
fn steady(indices: &Tensor, extent: &Expr) -> Option<(Expr, i64)> {
    let list = indices.i64s().ok().filter(|_| indices.rank() <= 1)?;
    let (&first, step) = match &list[..] {
        [first] => (first, 0),
        [first, second, ..] => (first, second.checked_sub(*first)?),
        [] => return None,
    };
    let mut pairs = list.windows(2);
    let even = pairs.all(|pair| pair[1].checked_sub(pair[0]) == Some(step));
    // What changes its sign on the way is not affine once it is counted from the front.
    let one_side = list.iter().all(|&i| i >= 0) || list.iter().all(|&i| i < 0);
    (even && one_side).then_some(())?;
    let first = Expr::int(first);
    let first = if list[0] < 0 { first.try_add(extent)? } else { first };
    Some((first, step))
}

pub(super) fn gather_elements(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (data, indices, out) = (cx.operand(0)?, cx.operand(1)?, cx.result(0)?);
    let at = along(cx, data.rank())?;
    (indices.rank() == data.rank()).then_some(())?;
    let mut stage = Stage::over(&out.extents);
    let loops = stage.all(0..out.rank());
    let index = stage.load_exact(&indices, &loops);
    let mut place: Vec<ScalarId> = (0..out.rank()).map(|i| stage.index(i)).collect();
    place[at] = from_front(&mut stage, index, &data.extents[at]);
    let value = stage.lookup(&data, place);
    Some(Structured::one(stage.store_parallel(&out, value)))
}

pub(super) fn gather_nd(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (data, indices, out) = (cx.operand(0)?, cx.operand(1)?, cx.result(0)?);
    let batch = usize::try_from(cx.attrs().int("batch_dims").unwrap_or(0)).ok()?;
    let outer = indices.rank().checked_sub(1)?;
    let depth = usize::try_from(indices.extents[outer].as_int()?).ok()?;
    let looked_up = batch.checked_add(depth).filter(|&n| n <= data.rank() && batch <= outer)?;
    let mut stage = Stage::over(&out.extents);
    let mut place: Vec<ScalarId> = (0..batch).map(|i| stage.index(i)).collect();
    for component in 0..depth {
        let mut at = stage.all(0..outer);
        at.push(stage.fixed(&Expr::int(component as i64)));
        let index = stage.load_exact(&indices, &at);
        place.push(from_front(&mut stage, index, &data.extents[batch + component]));
    }
    let rest = data.rank() - looked_up;
    place.extend((outer..outer + rest).map(|i| stage.index(i)));
    let value = stage.lookup(&data, place);
    Some(Structured::one(stage.store_parallel(&out, value)))
}

/// The greatest or least element along an axis, then the first or last place that has it or a NaN.
pub(super) fn extreme(cx: &StructuredCx<'_>, greatest: bool) -> Option<Structured> {
    let (x, out) = (cx.operand(0).filter(|x| x.element != DType::Bool)?, cx.result(0)?);
    let at = along(cx, x.rank())?;
    let reducing = Reducing::new(&[at as i64], x.rank())?;
    let last = cx.attrs().flag("select_last_index");
    let element = wide(x.element);
    let combine = if greatest {
        (Binary::Max, Number::lowest(element))
    } else {
        (Binary::Min, Number::highest(element))
    };
    let mut loops = Loops::default();
    let best = reducing.reduce(&mut loops, &x, combine, |_, x| x);
    let place = reducing.place(&mut loops, &x, &best, last);
    let mut stage = Stage::over(&place.extents);
    let value = stage.broadcast(&place)?;
    let to = if cx.attrs().bool("keepdims").unwrap_or(true) {
        reducing.with_units(&mut stage)
    } else {
        stage.all(0..out.rank())
    };
    loops.push(stage.store(&out, &to, value));
    Some(loops.finish())
}

pub(super) fn one_hot(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (indices, values, out) = (cx.operand(0)?, cx.operand(2)?, cx.result(0)?);
    let at = axis(cx.attrs().int("axis").unwrap_or(-1), out.rank())?;
    (values.rank() == 1).then_some(())?;
    let mut stage = Stage::over(&out.extents);
    let loops = stage.all((0..out.rank()).filter(|&i| i != at));
    let index = stage.load_exact(&indices, &loops);
    let index = from_front(&mut stage, index, &out.extents[at]);
    let here = stage.index(at);
    let hit = stage.compare(Comparison::Eq, index, here);
    let value = |stage: &mut Stage, i: i64| {
        let place: AffineExpr = stage.fixed(&Expr::int(i));
        stage.load_exact(&values, &[place])
    };
    let (off, on) = (value(&mut stage, 0), value(&mut stage, 1));
    let value = stage.select(hit, on, off);
    Some(Structured::one(stage.store_parallel(&out, value)))
}

/// The constant that operand `i` is, if it has one element.
pub(in crate::nn) fn constant_number(cx: &StructuredCx<'_>, i: usize) -> Option<Number> {
    cx.constant(i).filter(|tensor: &Tensor| tensor.len() == 1).and_then(|t| number_of(&t))
}

/// The only element of a tensor, wherever a nest is.
pub(in crate::nn) fn only_element(stage: &mut Stage, tensor: &TensorRef) -> Option<ScalarId> {
    let single = tensor.extents.iter().all(|extent| extent.as_int() == Some(1));
    single.then(|| {
        let at = vec![stage.fixed(&Expr::int(0)); tensor.rank()];
        stage.load_exact(tensor, &at)
    })
}

/// The cache, or an update where one is written: the last that comes round to a place.
pub(super) fn tensor_scatter(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (cache, update, out) = (cx.operand(0)?, cx.operand(1)?, cx.result(0)?);
    let at = axis(cx.attrs().int("axis").unwrap_or(-2), cache.rank()).filter(|&at| at > 0)?;
    let (size, steps) = (&cache.extents[at], update.extents.get(at)?);
    (update.rank() == cache.rank() && steps.as_int() != Some(0)).then_some(())?;
    let mut stage = Stage::over(&out.extents);
    let loops = stage.all(0..cache.rank());
    let old = stage.load_exact(&cache, &loops);
    let (here, zero, one) = (stage.index(at), stage.int(0), stage.int(1));
    let start = if cx.has(2) {
        let starts = cx.operand(2).filter(|starts| starts.rank() == 1)?;
        let start = stage.load_exact(&starts, &loops[..1]);
        stage.cast(DType::I64, start)
    } else {
        zero
    };
    let (size, steps) = (stage.extent(size), stage.extent(steps));
    let mut distance = stage.sub(here, start);
    let last = stage.sub(steps, one);
    if cx.attrs().text("mode") == Some("circular") {
        let first = stage.binary(Binary::Mod, distance, size);
        let left = stage.sub(last, first);
        let left = stage.binary(Binary::Max, left, zero);
        let rounds = stage.div(left, size);
        let later = stage.mul(rounds, size);
        distance = stage.add(first, later);
    }
    let before = stage.compare(Comparison::Ge, distance, zero);
    let within = stage.compare(Comparison::Lt, distance, steps);
    let written = stage.binary(Binary::And, before, within);
    let place = stage.binary(Binary::Max, distance, zero);
    let place = stage.binary(Binary::Min, place, last);
    let mut places: Vec<ScalarId> = (0..cache.rank()).map(|i| stage.index(i)).collect();
    places[at] = place;
    let new = stage.lookup(&update, places);
    (stage.type_of(new) == stage.type_of(old)).then_some(())?;
    let value = stage.select(written, new, old);
    Some(Structured::one(stage.store_parallel(&out, value)))
}
