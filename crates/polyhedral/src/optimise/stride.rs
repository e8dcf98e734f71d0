//! How far accesses go from one iteration of a loop to the next.

use crate::Conjunction;
use tangram_presburger::{Budget, Relation, Space, Tuple, Union};

use super::cost::Along;
use crate::scop::{Scop, Statement};
use crate::{Error, Node, NodeKind, ScheduleTree};

/// Elements in a line of the cache, of the size that loops are weighed for.
const LINE: i128 = 8;
/// Loops with wider steps than this count as loops of one iteration.
const WIDEST: i128 = 16;

/// Points that are looked at to see that a loop is short.
const FEW_POINTS: u64 = 1_000;

/// Where the next iteration accesses an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AccessStride {
    /// The same element.
    Same,
    /// The next element of the last dimension.
    Next,
    /// So many elements further in the last dimension, fewer than a line of the cache has.
    Near(i128),
    /// Anything else.
    Far,
}

/// Each place of a program that reads or writes.
pub(super) struct Accesses {
    places: Vec<Access>,
}

struct Access {
    statement: usize,
    write: bool,
    /// Whether the array stands for a variable of the source.
    of_variable: bool,
    /// Whether it is of integers.
    integer: bool,
    /// To one cell: several at once, as `a[i - 1]` and `a[i + 1]`, go where the first goes.
    map: Union,
}

impl Accesses {
    pub fn of(scop: &Scop, budget: &Budget) -> Result<Self, Error> {
        let mut places = Vec::new();
        for (union, write) in [(&scop.reads, false), (&scop.may_writes, true)] {
            for relation in union.relations() {
                let input = relation.space().input.as_ref();
                let own = |s: &Statement| input.is_some_and(|input| input.name == s.name);
                let Some(statement) = scop.statements.iter().position(own) else { continue };
                let name = &relation.space().output.name;
                let array = scop.arrays.iter().find(|array| array.name == *name);
                let of_variable = array.is_some_and(|array| array.shared);
                let integer = array.is_some_and(|array| array.integer);
                for part in relation.narrow_conjunctions()? {
                    let map = Relation::from_conjunctions(relation.space().clone(), &[part])?;
                    let map = map.lexmin(budget)?.into();
                    places.push(Access { statement, write, of_variable, integer, map });
                }
            }
        }
        Ok(Self { places })
    }

    /// Says for each access how far it goes where `next` leads.
    pub fn along(&self, next: &Union, budget: &Budget) -> Result<Vec<Along>, Error> {
        let mut all = Vec::new();
        for Access { statement, write, of_variable, integer, map } in &self.places {
            let pairs = map.inverse()?.apply_range(next, budget)?.apply_range(map, budget)?;
            let mut step = None;
            for relation in pairs.relations() {
                if relation.is_empty(budget)? {
                    continue;
                }
                let own = of_cells(&relation.deltas(budget)?, budget)?;
                step =
                    Some(step.map_or(own, |old| if old == own { own } else { AccessStride::Far }));
            }
            let scalar = map.relations().all(|own| own.space().output.dims.is_empty());
            let (statement, write) = (*statement, *write);
            let (of_variable, integer) = (*of_variable, *integer);
            all.push(Along { statement, write, scalar, of_variable, integer, step });
        }
        Ok(all)
    }
}

fn of_cells(deltas: &Relation, budget: &Budget) -> Result<AccessStride, Error> {
    let dims = deltas.space().output.dims.len();
    let params = deltas.space().params.len();
    let mut point = vec![0; dims];
    let holds = |point: &[i128]| -> Result<bool, Error> {
        let mut part = Conjunction::default();
        for (index, value) in point.iter().enumerate() {
            let mut row = vec![0; 1 + params + dims];
            (row[0], row[1 + params + index]) = (-value, 1);
            part.equalities.push(row);
        }
        let at = Relation::from_conjunctions(deltas.space().clone(), &[part])?;
        Ok(deltas.is_subset(&at, budget)?)
    };
    if holds(&point)? {
        return Ok(AccessStride::Same);
    }
    let Some(last) = point.len().checked_sub(1) else { return Ok(AccessStride::Far) };
    point[last] = 1;
    if holds(&point)? {
        return Ok(AccessStride::Next);
    }
    for far in 2..LINE {
        point[last] = far;
        if holds(&point)? {
            return Ok(AccessStride::Near(far));
        }
    }
    Ok(AccessStride::Far)
}

/// Relates each instance to that of the same statement in a member's next iteration, loops around it
/// and other members staying where they are.
pub(super) fn next(
    tree: &ScheduleTree,
    node: Node,
    member: usize,
    budget: &Budget,
) -> Result<Union, Error> {
    let NodeKind::Band(band) = tree.kind(node) else { return Ok(Union::empty()) };
    let mut schedule = tree.prefix(node, budget)?;
    for member in &band.members {
        schedule = schedule.flat_range_product(&member.schedule, budget)?;
    }
    let from_last = band.members.len() - member;
    shifted(&schedule, from_last, &tree.active(node, budget)?, budget)
}

/// As [`next`], for what runs at a leaf below: loops between stay where they are, too.
pub(super) fn next_at_leaf(
    tree: &ScheduleTree,
    leaf: Node,
    (node, member): (Node, usize),
    budget: &Budget,
) -> Result<Union, Error> {
    let mut from_last = 0;
    for above in std::iter::successors(tree.parent(leaf), |node| tree.parent(*node)) {
        if let NodeKind::Band(band) = tree.kind(above) {
            from_last += band.members.len();
        }
        if above == node {
            break;
        }
    }
    let schedule = tree.prefix(leaf, budget)?;
    shifted(&schedule, from_last - member, &tree.active(leaf, budget)?, budget)
}

/// Relates instances whose places in a schedule differ by one step in one dimension, counted from the
/// last: a loop may take steps of several, so that the next iteration is the nearest that there is.
fn shifted(
    schedule: &Union,
    from_last: usize,
    active: &Union,
    budget: &Budget,
) -> Result<Union, Error> {
    let Some(first) = schedule.relations().next() else { return Ok(Union::empty()) };
    let dims = first.space().output.dims.len();
    let mut all = Union::empty();
    for relation in schedule.relations() {
        let own = Union::from(relation.clone());
        for step in 1..=WIDEST {
            let shift = shift(dims, dims - from_last, step)?;
            let pairs = own.apply_range(&shift, budget)?.apply_range(&own.inverse()?, budget)?;
            let inside = pairs.intersect_domain(active, budget)?;
            if !inside.intersect_range(active, budget)?.is_empty(budget)? {
                all = all.union(&pairs)?;
                break;
            }
        }
    }
    Ok(all)
}

/// Relates values of a schedule to those that are `step` more in one dimension.
fn shift(dims: usize, at: usize, step: i128) -> Result<Union, Error> {
    let mut part = Conjunction::default();
    for index in 0..dims {
        let mut row = vec![0; 1 + 2 * dims];
        (row[1 + index], row[1 + dims + index]) = (-1, 1);
        if index == at {
            row[0] = -step;
        }
        part.equalities.push(row);
    }
    let space = Space::map(Vec::new(), Tuple::anonymous(dims), Tuple::anonymous(dims));
    Ok(Union::from(Relation::from_conjunctions(space, &[part])?))
}

/// Counts the iterations of a member if there are never more than `most`.
pub(super) fn few_iterations(
    tree: &ScheduleTree,
    node: Node,
    member: usize,
    most: i128,
    budget: &Budget,
) -> Result<Option<i128>, Error> {
    let NodeKind::Band(band) = tree.kind(node) else { return Ok(None) };
    let active = tree.active(node, budget)?;
    let values = band.members[member].schedule.intersect_domain(&active, budget)?;
    let mut longest = Some(0);
    for set in values.range(budget)?.relations() {
        let names: Vec<&str> = set.space().params.iter().map(String::as_str).collect();
        let free = set.project_params(&names, budget)?;
        let count = free.points(&Budget::steps(FEW_POINTS)).ok().map(|points| points.len());
        longest = longest.zip(count).map(|(a, b): (usize, usize)| a.max(b));
    }
    let longest = longest.and_then(|longest| i128::try_from(longest).ok());
    Ok(longest.filter(|longest| *longest <= most))
}

/// Relates each instance to the next one in the innermost loop around its statement.
pub(super) fn innermost(tree: &ScheduleTree, budget: &Budget) -> Result<Union, Error> {
    let mut all = Union::empty();
    for leaf in tree.nodes().filter(|node| matches!(tree.kind(*node), NodeKind::Leaf)) {
        let mut above = std::iter::successors(tree.parent(leaf), |node| tree.parent(*node));
        let found = above.find_map(|node| match tree.kind(node) {
            NodeKind::Band(band) => Some((node, band.members.len())),
            _ => None,
        });
        let Some((band, members @ 1..)) = found else { continue };
        let pairs = next(tree, band, members - 1, budget)?;
        let own = tree.active(leaf, budget)?;
        all = all.union(&pairs.intersect_domain(&own, budget)?)?;
    }
    Ok(all)
}
