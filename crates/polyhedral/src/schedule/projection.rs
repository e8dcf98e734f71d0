//! The rational points of a conjunction, and which of their coordinates can be left out.
//!
//! A box has exponentially many vertices, and the more coordinates of it are projected away
//! before its vertices are listed, the fewer there are. A coordinate goes where that makes no
//! more rows: the projection is exact, and what would grow is left to the generators.
//!
//! Source: the elimination of Fourier and Motzkin.
//!
//! It stops where rows would grow, which that of generated code (`ast/basic_set/solve`) must not:
//! there, what is left over would be no bound of a loop. `fourier_motzkin` in `tangram-presburger`
//! is for users and has numbers of any size.

use tangram_presburger::Error;

use super::linear::combined;
use crate::Conjunction;

/// Equations and inequalities over `[1, coordinates..]`.
pub(super) struct RationalPolyhedron {
    pub equations: Vec<Vec<i128>>,
    pub inequalities: Vec<Vec<i128>>,
    pub cols: usize,
}

impl RationalPolyhedron {
    /// Reads off the rows of a conjunction over `dims` dimensions, its integer divisions last.
    pub fn of(conjunction: &Conjunction, dims: usize) -> Self {
        let cols = 1 + dims + conjunction.divisions.len();
        let mut inequalities = Vec::new();
        for (index, division) in conjunction.divisions.iter().enumerate() {
            let mut below = division.numerator.clone();
            below.resize(cols, 0);
            below[1 + dims + index] -= division.denominator;
            let mut above: Vec<i128> = below.iter().map(|v| -v).collect();
            above[0] += division.denominator - 1;
            inequalities.extend([below, above]);
        }
        inequalities.extend(conjunction.inequalities.iter().cloned());
        Self { equations: conjunction.equalities.clone(), inequalities, cols }
    }

    /// Replaces each coordinate `to + k` by how much it is more than `from + k`.
    pub fn take_from(&mut self, from: usize, to: usize, count: usize) -> Result<(), Error> {
        for row in self.equations.iter_mut().chain(&mut self.inequalities) {
            for at in 0..count {
                let sum = row[from + at].checked_add(row[to + at]);
                row[from + at] = sum.ok_or(Error::Overflow)?;
            }
        }
        Ok(())
    }

    /// Projects away those of some coordinates that leave no more rows by going.
    ///
    /// No row speaks of them any more. Those that are returned are still in.
    pub fn project(&mut self, coordinates: Vec<usize>) -> Result<Vec<usize>, Error> {
        let mut left = coordinates;
        loop {
            let before = left.len();
            let mut kept = Vec::new();
            for coordinate in left {
                if !self.solve_for(coordinate)? && !self.eliminate(coordinate)? {
                    kept.push(coordinate);
                }
            }
            left = kept;
            if left.len() == before {
                return Ok(left);
            }
        }
    }

    /// Puts what an equation says about a coordinate in its place; false if none does.
    fn solve_for(&mut self, coordinate: usize) -> Result<bool, Error> {
        let Some(found) = self.equations.iter().position(|row| row[coordinate] != 0) else {
            return Ok(false);
        };
        let mut equation = self.equations.swap_remove(found);
        if equation[coordinate] < 0 {
            equation.iter_mut().for_each(|v| *v = -*v);
        }
        for row in self.equations.iter_mut().chain(&mut self.inequalities) {
            if row[coordinate] != 0 {
                *row = combined(equation[coordinate], row, -row[coordinate], &equation)?;
            }
        }
        Ok(true)
    }

    /// Pairs the lower with the upper bounds of a coordinate; false if that makes more rows.
    ///
    /// No equation may speak of it.
    fn eliminate(&mut self, coordinate: usize) -> Result<bool, Error> {
        let count = |sign| {
            let on = |row: &&Vec<i128>| row[coordinate].signum() == sign;
            self.inequalities.iter().filter(on).count()
        };
        let (lower, upper) = (count(1), count(-1));
        if lower * upper > lower + upper {
            return Ok(false);
        }
        let (bounds, mut rows): (Vec<_>, Vec<_>) =
            self.inequalities.drain(..).partition(|row| row[coordinate] != 0);
        let (lower, upper): (Vec<_>, Vec<_>) =
            bounds.into_iter().partition(|row| row[coordinate] > 0);
        for low in &lower {
            for high in &upper {
                let row = combined(-high[coordinate], low, low[coordinate], high)?;
                if !rows.contains(&row) {
                    rows.push(row);
                }
            }
        }
        self.inequalities = rows;
        Ok(true)
    }

    /// Leaves out the columns of coordinates of which no row speaks.
    pub fn keep(&mut self, columns: &[usize]) {
        for row in self.equations.iter_mut().chain(&mut self.inequalities) {
            *row = columns.iter().map(|column| row[*column]).collect();
        }
        self.cols = columns.len();
    }
}
