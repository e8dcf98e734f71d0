//! Maps: pairs of a key and a value, as two vectors, with the keys ascending and each once.

use std::cmp::Ordering;

use super::labels::Labels;
use super::{extents, f32s};
use crate::dtype::DType;
use crate::elementwise::cast;
use crate::error::{KernelError, Result};
use crate::index::take;
use crate::refuse;
use crate::shape::concatenate;
use crate::tensor::{Tensor, checked_count};

/// Puts the keys in order; of equal keys the last counts.
///
/// # Errors
/// [`KernelError::BadShape`] unless there are as many values as keys.
pub fn map_of(keys: &Tensor, values: &Tensor) -> Result<(Tensor, Tensor)> {
    if keys.rank() != 1 || keys.shape() != values.shape() {
        return Err(refuse::shape("map", format!("as many values as {} keys", keys.len()), values));
    }
    let order = order(keys)?;
    Ok((picked(keys, &order)?, picked(values, &order)?))
}

/// The places of different keys, ascending; of equal keys the last place.
fn order(keys: &Tensor) -> Result<Vec<i64>> {
    let numbers = if keys.strings().is_none() { keys.i64s()? } else { Vec::new() };
    let compare = |&a: &i64, &b: &i64| -> Ordering {
        let (a, b) = (a as usize, b as usize);
        match keys.strings() {
            Some(texts) => texts[a].cmp(&texts[b]),
            None => numbers[a].cmp(&numbers[b]),
        }
    };
    let mut order: Vec<i64> = (0..keys.len() as i64).collect();
    order.sort_by(|a, b| compare(a, b).then(b.cmp(a)));
    order.dedup_by(|later, kept| compare(later, kept) == Ordering::Equal);
    Ok(order)
}

fn picked(tensor: &Tensor, places: &[i64]) -> Result<Tensor> {
    take(tensor, &Tensor::vector(places.to_vec()), 0)
}

/// For each row of scores the map from labels to scores. All of them share the keys.
///
/// # Errors
/// [`KernelError::BadShape`] unless a row has as many scores as there are labels.
pub fn zip_map(x: &Tensor, labels: &Labels) -> Result<Vec<(Tensor, Tensor)>> {
    const NAME: &str = "zip_map";
    let (rows, columns) = extents(NAME, x)?;
    if columns != labels.len() {
        return Err(refuse::shape(NAME, format!("rows of {} scores", labels.len()), x));
    }
    let keys = labels.tensor()?;
    let order = order(&keys)?;
    let keys = picked(&keys, &order)?;
    let data = f32s(x)?;
    let row = |row: usize| {
        let row = &data[row * columns..][..columns];
        let values = order.iter().map(|&at| row[at as usize]).collect();
        (keys.clone(), Tensor::vector(values))
    };
    Ok((0..rows).map(row).collect())
}

/// The value of each key of `vocabulary`, 0 or an empty text for one that the map lacks; one row.
///
/// # Errors
/// [`KernelError::MixedDTypes`] for keys of another type.
pub fn dict_vectorizer(keys: &Tensor, values: &Tensor, vocabulary: &Labels) -> Result<Tensor> {
    const NAME: &str = "dict_vectorizer";
    let absent = match values.dtype() {
        DType::String => Tensor::from_strings([1], vec![Vec::new()])?,
        dtype => cast(&Tensor::vector(vec![0i64]), dtype)?,
    };
    let wanted = vocabulary.tensor()?;
    let found = super::label_encoder(&wanted, keys, values, &absent, true)?;
    found.reshaped([1, vocabulary.len()]).map_err(|_| refuse::shape(NAME, "a map", values))
}

/// The form of the row that a map becomes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CastForm {
    /// All values, by ascending keys.
    Dense,
    /// As many elements as this: each value at its key.
    Sparse(usize),
}

/// The values of a map from numbers as a row of type `to`. Keys that do not fit are left out.
///
/// # Errors
/// [`KernelError::BadParameter`] for a key below 0 that is a place, [`KernelError::BadElement`] for
/// a text that is no number.
pub fn cast_map(keys: &Tensor, values: &Tensor, form: CastForm, to: DType) -> Result<Tensor> {
    const NAME: &str = "cast_map";
    let values = cast_values(values, to)?;
    let CastForm::Sparse(width) = form else { return values.reshaped([1, values.len()]) };
    let count = checked_count(to, &[width])?;
    let absent = match to {
        // What fills up texts is how onnxruntime writes a float.
        DType::String => Tensor::from_strings([1], vec![b"0.f".to_vec()])?,
        _ => cast(&Tensor::vector(vec![0i64]), to)?,
    };
    let last = values.len() as i64;
    let mut places = vec![last; count];
    for (at, key) in keys.i64s()?.into_iter().enumerate() {
        let key =
            usize::try_from(key).map_err(|_| refuse::parameter(NAME, "key", "0 or more", key))?;
        if let Some(place) = places.get_mut(key) {
            *place = at as i64;
        }
    }
    let row = take(&concatenate(&[&values, &absent], 0)?, &Tensor::vector(places), 0)?;
    row.reshaped([1, width])
}

/// Texts of floats have six digits behind the point.
fn cast_values(values: &Tensor, to: DType) -> Result<Tensor> {
    if to != DType::String || values.strings().is_some() {
        return match (values.strings(), to) {
            (Some(texts), DType::I64) => {
                texts.iter().map(|text| whole(text)).collect::<Result<_>>().map(Tensor::vector)
            }
            _ => cast(values, to),
        };
    }
    let texts: Vec<Vec<u8>> =
        values.f64s()?.into_iter().map(|v| format!("{v:.6}").into_bytes()).collect();
    Tensor::from_strings([texts.len()], texts)
}

/// The whole number that a text begins with.
fn whole(text: &[u8]) -> Result<i64> {
    let read = str::from_utf8(text).ok().and_then(|text| {
        let text = text.trim_start();
        let end = text.char_indices().skip(1).find(|(_, c)| !c.is_ascii_digit());
        text[..end.map_or(text.len(), |(at, _)| at)].parse().ok()
    });
    read.ok_or_else(|| KernelError::BadElement {
        to: DType::I64,
        found: String::from_utf8_lossy(text).into_owned(),
    })
}
