//! Inputs, operations and constants as the page shows them.

use rustc_hash::FxHashMap;
use serde::Serialize;
use tangram_dialects::constant::attr_tensor;
use tangram_ir::{Module, Op, Order, Value, walk};
use tangram_onnx::Model;

use super::Named;
use super::marks::Mark;
use super::rules::{Fate, fates};
use super::statistics::Statistics;
use crate::cost;
use crate::picture::{Nodes, operator, type_text};
use crate::steps::Node;

/// How many operations of regions an item lists.
const MAX_INNER: usize = 200;

/// An input of the graph, or an operation.
#[derive(Default, Serialize)]
pub(super) struct Item {
    /// The operator; nothing for an input.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) operator: String,
    /// The name of the node.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) name: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    attributes: Vec<(String, String)>,
    /// What it reads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reads: Vec<Read>,
    /// What it makes.
    pub(super) makes: Vec<Made>,
    /// Arithmetic operations and bytes moved, where extents are known; symbols are taken to be
    /// small.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<(f64, f64)>,
    /// Microseconds of a run, where it was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<f64>,
    /// What rules do at it.
    #[serde(skip_serializing_if = "Option::is_none")]
    rules: Option<Fate>,
    /// The first operations of its regions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    inner: Vec<String>,
    /// How it stands to the other model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mark: Option<Mark>,
}

/// What an item reads: a result of another, or a constant.
#[derive(Serialize)]
#[serde(untagged)]
enum Read {
    /// The item, and which of its results.
    Item(usize, usize),
    Weight {
        weight: usize,
    },
    /// An operand that is left out.
    Absent(()),
}

/// A value that an item makes.
#[derive(Serialize)]
pub(super) struct Made(pub(super) String, String);

/// A constant.
#[derive(Serialize)]
pub(super) struct Weight {
    name: String,
    #[serde(rename = "type")]
    ty: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    statistics: Option<Statistics>,
}

/// The items of a model, in the order of its graph, and its constants.
pub(super) fn items(of: Named<'_>) -> (Vec<Item>, Vec<Weight>) {
    let model = of.model;
    let (module, Some(block)) = (&model.module, model.graph()) else {
        return (Vec::new(), Vec::new());
    };
    let nodes = Nodes::of(model);
    let all: Vec<Op> = module.ops(block).filter(|&op| nodes.is_box(module, op)).collect();
    let mut made: FxHashMap<Value, (usize, usize)> = FxHashMap::default();
    for (at, value) in module.args(block).iter().enumerate() {
        made.insert(*value, (at, 0));
    }
    let inputs = module.args(block).len();
    for (at, &op) in all.iter().enumerate() {
        made.extend(module.results(op).enumerate().map(|(i, value)| (value, (inputs + at, i))));
    }
    let mut constants = Constants { module, weights: Vec::new(), numbers: FxHashMap::default() };
    let mut items: Vec<Item> = module
        .args(block)
        .iter()
        .map(|&arg| Item { makes: vec![port(module, arg)], ..Item::default() })
        .collect();
    let fates = of.report.map(fates).unwrap_or_default();
    for &op in &all {
        let reads = nodes.reads(module, block, op).into_iter();
        let reads = reads.map(|value| constants.read(&made, value)).collect();
        let item = plain(model, &nodes, op);
        let time = of.times.and_then(|times| times.of(&item.name));
        items.push(Item { reads, time, rules: fate(&fates, &nodes, op), ..item });
    }
    (items, constants.weights)
}

/// What rules did at the operations of a box.
fn fate(fates: &FxHashMap<u32, Fate>, nodes: &Nodes, op: Op) -> Option<Fate> {
    let mut all: Option<Fate> = None;
    for member in nodes.members(op) {
        if let Some(own) = fates.get(&member.as_u32()) {
            all.get_or_insert_default().extend(own);
        }
    }
    all
}

/// A node without what it reads.
fn plain(model: &Model, nodes: &Nodes, op: Op) -> Item {
    let module = &model.module;
    let costs = nodes.members(op).map(|member| cost::of_op(module, member));
    let attributes = nodes.members(op).flat_map(|member| Node::of(module, member).attributes);
    Item {
        operator: operator(model, op).to_owned(),
        name: model.node_name(op).unwrap_or_default().to_owned(),
        attributes: attributes.collect(),
        makes: module.results(op).map(|value| port(module, value)).collect(),
        cost: costs.reduce(|a, b| a.zip(b).map(|(a, b)| (a.0 + b.0, a.1 + b.1))).flatten(),
        inner: inner(module, op),
        ..Item::default()
    }
}

fn inner(module: &Module, op: Op) -> Vec<String> {
    if module.regions(op).is_empty() {
        return Vec::new();
    }
    let all = walk(module, op, Order::Pre).into_iter().filter(|&inner| inner != op);
    let line = |inner| {
        let node = Node::brief(module, inner);
        let read: Vec<&str> = node.operands.iter().map(|port| port.name.as_str()).collect();
        format!("{} = {}({})", node.result_names(), node.operation, read.join(", "))
    };
    all.take(MAX_INNER).map(line).collect()
}

fn port(module: &Module, value: Value) -> Made {
    let name = module.value_name(value).map_or("", |name| module.context().text(name));
    Made(name.to_owned(), type_text(module, value))
}

/// The constants that were met, each once.
struct Constants<'m> {
    module: &'m Module,
    weights: Vec<Weight>,
    numbers: FxHashMap<Value, usize>,
}

impl Constants<'_> {
    fn read(&mut self, made: &FxHashMap<Value, (usize, usize)>, value: Value) -> Read {
        if let Some(&(item, result)) = made.get(&value) {
            return Read::Item(item, result);
        }
        let constant = self.module.def_op(value);
        match constant.filter(|&op| self.module.name_text(op) == "nn.constant") {
            None => Read::Absent(()),
            Some(op) => Read::Weight { weight: self.number(value, op) },
        }
    }

    fn number(&mut self, value: Value, op: Op) -> usize {
        if let Some(&number) = self.numbers.get(&value) {
            return number;
        }
        let Made(name, ty) = port(self.module, value);
        let held = self.module.attr(op, "value");
        let held =
            held.and_then(|attr| attr_tensor(self.module, attr, self.module.value_type(value)));
        let statistics = held.and_then(|tensor| Statistics::of(&tensor));
        self.weights.push(Weight { name, ty, statistics });
        self.numbers.insert(value, self.weights.len() - 1);
        self.weights.len() - 1
    }
}
