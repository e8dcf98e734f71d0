//! The points where a guard holds, as polytopes whose points are counted or summed over.
//!
//! A floor of a summed dimension has one value for each point, so it counts as a further
//! dimension; a floor of parameters alone counts as a parameter until the end. Each further
//! dimension makes Barvinok's algorithm much slower, though, so that the points may first be cut
//! into classes and single values.

pub(super) mod remainders;
mod residue_classes;

use super::barvinok::polyhedron::Polyhedron;
use super::piecewise::Pieces;
use super::polytope::cone::Row;
use super::quasi_polynomial::QPolynomial;
use super::quasi_polynomial::floors::{Floors, Linear, bounds, substituted};
use super::quasi_polynomial::guard::{Guard, units};
use crate::{Budget, Error, Integer, Rational};
use residue_classes::{Choice, Points, Value};

/// Some of the points: a polytope over `[dimensions | parameters | floors of parameters]`.
pub(crate) struct Slice {
    places: Places,
    /// Where the points are, over parameters, dimensions and all floors.
    guard: Guard,
    /// The weight of the points, in the variables of the polytope.
    pub weight: QPolynomial,
    /// How many parameters are given.
    params: usize,
    floors: Floors,
    /// What the parameters of the polytope are in the given ones.
    known: Vec<Linear>,
}

/// Cuts the points where `guard` holds, over `params` parameters and `dims` dimensions.
pub(crate) fn slices(
    guard: &Guard,
    weight: &QPolynomial,
    params: usize,
    dims: usize,
    budget: &Budget,
) -> Result<Vec<Slice>, Error> {
    let (points, atoms) = Points::new(guard, weight, params, dims);
    let choices = points.choices(budget)?;
    let mut all = Vec::new();
    let mut picked = vec![0; dims];
    loop {
        budget.spend(1 + points.floors.all.len())?;
        let dimensions: Vec<Value> =
            choices.iter().zip(&picked).map(|(choice, at)| choice.value(*at)).collect();
        all.extend(points.slice(&dimensions, weight, &atoms, budget)?);
        // The next combination, the last dimension first.
        let Some(next) = (0..dims).rev().find(|dim| picked[*dim] + 1 < choices[*dim].count) else {
            return Ok(all);
        };
        picked[next] += 1;
        picked[next + 1..].fill(0);
    }
}

/// Returns the points where `guard` holds as one, a further dimension for each floor.
pub(crate) fn whole(
    guard: &Guard,
    weight: &QPolynomial,
    params: usize,
    dims: usize,
    budget: &Budget,
) -> Result<Option<Slice>, Error> {
    let (points, atoms) = Points::new(guard, weight, params, dims);
    let value = |_| Choice::whole().value(0);
    points.slice(&(0..dims).map(value).collect::<Vec<_>>(), weight, &atoms, budget)
}

impl Points<'_> {
    /// Returns the points whose dimensions have such values; none if there is a contradiction.
    fn slice(
        &self,
        dimensions: &[Value],
        weight: &QPolynomial,
        of_weight: &[Linear],
        budget: &Budget,
    ) -> Result<Option<Slice>, Error> {
        let kept = dimensions.iter().filter(|value| !value.step.is_zero()).count();
        let mut floors = Floors::new(self.params + kept);
        let mut atoms = units(self.params);
        let mut next = self.params as u32;
        for Value { start, step } in dimensions {
            let mut form = Linear { constant: start.clone(), terms: Vec::new() };
            if !step.is_zero() {
                form.terms.push((next, step.clone()));
                next += 1;
            }
            atoms.push(form);
        }
        for floor in &self.floors.all {
            let num = floors.row(&substituted(&floor.num, &atoms));
            atoms.push(floors.floor(num, floor.den.clone()));
        }
        let mut guard = Guard { floors: floors.clone(), ..Guard::default() };
        self.guard.eqs.iter().for_each(|row| guard.zero(&substituted(row, &atoms)));
        self.guard.ineqs.iter().for_each(|row| guard.at_least_zero(&substituted(row, &atoms)));
        if guard.never || self.guard.never || kept == 0 && guard.is_empty(budget)? {
            return Ok(None);
        }
        let places = Places::new(&floors, self.params, kept);
        let of_atom = |form: &Linear| {
            let mut sum = Linear { constant: form.constant.clone(), terms: Vec::new() };
            form.terms.iter().for_each(|(atom, v)| sum.add(v, &atoms[*atom as usize]));
            places.polynomial(&sum)
        };
        let values: Vec<QPolynomial> = of_weight.iter().map(of_atom).collect();
        // Floors of the weight are atoms like its variables.
        let plain = QPolynomial::over_atoms(values.len(), weight.terms.clone());
        let weight = plain.substitute(places.to.len(), &values, budget)?;
        let (own, known) = places.known(&floors, self.params);
        Ok(Some(Slice { places, guard, weight, params: self.params, floors: own, known }))
    }
}

impl Slice {
    /// The polytope, with the floors between their bounds.
    pub fn polyhedron(&self) -> Polyhedron {
        self.places.polyhedron(&self.guard, |_| true)
    }

    /// Counts the points, or adds up their weights, by the given parameters.
    pub fn sum(&self, budget: &Budget) -> Result<Pieces, Error> {
        let mut pieces = Pieces::zero(self.params);
        if self.places.dims == 0 {
            let (guard, value) = (self.guard.clone().simplified(budget)?, self.weight.clone());
            let (_, values) = self.given(&Guard::new(self.weight.vars()), vec![value], budget)?;
            values.into_iter().for_each(|value| pieces.push(guard.clone(), value));
            return Ok(pieces);
        }
        // Bounds of floors in the weight alone cut nothing, but make twice as many corners each.
        let used = self.guard.used_floors(self.places.free(self.guard.floors.vars));
        let polyhedron = self.places.polyhedron(&self.guard, |floor| used[floor]);
        let one = QPolynomial::constant(self.weight.vars(), Rational::ONE);
        let sum = match self.weight == one {
            true => polyhedron.card(budget)?,
            false => polyhedron.sum(&self.weight, budget)?,
        };
        for (guard, value) in sum.all {
            let (guard, values) = self.given(&guard, vec![value], budget)?;
            values.into_iter().for_each(|value| pieces.push(guard.clone(), value));
        }
        Ok(pieces)
    }

    /// Puts the given parameters for those of the polytope.
    pub fn given(
        &self,
        guard: &Guard,
        values: Vec<QPolynomial>,
        budget: &Budget,
    ) -> Result<(Guard, Vec<QPolynomial>), Error> {
        if self.known.len() == self.params {
            return Ok((guard.clone(), values));
        }
        let polynomial =
            |form: &Linear| QPolynomial::from_linear(self.floors.clone(), form, &Integer::ONE);
        let forms: Vec<QPolynomial> = self.known.iter().map(polynomial).collect();
        let guard = Guard::over(&self.floors, &self.known, guard).simplified(budget)?;
        let values = values.iter().map(|value| value.substitute(self.params, &forms, budget));
        Ok((guard, values.collect::<Result<_, _>>()?))
    }
}

/// Where parameters, dimensions and floors go among `[dimensions | parameters]` of a polytope.
struct Places {
    dims: usize,
    to: Vec<usize>,
}

impl Places {
    fn new(floors: &Floors, params: usize, kept: usize) -> Self {
        let mut free: Vec<bool> = (0..params + kept).map(|atom| atom >= params).collect();
        for floor in &floors.all {
            let mut used = floor.num[1..].iter().zip(&free);
            free.push(used.any(|(factor, free)| *free && !factor.is_zero()));
        }
        let dims = free.iter().filter(|free| **free).count();
        let (mut dim, mut param) = (0, dims);
        let mut to = Vec::new();
        for free in free {
            let next = if free { &mut dim } else { &mut param };
            to.push(*next);
            *next += 1;
        }
        Self { dims, to }
    }

    fn polynomial(&self, form: &Linear) -> QPolynomial {
        let vars = self.to.len();
        let constant = QPolynomial::constant(vars, form.constant.clone().into());
        form.terms.iter().fold(constant, |sum, (atom, factor)| {
            let variable = QPolynomial::variable(vars, self.to[*atom as usize]);
            sum.add(&variable.scale(&factor.clone().into()))
        })
    }

    fn row(&self, row: &[Integer]) -> Row {
        let mut result = vec![Integer::ZERO; self.to.len() + 1];
        result[self.to.len()] = row[0].clone();
        for (value, to) in row[1..].iter().zip(&self.to) {
            result[*to] = value.clone();
        }
        result
    }

    /// Says which floors are dimensions.
    fn free(&self, vars: usize) -> Vec<bool> {
        self.to[vars..].iter().map(|to| *to < self.dims).collect()
    }

    /// Makes a polytope of the points of a guard, and of the bounds of some floors.
    fn polyhedron(&self, guard: &Guard, bounded: impl Fn(usize) -> bool) -> Polyhedron {
        let floors = &guard.floors;
        let mut result = Polyhedron::new(self.dims, self.to.len() - self.dims);
        guard.eqs.iter().for_each(|row| result.push(self.row(row), true));
        guard.ineqs.iter().for_each(|row| result.push(self.row(row), false));
        for (index, floor) in floors.all.iter().enumerate().filter(|(index, _)| bounded(*index)) {
            let (low, high) = bounds(floor, 1 + floors.vars + index);
            result.push(self.row(&low), false);
            result.push(self.row(&high), false);
        }
        result
    }

    /// Returns the parameters of the polytope as forms over the given ones and their floors.
    fn known(&self, floors: &Floors, params: usize) -> (Floors, Vec<Linear>) {
        let mut own = Floors::new(params);
        let mut atoms = units(params);
        atoms.resize(floors.vars, Linear::default());
        let mut known = units(params);
        for (floor, to) in floors.all.iter().zip(&self.to[floors.vars..]) {
            if *to < self.dims {
                atoms.push(Linear::default());
                continue;
            }
            let num = own.row(&substituted(&floor.num, &atoms));
            atoms.push(own.floor(num, floor.den.clone()));
            known.extend(atoms.last().cloned());
        }
        (own, known)
    }
}
