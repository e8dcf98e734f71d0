//! From trees to schedule maps, the union-map representation.

use tangram_presburger::{Budget, Conjunction, Relation, Space, Tuple, Union};

use crate::{Error, Node, NodeKind, ScheduleTree};

impl ScheduleTree {
    /// Returns the schedule as a map of instances to points in lexicographic order.
    ///
    /// Each sequence and set of several children gives one dimension, the position of the
    /// child, and each band member one; shorter branches end in zeros. Lost are marks, attributes of bands,
    /// contexts and guards, and that the children of a set have no order.
    ///
    /// # Errors
    /// [`Error::Extension`] for a tree with an extension node.
    pub fn to_map(&self, budget: &Budget) -> Result<Union, Error> {
        let (mut leaves, mut longest) = (Vec::new(), 0);
        let mut open = vec![(self.root(), Prefix { map: Union::empty(), dims: 0 })];
        while let Some((node, outer)) = open.pop() {
            let prefix = self.extend(node, outer, budget)?;
            // An only child has nothing to be ordered with; isl gives it no dimension either.
            let ordered = matches!(self.kind(node), NodeKind::Sequence | NodeKind::Set)
                && self.children(node).nth(1).is_some();
            let mut any = false;
            for (position, child) in self.children(node).enumerate() {
                any = true;
                let inner = if ordered {
                    prefix.constant(position as i128, budget)?
                } else {
                    prefix.clone()
                };
                open.push((child, inner));
            }
            if !any {
                longest = longest.max(prefix.dims);
                leaves.push(prefix);
            }
        }
        let mut whole = Union::empty();
        for mut leaf in leaves {
            while leaf.dims < longest {
                leaf = leaf.constant(0, budget)?;
            }
            whole = whole.union(&leaf.map)?;
        }
        Ok(whole)
    }

    /// Returns the schedule of the instances that reach a node by the bands above it.
    ///
    /// # Errors
    /// As [`Self::to_map`].
    pub(crate) fn prefix(&self, node: Node, budget: &Budget) -> Result<Union, Error> {
        let mut path: Vec<Node> =
            std::iter::successors(self.parent(node), |node| self.parent(*node)).collect();
        path.reverse();
        let mut prefix = Prefix { map: Union::empty(), dims: 0 };
        for node in path {
            prefix = self.extend(node, prefix, budget)?;
        }
        Ok(prefix.map)
    }

    fn extend(&self, node: Node, outer: Prefix, budget: &Budget) -> Result<Prefix, Error> {
        match self.kind(node) {
            NodeKind::Domain(domain) => Prefix::start(domain),
            NodeKind::Filter(filter) => {
                Ok(Prefix { map: outer.map.intersect_domain(filter, budget)?, ..outer })
            }
            NodeKind::Band(band) => {
                let mut prefix = outer;
                for member in &band.members {
                    prefix = prefix.append(&member.schedule, budget)?;
                }
                Ok(prefix)
            }
            NodeKind::Expansion { expansion, .. } => {
                Ok(Prefix { map: outer.map.apply_domain(expansion, budget)?, ..outer })
            }
            NodeKind::Extension(_) => Err(Error::Extension),
            NodeKind::Context(_)
            | NodeKind::Guard(_)
            | NodeKind::Mark(_)
            | NodeKind::Sequence
            | NodeKind::Set
            | NodeKind::Leaf => Ok(outer),
        }
    }
}

/// The schedule of the instances that reach a node, by the nodes above.
#[derive(Clone)]
struct Prefix {
    map: Union,
    dims: usize,
}

impl Prefix {
    /// Maps every instance to the tuple of no dimensions.
    fn start(domain: &Union) -> Result<Self, Error> {
        let mut maps = Vec::new();
        for set in domain.relations() {
            let space = set.space();
            let to = Space::map(space.params.clone(), space.output.clone(), Tuple::anonymous(0));
            maps.push(Relation::from_conjunctions(to, &set.conjunctions())?);
        }
        Ok(Self { map: Union::collect(maps)?, dims: 0 })
    }

    fn append(self, member: &Union, budget: &Budget) -> Result<Self, Error> {
        Ok(Self { map: self.map.flat_range_product(member, budget)?, dims: self.dims + 1 })
    }

    fn constant(&self, value: i128, budget: &Budget) -> Result<Self, Error> {
        let mut maps = Vec::new();
        for map in self.map.relations() {
            let Some(input) = map.space().input.clone() else { continue };
            let mut row = vec![0; 2 + input.dims.len()];
            (row[0], row[1 + input.dims.len()]) = (-value, 1);
            let fixed = Conjunction { equalities: vec![row], ..Conjunction::default() };
            let space = Space::map(Vec::new(), input, Tuple::anonymous(1));
            maps.push(Relation::from_conjunctions(space, &[fixed])?);
        }
        self.clone().append(&Union::collect(maps)?, budget)
    }
}
