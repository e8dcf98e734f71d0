//! One set of coefficients for many statements.
//!
//! Statements that depend on each other all around a cycle advance together: where pairs are as
//! far apart everywhere, rows that differ in more than their constants would take some pair
//! further apart than another one brings together again. So a row for all of them has the
//! coefficients of one, the *base*, carried along the pairs:
//!
//! ```text
//! S[i, j] -> T[j, i]     S has row [a, b]     T has row [b, a]
//! ```
//!
//! # Source
//! A. Acharya, U. Bondhugula, A. Cohen, "Effective loop fusion in polyhedral compilation using
//! fusion conflict graphs" (2020), finds linear parts before shifts as well. Divergence: both are
//! found together here, by cuts.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

use super::Error;
use super::graph::{Edge, Graph};
use super::linear::echelon;

/// For a dimension of the base and one of a statement, how much of the coefficient is taken.
type Carried = Vec<Vec<i128>>;

/// Which coefficients of the base statements have.
#[derive(Debug, Clone)]
pub(super) struct Shared {
    pub base: usize,
    /// By statement.
    of: BTreeMap<usize, Carried>,
    /// Whether the pairs of each edge between two statements are equally far apart.
    pub exact: bool,
}

/// What an edge says about an unknown end.
struct OffsetEquation {
    carried: Carried,
    /// Whether every dimension of the known end is a function of those of the unknown one.
    is_full: bool,
}

impl Shared {
    /// Carries the coefficients of a statement with most dimensions to all others; nothing if
    /// they are not connected, or if whole numbers do not do.
    pub fn of(graph: &Graph, statements: &[usize], edges: &[usize]) -> Result<Option<Self>, Error> {
        let deepest = |a: &&usize, b: &&usize| {
            let dims = |s: usize| graph.statements[s].dims;
            dims(**a).cmp(&dims(**b)).then(b.cmp(a))
        };
        let Some(base) = statements.iter().max_by(deepest).copied() else { return Ok(None) };
        let dims = graph.statements[base].dims;
        let unit = |row| (0..dims).map(|col| i128::from(row == col)).collect();
        let of = BTreeMap::from([(base, (0..dims).map(unit).collect())]);
        let mut shared = Self { base, of, exact: true };
        let mut beside: BTreeMap<usize, Vec<&Edge>> = BTreeMap::new();
        for index in edges {
            let edge = &graph.edges[*index];
            beside.entry(edge.from).or_default().push(edge);
            beside.entry(edge.to).or_default().push(edge);
        }
        let mut open = VecDeque::from([base]);
        // Edges that say less wait until no other one leads on.
        let mut partial = VecDeque::new();
        loop {
            let Some(known) = open.pop_front() else {
                let Some((to, carried)) = partial.pop_front() else { break };
                shared.settle(to, carried, &mut open);
                continue;
            };
            for edge in beside.get(&known).into_iter().flatten() {
                let to = if edge.from == known { edge.to } else { edge.from };
                if shared.of.contains_key(&to) {
                    continue;
                }
                let Some(step) = shared.step(graph, edge, known)? else { continue };
                if step.is_full {
                    shared.settle(to, step.carried, &mut open);
                } else {
                    partial.push_back((to, step.carried));
                }
            }
        }
        if statements.iter().any(|statement| !shared.of.contains_key(statement)) {
            return Ok(None);
        }
        shared.exact = edges.iter().all(|edge| shared.is_uniform(graph, &graph.edges[*edge]));
        Ok(Some(shared))
    }

    /// Where a point of a statement is among those of the base.
    pub fn at_base(&self, statement: usize, at: &[i128]) -> Vec<i128> {
        let carried = self.of.get(&statement).into_iter().flatten();
        carried.map(|row| row.iter().zip(at).map(|(a, b)| a * b).sum()).collect()
    }

    /// The coefficients of a statement where the base has `row`.
    pub fn of_base(&self, statement: usize, row: &[i128]) -> Vec<i128> {
        let carried = self.of.get(&statement).map(Vec::as_slice).unwrap_or_default();
        let dims = carried.first().map_or(0, Vec::len);
        (0..dims)
            .map(|dim| carried.iter().zip(row).map(|(c, value)| c[dim] * value).sum())
            .collect()
    }

    fn settle(&mut self, statement: usize, mut carried: Carried, open: &mut VecDeque<usize>) {
        if let Entry::Vacant(place) = self.of.entry(statement) {
            complete(&mut carried);
            place.insert(carried);
            open.push_back(statement);
        }
    }

    /// Carries the coefficients of a known end over an edge; nothing if that takes fractions.
    fn step(
        &self,
        graph: &Graph,
        edge: &Edge,
        known: usize,
    ) -> Result<Option<OffsetEquation>, Error> {
        let to = if edge.from == known { edge.to } else { edge.from };
        let Some(base) = self.of.get(&known) else { return Ok(None) };
        let dims = graph.statements[to].dims;
        let functions = functions(graph, edge, known)?;
        let mut carried = vec![vec![0_i128; dims]; base.len()];
        let mut is_full = true;
        for (dim, function) in functions.into_iter().enumerate() {
            let Some(function) = function else {
                is_full = false;
                continue;
            };
            let Some(function) = function else { return Ok(None) };
            for (row, from) in carried.iter_mut().zip(base) {
                for (entry, value) in row.iter_mut().zip(&function) {
                    *entry += from[dim] * value;
                }
            }
        }
        Ok(Some(OffsetEquation { carried, is_full }))
    }

    /// Returns whether all pairs of an edge are equally far apart.
    fn is_uniform(&self, graph: &Graph, edge: &Edge) -> bool {
        if edge.from == edge.to {
            return true;
        }
        let split = 1 + graph.params.len();
        let middle = split + graph.statements[edge.from].dims;
        let apart = |at: &Vec<i128>| -> Vec<i128> {
            let from = self.at_base(edge.from, &at[split..middle]);
            let to = self.at_base(edge.to, &at[middle..]);
            to.iter().zip(from).map(|(to, from)| to - from).collect()
        };
        let mut vertices = edge.generators.rays.iter().filter(|ray| ray[0] != 0);
        let Some(first) = vertices.next() else { return true };
        let distance = apart(first);
        let others = edge.generators.rays.iter().chain(&edge.generators.lines);
        first[0] == 1
            && others.into_iter().all(|at| match at[0] {
                0 => apart(at).iter().all(|v| *v == 0),
                one => one == 1 && apart(at) == distance,
            })
    }
}

/// Gives dimensions that no edge speaks of those of the base that nothing else has, in order.
fn complete(carried: &mut Carried) {
    let dims = carried.first().map_or(0, Vec::len);
    for dim in 0..dims {
        if carried.iter().any(|row| row[dim] != 0) {
            continue;
        }
        if let Some(free) = carried.iter_mut().find(|row| row.iter().all(|v| *v == 0)) {
            free[dim] = 1;
        }
    }
}

/// For each dimension of the known end, its coefficients as a function of the other end: nothing
/// if it is none, nothing inside if it has fractions.
fn functions(
    graph: &Graph,
    edge: &Edge,
    known: usize,
) -> Result<Vec<Option<Option<Vec<i128>>>>, Error> {
    let split = 1 + graph.params.len();
    let middle = split + graph.statements[edge.from].dims;
    let end = middle + graph.statements[edge.to].dims;
    let (own, other) = if edge.from == known {
        (split..middle, middle..end)
    } else {
        (middle..end, split..middle)
    };
    let rows = edge.equalities();
    let cols = rows.first().map_or(end, Vec::len);
    // Divisions go first, what is asked for comes next.
    let leading = cols - end + own.len();
    let order: Vec<usize> = (end..cols).chain(own.clone()).chain(other.clone()).collect();
    let mut rows: Vec<Vec<i128>> =
        rows.iter().map(|row| order.iter().map(|col| row[*col]).collect()).collect();
    let pivots = echelon(&mut rows, leading)?;
    let mut found = vec![None; own.len()];
    for (row, pivot) in rows.iter().zip(pivots) {
        let Some(dim) = pivot.checked_sub(cols - end) else { continue };
        let (lead, is_alone) = (row[pivot], |(col, v): (usize, &i128)| col == pivot || *v == 0);
        if !row[..leading].iter().enumerate().all(is_alone) {
            continue;
        }
        let whole = row[leading..].iter().all(|v| v % lead == 0);
        found[dim] = Some(whole.then(|| row[leading..].iter().map(|v| -v / lead).collect()));
    }
    Ok(found)
}
