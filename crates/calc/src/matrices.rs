//! Sets as matrices of constraints, as PolyLib and barvinok's tests write them.
//!
//! ```text
//! 2 4
//! 1  1  0  0    # i >= 0
//! 0  1 -2  5    # i - 2j + 5 = 0
//! ```
//!
//! The numbers of rows and columns stand in front; a row is 0 for an equation and 1 for an
//! inequality, the coefficients of the dimensions, and the constant. A number alone in its line
//! says how many matrices follow, whose union is meant.

use tangram_presburger::count::Integer;
use tangram_presburger::{Conjunction, Error, Relation, Space, Tuple, Union};

use crate::error::Fault;

/// A matrix of constraints, row by row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Matrix {
    columns: usize,
    rows: Vec<Vec<Integer>>,
}

/// Reads matrices if two numbers start here, one behind the other; returns their length, too.
pub(crate) fn read(text: &str, place: usize) -> Result<Option<(Vec<Matrix>, usize)>, Fault> {
    let mut numbers = Numbers { text, at: 0, place };
    let Some(first) = numbers.unsigned() else { return Ok(None) };
    let start = numbers.at;
    let lines = numbers.skip();
    if !text[numbers.at..].starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(None);
    }
    let mut all = Vec::new();
    if lines {
        for _ in 0..size(&first).ok_or_else(|| numbers.fault("a number of matrices"))? {
            numbers.skip();
            let rows = numbers.unsigned();
            all.push(numbers.matrix(rows)?);
        }
    } else {
        numbers.at = start;
        all.push(numbers.matrix(Some(first))?);
    }
    Ok(Some((all, numbers.at)))
}

/// Makes the union of what matrices describe.
pub(crate) fn union(matrices: &[Matrix]) -> Result<Union, Error> {
    let relations = matrices.iter().map(|matrix| {
        let mut part = Conjunction::default();
        for row in &matrix.rows {
            // The constant comes last here, and first there.
            let mut values = row[1..].to_vec();
            values.rotate_right(1);
            let equation = row[0].is_zero();
            let rows = if equation { &mut part.equalities } else { &mut part.inequalities };
            rows.push(values);
        }
        let space = Space::set(Vec::new(), Tuple::anonymous(matrix.columns - 2));
        Relation::from_conjunctions(space, &[part])
    });
    let mut union = Union::empty();
    for relation in relations {
        union = union.union(&relation?.into())?;
    }
    Ok(union)
}

struct Numbers<'a> {
    text: &'a str,
    at: usize,
    place: usize,
}

impl Numbers<'_> {
    /// Skips spaces and remarks; says whether a line ends among them.
    fn skip(&mut self) -> bool {
        let start = self.at;
        loop {
            let rest = &self.text[self.at..];
            let blank = rest.len() - rest.trim_start().len();
            if blank > 0 {
                self.at += blank;
            } else if rest.starts_with('#') {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else {
                return self.text[start..self.at].contains('\n');
            }
        }
    }

    fn unsigned(&mut self) -> Option<Integer> {
        let rest = &self.text[self.at..];
        let length = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let value = crate::reader::digits(&rest[..length])?;
        self.at += length;
        Some(value)
    }

    fn signed(&mut self) -> Option<Integer> {
        let negative = self.text[self.at..].starts_with('-');
        self.at += usize::from(negative);
        let value = self.unsigned()?;
        Some(if negative { value.neg() } else { value })
    }

    /// Reads the number of columns and the rows.
    fn matrix(&mut self, rows: Option<Integer>) -> Result<Matrix, Fault> {
        let rows = rows.as_ref().and_then(size);
        let rows = rows.ok_or_else(|| self.fault("the number of rows of a matrix"))?;
        self.skip();
        let expected = "the number of columns of a matrix, at least 2";
        let columns = self.number(expected, false, |columns| size(columns) >= Some(2))?;
        let columns = size(&columns).unwrap_or(2);
        let mut matrix = Matrix { columns, rows: Vec::new() };
        for row in 1..=rows {
            let flag = |value: &Integer| value.is_zero() || *value == Integer::ONE;
            let expected = format!("0 or 1 in row {row} of the matrix");
            let mut values = vec![self.number(&expected, false, flag)?];
            let expected = format!("a number in row {row} of the matrix");
            for _ in 1..columns {
                values.push(self.number(&expected, true, |_| true)?);
            }
            matrix.rows.push(values);
        }
        Ok(matrix)
    }

    /// Reads a number that `fits`; what does not is an error at its place.
    fn number(
        &mut self,
        expected: &str,
        signed: bool,
        fits: impl Fn(&Integer) -> bool,
    ) -> Result<Integer, Fault> {
        self.skip();
        let start = self.at;
        let value = if signed { self.signed() } else { self.unsigned() };
        value.filter(fits).ok_or_else(|| {
            self.at = start;
            self.fault(expected)
        })
    }

    fn fault(&self, expected: &str) -> Fault {
        let found: String = self.text[self.at..].chars().take(8).collect();
        let found = found.split_whitespace().next().unwrap_or("the end").to_owned();
        let message = format!("expected {expected}, found `{found}`");
        let at = self.place + self.at;
        if self.at == self.text.len() { Fault::open(at, &message) } else { Fault::new(at, message) }
    }
}

fn size(value: &Integer) -> Option<usize> {
    value.to_i64().and_then(|value| usize::try_from(value).ok()).filter(|size| *size < 1 << 20)
}
