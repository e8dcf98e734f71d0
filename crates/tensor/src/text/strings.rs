//! Joining, cutting, filtering and matching texts.

use crate::dtype::DType;
use crate::error::{KernelError, Result};
use crate::layout::{Nest, broadcast, broadcast_strides};
use crate::refuse;
use crate::tensor::Tensor;

fn texts<'a>(kernel: &'static str, tensor: &'a Tensor) -> Result<&'a [Vec<u8>]> {
    tensor.strings().ok_or_else(|| refuse::dtype(kernel, "string", tensor.dtype()))
}

fn characters(bytes: &[u8]) -> Result<&str> {
    str::from_utf8(bytes).map_err(|_| KernelError::BadElement {
        to: DType::String,
        found: String::from_utf8_lossy(bytes).into_owned(),
    })
}

/// Puts the texts of `right` behind those of `left`; shapes broadcast.
///
/// # Errors
/// [`KernelError::BadDType`] unless both hold texts, [`KernelError::Broadcast`].
pub fn concat(left: &Tensor, right: &Tensor) -> Result<Tensor> {
    const NAME: &str = "string_concat";
    let (a, b) = (texts(NAME, left)?, texts(NAME, right)?);
    let shape = broadcast(NAME, left.shape(), right.shape())?;
    let strides = [left, right].map(|t| broadcast_strides(t.shape(), &shape));
    let mut out = Vec::new();
    Nest::new(&shape, [&strides[0], &strides[1]]).walk([0, 0], |[i, j]| {
        out.push([a[i as usize].as_slice(), b[j as usize].as_slice()].concat());
    });
    Tensor::from_strings(&shape, out)
}

/// Cuts each text at `delimiter`, at most `most` times; without a delimiter at runs of white
/// space, which is also dropped at the ends.
///
/// Returns the parts, filled up with empty texts along a new last dimension, and their numbers.
///
/// # Errors
/// [`KernelError::BadDType`] unless the tensor holds texts, [`KernelError::BadElement`] for one
/// that is no UTF-8.
pub fn split(tensor: &Tensor, delimiter: &str, most: Option<usize>) -> Result<(Tensor, Tensor)> {
    let most = most.unwrap_or(usize::MAX);
    let cut = |element: &Vec<u8>| -> Result<Vec<Vec<u8>>> {
        let text = characters(element)?;
        let parts: Vec<&str> = match delimiter {
            "" => words(text, most),
            _ => text.splitn(most.saturating_add(1), delimiter).collect(),
        };
        Ok(parts.into_iter().map(|part| part.as_bytes().to_vec()).collect())
    };
    let all: Vec<Vec<Vec<u8>>> =
        texts("string_split", tensor)?.iter().map(cut).collect::<Result<_>>()?;
    let counts: Vec<i64> = all.iter().map(|parts| parts.len() as i64).collect();
    let width = all.iter().map(Vec::len).max().unwrap_or(0);
    let mut shape = tensor.shape().to_vec();
    shape.push(width);
    let filled = all.into_iter().flat_map(|mut parts| {
        parts.resize(width, Vec::new());
        parts
    });
    let parts = Tensor::from_strings(&shape, filled.collect::<Vec<_>>())?;
    Ok((parts, Tensor::from_vec(tensor.shape(), counts)?))
}

/// Cuts at runs of white space at most `most` times; what is left of the text is the last part.
fn words(text: &str, most: usize) -> Vec<&str> {
    let (mut rest, mut parts) = (text.trim_start(), Vec::new());
    while parts.len() < most {
        let Some(end) = rest.find(char::is_whitespace) else { break };
        parts.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    if !rest.is_empty() {
        parts.push(rest);
    }
    parts
}

/// What [`normalize`] does to letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum CaseChange {
    /// Nothing.
    #[default]
    None,
    /// Makes them small.
    Lower,
    /// Makes them capital.
    Upper,
}

/// How [`normalize`] works.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct NormalizeParams<'a> {
    /// What becomes of letters.
    pub case: CaseChange,
    /// Whether stop words are compared with their letters as they are.
    pub case_sensitive: bool,
    /// Texts that are left out.
    pub stop_words: Vec<&'a str>,
}

/// Leaves out the stop words and changes the case of the rest; one empty text if nothing is left.
///
/// The tensor has rank 1, or rank 2 with a first extent of 1.
///
/// # Errors
/// [`KernelError::BadDType`] unless the tensor holds texts, [`KernelError::BadShape`],
/// [`KernelError::Unsupported`] where letters beyond ASCII would have to be looked at: what is
/// done with them depends on a locale.
pub fn normalize(tensor: &Tensor, params: &NormalizeParams<'_>) -> Result<Tensor> {
    const NAME: &str = "string_normalizer";
    let matrix = match *tensor.shape() {
        [_] => false,
        [1, _] => true,
        _ => return Err(refuse::shape(NAME, "rank 1, or 1 by any extent", tensor)),
    };
    let folded = !params.case_sensitive && !params.stop_words.is_empty();
    let all = texts(NAME, tensor)?;
    let ascii = all.iter().all(|text| text.is_ascii())
        && params.stop_words.iter().all(|word| word.is_ascii());
    if (folded || params.case != CaseChange::None) && !ascii {
        let what = "the case of letters beyond ASCII".to_owned();
        return Err(KernelError::Unsupported { kernel: NAME, what });
    }
    let stops = |text: &Vec<u8>| {
        params.stop_words.iter().any(|word| match folded {
            true => word.as_bytes().eq_ignore_ascii_case(text),
            false => word.as_bytes() == text,
        })
    };
    let changed = |text: &Vec<u8>| match params.case {
        CaseChange::None => text.clone(),
        CaseChange::Lower => text.to_ascii_lowercase(),
        CaseChange::Upper => text.to_ascii_uppercase(),
    };
    let mut kept: Vec<Vec<u8>> = all.iter().filter(|text| !stops(text)).map(changed).collect();
    if kept.is_empty() {
        kept.push(Vec::new());
    }
    let shape = if matrix { vec![1, kept.len()] } else { vec![kept.len()] };
    Tensor::from_strings(&shape, kept)
}

/// Says for each text whether `pattern`, a regular expression, matches all of it.
///
/// # Errors
/// [`KernelError::BadParameter`] for a pattern that is none or uses classes of Unicode,
/// [`KernelError::BadDType`], [`KernelError::BadElement`] as for [`split`].
pub fn full_match(tensor: &Tensor, pattern: &str) -> Result<Tensor> {
    const NAME: &str = "regex_full_match";
    let regex = regex_lite::Regex::new(&format!(r"\A(?:{pattern})\z"))
        .map_err(|_| refuse::parameter(NAME, "pattern", "a regular expression", pattern))?;
    let found = texts(NAME, tensor)?.iter().map(|text| Ok(regex.is_match(characters(text)?)));
    Tensor::from_vec(tensor.shape(), found.collect::<Result<Vec<bool>>>()?)
}
