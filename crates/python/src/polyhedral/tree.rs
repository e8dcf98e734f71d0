//! Schedule trees.

use pyo3::prelude::*;
use tangram::presburger::{Relation, Union};
use tangram_polyhedral::{Node, NodeKind, ScheduleTree};

use super::run;
use crate::presburger::PyUnion;

/// The schedule of each member of a band and whether it is coincident; whether the band is
/// permutable; the options of code generation.
type Band = (Vec<(PyUnion, bool)>, bool, PyUnion);

/// A schedule tree; its nodes have numbers.
#[pyclass(frozen, name = "ScheduleTree", module = "tangram._native")]
pub(crate) struct PyTree(pub(super) ScheduleTree);

impl PyTree {
    /// Our own Python code asks for nodes of the tree alone; others are the root.
    fn node(&self, index: usize) -> Node {
        self.0.nodes().nth(index).unwrap_or_else(|| self.0.root())
    }
}

fn single(relation: &Relation) -> Option<PyUnion> {
    Some(PyUnion(relation.clone().into()))
}

#[pymethods]
impl PyTree {
    #[new]
    fn new(python: Python<'_>, text: &str) -> PyResult<Self> {
        run(python, |budget| {
            let tree = ScheduleTree::parse(text, budget)?;
            tree.check(budget)?;
            Ok(tree)
        })
        .map(Self)
    }

    /// A tree of instances that run in no order.
    #[staticmethod]
    fn of_domain(domain: &PyUnion) -> Self {
        let mut tree = ScheduleTree::new(NodeKind::Domain(domain.0.clone()));
        tree.close();
        Self(tree)
    }

    /// The tree of a map of instances to points in time.
    #[staticmethod]
    fn of_map(python: Python<'_>, map: &PyUnion) -> PyResult<Self> {
        run(python, |budget| ScheduleTree::from_map(&map.0, budget)).map(Self)
    }

    /// Several trees under one node that orders them, or leaves their order open.
    #[staticmethod]
    fn joined(
        python: Python<'_>,
        trees: Vec<PyRef<'_, Self>>,
        in_sequence: bool,
    ) -> PyResult<Self> {
        let trees: Vec<ScheduleTree> = trees.iter().map(|tree| tree.0.clone()).collect();
        run(python, |budget| match in_sequence {
            true => ScheduleTree::in_sequence(&trees, budget),
            false => ScheduleTree::in_set(&trees, budget),
        })
        .map(Self)
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn svg(&self) -> String {
        self.0.to_svg()
    }

    fn domain(&self, python: Python<'_>) -> PyResult<PyUnion> {
        let root = self.0.root();
        let first = self.0.children(root).next();
        match (self.0.kind(root), first) {
            (NodeKind::Domain(domain), _) => Ok(PyUnion(domain.clone())),
            (_, Some(child)) => run(python, |budget| self.0.active(child, budget)).map(PyUnion),
            _ => Ok(PyUnion(Union::empty())),
        }
    }

    fn to_map(&self, python: Python<'_>) -> PyResult<PyUnion> {
        run(python, |budget| self.0.to_map(budget)).map(PyUnion)
    }

    /// The name of what a node is.
    fn kind(&self, node: usize) -> &'static str {
        self.0.kind(self.node(node)).name()
    }

    fn parent(&self, node: usize) -> Option<usize> {
        self.0.parent(self.node(node)).map(Node::index)
    }

    fn children(&self, node: usize) -> Vec<usize> {
        self.0.children(self.node(node)).map(Node::index).collect()
    }

    /// The instances that reach a node.
    fn active(&self, python: Python<'_>, node: usize) -> PyResult<PyUnion> {
        run(python, |budget| self.0.active(self.node(node), budget)).map(PyUnion)
    }

    /// The set or relation of a node: of a domain, filter, context, guard, extension, expansion.
    fn union(&self, node: usize) -> Option<PyUnion> {
        match self.0.kind(self.node(node)) {
            NodeKind::Domain(union) | NodeKind::Filter(union) | NodeKind::Extension(union) => {
                Some(PyUnion(union.clone()))
            }
            NodeKind::Expansion { expansion, .. } => Some(PyUnion(expansion.clone())),
            NodeKind::Context(set) | NodeKind::Guard(set) => single(set),
            _ => None,
        }
    }

    /// From new instances of an expansion to those that they replace.
    fn contraction(&self, node: usize) -> Option<PyUnion> {
        match self.0.kind(self.node(node)) {
            NodeKind::Expansion { contraction, .. } => Some(PyUnion(contraction.clone())),
            _ => None,
        }
    }

    fn mark(&self, node: usize) -> Option<String> {
        match self.0.kind(self.node(node)) {
            NodeKind::Mark(name) => Some(name.clone()),
            _ => None,
        }
    }

    fn band(&self, node: usize) -> Option<Band> {
        let NodeKind::Band(band) = self.0.kind(self.node(node)) else { return None };
        let members = band.members.iter();
        let members = members.map(|one| (PyUnion(one.schedule.clone()), one.coincident)).collect();
        Some((members, band.permutable, PyUnion(band.options.clone())))
    }
}
