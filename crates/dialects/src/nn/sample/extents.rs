//! Extents that are proposed where an entry says nothing else, and what entries propose theirs with.

use fastrand::Rng;
use tangram_ir::OpDef;

/// Extents.
pub type Extents = Vec<usize>;

/// An operand that is wanted.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// The operation.
    pub def: &'static OpDef,
    /// Which of its operands.
    pub index: usize,
    /// The extents of the operands that are there already.
    pub known: &'a [Option<Extents>],
    /// What the result should be, if somebody asked.
    pub want: Option<&'a Extents>,
    /// The dimension along which operands are joined or normalised, if it is fixed.
    pub axis: Option<i64>,
    /// The number of groups, if it is fixed.
    pub groups: Option<i64>,
    /// The greatest extent.
    pub cap: usize,
}

impl<'a> Wanted<'a> {
    /// The extents of operand `i`, if it is there.
    pub fn of(&self, i: usize) -> Option<&'a [usize]> {
        self.known.get(i)?.as_deref()
    }

    /// The extents of another operand that is there.
    pub fn other(&self) -> Option<&'a [usize]> {
        let mut others = self.known.iter().enumerate().filter(|(i, _)| *i != self.index);
        others.find_map(|(_, shape)| shape.as_deref())
    }

    /// The rank that it has to have, where the definition fixes it.
    pub fn rank(&self) -> Option<usize> {
        (super::of(self.def).rank)(self.def, self.index)
    }

    /// An extent from 1 to the greatest; now and then 0.
    pub fn extent(&self, rng: &mut Rng) -> usize {
        extent(rng, self.cap)
    }

    /// Extents of which nothing is asked but, perhaps, how many there are.
    pub fn free(&self, rng: &mut Rng, rank: Option<usize>) -> Extents {
        free(rng, self.cap, rank)
    }

    /// Those of the result, if somebody asked, or any.
    pub fn any(&self, rng: &mut Rng) -> Extents {
        match self.want {
            Some(want) if rng.u8(0..10) > 0 => want.clone(),
            _ => self.free(rng, self.rank()),
        }
    }

    /// Extents that broadcast with those of another operand, or of the result.
    pub fn broadcast(&self, rng: &mut Rng) -> Extents {
        match self.other().or(self.want.map(Vec::as_slice)) {
            Some(like) => broadcasting(rng, like, self.cap),
            None => self.any(rng),
        }
    }

    /// Extents of an operand of which nothing is known but another one: most of the time the same.
    pub fn related(&self, rng: &mut Rng) -> Extents {
        let Some(like) = self.other().filter(|_| self.index > 0) else { return self.any(rng) };
        let like = like.to_vec();
        let Some(last) = like.len().checked_sub(1) else { return like };
        let at = rng.usize(0..=last);
        match rng.u8(0..16) {
            // One extent shorter: what covers a part.
            0..4 => {
                let part =
                    |(i, n): (usize, usize)| if i == at && n > 1 { rng.usize(1..n) } else { n };
                like.into_iter().enumerate().map(part).collect()
            }
            4 => vec![like[at]],
            5 => Vec::new(),
            6 => vec![self.extent(rng)],
            _ => like,
        }
    }

    /// The extent of another operand along the fixed dimension, or along `axis`.
    pub fn along(&self, axis: i64) -> Option<usize> {
        let like = self.other()?;
        like.get(place(self.axis.unwrap_or(axis), like.len())?).copied()
    }
}

/// An extent from 1 to `cap`; now and then 0.
pub fn extent(rng: &mut Rng, cap: usize) -> usize {
    if rng.u8(0..40) == 0 { 0 } else { rng.usize(1..=cap) }
}

/// Extents of which nothing is asked but, perhaps, how many there are.
pub fn free(rng: &mut Rng, cap: usize, rank: Option<usize>) -> Extents {
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
pub(in crate::nn) fn broadcasting(rng: &mut Rng, like: &[usize], cap: usize) -> Extents {
    match rng.u8(0..20) {
        0..9 => like.to_vec(),
        9..12 => Vec::new(),
        12..14 => like[rng.usize(0..=like.len())..].to_vec(),
        14..16 => like.iter().map(|&n| if rng.bool() { n } else { 1 }).collect(),
        16 => channel(rng, like),
        17 => one_axis(rng, like),
        18 => [&[extent(rng, cap)], like].concat(),
        _ => like.iter().map(|&n| if n == 1 { extent(rng, cap) } else { n }).collect(),
    }
}

/// One number for each channel, written to broadcast: `[C, 1, 1]`, `[1, C, 1, 1]`.
fn channel(rng: &mut Rng, like: &[usize]) -> Extents {
    let Some(&channels) = like.get(1) else { return like.to_vec() };
    let spatial = std::iter::repeat_n(1, like.len() - 2);
    let lead = if rng.bool() { vec![1, channels] } else { vec![channels] };
    lead.into_iter().chain(spatial).collect()
}

/// One number for each place along some axis, written to broadcast.
fn one_axis(rng: &mut Rng, like: &[usize]) -> Extents {
    let kept = rng.usize(0..like.len().max(1));
    like.iter().enumerate().map(|(i, &n)| if i == kept { n } else { 1 }).collect()
}

/// Counts a dimension from the front.
pub(in crate::nn) fn place(axis: i64, rank: usize) -> Option<usize> {
    let rank_i = i64::try_from(rank).ok()?;
    usize::try_from(if axis < 0 { axis + rank_i } else { axis }).ok()
}
