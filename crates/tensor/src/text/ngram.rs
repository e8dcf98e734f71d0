//! Counting n-grams: ONNX `TfIdfVectorizer`.

use std::collections::HashMap;

use crate::dtype::DType;
use crate::error::Result;
use crate::refuse;
use crate::tensor::{Tensor, checked_count};

const NAME: &str = "tf_idf_vectorizer";

/// What [`count_ngrams`] returns for an n-gram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum NgramMode {
    /// How often it is there.
    #[default]
    Tf,
    /// Its weight if it is there, else 0.
    Idf,
    /// How often it is there times its weight.
    TfIdf,
}

/// What [`count_ngrams`] looks for.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct NgramParams {
    /// What is returned.
    pub mode: NgramMode,
    /// The least and the greatest length of an n-gram.
    pub lengths: (usize, usize),
    /// How many elements may be skipped between two of an n-gram.
    pub skips: usize,
    /// Where in the pool the n-grams of each length start, from length 1 on.
    pub starts: Vec<i64>,
    /// The place in the result of each n-gram, in the order of the pool.
    pub places: Vec<i64>,
    /// The weight of each n-gram, in the order of the pool; 1 if empty.
    pub weights: Vec<f64>,
    /// The n-grams, one after the other.
    pub pool: Pool,
}

/// N-grams of texts or integers.
pub type Pool = Vec<Vec<u8>>;

/// Counts the n-grams of each row, as `f32`.
///
/// The elements of a tensor of rank 1, or of each row of one of rank 2, are texts or integers;
/// the pool holds integers as text in decimal.
///
/// # Errors
/// [`BadDType`](crate::KernelError::BadDType), [`BadShape`](crate::KernelError::BadShape),
/// [`BadParameter`](crate::KernelError::BadParameter) for lists that do not go together.
pub fn count_ngrams(tensor: &Tensor, params: &NgramParams) -> Result<Tensor> {
    let items: Vec<Vec<u8>> = match tensor.strings() {
        Some(strings) => strings.to_vec(),
        None => tensor.i64s()?.iter().map(|n| n.to_string().into_bytes()).collect(),
    };
    let (rows, width) = match *tensor.shape() {
        [width] => (1, width),
        [rows, width] => (rows, width),
        _ => return Err(refuse::shape(NAME, "rank 1 or 2", tensor)),
    };
    let index = index(params)?;
    let columns = params.places.iter().max().map_or(0, |&last| last + 1) as usize;
    let count = checked_count(DType::F32, &[rows, columns])?;
    let mut out = vec![0f32; count];
    for row in 0..rows {
        let out = &mut out[row * columns..][..columns];
        count_row(&items[row * width..][..width], params, |ngram| {
            if let Some(&number) = index.get(ngram) {
                out[params.places[number] as usize] += 1.0;
            }
        });
        weigh(out, params);
    }
    let shape = if tensor.rank() == 1 { vec![columns] } else { vec![rows, columns] };
    Tensor::from_vec(&shape, out)
}

/// The number of each n-gram in the pool.
fn index(params: &NgramParams) -> Result<HashMap<Vec<&[u8]>, usize>> {
    let wrong = |what| refuse::parameter(NAME, what, "lists that go together", "others");
    let weights = params.weights.len();
    if params.places.iter().any(|&place| place < 0)
        || (weights != 0 && weights != params.places.len())
    {
        return Err(wrong("places and weights"));
    }
    let mut index = HashMap::new();
    let mut number = 0;
    for (i, &start) in params.starts.iter().enumerate() {
        let end = params.starts.get(i + 1).map_or(params.pool.len() as i64, |&next| next);
        let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
        let ngrams = range.and_then(|(start, end)| params.pool.get(start..end));
        let ngrams = ngrams.filter(|ngrams| ngrams.len() % (i + 1) == 0);
        for ngram in ngrams.ok_or_else(|| wrong("starts"))?.chunks_exact(i + 1) {
            index.insert(ngram.iter().map(Vec::as_slice).collect(), number);
            number += 1;
        }
    }
    if number != params.places.len() {
        return Err(wrong("places"));
    }
    Ok(index)
}

/// Visits every n-gram of a row. Those of length 1 are visited once, whatever the skips.
fn count_row<'a>(items: &'a [Vec<u8>], params: &NgramParams, mut visit: impl FnMut(&[&'a [u8]])) {
    let (least, most) = params.lengths;
    let mut ngram: Vec<&[u8]> = Vec::new();
    for step in 1..=params.skips.saturating_add(1).min(items.len().max(1)) {
        let least = if step == 1 { least.max(1) } else { least.max(2) };
        for length in least..=most {
            let reach = (length - 1).saturating_mul(step);
            for start in 0..items.len().saturating_sub(reach) {
                ngram.clear();
                ngram.extend((0..length).map(|i| items[start + i * step].as_slice()));
                visit(&ngram);
            }
        }
    }
}

fn weigh(counts: &mut [f32], params: &NgramParams) {
    if params.mode == NgramMode::Idf {
        counts.iter_mut().for_each(|count| *count = count.min(1.0));
    }
    if params.mode != NgramMode::Tf {
        for (&place, &weight) in params.places.iter().zip(&params.weights) {
            counts[place as usize] *= weight as f32;
        }
    }
}
