//! Divisions and remainders.
//!
//! `floor(num/den)` is made in three steps: multiples of the denominator leave (polynomial
//! division with remainder, whose result is unique under a monomial order), common factors
//! cancel, and for an integer denominator the mirror image `floor(Y/d) = -1 - floor((-Y-1)/d)`
//! and the rule for nested divisions choose one of several equal forms.
//!
//! A division is an atom of a polynomial and has a normal form. That of `AffineExpr` (`expr`) keeps
//! the form that MLIR prints, and those of sets (`Div` in `tangram-presburger`) are columns of rows.

use super::Expr;
use super::monomial::{Compound, Monomial};
use num_integer::gcd;

/// Bounds the steps of one polynomial division.
const MAX_STEPS: usize = 1024;

impl Expr {
    /// Divides and rounds down, as Python's `//`.
    ///
    /// `None` for a denominator that is the constant 0, on overflow or past a limit.
    pub fn floor_div(&self, den: &Expr) -> Option<Expr> {
        if den.leading_coeff() < 0 {
            return self.neg()?.floor_div_positive(&den.neg()?);
        }
        self.floor_div_positive(den)
    }

    /// Divides and rounds up; `None` as [`Expr::floor_div`].
    pub fn ceil_div(&self, den: &Expr) -> Option<Expr> {
        match den.as_int() {
            Some(d) if d > 0 => self.add_int(d - 1)?.floor_div(den),
            _ => self.neg()?.floor_div(den)?.neg(),
        }
    }

    /// Returns the remainder with the sign of `den`, as Python's `%`: `a - b*floor(a/b)`.
    pub fn modulo(&self, den: &Expr) -> Option<Expr> {
        self.try_sub(&den.try_mul(&self.floor_div(den)?)?)
    }

    /// Divides and rounds toward zero, as C's `/`.
    ///
    /// Stays a `trunc` of its own where signs are not known from the expressions alone;
    /// [`super::Facts::trunc_div`] knows more. `None` as [`Expr::floor_div`].
    pub fn trunc_div(&self, den: &Expr) -> Option<Expr> {
        if den.is_zero() {
            return None;
        }
        if let (Some(a), Some(b)) = (self.as_int(), den.as_int()) {
            return a.checked_div(b).map(Expr::int);
        }
        if let Some(quotient) = self.exact_div(den) {
            return Some(quotient);
        }
        let negative = (self.leading_coeff() < 0) != (den.leading_coeff() < 0);
        let positive = |e: &Expr| if e.leading_coeff() < 0 { e.neg() } else { Some(e.clone()) };
        let (num, den) = cancel(&positive(self)?, &positive(den)?)?;
        let quotient = match (num.as_int(), den.as_int()) {
            (Some(a), Some(b)) => Expr::int(a.checked_div(b)?),
            _ => Expr::from_compound(Compound::Trunc(num, den))?,
        };
        if negative { quotient.neg() } else { Some(quotient) }
    }

    /// Divides where the polynomial quotient is exact: `B*S*768` by `S` is `B*768`.
    ///
    /// `None` where it is not, for zero, and past a limit.
    pub fn exact_div(&self, den: &Expr) -> Option<Expr> {
        let (quotient, rest) = if den.leading_coeff() < 0 {
            self.neg()?.div_rem(&den.neg()?)?
        } else {
            self.div_rem(den)?
        };
        rest.is_zero().then_some(quotient)
    }

    fn floor_div_positive(&self, den: &Expr) -> Option<Expr> {
        if let Some(d) = den.as_int() {
            return self.floor_div_int(d);
        }
        let (quotient, rest) = self.div_rem(den)?;
        if rest.is_zero() {
            return Some(quotient);
        }
        let (num, den) = cancel(&rest, den)?;
        let fraction = match den.as_int() {
            Some(d) => num.floor_div_int(d)?,
            None => Expr::from_compound(Compound::Floor(num, den))?,
        };
        quotient.try_add(&fraction)
    }

    fn floor_div_int(&self, d: i64) -> Option<Expr> {
        if d <= 0 {
            return None;
        }
        let (quotient, rest) = self.div_rem_int(d)?;
        if rest.is_int() {
            return Some(quotient);
        }
        if !prefers_mirror(self, &rest, d) {
            return quotient.try_add(&reduced_floor(&rest, d)?);
        }
        let (mirrored, rest) = rest.neg()?.add_int(-1)?.div_rem_int(d)?;
        let mirrored = mirrored.try_add(&reduced_floor(&rest, d)?)?;
        quotient.try_sub(&mirrored)?.add_int(-1)
    }

    /// Divides with remainder; the leading coefficient of `den` is positive, or `None`.
    fn div_rem(&self, den: &Expr) -> Option<(Expr, Expr)> {
        if let Some(d) = den.as_int() {
            return if d > 0 { self.div_rem_int(d) } else { None };
        }
        let lead = den.terms().first()?;
        let (mut quotient, mut rest) = (Expr::int(0), self.clone());
        for _ in 0..MAX_STEPS {
            let step = rest.terms().iter().find_map(|term| {
                let times = term.coeff.div_euclid(lead.coeff);
                let monomial = term.monomial.div(&lead.monomial)?;
                (times != 0).then_some((monomial, times))
            });
            let Some((monomial, times)) = step else {
                return Some((quotient, rest));
            };
            let step = Expr::from_monomial(monomial, times)?;
            rest = rest.try_sub(&step.try_mul(den)?)?;
            quotient = quotient.try_add(&step)?;
        }
        None
    }

    fn div_rem_int(&self, d: i64) -> Option<(Expr, Expr)> {
        let quotient = self.map_coeffs(|coeff| Some(coeff.div_euclid(d)))?;
        let rest = self.map_coeffs(|coeff| Some(coeff.rem_euclid(d)))?;
        Some((quotient, rest))
    }
}

/// Chooses between `floor(rest/d)` and its mirror image: the leading residue is at most `d/2`.
///
/// Residues of exactly `d/2` are their own image; then the sign that was written decides.
fn prefers_mirror(written: &Expr, rest: &Expr, d: i64) -> bool {
    let undecided = rest.terms().iter().find(|term| term.coeff != d - term.coeff);
    if let Some(term) = undecided {
        return term.coeff > d - term.coeff;
    }
    let first = rest.terms().first().map(|term| &term.monomial);
    written.terms().iter().any(|term| Some(&term.monomial) == first && term.coeff < 0)
}

/// Makes `floor(rest/d)` from coefficients in `[0, d)`: common factors out, nested floors flat.
fn reduced_floor(rest: &Expr, d: i64) -> Option<Expr> {
    let g = rest.terms().iter().fold(d, |g, term| gcd(g, term.coeff));
    let (num, d) = (rest.map_coeffs(|coeff| Some(coeff.div_euclid(g)))?, d / g);
    let mut nested = num.terms().iter().filter_map(|term| {
        let atom = term.monomial.as_atom().filter(|_| term.coeff == 1)?;
        atom.as_floor().map(|parts| (atom, parts))
    });
    let (Some((atom, (inner, den))), None) = (nested.next(), nested.next()) else {
        return Expr::from_compound(Compound::Floor(num, Expr::int(d)));
    };
    // floor((floor(a/b) + Y)/d) = floor((a + b*Y)/(b*d)): d is a positive integer.
    let others = num.try_sub(&Expr::from_monomial(Monomial::atom(atom.clone()), 1)?)?;
    inner.try_add(&den.try_mul(&others)?)?.floor_div(&den.scale(d)?)
}

/// Divides both by their greatest common monomial, coefficient included.
fn cancel(num: &Expr, den: &Expr) -> Option<(Expr, Expr)> {
    let (left, right) = (num.content(), den.content());
    let common = Expr::from_monomial(left.1.gcd(&right.1), gcd(left.0, right.0))?;
    if common.as_int() == Some(1) {
        return Some((num.clone(), den.clone()));
    }
    Some((num.exact_div(&common)?, den.exact_div(&common)?))
}

impl Expr {
    /// Returns the greatest integer and the greatest monomial that divide every term.
    fn content(&self) -> (i64, Monomial) {
        let coeff = self.terms().iter().fold(self.constant(), |g, term| gcd(g, term.coeff));
        if self.constant() != 0 {
            return (coeff, Monomial::default());
        }
        let mut monomials = self.terms().iter().map(|term| &term.monomial);
        let first = monomials.next().cloned().unwrap_or_default();
        (coeff, monomials.fold(first, |common, monomial| common.gcd(monomial)))
    }
}
