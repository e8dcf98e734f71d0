//! What is drawn: boxes and the uses between them.

use rustc_hash::FxHashMap;
use std::collections::VecDeque;

use tangram_ir::{Block, Module, Op, Value};
use tangram_onnx::Model;

use super::{PictureError, View, is_shown, name, reads, title, type_text};
use crate::steps::Node;

/// Boxes, and edges between them that go from an earlier box to a later one.
#[derive(Default)]
pub(super) struct Graph {
    pub(super) boxes: Vec<Label>,
    pub(super) edges: Vec<(usize, usize)>,
    /// What the picture says above itself.
    pub(super) note: Option<String>,
}

/// What stands in a box.
pub(super) struct Label {
    pub(super) title: String,
    /// Its attributes.
    pub(super) detail: String,
    /// The types of what it gives, which stand at the edges from it.
    pub(super) gives: String,
    /// Whether a box that is drawn reads it.
    pub(super) read: bool,
    /// Whether it is an input.
    pub(super) input: bool,
    /// Whether uses lead to what is left out.
    pub(super) open: bool,
}

/// What a box stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Item {
    Input(Value),
    Op(Op),
}

impl Graph {
    /// The part of `model` that `view` wants.
    pub(super) fn of(model: &Model, view: &View) -> Result<Graph, PictureError> {
        let Some(block) = model.graph() else { return Ok(Graph::default()) };
        let module = &model.module;
        let whole = Whole::of(module, block);
        let kept = whole.nearest(&whole.centre(model, view)?, view.limit);
        let number: FxHashMap<usize, usize> =
            kept.iter().enumerate().map(|(new, &old)| (old, new)).collect();
        let mut graph = Graph { note: whole.note(view, kept.len()), ..Graph::default() };
        for &old in &kept {
            let mut label = label(module, whole.items[old]);
            label.open = whole.near[old].iter().any(|other| !number.contains_key(other));
            graph.boxes.push(label);
        }
        let edges = whole.edges.iter();
        graph.edges = edges.filter_map(|(a, b)| Some((*number.get(a)?, *number.get(b)?))).collect();
        for &(from, _) in &graph.edges {
            graph.boxes[from].read = true;
        }
        Ok(graph)
    }
}

/// All of a model's graph, in its order.
struct Whole {
    items: Vec<Item>,
    edges: Vec<(usize, usize)>,
    /// Users and operands of each item.
    near: Vec<Vec<usize>>,
}

impl Whole {
    fn of(module: &Module, block: Block) -> Whole {
        let inputs = module.args(block).iter().map(|&arg| Item::Input(arg));
        let ops = module.ops(block).filter(|&op| is_shown(module, op)).map(Item::Op);
        let items: Vec<Item> = inputs.chain(ops).collect();
        let number: FxHashMap<Item, usize> =
            items.iter().enumerate().map(|(i, &item)| (item, i)).collect();
        let mut near = vec![Vec::new(); items.len()];
        let mut edges = Vec::new();
        for (to, item) in items.iter().enumerate() {
            let Item::Op(op) = *item else { continue };
            let made_by = |value| module.def_op(value).map_or(Item::Input(value), Item::Op);
            let mut from: Vec<usize> = reads(module, block, op)
                .into_iter()
                .filter_map(|value| number.get(&made_by(value)).copied())
                .filter(|&from| from < to)
                .collect();
            from.sort_unstable();
            from.dedup();
            for from in from {
                near[from].push(to);
                near[to].push(from);
                edges.push((from, to));
            }
        }
        Whole { items, edges, near }
    }

    /// The items that the drawing starts from.
    fn centre(&self, model: &Model, view: &View) -> Result<Vec<usize>, PictureError> {
        let module = &model.module;
        let all = 0..self.items.len();
        let Some(wanted) = &view.around else {
            let inputs: Vec<usize> =
                all.clone().filter(|&i| matches!(self.items[i], Item::Input(_))).collect();
            return Ok(if inputs.is_empty() { all.take(1).collect() } else { inputs });
        };
        let is_called = |item: Item| match item {
            Item::Input(value) => name(module, value) == wanted,
            Item::Op(op) => {
                model.node_name(op) == Some(wanted)
                    || module.results(op).any(|value| name(module, value) == wanted)
            }
        };
        let found: Vec<usize> = all.filter(|&i| is_called(self.items[i])).collect();
        if found.is_empty() { Err(PictureError::Unknown(wanted.clone())) } else { Ok(found) }
    }

    /// The `limit` items that are the fewest uses away from `centre`, in the order of the graph;
    /// what no use connects with it comes last.
    fn nearest(&self, centre: &[usize], limit: usize) -> Vec<usize> {
        let limit = limit.max(1);
        if self.items.len() <= limit {
            return (0..self.items.len()).collect();
        }
        let mut seen = vec![false; self.items.len()];
        let mut kept = Vec::new();
        let mut queue: VecDeque<usize> = centre.iter().copied().collect();
        let mut others = 0..self.items.len();
        while kept.len() < limit {
            let Some(item) = queue.pop_front().or_else(|| others.next()) else { break };
            if !std::mem::replace(&mut seen[item], true) {
                kept.push(item);
                queue.extend(&self.near[item]);
            }
        }
        kept.sort_unstable();
        kept
    }

    fn note(&self, view: &View, kept: usize) -> Option<String> {
        let all = self.items.len();
        let centre =
            view.around.as_ref().map_or("the inputs".to_owned(), |name| format!("`{name}`"));
        (kept < all).then(|| {
            format!(
                "{kept} of {all} operations: those nearest to {centre}. `around` and `limit` \
                 choose others; dashed boxes have neighbours that are left out."
            )
        })
    }
}

fn label(module: &Module, item: Item) -> Label {
    let (title, detail, gives, input) = match item {
        Item::Input(value) => {
            let named = name(module, value).to_owned();
            (named, String::new(), type_text(module, value), true)
        }
        Item::Op(op) => {
            let types: Vec<String> =
                module.results(op).map(|value| type_text(module, value)).collect();
            (title(module, op).to_owned(), attributes(module, op), types.join(", "), false)
        }
    };
    Label { title, detail, gives, read: false, input, open: false }
}

/// The attributes of an operation on one line: `strides = [2, 2], padding = [1, 1]`.
fn attributes(module: &Module, op: Op) -> String {
    let shown = Node::of(module, op).attributes.into_iter();
    shown.map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}
