//! Rows side by side, as far apart as they must be.
//!
//! ```text
//! A[i][j] = f(A[i][j - 1], A[i - 1][j + 1])     row i + 1 waits for row i, 2 columns further on
//! ```
//!
//! Skewed by that distance, no row waits for another one in the same step of the loop along them.

use std::ops::Range;

use tangram_presburger::{Budget, Conjunction, Relation};

use super::chains::{first_leaves, member, together_at};
use crate::transform::Editor;
use crate::{Error, Node};

/// Rows that would have to be further apart are left alone.
const MOST_SKEW: i128 = 3;

/// Runs iterations of a loop side by side in the one below it; returns the leaves below both if it
/// can be.
pub(super) fn side_by_side(
    editor: &mut Editor,
    (outer, inner): (Node, Node),
    rows: i128,
    budget: &Budget,
) -> Result<Option<Range<usize>>, Error> {
    let tree = editor.tree();
    let made = match editor.free_members(outer)?[..] {
        [true] => editor.unroll_and_jam(outer, &[rows]),
        _ if tree.parent(inner) == Some(outer) => match least_skew(editor, outer, inner, budget)? {
            Some(skew) => editor.jam_skewed(outer, rows, skew),
            None => return Ok(None),
        },
        _ => return Ok(None),
    };
    match made {
        Ok(node) => Ok(first_leaves(editor.tree(), node)),
        Err(Error::Illegal { .. } | Error::Operand { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Finds how far rows have to be behind each other so that none waits for another one.
fn least_skew(
    editor: &Editor,
    outer: Node,
    inner: Node,
    budget: &Budget,
) -> Result<Option<i128>, Error> {
    let tree = editor.tree();
    let pairs = together_at(tree, outer, editor.dependences(), budget)?;
    let (Some(rows), Some(columns)) = (member(tree, outer), member(tree, inner)) else {
        return Ok(None);
    };
    let both = rows.schedule.flat_range_product(&columns.schedule, budget)?;
    let values = pairs.apply_domain(&both, budget)?.apply_range(&both, budget)?;
    let mut deltas = Vec::new();
    for relation in values.relations() {
        deltas.push(relation.deltas(budget)?);
    }
    for skew in 0..=MOST_SKEW {
        let mut apart = true;
        for deltas in &deltas {
            // A later row that is not later in the skewed loop.
            let params = deltas.space().params.len();
            let (row, column) = (1 + params, 2 + params);
            let mut lines = vec![vec![0; 3 + params]; 2];
            (lines[0][0], lines[0][row]) = (-1, 1);
            (lines[1][row], lines[1][column]) = (-skew, -1);
            apart = apart && !meets(deltas, lines, budget)?;
        }
        if apart {
            return Ok(Some(skew));
        }
    }
    Ok(None)
}

/// Returns whether a set has points where rows over `[constant, parameters.., dimensions..]` are not
/// negative.
fn meets(set: &Relation, inequalities: Vec<Vec<i128>>, budget: &Budget) -> Result<bool, Error> {
    let part = Conjunction { inequalities, ..Conjunction::default() };
    let where_ = Relation::from_conjunctions(set.space().clone(), &[part])?;
    Ok(!set.intersect(&where_, budget)?.is_empty(budget)?)
}
