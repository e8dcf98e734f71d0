//! What is tried for images: patches, boxes, sizes to less and to more.

use fastrand::Rng;
use tangram_ir::{AttrDef, AttrKind};

use crate::nn::sample::{Call, Extents, Tried, Value, Wanted};

/// Affine maps of two or three dimensions.
pub(super) fn affine_grid(wanted: &Wanted<'_>, rng: &mut Rng) -> Option<Extents> {
    let spatial = rng.usize(2..=3);
    Some(vec![rng.usize(1..=wanted.cap), spatial, spatial + 1])
}

/// The size of the grid.
pub(super) fn grid_size(maps: &[usize], index: usize, rng: &mut Rng) -> Option<Vec<i64>> {
    let (1, &[batch, spatial, ..]) = (index, maps) else { return None };
    let channels_and_spatial = (0..=spatial).map(|_| rng.i64(1..=3));
    Some([batch as i64].into_iter().chain(channels_and_spatial).collect())
}

pub(super) fn col2im(wanted: &Wanted<'_>, rng: &mut Rng) -> Option<Extents> {
    Some(vec![rng.usize(1..=2), 4 * rng.usize(1..=2), rng.usize(1..=wanted.cap)])
}

/// Windows of 2 by 2, so that there are as many as there are columns.
pub(super) fn patches(columns: &[usize], index: usize, rng: &mut Rng) -> Option<Vec<i64>> {
    let long = *columns.get(2)? as i64 + 1;
    match index {
        1 if rng.bool() => Some(vec![2, long]),
        1 => Some(vec![long, 2]),
        2 => Some(vec![2, 2]),
        _ => None,
    }
}

/// Four corners of each box, and its score in each class.
pub(super) fn boxes(wanted: &Wanted<'_>, rng: &mut Rng) -> Option<Extents> {
    Some(match (wanted.index, wanted.of(0)) {
        (0, _) => vec![rng.usize(1..=2), rng.usize(1..=wanted.cap.max(2)), 4],
        (1, Some(&[batch, boxes, _])) => vec![batch, rng.usize(1..=2), boxes],
        _ => Extents::new(),
    })
}

/// One of the two attributes says how large the result is; both to less and to more.
pub(super) fn resized(call: &Call<'_>, attr: &AttrDef, rng: &mut Rng) -> Tried {
    match attr.name {
        "scales" | "sizes" if (attr.name == "scales") == call.style.is_multiple_of(2) => {
            Tried::Absent
        }
        "scales" | "sizes" => {
            Value::List(call.x().iter().map(|&n| grown(attr.kind, n, rng)).collect()).into()
        }
        _ => Tried::Usual,
    }
}

/// How large an extent becomes, or how many times as large.
fn grown(kind: AttrKind, n: usize, rng: &mut Rng) -> Value {
    if let AttrKind::Floats = kind {
        // Most dimensions keep their extents.
        let factors = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 0.5, 1.5, 3.0, 0.75];
        return Value::Float(*rng.choice(&factors).unwrap_or(&1.0));
    }
    Value::Int(if rng.bool() { n as i64 } else { rng.i64(1..=2 * n.max(1) as i64) })
}
