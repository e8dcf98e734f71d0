//! What is tried for attention: heads that divide, steps that agree.

use fastrand::Rng;
use tangram_ir::AttrDef;

use crate::nn::sample::{Call, Extents, Tried, Value, Wanted, broadcasting, free};

/// Queries, keys and values of `nn.attention`, most of the time with heads as a dimension; a mask.
pub(super) fn attention(wanted: &Wanted<'_>, rng: &mut Rng) -> Option<Extents> {
    let with_heads = |rng: &mut Rng| rng.u8(0..4) > 0;
    (wanted.index < 4).then(|| heads(wanted, with_heads, rng))
}

/// Queries, keys and values with heads beside each other, and a mask.
pub(in crate::nn) fn multi_head(wanted: &Wanted<'_>, rng: &mut Rng) -> Option<Extents> {
    (wanted.index < 4).then(|| heads(wanted, |_| false, rng))
}

/// As many steps of all three.
pub(super) fn linear(wanted: &Wanted<'_>, rng: &mut Rng) -> Option<Extents> {
    if wanted.index >= 3 {
        return None;
    }
    let mut out = heads(wanted, |_| false, rng);
    if let (Some(&steps), 1) = (wanted.of(0).and_then(|q| q.get(1)), wanted.index) {
        out[1] = steps;
    }
    Some(out)
}

/// As many steps of the first as there happen to be, heads of the others that divide those of the
/// first; then a mask. Of rank 3, one or two heads beside each other.
fn heads(wanted: &Wanted<'_>, with_heads: impl Fn(&mut Rng) -> bool, rng: &mut Rng) -> Extents {
    let cap = wanted.cap;
    let steps = |rng: &mut Rng| rng.usize(1..=cap.clamp(2, 5));
    let Some(q) = wanted.of(0).filter(|q| (3..=4).contains(&q.len())) else {
        return queries(cap, if with_heads(rng) { 4 } else { 3 }, rng);
    };
    let keys = wanted.of(1).filter(|k| k.len() == q.len());
    let (batch, last) = (q[0], q.len() - 1);
    match (wanted.index, last) {
        (1, 2) => vec![batch, steps(rng), q[2]],
        (1, _) => {
            let divisors: Vec<usize> = (1..=q[1]).filter(|n| q[1] % n == 0).collect();
            let heads = rng.choice(&divisors).copied().unwrap_or(1);
            vec![batch, heads, steps(rng), q[3]]
        }
        (2, _) => {
            let mut out = keys.unwrap_or(q).to_vec();
            let width = rng.usize(1..=3);
            out[last] = if last == 2 { 2 * width } else { width };
            out
        }
        (3, _) => {
            let seen = keys.map_or(1, |k| k[last - 1]);
            let full = vec![batch, if last == 3 { q[1] } else { 1 }, q[last - 1], seen];
            broadcasting(rng, &full, cap)
        }
        _ => wanted.free(rng, None),
    }
}

fn queries(cap: usize, rank: usize, rng: &mut Rng) -> Extents {
    let mut out = free(rng, cap.min(3), Some(rank));
    let last = out.len() - 1;
    // Several heads for each of several shared ones.
    if last == 3 && rng.u8(0..4) == 0 {
        out[1] = *rng.choice(&[4, 6]).unwrap_or(&4);
    }
    out[last] = if last == 2 { 2 * rng.usize(1..=2) } else { rng.usize(1..=3) };
    out
}

/// Half as many angles as features, for each batch and step.
pub(super) fn rotary(wanted: &Wanted<'_>, rng: &mut Rng) -> Option<Extents> {
    if let Some(&[batch, _, steps, width]) = wanted.of(0).filter(|_| wanted.index > 0) {
        return Some(vec![batch, steps, width / 2]);
    }
    let mut out = free(rng, wanted.cap.min(4), Some(4));
    out[3] = 2 * rng.usize(1..=3);
    Some(out)
}

/// Attributes: operands of rank 3 hold an even number of features.
pub(in crate::nn) fn tried(call: &Call<'_>, attr: &AttrDef, rng: &mut Rng) -> Tried {
    let beside = 1 + i64::from(call.style % 2);
    match attr.name {
        "left_window_size" | "right_window_size" => Value::Int(rng.i64(-1..=2)).into(),
        "num_heads" => Value::Int(beside).into(),
        "q_num_heads" | "kv_num_heads" if call.x().len() == 3 => Value::Int(beside).into(),
        "q_num_heads" | "kv_num_heads" => {
            call.x().get(1).map(|heads| Value::Int(*heads as i64)).into()
        }
        _ => Tried::Usual,
    }
}
