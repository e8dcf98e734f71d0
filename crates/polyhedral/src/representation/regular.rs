//! The 2d+1 form: a constant before each iterator and one behind the last.

use std::fmt;

use tangram_presburger::{Budget, Relation, Union};

use super::row::{all_padded, row, schedule};
use crate::schedule_tree::from_map::choice;
use crate::{Error, Node, NodeKind, ScheduleTree};

const EXPECTED: &str = "an affine function of its iterators for each of its loops";

/// A schedule in 2d+1 form.
///
/// A statement in `d` loops has points of `2d+1` dimensions: constants at the even
/// positions, from 0, and affine functions of the instance at the odd ones.
#[derive(Debug, Clone, Default)]
pub struct Regular {
    /// In the order of the program.
    pub statements: Vec<RegularStatement>,
}

/// A statement of a [`Regular`] schedule.
#[derive(Debug, Clone)]
pub struct RegularStatement {
    /// The instances.
    pub domain: Relation,
    /// The `d+1` constants, outermost first.
    pub positions: Vec<i128>,
    /// The `d` rows `[constant, params.., dims..]` over the domain, outermost first.
    pub rows: Vec<Vec<i128>>,
}

impl RegularStatement {
    /// Returns the matrix of all `2d+1` rows, constants and functions in turn.
    pub fn matrix(&self) -> Vec<Vec<i128>> {
        let space = self.domain.space();
        let columns = 1 + space.params.len() + space.output.dims.len();
        let mut matrix = Vec::new();
        for (at, position) in self.positions.iter().enumerate() {
            let mut constant = vec![0; columns];
            constant[0] = *position;
            matrix.push(constant);
            matrix.extend(self.rows.get(at).cloned());
        }
        matrix
    }
}

/// A place in a tree where a constant is due or was just written.
struct TreePosition {
    node: Node,
    positions: Vec<i128>,
    /// Bands above, as members and not yet as rows.
    members: Vec<Union>,
}

impl Regular {
    /// Takes the order of a tree.
    ///
    /// Lost is what [`ScheduleTree::to_map`] loses: children of a set get the order in which
    /// they stand.
    ///
    /// # Errors
    /// [`Error::Form`] for a statement that has not as many loops as iterators, or that is
    /// scheduled by quotients, as tiles are.
    pub fn of_tree(tree: &ScheduleTree, budget: &Budget) -> Result<Self, Error> {
        let mut statements = Vec::new();
        let start = TreePosition { node: tree.root(), positions: Vec::new(), members: Vec::new() };
        let mut open = vec![start];
        while let Some(place) = open.pop() {
            // What stands below without a band in between, from left to right.
            let (mut position, mut below) = (0, Vec::new());
            let mut nodes = vec![(place.node, place.members)];
            while let Some((node, members)) = nodes.pop() {
                let mut positions = place.positions.clone();
                match tree.kind(node) {
                    NodeKind::Band(band) => {
                        let mut members = members;
                        positions.push(position);
                        positions.extend(vec![0; band.members.len() - 1]);
                        members.extend(band.members.iter().map(|member| member.schedule.clone()));
                        let child = tree.children(node).next().unwrap_or(node);
                        below.push(TreePosition { node: child, positions, members });
                        position += 1;
                    }
                    NodeKind::Leaf => {
                        positions.push(position);
                        position += 1;
                        // Extensions add instances where loops have an iteration.
                        for set in tree.prefix(node, budget)?.domain(budget)?.relations() {
                            statements.push(made(set, &positions, &members, budget)?);
                        }
                    }
                    kind => {
                        let members = passed_on(kind, members, budget)?;
                        let children: Vec<Node> = tree.children(node).collect();
                        nodes.extend(children.into_iter().rev().map(|at| (at, members.clone())));
                    }
                }
            }
            below.reverse();
            open.extend(below);
        }
        statements.sort_by(|a, b| a.positions.cmp(&b.positions));
        Ok(Self { statements })
    }

    /// Takes the order of a union map.
    ///
    /// # Errors
    /// As [`ScheduleTree::from_map`] and [`Self::of_tree`].
    pub fn of_map(map: &Union, budget: &Budget) -> Result<Self, Error> {
        Self::of_tree(&ScheduleTree::from_map(map, budget)?, budget)
    }

    /// Returns the points, `2d+1` dimensions for a statement of `d` loops.
    ///
    /// This is Kelly's form as well: [`super::Kelly::new`] takes it.
    ///
    /// # Errors
    /// [`Error::Presburger`] if numbers outgrow 128 bits.
    pub fn points(&self) -> Result<Union, Error> {
        let mut all = Union::empty();
        for statement in &self.statements {
            let piece = schedule(&statement.domain, &statement.matrix())?;
            all = all.union(&Union::from(piece))?;
        }
        Ok(all)
    }

    /// Fills points up with zeros to a union map. Nothing is lost: constants tell
    /// statements apart before the shorter point ends.
    ///
    /// # Errors
    /// [`Error::Presburger`] if the budget ends.
    pub fn to_map(&self, budget: &Budget) -> Result<Union, Error> {
        all_padded(&self.points()?, budget)
    }

    /// Makes a tree: constants become sequences.
    ///
    /// # Errors
    /// [`Error::Presburger`] if the budget ends.
    pub fn to_tree(&self, budget: &Budget) -> Result<ScheduleTree, Error> {
        ScheduleTree::from_map(&self.to_map(budget)?, budget)
    }
}

impl fmt::Display for Regular {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        super::show(self.points(), f)
    }
}

/// Returns the members of the bands above a node for the instances below it.
fn passed_on(
    kind: &NodeKind,
    mut members: Vec<Union>,
    budget: &Budget,
) -> Result<Vec<Union>, Error> {
    let count = members.len();
    for (at, member) in members.iter_mut().enumerate() {
        *member = match kind {
            NodeKind::Expansion { contraction, .. } => contraction.apply_range(member, budget)?,
            NodeKind::Extension(map) => {
                let outer = Union::from(choice(at, count)?);
                member.union(&map.inverse()?.apply_range(&outer, budget)?)?
            }
            _ => return Ok(members),
        };
    }
    Ok(members)
}

fn made(
    domain: &Relation,
    positions: &[i128],
    members: &[Union],
    budget: &Budget,
) -> Result<RegularStatement, Error> {
    let tuple = &domain.space().output;
    let wrong = || Error::Form { statement: tuple.name.clone(), expected: EXPECTED };
    if members.len() != tuple.dims.len() {
        return Err(wrong());
    }
    let own = Union::from(domain.clone());
    let mut params = domain.space().params.clone();
    let mut pieces = Vec::new();
    for member in members {
        let piece = member.intersect_domain(&own, budget)?;
        let piece = piece.relations().next().cloned().ok_or_else(wrong)?;
        let new = piece.space().params.iter().filter(|name| !params.contains(name)).cloned();
        let new: Vec<String> = new.collect();
        params.extend(new);
        pieces.push(piece);
    }
    let mut rows = Vec::new();
    for piece in pieces {
        rows.push(row(&piece.align_params(&params)?).ok_or_else(wrong)?);
    }
    let domain = domain.align_params(&params)?;
    Ok(RegularStatement { domain, positions: positions.to_vec(), rows })
}
