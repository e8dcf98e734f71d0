//! Products of matrices, one or many: ONNX `MatMul`.

use crate::elementwise::cast;
use crate::error::Result;
use crate::layout::{Nest, Strides, broadcast, broadcast_strides};
use crate::linear::product::{Matrix, Scalar};
use crate::refuse;
use crate::tensor::{Shape, Tensor, checked_count};
use crate::wide::{one_dtype, widen};

/// Runs a block with `$t` bound to a type that matrices are multiplied in.
macro_rules! scalars {
    ($kernel:expr, $dtype:expr, $t:ident => $body:expr) => {
        $crate::dispatch!(@ $kernel, "a number of 8 to 64 bits", $dtype, $t => $body;
            I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, F32 f32, F64 f64)
    };
}
pub(crate) use scalars;

/// Multiplies matrices as numpy's `matmul` does.
///
/// `a`: any extents, then m by k. `b`: any extents, then k by n. The leading extents broadcast. An
/// operand of rank 1 is a row (`a`) or a column (`b`), and its extent of 1 is dropped from the
/// result. Both of one type.
///
/// `f32` and `f64` accumulate in their own type: each element differs from the exact one by at
/// most `k * u / (1 - k * u)` times the sum of the absolute values of its `k` terms, with `u` half
/// a unit of the last place of 1. `f16` and `bf16` compute in `f32` and round at the end. Integers
/// are exact modulo their width.
///
/// # Errors
/// [`BadShape`](crate::KernelError::BadShape), [`Broadcast`](crate::KernelError::Broadcast),
/// [`BadDType`](crate::KernelError::BadDType), [`MixedDTypes`](crate::KernelError::MixedDTypes),
/// [`TooLarge`](crate::KernelError::TooLarge).
pub fn matmul(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    let dtype = one_dtype("matmul", &[a, b])?;
    let plan = MatMulExtents::new("matmul", a, b)?;
    checked_count(dtype, &plan.shape())?;
    let (a, b) = (widen(a)?, widen(b)?);
    let out = scalars!("matmul", a.dtype(), T => {
        Tensor::from_vec(plan.shape(), plan.multiply(&a.view::<T>()?, &b.view::<T>()?)?)?
    });
    cast(&out, dtype)
}

/// Extents of a broadcast product of matrices, checked.
pub(crate) struct MatMulExtents {
    rows: usize,
    depth: usize,
    columns: usize,
    /// The leading extents, and how the operands are read along them, in matrices.
    batch: Shape,
    steps: [Strides; 2],
    /// Whether the result keeps its last but one and its last extent.
    keeps: [bool; 2],
}

impl MatMulExtents {
    pub(crate) fn new(name: &'static str, a: &Tensor, b: &Tensor) -> Result<MatMulExtents> {
        let (Some((depth, a_front)), Some((b_last, b_front))) =
            (a.shape().split_last(), b.shape().split_last())
        else {
            let scalar = if a.rank() == 0 { a } else { b };
            return Err(refuse::shape(name, "at least rank 1", scalar));
        };
        let (rows, a_batch) = a_front.split_last().map_or((1, &[][..]), |(&m, batch)| (m, batch));
        let (b_depth, b_batch, columns) = match b_front.split_last() {
            Some((&depth, batch)) => (depth, batch, *b_last),
            None => (*b_last, &[][..], 1),
        };
        if *depth != b_depth {
            return Err(refuse::shape(name, format!("{depth} rows"), b));
        }
        let batch = broadcast(name, a_batch, b_batch)?;
        let steps = [a_batch, b_batch].map(|own| broadcast_strides(own, &batch));
        let keeps = [a.rank() > 1, b.rank() > 1];
        Ok(MatMulExtents { rows, depth: *depth, columns, batch, steps, keeps })
    }

    /// The shape of the result.
    pub(crate) fn shape(&self) -> Shape {
        let mut shape = self.batch.clone();
        let last = [self.rows, self.columns].into_iter().zip(self.keeps);
        shape.extend(last.filter(|&(_, keeps)| keeps).map(|(size, _)| size));
        shape
    }

    /// Multiplies; the result has the shape [`MatMulExtents::shape`].
    pub(crate) fn multiply<T: Scalar>(&self, a: &[T], b: &[T]) -> Result<Vec<T>> {
        let len = checked_count(T::DTYPE, &self.shape())?;
        let mut out = vec![T::default(); len];
        if len == 0 || self.depth == 0 {
            return Ok(out);
        }
        let (a_size, b_size) = (self.rows * self.depth, self.depth * self.columns);
        let mut nest = Nest::new(&self.batch, [&self.steps[0], &self.steps[1]]);
        // Many matrices times one are one tall matrix times it.
        let tall = match nest.axes().last() {
            Some(&(size, [1, 0])) => {
                nest.take_inner();
                size
            }
            _ => 1,
        };
        let mut parts = out.chunks_exact_mut(tall * self.rows * self.columns);
        nest.walk([0, 0], |[i, j]| {
            let a = Matrix::new(&a[i as usize * a_size..], tall * self.rows, self.depth);
            let b = Matrix::new(&b[j as usize * b_size..], self.depth, self.columns);
            if let Some(out) = parts.next() {
                T::multiply_add(a, b, out);
            }
        });
        Ok(out)
    }
}
