//! Trees: walks through tables, and the sums of what the leaves hold.
//!
//! ```text
//! leaves = ml_tree_leaves(x, features, splits, next, roots)     rows × trees
//! scores = sum over trees of weights[leaves]                    rows × targets
//! ```

use tangram_ir::Value;
use tangram_rewrite::NoMatch;
use tangram_tensor::learned::trees::{Aggregate, Ensemble, Tables, TreeClassifier, TreeRegressor};
use tangram_tensor::{DType, Tensor};

use super::super::trees::{DEEPEST, classifier, ensemble, regressor};
use super::{Made, add, beside, choose, first_greatest, labels_at, one_of_two, pair, post, rows};
use crate::nn::decompose::Parts;

/// Weights for each node and target beyond this many are not worth the memory.
const MOST: usize = 1 << 24;

/// The sums of the weights of leaves for the targets `chosen`, in order, before anything is added.
fn sums(parts: &mut Parts<'_, '_>, trees: &Ensemble, how: Aggregate, chosen: &[usize]) -> Made {
    let x = parts.operand(0)?;
    let single = trees.is_single() && parts.typed(x)?.1 == DType::F32;
    let element = if single { DType::F32 } else { DType::F64 };
    let tables = trees.tables(element).map_err(|error| NoMatch::because(error.to_string()))?;
    if tables.depth > DEEPEST {
        return Err(NoMatch::because(format!("a tree of {} levels is deep", tables.depth)));
    }
    let places = tables.features.len();
    let dense = trees.dense_weights(places, MOST).ok_or_else(|| {
        NoMatch::because("a leaf has two weights for one target, or there are too many weights")
    })?;
    let (extreme, name) = match how {
        Aggregate::Sum | Aggregate::Average => (false, "nn.sum"),
        Aggregate::Min => (true, "nn.min"),
        Aggregate::Max => (true, "nn.max"),
    };
    // The least of what is there: a target that a tree says nothing of is not 0 then.
    if extreme && !trees.votes_for_all() {
        return Err(NoMatch::because("not every leaf has a value for every target"));
    }
    let targets = trees.targets();
    let of = |place: usize| chosen.iter().map(move |&target| place * targets + target);
    let weights: Vec<f64> = (0..places).flat_map(of).map(|at| dense[at]).collect();
    if !weights.iter().all(|weight| weight.is_finite()) {
        return Err(NoMatch::because("a weight is not finite"));
    }
    let leaves = leaves(parts, &tables, element)?;
    let weights = Tensor::from_vec([places, chosen.len()], weights)
        .and_then(|weights| tangram_tensor::elementwise::cast(&weights, element))
        .map_err(|error| NoMatch::because(error.to_string()))?;
    let weights = parts.constant(&weights);
    let axis = parts.int(0);
    let votes = parts.make("nn.take", &[weights, leaves], &[("axis", axis)])?;
    let sums = parts.reduce(name, votes, 1, false)?;
    match how {
        Aggregate::Average => {
            super::with_number(parts, "nn.divide", sums, tables.roots.len() as f64)
        }
        _ => Ok(sums),
    }
}

fn leaves(parts: &mut Parts<'_, '_>, tables: &Tables, element: DType) -> Made {
    let (x, _) = rows(parts, element)?;
    let lists = [&tables.features, &tables.splits, &tables.next, &tables.roots];
    let mut operands = vec![x];
    operands.extend(lists.map(|list| parts.constant(list)));
    let depth = parts.int(tables.depth as i64);
    parts.make("nn.ml_tree_leaves", &operands, &[("depth", depth)])
}

/// Adds what each target begins with; nothing if there are none.
fn with_base(parts: &mut Parts<'_, '_>, sums: Value, base: &[f64]) -> Made {
    if base.is_empty() {
        return Ok(sums);
    }
    let element = parts.typed(sums)?.1;
    let base = tangram_tensor::elementwise::cast(&Tensor::vector(base.to_vec()), element);
    let base = base.map_err(|error| NoMatch::because(error.to_string()))?;
    let base = parts.constant(&base);
    add(parts, sums, base)
}

pub(in super::super) fn tree_regressor(parts: &mut Parts<'_, '_>) -> Made<Vec<Value>> {
    let model = parts.read(regressor)?;
    Ok(vec![predicted(parts, &model, DType::F32)?])
}

pub(in super::super) fn tree_ensemble(parts: &mut Parts<'_, '_>) -> Made<Vec<Value>> {
    let model = parts.read(ensemble)?;
    let x = parts.operand(0)?;
    let to = parts.typed(x)?.1;
    Ok(vec![predicted(parts, &model, to)?])
}

fn predicted(parts: &mut Parts<'_, '_>, model: &TreeRegressor, to: DType) -> Made {
    let targets = model.ensemble.targets();
    if targets == 0 || !model.base.is_empty() && model.base.len() != targets {
        return Err(NoMatch::because("not as many base values as targets"));
    }
    let all: Vec<usize> = (0..targets).collect();
    let sums = sums(parts, &model.ensemble, model.aggregate, &all)?;
    let mut values = with_base(parts, sums, &model.base)?;
    if !model.post.is_none() {
        values = parts.cast(values, DType::F32)?;
        values = post(parts, model.post, values, targets)?;
    }
    parts.cast(values, to)
}

pub(in super::super) fn tree_classifier(parts: &mut Parts<'_, '_>) -> Made<Vec<Value>> {
    let model = parts.read(classifier)?;
    match model.single() {
        Some((class, enough)) => one_voted(parts, &model, class, enough),
        None => all_voted(parts, &model),
    }
}

fn all_voted(parts: &mut Parts<'_, '_>, model: &TreeClassifier) -> Made<Vec<Value>> {
    let count = model.labels().len();
    let base = model.base();
    // A single base value of two classes goes to the first.
    let mut all = vec![0.0; if base.is_empty() { 0 } else { count }];
    all.iter_mut().zip(base).for_each(|(to, from)| *to = *from);
    let chosen: Vec<usize> = (0..count).collect();
    let sums = sums(parts, model.ensemble(), Aggregate::Sum, &chosen)?;
    let scores = with_base(parts, sums, &all)?;
    let scores = parts.cast(scores, DType::F32)?;
    let place = first_greatest(parts, scores, count)?;
    let label = labels_at(parts, model.labels(), place)?;
    Ok(vec![label, post(parts, model.post(), scores, count)?])
}

/// Of two classes leaves vote for one alone.
fn one_voted(
    parts: &mut Parts<'_, '_>,
    model: &TreeClassifier,
    class: usize,
    enough: f64,
) -> Made<Vec<Value>> {
    let sums = sums(parts, model.ensemble(), Aggregate::Sum, &[class])?;
    let score = with_base(parts, sums, model.base())?;
    let score = parts.cast(score, DType::F32)?;
    let label = one_of_two(parts, model.labels(), score, enough)?;
    if class == 0 {
        return Ok(vec![label, pair(parts, model.post(), score, model.other())?]);
    }
    // The score of the first class is 0, whatever that of the second is.
    let absent = parts.make("nn.isnan", &[score], &[])?;
    let zero = parts.number(DType::F32, 0.0)?;
    let first = choose(parts, absent, zero, zero)?;
    let both = beside(parts, &[first, score])?;
    Ok(vec![label, post(parts, model.post(), both, 2)?])
}
