//! Axes, broadcasting and strides: the arithmetic that all kernels share.

use smallvec::SmallVec;

use crate::error::{KernelError, Result};
use crate::tensor::Shape;

/// Distances between neighbours along each dimension, in elements; may be 0 or negative.
pub type Strides = SmallVec<[isize; 6]>;

/// Resolves an axis that may count from the back.
///
/// # Errors
/// [`KernelError::BadAxis`] outside `-rank..rank`.
pub fn resolve_axis(kernel: &'static str, axis: i64, rank: usize) -> Result<usize> {
    let signed_rank = rank as i64;
    let resolved = if axis < 0 { axis.saturating_add(signed_rank) } else { axis };
    if (0..signed_rank).contains(&resolved) {
        Ok(resolved as usize)
    } else {
        Err(KernelError::BadAxis { kernel, axis, rank })
    }
}

/// Resolves axes that may count from the back, in the order given.
///
/// # Errors
/// [`KernelError::BadAxis`] outside `-rank..rank`; [`KernelError::BadParameter`] on a repetition.
pub fn resolve_axes(
    kernel: &'static str,
    axes: &[i64],
    rank: usize,
) -> Result<SmallVec<[usize; 6]>> {
    let mut resolved = SmallVec::new();
    for &axis in axes {
        let axis = resolve_axis(kernel, axis, rank)?;
        if resolved.contains(&axis) {
            return Err(KernelError::BadParameter {
                kernel,
                parameter: "axes",
                expected: "distinct axes",
                found: format!("{axes:?}"),
            });
        }
        resolved.push(axis);
    }
    Ok(resolved)
}

/// Resolves an index that may count from the back.
///
/// # Errors
/// [`KernelError::IndexOutOfRange`] outside `-size..size`.
pub fn resolve_index(kernel: &'static str, index: i64, size: usize) -> Result<usize> {
    let resolved = if index < 0 { index.saturating_add(size as i64) } else { index };
    if (0..size as i64).contains(&resolved) {
        Ok(resolved as usize)
    } else {
        Err(KernelError::IndexOutOfRange { kernel, index, size })
    }
}

/// Returns the products of the sizes before, at and after `axis`.
pub fn around(shape: &[usize], axis: usize) -> (usize, usize, usize) {
    (shape[..axis].iter().product(), shape[axis], shape[axis + 1..].iter().product())
}

/// Returns the strides of a row-major tensor.
pub fn row_major(shape: &[usize]) -> Strides {
    let mut strides: Strides = SmallVec::from_elem(0, shape.len());
    let mut stride = 1isize;
    for axis in (0..shape.len()).rev() {
        strides[axis] = stride;
        stride = stride.saturating_mul(shape[axis].max(1) as isize);
    }
    strides
}

/// Returns the shape that both shapes broadcast to, after numpy's rule: aligned at the last axis,
/// a size of 1 stretches.
///
/// # Errors
/// [`KernelError::Broadcast`] where two sizes differ and none is 1.
pub fn broadcast(kernel: &'static str, left: &[usize], right: &[usize]) -> Result<Shape> {
    let rank = left.len().max(right.len());
    let size = |shape: &[usize], axis: usize| {
        (axis + shape.len()).checked_sub(rank).map_or(1, |own| shape[own])
    };
    (0..rank)
        .map(|axis| match (size(left, axis), size(right, axis)) {
            (a, b) if a == b => Ok(a),
            (1, b) => Ok(b),
            (a, 1) => Ok(a),
            _ => Err(KernelError::Broadcast { kernel, left: left.into(), right: right.into() }),
        })
        .collect()
}

/// Returns the strides that read a row-major tensor as one of the shape `to`, which it must
/// broadcast to: a stretched axis gets stride 0.
pub fn broadcast_strides(shape: &[usize], to: &[usize]) -> Strides {
    let own = row_major(shape);
    let missing = to.len() - shape.len();
    (0..to.len())
        .map(|axis| match axis.checked_sub(missing) {
            Some(axis) if shape[axis] != 1 => own[axis],
            _ => 0,
        })
        .collect()
}

/// A nest of loops over `K` operands at once: sizes, and the strides of each operand.
///
/// Axes of size 1 are dropped and neighbours merged where every operand allows it, so that the
/// innermost loop is as long as it can be. With any axis of size 0 nothing is visited.
#[derive(Clone, Debug)]
pub struct Nest<const K: usize> {
    axes: SmallVec<[(usize, [isize; K]); 6]>,
}

impl<const K: usize> Nest<K> {
    /// Makes the nest over `shape`; each operand has one stride an axis.
    pub fn new(shape: &[usize], strides: [&[isize]; K]) -> Self {
        let mut axes: SmallVec<[(usize, [isize; K]); 6]> = SmallVec::new();
        for axis in 0..shape.len() {
            let (size, steps) = (shape[axis], strides.map(|s| s[axis]));
            if size == 1 {
                continue;
            }
            match axes.last_mut() {
                Some((outer, outer_steps))
                    if (0..K).all(|k| outer_steps[k] == steps[k].saturating_mul(size as isize)) =>
                {
                    *outer = outer.saturating_mul(size);
                    *outer_steps = steps;
                }
                _ => axes.push((size, steps)),
            }
        }
        Nest { axes }
    }

    /// Returns the axes, outermost first: size and strides.
    pub fn axes(&self) -> &[(usize, [isize; K])] {
        &self.axes
    }

    /// Removes the axis at `position` and returns it.
    pub fn take_axis(&mut self, position: usize) -> (usize, [isize; K]) {
        self.axes.remove(position)
    }

    /// Removes the innermost axis; one of size 1 if there is none.
    pub fn take_inner(&mut self) -> (usize, [isize; K]) {
        self.axes.pop().unwrap_or((1, [0; K]))
    }

    /// Returns the offsets of the operands in row-major order, from those of the first elements.
    pub fn offsets(&self, start: [isize; K]) -> Offsets<'_, K> {
        let is_empty = self.axes.iter().any(|&(size, _)| size == 0);
        Offsets {
            axes: &self.axes,
            counters: SmallVec::from_elem(0, self.axes.len()),
            next: (!is_empty).then_some(start),
        }
    }

    /// Calls `visit` with the offsets of the operands, in row-major order.
    pub fn walk(&self, start: [isize; K], mut visit: impl FnMut([isize; K])) {
        for offsets in self.offsets(start) {
            visit(offsets);
        }
    }
}

/// The offsets of `K` operands at each point of a [`Nest`].
#[derive(Clone, Debug)]
pub struct Offsets<'a, const K: usize> {
    axes: &'a [(usize, [isize; K])],
    counters: SmallVec<[usize; 6]>,
    next: Option<[isize; K]>,
}

impl<const K: usize> Iterator for Offsets<'_, K> {
    type Item = [isize; K];

    fn next(&mut self) -> Option<[isize; K]> {
        let now = self.next?;
        self.next = self.advanced(now);
        Some(now)
    }
}

impl<const K: usize> Offsets<'_, K> {
    /// Counts on from the innermost axis, as an odometer does.
    fn advanced(&mut self, mut offsets: [isize; K]) -> Option<[isize; K]> {
        for (axis, &(size, steps)) in self.axes.iter().enumerate().rev() {
            self.counters[axis] += 1;
            if self.counters[axis] < size {
                (0..K).for_each(|k| offsets[k] += steps[k]);
                return Some(offsets);
            }
            self.counters[axis] = 0;
            (0..K).for_each(|k| offsets[k] -= steps[k] * (size as isize - 1));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_count_from_both_ends() {
        assert_eq!(resolve_axis("k", -1, 3), Ok(2));
        assert_eq!(resolve_axis("k", 0, 3), Ok(0));
        for (axis, rank) in [(3, 3), (-4, 3), (0, 0), (i64::MIN, 3), (i64::MAX, 3)] {
            assert_eq!(
                resolve_axis("k", axis, rank),
                Err(KernelError::BadAxis { kernel: "k", axis, rank })
            );
        }
        assert!(resolve_axes("k", &[0, -2], 2).is_err());
    }

    #[test]
    fn broadcasting_follows_numpy() {
        let cases: [[&[usize]; 3]; 5] = [
            [&[], &[], &[]],
            [&[3], &[], &[3]],
            [&[2, 1], &[3], &[2, 3]],
            [&[0], &[1], &[0]],
            [&[5, 1, 4], &[3, 1], &[5, 3, 4]],
        ];
        for [left, right, expected] in cases {
            assert_eq!(broadcast("k", left, right).as_deref(), Ok(expected), "{left:?} {right:?}");
        }
        assert!(broadcast("k", &[2], &[3]).is_err());
    }

    #[test]
    fn nests_merge_and_walk_in_order() {
        let strides = row_major(&[2, 3, 1, 4]);
        let merged = Nest::new(&[2, 3, 1, 4], [&strides]);
        assert_eq!(merged.axes(), [(24, [1])]);
        let mut seen = Vec::new();
        Nest::new(&[2, 3], [&[1, 2], &[0, -1]]).walk([0, 2], |at| seen.push(at));
        assert_eq!(seen, [[0, 2], [2, 1], [4, 0], [1, 2], [3, 1], [5, 0]]);
        Nest::new(&[0, 3], [&[3, 1]]).walk([0], |_| unreachable!("nothing to visit"));
    }
}
