//! From trees to schedule maps, the union-map representation.

use tangram_presburger::count::UnionPwQPolynomial;
use tangram_presburger::{Budget, Integer, Relation, Space, Tuple, Union};

use crate::{Error, Node, NodeKind, ScheduleTree};

impl ScheduleTree {
    /// Returns the schedule as a map of instances to points in lexicographic order.
    ///
    /// Each sequence and set of several children gives one dimension, the position of the
    /// child, and each band member one; shorter branches end in zeros. Instances of an
    /// extension have the points at which they are added. Lost are marks, attributes of
    /// bands, contexts and guards, and that the children of a set have no order. Below an
    /// expansion, instances are the expanded ones; see [`Self::to_map_of_roots`].
    ///
    /// # Errors
    /// [`Error::Presburger`] if the budget ends.
    pub fn to_map(&self, budget: &Budget) -> Result<Union, Error> {
        let leaves = self.leaves(budget)?;
        let longest = leaves.iter().map(|leaf| leaf.slots.len()).max().unwrap_or(0);
        let mut whole = Union::empty();
        for leaf in leaves {
            whole = whole.union(&leaf.map(longest)?)?;
        }
        Ok(whole)
    }

    /// Counts how often each instance at the root runs: a function for each statement.
    ///
    /// # Errors
    /// As [`Self::to_map`].
    pub fn executions(&self, budget: &Budget) -> Result<UnionPwQPolynomial, Error> {
        Ok(self.to_map_of_roots(budget)?.card(budget)?)
    }

    /// Returns the schedule of the instances at the root: as [`Self::to_map`], but an
    /// instance that is expanded has the points of all its copies.
    ///
    /// The map is many-valued where an instance runs several times.
    ///
    /// # Errors
    /// As [`Self::to_map`].
    pub fn to_map_of_roots(&self, budget: &Budget) -> Result<Union, Error> {
        let mut origins = vec![Union::empty(); self.nodes().count()];
        for node in self.nodes() {
            let above = match self.parent(node) {
                Some(parent) => origins[parent.index()].clone(),
                None => Union::empty(),
            };
            origins[node.index()] = match self.kind(node) {
                NodeKind::Domain(domain) => domain.universe()?.identity(budget)?,
                NodeKind::Extension(map) => {
                    above.union(&map.range(budget)?.universe()?.identity(budget)?)?
                }
                NodeKind::Expansion { contraction, .. } => {
                    contraction.apply_range(&above, budget)?
                }
                _ => above,
            };
        }
        let leaves = self.leaves(budget)?;
        let longest = leaves.iter().map(|leaf| leaf.slots.len()).max().unwrap_or(0);
        let mut whole = Union::empty();
        for leaf in leaves {
            let origin = &origins[leaf.node.index()];
            whole = whole.union(&leaf.map(longest)?.apply_domain(origin, budget)?)?;
        }
        Ok(whole)
    }

    /// Returns the schedule of each leaf's instances, as long as the leaf is deep.
    pub(crate) fn leaf_maps(&self, budget: &Budget) -> Result<Vec<Union>, Error> {
        let leaves = self.leaves(budget)?;
        leaves.into_iter().map(|leaf| leaf.map(leaf.slots.len())).collect()
    }

    /// Returns the schedule of the instances that reach a node by the bands above it.
    ///
    /// # Errors
    /// As [`Self::to_map`].
    pub(crate) fn prefix(&self, node: Node, budget: &Budget) -> Result<Union, Error> {
        let mut path: Vec<Node> =
            std::iter::successors(self.parent(node), |node| self.parent(*node)).collect();
        path.reverse();
        let mut prefix = Prefix::none(self.root());
        for node in path {
            prefix = self.extend(node, prefix, budget)?;
        }
        Ok(prefix.bands)
    }

    fn leaves(&self, budget: &Budget) -> Result<Vec<Prefix>, Error> {
        let mut leaves = Vec::new();
        let mut open = vec![(self.root(), Prefix::none(self.root()))];
        while let Some((node, outer)) = open.pop() {
            let prefix = self.extend(node, outer, budget)?;
            // An only child has nothing to be ordered with; isl gives it no dimension either.
            let ordered = matches!(self.kind(node), NodeKind::Sequence | NodeKind::Set)
                && self.children(node).nth(1).is_some();
            let mut any = false;
            for (position, child) in self.children(node).enumerate() {
                any = true;
                let mut inner = prefix.clone();
                if ordered {
                    inner.slots.push(Slot::Position(position as i128));
                }
                open.push((child, inner));
            }
            if !any {
                leaves.push(Prefix { node, ..prefix });
            }
        }
        leaves.reverse();
        Ok(leaves)
    }

    fn extend(&self, node: Node, outer: Prefix, budget: &Budget) -> Result<Prefix, Error> {
        match self.kind(node) {
            NodeKind::Domain(domain) => Prefix::start(node, domain),
            NodeKind::Filter(filter) => {
                Ok(Prefix { bands: outer.bands.intersect_domain(filter, budget)?, ..outer })
            }
            NodeKind::Band(band) => {
                let mut prefix = outer;
                for member in &band.members {
                    prefix.bands = prefix.bands.flat_range_product(&member.schedule, budget)?;
                    prefix.slots.push(Slot::Member);
                }
                Ok(prefix)
            }
            NodeKind::Expansion { expansion, .. } => {
                Ok(Prefix { bands: outer.bands.apply_domain(expansion, budget)?, ..outer })
            }
            NodeKind::Extension(map) => {
                // Instances are added where the loops around the node have an iteration.
                let added = match self.parent(node) {
                    Some(_) => map.intersect_domain(&outer.bands.range(budget)?, budget)?,
                    None => map.clone(),
                };
                Ok(Prefix { bands: outer.bands.union(&added.inverse()?)?, ..outer })
            }
            NodeKind::Context(_)
            | NodeKind::Guard(_)
            | NodeKind::Mark(_)
            | NodeKind::Sequence
            | NodeKind::Set
            | NodeKind::Leaf => Ok(outer),
        }
    }
}

/// Where a dimension of the schedule comes from.
#[derive(Clone, Copy)]
enum Slot {
    /// The next member of the bands above.
    Member,
    /// The place of a child in a sequence or set.
    Position(i128),
}

/// The schedule of the instances that reach a node, by the nodes above.
#[derive(Clone)]
struct Prefix {
    node: Node,
    /// Instances to the values of the members above.
    bands: Union,
    /// Members and positions, outermost first.
    slots: Vec<Slot>,
}

impl Prefix {
    fn none(node: Node) -> Self {
        Self { node, bands: Union::empty(), slots: Vec::new() }
    }

    /// Maps every instance to the tuple of no dimensions.
    fn start(node: Node, domain: &Union) -> Result<Self, Error> {
        let mut maps = Vec::new();
        for set in domain.relations() {
            let space = set.space();
            let to = Space::map(space.params.clone(), space.output.clone(), Tuple::anonymous(0));
            maps.push(Relation::from_conjunctions(to, &set.conjunctions())?);
        }
        Ok(Self { node, bands: Union::collect(maps)?, slots: Vec::new() })
    }

    /// Returns the map with the positions in their places, and zeros up to `length`.
    fn map(&self, length: usize) -> Result<Union, Error> {
        let members = self.slots.iter().filter(|slot| matches!(slot, Slot::Member)).count();
        if members == length {
            return Ok(self.bands.clone());
        }
        let maps: Result<Vec<_>, _> =
            self.bands.relations().map(|relation| self.placed(relation, length)).collect();
        Ok(Union::collect(maps?)?)
    }

    /// Moves the outputs of a map, one for each member, to their slots; the others are constants.
    fn placed(&self, map: &Relation, length: usize) -> Result<Relation, Error> {
        let space = map.space();
        let input = space.input.clone().unwrap_or_default();
        let first = 1 + space.params.len() + input.dims.len();
        let slots = self.slots.iter().enumerate();
        let targets: Vec<usize> =
            slots.filter(|(_, slot)| matches!(slot, Slot::Member)).map(|(at, _)| at).collect();
        let column = |old: usize| match old.checked_sub(first) {
            None => old,
            Some(output) => match targets.get(output) {
                Some(at) => first + at,
                None => old - targets.len() + length,
            },
        };
        let moved = |row: &Vec<Integer>| {
            let mut result = vec![Integer::ZERO; row.len() - targets.len() + length];
            row.iter().enumerate().for_each(|(old, v)| result[column(old)] = v.clone());
            result
        };
        let mut parts = Vec::new();
        for mut part in map.conjunctions() {
            for division in &mut part.divisions {
                division.numerator = moved(&division.numerator);
            }
            let rows = part.equalities.iter_mut().chain(&mut part.inequalities);
            rows.for_each(|row| *row = moved(row));
            for at in (0..length).filter(|at| !targets.contains(at)) {
                let mut row = vec![Integer::ZERO; first + length + part.divisions.len()];
                row[first + at] = Integer::MINUS_ONE;
                if let Some(Slot::Position(position)) = self.slots.get(at) {
                    row[0] = Integer::from(*position);
                }
                part.equalities.push(row);
            }
            parts.push(part);
        }
        let to = Space::map(space.params.clone(), input, Tuple::anonymous(length));
        Ok(Relation::from_conjunctions(to, &parts)?)
    }
}

/// Splits a map of instances to points into one map for each dimension of the points.
pub(crate) fn members_of(map: &Union, budget: &Budget) -> Result<Vec<Union>, Error> {
    let count = map.relations().map(|piece| piece.space().output.dims.len()).max().unwrap_or(0);
    let mut members = vec![Union::empty(); count];
    for piece in map.relations() {
        let dims = piece.space().output.dims.len();
        for (index, member) in members.iter_mut().enumerate().take(dims) {
            let inputs = piece.space().input.clone();
            let own = piece.project_out(index + 1..dims, budget)?.project_out(0..index, budget)?;
            *member = member.union(&own.cast(inputs, Tuple::anonymous(1))?.into())?;
        }
    }
    Ok(members)
}
