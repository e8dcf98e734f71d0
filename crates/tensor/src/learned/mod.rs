//! Models that were learned and are no networks, and what prepares their features: the operators
//! of ONNX's domain `ai.onnx.ml`.
//!
//! Rows are samples, columns are features; a vector is one row. Where the standard leaves open
//! what comes out, it is what onnxruntime gives.

mod features;
mod labels;
mod linear;
mod maps;
mod scores;
mod svm;
pub mod trees;

use std::borrow::Cow;

pub use features::{
    Norm, array_feature_extractor, binarizer, feature_vectorizer, imputer, normalizer,
    one_hot_encoder, scaler,
};
pub use labels::{Labels, label_encoder};
pub use linear::{LinearParams, linear_classifier, linear_regressor};
pub use maps::{CastForm, cast_map, dict_vectorizer, map_of, zip_map};
pub use scores::{Other, PostTransform, QUANTILE, ZERO};
pub use svm::{Kernel, SvmClassifierParams, SvmParams, svm_classifier, svm_regressor};

use crate::dtype::DType;
use crate::error::Result;
use crate::refuse;
use crate::tensor::Tensor;

/// Rows and columns of a matrix; a vector is one row.
fn extents(kernel: &'static str, x: &Tensor) -> Result<(usize, usize)> {
    match *x.shape() {
        [columns] => Ok((1, columns)),
        [rows, columns] => Ok((rows, columns)),
        _ => Err(refuse::shape(kernel, "rank 1 or 2", x)),
    }
}

/// The elements as `f32`, in place where they are.
fn f32s(x: &Tensor) -> Result<Cow<'_, [f32]>> {
    match x.dtype() {
        DType::F32 => x.view::<f32>(),
        _ => Ok(Cow::Owned(x.f64s()?.into_iter().map(|v| v as f32).collect())),
    }
}

/// The first of the greatest; NaN is greater than nothing.
fn first_greatest(scores: &[f32]) -> usize {
    let better = |best: usize, (i, &score): (usize, &f32)| {
        if score > scores[best] { i } else { best }
    };
    scores.iter().enumerate().fold(0, better)
}
