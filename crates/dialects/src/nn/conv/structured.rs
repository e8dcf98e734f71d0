//! Convolutions as loops: batch, group, filter of the group, positions; then places of the window and
//! channel of the group, which are summed over: in this order, the channels fastest.
//!
//! A single group has no loop, and where each group has one channel there is none over channels.

use tangram_affine::AffineExpr;
use tangram_affine::symbolic::Expr;

use super::super::window::{self, NAMES, Names};
use crate::structured::{
    Loops, Number, ScalarId, Stage, Structured, StructuredCx, TensorRef, equal, slides, wide,
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
pub(super) struct Channels {
    /// Filters of a group, where there is a loop over groups.
    pub filters: Option<i64>,
    /// Channels of a group, where there is a loop over them: its extent.
    pub channels: Option<Expr>,
    /// Whether the channel is the filter.
    pub depthwise: bool,
}

impl Channels {
    pub fn new(groups: i64, filters: &Expr, channels: &Expr) -> Option<Channels> {
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
    pub fn extents(&self, batch: &Expr, groups: i64, filters: &Expr) -> Vec<Expr> {
        match self.filters {
            Some(own) => vec![batch.clone(), Expr::int(groups), Expr::int(own)],
            None => vec![batch.clone(), filters.clone()],
        }
    }

    /// The first loop over positions.
    pub fn positions(&self) -> usize {
        if self.filters.is_some() { 3 } else { 2 }
    }

    /// The number of the filter, that of the channel within its group, and that of the channel.
    pub fn index(&self, stage: &mut Stage, channel: Option<usize>) -> Option<[AffineExpr; 3]> {
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
    let places: Vec<usize> = w.extents[2..].iter().map(|k| stage.reduce_over(k)).collect();
    let channel = plan.channels.as_ref().map(|extent| stage.reduce_over(extent));
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
    let (element, inside) = if padded {
        let element = stage.load_exact_or(x, &x_at, Number::zero(x.element));
        (element, Some(stage.inside_last()))
    } else {
        (stage.load_exact(x, &x_at), None)
    };
    let weight = stage.load_exact(w, &w_at);
    let value = term(&mut stage, &Factors { x: element, w: weight, inside, filter })?;
    loops.push(stage.store_sum_at(out, &out_at, value));
    Some(())
}
