//! What the operations of this domain are made of.
//!
//! ```text
//! classifier(x)    scores = .. ; label = take(classes, argmax(scores)) ; post(scores)
//! ```

mod features;
mod linear;
mod trees;

pub(super) use features::{binarizer, extractor, imputer, normalizer, scaler, vectorizer};
pub(super) use linear::{linear_classifier, linear_regressor};
pub(super) use trees::{tree_classifier, tree_ensemble, tree_regressor};

use tangram_ir::Value;
use tangram_rewrite::NoMatch;
use tangram_tensor::learned::{Labels, Other, PostTransform, QUANTILE, ZERO};
use tangram_tensor::{DType, Tensor};

use crate::nn::decompose::Parts;

type Made<T = Value> = Result<T, NoMatch>;

/// Rows of features as elements of type `to`, and how many features there are.
fn rows(parts: &mut Parts<'_, '_>, to: DType) -> Made<(Value, usize)> {
    let x = parts.operand(0)?;
    let (dims, _) = parts.typed(x)?;
    let [_, columns] = dims[..] else { return Err(NoMatch::because("rows are no matrix")) };
    let columns = columns.as_static().and_then(|n| usize::try_from(n).ok());
    let columns = columns.ok_or_else(|| NoMatch::because("how many features there are is open"))?;
    Ok((parts.cast(x, to)?, columns))
}

/// A vector of constants, or one of a single row, in front of which rows are broadcast.
fn row(parts: &mut Parts<'_, '_>, values: &[f32]) -> Value {
    parts.constant(&Tensor::vector(values.to_vec()))
}

fn add(parts: &mut Parts<'_, '_>, x: Value, y: Value) -> Made {
    parts.make("nn.add", &[x, y], &[])
}

/// `x` and a number of its type, in a function of two operands.
fn with_number(parts: &mut Parts<'_, '_>, name: &str, x: Value, number: f64) -> Made {
    let element = parts.typed(x)?.1;
    let number = parts.number(element, number)?;
    parts.make(name, &[x, number], &[])
}

/// A number of the type of `x` and `x`.
fn of_number(parts: &mut Parts<'_, '_>, name: &str, number: f64, x: Value) -> Made {
    let element = parts.typed(x)?.1;
    let number = parts.number(element, number)?;
    parts.make(name, &[number, x], &[])
}

fn choose(parts: &mut Parts<'_, '_>, test: Value, yes: Value, no: Value) -> Made {
    parts.make("nn.where", &[test, yes, no], &[])
}

/// Columns side by side.
fn beside(parts: &mut Parts<'_, '_>, columns: &[Value]) -> Made {
    let axis = parts.int(1);
    parts.make("nn.concatenate", columns, &[("axis", axis)])
}

/// The place of the greatest of `count` scores in each row, the first of several. A NaN is greater
/// than nothing, and nothing is greater than one in the first place.
fn first_greatest(parts: &mut Parts<'_, '_>, scores: Value, count: usize) -> Made {
    let absent = parts.make("nn.isnan", &[scores], &[])?;
    let mut instead = vec![f32::NEG_INFINITY; count];
    instead[0] = f32::INFINITY;
    let instead = row(parts, &instead);
    let numbers = choose(parts, absent, instead, scores)?;
    let axis = parts.int(1);
    let keep = parts.flag(false);
    parts.make("nn.argmax", &[numbers], &[("axis", axis), ("keepdims", keep)])
}

/// The labels at places.
fn labels_at(parts: &mut Parts<'_, '_>, labels: &Labels, places: Value) -> Made {
    let all = labels.tensor().map_err(|error| NoMatch::because(error.to_string()))?;
    let all = parts.constant(&all);
    let axis = parts.int(0);
    parts.make("nn.take", &[all, places], &[("axis", axis)])
}

/// The label of each row of two classes: the second where its only score exceeds `enough`.
fn one_of_two(parts: &mut Parts<'_, '_>, labels: &Labels, score: Value, enough: f64) -> Made {
    let second = with_number(parts, "nn.greater", score, enough)?;
    let axes = parts.ints(&[1]);
    let second = parts.make("nn.squeeze", &[second], &[("axis", axes)])?;
    let place = parts.cast(second, DType::I64)?;
    labels_at(parts, labels, place)
}

/// What is done with rows of `count` scores, `f32`, as `PostTransform::apply` does.
fn post(parts: &mut Parts<'_, '_>, post: PostTransform, scores: Value, count: usize) -> Made {
    match post {
        PostTransform::Probit => probit(parts, scores),
        _ if count < 2 => Ok(scores),
        PostTransform::None => Ok(scores),
        PostTransform::Logistic => parts.make("nn.sigmoid", &[scores], &[]),
        PostTransform::Softmax => {
            let axis = parts.int(1);
            parts.make("nn.softmax", &[scores], &[("axis", axis)])
        }
        PostTransform::SoftmaxZero => softmax_zero(parts, scores),
    }
}

/// The scores of two classes of which only the second has one, as `PostTransform::pair` has them.
fn pair(parts: &mut Parts<'_, '_>, post: PostTransform, score: Value, other: Other) -> Made {
    let negative = parts.make("nn.negative", &[score], &[])?;
    let first = match other {
        Other::Complement => of_number(parts, "nn.subtract", 1.0, score)?,
        Other::Negative => negative,
    };
    let both = match post {
        PostTransform::Logistic => {
            let both = beside(parts, &[negative, score])?;
            return parts.make("nn.sigmoid", &[both], &[]);
        }
        _ => beside(parts, &[first, score])?,
    };
    if post == PostTransform::Probit { probit(parts, both) } else { Ok(both) }
}

/// A softmax to which scores of 0 do not count.
fn softmax_zero(parts: &mut Parts<'_, '_>, scores: Value) -> Made {
    let greatest = parts.reduce("nn.max", scores, 1, true)?;
    let less = parts.make("nn.subtract", &[scores, greatest], &[])?;
    let shares = parts.make("nn.exp", &[less], &[])?;
    let size = parts.make("nn.abs", &[scores], &[])?;
    let counts = with_number(parts, "nn.greater", size, f64::from(ZERO))?;
    let zero = parts.number(DType::F32, 0.0)?;
    let shares = choose(parts, counts, shares, zero)?;
    let sum = parts.reduce("nn.sum", shares, 1, true)?;
    parts.make("nn.divide", &[shares, sum], &[])
}

/// The quantile function of the normal distribution, as the reference evaluation has it.
fn probit(parts: &mut Parts<'_, '_>, x: Value) -> Made {
    let doubled = with_number(parts, "nn.multiply", x, 2.0)?;
    let x = with_number(parts, "nn.subtract", doubled, 1.0)?;
    let (below, above) =
        (of_number(parts, "nn.subtract", 1.0, x)?, of_number(parts, "nn.add", 1.0, x)?);
    let product = parts.make("nn.multiply", &[below, above], &[])?;
    let log = parts.make("nn.log", &[product], &[])?;
    let half = with_number(parts, "nn.multiply", log, 0.5)?;
    let constant = f64::from(2.0 / (std::f32::consts::PI * QUANTILE));
    let half = of_number(parts, "nn.add", constant, half)?;
    let square = parts.make("nn.multiply", &[half, half], &[])?;
    let part = with_number(parts, "nn.divide", log, f64::from(QUANTILE))?;
    let inner = parts.make("nn.subtract", &[square, part], &[])?;
    let root = parts.make("nn.sqrt", &[inner], &[])?;
    let outer = parts.make("nn.subtract", &[root, half], &[])?;
    let root = parts.make("nn.sqrt", &[outer], &[])?;
    let opposite = parts.make("nn.negative", &[root], &[])?;
    let is_negative = with_number(parts, "nn.less", x, 0.0)?;
    let root = choose(parts, is_negative, opposite, root)?;
    of_number(parts, "nn.multiply", f64::from(std::f32::consts::SQRT_2), root)
}
