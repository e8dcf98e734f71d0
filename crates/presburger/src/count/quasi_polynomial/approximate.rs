//! Polynomials in the place of quasi-polynomials: above them, below them, or near.
//!
//! `floor(e/d)` is `(e - r)/d` with a remainder `r` from 0 to `d - 1`. Written in variables and
//! remainders, a term with remainders is least or greatest where each of them is 0 or `d - 1`,
//! if the sign of its other factors is known; pieces are split by the signs of variables so that
//! it is.
//!
//! Source: isl `isl_pw_qpolynomial_to_polynomial`. Divergence: bounds are found remainder by
//! remainder, so that they may be others than isl's where floors are multiplied.

use super::floors::Linear;
use super::guard::Guard;
use super::{Monomial, QPolynomial};
use crate::count::bound::bernstein::Side;
use crate::count::piecewise::Pieces;
use crate::count::piecewise::pw_qpolynomial::PwQPolynomial;
use crate::{Budget, Error, Integer, Rational};

impl PwQPolynomial {
    /// Returns a function without floors in its values: nowhere less than this one with
    /// [`Side::Upper`], nowhere greater with [`Side::Lower`]. Without a side, floors are left out.
    ///
    /// A floor of `e/d` alone is at most `(d - 1)/d` away. Pieces double for each variable that is
    /// a factor of a floor, in odd powers.
    ///
    /// # Errors
    /// Those of the budget.
    pub fn to_polynomial(&self, side: Option<Side>, budget: &Budget) -> Result<Self, Error> {
        let mut pieces = Pieces::zero(self.pieces.vars());
        for (guard, value) in &self.pieces.all {
            budget.spend(value.len())?;
            if value.as_non_finite().is_some() {
                pieces.push(guard.clone(), value.clone());
                continue;
            }
            let (wide, tops) = remainders(value);
            let mut parts = vec![Part { guard: guard.clone(), negative: Vec::new() }];
            if side.is_some() {
                for atom in split_by(&wide, value.vars()) {
                    parts = halves(parts, atom, budget)?;
                }
            }
            for part in parts {
                let bound = bounded(&wide, &tops, &part, side);
                pieces.push(part.guard.simplified(budget)?, bound);
            }
        }
        Ok(Self { pieces: pieces.merged(budget)?, ..self.clone() })
    }
}

/// A part of a piece, and which of the variables that it was split by are negative there.
struct Part {
    guard: Guard,
    negative: Vec<u32>,
}

/// Writes a value in its variables and a remainder for each floor; returns the greatest
/// remainders as well.
fn remainders(value: &QPolynomial) -> (QPolynomial, Vec<Integer>) {
    let (vars, floors) = (value.vars(), &value.floors.all);
    let wide = vars + floors.len();
    let mut forms: Vec<_> = (0..vars).map(|at| QPolynomial::variable(wide, at)).collect();
    for (at, floor) in floors.iter().enumerate() {
        let constant = QPolynomial::constant(wide, Rational::from(floor.num[0].clone()));
        let sum = floor.num[1..].iter().zip(&forms).fold(constant, |sum, (factor, form)| {
            sum.add(&form.scale(&Rational::from(factor.clone())))
        });
        let rest = sum.sub(&QPolynomial::variable(wide, vars + at));
        forms.push(rest.scale(&Rational::reduced(Integer::ONE, floor.den.clone())));
    }
    let mut result = QPolynomial::zero(wide);
    for (monomial, factor) in &value.terms {
        let one = QPolynomial::constant(wide, factor.clone());
        let factors = monomial.iter().map(|atom| &forms[*atom as usize]);
        result = result.add(&factors.fold(one, |product, form| product.mul(form)));
    }
    let tops = floors.iter().map(|floor| floor.den.sub(&Integer::ONE)).collect();
    (result, tops)
}

/// Lists the variables whose signs decide those of terms with remainders.
fn split_by(value: &QPolynomial, vars: usize) -> Vec<u32> {
    let mut all = Vec::new();
    for monomial in value.terms.keys().filter(|m| m.iter().any(|atom| *atom as usize >= vars)) {
        for atom in monomial.iter().filter(|atom| (**atom as usize) < vars) {
            let odd = monomial.iter().filter(|other| *other == atom).count() % 2 == 1;
            if odd && !all.contains(atom) {
                all.push(*atom);
            }
        }
    }
    all
}

/// Splits each part where a variable is negative.
fn halves(parts: Vec<Part>, atom: u32, budget: &Budget) -> Result<Vec<Part>, Error> {
    let mut result = Vec::new();
    for Part { guard, negative } in parts {
        let mut above = guard.clone();
        let linear = |constant, sign| Linear { constant, terms: vec![(atom, sign)] };
        above.at_least_zero(&linear(Integer::ZERO, Integer::ONE));
        let mut below = guard;
        below.at_least_zero(&linear(Integer::MINUS_ONE, Integer::MINUS_ONE));
        let below_zero = [&negative[..], &[atom]].concat();
        for (guard, negative) in [(above, negative), (below, below_zero)] {
            if !guard.is_empty(budget)? {
                result.push(Part { guard, negative });
            }
        }
    }
    Ok(result)
}

/// Puts bounds for the remainders in a part where the signs of variables are known.
fn bounded(wide: &QPolynomial, tops: &[Integer], part: &Part, side: Option<Side>) -> QPolynomial {
    let vars = part.guard.floors.vars;
    let mut result = QPolynomial::zero(vars);
    for (monomial, factor) in &wide.terms {
        let (own, rest): (Monomial, Monomial) =
            monomial.iter().copied().partition(|atom: &u32| (*atom as usize) < vars);
        if rest.is_empty() {
            result.insert(own, factor.clone());
            continue;
        }
        let negative = own.iter().filter(|atom| part.negative.contains(atom)).count() % 2 == 1;
        let positive = (factor.numer().sign() > 0) != negative;
        let keep = match side {
            None => false,
            Some(Side::Upper) => positive,
            Some(Side::Lower) => !positive,
        };
        if keep {
            let top = rest.iter().map(|atom| &tops[*atom as usize - vars]);
            let top = top.fold(Integer::ONE, |product, top| product.mul(top));
            result.insert(own, factor.mul(&Rational::from(top)));
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use crate::Budget;
    use crate::count::{PwQPolynomial, Side};

    fn function(text: &str) -> PwQPolynomial {
        PwQPolynomial::parse(text, &Budget::unlimited()).unwrap()
    }

    #[test]
    fn floors_alone_give_isl_s_polynomials() {
        let budget = Budget::unlimited();
        let given = function("[n] -> { 3 * floor(n/2) - floor(n/5) : n >= 0 }");
        for (side, expected) in [
            (None, "[n] -> { 3/2 * n - 1/5 * n : n >= 0 }"),
            (Some(Side::Upper), "[n] -> { 3/2 * n - 1/5 * n + 4/5 : n >= 0 }"),
            (Some(Side::Lower), "[n] -> { 3/2 * n - 1/5 * n - 3/2 : n >= 0 }"),
        ] {
            let found = given.to_polynomial(side, &budget).unwrap();
            assert!(found.is_equal(&function(expected), &budget).unwrap(), "{found}");
        }
    }

    #[test]
    fn bounds_hold_at_every_point_and_have_no_floors() {
        let budget = Budget::unlimited();
        for text in [
            "[n] -> { [i] -> n * floor((n + i)/3) - floor(i/2)^2 }",
            "[n] -> { [i] -> floor(i/2) * floor((i + n)/3) * i : n > 2; [i] -> i^3 : n <= 2 }",
            "[n] -> { [i] -> n * i * floor((n + 2*floor(i/3))/4) : i = 3 or n < 4 }",
            "[n] -> { [i] -> 2 * floor(n/2) * floor(n/2) - i * floor(n/2) }",
        ] {
            let given = function(text);
            let near = given.to_polynomial(None, &budget).unwrap();
            let upper = given.to_polynomial(Some(Side::Upper), &budget).unwrap();
            let lower = given.to_polynomial(Some(Side::Lower), &budget).unwrap();
            for all in [&near, &upper, &lower] {
                let parts = all.parts().unwrap();
                assert!(parts.iter().all(|(_, value)| value.divisions().is_empty()), "{all}");
            }
            for point in (-7..8).flat_map(|n| (-7..8).map(move |i| [n, i])) {
                let value = given.evaluate(&point).unwrap();
                assert!(upper.evaluate(&point).unwrap() >= value, "{text} {point:?} {upper}");
                assert!(lower.evaluate(&point).unwrap() <= value, "{text} {point:?} {lower}");
            }
        }
    }
}
