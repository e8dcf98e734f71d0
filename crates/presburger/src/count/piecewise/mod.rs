//! Piecewise quasi-polynomials: each piece holds where its guard does, and 0 elsewhere.

pub(super) mod apply;
pub(super) mod card;
pub(super) mod common_refinement;
mod components;
pub(super) mod parts;
pub(super) mod pw_qpolynomial;
pub(super) mod union;

use super::piecewise::common_refinement::overlay;
use super::quasi_polynomial::QPolynomial;
use super::quasi_polynomial::floors::{Floors, Linear};
use super::quasi_polynomial::guard::{Guard, units};
use crate::basic_map::BasicMap;
use crate::coalesce::coalesced;
use crate::{Budget, Error, Integer, Rational};

/// Disjoint pieces over numbered variables, without names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pieces {
    pub(crate) vars: usize,
    pub(crate) all: Vec<(Guard, QPolynomial)>,
}

impl Pieces {
    /// Makes the function that is 0 everywhere.
    pub fn zero(vars: usize) -> Self {
        Self { vars, all: Vec::new() }
    }

    /// The number of variables.
    pub fn vars(&self) -> usize {
        self.vars
    }

    /// The number of pieces.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns whether there is no piece, so that the function is 0.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The number of terms of all pieces.
    pub fn terms(&self) -> usize {
        self.all.iter().map(|(_, polynomial)| polynomial.len()).sum()
    }

    /// Adds a piece that no other overlaps.
    pub(crate) fn push(&mut self, guard: Guard, value: QPolynomial) {
        if !guard.never && !value.is_empty() {
            self.all.push((guard, value));
        }
    }

    /// Moves variable `i` to `to[i]` among `vars` variables.
    pub(crate) fn renumbered(&self, vars: usize, to: &[usize]) -> Self {
        let forms: Vec<Linear> = to.iter().map(|i| units(vars)[*i].clone()).collect();
        let values: Vec<_> = to.iter().map(|i| QPolynomial::variable(vars, *i)).collect();
        let mut result = Self::zero(vars);
        for (guard, value) in &self.all {
            let guard = Guard::over(&Floors::new(vars), &forms, guard);
            result.push(guard, value.renamed(vars, &values));
        }
        result
    }

    /// Returns the value at an integer point.
    pub fn evaluate(&self, point: &[Integer]) -> Rational {
        let piece = self.all.iter().find(|(guard, _)| guard.contains(point));
        piece.map_or(Rational::ZERO, |(_, polynomial)| polynomial.evaluate(point))
    }

    /// Adds; both have the same variables.
    pub fn add(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        let mut result = Self::zero(self.vars);
        let sum = |a: &QPolynomial, b: &QPolynomial| {
            budget.spend(a.size() + b.size())?;
            Ok(a.add(b))
        };
        for (guard, value) in overlay(&self.all, &other.all, sum, budget)? {
            budget.spend(value.size() / 4)?;
            result.push(guard, value);
        }
        result.merged(budget)
    }

    /// Adds up functions of the same variables.
    ///
    /// Neighbours first: they are often alike, and each function is laid over few others.
    pub(crate) fn total(vars: usize, summands: Vec<Self>, budget: &Budget) -> Result<Self, Error> {
        let mut left = summands;
        left.retain(|summand| !summand.is_empty());
        while left.len() > 1 {
            let mut next = Vec::new();
            for pair in left.chunks(2) {
                next.push(match pair {
                    [a, b] => a.add(b, budget)?,
                    [one, ..] => one.clone(),
                    [] => continue,
                });
            }
            left = next;
        }
        left.pop().unwrap_or_else(|| Self::zero(vars)).settled(budget)
    }

    /// Takes out of the values what the guards tell, which makes some of them the same.
    fn settled(self, budget: &Budget) -> Result<Self, Error> {
        let mut result = Self::zero(self.vars);
        for (guard, value) in self.all {
            let guard = guard.with_equations(budget)?;
            let value = value.under(&guard, budget)?;
            result.push(guard, value);
        }
        result.merged(budget)
    }

    /// Merges pieces with the same value where one guard holds exactly where theirs do.
    pub(crate) fn merged(self, budget: &Budget) -> Result<Self, Error> {
        let mut groups: Vec<(QPolynomial, Vec<Guard>)> = Vec::new();
        for (guard, value) in self.all {
            match groups.iter_mut().find(|(known, _)| *known == value) {
                Some((_, guards)) => guards.push(guard),
                None => groups.push((value, vec![guard])),
            }
        }
        let mut result = Self::zero(self.vars);
        for (value, guards) in groups {
            let guards = if guards.len() > 1 {
                let parts: Vec<BasicMap> = guards.iter().map(Guard::to_basic).collect();
                coalesced(&parts, false, budget)?.iter().map(Guard::from_basic).collect()
            } else {
                guards
            };
            guards.into_iter().for_each(|guard| result.push(guard, value.clone()));
        }
        Ok(result)
    }

    /// Multiplies with a number.
    pub fn scale(&self, factor: &Rational) -> Self {
        let mut result = Self::zero(self.vars);
        for (guard, value) in &self.all {
            result.push(guard.clone(), value.scale(factor));
        }
        result
    }

    /// Subtracts; both have the same variables.
    pub fn sub(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        self.add(&other.scale(&Rational::from(-1)), budget)
    }

    /// Multiplies; both have the same variables.
    pub fn mul(&self, other: &Self, budget: &Budget) -> Result<Self, Error> {
        let mut result = Self::zero(self.vars);
        for (left, a) in &self.all {
            for (right, b) in &other.all {
                let both = left.and(right);
                if !both.is_empty(budget)? {
                    budget.spend(a.len() * b.len() + a.size() + b.size())?;
                    result.push(both.simplified(budget)?, a.mul(b));
                }
            }
        }
        Ok(result)
    }
}
