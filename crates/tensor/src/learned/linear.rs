//! Linear models: a sum of weighted features for each class or target.

use super::labels::Labels;
use super::scores::{Other, PostTransform};
use super::{extents, f32s, first_greatest};
use crate::dtype::DType;
use crate::error::Result;
use crate::refuse;
use crate::tensor::{Tensor, checked_count};

/// A linear model.
#[derive(Clone, Debug)]
pub struct LinearParams {
    /// A row of weights for each score.
    pub coefficients: Vec<f32>,
    /// What is added to each score.
    pub intercepts: Vec<f32>,
    /// What is done with the scores.
    pub post: PostTransform,
}

/// `x` times the transposed `weights`, plus `intercepts`: `count` scores for each row.
pub(super) fn products(
    kernel: &'static str,
    x: &Tensor,
    weights: &[f32],
    intercepts: &[f32],
    count: usize,
) -> Result<Vec<f32>> {
    let (rows, columns) = extents(kernel, x)?;
    let enough = count.checked_mul(columns).is_some_and(|needed| weights.len() >= needed);
    if !enough {
        let expected = "a weight of each feature for each score";
        return Err(refuse::parameter(kernel, "coefficients", expected, weights.len()));
    }
    let data = f32s(x)?;
    let mut out = Vec::with_capacity(checked_count(DType::F32, &[rows, count])?);
    for row in 0..rows {
        let row = &data[row * columns..][..columns];
        for score in 0..count {
            let weights = &weights[score * columns..][..columns];
            let sum: f32 = row.iter().zip(weights).map(|(x, w)| x * w).sum();
            out.push(sum + intercepts.get(score).copied().unwrap_or(0.0));
        }
    }
    Ok(out)
}

/// The scores of `targets` linear functions. Intercepts count if there is one for each.
///
/// # Errors
/// [`KernelError::BadParameter`](crate::KernelError::BadParameter) for too few weights.
pub fn linear_regressor(x: &Tensor, params: &LinearParams, targets: usize) -> Result<Tensor> {
    const NAME: &str = "linear_regressor";
    let fits = params.intercepts.len() == targets;
    let intercepts = if fits { &params.intercepts[..] } else { &[] };
    let (rows, _) = extents(NAME, x)?;
    let mut out = products(NAME, x, &params.coefficients, intercepts, targets)?;
    out.chunks_exact_mut(targets.max(1)).for_each(|row| params.post.apply(row));
    Tensor::from_vec([rows, targets], out)
}

/// The class of the greatest score, and the scores: as many as intercepts. With a single one there
/// are two classes, and the second is that of scores above 0.
///
/// # Errors
/// [`KernelError::BadParameter`](crate::KernelError::BadParameter) for too few weights or labels.
pub fn linear_classifier(
    x: &Tensor,
    params: &LinearParams,
    labels: &Labels,
) -> Result<(Tensor, Tensor)> {
    const NAME: &str = "linear_classifier";
    let count = params.intercepts.len();
    if count == 0 || labels.len() < if labels.is_empty() { 0 } else { count.max(2) } {
        let expected = "at least as many as scores";
        return Err(refuse::parameter(NAME, "labels", expected, labels.len()));
    }
    let (rows, _) = extents(NAME, x)?;
    let mut out = products(NAME, x, &params.coefficients, &params.intercepts, count)?;
    let single = count == 1;
    let place = |row: &[f32]| if single { usize::from(row[0] > 0.0) } else { first_greatest(row) };
    let places: Vec<usize> = out.chunks_exact(count).map(place).collect();
    let chosen = match labels.is_empty() {
        true => Tensor::vector(places.iter().map(|&at| at as i64).collect()),
        false => labels.at(&places)?,
    };
    if single && labels.len() == 2 {
        out = out.iter().flat_map(|&x| params.post.pair(x, Other::Complement)).collect();
    } else {
        out.chunks_exact_mut(count).for_each(|row| params.post.apply(row));
    }
    let columns = if single && labels.len() == 2 { 2 } else { count };
    Ok((chosen, Tensor::from_vec([rows, columns], out)?))
}
