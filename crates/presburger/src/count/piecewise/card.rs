//! Cardinality of sets and relations.
//!
//! Disjuncts are made disjoint first; each is counted in slices.

use super::Pieces;
use super::components::components;
use super::pw_qpolynomial::PwQPolynomial;
use super::union::UnionPwQPolynomial;
use crate::count::quasi_polynomial::QPolynomial;
use crate::count::quasi_polynomial::guard::Guard;
use crate::count::quasi_polynomial::nonfinite::{NonFinite, wherever};
use crate::count::slicing::remainders::{signed, without_exclusions};
use crate::count::slicing::slices;
use crate::{Budget, Conjunction, Error, Rational, Relation, Union};

impl Relation {
    /// Counts the points of a set, or the outputs for each input of a relation.
    ///
    /// The result is a function of the parameters, for a relation of those and the
    /// input. Exact; polynomial time for a fixed number of dimensions.
    ///
    /// Where there are infinitely many, the value is [`NonFinite::Infinity`](crate::count::NonFinite).
    ///
    /// # Errors
    /// Those of the budget.
    ///
    /// # Source
    /// isl `isl_set_card`, `isl_map_card`.
    pub fn card(&self, budget: &Budget) -> Result<PwQPolynomial, Error> {
        let space = self.space();
        let inputs = space.input.as_ref().map_or(0, |tuple| tuple.dims.len());
        let fixed = space.params.len() + inputs;
        let outputs = space.output.dims.len();
        let mut parts = Vec::new();
        for part in disjoint(self, budget)? {
            parts.extend(card_of(&part, fixed, outputs, budget)?);
        }
        let sum = Pieces::total(fixed, parts, budget)?;
        Ok(PwQPolynomial::new(space.params.clone(), space.input.clone(), sum))
    }
}

/// Splits into conjunctions without common points.
///
/// Divisions that bounds can stand in for are gone: each would count as a dimension.
pub(crate) fn disjoint(relation: &Relation, budget: &Budget) -> Result<Vec<Conjunction>, Error> {
    if relation.parts.len() < 2 {
        return Ok(relation.plain().conjunctions());
    }
    Ok(relation.make_disjoint(budget)?.plain().conjunctions())
}

/// Counts the values of `outputs` dimensions behind the `fixed` ones.
fn card_of(
    part: &Conjunction,
    fixed: usize,
    outputs: usize,
    budget: &Budget,
) -> Result<Vec<Pieces>, Error> {
    let mut parts = components(part, fixed, outputs).into_iter();
    let Some((first, dims)) = parts.next() else {
        return card_of_component(part, fixed, outputs, budget);
    };
    let mut sum = card_of_component(&first, fixed, dims, budget)?;
    let is_endless = |sum: &[Pieces]| sum.iter().any(Pieces::has_non_finite);
    // What goes on without end does so for all parameters: the product has infinitely many points
    // wherever it has one.
    let endless = || {
        let guard = Guard::from_conjunction(fixed + outputs, part).tidied();
        Ok(vec![wherever(&guard, fixed, outputs, NonFinite::Infinity, budget)?])
    };
    for (own, dims) in parts {
        if is_endless(&sum) {
            return endless();
        }
        let product = Pieces::total(fixed, sum, budget)?;
        if product.is_empty() {
            return Ok(Vec::new());
        }
        let own = card_of_component(&own, fixed, dims, budget)?;
        if is_endless(&own) {
            return endless();
        }
        sum = vec![product.mul(&Pieces::total(fixed, own, budget)?, budget)?];
    }
    Ok(sum)
}

/// As [`card_of`], of dimensions that belong together.
fn card_of_component(
    part: &Conjunction,
    fixed: usize,
    outputs: usize,
    budget: &Budget,
) -> Result<Vec<Pieces>, Error> {
    let vars = fixed + outputs;
    let guard = Guard::from_conjunction(vars, part).tidied();
    let one = QPolynomial::constant(vars, Rational::ONE);
    let Some(sums) = without_exclusions(&guard, budget)? else {
        return summed(&guard, &one, fixed, outputs, NonFinite::Infinity, budget);
    };
    let mut all = Vec::new();
    for (guard, subtracted) in sums {
        let sum = summed(&guard, &one, fixed, outputs, NonFinite::Infinity, budget)?;
        if sum.iter().any(Pieces::has_non_finite) {
            // All points are infinitely many where those with other remainders are.
            return summed(&guard, &one, fixed, outputs, NonFinite::Infinity, budget);
        }
        all.extend(sum.into_iter().map(|pieces| signed(pieces, subtracted)));
    }
    Ok(all)
}

/// Adds up the weights of the values of `dims` dimensions behind `params` parameters.
///
/// The sum is that of all functions returned; where it goes on without end it is `endless`.
pub(crate) fn summed(
    guard: &Guard,
    weight: &QPolynomial,
    params: usize,
    dims: usize,
    endless: NonFinite,
    budget: &Budget,
) -> Result<Vec<Pieces>, Error> {
    if weight.as_non_finite().is_some() {
        return summed_non_finite(guard, weight, params, dims, budget);
    }
    let mut summands = Vec::new();
    for slice in slices(guard, weight, params, dims, budget)? {
        match slice.sum(budget) {
            Ok(pieces) => summands.push(pieces),
            // The ways to go on without end are the same for all parameters and in all slices.
            Err(Error::Unbounded { .. }) => {
                return Ok(vec![wherever(guard, params, dims, endless, budget)?]);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(summands)
}

/// As `summed`, of a weight that is no number: it is the sum of finitely many, too.
fn summed_non_finite(
    guard: &Guard,
    weight: &QPolynomial,
    params: usize,
    dims: usize,
    budget: &Budget,
) -> Result<Vec<Pieces>, Error> {
    let one = QPolynomial::constant(weight.vars(), Rational::ONE);
    let counts = summed(guard, &one, params, dims, NonFinite::Infinity, budget)?;
    let is_endless = counts.iter().any(Pieces::has_non_finite);
    let value = weight.as_non_finite().filter(|_| !is_endless).unwrap_or(NonFinite::NaN);
    Ok(vec![wherever(guard, params, dims, value, budget)?])
}

impl Union {
    /// Counts the points of all sets together, and the outputs of relations for each input.
    ///
    /// Returns one function for each input tuple, and one of the parameters for all sets.
    ///
    /// # Errors
    /// Those of the budget.
    pub fn card(&self, budget: &Budget) -> Result<UnionPwQPolynomial, Error> {
        let counts = self.relations().map(|piece| piece.card(budget));
        UnionPwQPolynomial::collect(counts.collect::<Result<Vec<_>, _>>()?, budget)
    }
}
