//! Support vector machines.
//!
//! A machine of `E` classes has a decision for each pair of classes, of `E - 1` rows of
//! coefficients: that of vector `v` of class `i` against class `j` stands in row `j - 1` for
//! `i < j`, in row `j` for `j < i`. Shares of classes come of those of pairs by the second method of
//! T.-F. Wu, C.-J. Lin and R. Weng, "Probability estimates for multi-class classification by
//! pairwise coupling" (2004).

use super::labels::Labels;
use super::linear::products;
use super::scores::{Other, PostTransform};
use super::{extents, f32s, first_greatest};
use crate::dtype::DType;
use crate::error::Result;
use crate::refuse;
use crate::tensor::{Tensor, checked_count};

/// How alike two vectors are, of their product or distance.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kernel {
    /// `x . v`
    Linear,
    /// `(gamma x . v + coef0) ^ degree`
    Poly {
        /// A factor.
        gamma: f32,
        /// A summand.
        coef0: f32,
        /// The power.
        degree: f32,
    },
    /// `exp(-gamma |x - v|^2)`
    Rbf {
        /// A factor.
        gamma: f32,
    },
    /// `tanh(gamma x . v + coef0)`
    Sigmoid {
        /// A factor.
        gamma: f32,
        /// A summand.
        coef0: f32,
    },
}

impl Kernel {
    fn of(self, x: &[f32], v: &[f32]) -> f32 {
        let pairs = || x.iter().zip(v);
        let product = || pairs().map(|(x, v)| x * v).sum::<f32>();
        match self {
            Kernel::Linear => product(),
            Kernel::Poly { gamma, coef0, degree } => (gamma * product() + coef0).powf(degree),
            Kernel::Rbf { gamma } => {
                (-gamma * pairs().map(|(x, v)| (x - v) * (x - v)).sum::<f32>()).exp()
            }
            Kernel::Sigmoid { gamma, coef0 } => (gamma * product() + coef0).tanh(),
        }
    }
}

/// What classifiers and regressors have in common.
#[derive(Clone, Debug)]
pub struct SvmParams {
    /// How alike a row and a support vector are.
    pub kernel: Kernel,
    /// Support vectors, one after the other; none: coefficients are weights of features.
    pub vectors: Vec<f32>,
    /// Of each support vector; for classifiers in rows, as the module says.
    pub coefficients: Vec<f32>,
    /// What is added to decisions.
    pub rho: Vec<f32>,
    /// What is done with the scores.
    pub post: PostTransform,
}

impl SvmParams {
    /// Refuses vectors that are not `count` of `columns` numbers, and coefficients that are not
    /// `rows` for each.
    fn check(&self, kernel: &'static str, columns: usize, count: usize, rows: usize) -> Result<()> {
        if count.checked_mul(columns) != Some(self.vectors.len()) {
            let expected = "a number of each feature for each vector";
            let found = self.vectors.len();
            return Err(refuse::parameter(kernel, "support_vectors", expected, found));
        }
        if count.checked_mul(rows) != Some(self.coefficients.len()) {
            let expected = "one for each vector, against each other class";
            let found = self.coefficients.len();
            return Err(refuse::parameter(kernel, "coefficients", expected, found));
        }
        Ok(())
    }

    fn rho(&self, kernel: &'static str, count: usize) -> Result<&[f32]> {
        self.rho.get(..count).ok_or_else(|| {
            refuse::parameter(kernel, "rho", "one for each decision", self.rho.len())
        })
    }
}

/// A column of decisions; with `one_class` 1 where they are above 0, and -1.
///
/// # Errors
/// [`KernelError::BadParameter`](crate::KernelError::BadParameter) for lists of other lengths.
pub fn svm_regressor(
    x: &Tensor,
    params: &SvmParams,
    supports: usize,
    one_class: bool,
) -> Result<Tensor> {
    const NAME: &str = "svm_regressor";
    let (rows, columns) = extents(NAME, x)?;
    let rho = params.rho(NAME, 1)?[0];
    let mut out = if supports == 0 {
        products(NAME, x, &params.coefficients, &[rho], 1)?
    } else {
        params.check(NAME, columns, supports, 1)?;
        let data = f32s(x)?;
        let decision = |row: usize| {
            let row = &data[row * columns..][..columns];
            let vectors = (0..supports).map(|v| &params.vectors[v * columns..][..columns]);
            let weighted = vectors.zip(&params.coefficients);
            weighted.map(|(v, c)| c * params.kernel.of(row, v)).sum::<f32>() + rho
        };
        (0..rows).map(decision).collect()
    };
    if one_class {
        out.iter_mut().for_each(|x| *x = if *x > 0.0 { 1.0 } else { -1.0 });
    }
    Tensor::from_vec([rows, 1], out)
}

/// A classifier.
#[derive(Clone, Debug)]
pub struct SvmClassifierParams {
    /// The machine.
    pub machine: SvmParams,
    /// How many support vectors each class has.
    pub vectors_per_class: Vec<usize>,
    /// Slope and offset of the share of each pair of classes; none: scores are decisions.
    pub shares: Option<(Vec<f32>, Vec<f32>)>,
    /// The classes.
    pub labels: Labels,
}

/// The class of each row, by votes of pairs whatever the shares are, and the scores: shares of classes,
/// decisions of pairs, or without support vectors a linear function for each class.
///
/// # Errors
/// [`KernelError::BadParameter`](crate::KernelError::BadParameter) for lists of other lengths.
pub fn svm_classifier(x: &Tensor, params: &SvmClassifierParams) -> Result<(Tensor, Tensor)> {
    const NAME: &str = "svm_classifier";
    let classes = params.labels.len();
    if classes == 0 {
        return Err(refuse::parameter(NAME, "classlabels", "at least one", classes));
    }
    if params.machine.vectors.is_empty() {
        return linear_classes(NAME, x, params);
    }
    let supports = params.vectors_per_class.iter().try_fold(0usize, |n, &v| n.checked_add(v));
    if params.vectors_per_class.len() != classes || supports.is_none() || classes < 2 {
        let found = &params.vectors_per_class;
        return Err(refuse::parameter(NAME, "vectors_per_class", "one for each label", found));
    }
    let supports = supports.unwrap_or_default();
    let (rows, columns) = extents(NAME, x)?;
    params.machine.check(NAME, columns, supports, classes - 1)?;
    let pairs = classes * (classes - 1) / 2;
    let rho = params.machine.rho(NAME, pairs)?;
    let shares = params.shares.as_ref();
    if shares.is_some_and(|(a, b)| a.len() < pairs || b.len() < pairs) {
        return Err(refuse::parameter(NAME, "prob_a", "one for each pair", "fewer"));
    }
    let mut run = Decisions::new(params, rho, columns, supports);
    let data = f32s(x)?;
    let width = if shares.is_some() { classes } else { pairs.max(2) };
    let mut out = Vec::with_capacity(checked_count(DType::F32, &[rows, width])?);
    let mut places = Vec::with_capacity(rows);
    for row in 0..rows {
        run.decide(&data[row * columns..][..columns]);
        places.push(run.finish(&mut out));
    }
    Ok((params.labels.at(&places)?, Tensor::from_vec([rows, width], out)?))
}

/// Classes by a linear function for each.
fn linear_classes(
    name: &'static str,
    x: &Tensor,
    params: &SvmClassifierParams,
) -> Result<(Tensor, Tensor)> {
    let classes = params.labels.len();
    let (rows, _) = extents(name, x)?;
    // There is one for all.
    let rho = vec![params.machine.rho(name, 1)?[0]; classes];
    let mut out = products(name, x, &params.machine.coefficients, &rho, classes)?;
    let places: Vec<usize> = out.chunks_exact(classes).map(first_greatest).collect();
    out.chunks_exact_mut(classes).for_each(|row| params.machine.post.apply(row));
    Ok((params.labels.at(&places)?, Tensor::from_vec([rows, classes], out)?))
}

/// What one row needs, allocated once.
struct Decisions<'a> {
    params: &'a SvmClassifierParams,
    rho: &'a [f32],
    columns: usize,
    supports: usize,
    kernels: Vec<f32>,
    decisions: Vec<f32>,
    votes: Vec<f32>,
    coupling: Coupling,
}

impl<'a> Decisions<'a> {
    fn new(
        params: &'a SvmClassifierParams,
        rho: &'a [f32],
        columns: usize,
        supports: usize,
    ) -> Decisions<'a> {
        let classes = params.labels.len();
        Decisions {
            params,
            rho,
            columns,
            supports,
            kernels: vec![0.0; supports],
            decisions: Vec::with_capacity(rho.len()),
            votes: vec![0.0; classes],
            coupling: Coupling::new(classes),
        }
    }

    /// Finds the decision of each pair, and counts the votes.
    fn decide(&mut self, row: &[f32]) {
        let machine = &self.params.machine;
        for (v, alike) in self.kernels.iter_mut().enumerate() {
            *alike = machine.kernel.of(row, &machine.vectors[v * self.columns..][..self.columns]);
        }
        self.votes.fill(0.0);
        self.decisions.clear();
        let counts = &self.params.vectors_per_class;
        let part = |start: usize, count: usize, against: usize| {
            let coefficients = &machine.coefficients[against * self.supports + start..][..count];
            let kernels = &self.kernels[start..][..count];
            coefficients.iter().zip(kernels).map(|(c, k)| c * k).sum::<f32>()
        };
        let mut start_i = 0;
        for i in 0..counts.len() {
            let mut start_j = start_i + counts[i];
            for j in i + 1..counts.len() {
                let sum = part(start_i, counts[i], j - 1) + part(start_j, counts[j], i);
                let decision = sum + self.rho[self.decisions.len()];
                self.votes[if decision > 0.0 { i } else { j }] += 1.0;
                self.decisions.push(decision);
                start_j += counts[j];
            }
            start_i += counts[i];
        }
    }

    /// Appends the scores of the row; returns the place of its class.
    fn finish(&mut self, out: &mut Vec<f32>) -> usize {
        let post = self.params.machine.post;
        let start = out.len();
        if let Some((a, b)) = &self.params.shares {
            self.coupling.fill(&self.decisions, a, b);
            self.coupling.shares(out);
            post.apply(&mut out[start..]);
            return first_greatest(&self.votes);
        }
        match self.decisions[..] {
            [decision] => {
                let softmax = matches!(post, PostTransform::Softmax | PostTransform::SoftmaxZero);
                let other = if softmax { Other::Complement } else { Other::Negative };
                out.extend(post.pair(decision, other));
            }
            _ => {
                out.extend_from_slice(&self.decisions);
                post.apply(&mut out[start..]);
            }
        }
        first_greatest(&self.votes)
    }
}

/// Shares of classes from shares of pairs.
struct Coupling {
    classes: usize,
    /// The share of class `i` against `j`.
    pairs: Vec<f32>,
    /// The quadratic form that the shares minimise.
    form: Vec<f32>,
    share: Vec<f32>,
    product: Vec<f32>,
}

impl Coupling {
    /// A share of a pair is no closer to 0 or 1 than this.
    const LEAST: f32 = 1e-7;

    fn new(classes: usize) -> Coupling {
        let square = vec![0.0; classes * classes];
        let (share, product) = (vec![0.0; classes], vec![0.0; classes]);
        Coupling { classes, pairs: square.clone(), form: square, share, product }
    }

    fn fill(&mut self, decisions: &[f32], a: &[f32], b: &[f32]) {
        let mut at = 0;
        for i in 0..self.classes {
            for j in i + 1..self.classes {
                let share = 1.0 - super::scores::logistic(decisions[at] * a[at] + b[at]);
                let share = share.clamp(Self::LEAST, 1.0 - Self::LEAST);
                self.pairs[i * self.classes + j] = share;
                self.pairs[j * self.classes + i] = 1.0 - share;
                at += 1;
            }
        }
    }

    /// Appends the shares, by as many steps as it takes for the gradient to be even, or 100.
    fn shares(&mut self, out: &mut Vec<f32>) {
        let n = self.classes;
        for t in 0..n {
            self.share[t] = 1.0 / n as f32;
            let others = (0..n).filter(|&j| j != t).map(|j| self.pairs[j * n + t]);
            self.form[t * n + t] = others.map(|r| r * r).sum();
            for j in (0..n).filter(|&j| j != t) {
                self.form[t * n + j] = -self.pairs[j * n + t] * self.pairs[t * n + j];
            }
        }
        let even = 0.005 / n as f32;
        for _ in 0..n.max(100) {
            let mut total = 0.0;
            for t in 0..n {
                let row = self.form[t * n..][..n].iter().zip(&self.share);
                self.product[t] = row.map(|(q, p)| q * p).sum();
                total += self.share[t] * self.product[t];
            }
            let worst = self.product.iter().map(|p| (p - total).abs()).fold(0.0, f32::max);
            if worst < even {
                break;
            }
            self.step(&mut total);
        }
        out.extend_from_slice(&self.share);
    }

    /// Moves each share to where the gradient is even along it, and scales all to the sum of 1.
    fn step(&mut self, total: &mut f32) {
        let n = self.classes;
        for t in 0..n {
            let own = self.form[t * n + t];
            let change = (*total - self.product[t]) / own;
            self.share[t] += change;
            let scale = 1.0 + change;
            *total = (*total + change * (change * own + 2.0 * self.product[t])) / scale / scale;
            for j in 0..n {
                self.product[j] = (self.product[j] + change * self.form[t * n + j]) / scale;
                self.share[j] /= scale;
            }
        }
    }
}
