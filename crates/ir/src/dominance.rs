//! Which block comes before which on every path.
//!
//! Block `a` *dominates* `b` of the same region if every path from the entry block to `b` goes
//! through `a`. The immediate dominators are found by the iteration of Cooper, Harvey and Kennedy
//! (*A Simple, Fast Dominance Algorithm*, 2001); numbering their tree makes each question O(1).

use crate::module::{Block, Module, Op, Region, Value, ValueDef};
use crate::op_def::Traits;
use crate::paged::Paged;

/// A block that the entry does not reach.
const UNREACHED: u32 = u32::MAX;

/// Dominance between the blocks of each region of a module, as it was when this was made.
pub struct Dominance {
    /// For each block, when a walk of its dominator tree enters and leaves it.
    spans: Paged<(u32, u32)>,
}

impl Dominance {
    /// Computes dominance in every region below `root`. O(blocks + edges) for reducible regions.
    pub fn new(module: &Module, root: Op) -> Dominance {
        let mut spans = Paged::new((UNREACHED, UNREACHED));
        let mut regions: Vec<Region> = module.regions(root).to_vec();
        while let Some(region) = regions.pop() {
            for block in module.blocks(region) {
                for op in module.ops(block) {
                    regions.extend_from_slice(module.regions(op));
                }
            }
            number_region(module, region, &mut spans);
        }
        Dominance { spans }
    }

    /// Returns whether control can reach `block` from the entry block of its region.
    pub fn is_reachable(&self, block: Block) -> bool {
        self.span(block).0 != UNREACHED
    }

    /// Returns whether `a` dominates `b`, a block of the same region; each block dominates itself.
    pub fn dominates(&self, a: Block, b: Block) -> bool {
        let (a, b) = (self.span(a), self.span(b));
        a.0 != UNREACHED && b.0 != UNREACHED && a.0 <= b.0 && b.1 <= a.1
    }

    /// Returns whether `value` is known wherever `op` runs: defined before it in the same block, in
    /// a block that dominates, or around it. Anything is known in code that is never reached, and
    /// order does not matter among the operations of a graph region.
    ///
    /// O(nesting depth).
    pub fn is_available(&self, module: &Module, value: Value, op: Op) -> bool {
        let Some(home) = module.def_block(value) else { return false };
        let Some(region) = module.block_region(home) else { return false };
        let Some((user, at)) = ancestor(module, region, op) else { return false };
        if is_graph(module, region) {
            return true;
        }
        if at != home {
            return !self.is_reachable(at) || self.dominates(home, at);
        }
        match module.value_def(value) {
            ValueDef::Arg(..) => true,
            ValueDef::Result(def, _) => {
                !self.is_reachable(at) || def != user && module.is_before(def, user)
            }
        }
    }

    fn span(&self, block: Block) -> (u32, u32) {
        self.spans.get(block.as_u32())
    }
}

/// Returns whether the operations of `region` stand in no order: those of an operation without
/// terminator, such as `builtin.module`, and, as far as is known, the only block of an operation
/// that is not registered: hardware and dataflow dialects have graphs there.
pub(crate) fn is_graph(module: &Module, region: Region) -> bool {
    let parent = module.region_parent(region);
    if module.def(parent).is_none() {
        let mut blocks = module.blocks(region);
        return blocks.next().is_some() && blocks.next().is_none();
    }
    module.has_traits(parent, Traits::NO_TERMINATOR)
        && !module.has_traits(parent, Traits::TERMINATOR)
}

/// The operation in `region` that is `op` or holds it, with its block.
fn ancestor(module: &Module, region: Region, op: Op) -> Option<(Op, Block)> {
    let mut at = op;
    loop {
        let block = module.block(at)?;
        if module.block_region(block) == Some(region) {
            return Some((at, block));
        }
        at = module.block_parent(block)?;
    }
}

/// The blocks that `block` may branch to.
fn targets(module: &Module, block: Block) -> &[Block] {
    module.last_op(block).map_or(&[], |op| module.successors(op))
}

/// A region whose reachable blocks have numbers in reverse post-order.
struct Graph {
    /// By number.
    blocks: Vec<Block>,
    preds: Vec<Vec<u32>>,
}

fn number_region(module: &Module, region: Region, spans: &mut Paged<(u32, u32)>) {
    let Some(entry) = module.first_block(region) else { return };
    if module.next_block(entry).is_none() {
        spans.set(entry.as_u32(), (0, 1));
        return;
    }
    let graph = Graph::new(module, region, entry);
    let idoms = graph.immediate_dominators();
    let mut children: Vec<Vec<u32>> = vec![Vec::new(); idoms.len()];
    for (node, &idom) in idoms.iter().enumerate().skip(1) {
        children[idom as usize].push(node as u32);
    }
    let mut clock = 0;
    let mut stack = vec![(0u32, 0usize)];
    while let Some((node, next)) = stack.pop() {
        let block = graph.blocks[node as usize].as_u32();
        let mut span = spans.get(block);
        if next == 0 {
            span.0 = clock;
        }
        clock += 1;
        match children[node as usize].get(next) {
            Some(&child) => stack.extend([(node, next + 1), (child, 0)]),
            None => span.1 = clock,
        }
        spans.set(block, span);
    }
}

impl Graph {
    fn new(module: &Module, region: Region, entry: Block) -> Graph {
        let mut numbers = rustc_hash::FxHashMap::default();
        let mut blocks = Vec::new();
        let mut stack = vec![(entry, 0usize)];
        numbers.insert(entry, 0u32);
        // Post-order, by a walk that remembers how many targets of a block it has taken.
        while let Some((block, next)) = stack.pop() {
            match targets(module, block).get(next) {
                None => blocks.push(block),
                Some(&target) => {
                    stack.push((block, next + 1));
                    let inside = module.block_region(target) == Some(region);
                    if inside && numbers.insert(target, 0).is_none() {
                        stack.push((target, 0));
                    }
                }
            }
        }
        blocks.reverse();
        for (i, &block) in blocks.iter().enumerate() {
            numbers.insert(block, i as u32);
        }
        let mut preds = vec![Vec::new(); blocks.len()];
        for (i, &block) in blocks.iter().enumerate() {
            for target in targets(module, block) {
                if let Some(&to) = numbers.get(target) {
                    preds[to as usize].push(i as u32);
                }
            }
        }
        Graph { blocks, preds }
    }

    /// By number; the entry is its own.
    fn immediate_dominators(&self) -> Vec<u32> {
        let mut idoms = vec![UNREACHED; self.blocks.len()];
        idoms[0] = 0;
        let mut changed = true;
        while changed {
            changed = false;
            for node in 1..self.blocks.len() {
                let known =
                    self.preds[node].iter().filter(|&&pred| idoms[pred as usize] != UNREACHED);
                let Some(idom) = known.copied().reduce(|a, b| meet(&idoms, a, b)) else { continue };
                if idoms[node] != idom {
                    idoms[node] = idom;
                    changed = true;
                }
            }
        }
        idoms
    }
}

/// The closest common ancestor in the tree so far.
fn meet(idoms: &[u32], mut a: u32, mut b: u32) -> u32 {
    while a != b {
        if a > b {
            a = idoms[a as usize];
        } else {
            b = idoms[b as usize];
        }
    }
    a
}
