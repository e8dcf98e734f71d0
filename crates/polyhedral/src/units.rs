//! Units of a tree: parameters that stand for what runs side by side, such as blocks and threads.
//!
//! A context bounds the parameter, `0 <= t0 < 4`, and the filter right below it says which
//! instances a unit runs. Several branches may have contexts of one name: the same units run
//! them. In
//!
//! ```text
//! sequence { context t0 { filter A[i], i mod 4 = t0 { for i: A(i) } };
//!            barrier;
//!            context t0 { filter B[i], i mod 4 = t0 { for i: B(i) } } }
//! ```
//!
//! `B(i)` may need `A(j)` of another unit, since all units meet at the barrier, an instance that an
//! extension adds where all of them pass.

use tangram_presburger::{Budget, Order, Relation, Space, Tuple, Union};

use crate::{Error, Node, NodeKind, ScheduleTree, Violation, legality};

/// The statement that an extension adds where units are to wait for each other.
pub const BARRIER: &str = "barrier";

/// Units of one name.
struct Units {
    name: String,
    size: i128,
    /// Contexts that introduce the parameter, each with the filter below it.
    places: Vec<(Node, Node)>,
}

/// Checks that units run every instance of a tree once, and each pair in its order.
///
/// # Errors
/// [`Error::Illegal`] if a statement is mapped to no unit while others are, or a pair leads from
/// one unit to another and they do not meet in between; [`Error::Operand`] for a barrier at which
/// not all units arrive.
pub(crate) fn check(tree: &ScheduleTree, pairs: &Union, budget: &Budget) -> Result<(), Error> {
    let all = find(tree);
    let names: Vec<&str> = all.iter().map(|units| units.name.as_str()).collect();
    for units in all.iter().filter(|units| units.size > 1) {
        units.check_every_leaf(tree, budget)?;
        units.check_pairs(tree, pairs, &names, budget)?;
    }
    Ok(())
}

/// Returns how many units of a name a context introduces; nothing if it introduces none.
pub(crate) fn size_of(tree: &ScheduleTree, context: Node, name: &str) -> Option<i128> {
    let NodeKind::Context(set) = tree.kind(context) else { return None };
    filter_below(tree, context, name)?;
    bound(set, name)
}

/// Reads `0 <= name < size` off a context.
pub(crate) fn bound(set: &Relation, name: &str) -> Option<i128> {
    let column = 1 + set.space().params.iter().position(|param| param == name)?;
    let [part] = &set.narrow_conjunctions().ok()?[..] else { return None };
    let alone = |row: &&Vec<i128>| {
        row[column] != 0 && (1..row.len()).all(|at| at == column || row[at] == 0)
    };
    if part.equalities.iter().any(|row| alone(&row) && row[0] == 0) {
        return Some(1);
    }
    let row = part.inequalities.iter().find(|row| row[column] == -1 && alone(row));
    Some(row?[0] + 1)
}

fn filter_below(tree: &ScheduleTree, context: Node, name: &str) -> Option<Node> {
    let below = tree.children(context).next()?;
    match tree.kind(below) {
        NodeKind::Filter(set) if set.parameters().iter().any(|param| param == name) => Some(below),
        _ => None,
    }
}

/// Lists the units of a tree.
fn find(tree: &ScheduleTree) -> Vec<Units> {
    let mut all: Vec<Units> = Vec::new();
    for node in tree.nodes() {
        let NodeKind::Context(set) = tree.kind(node) else { continue };
        for name in &set.space().params {
            let Some(filter) = filter_below(tree, node, name) else { continue };
            let Some(size) = bound(set, name) else { continue };
            if is_known_above(tree, node, name) {
                continue;
            }
            match all.iter_mut().find(|units| units.name == *name) {
                Some(units) => {
                    units.size = units.size.max(size);
                    units.places.push((node, filter));
                }
                None => all.push(Units { name: name.clone(), size, places: vec![(node, filter)] }),
            }
        }
    }
    all
}

fn is_known_above(tree: &ScheduleTree, node: Node, name: &str) -> bool {
    let mut above = std::iter::successors(tree.parent(node), |at| tree.parent(*at));
    above.any(|at| match tree.kind(at) {
        NodeKind::Domain(set) => set.parameters().iter().any(|param| param == name),
        NodeKind::Context(set) => set.space().params.iter().any(|param| param == name),
        _ => false,
    })
}

/// Returns the statements that extensions above a node add.
fn added(tree: &ScheduleTree, node: Node) -> Vec<Tuple> {
    let above = std::iter::successors(tree.parent(node), |at| tree.parent(*at));
    let maps = above.filter_map(|at| match tree.kind(at) {
        NodeKind::Extension(map) => Some(map),
        _ => None,
    });
    maps.flat_map(Union::relations).map(|map| map.space().output.clone()).collect()
}

/// Returns whether nothing but a barrier runs at a leaf.
pub(crate) fn is_barrier(tree: &ScheduleTree, leaf: Node) -> bool {
    let mut above = std::iter::successors(tree.parent(leaf), |at| tree.parent(*at));
    let filter = above.find_map(|at| match tree.kind(at) {
        NodeKind::Filter(set) => Some(set),
        _ => None,
    });
    let mut tuples = filter.into_iter().flat_map(Union::relations).map(|set| &set.space().output);
    let new = added(tree, leaf);
    let only = tuples.all(|tuple| tuple.name == BARRIER && new.contains(tuple));
    only && filter.is_some()
}

impl Units {
    /// Returns whether a node is below one of the places.
    fn maps(&self, tree: &ScheduleTree, node: Node) -> bool {
        self.places.iter().any(|(_, filter)| tree.is_above(*filter, node))
    }

    /// What runs on no unit in particular runs on all of them.
    fn check_every_leaf(&self, tree: &ScheduleTree, budget: &Budget) -> Result<(), Error> {
        for node in tree.nodes().filter(|node| matches!(tree.kind(*node), NodeKind::Leaf)) {
            if self.maps(tree, node) {
                continue;
            }
            let new = added(tree, node);
            for set in tree.active(node, budget)?.relations() {
                let tuple = &set.space().output;
                if !new.contains(tuple) && !set.is_empty(budget)? {
                    let (statement, unit) = (tuple.name.clone(), self.name.clone());
                    let violation = Violation::OnEveryUnit { statement, unit };
                    return Err(Error::Illegal { node, violation });
                }
            }
        }
        Ok(())
    }

    fn check_pairs(
        &self,
        tree: &ScheduleTree,
        pairs: &Union,
        names: &[&str],
        budget: &Budget,
    ) -> Result<(), Error> {
        let unit = self.of_instances(tree, names, budget)?;
        let apart = legality::taken_apart(pairs, &unit, budget)?;
        if apart.is_empty(budget)? {
            return Ok(());
        }
        let met = self.met(tree, &apart, names, budget)?;
        if apart.is_subset(&met, budget)? {
            return Ok(());
        }
        let node = self.places.first().map_or_else(|| tree.root(), |(context, _)| *context);
        let violation = Violation::AcrossUnits { unit: self.name.clone() };
        Err(Error::Illegal { node, violation })
    }

    /// Relates instances, and those that they stand for below, to the unit that runs them.
    fn of_instances(
        &self,
        tree: &ScheduleTree,
        names: &[&str],
        budget: &Budget,
    ) -> Result<Union, Error> {
        let contractions = legality::contractions(tree, budget)?;
        let mut units = Union::empty();
        for (_, filter) in &self.places {
            let Some(below) = tree.children(*filter).next() else { continue };
            let mut own = Vec::new();
            for set in tree.active(below, budget)?.relations() {
                own.extend(to_unit(set, &self.name, names, budget)?);
            }
            let own = Union::collect(own)?;
            let inner = contractions[filter.index()].apply_range(&own, budget)?;
            units = units.union(&own)?.union(&inner)?;
        }
        Ok(units)
    }

    /// Keeps the pairs between whose instances all units meet.
    fn met(
        &self,
        tree: &ScheduleTree,
        pairs: &Union,
        names: &[&str],
        budget: &Budget,
    ) -> Result<Union, Error> {
        let leaves = tree.nodes().filter(|node| matches!(tree.kind(*node), NodeKind::Leaf));
        let barriers: Vec<Node> = leaves.filter(|leaf| is_barrier(tree, *leaf)).collect();
        if let Some(node) = barriers.iter().find(|node| self.maps(tree, **node)) {
            let expected = "a barrier at which all units arrive: above what maps to them";
            return Err(Error::Operand { node: *node, expected });
        }
        if barriers.is_empty() {
            return Ok(Union::empty());
        }
        let (mut times, mut meetings) = (Union::empty(), Union::empty());
        for map in tree.to_map(budget)?.relations() {
            let map = Union::from(map.project_params(names, budget)?);
            let of_barrier = |map: &Relation| {
                map.space().input.as_ref().is_some_and(|tuple| tuple.name == BARRIER)
            };
            match map.relations().any(of_barrier) {
                true => meetings = meetings.union(&map.range(budget)?)?,
                false => times = times.union(&map)?,
            }
        }
        let dims = times.relations().next().map_or(0, |map| map.space().output.dims.len());
        let less = Relation::lexicographic(Vec::new(), Tuple::anonymous(dims), Order::Less);
        let later = Union::from(less).intersect_range(&meetings, budget)?;
        let until = times.apply_range(&later, budget)?;
        let less = Relation::lexicographic(Vec::new(), Tuple::anonymous(dims), Order::Less);
        let from = Union::from(less).apply_range(&times.inverse()?, budget)?;
        Ok(pairs.intersect_composition(&until, &from, budget)?)
    }
}

/// Relates the instances of a set to the values of a parameter, whatever other units are.
fn to_unit(
    set: &Relation,
    name: &str,
    names: &[&str],
    budget: &Budget,
) -> Result<Option<Relation>, Error> {
    let space = set.space();
    let Some(own) = space.params.iter().position(|param| param == name) else { return Ok(None) };
    let params: Vec<String> = space.params.iter().filter(|param| *param != name).cloned().collect();
    let inputs = space.output.dims.len();
    let last = params.len() + inputs;
    let to: Vec<usize> = (0..space.params.len() + inputs)
        .map(|at| match at.cmp(&own) {
            std::cmp::Ordering::Less => at,
            std::cmp::Ordering::Equal => last,
            std::cmp::Ordering::Greater => at - 1,
        })
        .collect();
    let others: Vec<&str> = names.iter().copied().filter(|other| *other != name).collect();
    let map = Space::map(params, space.output.clone(), Tuple::anonymous(1));
    Ok(Some(set.placed(map, &to)?.project_params(&others, budget)?))
}
