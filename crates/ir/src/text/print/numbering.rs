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
    /// Names, for values with [`NAMED`] and the number of the name.
    pub(super) names: Vec<Box<str>>,
    /// The first results of each group, for operations of which not all results share a name.
    pub(super) groups: FxHashMap<Op, Vec<u32>>,
}

/// A value or block that the module does not reach.
pub(super) const UNKNOWN: u32 = u32::MAX;
/// Set in the number of an argument of an entry block: `%arg3` instead of `%3`.
const ARG: u32 = 1 << 31;
/// Set in the number of a name.
const NAMED: u32 = 1 << 30;

/// How a value is called.
pub(super) enum ValueName<'a> {
    Result(u32),
    Arg(u32),
    Named(&'a str),
    Unknown,
}

impl Numbering {
    /// A region is numbered at once, and then, latest first, the regions of its operations.
    pub(super) fn new(module: &Module) -> Numbering {
        let mut numbering = Numbering::blank(module);
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

    /// The first results of each group of results that share a name.
    pub(super) fn groups(&self, op: Op) -> &[u32] {
        self.groups.get(&op).map_or(&[0], Vec::as_slice)
    }

    pub(super) fn number(&mut self, value: Value, number: u32) {
        self.values[value.as_u32() as usize] = number;
    }

    pub(super) fn name(&mut self, value: Value, name: &str) {
        self.number(value, NAMED | self.names.len() as u32);
        self.names.push(name.into());
    }

    pub(super) fn number_block(&mut self, module: &Module, block: Block, number: u32) {
        self.blocks[block.as_u32() as usize] = number;
        for &target in module.last_op(block).map_or(&[][..], |op| module.successors(op)) {
            self.predecessors.entry(target).or_default().push(block);
        }
    }

    /// With room for every value and block of `module`, none of which has a number.
    pub(super) fn blank(module: &Module) -> Numbering {
        Numbering {
            values: vec![UNKNOWN; module.value_capacity()],
            blocks: vec![UNKNOWN; module.block_capacity()],
            ..Numbering::default()
        }
    }

    pub(super) fn value(&self, value: Value) -> ValueName<'_> {
        match self.values.get(value.as_u32() as usize) {
            None | Some(&UNKNOWN) => ValueName::Unknown,
            Some(&n) if n & NAMED != 0 && n & ARG == 0 => {
                let name = self.names.get((n & !NAMED) as usize);
                name.map_or(ValueName::Unknown, |name| ValueName::Named(name))
            }
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
