//! The smallest affine space that contains all integer points.

use crate::basic_map::BasicMap;
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
        let mut hull = BasicMap::universe(self.space.dims());
        rows.iter().for_each(|row| hull.system.eqs.push(row));
        self.replaced(hull.tidied())
    }

    /// Returns the equations and the congruences that all points satisfy: of
    /// `{ [i, j] : i mod 3 = 0 and 0 <= i <= 9 and j = i }`, `{ [i, j = i] : i mod 3 = 0 }`.
    ///
    /// The congruences are those that a disjunct is written with. See [`Self::affine_hull`] for
    /// the equations alone, and [`Self::lattice_hull`] for all congruences.
    ///
    /// # Source
    /// isl `isl_map_affine_hull`.
    pub fn strided_affine_hull(&self, budget: &Budget) -> Result<Self, Error> {
        let mut hull = self.affine_hull(budget)?;
        let mut tried: Vec<BasicMap> = Vec::new();
        for part in self.parts.iter() {
            let rows = part.system.eqs.rows();
            let strided = rows.filter(|row| !row[1 + part.dims..].iter().all(Integer::is_zero));
            for row in strided {
                let mut congruence = BasicMap::with_divs(part.dims, part.divs.to_vec());
                congruence.system.eqs.push(row);
                let Some(congruence) = congruence.tidied() else { continue };
                if tried.contains(&congruence) {
                    continue;
                }
                tried.push(congruence.clone());
                let all = self.with_parts(vec![congruence]);
                // What the equations say already is not said again.
                if self.is_subset(&all, budget)? && !hull.is_subset(&all, budget)? {
                    hull = hull.intersect(&all, budget)?;
                }
            }
        }
        Ok(hull)
    }

    fn with_parts(&self, parts: Vec<BasicMap>) -> Self {
        Self::new(self.space.clone(), parts)
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
