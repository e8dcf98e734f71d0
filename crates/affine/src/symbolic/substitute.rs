//! Replacing symbols by expressions or by values. Depth of recursion: `MAX_DEPTH`.

use super::Expr;
use super::monomial::{Atom, Compound};

impl Expr {
    /// Replaces symbols; those for which `map` returns `None` stay.
    ///
    /// `None` on overflow, past a limit, and where a denominator becomes zero.
    pub fn substitute(&self, map: &dyn Fn(&str) -> Option<Expr>) -> Option<Expr> {
        let mut sum = Expr::int(self.constant());
        for term in self.terms() {
            let mut product = Expr::int(term.coeff);
            for (atom, power) in &term.monomial.0 {
                let value = atom.substitute(map)?;
                for _ in 0..*power {
                    product = product.try_mul(&value)?;
                }
            }
            sum = sum.try_add(&product)?;
        }
        Some(sum)
    }

    /// Evaluates; `None` where `map` is, where a divisor is zero, and where the value is no `i64`.
    ///
    /// Intermediate results are kept in `i128`.
    pub fn eval(&self, map: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
        self.eval_wide(map).and_then(|value| i64::try_from(value).ok())
    }

    fn eval_wide(&self, map: &dyn Fn(&str) -> Option<i64>) -> Option<i128> {
        let mut sum = i128::from(self.constant());
        for term in self.terms() {
            let mut product = i128::from(term.coeff);
            for (atom, power) in &term.monomial.0 {
                product = product.checked_mul(atom.eval(map)?.checked_pow(*power)?)?;
            }
            sum = sum.checked_add(product)?;
        }
        Some(sum)
    }
}

impl Atom {
    fn substitute(&self, map: &dyn Fn(&str) -> Option<Expr>) -> Option<Expr> {
        let fold = |args: &[Expr], join: fn(&Expr, &Expr) -> Option<Expr>| {
            let mut values = args.iter().map(|arg| arg.substitute(map));
            let first = values.next()??;
            values.try_fold(first, |result, value| join(&result, &value?))
        };
        match self {
            Self::Symbol(name) => Some(map(name).unwrap_or_else(|| Expr::symbol(name))),
            Self::Compound(compound) => match &**compound {
                Compound::Floor(num, den) => num.substitute(map)?.floor_div(&den.substitute(map)?),
                Compound::Trunc(num, den) => num.substitute(map)?.trunc_div(&den.substitute(map)?),
                Compound::Min(args) => fold(args, Expr::min),
                Compound::Max(args) => fold(args, Expr::max),
            },
        }
    }

    fn eval(&self, map: &dyn Fn(&str) -> Option<i64>) -> Option<i128> {
        match self {
            Self::Symbol(name) => map(name).map(i128::from),
            Self::Compound(compound) => {
                let values: Option<Vec<i128>> =
                    compound.children().iter().map(|child| child.eval_wide(map)).collect();
                let values = values?;
                match &**compound {
                    Compound::Floor(..) => floor_div(values[0], values[1]),
                    Compound::Trunc(..) => values[0].checked_div(values[1]),
                    Compound::Min(_) => values.into_iter().min(),
                    Compound::Max(_) => values.into_iter().max(),
                }
            }
        }
    }
}

/// Divides and rounds down.
pub(super) fn floor_div(num: i128, den: i128) -> Option<i128> {
    let (quotient, rest) = (num.checked_div(den)?, num.checked_rem(den)?);
    Some(if rest != 0 && (rest < 0) != (den < 0) { quotient - 1 } else { quotient })
}
