//! Order: the greatest elements, the distinct elements.

use std::cmp::Ordering;

use crate::dispatch;
use crate::dtype::DType;
use crate::element::Element;
use crate::error::{KernelError, Result};
use crate::index::take;
use crate::layout::{around, resolve_axis};
use crate::shape::transpose;
use crate::tensor::{Shape, Tensor, checked_count};

/// Returns the `k` greatest (or least) elements along an axis, in order, and their indices. Of
/// equals, the lower index comes first; NaN counts as the greatest number.
///
/// # Errors
/// [`KernelError::BadAxis`], [`KernelError::BadDType`] for no numbers;
/// [`KernelError::BadParameter`] if there are fewer than `k`.
pub fn topk(tensor: &Tensor, k: usize, axis: i64, largest: bool) -> Result<(Tensor, Tensor)> {
    let axis = resolve_axis("topk", axis, tensor.rank())?;
    let (outer, size, inner) = around(tensor.shape(), axis);
    if k > size {
        return Err(KernelError::BadParameter {
            kernel: "topk",
            parameter: "k",
            expected: "at most the size of the axis",
            found: format!("{k} for size {size}"),
        });
    }
    let mut shape: Shape = tensor.shape().into();
    shape[axis] = k;
    let len = checked_count(DType::I64, &shape)?;
    dispatch!(number, "topk", tensor.dtype(), T => {
        let data = tensor.view::<T>()?;
        let mut values = vec![T::default(); len];
        let mut indices = vec![0i64; len];
        let mut order: Vec<usize> = Vec::with_capacity(size);
        for row in 0..if len == 0 { 0 } else { outer } {
            for column in 0..inner {
                let at = |index: usize| data[(row * size + index) * inner + column];
                select(&mut order, size, k, |a, b| {
                    let by_value = compare(at(a), at(b));
                    (if largest { by_value.reverse() } else { by_value }).then(a.cmp(&b))
                });
                for (rank, &index) in order[..k].iter().enumerate() {
                    let to = (row * k + rank) * inner + column;
                    values[to] = at(index);
                    indices[to] = index as i64;
                }
            }
        }
        Ok((Tensor::from_vec(&shape, values)?, Tensor::from_vec(&shape, indices)?))
    })
}

/// Leaves the first `k` of `0..size` at the front of `order`, sorted. O(size + k log k).
fn select(
    order: &mut Vec<usize>,
    size: usize,
    k: usize,
    compare: impl Fn(usize, usize) -> Ordering,
) {
    order.clear();
    order.extend(0..size);
    if 0 < k && k < size {
        order.select_nth_unstable_by(k - 1, |&a, &b| compare(a, b));
    }
    order[..k].sort_unstable_by(|&a, &b| compare(a, b));
}

/// Orders numbers, with every NaN equal and above infinity.
fn compare<T: Element>(a: T, b: T) -> Ordering {
    #[allow(clippy::eq_op)] // Only NaN differs from itself.
    let nan = |v: T| v != v;
    a.partial_cmp(&b).unwrap_or_else(|| nan(a).cmp(&nan(b)))
}

/// The distinct elements (or slices) of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Unique {
    /// The distinct elements.
    pub values: Tensor,
    /// Where each first occurs.
    pub first: Tensor,
    /// For each element of the operand, its position in `values`.
    pub inverse: Tensor,
    /// How often each occurs.
    pub counts: Tensor,
}

/// Finds the distinct slices along `axis`, or the distinct elements without it: ONNX `Unique`.
///
/// They come in ascending order if `sorted`, in the order of their first occurrence otherwise.
/// NaNs count as equal.
///
/// # Errors
/// [`KernelError::BadAxis`]; [`KernelError::BadDType`] for complex numbers and floats below 16 bits.
pub fn unique(tensor: &Tensor, axis: Option<i64>, sorted: bool) -> Result<Unique> {
    let Some(axis) = axis else {
        let flat = tensor.reshaped([tensor.len()])?;
        return unique(&flat, Some(0), sorted);
    };
    let at = resolve_axis("unique", axis, tensor.rank())?;
    // With the axis in front, every slice is one run of memory.
    let mut perm: Vec<i64> = (0..tensor.rank() as i64).collect();
    perm[..=at].rotate_right(1);
    let rows = transpose(tensor, Some(&perm))?;
    let (count, width) = (rows.shape()[0], rows.shape()[1..].iter().product());
    checked_count(DType::I64, &[count])?;
    let classes = match rows.strings() {
        Some(strings) => classify(strings, count, width, Ord::cmp),
        None if rows.dtype().is_packed() => classify(&rows.i64s()?, count, width, Ord::cmp),
        None => dispatch!(element, "unique", rows.dtype(), T => {
            classify(&rows.view::<T>()?, count, width, |&a: &T, &b: &T| compare(a, b))
        }),
    };
    classes.finish(tensor, axis, sorted)
}

/// The slices in ascending order, split into classes of equals.
struct Classes {
    /// First member and number of members, in ascending order of value.
    members: Vec<(usize, i64)>,
    /// For each slice, its class.
    of: Vec<usize>,
}

fn classify<T>(
    data: &[T],
    count: usize,
    width: usize,
    compare: impl Fn(&T, &T) -> Ordering,
) -> Classes {
    let row = |i: usize| &data[i * width..][..width];
    let rows = |a: usize, b: usize| {
        let mut pairs = row(a).iter().zip(row(b)).map(|(x, y)| compare(x, y));
        pairs.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    };
    let mut order: Vec<usize> = (0..count).collect();
    // Stable, so that the first of a class is its first occurrence.
    order.sort_by(|&a, &b| rows(a, b));
    let mut classes = Classes { members: Vec::new(), of: vec![0; count] };
    for (i, &index) in order.iter().enumerate() {
        if i == 0 || rows(order[i - 1], index) != Ordering::Equal {
            classes.members.push((index, 0));
        }
        let class = classes.members.len() - 1;
        classes.members[class].1 += 1;
        classes.of[index] = class;
    }
    classes
}

impl Classes {
    fn finish(self, tensor: &Tensor, axis: i64, sorted: bool) -> Result<Unique> {
        let mut order: Vec<usize> = (0..self.members.len()).collect();
        if !sorted {
            order.sort_unstable_by_key(|&class| self.members[class].0);
        }
        let mut position = vec![0i64; order.len()];
        for (at, &class) in order.iter().enumerate() {
            position[class] = at as i64;
        }
        let first = order.iter().map(|&class| self.members[class].0 as i64).collect();
        let first = Tensor::vector::<i64>(first);
        let counts = order.iter().map(|&class| self.members[class].1).collect();
        let inverse = self.of.iter().map(|&class| position[class]).collect();
        Ok(Unique {
            values: take(tensor, &first, axis)?,
            first,
            inverse: Tensor::vector(inverse),
            counts: Tensor::vector(counts),
        })
    }
}
