//! What is changed about a tree as a whole: its instances, and other trees beside it.

use tangram_presburger::{Relation, Space, Tuple, Union};

use super::{Editor, Piece, refuse};
use crate::{Error, Node, NodeKind, ScheduleTree};

impl Editor<'_> {
    /// Leaves the instances out that are not in `domain`.
    ///
    /// # Errors
    /// [`Error::Operand`] for a root that is no domain, [`Error::IllFormed`] for what is not a set.
    ///
    /// # Source
    /// isl `isl_schedule_intersect_domain`.
    pub fn intersect_domain(&mut self, domain: &Union) -> Result<Node, Error> {
        let tree = self.tree.under_domain(domain, self.budget)?;
        let inside = |pairs: &Union| -> Result<Union, Error> {
            let from = pairs.intersect_domain(domain, self.budget)?;
            Ok(from.intersect_range(domain, self.budget)?)
        };
        self.restart(tree, inside(&self.dependences)?, inside(&self.coincidence)?)
    }

    /// Simplifies what is said of the instances where parameters are known to be in `set`.
    ///
    /// # Errors
    /// [`Error::Operand`] for a root that is no domain.
    ///
    /// # Source
    /// isl `isl_schedule_gist_domain_params`.
    pub fn gist_domain_params(&mut self, set: &Relation) -> Result<Node, Error> {
        let root = self.tree.root();
        let NodeKind::Domain(domain) = self.tree.kind(root) else {
            return refuse(root, "a domain as root");
        };
        let mut tree = self.tree.clone();
        tree.put(root, NodeKind::Domain(domain.gist_params(set, self.budget)?));
        self.restart(tree, self.dependences.clone(), self.coincidence.clone())
    }

    /// Puts other instances in the place of those there are: each stands for the one that
    /// `function` maps it to. The pairs to keep in order become those of the new instances.
    ///
    /// # Errors
    /// [`Error::Operand`] for a tree with an extension or expansion, and for a map that gives an
    /// instance two.
    ///
    /// # Source
    /// isl `isl_schedule_pullback_union_pw_multi_aff`.
    pub fn pullback(&mut self, function: &Union) -> Result<Node, Error> {
        let root = self.tree.root();
        if !function.is_single_valued(self.budget)? {
            return refuse(root, "a function of the new instances");
        }
        let mut tree = self.tree.clone();
        let back = |set: &Union| function.intersect_range(set, self.budget)?.domain(self.budget);
        for node in self.tree.nodes() {
            let kind = match self.tree.kind(node) {
                NodeKind::Domain(set) => NodeKind::Domain(back(set)?),
                NodeKind::Filter(set) => NodeKind::Filter(back(set)?),
                NodeKind::Band(band) => {
                    let mut band = band.clone();
                    for member in &mut band.members {
                        member.schedule = function.apply_range(&member.schedule, self.budget)?;
                    }
                    NodeKind::Band(band)
                }
                NodeKind::Extension(_) | NodeKind::Expansion { .. } => {
                    return refuse(node, "a tree without extensions and expansions");
                }
                kind => kind.clone(),
            };
            tree.put(node, kind);
        }
        let (validity, coincidence) = self.pairs_of(function)?;
        self.restart(tree, validity, coincidence)
    }

    /// Runs another tree behind this one: a sequence of both.
    ///
    /// # Errors
    /// [`Error::Operand`] for instances of both trees and roots that are no domains,
    /// [`Error::Illegal`] if an instance would run before one that it depends on.
    ///
    /// # Source
    /// isl `isl_schedule_sequence`.
    pub fn then(&mut self, other: &ScheduleTree) -> Result<Node, Error> {
        let both = [self.tree.clone(), other.clone()];
        let tree = ScheduleTree::in_sequence(&both, self.budget)?;
        self.restart(tree, self.dependences.clone(), self.coincidence.clone())
    }

    /// Runs another tree beside this one, in any order: a set of both.
    ///
    /// # Errors
    /// As [`Self::then`].
    ///
    /// # Source
    /// isl `isl_schedule_set`.
    pub fn beside(&mut self, other: &ScheduleTree) -> Result<Node, Error> {
        let both = [self.tree.clone(), other.clone()];
        let tree = ScheduleTree::in_set(&both, self.budget)?;
        self.restart(tree, self.dependences.clone(), self.coincidence.clone())
    }

    /// Lets each instance be those that `contraction` maps to it, in the order of another tree.
    /// The pairs to keep in order become those of the new instances.
    ///
    /// # Errors
    /// [`Error::Operand`] for a root of the other tree that is no domain,
    /// [`Error::IllFormed`] for a contraction that gives an instance two.
    ///
    /// # Source
    /// isl `isl_schedule_expand`.
    pub fn expand(&mut self, contraction: &Union, order: &ScheduleTree) -> Result<Node, Error> {
        let NodeKind::Domain(domain) = order.kind(order.root()) else {
            return refuse(order.root(), "a domain as root");
        };
        let contraction = contraction.intersect_domain(domain, self.budget)?;
        let mut tree = self.tree.clone();
        let leaves = self.tree.nodes().filter(|at| matches!(self.tree.kind(*at), NodeKind::Leaf));
        for leaf in leaves {
            let active = self.tree.active(leaf, self.budget)?;
            let own = contraction.intersect_range(&active, self.budget)?;
            // Instances that none are mapped to go.
            tree.put(leaf, NodeKind::Filter(own.range(self.budget)?));
            let kind =
                NodeKind::Expansion { contraction: contraction.clone(), expansion: own.inverse()? };
            let at = tree.add(leaf, kind);
            let inner = order.pruned(&own.domain(self.budget)?, self.budget)?;
            tree.graft(at, &inner);
        }
        tree.close();
        let (validity, coincidence) = self.pairs_of(&contraction)?;
        self.restart(tree, validity, coincidence)
    }

    /// Runs another tree before or after a node, once for each point of the bands above.
    ///
    /// The root of the other tree is a domain, or an extension that says which instances there
    /// are at which points.
    ///
    /// # Errors
    /// [`Error::Operand`] for the root, and for instances that are not new.
    ///
    /// # Source
    /// isl `isl_schedule_node_graft_before`, `isl_schedule_node_graft_after`.
    pub fn graft(&mut self, node: Node, other: &ScheduleTree, before: bool) -> Result<Node, Error> {
        let map = match other.kind(other.root()) {
            NodeKind::Domain(domain) => {
                let depth = Tuple::anonymous(self.tree.depth(node));
                let points = Relation::universe(Space::set(Vec::new(), depth));
                Union::from(points).cross(domain, self.budget)?
            }
            NodeKind::Extension(map) => map.clone(),
            _ => return refuse(other.root(), "a domain or an extension as root"),
        };
        let active = self.tree.active(node, self.budget)?;
        let new = map.range(self.budget)?;
        if node == self.tree.root() || !active.is_disjoint(&new, self.budget)? {
            return refuse(node, "a node below the root, and new statements");
        }
        let below = other.children(other.root()).map(|child| Piece::of_tree(other, child));
        let added = Piece::New(NodeKind::Filter(new), below.collect());
        let old = Piece::New(NodeKind::Filter(active), vec![Piece::Old(node)]);
        let children = if before { vec![added, old] } else { vec![old, added] };
        let list = Piece::New(NodeKind::Sequence, children);
        self.replace(node, vec![Piece::New(NodeKind::Extension(map), vec![list])])
    }

    /// Returns the pairs of instances that a function maps to those to keep in order.
    fn pairs_of(&self, function: &Union) -> Result<(Union, Union), Error> {
        let back = function.inverse()?;
        let of = |pairs: &Union| -> Result<Union, Error> {
            let from = function.apply_range(pairs, self.budget)?;
            Ok(from.apply_range(&back, self.budget)?)
        };
        Ok((of(&self.dependences)?, of(&self.coincidence)?))
    }

    /// Goes on with another tree and other pairs, if they fit; returns the root.
    fn restart(
        &mut self,
        tree: ScheduleTree,
        validity: Union,
        coincidence: Union,
    ) -> Result<Node, Error> {
        *self = Self::with_coincidence(tree, validity, coincidence, self.budget)?;
        Ok(self.tree.root())
    }
}
