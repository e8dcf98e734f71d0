//! Two disjuncts over the same divisions.

use super::segment::{leaves_both, value};
use super::side::Side;
use crate::basic::Basic;
use crate::solve::feasible;
use crate::solve::number::{Number, fit, opposites, reduce};
use crate::solve::redundancy::narrowed;
use crate::solve::simplex::{Optimum, Simplex};
use crate::system::System;
use crate::{Budget, Error, Integer};

/// How many constraints are looked for that are not moved from a disjunct.
const CUTS: usize = 8;

pub(super) struct Pair<'a, T> {
    pub sides: [&'a mut Side<T>; 2],
}

/// What two disjuncts are together.
pub(super) enum Merged {
    /// One of them, which holds the other.
    Side(usize),
    New(Basic),
}

/// Where a constraint of one disjunct lies on the other.
enum Reach<T> {
    /// It holds there; its least value may be greater.
    Holds,
    /// Its least value, rounded up.
    Least(T),
    Unbounded,
    /// It is below -1 everywhere: there is a gap between the two.
    Apart,
}

impl<T: Number> Pair<'_, T> {
    pub fn merged(&mut self, budget: &Budget) -> Result<Option<Merged>, Error> {
        if self.beyond_a_gap()? || leaves_both(self.sides[0], self.sides[1], false)? {
            return Ok(None);
        }
        let mut candidate = System::new(self.sides[0].part.cols() - 1);
        // The constraints of each side that points of the other violate.
        let mut violated: [Vec<usize>; 2] = [Vec::new(), Vec::new()];
        for side in 0..2 {
            for index in 0..self.sides[side].rows.len() {
                let mut row = exact(&self.sides[side].rows[index]);
                match self.reach(side, index, budget)? {
                    Reach::Apart => return Ok(None),
                    Reach::Holds => {}
                    Reach::Least(low) => {
                        self.sides[1 - side].remember_sample();
                        row[0] -= low.integer();
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
                return Ok(Some(Merged::Side(side)));
            }
        }
        if leaves_both(self.sides[0], self.sides[1], true)? {
            return Ok(None);
        }
        self.search(candidate, &violated, budget)
    }

    /// Cuts points off the candidate until it holds those of both sides alone.
    fn search(
        &mut self,
        mut candidate: System,
        violated: &[Vec<usize>; 2],
        budget: &Budget,
    ) -> Result<Option<Merged>, Error> {
        for _ in 0..=CUTS {
            if !candidate.normalize() {
                return Ok(None);
            }
            let Some(point) = self.further_point(&candidate, violated, budget)? else {
                let first = &self.sides[0].part;
                let mut result = Basic::with_divs(first.dims, first.divs.to_vec());
                result.system = candidate;
                return Ok(result.tidied().map(Merged::New));
            };
            let Some(cut) = self.cut(&point, budget)? else { return Ok(None) };
            candidate.ineqs.push(&cut);
        }
        Ok(None)
    }

    /// Says whether neither side has an equation, which leaves gaps that one conjunction can have.
    fn full(&self) -> bool {
        self.sides.iter().all(|side| side.part.system.eqs.len() == 0)
    }

    /// Says whether opposite constraints leave an integer between the two.
    fn beyond_a_gap(&self) -> Result<bool, Error> {
        let [a, b] = &self.sides;
        if !self.full() {
            return Ok(false);
        }
        let minus_one = fit(T::one().opposite())?;
        for (x, hash) in a.rows.iter().zip(&a.hashes) {
            let others = b.rows.iter().zip(&b.hashes);
            for (y, _) in others.filter(|(_, other)| **other == hash.wrapping_neg()) {
                let mut both = x[1..].iter().zip(&y[1..]);
                if fit(x[0].plus(&y[0]))? < minus_one
                    && both.all(|(x, y)| x.opposite().as_ref() == Some(y))
                {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Finds out how far row `index` of a side goes down on the other side.
    fn reach(&mut self, side: usize, index: usize, budget: &Budget) -> Result<Reach<T>, Error> {
        let full = self.full();
        let (here, there) = match &mut self.sides {
            [a, b] if side == 0 => (&**a, &mut **b),
            [a, b] => (&**b, &mut **a),
        };
        let row = &here.rows[index];
        // No constraint is redundant: each is 0 somewhere.
        let parallel = there.rows.iter().zip(&there.hashes);
        let mut parallel = parallel.filter(|(_, hash)| **hash == here.hashes[index]);
        if let Some((other, _)) = parallel.find(|(other, _)| other[1..] == row[1..]) {
            let low = fit(row[0].minus(&other[0]))?;
            return Ok(if low.sign() < 0 { Reach::Least(low) } else { Reach::Holds });
        }
        let low = match there.simplex.optimum(row, -1, budget)? {
            Optimum::Unbounded => None,
            Optimum::Value(num, _) if num.sign() >= 0 => return Ok(Reach::Holds),
            Optimum::Value(num, den) => {
                let low = fit(fit(num.opposite())?.floor_div(&den).opposite())?;
                if low.sign() >= 0 {
                    return Ok(Reach::Holds);
                }
                Some(low)
            }
        };
        let minus_one = fit(T::one().opposite())?;
        if full && low.as_ref().is_none_or(|low| *low < minus_one) {
            for point in &there.points {
                if value(row, point)? >= minus_one {
                    return Ok(low.map_or(Reach::Unbounded, Reach::Least));
                }
            }
            if let Optimum::Value(num, den) = there.simplex.optimum(row, 1, budget)?
                && fit(num.plus(&den))?.sign() < 0
            {
                return Ok(Reach::Apart);
            }
        }
        Ok(low.map_or(Reach::Unbounded, Reach::Least))
    }

    /// Finds an integer point of the candidate that is in neither disjunct.
    fn further_point(
        &self,
        candidate: &System,
        violated: &[Vec<usize>; 2],
        budget: &Budget,
    ) -> Result<Option<Vec<Integer>>, Error> {
        let first = &self.sides[0].part;
        let floors = first.floors();
        let mut all = first.bounds();
        all.extend(candidate);
        let mut hull = Simplex::<T>::new(first.cols() - 1);
        for row in all.eqs.rows() {
            hull.add_equation(&narrowed(row)?, budget)?;
        }
        for row in all.ineqs.rows() {
            hull.add_inequality(&narrowed(row)?, budget)?;
        }
        for index in &violated[0] {
            let mut rest = hull.clone();
            let outside = beyond(&self.sides[0].rows[*index])?;
            rest.add_inequality(&outside, budget)?;
            for index in &violated[1] {
                if rest.is_empty() {
                    break;
                }
                let mut both = rest.clone();
                let further = beyond(&self.sides[1].rows[*index])?;
                both.add_inequality(&further, budget)?;
                if both.is_empty() {
                    continue;
                }
                if let Some(point) = both.integer_sample() {
                    return Ok(Some(exact(&point)));
                }
                let mut system = all.clone();
                system.ineqs.push(&exact(&outside));
                system.ineqs.push(&exact(&further));
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
    fn cut(&mut self, point: &[Integer], budget: &Budget) -> Result<Option<Vec<Integer>>, Error> {
        let (vars, point) = (point.len(), narrowed::<T>(point)?);
        let bounds = self.sides[0].part.bounds();
        let bounds: Vec<Vec<T>> = bounds.ineqs.rows().map(narrowed).collect::<Result<_, _>>()?;
        let mut program = Simplex::<T>::new(vars + 2);
        let mut scaled = vec![T::zero(); vars + 3];
        let (zero, one) = (T::zero(), T::one());
        let minus = fit(one.opposite())?;
        for [constant, scale, slack] in
            [[&zero, &one, &zero], [&one, &minus, &zero], [&zero, &zero, &one]]
        {
            scaled[0] = constant.clone();
            (scaled[1 + vars], scaled[2 + vars]) = (scale.clone(), slack.clone());
            program.add_inequality(&scaled, budget)?;
        }
        (scaled[0], scaled[2 + vars]) = (T::zero(), T::zero());
        for row in self.sides[0].rows.iter().chain(&bounds) {
            scaled[1..=vars].clone_from_slice(&row[1..]);
            scaled[1 + vars] = row[0].clone();
            program.add_inequality(&scaled, budget)?;
        }
        let second: Vec<&Vec<T>> = self.sides[1].rows.iter().chain(&bounds).collect();
        let mut ids = Vec::with_capacity(second.len());
        for row in &second {
            scaled[0] = value(row, &point)?;
            for (scaled, value) in scaled[1..=vars].iter_mut().zip(&row[1..]) {
                *scaled = fit(value.opposite())?;
            }
            scaled[1 + vars] = fit(row[0].opposite())?;
            scaled[2 + vars] = T::one();
            ids.push(program.next_id());
            program.add_inequality(&scaled, budget)?;
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
            if !T::combine(&mut cut, &T::one(), row, &factor) {
                return Err(Error::Overflow);
            }
        }
        reduce(&mut cut);
        let [left, right] = &mut self.sides;
        let valid = left.simplex.implies(&cut, budget)? && right.simplex.implies(&cut, budget)?;
        Ok(valid.then(|| exact(&cut)))
    }
}

fn exact<T: Number>(row: &[T]) -> Vec<Integer> {
    row.iter().map(Number::integer).collect()
}

/// Returns the constraint that holds exactly where `row >= 0` does not.
fn beyond<T: Number>(row: &[T]) -> Result<Vec<T>, Error> {
    let mut result = opposites(row)?;
    result[0] = fit(result[0].minus(&T::one()))?;
    Ok(result)
}
