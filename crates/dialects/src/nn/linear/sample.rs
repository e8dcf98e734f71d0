//! What is tried for products of matrices: inner extents that are equal.

use fastrand::Rng;
use tangram_ir::OpDef;

use crate::nn::sample::{Extents, Wanted};

/// How the operands of a product are laid out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::nn) enum Layout {
    /// Matrices or vectors, in batches that broadcast.
    Broadcast,
    /// The right one is transposed.
    Turned,
    /// Both have the same batches, the right one is transposed.
    Batches,
    /// Two matrices.
    Plain,
}

pub(super) fn matmul(wanted: &Wanted<'_>, rng: &mut Rng) -> Option<Extents> {
    Some(product(wanted, Layout::Broadcast, rng))
}

pub(super) fn dense(wanted: &Wanted<'_>, rng: &mut Rng) -> Option<Extents> {
    Some(product(wanted, Layout::Turned, rng))
}

pub(super) fn batch_matmul(wanted: &Wanted<'_>, rng: &mut Rng) -> Option<Extents> {
    Some(product(wanted, Layout::Batches, rng))
}

pub(super) fn gemm(wanted: &Wanted<'_>, rng: &mut Rng) -> Option<Extents> {
    Some(product(wanted, Layout::Plain, rng))
}

/// An operand of a product.
pub(in crate::nn) fn product(wanted: &Wanted<'_>, layout: Layout, rng: &mut Rng) -> Extents {
    let (index, other) = (wanted.index, wanted.other());
    // A vector on either side of a product.
    if let (Some(other), Layout::Broadcast) = (other, layout)
        && (other.len() == 1 || rng.u8(0..8) == 0)
    {
        let at =
            if index == 0 && other.len() > 1 { other.len() - 2 } else { other.len().max(1) - 1 };
        let inner = other.get(at).copied().unwrap_or(1);
        return match rng.u8(0..3) {
            0 => vec![inner],
            _ if index == 0 => vec![wanted.extent(rng), inner],
            _ => vec![inner, wanted.extent(rng)],
        };
    }
    let Some(other) = other.filter(|other| other.len() >= 2) else {
        return first(wanted, layout, rng);
    };
    let [rows, columns] = [other[other.len() - 2], other[other.len() - 1]];
    let fresh = wanted.extent(rng);
    let turned = matches!(layout, Layout::Turned | Layout::Batches);
    let matrix = match (index, turned) {
        (1, true) | (0, true) => [fresh, columns],
        (1, false) => [columns, fresh],
        _ => [fresh, rows],
    };
    let batch = &other[..other.len() - 2];
    let batch = if rng.bool() || layout == Layout::Batches { batch } else { &batch[..0] };
    [batch, &matrix[..]].concat()
}

/// The operand that is there first.
fn first(wanted: &Wanted<'_>, layout: Layout, rng: &mut Rng) -> Extents {
    let rank = wanted.rank().or(wanted.want.map(Vec::len).filter(|n| *n >= 2));
    let least = if layout == Layout::Broadcast { 1 } else { 2 };
    let rank = rank.unwrap_or_else(|| rng.usize(least..=4));
    let mut out = wanted.free(rng, Some(rank));
    if let (0, Some(want)) = (wanted.index, wanted.want) {
        let batch = out.len().saturating_sub(1).min(want.len());
        out[..batch].copy_from_slice(&want[..batch]);
    }
    out
}

/// A number for each place along the axis.
pub(super) fn bias(wanted: &Wanted<'_>, rng: &mut Rng) -> Option<Extents> {
    (wanted.index == 1).then(|| vec![wanted.along(1).unwrap_or_else(|| wanted.extent(rng))])
}

/// Two matrices.
pub(super) fn matrices(_: &OpDef, index: usize) -> Option<usize> {
    (index < 2).then_some(2)
}
