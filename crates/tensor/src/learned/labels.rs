//! Names of classes and categories, and tables from one to another.

use std::collections::HashMap;

use crate::error::{KernelError, Result};
use crate::index::take;
use crate::refuse;
use crate::shape::concatenate;
use crate::tensor::Tensor;

/// The names of classes: texts or numbers.
#[derive(Clone, PartialEq, Debug)]
pub enum Labels {
    /// Texts.
    Texts(Vec<Vec<u8>>),
    /// Numbers.
    Numbers(Vec<i64>),
}

impl Labels {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Labels::Texts(texts) => texts.len(),
            Labels::Numbers(numbers) => numbers.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All of them, as a vector.
    pub fn tensor(&self) -> Result<Tensor> {
        match self {
            Labels::Texts(texts) => Tensor::from_strings([texts.len()], texts.clone()),
            Labels::Numbers(numbers) => Ok(Tensor::vector(numbers.clone())),
        }
    }

    /// The labels at `places`, each of which has to be one.
    pub(super) fn at(&self, places: &[usize]) -> Result<Tensor> {
        match self {
            Labels::Texts(texts) => {
                let picked: Vec<Vec<u8>> = places.iter().map(|&at| texts[at].clone()).collect();
                Tensor::from_strings([places.len()], picked)
            }
            Labels::Numbers(numbers) => {
                Ok(Tensor::vector(places.iter().map(|&at| numbers[at]).collect()))
            }
        }
    }
}

/// What an element is looked up by: its bytes, of which equal numbers have the same.
fn keys(tensor: &Tensor) -> Result<Vec<Vec<u8>>> {
    if let Some(texts) = tensor.strings() {
        return Ok(texts.to_vec());
    }
    if tensor.dtype().is_float() {
        let bits = |v: f64| if v.is_nan() { f64::NAN.to_bits() } else { (v + 0.0).to_bits() };
        return Ok(tensor.f64s()?.into_iter().map(|v| bits(v).to_le_bytes().into()).collect());
    }
    Ok(tensor.i64s()?.into_iter().map(|v| v.to_le_bytes().into()).collect())
}

/// The element of `values` at the place that each element of `x` has among `known`; `default`
/// where it has none. NaN is equal to NaN, -0 to 0; of equal keys the first counts, or the `last`.
///
/// # Errors
/// [`KernelError::MixedDTypes`] for keys or a default of another type,
/// [`KernelError::BadParameter`] unless there are as many keys as values.
pub fn label_encoder(
    x: &Tensor,
    known: &Tensor,
    values: &Tensor,
    default: &Tensor,
    last: bool,
) -> Result<Tensor> {
    const NAME: &str = "label_encoder";
    if known.dtype() != x.dtype() {
        let (left, right) = (x.dtype(), known.dtype());
        return Err(KernelError::MixedDTypes { kernel: NAME, left, right });
    }
    if known.len() != values.len() {
        return Err(refuse::parameter(NAME, "values", "as many as keys", values.len()));
    }
    if default.len() != 1 {
        return Err(refuse::parameter(NAME, "default", "one element", default.len()));
    }
    let mut places: HashMap<Vec<u8>, i64> = HashMap::new();
    for (place, key) in keys(known)?.into_iter().enumerate() {
        let place = place as i64;
        let slot = places.entry(key).or_insert(place);
        if last {
            *slot = place;
        }
    }
    let absent = values.len() as i64;
    let found = keys(x)?.into_iter().map(|key| places.get(&key).copied().unwrap_or(absent));
    let found = Tensor::from_vec(x.shape(), found.collect())?;
    let table = concatenate(&[&values.reshaped([values.len()])?, &default.reshaped([1])?], 0)?;
    take(&table, &found, 0)
}
