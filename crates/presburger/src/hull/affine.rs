//! The smallest affine space that contains all integer points.

use crate::basic_map::{BasicMap, Div};
use crate::hull::lattice::Lattice;
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
    /// The congruences are those that the equations of a disjunct and its divisions say. See
    /// [`Self::affine_hull`] for the equations alone, and [`Self::lattice_hull`] for all
    /// congruences.
    ///
    /// # Source
    /// isl `isl_map_affine_hull`.
    pub fn strided_affine_hull(&self, budget: &Budget) -> Result<Self, Error> {
        let mut hull = self.affine_hull(budget)?;
        let mut tried: Vec<BasicMap> = Vec::new();
        for part in self.parts.iter() {
            for congruence in part.congruences(budget)? {
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

impl BasicMap {
    /// Returns the written equations in which divisions occur, and the congruences of the others
    /// that hold on all points: of `j = 2 - 2 floor((4 - 2j)/4)`, `j mod 2 = 0`.
    fn congruences(&self, budget: &Budget) -> Result<Vec<Self>, Error> {
        if self.divs.is_empty() {
            return Ok(Vec::new());
        }
        let all = Self { dims: self.cols() - 1, divs: [].into(), system: self.unfolded() };
        let Some(lattice) = Lattice::around(&[all], budget)? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for row in self.system.eqs.rows().filter(|row| self.has_divisions(row)) {
            let mut written = Self::with_divs(self.dims, self.divs.to_vec());
            written.system.eqs.push(row);
            found.extend(written.tidied());
        }
        // Bounds and divisions may say more than what is written.
        let hidden = lattice.congruences().into_iter().filter(|(_, modulus)| modulus.is_zero());
        for (row, _) in hidden.filter(|(row, _)| self.has_divisions(row)) {
            let modulus = gcd(&row[1 + self.dims..]);
            if modulus > Integer::ONE {
                found.extend(multiples(&row[..=self.dims], &modulus));
            }
        }
        Ok(found)
    }

    fn has_divisions(&self, row: &[Integer]) -> bool {
        row[1 + self.dims..].iter().any(|value| !value.is_zero())
    }
}

/// Returns the points at which a row over the dimensions is a multiple of a modulus.
fn multiples(row: &[Integer], modulus: &Integer) -> Option<BasicMap> {
    let num: Vec<Integer> = row.iter().map(|value| value.mod_floor(modulus)).collect();
    let mut equation = num.clone();
    equation.push(-modulus);
    let div = Div { num, den: modulus.clone() };
    let mut part = BasicMap::with_divs(row.len() - 1, vec![div]);
    part.system.eqs.push(&equation);
    part.tidied()
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
