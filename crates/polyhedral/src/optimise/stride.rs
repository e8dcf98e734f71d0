//! How far accesses go from one iteration of a loop to the next.

use crate::Conjunction;
use tangram_presburger::{Budget, Relation, Space, Tuple, Union};

use crate::scop::Scop;
use crate::{Error, Node, NodeKind, ScheduleTree};

/// Where the next iteration accesses an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// The same element.
    Same,
    /// The next element of the last dimension.
    Next,
    /// Anything else.
    Far,
}

/// Each place of a program that reads or writes, as a map to one cell.
pub(super) struct Accesses {
    maps: Vec<Relation>,
}

impl Accesses {
    pub fn of(scop: &Scop) -> Result<Self, Error> {
        let mut maps = Vec::new();
        for relation in scop.reads.relations().chain(scop.may_writes.relations()) {
            for part in relation.narrow_conjunctions()? {
                maps.push(Relation::from_conjunctions(relation.space().clone(), &[part])?);
            }
        }
        Ok(Self { maps })
    }

    /// Says for each access whose statement `next` maps how far it goes.
    pub fn steps(&self, next: &Union, budget: &Budget) -> Result<Vec<Step>, Error> {
        let mut steps = Vec::new();
        for map in &self.maps {
            // Several cells at once, as `a[i - 1]` and `a[i + 1]`, go where the first goes.
            let map = Union::from(map.lexmin(budget)?);
            let pairs = map.inverse()?.apply_range(next, budget)?.apply_range(&map, budget)?;
            if pairs.is_empty(budget)? {
                steps.push(Step::Same);
                continue;
            }
            let mut step = None;
            for relation in pairs.relations() {
                let own = of_cells(&relation.deltas(budget)?, budget)?;
                step = Some(step.map_or(own, |old| if old == own { own } else { Step::Far }));
            }
            steps.push(step.unwrap_or(Step::Far));
        }
        Ok(steps)
    }
}

fn of_cells(deltas: &Relation, budget: &Budget) -> Result<Step, Error> {
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
        return Ok(Step::Same);
    }
    let Some(last) = point.last_mut() else { return Ok(Step::Far) };
    *last = 1;
    Ok(if holds(&point)? { Step::Next } else { Step::Far })
}

/// Relates each instance to that of the same statement in a member's next iteration, other
/// loops staying where they are.
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
    let Some(first) = schedule.relations().next() else { return Ok(Union::empty()) };
    let dims = first.space().output.dims.len();
    let at = dims - band.members.len() + member;
    let mut part = Conjunction::default();
    for index in 0..dims {
        let mut row = vec![0; 1 + 2 * dims];
        (row[1 + index], row[1 + dims + index]) = (-1, 1);
        row[0] = -i128::from(index == at);
        part.equalities.push(row);
    }
    let space = Space::map(Vec::new(), Tuple::anonymous(dims), Tuple::anonymous(dims));
    let shift = Union::from(Relation::from_conjunctions(space, &[part])?);
    let mut all = Union::empty();
    for relation in schedule.relations() {
        let own = Union::from(relation.clone());
        let pairs = own.apply_range(&shift, budget)?.apply_range(&own.inverse()?, budget)?;
        all = all.union(&pairs)?;
    }
    Ok(all)
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
