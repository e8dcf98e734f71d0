//! Cardinality of sets and relations.
//!
//! A division has one value for each point, so counting over dimensions and divisions
//! together counts the points. A division of parameters alone counts as a parameter
//! until the end, when its floor is put for it. Disjuncts are made disjoint first.

use super::function::PiecewiseQuasiPolynomial;
use super::guard::{Guard, units};
use super::piecewise::Pieces;
use super::polyhedron::Polyhedron;
use super::quasi::{Floors, Linear, QuasiPolynomial, substituted};
use crate::{Budget, Conjunction, Error, Integer, Relation, Union};

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
    pub fn card(&self, budget: &Budget) -> Result<PiecewiseQuasiPolynomial, Error> {
        let space = self.space();
        let inputs = space.input.as_ref().map_or(0, |tuple| tuple.dims.len());
        let fixed = space.params.len() + inputs;
        let outputs = space.output.dims.len();
        let mut sum = Pieces::zero(fixed);
        for part in disjoint(self, budget)? {
            let pieces = card_of(&part, fixed, outputs, budget)?;
            sum = if sum.is_empty() { pieces } else { sum.add(&pieces, budget)? };
        }
        Ok(PiecewiseQuasiPolynomial::new(space.params.clone(), space.input.clone(), sum))
    }
}

/// Splits into conjunctions without common points.
pub(crate) fn disjoint(relation: &Relation, budget: &Budget) -> Result<Vec<Conjunction>, Error> {
    let parts = relation.conjunctions();
    if parts.len() < 2 {
        return Ok(parts);
    }
    let single = |part: &Conjunction| {
        Relation::from_conjunctions(relation.space().clone(), std::slice::from_ref(part))
    };
    let mut result = Vec::new();
    let mut before: Vec<Relation> = Vec::new();
    for part in &parts {
        let mut rest = single(part)?;
        for earlier in &before {
            rest = rest.subtract(earlier, budget)?;
        }
        result.extend(rest.conjunctions());
        before.push(single(part)?);
    }
    Ok(result)
}

/// Counts the values of `outputs` dimensions behind the `fixed` ones.
fn card_of(
    part: &Conjunction,
    fixed: usize,
    outputs: usize,
    budget: &Budget,
) -> Result<Pieces, Error> {
    let layout = Layout::new(part, fixed, outputs);
    let counted = layout.polyhedron(part).card(budget).map_err(|error| match error {
        Error::Unbounded { dim } => {
            Error::Unbounded { dim: fixed + dim.min(outputs.saturating_sub(1)) }
        }
        other => other,
    })?;
    if layout.known.is_empty() { Ok(counted) } else { layout.put_floors(part, &counted, budget) }
}

/// Where the columns of a conjunction go: dimensions `[outputs | divisions]`, parameters
/// `[fixed | divisions of these]`.
struct Layout {
    fixed: usize,
    dims: usize,
    /// The divisions that depend on nothing but fixed dimensions.
    known: Vec<usize>,
    /// For each column of a row but the first, its place in `[dims | params | 1]`.
    to: Vec<usize>,
}

impl Layout {
    fn new(part: &Conjunction, fixed: usize, outputs: usize) -> Self {
        let mut of_fixed: Vec<bool> = (0..fixed + outputs).map(|i| i < fixed).collect();
        for division in &part.divisions {
            let used = division.numerator[1..].iter().zip(&of_fixed);
            let only = used.into_iter().all(|(value, fixed)| *value == 0 || *fixed);
            of_fixed.push(only);
        }
        let of_divisions = fixed + outputs;
        let known: Vec<usize> =
            (0..part.divisions.len()).filter(|i| of_fixed[of_divisions + i]).collect();
        let dims = outputs + part.divisions.len() - known.len();
        let (mut next_dim, mut next_param) = (0, dims);
        let mut to = Vec::new();
        for fixed in of_fixed {
            let next = if fixed { &mut next_param } else { &mut next_dim };
            to.push(*next);
            *next += 1;
        }
        Self { fixed, dims, known, to }
    }

    fn row(&self, row: &[Integer]) -> Vec<Integer> {
        let mut result = vec![Integer::ZERO; self.to.len() + 1];
        result[self.to.len()] = row[0].clone();
        for (value, to) in row[1..].iter().zip(&self.to) {
            result[*to] = value.clone();
        }
        result
    }

    fn polyhedron(&self, part: &Conjunction) -> Polyhedron {
        let mut result = Polyhedron::new(self.dims, self.fixed + self.known.len());
        part.equalities.iter().for_each(|row| result.push(self.row(row), true));
        part.inequalities.iter().for_each(|row| result.push(self.row(row), false));
        let first = self.to.len() - part.divisions.len();
        for (index, division) in part.divisions.iter().enumerate() {
            let mut low = self.row(&division.numerator);
            let column = self.to[first + index];
            low[column] = division.denominator.neg();
            let mut high: Vec<Integer> = low.iter().map(Integer::neg).collect();
            let last = high.len() - 1;
            high[last] += &division.denominator - 1;
            result.push(low, false);
            result.push(high, false);
        }
        result
    }

    /// Puts floors for the parameters that stand for divisions.
    fn put_floors(
        &self,
        part: &Conjunction,
        counted: &Pieces,
        budget: &Budget,
    ) -> Result<Pieces, Error> {
        let mut floors = Floors::new(self.fixed);
        let mut atoms = units(self.fixed);
        for index in &self.known {
            let division = &part.divisions[*index];
            let row = self.row(&division.numerator);
            let (params, last) = (&row[self.dims..], row.len() - 1);
            let mut num = vec![row[last].clone()];
            num.extend(params[..params.len() - 1].iter().take(atoms.len()).cloned());
            let num = floors.row(&substituted(&num, &atoms));
            atoms.push(floors.floor(num, division.denominator.clone()));
        }
        let polynomial =
            |atom: &Linear| QuasiPolynomial::from_linear(floors.clone(), atom, &Integer::ONE);
        let values: Vec<QuasiPolynomial> = atoms.iter().map(polynomial).collect();
        let mut result = Pieces::zero(self.fixed);
        for (guard, value) in &counted.all {
            let guard = Guard::over(&floors, &atoms, guard).simplified(budget)?;
            result.push(guard, value.substitute(self.fixed, &values));
        }
        Ok(result)
    }
}

/// Adds up the functions on each tuple; parameters are matched by name.
pub fn collect(
    functions: impl IntoIterator<Item = PiecewiseQuasiPolynomial>,
    budget: &Budget,
) -> Result<Vec<PiecewiseQuasiPolynomial>, Error> {
    let mut sums: Vec<PiecewiseQuasiPolynomial> = Vec::new();
    for function in functions {
        match sums.iter_mut().find(|sum| sum.domain() == function.domain()) {
            Some(sum) => *sum = sum.add(&function, budget)?,
            None => sums.push(function),
        }
    }
    Ok(sums)
}

impl Union {
    /// Counts the points of all sets together, and the outputs of relations for each input.
    ///
    /// Returns one function for each input tuple, and one of the parameters for all sets.
    ///
    /// # Errors
    /// [`Error::Unbounded`] if there are infinitely many; those of the budget.
    pub fn card(&self, budget: &Budget) -> Result<Vec<PiecewiseQuasiPolynomial>, Error> {
        let counts = self.relations().map(|piece| piece.card(budget));
        collect(counts.collect::<Result<Vec<_>, _>>()?, budget)
    }
}
