//! Choosing a program: the cheapest term of the terminator's class, shared parts paid once.
//!
//! Three ways, each no worse than the one before: greedy; local search, where all results of an
//! operation with several may be chosen together (a merge pays only if everyone takes part); and
//! an integer program within a time limit. The function as it was is always a candidate.
//!
//! Operations that are one kernel are one choice beside the choices of each ([`joined`](crate::joined)).

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use tangram_dialects::constant;
use tangram_egraph::Id;
use tangram_egraph::choices::{Choices, Selection};
use tangram_ir::{Block, Module, Op, Traits, Value};
use tangram_rewrite::constant_bytes;

use crate::Config;
use crate::cost::CostModel;
use crate::graph::{Graph, is_pure};
use crate::joined::Witnesses;
use crate::report::Extraction;

/// How many changes local search tries for each e-node.
const CHANGES_PER_NODE: usize = 2;
const MAX_CHANGES: usize = 20_000;
/// How many classes are looked at to tell what changes cost.
const MOST_LOOKS: usize = 1 << 26;
/// How much an operation on weights costs, as a share of starting a kernel: it is folded away.
const FOLDED_SHARE: f64 = 1e-3;

/// What a byte of a constant costs, in seconds, where the constants of what is chosen take too much:
/// from what it takes to read it up to more than any operation that it may save.
const BYTE_PRICES: [f64; 4] = [1e-10, 3e-9, 1e-7, 1e-3];

/// What a choice stands for.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    /// A witness, by number.
    Operation(usize),
    /// An argument, or one of several results.
    Value(Value),
    /// Several that are one kernel.
    Joined(Witnesses),
}

/// An e-graph as choices.
pub(crate) struct Problem {
    choices: Choices,
    pub nodes: Vec<Node>,
    classes: FxHashMap<Id, usize>,
    root: usize,
    original: Selection,
    /// For each operation with several results: its choice, and those of its results.
    groups: Vec<(usize, SmallVec<[usize; 4]>)>,
    /// For each choice the bytes of the constant that it is.
    held: Vec<f64>,
}

/// The outcome.
pub(crate) struct Chosen {
    pub selection: Selection,
    /// The chosen classes, children first.
    pub order: Vec<usize>,
    pub costs: Extraction,
}

impl Chosen {
    /// Returns whether the result is cheaper than the function.
    pub fn improves(&self) -> bool {
        self.costs.best < self.costs.before * (1.0 - 1e-9)
    }
}

impl Problem {
    /// Reads the e-nodes with their costs; `module` is the function as it was.
    pub fn new(module: &Module, graph: &Graph, cost: &CostModel) -> Self {
        let mut problem = Self {
            choices: Choices::default(),
            nodes: Vec::new(),
            classes: FxHashMap::default(),
            root: 0,
            original: Selection::default(),
            groups: Vec::new(),
            held: Vec::new(),
        };
        let mut first_original: Vec<(usize, usize)> = Vec::new();
        for &arg in graph.module.args(graph.block) {
            let Some(id) = graph.id(arg) else { continue };
            let choice = problem.push(graph, id, &[], 0.0, Node::Value(arg));
            first_original.push((problem.choices.nodes[choice].class, choice));
        }
        let folds = weights(graph);
        for (number, witness) in graph.witnesses.iter().enumerate() {
            let price = match folds[number] {
                _ if witness.fixed || is_leaf(&graph.module, witness.op) => 0.0,
                true => cost.launch_seconds * FOLDED_SHARE,
                false => cost.alone(&graph.module, witness.op),
            };
            let original = witness.fixed || graph.is_original(witness.op);
            let node = Node::Operation(number);
            let choice = problem.push(graph, witness.id, &witness.children, price, node);
            let mut made: SmallVec<[usize; 4]> = SmallVec::new();
            if graph.module.result_count(witness.op) != 1 {
                for value in graph.module.results(witness.op) {
                    let Some(id) = graph.id(value) else { continue };
                    made.push(problem.push(graph, id, &[witness.id], 0.0, Node::Value(value)));
                }
            }
            if original {
                let all = std::iter::once(choice).chain(made.iter().copied());
                first_original.extend(all.map(|c| (problem.choices.nodes[c].class, c)));
            }
            if !made.is_empty() && !witness.fixed {
                problem.groups.push((choice, made));
            }
            if witness.op == graph.terminator {
                problem.root = problem.choices.nodes[choice].class;
            }
        }
        let joined = problem.join(module, (graph, &folds), cost);
        first_original.splice(0..0, joined);
        problem.original.chosen = vec![None; problem.choices.classes.len()];
        for (class, choice) in first_original {
            problem.original.chosen[class].get_or_insert(choice);
        }
        problem
    }

    pub(crate) fn push(
        &mut self,
        graph: &Graph,
        id: Id,
        kids: &[Id],
        cost: f64,
        node: Node,
    ) -> usize {
        let class = self.number(graph, id);
        let kids: Vec<usize> = kids.iter().map(|&kid| self.number(graph, kid)).collect();
        let cost = if cost.is_finite() { cost } else { f64::MAX / 1e9 };
        self.held.push(match node {
            Node::Operation(number) => {
                constant_bytes(&graph.module, graph.witnesses[number].op) as f64
            }
            Node::Value(_) | Node::Joined(_) => 0.0,
        });
        self.nodes.push(node);
        self.choices.push(class, cost, kids).expect("the cost is finite")
    }

    fn number(&mut self, graph: &Graph, id: Id) -> usize {
        let next = self.choices.classes.len();
        let class = *self.classes.entry(graph.egraph.find(id)).or_insert(next);
        if class == next {
            self.choices.classes.push(Vec::new());
        }
        class
    }

    /// The class that a choice is for.
    pub(crate) fn class_of(&self, choice: usize) -> usize {
        self.choices.nodes[choice].class
    }

    /// The number of the class of `id`.
    pub fn class(&self, graph: &Graph, id: Id) -> Option<usize> {
        self.classes.get(&graph.egraph.find(id)).copied()
    }

    /// Chooses a program without regard to what constants take; `before` is what the function
    /// costs.
    fn cheapest(&self, before: f64, config: &Config) -> Chosen {
        let roots = [self.root];
        let cost = |selection: &Selection| {
            self.choices.dag_cost(selection, &roots).unwrap_or(f64::INFINITY)
        };
        let greedy = self.choices.greedy();
        let mut best = self.original.clone();
        let mut costs = Extraction { before, greedy: cost(&greedy), ..Extraction::default() };
        // What the function has, and elsewhere what is cheapest.
        let mut start = greedy.clone();
        for (at, choice) in self.original.chosen.iter().enumerate() {
            start.chosen[at] = choice.or(start.chosen[at]);
        }
        costs.local = cost(&best);
        for start in [self.original.clone(), greedy, start] {
            let found = self.local(start, config);
            if cost(&found) < costs.local {
                costs.local = cost(&found);
                best = found;
            }
        }
        costs.best = costs.local;
        let time = config.left().map_or(config.exact_time, |left| left.min(config.exact_time));
        let small = self.choices.nodes.len() <= config.exact_nodes && !time.is_zero();
        if small && let Some(exact) = self.choices.exact(&best, &roots, time) {
            costs.bound = Some(exact.bound);
            if exact.cost < costs.best {
                costs.best = exact.cost;
                best = exact.selection;
            }
        }
        let order = self.choices.reach(&best, &roots).unwrap_or_default();
        Chosen { selection: best, order, costs }
    }

    /// Chooses a program whose constants take at most `room` bytes more than those of the function,
    /// which costs `before`.
    pub fn solve(&mut self, before: f64, room: f64, config: &Config) -> Chosen {
        let mut chosen = self.cheapest(before, config);
        let own = self.bytes(&self.original);
        let most = own + room;
        let costs: Vec<f64> = self.choices.nodes.iter().map(|node| node.cost).collect();
        for price in BYTE_PRICES {
            if self.bytes(&chosen.selection) <= most || config.is_over() {
                break;
            }
            for ((node, cost), held) in self.choices.nodes.iter_mut().zip(&costs).zip(&self.held) {
                node.cost = cost + price * held;
            }
            chosen = self.cheapest(before + price * own, config);
        }
        for (node, cost) in self.choices.nodes.iter_mut().zip(costs) {
            node.cost = cost;
        }
        if self.bytes(&chosen.selection) > most {
            chosen.selection = self.original.clone();
        }
        chosen.costs.before = before;
        chosen.costs.best =
            self.choices.dag_cost(&chosen.selection, &[self.root]).unwrap_or(before);
        chosen
    }

    /// The bytes of the constants that a selection has.
    fn bytes(&self, selection: &Selection) -> f64 {
        let reached = self.choices.reach(selection, &[self.root]).unwrap_or_default();
        let chosen = reached.into_iter().filter_map(|class| selection.chosen[class]);
        chosen.map(|choice| self.held[choice]).sum()
    }

    fn local(&self, start: Selection, config: &Config) -> Selection {
        let roots = [self.root];
        let changes = (self.choices.nodes.len() * CHANGES_PER_NODE).min(MAX_CHANGES);
        let mut best = start;
        while !config.is_over()
            && let Some(before) = self.choices.dag_cost(&best, &roots)
        {
            best = self.choices.improve(&self.together(best, config), &roots, changes);
            let after = self.choices.dag_cost(&best, &roots).unwrap_or(before);
            if after >= before * (1.0 - 1e-9) {
                break;
            }
        }
        best
    }

    /// Tries for each operation with several results to take all of them from it.
    fn together(&self, start: Selection, config: &Config) -> Selection {
        let roots = [self.root];
        let mut best = start;
        let Some(mut cost) = self.choices.dag_cost(&best, &roots) else { return best };
        // Each takes a look at all that is chosen.
        let each = best.chosen.len().max(1);
        for (operation, results) in self.groups.iter().take(MOST_LOOKS / each) {
            if config.is_over() {
                break;
            }
            let class = |choice: usize| self.choices.nodes[choice].class;
            let mut tried = best.clone();
            tried.chosen[class(*operation)] = Some(*operation);
            for &result in results {
                tried.chosen[class(result)] = Some(result);
            }
            match self.choices.dag_cost(&tried, &roots) {
                Some(found) if found < cost => (best, cost) = (tried, found),
                _ => {}
            }
        }
        best
    }
}

/// Estimates the seconds of the operations that may be chosen anew, where those on constants are
/// taken to be folded.
pub(crate) fn function_cost(module: &Module, block: Block, cost: &CostModel) -> f64 {
    let mut folded: FxHashSet<Value> = FxHashSet::default();
    let mut total = 0.0;
    for op in module.ops(block).filter(|op| is_pure(module, *op)) {
        let inner = module.operand_count(op) > 0
            && module.operands(op).all(|value| folded.contains(&value));
        if is_leaf(module, op) || inner {
            folded.extend(module.results(op));
            total += if inner { cost.launch_seconds * FOLDED_SHARE } else { 0.0 };
        } else {
            total += cost.seconds(module, op);
        }
    }
    total
}

/// Returns whether an operation is a constant, or stands for an absent operand.
fn is_leaf(module: &Module, op: Op) -> bool {
    let absent = |value| constant::is_none_type(module.context(), module.value_type(value));
    module.has_traits(op, Traits::CONSTANT_LIKE) || module.results(op).all(absent)
}

/// Says for each witness whether it depends on constants only, so that it is folded away.
fn weights(graph: &Graph) -> Vec<bool> {
    let module = &graph.module;
    let find = |id: &Id| graph.egraph.find(*id);
    let mut folds = vec![false; graph.witnesses.len()];
    let mut known: FxHashSet<Id> = FxHashSet::default();
    // How many children are not known yet, and who waits for a class.
    let mut open: Vec<usize> = Vec::with_capacity(graph.witnesses.len());
    let mut waiting: FxHashMap<Id, Vec<usize>> = FxHashMap::default();
    let mut ready = Vec::new();
    for (number, witness) in graph.witnesses.iter().enumerate() {
        open.push(witness.children.len());
        if witness.fixed {
            continue;
        }
        if is_leaf(module, witness.op) {
            ready.push(number);
            continue;
        }
        witness.children.iter().for_each(|id| waiting.entry(find(id)).or_default().push(number));
    }
    while let Some(number) = ready.pop() {
        let witness = &graph.witnesses[number];
        folds[number] = true;
        let values = module.results(witness.op).filter_map(|value| graph.class(value));
        for class in std::iter::once(find(&witness.id)).chain(values) {
            if !known.insert(class) {
                continue;
            }
            for above in waiting.remove(&class).unwrap_or_default() {
                open[above] -= 1;
                if open[above] == 0 {
                    ready.push(above);
                }
            }
        }
    }
    folds
}
