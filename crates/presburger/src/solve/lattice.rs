//! Systems under unimodular changes of variables.
//!
//! An equation `4 x + 6 y = 2` has integer solutions along a line. A change of variables by a
//! matrix of determinant 1 or -1 maps integer points to integer points and makes it an equation of
//! one variable, `2 u = 2`: that is Euclid's algorithm on the columns, and the Hermite normal form
//! for several rows.

use super::number::{Number, common, fit, opposites};
use super::redundancy::narrowed;
use super::simplex::Simplex;
use crate::system::System;
use crate::{Budget, Error};

/// Equations and inequalities over `y`, where the original `x` is an affine image of `y`.
///
/// Every row is `[constant, coefficients..]`.
#[derive(Debug, Clone)]
pub(super) struct Problem<T> {
    pub eqs: Vec<Vec<T>>,
    pub ineqs: Vec<Vec<T>>,
    /// One row over `y` for each original variable.
    pub image: Vec<Vec<T>>,
    pub vars: usize,
}

impl<T: Number> Problem<T> {
    pub fn of(system: &System) -> Result<Self, Error> {
        let eqs = system.eqs.rows().map(narrowed).collect::<Result<_, _>>()?;
        let ineqs = system.ineqs.rows().map(narrowed).collect::<Result<_, _>>()?;
        Ok(Self::new(system.cols() - 1, eqs, ineqs))
    }

    pub fn new(vars: usize, eqs: Vec<Vec<T>>, ineqs: Vec<Vec<T>>) -> Self {
        let unit = |i| (0..=vars).map(|j| if j == i + 1 { T::one() } else { T::zero() }).collect();
        Self { eqs, ineqs, image: (0..vars).map(unit).collect(), vars }
    }

    fn rows_mut(&mut self) -> impl Iterator<Item = &mut Vec<T>> {
        self.eqs.iter_mut().chain(&mut self.ineqs).chain(&mut self.image)
    }

    /// Substitutes `y_from -> y_from - factor * y_to` in columns: adds a multiple of a column.
    fn add_column(&mut self, to: usize, factor: &T, from: usize) -> Result<(), Error> {
        for row in self.rows_mut() {
            if !row[from].is_zero() {
                let share = fit(row[from].times(factor))?;
                row[to] = fit(row[to].plus(&share))?;
            }
        }
        Ok(())
    }

    /// Changes variables until `row(self)` has one entry among the columns from `first` on.
    ///
    /// Returns the column of that entry, if there is any.
    fn gather(
        &mut self,
        first: usize,
        row: impl Fn(&Self) -> &Vec<T>,
    ) -> Result<Option<usize>, Error> {
        loop {
            let entries = row(self);
            let mut used: Vec<(usize, T)> = Vec::new();
            for col in first..=self.vars {
                if !entries[col].is_zero() {
                    let size = if entries[col].sign() < 0 {
                        fit(entries[col].opposite())?
                    } else {
                        entries[col].clone()
                    };
                    used.push((col, size));
                }
            }
            let Some((pivot, size)) = used.iter().min_by(|a, b| a.1.cmp(&b.1)).cloned() else {
                return Ok(None);
            };
            if used.len() == 1 {
                return Ok(Some(pivot));
            }
            let positive = row(self)[pivot].sign() > 0;
            for (col, _) in used.into_iter().filter(|(col, _)| *col != pivot) {
                let quotient = row(self)[col].floor_div(&size);
                let factor = if positive { fit(quotient.opposite())? } else { quotient };
                self.add_column(col, &factor, pivot)?;
            }
        }
    }

    fn remove_column(&mut self, col: usize) {
        self.rows_mut().for_each(|row| {
            row.remove(col);
        });
        self.vars -= 1;
    }

    /// Uses up all equations; false if one has no integer solution.
    pub fn solve_equations(&mut self) -> Result<bool, Error> {
        while !self.eqs.is_empty() {
            let last = self.eqs.len() - 1;
            let pivot = self.gather(1, |problem| &problem.eqs[last])?;
            let eq = self.eqs.swap_remove(last);
            let Some(col) = pivot else {
                if eq[0].is_zero() {
                    continue;
                }
                return Ok(false);
            };
            let mut size = eq[col].clone();
            let mut value = eq[0].clone();
            if size.sign() > 0 {
                value = fit(value.opposite())?;
            } else {
                size = fit(size.opposite())?;
            }
            if !fit(value.modulo(&size))?.is_zero() {
                return Ok(false);
            }
            let value = value.floor_div(&size);
            for row in self.rows_mut() {
                if !row[col].is_zero() {
                    let share = fit(row[col].times(&value))?;
                    row[0] = fit(row[0].plus(&share))?;
                }
            }
            self.remove_column(col);
        }
        Ok(true)
    }

    /// Divides inequalities by common factors and keeps the tightest of parallel ones.
    ///
    /// Opposite pairs without slack become equations. False on an evident contradiction.
    pub fn tighten(&mut self) -> Result<bool, Error> {
        let mut rows = Vec::with_capacity(self.ineqs.len());
        for mut row in std::mem::take(&mut self.ineqs) {
            let g = common(&row[1..]);
            if g.is_zero() {
                if row[0].sign() < 0 {
                    return Ok(false);
                }
                continue;
            }
            if g != T::one() {
                row.iter_mut().for_each(|v| *v = v.floor_div(&g));
            }
            rows.push(row);
        }
        rows.sort_unstable_by(|a, b| a[1..].cmp(&b[1..]).then_with(|| a[0].cmp(&b[0])));
        rows.dedup_by(|next, first| next[1..] == first[1..]);
        let mut equal = vec![false; rows.len()];
        for (i, row) in rows.iter().enumerate() {
            let opposite = opposites(&row[1..])?;
            if let Ok(j) = rows.binary_search_by(|r| r[1..].cmp(&opposite)) {
                match fit(row[0].plus(&rows[j][0]))?.sign() {
                    -1 => return Ok(false),
                    0 => {
                        equal[i] = true;
                        if i < j {
                            self.eqs.push(row.clone());
                        }
                    }
                    _ => {}
                }
            }
        }
        let mut equal = equal.into_iter();
        rows.retain(|_| equal.next() == Some(false));
        self.ineqs = rows;
        Ok(true)
    }

    pub fn simplex(&self, budget: &Budget) -> Result<Simplex<T>, Error> {
        let mut simplex = Simplex::new(self.vars);
        for row in &self.ineqs {
            simplex.add_inequality(row, budget)?;
            if simplex.is_empty() {
                break;
            }
        }
        Ok(simplex)
    }

    /// Changes variables so that the inequalities `chosen` use only the first columns.
    ///
    /// Returns the number of columns they use.
    pub fn triangulate(&mut self, chosen: &[usize]) -> Result<usize, Error> {
        let mut first = 1;
        for index in chosen {
            if let Some(col) = self.gather(first, |problem| &problem.ineqs[*index])? {
                self.rows_mut().for_each(|row| row.swap(first, col));
                first += 1;
            }
        }
        Ok(first - 1)
    }

    /// Returns the original point of `y`.
    pub fn original(&self, y: &[T]) -> Result<Vec<T>, Error> {
        self.image.iter().map(|row| value(row, y)).collect()
    }
}

/// Returns the integer points that satisfy the equations of a system, as a row over free numbers for
/// each variable; nothing if there are none.
pub(crate) fn solutions<T: Number>(system: &System) -> Result<Option<Vec<Vec<T>>>, Error> {
    let eqs = system.eqs.rows().map(narrowed).collect::<Result<_, _>>()?;
    let mut problem = Problem::new(system.cols() - 1, eqs, Vec::new());
    Ok(problem.solve_equations()?.then_some(problem.image))
}

/// Evaluates `[constant, coefficients..]` at `point`.
pub(crate) fn value<T: Number>(row: &[T], point: &[T]) -> Result<T, Error> {
    let mut sum = row[0].clone();
    for (coefficient, x) in row[1..].iter().zip(point) {
        if !coefficient.is_zero() {
            sum = fit(coefficient.times(x).and_then(|term| sum.plus(&term)))?;
        }
    }
    Ok(sum)
}
