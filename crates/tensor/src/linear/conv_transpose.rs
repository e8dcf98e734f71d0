//! Transposed convolution: ONNX `ConvTranspose`.

use smallvec::SmallVec;

use crate::dtype::DType;
use crate::elementwise::cast;
use crate::error::Result;
use crate::linear::conv::{add_to_channels, checked_bias};
use crate::linear::product::{Matrix, Scalar};
use crate::linear::window::{AutoPad, Window, WindowParams, Windows, offsets, per_axis, windows};
use crate::refuse;
use crate::tensor::{Shape, Tensor, checked_count};
use crate::wide::{one_float, reals, widen};

const NAME: &str = "conv_transpose";

/// What a transposed convolution has beside its windows; empty lists mean the defaults.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct TransposeParams {
    /// Added at the end of each spatial extent of the result; 0 by default.
    pub output_padding: Vec<i64>,
    /// The spatial extents of the result, in place of padding; computed by default.
    pub output_shape: Vec<i64>,
}

/// Convolves backwards: each element of `x` adds its multiple of the filters to the result.
///
/// `x`: batch, channels, then spatial extents. `w`: channels, filters / `groups`, then window
/// extents. `bias`: one number for each filter. The result has spatial extents `stride * (input -
/// 1) + output_padding + span - pads`; with [`AutoPad::SameUpper`] and [`AutoPad::SameLower`],
/// `stride * input` or as much of it as the windows cover. All of one float type; `f16` and `bf16` compute in `f32`.
///
/// # Errors
/// [`BadShape`](crate::KernelError::BadShape), [`BadParameter`](crate::KernelError::BadParameter),
/// [`BadDType`](crate::KernelError::BadDType), [`MixedDTypes`](crate::KernelError::MixedDTypes),
/// [`TooLarge`](crate::KernelError::TooLarge).
pub fn conv_transpose(
    x: &Tensor,
    w: &Tensor,
    bias: Option<&Tensor>,
    groups: usize,
    params: &WindowParams,
    transpose: &TransposeParams,
) -> Result<Tensor> {
    let operands: Vec<&Tensor> = [x, w].into_iter().chain(bias).collect();
    let dtype = one_float(NAME, &operands)?;
    let plan = ConvTransposeExtents::new(x, w, groups, params, transpose)?;
    let bias = checked_bias(NAME, bias, plan.filters * groups)?;
    let len = checked_count(dtype, &plan.shape)?;
    let (x, w) = (widen(x)?, widen(w)?);
    let out = reals!(NAME, x.dtype(), R => {
        let mut out = vec![R::default(); len];
        plan.spread(&x.view::<R>()?, &w.view::<R>()?, &mut out);
        if let Some(bias) = bias {
            add_to_channels(&mut out, &bias.view::<R>()?, plan.spatial_out);
        }
        Tensor::from_vec(&plan.shape, out)?
    });
    cast(&out, dtype)
}

/// The extents, checked. The windows lie on the result; there is one for each input element.
struct ConvTransposeExtents {
    groups: usize,
    channels: usize,
    filters: usize,
    positions: usize,
    taps: usize,
    spatial_out: usize,
    shape: Shape,
    windows: Windows,
}

impl ConvTransposeExtents {
    fn new(
        x: &Tensor,
        w: &Tensor,
        groups: usize,
        params: &WindowParams,
        transpose: &TransposeParams,
    ) -> Result<ConvTransposeExtents> {
        if x.rank() < 2 || w.rank() != x.rank() || w.shape()[0] != x.shape()[1] {
            let (rank, channels) = (x.rank(), x.shape().get(1).copied().unwrap_or_default());
            let expected = format!("filters of rank {rank}, at least 2, for {channels} channels");
            return Err(refuse::shape(NAME, expected, w));
        }
        if groups == 0 || !x.shape()[1].is_multiple_of(groups) {
            let expected = "at least 1, and a divisor of the number of channels";
            return Err(refuse::parameter(NAME, "groups", expected, groups));
        }
        let windows = lay_out(&x.shape()[2..], &w.shape()[2..], params, transpose)?;
        let Some(filters) = w.shape()[1].checked_mul(groups) else {
            return Err(refuse::parameter(NAME, "groups", "a small number", groups));
        };
        let spatial: Shape = windows.iter().map(|window| window.input as usize).collect();
        Ok(ConvTransposeExtents {
            groups,
            channels: x.shape()[1] / groups,
            filters: w.shape()[1],
            positions: x.shape()[2..].iter().product(),
            taps: w.shape()[2..].iter().product(),
            spatial_out: checked_count(DType::U8, &spatial)?,
            shape: [x.shape()[0], filters].into_iter().chain(spatial).collect(),
            windows,
        })
    }

    fn spread<R: Scalar>(&self, x: &[R], w: &[R], out: &mut [R]) {
        if out.is_empty() || x.is_empty() || w.is_empty() {
            return;
        }
        let table = offsets(&self.windows, 0..self.positions);
        let width = self.filters * self.taps;
        let mut columns = vec![R::default(); width * self.positions];
        let x_parts = x.chunks_exact(self.channels * self.positions);
        let out_parts = out.chunks_exact_mut(self.filters * self.spatial_out);
        for (part, (x, out)) in x_parts.zip(out_parts).enumerate() {
            let first = part % self.groups * self.channels;
            let w = Matrix::new(&w[first * width..], self.channels, width).transposed();
            columns.fill(R::default());
            R::multiply_add(w, Matrix::new(x, self.channels, self.positions), &mut columns);
            let rows = columns.chunks_exact(table.len());
            rows.zip(out.chunks_exact_mut(self.spatial_out))
                .for_each(|(values, channel)| scatter_add(&table, values, channel));
        }
    }
}

/// Adds each value at its offset; those in the padding are dropped.
pub(crate) fn scatter_add<R: Scalar>(table: &[isize], values: &[R], out: &mut [R]) {
    for (&at, &value) in table.iter().zip(values) {
        if at >= 0 {
            out[at as usize] = out[at as usize].plus(value);
        }
    }
}

/// Lays one window for each element of `input` out over the spatial extents of the result.
fn lay_out(
    input: &[usize],
    kernel: &[usize],
    params: &WindowParams,
    transpose: &TransposeParams,
) -> Result<Windows> {
    let rank = input.len();
    let extra = per_axis(NAME, "output_padding", &transpose.output_padding, rank, 0)?;
    let wanted = match transpose.output_shape.as_slice() {
        [] => None,
        // The standard has the spatial extents; some exporters give batch and channels as well.
        list if list.len() == rank + 2 => {
            Some(per_axis(NAME, "output_shape", &list[2..], rank, 0)?)
        }
        list => Some(per_axis(NAME, "output_shape", list, rank, 0)?),
    };
    // The same checks as for a convolution over an input as large as the windows.
    let free = WindowParams { pads: Vec::new(), auto_pad: AutoPad::Valid, ..params.clone() };
    let shapes: SmallVec<[usize; 6]> = kernel.iter().map(|_| 1 << 31).collect();
    let windows = windows(NAME, &shapes, kernel, &free, false)?;
    let pads = per_axis(NAME, "pads", &params.pads, 2 * rank, -(1 << 31))?;
    (0..rank)
        .map(|axis| {
            let size = i64::try_from(input[axis]).ok().filter(|&size| size <= 1 << 31);
            let size =
                size.ok_or_else(|| refuse::parameter(NAME, "x", "extents up to 2^31", input))?;
            let target = wanted.as_ref().map(|wanted| wanted[axis]);
            let window = windows[axis];
            let covered = window.stride * (size - 1) + extra[axis] + window.span();
            let (before, extent) = match (target, params.auto_pad) {
                (Some(target), auto) => (auto.split((covered - target).max(0)).0, target),
                (None, AutoPad::Valid) => (0, covered),
                (None, AutoPad::NotSet) => (pads[axis], covered - pads[axis] - pads[rank + axis]),
                (None, same) => {
                    let surplus = (covered - window.stride * size).max(0);
                    (same.split(surplus).0, covered - surplus)
                }
            };
            let expected = "padding that leaves a result of less than 2^31";
            if !(0..1 << 31).contains(&extent) {
                return Err(refuse::parameter(NAME, "pads", expected, &params.pads));
            }
            Ok(Window { input: extent, before, count: input[axis], ..window })
        })
        .collect()
}
