//! The context of parametric integer programming: what is known about the parameters.
//!
//! A row of the tableau has one sign all over the context, or the context is split in two, on each
//! of which it has one. Each context holds an integer point, which answers most questions about
//! signs without a linear program.

use super::Query;
use crate::div::Div;
use crate::solve::feasible;
use crate::solve::lattice::value;
use crate::solve::number::{Number, common, fit, opposites};
use crate::solve::redundancy::narrowed;
use crate::solve::simplex::{Optimum, Simplex};
use crate::{Budget, Error};

/// What is known about the parameters; holds at least one integer point.
#[derive(Debug, Clone)]
pub(super) struct Context<T> {
    pub simplex: Simplex<T>,
    /// All rows; the flag marks those that were added and are part of the answer.
    rows: Vec<Vec<T>>,
    added: Vec<bool>,
    pub point: Vec<T>,
    floors: Vec<(usize, Div<T>)>,
    new_floors: usize,
    solved: Vec<Known<T>>,
}

/// A row that is 0 everywhere and has 1 or -1 in a column, which no later one has.
#[derive(Debug, Clone)]
pub(super) struct Known<T> {
    pub col: usize,
    pub row: Vec<T>,
}

impl<T: Number> Known<T> {
    /// Replaces the parameter of the column in a form over the parameters.
    fn take_out(&self, form: &mut [T]) -> Result<(), Error> {
        let factor = form[1 + self.col].clone();
        if factor.is_zero() {
            return Ok(());
        }
        let turned = self.row[1 + self.col].sign() > 0;
        let factor = if turned { fit(factor.opposite())? } else { factor };
        if !T::combine(form, &T::one(), &self.row, &factor) {
            return Err(Error::Overflow);
        }
        Ok(())
    }
}

impl<T: Number> Context<T> {
    /// Returns nothing if no integer point satisfies the context.
    pub fn of(query: &Query, budget: &Budget) -> Result<Option<Self>, Error> {
        let floors = query.floors.iter().map(|(col, floor)| Ok((*col, floor.narrowed()?)));
        let mut context = Self {
            simplex: Simplex::new(query.params),
            rows: Vec::new(),
            added: vec![false; query.context.len()],
            point: vec![T::zero(); query.params],
            floors: floors.collect::<Result<_, Error>>()?,
            new_floors: 0,
            solved: Vec::new(),
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

    /// Finds a row that is 0 everywhere and says what a parameter is in terms of others; each is
    /// returned once. That parameter is not to come up in what is asked from then on.
    pub fn solve(&mut self, budget: &Budget) -> Result<Option<Known<T>>, Error> {
        for index in 0..self.rows.len() {
            if let Some(known) = self.learn(&self.rows[index].clone(), budget)? {
                return Ok(Some(known));
            }
        }
        Ok(None)
    }

    /// As [`Self::solve`] from a row that is nowhere negative.
    pub fn learn(&mut self, row: &[T], budget: &Budget) -> Result<Option<Known<T>>, Error> {
        if !value(row, &self.point)?.is_zero() {
            return Ok(None);
        }
        let Some(known) = self.reduced(row)? else { return Ok(None) };
        let is_zero = match self.simplex.optimum(&known.row, 1, budget)? {
            Optimum::Value(num, den) => num < den,
            Optimum::Unbounded => false,
        };
        if !is_zero {
            return Ok(None);
        }
        self.solved.push(known.clone());
        Ok(Some(known))
    }

    /// Writes a row without the parameters that are known; nothing if there is none left in it
    /// that the others would say.
    fn reduced(&self, row: &[T]) -> Result<Option<Known<T>>, Error> {
        let mut row = row.to_vec();
        for known in &self.solved {
            known.take_out(&mut row)?;
        }
        let g = common(&row[1..]);
        // The row is 0 at an integer point, so that the constant is a multiple, too.
        if g.sign() > 0 {
            row.iter_mut().for_each(|v| *v = v.floor_div(&g));
        }
        let is_unit = |v: &T| *v == T::one() || v.opposite() == Some(T::one());
        let col = row[1..].iter().rposition(is_unit);
        Ok(col.map(|col| Known { col, row }))
    }

    /// Rounds the sample point of the tableau, with divisions as they are there; nothing if a row
    /// does not hold.
    fn nearby(&self) -> Result<Option<Vec<T>>, Error> {
        let sample = self.simplex.sample();
        let mut point: Vec<T> = sample.iter().map(|(num, den)| num.floor_div(den)).collect();
        for (col, floor) in &self.floors {
            point[*col] = value(&floor.num, &point)?.floor_div(&floor.den);
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
        let found = self.floors.iter().find(|(_, old)| old.den == den && same(&old.num));
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
        self.floors.push((col, Div { num: row, den }));
        self.new_floors += 1;
        Ok((col, true))
    }

    pub fn added(&self) -> Vec<Vec<T>> {
        let rows = self.rows.iter().zip(&self.added);
        rows.filter(|(_, added)| **added).map(|(row, _)| row.clone()).collect()
    }

    pub fn added_floors(&self) -> Vec<Div<T>> {
        let first = self.floors.len() - self.new_floors;
        self.floors[first..].iter().map(|(_, floor)| floor.clone()).collect()
    }
}
