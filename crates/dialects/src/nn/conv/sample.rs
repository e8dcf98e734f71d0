//! What is tried for convolutions: extents that fit together, windows with room.

use fastrand::Rng;
use tangram_ir::AttrDef;

use crate::nn::sample::{Call, Extents, Tried, Value, Wanted, extent};
use crate::nn::window;

/// Data, then filters.
pub(in crate::nn) fn extents(wanted: &Wanted<'_>, rng: &mut Rng) -> Option<Extents> {
    Some(convolution(wanted, false, rng))
}

/// Data, then the filters of a transposed convolution.
pub(super) fn transposed(wanted: &Wanted<'_>, rng: &mut Rng) -> Option<Extents> {
    Some(convolution(wanted, true, rng))
}

/// Attributes of a transposed convolution of one group.
pub(super) fn of_one_group(call: &Call<'_>, attr: &AttrDef, rng: &mut Rng) -> Tried {
    if attr.name == "groups" { Value::Int(1).into() } else { window::tried(call, attr, rng) }
}

/// An operand of a convolution, of two spatial dimensions where nothing says how many.
pub(in crate::nn) fn convolution(wanted: &Wanted<'_>, transposed: bool, rng: &mut Rng) -> Extents {
    let rank = wanted.rank().unwrap_or(4);
    if wanted.index == 0 {
        data(wanted, rank, transposed, rng)
    } else {
        filters(wanted, rank, transposed, rng)
    }
}

fn groups(wanted: &Wanted<'_>) -> Option<usize> {
    wanted.groups.and_then(|g| usize::try_from(g).ok())
}

fn data(wanted: &Wanted<'_>, rank: usize, transposed: bool, rng: &mut Rng) -> Extents {
    let mut out = wanted.free(rng, Some(rank));
    // Numbers of channels that have several divisors; room for windows.
    if rng.bool() {
        out[1] = *rng.choice(&[2, 3, 4, 6]).unwrap_or(&2);
    }
    for spatial in out.iter_mut().skip(2).filter(|_| rank < 5 && rng.bool()) {
        *spatial += 2;
    }
    if let Some(want) = wanted.want.filter(|want| want.len() == rank) {
        out[0] = want[0];
        out[2..].copy_from_slice(&want[2..]);
    }
    if let Some(w) = wanted.of(1).filter(|w| w.len() > 1) {
        out[1] = if transposed { w[0] } else { w[1] * groups(wanted).unwrap_or(1) };
    }
    out
}

fn filters(wanted: &Wanted<'_>, rank: usize, transposed: bool, rng: &mut Rng) -> Extents {
    let channels = wanted.of(0).and_then(|x| x.get(1).copied());
    let channels = channels.unwrap_or_else(|| wanted.extent(rng)).max(1);
    let divisors: Vec<usize> = (1..=channels).filter(|g| channels.is_multiple_of(*g)).collect();
    let groups = groups(wanted).filter(|g| *g > 0);
    let groups = groups.or_else(|| rng.choice(&divisors).copied()).unwrap_or(1);
    let batch = wanted.of(0).and_then(|x| x.first().copied());
    let filters = match wanted.want.and_then(|want| want.get(1)) {
        // As many filters as there are members of a batch.
        _ if rng.u8(0..6) == 0 && batch.is_some_and(|n| n > 0 && n % groups == 0) => {
            batch.unwrap_or(groups)
        }
        Some(&filters) if rng.u8(0..4) > 0 => filters,
        _ => groups.saturating_mul(extent(rng, wanted.cap.min(3))),
    };
    let longest = if rank > 4 { 3 } else { 5 };
    let square = rng.usize(1..=longest);
    let same = rng.bool();
    let window: Extents =
        (2..rank).map(|_| if same { square } else { rng.usize(1..=longest) }).collect();
    let ends = if transposed {
        [channels, wanted.extent(rng)]
    } else {
        [filters, (channels / groups).max(1)]
    };
    ends.into_iter().chain(window).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::entry;

    #[test]
    fn proposals_fit_most_of_the_time() {
        let mut rng = Rng::with_seed(7);
        let known = [Some(vec![2, 4, 5, 5])];
        let def = &entry("nn.conv2d").expect("an operation").def;
        let groups = Some(2);
        let base = Wanted { def, index: 1, known: &known, want: None, axis: None, groups, cap: 3 };
        for _ in 0..20 {
            let w = convolution(&base, false, &mut rng);
            assert_eq!((w.len(), w[1]), (4, 2));
            assert_eq!(w[0] % 2, 0);
        }
    }
}
