//! Loops in which all iterations wait for a single one.
//!
//! In step `k` of the algorithm of Floyd and Warshall, row `i` reads the element in column `k`, which
//! this row writes, too. But for this column its iterations are free:
//!
//! ```text
//! for k, i, j: P[i][j] = min(P[i][j], P[i][k] + P[k][j])
//!
//! for k, i: { for j < k: ..;  j = k: ..;  for j > k: .. }     both loops run by vectors
//! ```
//!
//! # Source
//! M. Griebl, P. Feautrier, C. Lengauer, "Index set splitting" (IJPP 28(6), 2000). Divergence: only at
//! the value of a loop around, found in the dependences that a loop carries.

use tangram_presburger::{Budget, Order, Relation, Tuple, Union};

use super::chains::{member, together_at};
use crate::transform::Editor;
use crate::{Error, Member, Node, NodeKind, ScheduleTree};

/// Splits an innermost band at the value of a loop around it, if its iterations depend on each other at
/// that one alone; returns the list of its parts.
pub(super) fn split(
    editor: &mut Editor,
    inner: Node,
    budget: &Budget,
) -> Result<Option<Node>, Error> {
    let Some(parts) = parts(editor, inner, budget)? else { return Ok(None) };
    let before = editor.tree().clone();
    match editor.in_parts(inner, parts) {
        Ok(list) => {
            let tree = editor.tree();
            let free = (0..tree.children(list).count()).all(|at| {
                let own = loop_of(tree, list, at).and_then(|band| member(tree, band));
                own.is_some_and(|own| own.coincident)
            });
            if free {
                return Ok(Some(list));
            }
            editor.reset(before);
            Ok(None)
        }
        Err(Error::Illegal { .. } | Error::Operand { .. } | Error::IllFormed { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The band below a child of a list.
fn loop_of(tree: &ScheduleTree, list: Node, at: usize) -> Option<Node> {
    let filter = tree.children(list).nth(at)?;
    tree.children(filter).next()
}

/// The instances before, at and behind the iteration that all others wait for.
fn parts(editor: &Editor, inner: Node, budget: &Budget) -> Result<Option<Vec<Union>>, Error> {
    let tree = editor.tree();
    let Some(Member { schedule, .. }) = member(tree, inner) else { return Ok(None) };
    let together = together_at(tree, inner, editor.dependences(), budget)?;
    let within = crate::legality::together(&together, schedule, budget)?;
    let carried = together.subtract(&within, budget)?;
    if carried.is_empty(budget)? {
        return Ok(None);
    }
    let active = tree.active(inner, budget)?;
    for above in std::iter::successors(tree.parent(inner), |node| tree.parent(*node)) {
        let NodeKind::Band(band) = tree.kind(above) else { continue };
        for outer in &band.members {
            let [before, at, behind] = compared(schedule, outer, &active, budget)?;
            let touching = carried
                .intersect_domain(&at, budget)?
                .union(&carried.intersect_range(&at, budget)?)?;
            if carried.is_subset(&touching, budget)? {
                let mut parts = Vec::new();
                for part in [before, at, behind] {
                    if !part.is_empty(budget)? {
                        parts.push(part);
                    }
                }
                return Ok((parts.len() > 1).then_some(parts));
            }
        }
    }
    Ok(None)
}

/// The instances for which a loop has less than, as much as and more than another one.
fn compared(
    inner: &Union,
    outer: &Member,
    active: &Union,
    budget: &Budget,
) -> Result<[Union; 3], Error> {
    let greater = Relation::lexicographic(Vec::new(), Tuple::anonymous(1), Order::Less);
    let equal = inner.intersect(&outer.schedule, budget)?;
    let less = inner.apply_range(&greater.into(), budget)?.intersect(&outer.schedule, budget)?;
    let at = equal.domain(budget)?.intersect(active, budget)?;
    let before = less.domain(budget)?.intersect(active, budget)?;
    let behind = active.subtract(&at, budget)?.subtract(&before, budget)?;
    Ok([before, at, behind])
}
