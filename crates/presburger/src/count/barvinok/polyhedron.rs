//! Counting the integer points of one parametric polytope.
//!
//! Equations are solved, vertices and chambers are found, and in each chamber the contributions of
//! the active vertices are added up. The triangle `{ [i, j] : 0 <= i <= j < n }` has three vertices
//! and one chamber, `n >= 1`; the three cones are unimodular, and the sum is `1/2 n + 1/2 n^2`.
//!
//! Source: S. Verdoolaege, R. Seghir, K. Beyls, V. Loechner, M. Bruynooghe, "Counting integer
//! points in parametric polytopes using Barvinok's rational functions", Algorithmica 48, 2007.

use super::contribution::{Corner, Terms, add_term, contribution, direction};
use super::todd::Todd;
use crate::count::piecewise::Pieces;
use crate::count::polytope::chambers::{Chamber, chambers};
use crate::count::polytope::cone::{Cone, Row};
use crate::count::polytope::equalities::{Affine, Reduced};
use crate::count::polytope::vertices::{Vertex, vertices};
use crate::count::quasi_polynomial::QPolynomial;
use crate::count::quasi_polynomial::floors::{Floors, substituted};
use crate::count::quasi_polynomial::guard::{Guard, constant_first, units};
use crate::{Budget, Error, Integer};

/// The integer points of a conjunction, for each value of its parameters.
///
/// Rows have one column for each dimension, then one for each parameter, then the constant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Polyhedron {
    dims: usize,
    params: usize,
    equalities: Vec<Row>,
    inequalities: Vec<Row>,
}

impl Polyhedron {
    /// Makes the set of all points with `dims` dimensions, for `params` parameters.
    pub fn new(dims: usize, params: usize) -> Self {
        Self { dims, params, equalities: Vec::new(), inequalities: Vec::new() }
    }

    /// The number of dimensions.
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// The number of parameters.
    pub fn params(&self) -> usize {
        self.params
    }

    /// Requires that `row . (dims, params, 1)` is 0.
    ///
    /// A row that is too short counts as padded with zeros, one too long as cut off.
    pub fn equal_zero(&mut self, row: impl IntoIterator<Item = i64>) -> &mut Self {
        let row = self.row(row.into_iter().map(Integer::from));
        self.equalities.push(row);
        self
    }

    /// Requires that `row . (dims, params, 1)` is at least 0.
    ///
    /// A row that is too short counts as padded with zeros, one too long as cut off.
    pub fn at_least_zero(&mut self, row: impl IntoIterator<Item = i64>) -> &mut Self {
        let row = self.row(row.into_iter().map(Integer::from));
        self.inequalities.push(row);
        self
    }

    pub(crate) fn push(&mut self, row: Row, equal: bool) {
        if equal { self.equalities.push(row) } else { self.inequalities.push(row) }
    }

    fn row(&self, row: impl Iterator<Item = Integer>) -> Row {
        let mut row: Row = row.collect();
        row.resize(self.dims + self.params + 1, Integer::ZERO);
        row
    }

    /// Counts the points, as disjoint pieces over the parameters; 0 outside of them.
    ///
    /// # Errors
    /// [`Error::Unbounded`] if there are infinitely many points for some parameters, and
    /// those of the budget.
    pub fn card(&self, budget: &Budget) -> Result<Pieces, Error> {
        let nothing = Pieces::zero(self.params);
        let Some((reduced, cone)) = self.full_dimensional(budget)? else { return Ok(nothing) };
        let left = reduced.params.len();
        if reduced.dims > 0 {
            check_bounded(&reduced, budget)?;
        }
        let corners = vertices(reduced.dims, left, &reduced.ineqs, &cone, budget)?;
        let shadow: Vec<Row> = cone
            .rays
            .iter()
            .map(|ray| &ray.row)
            .chain(&cone.lines)
            .map(|row| row[reduced.dims..].to_vec())
            .collect();
        let chambers = chambers(left, &corners, &shadow, budget)?;
        let sums = Sums::new(&reduced, &corners, &chambers, budget)?;
        let back = Back::new(&reduced, self.params);
        let mut pieces = Pieces::zero(self.params);
        for chamber in &chambers {
            let guard = back.guard(chamber).simplified(budget)?;
            if !guard.never {
                pieces.push(guard, back.value(sums.over(chamber), budget)?);
            }
        }
        Ok(pieces)
    }

    /// Solves equations, those hidden in the inequalities too; `None` for no points.
    pub(crate) fn full_dimensional(
        &self,
        budget: &Budget,
    ) -> Result<Option<(Reduced, Cone)>, Error> {
        let mut reduced = Reduced::new(self.dims, self.params, self.inequalities.clone());
        let mut eqs = self.equalities.clone();
        loop {
            if !reduced.solve(eqs, budget)? || !reduced.tighten() {
                return Ok(None);
            }
            let cols = reduced.cols();
            let mut positive = vec![Integer::ZERO; cols];
            positive[cols - 1] = Integer::ONE;
            let rows = reduced.ineqs.iter().map(Vec::as_slice).chain([&positive[..]]);
            let cone = Cone::new(cols, rows, budget)?;
            let count = reduced.ineqs.len();
            if cone.rays.iter().all(|ray| ray.tight.contains(count)) {
                return Ok(None);
            }
            let hidden = |i: &usize| cone.rays.iter().all(|ray| ray.tight.contains(*i));
            let hidden: Vec<usize> = (0..count).filter(hidden).collect();
            if hidden.is_empty() {
                return Ok(Some((reduced, cone)));
            }
            eqs = hidden.iter().rev().map(|i| reduced.ineqs.swap_remove(*i)).collect();
        }
    }
}

/// Refuses directions in which dimensions grow for fixed parameters.
pub(crate) fn check_bounded(reduced: &Reduced, budget: &Budget) -> Result<(), Error> {
    let rows = reduced.ineqs.iter().map(|row| &row[..reduced.dims]);
    let cone = Cone::new(reduced.dims, rows, budget)?;
    let Some(way) = cone.lines.first().or(cone.rays.first().map(|ray| &ray.row)) else {
        return Ok(());
    };
    let grows =
        |row: &Row| row[..reduced.dims].iter().zip(way).any(|(a, b)| !a.is_zero() && !b.is_zero());
    Err(Error::Unbounded { dim: reduced.coordinates.iter().position(grows).unwrap_or(0) })
}

/// The shares of all vertices, over the floors that they have together.
struct Sums {
    floors: Floors,
    terms: Vec<Terms>,
}

impl Sums {
    fn new(
        reduced: &Reduced,
        corners: &[Vertex],
        chambers: &[Chamber],
        budget: &Budget,
    ) -> Result<Self, Error> {
        let mut floors = Floors::new(reduced.params.len());
        let mut needed = vec![false; corners.len()];
        chambers.iter().flat_map(|c| &c.active).for_each(|i| needed[*i] = true);
        let mut cones = Vec::new();
        for (vertex, needed) in corners.iter().zip(&needed) {
            cones.push(if *needed {
                Corner::new(reduced.dims, vertex, &reduced.ineqs, budget)?
            } else {
                Corner { cones: Vec::new() }
            });
        }
        let along = direction(reduced.dims, &cones);
        let todd = Todd::new(reduced.dims);
        let mut terms = Vec::new();
        for (vertex, corner) in corners.iter().zip(&cones) {
            terms.push(contribution(vertex, corner, &along, &todd, &mut floors, budget)?);
        }
        Ok(Self { floors, terms })
    }

    fn over(&self, chamber: &Chamber) -> QPolynomial {
        let mut sum = Terms::default();
        for (monomial, value) in chamber.active.iter().flat_map(|i| &self.terms[*i]) {
            add_term(&mut sum, monomial.clone(), value);
        }
        let mut result = QPolynomial { floors: self.floors.clone(), ..QPolynomial::zero(0) };
        sum.into_iter().for_each(|(monomial, value)| result.insert(monomial, value));
        result.tidied()
    }
}

/// From the parameters that are left to the given ones.
pub(crate) struct Back<'a> {
    reduced: &'a Reduced,
    given: usize,
    /// The parameters left, as polynomials in the given ones; none if they are the same.
    values: Option<Vec<QPolynomial>>,
    always: Guard,
}

impl<'a> Back<'a> {
    pub fn new(reduced: &'a Reduced, given: usize) -> Self {
        let mut always = Guard::new(given);
        for affine in &reduced.zero {
            always.zero(&substituted(&constant_first(&affine.num), &units(given)));
        }
        for affine in &reduced.integral {
            always.integral(affine);
        }
        let polynomial = |affine: &Affine| {
            let linear = substituted(&constant_first(&affine.num), &units(given));
            QPolynomial::from_linear(Floors::new(given), &linear, &affine.den)
        };
        let same = reduced.params.len() == given
            && reduced.params.iter().enumerate().all(|(i, p)| *p == Affine::variable(i, given));
        let values = (!same).then(|| reduced.params.iter().map(polynomial).collect());
        Self { reduced, given, values, always }
    }

    pub fn guard(&self, chamber: &Chamber) -> Guard {
        let mut guard = self.always.clone();
        for row in &chamber.ineqs {
            // A positive factor more or less does not matter.
            let affine = Affine::combination(row, &self.reduced.params, self.given);
            guard.at_least_zero(&substituted(&constant_first(&affine.num), &units(self.given)));
        }
        guard
    }

    fn value(&self, polynomial: QPolynomial, budget: &Budget) -> Result<QPolynomial, Error> {
        match &self.values {
            None => Ok(polynomial),
            Some(values) => polynomial.substitute(self.given, values, budget),
        }
    }
}
