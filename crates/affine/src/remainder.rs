//! Remainders by something that is no number: `(a - a mod b) mod b` is 0.
//!
//! In a remainder by `b` a remainder by `b` may be left out: `a mod b` and `a` differ by a multiple
//! of `b`. What is 0 without all of them is 0.

use std::collections::BTreeMap;

use crate::expr::{AffineExpr, AffineExprs, BinaryOp, Node};

/// Larger expressions, in nodes, stay as they are.
const MAX_SIZE: u32 = 1 << 10;

/// `expr` with 0 in the place of remainders that are 0 for every divisor.
pub(crate) fn without_zeros(exprs: &mut AffineExprs, root: AffineExpr) -> AffineExpr {
    if exprs.size(root) > MAX_SIZE {
        return root;
    }
    let (mut open, mut done) = (vec![(root, false)], Vec::new());
    while let Some((expr, operands_done)) = open.pop() {
        match exprs.node(expr) {
            Node::Binary(_, a, b) if !operands_done => {
                open.extend([(expr, true), (b, false), (a, false)]);
            }
            Node::Binary(op, ..) => {
                let (Some(b), Some(a)) = (done.pop(), done.pop()) else { return root };
                let zero = op == BinaryOp::Mod && is_zero_by(exprs, a, b) == Some(true);
                done.push(if zero { exprs.constant(0) } else { exprs.binary(op, a, b) });
            }
            _ => done.push(expr),
        }
    }
    done.pop().unwrap_or(root)
}

/// Returns whether `expr` is a multiple of `by` by the shape of both; `None` where a factor does
/// not fit in 64 bits.
fn is_zero_by(exprs: &AffineExprs, expr: AffineExpr, by: AffineExpr) -> Option<bool> {
    let (mut terms, mut constant) = (BTreeMap::<usize, i64>::new(), 0i64);
    let mut open = vec![(expr, 1i64)];
    while let Some((expr, factor)) = open.pop() {
        match exprs.node(expr) {
            _ if expr == by => {}
            Node::Constant(value) => constant = constant.checked_add(value.checked_mul(factor)?)?,
            Node::Binary(BinaryOp::Add, a, b) => open.extend([(a, factor), (b, factor)]),
            Node::Binary(BinaryOp::Mul, a, b) if exprs.as_constant(b).is_some() => {
                open.push((a, factor.checked_mul(exprs.as_constant(b)?)?));
            }
            Node::Binary(BinaryOp::Mod, a, b) if b == by => open.push((a, factor)),
            _ => {
                let sum = terms.entry(expr.index()).or_default();
                *sum = sum.checked_add(factor)?;
            }
        }
    }
    Some(constant == 0 && terms.values().all(|&factor| factor == 0))
}
