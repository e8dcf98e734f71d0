//! The product of two matrices: the loop under convolutions, matrix products and contractions.
//!
//! `f32` and `f64` accumulate in their own type, in blocks (`matrixmultiply`, through `ndarray`).
//! With `u` half a unit of the last place of 1, each element differs from the exact one by at
//! most `k * u / (1 - k * u)` times the sum of the absolute values of its `k` terms; where runtimes
//! differ from it, they do so within the same bound. Integers are exact modulo their width.

use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2, ShapeBuilder};

use crate::element::Number;

/// A matrix in a slice, by rows or by columns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matrix<'a, T> {
    data: &'a [T],
    rows: usize,
    columns: usize,
    /// Whether the elements of a column, not of a row, are neighbours.
    by_columns: bool,
}

impl<'a, T> Matrix<'a, T> {
    /// Sees the first `rows * columns` elements as a matrix, row by row.
    pub(crate) fn new(data: &'a [T], rows: usize, columns: usize) -> Self {
        Matrix { data: &data[..rows * columns], rows, columns, by_columns: false }
    }

    /// The transposed matrix, in the same place.
    pub(crate) fn transposed(self) -> Self {
        let Matrix { data, rows, columns, by_columns } = self;
        Matrix { data, rows: columns, columns: rows, by_columns: !by_columns }
    }

    /// Transposes if asked to.
    pub(crate) fn transposed_if(self, condition: bool) -> Self {
        if condition { self.transposed() } else { self }
    }

    /// Distances of neighbours in a column, and in a row.
    fn strides(&self) -> (usize, usize) {
        if self.by_columns { (1, self.rows.max(1)) } else { (self.columns.max(1), 1) }
    }
}

/// A type that matrices are multiplied in.
pub(crate) trait Scalar: Number<Wide = Self> {
    /// Adds the product of `a` and `b` to `out`, which is stored row by row.
    fn multiply_add(a: Matrix<'_, Self>, b: Matrix<'_, Self>, out: &mut [Self]);
}

macro_rules! real {
    ($($t:ty),*) => {$(
        impl Scalar for $t {
            fn multiply_add(a: Matrix<'_, $t>, b: Matrix<'_, $t>, out: &mut [$t]) {
                // `ndarray` takes no strides of an empty matrix.
                if out.is_empty() || a.columns == 0 {
                    return;
                }
                let views = (
                    ArrayView2::from_shape((a.rows, a.columns).strides(a.strides()), a.data),
                    ArrayView2::from_shape((b.rows, b.columns).strides(b.strides()), b.data),
                    ArrayViewMut2::from_shape((a.rows, b.columns), out),
                );
                let (Ok(left), Ok(right), Ok(mut out)) = views else {
                    unreachable!("the slices were cut to the extents of the matrices")
                };
                general_mat_mul(1.0, &left, &right, 1.0, &mut out);
            }
        }
    )*};
}

macro_rules! integer {
    ($($t:ty),*) => {$(
        impl Scalar for $t {
            fn multiply_add(a: Matrix<'_, $t>, b: Matrix<'_, $t>, out: &mut [$t]) {
                multiply_integers(a, b, out);
            }
        }
    )*};
}

real!(f32, f64);
integer!(i8, i16, i32, i64, u8, u16, u32, u64);

fn multiply_integers<T: Number>(a: Matrix<'_, T>, b: Matrix<'_, T>, out: &mut [T]) {
    let (down, across) = a.strides();
    let (b_down, b_across) = b.strides();
    for (i, out) in out.chunks_exact_mut(b.columns.max(1)).enumerate() {
        for k in 0..a.columns {
            let factor = a.data[i * down + k * across];
            if b_across == 1 {
                let row = &b.data[k * b_down..][..b.columns];
                out.iter_mut().zip(row).for_each(|(o, &x)| *o = o.plus(factor.times(x)));
            } else {
                let column = b.data[k * b_down..].iter().step_by(b_across);
                out.iter_mut().zip(column).for_each(|(o, &x)| *o = o.plus(factor.times(x)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_agree_over_layouts_and_types() {
        // [1 2 3; 4 5 6] * [1 0; 2 1; 0 3] = [5 11; 14 23].
        let (a, b) = ([1, 2, 3, 4, 5, 6], [1, 0, 2, 1, 0, 3]);
        let (a_t, b_t) = ([1, 4, 2, 5, 3, 6], [1, 2, 0, 0, 1, 3]);
        for (left, right) in [
            (Matrix::new(&a, 2, 3), Matrix::new(&b, 3, 2)),
            (Matrix::new(&a_t, 3, 2).transposed(), Matrix::new(&b_t, 2, 3).transposed()),
        ] {
            let mut out = [100, 0, 0, 0];
            i32::multiply_add(left, right, &mut out);
            assert_eq!(out, [105, 11, 14, 23]);
            let (left_data, right_data) = (left.data.map_f32(), right.data.map_f32());
            let mut out = [100f32, 0.0, 0.0, 0.0];
            let left = Matrix { data: &left_data, ..left.erased() };
            let right = Matrix { data: &right_data, ..right.erased() };
            f32::multiply_add(left, right, &mut out);
            assert_eq!(out, [105.0, 11.0, 14.0, 23.0]);
        }
    }

    trait MapF32 {
        fn map_f32(&self) -> Vec<f32>;
    }

    impl MapF32 for [i32] {
        fn map_f32(&self) -> Vec<f32> {
            self.iter().map(|&x| x as f32).collect()
        }
    }

    impl Matrix<'_, i32> {
        fn erased(self) -> Matrix<'static, f32> {
            Matrix {
                data: &[],
                rows: self.rows,
                columns: self.columns,
                by_columns: self.by_columns,
            }
        }
    }

    #[test]
    fn empty_products_are_zero() {
        let mut out = [7.0f64; 6];
        f64::multiply_add(Matrix::new(&[], 2, 0), Matrix::new(&[], 0, 3), &mut out);
        assert_eq!(out, [7.0; 6]);
        f64::multiply_add(Matrix::new(&[], 0, 2), Matrix::new(&[1.0; 4], 2, 2), &mut []);
        i8::multiply_add(Matrix::new(&[], 2, 0), Matrix::new(&[], 0, 0), &mut []);
    }
}
