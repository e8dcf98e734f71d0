//! The values of an expression over a box of symbols. Depth of recursion: `MAX_DEPTH`.
//!
//! Interval arithmetic (Moore 1966): each operation maps the least and the greatest values of its
//! operands to bounds of its own. They are attained where an expression grows with each symbol, as
//! sizes of buffers do; two terms that cannot be large at once leave them wider than need be.
//!
//! ```
//! use tangram_affine::symbolic::Expr;
//!
//! let n = Expr::symbol("n");
//! let four = n.try_mul(&Expr::int(4)).expect("small");
//! let bytes = n.try_mul(&n).and_then(|square| square.try_add(&four)).expect("small");
//! assert_eq!(bytes.bounds(&|_| Some((1, 512))), Some((5, 512 * 512 + 4 * 512)));
//! ```

use super::Expr;
use super::monomial::{Atom, Compound};
use super::substitute::floor_div;

/// The least and the greatest value.
type Interval = (i128, i128);

impl Expr {
    /// Returns numbers that no value of the expression is below or above while each symbol is
    /// within what `range` says, both ends included.
    ///
    /// `None` where `range` is, where a divisor may be zero, and past `i128`.
    pub fn bounds(&self, range: &dyn Fn(&str) -> Option<(i64, i64)>) -> Option<(i128, i128)> {
        let constant = i128::from(self.constant());
        let mut sum = (constant, constant);
        for term in self.terms() {
            let coeff = i128::from(term.coeff);
            let mut product = (coeff, coeff);
            for (atom, power) in &term.monomial.0 {
                product = times(product, raised(atom.bounds(range)?, *power)?)?;
            }
            sum = (sum.0.checked_add(product.0)?, sum.1.checked_add(product.1)?);
        }
        Some(sum)
    }
}

impl Expr {
    /// Returns whether no value is negative while no symbol is, as far as the signs of its terms show.
    pub fn is_never_negative(&self) -> bool {
        let term = |term: &super::expr::Term| {
            let mut factors = term.monomial.0.iter();
            term.coeff >= 0
                && factors.all(|(atom, power)| power.is_multiple_of(2) || atom.is_never_negative())
        };
        self.constant() >= 0 && self.terms().iter().all(term)
    }
}

impl Atom {
    fn is_never_negative(&self) -> bool {
        let Self::Compound(compound) = self else { return true };
        let mut children = compound.children().into_iter();
        match &**compound {
            Compound::Max(_) => children.any(Expr::is_never_negative),
            Compound::Floor(..) | Compound::Trunc(..) | Compound::Min(_) => {
                children.all(Expr::is_never_negative)
            }
        }
    }

    fn bounds(&self, range: &dyn Fn(&str) -> Option<(i64, i64)>) -> Option<Interval> {
        let compound = match self {
            Self::Symbol(name) => {
                return range(name).map(|(least, most)| (i128::from(least), i128::from(most)));
            }
            Self::Compound(compound) => compound,
        };
        let mut each = compound.children().into_iter().map(|child| child.bounds(range));
        let first = each.next()??;
        each.try_fold(first, |a, b| {
            let b = b?;
            match &**compound {
                Compound::Floor(..) => quotient(a, b, floor_div),
                Compound::Trunc(..) => quotient(a, b, i128::checked_div),
                Compound::Min(_) => Some((a.0.min(b.0), a.1.min(b.1))),
                Compound::Max(_) => Some((a.0.max(b.0), a.1.max(b.1))),
            }
        })
    }
}

/// The least and the greatest of what the four pairs of ends give.
fn ends(a: Interval, b: Interval, f: impl Fn(i128, i128) -> Option<i128>) -> Option<Interval> {
    let corners = [f(a.0, b.0)?, f(a.0, b.1)?, f(a.1, b.0)?, f(a.1, b.1)?];
    let (least, most) = (corners.iter().min(), corners.iter().max());
    Some((*least?, *most?))
}

fn times(a: Interval, b: Interval) -> Option<Interval> {
    ends(a, b, i128::checked_mul)
}

/// A quotient is monotone in the numerator, and in a denominator that keeps its sign.
fn quotient(
    a: Interval,
    b: Interval,
    divide: impl Fn(i128, i128) -> Option<i128>,
) -> Option<Interval> {
    if b.0 <= 0 && b.1 >= 0 { None } else { ends(a, b, divide) }
}

fn raised(base: Interval, power: u32) -> Option<Interval> {
    let (low, high) = (base.0.checked_pow(power)?, base.1.checked_pow(power)?);
    let spans_zero = power.is_multiple_of(2) && base.0 < 0 && base.1 > 0;
    Some((if spans_zero { 0 } else { low.min(high) }, low.max(high)))
}
