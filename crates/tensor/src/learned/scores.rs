//! Scores, and what is made of them at the end.

/// What is done with the scores of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PostTransform {
    /// They stay as they are.
    #[default]
    None,
    /// `1 / (1 + exp(-x))`.
    Logistic,
    /// Exponentials by their sum.
    Softmax,
    /// As `Softmax`, but a score of 0 stays 0 and counts for nothing.
    SoftmaxZero,
    /// The quantile function of the normal distribution.
    Probit,
}

/// What the score of the other of two classes is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Other {
    /// `1 - x`: `x` is a share.
    Complement,
    /// `-x`: `x` is a distance.
    Negative,
}

/// A score not further from 0 than this is 0 to `SoftmaxZero`.
pub const ZERO: f32 = 1e-7;

/// The constant of the closed form that `Probit` is computed by.
pub const QUANTILE: f32 = 0.147;

impl PostTransform {
    /// The transformation that ONNX calls `text`.
    pub fn named(text: &str) -> Option<PostTransform> {
        Some(match text {
            "NONE" => PostTransform::None,
            "LOGISTIC" => PostTransform::Logistic,
            "SOFTMAX" => PostTransform::Softmax,
            "SOFTMAX_ZERO" => PostTransform::SoftmaxZero,
            "PROBIT" => PostTransform::Probit,
            _ => return None,
        })
    }

    /// The transformation with the number that `TreeEnsemble` has for it.
    pub fn numbered(number: i64) -> Option<PostTransform> {
        use PostTransform::*;
        [None, Softmax, Logistic, SoftmaxZero, Probit].get(usize::try_from(number).ok()?).copied()
    }

    /// Whether scores stay as they are.
    pub fn is_none(self) -> bool {
        self == PostTransform::None
    }

    /// Transforms the scores of a row. A single one is changed by `Probit` alone.
    pub(super) fn apply(self, scores: &mut [f32]) {
        match self {
            PostTransform::Probit => scores.iter_mut().for_each(|x| *x = probit(*x)),
            _ if scores.len() < 2 => {}
            PostTransform::None => {}
            PostTransform::Logistic => scores.iter_mut().for_each(|x| *x = logistic(*x)),
            PostTransform::Softmax => softmax(scores, |_| true),
            PostTransform::SoftmaxZero => softmax(scores, |x| x.abs() > ZERO),
        }
    }

    /// The scores of two classes of which only the second has one.
    pub(super) fn pair(self, score: f32, other: Other) -> [f32; 2] {
        let first = match other {
            Other::Complement => 1.0 - score,
            Other::Negative => -score,
        };
        match self {
            PostTransform::Logistic => [logistic(-score), logistic(score)],
            PostTransform::Probit => [probit(first), probit(score)],
            _ => [first, score],
        }
    }
}

pub(super) fn logistic(x: f32) -> f32 {
    let share = 1.0 / (1.0 + (-x.abs()).exp());
    if x < 0.0 { 1.0 - share } else { share }
}

/// Exponentials by their sum; those that do not count are 0.
fn softmax(scores: &mut [f32], counts: impl Fn(f32) -> bool) {
    let greatest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for x in scores.iter_mut() {
        *x = if counts(*x) { (*x - greatest).exp() } else { 0.0 };
        sum += *x;
    }
    scores.iter_mut().for_each(|x| *x /= sum);
}

/// `sqrt(2) * erfinv(2 x - 1)`, with the closed form of S. Winitzki, "A handy approximation for
/// the error function and its inverse" (2008), which engines have in common.
fn probit(x: f32) -> f32 {
    let x = 2.0 * x - 1.0;
    let log = ((1.0 - x) * (1.0 + x)).ln();
    let half = 2.0 / (std::f32::consts::PI * QUANTILE) + 0.5 * log;
    let root = (-half + (half * half - log / QUANTILE).sqrt()).sqrt();
    std::f32::consts::SQRT_2 * if x < 0.0 { -root } else { root }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_a_softmax_without_zeros() {
        let mut scores = [0.2, 0.8, 0.0];
        PostTransform::SoftmaxZero.apply(&mut scores);
        assert!((scores[0] - 0.354_343).abs() < 1e-5 && scores[2] == 0.0, "{scores:?}");
    }

    #[test]
    fn quantiles() {
        assert_eq!(probit(0.5), 0.0);
        assert!((probit(0.975) - 1.96).abs() < 1e-2);
        assert!(probit(1.5).is_nan() && probit(0.0) == f32::NEG_INFINITY);
    }
}
