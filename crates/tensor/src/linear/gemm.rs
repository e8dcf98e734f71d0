//! Product of two matrices with factors and a summand: ONNX `Gemm`.

use crate::element::Number;
use crate::elementwise::{add, cast};
use crate::error::Result;
use crate::linear::matmul::scalars;
use crate::linear::product::{Matrix, Scalar};
use crate::refuse;
use crate::shape::broadcast_to;
use crate::tensor::{Tensor, checked_count};
use crate::wide::{one_dtype, widen};

/// The factors of [`gemm`], and which operands are transposed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GemmParams {
    /// Factor of the product.
    pub alpha: f64,
    /// Factor of the third operand.
    pub beta: f64,
    /// Whether `a` is given as k by m.
    pub trans_a: bool,
    /// Whether `b` is given as n by k.
    pub trans_b: bool,
}

impl Default for GemmParams {
    fn default() -> Self {
        GemmParams { alpha: 1.0, beta: 1.0, trans_a: false, trans_b: false }
    }
}

/// Computes `alpha * a * b + beta * c`, where `c` broadcasts to the result.
///
/// `a`: m by k; `b`: k by n (transposed first, if so asked); all of one type. Floats accumulate as
/// in [`matmul`](crate::linear::matmul), and `f16` and `bf16` round once, after the sum. Integers are exact modulo their
/// width if the factors are 1; other factors multiply in `f64` and truncate.
///
/// # Errors
/// As [`matmul`](crate::linear::matmul).
pub fn gemm(a: &Tensor, b: &Tensor, c: Option<&Tensor>, params: GemmParams) -> Result<Tensor> {
    let operands: Vec<&Tensor> = [a, b].into_iter().chain(c).collect();
    let dtype = one_dtype("gemm", &operands)?;
    let [rows, depth] = extents(a, params.trans_a)?;
    let [b_depth, columns] = extents(b, params.trans_b)?;
    if depth != b_depth {
        return Err(refuse::shape("gemm", format!("{depth} rows"), b));
    }
    let shape = [rows, columns];
    let len = checked_count(dtype, &shape)?;
    let (a, b) = (widen(a)?, widen(b)?);
    let product = scalars!("gemm", a.dtype(), T => {
        let (a_data, b_data) = (a.view::<T>()?, b.view::<T>()?);
        let matrix = |t: &Tensor| (t.shape()[0], t.shape()[1]);
        let ((a_rows, a_columns), (b_rows, b_columns)) = (matrix(&a), matrix(&b));
        let a = Matrix::new(&a_data, a_rows, a_columns).transposed_if(params.trans_a);
        let b = Matrix::new(&b_data, b_rows, b_columns).transposed_if(params.trans_b);
        let mut out = vec![T::default(); len];
        T::multiply_add(a, b, &mut out);
        scale(&mut out, params.alpha);
        Tensor::from_vec(shape, out)?
    });
    let Some(c) = c else { return cast(&product, dtype) };
    let c = scaled(&broadcast_to(&widen(c)?, &shape)?, params.beta)?;
    if c.shape() != shape {
        return Err(refuse::shape("gemm", format!("a shape that broadcasts to {shape:?}"), &c));
    }
    cast(&add(&product, &c)?, dtype)
}

fn extents(matrix: &Tensor, transposed: bool) -> Result<[usize; 2]> {
    match *matrix.shape() {
        [rows, columns] if transposed => Ok([columns, rows]),
        [rows, columns] => Ok([rows, columns]),
        _ => Err(refuse::shape("gemm", "a matrix", matrix)),
    }
}

fn scaled(tensor: &Tensor, factor: f64) -> Result<Tensor> {
    scalars!("gemm", tensor.dtype(), T => {
        let mut data = tensor.to_vec::<T>()?;
        scale(&mut data, factor);
        Tensor::from_vec(tensor.shape(), data)
    })
}

/// Multiplies in the type itself for floats, in `f64` for integers.
fn scale<T: Scalar>(data: &mut [T], factor: f64) {
    if factor == 1.0 {
        return;
    }
    let own = T::from_f64(factor);
    let floats = T::DTYPE.is_float();
    data.iter_mut().for_each(|x| {
        *x = if floats { x.times(own) } else { T::from_f64(Number::to_f64(*x) * factor) };
    });
}
