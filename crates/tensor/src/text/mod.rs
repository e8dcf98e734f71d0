//! Texts: ONNX `StringConcat`, `StringSplit`, `StringNormalizer`, `RegexFullMatch` and
//! `TfIdfVectorizer`.
//!
//! Elements are bytes; what needs characters takes UTF-8 only.

mod ngram;
mod strings;

pub use ngram::{NgramMode, NgramParams, Pool, count_ngrams};
pub use strings::{CaseChange, NormalizeParams, concat, full_match, normalize, split};
