//! Cardinality of sets and relations.
//!
//! Disjuncts are made disjoint first; each is counted in slices.

use super::function::PwQPolynomial;
use super::guard::Guard;
use super::piecewise::Pieces;
use super::quasi::QPolynomial;
use super::slices::slices;
use super::union::UnionPwQPolynomial;
use crate::{Budget, Conjunction, Error, Rational, Relation, Union};

impl Relation {
    /// Counts the points of a set, or the outputs for each input of a relation.
    ///
    /// The result is a function of the parameters, for a relation of those and the
    /// input. Exact; polynomial time for a fixed number of dimensions.
    ///
    /// # Errors
    /// [`Error::Unbounded`] if there are infinitely many; those of the budget.
    ///
    /// # Source
    /// isl `isl_set_card`, `isl_map_card`. Divergence: infinity is an error, not a value.
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
    let vars = fixed + outputs;
    let guard = Guard::from_conjunction(vars, part);
    let one = QPolynomial::constant(vars, Rational::ONE);
    summed(&guard, &one, fixed, outputs, budget)
}

/// Adds up the weights of the values of `dims` dimensions behind `params` parameters.
///
/// The sum is that of all functions returned.
pub(crate) fn summed(
    guard: &Guard,
    weight: &QPolynomial,
    params: usize,
    dims: usize,
    budget: &Budget,
) -> Result<Vec<Pieces>, Error> {
    let mut summands = Vec::new();
    for slice in slices(guard, weight, params, dims, budget)? {
        let pieces = slice.sum(budget).map_err(|error| match error {
            Error::Unbounded { dim } => {
                Error::Unbounded { dim: params + dim.min(dims.saturating_sub(1)) }
            }
            other => other,
        })?;
        summands.push(pieces);
    }
    Ok(summands)
}

impl Union {
    /// Counts the points of all sets together, and the outputs of relations for each input.
    ///
    /// Returns one function for each input tuple, and one of the parameters for all sets.
    ///
    /// # Errors
    /// [`Error::Unbounded`] if there are infinitely many; those of the budget.
    pub fn card(&self, budget: &Budget) -> Result<UnionPwQPolynomial, Error> {
        let counts = self.relations().map(|piece| piece.card(budget));
        UnionPwQPolynomial::collect(counts.collect::<Result<Vec<_>, _>>()?, budget)
    }
}
