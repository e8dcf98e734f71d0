//! Single disjuncts that contain rational sets, and simplification of sets within a context.
//!
//! Constraints are those of the polyhedra that the cones stand for. Polyhedra are closed first; a
//! constraint of the hull that no point meets with equality becomes strict again.

use super::{RationalRelation, cone, marked, universe};
use crate::basic_map::BasicMap;
use crate::hull::convex_rows;
use crate::matrix::Matrix;
use crate::solve::number::{Number, fit, reduce, widening};
use crate::solve::redundancy::{narrowed, refill};
use crate::solve::simplex::{Optimum, Simplex};
use crate::system::System;
use crate::{Budget, Error, Integer, Relation};

impl RationalRelation {
    /// Returns the smallest polyhedron around all points; without rational disjuncts, as
    /// [`Relation::convex_hull`].
    ///
    /// A superset of the points. A constraint is strict where it is on all of them; else the
    /// hull is closed, so that the hull of a point and a ray holds the parallel ray too. The cost
    /// grows with the number of vertices.
    pub fn convex_hull(&self, budget: &Budget) -> Result<Self, Error> {
        if self.cones.parts.is_empty() {
            return Ok(self.integers.convex_hull(budget)?.into());
        }
        let parts = self.rational_parts(budget)?;
        let systems: Vec<System> = parts.iter().map(closed).collect();
        let dims = self.space().dims();
        let Some((equations, rows)) = convex_rows(&systems, dims, budget)? else {
            return Ok(Self::empty_like(self));
        };
        let mut hull = universe(1 + dims);
        equations.iter().for_each(|row| hull.system.eqs.push(&homogeneous(row)));
        self.with_strict(hull, &rows, &parts, budget)
    }

    /// Returns the disjunct whose constraints are those of all disjuncts, moved outwards until all
    /// points satisfy them; without rational disjuncts, as [`Relation::simple_hull`].
    ///
    /// A superset. Constraints that no move makes valid are dropped.
    pub fn simple_hull(&self, budget: &Budget) -> Result<Self, Error> {
        if self.cones.parts.is_empty() {
            return Ok(self.integers.simple_hull(budget)?.into());
        }
        let parts = self.rational_parts(budget)?;
        if parts.is_empty() {
            return Ok(Self::empty_like(self));
        }
        let systems: Vec<System> = parts.iter().map(closed).collect();
        let rows = widening!(T => moved::<T>(&systems, budget))?;
        self.with_strict(universe(1 + self.space().dims()), &rows, &parts, budget)
    }

    /// Returns the equations that all points satisfy, and nothing else; without rational
    /// disjuncts, as [`Relation::affine_hull`].
    pub fn affine_hull(&self, budget: &Budget) -> Result<Self, Error> {
        let integers = self.integers.affine_hull(budget)?;
        if self.cones.parts.is_empty() {
            return Ok(integers.into());
        }
        let whole = integers.parts.iter().map(cone).collect();
        let whole = Relation::new(super::cone_space(integers.space()), whole);
        let cones = bounded(&self.cones.union(&whole)?.affine_hull(budget)?);
        Ok(Self { cones, integers: Relation::empty(self.space().clone()) })
    }

    /// Simplifies under the assumption that only points of `context` matter.
    ///
    /// The result agrees with `self` on `context` and may be anything elsewhere.
    ///
    /// # Errors
    /// [`Error::Space`] if the tuples differ.
    pub fn gist(&self, context: &Self, budget: &Budget) -> Result<Self, Error> {
        self.same_space(context)?;
        // Rational disjuncts also agree at the rational points around the context's integer ones.
        let around = context.integers.rational(budget)?.cones.union(&context.cones)?;
        let all = context.integers.union(&context.whole())?;
        let mut integers = self.integers.intersect(&all, budget)?;
        if !integers.parts.is_empty() {
            integers = self.integers.gist(&all, budget)?;
        }
        Ok(Self { cones: bounded(&self.cones.gist(&around, budget)?), integers })
    }

    fn empty_like(&self) -> Self {
        Self::from(Relation::empty(self.space().clone()))
    }

    /// Returns cones with points for all disjuncts; those of integers are relaxed.
    fn rational_parts(&self, budget: &Budget) -> Result<Vec<BasicMap>, Error> {
        let relaxed = self.integers.rational(budget)?.cones;
        let mut parts = Vec::new();
        for part in self.cones.parts.iter().chain(relaxed.parts.iter()) {
            if !part.is_empty(budget)? {
                parts.push(part.clone());
            }
        }
        Ok(parts)
    }

    /// Adds rows that hold on all parts to a cone: strict ones where no part has a point at 0.
    fn with_strict(
        &self,
        mut hull: BasicMap,
        rows: &[Vec<Integer>],
        parts: &[BasicMap],
        budget: &Budget,
    ) -> Result<Self, Error> {
        for row in rows {
            let mut row = homogeneous(row);
            let mut met = false;
            for part in parts {
                let mut edge = part.clone();
                edge.system.eqs.push(&row);
                met = met || !edge.is_empty(budget)?;
            }
            if !met {
                row[0] = Integer::MINUS_ONE;
            }
            hull.system.ineqs.push(&row);
        }
        let parts = hull.tidied().iter().map(marked).collect();
        let cones = Relation::new(self.cones.space.clone(), parts);
        Ok(Self { cones, integers: Relation::empty(self.space().clone()) })
    }
}

/// Adds the bound of the scale to cones that may have lost it.
fn bounded(cones: &Relation) -> Relation {
    let bound = |part: &BasicMap| part.intersect(&universe(part.dims)).map(|part| marked(&part));
    Relation::new(cones.space.clone(), cones.parts.iter().filter_map(bound).collect())
}

/// Reads the constant of a row as the factor of the scale.
fn homogeneous(row: &[Integer]) -> Vec<Integer> {
    std::iter::once(Integer::ZERO).chain(row.iter().cloned()).collect()
}

/// Returns the closed polyhedron that a cone stands for, its constant in the place of the scale.
fn closed(part: &BasicMap) -> System {
    let mut system = System::new(part.cols() - 2);
    part.system.eqs.rows().for_each(|row| system.eqs.push(&row[1..]));
    part.system.ineqs.rows().for_each(|row| system.ineqs.push(&row[1..]));
    system
}

/// Moves the constraints of each system until they hold on all of them; drops those where no move
/// is enough.
fn moved<T: Number>(systems: &[System], budget: &Budget) -> Result<Vec<Vec<Integer>>, Error> {
    let mut tableaus: Vec<Simplex<T>> = Vec::with_capacity(systems.len());
    for system in systems {
        let mut tableau = Simplex::new(system.cols() - 1);
        tableau.reserve(system.size());
        let mut narrow = Vec::with_capacity(system.cols());
        for row in system.eqs.rows() {
            refill(&mut narrow, row)?;
            tableau.add_equation(&narrow, budget)?;
        }
        for row in system.ineqs.rows() {
            refill(&mut narrow, row)?;
            tableau.add_inequality(&narrow, budget)?;
        }
        tableaus.push(tableau);
    }
    let mut rows: Matrix = Matrix::new(systems.first().map_or(1, System::cols));
    for system in systems {
        for row in system.half_spaces() {
            if let Some(row) = held(narrowed(&row)?, &mut tableaus, budget)? {
                rows.push_all(row.iter().map(Number::integer));
            }
        }
    }
    Ok(rows.rows().map(<[Integer]>::to_vec).collect())
}

/// Moves a row until it holds on all polyhedra, if that is possible.
fn held<T: Number>(
    mut row: Vec<T>,
    tableaus: &mut [Simplex<T>],
    budget: &Budget,
) -> Result<Option<Vec<T>>, Error> {
    for tableau in tableaus {
        let Optimum::Value(num, den) = tableau.optimum(&row, -1, budget)? else { return Ok(None) };
        if num.sign() < 0 {
            for value in &mut row {
                *value = fit(value.times(&den))?;
            }
            row[0] = fit(row[0].minus(&num))?;
            reduce(&mut row);
        }
    }
    Ok(Some(row))
}
