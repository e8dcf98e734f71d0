//! Quasi-affine expressions by pieces.

use pyo3::prelude::*;
use tangram::presburger::{Aff, Conjunction, PwAff, Relation, Space, Tuple};

use super::{Fraction, PyPwMultiAff, checked, fraction};
use crate::integer::Number;
use crate::presburger::spaces::{Floor, Form, divisions, floors, form, integers, numbers, space};
use crate::presburger::{PyUnion, run, unknown};

/// A piecewise quasi-affine expression.
#[pyclass(frozen, name = "PwAff", module = "tangram._native")]
pub(crate) struct PyPwAff(pub(super) PwAff);

#[pymethods]
impl PyPwAff {
    #[new]
    fn new(python: Python<'_>, text: &str) -> PyResult<Self> {
        run(python, |budget| PwAff::parse(text, budget)).map(Self)
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

    /// Each part of the domain with its expression.
    fn pieces(&self) -> Vec<(PyUnion, Self)> {
        let piece = |(domain, value): (Relation, Aff)| (PyUnion(domain.into()), Self(value.into()));
        self.0.pieces().into_iter().map(piece).collect()
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
        run(python, |_| Aff::from_coefficients(&domain, &row, &divisor.0, &floors))
            .map(|aff| Self(aff.into()))
    }

    /// Coefficients, their divisor, and divisions of what is one expression everywhere.
    fn row(&self) -> Option<(Vec<Number>, Number, Vec<Floor>)> {
        let pieces = self.0.pieces();
        let [(domain, aff)] = pieces.as_slice() else { return None };
        let limits = |part: &Conjunction| part.equalities.len() + part.inequalities.len();
        if domain.conjunctions().iter().map(limits).sum::<usize>() > 0 {
            return None;
        }
        let (row, divisor, parts) = aff.coefficients();
        Some((numbers(row), Number(divisor), floors(parts)))
    }

    /// The least or greatest value of an output dimension.
    #[staticmethod]
    fn extremum(
        python: Python<'_>,
        union: &PyUnion,
        dim: usize,
        greatest: bool,
        partial: bool,
    ) -> PyResult<Self> {
        run(python, |budget| {
            let relation = union.0.single()?;
            match (greatest, partial) {
                (true, true) => relation.dim_max(dim, budget),
                (true, false) => relation.total_dim_max(dim, budget),
                (false, true) => relation.dim_min(dim, budget),
                (false, false) => relation.total_dim_min(dim, budget),
            }
        })
        .map(Self)
    }

    /// A number on all points of the space of the domain.
    fn number(&self, python: Python<'_>, numerator: Number, denominator: Number) -> PyResult<Self> {
        let (numerator, denominator) = checked(numerator, denominator)?;
        let space = self.0.space();
        let space = Space { output: Tuple::anonymous(1), ..space.clone() };
        run(python, |_| Aff::constant_in(space.clone(), numerator.clone(), denominator.clone()))
            .map(|value| Self(value.into()))
    }

    /// Applies an operation of one operand.
    fn unary(&self, python: Python<'_>, name: &str) -> PyResult<Self> {
        run(python, |budget| match name {
            "neg" => self.0.neg(),
            "floor" => self.0.floor(),
            "ceil" => self.0.ceil(),
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
            "mul" => a.mul(b, budget),
            "div" => a.div(b, budget),
            "min" => a.min(b, budget),
            "max" => a.max(b, budget),
            "union_add" => a.union_add(b, budget),
            "union_min" => a.union_min(b, budget),
            "union_max" => a.union_max(b, budget),
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

    /// The arguments for which a comparison holds, with 0 if there is no other function.
    #[pyo3(signature = (name, other = None))]
    fn region(&self, python: Python<'_>, name: &str, other: Option<&Self>) -> PyResult<PyUnion> {
        let a = &self.0;
        run(python, |budget| match (name, other.map(|other| &other.0)) {
            ("le", Some(b)) => a.le_set(b, budget),
            ("lt", Some(b)) => a.lt_set(b, budget),
            ("ge", Some(b)) => a.ge_set(b, budget),
            ("gt", Some(b)) => a.gt_set(b, budget),
            ("eq", Some(b)) => a.eq_set(b, budget),
            ("ne", Some(b)) => a.ne_set(b, budget),
            ("zero", None) => a.zero_set(budget),
            ("non_zero", None) => a.non_zero_set(budget),
            ("nonneg", None) => a.nonneg_set(budget),
            ("pos", None) => a.pos_set(budget),
            _ => unknown(name),
        })
        .map(|set| PyUnion(set.into()))
    }

    /// Chooses between two functions by whether this one is not 0.
    fn cond(&self, python: Python<'_>, yes: &Self, no: &Self) -> PyResult<Self> {
        run(python, |budget| self.0.cond(&yes.0, &no.0, budget)).map(Self)
    }

    fn scale(&self, python: Python<'_>, numerator: Number, denominator: Number) -> PyResult<Self> {
        let (numerator, denominator) = checked(numerator, denominator)?;
        run(python, |_| self.0.scale(numerator.clone(), denominator.clone())).map(Self)
    }

    fn modulo(&self, python: Python<'_>, modulus: Number) -> PyResult<Self> {
        run(python, |_| self.0.modulo(modulus.0.clone())).map(Self)
    }

    fn pullback(&self, python: Python<'_>, inner: &PyPwMultiAff) -> PyResult<Self> {
        run(python, |budget| self.0.pullback(&inner.0, budget)).map(Self)
    }

    fn is_equal(&self, python: Python<'_>, other: &Self) -> PyResult<bool> {
        run(python, |budget| self.0.is_equal(&other.0, budget))
    }

    /// The value at a point, parameters first; none outside of the domain.
    fn evaluate(&self, python: Python<'_>, point: Vec<Number>) -> PyResult<Option<Fraction>> {
        let point = integers(point);
        let value = run(python, |_| self.0.eval(&point))?;
        Ok(value.as_ref().map(fraction))
    }

    /// As a function to tuples of one dimension.
    fn to_tuple(&self) -> PyPwMultiAff {
        PyPwMultiAff(self.0.clone().into())
    }
}
