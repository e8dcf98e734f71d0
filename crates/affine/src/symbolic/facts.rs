//! Assumptions on symbols, and what follows from them.

use std::collections::BTreeMap;

use super::Expr;
use super::linear::Linearizer;
use super::monomial::{Atom, Compound, Monomial};

/// Answers a question about all values that the symbols may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Truth {
    /// It holds for all of them.
    True,
    /// It holds for none of them.
    False,
    /// Neither was shown.
    Unknown,
}

impl Truth {
    /// Tells whether it was shown to hold.
    pub fn is_true(self) -> bool {
        self == Self::True
    }

    /// Tells whether it was shown never to hold.
    pub fn is_false(self) -> bool {
        self == Self::False
    }
}

/// Holds assumptions: a lower bound for each symbol, 0 by default, equalities and inequalities.
///
/// Questions range over the integer values that meet the assumptions and for which no divisor is
/// zero. Affine questions are decided; what is not affine gets a sound answer or
/// [`Truth::Unknown`]. Assumptions that contradict each other imply everything.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    default_lower: i64,
    lower: BTreeMap<String, i64>,
    zeros: Vec<Expr>,
    nonnegatives: Vec<Expr>,
}

impl Facts {
    /// Assumes that every symbol is at least 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// Assumes that every symbol is at least `lower`.
    pub fn with_default_lower(lower: i64) -> Self {
        Self { default_lower: lower, ..Self::default() }
    }

    /// Sets the lower bound of one symbol, in place of the default.
    pub fn set_lower(&mut self, symbol: &str, lower: i64) {
        self.lower.insert(symbol.to_owned(), lower);
    }

    /// Assumes `a = b`; returns whether it could be recorded (not on overflow).
    pub fn assume_equal(&mut self, a: &Expr, b: &Expr) -> bool {
        let difference = a.try_sub(b);
        self.zeros.extend(difference.clone());
        difference.is_some()
    }

    /// Assumes `a <= b`; returns whether it could be recorded (not on overflow).
    pub fn assume_less_equal(&mut self, a: &Expr, b: &Expr) -> bool {
        let difference = b.try_sub(a);
        self.nonnegatives.extend(difference.clone());
        difference.is_some()
    }

    /// Assumes that `d` divides `a`; returns whether it could be recorded.
    pub fn assume_divides(&mut self, d: &Expr, a: &Expr) -> bool {
        a.modulo(d).is_some_and(|rest| self.assume_equal(&rest, &Expr::int(0)))
    }

    /// Decides `a = b`.
    pub fn equal(&self, a: &Expr, b: &Expr) -> Truth {
        if a == b {
            return Truth::True;
        }
        let Some(difference) = a.try_sub(b) else { return Truth::Unknown };
        if let Some(value) = difference.as_int() {
            return if value == 0 { Truth::True } else { Truth::False };
        }
        let Some(opposite) = difference.neg() else { return Truth::Unknown };
        if self.excludes_below_zero(&opposite) && self.excludes_below_zero(&difference) {
            return Truth::True;
        }
        let mut system = Linearizer::new(self);
        system.assume_zero(&difference);
        if system.contradicts() { Truth::False } else { Truth::Unknown }
    }

    /// Decides `a <= b`.
    pub fn less_equal(&self, a: &Expr, b: &Expr) -> Truth {
        b.try_sub(a).map_or(Truth::Unknown, |difference| self.nonneg(&difference))
    }

    /// Decides `a < b`.
    pub fn less(&self, a: &Expr, b: &Expr) -> Truth {
        b.try_sub(a).map_or(Truth::Unknown, |difference| self.positive(&difference))
    }

    /// Decides `a >= 0`.
    pub fn nonneg(&self, a: &Expr) -> Truth {
        if self.lower(a).is_some_and(|lower| lower >= 0) || self.excludes_below_zero(a) {
            return Truth::True;
        }
        let mut system = Linearizer::new(self);
        system.assume_nonneg(a, 0);
        if system.contradicts() { Truth::False } else { Truth::Unknown }
    }

    /// Decides `a > 0`.
    pub fn positive(&self, a: &Expr) -> Truth {
        a.add_int(-1).map_or(Truth::Unknown, |less| self.nonneg(&less))
    }

    /// Decides whether `d` divides `a`.
    pub fn divides(&self, d: &Expr, a: &Expr) -> Truth {
        if a.is_zero() || a.exact_div(d).is_some() {
            return Truth::True;
        }
        a.modulo(d).map_or(Truth::Unknown, |rest| self.equal(&rest, &Expr::int(0)))
    }

    /// Returns the greater of two expressions, as one of them where the facts compare them.
    pub fn max(&self, a: &Expr, b: &Expr) -> Option<Expr> {
        match (self.less_equal(a, b), self.less_equal(b, a)) {
            (Truth::True, _) => Some(b.clone()),
            (_, Truth::True) => Some(a.clone()),
            _ => a.max(b),
        }
    }

    /// Returns the lesser of two expressions, as one of them where the facts compare them.
    pub fn min(&self, a: &Expr, b: &Expr) -> Option<Expr> {
        match (self.less_equal(a, b), self.less_equal(b, a)) {
            (Truth::True, _) => Some(a.clone()),
            (_, Truth::True) => Some(b.clone()),
            _ => a.min(b),
        }
    }

    /// Divides toward zero: a floor or a ceiling where the facts know the signs.
    ///
    /// `None` as [`Expr::floor_div`].
    pub fn trunc_div(&self, a: &Expr, b: &Expr) -> Option<Expr> {
        let (num, den) = if self.nonneg(b).is_true() {
            (a.clone(), b.clone())
        } else if self.positive(b).is_false() {
            (a.neg()?, b.neg()?)
        } else {
            return a.trunc_div(b);
        };
        if self.nonneg(&num).is_true() {
            return num.floor_div(&den);
        }
        if self.positive(&num).is_false() { num.ceil_div(&den) } else { a.trunc_div(b) }
    }

    /// Returns whether `a <= -1` was shown impossible.
    fn excludes_below_zero(&self, a: &Expr) -> bool {
        let Some(negated) = a.neg() else { return false };
        let mut system = Linearizer::new(self);
        system.assume_nonneg(&negated, -1);
        system.contradicts()
    }

    pub(super) fn zeros(&self) -> &[Expr] {
        &self.zeros
    }

    pub(super) fn nonnegatives(&self) -> &[Expr] {
        &self.nonnegatives
    }

    /// Returns a lower bound from the bounds of atoms alone. Depth of recursion: `MAX_DEPTH`.
    pub(super) fn lower(&self, expr: &Expr) -> Option<i128> {
        expr.terms().iter().try_fold(i128::from(expr.constant()), |sum, term| {
            let lower = self.monomial_lower(&term.monomial).filter(|_| term.coeff > 0)?;
            sum.checked_add(lower.checked_mul(i128::from(term.coeff))?)
        })
    }

    pub(super) fn monomial_lower(&self, monomial: &Monomial) -> Option<i128> {
        if let Some(atom) = monomial.as_atom() {
            return self.atom_lower(atom);
        }
        monomial.0.iter().try_fold(1i128, |product, (atom, power)| {
            let lower = self.atom_lower(atom).filter(|lower| *lower >= 0);
            let lower = if power % 2 == 0 { lower.or(Some(0)) } else { lower };
            product.checked_mul(lower?.checked_pow(*power)?)
        })
    }

    pub(super) fn atom_lower(&self, atom: &Atom) -> Option<i128> {
        let compound = match atom {
            Atom::Symbol(name) => {
                let lower = self.lower.get(&**name).unwrap_or(&self.default_lower);
                return Some(i128::from(*lower));
            }
            Atom::Compound(compound) => compound,
        };
        match &**compound {
            Compound::Max(args) => args.iter().filter_map(|arg| self.lower(arg)).max(),
            Compound::Min(args) => {
                let lowers: Option<Vec<i128>> = args.iter().map(|arg| self.lower(arg)).collect();
                lowers?.into_iter().min()
            }
            Compound::Floor(num, den) => match den.as_int() {
                Some(d) => Some(self.lower(num)?.div_euclid(i128::from(d))),
                None => self.fraction_lower(num, den),
            },
            Compound::Trunc(num, den) => self.fraction_lower(num, den),
        }
    }

    /// Returns 0 for a numerator and a denominator that are not negative: the latter is not 0.
    fn fraction_lower(&self, num: &Expr, den: &Expr) -> Option<i128> {
        let nonneg = |expr| self.lower(expr).is_some_and(|lower| lower >= 0);
        (nonneg(num) && nonneg(den)).then_some(0)
    }
}
