//! Which statements share a band.

use std::collections::HashSet;

use super::align::{Side, aligned};
use super::band::{Part, Rows, Wanted};
use super::components::ordered;
use super::graph::Graph;
use super::{Error, Fusion, Options};
use tangram_presburger::Budget;

/// Statements and the rows of the band that they share.
#[derive(Debug, Clone)]
pub(super) struct Cluster {
    pub statements: Vec<usize>,
    pub rows: Option<Rows>,
}

/// Splits statements into groups without pairs between them.
pub(super) fn independent(graph: &Graph, statements: &[usize], edges: &[usize]) -> Vec<Vec<usize>> {
    let both = |arrow: (usize, usize)| [arrow, (arrow.1, arrow.0)];
    let arrows: Vec<_> =
        arrows(graph, statements, edges, false).into_iter().flat_map(both).collect();
    grouped(statements, &arrows)
}

/// Pairs of positions in `statements`.
fn arrows(
    graph: &Graph,
    statements: &[usize],
    edges: &[usize],
    valid: bool,
) -> Vec<(usize, usize)> {
    let at = |statement| statements.iter().position(|s| *s == statement);
    edges
        .iter()
        .map(|edge| &graph.edges[*edge])
        .filter(|edge| !valid || edge.kinds.validity)
        .filter_map(|edge| Some((at(edge.from)?, at(edge.to)?)))
        .collect()
}

fn grouped(statements: &[usize], arrows: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let named = |group: Vec<usize>| group.into_iter().map(|at| statements[at]).collect();
    ordered(statements.len(), arrows).into_iter().map(named).collect()
}

/// Returns the pairs whose ends are both in a group.
pub(super) fn within(graph: &Graph, statements: &[usize], edges: &[usize]) -> Vec<usize> {
    let inside = |statement| statements.contains(&statement);
    let edge = |edge: &&usize| {
        let edge = &graph.edges[**edge];
        inside(edge.from) && inside(edge.to)
    };
    edges.iter().filter(edge).copied().collect()
}

/// The clusters of connected statements, in an order in which they can run.
pub(super) struct Clusters<'a> {
    pub graph: &'a Graph,
    pub edges: &'a [usize],
    pub options: &'a Options,
    pub budget: &'a Budget,
}

impl Clusters<'_> {
    pub fn of(&self, statements: &[usize]) -> Result<Vec<Cluster>, Error> {
        let arrows = arrows(self.graph, statements, self.edges, true);
        let components = grouped(statements, &arrows);
        if self.options.fusion == Fusion::Max && components.len() > 1 {
            let mut all = statements.to_vec();
            all.sort_unstable();
            if let Some(rows) = self.part(&all, |part| part.permutable(Wanted::default()))? {
                return Ok(vec![Cluster { statements: all, rows: Some(rows) }]);
            }
        }
        let mut clusters = Vec::new();
        for statements in components {
            let rows = self.part(&statements, |part| part.rows())?;
            clusters.push(Cluster { statements, rows });
        }
        if self.options.fusion != Fusion::None {
            let mut refused = HashSet::new();
            while self.merge(&mut clusters, &mut refused)? {}
        }
        Ok(clusters)
    }

    fn part(
        &self,
        statements: &[usize],
        find: impl Fn(&Part) -> Result<Option<Rows>, Error>,
    ) -> Result<Option<Rows>, Error> {
        let edges = within(self.graph, statements, self.edges);
        let (graph, options, budget) = (self.graph, self.options, self.budget);
        find(&Part { graph, statements, edges: &edges, options, budget })
    }

    /// Merges the first pair of clusters, in order, that gains by it.
    ///
    /// `refused` holds the statements of pairs that do not: what others merge changes nothing
    /// for them, and a band for a pair is solved once.
    fn merge(
        &self,
        clusters: &mut Vec<Cluster>,
        refused: &mut HashSet<[Vec<usize>; 2]>,
    ) -> Result<bool, Error> {
        for second in 1..clusters.len() {
            for first in (0..second).rev() {
                if !self.may_merge(clusters, first, second) {
                    continue;
                }
                let (a, b) = (&clusters[first], &clusters[second]);
                let pair = [a.statements.clone(), b.statements.clone()];
                if refused.contains(&pair) {
                    continue;
                }
                let mut statements = pair.concat();
                statements.sort_unstable();
                let aligned = match (&a.rows, &b.rows) {
                    (Some(first), Some(second)) => {
                        let first = Side { statements: &a.statements, rows: first };
                        let second = Side { statements: &b.statements, rows: second };
                        aligned(self.graph, self.edges, first, second)?
                    }
                    _ => None,
                };
                let rows = match aligned {
                    Some(rows) => Some(rows),
                    None => {
                        let parallel = [&a.rows, &b.rows].into_iter().flatten().map(parallel);
                        let parallel = parallel.max().unwrap_or(0);
                        let wanted = Wanted { close: true, parallel };
                        self.part(&statements, |part| part.permutable(wanted))?
                    }
                };
                let gains = |rows: &Rows| {
                    let parts = [&a.rows, &b.rows];
                    let keeps =
                        |part: &&Option<Rows>| part.as_ref().is_some_and(|part| !loses(rows, part));
                    rows.close && parts.iter().all(keeps)
                };
                let Some(rows) = rows.filter(gains) else {
                    refused.insert(pair);
                    continue;
                };
                clusters[second] = Cluster { statements, rows: Some(rows) };
                // What runs between the two and needs the first moves behind, the rest before.
                clusters.remove(first);
                self.sort(clusters);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether two clusters are near each other, and no third has to run between them.
    fn may_merge(&self, clusters: &[Cluster], first: usize, second: usize) -> bool {
        let (a, b) = (&clusters[first].statements, &clusters[second].statements);
        let permutable = |c: &Cluster| c.rows.as_ref().is_some_and(|rows| rows.permutable);
        if !permutable(&clusters[first]) || !permutable(&clusters[second]) {
            return false;
        }
        let edges = || self.edges.iter().map(|edge| &self.graph.edges[*edge]);
        let near = edges().any(|edge| {
            let (from, to) = (edge.from, edge.to);
            edge.kinds.proximity
                && ((a.contains(&from) && b.contains(&to))
                    || (b.contains(&from) && a.contains(&to)))
        });
        if !near {
            return false;
        }
        // Clusters are in order, so a path from the first to the second stays between them.
        let mut reached = vec![false; clusters.len()];
        reached[first] = true;
        for middle in first + 1..second {
            let members = &clusters[middle].statements;
            reached[middle] = edges().any(|edge| {
                let from = clusters[first..middle]
                    .iter()
                    .zip(&reached[first..middle])
                    .any(|(cluster, reached)| *reached && cluster.statements.contains(&edge.from));
                edge.kinds.validity && from && members.contains(&edge.to)
            });
        }
        !edges().any(|edge| {
            let from = clusters[first + 1..second]
                .iter()
                .zip(&reached[first + 1..second])
                .any(|(cluster, reached)| *reached && cluster.statements.contains(&edge.from));
            edge.kinds.validity && from && b.contains(&edge.to)
        })
    }

    /// Restores an order in which clusters can run.
    fn sort(&self, clusters: &mut Vec<Cluster>) {
        let of = |statement| clusters.iter().position(|c| c.statements.contains(&statement));
        let valid = self.edges.iter().map(|edge| &self.graph.edges[*edge]);
        let arrows: Vec<(usize, usize)> = valid
            .filter(|edge| edge.kinds.validity)
            .filter_map(|edge| Some((of(edge.from)?, of(edge.to)?)))
            .collect();
        // Merging keeps clusters free of cycles: each is a component of its own.
        let order = ordered(clusters.len(), &arrows).into_iter().flatten();
        *clusters = order.map(|at| clusters[at].clone()).collect();
    }
}

fn parallel(rows: &Rows) -> usize {
    rows.coincident.iter().filter(|flag| **flag).count()
}

/// Whether a merged band has fewer parallel or permutable members than one of its parts.
fn loses(merged: &Rows, part: &Rows) -> bool {
    merged.coincident.len() < part.coincident.len()
        || parallel(merged) < parallel(part)
        || (part.coincident[0] && !merged.coincident[0])
}
