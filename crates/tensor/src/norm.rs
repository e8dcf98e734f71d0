//! Normalisations: by batch, layer, instance, group and channel, by norms and by variance.
//!
//! All compute in `f64`, sums included, and round once at the end; the intermediate roundings to
//! `float` that the standard's functions spell out are left out. So results are within half a
//! unit of the last place of the exact ones but for cancellation in `x - mean`, and runtimes
//! differ from them by their own error.

use smallvec::SmallVec;

use crate::dtype::DType;
use crate::error::Result;
use crate::layout::{around, broadcast_strides, resolve_axes, resolve_axis};
use crate::refuse;
use crate::tensor::Tensor;
use crate::wide::{floats, from_f64s};

/// Shifts and scales each channel by given statistics: ONNX `BatchNormalization`, inference.
///
/// `x`: batch, channels, then any extents; of rank 1, a single channel. `scale`, `bias`, `mean`,
/// `variance`: one number for each channel, of any float types. Computes `(x - mean) /
/// sqrt(variance + epsilon) * scale + bias`.
///
/// # Errors
/// [`BadShape`](crate::KernelError::BadShape), [`BadDType`](crate::KernelError::BadDType).
pub fn batch_norm(
    x: &Tensor,
    scale: &Tensor,
    bias: &Tensor,
    mean: &Tensor,
    variance: &Tensor,
    epsilon: f64,
) -> Result<Tensor> {
    const NAME: &str = "batch_norm";
    let mut data = floats(NAME, x)?;
    let (channels, inner) = channels(NAME, x)?;
    let [scale, bias, mean, variance] = [
        per_channel(NAME, scale, channels)?,
        per_channel(NAME, bias, channels)?,
        per_channel(NAME, mean, channels)?,
        per_channel(NAME, variance, channels)?,
    ];
    for (index, block) in data.chunks_exact_mut(inner.max(1)).enumerate() {
        let c = index % channels;
        let factor = scale[c] / (variance[c] + epsilon).sqrt();
        block.iter_mut().for_each(|x| *x = (*x - mean[c]) * factor + bias[c]);
    }
    from_f64s(x.dtype(), x.shape(), data)
}

/// The number of channels, and of elements of a channel.
fn channels(name: &'static str, x: &Tensor) -> Result<(usize, usize)> {
    match x.shape() {
        [] => Err(refuse::shape(name, "batch, channels and any extents", x)),
        [_] => Ok((1, 1)),
        [_, channels, inner @ ..] => Ok((*channels, inner.iter().product())),
    }
}

fn per_channel(name: &'static str, values: &Tensor, channels: usize) -> Result<Vec<f64>> {
    if values.shape() != [channels] {
        return Err(refuse::shape(name, format!("shape [{channels}]"), values));
    }
    floats(name, values)
}

/// Mean, and the square root of the mean of squares of the differences from it plus `epsilon`.
fn statistics(run: &[f64], epsilon: f64) -> (f64, f64) {
    let count = run.len() as f64;
    let mean = run.iter().sum::<f64>() / count;
    let square = |x: &f64| (x - mean) * (x - mean);
    let variance = run.iter().map(square).sum::<f64>() / count;
    (mean, (variance + epsilon).sqrt())
}

/// What [`layer_norm`] returns.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerNorm {
    /// The normalised tensor.
    pub y: Tensor,
    /// The means; the normalised axes have extent 1.
    pub mean: Tensor,
    /// The reciprocals of the standard deviations, of the shape of `mean`.
    pub inv_std: Tensor,
}

/// Normalises all axes from `axis` on together: ONNX `LayerNormalization`.
///
/// `scale` and `bias` broadcast to `x`, and have any float types. `stash` is the type of the
/// statistics. Computes `(x - mean) / sqrt(variance + epsilon) * scale + bias`.
///
/// # Errors
/// [`BadAxis`](crate::KernelError::BadAxis), [`Broadcast`](crate::KernelError::Broadcast),
/// [`BadDType`](crate::KernelError::BadDType).
pub fn layer_norm(
    x: &Tensor,
    scale: Option<&Tensor>,
    bias: Option<&Tensor>,
    axis: i64,
    epsilon: f64,
    stash: DType,
) -> Result<LayerNorm> {
    const NAME: &str = "layer_norm";
    let mut data = floats(NAME, x)?;
    let (count, run, statistic_shape) = rows(NAME, x, axis)?;
    let (mut means, mut inverses) = (Vec::with_capacity(count), Vec::with_capacity(count));
    if run == 0 {
        // The statistics of nothing.
        means = vec![f64::NAN; count];
        inverses = means.clone();
    }
    for row in data.chunks_exact_mut(run.max(1)) {
        let (mean, deviation) = statistics(row, epsilon);
        row.iter_mut().for_each(|x| *x = (*x - mean) / deviation);
        means.push(mean);
        inverses.push(1.0 / deviation);
    }
    affine(NAME, x, &mut data, scale, bias)?;
    Ok(LayerNorm {
        y: from_f64s(x.dtype(), x.shape(), data)?,
        mean: from_f64s(stash, &statistic_shape, means)?,
        inv_std: from_f64s(stash, &statistic_shape, inverses)?,
    })
}

/// Number and length of the runs that are normalised, and the shape of one number for each.
fn rows(name: &'static str, x: &Tensor, axis: i64) -> Result<(usize, usize, Vec<usize>)> {
    let axis = resolve_axis(name, axis, x.rank())?;
    let (front, back) = x.shape().split_at(axis);
    let mut shape = front.to_vec();
    shape.resize(x.rank(), 1);
    let count = crate::tensor::checked_count(DType::F64, front)?;
    Ok((count, back.iter().product(), shape))
}

/// Multiplies by `scale` and adds `bias`, which broadcast to `x`.
fn affine(
    name: &'static str,
    x: &Tensor,
    data: &mut [f64],
    scale: Option<&Tensor>,
    bias: Option<&Tensor>,
) -> Result<()> {
    for (operand, multiplies) in [(scale, true), (bias, false)] {
        let Some(operand) = operand else { continue };
        let values = floats(name, operand)?;
        let fits = crate::layout::broadcast(name, x.shape(), operand.shape())?;
        if fits[..] != *x.shape() {
            return Err(refuse::shape(
                name,
                format!("what broadcasts to {:?}", x.shape()),
                operand,
            ));
        }
        let steps = broadcast_strides(operand.shape(), x.shape());
        let mut elements = data.iter_mut();
        crate::layout::Nest::new(x.shape(), [&steps]).walk([0], |[at]| {
            if let Some(element) = elements.next() {
                let value = values[at as usize];
                *element = if multiplies { *element * value } else { *element + value };
            }
        });
    }
    Ok(())
}

/// Divides by the root of the mean square over all axes from `axis` on: ONNX
/// `RMSNormalization`.
///
/// Computes `x / sqrt(mean(x^2) + epsilon) * scale`; `scale` broadcasts to `x`.
///
/// # Errors
/// As [`layer_norm`].
pub fn rms_norm(x: &Tensor, scale: Option<&Tensor>, axis: i64, epsilon: f64) -> Result<Tensor> {
    const NAME: &str = "rms_norm";
    let mut data = floats(NAME, x)?;
    let (_, run, _) = rows(NAME, x, axis)?;
    for row in data.chunks_exact_mut(run.max(1)) {
        let squares = row.iter().map(|x| x * x).sum::<f64>();
        let root = (squares / run as f64 + epsilon).sqrt();
        row.iter_mut().for_each(|x| *x /= root);
    }
    affine(NAME, x, &mut data, scale, None)?;
    from_f64s(x.dtype(), x.shape(), data)
}

/// Normalises each channel of each batch: ONNX `InstanceNormalization`.
///
/// `x`: batch, channels, then any extents. `scale` and `bias`: one number for each channel.
///
/// # Errors
/// [`BadShape`](crate::KernelError::BadShape), [`BadDType`](crate::KernelError::BadDType).
pub fn instance_norm(x: &Tensor, scale: &Tensor, bias: &Tensor, epsilon: f64) -> Result<Tensor> {
    let channels = channels_of_batch("instance_norm", x)?;
    grouped("instance_norm", x, scale, bias, channels, epsilon)
}

/// Normalises groups of channels of each batch together: ONNX `GroupNormalization`.
///
/// `x`: batch, channels, then any extents. `scale` and `bias`: one number for each channel (opset
/// 21) or for each group (opset 18).
///
/// # Errors
/// [`BadShape`](crate::KernelError::BadShape), [`BadDType`](crate::KernelError::BadDType);
/// [`BadParameter`](crate::KernelError::BadParameter) unless the groups divide the channels.
pub fn group_norm(
    x: &Tensor,
    scale: &Tensor,
    bias: &Tensor,
    groups: usize,
    epsilon: f64,
) -> Result<Tensor> {
    let channels = channels_of_batch("group_norm", x)?;
    if groups == 0 || !channels.is_multiple_of(groups) {
        let expected = "a divisor of the number of channels";
        return Err(refuse::parameter("group_norm", "num_groups", expected, groups));
    }
    grouped("group_norm", x, scale, bias, groups, epsilon)
}

fn channels_of_batch(name: &'static str, x: &Tensor) -> Result<usize> {
    match x.shape() {
        [_, channels, ..] => Ok(*channels),
        _ => Err(refuse::shape(name, "batch, channels and any extents", x)),
    }
}

fn grouped(
    name: &'static str,
    x: &Tensor,
    scale: &Tensor,
    bias: &Tensor,
    groups: usize,
    epsilon: f64,
) -> Result<Tensor> {
    let mut data = floats(name, x)?;
    let (channels, inner) = channels(name, x)?;
    let spread = |values: &Tensor| -> Result<Vec<f64>> {
        if values.shape() == [groups] && groups != channels {
            let repeated = floats(name, values)?.into_iter();
            return Ok(repeated.flat_map(|v| std::iter::repeat_n(v, channels / groups)).collect());
        }
        per_channel(name, values, channels)
    };
    let (scale, bias) = (spread(scale)?, spread(bias)?);
    let run = channels.checked_div(groups).unwrap_or(0) * inner;
    for (index, group) in data.chunks_exact_mut(run.max(1)).enumerate() {
        let (mean, deviation) = statistics(group, epsilon);
        let first = index % groups * (channels / groups);
        for (c, channel) in group.chunks_exact_mut(inner).enumerate() {
            let (scale, bias) = (scale[first + c], bias[first + c]);
            channel.iter_mut().for_each(|x| *x = (*x - mean) / deviation * scale + bias);
        }
    }
    from_f64s(x.dtype(), x.shape(), data)
}

/// Divides by the 1-norm or the 2-norm along an axis: ONNX `LpNormalization`. Zeros stay zero.
///
/// # Errors
/// [`BadAxis`](crate::KernelError::BadAxis), [`BadDType`](crate::KernelError::BadDType);
/// [`BadParameter`](crate::KernelError::BadParameter) unless `p` is 1 or 2.
pub fn lp_norm(x: &Tensor, axis: i64, p: i64) -> Result<Tensor> {
    const NAME: &str = "lp_norm";
    if !matches!(p, 1 | 2) {
        return Err(refuse::parameter(NAME, "p", "1 or 2", p));
    }
    let axis = resolve_axis(NAME, axis, x.rank())?;
    let mut data = floats(NAME, x)?;
    for_each_run(x.shape(), &[axis], &mut data, |run| {
        let norm = match p {
            1 => run.iter().map(|x| x.abs()).sum::<f64>(),
            _ => run.iter().map(|x| *x * *x).sum::<f64>().sqrt(),
        };
        if norm != 0.0 {
            run.iter_mut().for_each(|x| *x /= norm);
        }
    });
    from_f64s(x.dtype(), x.shape(), data)
}

/// Shifts and scales to mean 0 and variance 1 over `axes`: ONNX `MeanVarianceNormalization`.
///
/// Computes `(x - mean) / (deviation + 1e-9)`.
///
/// # Errors
/// [`BadAxis`](crate::KernelError::BadAxis), [`BadDType`](crate::KernelError::BadDType);
/// [`BadParameter`](crate::KernelError::BadParameter) on a repeated axis.
pub fn mean_variance_norm(x: &Tensor, axes: &[i64]) -> Result<Tensor> {
    const NAME: &str = "mean_variance_norm";
    let axes = resolve_axes(NAME, axes, x.rank())?;
    let mut data = floats(NAME, x)?;
    for_each_run(x.shape(), &axes, &mut data, |run| {
        let (mean, deviation) = statistics(run, 0.0);
        run.iter_mut().for_each(|x| *x = (*x - mean) / (deviation + 1e-9));
    });
    from_f64s(x.dtype(), x.shape(), data)
}

/// Lets `change` rewrite the elements along `axes`, one place of the other axes at a time.
fn for_each_run(
    shape: &[usize],
    axes: &[usize],
    data: &mut [f64],
    mut change: impl FnMut(&mut [f64]),
) {
    let strides = crate::layout::row_major(shape);
    let nest = |inside: bool| {
        let pick = || (0..shape.len()).filter(move |axis| axes.contains(axis) == inside);
        let sizes: SmallVec<[usize; 6]> = pick().map(|axis| shape[axis]).collect();
        let steps: SmallVec<[isize; 6]> = pick().map(|axis| strides[axis]).collect();
        crate::layout::Nest::new(&sizes, [&steps])
    };
    if data.is_empty() {
        return;
    }
    let inner = nest(true);
    let mut run = Vec::new();
    nest(false).walk([0], |start| {
        run.clear();
        inner.walk(start, |[at]| run.push(data[at as usize]));
        change(&mut run);
        let mut changed = run.iter();
        inner.walk(start, |[at]| {
            if let Some(&value) = changed.next() {
                data[at as usize] = value;
            }
        });
    });
}

/// Divides by a power of the squares in the neighbouring channels: ONNX `LRN`.
///
/// `x`: batch, channels, then any extents. The sum of squares `s` runs over the `size` channels
/// around each, `(size - 1) / 2` of them (rounded down) before it, as far as they exist. Computes
/// `x / (bias + alpha / size * s)^beta`.
///
/// # Errors
/// [`BadShape`](crate::KernelError::BadShape), [`BadDType`](crate::KernelError::BadDType);
/// [`BadParameter`](crate::KernelError::BadParameter) if the size is 0.
pub fn lrn(x: &Tensor, size: usize, alpha: f64, beta: f64, bias: f64) -> Result<Tensor> {
    const NAME: &str = "lrn";
    if size == 0 {
        return Err(refuse::parameter(NAME, "size", "at least 1", size));
    }
    let channels = channels_of_batch(NAME, x)?;
    let data = floats(NAME, x)?;
    let (_, _, inner) = around(x.shape(), 1);
    let (before, after) = ((size - 1) / 2, size / 2);
    let mut out = Vec::with_capacity(data.len());
    for image in data.chunks_exact((channels * inner).max(1)) {
        for channel in 0..channels {
            let near = channel.saturating_sub(before)
                ..=channels.min(channel.saturating_add(after + 1)) - 1;
            for at in 0..inner {
                let squares: f64 = near.clone().map(|c| image[c * inner + at]).map(|x| x * x).sum();
                let power = (bias + alpha / size as f64 * squares).powf(beta);
                out.push(image[channel * inner + at] / power);
            }
        }
    }
    from_f64s(x.dtype(), x.shape(), out)
}
