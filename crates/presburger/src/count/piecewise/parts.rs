//! The pieces of functions one by one: where each holds, and the terms of its value.

use super::Pieces;
use super::apply::support;
use super::card::disjoint;
use super::pw_qpolynomial::PwQPolynomial;
use crate::count::quasi_polynomial::QPolynomial;
use crate::count::quasi_polynomial::guard::Guard;
use crate::count::quasi_polynomial::nonfinite::refuse;
use crate::{Aff, Budget, Division, Error, Integer, Rational, Relation, Space, Tuple};

impl PwQPolynomial {
    /// Returns the parameters and the tuple of the arguments, that of parameters if there is none.
    pub fn space(&self) -> Space {
        Space::set(self.params.clone(), self.domain.clone().unwrap_or_else(Tuple::params))
    }

    /// Returns the pieces, which do not overlap: where each holds, and the value there.
    ///
    /// The variables of a value are the parameters, then the dimensions.
    ///
    /// # Errors
    /// [`Error::NotFinite`] if the value of a piece is no polynomial; those of
    /// [`Relation::from_conjunctions`].
    pub fn parts(&self) -> Result<Vec<(Relation, QPolynomial)>, Error> {
        refuse(&self.pieces)?;
        let part = |(guard, value): &(Guard, QPolynomial)| {
            Ok((support(self.space(), [guard])?, value.clone()))
        };
        self.pieces.all.iter().map(part).collect()
    }

    /// Makes the function that is `value` at the points of a set, and 0 elsewhere.
    ///
    /// # Errors
    /// [`Error::Space`] for a relation; [`Error::Row`] unless there is a variable of `value` for
    /// each parameter and dimension of the set.
    pub fn on(set: &Relation, value: &QPolynomial, budget: &Budget) -> Result<Self, Error> {
        let space = set.space();
        if !set.is_set() {
            return Err(Error::Space { expected: "a set".into(), found: space.to_string() });
        }
        let (expected, found) = (space.dims(), value.vars());
        if expected != found {
            return Err(Error::Row { expected, found });
        }
        let mut pieces = Pieces::zero(expected);
        for part in disjoint(set, budget)? {
            pieces.push(Guard::from_conjunction(expected, &part), value.clone());
        }
        Ok(Self::new(space.params.clone(), Some(space.output.clone()), pieces))
    }

    /// Makes the function that has the values of a quasi-affine expression.
    ///
    /// # Errors
    /// Those of the budget.
    pub fn from_aff(aff: &Aff, budget: &Budget) -> Result<Self, Error> {
        let Space { params, input, .. } = aff.space().clone();
        let all = Relation::universe(Space::set(params, input.unwrap_or_default()));
        let vars = all.space().dims();
        let mut atoms: Vec<_> = (0..vars).map(|i| QPolynomial::variable(vars, i)).collect();
        let (row, divisor, divisions) = aff.coefficients();
        for division in divisions {
            let inner = linear(&division.numerator, &division.denominator, &atoms, vars);
            atoms.push(inner.floor().ok_or(Error::NotAffine)?);
        }
        Self::on(&all, &linear(&row, &divisor, &atoms, vars), budget)
    }

    /// Rewrites the function over a set space: coordinate `i` becomes coordinate `to[i]`.
    ///
    /// Coordinates are counted from the parameters on; those that none becomes are free.
    ///
    /// # Errors
    /// [`Error::Space`] for the space of a relation; [`Error::Row`] unless `to` names another
    /// coordinate for each that there is.
    pub fn placed(&self, space: &Space, to: &[usize]) -> Result<Self, Error> {
        if space.input.is_some() {
            return Err(Error::Space { expected: "a set".into(), found: space.to_string() });
        }
        crate::relation::check_places(self.pieces.vars(), space.dims(), to)?;
        let pieces = self.pieces.renumbered(space.dims(), to);
        Ok(Self::new(space.params.clone(), Some(space.output.clone()), pieces))
    }

    /// Merges pieces of the same value where one piece holds exactly where they do.
    ///
    /// # Errors
    /// Those of the budget.
    pub fn coalesce(&self, budget: &Budget) -> Result<Self, Error> {
        Ok(Self { pieces: self.pieces.clone().merged(budget)?, ..self.clone() })
    }
}

impl QPolynomial {
    /// Returns the terms: the factors of each, in ascending order and as often as its power
    /// says, and its coefficient.
    ///
    /// A factor below [`Self::vars`] is a variable, the next ones are those of
    /// [`Self::divisions`].
    pub fn terms(&self) -> impl Iterator<Item = (&[u32], &Rational)> {
        self.terms.iter().map(|(monomial, value)| (monomial.as_slice(), value))
    }

    /// Returns the floors that are factors of terms; each may use those before it.
    ///
    /// Numerators are over the constant, the variables, and the divisions before.
    pub fn divisions(&self) -> Vec<Division> {
        self.floors.divisions().map(|div| Division::from(&div)).collect()
    }
}

/// Returns a row over the constant and some atoms, divided by a number.
fn linear(row: &[Integer], by: &Integer, atoms: &[QPolynomial], vars: usize) -> QPolynomial {
    let part = |value: &Integer| Rational::reduced(value.clone(), by.clone());
    let constant = QPolynomial::constant(vars, part(&row[0]));
    row[1..].iter().zip(atoms).fold(constant, |sum, (factor, atom)| {
        if factor.is_zero() { sum } else { sum.add(&atom.scale(&part(factor))) }
    })
}

#[cfg(test)]
mod tests {
    use super::PwQPolynomial;
    use crate::count::QPolynomial;
    use crate::{Budget, Error, Rational, Relation, Space, Tuple};

    fn function(text: &str) -> PwQPolynomial {
        PwQPolynomial::parse(text, &Budget::unlimited()).unwrap()
    }

    #[test]
    fn parts_put_together_are_the_function() {
        let budget = Budget::unlimited();
        let text = "[n] -> { A[i] -> n * i^2 + floor((n + i)/3) : 0 <= i <= n; A[i] -> 7 : i < 0 }";
        let whole = function(text);
        let mut sum = function("[n] -> { A[i] -> 0 }");
        for (set, value) in whole.parts().unwrap() {
            let part = PwQPolynomial::on(&set, &value, &budget).unwrap();
            sum = sum.add(&part, &budget).unwrap();
        }
        assert_eq!(whole.parts().unwrap().len(), 2);
        assert!(sum.is_equal(&whole, &budget).unwrap());
        for (n, i) in [(4, 2), (5, 5), (3, -2), (-1, -1)] {
            assert_eq!(sum.evaluate(&[n, i]), whole.evaluate(&[n, i]));
        }
    }

    #[test]
    fn terms_name_variables_and_floors() {
        let (_, value) = function("[n] -> { [i] -> 1/2 * n^2 * floor((n + i)/3) + 5 }")
            .parts()
            .unwrap()
            .remove(0);
        let terms: Vec<_> = value.terms().map(|(m, v)| (m.to_vec(), v.clone())).collect();
        let half = Rational::new(1.into(), 2.into()).unwrap();
        assert_eq!(terms, [(vec![], Rational::from(5)), (vec![0, 0, 2], half)]);
        let [floor] = &value.divisions()[..] else { panic!("one floor") };
        assert_eq!(
            (floor.numerator.clone(), floor.denominator.clone()),
            (vec![0.into(), 1.into(), 1.into()], 3.into())
        );
    }

    #[test]
    fn expressions_are_functions() {
        let budget = Budget::unlimited();
        let text = "[n] -> { A[i] -> [(2n + floor((i + 2 * floor((n)/3))/5) - i/2)] }";
        let aff = crate::Aff::parse(text, &budget).unwrap();
        let value = PwQPolynomial::from_aff(&aff, &budget).unwrap();
        for point in [[0, 0], [7, 3], [-8, 11], [4, -9]] {
            assert_eq!(aff.eval(&point).unwrap(), value.evaluate(&point).unwrap());
        }
    }

    #[test]
    fn a_function_of_no_dimension_is_one_of_parameters() {
        let budget = Budget::unlimited();
        let set = Relation::parse("[n] -> { [] : n > 2 }", &budget).unwrap();
        let part = function("[n] -> { n }").intersect_domain(&set, &budget).unwrap();
        assert!(part.is_equal(&function("[n] -> { [] -> n : n >= 3 }"), &budget).unwrap());
        let map = Relation::parse("{ [i] -> [] : 0 <= i <= 4 }", &budget).unwrap();
        let sum = function("[n] -> { n }").apply(&map, &budget).unwrap();
        assert!(sum.is_equal(&function("[n] -> { [i] -> n : 0 <= i <= 4 }"), &budget).unwrap());
    }

    #[test]
    fn functions_move_to_other_places() {
        let budget = Budget::unlimited();
        let whole = function("[n] -> { A[i] -> n * i : 0 <= i <= n }");
        let space = Space::set(vec!["m".into(), "n".into()], Tuple::new("B", ["j"]));
        let moved = whole.placed(&space, &[2, 1]).unwrap();
        let expected = function("[m, n] -> { B[j] -> n * j : 0 <= n <= j }");
        assert!(moved.is_equal(&expected, &budget).unwrap());
        assert!(matches!(whole.placed(&space, &[1, 1]), Err(Error::Row { .. })));
        let map = Relation::parse("{ [i] -> [j] }", &budget).unwrap();
        let value = QPolynomial::zero(2);
        assert!(PwQPolynomial::on(&map, &value, &budget).is_err());
        let set = Relation::parse("{ [i] }", &budget).unwrap();
        assert!(PwQPolynomial::on(&set, &value, &budget).is_err());
    }
}
