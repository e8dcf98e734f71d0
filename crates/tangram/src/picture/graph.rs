//! What is drawn: boxes and the uses between them.

use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

use tangram_ir::{Block, Module, Op, Value};
use tangram_onnx::Model;

use super::repeat::{Repeat, Row, repeats};
use super::{Nodes, PictureError, View, name, operator, type_text};
use crate::steps::Node;

/// Boxes, and edges between them that go from an earlier box to a later one.
#[derive(Default)]
pub(super) struct Graph {
    pub(super) boxes: Vec<Label>,
    /// What each box stands for: the number of an input, or behind all inputs of an operation.
    pub(super) origins: Vec<usize>,
    pub(super) edges: Vec<(usize, usize)>,
    /// Blocks that stand for several equal ones.
    pub(super) frames: Vec<Frame>,
    /// What the picture says above itself.
    pub(super) note: Option<String>,
}

/// Boxes that are drawn once for several equal blocks.
pub(super) struct Frame {
    pub(super) boxes: Vec<usize>,
    pub(super) times: usize,
}

/// What stands in a box.
pub(super) struct Label {
    pub(super) title: String,
    /// The name of the node.
    pub(super) name: String,
    /// Its attributes.
    pub(super) detail: String,
    /// Its constant operands, with their types.
    pub(super) weights: String,
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
        let nodes = Nodes::of(model);
        let mut whole = Whole::of(module, block, &nodes);
        // Whoever asks for a place sees that very place.
        if view.fold && view.around.is_none() {
            whole = whole.folded(model, &nodes);
        }
        let kept = whole.nearest(&whole.centre(model, view)?, view.limit);
        let number: FxHashMap<usize, usize> =
            kept.iter().enumerate().map(|(new, &old)| (old, new)).collect();
        let mut graph = Graph { note: whole.note(view, kept.len()), ..Graph::default() };
        for &old in &kept {
            let mut label = label(model, &nodes, whole.items[old]);
            label.open = whole.near[old].iter().any(|other| !number.contains_key(other));
            graph.boxes.push(label);
            graph.origins.push(whole.origins[old]);
        }
        let edges = whole.edges.iter();
        graph.edges = edges.filter_map(|(a, b)| Some((*number.get(a)?, *number.get(b)?))).collect();
        for &(from, _) in &graph.edges {
            graph.boxes[from].read = true;
        }
        graph.frames = whole.frames(&number);
        Ok(graph)
    }
}

/// All of a model's graph, in its order.
#[derive(Default)]
struct Whole {
    items: Vec<Item>,
    /// The numbers that the items had before any were folded.
    origins: Vec<usize>,
    edges: Vec<(usize, usize)>,
    /// Users and operands of each item.
    near: Vec<Vec<usize>>,
    /// Blocks of which only the first is here.
    repeats: Vec<Repeat>,
    /// How many items those that are left out are.
    folded: usize,
}

impl Whole {
    fn of(module: &Module, block: Block, nodes: &Nodes) -> Whole {
        let inputs = module.args(block).iter().map(|&arg| Item::Input(arg));
        let ops = module.ops(block).filter(|&op| nodes.is_box(module, op)).map(Item::Op);
        let items: Vec<Item> = inputs.chain(ops).collect();
        let number: FxHashMap<Item, usize> =
            items.iter().enumerate().map(|(i, &item)| (item, i)).collect();
        let mut edges = Vec::new();
        for (to, item) in items.iter().enumerate() {
            let Item::Op(op) = *item else { continue };
            let made_by = |value| module.def_op(value).map_or(Item::Input(value), Item::Op);
            let from = nodes.reads(module, block, op).into_iter();
            let from = from.filter_map(|value| number.get(&made_by(value)).copied());
            edges.extend(from.filter(|&from| from < to).map(|from| (from, to)));
        }
        let origins = (0..items.len()).collect();
        Whole::joined(items, origins, edges)
    }

    /// A graph of these items; `edges` are in order of their second ends, and may be there twice.
    fn joined(items: Vec<Item>, origins: Vec<usize>, edges: Vec<(usize, usize)>) -> Whole {
        let mut near = vec![Vec::new(); items.len()];
        let mut whole = Whole { items, origins, edges, ..Whole::default() };
        let mut seen = FxHashSet::default();
        whole.edges.retain(|&edge| seen.insert(edge));
        for &(from, to) in &whole.edges {
            near[from].push(to);
            near[to].push(from);
        }
        Whole { near, ..whole }
    }

    /// The graph with one of several equal blocks that follow each other.
    fn folded(self, model: &Model, nodes: &Nodes) -> Whole {
        let repeats = repeats(&self.rows(model, nodes));
        if repeats.is_empty() {
            return self;
        }
        let mut partner: Vec<Option<usize>> = vec![None; self.items.len()];
        for repeat in &repeats {
            let end = repeat.first + repeat.length * repeat.times;
            (repeat.first..end).for_each(|item| partner[item] = repeat.partner(item));
        }
        // An input that only blocks read which are left out is left out with them.
        let alone = |item: usize| {
            let near = &self.near[item];
            !near.is_empty() && near.iter().all(|&other| partner[other].is_some())
        };
        let is_kept = |item: usize| match self.items[item] {
            Item::Input(_) => !alone(item),
            Item::Op(_) => partner[item].is_none(),
        };
        let kept: Vec<usize> = (0..self.items.len()).filter(|&item| is_kept(item)).collect();
        let number: FxHashMap<usize, usize> =
            kept.iter().enumerate().map(|(new, &old)| (old, new)).collect();
        let edges = self.edges.iter().filter_map(|&(from, to)| {
            let from = partner[from].unwrap_or(from);
            Some((*number.get(&from)?, *number.get(&to)?))
        });
        let moved = |repeat: &Repeat| Repeat { first: number[&repeat.first], ..*repeat };
        let items = kept.iter().map(|&old| self.items[old]).collect();
        let origins = kept.iter().map(|&old| self.origins[old]).collect();
        let whole = Whole::joined(items, origins, edges.collect());
        let folded = self.items.len() - kept.len();
        Whole { repeats: repeats.iter().map(moved).collect(), folded, ..whole }
    }

    /// What the search for equal blocks looks at.
    fn rows(&self, model: &Model, nodes: &Nodes) -> Vec<Row> {
        let text = |item: Item| {
            let label = label(model, nodes, item);
            match item {
                Item::Input(_) => label.gives,
                Item::Op(_) => format!("{}|{}|{}", label.title, label.detail, label.gives),
            }
        };
        let row = |&item: &Item| Row {
            text: text(item),
            reads: Vec::new(),
            input: matches!(item, Item::Input(_)),
        };
        let mut rows: Vec<Row> = self.items.iter().map(row).collect();
        for &(from, to) in &self.edges {
            rows[to].reads.push(from);
        }
        rows
    }

    /// The frames around what is drawn of the repeated blocks, by the numbers of the drawing.
    fn frames(&self, number: &FxHashMap<usize, usize>) -> Vec<Frame> {
        let frame = |repeat: &Repeat| {
            let items = repeat.first..repeat.first + repeat.length;
            let boxes: Vec<usize> = items.filter_map(|old| number.get(&old).copied()).collect();
            (!boxes.is_empty()).then_some(Frame { boxes, times: repeat.times })
        };
        self.repeats.iter().filter_map(frame).collect()
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
        let folded = (self.folded > 0).then(|| {
            format!("A frame stands for as many equal blocks; {} boxes are left out.", self.folded)
        });
        let cut = (kept < all).then(|| {
            format!(
                "{kept} of {all} operations: those nearest to {centre}. `around` and `limit` \
                 choose others; dashed boxes have neighbours that are left out."
            )
        });
        let notes: Vec<String> = folded.into_iter().chain(cut).collect();
        (!notes.is_empty()).then(|| notes.join(" "))
    }
}

fn label(model: &Model, nodes: &Nodes, item: Item) -> Label {
    let module = &model.module;
    let plain = Label {
        title: String::new(),
        name: String::new(),
        detail: String::new(),
        weights: String::new(),
        gives: String::new(),
        read: false,
        input: false,
        open: false,
    };
    match item {
        Item::Input(value) => {
            let title = name(module, value).to_owned();
            Label { title, gives: type_text(module, value), input: true, ..plain }
        }
        Item::Op(op) => {
            let types = module.results(op).map(|value| type_text(module, value));
            Label {
                title: operator(model, op).to_owned(),
                name: model.node_name(op).unwrap_or_default().to_owned(),
                detail: attributes(module, nodes, op),
                weights: weights(module, nodes, op),
                gives: types.collect::<Vec<_>>().join(", "),
                ..plain
            }
        }
    }
}

/// The constant operands of an operation: `conv1.weight float32[64, 3, 7, 7]`.
fn weights(module: &Module, nodes: &Nodes, op: Op) -> String {
    let is_constant = |value: &Value| {
        module.def_op(*value).is_some_and(|made| module.name_text(made) == "nn.constant")
    };
    let read = nodes.members(op).flat_map(|member| module.operands(member));
    let shown = read.filter(is_constant).map(|value| {
        format!("{} {}", name(module, value), type_text(module, value)).trim().to_owned()
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// The attributes of an operation on one line: `strides = [2, 2], padding = [1, 1]`.
fn attributes(module: &Module, nodes: &Nodes, op: Op) -> String {
    let shown = nodes.members(op).flat_map(|member| Node::of(module, member).attributes);
    shown.map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}
