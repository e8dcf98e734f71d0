//! Minima and maxima.

use super::Expr;
use super::monomial::{Atom, Compound};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Extremum {
    Min,
    Max,
}

impl Expr {
    /// Returns the lesser of the two; `None` on overflow or past a limit.
    ///
    /// On an owned value, write `Expr::min(&a, &b)`: method syntax finds [`Ord`]'s first.
    pub fn min(&self, other: &Expr) -> Option<Expr> {
        Extremum::Min.of(self, other)
    }

    /// Returns the greater of the two; `None` on overflow or past a limit.
    ///
    /// On an owned value, write `Expr::max(&a, &b)`: method syntax finds [`Ord`]'s first.
    pub fn max(&self, other: &Expr) -> Option<Expr> {
        Extremum::Max.of(self, other)
    }
}

impl Extremum {
    fn of(self, a: &Expr, b: &Expr) -> Option<Expr> {
        if let (Some(a), Some(b)) = (a.as_int(), b.as_int()) {
            return Some(Expr::int(if self == Self::Min { a.min(b) } else { a.max(b) }));
        }
        let mut args = Vec::new();
        self.collect(a, &mut args)?;
        self.collect(b, &mut args)?;
        self.normal(args)
    }

    /// Inserts the arguments of `expr`, where it is such an extremum plus a constant, or itself.
    fn collect(self, expr: &Expr, args: &mut Vec<Expr>) -> Option<()> {
        let shift = expr.constant();
        let parts = match expr.terms() {
            [term] => match (term.monomial.as_atom(), term.coeff) {
                (Some(Atom::Compound(compound)), sign @ (1 | -1)) => {
                    self.parts(compound, sign).map(|parts| (parts, sign))
                }
                _ => None,
            },
            _ => None,
        };
        let Some((parts, sign)) = parts else {
            return self.insert(expr.clone(), args);
        };
        for part in parts {
            self.insert(part.scale(sign)?.add_int(shift)?, args)?;
        }
        Some(())
    }

    fn parts(self, compound: &Compound, sign: i64) -> Option<&[Expr]> {
        match (compound, self, sign) {
            (Compound::Min(args), Self::Min, 1) | (Compound::Min(args), Self::Max, -1) => {
                Some(args)
            }
            (Compound::Max(args), Self::Max, 1) | (Compound::Max(args), Self::Min, -1) => {
                Some(args)
            }
            _ => None,
        }
    }

    /// Inserts one argument, or settles it against one that differs by a constant.
    fn insert(self, arg: Expr, args: &mut Vec<Expr>) -> Option<()> {
        let Some(same) = args.iter_mut().find(|other| other.terms() == arg.terms()) else {
            args.push(arg);
            return Some(());
        };
        let less = arg.constant() < same.constant();
        if less == (self == Self::Min) {
            *same = arg;
        }
        Some(())
    }

    /// Shifts so that the first symbolic argument has constant 0 and a positive leading term.
    fn normal(self, mut args: Vec<Expr>) -> Option<Expr> {
        if let [only] = args.as_slice() {
            return Some(only.clone());
        }
        let sign = args.iter().filter(|arg| !arg.is_int()).max()?.leading_coeff().signum();
        for arg in &mut args {
            *arg = arg.scale(sign)?;
        }
        let shift = args.iter().filter(|arg| !arg.is_int()).max()?.constant();
        for arg in &mut args {
            *arg = arg.try_sub(&Expr::int(shift))?;
        }
        args.sort_by(|a, b| b.cmp(a));
        let compound = match (self, sign < 0) {
            (Self::Min, false) | (Self::Max, true) => Compound::Min(args.into()),
            _ => Compound::Max(args.into()),
        };
        Expr::from_compound(compound)?.add_int(shift)?.scale(sign)
    }
}
