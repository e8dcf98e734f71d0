//! Many questions about the rational points of one system of rows.

use crate::matrix::negated;
use crate::solve::bounds::{Bounds, extremes};
use crate::solve::number::Number;
use crate::solve::redundancy::narrowed;
use crate::solve::simplex::Simplex;
use crate::system::System;
use crate::{Budget, Conjunction, Error, Integer};

/// The rational points of a growing conjunction, kept as a tableau between questions.
///
/// Rows are `[constant, variables..]`. Answers are exact for rational points; they are
/// rounded to the integers that a row can take at integer points.
#[derive(Debug, Clone)]
pub struct Relaxation {
    rows: System,
    tableau: Tableau,
}

/// Widens as soon as a number does not fit.
#[derive(Debug, Clone)]
enum Tableau {
    Narrow(Simplex<i64>),
    Wide(Simplex<i128>),
    Exact(Simplex<num_bigint::BigInt>),
}

/// Asks the tableau at hand; after an overflow, asks a wider one.
macro_rules! ask {
    ($self:ident, $budget:ident, $simplex:ident => $body:expr) => {
        loop {
            let result = match &mut $self.tableau {
                Tableau::Narrow($simplex) => $body,
                Tableau::Wide($simplex) => $body,
                Tableau::Exact($simplex) => $body,
            };
            match result {
                Err(Error::Overflow) if $self.widen($budget)? => {}
                result => break result,
            }
        }
    };
}

impl Relaxation {
    /// Makes the system without rows over `vars` variables.
    pub fn new(vars: usize) -> Self {
        Self { rows: System::new(vars), tableau: Tableau::Narrow(Simplex::new(vars)) }
    }

    /// Makes the system of a disjunct: its rows and the bounds of its divisions.
    ///
    /// The variables are the columns of the rows, divisions included.
    ///
    /// # Errors
    /// [`Error::Row`] if a row does not have a number per column.
    pub fn of<T: Clone + Into<Integer>>(
        part: &Conjunction<T>,
        vars: usize,
        budget: &Budget,
    ) -> Result<Self, Error> {
        let first = 1 + vars;
        let cols = first + part.divisions.len();
        let mut result = Self::new(cols - 1);
        for (index, division) in part.divisions.iter().enumerate() {
            let mut low = result.padded(&division.numerator)?;
            let den: Integer = division.denominator.clone().into();
            low[first + index] = -&den;
            let mut high = negated(&low);
            high[0] += den - 1;
            result.add(&low, budget)?;
            result.add(&high, budget)?;
        }
        for row in &part.equalities {
            result.add_equation(row, budget)?;
        }
        for row in &part.inequalities {
            result.add(row, budget)?;
        }
        Ok(result)
    }

    /// Adds `row >= 0`.
    ///
    /// # Errors
    /// [`Error::Row`] if the row is longer than there are columns.
    pub fn add<T: Clone + Into<Integer>>(
        &mut self,
        row: &[T],
        budget: &Budget,
    ) -> Result<(), Error> {
        let row = self.padded(row)?;
        self.rows.ineqs.push(&row);
        let result = match &mut self.tableau {
            Tableau::Narrow(simplex) => add_to(simplex, &row, budget),
            Tableau::Wide(simplex) => add_to(simplex, &row, budget),
            Tableau::Exact(simplex) => add_to(simplex, &row, budget),
        };
        match result {
            // The wider tableau is built of all rows, the new one included.
            Err(Error::Overflow) if self.widen(budget)? => Ok(()),
            result => result,
        }
    }

    /// Adds `row = 0`.
    ///
    /// # Errors
    /// [`Error::Row`] if the row is longer than there are columns.
    pub fn add_equation<T: Clone + Into<Integer>>(
        &mut self,
        row: &[T],
        budget: &Budget,
    ) -> Result<(), Error> {
        let row = self.padded(row)?;
        self.add(&row, budget)?;
        self.add(&negated(&row), budget)
    }

    /// Returns whether there is no rational point.
    pub fn is_empty(&self) -> bool {
        match &self.tableau {
            Tableau::Narrow(simplex) => simplex.is_empty(),
            Tableau::Wide(simplex) => simplex.is_empty(),
            Tableau::Exact(simplex) => simplex.is_empty(),
        }
    }

    /// Returns the least and greatest integer values of `row`, where there are any.
    ///
    /// There must be a point; [`Self::is_empty`] says so.
    ///
    /// # Errors
    /// [`Error::Row`] if the row is longer than there are columns.
    pub fn range<T: Clone + Into<Integer>>(
        &mut self,
        row: &[T],
        budget: &Budget,
    ) -> Result<Bounds, Error> {
        let row = self.padded(row)?;
        ask!(self, budget, simplex => extremes(simplex, &row, budget))
    }

    /// Returns whether `row >= 0` at all integer points, as far as rational points show it.
    ///
    /// # Errors
    /// [`Error::Row`] if the row is longer than there are columns.
    pub fn implies<T: Clone + Into<Integer>>(
        &mut self,
        row: &[T],
        budget: &Budget,
    ) -> Result<bool, Error> {
        if self.is_empty() {
            return Ok(true);
        }
        let row = self.padded(row)?;
        if row[1..].iter().all(Integer::is_zero) {
            return Ok(row[0].sign() >= 0);
        }
        ask!(self, budget, simplex => narrowed(&row).and_then(|row| simplex.implies(&row, budget)))
    }

    fn padded<T: Clone + Into<Integer>>(&self, row: &[T]) -> Result<Vec<Integer>, Error> {
        if row.len() > self.rows.cols() {
            return Err(Error::Row { expected: self.rows.cols(), found: row.len() });
        }
        let mut row: Vec<Integer> = row.iter().cloned().map(T::into).collect();
        row.resize(self.rows.cols(), Integer::ZERO);
        Ok(row)
    }

    /// Rebuilds with wider numbers; false if there are none.
    fn widen(&mut self, budget: &Budget) -> Result<bool, Error> {
        if matches!(self.tableau, Tableau::Narrow(_)) {
            match build::<i128>(&self.rows, budget) {
                Ok(simplex) => {
                    self.tableau = Tableau::Wide(simplex);
                    return Ok(true);
                }
                Err(Error::Overflow) => {}
                Err(error) => return Err(error),
            }
        }
        if matches!(self.tableau, Tableau::Exact(_)) {
            return Ok(false);
        }
        self.tableau = Tableau::Exact(build(&self.rows, budget)?);
        Ok(true)
    }
}

fn build<T: Number>(rows: &System, budget: &Budget) -> Result<Simplex<T>, Error> {
    let mut simplex = Simplex::new(rows.cols() - 1);
    for row in rows.ineqs.rows() {
        add_to(&mut simplex, row, budget)?;
    }
    Ok(simplex)
}

fn add_to<T: Number>(
    simplex: &mut Simplex<T>,
    row: &[Integer],
    budget: &Budget,
) -> Result<(), Error> {
    simplex.add_inequality(&narrowed(row)?, budget)
}
