//! The smallest affine space that contains all integer points.

use crate::basic::Basic;
use crate::matrix::{combine, divide, evaluate, gcd, negated};
use crate::{Budget, Error, Integer, Relation};

impl Relation {
    /// Returns the equations that all points satisfy, and nothing else.
    ///
    /// Divisions do not occur: strides are not equations over the dimensions.
    /// Each equation is checked against all disjuncts over the integers.
    pub fn affine_hull(&self, budget: &Budget) -> Result<Self, Error> {
        let mut points: Vec<Vec<Integer>> = Vec::new();
        for part in self.parts.iter() {
            points.extend(part.sample(budget)?);
        }
        let Some(first) = points.first().cloned() else {
            return Ok(Self::empty((*self.space).clone()));
        };
        // Rows that vanish on all points so far; each new point takes one away.
        let mut equations: Vec<Vec<Integer>> = Vec::new();
        for (dim, value) in first.iter().enumerate() {
            let mut row = vec![Integer::ZERO; 1 + first.len()];
            (row[0], row[1 + dim]) = (-value, Integer::ONE);
            equations.push(row);
        }
        for point in &points[1..] {
            pass_through(&mut equations, point);
        }
        let mut index = 0;
        while let Some(row) = equations.get(index) {
            match self.off(row, budget)? {
                // Rows before this one hold everywhere: they stay as they are.
                Some(point) => pass_through(&mut equations, &point),
                None => index += 1,
            }
        }
        let mut hull = Basic::universe(self.space.dims());
        for row in &equations {
            hull.system.eqs.push(row);
        }
        self.replaced(hull.tidied())
    }

    /// Finds a point where `row` is not 0.
    fn off(&self, row: &[Integer], budget: &Budget) -> Result<Option<Vec<Integer>>, Error> {
        for part in self.parts.iter() {
            for mut side in [row.to_vec(), negated(row)] {
                side[0] -= 1;
                let mut beyond = part.clone();
                beyond.system.ineqs.push(&side);
                if let Some(point) = beyond.sample(budget)? {
                    return Ok(Some(point));
                }
            }
        }
        Ok(None)
    }
}

/// Keeps the combinations of the rows that vanish at `point`.
pub(crate) fn pass_through(rows: &mut Vec<Vec<Integer>>, point: &[Integer]) {
    let values: Vec<Integer> = rows.iter().map(|row| evaluate(row, point)).collect();
    let Some(pivot) = values.iter().position(|value| !value.is_zero()) else { return };
    let base = rows[pivot].clone();
    for (row, value) in rows.iter_mut().zip(&values) {
        if !value.is_zero() {
            *row = combine(&values[pivot], row, &-value, &base);
            let g = gcd(row);
            if !g.is_zero() {
                divide(row, &g);
            }
        }
    }
    rows.remove(pivot);
}
