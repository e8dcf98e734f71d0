//! Tuples of expressions that are defined on several tuples each.

use pyo3::prelude::*;
use tangram::presburger::MultiUnionPwAff;

use super::{PyPwMultiAff, PyUnionPwAff, PyUnionPwMultiAff};
use crate::presburger::spaces::Shape;
use crate::presburger::{PyUnion, run, unknown};

/// Tuples of expressions of points in different tuples.
#[pyclass(frozen, name = "MultiUnionPwAff", module = "tangram._native")]
pub(crate) struct PyMultiUnionPwAff(MultiUnionPwAff);

#[pymethods]
impl PyMultiUnionPwAff {
    #[new]
    fn new(python: Python<'_>, text: &str) -> PyResult<Self> {
        run(python, |budget| MultiUnionPwAff::parse(text, budget)).map(Self)
    }

    /// The tuple of functions, one for each dimension of the output.
    #[staticmethod]
    fn of(
        python: Python<'_>,
        output: Shape,
        members: Vec<PyRef<'_, PyUnionPwAff>>,
    ) -> PyResult<Self> {
        let members: Vec<_> = members.iter().map(|member| member.0.clone()).collect();
        run(python, |_| MultiUnionPwAff::of(output.0.clone(), members.clone())).map(Self)
    }

    #[staticmethod]
    fn of_functions(python: Python<'_>, functions: &PyUnionPwMultiAff) -> PyResult<Self> {
        run(python, |_| MultiUnionPwAff::from_union_pw_multi_aff(&functions.0)).map(Self)
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn params(&self) -> Vec<String> {
        self.0.parameters()
    }

    fn output(&self) -> Shape {
        Shape(self.0.output().clone())
    }

    fn members(&self) -> Vec<PyUnionPwAff> {
        self.0.members().iter().cloned().map(PyUnionPwAff).collect()
    }

    /// The arguments with values; none if these are all.
    fn domain(&self, python: Python<'_>) -> PyResult<Option<PyUnion>> {
        Ok(run(python, |budget| self.0.domain(budget))?.map(PyUnion))
    }

    /// Applies an operation of one operand.
    fn unary(&self, python: Python<'_>, name: &str) -> PyResult<Self> {
        run(python, |_| match name {
            "range_factor_domain" => self.0.range_factor_domain(),
            "range_factor_range" => self.0.range_factor_range(),
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
            "range_product" => a.range_product(b, budget),
            _ => unknown(name),
        })
        .map(Self)
    }

    /// Keeps what sets allow.
    fn within(&self, python: Python<'_>, name: &str, sets: &PyUnion) -> PyResult<Self> {
        let (function, sets) = (&self.0, &sets.0);
        run(python, |budget| match name {
            "intersect_domain" => function.intersect_domain(sets, budget),
            "intersect_params" => function.intersect_params(sets.single()?, budget),
            "intersect_range" => function.intersect_range(sets.single()?, budget),
            _ => unknown(name),
        })
        .map(Self)
    }

    fn apply(&self, python: Python<'_>, function: &PyPwMultiAff) -> PyResult<Self> {
        run(python, |budget| self.0.apply(&function.0, budget)).map(Self)
    }

    fn pullback(&self, python: Python<'_>, inner: &PyUnionPwMultiAff) -> PyResult<Self> {
        run(python, |budget| self.0.pullback(&inner.0, budget)).map(Self)
    }

    /// The functions of all tuples of arguments.
    fn functions(&self, python: Python<'_>) -> PyResult<PyUnionPwMultiAff> {
        run(python, |budget| self.0.to_union_pw_multi_aff(budget)).map(PyUnionPwMultiAff)
    }

    fn is_equal(&self, python: Python<'_>, other: &Self) -> PyResult<bool> {
        run(python, |budget| self.0.is_equal(&other.0, budget))
    }
}
