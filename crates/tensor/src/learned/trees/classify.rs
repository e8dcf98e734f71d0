//! What is made of the scores of trees.

use super::{Aggregate, Ensemble};
use crate::dtype::DType;
use crate::elementwise::cast;
use crate::error::Result;
use crate::learned::scores::Other;
use crate::learned::{Labels, PostTransform, extents, first_greatest};
use crate::refuse;
use crate::tensor::Tensor;

/// Trees whose leaves vote for classes.
#[derive(Clone, Debug)]
pub struct TreeClassifier {
    ensemble: Ensemble,
    base: Vec<f64>,
    post: PostTransform,
    labels: Labels,
    /// The only class that leaves vote for, of two, and how much of it is enough.
    single: Option<(usize, f64)>,
}

impl TreeClassifier {
    /// Makes one of an ensemble with a target for each label.
    ///
    /// # Errors
    /// [`KernelError::BadParameter`](crate::KernelError::BadParameter) for a number of base values
    /// that is neither 0 nor that of the labels; two labels may have one.
    pub fn new(
        ensemble: Ensemble,
        base: Vec<f64>,
        post: PostTransform,
        labels: Labels,
    ) -> Result<TreeClassifier> {
        let count = labels.len();
        let one_of_two = count == 2 && base.len() == 1;
        if !base.is_empty() && base.len() != count && !one_of_two {
            let expected = "one for each class";
            return Err(refuse::parameter("tree_ensemble", "base_values", expected, base.len()));
        }
        let mut voted = ensemble.weights.iter().map(|weight| weight.0);
        let first = voted.next();
        let alone =
            first.filter(|_| count == 2 && base.len() < 2 && voted.all(|v| Some(v) == first));
        // Shares are decided at one half, distances at 0.
        let shares = ensemble.weights.iter().all(|weight| weight.1 >= 0.0);
        let single = alone.map(|class| (class as usize, if shares { 0.5 } else { 0.0 }));
        Ok(TreeClassifier { ensemble, base, post, labels, single })
    }

    /// The only class that leaves vote for, of two, and the score above which a row is of the second.
    pub fn single(&self) -> Option<(usize, f64)> {
        self.single
    }

    /// What the score of the second class says of the first, if leaves vote for that alone.
    pub fn other(&self) -> Other {
        match self.single {
            Some((_, enough)) if enough > 0.0 => Other::Complement,
            _ => Other::Negative,
        }
    }

    /// The trees.
    pub fn ensemble(&self) -> &Ensemble {
        &self.ensemble
    }

    /// The classes.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// What is added to scores: nothing, or a value for each class; a single one goes to the class
    /// that leaves vote for, if they do for one alone, else to the first.
    pub fn base(&self) -> &[f64] {
        &self.base
    }

    /// What is done with the scores of a row.
    pub fn post(&self) -> PostTransform {
        self.post
    }

    /// The class of each row, and the scores of all classes, `f32`.
    ///
    /// # Errors
    /// [`KernelError::BadShape`](crate::KernelError::BadShape) for rows with too few features.
    pub fn classify(&self, x: &Tensor) -> Result<(Tensor, Tensor)> {
        let (rows, _) = extents("tree_ensemble", x)?;
        let count = self.labels.len();
        let mut base = self.base.clone();
        if let (Some((1, _)), [value]) = (self.single, &base[..]) {
            base = vec![0.0, *value];
        }
        let scores = self.ensemble.scores(x, Aggregate::Sum, &base)?;
        let mut scores: Vec<f32> = scores.into_iter().map(|score| score as f32).collect();
        let mut places = Vec::with_capacity(rows);
        for row in scores.chunks_exact_mut(count) {
            places.push(self.finish(row));
        }
        Ok((self.labels.at(&places)?, Tensor::from_vec([rows, count], scores)?))
    }

    /// Transforms the scores of a row; returns the place of its class.
    fn finish(&self, row: &mut [f32]) -> usize {
        let Some((class, enough)) = self.single else {
            let place = first_greatest(row);
            self.post.apply(row);
            return place;
        };
        let score = row[class];
        if class == 1 {
            self.post.apply(row);
        } else {
            row.copy_from_slice(&self.post.pair(score, self.other()));
        }
        usize::from(f64::from(score) > enough)
    }
}

/// Trees whose leaves have a value for each target.
#[derive(Clone, Debug)]
pub struct TreeRegressor {
    /// The trees.
    pub ensemble: Ensemble,
    /// How values are joined.
    pub aggregate: Aggregate,
    /// What is added: nothing, or a value for each target.
    pub base: Vec<f64>,
    /// What is done with the values of a row.
    pub post: PostTransform,
}

impl TreeRegressor {
    /// A row of values for each row of `x`, of type `to`.
    ///
    /// # Errors
    /// [`KernelError::BadParameter`](crate::KernelError::BadParameter) for another number of base
    /// values, [`KernelError::BadShape`](crate::KernelError::BadShape) for rows with too few
    /// features.
    pub fn predict(&self, x: &Tensor, to: DType) -> Result<Tensor> {
        let targets = self.ensemble.targets();
        if !self.base.is_empty() && self.base.len() != targets {
            let (expected, found) = ("one for each target", self.base.len());
            return Err(refuse::parameter("tree_ensemble", "base_values", expected, found));
        }
        let (rows, _) = extents("tree_ensemble", x)?;
        let values = self.ensemble.scores(x, self.aggregate, &self.base)?;
        if self.post == PostTransform::None {
            return cast(&Tensor::from_vec([rows, targets], values)?, to);
        }
        let mut values: Vec<f32> = values.into_iter().map(|value| value as f32).collect();
        values.chunks_exact_mut(targets.max(1)).for_each(|row| self.post.apply(row));
        cast(&Tensor::from_vec([rows, targets], values)?, to)
    }
}
