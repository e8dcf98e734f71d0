//! Bands of two clusters side by side, member by member.
//!
//! Rows of one cluster keep its own pairs in order whatever is added to all of them, so
//! that only the pairs between the clusters say which constant may be added to the second
//! one. That takes no integer program, and its cost does not grow with what the clusters
//! already hold. For few statements a program is as cheap, and may find better rows.

use super::Error;
use super::band::{LARGEST, Rows};
use super::graph::{Edge, Graph, Row};
use super::linear::dot;

/// So few statements are left to an integer program.
const FEW: usize = 8;

/// A cluster's statements and the rows of its band.
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    pub statements: &'a [usize],
    pub rows: &'a Rows,
}

impl Side<'_> {
    fn row(&self, statement: usize, member: usize) -> Option<&Row> {
        let at = self.statements.iter().position(|own| *own == statement)?;
        self.rows.of[at].get(member)
    }
}

/// How far the second cluster can be shifted, and the distances of proximity pairs before.
#[derive(Clone, Copy, Default)]
struct Shift {
    least: Option<i128>,
    most: Option<i128>,
    low: Option<i128>,
    high: Option<i128>,
}

impl Shift {
    /// Chooses the smallest legal shift; nothing if there is none, or if distances are long.
    fn chosen(&self) -> Option<i128> {
        let (low, high) = (self.low.unwrap_or(0), self.high.unwrap_or(0));
        let shift = self.least.map_or(0, |least| least.max(0));
        let shift = self.most.map_or(shift, |most| shift.min(most));
        let is_legal = self.least.is_none_or(|least| shift >= least);
        let longest = (low + shift).abs().max((high + shift).abs());
        (is_legal && longest <= LARGEST).then_some(shift)
    }
}

/// Joins two bands of as many members: for each, what to add to the second one's rows.
///
/// `between` are the edges between both, and whether they lead to the second one. Nothing if
/// that needs other rows, loses a parallel member or takes pairs far apart.
pub(super) fn aligned(
    graph: &Graph,
    between: &[(&Edge, bool)],
    first: Side,
    second: Side,
) -> Result<Option<Vec<i128>>, Error> {
    let (a, b) = (first.rows, second.rows);
    let count = a.coincident.len();
    let many = first.statements.len() + second.statements.len() > FEW;
    let fits = many && b.coincident == a.coincident && a.permutable && b.permutable;
    if !fits || !a.close || !b.close {
        return Ok(None);
    }
    let mut shifts = Vec::new();
    for member in 0..count {
        let Some(shift) = shift(graph, between, member, first, second)? else { return Ok(None) };
        shifts.push(shift);
    }
    Ok(Some(shifts))
}

/// Finds what to add to a member of the second cluster; nothing if no constant does.
fn shift(
    graph: &Graph,
    between: &[(&Edge, bool)],
    member: usize,
    first: Side,
    second: Side,
) -> Result<Option<i128>, Error> {
    let joined = first.rows.coincident[member];
    let mut limits = Shift::default();
    for (edge, forwards) in between {
        let (from, to) = if *forwards { (first, second) } else { (second, first) };
        let rows = from.row(edge.from, member).zip(to.row(edge.to, member));
        let Some((from, to)) = rows else { return Ok(None) };
        for line in &edge.generators.lines {
            if distance(graph, edge, line, from, to)? != 0 {
                return Ok(None);
            }
        }
        for ray in &edge.generators.rays {
            let distance = distance(graph, edge, ray, from, to)?;
            if ray[0] == 0 {
                // A distance that grows is no constant: another row may do better.
                if distance != 0 {
                    return Ok(None);
                }
                continue;
            }
            let exact = joined && edge.kinds.coincidence;
            let whole = distance % ray[0] == 0;
            if exact && !whole {
                return Ok(None);
            }
            // The least shift that keeps a pair forwards, or the greatest for one back.
            let floor = distance.div_euclid(ray[0]);
            let limit = if *forwards { -floor } else { floor };
            if exact || (*forwards && edge.kinds.validity) {
                limits.least = Some(limits.least.map_or(limit, |old| old.max(limit)));
            }
            if exact || (!*forwards && edge.kinds.validity) {
                limits.most = Some(limits.most.map_or(limit, |old| old.min(limit)));
            }
            if edge.kinds.proximity {
                // From the first cluster to the second one, whichever way the pairs go.
                let limit = -limit;
                limits.low = Some(limits.low.map_or(limit, |old| old.min(limit)));
                limits.high = Some(limits.high.map_or(limit, |old| old.max(limit)));
            }
        }
    }
    Ok(limits.chosen())
}

/// Returns the distance between both ends of an edge at a generator.
fn distance(graph: &Graph, edge: &Edge, at: &[i128], from: &Row, to: &Row) -> Result<i128, Error> {
    let shared = 1 + graph.params.len();
    let split = shared + graph.statements[edge.from].dims;
    let value = |row: &Row, own: &[i128]| -> Result<i128, Error> {
        let sum = dot(&row[..shared], &at[..shared])?.checked_add(dot(&row[shared..], own)?);
        Ok(sum.ok_or(tangram_presburger::Error::Overflow)?)
    };
    let apart = value(to, &at[split..])?.checked_sub(value(from, &at[shared..split])?);
    Ok(apart.ok_or(tangram_presburger::Error::Overflow)?)
}
