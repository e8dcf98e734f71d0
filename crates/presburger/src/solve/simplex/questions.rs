//! What a tableau is asked: optima, implied rows, multipliers, sample points.

use super::Simplex;
use crate::solve::number::{Number, fit};
use crate::{Budget, Error};

/// The optimum of a linear form over a polyhedron.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Optimum<T> {
    Unbounded,
    /// Numerator and positive denominator.
    Value(T, T),
}

impl<T: Number> Simplex<T> {
    fn optimise_row(
        &mut self,
        row: usize,
        direction: i32,
        budget: &Budget,
    ) -> Result<Optimum<T>, Error> {
        while let Some((pivot_row, col)) = self.find_pivot(row, direction)? {
            if pivot_row == row {
                return Ok(Optimum::Unbounded);
            }
            self.pivot(pivot_row, col, budget)?;
        }
        Ok(Optimum::Value(self.at(row, 1).clone(), self.at(row, 0).clone()))
    }

    /// Returns the greatest (`direction` 1) or least (-1) value of `form`.
    ///
    /// The polyhedron must not be empty. The sample point moves, the polyhedron stays.
    pub fn optimum(
        &mut self,
        form: &[T],
        direction: i32,
        budget: &Budget,
    ) -> Result<Optimum<T>, Error> {
        let row = self.push_row(form)?;
        let result = self.optimise_row(row, direction, budget);
        self.pop_row();
        result
    }

    /// Drops constraint `id` where the others imply it; says whether they do.
    ///
    /// With `integers`, a constraint that stays above -1 counts as implied. The polyhedron must
    /// not be empty.
    pub fn drop_implied(
        &mut self,
        id: usize,
        integers: bool,
        budget: &Budget,
    ) -> Result<bool, Error> {
        self.unknowns[id].restricted = false;
        let implied = self.falls_no_further(id, integers, budget)?;
        if !implied {
            self.unknowns[id].restricted = true;
            self.restore(id, budget)?;
        }
        Ok(implied)
    }

    /// Lowers an unrestricted unknown; says whether it stays above -1, or not below 0.
    fn falls_no_further(
        &mut self,
        id: usize,
        integers: bool,
        budget: &Budget,
    ) -> Result<bool, Error> {
        if !self.unknowns[id].in_row {
            let col = self.unknowns[id].pos;
            let Some(row) = self.find_pivot_row(None, -1, col)? else { return Ok(false) };
            // The value falls to -1 before this row, the first of all, reaches 0.
            if integers && fit(self.at(row, 1).minus(self.at(row, col)))?.sign() >= 0 {
                return Ok(false);
            }
            self.pivot(row, col, budget)?;
        }
        loop {
            let row = self.unknowns[id].pos;
            let value = self.at(row, 1);
            let below = if integers {
                fit(value.plus(self.at(row, 0)))?.sign() <= 0
            } else {
                value.sign() < 0
            };
            if below {
                return Ok(false);
            }
            match self.find_pivot(row, -1)? {
                None => return Ok(true),
                Some((pivot_row, _)) if pivot_row == row => return Ok(false),
                Some((pivot_row, col)) => self.pivot(pivot_row, col, budget)?,
            }
        }
    }

    /// Returns the coefficients of the constraints `cons` in the row of the greatest value.
    pub fn duals(
        &mut self,
        form: &[T],
        cons: &[usize],
        budget: &Budget,
    ) -> Result<Vec<(T, T)>, Error> {
        let row = self.push_row(form)?;
        let result = self.optimise_row(row, 1, budget);
        let mut duals = Vec::new();
        for con in cons {
            let unknown = self.unknowns[*con];
            let value = if unknown.in_row { T::zero() } else { self.at(row, unknown.pos).clone() };
            duals.push((value, self.at(row, 0).clone()));
        }
        self.pop_row();
        result.map(|_| duals)
    }

    /// Returns whether `form >= 0` everywhere that the values of `form` are integers.
    pub fn implies(&mut self, form: &[T], budget: &Budget) -> Result<bool, Error> {
        Ok(match self.optimum(form, -1, budget)? {
            Optimum::Unbounded => false,
            Optimum::Value(num, den) => fit(num.plus(&den))?.sign() > 0,
        })
    }

    /// Returns whether `form < 0` everywhere.
    pub fn excludes(&mut self, form: &[T], budget: &Budget) -> Result<bool, Error> {
        Ok(match self.optimum(form, 1, budget)? {
            Optimum::Unbounded => false,
            Optimum::Value(num, _) => num.sign() < 0,
        })
    }

    /// Returns whether `form <= 0` everywhere.
    pub fn caps(&mut self, form: &[T], budget: &Budget) -> Result<bool, Error> {
        Ok(match self.optimum(form, 1, budget)? {
            Optimum::Unbounded => false,
            Optimum::Value(num, _) => num.sign() <= 0,
        })
    }

    /// Returns whether `form` reaches 1.
    pub fn exceeds(&mut self, form: &[T], budget: &Budget) -> Result<bool, Error> {
        let row = self.push_row(form)?;
        let result = self.rises(row, budget);
        self.pop_row();
        result
    }

    fn rises(&mut self, row: usize, budget: &Budget) -> Result<bool, Error> {
        while self.at(row, 1) < self.at(row, 0) {
            match self.find_pivot(row, 1)? {
                None => return Ok(false),
                Some((pivot_row, _)) if pivot_row == row => return Ok(true),
                Some((pivot_row, col)) => self.pivot(pivot_row, col, budget)?,
            }
        }
        Ok(true)
    }

    /// Returns the sample point if all its coordinates are integers.
    pub fn integer_sample(&self) -> Option<Vec<T>> {
        let value = |var: &u32| {
            let unknown = self.unknowns[*var as usize];
            if !unknown.in_row {
                return Some(T::zero());
            }
            let row = self.row(unknown.pos);
            let whole = row[0] == T::one() || row[1].modulo(&row[0])?.is_zero();
            whole.then(|| row[1].floor_div(&row[0]))
        };
        self.vars.iter().map(value).collect()
    }

    /// Returns the sample point as numerators and denominators.
    pub fn sample(&self) -> Vec<(T, T)> {
        let value = |var: &u32| {
            let unknown = self.unknowns[*var as usize];
            if !unknown.in_row {
                return (T::zero(), T::one());
            }
            let row = self.row(unknown.pos);
            (row[1].clone(), row[0].clone())
        };
        self.vars.iter().map(value).collect()
    }
}
