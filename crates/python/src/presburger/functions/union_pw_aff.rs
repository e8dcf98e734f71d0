//! Expressions of points in different tuples.

use pyo3::prelude::*;
use tangram::presburger::UnionPwAff;

use super::{PyPwAff, PyUnionPwMultiAff, checked};
use crate::integer::Number;
use crate::presburger::{PyUnion, run, unknown};

/// Quasi-affine expressions of points in different tuples.
#[pyclass(frozen, name = "UnionPwAff", module = "tangram._native")]
pub(crate) struct PyUnionPwAff(pub(super) UnionPwAff);

#[pymethods]
impl PyUnionPwAff {
    #[new]
    fn new(python: Python<'_>, text: &str) -> PyResult<Self> {
        run(python, |budget| UnionPwAff::parse(text, budget)).map(Self)
    }

    #[staticmethod]
    fn of(python: Python<'_>, functions: Vec<PyRef<'_, PyPwAff>>) -> PyResult<Self> {
        let functions: Vec<_> = functions.iter().map(|function| function.0.clone()).collect();
        run(python, |_| UnionPwAff::collect(functions.clone())).map(Self)
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn params(&self) -> Vec<String> {
        self.0.parameters()
    }

    fn domain(&self, python: Python<'_>) -> PyResult<PyUnion> {
        run(python, |_| self.0.domain()).map(PyUnion)
    }

    /// One function for each tuple.
    fn functions(&self) -> Vec<PyPwAff> {
        self.0.functions().map(PyPwAff).collect()
    }

    /// Applies an operation of one operand.
    fn unary(&self, python: Python<'_>, name: &str) -> PyResult<Self> {
        run(python, |_| match name {
            "neg" => self.0.neg(),
            "floor" => self.0.floor(),
            _ => unknown(name),
        })
        .map(Self)
    }

    /// Applies an operation of two operands.
    fn binary(&self, python: Python<'_>, name: &str, other: &Self) -> PyResult<Self> {
        let (a, b) = (&self.0, &other.0);
        run(python, |budget| match name {
            "add" => a.add(b, budget),
            "sub" => a.sub(b, budget),
            "union_add" => a.union_add(b, budget),
            _ => unknown(name),
        })
        .map(Self)
    }

    fn scale(&self, python: Python<'_>, numerator: Number, divisor: Number) -> PyResult<Self> {
        let (num, den) = checked(numerator, divisor)?;
        run(python, |_| self.0.scale(num.clone(), den.clone())).map(Self)
    }

    fn intersect_domain(&self, python: Python<'_>, sets: &PyUnion) -> PyResult<Self> {
        run(python, |budget| self.0.intersect_domain(&sets.0, budget)).map(Self)
    }

    fn pullback(&self, python: Python<'_>, inner: &PyUnionPwMultiAff) -> PyResult<Self> {
        run(python, |budget| self.0.pullback(&inner.0, budget)).map(Self)
    }

    fn is_equal(&self, python: Python<'_>, other: &Self) -> PyResult<bool> {
        run(python, |budget| self.0.is_equal(&other.0, budget))
    }

    /// Relates arguments to values that are integers.
    fn graph(&self, python: Python<'_>) -> PyResult<PyUnion> {
        run(python, |_| self.0.to_union()).map(PyUnion)
    }
}
