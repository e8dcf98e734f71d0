//! Kernels that prepare features: each column for itself, or each row.

use std::collections::HashMap;

use super::{extents, f32s};
use crate::dispatch;
use crate::dtype::DType;
use crate::element::Number;
use crate::error::{KernelError, Result};
use crate::index::take;
use crate::refuse;
use crate::tensor::{Tensor, checked_count};

use super::labels::Labels;

/// How many parameters per feature repeat over the elements: the extent behind that of the rows.
fn feature_count(kernel: &'static str, x: &Tensor) -> Result<usize> {
    match *x.shape() {
        [] => Err(refuse::shape(kernel, "a row of features", x)),
        [columns] | [_, columns, ..] => Ok(columns),
    }
}

/// Gives 1 for what exceeds `threshold` and 0 for all else, NaN included.
///
/// # Errors
/// [`KernelError::BadDType`] unless elements are numbers.
pub fn binarizer(x: &Tensor, threshold: f32) -> Result<Tensor> {
    dispatch!(number, "binarizer", x.dtype(), T => {
        let threshold = f64::from(threshold);
        let flag = |&v: &T| T::from_i64(i64::from(v.to_f64() > threshold));
        Tensor::from_vec(x.shape(), x.view::<T>()?.iter().map(flag).collect())
    })
}

/// `(x - offset) * scale`, with an offset and a scale for each feature, or one for all.
///
/// # Errors
/// [`KernelError::BadParameter`] for any other number of them.
pub fn scaler(x: &Tensor, offset: &[f32], scale: &[f32]) -> Result<Tensor> {
    const NAME: &str = "scaler";
    let features = feature_count(NAME, x)?;
    for (parameter, list) in [("offset", offset), ("scale", scale)] {
        let fits = list.len() == offset.len() && (list.len() == features || list.len() == 1);
        if !fits {
            let expected = "one number, or one for each feature";
            return Err(refuse::parameter(NAME, parameter, expected, list.len()));
        }
    }
    let scaled = |(i, &v): (usize, &f32)| {
        let at = i % offset.len();
        (v - offset[at]) * scale[at]
    };
    let data = f32s(x)?;
    Tensor::from_vec(x.shape(), data.iter().enumerate().map(scaled).collect())
}

/// What a row is divided by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Norm {
    /// Its greatest element.
    Max,
    /// The sum of magnitudes.
    L1,
    /// The root of the sum of squares.
    L2,
}

/// Divides each row by its norm; a row whose norm is 0 stays.
///
/// # Errors
/// [`KernelError::BadShape`] unless the rank is 1 or 2.
pub fn normalizer(x: &Tensor, norm: Norm) -> Result<Tensor> {
    let (_, columns) = extents("normalizer", x)?;
    let mut out = f32s(x)?.into_owned();
    for row in out.chunks_exact_mut(columns.max(1)) {
        let length = match norm {
            Norm::Max => row.iter().copied().fold(f32::NEG_INFINITY, f32::max),
            Norm::L1 => row.iter().map(|v| v.abs()).sum(),
            Norm::L2 => row.iter().map(|v| v * v).sum::<f32>().sqrt(),
        };
        if length != 0.0 {
            row.iter_mut().for_each(|v| *v /= length);
        }
    }
    Tensor::from_vec(x.shape(), out)
}

/// Puts values in place of `replaced`, which may be NaN: one for each feature; the first for all
/// if there are not as many as features.
///
/// # Errors
/// [`KernelError::BadParameter`] without values, or for values that the element type lacks.
pub fn imputer(x: &Tensor, imputed: &Tensor, replaced: &Tensor) -> Result<Tensor> {
    const NAME: &str = "imputer";
    let features = feature_count(NAME, x)?;
    if imputed.is_empty() {
        return Err(refuse::parameter(NAME, "imputed values", "at least one", imputed.len()));
    }
    let cast = |tensor| crate::elementwise::cast(tensor, x.dtype());
    let (imputed, replaced) = (cast(imputed)?, cast(replaced)?);
    dispatch!(number, NAME, x.dtype(), T => {
        let (imputed, replaced) = (imputed.view::<T>()?, replaced.view::<T>()?[0]);
        let each = if imputed.len() == features { features } else { 1 };
        let missing = |v: T| v == replaced || v.is_not_a_number() && replaced.is_not_a_number();
        let filled = |(i, &v): (usize, &T)| if missing(v) { imputed[i % each] } else { v };
        Tensor::from_vec(x.shape(), x.view::<T>()?.iter().enumerate().map(filled).collect())
    })
}

/// A new last dimension with 1 at the place of each element among `categories` and 0 elsewhere.
/// Numbers lose their fraction before; of equal categories the last counts.
///
/// # Errors
/// [`KernelError::BadElement`] for an element that is none of them, unless `zeros` allows it.
pub fn one_hot_encoder(x: &Tensor, categories: &Labels, zeros: bool) -> Result<Tensor> {
    let shape: Vec<usize> = x.shape().iter().copied().chain([categories.len()]).collect();
    let mut out = vec![0.0f32; checked_count(DType::F32, &shape)?];
    let places = places(x, categories)?;
    for (row, place) in out.chunks_exact_mut(categories.len().max(1)).zip(&places) {
        match place {
            Some(place) => row[*place] = 1.0,
            None if zeros => {}
            None => {
                let found = "an element that is no category".to_owned();
                return Err(KernelError::BadElement { to: DType::F32, found });
            }
        }
    }
    Tensor::from_vec(&shape, out)
}

/// The place of each element among the categories. Texts are no numbers.
fn places(x: &Tensor, categories: &Labels) -> Result<Vec<Option<usize>>> {
    Ok(match (x.strings(), categories) {
        (Some(texts), Labels::Texts(list)) => {
            let places: HashMap<&[u8], usize> =
                list.iter().enumerate().map(|(i, text)| (&text[..], i)).collect();
            texts.iter().map(|text| places.get(&text[..]).copied()).collect()
        }
        (None, Labels::Numbers(list)) => {
            let places: HashMap<i64, usize> =
                list.iter().enumerate().map(|(i, &n)| (n, i)).collect();
            whole(x)?.into_iter().map(|n| places.get(&n?).copied()).collect()
        }
        _ => vec![None; x.len()],
    })
}

/// The elements without their fractions; nothing for NaN.
fn whole(x: &Tensor) -> Result<Vec<Option<i64>>> {
    if !x.dtype().is_float() {
        return Ok(x.i64s()?.into_iter().map(Some).collect());
    }
    Ok(x.f64s()?.into_iter().map(|v| (!v.is_nan()).then_some(v as i64)).collect())
}

/// Rows of all inputs behind each other: of input `i` the first `widths[i]` elements of each row,
/// filled up with 0.
///
/// # Errors
/// [`KernelError::BadParameter`] unless there is a width for each input,
/// [`KernelError::BadShape`] for different numbers of rows.
pub fn feature_vectorizer(inputs: &[&Tensor], widths: &[i64]) -> Result<Tensor> {
    const NAME: &str = "feature_vectorizer";
    let sizes: Vec<usize> = widths.iter().map_while(|&n| usize::try_from(n).ok()).collect();
    if sizes.len() != inputs.len() || widths.len() != inputs.len() || inputs.is_empty() {
        let expected = "a width, 0 or more, for each input";
        return Err(refuse::parameter(NAME, "inputdimensions", expected, widths));
    }
    let rows_of = |x: &Tensor| if x.rank() < 2 { 1 } else { x.shape()[0] };
    let rows = rows_of(inputs[0]);
    let total = sizes.iter().try_fold(0usize, |sum, &n| sum.checked_add(n));
    let total = total.unwrap_or(usize::MAX);
    let mut out = vec![0.0f32; checked_count(DType::F32, &[rows, total])?];
    let mut start = 0;
    for (&input, &width) in inputs.iter().zip(&sizes) {
        if rows_of(input) != rows {
            return Err(refuse::shape(NAME, format!("{rows} rows"), input));
        }
        let data = f32s(input)?;
        let columns = input.len() / rows.max(1);
        let taken = width.min(columns);
        for row in 0..rows {
            let from = &data[row * columns..][..taken];
            out[row * total + start..][..taken].copy_from_slice(from);
        }
        start += width;
    }
    Tensor::from_vec([rows, total], out)
}

/// The elements of the last dimension at `places`; a vector gives one row.
///
/// # Errors
/// [`KernelError::IndexOutOfRange`]; none is counted from the back.
pub fn array_feature_extractor(x: &Tensor, places: &Tensor) -> Result<Tensor> {
    const NAME: &str = "array_feature_extractor";
    let Some(&size) = x.shape().last() else {
        return Err(refuse::shape(NAME, "a row of features", x));
    };
    let places = places.i64s()?;
    if let Some(&index) = places.iter().find(|&&place| place < 0 || place >= size as i64) {
        return Err(KernelError::IndexOutOfRange { kernel: NAME, index, size });
    }
    let count = places.len();
    let picked = take(x, &Tensor::vector(places), -1)?;
    if x.rank() == 1 { picked.reshaped([1, count]) } else { Ok(picked) }
}
