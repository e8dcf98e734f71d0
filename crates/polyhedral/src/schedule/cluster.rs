//! Which statements share a band.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};

use super::align::{Side, aligned};
use super::band::{Part, Rows, Wanted};
use super::components::ordered;
use super::graph::{Edge, Graph, Row};
use super::places::Places;
use super::{Error, Fusion, Options};
use tangram_presburger::Budget;

/// Statements and the rows of the band that they share.
#[derive(Debug, Clone, Default)]
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
    let places: Places<usize> =
        statements.iter().enumerate().map(|(at, statement)| (*statement, at)).collect();
    let at = |statement| places.get(statement).copied();
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
    let known: Places<()> = statements.iter().map(|statement| (*statement, ())).collect();
    let inside = |statement| known.get(statement).is_some();
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
    /// `refused` holds pairs that do not: what others merge changes nothing for them, and a band
    /// for a pair is solved once. Takes time in proportion to clusters and edges, beside the
    /// programs it solves.
    fn merge(
        &self,
        clusters: &mut Vec<Cluster>,
        refused: &mut HashSet<[Mark; 2]>,
    ) -> Result<bool, Error> {
        let links = self.links(clusters);
        let near = links.iter().filter(|link| link.edge.kinds.proximity);
        let near: BTreeSet<_> =
            near.map(|link| (link.from.max(link.to), Reverse(link.from.min(link.to)))).collect();
        for (second, Reverse(first)) in near {
            let pair = [&clusters[first], &clusters[second]];
            let marks = pair.map(Cluster::mark);
            let permutable = |c: &Cluster| c.rows.as_ref().is_some_and(|rows| rows.permutable);
            if !pair.into_iter().all(permutable)
                || refused.contains(&marks)
                || has_between(&links, first, second, clusters.len())
            {
                continue;
            }
            let merged = match self.shifts(&links, first, second, clusters)? {
                Some(shifts) => {
                    let pair = [first, second].map(|at| std::mem::take(&mut clusters[at]));
                    side_by_side(pair, &shifts)?
                }
                None => match self.solved(pair)? {
                    Some(merged) => merged,
                    None => {
                        refused.insert(marks);
                        continue;
                    }
                },
            };
            clusters[second] = merged;
            // What runs between the two and needs the first moves behind, the rest before.
            clusters.remove(first);
            self.sort(clusters);
            return Ok(true);
        }
        Ok(false)
    }

    /// Finds what to add to the rows of the second of two clusters, so that both are one band.
    fn shifts(
        &self,
        links: &[Link],
        first: usize,
        second: usize,
        clusters: &[Cluster],
    ) -> Result<Option<Vec<i128>>, Error> {
        let between = links.iter().filter_map(|link| match (link.from, link.to) {
            (from, to) if (from, to) == (first, second) => Some((link.edge, true)),
            (from, to) if (from, to) == (second, first) => Some((link.edge, false)),
            _ => None,
        });
        let (Some(first), Some(second)) = (clusters[first].side(), clusters[second].side()) else {
            return Ok(None);
        };
        aligned(self.graph, &between.collect::<Vec<_>>(), first, second)
    }

    /// Solves for a band of two clusters that neither loses by.
    fn solved(&self, pair: [&Cluster; 2]) -> Result<Option<Cluster>, Error> {
        let mut statements = pair.map(|cluster| &cluster.statements[..]).concat();
        statements.sort_unstable();
        let parts = || pair.into_iter().filter_map(|cluster| cluster.rows.as_ref());
        let wanted =
            Wanted { close: true, parallel: parts().map(parallel).max().unwrap_or_default() };
        let rows = self.part(&statements, |part| part.permutable(wanted))?;
        let gains = |rows: &Rows| rows.close && parts().all(|part| !loses(rows, part));
        Ok(rows.filter(gains).map(|rows| Cluster { statements, rows: Some(rows) }))
    }

    /// Lists the edges between different clusters, by where they lead.
    fn links(&self, clusters: &[Cluster]) -> Vec<Link<'_>> {
        let members = clusters.iter().enumerate();
        let place: Places<usize> = members
            .flat_map(|(at, cluster)| cluster.statements.iter().map(move |one| (*one, at)))
            .collect();
        let edges = self.edges.iter().map(|edge| &self.graph.edges[*edge]);
        let mut links: Vec<Link> = edges
            .filter_map(|edge| {
                let (from, to) = place.get(edge.from).copied().zip(place.get(edge.to).copied())?;
                (from != to).then_some(Link { edge, from, to })
            })
            .collect();
        links.sort_by_key(|link| link.to);
        links
    }

    /// Restores an order in which clusters can run.
    fn sort(&self, clusters: &mut Vec<Cluster>) {
        let links = self.links(clusters);
        let arrows: Vec<(usize, usize)> = links
            .iter()
            .filter(|link| link.edge.kinds.validity)
            .map(|link| (link.from, link.to))
            .collect();
        if arrows.iter().all(|(from, to)| from < to) {
            return;
        }
        // Merging keeps clusters free of cycles: each is a component of its own.
        let order = ordered(clusters.len(), &arrows).into_iter().flatten();
        *clusters = order.map(|at| std::mem::take(&mut clusters[at])).collect();
    }
}

/// Tells clusters apart: a statement, and how many there are, as clusters only grow.
type Mark = (usize, usize);

impl Cluster {
    fn mark(&self) -> Mark {
        (self.statements.first().copied().unwrap_or_default(), self.statements.len())
    }

    fn side(&self) -> Option<Side<'_>> {
        Some(Side { statements: &self.statements, rows: self.rows.as_ref()? })
    }
}

/// An edge from one cluster to another one, by their positions.
struct Link<'a> {
    edge: &'a Edge,
    from: usize,
    to: usize,
}

/// Returns whether a third cluster has to run between two of them.
///
/// Clusters are in an order in which they can run, so a path from one to the other stays between
/// them; links are in the order of where they lead, so that what leads to a cluster comes before
/// what leads on from it.
fn has_between(links: &[Link], first: usize, second: usize, clusters: usize) -> bool {
    let mut reached = vec![false; clusters];
    let inside = |link: &&Link| {
        link.edge.kinds.validity && first <= link.from && link.from < link.to && link.to <= second
    };
    for link in links.iter().filter(inside) {
        let thence = link.from == first || reached[link.from];
        if thence && link.to == second && link.from != first {
            return true;
        }
        reached[link.to] |= thence;
    }
    false
}

/// Joins the bands of two clusters, of which the second is shifted.
fn side_by_side(pair: [Cluster; 2], shifts: &[i128]) -> Result<Cluster, Error> {
    let [first, mut second] = pair;
    let (Some(one), Some(two)) = (first.rows, &mut second.rows) else {
        return Err(Error::Unschedulable);
    };
    for rows in &mut two.of {
        for (row, shift) in rows.iter_mut().zip(shifts) {
            row[0] = row[0].checked_add(*shift).ok_or(tangram_presburger::Error::Overflow)?;
        }
    }
    let two = std::mem::take(&mut two.of);
    let mut all: Vec<(usize, Vec<Row>)> = [first.statements, second.statements]
        .concat()
        .into_iter()
        .zip(one.of.into_iter().chain(two))
        .collect();
    all.sort_by_key(|(statement, _)| *statement);
    let (statements, of) = all.into_iter().unzip();
    Ok(Cluster { statements, rows: Some(Rows { of, ..one }) })
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
