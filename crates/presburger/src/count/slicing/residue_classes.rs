//! How points are cut into slices, so that fewer floors count as dimensions.
//!
//! With `x = 6 q + r` the floors of `x / 2` and `(x + n) / 3` are linear in `q` for each `r`, and a
//! dimension between two numbers takes one value after the other. Each dimension that is left
//! multiplies what a slice takes by much, and more so for weights of a high degree.

use crate::count::quasi_polynomial::QPolynomial;
use crate::count::quasi_polynomial::floors::{Floors, Linear};
use crate::count::quasi_polynomial::guard::Guard;
use crate::{Budget, Error, Integer, Rational};

/// The most slices.
const SLICES: u64 = 4096;

/// How many dimensions may be cut at once: all ways to do so are compared.
const CUT: usize = 5;

/// The values of a dimension, `count` classes with `step` and consecutive starts; a class of
/// step 0 is one value.
#[derive(Debug, Clone)]
pub(in crate::count) struct Choice {
    first: Integer,
    step: Integer,
    pub count: u64,
}

/// A dimension as `step * q + start`.
pub(in crate::count) struct Value {
    pub start: Integer,
    pub step: Integer,
}

impl Choice {
    pub fn whole() -> Self {
        Self { first: Integer::ZERO, step: Integer::ONE, count: 1 }
    }

    fn classes(step: Integer) -> Self {
        let count = step.to_i64().map_or(u64::MAX, i64::unsigned_abs);
        Self { first: Integer::ZERO, step, count }
    }

    fn values(low: &Integer, high: &Integer) -> Self {
        let length = high.sub(low).add(&Integer::ONE).to_i64();
        let count = length.map_or(u64::MAX, |length| length.max(0).unsigned_abs());
        Self { first: low.clone(), step: Integer::ZERO, count }
    }

    pub fn value(&self, at: u64) -> Value {
        Value { start: self.first.add(&Integer::from(at as i64)), step: self.step.clone() }
    }
}

/// The points of a guard, over its floors and those of a weight.
pub(in crate::count) struct Points<'a> {
    pub floors: Floors,
    pub guard: &'a Guard,
    pub params: usize,
    pub dims: usize,
    /// That of the weight.
    pub degree: usize,
}

impl<'a> Points<'a> {
    /// Returns the points, and what the atoms of `weight` are over their floors.
    pub fn new(
        guard: &'a Guard,
        weight: &QPolynomial,
        params: usize,
        dims: usize,
    ) -> (Self, Vec<Linear>) {
        let mut floors = guard.floors.clone();
        let atoms = floors.merge(&weight.floors);
        (Self { floors, guard, params, dims, degree: weight.degree() }, atoms)
    }

    /// Says how to cut each dimension.
    pub fn choices(&self, budget: &Budget) -> Result<Vec<Choice>, Error> {
        let slopes: Vec<Vec<Rational>> = (0..self.dims).map(|dim| self.slopes(dim)).collect();
        let mut best = vec![Choice::whole(); self.dims];
        if self.free(&best, &slopes) == 0 {
            return Ok(best);
        }
        let options = self.options(&slopes, budget)?;
        let mut least = self.cost(&best, &slopes);
        let mut picked = vec![0; self.dims];
        loop {
            budget.spend(self.dims + self.floors.all.len())?;
            let way: Vec<Choice> =
                options.iter().zip(&picked).map(|(all, at)| all[*at].clone()).collect();
            let cost = self.cost(&way, &slopes);
            if cost < least {
                (best, least) = (way, cost);
            }
            let next = (0..self.dims).rev().find(|dim| picked[*dim] + 1 < options[*dim].len());
            let Some(next) = next else { return Ok(best) };
            picked[next] += 1;
            picked[next + 1..].fill(0);
        }
    }

    /// Lists the ways to cut each dimension.
    fn options(
        &self,
        slopes: &[Vec<Rational>],
        budget: &Budget,
    ) -> Result<Vec<Vec<Choice>>, Error> {
        let part = self.guard.to_basic();
        let mut options = vec![vec![Choice::whole()]; self.dims];
        for dim in 0..self.dims.min(CUT) {
            let step = slopes[dim].iter().fold(Integer::ONE, |step, v| step.lcm(v.denom()));
            if step > Integer::ONE {
                options[dim].push(Choice::classes(step));
            }
            let bounds = part.bounds_of(self.params + dim, budget)?;
            if let Some((Some(low), Some(high))) = bounds {
                options[dim].push(Choice::values(&low, &high));
            }
            options[dim].retain(|choice| choice.count <= SLICES);
        }
        Ok(options)
    }

    /// Estimates what the slices take together.
    fn cost(&self, way: &[Choice], slopes: &[Vec<Rational>]) -> u64 {
        let slices = way.iter().fold(1_u64, |all, choice| all.saturating_mul(choice.count));
        if slices > SLICES {
            return u64::MAX;
        }
        let kept = way.iter().filter(|choice| !choice.step.is_zero()).count();
        let dims = (kept + self.free(way, slopes)).saturating_sub(self.guard.eqs.len()) as u64;
        let degree = self.degree as u64;
        // Cones, terms of a constant term, and terms of the weight.
        let mut each = 1_u64;
        for at in 1..=dims {
            each = each.saturating_mul(6 * (degree + dims + at)).saturating_mul(degree + at);
            each /= at * at;
        }
        // Each slice is laid over the others; for one parameter few of them meet.
        let overlay = slices.saturating_mul(30 * self.params.min(2) as u64);
        slices.saturating_mul(each.saturating_add(100).saturating_add(overlay))
    }

    /// Counts the floors that are not linear in each slice.
    fn free(&self, way: &[Choice], slopes: &[Vec<Rational>]) -> usize {
        let first = 1 + self.params + self.dims;
        let mut free: Vec<bool> = Vec::new();
        for (index, floor) in self.floors.all.iter().enumerate() {
            let bent = |(choice, slopes): (&Choice, &Vec<Rational>)| {
                !choice.step.mod_floor(slopes[index].denom()).is_zero()
            };
            let inner = floor.num.iter().skip(first).zip(&free);
            let nested = inner.into_iter().any(|(factor, free)| *free && !factor.is_zero());
            free.push(nested || way.iter().zip(slopes).any(bent));
        }
        free.iter().filter(|free| **free).count()
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
}
