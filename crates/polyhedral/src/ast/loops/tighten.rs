//! Loops over sums of divisions begin where there is something to run.
//!
//! Bounds are those of rational points. For one division, rounding them is exact; where a
//! dimension is a sum of several, as of the tiles on a wavefront, rounding is lost between
//! them: `floor(t / 32) + floor(x / 32)` is at least -1 over the rationals for `t >= 0` and
//! `x >= 1`.

use super::bounds::Shared;
use crate::Error;
use crate::ast::basic_set::{BasicSet, Linear};
use crate::ast::generate::build::{Builder, Executed, Surroundings};

/// So many first values are looked at.
const MOST: usize = 4;

impl Builder<'_> {
    /// Raises a first value that is a number while no instance runs there.
    pub fn tightened(
        &self,
        shared: &Shared,
        executed: &Executed,
        place: &Surroundings,
    ) -> Result<Option<Shared>, Error> {
        let col = self.col(place.depth);
        let rows = &shared.cell.part.inequalities;
        let number =
            |row: &[i128]| row[col] == 1 && row[1..].iter().filter(|v| **v != 0).count() == 1;
        let Some(at) = rows.iter().position(|row| number(row)) else { return Ok(None) };
        let lower = rows.iter().filter(|row| row[col] > 0).count();
        if lower > 1 || !sums(executed, col)? {
            return Ok(None);
        }
        let mut first = -rows[at][0];
        for _ in 0..MOST {
            if self.runs_at(executed, first, place)? {
                break;
            }
            first += 1;
        }
        if first == -rows[at][0] {
            return Ok(None);
        }
        let mut shared = shared.clone();
        shared.cell.part.inequalities[at][0] = -first;
        Ok(Some(shared))
    }

    /// Returns whether some instance runs at a value of the dimension.
    fn runs_at(
        &self,
        executed: &Executed,
        value: i128,
        place: &Surroundings,
    ) -> Result<bool, Error> {
        let mut row = vec![0; 1 + self.vars(place.depth + 1)];
        row[0] = value;
        let value = Linear { row, divisions: Vec::new() };
        for map in executed {
            let map = self.fixed(map, place.depth, &value)?;
            let dims = map.space().input.as_ref().map_or(0, |tuple| tuple.dims.len());
            let known = place.known.widened(self.vars(dims)).relation(self.space(dims))?;
            if !map.intersect_domain(&known, self.budget)?.is_empty(self.budget)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Returns whether an equation makes the dimension of a column a sum of several divisions.
fn sums(executed: &Executed, col: usize) -> Result<bool, Error> {
    for map in executed {
        for cell in BasicSet::all_of(map)? {
            let sum = |row: &&Vec<i128>| {
                row[col] != 0 && row[1 + cell.vars..].iter().filter(|v| **v != 0).count() > 1
            };
            if cell.part.equalities.iter().any(|row| sum(&row)) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
