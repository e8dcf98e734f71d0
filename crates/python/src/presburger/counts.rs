//! Quasi-polynomials and their bounds for Python.

use pyo3::prelude::*;
use tangram::presburger::Integer;
use tangram::presburger::count::{PiecewiseBound, PiecewiseQuasiPolynomial, Side};

use super::spaces::Shape;
use super::{PyUnion, failed, number, run};
use crate::integer::Number;

/// A piecewise quasi-polynomial.
#[pyclass(frozen, module = "tangram._native")]
pub(crate) struct Count(pub(super) PiecewiseQuasiPolynomial);

#[pymethods]
impl Count {
    #[new]
    fn new(python: Python<'_>, text: &str) -> PyResult<Self> {
        run(python, |budget| PiecewiseQuasiPolynomial::parse(text, budget)).map(Self)
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

    /// The value at a point, parameters first: numerator and denominator.
    fn evaluate(&self, point: Vec<Number>) -> PyResult<(Number, Number)> {
        let point: Vec<Integer> = point.into_iter().map(|number| number.0).collect();
        let value = self.0.evaluate(&point).map_err(failed)?;
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
        run(python, |budget| PiecewiseQuasiPolynomial::constant(set.0.single()?, &value, budget))
            .map(Self)
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
    fn is_zero(&self) -> bool {
        self.0.pieces().is_empty()
    }

    fn bound(&self, python: Python<'_>, upper: bool) -> PyResult<Bound> {
        let side = if upper { Side::Upper } else { Side::Lower };
        run(python, |budget| self.0.bound(side, budget)).map(Bound)
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

/// A bound of a piecewise quasi-polynomial over its domain.
#[pyclass(frozen, module = "tangram._native")]
pub(crate) struct Bound(PiecewiseBound);

#[pymethods]
impl Bound {
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
