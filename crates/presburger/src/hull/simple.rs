//! The tightest constraints, of those that some disjunct has, that hold on all disjuncts.
//!
//! `{ [i] : 0 <= i <= 3 or 5 <= i <= 9 }` has `i >= 0` of its first disjunct and `i <= 9` of its
//! second one; `i >= 5` moves to `i >= 0`. How far a constraint has to move is the least value of
//! its coefficients over all disjuncts: a known point gives a value that is taken, a parallel
//! constraint one that nothing is below. Where both meet, there is no linear program to solve.
//!
//! Source: isl's simple hull moves constraints likewise (`isl_convex_hull.c`). Divergence: where
//! there are divisions, bounds are rounded to the residue class that equations leave, and to
//! integer points.

use super::affine::pass_through;
use super::{Lattice, with_common_divs};
use crate::basic_map::BasicMap;
use crate::coalesce::{Side, sample};
use crate::matrix::zeros;
use crate::solve::feasible;
use crate::solve::lattice::solutions;
use crate::solve::lattice::value;
use crate::solve::number::{Number, fit, widening};
use crate::solve::redundancy::narrowed;
use crate::solve::simplex::Optimum;
use crate::system::System;
use crate::{Budget, Error, Integer};

/// What finding a point of a disjunct may take, where the hull is right without.
const SAMPLE_STEPS: u64 = 20_000;
/// So many steps may go into an integer point that tells how far a row has to move, and so many
/// times it is asked for: the rational bound is right without, and only looser.
const POINT_STEPS: u64 = 2_000;
const TRIES: usize = 16;
/// The points of each disjunct whose neighbours are looked at.
const NEAR: usize = 2;

/// Returns a conjunction that contains all parts; nothing for no parts.
pub(crate) fn simple_hull(
    parts: &[BasicMap],
    shift: bool,
    budget: &Budget,
) -> Result<Option<BasicMap>, Error> {
    if let [one] = parts {
        return Ok(Some(one.clone()));
    }
    let parts = with_common_divs(parts);
    let hull = widening!(T => Shared::<T>::of(&parts, budget)?.hull(shift, budget))?;
    Ok(hull.and_then(BasicMap::tidied))
}

/// Disjuncts that hulls are asked of, without those that are seen to have no points.
pub(super) struct Shared<T> {
    sides: Vec<Side<T>>,
    /// Disjuncts without points: their constraints may hold on all others.
    hollow: Vec<Side<T>>,
    /// What the integer solutions of the equations of each are, where there are divisions: a row
    /// over free numbers for each column.
    solutions: Vec<Option<Vec<Vec<T>>>>,
}

impl<T: Number> Shared<T> {
    pub fn of(parts: &[BasicMap], budget: &Budget) -> Result<Self, Error> {
        let mut shared = Self {
            sides: Vec::with_capacity(parts.len()),
            hollow: Vec::new(),
            solutions: Vec::new(),
        };
        for part in parts {
            let mut side = Side::of(part, budget)?;
            if side.simplex.is_empty() {
                shared.hollow.push(side);
                continue;
            }
            side.remember_sample();
            if side.points.is_empty() {
                match budget.attempt(SAMPLE_STEPS, |budget| sample(part, budget))? {
                    Some(None) => {
                        shared.hollow.push(side);
                        continue;
                    }
                    Some(Some(point)) => side.points.push(point),
                    None => {}
                }
            }
            let strided = !part.divs.is_empty() && part.system.eqs.len() > 0;
            shared.solutions.push(if strided { solutions(&part.system)? } else { None });
            shared.sides.push(side);
        }
        Ok(shared)
    }

    /// Returns all constraints that hold everywhere, moved if they may be; nothing if no part has
    /// points.
    pub fn hull(&mut self, shift: bool, budget: &Budget) -> Result<Option<BasicMap>, Error> {
        let Some(first) = self.sides.first() else { return Ok(None) };
        let BasicMap { dims, divs, .. } = &first.part;
        let system = System::new(first.part.cols() - 1);
        let mut hull = BasicMap { dims: *dims, divs: divs.clone(), system };
        for at in 0..self.sides.len() + self.hollow.len() {
            for index in 0..self.side(at).rows.len() {
                let (row, hash) = (self.side(at).rows.row(index), self.side(at).hashes[index]);
                if (0..at).any(|before| self.side(before).parallel(row, hash).next().is_some()) {
                    continue;
                }
                let mut form = row.to_vec();
                if let Some(constant) = self.constant(&mut form, hash, shift, budget)? {
                    form[0] = constant;
                    hull.system.ineqs.push_all(form.iter().map(Number::integer));
                }
            }
        }
        Ok(Some(hull))
    }

    fn side(&self, index: usize) -> &Side<T> {
        self.sides.get(index).unwrap_or_else(|| &self.hollow[index - self.sides.len()])
    }

    /// Finds the constant that makes a row hold on all sides: of its own ones, if it may not be
    /// moved. Nothing if there is none.
    fn constant(
        &mut self,
        form: &mut [T],
        hash: u64,
        shift: bool,
        budget: &Budget,
    ) -> Result<Option<T>, Error> {
        let own = fit(std::mem::replace(&mut form[0], T::zero()).opposite())?;
        // What values stay above where a side has this row.
        let mut floors: Vec<Option<T>> = Vec::with_capacity(self.sides.len());
        for side in &self.sides {
            let row = side.parallel(form, hash).next();
            floors.push(row.map(|row| fit(row[0].opposite())).transpose()?);
        }
        let single = floors.iter().flatten().count() == 1;
        let mut known = self.lowest_known(form)?;
        let mut least: Vec<T> = Vec::with_capacity(self.sides.len());
        for (index, floor) in floors.iter().enumerate() {
            let lowest = match floor {
                // Nothing here is below a value that is taken, or moves the row.
                Some(floor) if single || known.as_ref().is_some_and(|known| floor >= known) => {
                    floor.clone()
                }
                _ => match self.lowest(index, form, &mut known, budget)? {
                    Some(lowest) => lowest,
                    None => return Ok(None),
                },
            };
            least.push(self.rounded(index, form, lowest)?);
        }
        let strided = self.sides.iter().any(|side| !side.part.divs.is_empty());
        if let Some(highest) = floors.iter().flatten().chain([&own]).max().filter(|_| strided) {
            self.raise(form, &mut least, known, highest, budget)?;
        }
        let Some(lowest) = least.into_iter().min() else { return Ok(None) };
        if shift {
            return Ok(Some(fit(lowest.opposite())?));
        }
        // The tightest of those that hold as they are.
        let floors = floors.iter().flatten().chain([&own]);
        let tightest = floors.filter(|floor| **floor <= lowest).max();
        tightest.map(|floor| fit(floor.opposite())).transpose()
    }

    /// Returns the lowest value of a form at the points that are known.
    fn lowest_known(&self, form: &[T]) -> Result<Option<T>, Error> {
        let mut lowest: Option<T> = None;
        for point in self.sides.iter().flat_map(|side| &side.points) {
            let value = value(form, point)?;
            if lowest.as_ref().is_none_or(|lowest| value < *lowest) {
                lowest = Some(value);
            }
        }
        Ok(lowest)
    }

    /// Returns the least rational value of a form on a side, rounded up, if there is one.
    fn lowest(
        &mut self,
        index: usize,
        form: &[T],
        known: &mut Option<T>,
        budget: &Budget,
    ) -> Result<Option<T>, Error> {
        let side = &mut self.sides[index];
        let Optimum::Value(num, den) = side.simplex.optimum(form, -1, budget)? else {
            return Ok(None);
        };
        if let Some(point) = side.simplex.integer_sample() {
            let value = value(form, &point)?;
            if known.as_ref().is_none_or(|known| value < *known) {
                *known = Some(value);
            }
            side.remember(point);
        }
        fit(fit(num.opposite())?.floor_div(&den).opposite()).map(Some)
    }

    /// Rounds a bound of a form up to a value that the equations of a side leave.
    fn rounded(&self, index: usize, form: &[T], bound: T) -> Result<T, Error> {
        let Some(solutions) = &self.solutions[index] else { return Ok(bound) };
        let (first, step) = values(form, solutions)?;
        if step.is_zero() {
            return Ok(first);
        }
        fit(bound.plus(&fit(fit(first.minus(&bound))?.modulo(&step))?))
    }

    /// Raises the least values of a form up to `highest` where no integer point has them.
    ///
    /// Divisions leave rational points between those of the lattice that are far from any of them.
    fn raise(
        &mut self,
        form: &[T],
        least: &mut [T],
        known: Option<T>,
        highest: &T,
        budget: &Budget,
    ) -> Result<(), Error> {
        for _ in 0..TRIES {
            let Some((index, lowest)) = least.iter().enumerate().min_by_key(|(_, low)| *low) else {
                break;
            };
            if lowest >= highest || known.as_ref() == Some(lowest) {
                break;
            }
            let side = &mut self.sides[index];
            let mut system = side.part.unfolded();
            let constant = fit(lowest.opposite())?;
            let row = std::iter::once(&constant).chain(&form[1..]);
            system.eqs.push_all(row.map(Number::integer));
            let floors = side.part.floors();
            let find = |budget: &Budget| feasible::point(&system, &floors, budget);
            match budget.attempt(POINT_STEPS, find)? {
                Some(None) => {
                    let next = fit(lowest.plus(&T::one()))?;
                    least[index] = self.rounded(index, form, next)?;
                }
                Some(Some(point)) => {
                    side.remember(narrowed(&point)?);
                    break;
                }
                None => break,
            }
        }
        Ok(())
    }

    /// Finds a point of each side that has any.
    fn sample(&mut self, budget: &Budget) -> Result<(), Error> {
        for side in &mut self.sides {
            if side.points.is_empty() {
                side.points.extend(sample(&side.part, budget)?);
            }
        }
        Ok(())
    }

    /// Returns the smallest lattice that holds all points, if there are any.
    pub fn lattice(&mut self, budget: &Budget) -> Result<Option<Lattice>, Error> {
        self.sample(budget)?;
        let known = self.sides.iter().filter_map(|side| {
            let point = side.points.first()?;
            Some((&side.part, dimensions(point, side.part.dims)))
        });
        Lattice::from_points(&known.collect::<Vec<_>>(), budget)
    }

    /// Returns independent equations of the dimensions that hold at all points, and imply all
    /// others; nothing if there are no points.
    pub fn equations(&mut self, budget: &Budget) -> Result<Option<Vec<Vec<Integer>>>, Error> {
        self.sample(budget)?;
        let Some(first) = self.sides.iter().find(|side| !side.points.is_empty()) else {
            return Ok(None);
        };
        // Rows that vanish on all points so far; each new point takes one away.
        let mut rows: Vec<Vec<Integer>> = Vec::new();
        for (dim, value) in first.points[0][..first.part.dims].iter().enumerate() {
            let mut row = zeros(1 + first.part.dims);
            (row[0], row[1 + dim]) = (-value.integer(), Integer::ONE);
            rows.push(row);
        }
        self.pass_through_known(&mut rows)?;
        let mut index = 0;
        while let Some(row) = rows.get(index) {
            match self.off(row, budget)? {
                // Rows before this one hold everywhere: they stay as they are.
                Some(point) => pass_through(&mut rows, &point),
                None => index += 1,
            }
        }
        Ok(Some(rows))
    }

    /// Takes rows away that do not vanish at known points, and points beside them.
    fn pass_through_known(&self, rows: &mut Vec<Vec<Integer>>) -> Result<(), Error> {
        for side in &self.sides {
            for point in &side.points {
                pass_through(rows, &dimensions(point, side.part.dims));
            }
        }
        for side in &self.sides {
            for point in side.points.iter().take(NEAR) {
                for dim in 0..side.part.dims {
                    if rows.iter().all(|row| row[1 + dim].is_zero()) {
                        continue;
                    }
                    if let Some(near) = side.beside(point, dim)? {
                        pass_through(rows, &dimensions(&near, side.part.dims));
                    }
                }
            }
        }
        Ok(())
    }

    /// Finds a point where a row is not 0.
    fn off(&mut self, row: &[Integer], budget: &Budget) -> Result<Option<Vec<Integer>>, Error> {
        for side in self.sides.iter_mut().filter(|side| !side.points.is_empty()) {
            let point = side.part.off(row, &mut side.simplex, budget)?;
            if point.is_some() {
                return Ok(point);
            }
        }
        Ok(None)
    }
}

/// Returns one value of a form and the step between all that it has where the solutions are.
fn values<T: Number>(form: &[T], solutions: &[Vec<T>]) -> Result<(T, T), Error> {
    let (mut first, mut step) = (form[0].clone(), T::zero());
    let columns = solutions.first().map_or(1, Vec::len);
    for column in 0..columns {
        let mut sum = T::zero();
        for (factor, row) in form[1..].iter().zip(solutions) {
            if !factor.is_zero() && !row[column].is_zero() {
                sum = fit(sum.plus(&fit(factor.times(&row[column]))?))?;
            }
        }
        match column {
            0 => first = fit(first.plus(&sum))?,
            _ if sum.is_zero() => {}
            _ => step = step.gcd(&sum),
        }
    }
    Ok((first, step))
}

fn dimensions<T: Number>(point: &[T], dims: usize) -> Vec<Integer> {
    point[..dims].iter().map(Number::integer).collect()
}
