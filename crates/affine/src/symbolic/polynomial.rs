//! Sums, differences and products.
//!
//! These are polynomials of symbols that are extents: 64 bits or refused, divisions and extrema
//! normalised. Those of counts (`QPolynomial` in `tangram-presburger`) have rational factors of any
//! size, those of C's subscripts (`polynomial` in `tangram-scop`) affine sums as factors.

use std::cmp::Ordering;

use super::Expr;
use super::expr::Term;

impl Expr {
    /// Adds; `None` on overflow or past a limit.
    pub fn try_add(&self, other: &Expr) -> Option<Expr> {
        if let (Some(a), Some(b)) = (self.as_int(), other.as_int()) {
            return a.checked_add(b).map(Expr::int);
        }
        if self.is_zero() {
            return Some(other.clone());
        }
        if other.is_zero() {
            return Some(self.clone());
        }
        let constant = self.constant().checked_add(other.constant())?;
        Expr::from_terms(merge(self.terms(), other.terms())?, constant)
    }

    /// Subtracts; `None` on overflow or past a limit.
    pub fn try_sub(&self, other: &Expr) -> Option<Expr> {
        if let (Some(a), Some(b)) = (self.as_int(), other.as_int()) {
            return a.checked_sub(b).map(Expr::int);
        }
        self.try_add(&other.neg()?)
    }

    /// Multiplies; `None` on overflow or past a limit.
    pub fn try_mul(&self, other: &Expr) -> Option<Expr> {
        match (self.as_int(), other.as_int()) {
            (Some(a), Some(b)) => a.checked_mul(b).map(Expr::int),
            (Some(a), None) => other.scale(a),
            (None, Some(b)) => self.scale(b),
            (None, None) => self.mul_polynomials(other),
        }
    }

    /// Negates; `None` only for the least `i64`.
    pub fn neg(&self) -> Option<Expr> {
        self.scale(-1)
    }

    pub(super) fn add_int(&self, value: i64) -> Option<Expr> {
        self.try_add(&Expr::int(value))
    }

    pub(super) fn scale(&self, factor: i64) -> Option<Expr> {
        match factor {
            0 => return Some(Expr::int(0)),
            1 => return Some(self.clone()),
            _ => {}
        }
        self.map_coeffs(|coeff| coeff.checked_mul(factor))
    }

    /// Maps every coefficient and the constant, and drops the terms that become zero.
    pub(super) fn map_coeffs(&self, map: impl Fn(i64) -> Option<i64>) -> Option<Expr> {
        let constant = map(self.constant())?;
        let mut terms = Vec::with_capacity(self.terms().len());
        for term in self.terms() {
            let coeff = map(term.coeff)?;
            if coeff != 0 {
                terms.push(Term { monomial: term.monomial.clone(), coeff });
            }
        }
        Expr::from_terms(terms, constant)
    }

    fn mul_polynomials(&self, other: &Expr) -> Option<Expr> {
        let mut products = Vec::with_capacity((self.terms().len() + 1) * (other.terms().len() + 1));
        for (a, b) in self.terms().iter().flat_map(|a| other.terms().iter().map(move |b| (a, b))) {
            let monomial = a.monomial.mul(&b.monomial)?;
            products.push(Term { monomial, coeff: a.coeff.checked_mul(b.coeff)? });
        }
        push_scaled(&mut products, self.terms(), other.constant())?;
        push_scaled(&mut products, other.terms(), self.constant())?;
        products.sort_by(|a, b| b.monomial.cmp(&a.monomial));
        let constant = self.constant().checked_mul(other.constant())?;
        Expr::from_terms(combine(products)?, constant)
    }
}

fn push_scaled(products: &mut Vec<Term>, terms: &[Term], factor: i64) -> Option<()> {
    if factor == 0 {
        return Some(());
    }
    for Term { monomial, coeff } in terms {
        products.push(Term { monomial: monomial.clone(), coeff: coeff.checked_mul(factor)? });
    }
    Some(())
}

/// Adds up neighbours with the same monomial.
fn combine(sorted: Vec<Term>) -> Option<Vec<Term>> {
    let mut terms: Vec<Term> = Vec::with_capacity(sorted.len());
    for term in sorted {
        match terms.last_mut() {
            Some(last) if last.monomial == term.monomial => {
                last.coeff = last.coeff.checked_add(term.coeff)?;
            }
            _ => terms.push(term),
        }
    }
    terms.retain(|term| term.coeff != 0);
    Some(terms)
}

fn merge(left: &[Term], right: &[Term]) -> Option<Vec<Term>> {
    let mut terms = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        match a.monomial.cmp(&b.monomial) {
            Ordering::Greater => terms.extend(left.next().cloned()),
            Ordering::Less => terms.extend(right.next().cloned()),
            Ordering::Equal => {
                let coeff = a.coeff.checked_add(b.coeff)?;
                if coeff != 0 {
                    terms.push(Term { monomial: a.monomial.clone(), coeff });
                }
                left.next();
                right.next();
            }
        }
    }
    terms.extend(left.cloned());
    terms.extend(right.cloned());
    Some(terms)
}
