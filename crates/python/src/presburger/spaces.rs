//! Spaces and rows of constraints as Python's lists and tuples.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use tangram::presburger::{Conjunction, Division, Integer, Space, Tuple};

use crate::integer::Number;

/// A tuple of dimensions: its name, theirs, and the two sides if it is a pair.
pub(crate) struct Shape(pub Tuple);
/// Parameters, the input if there is one, the output.
pub(crate) type Form = (Vec<String>, Option<Shape>, Shape);
/// Numerator, constant first, and denominator of a division.
pub(crate) type Floor = (Vec<Number>, Number);
/// Equalities, inequalities and divisions of one conjunction.
pub(crate) type Rows = (Vec<Vec<Number>>, Vec<Vec<Number>>, Vec<Floor>);

impl<'py> IntoPyObject<'py> for Shape {
    type Target = PyTuple;
    type Output = Bound<'py, PyTuple>;
    type Error = PyErr;

    fn into_pyobject(self, python: Python<'py>) -> PyResult<Self::Output> {
        let sides = self.0.sides().map(|(left, right)| (Self(left), Self(right)));
        (self.0.name, self.0.dims, sides).into_pyobject(python)
    }
}

impl<'py> FromPyObject<'_, 'py> for Shape {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let (name, dims, sides): (String, Vec<String>, Option<(Self, Self)>) = object.extract()?;
        let Some((left, right)) = sides else { return Ok(Self(Tuple::new(name, dims))) };
        Ok(Self(Tuple { name, ..Tuple::wrapping(left.0, right.0) }))
    }
}

pub(super) fn form(space: &Space) -> Form {
    let Space { params, input, output } = space.clone();
    (params, input.map(Shape), Shape(output))
}

pub(super) fn space((params, input, output): Form) -> Space {
    Space { params, input: input.map(|shape| shape.0), output: output.0 }
}

pub(super) fn input(space: &Space) -> Tuple {
    space.input.clone().unwrap_or_default()
}

pub(super) fn integers(row: Vec<Number>) -> Vec<Integer> {
    row.into_iter().map(|number| number.0).collect()
}

pub(super) fn numbers(row: Vec<Integer>) -> Vec<Number> {
    row.into_iter().map(Number).collect()
}

pub(super) fn floors(divisions: Vec<Division>) -> Vec<Floor> {
    let floor = |division: Division| (numbers(division.numerator), Number(division.denominator));
    divisions.into_iter().map(floor).collect()
}

pub(super) fn divisions(floors: Vec<Floor>) -> Vec<Division> {
    let division = |(numerator, denominator): Floor| Division {
        numerator: integers(numerator),
        denominator: denominator.0,
    };
    floors.into_iter().map(division).collect()
}

pub(super) fn rows(part: Conjunction) -> Rows {
    let all = |rows: Vec<Vec<Integer>>| rows.into_iter().map(numbers).collect();
    (all(part.equalities), all(part.inequalities), floors(part.divisions))
}

pub(super) fn conjunction((equalities, inequalities, floors): Rows) -> Conjunction {
    let all = |rows: Vec<Vec<Number>>| rows.into_iter().map(integers).collect();
    Conjunction {
        divisions: divisions(floors),
        equalities: all(equalities),
        inequalities: all(inequalities),
    }
}
