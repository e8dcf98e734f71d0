//! Symbolic extents as parameters of sets.
//!
//! Each product of symbols, and each division, is a parameter of its own: sums of them with
//! factors are affine. That `batch * seq` is the product of two other parameters is not known to
//! the sets, which is sound.

use std::cell::RefCell;

use tangram_affine::symbolic::Expr;

/// The parameters of a function, in the order of their first use.
#[derive(Default, Debug)]
pub(crate) struct Parameters {
    monomials: Vec<Expr>,
    /// The first expression that was written and is over something else: our own mistake.
    unknown: RefCell<Option<Expr>>,
}

impl Parameters {
    /// Makes parameters of what `expr` is a sum of.
    pub fn add(&mut self, expr: &Expr) {
        for (monomial, _) in expr.affine_terms().0 {
            if !self.monomials.contains(&monomial) {
                self.monomials.push(monomial);
            }
        }
    }

    /// What each parameter stands for.
    pub fn expressions(&self) -> &[Expr] {
        &self.monomials
    }

    /// The names, as sets and code have them.
    pub fn names(&self) -> Vec<String> {
        (0..self.monomials.len()).map(name).collect()
    }

    /// The row `[constant, parameters..]` of an expression over known parameters.
    pub fn row(&self, expr: &Expr) -> Option<Vec<i128>> {
        let (terms, constant) = expr.affine_terms();
        let mut row = vec![0; 1 + self.monomials.len()];
        row[0] = i128::from(constant);
        for (monomial, factor) in terms {
            let at = self.monomials.iter().position(|known| *known == monomial)?;
            row[1 + at] = i128::from(factor);
        }
        Some(row)
    }

    /// The expression in C: a number, or something that binds as strongly.
    ///
    /// Of one that is over something else there is no text: [`Parameters::unknown`] tells, and
    /// whoever asked for the function refuses it.
    pub fn text(&self, expr: &Expr) -> String {
        self.known(expr).unwrap_or_else(|| {
            self.unknown.borrow_mut().get_or_insert_with(|| expr.clone());
            String::new()
        })
    }

    /// Returns the first expression whose text was asked for and that is over no parameters alone.
    pub fn unknown(&self) -> Option<Expr> {
        self.unknown.borrow().clone()
    }

    /// [`Parameters::text`], or nothing for an expression over something else.
    pub fn known(&self, expr: &Expr) -> Option<String> {
        let (terms, constant) = expr.affine_terms();
        let mut parts = Vec::new();
        for (monomial, factor) in terms {
            let at = self.monomials.iter().position(|known| *known == monomial)?;
            parts.push(match factor {
                1 => name(at),
                factor => format!("{factor} * {}", name(at)),
            });
        }
        if constant != 0 || parts.is_empty() {
            parts.push(constant.to_string());
        }
        Some(match &parts[..] {
            [part] if !part.contains(' ') && !part.starts_with('-') => part.clone(),
            _ => format!("({})", parts.join(" + ")),
        })
    }
}

fn name(at: usize) -> String {
    format!("n{at}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_over_something_else_is_told() {
        let (batch, other) = (Expr::symbol("batch"), Expr::symbol("other"));
        let mut parameters = Parameters::default();
        parameters.add(&batch);
        assert_eq!((parameters.text(&batch).as_str(), parameters.unknown()), ("n0", None));
        assert_eq!(parameters.text(&other), "");
        parameters.text(&Expr::symbol("third"));
        assert_eq!(parameters.unknown(), Some(other));
    }
}
