//! Transposed convolutions as loops.
//!
//! ```text
//! out[n][o][y] = sum over c, t of x[n][c][(y + before - t) / stride] * w[c][o][t]
//!                where the division leaves nothing
//! ```
//!
//! All elements whose positions leave the same remainder by the stride take the same places of the
//! window, so each *phase* is a convolution of its own, with a part of the window back to front
//! (the sub-pixel convolution of W. Shi et al., "Is the deconvolution layer the same as a
//! convolutional layer?", 2016). With two steps and a window of four, `before` of one:
//!
//! ```text
//! out[2 q]     = x[q - 1] * w[3] + x[q] * w[1]
//! out[2 q + 1] = x[q] * w[2] + x[q + 1] * w[0]
//! ```
//!
//! Windows with gaps and strides of many phases are one sum with a condition.

use tangram_affine::AffineExpr;
use tangram_affine::symbolic::Expr;
use tangram_tensor::linear::{AutoPad, WindowParams};

use super::super::window::{self, NAMES};
use super::structured::{Channels, Convolution};
use crate::structured::{
    Binary, Comparison, Generic, Loops, Number, ScalarId, Slide, Stage, Structured, StructuredCx,
    TensorRef, equal, slides, wide,
};

/// More phases are not taken apart: each is code of its own.
const MOST_PHASES: usize = 16;

/// The gradient of a convolution by its input.
pub(super) fn transposed(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (x, w, out) = (cx.operand(0)?, cx.operand(1)?, cx.result(0)?);
    (x.element == w.element && x.element.is_float()).then_some(())?;
    let mut loops = Loops::default();
    let sum = loops.accumulator(&out, wide(x.element));
    let gradient = Gradient::of(cx, Convolution { x, w, out: sum.clone() })?;
    match gradient.phases() {
        Some(phases) => {
            for phase in phases {
                loops.push(gradient.phase(&phase)?);
            }
        }
        None => loops.push(gradient.whole()?),
    }
    loops.convert(&sum, &out);
    Some(loops.finish())
}

/// A transposed convolution, its attributes read.
struct Gradient {
    x: TensorRef,
    w: TensorRef,
    out: TensorRef,
    groups: i64,
    plan: Channels,
    windows: Vec<Slide>,
}

/// The positions of one axis that leave one remainder by the stride.
#[derive(Clone)]
struct Phase {
    /// The remainder: the first position.
    first: i64,
    /// The number of positions.
    count: Expr,
    /// The number of places of the window that reach them.
    taps: i64,
    /// The last of these places, which comes first.
    last_tap: i64,
    /// The element that the first position begins with.
    start: i64,
    /// Whether all elements are there.
    inside: bool,
}

/// The loops of a stage over positions and places.
struct Loop {
    stage: Stage,
    batch: AffineExpr,
    /// The number of the filter, that within its group, and the channel.
    filter: AffineExpr,
    own: AffineExpr,
    from: AffineExpr,
    /// The loops over positions, and over places of the window.
    positions: Vec<usize>,
    places: Vec<usize>,
}

impl Gradient {
    fn of(cx: &StructuredCx<'_>, convolution: Convolution) -> Option<Gradient> {
        let Convolution { x, w, out } = convolution;
        x.rank().checked_sub(2).filter(|_| w.rank() == x.rank() && out.rank() == x.rank())?;
        let groups = cx.attrs().int("groups").filter(|&n| n > 0).unwrap_or(1);
        equal(&w.extents[0], &x.extents[1]).then_some(())?;
        let channels = x.extents[1].exact_div(&Expr::int(groups))?;
        let windows = grown(cx, &x, &w, &out)?;
        let plan = Channels::new(groups, &out.extents[1], &channels)?;
        Some(Gradient { x, w, out, groups, plan, windows })
    }

    /// The loops over these positions and places.
    fn loops(&self, positions: &[Expr], places: &[Expr]) -> Option<Loop> {
        let plan = &self.plan;
        let mut extents = plan.extents(&self.out.extents[0], self.groups, &self.out.extents[1]);
        extents.extend_from_slice(positions);
        let mut stage = Stage::over(&extents);
        let channel = plan.channels.as_ref().map(|extent| stage.reduce_over(extent));
        let places: Vec<usize> = places.iter().map(|extent| stage.reduce_over(extent)).collect();
        let [filter, _, from] = plan.index(&mut stage, channel)?;
        let own = match plan.filters {
            Some(_) => stage.at(2),
            None if plan.depthwise => stage.fixed(&Expr::int(0)),
            None => filter,
        };
        let first = plan.positions();
        let positions = (first..first + positions.len()).collect();
        let batch = stage.at(0);
        Some(Loop { stage, batch, filter, own, from, positions, places })
    }

    /// Every phase: a choice of one for each axis. `None` where the sum stays whole.
    fn phases(&self) -> Option<Vec<Vec<Phase>>> {
        let mut all: Vec<Vec<Phase>> = vec![Vec::new()];
        for (i, window) in self.windows.iter().enumerate() {
            let axis = phases(window, &self.x.extents[i + 2], &self.out.extents[i + 2])?;
            let with = |one: &Phase| {
                all.iter()
                    .map(|others| [&others[..], std::slice::from_ref(one)].concat())
                    .collect::<Vec<_>>()
            };
            all = axis.iter().flat_map(with).collect();
            if all.len() > MOST_PHASES {
                return None;
            }
        }
        Some(all)
    }

    /// The convolution that makes the elements of a phase.
    fn phase(&self, phase: &[Phase]) -> Option<Generic> {
        let counts: Vec<Expr> = phase.iter().map(|axis| axis.count.clone()).collect();
        let taps: Vec<Expr> = phase.iter().map(|axis| Expr::int(axis.taps)).collect();
        let Loop { mut stage, batch, filter, own, from, positions, places } =
            self.loops(&counts, &taps)?;
        let (positions, places) = (stage.all(positions), stage.all(places));
        let (mut x_at, mut w_at, mut out_at) =
            (vec![batch, from], vec![from, own], vec![batch, filter]);
        for (i, (axis, window)) in phase.iter().zip(&self.windows).enumerate() {
            let element = stage.sum(positions[i], places[i]);
            x_at.push(stage.plus(element, &Expr::int(axis.start)));
            let back = stage.times(places[i], -window.stride);
            w_at.push(stage.plus(back, &Expr::int(axis.last_tap)));
            let position = stage.times(positions[i], window.stride);
            out_at.push(stage.plus(position, &Expr::int(axis.first)));
        }
        let element = if phase.iter().all(|axis| axis.inside) {
            stage.load(&self.x, &x_at)
        } else {
            stage.load_or(&self.x, &x_at, Number::zero(self.x.element))
        };
        let weight = stage.load(&self.w, &w_at);
        let term = stage.mul(element, weight);
        Some(stage.store_sum_at(&self.out, &out_at, term))
    }

    /// One sum for each element: over the places of the window from which a whole number of steps
    /// leads to an element of the data.
    fn whole(&self) -> Option<Generic> {
        let (positions, places) = (&self.out.extents[2..], &self.w.extents[2..]);
        let Loop { mut stage, batch, filter, own, from, positions, places } =
            self.loops(positions, places)?;
        let taps = stage.all(places.clone());
        let at = stage.all(positions.clone());
        let (mut x_at, mut w_at, mut out_at) =
            (vec![batch, from], vec![from, own], vec![batch, filter]);
        let mut whole = None;
        for (i, window) in self.windows.iter().enumerate() {
            let back = stage.times(taps[i], -window.dilation);
            let place = stage.sum(at[i], back);
            let place = stage.plus(place, &window.before);
            x_at.push(stage.quotient(place, window.stride));
            if window.stride > 1 {
                let divides = divides(&mut stage, window, positions[i], places[i]);
                whole = Some(match whole {
                    Some(others) => stage.binary(Binary::And, others, divides),
                    None => divides,
                });
            }
        }
        w_at.extend(taps);
        out_at.extend(at);
        let element = stage.load_or(&self.x, &x_at, Number::zero(self.x.element));
        let weight = stage.load(&self.w, &w_at);
        let mut term = stage.mul(element, weight);
        if let Some(whole) = whole {
            let zero = stage.number(term, 0.0);
            term = stage.select(whole, term, zero);
        }
        Some(stage.store_sum_at(&self.out, &out_at, term))
    }
}

/// The phases of an axis with `data` elements and `out` positions.
fn phases(window: &Slide, data: &Expr, out: &Expr) -> Option<Vec<Phase>> {
    let (stride, kernel) = (window.stride, window.kernel.as_int()?);
    let before = window.before.as_int()?;
    let fits = window.dilation == 1 && stride >= 1 && before >= 0 && kernel >= stride;
    fits.then_some(())?;
    let phase = |first: i64| {
        let count = out.try_add(&Expr::int(stride - 1 - first))?.floor_div(&Expr::int(stride))?;
        let tap = first.checked_add(before)? % stride;
        let taps = (kernel - tap + stride - 1) / stride;
        let start = (first + before - tap) / stride - (taps - 1);
        let room = data.try_sub(&count)?.try_sub(&Expr::int(start + taps - 1))?;
        let inside = start >= 0 && room.as_int().is_some_and(|room| room >= 0);
        let last_tap = tap + stride * (taps - 1);
        Some(Phase { first, count, taps, last_tap, start, inside })
    };
    (0..stride.min(MOST_PHASES as i64 + 1)).map(phase).collect()
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
