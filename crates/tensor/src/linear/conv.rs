//! Convolution: ONNX `Conv`.
//!
//! Each group is one product of matrices: the filters, by rows, times the windows laid out as
//! columns (im2col), a slice of positions at a time so that the columns stay in the cache.

use crate::budget;
use crate::dtype::DType;
use crate::elementwise::cast;
use crate::error::Result;
use crate::linear::product::{Matrix, Scalar};
use crate::linear::window::{Window, WindowParams, Windows, offsets, windows};
use crate::refuse;
use crate::tensor::{Shape, Tensor, checked_count};
use crate::wide::{one_float, reals, widen};

/// The columns of one slice of positions have about this many elements.
const COLUMN_ELEMENTS: usize = 1 << 18;

/// Convolves `x` with the filters `w`, over any number of spatial dimensions.
///
/// `x`: batch, channels, then spatial extents. `w`: filters, channels / `groups`, then window
/// extents. `bias`: one number for each filter. The result: batch, filters, then the numbers of
/// windows. All of one float type; `f16` and `bf16` compute in `f32`. Tolerance: that of a
/// [matrix product](crate::linear::matmul) of `channels / groups * window elements` terms.
///
/// # Errors
/// [`BadShape`](crate::KernelError::BadShape), [`BadParameter`](crate::KernelError::BadParameter),
/// [`BadDType`](crate::KernelError::BadDType), [`MixedDTypes`](crate::KernelError::MixedDTypes),
/// [`TooLarge`](crate::KernelError::TooLarge).
pub fn conv(
    x: &Tensor,
    w: &Tensor,
    bias: Option<&Tensor>,
    groups: usize,
    params: &WindowParams,
) -> Result<Tensor> {
    let operands: Vec<&Tensor> = [x, w].into_iter().chain(bias).collect();
    let dtype = one_float("conv", &operands)?;
    let plan = ConvExtents::new("conv", x, w, groups, params)?;
    let bias = checked_bias("conv", bias, plan.filters * groups)?;
    let (x, w) = (widen(x)?, widen(w)?);
    let out = reals!("conv", x.dtype(), R => convolve::<R>(&plan, &x, &w, bias.as_ref(), dtype)?);
    cast(&out, dtype)
}

/// Convolves in `R`, in which all operands are.
fn convolve<R: Scalar>(
    plan: &ConvExtents,
    x: &Tensor,
    w: &Tensor,
    bias: Option<&Tensor>,
    dtype: DType,
) -> Result<Tensor> {
    checked_count(dtype, &plan.shape())?;
    let mut out = plan.convolve(&x.view::<R>()?, &w.view::<R>()?)?;
    if let Some(bias) = bias {
        add_to_channels(&mut out, &bias.view::<R>()?, plan.positions);
    }
    Tensor::from_vec(plan.shape(), out)
}

/// Checks that there is one number for each filter, and widens them.
pub(crate) fn checked_bias(
    kernel: &'static str,
    bias: Option<&Tensor>,
    filters: usize,
) -> Result<Option<Tensor>> {
    let Some(bias) = bias else { return Ok(None) };
    if bias.shape() != [filters] {
        return Err(refuse::shape(kernel, format!("a bias of shape [{filters}]"), bias));
    }
    widen(bias).map(Some)
}

/// Adds one number to each channel; a channel has `positions` elements.
pub(crate) fn add_to_channels<R: Scalar>(out: &mut [R], bias: &[R], positions: usize) {
    for (channel, block) in out.chunks_exact_mut(positions.max(1)).enumerate() {
        let bias = bias[channel % bias.len()];
        block.iter_mut().for_each(|value| *value = value.plus(bias));
    }
}

/// The extents of one convolution, checked.
pub(crate) struct ConvExtents {
    batch: usize,
    groups: usize,
    /// Channels of one group.
    channels: usize,
    /// Filters of one group.
    pub filters: usize,
    /// Elements of one channel of the input.
    spatial: usize,
    /// Elements of one window of one channel.
    taps: usize,
    /// Windows of one channel.
    positions: usize,
    windows: Windows,
}

impl ConvExtents {
    pub(crate) fn new(
        name: &'static str,
        x: &Tensor,
        w: &Tensor,
        groups: usize,
        params: &WindowParams,
    ) -> Result<ConvExtents> {
        if x.rank() < 2 || w.rank() != x.rank() {
            let expected = format!("filters of the rank of the data, {}, at least 2", x.rank());
            return Err(refuse::shape(name, expected, w));
        }
        let (input, kernel) = (&x.shape()[2..], &w.shape()[2..]);
        let (channels, filters) = (w.shape()[1], w.shape()[0]);
        if groups == 0 || !filters.is_multiple_of(groups) {
            let expected = "at least 1, and a divisor of the number of filters";
            return Err(refuse::parameter(name, "groups", expected, groups));
        }
        if channels.checked_mul(groups) != Some(x.shape()[1]) {
            let expected = format!("data of {channels} times {groups} channels");
            return Err(refuse::shape(name, expected, x));
        }
        let windows = windows(name, input, kernel, params, false)?;
        let counts: Shape = windows.iter().map(|window| window.count).collect();
        let positions = checked_count(DType::U8, &counts)?;
        Ok(ConvExtents {
            batch: x.shape()[0],
            groups,
            channels,
            filters: filters / groups,
            spatial: input.iter().product(),
            taps: kernel.iter().product(),
            positions,
            windows,
        })
    }

    /// The shape of the result.
    pub(crate) fn shape(&self) -> Shape {
        let leading = [self.batch, self.filters * self.groups];
        leading.into_iter().chain(self.windows.iter().map(|window| window.count)).collect()
    }

    /// Convolves; the result has the shape [`ConvExtents::shape`].
    pub(crate) fn convolve<R: Scalar>(&self, x: &[R], w: &[R]) -> Result<Vec<R>> {
        let len = checked_count(R::DTYPE, &self.shape())?;
        let mut out = vec![R::default(); len];
        // Nothing to add: without this, extents of 0 could come with vast ones.
        if len == 0 || w.is_empty() {
            return Ok(out);
        }
        let depth = self.channels * self.taps;
        if x.is_empty() {
            self.convolve_padding(w, depth, &mut out);
            return Ok(out);
        }
        let trivial = self.windows.iter().all(is_trivial);
        let step = match trivial {
            true => self.positions,
            false => (COLUMN_ELEMENTS / depth).clamp(32, self.positions.max(32)),
        };
        let mut scratch = Scratch::default();
        for start in (0..self.positions).step_by(step) {
            let slice = start..self.positions.min(start + step);
            scratch.table =
                if trivial { Vec::new() } else { offsets(&self.windows, slice.clone()) };
            for part in 0..self.batch * self.groups {
                budget::check_time()?;
                let filters = part % self.groups * self.filters;
                let w = Matrix::new(&w[filters * depth..], self.filters, depth);
                let x = &x[part * self.channels * self.spatial..][..self.channels * self.spatial];
                let out = &mut out[part * self.filters * self.positions..]
                    [..self.filters * self.positions];
                if trivial {
                    R::multiply_add(w, Matrix::new(x, depth, self.positions), out);
                } else {
                    self.convolve_slice(x, w, &mut scratch, (start, slice.len()), out);
                }
            }
        }
        Ok(out)
    }

    /// Convolves data of no extent: each window reads padding alone. Its zeros make NaN of weights
    /// that are no finite numbers, as they do beside data.
    fn convolve_padding<R: Scalar>(&self, w: &[R], depth: usize, out: &mut [R]) {
        let zeros = vec![R::default(); depth];
        let mut sums = vec![R::default(); self.filters * self.groups];
        let w = Matrix::new(w, self.filters * self.groups, depth);
        R::multiply_add(w, Matrix::new(&zeros, depth, 1), &mut sums);
        let rows = out.chunks_exact_mut(self.positions);
        rows.zip(sums.iter().cycle()).for_each(|(row, sum)| row.fill(*sum));
    }

    /// Convolves one group of one batch at the positions from `start` on, `count` of them.
    fn convolve_slice<R: Scalar>(
        &self,
        x: &[R],
        w: Matrix<'_, R>,
        scratch: &mut Scratch<R>,
        (start, count): (usize, usize),
        out: &mut [R],
    ) {
        scratch.columns.clear();
        for channel in x.chunks_exact(self.spatial) {
            let read = |&at: &isize| if at < 0 { R::default() } else { channel[at as usize] };
            scratch.columns.extend(scratch.table.iter().map(read));
        }
        let columns = Matrix::new(&scratch.columns, self.channels * self.taps, count);
        if count == self.positions {
            return R::multiply_add(w, columns, out);
        }
        scratch.tile.clear();
        scratch.tile.resize(self.filters * count, R::default());
        R::multiply_add(w, columns, &mut scratch.tile);
        for (filter, row) in scratch.tile.chunks_exact(count).enumerate() {
            out[filter * self.positions + start..][..count].copy_from_slice(row);
        }
    }
}

/// Memory that one slice of positions after the other uses.
#[derive(Default)]
struct Scratch<R> {
    /// As [`offsets`] returns it.
    table: Vec<isize>,
    columns: Vec<R>,
    tile: Vec<R>,
}

/// Whether the windows are the elements themselves.
fn is_trivial(window: &Window) -> bool {
    let Window { input, kernel, stride, before, after, .. } = *window;
    (kernel, stride, before, after) == (1, 1, 0, 0) && window.count == input as usize
}
