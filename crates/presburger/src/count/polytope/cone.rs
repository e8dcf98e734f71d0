//! Polyhedral cones over integers of any size, and their rows.
//!
//! A polyhedron is seen as the cone over it: the last coordinate is the factor of
//! homogenisation, and `last >= 0` is one of the constraints that the caller gives.
//! Each ray knows which constraints it satisfies with equality.

use crate::matrix::gcd;
use crate::solve::generators::Generators;
pub(crate) use crate::solve::generators::{Bits, Ray as RayOf};
use crate::solve::number::{Number, widening};
use crate::solve::redundancy::narrowed;
use crate::{Budget, Error, Integer};

pub(crate) type Row = Vec<Integer>;

#[derive(Debug, Clone)]
pub(crate) struct Ray {
    pub row: Row,
    /// The constraints that hold with equality.
    pub tight: Bits,
}

/// The generators of a cone.
#[derive(Debug, Clone)]
pub(crate) struct Cone {
    pub lines: Vec<Row>,
    pub rays: Vec<Ray>,
}

impl Cone {
    /// Finds the generators of `{ x : row . x >= 0 for each row }` in `cols` dimensions.
    pub fn new<'a>(
        cols: usize,
        rows: impl Iterator<Item = &'a [Integer]>,
        budget: &Budget,
    ) -> Result<Self, Error> {
        let rows: Vec<&[Integer]> = rows.collect();
        widening!(T => generated::<T>(cols, &rows, budget))
    }
}

fn generated<T: Number>(cols: usize, rows: &[&[Integer]], budget: &Budget) -> Result<Cone, Error> {
    let mut cone = Generators::<T>::new(cols);
    for row in rows {
        cone.add(&narrowed::<T>(row)?, false, budget)?;
    }
    let wide = |row: &[T]| row.iter().map(Number::integer).collect();
    Ok(Cone {
        lines: cone.lines.iter().map(|line| wide(line)).collect(),
        rays: cone
            .rays
            .into_iter()
            .map(|RayOf { coordinates, on }| Ray { row: wide(&coordinates), tight: on })
            .collect(),
    })
}

pub(crate) fn dot(a: &[Integer], b: &[Integer]) -> Integer {
    let mut sum = Integer::ZERO;
    for (x, y) in a.iter().zip(b) {
        if !x.is_zero() && !y.is_zero() {
            sum = sum.add_mul(x, y);
        }
    }
    sum
}

/// Returns `a * x - b * y`.
pub(crate) fn crossed(a: &Integer, x: &[Integer], b: &Integer, y: &[Integer]) -> Row {
    x.iter().zip(y).map(|(x, y)| Integer::cross(a, x, b, y)).collect()
}

/// Divides by the greatest common divisor of the entries.
pub(crate) fn reduced(mut row: Row) -> Row {
    let g = gcd(&row);
    if g > Integer::ONE {
        row.iter_mut().for_each(|v| *v = v.div_exact(&g));
    }
    row
}
