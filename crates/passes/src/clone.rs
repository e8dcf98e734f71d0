//! Copies of operations with all that they hold.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tangram_ir::{Block, Module, Op, OpState, Point, Region, Type, Value};

/// What stands for what in a copy.
#[derive(Default)]
pub(crate) struct Copies {
    pub(crate) values: FxHashMap<Value, Value>,
    pub(crate) blocks: FxHashMap<Block, Block>,
    /// What was made, in the order of the originals.
    pub(crate) made: Vec<Op>,
}

impl Copies {
    /// Copies `op` to `point`; operands and successors are set by [`Copies::finish`].
    pub(crate) fn op(&mut self, module: &mut Module, op: Op, point: Point) {
        let mut open = vec![(op, point)];
        while let Some((op, point)) = open.pop() {
            let regions = module.regions(op).len();
            let state = OpState {
                operands: module.operands(op).collect(),
                results: module.results(op).map(|value| module.value_type(value)).collect(),
                attrs: module.attrs(op),
                regions: regions as u32,
                successors: module.successors(op).into(),
                ..OpState::new(module.name(op), module.loc(op))
            };
            let copy = module.create_at(point, state);
            self.values.extend(module.results(op).zip(module.results(copy)));
            self.made.push(copy);
            for i in 0..regions {
                let (from, to) = (module.region(op, i), module.region(copy, i));
                let blocks: Vec<Block> = module.blocks(from).collect();
                for block in blocks {
                    let new = module.add_block(to);
                    self.block(module, block, new, &mut open);
                }
            }
        }
    }

    /// Copies the blocks of `from` into `to`, before `before`.
    pub(crate) fn region(
        &mut self,
        module: &mut Module,
        from: Region,
        to: Region,
        before: Option<Block>,
    ) {
        let blocks: Vec<Block> = module.blocks(from).collect();
        for block in blocks {
            let new = module.detached_block();
            module.insert_block(new, to, before);
            let mut open = Vec::new();
            self.block(module, block, new, &mut open);
            for (op, point) in open.into_iter().rev() {
                self.op(module, op, point);
            }
        }
    }

    /// Copies the arguments of `block`, and leaves its operations to be copied.
    fn block(
        &mut self,
        module: &mut Module,
        block: Block,
        new: Block,
        open: &mut Vec<(Op, Point)>,
    ) {
        self.blocks.insert(block, new);
        let args: SmallVec<[Value; 4]> = module.args(block).into();
        for arg in args {
            let ty: Type = module.value_type(arg);
            let copy = module.add_arg(new, ty);
            self.values.insert(arg, copy);
        }
        // The list is taken from its end.
        let ops: Vec<Op> = module.ops(block).collect();
        open.extend(ops.into_iter().rev().map(|op| (op, Point::End(new))));
    }

    /// Makes the copies use copies.
    pub(crate) fn finish(&self, module: &mut Module) {
        for &op in &self.made {
            for i in 0..module.operand_count(op) {
                if let Some(&value) = self.values.get(&module.operand(op, i)) {
                    module.set_operand(op, i, value);
                }
            }
            let successors = module.successors(op);
            if !successors.is_empty() {
                let copy = |block: &Block| *self.blocks.get(block).unwrap_or(block);
                let successors: Vec<Block> = successors.iter().map(copy).collect();
                module.set_successors(op, &successors);
            }
        }
    }
}
