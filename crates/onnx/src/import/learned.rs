//! The types behind operators of `ai.onnx.ml`: trees, linear models, encoders.
//!
//! These operators are carried along as they are. What they give is known all the same, so that
//! casts and identities behind them are seen for what they are.
//!
//! Source: the schemas of the operators, and onnxruntime where they leave the shape open.

use tangram_dialects::dtype;
use tangram_ir::{Context, Dim, Module, Type, Value};
use tangram_tensor::DType;

use super::attributes::{find, int};
use crate::proto::{AttributeProto, NodeProto};

/// The result types of `node`, as far as they are known: none for what is no tensor, or unknown.
pub(super) fn result_types(
    module: &Module,
    node: &NodeProto,
    inputs: &[Option<Value>],
) -> Vec<Option<Type>> {
    let data = inputs.first().copied().flatten().map(|value| module.value_type(value));
    let cx = Cx { context: module.context(), node, data };
    if node.domain() != "ai.onnx.ml" {
        return Vec::new();
    }
    match node.op_type() {
        "Binarizer" | "Imputer" => vec![data],
        "Normalizer" | "Scaler" => vec![cx.like(Some(DType::F32))],
        "CategoryMapper" => vec![cx.like(cx.other_than_input())],
        "LabelEncoder" => vec![cx.like(cx.encoded())],
        "LinearClassifier" | "TreeEnsembleClassifier" | "SVMClassifier" => {
            vec![cx.rows(Some(cx.label()), None), cx.rows(Some(DType::F32), Some(cx.scores()))]
        }
        "LinearRegressor" => vec![cx.rows(Some(DType::F32), Some(cx.targets("targets")))],
        "TreeEnsembleRegressor" => vec![cx.rows(Some(DType::F32), Some(cx.targets("n_targets")))],
        "TreeEnsemble" => vec![cx.rows(cx.input(), Some(cx.targets("n_targets")))],
        "SVMRegressor" => vec![cx.rows(Some(DType::F32), Some(Dim::fixed(1)))],
        "ArrayFeatureExtractor" => {
            let places = inputs.get(1).copied().flatten().map(|value| module.value_type(value));
            vec![cx.chosen(places)]
        }
        "OneHotEncoder" | "FeatureVectorizer" => vec![cx.unranked(Some(DType::F32))],
        _ => Vec::new(),
    }
}

struct Cx<'a> {
    context: &'a Context,
    node: &'a NodeProto,
    /// The type of the first input.
    data: Option<Type>,
}

impl Cx<'_> {
    /// The element type of the first input.
    fn input(&self) -> Option<DType> {
        dtype::dtype_of(self.context, self.context.element_type(self.data?)?)
    }

    fn extents(&self) -> Option<&[Dim]> {
        self.context.as_tensor(self.data?).map(|(extents, _)| extents)
    }

    fn unranked(&self, element: Option<DType>) -> Option<Type> {
        let element = dtype::type_of(self.context, element?);
        Some(self.context.ty(tangram_ir::TypeData::UnrankedTensor(element)))
    }

    /// A tensor of the extents of the first input.
    fn like(&self, element: Option<DType>) -> Option<Type> {
        match self.extents() {
            Some(extents) => {
                Some(self.context.tensor_type(extents, dtype::type_of(self.context, element?)))
            }
            None => self.unranked(element),
        }
    }

    /// A vector with an element for each row of the first input, or a matrix with a row for each.
    fn rows(&self, element: Option<DType>, columns: Option<Dim>) -> Option<Type> {
        // A vector as input is taken as a row by some engines, as a column by others.
        let Some(&[rows, _]) = self.extents() else { return self.unranked(element) };
        let extents: Vec<Dim> = [rows].into_iter().chain(columns).collect();
        Some(self.context.tensor_type(&extents, dtype::type_of(self.context, element?)))
    }

    /// Elements of each row of a matrix, as many as `places` names.
    fn chosen(&self, places: Option<Type>) -> Option<Type> {
        let listed = places.and_then(|ty| self.context.as_tensor(ty));
        let count = listed.and_then(|(extents, _)| {
            extents.iter().try_fold(1i64, |n, extent| n.checked_mul(extent.as_static()?))
        });
        self.rows(self.input(), Some(count.map_or(Dim::UNKNOWN, Dim::fixed)))
    }

    fn attribute(&self, name: &str) -> Option<&AttributeProto> {
        find(self.node, name)
    }

    /// Texts become numbers and numbers texts.
    fn other_than_input(&self) -> Option<DType> {
        match self.input()? {
            DType::String => Some(DType::I64),
            _ => Some(DType::String),
        }
    }

    /// What a label encoder gives: the type of its values, or the other of texts and numbers.
    fn encoded(&self) -> Option<DType> {
        let kinds = [
            ("values_strings", DType::String),
            ("values_int64s", DType::I64),
            ("values_floats", DType::F32),
        ];
        let given = kinds.into_iter().find(|kind| self.attribute(kind.0).is_some());
        match (given, self.attribute("values_tensor"), self.attribute("classes_strings")) {
            (Some((_, element)), ..) => Some(element),
            (None, Some(values), _) => {
                crate::types::dtype_of(values.t.as_ref()?.data_type().into())
            }
            (None, None, Some(_)) => self.other_than_input(),
            _ => None,
        }
    }

    fn texts(&self) -> usize {
        ["classlabels_strings", "class_labels_strings"]
            .iter()
            .filter_map(|name| self.attribute(name))
            .map(|attribute| attribute.strings.len())
            .sum()
    }

    fn label(&self) -> DType {
        if self.texts() > 0 { DType::String } else { DType::I64 }
    }

    /// How many scores there are: one for each class, but two classes may have one or two, and
    /// a support vector machine may give one for each pair of classes.
    fn scores(&self) -> Dim {
        let numbers = ["classlabels_int64s", "classlabels_ints"];
        let numbers = numbers.iter().filter_map(|name| self.attribute(name));
        let classes = self.texts() + numbers.map(|a| a.ints.len()).sum::<usize>();
        let certain = classes > 2 && self.node.op_type() != "SVMClassifier";
        if certain { Dim::fixed(classes as i64) } else { Dim::UNKNOWN }
    }

    fn targets(&self, name: &str) -> Dim {
        match int(self.node, name).unwrap_or(1) {
            count if count > 0 => Dim::fixed(count),
            _ => Dim::UNKNOWN,
        }
    }
}
