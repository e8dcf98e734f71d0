//! Operators of `ai.onnx.ml`, the models that were learned and are no networks.
//!
//! Types are inferred behind their operations, which are evaluated and run. The export gives their
//! nodes back; it never writes one that the model did not have. Attributes are those of all versions.

use super::{Row, row};

const fn learned(onnx: &'static str, nn: &'static str) -> Row {
    Row { domain: "ai.onnx.ml", ..row(onnx, nn, 1, &[]) }
}

pub(super) static ROWS: &[Row] = &[
    learned("ArrayFeatureExtractor", "nn.ml_array_feature_extractor"),
    learned("Binarizer", "nn.ml_binarizer"),
    learned("CastMap", "nn.ml_cast_map"),
    learned("CategoryMapper", "nn.ml_category_mapper"),
    learned("DictVectorizer", "nn.ml_dict_vectorizer"),
    learned("FeatureVectorizer", "nn.ml_feature_vectorizer"),
    learned("Imputer", "nn.ml_imputer"),
    learned("LabelEncoder", "nn.ml_label_encoder"),
    learned("LinearClassifier", "nn.ml_linear_classifier"),
    learned("LinearRegressor", "nn.ml_linear_regressor"),
    learned("Normalizer", "nn.ml_normalizer"),
    learned("OneHotEncoder", "nn.ml_one_hot_encoder"),
    learned("SVMClassifier", "nn.ml_svm_classifier"),
    learned("SVMRegressor", "nn.ml_svm_regressor"),
    learned("Scaler", "nn.ml_scaler"),
    learned("TreeEnsemble", "nn.ml_tree_ensemble"),
    learned("TreeEnsembleClassifier", "nn.ml_tree_ensemble_classifier"),
    learned("TreeEnsembleRegressor", "nn.ml_tree_ensemble_regressor"),
    learned("ZipMap", "nn.ml_zip_map"),
];
