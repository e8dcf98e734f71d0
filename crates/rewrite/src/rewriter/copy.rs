//! Copies of operations and regions.

use rustc_hash::FxHashMap;
use tangram_ir::{Block, Op, OpState, Point, Region, Value};

use super::Rewriter;

/// What takes the place of values and blocks in a copy.
#[derive(Clone, Default, Debug)]
pub struct Mapping {
    values: FxHashMap<Value, Value>,
    blocks: FxHashMap<Block, Block>,
}

impl Mapping {
    /// Everything stays as it is.
    pub fn new() -> Mapping {
        Mapping::default()
    }

    /// Puts `to` in place of `from`.
    pub fn map(&mut self, from: Value, to: Value) {
        self.values.insert(from, to);
    }

    /// Puts block `to` in place of `from`.
    pub fn map_block(&mut self, from: Block, to: Block) {
        self.blocks.insert(from, to);
    }

    /// What stands for `value`: itself, if nothing else is known.
    pub fn value(&self, value: Value) -> Value {
        self.values.get(&value).copied().unwrap_or(value)
    }

    /// What stands for `block`: itself, if nothing else is known.
    pub fn block(&self, block: Block) -> Block {
        self.blocks.get(&block).copied().unwrap_or(block)
    }
}

/// Copies.
impl Rewriter<'_> {
    /// Copies `op` and what its regions hold to `point`. Operands and successors are taken from
    /// `mapping`, which then also knows the copies of results, arguments and blocks.
    ///
    /// The listener hears of an operation before those in its regions. O(size of the copy).
    pub fn clone_op(&mut self, op: Op, point: Point, mapping: &mut Mapping) -> Op {
        let new = self.clone_shell(op, point, mapping);
        let mut open = vec![(op, new)];
        let mut copies = vec![(op, new)];
        while let Some((old, new)) = open.pop() {
            for i in 0..self.module.regions(old).len() {
                let (from, to) = (self.module.region(old, i), self.module.region(new, i));
                let inner = self.clone_blocks(from, to, None, mapping);
                open.extend(inner.iter().rev());
                copies.extend(inner);
            }
        }
        self.connect(&copies, mapping);
        new
    }

    /// Copies the blocks of `from` into `to`, before `before` or at the end; see
    /// [`Rewriter::clone_op`].
    pub fn clone_region(
        &mut self,
        from: Region,
        to: Region,
        before: Option<Block>,
        mapping: &mut Mapping,
    ) {
        let mut copies = self.clone_blocks(from, to, before, mapping);
        let mut open: Vec<(Op, Op)> = copies.iter().rev().copied().collect();
        while let Some((old, new)) = open.pop() {
            for i in 0..self.module.regions(old).len() {
                let (from, to) = (self.module.region(old, i), self.module.region(new, i));
                let inner = self.clone_blocks(from, to, None, mapping);
                open.extend(inner.iter().rev());
                copies.extend(inner);
            }
        }
        self.connect(&copies, mapping);
    }

    /// The blocks of `from` with their operations, whose regions are still empty.
    fn clone_blocks(
        &mut self,
        from: Region,
        to: Region,
        before: Option<Block>,
        mapping: &mut Mapping,
    ) -> Vec<(Op, Op)> {
        let blocks: Vec<Block> = self.module.blocks(from).collect();
        let mut copies = Vec::new();
        for &block in &blocks {
            let args = self.module.args(block).to_vec();
            let types: Vec<_> = args.iter().map(|&arg| self.module.value_type(arg)).collect();
            let new = self.create_block(to, before, &types);
            mapping.map_block(block, new);
            for (i, arg) in args.into_iter().enumerate() {
                mapping.map(arg, self.module.args(new)[i]);
            }
        }
        for block in blocks {
            let new = mapping.block(block);
            let ops: Vec<Op> = self.module.ops(block).collect();
            for op in ops {
                copies.push((op, self.clone_shell(op, Point::End(new), mapping)));
            }
        }
        copies
    }

    /// A copy of `op` with empty regions. Operands that are copied later are still the old ones.
    fn clone_shell(&mut self, op: Op, point: Point, mapping: &mut Mapping) -> Op {
        let module = &*self.module;
        let mut state = OpState::new(module.name(op), module.loc(op));
        state.operands.extend(module.operands(op).map(|value| mapping.value(value)));
        state.results.extend(module.results(op).map(|value| module.value_type(value)));
        state.attrs = module.attrs(op);
        state.regions = module.regions(op).len() as u32;
        state.successors.extend(module.successors(op).iter().map(|&block| mapping.block(block)));
        let new = self.create(point, state);
        for i in 0..self.module.result_count(op) {
            mapping.map(self.module.result(op, i), self.module.result(new, i));
        }
        new
    }

    /// Lets copies use copies that were made after them.
    fn connect(&mut self, copies: &[(Op, Op)], mapping: &Mapping) {
        for &(old, new) in copies {
            for i in 0..self.module.operand_count(old) {
                let wanted = mapping.value(self.module.operand(old, i));
                if self.module.operand(new, i) != wanted {
                    self.set_operand(new, i, wanted);
                }
            }
        }
    }
}
