//! Ensembles of decision trees.

use tangram_ir::{AttrDef, AttrKind, Dim, InferCx};
use tangram_tensor::DType;
use tangram_tensor::learned::PostTransform;
use tangram_tensor::learned::trees::{
    Aggregate, Ensemble, LeafLists, Mode, NodeLists, Tables, TargetLists, TreeClassifier,
    TreeLists, TreeRegressor, tree_leaves,
};

use super::made;
use super::prepared::prepared;
use super::{CLASSIFIED, OUT, POST, X, classified, count, counted, floats, ints, labels, post};
use super::{rows, strs, tensor};
use crate::eval::{EvalCx, EvalError, Evaluated, single};
use crate::infer::{InferExt, Result, one};
use crate::nn::{NnOp, maybe, needed, op, operand};
use crate::structured::{Comparison, Stage, Structured, StructuredCx};

const TREES: AttrDef = ints("nodes_treeids", "the tree of each node");
const IDS: AttrDef = ints("nodes_nodeids", "the number of each node in its tree");
const MODES: AttrDef = strs("nodes_modes", "what each node asks, or LEAF");
const FEATURES: AttrDef = ints("nodes_featureids", "the feature that each node asks about");
const VALUES: AttrDef = floats("nodes_values", "what each feature is compared with");
const VALUES_TENSOR: AttrDef = tensor("nodes_values_as_tensor", "the same as a tensor");
const YES: AttrDef = ints("nodes_truenodeids", "the node that follows a yes");
const NO: AttrDef = ints("nodes_falsenodeids", "the node that follows a no");
const MISSING: AttrDef =
    ints("nodes_missing_value_tracks_true", "1: NaN is a yes; 0 for all if absent");
const HITS: AttrDef = floats("nodes_hitrates", "how often each node is met; changes nothing");
const HITS_TENSOR: AttrDef = tensor("nodes_hitrates_as_tensor", "the same as a tensor");
const BASE: AttrDef = floats("base_values", "what is added to each score");
const BASE_TENSOR: AttrDef = tensor("base_values_as_tensor", "the same as a tensor");

/// The operations of this family.
pub(in crate::nn) static OPS: &[NnOp] = &[
    op(
        "nn.ml_tree_ensemble_classifier",
        "the class that the leaves of trees vote for, and the votes",
        &[X],
        CLASSIFIED,
        &[
            TREES,
            IDS,
            MODES,
            FEATURES,
            VALUES,
            VALUES_TENSOR,
            YES,
            NO,
            MISSING,
            HITS,
            HITS_TENSOR,
            ints("class_treeids", "the tree of each vote"),
            ints("class_nodeids", "the leaf of each vote"),
            ints("class_ids", "the place of the class that each vote is for"),
            floats("class_weights", "the weight of each vote"),
            tensor("class_weights_as_tensor", "the same as a tensor"),
            strs("classlabels_strings", "classes that are texts"),
            ints("classlabels_int64s", "classes that are numbers"),
            BASE,
            BASE_TENSOR,
            POST,
        ],
        |cx| classified(cx, ["classlabels_strings", "classlabels_int64s"], true),
    )
    .eval(|cx| {
        let model = prepared(cx, TENSORS, || classifier(cx))?;
        let (label, scores) = model.classify(cx.need(0)?)?;
        Ok(vec![label, scores])
    })
    .decomposed(made::tree_classifier),
    op(
        "nn.ml_tree_ensemble_regressor",
        "the joined values of the leaves of trees, `f32`",
        &[X],
        OUT,
        &[
            TREES,
            IDS,
            MODES,
            FEATURES,
            VALUES,
            VALUES_TENSOR,
            YES,
            NO,
            MISSING,
            HITS,
            HITS_TENSOR,
            ints("target_treeids", "the tree of each value"),
            ints("target_nodeids", "the leaf of each value"),
            ints("target_ids", "the target that each value is for"),
            floats("target_weights", "each value"),
            tensor("target_weights_as_tensor", "the same as a tensor"),
            maybe("n_targets", AttrKind::Int, "how many targets there are; 1 if absent"),
            maybe(
                "aggregate_function",
                AttrKind::Enum(&["AVERAGE", "SUM", "MIN", "MAX"]),
                "how values are joined; SUM if absent",
            ),
            BASE,
            BASE_TENSOR,
            POST,
        ],
        |cx| one(cx, &rows(cx, DType::F32, Some(counted(cx, "n_targets")))?),
    )
    .eval(|cx| {
        let model = prepared(cx, TENSORS, || regressor(cx))?;
        single(model.predict(cx.need(0)?, DType::F32))
    })
    .decomposed(made::tree_regressor),
    op(
        "nn.ml_tree_ensemble",
        "the joined values of the leaves of trees",
        &[X],
        OUT,
        &[
            needed("tree_roots", AttrKind::Ints, "the node that each tree starts with"),
            tensor("nodes_modes", "what each node asks, by ONNX's number"),
            FEATURES,
            tensor("nodes_splits", "what each feature is compared with"),
            YES,
            ints("nodes_trueleafs", "1: a leaf follows a yes"),
            NO,
            ints("nodes_falseleafs", "1: a leaf follows a no"),
            MISSING,
            tensor("nodes_hitrates", "how often each node is met; changes nothing"),
            tensor("membership_values", "the numbers of each set, with NaN behind each"),
            ints("leaf_targetids", "the target of each leaf"),
            tensor("leaf_weights", "the value of each leaf"),
            maybe("n_targets", AttrKind::Int, "how many targets there are; 1 if absent"),
            maybe(
                "aggregate_function",
                AttrKind::Int,
                "0 average, 1 sum, 2 least, 3 greatest; 1 if absent",
            ),
            maybe(
                "post_transform",
                AttrKind::Int,
                "0 none, 1 softmax, 2 logistic, 3 softmax_zero, 4 probit; 0 if absent",
            ),
        ],
        infer_ensemble,
    )
    .eval(|cx| {
        let model = prepared(cx, TENSORS, || ensemble(cx))?;
        let x = cx.need(0)?;
        single(model.predict(x, x.dtype()))
    })
    .decomposed(made::tree_ensemble),
    op(
        "nn.ml_tree_leaves",
        "the leaf that each row gets to in each tree, as its place in tables; `i32`",
        &[
            X,
            operand("features", "the feature that each node asks about, `i32`"),
            operand("splits", "`x <= split` is asked, in the type of `x`"),
            operand(
                "next",
                "a row of no and yes, and of NaN if that is no no, for each node; `i32`",
            ),
            operand("roots", "the node that each tree starts with, `i32`"),
        ],
        OUT,
        &[needed("depth", AttrKind::Int, "how many steps are taken; leaves follow themselves")],
        infer_leaves,
    )
    .structured(structured_leaves)
    .eval(eval_leaves),
];

fn infer_leaves(cx: &InferCx<'_>) -> Result {
    let trees = cx.tensor(4)?.dims.and_then(|dims| dims.first().copied());
    one(cx, &rows(cx, DType::I32, Some(trees.unwrap_or(Dim::UNKNOWN)))?)
}

fn eval_leaves(cx: &EvalCx<'_>) -> Evaluated {
    let tables = Tables {
        features: cx.need(1)?.clone(),
        splits: cx.need(2)?.clone(),
        next: cx.need(3)?.clone(),
        roots: cx.need(4)?.clone(),
        depth: count(cx, "depth", 0)?,
    };
    single(tree_leaves(cx.need(0)?, &tables))
}

/// Each step reads what the node of the step before asks, and goes to what follows it.
fn structured_leaves(cx: &StructuredCx<'_>) -> Option<Structured> {
    let [x, features, splits, next, roots] = [0, 1, 2, 3, 4].map(|i| cx.operand(i));
    let (x, features, splits) = (x?, features?, splits?);
    let (next, roots, out) = (next?, roots?, cx.result(0)?);
    let depth = usize::try_from(cx.attrs().int("depth")?).ok().filter(|&n| n <= DEEPEST)?;
    let asks_nan = match next.extents.get(1)?.as_int()? {
        2 => false,
        3 => true,
        _ => return None,
    };
    (x.element == splits.element && x.rank() == 2).then_some(())?;
    let mut stage = Stage::over(&out.extents);
    let (row, tree) = (stage.index(0), stage.all(1..2));
    let mut node = stage.load_exact(&roots, &tree);
    for _ in 0..depth {
        let at = stage.cast(DType::I64, node);
        let feature = stage.lookup(&features, vec![at]);
        let feature = stage.cast(DType::I64, feature);
        let value = stage.lookup(&x, vec![row, feature]);
        let split = stage.lookup(&splits, vec![at]);
        let answer = stage.compare(Comparison::Le, value, split);
        let mut way = stage.cast(DType::I64, answer);
        if asks_nan {
            let (is_nan, third) = (stage.compare(Comparison::Ne, value, value), stage.int(2));
            way = stage.select(is_nan, third, way);
        }
        node = stage.lookup(&next, vec![at, way]);
    }
    Some(Structured::one(stage.store_parallel(&out, node)))
}

/// How many steps a walk has as loops, in which every tree takes as many: deeper trees are walked node
/// by node.
pub(super) const DEEPEST: usize = 48;

fn infer_ensemble(cx: &InferCx<'_>) -> Result {
    one(cx, &rows(cx, cx.dtype(0)?, Some(counted(cx, "n_targets")))?)
}

/// The attributes of all of them that are tensors.
const TENSORS: &[&str] = &[
    "nodes_values_as_tensor",
    "class_weights_as_tensor",
    "target_weights_as_tensor",
    "base_values_as_tensor",
    "nodes_modes",
    "nodes_splits",
    "membership_values",
    "leaf_weights",
];

type Tried<T> = std::result::Result<T, EvalError>;

fn integers(cx: &EvalCx<'_>, name: &str) -> Vec<i64> {
    cx.attrs().ints(name).unwrap_or_default()
}

/// The numbers of attribute `name` or of the tensor in its place, and whether they are doubles.
fn numbers(cx: &EvalCx<'_>, name: &str, tensor: &'static str) -> Tried<(Vec<f64>, bool)> {
    match cx.tensor_attr(tensor) {
        Some(found) => Ok((found.f64s()?, found.dtype() == DType::F64)),
        None if cx.attrs().find(tensor).is_some() => Err(EvalError::Attribute(tensor)),
        None => Ok((cx.attrs().floats(name).unwrap_or_default(), false)),
    }
}

/// The trees of a classifier or regressor.
fn trees(cx: &EvalCx<'_>, names: [&'static str; 5], targets: usize) -> Tried<Ensemble> {
    let [tree, node, target, weight, weight_tensor] = names;
    let mode = |text: &&str| {
        Mode::named(text).ok_or_else(|| EvalError::Value("nodes_modes", (*text).to_owned()))
    };
    let texts = cx.attrs().texts("nodes_modes").unwrap_or_default();
    let (values, doubles) = numbers(cx, "nodes_values", "nodes_values_as_tensor")?;
    let (weights, double_weights) = numbers(cx, weight, weight_tensor)?;
    let nodes = NodeLists {
        trees: integers(cx, "nodes_treeids"),
        ids: integers(cx, "nodes_nodeids"),
        modes: texts.iter().map(mode).collect::<Tried<_>>()?,
        features: integers(cx, "nodes_featureids"),
        values,
        yes: integers(cx, "nodes_truenodeids"),
        no: integers(cx, "nodes_falsenodeids"),
        missing: integers(cx, "nodes_missing_value_tracks_true"),
    };
    let leaves = TargetLists {
        trees: integers(cx, tree),
        nodes: integers(cx, node),
        targets: integers(cx, target),
        weights,
        names: [tree, node, target, weight],
    };
    Ok(Ensemble::of_nodes(&nodes, &leaves, targets, doubles || double_weights)?)
}

pub(super) fn classifier(cx: &EvalCx<'_>) -> Tried<TreeClassifier> {
    let attrs = cx.attrs();
    let labels = labels(&attrs, "classlabels_strings", "classlabels_int64s");
    if labels.is_empty() {
        return Err(EvalError::Attribute("classlabels_int64s"));
    }
    let names =
        ["class_treeids", "class_nodeids", "class_ids", "class_weights", "class_weights_as_tensor"];
    let ensemble = trees(cx, names, labels.len())?;
    let (base, _) = numbers(cx, "base_values", "base_values_as_tensor")?;
    Ok(TreeClassifier::new(ensemble, base, post(&attrs)?, labels)?)
}

pub(super) fn regressor(cx: &EvalCx<'_>) -> Tried<TreeRegressor> {
    let names = [
        "target_treeids",
        "target_nodeids",
        "target_ids",
        "target_weights",
        "target_weights_as_tensor",
    ];
    let text = cx.attrs().text("aggregate_function").unwrap_or("SUM");
    let wrong = || EvalError::Value("aggregate_function", text.to_owned());
    Ok(TreeRegressor {
        ensemble: trees(cx, names, count(cx, "n_targets", 1)?)?,
        aggregate: Aggregate::named(text).ok_or_else(wrong)?,
        base: numbers(cx, "base_values", "base_values_as_tensor")?.0,
        post: post(&cx.attrs())?,
    })
}

pub(super) fn ensemble(cx: &EvalCx<'_>) -> Tried<TreeRegressor> {
    let attrs = cx.attrs();
    let tensor = |name: &'static str| cx.tensor_attr(name).ok_or(EvalError::Attribute(name));
    let numbered = |name: &'static str, default: i64| attrs.int(name).unwrap_or(default);
    let mode = |number: i64| {
        Mode::numbered(number).ok_or_else(|| EvalError::Value("nodes_modes", number.to_string()))
    };
    let (splits, weights) = (tensor("nodes_splits")?, tensor("leaf_weights")?);
    let members = cx.tensor_attr("membership_values").map(|found| found.f64s()).transpose()?;
    let trees = TreeLists {
        roots: integers(cx, "tree_roots"),
        modes: tensor("nodes_modes")?.i64s()?.into_iter().map(mode).collect::<Tried<_>>()?,
        features: integers(cx, "nodes_featureids"),
        values: splits.f64s()?,
        yes: integers(cx, "nodes_truenodeids"),
        yes_leaf: integers(cx, "nodes_trueleafs"),
        no: integers(cx, "nodes_falsenodeids"),
        no_leaf: integers(cx, "nodes_falseleafs"),
        missing: integers(cx, "nodes_missing_value_tracks_true"),
        members: members.unwrap_or_default(),
    };
    let leaves = LeafLists { targets: integers(cx, "leaf_targetids"), weights: weights.f64s()? };
    let (aggregate, post) = (numbered("aggregate_function", 1), numbered("post_transform", 0));
    let wrong = |name, number: i64| EvalError::Value(name, number.to_string());
    let double = splits.dtype() == DType::F64;
    Ok(TreeRegressor {
        ensemble: Ensemble::of_trees(&trees, &leaves, count(cx, "n_targets", 1)?, double)?,
        aggregate: Aggregate::numbered(aggregate)
            .ok_or_else(|| wrong("aggregate_function", aggregate))?,
        base: Vec::new(),
        post: PostTransform::numbered(post).ok_or_else(|| wrong("post_transform", post))?,
    })
}
