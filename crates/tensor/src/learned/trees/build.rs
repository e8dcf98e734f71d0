//! From the lists of ONNX's attributes to [`Ensemble`].

use std::collections::HashMap;

use super::{Ensemble, Mode, Node};
use crate::error::{KernelError, Result};
use crate::refuse;

const NAME: &str = "tree_ensemble";

/// Nodes with numbers of their own in each tree, as `TreeEnsembleClassifier` lists them.
#[derive(Clone, Debug)]
pub struct NodeLists {
    /// The tree of each node.
    pub trees: Vec<i64>,
    /// Its number in the tree.
    pub ids: Vec<i64>,
    /// What it asks.
    pub modes: Vec<Mode>,
    /// The feature that it asks about.
    pub features: Vec<i64>,
    /// What the feature is compared with.
    pub values: Vec<f64>,
    /// The node that follows a yes.
    pub yes: Vec<i64>,
    /// The node that follows a no.
    pub no: Vec<i64>,
    /// Whether NaN is a yes; for none if empty.
    pub missing: Vec<i64>,
}

/// The weights of leaves.
#[derive(Clone, Debug)]
pub struct TargetLists {
    /// The tree of each weight.
    pub trees: Vec<i64>,
    /// The number of its leaf in the tree.
    pub nodes: Vec<i64>,
    /// The class or target that it counts for.
    pub targets: Vec<i64>,
    /// The weight.
    pub weights: Vec<f64>,
    /// The names of these lists in messages.
    pub names: [&'static str; 4],
}

/// Inner nodes by their places, as `TreeEnsemble` lists them.
#[derive(Clone, Debug)]
pub struct TreeLists {
    /// The node that each tree starts with.
    pub roots: Vec<i64>,
    /// What a node asks.
    pub modes: Vec<Mode>,
    /// The feature that it asks about.
    pub features: Vec<i64>,
    /// What the feature is compared with.
    pub values: Vec<f64>,
    /// The node, or leaf, that follows a yes.
    pub yes: Vec<i64>,
    /// Whether that is a leaf.
    pub yes_leaf: Vec<i64>,
    /// The node, or leaf, that follows a no.
    pub no: Vec<i64>,
    /// Whether that is a leaf.
    pub no_leaf: Vec<i64>,
    /// Whether NaN is a yes; for none if empty.
    pub missing: Vec<i64>,
    /// The numbers of each set, with NaN behind each set.
    pub members: Vec<f64>,
}

/// The leaves of `TreeEnsemble`, one weight each.
#[derive(Clone, Debug)]
pub struct LeafLists {
    /// The target that it counts for.
    pub targets: Vec<i64>,
    /// The weight.
    pub weights: Vec<f64>,
}

/// Refuses a list of another length than `count`.
fn long(name: &'static str, found: usize, count: usize) -> Result<()> {
    match found == count {
        true => Ok(()),
        false => Err(refuse::parameter(NAME, name, "as many as there are nodes", found)),
    }
}

fn missing(list: &[i64], at: usize) -> bool {
    list.get(at).is_some_and(|&flag| flag != 0)
}

/// A number of `name` that has to be below `count`.
fn below(name: &'static str, found: i64, count: usize) -> Result<u32> {
    let fits = usize::try_from(found).ok().filter(|&n| n < count);
    fits.and_then(|n| u32::try_from(n).ok())
        .ok_or_else(|| refuse::parameter(NAME, name, "the number of one that exists", found))
}

/// The number of a feature.
fn feature(found: i64) -> Result<u32> {
    u32::try_from(found)
        .map_err(|_| refuse::parameter(NAME, "nodes_featureids", "0 or more", found))
}

impl NodeLists {
    fn check(&self) -> Result<()> {
        let count = self.ids.len();
        let lists = [
            ("nodes_treeids", self.trees.len()),
            ("nodes_modes", self.modes.len()),
            ("nodes_featureids", self.features.len()),
            ("nodes_values", self.values.len()),
            ("nodes_truenodeids", self.yes.len()),
            ("nodes_falsenodeids", self.no.len()),
        ];
        if count == 0 {
            return Err(refuse::parameter(NAME, "nodes_nodeids", "at least one node", count));
        }
        if !self.missing.is_empty() {
            long("nodes_missing_value_tracks_true", self.missing.len(), count)?;
        }
        lists.into_iter().try_for_each(|(name, found)| long(name, found, count))
    }

    /// The place of each node by tree and number.
    fn places(&self) -> Result<HashMap<(i64, i64), u32>> {
        let mut places = HashMap::with_capacity(self.ids.len());
        for (at, key) in self.trees.iter().copied().zip(self.ids.iter().copied()).enumerate() {
            if places.insert(key, at as u32).is_some() {
                let expected = "each node of a tree once";
                return Err(refuse::parameter(NAME, "nodes_nodeids", expected, key.1));
            }
        }
        Ok(places)
    }
}

impl Ensemble {
    /// Builds the trees of `TreeEnsembleClassifier` and `TreeEnsembleRegressor`. The root of a
    /// tree is its first node that follows no other.
    ///
    /// # Errors
    /// [`KernelError::BadParameter`]: which list has which wrong entry.
    pub fn of_nodes(
        lists: &NodeLists,
        leaves: &TargetLists,
        targets: usize,
        double: bool,
    ) -> Result<Ensemble> {
        lists.check()?;
        let places = lists.places()?;
        let mut followed = vec![false; lists.ids.len()];
        let mut nodes = Vec::with_capacity(lists.ids.len());
        for at in 0..lists.ids.len() {
            let mut node = Node {
                value: lists.values[at],
                feature: 0,
                yes: 0,
                no: 0,
                mode: lists.modes[at],
                missing: missing(&lists.missing, at),
            };
            if node.mode != Mode::Leaf {
                node.feature = feature(lists.features[at])?;
                let mut next = |name: &'static str, id: i64| {
                    let place = places.get(&(lists.trees[at], id)).copied();
                    let absent = || refuse::parameter(NAME, name, "a node of the same tree", id);
                    let place = place.ok_or_else(absent)?;
                    followed[place as usize] = true;
                    Ok::<u32, KernelError>(place)
                };
                node.yes = next("nodes_truenodeids", lists.yes[at])?;
                node.no = next("nodes_falsenodeids", lists.no[at])?;
            }
            nodes.push(node);
        }
        let roots = roots(&lists.trees, &followed)?;
        let weights = leaf_weights(leaves, &places, &mut nodes, targets)?;
        Ensemble { nodes, roots, weights, sets: Vec::new(), targets, features: 0, double }.checked()
    }

    /// Builds the trees of `TreeEnsemble`.
    ///
    /// # Errors
    /// [`KernelError::BadParameter`]: which list has which wrong entry.
    pub fn of_trees(
        lists: &TreeLists,
        leaves: &LeafLists,
        targets: usize,
        double: bool,
    ) -> Result<Ensemble> {
        let count = lists.modes.len();
        for (name, found) in [
            ("nodes_featureids", lists.features.len()),
            ("nodes_splits", lists.values.len()),
            ("nodes_truenodeids", lists.yes.len()),
            ("nodes_trueleafs", lists.yes_leaf.len()),
            ("nodes_falsenodeids", lists.no.len()),
            ("nodes_falseleafs", lists.no_leaf.len()),
        ] {
            long(name, found, count)?;
        }
        if leaves.targets.len() != leaves.weights.len() {
            let found = leaves.weights.len();
            return Err(refuse::parameter(NAME, "leaf_weights", "one for each target", found));
        }
        let leaf_count = leaves.targets.len();
        // Leaves stand behind the nodes.
        let next = |name, leaf_name, id: i64, leaf: i64| match leaf {
            0 => below(name, id, count),
            _ => Ok(below(leaf_name, id, leaf_count)? + count as u32),
        };
        let mut nodes = Vec::with_capacity(count + leaf_count);
        let mut sets = Sets::new(&lists.members);
        for at in 0..count {
            let mode = lists.modes[at];
            let value = if mode == Mode::Member { sets.next()? } else { lists.values[at] };
            let (yes, no) = (lists.yes[at], lists.no[at]);
            nodes.push(Node {
                value,
                feature: feature(lists.features[at])?,
                yes: next("nodes_truenodeids", "nodes_trueleafs", yes, lists.yes_leaf[at])?,
                no: next("nodes_falsenodeids", "nodes_falseleafs", no, lists.no_leaf[at])?,
                mode,
                missing: missing(&lists.missing, at),
            });
        }
        let mut weights = Vec::with_capacity(leaf_count);
        for (at, (&target, &weight)) in leaves.targets.iter().zip(&leaves.weights).enumerate() {
            weights.push((below("leaf_targetids", target, targets)?, weight));
            let (yes, no) = (at as u32, at as u32 + 1);
            nodes.push(Node { value: 0.0, feature: 0, yes, no, mode: Mode::Leaf, missing: false });
        }
        let root = |&root: &i64| below("tree_roots", root, count);
        let roots = lists.roots.iter().map(root).collect::<Result<_>>()?;
        let sets = sets.found;
        Ensemble { nodes, roots, weights, sets, targets, features: 0, double }.checked()
    }

    /// Refuses nodes that can be reached from themselves, also where no tree starts: such a list
    /// is no tree. Counts the features.
    fn checked(mut self) -> Result<Ensemble> {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            New,
            Open,
            Done,
        }
        let mut states = vec![State::New; self.nodes.len()];
        // Nodes on the way here, and how many of their two followers are dealt with.
        let mut way: Vec<(u32, u8)> = Vec::new();
        for start in 0..self.nodes.len() as u32 {
            if states[start as usize] == State::New {
                way.push((start, 0));
            }
            while let Some((at, step)) = way.pop() {
                let node = self.nodes[at as usize];
                if node.mode == Mode::Leaf || step == 2 {
                    states[at as usize] = State::Done;
                    continue;
                }
                states[at as usize] = State::Open;
                way.push((at, step + 1));
                let next = if step == 0 { node.yes } else { node.no };
                match states[next as usize] {
                    State::New => way.push((next, 0)),
                    State::Done => {}
                    State::Open => {
                        let name = ["nodes_truenodeids", "nodes_falsenodeids"][usize::from(step)];
                        let expected = "no way back to a node on the way";
                        return Err(refuse::parameter(NAME, name, expected, next));
                    }
                }
            }
        }
        let inner = self.nodes.iter().filter(|node| node.mode != Mode::Leaf);
        self.features = inner.map(|node| node.feature as usize + 1).max().unwrap_or(0);
        Ok(self)
    }
}

/// The first node of each tree that follows no other, in the order of the trees.
fn roots(trees: &[i64], followed: &[bool]) -> Result<Vec<u32>> {
    let mut found: HashMap<i64, Option<u32>> = HashMap::new();
    let mut order = Vec::new();
    for (at, (&tree, &follows)) in trees.iter().zip(followed).enumerate() {
        let root = found.entry(tree).or_insert_with(|| {
            order.push(tree);
            None
        });
        if !follows && root.is_none() {
            *root = Some(at as u32);
        }
    }
    let root = |tree: i64| {
        let expected = "a tree with a node that follows no other";
        found[&tree].ok_or_else(|| refuse::parameter(NAME, "nodes_treeids", expected, tree))
    };
    order.into_iter().map(root).collect()
}

/// The weights leaf by leaf, each leaf with its range. Those of inner nodes count for nothing.
fn leaf_weights(
    lists: &TargetLists,
    places: &HashMap<(i64, i64), u32>,
    nodes: &mut [Node],
    targets: usize,
) -> Result<Vec<(u32, f64)>> {
    let count = lists.weights.len();
    let lengths = [lists.trees.len(), lists.nodes.len(), lists.targets.len()];
    for (name, found) in lists.names.into_iter().zip(lengths) {
        if found != count {
            return Err(refuse::parameter(NAME, name, "as many as there are weights", found));
        }
    }
    let mut owned = Vec::with_capacity(count);
    for at in 0..count {
        let key = (lists.trees[at], lists.nodes[at]);
        let absent = || refuse::parameter(NAME, lists.names[1], "a node of the tree", key.1);
        let leaf = *places.get(&key).ok_or_else(absent)?;
        let target = below(lists.names[2], lists.targets[at], targets)?;
        if nodes[leaf as usize].mode == Mode::Leaf {
            owned.push((leaf, target, lists.weights[at]));
        }
    }
    owned.sort_by_key(|&(leaf, ..)| leaf);
    let mut start = 0;
    for part in owned.chunk_by(|a, b| a.0 == b.0) {
        let end = start + part.len() as u32;
        let leaf = &mut nodes[part[0].0 as usize];
        (leaf.yes, leaf.no) = (start, end);
        start = end;
    }
    Ok(owned.into_iter().map(|(_, target, weight)| (target, weight)).collect())
}

/// Sets of numbers, taken one by one.
struct Sets<'a> {
    parts: std::slice::Split<'a, f64, fn(&f64) -> bool>,
    found: Vec<Vec<f64>>,
}

impl<'a> Sets<'a> {
    fn new(members: &'a [f64]) -> Sets<'a> {
        Sets { parts: members.split(|v| v.is_nan()), found: Vec::new() }
    }

    /// The number of the next set.
    fn next(&mut self) -> Result<f64> {
        let expected = "a set for each node that asks for membership";
        let found = self.found.len();
        let absent = || refuse::parameter(NAME, "membership_values", expected, found);
        let mut set = self.parts.next().ok_or_else(absent)?.to_vec();
        set.sort_by(f64::total_cmp);
        self.found.push(set);
        Ok(found as f64)
    }
}
