//! Which nodes of a schedule tree become kernels.

use tangram_presburger::{Budget, Tuple, Union};

use super::OnDevice;
use crate::contraction::BlockTiles;
use crate::schedule::Constraints;
use crate::transform::Editor;
use crate::{Error, Node, NodeKind, ScheduleTree};

/// A tree, and what of it runs on the device.
pub(super) struct Offload {
    pub tree: ScheduleTree,
    /// From left to right.
    pub roots: Vec<Root>,
    pub validity: Union,
    pub coincidence: Union,
    pub private: Vec<String>,
}

/// A node that becomes a kernel, with everything below it.
pub(super) struct Root {
    pub node: Node,
    pub name: String,
    /// How many loops are parallel, from the outermost on.
    pub parallel: usize,
    /// How many loops of the host are around it.
    pub depth: usize,
    /// Instances to the values of these loops.
    pub prefix: Union,
}

impl Offload {
    pub fn of_tree(
        tree: &ScheduleTree,
        constraints: &Constraints,
        private: &[String],
        budget: &Budget,
    ) -> Result<Self, Error> {
        let (validity, coincidence) =
            (constraints.validity.clone(), constraints.coincidence.clone());
        let editor =
            Editor::with_coincidence(tree.clone(), validity.clone(), coincidence.clone(), budget)?;
        let tree = split(editor)?;
        let shared = sharing(&tree);
        let mut roots = Vec::new();
        let mut open = vec![tree.root()];
        while let Some(node) = open.pop() {
            let parallel = leading(&tree, node);
            if parallel == 0 && shared[node.index()] {
                let mut children: Vec<Node> = tree.children(node).collect();
                children.reverse();
                open.extend(children);
                continue;
            }
            // The root has no place in the tree of a kernel but its own.
            let node = match tree.kind(node) {
                NodeKind::Domain(_) => tree.children(node).next().unwrap_or(node),
                _ => node,
            };
            let prefix = tree.prefix(node, budget)?;
            let prefix = match tree.kind(node) {
                NodeKind::Filter(filter) => prefix.intersect_domain(filter, budget)?,
                _ => prefix,
            };
            if prefix.is_empty(budget)? {
                continue;
            }
            let depth = prefix.relations().next().map_or(0, |map| map.space().output.dims.len());
            let name = format!("K{}", roots.len());
            roots.push(Root { node, name, parallel, depth, prefix });
        }
        Ok(Self { tree, roots, validity, coincidence, private: private.to_vec() })
    }

    /// Fewer statements on one thread, fewer loops around launches, more `contractions` that are
    /// kernels of their own, more parallel loops.
    pub fn cost(&self, contractions: &[&str]) -> (usize, usize, usize, usize) {
        let statements = |root: &&Root| root.prefix.relations().count();
        let lonely = self.roots.iter().filter(|root| root.parallel == 0);
        let depth = self.roots.iter().map(|root| root.depth).sum();
        let parallel: usize = self.roots.iter().map(|root| root.parallel.min(3)).sum();
        let lonely = lonely.map(|root| statements(&root)).sum();
        let alone = self.roots.iter().filter_map(Root::alone);
        let tiled = alone.filter(|name| contractions.contains(name)).count();
        (lonely, depth, contractions.len() - tiled, 3 * self.roots.len() - parallel)
    }

    /// Relates each instance to the launch that runs it.
    pub fn launches(&self) -> Result<Union, Error> {
        let mut all = Vec::new();
        for root in &self.roots {
            for map in root.prefix.relations() {
                let mut launch = Tuple::anonymous(root.depth);
                launch.name.clone_from(&root.name);
                all.push(map.cast(map.space().input.clone(), launch)?);
            }
        }
        Ok(Union::collect(all)?)
    }

    /// Generates the code.
    pub fn code(
        self,
        threads: &[i128],
        tiles: &[BlockTiles],
        budget: &Budget,
    ) -> Result<OnDevice, Error> {
        let host = self.host(budget)?;
        let mut kernels = Vec::new();
        for root in &self.roots {
            let kernel = match self.tiled(root, tiles, budget)? {
                Some(kernel) => kernel,
                None => self.kernel(root, threads, budget)?,
            };
            kernels.push(kernel);
        }
        Ok(OnDevice { host, kernels, private: self.private })
    }
}

impl Root {
    /// Names the only statement of a kernel around which the host has no loops.
    pub fn alone(&self) -> Option<&str> {
        let mut all = self.prefix.relations();
        match (all.next(), all.next(), self.depth) {
            (Some(map), None, 0) => Some(&map.space().input.as_ref()?.name),
            _ => None,
        }
    }
}

/// Splits bands whose parallel loops are not outermost in front of these.
fn split(mut editor: Editor) -> Result<ScheduleTree, Error> {
    let inner = |kind: &NodeKind| match kind {
        NodeKind::Band(band) => band.members.iter().position(|member| member.coincident),
        _ => None,
    };
    while let Some(node) = editor.find(|kind| inner(kind).is_some_and(|at| at > 0)) {
        let at = inner(editor.tree().kind(node)).unwrap_or_default();
        editor.split(node, at)?;
    }
    Ok(editor.into_tree())
}

/// Counts the parallel loops of a band, from the outermost on.
fn leading(tree: &ScheduleTree, node: Node) -> usize {
    match tree.kind(node) {
        NodeKind::Band(band) => band.members.iter().take_while(|member| member.coincident).count(),
        _ => 0,
    }
}

/// Says of each node whether there are parallel loops in it.
fn sharing(tree: &ScheduleTree) -> Vec<bool> {
    let nodes: Vec<Node> = tree.nodes().collect();
    let mut shared = vec![false; nodes.len()];
    for node in nodes.into_iter().rev() {
        let below = tree.children(node).any(|child| shared[child.index()]);
        shared[node.index()] = below || leading(tree, node) > 0;
    }
    shared
}
