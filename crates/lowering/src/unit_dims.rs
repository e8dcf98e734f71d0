//! Coordinates of extent one, which tensors of nests do not have.
//!
//! ```text
//! in[n][c][x][0] + b[c]   over in of [N, C, X, 1]   becomes   in[n][c][x] + b[c]   of [N, C, X]
//! ```
//!
//! The first two stay: batch and channels are told by their place.

use tangram_affine::symbolic::Expr;
use tangram_affine::{AffineExprs, AffineMap};
use tangram_dialects::structured::Access;

use crate::contraction::linear_terms;

/// Coordinates that stay whatever their extents are.
const KEPT: usize = 2;

fn is_unit(at: usize, extent: &Expr) -> bool {
    at >= KEPT && extent.as_int() == Some(1)
}

/// The extents of the coordinates that stay.
pub(crate) fn without(extents: &[Expr]) -> Vec<Expr> {
    let kept = extents.iter().enumerate().filter(|(at, extent)| !is_unit(*at, extent));
    kept.map(|(_, extent)| extent.clone()).collect()
}

/// Takes the coordinates of extent one out of an access to a tensor of these extents, in loops of
/// the extents `loops`.
///
/// Nothing changes, and the result is `false`, if one of them may lie outside: in a padding.
pub(crate) fn drop(access: &mut Access, extents: &[Expr], loops: &[Expr]) -> bool {
    let map = &access.map;
    if map.results().len() != extents.len() {
        return false;
    }
    let inside = |at: usize| access.outside.is_none() || is_zero(map, at, loops);
    let (gone, kept): (Vec<usize>, Vec<usize>) =
        (0..extents.len()).partition(|at| is_unit(*at, &extents[*at]));
    if !gone.into_iter().all(inside) {
        return false;
    }
    let mut exprs = AffineExprs::new();
    let nodes = map.copy(&mut exprs);
    let results: Vec<_> = kept.iter().map(|at| nodes[map.results()[*at].index()]).collect();
    access.map = AffineMap::new(map.dims() as u32, map.symbols() as u32, &exprs, &results);
    true
}

/// Whether a coordinate is zero in every iteration.
fn is_zero(map: &AffineMap, at: usize, loops: &[Expr]) -> bool {
    let Some(terms) = linear_terms(map, map.results()[at]) else { return false };
    let once = |(iterator, _): &(usize, i64)| loops[*iterator].as_int() == Some(1);
    let first = || Some(map.evaluate(&vec![0; map.inputs()])?[at]);
    !map.used().1.contains(&true) && terms.iter().all(once) && first() == Some(0)
}
