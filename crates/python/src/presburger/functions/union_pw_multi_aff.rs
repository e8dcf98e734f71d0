//! Functions between different tuples.

use pyo3::prelude::*;
use tangram::presburger::UnionPwMultiAff;

use super::PyPwMultiAff;
use crate::presburger::unknown;
use crate::presburger::{PyUnion, run};

/// Functions between different tuples.
#[pyclass(frozen, name = "UnionPwMultiAff", module = "tangram._native")]
pub(crate) struct PyUnionPwMultiAff(pub(super) UnionPwMultiAff);

#[pymethods]
impl PyUnionPwMultiAff {
    #[new]
    fn new(python: Python<'_>, text: &str) -> PyResult<Self> {
        run(python, |budget| UnionPwMultiAff::parse(text, budget)).map(Self)
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

    /// One function for each pair of tuples.
    fn functions(&self) -> Vec<PyPwMultiAff> {
        self.0.functions().cloned().map(PyPwMultiAff).collect()
    }

    #[staticmethod]
    fn of_map(python: Python<'_>, union: &PyUnion) -> PyResult<Self> {
        run(python, |budget| UnionPwMultiAff::from_union(&union.0, budget)).map(Self)
    }

    fn coalesce(&self, python: Python<'_>) -> PyResult<Self> {
        run(python, |budget| self.0.coalesce(budget)).map(Self)
    }

    /// Applies an operation of two operands.
    fn binary(&self, python: Python<'_>, name: &str, other: &Self) -> PyResult<Self> {
        let (a, b) = (&self.0, &other.0);
        run(python, |budget| match name {
            "add" => a.add(b, budget),
            "sub" => a.sub(b, budget),
            "union_add" => a.union_add(b, budget),
            "pullback" => a.pullback(b, budget),
            _ => unknown(name),
        })
        .map(Self)
    }

    fn intersect_domain(&self, python: Python<'_>, sets: &PyUnion) -> PyResult<Self> {
        run(python, |budget| self.0.intersect_domain(&sets.0, budget)).map(Self)
    }

    fn is_equal(&self, python: Python<'_>, other: &Self) -> PyResult<bool> {
        run(python, |budget| self.0.is_equal(&other.0, budget))
    }

    /// Relates arguments to values.
    fn graph(&self, python: Python<'_>) -> PyResult<PyUnion> {
        run(python, |_| self.0.to_union()).map(PyUnion)
    }
}
