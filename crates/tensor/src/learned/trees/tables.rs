//! Trees as tables, which a walk reads at computed places.
//!
//! ```text
//! place   feature  split  next (no, yes)
//!   0        2      0.5      2, 1            node 0 asks whether x[2] <= 0.5
//!   1        0      0        1, 1            a leaf: whatever it is asked, the walk stays there
//!   2        0      0        2, 2
//! ```
//!
//! Every node asks `x <= split`, so that a step is the same for all of them: `<` is `<=` of the number
//! before, `>` and `>=` change yes and no, and an equality asks twice. A walk takes as many steps as
//! the deepest leaf is away, and waits at leaves that are nearer; nothing in it depends on a branch,
//! so that walks over several trees go side by side.

use super::{Ensemble, Mode, Node};
use crate::dtype::DType;
use crate::error::{KernelError, Result};
use crate::refuse;
use crate::tensor::{Tensor, checked_count};

const NAME: &str = "tree_leaves";

/// The tables of an ensemble. Leaves have the places of the nodes that they are.
#[derive(Clone, PartialEq, Debug)]
pub struct Tables {
    /// The feature that each node asks about: a vector of `i32`.
    pub features: Tensor,
    /// What it is compared with: a vector of `f32` or `f64`.
    pub splits: Tensor,
    /// What follows, `i32`: a row for each node of no and yes, and of NaN where one follows it other
    /// than a no.
    pub next: Tensor,
    /// The first node of each tree: a vector of `i32`.
    pub roots: Tensor,
    /// How many steps lead to the deepest leaf.
    pub depth: usize,
}

/// A node that asks `x <= split`.
#[derive(Clone, Copy)]
struct Step {
    feature: u32,
    split: f64,
    /// After a no, a yes, and a NaN.
    next: [u32; 3],
}

/// Makes the steps of nodes; those that take several have the others behind all nodes.
struct Steps {
    steps: Vec<Step>,
    /// Whether numbers are doubles.
    double: bool,
}

impl Steps {
    /// The greatest number below `value`, so that `x < value` is `x <= before`; NaN, which nothing is
    /// below of, where there is none.
    fn before(&self, value: f64) -> f64 {
        match value == f64::NEG_INFINITY {
            true => f64::NAN,
            false if self.double => value.next_down(),
            false => f64::from((value as f32).next_down()),
        }
    }

    /// Fills the place `at` with `x == value`, where `nan` follows a NaN.
    fn equal(&mut self, at: usize, node: &Node, value: f64, [no, yes, nan]: [u32; 3]) {
        let less = self.steps.len() as u32;
        let split = self.before(value);
        self.steps.push(Step { feature: node.feature, split, next: [yes, no, yes] });
        self.steps[at] = Step { feature: node.feature, split: value, next: [no, less, nan] };
    }

    /// Fills the place `at` with whether `x` is in a set.
    fn member(&mut self, at: usize, node: &Node, set: &[f64]) {
        let nan = if node.missing { node.yes } else { node.no };
        let Some((last, others)) = set.split_last() else {
            let next = [node.no, node.yes, nan];
            self.steps[at] = Step { feature: node.feature, split: f64::NAN, next };
            return;
        };
        let mut place = at;
        for &value in others {
            // Behind the second step of the equality.
            let following = self.steps.len() as u32 + 1;
            self.equal(place, node, value, [following, node.yes, nan]);
            self.steps.push(Step { feature: 0, split: 0.0, next: [following; 3] });
            place = following as usize;
        }
        self.equal(place, node, *last, [node.no, node.yes, nan]);
    }

    fn fill(&mut self, at: usize, node: &Node, sets: &[Vec<f64>]) {
        let (no, yes, value) = (node.no, node.yes, node.value);
        let nan = if node.missing { yes } else { no };
        let one = |split, next| Step { feature: node.feature, split, next };
        self.steps[at] = match node.mode {
            Mode::LessOrEqual => one(value, [no, yes, nan]),
            Mode::Less => one(self.before(value), [no, yes, nan]),
            // Nothing is greater than NaN, whichever way it is asked.
            Mode::Greater | Mode::GreaterOrEqual if value.is_nan() => one(value, [no, yes, nan]),
            Mode::Greater => one(value, [yes, no, nan]),
            Mode::GreaterOrEqual => one(self.before(value), [yes, no, nan]),
            Mode::Equal => return self.equal(at, node, value, [no, yes, nan]),
            // A NaN is other than any number.
            Mode::NotEqual => return self.equal(at, node, value, [yes, no, yes]),
            Mode::Member => return self.member(at, node, &sets[value as usize]),
            Mode::Leaf => Step { feature: 0, split: 0.0, next: [at as u32; 3] },
        };
    }

    /// How many steps lead to the deepest leaf. No node can be reached from itself.
    fn depth(&self, roots: &[u32]) -> usize {
        let mut depths: Vec<Option<usize>> = vec![None; self.steps.len()];
        let mut way = roots.to_vec();
        while let Some(&at) = way.last() {
            let [no, yes, nan] = self.steps[at as usize].next;
            if no == at {
                depths[at as usize] = Some(0);
            }
            let following = [no, yes, nan].map(|next| depths[next as usize]);
            match (depths[at as usize], following) {
                (Some(_), _) => {
                    way.pop();
                }
                (None, [Some(no), Some(yes), Some(nan)]) => {
                    depths[at as usize] = Some(1 + no.max(yes).max(nan));
                }
                _ => way.extend([no, yes, nan].iter().filter(|&&n| depths[n as usize].is_none())),
            }
        }
        roots.iter().filter_map(|&root| depths[root as usize]).max().unwrap_or(0)
    }
}

impl Ensemble {
    /// The tables of the trees, whose nodes compare numbers of type `compared`: `f64`, or `f32` if
    /// what they are compared with are such.
    ///
    /// # Errors
    /// [`KernelError::BadParameter`] for more nodes than an `i32` counts.
    pub fn tables(&self, compared: DType) -> Result<Tables> {
        let empty = Step { feature: 0, split: 0.0, next: [0; 3] };
        let double = compared == DType::F64;
        let mut steps = Steps { steps: vec![empty; self.nodes.len()], double };
        for (at, node) in self.nodes.iter().enumerate() {
            steps.fill(at, node, &self.sets);
        }
        let depth = steps.depth(&self.roots);
        let steps = steps.steps;
        let count = steps.len();
        if i32::try_from(count).is_err() || i32::try_from(self.features).is_err() {
            return Err(refuse::parameter(NAME, "nodes", "as many as an i32 counts", count));
        }
        let ways = if steps.iter().all(|step| step.next[2] == step.next[0]) { 2 } else { 3 };
        let next = steps.iter().flat_map(|step| step.next[..ways].iter().map(|&n| n as i32));
        let splits: Vec<f64> = steps.iter().map(|step| step.split).collect();
        Ok(Tables {
            features: Tensor::vector(steps.iter().map(|s| s.feature as i32).collect::<Vec<_>>()),
            splits: crate::elementwise::cast(&Tensor::vector(splits), compared)?,
            next: Tensor::from_vec([count, ways], next.collect())?,
            roots: Tensor::vector(self.roots.iter().map(|&root| root as i32).collect::<Vec<_>>()),
            depth,
        })
    }

    /// Whether each number that a node compares with, and each weight, is an `f32`.
    pub fn is_single(&self) -> bool {
        !self.double
    }

    /// Whether each leaf has a value for each target.
    pub fn votes_for_all(&self) -> bool {
        let mut leaves = self.nodes.iter().filter(|node| node.mode == Mode::Leaf);
        leaves.all(|leaf| {
            let weights = &self.weights[leaf.yes as usize..leaf.no as usize];
            (0..self.targets).all(|target| weights.iter().any(|weight| weight.0 as usize == target))
        })
    }

    /// The weight of each node, by places in [`Tables`], for each target; 0 for whatever is no leaf.
    ///
    /// `None` where a leaf has two weights for a target, which are added one after the other, or where
    /// there would be more than `most` of them.
    pub fn dense_weights(&self, places: usize, most: usize) -> Option<Vec<f64>> {
        let count = places.checked_mul(self.targets).filter(|&count| count <= most)?;
        let mut dense = vec![0.0; count];
        let mut met = vec![false; count];
        for (at, node) in self.nodes.iter().enumerate().filter(|(_, n)| n.mode == Mode::Leaf) {
            for &(target, weight) in &self.weights[node.yes as usize..node.no as usize] {
                let place = at * self.targets + target as usize;
                if std::mem::replace(&mut met[place], true) {
                    return None;
                }
                dense[place] = weight;
            }
        }
        Some(dense)
    }
}

/// The leaf in which each row of `x` ends in each tree, as its place in the tables; `i32`.
///
/// # Errors
/// [`KernelError::IndexOutOfRange`] for a place that is none.
pub fn tree_leaves(x: &Tensor, tables: &Tables) -> Result<Tensor> {
    let [rows, columns] = *x.shape() else { return Err(refuse::shape(NAME, "rank 2", x)) };
    let (data, splits) = (x.f64s()?, tables.splits.f64s()?);
    let (features, next) = (tables.features.i64s()?, tables.next.i64s()?);
    let roots = tables.roots.i64s()?;
    let ways = match *tables.next.shape() {
        [_, ways @ (2 | 3)] => ways,
        _ => return Err(refuse::shape(NAME, "two or three places for each node", &tables.next)),
    };
    let within = |index: i64, size: usize| {
        usize::try_from(index).ok().filter(|&at| at < size).ok_or(KernelError::IndexOutOfRange {
            kernel: NAME,
            index,
            size,
        })
    };
    let follow = |row: usize, node: i64| {
        let at = within(node, features.len())?;
        let x = data[row * columns + within(features[at], columns)?];
        let split = splits[within(node, splits.len())?];
        let nan = ways == 3 && x.is_nan();
        let way = if nan { 2 } else { usize::from(x <= split) };
        Ok(next[within(node, next.len() / ways)? * ways + way])
    };
    let mut leaves = Vec::with_capacity(checked_count(DType::I32, &[rows, roots.len()])?);
    for row in 0..rows {
        for &root in &roots {
            let leaf = walk(root, tables.depth, features.len(), |node| follow(row, node))?;
            leaves.push(leaf as i32);
        }
    }
    Tensor::from_vec([rows, roots.len()], leaves)
}

/// Where `steps` steps from `node` lead, in time linear in the number of nodes, however many steps
/// these are: a walk that is longer goes in a circle, of which whole rounds change nothing.
fn walk(
    mut node: i64,
    steps: usize,
    nodes: usize,
    follow: impl Fn(i64) -> Result<i64>,
) -> Result<i64> {
    for _ in 0..steps.min(nodes) {
        node = follow(node)?;
    }
    let rest = steps.saturating_sub(nodes);
    if rest == 0 {
        return Ok(node);
    }
    let (start, mut round) = (node, 0);
    loop {
        node = follow(node)?;
        round += 1;
        if node == start {
            break;
        }
    }
    for _ in 0..rest % round {
        node = follow(node)?;
    }
    Ok(node)
}

#[cfg(test)]
mod tests {
    use super::super::{Aggregate, LeafLists, TreeLists};
    use super::*;

    #[test]
    fn walks_of_any_length_end_where_single_steps_do() {
        // A tail of three nodes, and circles of one, two and four.
        for circle in [1, 2, 4] {
            let nodes = 3 + circle;
            let follow = |node: i64| Ok(if node + 1 < nodes { node + 1 } else { 3 });
            let mut node = 0;
            for steps in 0..30 {
                assert_eq!(walk(0, steps, nodes as usize, follow), Ok(node), "{steps}");
                node = follow(node).expect("a node");
            }
            let far = walk(0, usize::MAX, nodes as usize, follow).expect("a node");
            assert_eq!(far, 3 + ((usize::MAX - 3) % circle as usize) as i64);
        }
    }

    #[test]
    fn a_walk_through_tables_ends_where_one_from_node_to_node_does() {
        use Mode::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, Member, NotEqual};
        for mode in [Member, Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual] {
            for missing in [0, 1] {
                let lists = TreeLists {
                    roots: vec![0],
                    modes: vec![mode],
                    features: vec![0],
                    values: vec![3.0],
                    yes: vec![0],
                    yes_leaf: vec![1],
                    no: vec![1],
                    no_leaf: vec![1],
                    missing: vec![missing],
                    members: vec![1.0, 3.0, 5.0, f64::NAN],
                };
                let leaves = LeafLists { targets: vec![0, 0], weights: vec![7.0, 9.0] };
                let trees = Ensemble::of_trees(&lists, &leaves, 1, false).expect("a tree");
                let numbers: Vec<f32> = (0..7).map(|n| n as f32).collect();
                let special = [-0.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
                let x: Vec<f32> = numbers.into_iter().chain(special).collect();
                let x = Tensor::from_vec([x.len(), 1], x).expect("rows");
                let expected = trees.scores(&x, Aggregate::Sum, &[]).expect("scores");
                let tables = trees.tables(DType::F32).expect("tables");
                let weights = trees.dense_weights(tables.features.len(), 100).expect("few");
                let places =
                    tree_leaves(&x, &tables).and_then(|places| places.i64s()).expect("places");
                let found: Vec<f64> = places.iter().map(|&at| weights[at as usize]).collect();
                assert_eq!(found, expected, "{mode:?} {missing}");
            }
        }
    }
}
