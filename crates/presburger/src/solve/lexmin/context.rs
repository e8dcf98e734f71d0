//! What is known about the parameters.

use super::{Floor, Query};
use crate::solve::feasible;
use crate::solve::lattice::value;
use crate::solve::number::{Number, common, fit, opposites};
use crate::solve::redundancy::narrowed;
use crate::solve::simplex::Simplex;
use crate::{Budget, Error};

/// What is known about the parameters; holds at least one integer point.
#[derive(Debug, Clone)]
pub(super) struct Context<T> {
    pub simplex: Simplex<T>,
    /// All rows; the flag marks those that were added and are part of the answer.
    rows: Vec<Vec<T>>,
    added: Vec<bool>,
    pub point: Vec<T>,
    floors: Vec<(usize, Floor<T>)>,
    new_floors: usize,
}

impl<T: Number> Context<T> {
    /// Returns nothing if no integer point satisfies the context.
    pub fn of(query: &Query, budget: &Budget) -> Result<Option<Self>, Error> {
        let floors = query
            .floors
            .iter()
            .map(|(col, (row, den))| Ok((*col, (narrowed(row)?, fit(T::of(den))?))));
        let mut context = Self {
            simplex: Simplex::new(query.params),
            rows: Vec::new(),
            added: vec![false; query.context.len()],
            point: vec![T::zero(); query.params],
            floors: floors.collect::<Result<_, Error>>()?,
            new_floors: 0,
        };
        for row in &query.context {
            let row: Vec<T> = narrowed(row)?;
            context.simplex.add_inequality(&row, budget)?;
            context.rows.push(row);
        }
        let Some(point) = feasible::point_of(&context.rows, query.params, &context.floors, budget)?
        else {
            return Ok(None);
        };
        context.point = point;
        Ok(Some(context))
    }

    /// Adds `row >= 0`; false if no integer point is left.
    pub fn add(&mut self, row: Vec<T>, budget: &Budget) -> Result<bool, Error> {
        self.simplex.add_inequality(&row, budget)?;
        if self.simplex.is_empty() {
            return Ok(false);
        }
        let holds = value(&row, &self.point)?.sign() >= 0;
        self.rows.push(row);
        self.added.push(true);
        if holds {
            return Ok(true);
        }
        if let Some(point) = self.nearby()? {
            self.point = point;
            return Ok(true);
        }
        match feasible::point_of(&self.rows, self.point.len(), &self.floors, budget)? {
            Some(point) => self.point = point,
            None => return Ok(false),
        }
        Ok(true)
    }

    /// Rounds the sample point of the tableau, with divisions as they are there; nothing if a row
    /// does not hold.
    fn nearby(&self) -> Result<Option<Vec<T>>, Error> {
        let sample = self.simplex.sample();
        let mut point: Vec<T> = sample.iter().map(|(num, den)| num.floor_div(den)).collect();
        for (col, (row, den)) in &self.floors {
            point[*col] = value(row, &point)?.floor_div(den);
        }
        for row in &self.rows {
            if value(row, &point)?.sign() < 0 {
                return Ok(None);
            }
        }
        Ok(Some(point))
    }

    /// Returns the column of `floor(row / den)`, new if there is none yet.
    pub fn floor(
        &mut self,
        mut row: Vec<T>,
        den: T,
        budget: &Budget,
    ) -> Result<(usize, bool), Error> {
        let g = common(&row[1..]).gcd(&den);
        let den = den.floor_div(&g);
        row.iter_mut().for_each(|v| *v = v.floor_div(&g));
        let same = |old: &[T]| {
            let n = old.len().min(row.len());
            old[..n] == row[..n] && old[n..].iter().chain(&row[n..]).all(Number::is_zero)
        };
        let found = self.floors.iter().find(|(_, (old, d))| *d == den && same(old));
        if let Some((col, _)) = found {
            return Ok((*col, false));
        }
        let col = self.point.len();
        self.simplex.add_variable();
        self.rows.iter_mut().for_each(|row| row.push(T::zero()));
        let q = value(&row, &self.point)?.floor_div(&den);
        self.point.push(q);
        let mut low = row.clone();
        low.resize(col + 1, T::zero());
        low.push(fit(den.opposite())?);
        let mut high = opposites(&low)?;
        high[0] = fit(fit(high[0].plus(&den))?.minus(&T::one()))?;
        for bound in [low, high] {
            // The point satisfies both bounds by its definition.
            self.simplex.add_inequality(&bound, budget)?;
            self.rows.push(bound);
            self.added.push(false);
        }
        self.floors.push((col, (row, den)));
        self.new_floors += 1;
        Ok((col, true))
    }

    pub fn added(&self) -> Vec<Vec<T>> {
        let rows = self.rows.iter().zip(&self.added);
        rows.filter(|(_, added)| **added).map(|(row, _)| row.clone()).collect()
    }

    pub fn added_floors(&self) -> Vec<Floor<T>> {
        let first = self.floors.len() - self.new_floors;
        self.floors[first..].iter().map(|(_, floor)| floor.clone()).collect()
    }
}
