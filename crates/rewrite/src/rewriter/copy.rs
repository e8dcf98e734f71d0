//! Copies of operations and regions.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tangram_ir::{Block, Loc, LocData, Module, Op, OpState, Point, Region, Value};

use super::Rewriter;

/// What takes the place of values and blocks in a copy.
#[derive(Clone, Default, Debug)]
pub struct Mapping {
    values: FxHashMap<Value, Value>,
    blocks: FxHashMap<Block, Block>,
    /// The call through which copies come.
    caller: Option<Loc>,
}

impl Mapping {
    /// Everything stays as it is.
    pub fn new() -> Mapping {
        Mapping::default()
    }

    /// Lets the locations of copies say that they come through a call at `caller`.
    #[must_use]
    pub fn through_call(mut self, caller: Loc) -> Mapping {
        self.caller = Some(caller);
        self
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

    /// The location of a copy of what comes from `callee`.
    fn loc(&self, module: &Module, callee: Loc) -> Loc {
        match self.caller {
            Some(caller) => module.context().loc(LocData::CallSite { callee, caller }),
            None => callee,
        }
    }
}

/// What is still to be copied.
enum CopyTask {
    /// A block, into a region, before a block or at the end.
    Block(Block, Region, Option<Block>),
    /// An operation, to the end of a block.
    Op(Op, Block),
}

/// A copy that is being made.
struct Copy {
    /// What comes next is last.
    open: Vec<CopyTask>,
    /// Each operation with its copy.
    made: Vec<(Op, Op)>,
}

/// Copies.
impl Rewriter<'_> {
    /// Copies `op` and what its regions hold to `point`. Operands and successors are taken from
    /// `mapping`, which then also knows the copies of results, arguments and blocks.
    ///
    /// The listener hears of an operation before its blocks, of a block before its operations.
    /// O(size of the copy).
    pub fn clone_op(&mut self, op: Op, point: Point, mapping: &mut Mapping) -> Op {
        let new = self.clone_shell(op, point, mapping);
        let mut copy = Copy { open: Vec::new(), made: vec![(op, new)] };
        self.open_regions(op, new, &mut copy.open);
        self.clone_open(&mut copy, mapping);
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
        let blocks = self.module.blocks(from).map(|block| CopyTask::Block(block, to, before));
        let mut copy = Copy { open: blocks.collect(), made: Vec::new() };
        copy.open.reverse();
        self.clone_open(&mut copy, mapping);
    }

    /// Lists the blocks of `op` to be copied into the regions of `new`, the first on top.
    fn open_regions(&self, op: Op, new: Op, open: &mut Vec<CopyTask>) {
        let from = open.len();
        for (&region, &to) in self.module.regions(op).iter().zip(self.module.regions(new)) {
            open.extend(self.module.blocks(region).map(|block| CopyTask::Block(block, to, None)));
        }
        open[from..].reverse();
    }

    /// Copies what is listed, one after the other.
    fn clone_open(&mut self, copy: &mut Copy, mapping: &mut Mapping) {
        while let Some(step) = copy.open.pop() {
            match step {
                CopyTask::Block(block, to, before) => {
                    let args = self.module.args(block).to_vec();
                    let types: Vec<_> =
                        args.iter().map(|&arg| self.module.value_type(arg)).collect();
                    let new = self.create_block(to, before, &types);
                    mapping.map_block(block, new);
                    for (i, arg) in args.into_iter().enumerate() {
                        let copied = self.module.args(new)[i];
                        let loc = mapping.loc(self.module, self.module.arg_loc(arg));
                        self.module.set_arg_loc(copied, loc);
                        mapping.map(arg, copied);
                    }
                    let from = copy.open.len();
                    copy.open.extend(self.module.ops(block).map(|op| CopyTask::Op(op, new)));
                    copy.open[from..].reverse();
                }
                CopyTask::Op(op, block) => {
                    let new = self.clone_shell(op, Point::End(block), mapping);
                    copy.made.push((op, new));
                    self.open_regions(op, new, &mut copy.open);
                }
            }
        }
        self.connect(&copy.made, mapping);
    }

    /// A copy of `op` with empty regions. Operands that are copied later are still the old ones.
    fn clone_shell(&mut self, op: Op, point: Point, mapping: &mut Mapping) -> Op {
        let module = &*self.module;
        let mut state = OpState::new(module.name(op), mapping.loc(module, module.loc(op)));
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

    /// Lets copies use copies that were made after them, and branch to them.
    fn connect(&mut self, copies: &[(Op, Op)], mapping: &Mapping) {
        for &(old, new) in copies {
            let targets = self.module.successors(old).iter().map(|&block| mapping.block(block));
            let targets: SmallVec<[Block; 2]> = targets.collect();
            if self.module.successors(new) != &targets[..] {
                self.set_successors(new, &targets);
            }
            for i in 0..self.module.operand_count(old) {
                let wanted = mapping.value(self.module.operand(old, i));
                if self.module.operand(new, i) != wanted {
                    self.set_operand(new, i, wanted);
                }
            }
        }
    }
}
