//! Schedule trees in Python: reading, transforming, generating code.

use pyo3::prelude::*;
use tangram::presburger::{Relation, Space, Tuple, Union};
use tangram_polyhedral::representation::Form;
use tangram_polyhedral::transform::{Editor, STEPS, Script};
use tangram_polyhedral::{Band as TreeBand, Member, Node, NodeKind, ScheduleTree};

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

/// A node to make: its parent, its kind, its sets or relations, flags of a band (the first one
/// says whether it is permutable), the name of a mark.
type Described<'a> = (usize, String, Vec<PyRef<'a, PyUnion>>, Vec<bool>, String);

/// Our own Python code asks for forms that there are.
fn form_of(name: &str) -> Form {
    Form::ALL.iter().find(|(known, _)| *known == name).map_or(Form::Map, |(_, form)| *form)
}

fn described(nodes: &[Described<'_>]) -> ScheduleTree {
    let mut tree: Option<ScheduleTree> = None;
    let mut handles: Vec<Node> = Vec::new();
    for (parent, kind, unions, flags, name) in nodes {
        let kind = kind_of(kind, unions, flags, name);
        let handle = match &mut tree {
            Some(tree) => {
                let parent = handles.get(*parent).copied().unwrap_or_else(|| tree.root());
                tree.add(parent, kind)
            }
            None => tree.insert(ScheduleTree::new(kind)).root(),
        };
        handles.push(handle);
    }
    let mut tree = tree.unwrap_or_else(|| ScheduleTree::new(NodeKind::Leaf));
    tree.close();
    tree
}

fn kind_of(kind: &str, unions: &[PyRef<'_, PyUnion>], flags: &[bool], name: &str) -> NodeKind {
    let union = |at: usize| unions.get(at).map_or_else(Union::empty, |union| union.0.clone());
    let set = || {
        let nothing = || Relation::universe(Space::set(Vec::new(), Tuple::anonymous(0)));
        union(0).single().ok().cloned().unwrap_or_else(nothing)
    };
    match kind {
        "domain" => NodeKind::Domain(union(0)),
        "filter" => NodeKind::Filter(union(0)),
        "extension" => NodeKind::Extension(union(0)),
        "context" => NodeKind::Context(set()),
        "guard" => NodeKind::Guard(set()),
        "expansion" => NodeKind::Expansion { contraction: union(0), expansion: union(1) },
        "sequence" => NodeKind::Sequence,
        "set" => NodeKind::Set,
        "mark" => NodeKind::Mark(name.to_owned()),
        "band" => {
            let (options, members) = match unions {
                [options, members @ ..] => (options.0.clone(), members),
                [] => (Union::empty(), unions),
            };
            let member = |(at, schedule): (usize, &PyRef<'_, PyUnion>)| Member {
                schedule: schedule.0.clone(),
                coincident: flags.get(1 + at).copied().unwrap_or(false),
            };
            let members = members.iter().enumerate().map(member).collect();
            NodeKind::Band(TreeBand {
                members,
                permutable: flags.first().copied().unwrap_or(false),
                options,
            })
        }
        _ => NodeKind::Leaf,
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
        Self(ScheduleTree::from_domain(domain.0.clone()))
    }

    /// The tree of a map of instances to points in time.
    #[staticmethod]
    fn of_map(python: Python<'_>, map: &PyUnion) -> PyResult<Self> {
        run(python, |budget| ScheduleTree::from_map(&map.0, budget)).map(Self)
    }

    /// The tree of points in a form: `kelly`, `affine`...
    #[staticmethod]
    fn of_form(python: Python<'_>, form: &str, points: &PyUnion) -> PyResult<Self> {
        run(python, |budget| form_of(form).to_tree(&points.0, budget)).map(Self)
    }

    /// The names of forms.
    #[staticmethod]
    fn forms() -> Vec<&'static str> {
        Form::ALL.iter().map(|(name, _)| *name).collect()
    }

    /// The points of the tree in a form.
    fn to_form(&self, python: Python<'_>, form: &str) -> PyResult<PyUnion> {
        run(python, |budget| form_of(form).of_tree(&self.0, budget)).map(PyUnion)
    }

    /// Applies a script of steps from a node on; the tree that it makes, and where it ends.
    fn edited(
        &self,
        python: Python<'_>,
        node: usize,
        steps: &str,
        validity: &PyUnion,
        coincidence: &PyUnion,
    ) -> PyResult<(Self, usize)> {
        let (tree, node) = run(python, |budget| {
            let script = Script::parse(steps)?;
            let (validity, coincidence) = (validity.0.clone(), coincidence.0.clone());
            let mut editor =
                Editor::with_coincidence(self.0.clone(), validity, coincidence, budget)?;
            let last = script.apply(&mut editor, self.node(node))?;
            Ok((editor.finish()?, last.index()))
        })?;
        Ok((Self(tree), node))
    }

    /// The steps of scripts: their names, islpy's, and what they do.
    #[staticmethod]
    fn steps() -> Vec<(&'static str, &'static str, &'static str)> {
        STEPS.to_vec()
    }

    /// The tree of nodes, each with the position of its parent among those before it.
    #[staticmethod]
    fn of_nodes(python: Python<'_>, nodes: Vec<Described<'_>>) -> PyResult<Self> {
        let tree = described(&nodes);
        run(python, |budget| {
            let tree = tree.clone();
            tree.check(budget)?;
            Ok(tree)
        })
        .map(Self)
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
