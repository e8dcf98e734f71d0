//! Local functions of a model in the place of their calls.
//!
//! ```text
//! y = local.Scale(x) {factor = 2}     Scale(a) {factor}: b = Constant {value_float = @factor}
//!                                                        c = Mul(a, b)
//! becomes  Scale_0/b = Constant {value_float = 2};  y = Mul(x, Scale_0/b)
//! ```
//!
//! A function refers to operator sets of its own. One whose operators mean something else in the
//! versions that the model uses stays as it is, with its calls; so does one that no call reaches
//! any more, but that is not kept: nobody needs it.

use rustc_hash::{FxHashMap, FxHashSet};

use super::EditError;
use super::names::Names;
use crate::proto::{
    AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto,
};
use crate::schema::{Found, find, knows_domain};

/// Domain, name and overload: what a call names.
type Key = (String, String, String);

/// Puts the bodies of all functions of `model` in the place of their calls; returns which stay, and
/// why.
pub(super) fn inline(model: &mut ModelProto) -> Result<Vec<String>, EditError> {
    let all = std::mem::take(&mut model.functions);
    let functions: FxHashMap<Key, FunctionProto> =
        all.iter().map(|f| (key(f.domain(), f.name(), f.overload()), f.clone())).collect();
    bounded(&functions)?;
    let mut versions = versions(&model.opset_import);
    let mut kept = FxHashMap::default();
    for function in &all {
        match adopt(function, &versions) {
            Ok(new) => {
                for (domain, version) in new {
                    let set =
                        OperatorSetIdProto { domain: Some(domain.clone()), version: Some(version) };
                    model.opset_import.push(set);
                    versions.insert(domain, version);
                }
            }
            Err(why) => {
                let name = key(function.domain(), function.name(), function.overload());
                kept.insert(name, format!("function `{}` stays: {why}", function.name()));
            }
        }
    }
    let mut inliner = Inliner { functions: &functions, kept: &kept, names: Names::default() };
    if let Some(graph) = &mut model.graph {
        inliner.names.take(graph);
        inliner.graph(graph);
    }
    model.functions = called(model.graph.as_ref(), all);
    let is_there = |f: &&FunctionProto| kept.contains_key(&key(f.domain(), f.name(), f.overload()));
    let stay = model.functions.iter().filter(is_there);
    Ok(stay.map(|f| kept[&key(f.domain(), f.name(), f.overload())].clone()).collect())
}

/// Makes `functions` refer to version `version` of ONNX's own operator set, those in which every
/// operator means the same there; returns the names of the others.
pub(crate) fn refer_to(functions: &mut [FunctionProto], version: i64) -> Vec<String> {
    let mut others = Vec::new();
    for function in functions {
        let own = function.opset_import.iter_mut().find(|set| plain(set.domain()).is_empty());
        let Some(set) = own else { continue };
        let of_set = |node: &&NodeProto| plain(node.domain()).is_empty();
        let same = |node: &NodeProto| means_the_same("", node.op_type(), set.version(), version);
        if all_nodes(&function.node).into_iter().filter(of_set).all(same) {
            set.version = Some(version);
        } else {
            others.push(function.name().to_owned());
        }
    }
    others
}

/// ONNX's own domain has two names.
fn plain(domain: &str) -> &str {
    if domain == "ai.onnx" { "" } else { domain }
}

fn key(domain: &str, name: &str, overload: &str) -> Key {
    (plain(domain).to_owned(), name.to_owned(), overload.to_owned())
}

fn call_key(node: &NodeProto) -> Key {
    key(node.domain(), node.op_type(), node.overload())
}

fn versions(sets: &[OperatorSetIdProto]) -> FxHashMap<String, i64> {
    sets.iter().map(|set| (plain(set.domain()).to_owned(), set.version())).collect()
}

/// The operator sets that the model has to name for the body of `function` to stand in it; or why
/// the body would mean something else there.
fn adopt(
    function: &FunctionProto,
    model: &FxHashMap<String, i64>,
) -> Result<Vec<(String, i64)>, String> {
    let own = versions(&function.opset_import);
    let mut new = Vec::new();
    for (domain, &version) in &own {
        match model.get(domain) {
            None => new.push((domain.clone(), version)),
            Some(&used) if used == version => {}
            Some(&used) => {
                let other = |node: &&NodeProto| {
                    plain(node.domain()) == domain
                        && !means_the_same(domain, node.op_type(), version, used)
                };
                if let Some(node) = all_nodes(&function.node).iter().find(|n| other(n)) {
                    let operator = node.op_type();
                    return Err(format!(
                        "its `{operator}` is that of version {version} of the operator set, and \
                         the model uses version {used}"
                    ));
                }
            }
        }
    }
    Ok(new)
}

/// Whether an operator is the same in both versions of its operator set.
fn means_the_same(domain: &str, operator: &str, a: i64, b: i64) -> bool {
    let since = |version| match find(domain, operator, version) {
        Found::Schema(schema) => Some(schema.since),
        _ => None,
    };
    knows_domain(domain) && since(a).is_some() && since(a) == since(b)
}

/// The nodes, and those of the graphs in their attributes.
fn all_nodes(nodes: &[NodeProto]) -> Vec<&NodeProto> {
    let mut found: Vec<&NodeProto> = nodes.iter().collect();
    let mut at = 0;
    while let Some(node) = found.get(at).copied() {
        for attribute in &node.attribute {
            let graphs = attribute.g.as_deref().into_iter().chain(&attribute.graphs);
            found.extend(graphs.flat_map(|graph| &graph.node));
        }
        at += 1;
    }
    found
}

/// The most nodes that calls may become.
const MAX_NODES: u64 = 1 << 24;
/// How deep calls may lie within functions.
const MAX_DEPTH: u32 = 256;

/// How many nodes a call becomes, and how deep calls lie in it.
#[derive(Clone, Copy, Default)]
struct Extent {
    nodes: u64,
    depth: u32,
}

/// Refuses functions that call themselves, over whatever others, and more than can be written.
fn bounded(functions: &FxHashMap<Key, FunctionProto>) -> Result<(), EditError> {
    let mut done: FxHashMap<&Key, Extent> = FxHashMap::default();
    for start in functions.keys() {
        let mut open: Vec<(&Key, Vec<&Key>)> = vec![(start, callees(functions, start))];
        while let Some((name, next)) = open.last_mut() {
            let Some(callee) = next.pop() else {
                let name = *name;
                let extent = extent(functions, name, &done);
                if extent.nodes > MAX_NODES || extent.depth > MAX_DEPTH {
                    return Err(EditError::TooMany(name.1.clone()));
                }
                done.insert(name, extent);
                open.pop();
                continue;
            };
            if open.iter().any(|(name, _)| *name == callee) {
                return Err(EditError::Recursive(callee.1.clone()));
            }
            if !done.contains_key(callee) {
                open.push((callee, callees(functions, callee)));
            }
        }
    }
    Ok(())
}

fn extent(
    functions: &FxHashMap<Key, FunctionProto>,
    name: &Key,
    done: &FxHashMap<&Key, Extent>,
) -> Extent {
    let own = functions.get(name).map_or(0, |function| function.node.len() as u64);
    let start = Extent { nodes: own, depth: 1 };
    callees(functions, name).into_iter().fold(start, |sum, callee| {
        let inner = done.get(callee).copied().unwrap_or_default();
        Extent {
            nodes: sum.nodes.saturating_add(inner.nodes),
            depth: sum.depth.max(inner.depth + 1),
        }
    })
}

fn callees<'f>(functions: &'f FxHashMap<Key, FunctionProto>, of: &Key) -> Vec<&'f Key> {
    let nodes = functions.get(of).map_or(&[][..], |function| &function.node);
    let called = all_nodes(nodes).into_iter().map(call_key);
    called.filter_map(|name| Some(functions.get_key_value(&name)?.0)).collect()
}

/// Those of `functions` that are called, from the graph or from each other.
fn called(graph: Option<&GraphProto>, functions: Vec<FunctionProto>) -> Vec<FunctionProto> {
    let keys =
        |nodes: &[NodeProto]| -> Vec<Key> { all_nodes(nodes).into_iter().map(call_key).collect() };
    let mut open: Vec<Key> = graph.map_or_else(Vec::new, |graph| keys(&graph.node));
    let mut needed: FxHashSet<Key> = FxHashSet::default();
    while let Some(name) = open.pop() {
        let is = |f: &&FunctionProto| key(f.domain(), f.name(), f.overload()) == name;
        if let Some(function) = functions.iter().find(is)
            && needed.insert(name)
        {
            open.extend(keys(&function.node));
        }
    }
    let is_needed = |f: &FunctionProto| needed.contains(&key(f.domain(), f.name(), f.overload()));
    functions.into_iter().filter(is_needed).collect()
}

struct Inliner<'f> {
    functions: &'f FxHashMap<Key, FunctionProto>,
    kept: &'f FxHashMap<Key, String>,
    names: Names,
}

impl Inliner<'_> {
    fn graph(&mut self, graph: &mut GraphProto) {
        let mut nodes = Vec::with_capacity(graph.node.len());
        for node in std::mem::take(&mut graph.node) {
            self.node(node, &mut nodes);
        }
        graph.node = nodes;
    }

    /// Appends a node, or what it calls.
    fn node(&mut self, mut node: NodeProto, to: &mut Vec<NodeProto>) {
        let name = call_key(&node);
        if let Some(function) = self.functions.get(&name)
            && !self.kept.contains_key(&name)
        {
            for inner in self.expand(function, &node) {
                self.node(inner, to);
            }
            return;
        }
        for attribute in &mut node.attribute {
            attribute.g.as_deref_mut().into_iter().for_each(|graph| self.graph(graph));
            attribute.graphs.iter_mut().for_each(|graph| self.graph(graph));
        }
        to.push(node);
    }

    /// The body of `function` with the operands, results and attributes of `call`.
    fn expand(&mut self, function: &FunctionProto, call: &NodeProto) -> Vec<NodeProto> {
        let stem = if call.name().is_empty() { function.name() } else { call.name() }.to_owned();
        let mut body = Body { names: &mut self.names, values: FxHashMap::default(), call, stem };
        for (i, formal) in function.input.iter().enumerate() {
            let actual = call.input.get(i).cloned().unwrap_or_default();
            body.values.insert(formal.clone(), actual);
        }
        let mut copies = Vec::new();
        for (i, formal) in function.output.iter().enumerate() {
            let actual = call.output.get(i).filter(|name| !name.is_empty());
            let Some(actual) = actual else { continue };
            match body.values.get(formal) {
                // It is an input of the function as well, or another output.
                Some(known) => copies.push((known.clone(), actual.clone())),
                None => drop(body.values.insert(formal.clone(), actual.clone())),
            }
        }
        let mut nodes: Vec<NodeProto> =
            function.node.iter().map(|node| body.node(function, node)).collect();
        nodes.extend(copies.into_iter().map(|(from, to)| NodeProto {
            op_type: Some("Identity".into()),
            input: vec![from],
            output: vec![to],
            ..NodeProto::default()
        }));
        nodes
    }
}

/// The body of a function that is put in the place of a call.
struct Body<'a> {
    names: &'a mut Names,
    /// Names of the body's values in the graph of the call.
    values: FxHashMap<String, String>,
    call: &'a NodeProto,
    stem: String,
}

impl Body<'_> {
    fn value(&mut self, name: &str) -> String {
        if name.is_empty() {
            return String::new();
        }
        if let Some(known) = self.values.get(name) {
            return known.clone();
        }
        let fresh = self.names.fresh(format!("{}/{name}", self.stem));
        self.values.insert(name.to_owned(), fresh.clone());
        fresh
    }

    fn node(&mut self, function: &FunctionProto, node: &NodeProto) -> NodeProto {
        let mut made = node.clone();
        if !node.name().is_empty() {
            made.name = Some(format!("{}/{}", self.stem, node.name()));
        }
        made.input = node.input.iter().map(|name| self.value(name)).collect();
        made.output = node.output.iter().map(|name| self.value(name)).collect();
        let attributes = std::mem::take(&mut made.attribute).into_iter();
        made.attribute = attributes.filter_map(|a| self.attribute(function, a)).collect();
        made
    }

    /// An attribute of the body; none if it is one of the function that the call does not give.
    fn attribute(
        &mut self,
        function: &FunctionProto,
        mut attribute: AttributeProto,
    ) -> Option<AttributeProto> {
        if let Some(formal) = attribute.ref_attr_name.as_deref().filter(|name| !name.is_empty()) {
            let given = self.call.attribute.iter().find(|a| a.name() == formal);
            let default = || function.attribute_proto.iter().find(|a| a.name() == formal);
            let mut value = given.or_else(default)?.clone();
            value.name = attribute.name;
            return Some(value);
        }
        for graph in attribute.g.as_deref_mut().into_iter().chain(&mut attribute.graphs) {
            self.graph(function, graph);
        }
        Some(attribute)
    }

    fn graph(&mut self, function: &FunctionProto, graph: &mut GraphProto) {
        let infos = graph.input.iter_mut().chain(&mut graph.output).chain(&mut graph.value_info);
        for info in infos {
            info.name = Some(self.value(info.name()));
        }
        for tensor in &mut graph.initializer {
            tensor.name = Some(self.value(tensor.name()));
        }
        for values in graph.sparse_initializer.iter_mut().filter_map(|s| s.values.as_mut()) {
            values.name = Some(self.value(values.name()));
        }
        graph.node = graph.node.iter().map(|node| self.node(function, node)).collect();
    }
}
