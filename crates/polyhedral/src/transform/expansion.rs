//! Several instances as one, which a node below expands.
//!
//! ```text
//! for i: for j: S(i, j)   --at the inner loop, as G-->   for i: G(i), which is: for j: S(i, j)
//! ```

use tangram_presburger::{Relation, Space, Tuple, Union, is_name};

use super::{Editor, Piece, refuse, replaced};
use crate::{Conjunction, Error, Member, Node, NodeKind, ScheduleTree, legality};

/// The groups of instances that have one point in the bands above a node.
struct Groups {
    tuple: Tuple,
    /// Maps each instance that reaches the node to its group.
    contraction: Union,
    /// The instances.
    active: Union,
    /// The groups themselves.
    all: Union,
}

impl Editor<'_> {
    /// Makes one instance, called `name`, of those that have one point in the bands above a
    /// node, and expands it right above the node.
    ///
    /// # Errors
    /// [`Error::Operand`] for the root and for what no text can name.
    ///
    /// # Source
    /// isl `isl_schedule_node_group`.
    pub fn insert_expansion(&mut self, node: Node, name: &str) -> Result<Node, Error> {
        if node == self.tree.root() || !is_name(name) {
            return refuse(node, "a node below the root, and a name of letters and digits");
        }
        let groups = self.groups_above(node, name)?;
        let mut tree = self.tree.clone();
        let above: Vec<Node> =
            std::iter::successors(self.tree.parent(node), |at| self.tree.parent(*at)).collect();
        // What stands above an expansion knows nothing of the instances below it.
        let expands = |at: &Node| matches!(self.tree.kind(*at), NodeKind::Expansion { .. });
        let end = above.iter().position(expands).unwrap_or(above.len());
        if let Some(outer) = above.get(end) {
            tree.put(*outer, self.expanded_to(*outer, &groups)?);
        }
        let members = |at: &Node| match self.tree.kind(*at) {
            NodeKind::Band(band) => band.members.len(),
            _ => 0,
        };
        let mut outer: usize = above[end..].iter().map(members).sum();
        for at in above[..end].iter().rev() {
            tree.put(*at, self.grouped(*at, &groups, outer)?);
            outer += members(at);
        }
        let expansion = groups.contraction.inverse()?;
        let kind = NodeKind::Expansion { contraction: groups.contraction, expansion };
        let (tree, made) = replaced(&tree, node, vec![Piece::New(kind, vec![Piece::Old(node)])]);
        self.keep(tree)?;
        Ok(made)
    }

    fn groups_above(&self, node: Node, name: &str) -> Result<Groups, Error> {
        let prefix = self.tree.prefix(node, self.budget)?;
        let depth = self.tree.depth(node);
        let tuple = Tuple::new(name, Tuple::anonymous(depth).dims);
        let named = |map: &Relation| map.cast(map.space().input.clone(), tuple.clone());
        let named = prefix.relations().map(named).collect::<Result<Vec<_>, _>>()?;
        let contraction = Union::collect(named)?;
        let active = contraction.domain(self.budget)?;
        let all = contraction.range(self.budget)?;
        Ok(Groups { tuple, contraction, active, all })
    }

    /// Returns an expansion whose instances are groups where they were instances of the node.
    fn expanded_to(&self, at: Node, groups: &Groups) -> Result<NodeKind, Error> {
        let Groups { contraction: to_group, active, .. } = groups;
        let NodeKind::Expansion { contraction, expansion } = self.tree.kind(at) else {
            return refuse(at, "an expansion");
        };
        let budget = self.budget;
        let inside = contraction.intersect_domain(active, budget)?;
        let new = to_group.inverse()?.apply_range(&inside, budget)?;
        let kept = expansion.intersect_range(active, budget)?.apply_range(to_group, budget)?;
        Ok(NodeKind::Expansion {
            contraction: contraction.subtract_domain(active, budget)?.union(&new)?,
            expansion: expansion.subtract_range(active, budget)?.union(&kept)?,
        })
    }

    /// Returns what a node is where groups stand for instances; `outer` members are above it.
    fn grouped(&self, at: Node, groups: &Groups, outer: usize) -> Result<NodeKind, Error> {
        let Groups { contraction, active, all, .. } = groups;
        let budget = self.budget;
        let reached = |points: &Union| -> Result<Union, Error> {
            let own = contraction.intersect_domain(points, budget)?.range(budget)?;
            let left = points.subtract(active, budget)?;
            Ok(left.union(&all.intersect(&own, budget)?)?)
        };
        Ok(match self.tree.kind(at) {
            NodeKind::Domain(points) => NodeKind::Domain(reached(points)?),
            NodeKind::Filter(points) => NodeKind::Filter(reached(points)?),
            NodeKind::Band(band) => {
                let mut band = band.clone();
                for (index, member) in band.members.iter_mut().enumerate() {
                    let schedule = member.schedule.union(&groups.dim(outer + index)?)?;
                    *member = Member { schedule, ..member.clone() };
                }
                NodeKind::Band(band)
            }
            kind => kind.clone(),
        })
    }

    /// Takes a tree in the place of the one there is, if it stays right.
    fn keep(&mut self, tree: ScheduleTree) -> Result<(), Error> {
        tree.check(self.budget)?;
        legality::check(&tree, &self.dependences, &self.coincidence, self.budget)?;
        self.tree = tree;
        Ok(())
    }
}

impl Groups {
    /// Maps each group to one of its dimensions.
    fn dim(&self, dim: usize) -> Result<Union, Error> {
        let dims = self.tuple.dims.len();
        let space = Space::map(Vec::new(), self.tuple.clone(), Tuple::anonymous(1));
        let mut row = vec![0; 1 + dims + 1];
        (row[1 + dim], row[1 + dims]) = (1, -1);
        let part =
            Conjunction { divisions: Vec::new(), equalities: vec![row], inequalities: Vec::new() };
        Ok(Relation::from_conjunctions(space, &[part])?.into())
    }
}
