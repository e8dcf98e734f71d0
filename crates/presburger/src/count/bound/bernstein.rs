//! Bounds of quasi-polynomials over sets, by Bernstein expansion.
//!
//! A point of a polytope is `sum a_i v_i` with `a_i >= 0` and `sum a_i = 1`, where `v_i` are
//! the parametric vertices of a chamber. Written homogeneously in the `a_i`, a polynomial of
//! degree `d` is a convex combination of its Bernstein coefficients, so that the largest
//! of them is an upper bound and the smallest a lower one. The bound is over the
//! rational points, with floors between their own bounds: it need not be attained.
//!
//! Source: P. Clauss et al., "Symbolic polynomial maximization over convex sets and its
//! application to memory requirement estimation", 2009. Divergence: all vertices of a
//! chamber are used at once, without a triangulation.

use std::collections::BTreeMap;

use crate::count::barvinok::polyhedron::{Back, Polyhedron, check_bounded};
use crate::count::piecewise::apply::with_dimensions;
use crate::count::piecewise::common_refinement::overlay;
use crate::count::piecewise::pw_qpolynomial::PwQPolynomial;
use crate::count::polytope::chambers::chambers;
use crate::count::polytope::cone::Row;
use crate::count::polytope::equalities::Affine;
use crate::count::polytope::vertices::{Vertex, vertices};
use crate::count::quasi_polynomial::floors::{Floors, substituted};
use crate::count::quasi_polynomial::guard::{Guard, constant_first, units};
use crate::count::quasi_polynomial::nonfinite::refuse;
use crate::count::quasi_polynomial::{Monomial, QPolynomial};
use crate::count::slicing::{Slice, slices, whole};
use crate::{Budget, Error, Integer, Rational, Tuple};

/// What bounds may take that are close, one for each remainder of dimensions with floors, before
/// floors are taken for anything between their own bounds.
const SLICED: u64 = 1_000_000;

/// Which side a bound is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// At most the smallest value.
    Lower,
    /// At least the largest value.
    Upper,
}

impl Side {
    /// Which side a bound is on that is multiplied with a number.
    pub(in crate::count) fn times(self, factor: &Rational) -> Self {
        match (self, factor < &Rational::ZERO) {
            (side, false) => side,
            (Self::Lower, true) => Self::Upper,
            (Self::Upper, true) => Self::Lower,
        }
    }
}

/// A bound that is the smallest or the largest of several polynomials, piece by piece.
///
/// A function of parameters and, where it has a domain, of the points of a tuple. It says nothing
/// where no piece holds: there the set that it is a bound over is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PwQPolynomialFold {
    pub(crate) params: Vec<String>,
    pub(crate) domain: Option<Tuple>,
    pub(crate) side: Side,
    pub(crate) pieces: Vec<(Guard, Vec<QPolynomial>)>,
}

impl PwQPolynomialFold {
    /// The names of the parameters.
    pub fn params(&self) -> &[String] {
        &self.params
    }

    /// The tuple of the arguments; none for a bound that depends on parameters alone.
    pub fn domain(&self) -> Option<&Tuple> {
        self.domain.as_ref()
    }

    /// Which side the bound is on.
    pub fn side(&self) -> Side {
        self.side
    }

    /// Returns the bound at an integer point, parameters first, then dimensions; none if no piece
    /// holds there, or there are fewer or more coordinates.
    pub fn evaluate<T: Clone + Into<Integer>>(&self, point: &[T]) -> Option<Rational> {
        let point: Vec<Integer> = point.iter().cloned().map(T::into).collect();
        if point.len() != self.vars() {
            return None;
        }
        let (_, values) = self.pieces.iter().find(|(guard, _)| guard.contains(&point))?;
        let values = values.iter().map(|value| value.evaluate(&point));
        match self.side {
            Side::Lower => values.min(),
            Side::Upper => values.max(),
        }
    }

    /// Returns the bound of a function of nothing; none as [`Self::evaluate`].
    pub fn constant_value(&self) -> Option<Rational> {
        self.evaluate::<i64>(&[])
    }
}

impl PwQPolynomial {
    /// Bounds the values over all points of the tuple on which a piece holds.
    ///
    /// Not tight in general. A function of parameters alone is its own bound.
    ///
    /// # Errors
    /// [`Error::Unbounded`] if a piece has infinitely many points, [`Error::NotFinite`] if a value is
    /// no number; those of the budget.
    ///
    /// # Source
    /// isl `isl_pw_qpolynomial_bound`.
    pub fn bound(&self, side: Side, budget: &Budget) -> Result<PwQPolynomialFold, Error> {
        refuse(&self.pieces)?;
        let sliced = budget.attempt(SLICED, |budget| self.bound_over(slices, budget))?;
        let pieces = match sliced {
            Some(pieces) => pieces,
            None => self.bound_over(whole, budget)?,
        };
        let mut bound =
            PwQPolynomialFold { params: self.params.clone(), domain: None, side, pieces };
        bound.pieces.iter_mut().for_each(|(_, values)| keep_extremes(values, side));
        Ok(bound)
    }

    /// Lists the values that bound the function, on either side, over the points cut by `cut`.
    fn bound_over<S: IntoIterator<Item = Slice>>(
        &self,
        cut: impl Fn(&Guard, &QPolynomial, usize, usize, &Budget) -> Result<S, Error>,
        budget: &Budget,
    ) -> Result<Vec<(Guard, Vec<QPolynomial>)>, Error> {
        let dims = self.domain.as_ref().map_or(0, |tuple| tuple.dims.len());
        let mut pieces = Vec::new();
        for (guard, value) in &self.pieces.all {
            for slice in cut(guard, value, self.params.len(), dims, budget)? {
                let found = bound_over(&slice.polyhedron(), &slice.weight, budget)
                    .map_err(|error| self.at_own_dimension(error))?;
                let mut part = Vec::new();
                for (guard, values) in found {
                    part.push(slice.given(&guard, values, budget)?);
                }
                pieces = overlay(&pieces, &part, |a, b| distinct_of(a, b, budget), budget)?;
            }
        }
        Ok(pieces)
    }

    /// Bounds, for a function of pairs `[x -> y]`, the values at all `y` for each `x`.
    ///
    /// A function of anything else is bounded over all its points.
    ///
    /// # Errors
    /// As [`Self::bound`].
    pub fn bound_second(&self, side: Side, budget: &Budget) -> Result<PwQPolynomialFold, Error> {
        let Some((left, right)) = self.domain.as_ref().and_then(Tuple::sides) else {
            return self.bound(side, budget);
        };
        let wide = with_dimensions(&self.params, &left);
        let bound = Self::new(wide, Some(right), self.pieces.clone()).bound(side, budget)?;
        Ok(PwQPolynomialFold { params: self.params.clone(), domain: named(left), ..bound })
    }
}

/// The tuple of arguments, if they are more than `[]`.
pub(in crate::count) fn named(tuple: Tuple) -> Option<Tuple> {
    Some(tuple).filter(|tuple| *tuple != Tuple::default())
}

/// Returns the values of both lists, each once.
pub(in crate::count) fn distinct_of(
    a: &[QPolynomial],
    b: &[QPolynomial],
    budget: &Budget,
) -> Result<Vec<QPolynomial>, Error> {
    budget.spend(a.len() * b.len())?;
    let mut all = a.to_vec();
    all.extend(b.iter().filter(|value| !a.contains(value)).cloned());
    Ok(all)
}

/// Drops polynomials that differ from another by a constant and bound less.
pub(in crate::count) fn keep_extremes(values: &mut Vec<QPolynomial>, side: Side) {
    let mut index = 0;
    while let Some(value) = values.get(index) {
        let constant = value.constant_term();
        let weaker = values.iter().enumerate().any(|(other, better)| {
            let gap = better.constant_term().sub(&constant);
            let better_side = match side {
                Side::Lower => gap < Rational::ZERO,
                Side::Upper => gap > Rational::ZERO,
            };
            other != index && better_side && better.is_shift_of(value)
        });
        if weaker {
            values.remove(index);
        } else {
            index += 1;
        }
    }
}

/// Lists the distinct Bernstein coefficients for each chamber.
fn bound_over(
    polyhedron: &Polyhedron,
    weight: &QPolynomial,
    budget: &Budget,
) -> Result<Vec<(Guard, Vec<QPolynomial>)>, Error> {
    let Some((reduced, cone)) = polyhedron.full_dimensional(budget)? else {
        return Ok(Vec::new());
    };
    check_bounded(&reduced, budget)?;
    let (left, given) = (reduced.params.len(), polyhedron.params());
    let corners = vertices(reduced.dims, left, &reduced.ineqs, &cone, budget)?;
    let rows = cone.rays.iter().map(|ray| &ray.row).chain(&cone.lines);
    let shadow: Vec<Row> = rows.map(|row| row[reduced.dims..].to_vec()).collect();
    let back = Back::new(&reduced, given);
    let mut pieces = Vec::new();
    for chamber in chambers(left, &corners, &shadow, budget)? {
        let guard = back.guard(&chamber).simplified(budget)?;
        if guard.never {
            continue;
        }
        let points: Vec<Vec<QPolynomial>> = chamber
            .active
            .iter()
            .map(|i| {
                let place = |row: &Row| coordinate(row, &corners[*i], &reduced.params, given);
                reduced.coordinates.iter().map(place).collect()
            })
            .collect();
        pieces.push((guard, coefficients(weight, &points, given, budget)?));
    }
    Ok(pieces)
}

/// Returns a given dimension in a vertex, as a polynomial in the given parameters.
fn coordinate(row: &Row, vertex: &Vertex, params: &[Affine], given: usize) -> QPolynomial {
    let dims = vertex.num.len();
    let mut value: Row = row[dims..].iter().map(|v| v.mul(&vertex.den)).collect();
    for (factor, part) in row[..dims].iter().zip(&vertex.num) {
        for (sum, v) in value.iter_mut().zip(part) {
            *sum = sum.add_mul(factor, v);
        }
    }
    let affine = Affine::combination(&value, params, given).divided(&vertex.den);
    let linear = substituted(&constant_first(&affine.num), &units(given));
    QPolynomial::from_linear(Floors::new(given), &linear, &affine.den)
}

/// Expands `weight` over the vertices at `points`.
fn coefficients(
    weight: &QPolynomial,
    points: &[Vec<QPolynomial>],
    given: usize,
    budget: &Budget,
) -> Result<Vec<QPolynomial>, Error> {
    let dims = weight.vars() - given;
    let degree_of = |m: &Monomial| m.iter().filter(|atom| (**atom as usize) < dims).count();
    let degree = weight.terms.keys().map(degree_of).max().unwrap_or(0);
    if degree >= u64::BITS as usize {
        return Err(Error::Overflow);
    }
    let mut sums: BTreeMap<Vec<usize>, QPolynomial> = BTreeMap::new();
    for choice in multisets(points.len(), degree, budget)? {
        budget.spend(weight.len() << degree.min(20))?;
        sums.insert(choice.clone(), QPolynomial::zero(given));
        for (monomial, factor) in &weight.terms {
            let term = polarized(monomial, &choice, points, dims, given, budget)?;
            let sum = sums.entry(choice.clone()).or_insert_with(|| QPolynomial::zero(given));
            *sum = sum.add(&term.scale(factor));
        }
    }
    let mut distinct: Vec<QPolynomial> = Vec::new();
    for value in sums.into_values() {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    Ok(distinct)
}

/// Lists the ways to choose `size` of `count` with repetition, in ascending order.
fn multisets(count: usize, size: usize, budget: &Budget) -> Result<Vec<Vec<usize>>, Error> {
    let mut all = vec![Vec::new()];
    for _ in 0..size {
        let longer = |choice: &Vec<usize>| {
            let first = choice.last().copied().unwrap_or(0);
            let choice = choice.clone();
            (first..count).map(move |next| {
                let mut longer = choice.clone();
                longer.push(next);
                longer
            })
        };
        all = all.iter().flat_map(longer).collect();
        budget.spend(all.len())?;
    }
    Ok(all)
}

/// Returns the mean of the monomial over all assignments of the chosen vertices to its
/// factors: its symmetric multilinear form.
fn polarized(
    monomial: &Monomial,
    choice: &[usize],
    points: &[Vec<QPolynomial>],
    dims: usize,
    given: usize,
    budget: &Budget,
) -> Result<QPolynomial, Error> {
    let (own, other): (Vec<usize>, Vec<usize>) =
        monomial.iter().map(|atom| *atom as usize).partition(|atom| *atom < dims);
    // For each set of vertices used up so far, the sum over the orders to use them in.
    let mut sums = BTreeMap::from([(0_u64, QPolynomial::constant(given, Rational::ONE))]);
    for atom in &own {
        let mut next: BTreeMap<u64, QPolynomial> = BTreeMap::new();
        for (used, sum) in &sums {
            for (at, vertex) in choice.iter().enumerate().filter(|(at, _)| used >> at & 1 == 0) {
                budget.spend(sum.len())?;
                let product = sum.mul(&points[*vertex][*atom]);
                let entry = next.entry(used | 1 << at);
                let old = entry.or_insert_with(|| QPolynomial::zero(given));
                *old = old.add(&product);
            }
        }
        sums = next;
    }
    let orders =
        (0..own.len()).fold(Integer::ONE, |p, i| p.mul(&Integer::from((choice.len() - i) as i64)));
    let zero = QPolynomial::zero(given);
    let sum = sums.values().fold(zero, |sum, value| sum.add(value));
    let mean = sum.scale(&Rational::reduced(Integer::ONE, orders));
    let rest = other.iter().map(|atom| QPolynomial::variable(given, atom - dims));
    Ok(rest.fold(mean, |product, variable| product.mul(&variable)))
}
