//! The convex hull of the rational relaxations.
//!
//! Each disjunct is a cone over `[1, dimensions.., divisions..]`. Its lines and rays without the
//! divisions generate its projection; those of all disjuncts together generate the hull, whose
//! constraints are the rows that are not negative on any of them.

use super::Lattice;
use crate::basic_map::BasicMap;
use crate::solve::generators::Generators;
use crate::solve::number::{Number, widening};
use crate::solve::redundancy::narrowed;
use crate::system::System;
use crate::{Budget, Error, Integer, Relation};

impl Relation {
    /// Returns the smallest convex polyhedron around the rational relaxations of all disjuncts, cut
    /// down to the strides that all points keep to if all disjuncts have divisions.
    ///
    /// Relaxations of disjuncts with divisions or equations are tightened to the lattices of their
    /// points. A superset of the points; closed, so that the hull of a point and a
    /// ray holds the parallel ray too. The cost grows with the number of vertices, which may be
    /// exponential in the number of dimensions.
    pub fn convex_hull(&self, budget: &Budget) -> Result<Self, Error> {
        let inhabited = self.inhabited(budget)?;
        let hull = self.around_all(&inhabited, budget)?;
        if inhabited.iter().any(|part| part.divs.is_empty()) {
            return Ok(hull);
        }
        let lattice = Lattice::around(&inhabited, budget)?.and_then(|all| all.basic());
        let both = hull.parts.first().zip(lattice.as_ref());
        self.replaced(both.and_then(|(hull, lattice)| hull.intersect(lattice)))
    }

    /// Returns the hull as a polyhedron, without strides.
    pub(crate) fn convex_polyhedron(&self, budget: &Budget) -> Result<Self, Error> {
        self.around_all(&self.inhabited(budget)?, budget)
    }

    /// Returns the disjuncts that have points.
    fn inhabited(&self, budget: &Budget) -> Result<Vec<BasicMap>, Error> {
        let mut inhabited = Vec::new();
        for part in self.parts.iter() {
            if !part.is_empty(budget)? {
                inhabited.push(part.clone());
            }
        }
        Ok(inhabited)
    }

    fn around_all(&self, inhabited: &[BasicMap], budget: &Budget) -> Result<Self, Error> {
        let mut parts = Vec::new();
        for part in inhabited {
            let strided = !part.divs.is_empty() || part.system.eqs.len() > 0;
            let tight = if strided { part.tightened(budget)? } else { None };
            parts.push(tight.unwrap_or_else(|| part.unfolded()));
        }
        let dims = self.space().dims();
        let Some((equations, inequalities)) = convex_rows(&parts, dims, budget)? else {
            return Ok(Self::empty(self.space().clone()));
        };
        let mut part = BasicMap::universe(dims);
        equations.iter().for_each(|row| part.system.eqs.push(row));
        inequalities.iter().for_each(|row| part.system.ineqs.push(row));
        self.replaced(part.tidied())
    }

    /// Returns the convex hull cut down to the affine hull of the integer points.
    ///
    /// A superset of the points.
    pub fn polyhedral_hull(&self, budget: &Budget) -> Result<Self, Error> {
        self.convex_hull(budget)?.intersect(&self.affine_hull(budget)?, budget)
    }
}

/// Equations and inequalities.
type Rows = (Vec<Vec<Integer>>, Vec<Vec<Integer>>);

/// Returns the constraints on the first `dims` columns of the smallest polyhedron around the
/// rational points of all parts; nothing for no parts.
pub(crate) fn convex_rows(
    parts: &[System],
    dims: usize,
    budget: &Budget,
) -> Result<Option<Rows>, Error> {
    widening!(T => hull::<T>(parts, dims, budget))
}

fn hull<T: Number>(parts: &[System], dims: usize, budget: &Budget) -> Result<Option<Rows>, Error> {
    let mut dual = Generators::<T>::new(1 + dims);
    for part in parts {
        let cone = generators::<T>(part, budget)?;
        for line in &cone.lines {
            dual.add(&line[..=dims], true, budget)?;
        }
        for ray in cone.rays() {
            dual.add(&ray[..=dims], false, budget)?;
        }
    }
    if parts.is_empty() {
        return Ok(None);
    }
    let wide = |row: &[T]| row.iter().map(Number::integer).collect();
    let equations = dual.lines.iter().map(|row| wide(row)).collect();
    let inequalities = dual.rays().map(wide).collect();
    Ok(Some((equations, inequalities)))
}

/// Returns the cone of the rational points of a disjunct, divisions included.
pub(crate) fn generators<T: Number>(
    system: &System,
    budget: &Budget,
) -> Result<Generators<T>, Error> {
    let mut cone = Generators::new(system.cols());
    for row in system.eqs.rows() {
        cone.add(&narrowed::<T>(row)?, true, budget)?;
    }
    let mut positive = vec![T::zero(); system.cols()];
    positive[0] = T::one();
    cone.add(&positive, false, budget)?;
    for row in system.ineqs.rows() {
        cone.add(&narrowed::<T>(row)?, false, budget)?;
    }
    Ok(cone)
}
