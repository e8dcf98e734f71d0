//! Sums of polynomials over the integer points of one parametric polytope.
//!
//! As for counting, but a point `y` of a unimodular cone has the weight `w(y)`. A monomial
//! splits into one factor for each edge, and with `r = t nu_i`
//! `sum of y^k exp(r y) over y >= c` is
//! `k! / (-r)^(k+1) - sum_j B_(k+j+1)(c) / (k+j+1) r^j / j!`
//! with Bernoulli polynomials; the constant term of the product is what the cone adds.

use std::collections::BTreeMap;

use super::chambers::chambers;
use super::cone::Row;
use super::contribution::{Corner, along, direction, least};
use super::equalities::{Affine, Reduced};
use super::floors::{Floors, Linear, substituted};
use super::guard::{constant_first, units};
use super::piecewise::Pieces;
use super::polyhedron::{Back, Polyhedron, check_bounded};
use super::quasi::{Monomial, QuasiPolynomial};
use super::todd::bernoulli;
use super::unimodular::Unimodular;
use super::vertices::{Vertex, vertices};
use crate::{Budget, Error, Integer, Rational};

impl Polyhedron {
    /// Adds up `weight`, a polynomial in dimensions and parameters, over the points.
    ///
    /// # Errors
    /// [`Error::Unbounded`] if there are infinitely many points for some parameters, and
    /// those of the budget. Floors in `weight` are an [`Error::Space`]: they must be
    /// dimensions with constraints.
    pub fn sum(&self, weight: &QuasiPolynomial, budget: &Budget) -> Result<Pieces, Error> {
        let vars = self.dims() + self.params();
        if weight.vars() != vars || !weight.floors.all.is_empty() {
            let expected = format!("a polynomial in {vars} variables");
            let found = format!(
                "one in {} variables and {} floors",
                weight.vars(),
                weight.floors.all.len()
            );
            return Err(Error::Space { expected, found });
        }
        let mut pieces = Pieces::zero(self.params());
        let Some((reduced, cone)) = self.full_dimensional(budget)? else { return Ok(pieces) };
        check_bounded(&reduced, budget)?;
        let left = reduced.params.len();
        let corners = vertices(reduced.dims, left, &reduced.ineqs, &cone, budget)?;
        let rows = cone.rays.iter().map(|ray| &ray.row).chain(&cone.lines);
        let shadow: Vec<Row> = rows.map(|row| row[reduced.dims..].to_vec()).collect();
        let chambers = chambers(left, &corners, &shadow, budget)?;
        let shares = Weighted::new(&reduced, self.params(), weight).shares(&corners, budget)?;
        let back = Back::new(&reduced, self.params());
        let values = back_values(&reduced, self.params());
        for chamber in &chambers {
            let guard = back.guard(chamber).simplified(budget)?;
            let zero = QuasiPolynomial::zero(left + self.params());
            let sum = chamber.active.iter().fold(zero, |sum, i| sum.add(&shares[*i]));
            budget.spend(sum.len() * (1 + sum.floors.all.len()))?;
            pieces.push(guard, sum.substitute(self.params(), &values));
        }
        Ok(pieces)
    }
}

/// What the variables `(parameters left, given parameters)` are in the given ones.
fn back_values(reduced: &Reduced, given: usize) -> Vec<QuasiPolynomial> {
    let own = (0..given).map(|i| QuasiPolynomial::variable(given, i));
    reduced.params.iter().map(|affine| polynomial(affine, given)).chain(own).collect()
}

fn polynomial(affine: &Affine, vars: usize) -> QuasiPolynomial {
    let linear = substituted(&constant_first(&affine.num), &units(vars));
    QuasiPolynomial::from_linear(Floors::new(vars), &linear, &affine.den)
}

/// A weight over the variables `(y, parameters left, given parameters)`.
struct Weighted<'a> {
    reduced: &'a Reduced,
    given: usize,
    weight: &'a QuasiPolynomial,
    numbers: Vec<Rational>,
}

impl<'a> Weighted<'a> {
    fn new(reduced: &'a Reduced, given: usize, weight: &'a QuasiPolynomial) -> Self {
        // Enough for all poles: each edge has one, each factor of a monomial one more.
        let numbers = bernoulli(2 * (reduced.dims + weight.degree()) + 1);
        Self { reduced, given, weight, numbers }
    }

    fn others(&self) -> usize {
        self.reduced.params.len() + self.given
    }

    fn shares(&self, corners: &[Vertex], budget: &Budget) -> Result<Vec<QuasiPolynomial>, Error> {
        let dims = self.reduced.dims;
        let cones: Result<Vec<Corner>, Error> = corners
            .iter()
            .map(|vertex| Corner::new(dims, vertex, &self.reduced.ineqs, budget))
            .collect();
        let cones = cones?;
        let direction = direction(dims, &cones);
        let mut result = Vec::new();
        for (vertex, corner) in corners.iter().zip(&cones) {
            let mut sum = QuasiPolynomial::zero(self.others());
            for cone in &corner.cones {
                sum = sum.add(&self.share(vertex, cone, &along(&direction, cone), budget)?);
            }
            result.push(sum);
        }
        Ok(result)
    }

    fn share(
        &self,
        vertex: &Vertex,
        cone: &Unimodular,
        nu: &Row,
        budget: &Budget,
    ) -> Result<QuasiPolynomial, Error> {
        budget.spend(self.weight.len() * self.weight.degree() * (1 + self.others()))?;
        let mut sum = QuasiPolynomial::zero(self.others());
        let starts: Vec<QuasiPolynomial> = cone
            .normals
            .iter()
            .map(|normal| {
                let mut floors = Floors::new(self.others());
                let level = least(vertex, normal, &mut floors);
                QuasiPolynomial::from_linear(floors, &level, &Integer::ONE)
            })
            .collect();
        for (powers, factor) in self.by_powers(cone) {
            let term = self.constant_term(&powers, &starts, nu, budget)?;
            let floors = sum.floors.all.len() + term.floors.all.len();
            budget.spend(factor.len() * term.len() + sum.len() + floors)?;
            sum = sum.add(&factor.mul(&term));
        }
        Ok(if cone.negative { sum.scale(&Rational::from(-1)) } else { sum })
    }

    /// Writes the weight in the coordinates `y` of the cone: powers of `y`, and their factors.
    fn by_powers(&self, cone: &Unimodular) -> BTreeMap<Vec<usize>, QuasiPolynomial> {
        let dims = self.reduced.dims;
        let (left, all) = (self.reduced.params.len(), dims + self.others());
        let value = |row: &Row| {
            let mut linear = Linear { constant: row[dims + left].clone(), terms: Vec::new() };
            for col in 0..dims {
                let edge = cone.edges.iter().zip(&row[..dims]);
                let factor = edge.fold(Integer::ZERO, |sum, (e, v)| sum.add_mul(&e[col], v));
                linear.terms.push((col as u32, factor));
            }
            for (i, factor) in row[dims..dims + left].iter().enumerate() {
                linear.terms.push(((dims + i) as u32, factor.clone()));
            }
            QuasiPolynomial::from_linear(Floors::new(all), &linear, &Integer::ONE)
        };
        let mut values: Vec<QuasiPolynomial> = self.reduced.coordinates.iter().map(value).collect();
        values.extend((0..self.given).map(|i| QuasiPolynomial::variable(all, dims + left + i)));
        let mut result: BTreeMap<Vec<usize>, QuasiPolynomial> = BTreeMap::new();
        for (monomial, factor) in self.weight.substitute(all, &values).terms {
            let mut powers = vec![0; dims];
            let mut rest = Monomial::new();
            for atom in monomial {
                match (atom as usize).checked_sub(dims) {
                    None => powers[atom as usize] += 1,
                    Some(other) => rest.push(other as u32),
                }
            }
            let zero = || QuasiPolynomial::zero(self.others());
            result.entry(powers).or_insert_with(zero).insert(rest, factor);
        }
        result
    }

    /// Returns the constant term of the sum of `y^powers exp(t nu . y)` over `y >= starts`.
    fn constant_term(
        &self,
        powers: &[usize],
        starts: &[QuasiPolynomial],
        nu: &Row,
        budget: &Budget,
    ) -> Result<QuasiPolynomial, Error> {
        let poles: usize = powers.iter().map(|k| k + 1).sum();
        // Coefficients of a series in `t`, from the pole of all factors so far upwards.
        let mut series = vec![QuasiPolynomial::constant(self.others(), Rational::ONE)];
        for ((k, start), nu) in powers.iter().zip(starts).zip(nu) {
            let factor = self.edge_series(*k, start, nu, poles);
            let zero = || QuasiPolynomial::zero(self.others());
            let mut product: Vec<QuasiPolynomial> = (0..=poles).map(|_| zero()).collect();
            for (i, a) in series.iter().enumerate().filter(|(_, a)| !a.is_empty()) {
                for (j, b) in factor.iter().take(poles + 1 - i).enumerate() {
                    if !b.is_empty() {
                        let floors = a.floors.all.len() + b.floors.all.len();
                        budget.spend(a.len() * b.len() + product[i + j].len() + floors)?;
                        product[i + j] = product[i + j].add(&a.mul(b));
                    }
                }
            }
            series = product;
        }
        Ok(series.into_iter().nth(poles).unwrap_or_else(|| QuasiPolynomial::zero(self.others())))
    }

    /// Returns the series of one edge from `t^-(k+1)` to `t^(poles-k-1)`.
    fn edge_series(
        &self,
        k: usize,
        start: &QuasiPolynomial,
        nu: &Integer,
        poles: usize,
    ) -> Vec<QuasiPolynomial> {
        let vars = self.others();
        let factorial =
            |n: usize| (1..=n).fold(Integer::ONE, |p, i| p.mul(&Integer::from(i as i64)));
        let power = |n: usize| (0..n).fold(Integer::ONE, |p, _| p.mul(nu));
        let lead = power(k + 1);
        let lead =
            Rational::reduced(factorial(k), if k.is_multiple_of(2) { lead.neg() } else { lead });
        let mut series = vec![QuasiPolynomial::constant(vars, lead)];
        series.extend((0..k).map(|_| QuasiPolynomial::zero(vars)));
        for j in 0..poles.saturating_sub(k) {
            let den = factorial(j).mul(&Integer::from((k + j + 1) as i64)).neg();
            let factor = Rational::reduced(power(j), den);
            series.push(self.bernoulli_polynomial(k + j + 1, start).scale(&factor));
        }
        series
    }

    fn bernoulli_polynomial(&self, n: usize, at: &QuasiPolynomial) -> QuasiPolynomial {
        // Horner's scheme over `C(n, l) B_(n-l) at^l`, from `l = n` down.
        let mut sum = QuasiPolynomial::zero(self.others());
        let mut binomial = Integer::ONE;
        for l in (0..=n).rev() {
            let factor = self.numbers[n - l].mul(&Rational::from(binomial.clone()));
            sum = sum.mul(at).add(&QuasiPolynomial::constant(self.others(), factor));
            let next = Integer::from((n - l + 1) as i64);
            binomial = binomial.mul(&Integer::from(l as i64)).div_exact(&next);
        }
        sum
    }
}
