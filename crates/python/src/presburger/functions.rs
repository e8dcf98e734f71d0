//! Quasi-affine functions for Python: of one value, of tuples, and of several spaces.

use pyo3::prelude::*;
use tangram::presburger::{
    Aff, Integer, MultiPwAff, PwAff, PwMultiAff, Rational, Relation, Space, Tuple, UnionPwMultiAff,
};

use super::{Names, PyUnion, input, names, number, run, unknown};
use crate::integer::Number;

/// Numerator and denominator.
type Fraction = (Number, Number);

fn fraction(value: &Rational) -> Fraction {
    (Number(value.numer().clone()), Number(value.denom().clone()))
}

fn integers(point: Vec<Number>) -> Vec<Integer> {
    point.into_iter().map(|number| number.0).collect()
}

fn tuples(space: &Space) -> (Option<Names>, Names) {
    (space.input.as_ref().map(names), names(&space.output))
}

/// The number as it may stand in an expression.
fn checked(numerator: Number, denominator: Number) -> PyResult<(Integer, Integer)> {
    let value = number(numerator, denominator)?;
    Ok((value.numer().clone(), value.denom().clone()))
}

/// A piecewise quasi-affine expression.
#[pyclass(frozen, name = "PwAff", module = "tangram._native")]
pub(crate) struct PyPwAff(PwAff);

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

    fn space(&self) -> (Option<Names>, Names) {
        tuples(self.0.space())
    }

    fn domain(&self) -> PyUnion {
        PyUnion(self.0.domain().into())
    }

    /// Each part of the domain with its expression.
    fn pieces(&self) -> Vec<(PyUnion, Self)> {
        let piece = |(domain, value): (Relation, Aff)| (PyUnion(domain.into()), Self(value.into()));
        self.0.pieces().into_iter().map(piece).collect()
    }

    /// The least or greatest value of an output dimension.
    #[staticmethod]
    fn extremum(python: Python<'_>, union: &PyUnion, dim: usize, greatest: bool) -> PyResult<Self> {
        run(python, |budget| {
            let relation = union.0.single()?;
            if greatest { relation.dim_max(dim, budget) } else { relation.dim_min(dim, budget) }
        })
        .map(Self)
    }

    /// A number on all points of the space of the domain.
    fn number(&self, python: Python<'_>, numerator: Number, denominator: Number) -> PyResult<Self> {
        let (numerator, denominator) = checked(numerator, denominator)?;
        let space = self.0.space();
        if space.input == Some(Tuple::default()) {
            // The space of a set of this point is that of the parameters alone.
            let text = format!("{{ [] -> [(({numerator})/{denominator})] }}");
            return Self::new(python, &text);
        }
        let domain = Space::set(space.params.clone(), input(space));
        run(python, |_| Aff::constant(&domain, numerator, denominator))
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
        run(python, |_| self.0.scale(numerator, denominator)).map(Self)
    }

    fn modulo(&self, python: Python<'_>, modulus: Number) -> PyResult<Self> {
        run(python, |_| self.0.modulo(modulus.0)).map(Self)
    }

    fn pullback(&self, python: Python<'_>, inner: &PyPwMultiAff) -> PyResult<Self> {
        run(python, |budget| self.0.pullback(&inner.0, budget)).map(Self)
    }

    fn is_equal(&self, python: Python<'_>, other: &Self) -> PyResult<bool> {
        run(python, |budget| self.0.is_equal(&other.0, budget))
    }

    /// The value at a point, parameters first; none outside of the domain.
    fn evaluate(&self, python: Python<'_>, point: Vec<Number>) -> PyResult<Option<Fraction>> {
        let value = run(python, |_| self.0.eval(&integers(point)))?;
        Ok(value.as_ref().map(fraction))
    }

    /// As a function to tuples of one dimension.
    fn to_tuple(&self) -> PyPwMultiAff {
        PyPwMultiAff(self.0.clone().into())
    }
}

/// A piecewise function to tuples.
#[pyclass(frozen, name = "PwMultiAff", module = "tangram._native")]
pub(crate) struct PyPwMultiAff(PwMultiAff);

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

    fn space(&self) -> (Option<Names>, Names) {
        tuples(self.0.space())
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
            "lexmin" => union.0.single()?.lexmin_pw_multi_aff(budget),
            "lexmax" => union.0.single()?.lexmax_pw_multi_aff(budget),
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
        run(python, |budget| MultiPwAff::of(output, &members)?.to_pw_multi_aff(budget)).map(Self)
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
        run(python, |_| self.0.scale(numerator, denominator)).map(Self)
    }

    fn is_equal(&self, python: Python<'_>, other: &Self) -> PyResult<bool> {
        run(python, |budget| self.0.is_equal(&other.0, budget))
    }

    /// The values at a point, parameters first; none outside of the domain.
    fn evaluate(&self, python: Python<'_>, point: Vec<Number>) -> PyResult<Option<Vec<Fraction>>> {
        let values = run(python, |_| self.0.eval(&integers(point)))?;
        Ok(values.map(|all| all.iter().map(fraction).collect()))
    }

    /// Relates arguments to values.
    fn graph(&self, python: Python<'_>) -> PyResult<PyUnion> {
        run(python, |_| self.0.to_relation()).map(|relation| PyUnion(relation.into()))
    }
}

/// Functions between different tuples.
#[pyclass(frozen, name = "UnionPwMultiAff", module = "tangram._native")]
pub(crate) struct PyUnionPwMultiAff(UnionPwMultiAff);

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
