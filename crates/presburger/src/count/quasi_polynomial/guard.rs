//! Guards: conjunctions over variables and floors of them, which say where a piece holds.
//!
//! Not a [`BasicMap`], though alike: the floors are those of the piece's polynomial, shared between
//! both, so that a substitution in one is one in the other; divisions of a `BasicMap` are its own
//! and go when no row uses them. Both turn into each other where counts meet sets.

use super::floors::{Floors, Linear, substituted};
use crate::basic_map::BasicMap;
use crate::count::polytope::cone::{Row, reduced};
use crate::count::polytope::equalities::Affine;
use crate::matrix::{evaluate, gcd};
use crate::{Budget, Conjunction, Error, Integer};

/// Rows over `(1, variables, floors)` that are zero or not negative.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Guard {
    pub floors: Floors,
    pub eqs: Vec<Row>,
    pub ineqs: Vec<Row>,
    /// A contradiction was met.
    pub never: bool,
}

impl Guard {
    pub fn new(vars: usize) -> Self {
        Self { floors: Floors::new(vars), ..Self::default() }
    }

    /// Reads a conjunction; its divisions become floors.
    pub fn from_conjunction(vars: usize, given: &Conjunction) -> Self {
        let mut result = Self::new(vars);
        let mut atoms = units(vars);
        for division in &given.divisions {
            let num = result.floors.row(&substituted(&division.numerator, &atoms));
            atoms.push(result.floors.floor(num, division.denominator.clone()));
        }
        for row in &given.equalities {
            result.zero(&substituted(row, &atoms));
        }
        for row in &given.inequalities {
            result.at_least_zero(&substituted(row, &atoms));
        }
        result
    }

    /// Puts `values`, forms over `floors`, for the variables of `guard`.
    pub fn over(floors: &Floors, values: &[Linear], guard: &Self) -> Self {
        let mut result = Self { floors: floors.clone(), ..Self::default() };
        result.never = guard.never;
        let mut atoms = values.to_vec();
        for floor in &guard.floors.all {
            let num = result.floors.row(&substituted(&floor.num, &atoms));
            atoms.push(result.floors.floor(num, floor.den.clone()));
        }
        guard.eqs.iter().for_each(|row| result.zero(&substituted(row, &atoms)));
        guard.ineqs.iter().for_each(|row| result.at_least_zero(&substituted(row, &atoms)));
        result
    }

    /// Adds that a linear form over `self.floors` is at least 0.
    pub fn at_least_zero(&mut self, form: &Linear) {
        let mut row = self.floors.row(form);
        let g = gcd(&row[1..]);
        if g.is_zero() {
            self.never |= row[0].sign() < 0;
            return;
        }
        row.iter_mut().for_each(|v| *v = v.div_floor(&g));
        while row.last().is_some_and(Integer::is_zero) {
            row.pop();
        }
        let opposite = |old: &Row| {
            old.len() == row.len() && old.iter().zip(&row).skip(1).all(|(a, b)| *a == b.neg())
        };
        if let Some(at) = self.ineqs.iter().position(opposite) {
            let slack = self.ineqs[at][0].add(&row[0]);
            self.never |= slack.sign() < 0;
            if slack.is_zero() {
                self.ineqs.swap_remove(at);
                return self.zero_row(row);
            }
        }
        match self.ineqs.iter_mut().find(|old| old[1..] == row[1..]) {
            Some(old) if row[0] < old[0] => *old = row,
            Some(_) => {}
            None => self.ineqs.push(row),
        }
    }

    /// Adds that a linear form over `self.floors` is 0.
    pub fn zero(&mut self, form: &Linear) {
        let row = self.floors.row(form);
        self.zero_row(row);
    }

    pub(in crate::count) fn zero_row(&mut self, mut row: Row) {
        let g = gcd(&row[1..]);
        if g.is_zero() || !row[0].mod_floor(&g).is_zero() {
            self.never |= !row[0].is_zero();
            return;
        }
        row = reduced(row);
        if row[1..].iter().find(|v| !v.is_zero()).is_some_and(|v| v.sign() < 0) {
            row.iter_mut().for_each(|v| *v = v.neg());
        }
        while row.last().is_some_and(Integer::is_zero) {
            row.pop();
        }
        if !self.eqs.contains(&row) {
            self.eqs.push(row);
        }
    }

    /// Adds that `affine` over all variables is an integer.
    pub fn integral(&mut self, affine: &Affine) {
        let num = constant_first(&affine.num);
        let mut whole = substituted(&num, &units(self.floors.vars));
        let floor = self.floors.floor(num, affine.den.clone());
        whole.add(&affine.den.neg(), &floor);
        self.zero(&whole);
    }

    /// Returns the points that both allow; variables are the same.
    pub fn and(&self, other: &Self) -> Self {
        let mut result = self.clone();
        result.never |= other.never;
        let atoms = result.floors.merge(&other.floors);
        for row in &other.eqs {
            result.zero(&substituted(row, &atoms));
        }
        for row in &other.ineqs {
            result.at_least_zero(&substituted(row, &atoms));
        }
        result
    }

    /// Returns disjoint guards that together allow what `self` allows and `other` does not.
    pub fn without(&self, other: &Self, budget: &Budget) -> Result<Vec<Self>, Error> {
        let mut pieces = Vec::new();
        let mut rest = self.clone();
        if other.never {
            return Ok(vec![rest]);
        }
        let atoms = rest.floors.merge(&other.floors);
        let negated = |row: &Row| {
            let mut form = Linear::default();
            form.add(&Integer::from(-1), &substituted(row, &atoms));
            form
        };
        let mut halves: Vec<(Linear, Linear)> = Vec::new();
        for row in &other.eqs {
            halves.push((substituted(row, &atoms), negated(row)));
            halves.push((negated(row), substituted(row, &atoms)));
        }
        halves.extend(other.ineqs.iter().map(|row| (substituted(row, &atoms), negated(row))));
        for (inside, mut outside) in halves {
            outside.constant = outside.constant.sub(&Integer::ONE);
            let mut piece = rest.clone();
            piece.at_least_zero(&outside);
            if !piece.is_empty(budget)? {
                pieces.push(piece.tidied());
            }
            rest.at_least_zero(&inside);
        }
        Ok(pieces)
    }

    pub fn contains(&self, point: &[Integer]) -> bool {
        let atoms = self.floors.values(point);
        !self.never
            && self.eqs.iter().all(|row| evaluate(row, &atoms).is_zero())
            && self.ineqs.iter().all(|row| evaluate(row, &atoms).sign() >= 0)
    }

    /// Returns whether there is no integer point.
    pub fn is_empty(&self, budget: &Budget) -> Result<bool, Error> {
        budget.spend(self.eqs.len() + self.ineqs.len() + self.floors.all.len())?;
        Ok(self.never || self.to_basic().is_empty(budget)?)
    }

    /// Reads a conjunction as `to_basic` writes it.
    pub fn from_basic(part: &BasicMap) -> Self {
        let mut result = Self::new(part.dims);
        let mut atoms = units(part.dims);
        for div in part.divs.iter() {
            let num = result.floors.row(&substituted(&div.num, &atoms));
            atoms.push(result.floors.floor(num, div.den.clone()));
        }
        part.system.eqs.rows().for_each(|row| result.zero(&substituted(row, &atoms)));
        part.system.ineqs.rows().for_each(|row| result.at_least_zero(&substituted(row, &atoms)));
        result
    }

    /// Writes the guard as a conjunction, floors as divisions.
    pub fn to_basic(&self) -> BasicMap {
        let mut part = BasicMap::with_divs(self.floors.vars, self.floors.divisions().collect());
        let cols = part.cols();
        let padded = |row: &Row| {
            let mut row = row.clone();
            row.resize(cols, Integer::ZERO);
            row
        };
        self.eqs.iter().for_each(|row| part.system.eqs.push(&padded(row)));
        self.ineqs.iter().for_each(|row| part.system.ineqs.push(&padded(row)));
        part
    }

    /// Removes inequalities that the others imply, and floors that nothing uses.
    pub fn simplified(mut self, budget: &Budget) -> Result<Self, Error> {
        let mut at = self.ineqs.len();
        while at > 0 && self.ineqs.len() > 1 {
            at -= 1;
            let row = self.ineqs.remove(at);
            let mut outside = self.clone();
            let mut form = substituted(&row, &units(self.floors.vars + self.floors.all.len()));
            let mut opposite = Linear::default();
            opposite.add(&Integer::from(-1), &form);
            opposite.constant = opposite.constant.sub(&Integer::ONE);
            form = opposite;
            outside.at_least_zero(&form);
            if !outside.is_empty(budget)? {
                self.ineqs.insert(at, row);
            }
        }
        Ok(self.tidied())
    }

    /// Says which floors the rows use, those inside of other floors too, besides the given ones.
    pub(in crate::count) fn used_floors(&self, mut used: Vec<bool>) -> Vec<bool> {
        let vars = self.floors.vars;
        let mark = |row: &Row, used: &mut Vec<bool>| {
            let inner = row.iter().skip(1 + vars).enumerate();
            inner.filter(|(_, v)| !v.is_zero()).for_each(|(i, _)| used[i] = true);
        };
        self.eqs.iter().chain(&self.ineqs).for_each(|row| mark(row, &mut used));
        for index in (0..used.len()).rev() {
            if used[index] {
                mark(&self.floors.all[index].num, &mut used);
            }
        }
        used
    }

    /// Removes floors that nothing uses.
    pub(in crate::count) fn tidied(self) -> Self {
        let vars = self.floors.vars;
        let used = self.used_floors(vec![false; self.floors.all.len()]);
        if used.iter().all(|used| *used) {
            return self;
        }
        let mut result = Self { never: self.never, ..Self::new(vars) };
        let mut atoms = units(vars);
        for (floor, used) in self.floors.all.iter().zip(used) {
            let linear = if used {
                let num = result.floors.row(&substituted(&floor.num, &atoms));
                result.floors.floor(num, floor.den.clone())
            } else {
                Linear::default()
            };
            atoms.push(linear);
        }
        self.eqs.iter().for_each(|row| result.zero(&substituted(row, &atoms)));
        self.ineqs.iter().for_each(|row| result.at_least_zero(&substituted(row, &atoms)));
        result
    }
}

/// The forms that stand for the first `count` atoms themselves.
pub(crate) fn units(count: usize) -> Vec<Linear> {
    let unit = |atom| Linear { constant: Integer::ZERO, terms: vec![(atom, Integer::ONE)] };
    (0..count as u32).map(unit).collect()
}

/// Moves the constant from the end of a row to its start.
pub(crate) fn constant_first(row: &[Integer]) -> Row {
    let (last, rest) = row.split_last().map_or((Integer::ZERO, row), |(l, r)| (l.clone(), r));
    std::iter::once(last).chain(rest.iter().cloned()).collect()
}
