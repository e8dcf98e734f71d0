//! Conjunctions over the dimensions of a space and integer divisions.
//!
//! What [`Conjunction`](crate::Conjunction) is on the way in and out, this is inside: one allocation
//! for the rows, divisions shared between disjuncts. A guard of a polynomial is not one of these
//! (`count/quasi_polynomial/guard`): its floors are those of the polynomial.

use std::sync::Arc;

pub(crate) use crate::div::Div;
use crate::matrix::{evaluate, remap, zeros};
use crate::solve::bounds::{Bounds, bounds};
use crate::solve::feasible;
use crate::solve::number::{Number, widening};
use crate::solve::redundancy::{refill, remove_redundant_given};
use crate::solve::simplex::Simplex;
use crate::system::System;
use crate::{Budget, Error, Integer};

/// A conjunction; every local variable is a division with a definition.
///
/// Columns of the system: constant, dimensions, divisions. The bounds that follow
/// from a definition are not stored.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct BasicMap {
    pub dims: usize,
    pub divs: Arc<[Div]>,
    pub system: System,
}

impl BasicMap {
    pub fn universe(dims: usize) -> Self {
        Self { dims, divs: Arc::from([]), system: System::new(dims) }
    }

    pub fn with_divs(dims: usize, divs: Vec<Div>) -> Self {
        let system = System::new(dims + divs.len());
        Self { dims, divs: divs.into(), system }
    }

    pub fn cols(&self) -> usize {
        1 + self.dims + self.divs.len()
    }

    /// Adds the two bounds that define division `index` to `system`.
    pub fn bound_div(&self, index: usize, system: &mut System) {
        let (div, col) = (&self.divs[index], 1 + self.dims + index);
        let below = system.ineqs.len();
        system.ineqs.reserve(2);
        system.ineqs.push(&div.num);
        system.ineqs.row_mut(below)[col] -= &div.den;
        system.ineqs.push_all(div.num.iter().map(Integer::neg));
        let above = system.ineqs.row_mut(below + 1);
        above[col] += &div.den;
        above[0] += &div.den - 1;
    }

    /// Returns the system with the bounds of all divisions.
    pub fn unfolded(&self) -> System {
        let mut system = self.system.clone();
        for index in 0..self.divs.len() {
            self.bound_div(index, &mut system);
        }
        system
    }

    /// Returns the bounds of all divisions.
    pub fn bounds(&self) -> System {
        let mut system = System::new(self.cols() - 1);
        for index in 0..self.divs.len() {
            self.bound_div(index, &mut system);
        }
        system
    }

    /// Returns the divisions as columns and definitions.
    pub fn floors(&self) -> Vec<(usize, Div)> {
        let floor = |(index, div): (usize, &Div)| (self.dims + index, div.clone());
        self.divs.iter().enumerate().map(floor).collect()
    }

    pub fn is_empty(&self, budget: &Budget) -> Result<bool, Error> {
        let evident = widening!(T => evidence::<T>(self, budget))?;
        if let Some(empty) = evident {
            return Ok(empty);
        }
        feasible::is_empty(&self.unfolded(), &self.floors(), budget)
    }

    /// Finds a point; its coordinates are those of the dimensions.
    pub fn sample(&self, budget: &Budget) -> Result<Option<Vec<Integer>>, Error> {
        let point = feasible::point(&self.unfolded(), &self.floors(), budget)?;
        Ok(point.map(|mut point| {
            point.truncate(self.dims);
            point
        }))
    }

    /// Bounds a dimension on the rational relaxation; nothing if that is empty.
    pub fn bounds_of(&self, dim: usize, budget: &Budget) -> Result<Option<Bounds>, Error> {
        let mut form = zeros(self.cols());
        form[1 + dim] = Integer::ONE;
        bounds(&form, &self.unfolded(), budget)
    }

    /// Drops inequalities that the others imply.
    pub fn without_redundancy(mut self, budget: &Budget) -> Result<Self, Error> {
        let bounds = self.bounds();
        remove_redundant_given(&mut self.system, &bounds, budget)?;
        Ok(self)
    }

    /// Normalises rows and drops unused divisions; nothing is left of an obvious contradiction.
    pub fn tidied(mut self) -> Option<Self> {
        if !self.system.normalize() {
            return None;
        }
        if self.nests() {
            self = self.without_nests();
        }
        let mut used = vec![false; self.divs.len()];
        for index in (0..self.divs.len()).rev() {
            used[index] |= self.system.uses(1 + self.dims + index);
            if used[index] {
                for (inner, value) in self.divs[index].num[1 + self.dims..].iter().enumerate() {
                    used[inner] |= *value != 0;
                }
            }
        }
        if used.contains(&false) {
            self = self.without_divs(&used);
        }
        Some(self)
    }

    /// Returns whether a division is inside another.
    fn nests(&self) -> bool {
        self.divs.iter().any(|div| div.num[1 + self.dims..].iter().any(|v| *v != 0))
    }

    fn without_divs(&self, used: &[bool]) -> Self {
        let mut to: Vec<Option<usize>> = (0..=self.dims).map(Some).collect();
        let mut next = 1 + self.dims;
        for used in used {
            to.push(used.then_some(next));
            next += usize::from(*used);
        }
        let mut divs = Vec::new();
        for (div, _) in self.divs.iter().zip(used).filter(|(_, used)| **used) {
            let num = remap(&div.num, next, &to)[..1 + self.dims + divs.len()].to_vec();
            divs.push(Div { num, den: div.den.clone() });
        }
        Self { dims: self.dims, divs: divs.into(), system: self.system.remap(next, &to) }
    }

    pub fn intersect(&self, other: &Self) -> Option<Self> {
        self.joined(other).tidied()
    }

    /// Intersects two conjunctions; rows stay as they are.
    pub fn joined(&self, other: &Self) -> Self {
        let (divs, to) = merge(self.dims, &self.divs, &other.divs);
        let mut result = Self::with_divs(self.dims, divs);
        let system = &mut result.system;
        system.eqs.reserve(self.system.eqs.len() + other.system.eqs.len());
        system.ineqs.reserve(self.system.ineqs.len() + other.system.ineqs.len());
        system.extend(&self.system);
        other.system.eqs.rows().for_each(|row| system.eqs.push_placed(row, &to));
        other.system.ineqs.rows().for_each(|row| system.ineqs.push_placed(row, &to));
        result
    }

    /// Moves dimension `i` to `to[i]` among `dims` dimensions.
    pub fn place(&self, dims: usize, to: &[usize]) -> Self {
        let mut all = vec![Some(0)];
        all.extend(to.iter().map(|to| Some(1 + to)));
        all.extend((0..self.divs.len()).map(|i| Some(1 + dims + i)));
        let cols = 1 + dims + self.divs.len();
        let divs = self.divs.iter().enumerate().map(|(i, div)| Div {
            num: remap(&div.num, cols, &all)[..1 + dims + i].to_vec(),
            den: div.den.clone(),
        });
        Self { dims, divs: divs.collect(), system: self.system.remap(cols, &all) }
    }

    pub fn contains(&self, point: &[Integer]) -> bool {
        let mut all = point.to_vec();
        for div in self.divs.iter() {
            all.push(div.value(&all));
        }
        self.system.eqs.rows().all(|row| evaluate(row, &all).is_zero())
            && self.system.ineqs.rows().all(|row| evaluate(row, &all).sign() >= 0)
    }
}

/// Returns whether a conjunction is empty where its rational points, or one of them rounded, show it.
fn evidence<T: Number>(part: &BasicMap, budget: &Budget) -> Result<Option<bool>, Error> {
    let bounds = part.bounds();
    let mut simplex = Simplex::<T>::new(part.cols() - 1);
    simplex.reserve(part.system.size() + bounds.size());
    let mut narrow: Vec<T> = Vec::with_capacity(part.cols());
    for row in part.system.eqs.rows() {
        refill(&mut narrow, row)?;
        simplex.add_equation(&narrow, budget)?;
    }
    for row in bounds.ineqs.rows().chain(part.system.ineqs.rows()) {
        refill(&mut narrow, row)?;
        simplex.add_inequality(&narrow, budget)?;
    }
    if simplex.is_empty() {
        return Ok(Some(true));
    }
    let sample = simplex.sample();
    let dims = sample[..part.dims].iter();
    let point: Vec<Integer> = dims.map(|(num, den)| num.floor_div(den).integer()).collect();
    Ok(part.contains(&point).then_some(false))
}

/// Appends the divisions of `b` to those of `a`; returns where the columns of `b` go.
pub(crate) fn merge(dims: usize, a: &[Div], b: &[Div]) -> (Vec<Div>, Vec<Option<usize>>) {
    let mut divs = a.to_vec();
    let mut to: Vec<Option<usize>> = (0..=dims).map(Some).collect();
    for div in b {
        let cols = 1 + dims + divs.len();
        let num = remap(&div.num, cols, &to);
        let same = |old: &Div| {
            let (short, rest) = num.split_at(old.num.len());
            old.den == div.den && short == old.num && rest.iter().all(|v| *v == 0)
        };
        let found = divs.iter().position(same);
        to.push(Some(1 + dims + found.unwrap_or(divs.len())));
        if found.is_none() {
            divs.push(Div { num, den: div.den.clone() });
        }
    }
    (divs, to)
}
