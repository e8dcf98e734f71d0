//! Which elements share a scale.

use crate::error::Result;
use crate::layout::{around, resolve_axis};
use crate::refuse;
use crate::tensor::Tensor;

/// How the scales lie over a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Granularity {
    /// One for all.
    Whole,
    /// One for each place along an axis: extent of the axis, elements after it.
    Axis { size: usize, inner: usize },
    /// One for each block of places along an axis: that, and the block and the number of blocks.
    Blocks { size: usize, inner: usize, block: usize, blocks: usize },
}

impl Granularity {
    /// Reads it off the shapes.
    pub(super) fn of(
        name: &'static str,
        x: &Tensor,
        scale: &Tensor,
        axis: i64,
        block: usize,
    ) -> Result<Granularity> {
        if block == 0 && (scale.rank() == 0 || scale.shape() == [1]) {
            return Ok(Granularity::Whole);
        }
        if x.rank() == 0 {
            return Err(refuse::shape(name, "one scale for a scalar", scale));
        }
        // Vectors have but one axis, whatever the attribute says.
        let axis = if x.rank() == 1 { 0 } else { resolve_axis(name, axis, x.rank())? };
        let (_, size, inner) = around(x.shape(), axis);
        if block == 0 {
            if scale.shape() != [size] {
                return Err(refuse::shape(name, format!("one scale, or shape [{size}]"), scale));
            }
            return Ok(Granularity::Axis { size, inner });
        }
        let mut expected = x.shape().to_vec();
        expected[axis] = size.div_ceil(block);
        if scale.shape() != expected {
            return Err(refuse::shape(name, format!("scales of shape {expected:?}"), scale));
        }
        Ok(Granularity::Blocks { size, inner, block, blocks: expected[axis] })
    }

    /// The scale of an element, both row-major.
    pub(super) fn scale_of(self, element: usize) -> usize {
        match self {
            Granularity::Whole => 0,
            Granularity::Axis { size, inner } => element / inner % size,
            Granularity::Blocks { size, inner, block, blocks } => {
                let (row, column) = (element / inner, element % inner);
                (row / size * blocks + row % size / block) * inner + column
            }
        }
    }
}
