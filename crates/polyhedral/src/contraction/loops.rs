//! Which loops are rows, columns and reduced.

use tangram_kernel::Role;
use tangram_presburger::{Budget, Relation};

use super::Update;
use super::domain::Bounds;
use crate::Error;
use crate::scop::{Scop, Statement};

/// What a loop of a contraction is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LoopKind {
    /// Of the target and both groups of operands, or of none of them.
    Batch,
    /// A row loop around the tiled one.
    RowOuter,
    /// The tiled row loop.
    Row,
    /// A column loop around the tiled one.
    ColumnOuter,
    /// The tiled column loop: elements side by side in memory.
    Column,
    /// A reduced loop around the tiled one.
    ReducedOuter,
    /// The tiled reduced loop.
    Reduced,
    /// A reduced loop inside the tiled one, of few iterations.
    ReducedInner,
}

/// Inner reduced loops of more iterations than this together would make panels too long.
const MOST_INNER: i128 = 128;

/// The element that a statement updates, as rows over `[constant, parameters.., loops..]`.
pub(super) struct Target {
    /// Whether a loop stands in a subscript.
    pub used: Vec<bool>,
    /// The loop along which elements are side by side, if there is one.
    pub unit: Option<usize>,
    /// Cells of the same array that instances read beside their own.
    pub others: Option<Relation>,
    /// The element that each instance updates.
    pub write: Relation,
}

/// Finds the one element that a statement writes, and reads of the same array.
pub(super) fn target(
    scop: &Scop,
    statement: &Statement,
    budget: &Budget,
) -> Result<Option<Target>, Error> {
    let own = |map: &&Relation| {
        map.space().input.as_ref().is_some_and(|input| input.name == statement.name)
    };
    let mut writes = scop.must_writes.relations().filter(own);
    let may = scop.may_writes.relations().filter(own).count();
    let (Some(write), None, 1) = (writes.next(), writes.next(), may) else { return Ok(None) };
    let array = &write.space().output.name;
    let mut others = None;
    for read in scop.reads.relations().filter(own) {
        if read.space().output.name == *array && !read.is_subset(write, budget)? {
            others = Some(read.subtract(write, budget)?);
        }
    }
    let loops = statement.domain.space().output.dims.len();
    let Some(rows) = subscripts(write)? else { return Ok(None) };
    let used: Vec<bool> = (0..loops).map(|at| rows.iter().any(|row| row[at] != 0)).collect();
    let unit = rows.split_last().and_then(|(last, others)| {
        let alone = |at: &usize| last[*at] == 1 && others.iter().all(|row| row[*at] == 0);
        (0..loops).rev().find(alone)
    });
    Ok(Some(Target { used, unit, others, write: write.clone() }))
}

/// Returns the factors of loops in each subscript of an access; nothing if one is no sum of them.
fn subscripts(access: &Relation) -> Result<Option<Vec<Vec<i128>>>, Error> {
    Ok(subscripts_of_all(access)?.filter(|all| all.len() == 1).and_then(|mut all| all.pop()))
}

/// Returns the same for each part of an access to several elements.
pub(super) fn subscripts_of_all(access: &Relation) -> Result<Option<Vec<Vec<Vec<i128>>>>, Error> {
    let space = access.space();
    let first = 1 + space.params.len();
    let loops = space.input.as_ref().map_or(0, |input| input.dims.len());
    let mut all = Vec::new();
    for part in access.narrow_conjunctions()? {
        let mut rows = Vec::new();
        for subscript in 0..space.output.dims.len() {
            let column = first + loops + subscript;
            // The subscript alone, over parameters and loops.
            let row = part.equalities.iter().find(|row| {
                row[column].abs() == 1
                    && row[first + loops..].iter().filter(|value| **value != 0).count() == 1
            });
            let Some(row) = row else { return Ok(None) };
            let sign = -row[column];
            rows.push(row[first..first + loops].iter().map(|v| v * sign).collect());
        }
        all.push(rows);
    }
    Ok(Some(all))
}

/// Finds the loop along which what an operand reads is side by side in memory; `operand`: the loops
/// that it varies with.
pub(super) fn unit_loop(
    scop: &Scop,
    statement: &Statement,
    operand: &[usize],
) -> Result<Option<usize>, Error> {
    for read in scop.reads.relations() {
        let own = read.space().input.as_ref().is_some_and(|input| input.name == statement.name);
        let Some(rows) = subscripts(read)?.filter(|_| own) else { continue };
        let is_used = |at: &usize| rows.iter().any(|row| row[*at] != 0);
        let used: Vec<usize> =
            (0..statement.domain.space().output.dims.len()).filter(is_used).collect();
        let is_same = used.iter().all(|at| operand.contains(at)) && used.len() == operand.len();
        let last = rows.last().filter(|_| is_same);
        if let Some(at) = last.and_then(|row| row.iter().rposition(|factor| factor.abs() == 1)) {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

/// The kinds of loops, reduced ones not yet told apart, and the roles of operands.
pub(super) struct Loops {
    pub kinds: Vec<LoopKind>,
    pub roles: Vec<Role>,
}

impl Loops {
    /// Tells rows from columns by the loop along which the target is side by side in memory.
    pub fn of(update: &Update, target: &Target) -> Option<Self> {
        let count = target.used.len();
        let column = target.unit?;
        let of_target = |operand: &[usize]| operand.iter().any(|at| target.used[*at]);
        let roles: Vec<Role> = update
            .operands
            .iter()
            .map(|operand| match operand {
                operand if operand.contains(&column) => Role::Column,
                operand if of_target(operand) => Role::Row,
                operand if operand.iter().any(|at| !target.used[*at]) => Role::Row,
                _ => Role::Scalar,
            })
            .collect();
        let uses = |role: Role, at: usize| {
            let mut pairs = roles.iter().zip(&update.operands);
            pairs.any(|(own, operand)| *own == role && operand.contains(&at))
        };
        let mut kinds = Vec::new();
        for at in 0..count {
            kinds.push(match (target.used[at], uses(Role::Row, at), uses(Role::Column, at)) {
                (false, _, _) => LoopKind::Reduced,
                (true, true, false) => LoopKind::RowOuter,
                (true, false, true) => LoopKind::ColumnOuter,
                (true, _, _) => LoopKind::Batch,
            });
        }
        // A vector of the target along a batch loop is no tile.
        if kinds[column] != LoopKind::ColumnOuter {
            return None;
        }
        kinds[column] = LoopKind::Column;
        let row = kinds.iter().rposition(|kind| *kind == LoopKind::RowOuter)?;
        kinds[row] = LoopKind::Row;
        kinds.contains(&LoopKind::Reduced).then_some(Self { kinds, roles })
    }
}

/// Chooses the reduced loop that is tiled: the innermost one, or one around it if few iterations
/// are inside. Returns how many these are, too.
pub(super) fn reduced(mut kinds: Vec<LoopKind>, bounds: &Bounds) -> Option<(Vec<LoopKind>, usize)> {
    let all: Vec<usize> = (0..kinds.len()).filter(|at| kinds[*at] == LoopKind::Reduced).collect();
    let (mut inner, mut tiled) = (1_i128, *all.last()?);
    for pair in all.windows(2).rev() {
        let Some(length) = bounds.length(pair[1]) else { break };
        // Rows or columns that bound it are tiled: so is it.
        let is_ragged = bounds.ragged_loop == Some(pair[1]);
        if is_ragged || length < 1 || inner * length > MOST_INNER {
            break;
        }
        (inner, tiled) = (inner * length, pair[0]);
    }
    if bounds.ragged_loop.is_some_and(|ragged| ragged != tiled) {
        return None;
    }
    for at in all {
        kinds[at] = match at.cmp(&tiled) {
            std::cmp::Ordering::Less => LoopKind::ReducedOuter,
            std::cmp::Ordering::Equal => LoopKind::Reduced,
            std::cmp::Ordering::Greater => LoopKind::ReducedInner,
        };
    }
    Some((kinds, usize::try_from(inner).ok()?))
}
