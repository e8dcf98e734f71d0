//! Padding and cropping.

use smallvec::SmallVec;

use crate::cells::{Cell, cells, from_cells, moving, with_cells};
use crate::error::{KernelError, Result};
use crate::layout::{resolve_axes, row_major};
use crate::shape::create::zero;
use crate::tensor::{Shape, Tensor, checked_count};

/// What [`pad`] puts beyond the border.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PadMode {
    /// One value.
    #[default]
    Constant,
    /// The mirror image, without repeating the border: `c b | a b c | b a`.
    Reflect,
    /// The border element: `a a | a b c | c c`.
    Edge,
    /// The other end: `b c | a b c | a b`.
    Wrap,
}

/// Pads (or crops, where negative) each axis: ONNX `Pad`.
///
/// `pads` holds the counts before each of `axes`, then the counts after; without `axes`, all
/// axes. Cropping happens first, so the other modes repeat what is left. `value`, of one element,
/// is zero if absent.
///
/// # Errors
/// [`KernelError::BadParameter`] for a wrong number of pads, a crop of more than there is, or
/// nothing left to repeat; [`KernelError::BadAxis`]; [`KernelError::MixedDTypes`];
/// [`KernelError::BadShape`] if the value has not one element.
pub fn pad(
    tensor: &Tensor,
    pads: &[i64],
    axes: Option<&[i64]>,
    mode: PadMode,
    value: Option<&Tensor>,
) -> Result<Tensor> {
    let borders = borders(tensor, pads, axes, mode)?;
    let zero = zero(tensor.dtype());
    let value = value.unwrap_or(&zero);
    if value.len() != 1 {
        return Err(KernelError::BadShape {
            kernel: "pad",
            expected: "one value".to_owned(),
            found: value.shape().into(),
        });
    }
    let shape: Shape = borders.iter().map(Border::size).collect();
    moving("pad", &[tensor, value], |operands| {
        let dtype = operands[0].dtype();
        let len = checked_count(dtype, &shape)?;
        with_cells!("pad", dtype, C => {
            let value = cells::<C>(&operands[1])[0];
            from_cells(dtype, &shape, copy_padded(&operands[0], &borders, value, len))
        })
    })
}

/// How one axis grows and shrinks.
#[derive(Clone, Copy)]
struct Border {
    /// Elements added before.
    front: usize,
    /// First element kept.
    first: usize,
    /// Number of elements kept.
    kept: usize,
    /// Elements added after.
    back: usize,
    mode: PadMode,
}

impl Border {
    fn size(&self) -> usize {
        self.front.saturating_add(self.kept).saturating_add(self.back)
    }

    fn is_plain(&self, size: usize) -> bool {
        (self.front, self.kept, self.back) == (0, size, 0)
    }

    /// Returns the element of the operand that is found at `at` of the result.
    fn source(&self, at: usize) -> Option<usize> {
        let (at, kept) = (at as i128 - self.front as i128, self.kept as i128);
        let within = match self.mode {
            _ if (0..kept).contains(&at) => at,
            PadMode::Constant => return None,
            PadMode::Edge => at.clamp(0, kept - 1),
            PadMode::Wrap => at.rem_euclid(kept),
            PadMode::Reflect if kept == 1 => 0,
            PadMode::Reflect => {
                let period = 2 * (kept - 1);
                let at = at.rem_euclid(period);
                at.min(period - at)
            }
        };
        Some(self.first + within as usize)
    }
}

fn borders(
    tensor: &Tensor,
    pads: &[i64],
    axes: Option<&[i64]>,
    mode: PadMode,
) -> Result<SmallVec<[Border; 6]>> {
    let bad = |expected| KernelError::BadParameter {
        kernel: "pad",
        parameter: "pads",
        expected,
        found: format!("{pads:?} for shape {:?}", tensor.shape()),
    };
    let all: Vec<i64> = (0..tensor.rank() as i64).collect();
    let axes = resolve_axes("pad", axes.unwrap_or(&all), tensor.rank())?;
    if pads.len() != 2 * axes.len() {
        return Err(bad("two for each axis"));
    }
    let plain = |&size: &usize| Border { front: 0, first: 0, kept: size, back: 0, mode };
    let mut borders: SmallVec<[Border; 6]> = tensor.shape().iter().map(plain).collect();
    for (i, &axis) in axes.iter().enumerate() {
        let count = |pad: i64| usize::try_from(pad.unsigned_abs()).unwrap_or(usize::MAX);
        let (before, after) = (pads[i], pads[i + axes.len()]);
        let border = &mut borders[axis];
        let crop = |pad: i64| if pad < 0 { count(pad) } else { 0 };
        border.front = count(before.max(0));
        border.back = count(after.max(0));
        border.first = crop(before);
        let cropped = crop(before).saturating_add(crop(after));
        border.kept =
            border.kept.checked_sub(cropped).ok_or_else(|| bad("crops within the axis"))?;
        let repeats = mode != PadMode::Constant && border.front + border.back > 0;
        if repeats && border.kept == 0 {
            return Err(bad("something to repeat"));
        }
    }
    Ok(borders)
}

/// Copies row by row. A row is the last axis that changes, and a slab all that lies within.
fn copy_padded<C: Cell>(tensor: &Tensor, borders: &[Border], value: C, len: usize) -> Vec<C> {
    let source: &[C] = cells(tensor);
    let shape = tensor.shape();
    let Some(inner) = (0..shape.len()).rfind(|&axis| !borders[axis].is_plain(shape[axis])) else {
        return source.to_vec();
    };
    if source.is_empty() {
        return vec![value; len];
    }
    let strides = row_major(shape);
    let (row, slab) = (borders[inner], shape[inner + 1..].iter().product::<usize>());
    let mut out = Vec::with_capacity(len);
    let mut counters: SmallVec<[usize; 6]> = SmallVec::from_elem(0, inner);
    while out.len() < len {
        let base: Option<usize> = (0..inner)
            .map(|axis| Some(borders[axis].source(counters[axis])? * strides[axis] as usize))
            .sum();
        match base {
            None => out.resize(out.len() + row.size() * slab, value),
            Some(base) => push_row(&mut out, &source[base..], row, slab, value),
        }
        for axis in (0..inner).rev() {
            counters[axis] += 1;
            if counters[axis] < borders[axis].size() {
                break;
            }
            counters[axis] = 0;
        }
    }
    out
}

fn push_row<C: Cell>(out: &mut Vec<C>, source: &[C], row: Border, slab: usize, value: C) {
    let push_border = |out: &mut Vec<C>, at: usize| match row.source(at) {
        None => out.resize(out.len() + slab, value),
        Some(from) => out.extend_from_slice(&source[from * slab..][..slab]),
    };
    for at in 0..row.front {
        push_border(out, at);
    }
    out.extend_from_slice(&source[row.first * slab..][..row.kept * slab]);
    for at in row.front + row.kept..row.size() {
        push_border(out, at);
    }
}
