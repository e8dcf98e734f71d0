//! The smallest affine space that contains all integer points.

use crate::basic::Basic;
use crate::hull::simple::Shared;
use crate::matrix::{combine, divide, evaluate, gcd};
use crate::solve::number::widening;
use crate::{Budget, Error, Integer, Relation};

impl Relation {
    /// Returns the equations that all points satisfy, and nothing else.
    ///
    /// Divisions do not occur: strides are not equations over the dimensions.
    /// Each equation is checked against all disjuncts over the integers.
    pub fn affine_hull(&self, budget: &Budget) -> Result<Self, Error> {
        let rows = widening!(T => Shared::<T>::of(&self.parts, budget)?.equations(budget))?;
        let Some(rows) = rows else { return Ok(Self::empty((*self.space).clone())) };
        let mut hull = Basic::universe(self.space.dims());
        rows.iter().for_each(|row| hull.system.eqs.push(row));
        self.replaced(hull.tidied())
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
