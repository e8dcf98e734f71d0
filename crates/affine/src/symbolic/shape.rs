//! Rules of tensor shapes over symbolic dimensions.

use super::{Expr, Facts, Truth};

/// Broadcasts two dimensions; `None` where the result is not known, or there is none.
///
/// Equal dimensions give themselves, 1 gives the other, and a constant above 1 wins against an
/// unknown dimension, which must be that constant or 1.
pub fn broadcast(a: &Expr, b: &Expr, facts: &Facts) -> Option<Expr> {
    match (a.as_int(), b.as_int()) {
        _ if a == b => Some(a.clone()),
        (Some(1), _) => Some(b.clone()),
        (_, Some(1)) => Some(a.clone()),
        (Some(_), Some(_)) => None,
        (Some(size), None) | (None, Some(size)) if size > 1 => {
            let other = if a.is_int() { b } else { a };
            let may_hold = |value| facts.equal(other, &Expr::int(value)) != Truth::False;
            (may_hold(size) || may_hold(1)).then(|| Expr::int(size))
        }
        _ => match facts.equal(a, b) {
            Truth::True => Some(Ord::max(a, b).clone()),
            _ => one_is_one(a, b, facts),
        },
    }
}

fn one_is_one(a: &Expr, b: &Expr, facts: &Facts) -> Option<Expr> {
    let is_one = |e: &Expr| facts.equal(e, &Expr::int(1)) == Truth::True;
    if is_one(a) {
        return Some(b.clone());
    }
    is_one(b).then(|| a.clone())
}

/// Solves for the one dimension of a reshape that is given as -1.
///
/// `total`: the input's dimensions; `known`: the other dimensions of the result. Returns the
/// quotient of the products, where it is exact.
pub fn infer_minus_one(total: &[Expr], known: &[Expr]) -> Option<Expr> {
    let mut left = total.to_vec();
    let mut divisors = Vec::new();
    for dim in known {
        // Equal dimensions cancel first, which keeps the products small.
        match left.iter().position(|other| other == dim && !dim.is_zero()) {
            Some(index) => drop(left.swap_remove(index)),
            None => divisors.push(dim.clone()),
        }
    }
    product(&left)?.exact_div(&product(&divisors)?)
}

fn product(dims: &[Expr]) -> Option<Expr> {
    dims.iter().try_fold(Expr::int(1), |result, dim| result.try_mul(dim))
}
