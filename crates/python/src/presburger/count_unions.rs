//! Quasi-polynomials of several tuples, and their bounds, for Python.

use pyo3::prelude::*;
use tangram::presburger::count::{Side, UnionPwQPolynomial, UnionPwQPolynomialFold};

use super::counts::{Bound, Count, polynomial_side, side};
use super::{PyUnion, failed, number, run, unknown};
use crate::integer::Number;

/// A piecewise quasi-polynomial for each of several tuples.
#[pyclass(frozen, module = "tangram._native")]
pub(crate) struct Counts(pub(super) UnionPwQPolynomial);

#[pymethods]
impl Counts {
    #[new]
    fn new(python: Python<'_>, text: &str) -> PyResult<Self> {
        run(python, |budget| UnionPwQPolynomial::parse(text, budget)).map(Self)
    }

    /// Adds up functions.
    #[staticmethod]
    fn of(python: Python<'_>, functions: Vec<PyRef<'_, Count>>) -> PyResult<Self> {
        let functions: Vec<_> = functions.iter().map(|function| function.0.clone()).collect();
        run(python, |budget| UnionPwQPolynomial::collect(functions.clone(), budget)).map(Self)
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn params(&self) -> Vec<String> {
        self.0.parameters()
    }

    /// One function for each tuple.
    fn functions(&self) -> Vec<Count> {
        self.0.functions().iter().cloned().map(Count).collect()
    }

    /// Applies an operation of two operands.
    fn binary(&self, python: Python<'_>, name: &str, other: &Self) -> PyResult<Self> {
        let (a, b) = (&self.0, &other.0);
        run(python, |budget| match name {
            "add" => a.add(b, budget),
            "sub" => a.sub(b, budget),
            "mul" => a.mul(b, budget),
            _ => unknown(name),
        })
        .map(Self)
    }

    /// Applies an operation with sets or relations.
    fn within(&self, python: Python<'_>, name: &str, union: &PyUnion) -> PyResult<Self> {
        let (functions, union) = (&self.0, &union.0);
        run(python, |budget| match name {
            "apply" => functions.apply(union, budget),
            "gist" => functions.gist(union, budget),
            "intersect_domain" => functions.intersect_domain(union, budget),
            _ => unknown(name),
        })
        .map(Self)
    }

    fn scale(&self, numerator: Number, denominator: Number) -> PyResult<Self> {
        Ok(Self(self.0.scale(&number(numerator, denominator)?)))
    }

    /// Sums over all points; of pairs, over the second points.
    fn sum(&self, python: Python<'_>) -> PyResult<Self> {
        run(python, |budget| self.0.sum(budget)).map(Self)
    }

    fn bound(&self, python: Python<'_>, upper: bool) -> PyResult<Bounds> {
        run(python, |budget| self.0.bound(side(upper), budget)).map(Bounds)
    }

    /// Without floors: above, below, or near the values for a sign of 1, -1, or 0.
    fn to_polynomial(&self, python: Python<'_>, sign: i32) -> PyResult<Self> {
        run(python, |budget| self.0.to_polynomial(polynomial_side(sign), budget)).map(Self)
    }

    fn coalesce(&self, python: Python<'_>) -> PyResult<Self> {
        run(python, |budget| self.0.coalesce(budget)).map(Self)
    }

    /// Where a piece holds.
    fn support(&self) -> PyResult<PyUnion> {
        self.0.support().map(PyUnion).map_err(failed)
    }

    fn is_equal(&self, python: Python<'_>, other: &Self) -> PyResult<bool> {
        run(python, |budget| self.0.is_equal(&other.0, budget))
    }
}

/// A bound for each of several tuples, all on the same side.
#[pyclass(frozen, module = "tangram._native")]
pub(crate) struct Bounds(UnionPwQPolynomialFold);

#[pymethods]
impl Bounds {
    #[new]
    fn new(python: Python<'_>, text: &str) -> PyResult<Self> {
        run(python, |budget| UnionPwQPolynomialFold::parse(text, budget)).map(Self)
    }

    #[staticmethod]
    fn of(bound: &Bound) -> Self {
        Self(bound.0.clone().into())
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn params(&self) -> Vec<String> {
        self.0.parameters()
    }

    fn is_upper(&self) -> bool {
        self.0.side() == Side::Upper
    }

    /// One bound for each tuple.
    fn bounds(&self) -> Vec<Bound> {
        self.0.bounds().iter().cloned().map(Bound).collect()
    }

    fn fold(&self, python: Python<'_>, other: &Self) -> PyResult<Self> {
        run(python, |budget| self.0.fold(&other.0, budget)).map(Self)
    }

    fn add(&self, python: Python<'_>, functions: &Counts) -> PyResult<Self> {
        run(python, |budget| self.0.add(&functions.0, budget)).map(Self)
    }

    fn scale(&self, numerator: Number, denominator: Number) -> PyResult<Self> {
        Ok(Self(self.0.scale(&number(numerator, denominator)?)))
    }

    /// Bounds over all points; of pairs, over the second points.
    fn bound(&self, python: Python<'_>) -> PyResult<Self> {
        run(python, |budget| self.0.bound(budget)).map(Self)
    }

    /// Applies an operation with sets or relations.
    fn within(&self, python: Python<'_>, name: &str, union: &PyUnion) -> PyResult<Self> {
        let (bounds, union) = (&self.0, &union.0);
        run(python, |budget| match name {
            "apply" => bounds.apply(union, budget),
            "gist" => bounds.gist(union, budget),
            "intersect_domain" => bounds.intersect_domain(union, budget),
            _ => unknown(name),
        })
        .map(Self)
    }

    /// Where there is a bound.
    fn support(&self) -> PyResult<PyUnion> {
        self.0.support().map(PyUnion).map_err(failed)
    }

    /// Whether both are the extreme of the same values everywhere.
    fn is_equal(&self, python: Python<'_>, other: &Self) -> PyResult<bool> {
        run(python, |budget| self.0.plain_is_equal(&other.0, budget))
    }
}
