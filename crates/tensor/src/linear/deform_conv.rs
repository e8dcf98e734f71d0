//! Convolutions whose windows are bent: ONNX `DeformConv`, over two spatial dimensions.

use super::window::WindowParams;
use crate::error::{KernelError, Result};
use crate::refuse;
use crate::tensor::{Tensor, checked_count};
use crate::wide::{floats, from_f64s, one_float};

const NAME: &str = "deform_conv";

/// The operands of [`deform_conv`].
#[derive(Clone, Copy, Debug)]
pub struct DeformOperands<'a> {
    /// Batch, channels, height, width.
    pub x: &'a Tensor,
    /// Filters, channels / groups, window height, window width.
    pub w: &'a Tensor,
    /// How far each place of each window is moved: batch, offset groups * window places * 2,
    /// height and width of the result.
    pub offset: &'a Tensor,
    /// One number for each filter; 0 if absent.
    pub bias: Option<&'a Tensor>,
    /// Factors: batch, offset groups * window places, height and width of the result; 1 if
    /// absent.
    pub mask: Option<&'a Tensor>,
}

/// Convolves `x`, interpolated at the moved places of each window; outside of `x` is 0.
///
/// # Errors
/// [`BadShape`](KernelError::BadShape), [`BadParameter`](KernelError::BadParameter),
/// [`BadDType`](KernelError::BadDType), [`MixedDTypes`](KernelError::MixedDTypes),
/// [`Unsupported`](KernelError::Unsupported) but for two spatial dimensions.
pub fn deform_conv(
    operands: &DeformOperands<'_>,
    groups: usize,
    offset_groups: usize,
    params: &WindowParams,
) -> Result<Tensor> {
    let DeformOperands { x, w, offset, bias, mask } = *operands;
    let dtype = one_float(NAME, &[x, w, offset])?;
    let (&[batch, channels, height, width], &[filters, depth, kh, kw]) = (x.shape(), w.shape())
    else {
        let what = "another number of spatial dimensions than 2".to_owned();
        return Err(KernelError::Unsupported { kernel: NAME, what });
    };
    let fits = groups > 0
        && offset_groups > 0
        && depth.checked_mul(groups) == Some(channels)
        && filters % groups == 0
        && channels % offset_groups == 0;
    if !fits {
        return Err(refuse::shape(NAME, "filters that go with the channels and groups", w));
    }
    let list = |list: &[i64], fill: i64, n: usize| -> Result<Vec<f64>> {
        match list.len() {
            0 => Ok(vec![fill as f64; n]),
            len if len == n => Ok(list.iter().map(|&n| n as f64).collect()),
            _ => Err(refuse::parameter(NAME, "window", "an entry for each dimension", list)),
        }
    };
    let strides = list(&params.strides, 1, 2)?;
    let dilations = list(&params.dilations, 1, 2)?;
    let pads = list(&params.pads, 0, 4)?;
    let places = kh.saturating_mul(kw);
    let all = offset_groups.saturating_mul(places);
    let &[ob, moved, oh, ow] = offset.shape() else {
        return Err(refuse::shape(NAME, "an offset of rank 4", offset));
    };
    if ob != batch || moved != all.saturating_mul(2) {
        return Err(refuse::shape(NAME, "an offset for each place of a window", offset));
    }
    if let Some(mask) = mask.filter(|mask| mask.shape() != [batch, all, oh, ow]) {
        return Err(refuse::shape(NAME, "a factor for each place of a window", mask));
    }
    if let Some(bias) = bias.filter(|bias| bias.shape() != [filters]) {
        return Err(refuse::shape(NAME, "a bias for each filter", bias));
    }
    let shape = [batch, filters, oh, ow];
    let count = checked_count(dtype, &shape)?;
    let (data, weights, offsets) = (floats(NAME, x)?, floats(NAME, w)?, floats(NAME, offset)?);
    let bias = bias.map(|bias| floats(NAME, bias)).transpose()?;
    let mask = mask.map(|mask| floats(NAME, mask)).transpose()?;
    let mut out = Vec::with_capacity(count);
    let size = if count == 0 { 0 } else { batch };
    for b in 0..size {
        for filter in 0..filters {
            let group = filter / (filters / groups);
            for at in 0..oh * ow {
                let corner = [
                    (at / ow) as f64 * strides[0] - pads[0],
                    (at % ow) as f64 * strides[1] - pads[1],
                ];
                let mut sum = bias.as_ref().map_or(0.0, |bias| bias[filter]);
                for c in 0..depth {
                    let channel = group * depth + c;
                    let part = channel / (channels / offset_groups);
                    let image =
                        &data[(b * channels + channel) * height * width..][..height * width];
                    for place in 0..places {
                        let slot = (b * offset_groups + part) * places + place;
                        let moved = |axis: usize| offsets[(slot * 2 + axis) * oh * ow + at];
                        let y = corner[0] + (place / kw) as f64 * dilations[0] + moved(0);
                        let x = corner[1] + (place % kw) as f64 * dilations[1] + moved(1);
                        let factor = mask.as_ref().map_or(1.0, |mask| mask[slot * oh * ow + at]);
                        let weight = weights[(filter * depth + c) * places + place];
                        sum += weight * factor * sample(image, [height, width], [y, x]);
                    }
                }
                out.push(sum);
            }
        }
    }
    from_f64s(dtype, &shape, out)
}

/// The image at a place between pixels; 0 outside.
fn sample(image: &[f64], [height, width]: [usize; 2], [y, x]: [f64; 2]) -> f64 {
    let (top, left) = (y.floor(), x.floor());
    let pixel = |y: f64, x: f64| {
        let inside = y >= 0.0 && x >= 0.0 && y < height as f64 && x < width as f64;
        if inside { image[y as usize * width + x as usize] } else { 0.0 }
    };
    let (down, right) = (y - top, x - left);
    (1.0 - down) * ((1.0 - right) * pixel(top, left) + right * pixel(top, left + 1.0))
        + down * ((1.0 - right) * pixel(top + 1.0, left) + right * pixel(top + 1.0, left + 1.0))
}
