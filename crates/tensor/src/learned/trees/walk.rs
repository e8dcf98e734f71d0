//! From rows to sums of weights.

use super::{Aggregate, Ensemble, Mode, Node};
use crate::dtype::DType;
use crate::error::Result;
use crate::learned::extents;
use crate::refuse;
use crate::tensor::{Tensor, checked_count};

impl Ensemble {
    /// How many targets, or classes, have a score.
    pub fn targets(&self) -> usize {
        self.targets
    }

    /// Whether numbers are doubles.
    pub(super) fn is_double(&self, x: &Tensor) -> bool {
        self.double || x.dtype() == DType::F64
    }

    /// The joined weights of each target for each row of `x`, plus `base`.
    ///
    /// # Errors
    /// [`KernelError::BadShape`](crate::KernelError::BadShape) for rows with too few features.
    pub(super) fn scores(
        &self,
        x: &Tensor,
        aggregate: Aggregate,
        base: &[f64],
    ) -> Result<Vec<f64>> {
        let (rows, columns) = extents("tree_ensemble", x)?;
        if columns < self.features {
            let expected = format!("rows of {} features or more", self.features);
            return Err(refuse::shape("tree_ensemble", expected, x));
        }
        let data = x.f64s()?;
        let mut out = vec![0.0; checked_count(DType::F64, &[rows, self.targets])?];
        let mut join = Join::new(aggregate, self.targets, !self.is_double(x));
        for row in 0..rows {
            let sums = &mut out[row * self.targets..][..self.targets];
            join.start();
            for &root in &self.roots {
                let leaf = self.leaf(root, &data[row * columns..][..columns]);
                for &(target, weight) in &self.weights[leaf.yes as usize..leaf.no as usize] {
                    join.add(sums, target as usize, weight);
                }
            }
            join.finish(sums, self.roots.len(), base);
        }
        Ok(out)
    }

    /// The leaf that a row gets to. Ends, since no node can be reached from itself.
    fn leaf(&self, root: u32, row: &[f64]) -> Node {
        let mut node = self.nodes[root as usize];
        while node.mode != Mode::Leaf {
            let x = row[node.feature as usize];
            let yes = self.asks(&node, x) || node.missing && x.is_nan();
            node = self.nodes[if yes { node.yes } else { node.no } as usize];
        }
        node
    }

    fn asks(&self, node: &Node, x: f64) -> bool {
        match node.mode {
            Mode::LessOrEqual => x <= node.value,
            Mode::Less => x < node.value,
            Mode::GreaterOrEqual => x >= node.value,
            Mode::Greater => x > node.value,
            Mode::Equal => x == node.value,
            Mode::NotEqual => x != node.value,
            Mode::Member => {
                let set = &self.sets[node.value as usize];
                // The sign of 0 does not count.
                let x = x + 0.0;
                set.binary_search_by(|member| (member + 0.0).total_cmp(&x)).is_ok()
            }
            Mode::Leaf => false,
        }
    }
}

/// Joins weights as they come.
struct Join {
    aggregate: Aggregate,
    /// Sums are those of floats.
    rounds: bool,
    /// Which targets have a weight.
    met: Vec<bool>,
}

impl Join {
    fn new(aggregate: Aggregate, targets: usize, rounds: bool) -> Join {
        Join { aggregate, rounds, met: vec![false; targets] }
    }

    fn start(&mut self) {
        self.met.fill(false);
    }

    fn round(&self, value: f64) -> f64 {
        if self.rounds { f64::from(value as f32) } else { value }
    }

    fn add(&mut self, sums: &mut [f64], target: usize, weight: f64) {
        let sum = sums[target];
        let first = !std::mem::replace(&mut self.met[target], true);
        sums[target] = match self.aggregate {
            Aggregate::Sum | Aggregate::Average => self.round(sum + self.round(weight)),
            _ if first => weight,
            Aggregate::Min => sum.min(weight),
            Aggregate::Max => sum.max(weight),
        };
    }

    fn finish(&self, sums: &mut [f64], trees: usize, base: &[f64]) {
        for (target, sum) in sums.iter_mut().enumerate() {
            if self.aggregate == Aggregate::Average {
                *sum = self.round(*sum / trees as f64);
            }
            *sum = self.round(*sum + base.get(target).copied().unwrap_or(0.0));
        }
    }
}
