//! From linear frequencies to the mel scale: ONNX `MelWeightMatrix`.

use crate::dtype::DType;
use crate::error::Result;
use crate::refuse;
use crate::tensor::{Tensor, checked_count};
use crate::wide::from_f64s;

/// The bands of [`mel_weight_matrix`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MelParams {
    /// The number of bands.
    pub bands: usize,
    /// Length of the transform; it has `dft_length / 2 + 1` frequencies.
    pub dft_length: usize,
    /// Samples a second.
    pub sample_rate: f64,
    /// Lower end of the lowest band, in hertz.
    pub lower_edge: f64,
    /// Upper end of the highest band, in hertz.
    pub upper_edge: f64,
}

/// Makes the matrix that takes frequencies to bands of the mel scale, of type `dtype`.
///
/// The result: frequencies by bands. Each band is a triangle with its peak of 1 at its middle
/// frequency; `mel(f) = 2595 log10(1 + f / 700)`, and edges round down to frequencies.
///
/// # Errors
/// [`BadParameter`](crate::KernelError::BadParameter) if an edge lies outside the frequencies,
/// [`TooLarge`](crate::KernelError::TooLarge), [`BadDType`](crate::KernelError::BadDType).
pub fn mel_weight_matrix(params: &MelParams, dtype: DType) -> Result<Tensor> {
    const NAME: &str = "mel_weight_matrix";
    let MelParams { bands, dft_length, sample_rate, lower_edge, upper_edge } = *params;
    let frequencies = dft_length / 2 + 1;
    let mut out = vec![0.0; checked_count(DType::F64, &[frequencies, bands])?];
    let mel = |hertz: f64| 2595.0 * (hertz / 700.0).ln_1p() / std::f64::consts::LN_10;
    let step = (mel(upper_edge) - mel(lower_edge)) / (bands as f64 + 2.0);
    let edge = |index: usize| {
        let mels = index as f64 * step + mel(lower_edge);
        let hertz = 700.0 * (mels / 2595.0 * std::f64::consts::LN_10).exp_m1();
        let place = ((dft_length as f64 + 1.0) * hertz / sample_rate).floor();
        let inside = (0.0..=frequencies as f64).contains(&place);
        inside.then_some(place as usize).ok_or_else(|| {
            refuse::parameter(
                NAME,
                "edges",
                "hertz among the frequencies",
                (lower_edge, upper_edge),
            )
        })
    };
    for band in 0..bands {
        let [low, middle, high] = [edge(band)?, edge(band + 1)?, edge(band + 2)?];
        if middle >= frequencies || low > middle || middle > high {
            let found = (lower_edge, upper_edge);
            return Err(refuse::parameter(NAME, "edges", "rising frequencies", found));
        }
        for at in low..=middle {
            let rise = (middle - low) as f64;
            out[at * bands + band] = if rise == 0.0 { 1.0 } else { (at - low) as f64 / rise };
        }
        for at in middle..high {
            out[at * bands + band] = (high - at) as f64 / (high - middle) as f64;
        }
    }
    from_f64s(dtype, &[frequencies, bands], out)
}
