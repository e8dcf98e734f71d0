//! Sums over results of earlier iterations of the loop around them, by blocks of that loop.
//!
//! In a forward substitution row `i` adds up what the rows before it gave. Of the rows of a block, the sums
//! over what earlier blocks gave do not wait for each other, and run side by side:
//!
//! ```text
//! for i: { x[i] = b[i];  for j < i: x[i] -= L[i][j] * x[j];  x[i] /= L[i][i]; }
//!
//! for i/8: {
//!     for i: x[i] = b[i];
//!     for i, j < 8 * (i/8): x[i] -= L[i][j] * x[j];                        eight sums side by side
//!     for i: { for j >= 8 * (i/8): x[i] -= L[i][j] * x[j];  x[i] /= L[i][i]; }
//! }
//! ```
//!
//! Each sum adds in the order of the source. Which of its iterations need nothing of their own block, the
//! dependences say. A source that subtracts each result from all later rows at once, far from each other
//! in memory, is brought into this form first.
//!
//! # Source
//! J. Dongarra et al., "LAPACK Users' Guide" (1999), for the blocks; M. Griebl, P. Feautrier, C.
//! Lengauer, "Index set splitting" (IJPP 28(6), 2000).

use tangram_presburger::{Budget, Union};

use super::chains::{SIDE_BY_SIDE, is_smooth, member, together_at};
use super::cost::Along;
use super::stride::{self, AccessStride, Accesses};
use super::tile_innermost::below;
use crate::transform::Editor;
use crate::{Band, Error, Node, NodeKind, legality};

/// Runs sums over earlier results by blocks of rows; returns the loop over blocks. `along`: what the
/// inner loop accesses.
pub(super) fn by_rows(
    editor: &mut Editor,
    (outer, inner): (Node, Node),
    (accesses, along): (&Accesses, &[Along]),
    budget: &Budget,
) -> Result<Option<Node>, Error> {
    let adds = |along: &[Along]| {
        along.iter().any(|along| along.write && along.step == Some(AccessStride::Same))
    };
    if adds(along) {
        return by_blocks(editor, (outer, inner), SIDE_BY_SIDE, budget);
    }
    if is_smooth(along) || editor.tree().parent(inner) == Some(outer) {
        return Ok(None);
    }
    let before = editor.tree().clone();
    let made = match editor.turn(outer, inner) {
        Ok((outer, inner)) => {
            let next = stride::next(editor.tree(), inner, 0, budget)?;
            let along = accesses.along(&next, budget)?;
            match adds(&along) && is_smooth(&along) {
                true => by_blocks(editor, (outer, inner), SIDE_BY_SIDE, budget)?,
                false => None,
            }
        }
        Err(Error::Illegal { .. } | Error::Operand { .. } | Error::IllFormed { .. }) => None,
        Err(error) => return Err(error),
    };
    if made.is_none() {
        editor.reset(before);
    }
    Ok(made)
}

/// Runs the sums of an innermost loop that need nothing of their block of the loop around it side by
/// side, ahead of the rest of the block; returns the loop over blocks, if there are such sums.
fn by_blocks(
    editor: &mut Editor,
    (outer, inner): (Node, Node),
    rows: i128,
    budget: &Budget,
) -> Result<Option<Node>, Error> {
    let Some(row) = member(editor.tree(), outer) else { return Ok(None) };
    let block = editor.blocked(row, rows)?;
    let Some(parts) = parts(editor, (outer, inner), &block.schedule, budget)? else {
        return Ok(None);
    };
    let before = editor.tree().clone();
    let band = Band { members: vec![block], permutable: false, options: Union::empty() };
    match split(editor, outer, band, parts, rows) {
        Ok(Some(top)) => Ok(Some(top)),
        Ok(None) | Err(Error::Illegal { .. } | Error::Operand { .. } | Error::IllFormed { .. }) => {
            editor.reset(before);
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// What a block does, in this order.
struct Parts {
    /// What stands in front of the sums.
    ahead: Union,
    /// The sums over results of earlier blocks.
    early: Union,
    rest: Union,
}

/// Tells apart what needs something of its own block and what does not; nothing if no sum is both.
fn parts(
    editor: &Editor,
    (outer, inner): (Node, Node),
    blocks: &Union,
    budget: &Budget,
) -> Result<Option<Parts>, Error> {
    let tree = editor.tree();
    let (all, sums) = (tree.active(outer, budget)?, tree.active(inner, budget)?);
    let mut ahead = Union::empty();
    for node in below(tree, outer).into_iter().take_while(|node| *node != inner) {
        if matches!(tree.kind(node), NodeKind::Leaf) {
            ahead = ahead.union(&tree.active(node, budget)?)?;
        }
    }
    let behind = all.subtract(&ahead, budget)?.subtract(&sums, budget)?;
    let pairs = together_at(tree, outer, editor.dependences(), budget)?;
    let pairs = legality::together(&pairs, blocks, budget)?;
    let late = pairs.intersect_domain(&behind, budget)?.range(budget)?;
    let late = late.intersect(&sums, budget)?;
    let early = sums.subtract(&late, budget)?.coalesce(budget)?;
    if late.is_empty(budget)? || early.is_empty(budget)? {
        return Ok(None);
    }
    let rest = behind.union(&late)?;
    Ok(Some(Parts { ahead, early, rest }))
}

/// Puts the loop over blocks above a loop, and the parts of a block below it.
fn split(
    editor: &mut Editor,
    outer: Node,
    blocks: Band,
    parts: Parts,
    rows: i128,
) -> Result<Option<Node>, Error> {
    let top = editor.insert_band(outer, blocks)?;
    let Some(outer) = editor.tree().children(top).next() else { return Ok(None) };
    let Parts { ahead, early, rest } = parts;
    let has_ahead = ahead.relations().next().is_some();
    let filters = if has_ahead { vec![ahead, early, rest] } else { vec![early, rest] };
    let list = editor.in_parts(outer, filters)?;
    let tree = editor.tree();
    let sums = tree.children(list).nth(usize::from(has_ahead));
    let Some(sums) = sums.and_then(|filter| tree.children(filter).next()) else {
        return Ok(None);
    };
    if editor.free_members(sums)? != [true] {
        return Ok(None);
    }
    // One group of rows is no work for several threads.
    let sums = editor.set_coincident(sums, 0, false)?;
    let sums = editor.unroll_and_jam(sums, &[rows])?;
    let tree = editor.tree();
    // Above it the filter, the list and the blocks.
    Ok(std::iter::successors(Some(sums), |node| tree.parent(*node)).nth(3))
}
