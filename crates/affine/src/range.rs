//! Affine expressions where dimensions and symbols lie within known bounds.
//!
//! A quotient whose dividend stays between two multiples of the divisor is a number, and a
//! remainder of what stays between 0 and the divisor is that itself: with `d0` from 0 to 31,
//! `d0 mod 32` is `d0`. Even without bounds a remainder has some: `(s0 mod 6) floordiv 8` is 0.
//!
//! # Source
//! `simplifyMapWithOperands` of MLIR's affine dialect, and its `getBoundForAffineExpr`: sums are
//! bounded term by term where no quotient occurs in them.

use crate::expr::{AffineExpr, AffineExprs, BinaryOp, Node, ceil_div, floor_div};
use crate::map::AffineMap;
use crate::simplify::flat_terms;

/// The least and the greatest value, where they are known.
pub type Bounds = (Option<i64>, Option<i64>);

impl AffineMap {
    /// The results in `exprs`, decided where `bounds` of the operands, dimensions and then
    /// symbols, decide quotients and remainders.
    pub fn within(&self, exprs: &mut AffineExprs, bounds: &[Bounds]) -> Vec<AffineExpr> {
        let mut made: Vec<AffineExpr> = Vec::with_capacity(self.nodes().len());
        for &node in self.nodes() {
            made.push(match node {
                Node::Dim(i) => exprs.dim(i),
                Node::Symbol(i) => exprs.symbol(i),
                Node::Constant(value) => exprs.constant(value),
                Node::Binary(op, a, b) => {
                    let joined = exprs.binary(op, made[a.index()], made[b.index()]);
                    decided(exprs, joined, self.dims(), bounds)
                }
            });
        }
        self.results().iter().map(|result| made[result.index()]).collect()
    }
}

fn decided(
    exprs: &mut AffineExprs,
    expr: AffineExpr,
    dims: usize,
    bounds: &[Bounds],
) -> AffineExpr {
    let Some((op, left, by)) = division(exprs, expr) else { return expr };
    let (Some(low), Some(high)) = range(exprs, left, dims, bounds) else { return expr };
    let divide = if op == BinaryOp::CeilDiv { ceil_div } else { floor_div };
    match (divide(low, by), divide(high, by)) {
        (Some(0), Some(0)) if op == BinaryOp::Mod => left,
        (Some(a), Some(b)) if a == b && op != BinaryOp::Mod => exprs.constant(a),
        _ => expr,
    }
}

/// A quotient or remainder by a number above 0.
fn division(exprs: &AffineExprs, expr: AffineExpr) -> Option<(BinaryOp, AffineExpr, i64)> {
    match exprs.node(expr) {
        Node::Binary(BinaryOp::Add | BinaryOp::Mul, ..) => None,
        Node::Binary(op, left, by) => Some((op, left, exprs.as_constant(by).filter(|&by| by > 0)?)),
        _ => None,
    }
}

/// What is known of `expr`.
fn range(exprs: &AffineExprs, expr: AffineExpr, dims: usize, bounds: &[Bounds]) -> Bounds {
    // Quotients one inside the other, the outermost first.
    let (mut divisions, mut at) = (Vec::new(), expr);
    while let Some((op, left, by)) = division(exprs, at) {
        divisions.push((op, by));
        at = left;
    }
    let mut range = sum_range(exprs, at, dims, bounds);
    while let Some((op, by)) = divisions.pop() {
        range = divided(op, range, by);
    }
    range
}

fn divided(op: BinaryOp, (low, high): Bounds, by: i64) -> Bounds {
    let each = |divide: fn(i64, i64) -> Option<i64>| {
        (low.and_then(|low| divide(low, by)), high.and_then(|high| divide(high, by)))
    };
    match op {
        BinaryOp::FloorDiv => each(floor_div),
        BinaryOp::CeilDiv => each(ceil_div),
        _ => match each(floor_div) {
            (Some(a), Some(b)) if a == b => {
                (low.map(|low| low.rem_euclid(by)), high.map(|high| high.rem_euclid(by)))
            }
            _ => (Some(0), Some(by - 1)),
        },
    }
}

/// The range of a sum of dimensions, symbols and a number.
fn sum_range(exprs: &AffineExprs, expr: AffineExpr, dims: usize, bounds: &[Bounds]) -> Bounds {
    let Some((terms, constant)) = flat_terms(exprs, expr) else { return (None, None) };
    let (mut low, mut high) = (Some(constant), Some(constant));
    for (symbol, i, factor) in terms {
        let at = if symbol { dims + i as usize } else { i as usize };
        let (least, greatest) = bounds.get(at).copied().unwrap_or((None, None));
        let (least, greatest) = if factor > 0 { (least, greatest) } else { (greatest, least) };
        let add =
            |sum: Option<i64>, value: Option<i64>| sum?.checked_add(value?.checked_mul(factor)?);
        (low, high) = (add(low, least), add(high, greatest));
    }
    (low, high)
}
