//! The numbers that stand for values and blocks in the text.

use rustc_hash::FxHashMap;

use crate::module::{Block, Module, Op, Region, Value};

/// Numbers of values and blocks, in the order in which MLIR's printer gives them.
#[derive(Default)]
pub(super) struct Numbering {
    values: Vec<u32>,
    blocks: Vec<u32>,
    /// The blocks that branch to a block, one for each edge, in the order of their region.
    predecessors: FxHashMap<Block, Vec<Block>>,
}

/// A value or block that the module does not reach.
pub(super) const UNKNOWN: u32 = u32::MAX;
/// Set in the number of an argument of an entry block: `%arg3` instead of `%3`.
const ARG: u32 = 1 << 31;

/// How a value is called.
pub(super) enum ValueName {
    Result(u32),
    Arg(u32),
    Unknown,
}

impl Numbering {
    /// A region is numbered at once, and then, latest first, the regions of its operations.
    pub(super) fn new(module: &Module) -> Numbering {
        let mut numbering = Numbering {
            values: vec![UNKNOWN; module.value_capacity()],
            blocks: vec![UNKNOWN; module.block_capacity()],
            predecessors: FxHashMap::default(),
        };
        let (mut values, mut args) = (0, 0);
        let root = module.root();
        numbering.number_results(module, root, &mut values);
        let mut regions: Vec<Region> = module.regions(root).to_vec();
        while let Some(region) = regions.pop() {
            for (i, block) in module.blocks(region).enumerate() {
                numbering.blocks[block.as_u32() as usize] = i as u32;
                for &arg in module.args(block) {
                    let (next, mark) = if i == 0 { (&mut args, ARG) } else { (&mut values, 0) };
                    numbering.values[arg.as_u32() as usize] = *next | mark;
                    *next += 1;
                }
                for op in module.ops(block) {
                    numbering.number_results(module, op, &mut values);
                    regions.extend_from_slice(module.regions(op));
                    for &target in module.successors(op) {
                        numbering.predecessors.entry(target).or_default().push(block);
                    }
                }
            }
        }
        numbering
    }

    /// Results of one operation share a number: `%3#0`, `%3#1`.
    fn number_results(&mut self, module: &Module, op: Op, next: &mut u32) {
        for value in module.results(op) {
            self.values[value.as_u32() as usize] = *next;
        }
        *next += u32::from(module.result_count(op) > 0);
    }

    pub(super) fn value(&self, value: Value) -> ValueName {
        match self.values.get(value.as_u32() as usize) {
            None | Some(&UNKNOWN) => ValueName::Unknown,
            Some(&n) if n & ARG != 0 => ValueName::Arg(n & !ARG),
            Some(&n) => ValueName::Result(n),
        }
    }

    pub(super) fn predecessors(&self, block: Block) -> &[Block] {
        self.predecessors.get(&block).map_or(&[], Vec::as_slice)
    }

    pub(super) fn block(&self, block: Block) -> u32 {
        self.blocks.get(block.as_u32() as usize).copied().unwrap_or(UNKNOWN)
    }
}
