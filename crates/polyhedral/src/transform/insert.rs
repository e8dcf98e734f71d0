//! New nodes above old ones.

use tangram_presburger::{Relation, Space, Tuple, Union};

use super::{Editor, Piece, refuse};
use crate::units::BARRIER;
use crate::{Band, Error, Node, NodeKind};

impl Editor<'_> {
    fn insert(&mut self, node: Node, kind: NodeKind) -> Result<Node, Error> {
        if node == self.tree.root() {
            return refuse(node, "a node below the root");
        }
        self.replace(node, vec![Piece::New(kind, vec![Piece::Old(node)])])
    }

    /// Puts a context above a node: `set` introduces parameters for it and restricts them.
    ///
    /// # Errors
    /// [`Error::Operand`] for the root, [`Error::IllFormed`] if `set` is not over the outer
    /// schedule dimensions.
    pub fn insert_context(&mut self, node: Node, set: Relation) -> Result<Node, Error> {
        self.insert(node, NodeKind::Context(set))
    }

    /// Puts a guard above a node: it runs where `set` holds.
    ///
    /// # Errors
    /// As [`Self::insert_context`].
    pub fn insert_guard(&mut self, node: Node, set: Relation) -> Result<Node, Error> {
        self.insert(node, NodeKind::Guard(set))
    }

    /// Puts a filter above a node; it must pass all instances that reach the node.
    ///
    /// # Errors
    /// [`Error::Operand`] if instances would be lost.
    pub fn insert_filter(&mut self, node: Node, filter: Union) -> Result<Node, Error> {
        let active = self.tree.active(node, self.budget)?;
        if !active.is_subset(&filter, self.budget)? {
            return refuse(node, "a filter that passes all instances of the node");
        }
        self.insert(node, NodeKind::Filter(filter))
    }

    /// Puts a mark above a node.
    ///
    /// # Errors
    /// [`Error::IllFormed`] for an empty name.
    pub fn insert_mark(&mut self, node: Node, name: impl Into<String>) -> Result<Node, Error> {
        self.insert(node, NodeKind::Mark(name.into()))
    }

    /// Puts a band above a node; its flags are found out.
    ///
    /// # Errors
    /// [`Error::Illegal`] if it runs dependent instances backwards.
    pub fn insert_band(&mut self, node: Node, band: Band) -> Result<Node, Error> {
        if node == self.tree.root() {
            return refuse(node, "a node below the root");
        }
        self.replace_by_bands(node, vec![band], vec![Piece::Old(node)])
    }

    /// Puts a sequence above a node, a copy of the node below each filter.
    ///
    /// # Errors
    /// [`Error::Operand`] if the filters do not split the instances of the node;
    /// [`Error::Illegal`] if an instance would run before one that it depends on.
    pub fn insert_sequence(&mut self, node: Node, filters: Vec<Union>) -> Result<Node, Error> {
        self.insert_list(node, filters, NodeKind::Sequence)
    }

    /// Puts a set above a node, as [`Self::insert_sequence`] a sequence.
    ///
    /// # Errors
    /// [`Error::Illegal`] as well if instances of two children depend on each other.
    pub fn insert_set(&mut self, node: Node, filters: Vec<Union>) -> Result<Node, Error> {
        self.insert_list(node, filters, NodeKind::Set)
    }

    /// Puts a sequence above a node, whose bands get the flags that they deserve below each filter.
    ///
    /// `filters` split the instances of the node.
    pub(crate) fn in_parts(&mut self, node: Node, filters: Vec<Union>) -> Result<Node, Error> {
        let child = |filter| Piece::New(NodeKind::Filter(filter), vec![Piece::Old(node)]);
        let children = filters.into_iter().map(child).collect();
        self.replace_with_flags(node, vec![Piece::New(NodeKind::Sequence, children)])
    }

    fn insert_list(
        &mut self,
        node: Node,
        filters: Vec<Union>,
        kind: NodeKind,
    ) -> Result<Node, Error> {
        if node == self.tree.root() || filters.is_empty() {
            return refuse(node, "a node below the root, and filters");
        }
        let mut left = self.tree.active(node, self.budget)?;
        let all = left.clone();
        for filter in &filters {
            let own = all.intersect(filter, self.budget)?;
            if !own.is_subset(&left, self.budget)? {
                return refuse(node, "filters that share no instance");
            }
            left = left.subtract(&own, self.budget)?;
        }
        if !left.is_empty(self.budget)? {
            return refuse(node, "filters that leave no instance out");
        }
        let child = |filter| Piece::New(NodeKind::Filter(filter), vec![Piece::Old(node)]);
        let children = filters.into_iter().map(child).collect();
        self.replace(node, vec![Piece::New(kind, children)])
    }

    /// Puts an extension above a node: its new instances reach the node with those there are.
    ///
    /// # Errors
    /// [`Error::Operand`] if a statement is not new, [`Error::IllFormed`] if a band below gives
    /// new instances no value.
    pub fn extend(&mut self, node: Node, map: Union) -> Result<Node, Error> {
        let active = self.tree.active(node, self.budget)?;
        if !active.is_disjoint(&map.range(self.budget)?, self.budget)? {
            return refuse(node, "new statements");
        }
        self.insert(node, NodeKind::Extension(map))
    }

    /// Lets all units wait for each other behind a node: adds the statement [`BARRIER`] there, once
    /// for each iteration of the loops around the node.
    ///
    /// # Errors
    /// As [`Self::insert_extension`].
    pub fn insert_barrier(&mut self, node: Node) -> Result<Node, Error> {
        let outer = Tuple::anonymous(self.tree.depth(node));
        let dims = (0..outer.dims.len()).map(|at| format!("o{at}"));
        let here = Relation::universe(Space::set(Vec::new(), outer));
        let same = Union::from(here).identity(self.budget)?;
        let name =
            |map: &Relation| map.cast(map.space().input.clone(), Tuple::new(BARRIER, dims.clone()));
        let map = same.relations().map(name).collect::<Result<Vec<_>, _>>()?;
        self.insert_extension(node, Union::collect(map)?, false)
    }

    /// Puts an extension above a node, with new instances before or after what is there.
    ///
    /// `map` relates outer schedule points to the new instances, whose statements must be
    /// new. They run once for each of these points, in the order of their dimensions.
    ///
    /// # Errors
    /// [`Error::Operand`] if a statement is not new.
    pub fn insert_extension(
        &mut self,
        node: Node,
        map: Union,
        before: bool,
    ) -> Result<Node, Error> {
        let active = self.tree.active(node, self.budget)?;
        let new = map.range(self.budget)?;
        if node == self.tree.root() || !active.is_disjoint(&new, self.budget)? {
            return refuse(node, "a node below the root, and new statements");
        }
        let added = Piece::New(NodeKind::Filter(new.universe()?), Vec::new());
        let old = Piece::New(NodeKind::Filter(active.universe()?), vec![Piece::Old(node)]);
        let children = if before { vec![added, old] } else { vec![old, added] };
        let list = Piece::New(NodeKind::Sequence, children);
        self.replace(node, vec![Piece::New(NodeKind::Extension(map), vec![list])])
    }
}
