//! Determinants: ONNX `Det`.

use crate::dtype::DType;
use crate::error::Result;
use crate::refuse;
use crate::tensor::{Tensor, checked_count};
use crate::wide::{floats, from_f64s};

/// Computes the determinants of square matrices.
///
/// `x`: any extents, then n by n, floats. The result has the leading extents. By elimination with
/// row pivoting in `f64`.
///
/// # Errors
/// [`BadShape`](crate::KernelError::BadShape), [`BadDType`](crate::KernelError::BadDType).
pub fn det(x: &Tensor) -> Result<Tensor> {
    let (front, n) = match x.shape() {
        [front @ .., n, m] if n == m => (front, *n),
        _ => return Err(refuse::shape("det", "square matrices", x)),
    };
    let mut data = floats("det", x)?;
    let len = checked_count(DType::F64, front)?;
    let mut out = vec![1.0; len];
    if n > 0 {
        let matrices = data.chunks_exact_mut(n * n);
        out.iter_mut().zip(matrices).for_each(|(det, matrix)| *det = eliminate(matrix, n));
    }
    from_f64s(x.dtype(), front, out)
}

fn eliminate(matrix: &mut [f64], n: usize) -> f64 {
    let mut det = 1.0;
    for column in 0..n {
        let size = |row: &usize| matrix[row * n + column].abs();
        let pivot = (column..n).reduce(|a, b| if size(&b) > size(&a) { b } else { a });
        let pivot = pivot.unwrap_or(column);
        if pivot != column {
            (0..n).for_each(|k| matrix.swap(pivot * n + k, column * n + k));
            det = -det;
        }
        let head = matrix[column * n + column];
        det *= head;
        if head == 0.0 {
            return det;
        }
        for row in column + 1..n {
            let factor = matrix[row * n + column] / head;
            (column..n).for_each(|k| matrix[row * n + k] -= factor * matrix[column * n + k]);
        }
    }
    det
}
