//! Which node of one model is which of the other.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use rustc_hash::FxHashMap;
use tangram_onnx::file::{Elements, ExternalFiles, Loaded, tensor_bytes};
use tangram_onnx::proto::{NodeProto, TensorProto, encoded};

use super::Node;
use super::detail::hidden;
use super::node::is_constant;

/// Pairs of node numbers.
#[derive(Default)]
pub(super) struct Pairs {
    pub(super) same: Vec<(usize, usize)>,
    /// Those whose nodes differ, with what their lines do not show of that.
    pub(super) changed: Vec<(usize, usize, Vec<String>)>,
}

pub(super) fn pairs(a: &Loaded, b: &Loaded, left: &[Node], right: &[Node]) -> Pairs {
    let sides = [Side::of(a), Side::of(b)];
    let mut free = [vec![true; left.len()], vec![true; right.len()]];
    let mut pairs = Pairs::default();
    let forward = [sides[0].forward(), sides[1].forward()];
    pairs.same.extend(matched(&forward, &mut free));
    let backward = [sides[0].backward(), sides[1].backward()];
    pairs.same.extend(matched(&backward, &mut free));
    // What makes a value of the same name: the same node if it says the same, else a changed one.
    let mut by_name: FxHashMap<&str, usize> = FxHashMap::default();
    let open = right.iter().enumerate().filter(|(at, _)| free[1][*at]);
    by_name.extend(open.filter_map(|(at, node)| Some((node.outputs.first()?.as_str(), at))));
    for (x, node) in left.iter().enumerate() {
        let Some(&y) = node.outputs.first().and_then(|name| by_name.get(name.as_str())) else {
            continue;
        };
        if !free[0][x] || !free[1][y] {
            continue;
        }
        (free[0][x], free[1][y]) = (false, false);
        let other = |a: &str, b: &str| sides[0].given.get(a) != sides[1].given.get(b);
        let details = hidden(sides[0].nodes[x], sides[1].nodes[y], other);
        let alike = node == &right[y] && sides[0].local[x] == sides[1].local[y];
        match alike && details.is_empty() {
            true => pairs.same.push((x, y)),
            false => pairs.changed.push((x, y, details)),
        }
    }
    pairs
}

/// Pairs nodes of equal codes, in order.
fn matched(codes: &[Vec<u64>; 2], free: &mut [Vec<bool>; 2]) -> Vec<(usize, usize)> {
    let mut theirs: HashMap<u64, Vec<usize>> = HashMap::new();
    for (at, code) in codes[1].iter().enumerate().rev().filter(|(at, _)| free[1][*at]) {
        theirs.entry(*code).or_default().push(at);
    }
    let mut found = Vec::new();
    for (x, code) in codes[0].iter().enumerate() {
        if free[0][x]
            && let Some(y) = theirs.get_mut(code).and_then(Vec::pop)
        {
            (free[0][x], free[1][y]) = (false, false);
            found.push((x, y));
        }
    }
    found
}

/// One model, with a code for what each node says of itself.
struct Side<'a> {
    nodes: Vec<&'a NodeProto>,
    /// The code of operator and attributes.
    local: Vec<u64>,
    /// Codes of values that no node makes: inputs by name, weights by content.
    given: FxHashMap<&'a str, u64>,
    outputs: Vec<&'a str>,
}

fn code(of: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

impl<'a> Side<'a> {
    fn of(loaded: &'a Loaded) -> Side<'a> {
        let Loaded { model, files, .. } = loaded;
        let all = model.graph.iter().flat_map(|graph| &graph.node);
        let (constants, nodes): (Vec<&NodeProto>, Vec<&NodeProto>) =
            all.partition(|node| is_constant(node));
        let mut given = FxHashMap::default();
        for node in constants {
            let tensor = node.attribute.iter().find_map(|a| a.t.as_deref());
            let value = tensor.map_or_else(|| said(node), |tensor| content(tensor, files));
            given.extend(node.output.iter().map(|name| (name.as_str(), value)));
        }
        let inputs = model.graph.iter().flat_map(|graph| &graph.input);
        given.extend(inputs.map(|input| (input.name(), code(("input", input.name())))));
        let weights = model.graph.iter().flat_map(|graph| &graph.initializer);
        given.extend(weights.map(|tensor| (tensor.name(), content(tensor, files))));
        let outputs = model.graph.iter().flat_map(|graph| &graph.output).map(|o| o.name());
        let local = nodes.iter().map(|node| said(node)).collect();
        Side { outputs: outputs.collect(), nodes, local, given }
    }

    /// For each node the code of what it computes from the inputs.
    fn forward(&self) -> Vec<u64> {
        let mut values = self.given.clone();
        let mut codes = Vec::with_capacity(self.nodes.len());
        for (node, &local) in self.nodes.iter().zip(&self.local) {
            // Nodes stand in order; what is not made yet is told apart by its name.
            let value = |name: &String| values.get(name.as_str()).copied().unwrap_or(code(name));
            let takes: Vec<u64> = node.input.iter().map(value).collect();
            let of = code((local, takes, node.output.len()));
            for (at, name) in node.output.iter().enumerate() {
                values.insert(name, code((of, at)));
            }
            codes.push(of);
        }
        codes
    }

    /// For each node the code of what becomes of its values.
    fn backward(&self) -> Vec<u64> {
        let mut uses: FxHashMap<&str, Vec<u64>> = FxHashMap::default();
        for (at, name) in self.outputs.iter().enumerate() {
            uses.entry(name).or_default().push(code(("output", at)));
        }
        let mut codes = vec![0; self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate().rev() {
            let used = |name: &String| {
                let mut of = uses.get(name.as_str()).cloned().unwrap_or_default();
                of.sort_unstable();
                of
            };
            let becomes: Vec<Vec<u64>> = node.output.iter().map(used).collect();
            // Weights tell nodes apart whose other operands have changed.
            let weights: Vec<Option<u64>> =
                node.input.iter().map(|name| self.given.get(name.as_str()).copied()).collect();
            let of = code((self.local[at], becomes, weights));
            codes[at] = of;
            for (place, name) in node.input.iter().enumerate() {
                uses.entry(name).or_default().push(code((of, place)));
            }
        }
        codes
    }
}

/// The code of a node's operator and attributes.
fn said(node: &NodeProto) -> u64 {
    let mut attributes: Vec<Vec<u8>> = node.attribute.iter().map(encoded).collect();
    attributes.sort();
    let domain = if node.domain() == "ai.onnx" { "" } else { node.domain() };
    code((domain, node.op_type(), attributes))
}

/// The code of what a tensor holds, whatever its name, and wherever its elements lie.
fn content(tensor: &TensorProto, files: &ExternalFiles) -> u64 {
    match tensor_bytes(tensor, files) {
        Ok(read) => match &read.elements {
            Elements::Bytes(bytes) => code(("weight", &read.dims, tensor.data_type(), &bytes[..])),
            Elements::Strings(texts) => code(("texts", &read.dims, texts)),
        },
        Err(_) => {
            let unnamed = TensorProto { name: None, doc_string: None, ..tensor.clone() };
            code(("unread", encoded(&unnamed)))
        }
    }
}
