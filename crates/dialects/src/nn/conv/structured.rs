//! Convolutions as loops: batch, group, filter of the group, positions; then channel of the group
//! and places of the window, which are summed over.
//!
//! A single group has no loop, and where each group has one channel there is none over channels.

use tangram_affine::AffineExpr;
use tangram_affine::symbolic::Expr;
use tangram_tensor::linear::{AutoPad, WindowParams};

use super::super::window::{self, NAMES, Names};
use crate::structured::{
    Binary, Comparison, Loops, Number, ScalarId, Slide, Stage, Structured, StructuredCx, TensorRef,
    equal, slides, wide,
};

pub(super) fn conv(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (x, w, out) = (cx.operand(0)?, cx.operand(1)?, cx.result(0)?);
    (x.element == w.element && x.element.is_float()).then_some(())?;
    let mut loops = Loops::default();
    let sum = loops.accumulator(&out, wide(x.element));
    let convolution = Convolution { x, w, out: sum.clone() };
    convolve(cx, &mut loops, &convolution, &NAMES, multiplied)?;
    loops.convert(&sum, &out);
    Some(loops.finish())
}

fn multiplied(stage: &mut Stage, factors: &Factors) -> Option<ScalarId> {
    let element = wide(stage.type_of(factors.x));
    let (x, w) = (stage.cast(element, factors.x), stage.cast(element, factors.w));
    Some(stage.mul(x, w))
}

/// The tensors of a convolution; `out` has the type of the sum.
pub(in crate::nn) struct Convolution {
    pub x: TensorRef,
    pub w: TensorRef,
    pub out: TensorRef,
}

/// What is multiplied: elements in the types of their tensors.
pub(in crate::nn) struct Factors {
    /// The element of the data, 0 in the padding.
    pub x: ScalarId,
    /// That of the filter.
    pub w: ScalarId,
    /// Whether there is an element; nothing where there always is.
    pub inside: Option<ScalarId>,
    /// The number of the filter.
    pub filter: AffineExpr,
}

/// How groups, filters and channels are loops.
struct Channels {
    /// Filters of a group, where there is a loop over groups.
    filters: Option<i64>,
    /// Channels of a group, where there is a loop over them: its extent.
    channels: Option<Expr>,
    /// Whether the channel is the filter.
    depthwise: bool,
}

impl Channels {
    fn new(groups: i64, filters: &Expr, channels: &Expr) -> Option<Channels> {
        (groups > 0).then_some(())?;
        let one = channels.as_int() == Some(1);
        let own = filters.exact_div(&Expr::int(groups))?;
        let depthwise = one && groups > 1 && own.as_int() == Some(1);
        let split = groups > 1 && !depthwise;
        // An index needs numbers as factors.
        let filters = if split { Some(own.as_int()?) } else { None };
        if split {
            channels.as_int()?;
        }
        Some(Channels { filters, channels: (!one).then(|| channels.clone()), depthwise })
    }

    /// Batch, groups, filters.
    fn extents(&self, batch: &Expr, groups: i64, filters: &Expr) -> Vec<Expr> {
        match self.filters {
            Some(own) => vec![batch.clone(), Expr::int(groups), Expr::int(own)],
            None => vec![batch.clone(), filters.clone()],
        }
    }

    /// The first loop over positions.
    fn positions(&self) -> usize {
        if self.filters.is_some() { 3 } else { 2 }
    }

    /// The number of the filter, that of the channel within its group, and that of the channel.
    fn index(&self, stage: &mut Stage, channel: Option<usize>) -> Option<[AffineExpr; 3]> {
        let own = match channel {
            Some(channel) => stage.at(channel),
            None => stage.fixed(&Expr::int(0)),
        };
        let Some(filters) = self.filters else {
            let filter = stage.at(1);
            return Some([filter, own, if self.depthwise { filter } else { own }]);
        };
        let (group, last) = (stage.at(1), stage.at(2));
        let count = self.channels.as_ref().map_or(Some(1), Expr::as_int)?;
        let (first, start) = (stage.times(group, filters), stage.times(group, count));
        Some([stage.sum(first, last), own, stage.sum(start, own)])
    }
}

/// Adds the nest of a convolution whose terms `term` makes.
pub(in crate::nn) fn convolve(
    cx: &StructuredCx<'_>,
    loops: &mut Loops,
    Convolution { x, w, out }: &Convolution,
    names: &Names,
    term: impl FnOnce(&mut Stage, &Factors) -> Option<ScalarId>,
) -> Option<()> {
    let rank =
        x.rank().checked_sub(2).filter(|_| w.rank() == x.rank() && out.rank() == x.rank())?;
    let groups = cx.attrs().int("groups").unwrap_or(1);
    let all = w.extents[1].try_mul(&Expr::int(groups))?;
    equal(&all, &x.extents[1]).then_some(())?;
    let windows = slides(
        &window::params(cx.attrs(), names),
        [&x.extents[2..], &w.extents[2..], &out.extents[2..]],
        false,
    )?;
    let plan = Channels::new(groups, &w.extents[0], &w.extents[1])?;
    let mut extents = plan.extents(&out.extents[0], groups, &w.extents[0]);
    extents.extend_from_slice(&out.extents[2..]);
    let mut stage = Stage::over(&extents);
    let channel = plan.channels.as_ref().map(|extent| stage.reduce_over(extent));
    let places: Vec<usize> = w.extents[2..].iter().map(|k| stage.reduce_over(k)).collect();
    let [filter, own, from] = plan.index(&mut stage, channel)?;
    let first = plan.positions();
    let (positions, taps) = (stage.all(first..first + rank), stage.all(places));
    let batch = stage.at(0);
    let (mut x_at, mut w_at, mut out_at) =
        (vec![batch, from], vec![filter, own], vec![batch, filter]);
    for (i, window) in windows.iter().enumerate() {
        x_at.push(window.index(&mut stage, positions[i], taps[i])?);
    }
    w_at.extend(taps);
    out_at.extend(positions);
    let padded = windows.iter().any(|window| window.padded);
    let (element, inside) = match padded {
        true => {
            let element = stage.load_exact_or(x, &x_at, Number::zero(x.element));
            (element, Some(stage.inside_last()))
        }
        false => (stage.load_exact(x, &x_at), None),
    };
    let weight = stage.load_exact(w, &w_at);
    let value = term(&mut stage, &Factors { x: element, w: weight, inside, filter })?;
    loops.push(stage.store_sum_at(out, &out_at, value));
    Some(())
}

/// The gradient of a convolution as a sum for each element of the result: over the places of the
/// window from which a whole number of steps leads to an element of the data.
pub(super) fn transposed(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (x, w, out) = (cx.operand(0)?, cx.operand(1)?, cx.result(0)?);
    (x.element == w.element && x.element.is_float()).then_some(())?;
    let mut loops = Loops::default();
    let sum = loops.accumulator(&out, wide(x.element));
    spread(cx, &mut loops, &Convolution { x, w, out: sum.clone() })?;
    loops.convert(&sum, &out);
    Some(loops.finish())
}

fn spread(
    cx: &StructuredCx<'_>,
    loops: &mut Loops,
    Convolution { x, w, out }: &Convolution,
) -> Option<()> {
    let rank =
        x.rank().checked_sub(2).filter(|_| w.rank() == x.rank() && out.rank() == x.rank())?;
    let groups = cx.attrs().int("groups").filter(|&n| n > 0).unwrap_or(1);
    equal(&w.extents[0], &x.extents[1]).then_some(())?;
    let channels = x.extents[1].exact_div(&Expr::int(groups))?;
    let windows = grown(cx, x, w, out)?;
    let plan = Channels::new(groups, &out.extents[1], &channels)?;
    let mut extents = plan.extents(&out.extents[0], groups, &out.extents[1]);
    extents.extend_from_slice(&out.extents[2..]);
    let mut stage = Stage::over(&extents);
    let channel = plan.channels.as_ref().map(|extent| stage.reduce_over(extent));
    let places: Vec<usize> = w.extents[2..].iter().map(|k| stage.reduce_over(k)).collect();
    let [filter, _, from] = plan.index(&mut stage, channel)?;
    let first = plan.positions();
    let own = match plan.filters {
        Some(_) => stage.at(2),
        None if plan.depthwise => stage.fixed(&Expr::int(0)),
        None => filter,
    };
    let (positions, taps) = (stage.all(first..first + rank), stage.all(places.clone()));
    let batch = stage.at(0);
    let (mut x_at, mut w_at, mut out_at) =
        (vec![batch, from], vec![from, own], vec![batch, filter]);
    let mut whole = None;
    for (i, window) in windows.iter().enumerate() {
        let back = stage.times(taps[i], -window.dilation);
        let place = stage.sum(positions[i], back);
        let place = stage.plus(place, &window.before);
        x_at.push(stage.quotient(place, window.stride));
        if window.stride > 1 {
            let divides = divides(&mut stage, window, first + i, places[i]);
            whole = Some(match whole {
                Some(others) => stage.binary(Binary::And, others, divides),
                None => divides,
            });
        }
    }
    w_at.extend(taps);
    out_at.extend(positions);
    let element = stage.load_or(x, &x_at, Number::zero(x.element));
    let weight = stage.load(w, &w_at);
    let mut term = stage.mul(element, weight);
    if let Some(whole) = whole {
        let zero = stage.number(term, 0.0);
        term = stage.select(whole, term, zero);
    }
    loops.push(stage.store_sum_at(out, &out_at, term));
    Some(())
}

/// Whether the place before the division by the stride is a multiple of it.
fn divides(stage: &mut Stage, window: &Slide, position: usize, place: usize) -> ScalarId {
    let (position, place) = (stage.index(position), stage.index(place));
    let [dilation, stride, zero] = [window.dilation, window.stride, 0].map(|n| stage.int(n));
    let before = stage.extent(&window.before);
    let back = stage.mul(place, dilation);
    let start = stage.add(position, before);
    let distance = stage.sub(start, back);
    let rest = stage.binary(Binary::Mod, distance, stride);
    stage.compare(Comparison::Eq, rest, zero)
}

/// The windows over the result; there is one for each element of the data.
fn grown(
    cx: &StructuredCx<'_>,
    x: &TensorRef,
    w: &TensorRef,
    out: &TensorRef,
) -> Option<Vec<Slide>> {
    let params = window::params(cx.attrs(), &NAMES);
    let rank = x.rank() - 2;
    let free = WindowParams { auto_pad: AutoPad::Valid, ..params.clone() };
    let spatial = [&out.extents[2..], &w.extents[2..], &x.extents[2..]];
    let mut windows = slides(&free, spatial, false)?;
    let extra = cx.attrs().ints("output_padding").unwrap_or_default();
    let target = cx.attrs().ints("output_shape").is_some_and(|list| !list.is_empty());
    for (i, window) in windows.iter_mut().enumerate() {
        let size = &x.extents[i + 2];
        let steps = size.try_add(&Expr::int(-1))?.try_mul(&Expr::int(window.stride))?;
        let gaps = window.kernel.try_add(&Expr::int(-1))?.try_mul(&Expr::int(window.dilation))?;
        let span = gaps.try_add(&Expr::int(1 + extra.get(i).copied().unwrap_or(0)))?;
        let covered = steps.try_add(&span)?;
        let surplus = |kept: &Expr| Expr::max(&covered.try_sub(kept)?, &Expr::int(0));
        window.before = match params.auto_pad {
            auto if target => front(auto, &surplus(&out.extents[i + 2])?)?,
            AutoPad::Valid => Expr::int(0),
            AutoPad::NotSet => {
                (params.pads.is_empty() || params.pads.len() == 2 * rank).then_some(())?;
                Expr::int(params.pads.get(i).copied().unwrap_or(0))
            }
            auto => front(auto, &surplus(&size.try_mul(&Expr::int(window.stride))?)?)?,
        };
    }
    Some(windows)
}

/// The part of an amount of padding that goes before.
fn front(auto: AutoPad, total: &Expr) -> Option<Expr> {
    let smaller = total.floor_div(&Expr::int(2))?;
    if auto == AutoPad::SameUpper { Some(smaller) } else { total.try_sub(&smaller) }
}
