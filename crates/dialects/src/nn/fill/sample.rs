//! What is tried for rearrangements: extents that blocks divide.

use fastrand::Rng;
use tangram_ir::AttrDef;

use crate::nn::movement::sample::broadcast_to;
use crate::nn::sample::{Call, Extents, Role, Tried, Value, Wanted, free};

/// Blocks of any side, of more than one channel: a single one has no order.
pub(super) fn depth_to_space(wanted: &Wanted<'_>, rng: &mut Rng) -> Option<Extents> {
    let mut out = free(rng, wanted.cap.min(3), Some(4));
    out[1] = *rng.choice(&[4, 8, 9, 12, 16, 18, 32]).unwrap_or(&4);
    Some(out)
}

pub(super) fn space_to_depth(wanted: &Wanted<'_>, rng: &mut Rng) -> Option<Extents> {
    let mut out = free(rng, wanted.cap.min(3), Some(4));
    let side = rng.usize(1..=4);
    out[2..].iter_mut().for_each(|n| *n = side * rng.usize(1..=2));
    Some(out)
}

/// Sides that divide the number of channels.
pub(super) fn channel_blocks(call: &Call<'_>, attr: &AttrDef, rng: &mut Rng) -> Tried {
    let channels = call.x().get(1).copied();
    block(attr, |n| channels.map_or(n <= 3, |channels| channels % (n * n) == 0), rng)
}

/// Sides that divide the spatial extents.
pub(super) fn spatial_blocks(call: &Call<'_>, attr: &AttrDef, rng: &mut Rng) -> Tried {
    let spatial = call.x().get(2..).unwrap_or_default();
    block(attr, |n| spatial.iter().all(|extent| extent % n == 0), rng)
}

/// The side of a block that fits, most of the time more than 1.
fn block(attr: &AttrDef, fits: impl Fn(usize) -> bool, rng: &mut Rng) -> Tried {
    if attr.name != "block_size" {
        return Tried::Usual;
    }
    let sides: Vec<usize> = (2..=4).filter(|&n| fits(n)).collect();
    let side = if rng.u8(0..6) == 0 { 1 } else { rng.choice(&sides).map_or(1, |&n| n as i64) };
    Value::Int(side).into()
}

pub(super) const LENGTHS: &[Role] = &[Role::Data, Role::Places];

/// As many lengths as the batch has members.
pub(super) fn lengths(wanted: &Wanted<'_>, rng: &mut Rng) -> Option<Extents> {
    if wanted.index != 1 {
        return None;
    }
    let like = wanted.of(0).unwrap_or_default();
    Some(vec![like.get(rng.usize(0..=1)).copied().unwrap_or(1)])
}

/// The one element that a tensor is filled with; its extents as for `nn.broadcast_to`.
pub(super) fn full(call: &Call<'_>, attr: &AttrDef, rng: &mut Rng) -> Tried {
    if attr.name == "value" {
        return Value::Element.into();
    }
    broadcast_to(call, attr, rng)
}
