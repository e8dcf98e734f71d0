//! Conjunctions over the dimensions of a space and integer divisions.

use std::sync::Arc;

use crate::eliminate::{Branch, eliminate};
use crate::matrix::{add, combine, evaluate, gcd, negated, remap};
use crate::system::System;
use crate::{Budget, Error};

/// `floor(num / den)`, where `num` ranges over constant, dimensions and earlier divisions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Div {
    pub num: Vec<i128>,
    pub den: i128,
}

/// A conjunction; every local variable is a division with a definition.
///
/// Columns of the system: constant, dimensions, divisions. The bounds that follow
/// from a definition are not stored.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Basic {
    pub dims: usize,
    pub divs: Arc<[Div]>,
    pub system: System,
}

impl Basic {
    pub fn universe(dims: usize) -> Self {
        Self { dims, divs: Arc::from([]), system: System::new(dims) }
    }

    pub fn with_divs(dims: usize, divs: Vec<Div>) -> Self {
        let system = System::new(dims + divs.len());
        Self { dims, divs: divs.into(), system }
    }

    fn cols(&self) -> usize {
        1 + self.dims + self.divs.len()
    }

    /// Adds the two bounds that define division `index` to `system`.
    fn bound_div(&self, index: usize, system: &mut System) -> Result<(), Error> {
        let div = &self.divs[index];
        let mut unit = vec![0; self.cols()];
        unit[1 + self.dims + index] = 1;
        system.ineqs.push(&combine(1, &div.num, -div.den, &unit)?);
        let mut above = combine(-1, &div.num, div.den, &unit)?;
        above[0] = add(above[0], div.den - 1)?;
        system.ineqs.push(&above);
        Ok(())
    }

    /// Returns the system with the bounds of all divisions, and its variables' columns.
    pub fn unfolded(&self) -> Result<(System, std::ops::Range<usize>), Error> {
        let mut system = self.system.clone();
        for index in 0..self.divs.len() {
            self.bound_div(index, &mut system)?;
        }
        Ok((system, 1..self.cols()))
    }

    pub fn is_empty(&self, budget: &Budget) -> Result<bool, Error> {
        let (system, cols) = self.unfolded()?;
        Ok(eliminate(system, cols.collect(), true, budget)?.is_empty())
    }

    /// Projects away the dimensions in `range`, exactly.
    pub fn project(
        &self,
        range: std::ops::Range<usize>,
        budget: &Budget,
    ) -> Result<Vec<Self>, Error> {
        let mut gone: Vec<bool> =
            (0..self.cols()).map(|c| c > 0 && range.contains(&(c - 1))).collect();
        let mut system = self.system.clone();
        for (index, div) in self.divs.iter().enumerate() {
            if div.num.iter().zip(&gone).any(|(v, gone)| *v != 0 && *gone) {
                gone[1 + self.dims + index] = true;
                self.bound_div(index, &mut system)?;
            }
        }
        let cols = (0..self.cols()).filter(|c| gone[*c]).collect();
        let branches = eliminate(system, cols, false, budget)?;
        let mut result = Vec::new();
        for branch in branches {
            if let Some(piece) = self.rebuild(&branch, &gone, range.len())?
                && !result.contains(&piece)
                && !piece.is_empty(budget)?
            {
                result.push(piece);
            }
        }
        Ok(result)
    }

    fn rebuild(
        &self,
        branch: &Branch,
        gone: &[bool],
        removed: usize,
    ) -> Result<Option<Self>, Error> {
        let dims = self.dims - removed;
        let mut to = vec![None; self.cols()];
        let mut next = 0;
        for col in (0..self.cols()).filter(|c| !gone[*c]) {
            to[col] = Some(next);
            next += 1;
        }
        for div in &branch.divs {
            to[div.col] = Some(next);
            next += 1;
        }
        let kept = self.divs.iter().enumerate().filter(|(i, _)| !gone[1 + self.dims + i]);
        let kept = kept.map(|(_, div)| (&div.num, div.den));
        let defs = kept.chain(branch.divs.iter().map(|div| (&div.row, div.den)));
        let divs = defs.enumerate().map(|(i, (num, den))| Div {
            num: remap(num, next, &to)[..1 + dims + i].to_vec(),
            den,
        });
        let divs: Arc<[Div]> = divs.collect();
        Self { dims, divs, system: branch.system.remap(next, &to) }.tidied()
    }

    /// Normalises rows and drops unused divisions; nothing is left of an obvious contradiction.
    pub fn tidied(mut self) -> Result<Option<Self>, Error> {
        if !self.system.normalize()? {
            return Ok(None);
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
        Ok(Some(self))
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
            divs.push(Div { num, den: div.den });
        }
        Self { dims: self.dims, divs: divs.into(), system: self.system.remap(next, &to) }
    }

    pub fn intersect(&self, other: &Self) -> Result<Option<Self>, Error> {
        let (divs, to) = merge(self.dims, &self.divs, &other.divs);
        let mut result = Self::with_divs(self.dims, divs);
        let cols = result.cols();
        for row in self.system.eqs.rows() {
            result.system.eqs.push(row);
        }
        for row in self.system.ineqs.rows() {
            result.system.ineqs.push(row);
        }
        for row in other.system.eqs.rows() {
            result.system.eqs.push(&remap(row, cols, &to));
        }
        for row in other.system.ineqs.rows() {
            result.system.ineqs.push(&remap(row, cols, &to));
        }
        result.tidied()
    }

    /// Returns disjoint pieces that make up `self` without `other`.
    pub fn subtract(&self, other: &Self, budget: &Budget) -> Result<Vec<Self>, Error> {
        let mut pieces = Vec::new();
        let mut rest = self.clone();
        for half in other.halves()? {
            budget.spend(1)?;
            let mut outside = half.clone();
            let mut row = negated(half.system.ineqs.row(0))?;
            row[0] = add(row[0], -1)?;
            outside.system = System::new(outside.dims + outside.divs.len());
            outside.system.ineqs.push(&row);
            if let Some(piece) = rest.intersect(&outside)?
                && !piece.is_empty(budget)?
            {
                pieces.push(piece);
            }
            match rest.intersect(&half)? {
                Some(next) => rest = next,
                None => break,
            }
        }
        Ok(pieces)
    }

    /// Splits into single inequalities over the same divisions.
    fn halves(&self) -> Result<Vec<Self>, Error> {
        let one = |row: &[i128]| {
            let mut half = Self { system: System::new(self.cols() - 1), ..self.clone() };
            half.system.ineqs.push(row);
            half
        };
        let mut result = Vec::new();
        for row in self.system.eqs.rows() {
            result.push(one(row));
            result.push(one(&negated(row)?));
        }
        result.extend(self.system.ineqs.rows().map(one));
        Ok(result)
    }

    /// Moves dimension `i` to `to[i]` among `dims` dimensions.
    pub fn place(&self, dims: usize, to: &[usize]) -> Self {
        let mut all = vec![Some(0)];
        all.extend(to.iter().map(|to| Some(1 + to)));
        all.extend((0..self.divs.len()).map(|i| Some(1 + dims + i)));
        let cols = 1 + dims + self.divs.len();
        let divs = self.divs.iter().enumerate().map(|(i, div)| Div {
            num: remap(&div.num, cols, &all)[..1 + dims + i].to_vec(),
            den: div.den,
        });
        Self { dims, divs: divs.collect(), system: self.system.remap(cols, &all) }
    }

    pub fn contains(&self, point: &[i128]) -> Result<bool, Error> {
        let mut all = point.to_vec();
        for div in self.divs.iter() {
            all.push(evaluate(&div.num, &all)?.div_euclid(div.den));
        }
        for row in self.system.eqs.rows() {
            if evaluate(row, &all)? != 0 {
                return Ok(false);
            }
        }
        for row in self.system.ineqs.rows() {
            if evaluate(row, &all)? < 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }
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
            divs.push(Div { num, den: div.den });
        }
    }
    (divs, to)
}

/// Reduces `floor(num / den)` by the factor that all its numbers share.
pub(crate) fn reduced(mut div: Div) -> Result<Div, Error> {
    let g = gcd(&div.num)?;
    let g = gcd(&[g, div.den])?;
    if g > 1 {
        div.num.iter_mut().for_each(|v| *v /= g);
        div.den /= g;
    }
    Ok(div)
}
