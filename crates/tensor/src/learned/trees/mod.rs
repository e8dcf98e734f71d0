//! Ensembles of decision trees.
//!
//! ```text
//! node 0: x[2] <= 0.5 ?  yes: node 1, else node 2        a row of x walks from the root to a leaf,
//! node 1: leaf, weights (class 0, 0.25), (class 1, 0.75)  and the weights of the leaves of all trees
//! node 2: leaf, weights (class 0, 1.0)                    are joined for each class
//! ```
//!
//! Nodes and weights lie in flat lists. [`Ensemble`] is checked when it is built: every node that
//! can be reached exists, and none can be reached from itself, so that a walk ends.

mod build;
mod classify;
mod tables;
mod walk;

pub use build::{LeafLists, NodeLists, TargetLists, TreeLists};
pub use classify::{TreeClassifier, TreeRegressor};
pub use tables::{Tables, tree_leaves};

/// What a node asks of a feature.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// `x <= value`
    LessOrEqual,
    /// `x < value`
    Less,
    /// `x >= value`
    GreaterOrEqual,
    /// `x > value`
    Greater,
    /// `x == value`
    Equal,
    /// `x != value`
    NotEqual,
    /// Whether `x` is in a set of numbers.
    Member,
    /// Nothing: it is a leaf.
    Leaf,
}

impl Mode {
    /// The mode that ONNX calls `text`.
    pub fn named(text: &str) -> Option<Mode> {
        Some(match text {
            "BRANCH_LEQ" => Mode::LessOrEqual,
            "BRANCH_LT" => Mode::Less,
            "BRANCH_GTE" => Mode::GreaterOrEqual,
            "BRANCH_GT" => Mode::Greater,
            "BRANCH_EQ" => Mode::Equal,
            "BRANCH_NEQ" => Mode::NotEqual,
            "LEAF" => Mode::Leaf,
            _ => return None,
        })
    }

    /// The mode with the number that `TreeEnsemble` has for it.
    pub fn numbered(number: i64) -> Option<Mode> {
        use Mode::*;
        [LessOrEqual, Less, GreaterOrEqual, Greater, Equal, NotEqual, Member]
            .get(usize::try_from(number).ok()?)
            .copied()
    }
}

/// How the weights of a target are joined.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Aggregate {
    /// Their sum.
    #[default]
    Sum,
    /// Their sum by the number of trees.
    Average,
    /// The least.
    Min,
    /// The greatest.
    Max,
}

impl Aggregate {
    /// The function that ONNX calls `text`.
    pub fn named(text: &str) -> Option<Aggregate> {
        Some(match text {
            "SUM" => Aggregate::Sum,
            "AVERAGE" => Aggregate::Average,
            "MIN" => Aggregate::Min,
            "MAX" => Aggregate::Max,
            _ => return None,
        })
    }

    /// The function with the number that `TreeEnsemble` has for it.
    pub fn numbered(number: i64) -> Option<Aggregate> {
        use Aggregate::*;
        [Average, Sum, Min, Max].get(usize::try_from(number).ok()?).copied()
    }
}

/// A node; for a leaf, `yes..no` are its weights.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// What the feature is compared with; for a set its number.
    value: f64,
    feature: u32,
    yes: u32,
    no: u32,
    mode: Mode,
    /// Whether NaN is a yes.
    missing: bool,
}

/// Trees, ready to be walked.
#[derive(Clone, Debug)]
pub struct Ensemble {
    nodes: Vec<Node>,
    roots: Vec<u32>,
    /// Target and weight, for each leaf behind each other.
    weights: Vec<(u32, f64)>,
    /// The sets of `Mode::Member`, each ascending.
    sets: Vec<Vec<f64>>,
    targets: usize,
    /// How many features a row needs at least.
    features: usize,
    /// Whether numbers are doubles: sums are rounded to floats otherwise.
    double: bool,
}
