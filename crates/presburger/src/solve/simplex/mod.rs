//! Rational linear programming on a dense tableau.
//!
//! A row reads `d * r = c + a1 u1 + .. + an un`: column 0 holds the denominator `d`,
//! column 1 the constant, the rest one column unknown each. An unknown is a variable or
//! a constraint; restricted unknowns are not negative. Column unknowns are 0 in the
//! sample point. The invariant between calls: no restricted row is negative there,
//! unless the system is marked empty. A clone is a snapshot: the tableau is one
//! allocation.
//!
//! `0 <= x`, `0 <= y` and `x + y <= 3` begin with the column unknowns `x` and `y` and the row
//! `r = 3 - x - y`. The greatest `x` is found by a pivot of `x` with `r`: the row becomes
//! `x = 3 - r - y`, in which nothing can grow, as `r` and `y` are at 0 and may not fall below it.
//!
//! Numbers are integers of one width, and overflow is reported: the caller starts again with a
//! wider one (`number`). Tableaus that only ever look for a least point are in
//! [`least`](super::least).
//!
//! Source: D. Detlefs, G. Nelson, J. Saxe, "Simplify", 2005, section 8, with Bland's rule.

mod questions;

use super::number::{Number, fit, reduce};
use crate::{Budget, Error};
pub(crate) use questions::Optimum;

const FIRST: usize = 2;

#[derive(Debug, Clone, Copy)]
struct Unknown {
    in_row: bool,
    restricted: bool,
    pos: usize,
}

#[derive(Debug, Clone)]
pub(crate) struct Simplex<T> {
    data: Vec<T>,
    cols: usize,
    unknowns: Vec<Unknown>,
    /// The unknown of each row, and of each column from `FIRST` on.
    row_of: Vec<u32>,
    col_of: Vec<u32>,
    /// The unknowns of the variables, in order.
    vars: Vec<u32>,
    empty: bool,
    pivots: u32,
}

impl<T: Number> Simplex<T> {
    /// Makes the polyhedron of all points with `vars` coordinates.
    pub fn new(vars: usize) -> Self {
        let unknown = |i| Unknown { in_row: false, restricted: false, pos: FIRST + i };
        Self {
            data: Vec::new(),
            cols: FIRST + vars,
            unknowns: (0..vars).map(unknown).collect(),
            row_of: Vec::new(),
            col_of: (0..vars as u32).collect(),
            vars: (0..vars as u32).collect(),
            empty: false,
            pivots: 0,
        }
    }

    /// Makes room for so many constraints, and a row for a question.
    pub fn reserve(&mut self, rows: usize) {
        self.data.reserve_exact((rows + 1) * self.cols);
        self.row_of.reserve_exact(rows + 1);
        self.unknowns.reserve_exact(rows + 1);
    }

    pub fn is_empty(&self) -> bool {
        self.empty
    }

    /// Adds an unrestricted variable; existing rows do not use it.
    pub fn add_variable(&mut self) {
        let rows = self.row_of.len();
        let mut data = Vec::with_capacity(rows * (self.cols + 1));
        for row in self.data.chunks_exact(self.cols) {
            data.extend_from_slice(row);
            data.push(T::zero());
        }
        self.data = data;
        let id = self.unknowns.len() as u32;
        self.unknowns.push(Unknown { in_row: false, restricted: false, pos: self.cols });
        self.cols += 1;
        self.col_of.push(id);
        self.vars.push(id);
    }

    fn at(&self, row: usize, col: usize) -> &T {
        &self.data[row * self.cols + col]
    }

    fn row(&self, row: usize) -> &[T] {
        &self.data[row * self.cols..][..self.cols]
    }

    /// Appends a row for `form = [constant, coefficients..]`, unrestricted.
    fn push_row(&mut self, form: &[T]) -> Result<usize, Error> {
        let end = self.data.len();
        self.data.resize(end + self.cols, T::zero());
        if let Err(error) = self.fill_last_row(form) {
            self.data.truncate(end);
            return Err(error);
        }
        let pos = self.row_of.len();
        self.row_of.push(self.unknowns.len() as u32);
        self.unknowns.push(Unknown { in_row: true, restricted: false, pos });
        Ok(pos)
    }

    fn fill_last_row(&mut self, form: &[T]) -> Result<(), Error> {
        let (rows, new) = self.data.split_at_mut(self.row_of.len() * self.cols);
        new[0] = T::one();
        new[1] = form[0].clone();
        for (coefficient, var) in form[1..].iter().zip(&self.vars) {
            if coefficient.is_zero() {
                continue;
            }
            let unknown = self.unknowns[*var as usize];
            if !unknown.in_row {
                let share = fit(coefficient.times(&new[0]))?;
                new[unknown.pos] = fit(new[unknown.pos].plus(&share))?;
                continue;
            }
            add_row(new, &rows[unknown.pos * self.cols..][..self.cols], coefficient)?;
        }
        reduce(new);
        Ok(())
    }

    /// Adds `form >= 0`; marks the polyhedron empty where that leaves no point.
    pub fn add_inequality(&mut self, form: &[T], budget: &Budget) -> Result<(), Error> {
        if self.empty {
            return Ok(());
        }
        let id = self.unknowns.len();
        self.push_row(form)?;
        self.unknowns[id].restricted = true;
        self.restore(id, budget)
    }

    /// Adds `form = 0`, which takes an unknown away.
    pub fn add_equation(&mut self, form: &[T], budget: &Budget) -> Result<(), Error> {
        if self.empty {
            return Ok(());
        }
        let id = self.unknowns.len();
        let row = self.push_row(form)?;
        if self.at(row, 1).sign() < 0 {
            for value in &mut self.data[row * self.cols + 1..] {
                *value = fit(value.opposite())?;
            }
        }
        self.unknowns[id].restricted = true;
        // The row falls to 0, where it leaves its place at the latest.
        while self.unknowns[id].in_row && self.at(row, 1).sign() > 0 {
            let Some((_, col)) = self.find_pivot(row, -1)? else {
                self.empty = true;
                return Ok(());
            };
            let direction = -self.at(row, col).sign();
            let first = self.find_pivot_row(None, direction, col)?;
            self.pivot(first.unwrap_or(row), col, budget)?;
        }
        if self.unknowns[id].in_row {
            let nonzero = |col: &usize| !self.at(row, *col).is_zero();
            let Some(col) = (FIRST..self.cols).find(nonzero) else {
                self.pop_row();
                return Ok(());
            };
            self.pivot(row, col, budget)?;
        }
        self.remove_column(id);
        Ok(())
    }

    /// Removes a column unknown that is 0.
    fn remove_column(&mut self, id: usize) {
        let col = self.unknowns[id].pos;
        swap_remove_column(&mut self.data, self.cols, col);
        self.cols -= 1;
        self.col_of.swap_remove(col - FIRST);
        if let Some(moved) = self.col_of.get(col - FIRST) {
            self.unknowns[*moved as usize].pos = col;
        }
    }

    /// Removes the row of a constraint that is implied: without it, pivots are cheaper.
    pub fn forget(&mut self, id: usize) {
        let unknown = self.unknowns[id];
        if !unknown.in_row || unknown.restricted {
            return;
        }
        let (row, cols) = (unknown.pos, self.cols);
        let last = self.row_of.len() - 1;
        for col in 0..cols {
            self.data.swap(row * cols + col, last * cols + col);
        }
        self.data.truncate(last * cols);
        self.row_of.swap_remove(row);
        if let Some(moved) = self.row_of.get(row) {
            self.unknowns[*moved as usize].pos = row;
        }
    }

    /// Moves variable `i` to place `to[i]`.
    pub fn reorder(&mut self, to: &[usize]) {
        let mut vars = vec![0; self.vars.len()];
        for (var, place) in self.vars.iter().zip(to) {
            vars[*place] = *var;
        }
        self.vars = vars;
    }

    fn restore(&mut self, id: usize, budget: &Budget) -> Result<(), Error> {
        loop {
            let unknown = self.unknowns[id];
            if !unknown.in_row || self.at(unknown.pos, 1).sign() >= 0 {
                return Ok(());
            }
            let Some((row, col)) = self.find_pivot(unknown.pos, 1)? else {
                self.empty = true;
                return Ok(());
            };
            self.pivot(row, col, budget)?;
        }
    }

    /// Finds a pivot that moves the sample of `row` in `direction` (1 or -1).
    fn find_pivot(&self, row: usize, direction: i32) -> Result<Option<(usize, usize)>, Error> {
        let mut best: Option<usize> = None;
        for col in FIRST..self.cols {
            let sign = self.at(row, col).sign();
            let restricted = self.unknowns[self.col_of[col - FIRST] as usize].restricted;
            if sign == 0 || restricted && sign != direction {
                continue;
            }
            if best.is_none_or(|b| self.col_of[col - FIRST] < self.col_of[b - FIRST]) {
                best = Some(col);
            }
        }
        let Some(col) = best else { return Ok(None) };
        let direction = direction * self.at(row, col).sign();
        let found = self.find_pivot_row(Some(row), direction, col)?;
        Ok(Some((found.unwrap_or(row), col)))
    }

    /// Finds the row that first reaches 0 when the unknown of `col` moves in `direction`.
    fn find_pivot_row(
        &self,
        skip: Option<usize>,
        direction: i32,
        col: usize,
    ) -> Result<Option<usize>, Error> {
        let mut best: Option<usize> = None;
        for row in 0..self.row_of.len() {
            let sign = self.at(row, col).sign();
            let restricted = self.unknowns[self.row_of[row] as usize].restricted;
            if Some(row) == skip || sign == 0 || !restricted || sign == direction {
                continue;
            }
            let Some(old) = best else {
                best = Some(row);
                continue;
            };
            let left = fit(self.at(old, 1).times(self.at(row, col)))?;
            let right = fit(self.at(row, 1).times(self.at(old, col)))?;
            let diff = match left.cmp(&right) {
                std::cmp::Ordering::Less => -1,
                std::cmp::Ordering::Equal => 0,
                std::cmp::Ordering::Greater => 1,
            };
            if diff == 0 && self.row_of[row] < self.row_of[old] || diff == -direction {
                best = Some(row);
            }
        }
        Ok(best)
    }

    fn pivot(&mut self, row: usize, col: usize, budget: &Budget) -> Result<(), Error> {
        budget.spend(self.data.len() * T::COST / 16)?;
        self.pivots = self.pivots.wrapping_add(1);
        let (r, c) = (self.row_of[row], self.col_of[col - FIRST]);
        self.row_of[row] = c;
        self.col_of[col - FIRST] = r;
        (self.unknowns[r as usize].in_row, self.unknowns[r as usize].pos) = (false, col);
        (self.unknowns[c as usize].in_row, self.unknowns[c as usize].pos) = (true, row);
        pivot_rows(&mut self.data, self.cols, row, col)
    }

    /// Removes the last row, which must be unrestricted: such a row never leaves its place.
    fn pop_row(&mut self) {
        self.row_of.pop();
        self.unknowns.pop();
        self.data.truncate(self.row_of.len() * self.cols);
    }

    /// Counts how often the sample point may have moved.
    pub fn pivots(&self) -> u32 {
        self.pivots
    }

    /// Returns the number of unknowns, which is the id of the next constraint.
    pub fn next_id(&self) -> usize {
        self.unknowns.len()
    }
}

/// Adds a multiple of a row to another; column 0 holds denominators.
#[inline]
pub(crate) fn add_row<T: Number>(to: &mut [T], row: &[T], factor: &T) -> Result<(), Error> {
    if row[0] == to[0] {
        return match T::combine(&mut to[1..], &T::one(), &row[1..], factor) {
            true => Ok(()),
            false => Err(Error::Overflow),
        };
    }
    let g = to[0].gcd(&row[0]);
    let (a, b) = (row[0].floor_div(&g), to[0].floor_div(&g));
    let den = fit(to[0].times(&a))?;
    let b = fit(factor.times(&b))?;
    if !T::combine(&mut to[1..], &a, &row[1..], &b) {
        return Err(Error::Overflow);
    }
    to[0] = den;
    Ok(())
}

/// Removes a column of every row; the last one takes its place.
pub(crate) fn swap_remove_column<T>(data: &mut Vec<T>, cols: usize, col: usize) {
    let (last, mut target) = (cols - 1, 0);
    for start in (0..data.len()).step_by(cols) {
        data.swap(start + col, start + last);
        for source in start..start + last {
            data.swap(target, source);
            target += 1;
        }
    }
    data.truncate(target);
}

/// Solves row `row` for the unknown of `col` and substitutes it everywhere else.
///
/// Column 0 holds denominators, which stay positive.
pub(crate) fn pivot_rows<T: Number>(
    data: &mut [T],
    cols: usize,
    row: usize,
    col: usize,
) -> Result<(), Error> {
    let start = row * cols;
    data.swap(start, start + col);
    if data[start].sign() < 0 {
        data[start] = fit(data[start].opposite())?;
        data[start + col] = fit(data[start + col].opposite())?;
    } else {
        for j in (1..cols).filter(|j| *j != col) {
            data[start + j] = fit(data[start + j].opposite())?;
        }
    }
    reduce(&mut data[start..start + cols]);
    let (above, rest) = data.split_at_mut(start);
    let (pivot, below) = rest.split_at_mut(cols);
    let one = T::one();
    for other in above.chunks_exact_mut(cols).chain(below.chunks_exact_mut(cols)) {
        if other[col].is_zero() {
            continue;
        }
        let factor = std::mem::replace(&mut other[col], T::zero());
        let shared = if pivot[0] == one { one.clone() } else { pivot[0].gcd(&factor) };
        let (scale, factor) = if shared == one {
            (pivot[0].clone(), factor)
        } else {
            (pivot[0].floor_div(&shared), factor.floor_div(&shared))
        };
        // The denominator comes along: the pivot row's is left out of the sum.
        let den = fit(other[0].times(&scale))?;
        if !T::combine(&mut other[1..], &scale, &pivot[1..], &factor) {
            return Err(Error::Overflow);
        }
        other[0] = den;
        // Else the denominator stays, and few common factors come up.
        if scale != one {
            reduce(other);
        }
    }
    Ok(())
}
