//! Merging disjuncts whose union is a single conjunction.
//!
//! `{ [i] : 0 <= i <= 4 }` and `{ [i] : 5 <= i <= 9 }` become `{ [i] : 0 <= i <= 9 }`. The
//! candidate for two disjuncts starts as their simple hull. While it holds an integer point
//! that neither disjunct has, a linear program tells whether the convex hull of both has that
//! point too: then nothing merges them. Otherwise its dual is a valid constraint that cuts the
//! point off, and the candidate gets smaller.
//!
//! Source: S. Verdoolaege, "Integer set coalescing", IMPACT 2015, for the conditions on pairs.
//! Divergence: cutting planes find the rotated constraints that wrapping facets gives there.

use crate::basic::Basic;
use crate::hull::with_common_divs;
use crate::matrix::{add, combine, evaluate, mul, negated};
use crate::solve::bounds::least;
use crate::solve::feasible;
use crate::solve::number::{Number, fit};
use crate::solve::redundancy::narrowed;
use crate::solve::simplex::{Optimum, Simplex};
use crate::system::System;
use crate::{Budget, Error, Relation};

/// The most disjuncts that are tried in pairs.
const PAIRS: usize = 64;
/// What a pair may take: those that merge are mostly plain to see. Divisions that differ get less.
const PAIR_STEPS: u64 = 4000;
/// How many constraints are looked for that are not moved from a disjunct.
const CUTS: usize = 8;

impl Relation {
    /// Merges disjuncts where a single conjunction holds exactly their points.
    ///
    /// The points stay the same. Two disjuncts are merged if a conjunction over their
    /// divisions has no further points and that is found out within a fixed number of steps; a
    /// disjunct inside another is dropped.
    pub fn coalesce(&self, budget: &Budget) -> Result<Self, Error> {
        let mut parts = Vec::new();
        for part in self.parts.iter() {
            if !part.is_empty(budget)? {
                parts.push(Entry::new(part.clone().without_redundancy(budget)?, budget)?);
            }
        }
        // Parts before `next` have met each other; what two of them become goes to the end.
        let mut next = 1;
        while next < parts.len() {
            match partner(&mut parts, next, budget)? {
                Some((index, merged)) => {
                    parts.remove(next);
                    parts.remove(index);
                    parts.push(Entry::new(merged, budget)?);
                    next = next.saturating_sub(1).max(1);
                }
                None => next += 1,
            }
        }
        let parts = parts.into_iter().map(|entry| entry.part).collect();
        Ok(Self::new((*self.space).clone(), parts))
    }
}

/// A disjunct, and what every pair asks of it.
struct Entry {
    part: Basic,
    /// Its constraints as inequalities.
    rows: Vec<Vec<i128>>,
    /// Its rational points; nothing if they need wider numbers.
    simplex: Option<Simplex<i64>>,
}

impl Entry {
    fn new(part: Basic, budget: &Budget) -> Result<Self, Error> {
        let rows = part.half_spaces()?;
        let simplex = match tableau(&part, &rows, budget) {
            Ok(simplex) => Some(simplex),
            Err(Error::Overflow) => None,
            Err(error) => return Err(error),
        };
        Ok(Self { part, rows, simplex })
    }
}

/// Builds the tableau of `rows` and the bounds of the divisions of `part`.
fn tableau<T: Number>(
    part: &Basic,
    rows: &[Vec<i128>],
    budget: &Budget,
) -> Result<Simplex<T>, Error> {
    let mut simplex = Simplex::new(part.cols() - 1);
    for row in part.bounds()?.ineqs.rows().chain(rows.iter().map(Vec::as_slice)) {
        simplex.add_inequality(&narrowed(row)?, budget)?;
    }
    Ok(simplex)
}

/// Finds an earlier part that merges with part `next`.
fn partner(
    parts: &mut [Entry],
    next: usize,
    budget: &Budget,
) -> Result<Option<(usize, Basic)>, Error> {
    let (before, rest) = parts.split_at_mut(next);
    let Some(new) = rest.first_mut() else { return Ok(None) };
    for (index, old) in before.iter_mut().enumerate().skip(next.saturating_sub(PAIRS)) {
        if beyond_a_gap(old, new) {
            continue;
        }
        let steps = if old.part.divs == new.part.divs { PAIR_STEPS } else { PAIR_STEPS / 3 };
        let merged = budget.attempt(steps, |budget| merged(old, new, budget))?.flatten();
        if let Some(merged) = merged {
            return Ok(Some((index, merged)));
        }
    }
    Ok(None)
}

/// Says whether opposite constraints leave an integer between two disjuncts without equations.
fn beyond_a_gap(a: &Entry, b: &Entry) -> bool {
    let opposite = |x: &[i128], y: &[i128]| x[1..].iter().zip(&y[1..]).all(|(x, y)| *x == -*y);
    a.part.divs == b.part.divs
        && full(&a.part)
        && full(&b.part)
        && a.rows.iter().any(|x| {
            b.rows.iter().any(|y| opposite(x, y) && x[0].checked_add(y[0]).is_some_and(|v| v < -1))
        })
}

/// Equations leave gaps that a single conjunction can have.
fn full(part: &Basic) -> bool {
    part.system.eqs.len() == 0
}

/// Merges two disjuncts if that is possible with 64 bits, else with 128.
fn merged(a: &mut Entry, b: &mut Entry, budget: &Budget) -> Result<Option<Basic>, Error> {
    if a.part.divs == b.part.divs
        && let (Some(left), Some(right)) = (&mut a.simplex, &mut b.simplex)
    {
        let mut pair =
            Pair { parts: [&a.part, &b.part], rows: [&a.rows, &b.rows], tableaus: [left, right] };
        match pair.merged(budget) {
            Err(Error::Overflow) => {}
            result => return result,
        }
    }
    let mut common = with_common_divs(&[a.part.clone(), b.part.clone()]);
    for part in &mut common {
        part.fix_divs()?;
    }
    let [left, right] = &common[..] else { return Ok(None) };
    let rows = [left.half_spaces()?, right.half_spaces()?];
    let result = match attempt::<i64>([left, right], &rows, budget) {
        Err(Error::Overflow) => attempt::<i128>([left, right], &rows, budget),
        result => result,
    };
    match result {
        // Both stay as they are.
        Err(Error::Overflow) => Ok(None),
        result => result,
    }
}

/// Merges two disjuncts over the same divisions on fresh tableaus.
fn attempt<T: Number>(
    parts: [&Basic; 2],
    rows: &[Vec<Vec<i128>>; 2],
    budget: &Budget,
) -> Result<Option<Basic>, Error> {
    let mut left: Simplex<T> = tableau(parts[0], &rows[0], budget)?;
    let mut right: Simplex<T> = tableau(parts[1], &rows[1], budget)?;
    let tableaus = [&mut left, &mut right];
    Pair { parts, rows: [&rows[0], &rows[1]], tableaus }.merged(budget)
}

impl Basic {
    /// Adds an equation for each division that the equations leave one value.
    fn fix_divs(&mut self) -> Result<(), Error> {
        for index in 0..self.divs.len() {
            let div = &self.divs[index];
            let (mut scale, mut num) = (1, div.num.clone());
            num.resize(self.cols(), 0);
            for eq in self.system.eqs.rows() {
                let pivot = (1..eq.len()).find(|col| eq[*col] != 0 && num[*col] != 0);
                let Some(pivot) = pivot else { continue };
                let sign = eq[pivot].signum();
                scale = mul(scale, eq[pivot] * sign)?;
                num = combine(eq[pivot] * sign, &num, -num[pivot] * sign, eq)?;
            }
            if num[1..].iter().all(|v| *v == 0) {
                let mut row = vec![0; self.cols()];
                row[0] = -num[0].div_euclid(mul(scale, div.den)?);
                row[1 + self.dims + index] = 1;
                self.system.eqs.push(&row);
            }
        }
        Ok(())
    }
}

/// Two disjuncts over the same divisions.
struct Pair<'a, T> {
    parts: [&'a Basic; 2],
    rows: [&'a [Vec<i128>]; 2],
    tableaus: [&'a mut Simplex<T>; 2],
}

impl<T: Number> Pair<'_, T> {
    fn merged(&mut self, budget: &Budget) -> Result<Option<Basic>, Error> {
        let mut candidate = System::new(self.parts[0].cols() - 1);
        // The constraints of each side that points of the other violate.
        let mut violated: [Vec<usize>; 2] = [Vec::new(), Vec::new()];
        for side in 0..2 {
            for (index, row) in self.rows[side].iter().enumerate() {
                let mut row = row.clone();
                match self.least_on_other(side, &row, budget)? {
                    Reach::Apart => return Ok(None),
                    Reach::Least(low) if low >= 0 => {}
                    Reach::Least(low) => {
                        row[0] = add(row[0], -low)?;
                        violated[side].push(index);
                    }
                    Reach::Unbounded => {
                        violated[side].push(index);
                        continue;
                    }
                }
                candidate.ineqs.push(&row);
            }
            if violated[side].is_empty() {
                return Ok(Some(self.parts[side].clone()));
            }
        }
        for _ in 0..=CUTS {
            if !candidate.normalize()? {
                return Ok(None);
            }
            let Some(point) = self.further_point(&candidate, &violated, budget)? else {
                let first = self.parts[0];
                let mut result = Basic::with_divs(first.dims, first.divs.to_vec());
                result.system = candidate;
                let Some(result) = result.tidied()? else { return Ok(None) };
                return result.without_redundancy(budget).map(Some);
            };
            let Some(cut) = self.cut(&point, budget)? else { return Ok(None) };
            candidate.ineqs.push(&cut);
        }
        Ok(None)
    }

    fn least_on_other(
        &mut self,
        side: usize,
        row: &[i128],
        budget: &Budget,
    ) -> Result<Reach, Error> {
        let near = self.parts.iter().all(|part| full(part));
        let other = &mut *self.tableaus[1 - side];
        let low = least(other, row, budget)?;
        if near
            && low.is_none_or(|low| low < -1)
            && let Optimum::Value(num, den) = other.optimum(&narrowed(row)?, 1, budget)?
            && fit(num.plus(&den))?.sign() < 0
        {
            return Ok(Reach::Apart);
        }
        Ok(low.map_or(Reach::Unbounded, Reach::Least))
    }

    /// Finds an integer point of the candidate that is in neither disjunct.
    fn further_point(
        &self,
        candidate: &System,
        violated: &[Vec<usize>; 2],
        budget: &Budget,
    ) -> Result<Option<Vec<i128>>, Error> {
        let mut all = self.parts[0].bounds()?;
        all.extend(candidate);
        let (rows, floors) = (candidate.half_spaces()?, self.parts[0].floors());
        let hull: Simplex<T> = tableau(self.parts[0], &rows, budget)?;
        for index in &violated[0] {
            let outside = beyond(&self.rows[0][*index])?;
            let mut rest = hull.clone();
            rest.add_inequality(&narrowed(&outside)?, budget)?;
            for index in &violated[1] {
                let row = &self.rows[1][*index];
                if rest.is_empty() || rest.implies(&narrowed(row)?, budget)? {
                    continue;
                }
                let mut system = all.clone();
                system.ineqs.push(&outside);
                system.ineqs.push(&beyond(row)?);
                if let Some(point) = feasible::point(&system, &floors, budget)? {
                    return Ok(Some(point));
                }
            }
        }
        Ok(None)
    }

    /// Finds a constraint that holds on both disjuncts, not at `point`; nothing if there is none.
    ///
    /// Variables: `x`, `l` and `t`. The point is in the hull if it is the sum of `x` in `l`
    /// times the first and a rest in `1 - l` times the second; `t` is how far that fails.
    fn cut(&mut self, point: &[i128], budget: &Budget) -> Result<Option<Vec<i128>>, Error> {
        let vars = point.len();
        let bounds = self.parts[0].bounds()?;
        let mut program = Simplex::<T>::new(vars + 2);
        let mut one = vec![0; vars + 3];
        for (constant, scale, slack) in [(0, 1, 0), (1, -1, 0), (0, 0, 1)] {
            (one[0], one[1 + vars], one[2 + vars]) = (constant, scale, slack);
            program.add_inequality(&narrowed(&one)?, budget)?;
        }
        let first = self.rows[0].iter().map(Vec::as_slice).chain(bounds.ineqs.rows());
        for row in first {
            let scaled = [&[0], &row[1..], &[row[0], 0]].concat();
            program.add_inequality(&narrowed(&scaled)?, budget)?;
        }
        let second: Vec<&[i128]> =
            self.rows[1].iter().map(Vec::as_slice).chain(bounds.ineqs.rows()).collect();
        let mut ids = Vec::with_capacity(second.len());
        for row in &second {
            let rest = negated(row)?;
            let scaled = [&[evaluate(row, point)?], &rest[1..], &[rest[0], 1]].concat();
            ids.push(program.next_id());
            program.add_inequality(&narrowed(&scaled)?, budget)?;
        }
        let mut goal = vec![T::zero(); vars + 3];
        goal[2 + vars] = fit(T::one().opposite())?;
        match program.optimum(&goal, 1, budget)? {
            Optimum::Value(num, _) if num.sign() < 0 => {}
            _ => return Ok(None),
        }
        let mut cut = vec![T::zero(); 1 + vars];
        for ((factor, _), row) in program.duals(&goal, &ids, budget)?.iter().zip(second) {
            let factor = fit(factor.opposite())?;
            if !T::combine(&mut cut, &T::one(), &narrowed::<T>(row)?, &factor) {
                return Err(Error::Overflow);
            }
        }
        crate::solve::number::reduce(&mut cut);
        let valid =
            self.tableaus[0].implies(&cut, budget)? && self.tableaus[1].implies(&cut, budget)?;
        if !valid {
            return Ok(None);
        }
        let wide: Option<Vec<i128>> = cut.iter().map(Number::wide).collect();
        wide.map_or(Err(Error::Overflow), |cut| Ok(Some(cut)))
    }
}

/// Where a constraint of one disjunct lies on the other.
enum Reach {
    /// Its least value, rounded up.
    Least(i128),
    Unbounded,
    /// It is below -1 everywhere: there is a gap between the two.
    Apart,
}

/// Returns the constraint that holds exactly where `row >= 0` does not.
fn beyond(row: &[i128]) -> Result<Vec<i128>, Error> {
    let mut result = negated(row)?;
    result[0] = add(result[0], -1)?;
    Ok(result)
}
