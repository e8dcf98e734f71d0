//! Tuples of quasi-affine expressions by pieces.

use pyo3::prelude::*;
use tangram::presburger::{MultiPwAff, PwAff, PwMultiAff, Tuple};

use super::{Fraction, PyPwAff, checked, fraction};
use crate::integer::Number;
use crate::presburger::spaces::{Form, form, integers, space};
use crate::presburger::{PyUnion, run, unknown};

/// A piecewise function to tuples.
#[pyclass(frozen, name = "PwMultiAff", module = "tangram._native")]
pub(crate) struct PyPwMultiAff(pub(in crate::presburger) PwMultiAff);

#[pymethods]
impl PyPwMultiAff {
    #[new]
    fn new(python: Python<'_>, text: &str) -> PyResult<Self> {
        run(python, |budget| PwMultiAff::parse(text, budget)).map(Self)
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn params(&self) -> Vec<String> {
        self.0.space().params.clone()
    }

    fn space(&self) -> Form {
        form(self.0.space())
    }

    /// The same function of other arguments, coordinate `i` as coordinate `to[i]`.
    fn placed(&self, python: Python<'_>, of: Form, to: Vec<usize>) -> PyResult<Self> {
        let space = space(of);
        run(python, |_| self.0.placed(space.clone(), &to)).map(Self)
    }

    fn domain(&self) -> PyUnion {
        PyUnion(self.0.domain().into())
    }

    /// Each part of the domain with its expressions.
    fn pieces(&self) -> Vec<(PyUnion, Self)> {
        let pieces = self.0.pieces().into_iter();
        pieces.map(|(domain, value)| (PyUnion(domain.into()), Self(value.into()))).collect()
    }

    /// The only, least or greatest output of each input.
    #[staticmethod]
    fn of_map(python: Python<'_>, name: &str, union: &PyUnion) -> PyResult<Self> {
        run(python, |budget| match name {
            "only" => union.0.single()?.to_pw_multi_aff(budget),
            "lexmin" => union.0.single()?.total_lexmin_pw_multi_aff(budget),
            "lexmax" => union.0.single()?.total_lexmax_pw_multi_aff(budget),
            _ => unknown(name),
        })
        .map(Self)
    }

    /// The tuple of several functions of the same arguments.
    #[staticmethod]
    fn of_members(
        python: Python<'_>,
        name: &str,
        members: Vec<PyRef<'_, PyPwAff>>,
    ) -> PyResult<Self> {
        let members: Vec<PwAff> = members.iter().map(|member| member.0.clone()).collect();
        let dims = (0..members.len()).map(|index| format!("o{index}"));
        let output = Tuple::new(name, dims);
        run(python, |budget| MultiPwAff::of(output.clone(), &members)?.to_pw_multi_aff(budget))
            .map(Self)
    }

    /// The function of one output.
    fn member(&self, python: Python<'_>, output: usize) -> PyResult<PyPwAff> {
        run(python, |_| self.0.member(output)).map(PyPwAff)
    }

    /// Applies an operation of one operand.
    fn unary(&self, python: Python<'_>, name: &str) -> PyResult<Self> {
        run(python, |budget| match name {
            "neg" => self.0.neg(),
            "floor" => self.0.floor(),
            "coalesce" => self.0.coalesce(budget),
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
            "flat_range_product" => a.flat_range_product(b, budget),
            "pullback" => a.pullback(b, budget),
            _ => unknown(name),
        })
        .map(Self)
    }

    /// Applies an operation with a set of arguments.
    fn within(&self, python: Python<'_>, name: &str, set: &PyUnion) -> PyResult<Self> {
        run(python, |budget| match name {
            "intersect_domain" => self.0.intersect_domain(set.0.single()?, budget),
            "subtract_domain" => self.0.subtract_domain(set.0.single()?, budget),
            "gist" => self.0.gist(set.0.single()?, budget),
            _ => unknown(name),
        })
        .map(Self)
    }

    /// Puts the function in the place of points, inputs or outputs.
    fn preimage(&self, python: Python<'_>, name: &str, union: &PyUnion) -> PyResult<PyUnion> {
        run(python, |budget| {
            let relation = union.0.single()?;
            match name {
                "set" => relation.preimage(&self.0, budget),
                "domain" => relation.preimage_domain(&self.0, budget),
                "range" => relation.preimage_range(&self.0, budget),
                _ => unknown(name),
            }
        })
        .map(|relation| PyUnion(relation.into()))
    }

    fn scale(&self, python: Python<'_>, numerator: Number, denominator: Number) -> PyResult<Self> {
        let (numerator, denominator) = checked(numerator, denominator)?;
        run(python, |_| self.0.scale(numerator.clone(), denominator.clone())).map(Self)
    }

    fn is_equal(&self, python: Python<'_>, other: &Self) -> PyResult<bool> {
        run(python, |budget| self.0.is_equal(&other.0, budget))
    }

    /// The values at a point, parameters first; none outside of the domain.
    fn evaluate(&self, python: Python<'_>, point: Vec<Number>) -> PyResult<Option<Vec<Fraction>>> {
        let point = integers(point);
        let values = run(python, |_| self.0.eval(&point))?;
        Ok(values.map(|all| all.iter().map(fraction).collect()))
    }

    /// Relates arguments to values.
    fn graph(&self, python: Python<'_>) -> PyResult<PyUnion> {
        run(python, |_| self.0.to_relation()).map(|relation| PyUnion(relation.into()))
    }
}
