//! Recurrences on several threads: groups of rows of several time steps at once.
//!
//! A sweep that uses its own results runs one row after the other, and a step in time needs the rows
//! around its own from the step before. A few rows behind, the next step may start:
//!
//! ```text
//! for t: for i: for j: A[i][j] = f(A[i][j - 1], A[i - 1][j], A[i + 1][j], ..)
//!
//! for 2t + i/16: parallel for t: for i, 16 rows: for j: ..
//! ```
//!
//! Rows that do not depend on each other are parallel as they are.
//!
//! # Source
//! L. Lamport, "The parallel execution of DO loops" (CACM 17(2), 1974).

use tangram_presburger::{Budget, Relation, Space, Tuple, Union, narrow};

use super::chains::member;
use crate::transform::Editor;
use crate::{Conjunction, Division, Error, Node, NodeKind};

/// Rows of a group: two groups of those that run side by side. More of them would leave fewer steps
/// that run at once, less make threads wait for each other more often.
const GROUP: i128 = 16;
/// How many groups a step may be behind the one before.
const BEHIND: i128 = 2;

/// Makes a loop over rows, or one over steps around it, parallel if it can be; returns the loop over
/// rows and the one below it.
pub(super) fn shared(
    editor: &mut Editor,
    (outer, inner): (Node, Node),
    budget: &Budget,
) -> Result<(Node, Node), Error> {
    if editor.free_members(outer)? == [true] {
        return match editor.set_coincident(outer, 0, true) {
            Ok(_) | Err(Error::Illegal { .. } | Error::Operand { .. }) => Ok((outer, inner)),
            Err(error) => Err(error),
        };
    }
    let tree = editor.tree();
    let Some(steps) = tree.parent(outer).filter(|steps| member(tree, *steps).is_some()) else {
        return Ok((outer, inner));
    };
    let mut above = std::iter::successors(tree.parent(steps), |node| tree.parent(*node));
    let is_inner = above.any(|node| matches!(tree.kind(node), NodeKind::Band(_)));
    if is_inner || tree.parent(inner) != Some(outer) {
        return Ok((outer, inner));
    }
    let first = first_row(editor, outer, budget)?;
    for behind in 1..=BEHIND {
        let tree = editor.tree();
        let (Some(time), Some(rows)) = (member(tree, steps), member(tree, outer)) else { break };
        let both = time.schedule.flat_range_product(&rows.schedule, budget)?;
        let front = both.apply_range(&front(first, behind)?, budget)?;
        match editor.by_fronts(steps, front) {
            Ok(rows) => {
                let inner = editor.tree().children(rows).next().unwrap_or(rows);
                return Ok((rows, inner));
            }
            Err(Error::Illegal { .. } | Error::Operand { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok((outer, inner))
}

/// Returns the first value of a loop of one member, whatever the parameters; 0 if there is none.
fn first_row(editor: &Editor, node: Node, budget: &Budget) -> Result<i128, Error> {
    let tree = editor.tree();
    let Some(rows) = member(tree, node) else { return Ok(0) };
    let values = rows.schedule.intersect_domain(&tree.active(node, budget)?, budget)?;
    let mut first = None::<i128>;
    for values in values.range(budget)?.relations() {
        let names: Vec<&str> = values.space().params.iter().map(String::as_str).collect();
        let least = values.project_params(&names, budget)?.lexmin(budget)?;
        for point in least.points(budget)? {
            let own = narrow(&point)?.first().copied();
            first = [first, own].into_iter().flatten().min();
        }
    }
    Ok(first.unwrap_or(0))
}

/// Maps step and row to the front of the row's group, where the first group begins at row `first`.
fn front(first: i128, behind: i128) -> Result<Union, Error> {
    let group = Division { numerator: vec![-first, 0, 1, 0], denominator: GROUP };
    let part = Conjunction {
        divisions: vec![group],
        equalities: vec![vec![0, behind, 0, -1, 1]],
        inequalities: Vec::new(),
    };
    let space = Space::map(Vec::new(), Tuple::anonymous(2), Tuple::anonymous(1));
    Ok(Relation::from_conjunctions(space, &[part])?.into())
}
