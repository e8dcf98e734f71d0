//! Losses: ONNX `NegativeLogLikelihoodLoss` and `SoftmaxCrossEntropyLoss`.
//!
//! Both compute in `f64` and round once.

use crate::dtype::DType;
use crate::error::{KernelError, Result};
use crate::refuse;
use crate::tensor::{Tensor, checked_count};
use crate::wide::{floats, from_f64s};

/// How the losses of all places become the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Reduction {
    /// They are the result.
    None,
    /// Their sum, divided by the sum of the weights.
    #[default]
    Mean,
    /// Their sum.
    Sum,
}

/// Takes the negative log probability of the class at each place.
///
/// `x`: batch, classes, then any extents: logarithms of probabilities. `target`: the shape of `x`
/// without the classes, integers. `weight`: one number for each class; 1 if absent. Places of
/// class `ignore_index` do not count. The mean of places that do not count is NaN.
///
/// # Errors
/// [`KernelError::BadShape`], [`KernelError::BadDType`]; [`KernelError::IndexOutOfRange`] for a
/// class that there is not.
pub fn nll_loss(
    x: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    reduction: Reduction,
    ignore_index: Option<i64>,
) -> Result<Tensor> {
    const NAME: &str = "nll_loss";
    let data = floats(NAME, x)?;
    let places = Places::new(NAME, x, target)?;
    places.loss(NAME, x.dtype(), &data, (target, weight), reduction, ignore_index)
}

/// Takes the negative logarithm of the softmax of the scores at each place.
///
/// Operands and parameters as for [`nll_loss`], but `scores` are any numbers. Returns the loss,
/// and the logarithms of the probabilities, in the shape of `scores`.
///
/// # Errors
/// As [`nll_loss`].
pub fn softmax_cross_entropy(
    scores: &Tensor,
    labels: &Tensor,
    weight: Option<&Tensor>,
    reduction: Reduction,
    ignore_index: Option<i64>,
) -> Result<(Tensor, Tensor)> {
    const NAME: &str = "softmax_cross_entropy";
    let mut data = floats(NAME, scores)?;
    let places = Places::new(NAME, scores, labels)?;
    places.log_softmax(&mut data);
    let dtype = scores.dtype();
    let loss = places.loss(NAME, dtype, &data, (labels, weight), reduction, ignore_index)?;
    Ok((loss, from_f64s(dtype, scores.shape(), data)?))
}

/// How scores lie: batch, classes, places.
struct Places {
    batch: usize,
    classes: usize,
    inner: usize,
}

impl Places {
    fn new(name: &'static str, x: &Tensor, target: &Tensor) -> Result<Places> {
        let &[batch, classes, ref inner @ ..] = x.shape() else {
            return Err(refuse::shape(name, "batch, classes and any extents", x));
        };
        let expected = [&[batch], inner].concat();
        if target.shape() != expected {
            return Err(refuse::shape(name, format!("classes of shape {expected:?}"), target));
        }
        checked_count(DType::F64, &expected)?;
        Ok(Places { batch, classes, inner: inner.iter().product() })
    }

    fn log_softmax(&self, data: &mut [f64]) {
        let count = if data.is_empty() { 0 } else { self.batch * self.inner };
        for place in 0..count {
            let first = place / self.inner * self.classes * self.inner + place % self.inner;
            let at = |class: usize| first + class * self.inner;
            let scores = || (0..self.classes).map(|class| data[at(class)]);
            let greatest = scores().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = scores().map(|score| (score - greatest).exp()).sum();
            let shift = greatest + sum.ln();
            (0..self.classes).for_each(|class| data[at(class)] -= shift);
        }
    }

    fn loss(
        &self,
        name: &'static str,
        dtype: DType,
        logs: &[f64],
        (target, weight): (&Tensor, Option<&Tensor>),
        reduction: Reduction,
        ignore_index: Option<i64>,
    ) -> Result<Tensor> {
        let weights = match weight {
            Some(weight) if weight.shape() != [self.classes] => {
                return Err(refuse::shape(name, format!("shape [{}]", self.classes), weight));
            }
            Some(weight) => Some(floats(name, weight)?),
            None => None,
        };
        let mut losses = Vec::with_capacity(target.len());
        let mut total = 0.0;
        for (place, class) in target.i64s()?.into_iter().enumerate() {
            if Some(class) == ignore_index {
                losses.push(0.0);
                continue;
            }
            let size = self.classes;
            let index = usize::try_from(class).ok().filter(|&index| index < size);
            let Some(index) = index else {
                return Err(KernelError::IndexOutOfRange { kernel: name, index: class, size });
            };
            let weight = weights.as_ref().map_or(1.0, |weights| weights[index]);
            let row = place / self.inner * self.classes + index;
            losses.push(-logs[row * self.inner + place % self.inner] * weight);
            total += weight;
        }
        match reduction {
            Reduction::None => from_f64s(dtype, target.shape(), losses),
            Reduction::Sum => from_f64s(dtype, &[], vec![losses.iter().sum()]),
            Reduction::Mean => from_f64s(dtype, &[], vec![losses.iter().sum::<f64>() / total]),
        }
    }
}
