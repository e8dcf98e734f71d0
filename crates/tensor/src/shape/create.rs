//! Tensors from little or nothing: constants, ranges, shapes, triangles, one-hot.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::cells::{View, cells, from_cells, moving, with_cells};
use crate::dispatch;
use crate::dtype::DType;
use crate::element::Number;
use crate::elementwise::cast;
use crate::error::{KernelError, Result};
use crate::layout::{around, resolve_axis};
use crate::tensor::{Shape, Tensor, checked_count};

/// Makes the scalar whose bits are all 0: zero, false, or empty text.
pub fn zero(dtype: DType) -> Tensor {
    let made = match dtype.byte_len(1) {
        Some(bytes) => Tensor::from_bytes(dtype, [], vec![0; bytes]),
        None => Tensor::from_strings([], Arc::from([Vec::new()])),
    };
    made.expect("the bytes of one element were made to measure")
}

/// Makes a tensor of one value, which a tensor of one element gives.
///
/// # Errors
/// [`KernelError::BadShape`] if `value` has not one element; [`KernelError::TooLarge`].
pub fn full(value: &Tensor, shape: &[usize]) -> Result<Tensor> {
    if value.len() != 1 {
        return Err(KernelError::BadShape {
            kernel: "full",
            expected: "one element".to_owned(),
            found: value.shape().into(),
        });
    }
    let strides = SmallVec::from_elem(0, shape.len());
    View { offset: 0, shape: shape.into(), strides }.copy("full", value)
}

/// Returns the sizes from axis `start` to before axis `end`, as `i64`; both may count from the
/// back and are clamped. Without `end`, to the last.
pub fn shape_of(tensor: &Tensor, start: i64, end: Option<i64>) -> Tensor {
    let rank = tensor.rank() as i64;
    let clamp = |at: i64| if at < 0 { at.saturating_add(rank) } else { at }.clamp(0, rank) as usize;
    let (start, end) = (clamp(start), clamp(end.unwrap_or(rank)));
    let sizes = tensor.shape().get(start..end).unwrap_or_default();
    Tensor::vector(sizes.iter().map(|&size| size as i64).collect())
}

/// Returns the number of elements, as `i64`.
pub fn size_of(tensor: &Tensor) -> Tensor {
    Tensor::scalar(tensor.len() as i64)
}

/// Counts from `start` by `step` to before `limit`: ONNX `Range`. All are scalars of one type.
///
/// # Errors
/// [`KernelError::MixedDTypes`], [`KernelError::BadDType`]; [`KernelError::BadShape`] if one is
/// no scalar; [`KernelError::BadParameter`] for a step of 0.
pub fn arange(start: &Tensor, limit: &Tensor, step: &Tensor) -> Result<Tensor> {
    let dtype = start.dtype();
    for scalar in [start, limit, step] {
        if scalar.dtype() != dtype {
            let right = scalar.dtype();
            return Err(KernelError::MixedDTypes { kernel: "arange", left: dtype, right });
        }
        if scalar.len() != 1 {
            return Err(KernelError::BadShape {
                kernel: "arange",
                expected: "a scalar".to_owned(),
                found: scalar.shape().into(),
            });
        }
    }
    dispatch!(number, "arange", dtype, T => {
        let [start, limit, step] =
            [start.view::<T>()?[0], limit.view::<T>()?[0], step.view::<T>()?[0]];
        Ok(Tensor::vector(count_up(start, limit, step)?))
    })
}

fn count_up<T: Number>(start: T, limit: T, step: T) -> Result<Vec<T>> {
    let bad = |expected| KernelError::BadParameter {
        kernel: "arange",
        parameter: "start, limit, delta",
        expected,
        found: format!("{start:?}, {limit:?}, {step:?}"),
    };
    if step == T::default() {
        return Err(bad("a delta other than 0"));
    }
    let wide = |value: T| num_traits::cast::<T::Wide, i128>(value.widen());
    let steps = if T::DTYPE.is_int() {
        let (Some(a), Some(b), Some(s)) = (wide(start), wide(limit), wide(step)) else {
            return Err(bad("integers"));
        };
        let distance = if s > 0 { b - a } else { a - b };
        if distance <= 0 { 0.0 } else { ((distance - 1) / s.abs() + 1) as f64 }
    } else {
        ((limit.to_f64() - start.to_f64()) / step.to_f64()).ceil().max(0.0)
    };
    if steps.is_nan() {
        return Err(bad("numbers"));
    }
    let count = checked_count(T::DTYPE, &[steps as usize])?;
    // Integers stay exact by adding; floats by multiplying, which does not pile up roundings.
    let mut next = start;
    Ok((0..count)
        .map(|i| {
            if T::DTYPE.is_float() {
                return T::from_f64(start.to_f64() + i as f64 * step.to_f64());
            }
            let this = next;
            next = next.plus(step);
            this
        })
        .collect())
}

/// Makes a matrix with ones on diagonal `k` (above the main one if positive): ONNX `EyeLike`.
///
/// # Errors
/// [`KernelError::TooLarge`], [`KernelError::BadDType`] for text.
pub fn eye_like(rows: usize, columns: usize, k: i64, dtype: DType) -> Result<Tensor> {
    let shape = [rows, columns];
    let mut ones = vec![false; checked_count(dtype, &shape)?];
    for row in 0..rows {
        if let Some(column) = i64::try_from(row).ok().and_then(|row| row.checked_add(k))
            && (0..columns as i64).contains(&column)
        {
            ones[row * columns + column as usize] = true;
        }
    }
    cast(&Tensor::from_vec(shape, ones)?, dtype)
}

/// Keeps the upper or lower triangle of the last two axes and zeroes the rest; the triangle
/// includes diagonal `k`.
///
/// # Errors
/// [`KernelError::BadShape`] below rank 2.
pub fn trilu(tensor: &Tensor, k: i64, upper: bool) -> Result<Tensor> {
    let &[.., rows, columns] = tensor.shape() else {
        return Err(KernelError::BadShape {
            kernel: "trilu",
            expected: "rank 2 or more".to_owned(),
            found: tensor.shape().into(),
        });
    };
    moving("trilu", &[tensor, &zero(tensor.dtype())], |operands| {
        let dtype = operands[0].dtype();
        with_cells!("trilu", dtype, C => {
            let zero = cells::<C>(&operands[1])[0];
            let mut out = cells::<C>(&operands[0]).to_vec();
            if columns > 0 {
                for (at, row) in out.chunks_exact_mut(columns).enumerate() {
                    let diagonal = k.saturating_add((at % rows) as i64);
                    let first = |from: i64| from.clamp(0, columns as i64) as usize;
                    let cleared =
                        if upper { 0..first(diagonal) } else { first(diagonal.saturating_add(1))..columns };
                    row[cleared].fill(zero);
                }
            }
            from_cells(dtype, operands[0].shape(), out)
        })
    })
}

/// Inserts an axis of size `depth` at `axis`, with `values[1]` where its index is the element of
/// `indices` and `values[0]` elsewhere. Indices count from the back if negative; outside
/// `-depth..depth` they select nothing.
///
/// # Errors
/// [`KernelError::BadAxis`]; [`KernelError::BadDType`] if the indices are no real numbers;
/// [`KernelError::BadShape`] if `values` has not two elements.
pub fn one_hot(indices: &Tensor, depth: usize, values: &Tensor, axis: i64) -> Result<Tensor> {
    if values.len() != 2 {
        return Err(KernelError::BadShape {
            kernel: "one_hot",
            expected: "two values".to_owned(),
            found: values.shape().into(),
        });
    }
    let axis = resolve_axis("one_hot", axis, indices.rank() + 1)?;
    let whole =
        if indices.dtype().is_float() { cast(indices, DType::I64)? } else { indices.clone() };
    let whole = whole.i64s()?;
    let mut shape: Shape = indices.shape().into();
    shape.insert(axis, depth);
    moving("one_hot", &[values], |operands| {
        let dtype = operands[0].dtype();
        let len = checked_count(dtype, &shape)?;
        let (_, _, inner) = around(&shape, axis);
        with_cells!("one_hot", dtype, C => {
            let values: &[C] = cells(&operands[0]);
            let mut out = vec![values[0]; len];
            for (at, &index) in whole.iter().enumerate() {
                let index = if index < 0 { index.saturating_add(depth as i64) } else { index };
                if (0..depth as i64).contains(&index) {
                    let (row, column) = (at / inner, at % inner);
                    out[(row * depth + index as usize) * inner + column] = values[1];
                }
            }
            from_cells(dtype, &shape, out)
        })
    })
}
