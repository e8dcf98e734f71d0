//! Linear models: a product with the weights.

use tangram_ir::Value;
use tangram_rewrite::NoMatch;
use tangram_tensor::learned::{Labels, LinearParams, Other};
use tangram_tensor::{DType, Tensor};

use super::super::{count, labels, linear::params};
use super::{Made, add, first_greatest, labels_at, one_of_two, pair, post, row, rows};
use crate::nn::decompose::Parts;

/// `count` linear functions of each row, without what is added.
fn products(parts: &mut Parts<'_, '_>, weights: &[f32], count: usize) -> Made {
    let (x, columns) = rows(parts, DType::F32)?;
    let needed = count.checked_mul(columns).filter(|&n| n > 0 && weights.len() >= n);
    let needed = needed.ok_or_else(|| NoMatch::because("weights are missing"))?;
    // Columns of weights, as a product wants them.
    let turned: Vec<f32> = (0..needed).map(|i| weights[i % count * columns + i / count]).collect();
    let turned = Tensor::from_vec([columns, count], turned);
    let turned = turned.map_err(|error| NoMatch::because(error.to_string()))?;
    let weights = parts.constant(&turned);
    parts.make("nn.matmul", &[x, weights], &[])
}

pub(in super::super) fn linear_regressor(parts: &mut Parts<'_, '_>) -> Made<Vec<Value>> {
    let (model, targets) = parts.read(|cx| Ok((params(cx)?, count(cx, "targets", 1)?)))?;
    let mut scores = products(parts, &model.coefficients, targets)?;
    if model.intercepts.len() == targets {
        let intercepts = row(parts, &model.intercepts);
        scores = add(parts, scores, intercepts)?;
    }
    Ok(vec![post(parts, model.post, scores, targets)?])
}

pub(in super::super) fn linear_classifier(parts: &mut Parts<'_, '_>) -> Made<Vec<Value>> {
    let (model, labels) = parts.read(|cx| {
        Ok((params(cx)?, labels(&cx.attrs(), "classlabels_strings", "classlabels_ints")))
    })?;
    let LinearParams { coefficients, intercepts, post: transform } = model;
    let count = intercepts.len();
    if count == 0 || !labels.is_empty() && labels.len() < count.max(2) {
        return Err(NoMatch::because("labels are missing"));
    }
    let products = products(parts, &coefficients, count)?;
    let intercepts = row(parts, &intercepts);
    let scores = add(parts, products, intercepts)?;
    // Without labels classes are numbers from 0 on.
    let names = match labels.is_empty() {
        true => Labels::Numbers((0..count.max(2) as i64).collect()),
        false => labels.clone(),
    };
    if count == 1 {
        let label = one_of_two(parts, &names, scores, 0.0)?;
        let two = labels.len() == 2;
        let scores = match two {
            true => pair(parts, transform, scores, Other::Complement)?,
            false => post(parts, transform, scores, 1)?,
        };
        return Ok(vec![label, scores]);
    }
    let place = first_greatest(parts, scores, count)?;
    let label = labels_at(parts, &names, place)?;
    Ok(vec![label, post(parts, transform, scores, count)?])
}
