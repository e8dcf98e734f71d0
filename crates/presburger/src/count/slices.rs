//! The points where a guard holds, as polytopes whose points are counted or summed over.
//!
//! A floor of a summed dimension has one value for each point, so it counts as a further
//! dimension; a floor of parameters alone counts as a parameter until the end. Each further
//! dimension makes Barvinok's algorithm much slower, though. Where there are many, the points are
//! cut into slices: with `x = 6 q + r` the floors of `x / 2` and `(x + n) / 3` are linear in `q`
//! for each `r`, and a dimension of few values takes one after the other.

use super::cone::Row;
use super::floors::{Floors, Linear, bounds, substituted};
use super::guard::{Guard, units};
use super::piecewise::Pieces;
use super::polyhedron::Polyhedron;
use super::quasi::QPolynomial;
use crate::{Budget, Error, Integer, Rational};

/// How many slices stand in for one, two, and more floors that would be dimensions.
const SLICES: [i64; 5] = [2, 16, 256, 1024, 4096];

/// Some of the points: a polytope over `[dimensions | parameters | floors of parameters]`.
pub(crate) struct Slice {
    pub polyhedron: Polyhedron,
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
    let choices = points.choices();
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

/// The values of a dimension, `count` classes with `step` and consecutive starts; a class of
/// step 0 is one value.
struct Choice {
    first: Integer,
    step: Integer,
    count: i64,
}

/// A dimension as `step * q + start`.
struct Value {
    start: Integer,
    step: Integer,
}

impl Choice {
    fn whole() -> Self {
        Self { first: Integer::ZERO, step: Integer::ONE, count: 1 }
    }

    fn value(&self, at: i64) -> Value {
        Value { start: self.first.add(&Integer::from(at)), step: self.step.clone() }
    }
}

/// The points of a guard, over its floors and those of a weight.
struct Points<'a> {
    floors: Floors,
    guard: &'a Guard,
    params: usize,
    dims: usize,
}

impl<'a> Points<'a> {
    /// Returns the points, and what the atoms of `weight` are over their floors.
    fn new(
        guard: &'a Guard,
        weight: &QPolynomial,
        params: usize,
        dims: usize,
    ) -> (Self, Vec<Linear>) {
        let mut floors = guard.floors.clone();
        let atoms = floors.merge(&weight.floors);
        (Self { floors, guard, params, dims }, atoms)
    }

    /// Says how to cut each dimension.
    fn choices(&self) -> Vec<Choice> {
        let whole = || (0..self.dims).map(|_| Choice::whole()).collect();
        let slopes: Vec<Vec<Rational>> = (0..self.dims).map(|dim| self.slopes(dim)).collect();
        let floors = 0..self.floors.all.len();
        let free =
            floors.filter(|floor| slopes.iter().any(|slopes| !slopes[*floor].is_zero())).count();
        // Each equation takes a dimension away.
        let extra = free.saturating_sub(self.guard.eqs.len());
        let Some(limit) = extra.checked_sub(1).map(|at| SLICES[at.min(SLICES.len() - 1)]) else {
            return whole();
        };
        let mut choices: Vec<Choice> =
            slopes.iter().enumerate().map(|(dim, slopes)| self.choice(dim, slopes)).collect();
        // Those with the fewest classes first, as far as the limit goes.
        let mut order: Vec<usize> = (0..self.dims).collect();
        order.sort_by_key(|dim| choices[*dim].count);
        let mut slices = 1_i64;
        for dim in order {
            match slices.checked_mul(choices[dim].count).filter(|all| *all <= limit) {
                Some(all) => slices = all,
                None => choices[dim] = Choice::whole(),
            }
        }
        choices
    }

    /// Returns how much each floor grows with a dimension.
    fn slopes(&self, dim: usize) -> Vec<Rational> {
        let first = self.params + self.dims;
        let mut slopes: Vec<Rational> = Vec::new();
        for floor in &self.floors.all {
            let own = floor.num.get(1 + self.params + dim).cloned().unwrap_or(Integer::ZERO);
            let inner = floor.num.iter().skip(1 + first).zip(&slopes);
            let sum = inner.fold(Rational::from(own), |sum, (factor, slope)| {
                sum.add(&slope.mul(&Rational::from(factor.clone())))
            });
            slopes.push(sum.mul(&Rational::reduced(Integer::ONE, floor.den.clone())));
        }
        slopes
    }

    /// Takes the least step that makes all floors linear, or single values if they are fewer.
    fn choice(&self, dim: usize, slopes: &[Rational]) -> Choice {
        let step = slopes.iter().fold(Integer::ONE, |step, slope| step.lcm(slope.denom()));
        if step == Integer::ONE {
            return Choice::whole();
        }
        let count = |length: &Integer| length.to_i64().unwrap_or(i64::MAX);
        if let Some((low, high)) = self.ends(dim) {
            let length = high.sub(&low).add(&Integer::ONE);
            if length <= step {
                return Choice { first: low, step: Integer::ZERO, count: count(&length).max(1) };
            }
        }
        Choice { first: Integer::ZERO, count: count(&step), step }
    }

    /// Returns the bounds of a dimension by rows with nothing else in them, if there are two.
    fn ends(&self, dim: usize) -> Option<(Integer, Integer)> {
        let column = 1 + self.params + dim;
        let (mut low, mut high) = (None::<Integer>, None::<Integer>);
        for row in &self.guard.ineqs {
            let only = row.iter().enumerate().skip(1).all(|(i, v)| i == column || v.is_zero());
            let Some(factor) = row.get(column).filter(|factor| only && !factor.is_zero()) else {
                continue;
            };
            // `factor * x + row[0] >= 0`.
            let end = row[0].neg().div_floor(factor);
            if factor.sign() > 0 {
                let up = row[0].div_floor(factor).neg();
                low = Some(low.map_or(up.clone(), |known| known.max(up)));
            } else {
                high = Some(high.map_or(end.clone(), |known| known.min(end)));
            }
        }
        low.zip(high)
    }

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
        if guard.never || self.guard.never {
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
        let polyhedron = places.polyhedron(&guard, &floors);
        let (own, known) = places.known(&floors, self.params);
        Ok(Some(Slice { polyhedron, weight, params: self.params, floors: own, known }))
    }
}

impl Slice {
    /// Counts the points, or adds up their weights, by the given parameters.
    pub fn sum(&self, budget: &Budget) -> Result<Pieces, Error> {
        let one = QPolynomial::constant(self.weight.vars(), Rational::ONE);
        let sum = match self.weight == one {
            true => self.polyhedron.card(budget)?,
            false => self.polyhedron.sum(&self.weight, budget)?,
        };
        let mut pieces = Pieces::zero(self.params);
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

    fn polyhedron(&self, guard: &Guard, floors: &Floors) -> Polyhedron {
        let mut result = Polyhedron::new(self.dims, self.to.len() - self.dims);
        guard.eqs.iter().for_each(|row| result.push(self.row(row), true));
        guard.ineqs.iter().for_each(|row| result.push(self.row(row), false));
        for (index, floor) in floors.all.iter().enumerate() {
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
