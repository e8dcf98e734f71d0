//! Sums of polynomials over the integer points of one parametric polytope.
//!
//! As for counting, but a point `y` of a unimodular cone has the weight `w(y)`. A monomial
//! splits into one factor for each edge, and with `r = t nu_i`
//! `sum of y^k exp(r y) over y >= c` is
//! `k! / (-r)^(k+1) - sum_j B_(k+j+1)(c) / (k+j+1) r^j / j!`
//! with Bernoulli polynomials; the constant term of the product is what the cone adds.

use std::collections::BTreeMap;

use super::contribution::{Corner, Terms, add_term, along, direction, least};
use super::polyhedron::{Back, Polyhedron, check_bounded};
use super::todd::bernoulli;
use super::unimodular::Unimodular;
use crate::count::piecewise::Pieces;
use crate::count::polytope::chambers::chambers;
use crate::count::polytope::cone::Row;
use crate::count::polytope::equalities::{Affine, Reduced};
use crate::count::polytope::vertices::{Vertex, vertices};
use crate::count::quasi_polynomial::floors::{Floors, Linear, substituted};
use crate::count::quasi_polynomial::guard::{constant_first, units};
use crate::count::quasi_polynomial::{Monomial, QPolynomial, joined};
use crate::{Budget, Error, Integer, Rational};

impl Polyhedron {
    /// Adds up `weight`, a polynomial in dimensions and parameters, over the points.
    ///
    /// # Errors
    /// [`Error::Unbounded`] if there are infinitely many points for some parameters, and
    /// those of the budget. Floors in `weight` are an [`Error::Space`]: they must be
    /// dimensions with constraints.
    pub fn sum(&self, weight: &QPolynomial, budget: &Budget) -> Result<Pieces, Error> {
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
            let active = chamber.active.iter().map(|i| &shares[*i]);
            budget.spend(active.clone().map(QPolynomial::size).sum())?;
            let sum = QPolynomial::total(left + self.params(), active);
            pieces.push(guard, sum.substitute(self.params(), &values, budget)?);
        }
        Ok(pieces)
    }
}

/// What the variables `(parameters left, given parameters)` are in the given ones.
fn back_values(reduced: &Reduced, given: usize) -> Vec<QPolynomial> {
    let own = (0..given).map(|i| QPolynomial::variable(given, i));
    reduced.params.iter().map(|affine| polynomial(affine, given)).chain(own).collect()
}

fn polynomial(affine: &Affine, vars: usize) -> QPolynomial {
    let linear = substituted(&constant_first(&affine.num), &units(vars));
    QPolynomial::from_linear(Floors::new(vars), &linear, &affine.den)
}

/// Powers of the coordinates, and what they are multiplied with.
type ByPowers = BTreeMap<Vec<usize>, Vec<(Monomial, Rational)>>;

/// A weight over the variables `(y, parameters left, given parameters)`.
struct Weighted<'a> {
    reduced: &'a Reduced,
    given: usize,
    weight: &'a QPolynomial,
    numbers: Vec<Rational>,
}

impl<'a> Weighted<'a> {
    fn new(reduced: &'a Reduced, given: usize, weight: &'a QPolynomial) -> Self {
        // Enough for all poles: each edge has one, each factor of a monomial one more.
        let numbers = bernoulli(2 * (reduced.dims + weight.degree()) + 1);
        Self { reduced, given, weight, numbers }
    }

    fn others(&self) -> usize {
        self.reduced.params.len() + self.given
    }

    fn shares(&self, corners: &[Vertex], budget: &Budget) -> Result<Vec<QPolynomial>, Error> {
        let dims = self.reduced.dims;
        let cones: Result<Vec<Corner>, Error> = corners
            .iter()
            .map(|vertex| Corner::new(dims, vertex, &self.reduced.ineqs, budget))
            .collect();
        let cones = cones?;
        let direction = direction(dims, &cones);
        let mut result = Vec::new();
        for (vertex, corner) in corners.iter().zip(&cones) {
            let mut shares = Vec::new();
            for cone in &corner.cones {
                shares.push(self.share(vertex, cone, &along(&direction, cone), budget)?);
            }
            budget.spend(shares.iter().map(QPolynomial::size).sum())?;
            result.push(QPolynomial::total(self.others(), shares.iter()));
        }
        Ok(result)
    }

    /// Adds up the weights of a cone.
    ///
    /// The starts of the edges stay variables, numbered like the edges, until the very end: what
    /// they are has many terms.
    fn share(
        &self,
        vertex: &Vertex,
        cone: &Unimodular,
        nu: &Row,
        budget: &Budget,
    ) -> Result<QPolynomial, Error> {
        let mut sum = Terms::default();
        for (powers, factor) in self.by_powers(cone, budget)? {
            let term = self.constant_term(&powers, nu, budget)?;
            budget.spend(factor.len() * term.len() / 4)?;
            for (left, a) in &term {
                for (right, b) in &factor {
                    add_term(&mut sum, joined(left, right), &a.mul(b));
                }
            }
        }
        let sign = Rational::from(if cone.negative { -1 } else { 1 });
        let mut all = QPolynomial::zero(self.reduced.dims + self.others());
        sum.into_iter().for_each(|(monomial, value)| all.insert(monomial, value.mul(&sign)));
        let start = |normal: &Row| {
            let mut floors = Floors::new(self.others());
            let level = least(vertex, normal, &mut floors);
            QPolynomial::from_linear(floors, &level, &Integer::ONE)
        };
        let mut values: Vec<QPolynomial> = cone.normals.iter().map(start).collect();
        let others = self.others();
        values.extend((0..others).map(|other| QPolynomial::variable(others, other)));
        all.substitute(others, &values, budget)
    }

    /// Writes the weight in the coordinates `y` of the cone: powers of `y`, and their factors.
    fn by_powers(&self, cone: &Unimodular, budget: &Budget) -> Result<ByPowers, Error> {
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
            QPolynomial::from_linear(Floors::new(all), &linear, &Integer::ONE)
        };
        let mut values: Vec<QPolynomial> = self.reduced.coordinates.iter().map(value).collect();
        values.extend((0..self.given).map(|i| QPolynomial::variable(all, dims + left + i)));
        let mut result = ByPowers::new();
        for (monomial, factor) in self.weight.substitute(all, &values, budget)?.terms {
            let mut powers = vec![0; dims];
            let (own, rest): (Monomial, Monomial) =
                monomial.into_iter().partition(|atom| (*atom as usize) < dims);
            own.into_iter().for_each(|atom| powers[atom as usize] += 1);
            result.entry(powers).or_default().push((rest, factor));
        }
        Ok(result)
    }

    /// Returns the constant term of the sum of `y^powers exp(t nu . y)` over `y >= starts`.
    fn constant_term(&self, powers: &[usize], nu: &Row, budget: &Budget) -> Result<Terms, Error> {
        let poles: usize = powers.iter().map(|k| k + 1).sum();
        let mut one = Terms::default();
        add_term(&mut one, Monomial::new(), &Rational::ONE);
        // Coefficients of a series in `t`, from the pole of all factors so far upwards.
        let mut series = vec![one];
        for (edge, (k, nu)) in powers.iter().zip(nu).enumerate() {
            let factor = self.edge_series(*k, nu, poles);
            // Of the product of all, only the constant term is asked for.
            let first = if edge + 1 == powers.len() { poles } else { 0 };
            let mut product: Vec<Terms> = (0..=poles).map(|_| Terms::default()).collect();
            for (i, a) in series.iter().enumerate().filter(|(_, a)| !a.is_empty()) {
                let factor = factor.iter().enumerate().take(poles + 1 - i);
                for (j, b) in factor.skip(first.saturating_sub(i)) {
                    budget.spend(a.len() * b.len() / 4)?;
                    multiply(&mut product[i + j], a, edge as u32, b);
                }
            }
            series = product;
        }
        Ok(series.into_iter().nth(poles).unwrap_or_default())
    }

    /// Returns the series of one edge from `t^-(k+1)` to `t^(poles-k-1)`, polynomials in its start
    /// by their coefficients.
    fn edge_series(&self, k: usize, nu: &Integer, poles: usize) -> Vec<Vec<Rational>> {
        let factorial =
            |n: usize| (1..=n).fold(Integer::ONE, |p, i| p.mul(&Integer::from(i as i64)));
        let power = |n: usize| (0..n).fold(Integer::ONE, |p, _| p.mul(nu));
        let lead = power(k + 1);
        let lead =
            Rational::reduced(factorial(k), if k.is_multiple_of(2) { lead.neg() } else { lead });
        let mut series = vec![vec![lead]];
        series.extend((0..k).map(|_| Vec::new()));
        for j in 0..poles.saturating_sub(k) {
            let den = factorial(j).mul(&Integer::from((k + j + 1) as i64)).neg();
            let factor = Rational::reduced(power(j), den);
            let polynomial = self.bernoulli_polynomial(k + j + 1);
            series.push(polynomial.iter().map(|value| value.mul(&factor)).collect());
        }
        series
    }

    /// Returns `C(n, l) B_(n-l)` for `l` from 0 to `n`.
    fn bernoulli_polynomial(&self, n: usize) -> Vec<Rational> {
        let mut result = Vec::new();
        let mut binomial = Integer::ONE;
        for l in 0..=n {
            result.push(self.numbers[n - l].mul(&Rational::from(binomial.clone())));
            let left = Integer::from((n - l) as i64);
            binomial = binomial.mul(&left).div_exact(&Integer::from(l as i64 + 1));
        }
        result
    }
}

/// Adds `a` times a polynomial in the start of an edge that `a` does not have.
fn multiply(sum: &mut Terms, a: &Terms, edge: u32, coefficients: &[Rational]) {
    for (monomial, value) in a {
        let mut longer = monomial.clone();
        for factor in coefficients {
            if !factor.is_zero() {
                add_term(sum, longer.clone(), &value.mul(factor));
            }
            longer.push(edge);
        }
    }
}
