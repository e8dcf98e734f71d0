//! The operations of a graph as the nodes of its model.
//!
//! A node of a model may be several operations, such as a convolution and the sum with its bias. Who
//! looks at the model wants to see the node: the operation that gives its results stands for the
//! others, its parts.

use rustc_hash::FxHashMap;
use tangram_ir::{Block, Loc, Module, Op, Order, Value, walk};
use tangram_onnx::Model;

/// What stands for what in a block.
pub(crate) struct Nodes {
    /// For each part, the operation that stands for it.
    whole: FxHashMap<Op, Op>,
    /// The parts of an operation, in order.
    parts: FxHashMap<Op, Vec<Op>>,
}

impl Nodes {
    /// The nodes of the main graph. Linear in the graph.
    pub(crate) fn of(model: &Model) -> Nodes {
        let mut nodes = Nodes { whole: FxHashMap::default(), parts: FxHashMap::default() };
        let (module, Some(block)) = (&model.module, model.graph()) else { return nodes };
        let ops: Vec<Op> = module.ops(block).collect();
        // Users come behind what they use.
        for &op in ops.iter().rev() {
            let Some(user) = part_of(model, block, op) else { continue };
            let whole = nodes.whole.get(&user).copied().unwrap_or(user);
            nodes.whole.insert(op, whole);
        }
        for op in ops {
            if let Some(&whole) = nodes.whole.get(&op) {
                nodes.parts.entry(whole).or_default().push(op);
            }
        }
        nodes
    }

    /// Whether `op` has a box of its own.
    pub(crate) fn is_box(&self, module: &Module, op: Op) -> bool {
        let silent = matches!(module.name_text(op), "nn.constant" | "nn.none");
        !silent && !self.whole.contains_key(&op)
    }

    /// The parts of the node that `op` stands for, and `op`.
    pub(crate) fn members(&self, op: Op) -> impl Iterator<Item = Op> + '_ {
        self.parts.get(&op).into_iter().flatten().copied().chain([op])
    }

    /// What the node that `op` stands for reads from `block`: the operands of its parts that are none
    /// of their results, and what its regions capture.
    pub(crate) fn reads(&self, module: &Module, block: Block, op: Op) -> Vec<Value> {
        let inside = |value: Value| {
            module.def_op(value).is_some_and(|made| self.whole.get(&made) == Some(&op))
        };
        let operands = self.members(op).flat_map(|member| module.operands(member));
        let captured = self.members(op).flat_map(|member| captured(module, block, member));
        operands.chain(captured).filter(|&value| !inside(value)).collect()
    }
}

/// The operation whose node `op` is a part of: it comes from the same node of the file, and alone
/// uses what `op` gives.
fn part_of(model: &Model, block: Block, op: Op) -> Option<Op> {
    let module = &model.module;
    let loc = module.loc(op);
    if model.is_node(op) || loc == Loc::UNKNOWN || !module.regions(op).is_empty() {
        return None;
    }
    let mut users = module.results(op).flat_map(|value| module.uses(value)).map(|one| one.op);
    let user = users.next()?;
    let alone = users.all(|other| other == user);
    let same = module.block(user) == Some(block) && module.loc(user) == loc;
    (alone && same).then_some(user)
}

/// What the regions of an operation of `block` capture from it.
fn captured(module: &Module, block: Block, op: Op) -> Vec<Value> {
    if module.regions(op).is_empty() {
        return Vec::new();
    }
    let inner = walk(module, op, Order::Pre).into_iter().filter(|&inner| inner != op);
    let operands = inner.flat_map(|inner| module.operands(inner));
    operands.filter(|&value| module.def_block(value) == Some(block)).collect()
}
