//! Two disjuncts over the same divisions: whether one conjunction is both.
//!
//! Of `{ 0 <= i <= 4 }` and `{ 5 <= i <= 9 }` the constraint `i <= 4` is cut off by the second,
//! which is adjacent: 5 is 4 + 1. Relaxed by one it is redundant, and both are the candidate `{ 0
//! <= i <= 9 }`. The cases are those of isl, by how the constraints of one lie to the other.

use super::between::Between;
use super::segment::leaves_both;
use super::side::Side;
use crate::basic_map::BasicMap;
use crate::solve::lattice::value;
use crate::solve::number::{Number, common, fit};
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
    New(BasicMap),
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
                let low = match self.reach(side, index, budget)? {
                    Reach::Apart => return Ok(None),
                    Reach::Holds => None,
                    Reach::Least(low) => {
                        self.sides[1 - side].remember_sample();
                        violated[side].push(index);
                        Some(low.integer())
                    }
                    Reach::Unbounded => {
                        violated[side].push(index);
                        continue;
                    }
                };
                let row = self.sides[side].rows.row(index);
                candidate.ineqs.push_all(row.iter().map(Number::integer));
                if let Some(low) = low {
                    let last = candidate.ineqs.len() - 1;
                    candidate.ineqs.row_mut(last)[0] -= low;
                }
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
        if !candidate.normalize() {
            return Ok(None);
        }
        let open = self.open(violated)?;
        if !open.is_empty() {
            let first = &self.sides[0].part;
            let mut between = Between::new(first, candidate, budget)?;
            let (mut pairs, mut cuts) = (open.iter(), 0);
            let mut pair = pairs.next();
            while let Some((x, y)) = pair {
                let rows = [(&*self.sides[0], *x), (&*self.sides[1], *y)];
                let Some(point) = between.beyond(rows, budget)? else {
                    // Cuts leave nothing beyond these rows either.
                    pair = pairs.next();
                    continue;
                };
                cuts += 1;
                let cut = if cuts > CUTS { None } else { self.cut(&point, budget)? };
                let Some(cut) = cut else { return Ok(None) };
                between.cut(&cut, budget)?;
            }
            candidate = between.candidate;
        }
        let first = &self.sides[0].part;
        let result = BasicMap { dims: first.dims, divs: first.divs.clone(), system: candidate };
        Ok(result.tidied().map(Merged::New))
    }

    /// Returns the pairs of violated rows that points may be beyond at once.
    fn open(&self, violated: &[Vec<usize>; 2]) -> Result<Vec<(usize, usize)>, Error> {
        let [a, b] = &self.sides;
        let minus_two = fit(minus_one::<T>()?.plus(&minus_one()?))?;
        let mut open = Vec::with_capacity(violated[0].len() * violated[1].len());
        for (x, y) in violated[0].iter().flat_map(|x| violated[1].iter().map(move |y| (*x, *y))) {
            let (row, other) = (a.rows.row(x), b.rows.row(y));
            // Of opposite rows, one is negative where the other is not, but for a gap.
            let close = a.hashes[x] == b.hashes[y].wrapping_neg()
                && opposite(row, other)
                && fit(row[0].plus(&other[0]))? > minus_two;
            if !close {
                open.push((x, y));
            }
        }
        Ok(open)
    }

    /// Returns whether neither side has an equation, which leaves gaps that one conjunction can have.
    fn full(&self) -> bool {
        self.sides.iter().all(|side| side.part.system.eqs.len() == 0)
    }

    /// Returns whether opposite constraints leave an integer between the two.
    fn beyond_a_gap(&self) -> Result<bool, Error> {
        let [a, b] = &self.sides;
        if !self.full() {
            return Ok(false);
        }
        let minus_one = minus_one()?;
        for (x, hash) in a.rows.rows().zip(&a.hashes) {
            let others = b.rows.rows().zip(&b.hashes);
            for (y, _) in others.filter(|(_, other)| **other == hash.wrapping_neg()) {
                if fit(x[0].plus(&y[0]))? < minus_one && opposite(x, y) {
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
        let row = here.rows.row(index);
        // No constraint is redundant: each is 0 somewhere.
        if let Some(other) = there.parallel(row, here.hashes[index]).next() {
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
        let minus_one = minus_one()?;
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

    /// Finds a constraint that holds on both disjuncts, not at `point`; nothing if there is none.
    ///
    /// Variables: `x`, `l` and `t`. The point is in the hull if it is the sum of `x` in `l`
    /// times the first and a rest in `1 - l` times the second; `t` is how far that fails.
    fn cut(&mut self, point: &[Integer], budget: &Budget) -> Result<Option<Vec<T>>, Error> {
        let (vars, point) = (point.len(), narrowed::<T>(point)?);
        let bounds = self.sides[0].part.bounds();
        let bounds: Vec<Vec<T>> = bounds.ineqs.rows().map(narrowed).collect::<Result<_, _>>()?;
        let mut program = Simplex::<T>::new(vars + 2);
        let [left, right] = [0, 1].map(|side| self.sides[side].rows.len() + bounds.len());
        program.reserve(3 + left + right);
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
        for row in self.sides[0].rows.rows().chain(bounds.iter().map(Vec::as_slice)) {
            scaled[1..=vars].clone_from_slice(&row[1..]);
            scaled[1 + vars] = row[0].clone();
            program.add_inequality(&scaled, budget)?;
        }
        let bounds = bounds.iter().map(Vec::as_slice);
        let second: Vec<&[T]> = self.sides[1].rows.rows().chain(bounds).collect();
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
        tighten(&mut cut);
        let [left, right] = &mut self.sides;
        let valid = left.simplex.implies(&cut, budget)? && right.simplex.implies(&cut, budget)?;
        Ok(valid.then_some(cut))
    }
}

fn minus_one<T: Number>() -> Result<T, Error> {
    fit(T::one().opposite())
}

/// Returns whether the rows are opposite but for their constants.
fn opposite<T: Number>(row: &[T], other: &[T]) -> bool {
    row[1..].iter().zip(&other[1..]).all(|(x, y)| x.opposite().as_ref() == Some(y))
}

/// Divides by what the coefficients have in common; the constant is rounded for integer points.
fn tighten<T: Number>(row: &mut [T]) {
    let common = common(&row[1..]);
    if common > T::one() {
        row.iter_mut().for_each(|value| *value = value.floor_div(&common));
    }
}
