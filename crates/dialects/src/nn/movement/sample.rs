//! What is tried for joining, cutting and repeating: parts, bounds and widths at and beyond the ends.

use fastrand::Rng;
use tangram_ir::AttrDef;

use crate::nn::sample::{Call, Extents, Tried, Value, Wanted, ints, number, place};

/// The extents of the others, but along one dimension.
pub(super) fn concatenate(wanted: &Wanted<'_>, rng: &mut Rng) -> Option<Extents> {
    let Some(like) = wanted.other() else { return Some(wanted.any(rng)) };
    let mut like = like.to_vec();
    let axis = wanted.axis.unwrap_or_else(|| rng.i64(0..like.len().max(1) as i64));
    if let Some(n) = place(axis, like.len()).and_then(|at| like.get_mut(at)) {
        *n = wanted.extent(rng);
    }
    Some(like)
}

/// Equal parts, or where to cut.
pub(super) fn split(call: &Call<'_>, attr: &AttrDef, rng: &mut Rng) -> Tried {
    if attr.name != "indices_or_sections" {
        return Tried::Usual;
    }
    let (x, parts) = (call.x(), call.results.max(1));
    let longest = x.iter().copied().max().unwrap_or(1);
    let equal = x.iter().any(|n| n % parts == 0) && rng.bool();
    if equal || parts == 1 || longest < parts {
        return Value::Int(parts as i64).into();
    }
    let mut cuts: Vec<i64> = (1..longest as i64).collect();
    rng.shuffle(&mut cuts);
    cuts.truncate(parts - 1);
    cuts.sort_unstable();
    ints(cuts)
}

/// A slice along one or two dimensions: from either end, beyond both, with steps of either sign.
/// All four lists are as long: how long follows from the operand alone.
pub(super) fn slice(call: &Call<'_>, attr: &AttrDef, rng: &mut Rng) -> Tried {
    let x = call.x();
    let rank = x.len().max(1) as i64;
    let count = if x.len() > 1 && x.iter().sum::<usize>().is_multiple_of(3) { 2 } else { 1 };
    let longest = x.iter().copied().max().unwrap_or(1) as i64;
    let first = rng.i64(0..rank);
    let one = |i: i64| match (call.style, attr.name) {
        // All of a dimension, backwards or as it is.
        (0, "begin") => -1,
        (0, "end") => i64::MIN,
        (0, "strides") => -1,
        (1, "begin") => 0,
        (1, "end") => i64::MAX,
        (1, "strides") => 1,
        (_, "axes") if rng.u8(0..5) == 0 => (first + i) % rank - rank,
        (_, "axes") => (first + i) % rank,
        (_, name) => bound(name, longest, rng),
    };
    ints((0..count).map(one).collect::<Vec<_>>())
}

/// A bound or step by itself.
fn bound(name: &str, longest: i64, rng: &mut Rng) -> i64 {
    let ends = [1, 2, 3, -1, longest, longest + 1, longest - 1, 64, i64::MAX, i64::MIN];
    match name {
        "begin" => *rng.choice(&[0, 0, 0, 1, 1, 2, -1, -2, -longest, longest]).unwrap_or(&0),
        "end" => *rng.choice(&ends).unwrap_or(&2),
        _ => *rng.choice(&[1, 1, 1, 2, 3, 4, 5, -1, -2, -3, -4]).unwrap_or(&1),
    }
}

/// A shape that the operand broadcasts to.
pub(in crate::nn) fn broadcast_to(call: &Call<'_>, attr: &AttrDef, rng: &mut Rng) -> Tried {
    if attr.name != "shape" {
        return Tried::Usual;
    }
    let x = call.x();
    if let Some(want) = call.want.filter(|want| want.len() >= x.len()) {
        return ints(want.iter().map(|&n| n as i64));
    }
    let lead = if rng.bool() { vec![rng.i64(1..=2)] } else { Vec::new() };
    let grown = x.iter().map(|&n| if n == 1 { rng.i64(1..=3) } else { n as i64 });
    ints(lead.into_iter().chain(grown.collect::<Vec<_>>()))
}

pub(super) fn tile(call: &Call<'_>, attr: &AttrDef, rng: &mut Rng) -> Tried {
    if attr.name != "reps" {
        return Tried::Usual;
    }
    ints(call.x().iter().map(|_| rng.i64(1..=3)).collect::<Vec<_>>())
}

/// Widths around spatial dimensions or all, now and then negative ones.
pub(super) fn pad(call: &Call<'_>, attr: &AttrDef, rng: &mut Rng) -> Tried {
    match attr.name {
        "pad_width" => {
            let rank = call.x().len();
            let (spatial, least) = (rng.bool(), if rng.u8(0..4) == 0 { -1 } else { 0 });
            let width = |i| if spatial && i % rank < 2 { 0 } else { rng.i64(least..=2) };
            ints((0..2 * rank).map(width).collect::<Vec<_>>())
        }
        "pad_value" => number(&[0.0, 0.0, 2.0, -1.0], rng),
        "pad_mode" if rng.u8(0..4) > 0 => Value::from("constant").into(),
        _ => Tried::Usual,
    }
}
