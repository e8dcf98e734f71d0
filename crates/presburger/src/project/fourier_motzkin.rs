//! Fourier-Motzkin elimination over the rationals, step by step.
//!
//! To eliminate `x`, each lower bound `l <= a x` is combined with each upper bound
//! `b x <= u`, for positive `a` and `b`, into `b l <= a u`. The result is the
//! projection over the rationals: `{ 2 x = y }` projects to all `y`, odd ones too.
//! [`Relation::project_out`](crate::Relation::project_out) is its exact integer sibling.
//! This is the one that shows its steps, and bounds loops (`project/loop_bounds`). Its siblings mean
//! something else: `project/eliminate` is exact over the integers, `rational_relation/eliminate`
//! keeps cones, and on machine numbers `tangram_polyhedral` eliminates what makes no more rows.
//! Projection is not intersection with `x = 0`: see [`Inequalities::at_zero`].

use std::fmt;

use crate::matrix::{combine, divide, evaluate, gcd};
use crate::print::sum;
use crate::solve::redundancy::rationally_essential;
use crate::{Budget, Error, Integer, Relation};

/// Inequalities `row >= 0` over named variables; a row is `[constant, coefficients..]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inequalities {
    names: Vec<String>,
    rows: Vec<Vec<Integer>>,
}

/// What one elimination did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EliminationStep {
    /// The variable that is gone.
    pub variable: String,
    /// Rows that bound it from below, and from above.
    pub lower: Vec<Vec<Integer>>,
    /// Rows that bound it from above.
    pub upper: Vec<Vec<Integer>>,
    /// One row for each pair of bounds: as many as lower times upper bounds, which is at
    /// most a quarter of the square of all rows.
    pub combined: Vec<Vec<Integer>>,
    /// The inequalities that are left once redundant ones are dropped.
    pub result: Inequalities,
    /// How many redundant ones there were.
    pub redundant: usize,
}

impl Inequalities {
    /// Makes a system; each row holds the constant and one coefficient per name.
    ///
    /// # Errors
    /// [`Error::Row`] if a row has another length.
    pub fn new<T: Into<Integer>>(names: Vec<String>, rows: Vec<Vec<T>>) -> Result<Self, Error> {
        let expected = 1 + names.len();
        if let Some(row) = rows.iter().find(|row| row.len() != expected) {
            return Err(Error::Row { expected, found: row.len() });
        }
        let mut system = Self { names, rows: Vec::new() };
        for row in rows {
            system.insert(row.into_iter().map(T::into).collect());
        }
        Ok(system)
    }

    /// Returns the systems of the disjuncts; divisions become variables of their own.
    pub fn of(relation: &Relation) -> Result<Vec<Self>, Error> {
        let systems = relation.parts.iter().map(|part| {
            let mut names = relation.space().distinct_names();
            names.extend((0..part.divs.len()).map(|i| format!("e{i}")));
            Self::new(names, part.unfolded().half_spaces())
        });
        systems.collect()
    }

    /// The variables, in the order of their columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The rows.
    pub fn rows(&self) -> &[Vec<Integer>] {
        &self.rows
    }

    fn insert(&mut self, mut row: Vec<Integer>) {
        let g = gcd(&row);
        if !g.is_zero() {
            divide(&mut row, &g);
        }
        let trivial = row[1..].iter().all(Integer::is_zero) && row[0].sign() >= 0;
        if !trivial && !self.rows.contains(&row) {
            self.rows.push(row);
        }
    }

    fn column(&self, variable: &str) -> Result<usize, Error> {
        let found = self.names.iter().position(|name| name == variable);
        found.map(|index| 1 + index).ok_or_else(|| Error::Space {
            expected: format!("one of {}", self.names.join(", ")),
            found: variable.to_owned(),
        })
    }

    /// Splits into lower bounds of a column, upper bounds, and the rest.
    pub(super) fn split(&self, col: usize) -> [Vec<Vec<Integer>>; 3] {
        let side =
            |sign: i32| self.rows.iter().filter(|row| row[col].sign() == sign).cloned().collect();
        [side(1), side(-1), side(0)]
    }

    /// Drops the rows that the others imply over the rationals.
    pub fn without_redundancies(&self, budget: &Budget) -> Result<Self, Error> {
        self.essential_given(&[], budget)
    }

    pub(super) fn essential_given(
        &self,
        given: &[Vec<Integer>],
        budget: &Budget,
    ) -> Result<Self, Error> {
        let kept = rationally_essential(&self.rows, given, self.names.len(), budget)?;
        let rows = self.rows.iter().zip(kept).filter(|(_, kept)| *kept);
        Ok(Self { names: self.names.clone(), rows: rows.map(|(row, _)| row.clone()).collect() })
    }

    /// Eliminates `variable`: the projection along its axis, over the rationals.
    ///
    /// # Errors
    /// [`Error::Space`] if there is no such variable.
    pub fn eliminate(&self, variable: &str, budget: &Budget) -> Result<EliminationStep, Error> {
        let col = self.column(variable)?;
        let [lower, upper, rest] = self.split(col);
        let mut all = Self { names: self.names.clone(), rows: rest };
        let mut combined = Vec::new();
        for (l, u) in lower.iter().flat_map(|l| upper.iter().map(move |u| (l, u))) {
            budget.spend(1)?;
            let g = l[col].gcd(&u[col]);
            let row = combine(&-u[col].div_exact(&g), l, &l[col].div_exact(&g), u);
            all.insert(row.clone());
            combined.push(row);
        }
        let untouched = self.rows.len() - lower.len() - upper.len();
        let result = all.without_redundancies(budget)?;
        let redundant = untouched + combined.len() - result.rows.len();
        let variable = variable.to_owned();
        Ok(EliminationStep { variable, lower, upper, combined, result, redundant })
    }

    /// Intersects with `variable = 0`, which is not the projection.
    ///
    /// # Errors
    /// [`Error::Space`] if there is no such variable.
    pub fn at_zero(&self, variable: &str) -> Result<Self, Error> {
        let col = self.column(variable)?;
        let mut result = Self { names: self.names.clone(), rows: Vec::new() };
        for row in &self.rows {
            let mut row = row.clone();
            row[col] = Integer::ZERO;
            result.insert(row);
        }
        Ok(result)
    }

    /// Returns whether the integer point satisfies all rows.
    ///
    /// # Errors
    /// [`Error::Row`] if the number of coordinates is not that of the variables.
    pub fn contains<T: Clone + Into<Integer>>(&self, point: &[T]) -> Result<bool, Error> {
        if point.len() != self.names.len() {
            return Err(Error::Row { expected: self.names.len(), found: point.len() });
        }
        let point: Vec<Integer> = point.iter().cloned().map(T::into).collect();
        Ok(self.rows.iter().all(|row| evaluate(row, &point).sign() >= 0))
    }
}

fn lines(f: &mut fmt::Formatter<'_>, names: &[String], rows: &[Vec<Integer>]) -> fmt::Result {
    rows.iter().try_for_each(|row| writeln!(f, "  {} >= 0", sum(row, names)))
}

impl fmt::Display for Inequalities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        lines(f, &self.names, &self.rows)
    }
}

impl fmt::Display for EliminationStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (l, u) = (self.lower.len(), self.upper.len());
        let names = &self.result.names;
        writeln!(f, "eliminate {}: {l} lower bounds", self.variable)?;
        lines(f, names, &self.lower)?;
        writeln!(f, "{u} upper bounds")?;
        lines(f, names, &self.upper)?;
        let limit = (l + u) * (l + u) / 4;
        writeln!(f, "{l} * {u} = {} combinations, at most {limit}", self.combined.len())?;
        lines(f, names, &self.combined)?;
        writeln!(f, "{} left, {} redundant", self.result.rows.len(), self.redundant)?;
        lines(f, names, &self.result.rows)
    }
}
