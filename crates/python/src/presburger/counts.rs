//! Quasi-polynomials and their bounds for Python.

use pyo3::prelude::*;
use tangram::presburger::count::{PwQPolynomial, PwQPolynomialFold, Side};
use tangram::presburger::{Aff, Integer, Rational, Relation, Value};

use super::spaces::{Floor, Form, Shape, divisions, floors, form, integers, space};
use super::{PyUnion, failed, number, run};
use crate::integer::Number;

/// The factors of a term and its coefficient, numerator and denominator.
type Term = (Vec<u32>, Number, Number);

/// A piecewise quasi-polynomial.
#[pyclass(frozen, module = "tangram._native")]
pub(crate) struct Count(pub(super) PwQPolynomial);

#[pymethods]
impl Count {
    #[new]
    fn new(python: Python<'_>, text: &str) -> PyResult<Self> {
        run(python, |budget| PwQPolynomial::parse(text, budget)).map(Self)
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn params(&self) -> Vec<String> {
        self.0.params().to_vec()
    }

    fn domain(&self) -> Option<Shape> {
        self.0.domain().cloned().map(Shape)
    }

    /// The parameters and the tuple of arguments, as the space of a set.
    fn space(&self) -> Form {
        form(&self.0.space())
    }

    /// An expression on a set space: coefficients, constant first, their divisor, divisions.
    #[staticmethod]
    fn of_row(
        python: Python<'_>,
        domain: Form,
        row: Vec<Number>,
        divisor: Number,
        floors: Vec<Floor>,
    ) -> PyResult<Self> {
        let (domain, row, floors) = (space(domain), integers(row), divisions(floors));
        run(python, |budget| {
            let aff = Aff::from_coefficients(&domain, &row, &divisor.0, &floors)?;
            PwQPolynomial::from_aff(&aff, budget)
        })
        .map(Self)
    }

    /// The pieces: where each holds, and the value there as a function on all points.
    fn parts(&self, python: Python<'_>) -> PyResult<Vec<(PyUnion, Self)>> {
        run(python, |budget| {
            let all = Relation::universe(self.0.space());
            let mut parts = Vec::new();
            for (set, value) in self.0.parts()? {
                let value = PwQPolynomial::on(&all, &value, budget)?;
                parts.push((PyUnion(set.into()), Self(value)));
            }
            Ok(parts)
        })
    }

    /// The terms of the only piece, and the floors among its factors; none of several pieces.
    fn terms(&self) -> Option<(Vec<Term>, Vec<Floor>)> {
        let parts = self.0.parts().ok()?;
        let [(_, value)] = &parts[..] else {
            return parts.is_empty().then(Default::default);
        };
        let term = |(factors, value): (&[u32], &Rational)| {
            (factors.to_vec(), Number(value.numer().clone()), Number(value.denom().clone()))
        };
        Some((value.terms().map(term).collect(), floors(value.divisions())))
    }

    /// The same values in another space, coordinate `i` as coordinate `to[i]`.
    fn placed(&self, python: Python<'_>, of: Form, to: Vec<usize>) -> PyResult<Self> {
        let space = space(of);
        run(python, |_| self.0.placed(&space, &to)).map(Self)
    }

    /// Without floors: above, below, or near the values for a sign of 1, -1, or 0.
    fn to_polynomial(&self, python: Python<'_>, sign: i32) -> PyResult<Self> {
        run(python, |budget| self.0.to_polynomial(polynomial_side(sign), budget)).map(Self)
    }

    fn coalesce(&self, python: Python<'_>) -> PyResult<Self> {
        run(python, |budget| self.0.coalesce(budget)).map(Self)
    }

    fn is_equal(&self, python: Python<'_>, other: &Self) -> PyResult<bool> {
        run(python, |budget| self.0.is_equal(&other.0, budget))
    }

    /// The value at a point, parameters first: numerator and denominator, which is 0 of what is
    /// no number: 1/0 is infinity, -1/0 its opposite, 0/0 NaN.
    fn evaluate(&self, point: Vec<Number>) -> PyResult<(Number, Number)> {
        let point: Vec<Integer> = point.into_iter().map(|number| number.0).collect();
        let value = match self.0.value_at(&point).map_err(failed)? {
            Value::Number(value) => value,
            Value::Infinity => return Ok((Number(1.into()), Number(0.into()))),
            Value::NegativeInfinity => return Ok((Number((-1).into()), Number(0.into()))),
            Value::NaN => return Ok((Number(0.into()), Number(0.into()))),
        };
        Ok((Number(value.numer().clone()), Number(value.denom().clone())))
    }

    /// Sums over all points of the domain; of pairs, over the second points.
    fn sum(&self, python: Python<'_>) -> PyResult<Self> {
        run(python, |budget| self.0.sum_second(budget)).map(Self)
    }

    /// Sums over what each input of a relation leads to.
    fn apply(&self, python: Python<'_>, map: &PyUnion) -> PyResult<Self> {
        run(python, |budget| self.0.apply(map.0.single()?, budget)).map(Self)
    }

    fn scale(&self, numerator: Number, denominator: Number) -> PyResult<Self> {
        Ok(Self(self.0.scale(&number(numerator, denominator)?)))
    }

    /// The function that is a number on the points of a set.
    #[staticmethod]
    fn constant(
        python: Python<'_>,
        set: &PyUnion,
        numerator: Number,
        denominator: Number,
    ) -> PyResult<Self> {
        let value = number(numerator, denominator)?;
        run(python, |budget| PwQPolynomial::constant(set.0.single()?, &value, budget)).map(Self)
    }

    fn intersect_domain(&self, python: Python<'_>, set: &PyUnion) -> PyResult<Self> {
        run(python, |budget| self.0.intersect_domain(set.0.single()?, budget)).map(Self)
    }

    fn gist(&self, python: Python<'_>, set: &PyUnion) -> PyResult<Self> {
        run(python, |budget| self.0.gist(set.0.single()?, budget)).map(Self)
    }

    /// Where a piece holds.
    fn support(&self) -> PyResult<PyUnion> {
        Ok(PyUnion(self.0.support().map_err(failed)?.into()))
    }

    /// Whether the value is 0 everywhere.
    fn is_zero(&self, python: Python<'_>) -> PyResult<bool> {
        run(python, |budget| self.0.is_zero(budget))
    }

    fn bound(&self, python: Python<'_>, upper: bool) -> PyResult<Bound> {
        run(python, |budget| self.0.bound_second(side(upper), budget)).map(Bound)
    }

    fn add(&self, python: Python<'_>, other: &Self) -> PyResult<Self> {
        run(python, |budget| self.0.add(&other.0, budget)).map(Self)
    }

    fn sub(&self, python: Python<'_>, other: &Self) -> PyResult<Self> {
        run(python, |budget| self.0.sub(&other.0, budget)).map(Self)
    }

    fn mul(&self, python: Python<'_>, other: &Self) -> PyResult<Self> {
        run(python, |budget| self.0.mul(&other.0, budget)).map(Self)
    }
}

/// Which side a bound is on.
pub(super) fn side(upper: bool) -> Side {
    if upper { Side::Upper } else { Side::Lower }
}

/// Which side a polynomial is to be on for a sign; none for 0.
pub(super) fn polynomial_side(sign: i32) -> Option<Side> {
    match sign {
        0 => None,
        1.. => Some(Side::Upper),
        _ => Some(Side::Lower),
    }
}

/// A bound of a piecewise quasi-polynomial over its domain.
#[pyclass(frozen, module = "tangram._native")]
pub(crate) struct Bound(pub(super) PwQPolynomialFold);

#[pymethods]
impl Bound {
    #[new]
    fn new(python: Python<'_>, text: &str) -> PyResult<Self> {
        run(python, |budget| PwQPolynomialFold::parse(text, budget)).map(Self)
    }

    /// The bound that is reached: the values of a function where it has pieces.
    #[staticmethod]
    fn of(function: &Count, upper: bool) -> Self {
        Self(PwQPolynomialFold::of(&function.0, side(upper)))
    }

    fn domain(&self) -> Option<Shape> {
        self.0.domain().cloned().map(Shape)
    }

    /// The parameters and the tuple of arguments, as the space of a set.
    fn space(&self) -> Form {
        form(&self.0.space())
    }

    /// The pieces: where each holds, and the values there as functions on all points.
    fn parts(&self, python: Python<'_>) -> PyResult<Vec<(PyUnion, Vec<Count>)>> {
        run(python, |budget| {
            let all = Relation::universe(self.0.space());
            let on = |value| PwQPolynomial::on(&all, &value, budget).map(Count);
            let part = |(set, values): (Relation, Vec<_>)| {
                Ok((PyUnion(set.into()), values.into_iter().map(on).collect::<Result<_, _>>()?))
            };
            self.0.parts()?.into_iter().map(part).collect()
        })
    }

    fn intersect_domain(&self, python: Python<'_>, set: &PyUnion) -> PyResult<Self> {
        run(python, |budget| self.0.intersect_domain(set.0.single()?, budget)).map(Self)
    }

    fn gist(&self, python: Python<'_>, set: &PyUnion) -> PyResult<Self> {
        run(python, |budget| self.0.gist(set.0.single()?, budget)).map(Self)
    }

    /// Bounds over all points; of pairs, over the second points.
    fn bound(&self, python: Python<'_>) -> PyResult<Self> {
        run(python, |budget| self.0.bound(budget)).map(Self)
    }

    /// Bounds over what each input of a relation leads to.
    fn apply(&self, python: Python<'_>, map: &PyUnion) -> PyResult<Self> {
        run(python, |budget| self.0.apply(map.0.single()?, budget)).map(Self)
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn params(&self) -> Vec<String> {
        self.0.params().to_vec()
    }

    fn is_upper(&self) -> bool {
        self.0.side() == Side::Upper
    }

    /// The bound for values of the parameters: numerator and denominator.
    fn evaluate(&self, point: Vec<Number>) -> Option<(Number, Number)> {
        let point: Vec<Integer> = point.into_iter().map(|number| number.0).collect();
        let value = self.0.evaluate(&point)?;
        Some((Number(value.numer().clone()), Number(value.denom().clone())))
    }

    fn fold(&self, python: Python<'_>, other: &Self) -> PyResult<Self> {
        run(python, |budget| self.0.fold(&other.0, budget)).map(Self)
    }

    fn add(&self, python: Python<'_>, function: &Count) -> PyResult<Self> {
        run(python, |budget| self.0.add(&function.0, budget)).map(Self)
    }

    fn scale(&self, numerator: Number, denominator: Number) -> PyResult<Self> {
        Ok(Self(self.0.scale(&number(numerator, denominator)?)))
    }

    fn support(&self) -> PyResult<PyUnion> {
        Ok(PyUnion(self.0.support().map_err(failed)?.into()))
    }
}
