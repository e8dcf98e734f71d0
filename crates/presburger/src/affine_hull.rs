//! The smallest affine space that contains all integer points.

use crate::basic::Basic;
use crate::matrix::{add, combine, evaluate, gcd, negated};
use crate::{Budget, Error, Relation};

impl Relation {
    /// Returns the equations that all points satisfy, and nothing else.
    ///
    /// Divisions do not occur: strides are not equations over the dimensions.
    /// Each equation is checked against all disjuncts over the integers.
    pub fn affine_hull(&self, budget: &Budget) -> Result<Self, Error> {
        let mut points: Vec<Vec<i128>> = Vec::new();
        for part in self.parts.iter() {
            points.extend(part.sample(budget)?);
        }
        let Some(first) = points.first().cloned() else {
            return Ok(Self::empty((*self.space).clone()));
        };
        // Rows that vanish on all points so far; each new point takes one away.
        let mut equations: Vec<Vec<i128>> = Vec::new();
        for (dim, value) in first.iter().enumerate() {
            let mut row = vec![0; 1 + first.len()];
            (row[0], row[1 + dim]) = (-value, 1);
            equations.push(row);
        }
        for point in &points[1..] {
            pass_through(&mut equations, point)?;
        }
        let mut index = 0;
        while let Some(row) = equations.get(index) {
            match self.off(row, budget)? {
                Some(point) => {
                    pass_through(&mut equations, &point)?;
                    index = 0;
                }
                None => index += 1,
            }
        }
        let mut hull = Basic::universe(self.space.dims());
        for row in &equations {
            hull.system.eqs.push(row);
        }
        self.replaced(hull.tidied()?)
    }

    /// Finds a point where `row` is not 0.
    fn off(&self, row: &[i128], budget: &Budget) -> Result<Option<Vec<i128>>, Error> {
        for part in self.parts.iter() {
            for mut side in [row.to_vec(), negated(row)?] {
                side[0] = add(side[0], -1)?;
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
fn pass_through(rows: &mut Vec<Vec<i128>>, point: &[i128]) -> Result<(), Error> {
    let values: Vec<i128> =
        rows.iter().map(|row| evaluate(row, point)).collect::<Result<_, _>>()?;
    let Some(pivot) = values.iter().position(|value| *value != 0) else { return Ok(()) };
    let base = rows[pivot].clone();
    for (row, value) in rows.iter_mut().zip(&values) {
        if *value != 0 {
            *row = combine(values[pivot], row, -value, &base)?;
            let g = gcd(row)?.max(1);
            row.iter_mut().for_each(|v| *v /= g);
        }
    }
    rows.remove(pivot);
    Ok(())
}
