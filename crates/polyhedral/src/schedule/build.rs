//! From bands to a schedule tree, from the root down.

use crate::Conjunction;
use tangram_presburger::{Budget, Relation, Space, Tuple, Union};

use super::band::Rows;
use super::cluster::{Clusters, independent, within};
use super::graph::{Graph, Row};
use super::places::Places;
use super::{Constraints, Error, Options};
use crate::{Band, Member, Node, NodeKind, ScheduleTree};

/// Statements that still have to be scheduled below a node.
struct Work {
    parent: Node,
    statements: Vec<usize>,
    edges: Vec<usize>,
    /// The band that was found for them on the way.
    rows: Option<Rows>,
}

/// Computes a schedule tree; whether it is legal is the caller's to check.
pub(super) fn tree(
    constraints: &Constraints,
    options: &Options,
    budget: &Budget,
) -> Result<ScheduleTree, Error> {
    let mut graph = Graph::new(constraints, budget)?;
    let mut tree = ScheduleTree::new(NodeKind::Domain(constraints.domain.clone()));
    let mut parent = tree.root();
    if let Some(context) = &constraints.context {
        parent = tree.add(parent, NodeKind::Context(context.clone()));
    }
    let statements = (0..graph.statements.len()).collect();
    let edges = (0..graph.edges.len()).collect();
    let mut open = vec![Work { parent, statements, edges, rows: None }];
    while let Some(work) = open.pop() {
        step(&mut graph, &mut tree, work, &mut open, options, budget)?;
    }
    tree.close();
    Ok(tree)
}

fn step(
    graph: &mut Graph,
    tree: &mut ScheduleTree,
    work: Work,
    open: &mut Vec<Work>,
    options: &Options,
    budget: &Budget,
) -> Result<(), Error> {
    let Work { parent, statements, edges, rows } = work;
    if let Some(rows) = rows {
        let node = tree.add(parent, NodeKind::Band(band(graph, &statements, &rows)?));
        let edges = apply(graph, &statements, &edges, &rows, budget)?;
        open.push(Work { parent: node, statements, edges, rows: None });
        return Ok(());
    }
    if is_done(graph, &statements, &edges)? {
        return Ok(());
    }
    let groups = independent(graph, &statements, &edges);
    if groups.len() > 1 {
        let node = tree.add(parent, NodeKind::Set);
        for statements in groups {
            let edges = within(graph, &statements, &edges);
            let parent = tree.add(node, filter(graph, &statements)?);
            open.push(Work { parent, statements, edges, rows: None });
        }
        return Ok(());
    }
    let clusters = Clusters { graph, edges: &edges, options, budget }.of(&statements)?;
    let several = clusters.len() > 1;
    let list = if several { tree.add(parent, NodeKind::Sequence) } else { parent };
    for cluster in clusters {
        let edges = within(graph, &cluster.statements, &edges);
        let parent =
            if several { tree.add(list, filter(graph, &cluster.statements)?) } else { list };
        if cluster.rows.is_none() && !is_done(graph, &cluster.statements, &edges)? {
            return Err(Error::Unschedulable);
        }
        let (statements, rows) = (cluster.statements, cluster.rows);
        open.push(Work { parent, statements, edges, rows });
    }
    Ok(())
}

/// Whether nothing is left to be ordered: one statement, all of whose instances differ.
fn is_done(graph: &Graph, statements: &[usize], edges: &[usize]) -> Result<bool, Error> {
    let [statement] = statements else { return Ok(statements.is_empty()) };
    let held = edges.iter().any(|edge| graph.edges[*edge].kinds.validity);
    let params = graph.params.len();
    Ok(!held && graph.statements[*statement].open_directions(&[], params)?.is_empty())
}

/// Adds rows to the statements; returns the pairs that run together in all of them.
fn apply(
    graph: &mut Graph,
    statements: &[usize],
    edges: &[usize],
    rows: &Rows,
    budget: &Budget,
) -> Result<Vec<usize>, Error> {
    let of: Places<&[Row]> =
        statements.iter().zip(&rows.of).map(|(statement, rows)| (*statement, &rows[..])).collect();
    let of = |statement| of.get(statement).copied().unwrap_or_default();
    let mut left = Vec::new();
    for index in edges {
        let edge = &graph.edges[*index];
        let pairs: Vec<(&Row, &Row)> = of(edge.from).iter().zip(of(edge.to)).collect();
        if let Some(edge) = graph.narrowed(edge, &pairs, budget)? {
            graph.edges[*index] = edge;
            left.push(*index);
        }
    }
    for (statement, rows) in statements.iter().zip(&rows.of) {
        graph.statements[*statement].rows.extend(rows.iter().cloned());
    }
    Ok(left)
}

fn filter(graph: &Graph, statements: &[usize]) -> Result<NodeKind, Error> {
    let spaces = statements.iter().map(|s| {
        let space = graph.statements[*s].set.space();
        Relation::universe(Space::set(Vec::new(), space.output.clone()))
    });
    Ok(NodeKind::Filter(Union::collect(spaces)?))
}

fn band(graph: &Graph, statements: &[usize], rows: &Rows) -> Result<Band, Error> {
    let mut members = Vec::new();
    for (member, coincident) in rows.coincident.iter().enumerate() {
        let mut pieces = Vec::new();
        for (statement, rows) in statements.iter().zip(&rows.of) {
            let tuple = graph.statements[*statement].set.space().output.clone();
            pieces.push(function(&graph.params, tuple, &rows[member])?);
        }
        members.push(Member { schedule: Union::collect(pieces)?, coincident: *coincident });
    }
    Ok(Band { members, permutable: rows.permutable, options: Union::empty() })
}

/// Makes the relation of instances to the value of a row; unused parameters are left out.
fn function(params: &[String], tuple: Tuple, row: &Row) -> Result<Relation, Error> {
    let used = |at: &usize| row[1 + at] != 0;
    let kept: Vec<usize> = (0..params.len()).filter(used).collect();
    let mut equation = vec![row[0]];
    equation.extend(kept.iter().map(|at| row[1 + at]));
    equation.extend_from_slice(&row[1 + params.len()..]);
    equation.push(-1);
    let params = kept.iter().map(|at| params[*at].clone()).collect();
    let space = Space::map(params, tuple, Tuple::anonymous(1));
    let part = Conjunction { equalities: vec![equation], ..Conjunction::default() };
    Ok(Relation::from_conjunctions(space, &[part])?)
}
