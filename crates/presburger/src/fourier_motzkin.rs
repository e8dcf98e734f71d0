//! Fourier-Motzkin elimination over the rationals, step by step.
//!
//! To eliminate `x`, each lower bound `l <= a x` is combined with each upper bound
//! `b x <= u`, for positive `a` and `b`, into `b l <= a u`. The result is the
//! projection over the rationals: `{ 2 x = y }` projects to all `y`, odd ones too.
//! [`Relation::project_out`](crate::Relation::project_out) is its exact integer sibling.
//! Projection is not intersection with `x = 0`: see [`Inequalities::at_zero`].

use std::fmt;

use crate::matrix::{combine, gcd};
use crate::print::sum;
use crate::solve::redundancy::rationally_essential;
use crate::{Budget, Error, Relation};

/// Inequalities `row >= 0` over named variables; a row is `[constant, coefficients..]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inequalities {
    names: Vec<String>,
    rows: Vec<Vec<i128>>,
}

/// What one elimination did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The variable that is gone.
    pub variable: String,
    /// Rows that bound it from below, and from above.
    pub lower: Vec<Vec<i128>>,
    /// Rows that bound it from above.
    pub upper: Vec<Vec<i128>>,
    /// One row for each pair of bounds: as many as lower times upper bounds, which is at
    /// most a quarter of the square of all rows.
    pub combined: Vec<Vec<i128>>,
    /// The inequalities that are left once redundant ones are dropped.
    pub result: Inequalities,
    /// How many redundant ones there were.
    pub redundant: usize,
}

/// The bounds of one loop: rows in which its variable occurs, over outer variables alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopBounds {
    /// The variable of the loop.
    pub variable: String,
    /// The loop starts at the greatest of these, rounded up.
    pub lower: Vec<Vec<i128>>,
    /// The loop ends at the least of these, rounded down.
    pub upper: Vec<Vec<i128>>,
    names: Vec<String>,
}

impl Inequalities {
    /// Makes a system; each row holds the constant and one coefficient per name.
    ///
    /// # Errors
    /// [`Error::Row`] if a row has another length.
    pub fn new(names: Vec<String>, rows: Vec<Vec<i128>>) -> Result<Self, Error> {
        let expected = 1 + names.len();
        if let Some(row) = rows.iter().find(|r| r.len() != expected || r.contains(&i128::MIN)) {
            return Err(Error::Row { expected, found: row.len() });
        }
        let mut system = Self { names, rows: Vec::new() };
        for row in rows {
            system.insert(row)?;
        }
        Ok(system)
    }

    /// Returns the systems of the disjuncts; divisions become variables of their own.
    pub fn of(relation: &Relation) -> Result<Vec<Self>, Error> {
        let systems = relation.parts.iter().map(|part| {
            let mut names = relation.space().distinct_names();
            names.extend((0..part.divs.len()).map(|i| format!("e{i}")));
            let system = part.unfolded()?;
            let mut rows: Vec<Vec<i128>> = system.ineqs.rows().map(<[i128]>::to_vec).collect();
            for row in system.eqs.rows() {
                rows.push(row.to_vec());
                rows.push(crate::matrix::negated(row)?);
            }
            Self::new(names, rows)
        });
        systems.collect()
    }

    /// The variables, in the order of their columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The rows.
    pub fn rows(&self) -> &[Vec<i128>] {
        &self.rows
    }

    fn insert(&mut self, mut row: Vec<i128>) -> Result<(), Error> {
        let g = gcd(&row)?;
        if g > 1 {
            row.iter_mut().for_each(|v| *v /= g);
        }
        let trivial = row[1..].iter().all(|v| *v == 0) && row[0] >= 0;
        if !trivial && !self.rows.contains(&row) {
            self.rows.push(row);
        }
        Ok(())
    }

    fn column(&self, variable: &str) -> Result<usize, Error> {
        let found = self.names.iter().position(|name| name == variable);
        found.map(|index| 1 + index).ok_or_else(|| Error::Space {
            expected: format!("one of {}", self.names.join(", ")),
            found: variable.to_owned(),
        })
    }

    /// Splits into lower bounds of a column, upper bounds, and the rest.
    fn split(&self, col: usize) -> [Vec<Vec<i128>>; 3] {
        let side = |sign: i128| {
            self.rows.iter().filter(|row| row[col].signum() == sign).cloned().collect()
        };
        [side(1), side(-1), side(0)]
    }

    /// Drops the rows that the others imply over the rationals.
    pub fn without_redundancies(&self, budget: &Budget) -> Result<Self, Error> {
        self.essential_given(&[], budget)
    }

    fn essential_given(&self, given: &[Vec<i128>], budget: &Budget) -> Result<Self, Error> {
        let kept = rationally_essential(&self.rows, given, self.names.len(), budget)?;
        let rows = self.rows.iter().zip(kept).filter(|(_, kept)| *kept);
        Ok(Self { names: self.names.clone(), rows: rows.map(|(row, _)| row.clone()).collect() })
    }

    /// Eliminates `variable`: the projection along its axis, over the rationals.
    ///
    /// # Errors
    /// [`Error::Space`] if there is no such variable; [`Error::Overflow`] if a
    /// coefficient does not fit into 128 bits.
    pub fn eliminate(&self, variable: &str, budget: &Budget) -> Result<Step, Error> {
        let col = self.column(variable)?;
        let [lower, upper, rest] = self.split(col);
        let mut all = Self { names: self.names.clone(), rows: rest };
        let mut combined = Vec::new();
        for (l, u) in lower.iter().flat_map(|l| upper.iter().map(move |u| (l, u))) {
            budget.spend(1)?;
            let g = gcd(&[l[col], u[col]])?;
            let row = combine(-u[col] / g, l, l[col] / g, u)?;
            all.insert(row.clone())?;
            combined.push(row);
        }
        let untouched = self.rows.len() - lower.len() - upper.len();
        let result = all.without_redundancies(budget)?;
        let redundant = untouched + combined.len() - result.rows.len();
        let variable = variable.to_owned();
        Ok(Step { variable, lower, upper, combined, result, redundant })
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
            row[col] = 0;
            result.insert(row)?;
        }
        Ok(result)
    }

    /// Says whether the integer point satisfies all rows.
    ///
    /// # Errors
    /// [`Error::Row`] if the number of coordinates is not that of the variables.
    pub fn contains(&self, point: &[i128]) -> Result<bool, Error> {
        if point.len() != self.names.len() {
            return Err(Error::Row { expected: self.names.len(), found: point.len() });
        }
        for row in &self.rows {
            if crate::matrix::evaluate(row, point)? < 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Bounds loops over `order`, the outermost first; other variables are symbols.
    ///
    /// Inside out, each variable is bounded and eliminated; outside in, the bounds that
    /// the outer loops imply are dropped. The rational shadow may hold integer points
    /// without an inner iteration: an inner loop is then empty, never wrong.
    ///
    /// # Errors
    /// [`Error::Space`] if there is no such variable.
    pub fn loop_bounds(&self, order: &[&str], budget: &Budget) -> Result<Vec<LoopBounds>, Error> {
        let mut system = self.without_redundancies(budget)?;
        let mut loops = Vec::new();
        for variable in order.iter().rev() {
            let step = system.eliminate(variable, budget)?;
            loops.push((variable, [step.lower, step.upper].concat()));
            system = step.result;
        }
        let mut known = system.rows;
        let mut result = Vec::new();
        for (variable, rows) in loops.into_iter().rev() {
            let bounds = Self { names: self.names.clone(), rows };
            let bounds = bounds.essential_given(&known, budget)?;
            let [lower, upper, _] = bounds.split(self.column(variable)?);
            known.extend(bounds.rows);
            let (variable, names) = ((*variable).to_owned(), self.names.clone());
            result.push(LoopBounds { variable, lower, upper, names });
        }
        Ok(result)
    }
}

fn lines(f: &mut fmt::Formatter<'_>, names: &[String], rows: &[Vec<i128>]) -> fmt::Result {
    rows.iter().try_for_each(|row| writeln!(f, "  {} >= 0", sum(row, names)))
}

impl fmt::Display for Inequalities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        lines(f, &self.names, &self.rows)
    }
}

impl fmt::Display for Step {
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

impl fmt::Display for LoopBounds {
    /// Writes the loop as `for x in max(..) ..= min(..)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let col = self.names.iter().position(|name| *name == self.variable).unwrap_or(0);
        let side = |rows: &[Vec<i128>], round: &str, pick: &str| {
            let one = |row: &Vec<i128>| {
                let (mut row, factor) = (row.clone(), row[1 + col]);
                row[1 + col] = 0;
                if factor > 0 {
                    row.iter_mut().for_each(|v| *v = v.saturating_neg());
                }
                let text = sum(&row, &self.names);
                match factor.unsigned_abs() {
                    1 => text,
                    den => format!("{round}(({text})/{den})"),
                }
            };
            let texts: Vec<String> = rows.iter().map(one).collect();
            match &texts[..] {
                [] => "?".to_owned(),
                [single] => single.clone(),
                _ => format!("{pick}({})", texts.join(", ")),
            }
        };
        let low = side(&self.lower, "ceil", "max");
        let high = side(&self.upper, "floor", "min");
        write!(f, "for {} in {low} ..= {high}", self.variable)
    }
}
