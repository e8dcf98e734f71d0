//! The share of one vertex in the number of points, as a polynomial in parameters and floors.
//!
//! By Brion's theorem the generating function of a polytope is the sum of those of the cones at its
//! vertices. Each cone is a signed sum of unimodular ones (`unimodular`), and each of these starts
//! at the least integer point in it, whose coordinates are floors of the vertex's. `[n] -> { [i] :
//! 0 <= 2 i <= n }` has the cone `i <= n/2` at `n/2`, which starts at `floor(n/2)` and contributes
//! `1/2 + floor(n/2)`: the constant term that `todd` gives.

use rustc_hash::FxHashMap;

use super::todd::Todd;
use super::unimodular::{Unimodular, decompose};
use crate::count::polytope::cone::Row;
use crate::count::polytope::vertices::Vertex;
use crate::count::quasi_polynomial::Monomial;
use crate::count::quasi_polynomial::floors::{Floors, Linear};
use crate::{Budget, Error, Integer, Rational};

/// Sums over the terms of quasi-polynomials whose floors are kept elsewhere.
pub(crate) type Terms = FxHashMap<Monomial, Rational>;

/// The unimodular cones at one vertex.
pub(crate) struct Corner {
    pub cones: Vec<Unimodular>,
}

impl Corner {
    pub fn new(
        dims: usize,
        vertex: &Vertex,
        ineqs: &[Row],
        budget: &Budget,
    ) -> Result<Self, Error> {
        let normals = vertex.tight.iter().map(|i| ineqs[*i][..dims].to_vec()).collect();
        Ok(Self { cones: decompose(dims, normals, budget)? })
    }
}

/// Finds a direction that is orthogonal to no edge of the cones, with small entries.
pub(crate) fn direction(dims: usize, corners: &[Corner]) -> Row {
    let mut state = 1_u64;
    for attempt in 0_i64.. {
        let reach = 2 + attempt / 2;
        let row: Row = (0..dims)
            .map(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                Integer::from(((state >> 33) as i64).rem_euclid(2 * reach + 1) - reach)
            })
            .collect();
        let cones = corners.iter().flat_map(|corner| &corner.cones);
        if cones.into_iter().all(|cone| along(&row, cone).iter().all(|v| !v.is_zero())) {
            return row;
        }
    }
    Row::new()
}

/// Returns the products of `direction` with the edges.
pub(crate) fn along(direction: &Row, cone: &Unimodular) -> Row {
    let dims = direction.len();
    (0..dims)
        .map(|col| {
            let edge = cone.edges.iter().zip(direction);
            edge.fold(Integer::ZERO, |sum, (row, factor)| sum.add_mul(&row[col], factor))
        })
        .collect()
}

/// Adds up the constant terms of the cones at `vertex`.
pub(crate) fn contribution(
    vertex: &Vertex,
    corner: &Corner,
    direction: &Row,
    todd: &Todd,
    floors: &mut Floors,
    budget: &Budget,
) -> Result<Terms, Error> {
    let mut terms = Terms::default();
    let mut levels = FxHashMap::default();
    for cone in &corner.cones {
        let nu = along(direction, cone);
        let mut form = Linear::default();
        for (normal, factor) in cone.normals.iter().zip(&nu) {
            let level =
                levels.entry(normal.clone()).or_insert_with(|| least(vertex, normal, floors));
            form.add(factor, level);
        }
        let (q, den) = todd.constant_term(&nu);
        let den = if cone.negative { den.neg() } else { den };
        add_powers(&mut terms, &q, &den, &form, budget)?;
    }
    Ok(terms)
}

/// Returns the least integer that is not below `normal . vertex`.
pub(crate) fn least(vertex: &Vertex, normal: &Row, floors: &mut Floors) -> Linear {
    let params = vertex.num[0].len() - 1;
    let mut row = vec![Integer::ZERO; params + 1];
    for (factor, coordinate) in normal.iter().zip(&vertex.num) {
        for (i, value) in coordinate.iter().enumerate() {
            let at = if i == params { 0 } else { i + 1 };
            row[at] = row[at].sub(&factor.mul(value));
        }
    }
    let mut result = Linear::default();
    result.add(&Integer::from(-1), &floors.floor(row, vertex.den.clone()));
    result
}

/// Adds `sum_k q_k form^k / den`.
fn add_powers(
    terms: &mut Terms,
    q: &[Integer],
    den: &Integer,
    form: &Linear,
    budget: &Budget,
) -> Result<(), Error> {
    let mut q = q.to_vec();
    // Taylor's shift by the constant: what is left are powers of the linear part.
    for start in 0..q.len() {
        for k in (start..q.len() - 1).rev() {
            q[k] = q[k].add_mul(&form.constant, &q[k + 1]);
        }
    }
    for (k, factor) in q.into_iter().enumerate() {
        budget.spend(form.terms.len())?;
        if !factor.is_zero() && (k == 0 || !form.terms.is_empty()) {
            Expansion { terms, den, form: &form.terms }.power(k, factor);
        }
    }
    Ok(())
}

struct Expansion<'a> {
    terms: &'a mut Terms,
    den: &'a Integer,
    form: &'a [(u32, Integer)],
}

impl Expansion<'_> {
    /// Adds `factor * form^k / den`, term by term of the multinomial formula.
    fn power(&mut self, k: usize, factor: Integer) {
        let mut stack = vec![(0, k, Monomial::new(), factor)];
        while let Some((at, left, monomial, factor)) = stack.pop() {
            if left == 0 {
                self.add(monomial, factor);
                continue;
            }
            let (atom, value) = &self.form[at];
            let last = at + 1 == self.form.len();
            let mut scaled = factor;
            let mut longer = monomial;
            for used in 0..=left {
                if !last || used == left {
                    stack.push((at + 1, left - used, longer.clone(), scaled.clone()));
                }
                // From C(left, used) value^used to the next.
                let ratio = Integer::from((left - used) as i64);
                scaled = scaled.mul(&ratio).div_exact(&Integer::from(used as i64 + 1)).mul(value);
                longer.push(*atom);
            }
        }
    }

    fn add(&mut self, monomial: Monomial, factor: Integer) {
        let value = Rational::reduced(factor, self.den.clone());
        add_term(self.terms, monomial, &value);
    }
}

/// Adds `value * monomial` to `terms`.
pub(crate) fn add_term(terms: &mut Terms, monomial: Monomial, value: &Rational) {
    let sum = terms.entry(monomial).or_insert(Rational::ZERO);
    *sum = sum.add(value);
}
