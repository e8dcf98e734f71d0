//! Fourier transforms of tensors.

use crate::dtype::DType;
use crate::error::Result;
use crate::layout::{around, resolve_axis};
use crate::refuse;
use crate::signal::fourier::{Complex, Fourier, RealFourier};
use crate::tensor::{Shape, Tensor, checked_count};
use crate::wide::{floats, from_f64s};

/// How [`dft`] works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DftParams {
    /// The axis of the signal; may count from the back, where the last is that of the parts.
    pub axis: i64,
    /// The length of the signal, which is cut or continued with zeros; its extent if absent.
    pub length: Option<usize>,
    /// Whether to transform back.
    pub inverse: bool,
    /// Whether only the first half of the frequencies, and the middle one, is there: in the
    /// result, or, transforming back, in the operand.
    pub onesided: bool,
}

impl Default for DftParams {
    fn default() -> Self {
        DftParams { axis: -2, length: None, inverse: false, onesided: false }
    }
}

/// Transforms along an axis: `y[k] = sum of x[j] exp(-2 pi i j k / n)`, or back.
///
/// `x`: any extents, then 1 (real) or 2 (real and imaginary parts). The result has as many
/// frequencies as the length, or `length / 2 + 1` if one-sided, and two parts; transforming back
/// one-sided gives `length` real numbers, by default twice the extent less 2.
///
/// # Errors
/// [`BadShape`](crate::KernelError::BadShape), [`BadAxis`](crate::KernelError::BadAxis),
/// [`BadDType`](crate::KernelError::BadDType), [`TooLarge`](crate::KernelError::TooLarge).
pub fn dft(x: &Tensor, params: DftParams) -> Result<Tensor> {
    const NAME: &str = "dft";
    let data = floats(NAME, x)?;
    let (&parts, signal) = x.shape().split_last().unwrap_or((&0, &[]));
    if !matches!(parts, 1 | 2) || signal.is_empty() {
        return Err(refuse::shape(NAME, "a signal, then 1 or 2", x));
    }
    let axis = resolve_axis(NAME, params.axis, x.rank())?;
    if axis + 1 == x.rank() {
        return Err(refuse::parameter(NAME, "axis", "an axis other than the last", params.axis));
    }
    let (outer, extent, inner) = around(signal, axis);
    let back = params.inverse && params.onesided;
    let usual = if back { (2 * extent).saturating_sub(2) } else { extent };
    let length = params.length.unwrap_or(usual);
    let kept = if params.onesided && !params.inverse { length / 2 + 1 } else { length };
    let mut shape: Shape = x.shape().into();
    shape[axis] = if length == 0 { 0 } else { kept };
    let out_parts = if back { 1 } else { 2 };
    shape[x.rank() - 1] = out_parts;
    let mut out = vec![0.0; checked_count(DType::F64, &shape)?];
    checked_count(DType::C128, &[length])?;
    if out.is_empty() {
        return from_f64s(x.dtype(), &shape, out);
    }
    if parts == 1 && params.onesided && !params.inverse {
        real_dft(&data, [extent, inner], length, &mut out);
        return from_f64s(x.dtype(), &shape, out);
    }
    let mut plan = Fourier::new(length, params.inverse);
    let mut run = Vec::with_capacity(length);
    for row in 0..outer * inner {
        let (block, column) = (row / inner, row % inner);
        let read = |j: usize| complex(&data, (block * extent + j) * inner + column, parts);
        run.clear();
        match back {
            true => two_sided(&mut run, length, |k| match k < extent {
                true => read(k),
                false => Complex::default(),
            }),
            false => run.extend((0..extent.min(length)).map(read)),
        }
        run.resize(length, Complex::default());
        plan.transform(&mut run);
        for (k, x) in run.iter().take(kept).enumerate() {
            let at = ((block * kept + k) * inner + column) * out_parts;
            out[at] = x.re;
            if !back {
                out[at + 1] = x.im;
            }
        }
    }
    from_f64s(x.dtype(), &shape, out)
}

/// The first half of the frequencies of real signals, and the middle one: half of the work.
fn real_dft(data: &[f64], [extent, inner]: [usize; 2], length: usize, out: &mut [f64]) {
    let kept = length / 2 + 1;
    let mut plan = RealFourier::new(length);
    let mut run = Vec::with_capacity(kept);
    for row in 0..out.len() / (2 * kept) {
        let (block, column) = (row / inner, row % inner);
        let read = |j: usize| match j < extent {
            true => data[(block * extent + j) * inner + column],
            false => 0.0,
        };
        run.clear();
        plan.transform(read, &mut run);
        for (k, x) in run.iter().enumerate() {
            let at = ((block * kept + k) * inner + column) * 2;
            (out[at], out[at + 1]) = (x.re, x.im);
        }
    }
}

fn complex(data: &[f64], at: usize, parts: usize) -> Complex {
    Complex::new(data[at * parts], if parts == 2 { data[at * parts + 1] } else { 0.0 })
}

/// Continues the first half of the frequencies of a real signal to all of them.
fn two_sided(run: &mut Vec<Complex>, length: usize, half: impl Fn(usize) -> Complex) {
    let frequency = |k: usize| {
        let mirrored = length - k;
        match k {
            // A real signal has real numbers here, whatever is given.
            0 => half(0).re.into(),
            k if k == mirrored => half(k).re.into(),
            k if k < mirrored => half(k),
            _ => half(mirrored).conj(),
        }
    };
    run.extend((0..length).map(frequency));
}

/// Transforms frames of a signal: the short-time Fourier transform.
///
/// `signal`: batch, length, then 1 (real) or 2 (real and imaginary parts). `window`: one factor
/// for each element of a frame; 1 if absent. `frame_length`: by default that of the window, else
/// the length of the signal. The result: batch, frames, frequencies (`frame_length / 2 + 1` if
/// `onesided`), 2. Only whole frames count.
///
/// # Errors
/// [`BadShape`](crate::KernelError::BadShape), [`BadParameter`](crate::KernelError::BadParameter)
/// for a step of 0 or a length unlike that of the window,
/// [`BadDType`](crate::KernelError::BadDType), [`TooLarge`](crate::KernelError::TooLarge).
pub fn stft(
    signal: &Tensor,
    frame_step: usize,
    window: Option<&Tensor>,
    frame_length: Option<usize>,
    onesided: bool,
) -> Result<Tensor> {
    const NAME: &str = "stft";
    let data = floats(NAME, signal)?;
    let (batch, size, parts) = match *signal.shape() {
        [batch, size] => (batch, size, 1),
        [batch, size, parts @ (1 | 2)] => (batch, size, parts),
        _ => return Err(refuse::shape(NAME, "batch, length, then 1, 2 or nothing", signal)),
    };
    let length = frame_length.or(window.map(Tensor::len)).unwrap_or(size);
    if let Some(window) = window.filter(|window| window.shape() != [length]) {
        return Err(refuse::shape(NAME, format!("a window of shape [{length}]"), window));
    }
    if frame_step == 0 || length == 0 {
        let expected = "a step and a length of at least 1";
        return Err(refuse::parameter(NAME, "frame_step", expected, (frame_step, length)));
    }
    let frames = size.checked_sub(length).map_or(0, |room| room / frame_step + 1);
    let kept = if onesided { length / 2 + 1 } else { length };
    let shape = [batch, frames, kept, 2];
    let count = checked_count(DType::F64, &shape)?;
    let factors = window.map(|window| floats(NAME, window)).transpose()?;
    let mut out = Vec::with_capacity(count / 2);
    if frames > 0 {
        let factor = |j: usize| factors.as_ref().map_or(1.0, |factors| factors[j]);
        let starts = (0..batch * frames).map(|at| at / frames * size + at % frames * frame_step);
        if parts == 1 && onesided {
            let mut plan = RealFourier::new(length);
            starts.for_each(|start| plan.transform(|j| data[start + j] * factor(j), &mut out));
        } else {
            let mut plan = Fourier::new(length, false);
            let mut run = Vec::with_capacity(length);
            for start in starts {
                run.clear();
                run.extend((0..length).map(|j| complex(&data, start + j, parts) * factor(j)));
                plan.transform(&mut run);
                out.extend_from_slice(&run[..kept]);
            }
        }
    }
    let numbers = out.iter().flat_map(|x| [x.re, x.im]).collect();
    from_f64s(signal.dtype(), &shape, numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Signals with others between their elements, cut, whole and continued with zeros.
    #[test]
    fn one_side_of_a_real_signal_is_the_first_half_of_all_frequencies() {
        let numbers = (0..2 * 12 * 3).map(|k| ((k * k) % 11) as f32 - 4.0).collect();
        let x = Tensor::from_vec([2, 12, 3, 1], numbers).expect("fits");
        for length in [1, 7, 8, 12, 16] {
            let of = |onesided| {
                let params = DftParams { axis: 1, length: Some(length), onesided, inverse: false };
                let out = dft(&x, params).expect("a transform");
                (out.shape().to_vec(), floats("dft", &out).expect("floats").to_vec())
            };
            let ((shape, half), (_, all)) = (of(true), of(false));
            let kept = length / 2 + 1;
            assert_eq!(shape, [2, kept, 3, 2]);
            for (block, (half, all)) in
                half.chunks(kept * 6).zip(all.chunks(length * 6)).enumerate()
            {
                for (at, (a, b)) in half.iter().zip(all).enumerate() {
                    assert!((a - b).abs() < 1e-5, "length {length}, block {block}, {at}: {a}, {b}");
                }
            }
        }
    }
}
