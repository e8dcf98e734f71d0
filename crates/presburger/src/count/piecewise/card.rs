//! Cardinality of sets and relations.
//!
//! Disjuncts are made disjoint first; each is counted in slices. Where that takes long and there are
//! few points, they are counted one by one.

use super::Pieces;
use super::components::components;
use super::pw_qpolynomial::PwQPolynomial;
use super::union::UnionPwQPolynomial;
use crate::count::quasi_polynomial::QPolynomial;
use crate::count::quasi_polynomial::guard::Guard;
use crate::count::quasi_polynomial::nonfinite::{NonFinite, wherever};
use crate::count::slicing::remainders::{signed, without_exclusions};
use crate::count::slicing::slices;
use crate::{Budget, Conjunction, Error, Integer, Rational, Relation, Union};

/// The most points in boxes around disjuncts that are counted one by one, and what that may take.
const POINTS: i64 = 1_000_000;
const POINTS_STEPS: u64 = 8_000_000;
/// What the usual way may take for each of those, and in all, before they are counted one by one.
const USUAL_STEPS: u64 = 50;
const ALL_USUAL_STEPS: u64 = 2_000_000;
/// Up to how many dimensions a disjunct without divisions is counted in no time.
const EASY_DIMS: usize = 4;

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
        if fixed == 0
            && let Some(points) = self.few_points(budget)?
        {
            let steps = (USUAL_STEPS * points).min(ALL_USUAL_STEPS);
            if let Some(count) = budget.attempt(steps, |budget| self.card_over(fixed, budget))? {
                return Ok(count);
            }
            if let Some(count) = budget.attempt(POINTS_STEPS, |own| self.card_of_points(own))? {
                return Ok(count);
            }
        }
        self.card_over(fixed, budget)
    }

    /// Returns how many points boxes around the disjuncts have, if these are few and to count them
    /// otherwise may take long.
    fn few_points(&self, budget: &Budget) -> Result<Option<u64>, Error> {
        if self.parts.iter().all(|part| part.divs.is_empty() && part.dims <= EASY_DIMS) {
            return Ok(None);
        }
        let mut all = Integer::ZERO;
        for part in self.parts.iter() {
            let mut points = Integer::ONE;
            for dim in 0..part.dims {
                match part.bounds_of(dim, budget)? {
                    None => points = Integer::ZERO,
                    Some((Some(low), Some(high))) => points *= high - low + 1,
                    Some(_) => return Ok(None),
                }
            }
            all += points;
            if all > POINTS {
                return Ok(None);
            }
        }
        Ok(all.to_i64().and_then(|all| u64::try_from(all).ok()))
    }

    /// Counts the points of a set without parameters one by one.
    fn card_of_points(&self, budget: &Budget) -> Result<PwQPolynomial, Error> {
        let count = Integer::from(self.points(budget)?.len());
        let mut pieces = Pieces::zero(0);
        if !count.is_zero() {
            pieces.push(Guard::new(0), QPolynomial::constant(0, count.into()));
        }
        let space = self.space();
        Ok(PwQPolynomial::new(space.params.clone(), space.input.clone(), pieces))
    }

    fn card_over(&self, fixed: usize, budget: &Budget) -> Result<PwQPolynomial, Error> {
        let space = self.space();
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
