//! Proposing extents for operands, so that most of the operations that are tried can be made.
//!
//! What is proposed is only a proposal: inference decides. A part of the proposals is meant to be
//! unusual (extents of 1, other ranks, operands that broadcast), because that is where rules
//! whose conditions are too weak go wrong.

use fastrand::Rng;

/// Extents.
pub(super) type Extents = Vec<usize>;

/// What operand `index` of operation `name` is wanted for.
pub(super) struct Request<'a> {
    pub(super) name: &'a str,
    pub(super) index: usize,
    /// The extents of the operands that are there already.
    pub(super) known: &'a [Option<Extents>],
    /// What the result should be, if somebody asked.
    pub(super) want: Option<&'a Extents>,
    /// The dimension along which operands are joined or normalised, if it is fixed.
    pub(super) axis: Option<i64>,
    /// The number of groups, if it is fixed.
    pub(super) groups: Option<i64>,
    /// Whether operands are broadcast.
    pub(super) broadcasts: bool,
}

/// How many dimensions an operand has to have.
pub(super) fn stated_rank(name: &str, index: usize) -> Option<usize> {
    let spatial = || {
        let at = name.find("d_").or(name.strip_suffix('d').map(str::len))?;
        name[..at].chars().last()?.to_digit(10).map(|n| n as usize)
    };
    if name.starts_with("conv") || name.contains("_pool") {
        return spatial().map(|n| n + 2);
    }
    match (name, index) {
        ("batch_matmul", _) => Some(3),
        ("dense" | "gemm", 0 | 1) => Some(2),
        ("bias_add", 1) => Some(1),
        ("batch_norm" | "instance_norm" | "group_norm", 1..) => Some(1),
        ("instance_norm", 0) => Some(4),
        ("depth_to_space" | "space_to_depth", 0) => Some(4),
        _ => None,
    }
}

/// An extent from 1 to `cap`; now and then 0.
pub(super) fn extent(rng: &mut Rng, cap: usize) -> usize {
    if rng.u8(0..40) == 0 { 0 } else { rng.usize(1..=cap) }
}

/// Extents of which nothing is asked but, perhaps, how many there are.
pub(super) fn free(rng: &mut Rng, cap: usize, rank: Option<usize>) -> Extents {
    const RANKS: [usize; 14] = [0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6];
    let rank = rank.unwrap_or_else(|| match rng.u8(0..32) {
        0 => rng.usize(7..=8),
        _ => *rng.choice(&RANKS).unwrap_or(&2),
    });
    // Many dimensions are short ones, so that all of them together stay few elements.
    let cap = match rank {
        0..=3 => cap,
        4 => cap.min(5),
        5 | 6 => cap.min(3),
        _ => 2,
    };
    let mut out: Extents = (0..rank).map(|_| extent(rng, cap)).collect();
    // What confuses two dimensions is seen where their extents are equal and types agree.
    if rng.u8(0..8) == 0
        && let Some(&first) = out.first()
    {
        out.fill(first);
    }
    // Windows need room.
    for spatial in out.iter_mut().skip(2).filter(|n| (3..=5).contains(&rank) && **n > 0) {
        *spatial += rng.usize(0..=2);
    }
    out
}

/// Extents that broadcast with `like`, to no more than `like` most of the time.
fn broadcasting(rng: &mut Rng, like: &Extents, cap: usize) -> Extents {
    match rng.u8(0..20) {
        0..9 => like.clone(),
        9..12 => Vec::new(),
        12..14 => like[rng.usize(0..=like.len())..].to_vec(),
        14..16 => like.iter().map(|&n| if rng.bool() { n } else { 1 }).collect(),
        16 => channel(rng, like),
        17 => one_axis(rng, like),
        18 => [vec![extent(rng, cap)], like.clone()].concat(),
        _ => like.iter().map(|&n| if n == 1 { extent(rng, cap) } else { n }).collect(),
    }
}

/// One number for each channel, written to broadcast: `[C, 1, 1]`, `[1, C, 1, 1]`.
fn channel(rng: &mut Rng, like: &Extents) -> Extents {
    let Some(&channels) = like.get(1) else { return like.clone() };
    let spatial = std::iter::repeat_n(1, like.len() - 2);
    let lead = if rng.bool() { vec![1, channels] } else { vec![channels] };
    lead.into_iter().chain(spatial).collect()
}

/// One number for each place along some axis, written to broadcast.
fn one_axis(rng: &mut Rng, like: &Extents) -> Extents {
    let kept = rng.usize(0..like.len().max(1));
    like.iter().enumerate().map(|(i, &n)| if i == kept { n } else { 1 }).collect()
}

/// The numbers of an operand that lists extents. It is a constant: of others the type of the result
/// says nothing.
pub(super) fn listed(request: &Request<'_>, rng: &mut Rng) -> Option<Vec<i64>> {
    let first = request.known.first().cloned().flatten()?;
    let at = |i: usize| first.get(i).map(|n| *n as i64);
    Some(match (request.name, request.index) {
        ("affine_grid", 1) => {
            let channels_and_spatial = (0..=at(1)?).map(|_| rng.i64(1..=3));
            [at(0)?].into_iter().chain(channels_and_spatial).collect()
        }
        // Windows of 2 by 2, so that there are as many as there are columns.
        ("col2im", 1) if rng.bool() => vec![2, at(2)? + 1],
        ("col2im", 1) => vec![at(2)? + 1, 2],
        ("col2im", 2) => vec![2, 2],
        _ => return None,
    })
}

/// Proposes extents for an operand.
pub(super) fn propose(request: &Request<'_>, rng: &mut Rng, cap: usize) -> Extents {
    let Request { name, index, known, want, .. } = request;
    let other = || known.iter().enumerate().find(|(i, _)| i != index).and_then(|(_, s)| s.clone());
    let any = |rng: &mut Rng| match want {
        Some(want) if rng.u8(0..10) > 0 => (*want).clone(),
        _ => free(rng, cap, stated_rank(name, *index)),
    };
    match *name {
        _ if request.broadcasts || *name == "prelu" => match other().or(want.cloned()) {
            Some(like) => broadcasting(rng, &like, cap),
            None => any(rng),
        },
        "collapse_sum_like" if *index == 1 => {
            let Some(from) = other() else { return any(rng) };
            let first = rng.usize(0..=from.len());
            from[first..].iter().map(|&n| if rng.bool() { n } else { 1 }).collect()
        }
        "concatenate" => match other() {
            Some(mut like) => {
                let axis = request.axis.unwrap_or_else(|| rng.i64(0..like.len().max(1) as i64));
                if let Some(n) = place(axis, like.len()).and_then(|at| like.get_mut(at)) {
                    *n = extent(rng, cap);
                }
                like
            }
            None => any(rng),
        },
        "bias_add" if *index == 1 => {
            let at = |like: Extents| {
                let axis = request.axis.unwrap_or(1);
                like.get(place(axis, like.len())?).copied()
            };
            vec![other().and_then(at).unwrap_or_else(|| extent(rng, cap))]
        }
        "batch_norm" | "batch_norm_training" | "instance_norm" | "group_norm" if *index > 0 => {
            let channels = known.first().cloned().flatten().and_then(|like| like.get(1).copied());
            vec![channels.unwrap_or_else(|| extent(rng, cap))]
        }
        "layer_norm" | "rms_norm" if *index > 0 => {
            let Some(like) = known.first().cloned().flatten() else { return any(rng) };
            let first = place(request.axis.unwrap_or(-1), like.len()).unwrap_or(0);
            like.get(first..).unwrap_or_default().to_vec()
        }
        // Sizes of 1, as many as the extent has.
        "split_to_sequence" if *index == 1 => {
            let axis = request.axis.unwrap_or(0);
            let extent = other().and_then(|like| like.get(place(axis, like.len())?).copied());
            vec![extent.unwrap_or(2)]
        }
        "dense" | "batch_matmul" | "matmul" | "gemm" => product(request, rng, cap),
        "rnn" | "gru" | "lstm" => recurrent(request, rng, cap),
        // Half as many angles as features, for each batch and step.
        "rotary_embedding" => match known.first().cloned().flatten() {
            Some(like) if *index > 0 && like.len() == 4 => vec![like[0], like[2], like[3] / 2],
            _ => {
                let mut out = free(rng, cap.min(4), Some(4));
                out[3] = 2 * rng.usize(1..=3);
                out
            }
        },
        "conv_integer" if *index > 1 => Vec::new(),
        _ if name.starts_with("conv") => convolution(request, rng, cap),
        // Blocks of any side, of more than one channel: a single one has no order.
        "depth_to_space" => {
            let mut out = free(rng, cap.min(3), Some(4));
            out[1] = *rng.choice(&[4, 8, 9, 12, 16, 18, 32]).unwrap_or(&4);
            out
        }
        "space_to_depth" => {
            let mut out = free(rng, cap.min(3), Some(4));
            let side = rng.usize(1..=4);
            out[2..].iter_mut().for_each(|n| *n = side * rng.usize(1..=2));
            out
        }
        "attention" | "contrib_multi_head_attention" if *index < 4 => attention(request, rng, cap),
        // As many steps of all three.
        "linear_attention" if *index < 3 => {
            let mut out = attention(request, rng, cap);
            let steps = known.first().cloned().flatten().and_then(|q| q.get(1).copied());
            if let (Some(steps), 1) = (steps, *index) {
                out[1] = steps;
            }
            out
        }
        // As many lengths as the batch has members.
        "reverse_sequence" if *index == 1 => {
            let like = known.first().cloned().flatten().unwrap_or_default();
            vec![like.get(rng.usize(0..=1)).copied().unwrap_or(1)]
        }
        // One number, one for each place along the axis, or one for each block; zero points alike.
        "quantize" | "dequantize" if *index > 1 && known.get(1).is_some_and(Option::is_some) => {
            known[1].clone().unwrap_or_default()
        }
        "quantize" | "dequantize" if *index > 0 => match known.first().cloned().flatten() {
            Some(mut like) if like.len() > 1 && rng.u8(0..4) == 0 => {
                let at = request.axis.and_then(|axis| place(axis, like.len()));
                let at = at.filter(|at| *at < like.len()).unwrap_or(like.len() - 1);
                like[at] = like[at].div_ceil(rng.usize(2..=3));
                like
            }
            Some(like) if rng.u8(0..3) == 0 => {
                let at = place(request.axis.unwrap_or(1), like.len()).and_then(|at| like.get(at));
                at.map(|n| vec![*n]).unwrap_or_default()
            }
            _ => Vec::new(),
        },
        "affine_grid" => {
            let spatial = rng.usize(2..=3);
            vec![rng.usize(1..=cap), spatial, spatial + 1]
        }
        "col2im" => vec![rng.usize(1..=2), 4 * rng.usize(1..=2), rng.usize(1..=cap)],
        // Places: any extents.
        "take" if *index == 1 => {
            let rank = rng.usize(0..=2);
            free(rng, cap.min(3), Some(rank))
        }
        "gather_elements" if *index == 1 => match other() {
            Some(like) => like.iter().map(|&n| rng.usize(0..=n)).collect(),
            None => any(rng),
        },
        _ if name.starts_with("qlinear") || *name == "matmul_integer" => {
            quantised(request, rng, cap)
        }
        // Regions by their corners, and the batch of each.
        "roi_align" => match (index, known.get(1).cloned().flatten()) {
            (0, _) => free(rng, cap, Some(4)),
            (2, Some(regions)) => regions.into_iter().take(1).collect(),
            _ => vec![rng.usize(1..=2), 4],
        },
        // Four corners of each box, and its score in each class.
        "non_max_suppression" => match (index, known.first().cloned().flatten().as_deref()) {
            (0, _) => vec![rng.usize(1..=2), rng.usize(1..=cap.max(2)), 4],
            (1, Some(&[batch, boxes, _])) => vec![batch, rng.usize(1..=2), boxes],
            _ => Vec::new(),
        },
        // A class for each place.
        "nll_loss" | "softmax_cross_entropy_loss" => match known.first().cloned().flatten() {
            Some(mut like) if *index == 1 && like.len() > 1 => {
                like.remove(1);
                like
            }
            Some(like) if *index == 2 => like.into_iter().skip(1).take(1).collect(),
            _ => {
                let rank = rng.usize(2..=4);
                free(rng, cap, Some(rank))
            }
        },
        _ => match other().filter(|_| *index > 0) {
            Some(like) => related(rng, like, cap),
            None => any(rng),
        },
    }
}

/// Queries, keys and values: as many steps of the first as there happen to be, heads of the others
/// that divide those of the first; then a mask. Of rank 3, one or two heads beside each other.
fn attention(request: &Request<'_>, rng: &mut Rng, cap: usize) -> Extents {
    let Request { name, index, known, .. } = request;
    let of = |i: usize| known.get(i).cloned().flatten();
    let steps = |rng: &mut Rng| rng.usize(1..=cap.clamp(2, 5));
    let Some(q) = of(0).filter(|q| (3..=4).contains(&q.len())) else {
        let flat = *name != "attention" || rng.u8(0..4) == 0;
        let mut out = free(rng, cap.min(3), Some(if flat { 3 } else { 4 }));
        let last = out.len() - 1;
        // Several heads for each of several shared ones.
        if last == 3 && rng.u8(0..4) == 0 {
            out[1] = *rng.choice(&[4, 6]).unwrap_or(&4);
        }
        out[last] = if last == 2 { 2 * rng.usize(1..=2) } else { rng.usize(1..=3) };
        return out;
    };
    let keys = of(1).filter(|k| k.len() == q.len());
    let (batch, last) = (q[0], q.len() - 1);
    match (index, last) {
        (1, 2) => vec![batch, steps(rng), q[2]],
        (1, _) => {
            let divisors: Vec<usize> = (1..=q[1]).filter(|n| q[1] % n == 0).collect();
            let heads = rng.choice(&divisors).copied().unwrap_or(1);
            vec![batch, heads, steps(rng), q[3]]
        }
        (2, _) => {
            let mut out = keys.unwrap_or_else(|| q.clone());
            let width = rng.usize(1..=3);
            out[last] = if last == 2 { 2 * width } else { width };
            out
        }
        (3, _) => {
            let seen = keys.map_or(1, |k| k[last - 1]);
            let full = vec![batch, if last == 3 { q[1] } else { 1 }, q[last - 1], seen];
            broadcasting(rng, &full, cap)
        }
        _ => free(rng, cap, None),
    }
}

/// Extents of an operand of which nothing is known but another one: most of the time the same.
fn related(rng: &mut Rng, like: Extents, cap: usize) -> Extents {
    let Some(last) = like.len().checked_sub(1) else { return like };
    let at = rng.usize(0..=last);
    match rng.u8(0..16) {
        // One extent shorter: what covers a part.
        0..4 => {
            let part = |(i, n): (usize, usize)| if i == at && n > 1 { rng.usize(1..n) } else { n };
            like.into_iter().enumerate().map(part).collect()
        }
        4 => vec![like[at]],
        5 => Vec::new(),
        6 => vec![extent(rng, cap)],
        _ => like,
    }
}

/// Quantised operands, each followed by its scale and its zero point: one, or one for each row
/// of a left matrix, each column of a right one, each filter.
fn quantised(request: &Request<'_>, rng: &mut Rng, cap: usize) -> Extents {
    let Request { name, index, known, .. } = request;
    let of = |i: usize| known.get(i).cloned().flatten();
    let step = if *name == "matmul_integer" { 1 } else { 3 };
    let operands = match step {
        1 => [of(0), of(1)],
        _ => [of(0), of(3)],
    };
    let data = |index: usize, rng: &mut Rng| {
        let name = if name.contains("conv") { "conv2d" } else { "matmul" };
        let known = operands.as_slice();
        propose(&Request { name, index, known, want: None, ..*request }, rng, cap)
    };
    let (number, part) = match (step, *index) {
        (1, i) if i < 2 => (i, 0),
        (1, i) => (i - 2, 2),
        (_, i) => (i / 3, if i < 6 { i % 3 } else { i % 3 + 1 }),
    };
    if part == 0 {
        return data(number, rng);
    }
    // A zero point has the extents of its scale.
    if let (3, 2, Some(scale)) = (step, part, of(index - 1)) {
        return scale;
    }
    let along = |shape: Option<Extents>, from_end: usize| {
        let shape = shape.unwrap_or_default();
        shape.len().checked_sub(from_end).and_then(|at| shape.get(at).copied())
    };
    let each = match (name.contains("conv"), number) {
        (true, 1) => operands[1].as_ref().and_then(|w| w.first().copied()),
        (false, 0) => along(operands[0].clone(), 2),
        (false, 1) => along(operands[1].clone(), 1),
        (false, _) => along(operands[0].clone(), 2),
        _ => None,
    };
    each.filter(|_| rng.u8(0..3) == 0).map(|n| vec![n]).unwrap_or_default()
}

/// Counts a dimension from the front.
pub(super) fn place(axis: i64, rank: usize) -> Option<usize> {
    let rank_i = i64::try_from(rank).ok()?;
    usize::try_from(if axis < 0 { axis + rank_i } else { axis }).ok()
}

fn product(request: &Request<'_>, rng: &mut Rng, cap: usize) -> Extents {
    let Request { name, index, known, want, .. } = request;
    let turned = matches!(*name, "dense" | "batch_matmul");
    let other = known.iter().enumerate().find(|(i, _)| i != index).and_then(|(_, s)| s.clone());
    // A vector on either side of a product.
    if let (Some(other), "matmul") = (&other, *name)
        && (other.len() == 1 || rng.u8(0..8) == 0)
    {
        let at =
            if *index == 0 && other.len() > 1 { other.len() - 2 } else { other.len().max(1) - 1 };
        let inner = other.get(at).copied().unwrap_or(1);
        return match rng.u8(0..3) {
            0 => vec![inner],
            _ if *index == 0 => vec![extent(rng, cap), inner],
            _ => vec![inner, extent(rng, cap)],
        };
    }
    let Some(other) = other.filter(|other| other.len() >= 2) else {
        let rank = stated_rank(name, *index).or(want.map(Vec::len).filter(|n| *n >= 2));
        let rank = rank.unwrap_or_else(|| rng.usize(if *name == "matmul" { 1..=4 } else { 2..=4 }));
        let mut out = free(rng, cap, Some(rank));
        if let (0, Some(want)) = (index, want) {
            let batch = out.len().saturating_sub(1).min(want.len());
            out[..batch].copy_from_slice(&want[..batch]);
        }
        return out;
    };
    let [rows, columns] = [other[other.len() - 2], other[other.len() - 1]];
    let fresh = extent(rng, cap);
    let matrix = match (index, turned) {
        (1, true) | (0, true) => [fresh, columns],
        (1, false) => [columns, fresh],
        _ => [fresh, rows],
    };
    let batch = &other[..other.len() - 2];
    let batch = if rng.bool() || *name == "batch_matmul" { batch } else { &batch[..0] };
    [batch, &matrix[..]].concat()
}

/// Steps, batch and features; then weights of the gates: directions, rows, columns.
fn recurrent(request: &Request<'_>, rng: &mut Rng, cap: usize) -> Extents {
    let Request { name, index, known, .. } = request;
    let gates = match *name {
        "lstm" => 4,
        "gru" => 3,
        _ => 1,
    };
    let of = |i: usize| known.get(i).cloned().flatten().filter(|shape| shape.len() == 3);
    match *index {
        0 => free(rng, cap.min(3), Some(3)),
        1 => {
            let columns = of(0).map_or(1, |x| x[2]);
            let directions = if rng.u8(0..4) == 0 { 2 } else { 1 };
            vec![directions, gates * rng.usize(1..=3), columns]
        }
        2 => {
            let (directions, rows) = of(1).map_or((1, gates), |w| (w[0], w[1]));
            vec![directions, rows, rows / gates]
        }
        3 => {
            let (directions, rows) = of(1).map_or((1, gates), |w| (w[0], w[1]));
            vec![directions, 2 * rows]
        }
        4 => vec![of(0).map_or(1, |x| x[1])],
        _ => {
            let (directions, hidden) = of(2).map_or((1, 1), |r| (r[0], r[2]));
            vec![directions, of(0).map_or(1, |x| x[1]), hidden]
        }
    }
}

fn convolution(request: &Request<'_>, rng: &mut Rng, cap: usize) -> Extents {
    let Request { name, index, known, want, groups, .. } = request;
    let rank = stated_rank(name, 0).unwrap_or(4);
    let transposed = name.contains("transpose");
    if *index == 0 {
        let mut out = free(rng, cap, Some(rank));
        // Numbers of channels that have several divisors; room for windows.
        if rng.bool() {
            out[1] = *rng.choice(&[2, 3, 4, 6]).unwrap_or(&2);
        }
        for spatial in out.iter_mut().skip(2).filter(|_| rank < 5 && rng.bool()) {
            *spatial += 2;
        }
        if let Some(want) = want.filter(|want| want.len() == rank) {
            out[0] = want[0];
            out[2..].copy_from_slice(&want[2..]);
        }
        if let Some(Some(w)) = known.get(1).filter(|w| w.as_ref().is_some_and(|w| w.len() > 1)) {
            let groups = groups.and_then(|g| usize::try_from(g).ok()).unwrap_or(1);
            out[1] = if transposed { w[0] } else { w[1] * groups };
        }
        return out;
    }
    let channels = known.first().cloned().flatten().and_then(|x| x.get(1).copied());
    let channels = channels.unwrap_or_else(|| extent(rng, cap)).max(1);
    let divisors: Vec<usize> = (1..=channels).filter(|g| channels % g == 0).collect();
    let groups = groups.and_then(|g| usize::try_from(g).ok()).filter(|g| *g > 0);
    let groups = groups.or_else(|| rng.choice(&divisors).copied()).unwrap_or(1);
    let batch = known.first().cloned().flatten().and_then(|x| x.first().copied());
    let filters = match want.and_then(|want| want.get(1)) {
        // As many filters as there are members of a batch.
        _ if rng.u8(0..6) == 0 && batch.is_some_and(|n| n > 0 && n % groups == 0) => {
            batch.unwrap_or(groups)
        }
        Some(&filters) if rng.u8(0..4) > 0 => filters,
        _ => groups * extent(rng, cap.min(3)),
    };
    let longest = if rank > 4 { 3 } else { 5 };
    let square = rng.usize(1..=longest);
    let same = rng.bool();
    let window: Extents =
        (2..rank).map(|_| if same { square } else { rng.usize(1..=longest) }).collect();
    let ends = match transposed {
        true => [channels, extent(rng, cap)],
        false => [filters, (channels / groups).max(1)],
    };
    ends.into_iter().chain(window).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_read_from_names() {
        assert_eq!(stated_rank("conv1d", 0), Some(3));
        assert_eq!(stated_rank("conv2d_transpose", 1), Some(4));
        assert_eq!(stated_rank("avg_pool3d", 0), Some(5));
        assert_eq!(stated_rank("conv", 0), None);
        assert_eq!(stated_rank("add", 0), None);
        assert_eq!(stated_rank("global_avg_pool", 0), None);
    }

    #[test]
    fn proposals_fit_most_of_the_time() {
        let mut rng = Rng::with_seed(7);
        let known = [Some(vec![2, 4, 5, 5])];
        let base = Request {
            name: "conv2d",
            index: 1,
            known: &known,
            want: None,
            axis: None,
            groups: Some(2),
            broadcasts: false,
        };
        for _ in 0..20 {
            let w = propose(&base, &mut rng, 3);
            assert_eq!((w.len(), w[1]), (4, 2));
            assert_eq!(w[0] % 2, 0);
        }
    }
}
