//! Reading a module.

use super::{
    ARG, Block, Extra, Module, Op, OpData, Operand, Operands, Region, Results, Use, Value, ValueDef,
};
use crate::attributes::Attr;
use crate::context::{Name, Str};
use crate::location::Loc;
use crate::op_def::{OpDef, Traits};
use crate::statistics::Statistics;
use crate::types::{Type, TypeData};

/// Operations.
impl Module {
    pub(super) fn data(&self, op: Op) -> &OpData {
        let data = &self.ops[op];
        debug_assert!(data.order != u32::MAX, "{op:?} is used after it was erased");
        data
    }

    /// Returns whether `op` has not been erased.
    pub fn is_live(&self, op: Op) -> bool {
        self.ops.get(op).is_some_and(|data| data.order != u32::MAX)
    }

    /// The name of `op`.
    pub fn name(&self, op: Op) -> Name {
        self.data(op).name
    }

    /// The text of the name of `op`.
    pub fn name_text(&self, op: Op) -> &str {
        self.context.name_text(self.data(op).name)
    }

    /// The definition of `op`, if its name is registered.
    pub fn def(&self, op: Op) -> Option<&'static OpDef> {
        self.context.def(self.data(op).name)
    }

    /// Returns whether the definition of `op` has all of `traits`.
    pub fn has_traits(&self, op: Op, traits: Traits) -> bool {
        self.def(op).is_some_and(|def| def.traits.contains(traits))
    }

    /// Returns whether `op` may have all of `traits`: one that is not registered may have any.
    pub fn may_have_traits(&self, op: Op, traits: Traits) -> bool {
        self.def(op).is_none_or(|def| def.traits.contains(traits))
    }

    /// Where `op` comes from.
    pub fn loc(&self, op: Op) -> Loc {
        self.data(op).loc
    }

    /// The attribute dictionary of `op`.
    pub fn attrs(&self, op: Op) -> Attr {
        self.data(op).attrs
    }

    /// The attribute `name` of `op`.
    pub fn attr(&self, op: Op, name: &str) -> Option<Attr> {
        self.context.entry_named(self.data(op).attrs, name)
    }

    /// The attribute `name` of `op`, by handle.
    pub fn attr_by(&self, op: Op, name: Str) -> Option<Attr> {
        self.context.entry(self.data(op).attrs, name)
    }

    /// The block that holds `op`; `None` while it is detached, and for the root.
    pub fn block(&self, op: Op) -> Option<Block> {
        self.data(op).block.expand()
    }

    /// The operation whose region holds `op`.
    pub fn parent(&self, op: Op) -> Option<Op> {
        self.block_parent(self.block(op)?)
    }

    /// The operation before `op` in its block.
    pub fn prev(&self, op: Op) -> Option<Op> {
        self.data(op).prev.expand()
    }

    /// The operation after `op` in its block.
    pub fn next(&self, op: Op) -> Option<Op> {
        self.data(op).next.expand()
    }

    /// Returns whether `op` is known to have no effect but its results, what stands in its regions
    /// left out.
    pub fn is_effect_free(&self, op: Op) -> bool {
        let Some(def) = self.def(op) else { return false };
        let is_buffer = |value: Value| {
            let ty = self.context().type_data(self.value_type(value));
            matches!(ty, TypeData::MemRef { .. } | TypeData::UnrankedMemRef { .. })
        };
        def.traits.intersects(Traits::PURE | Traits::RECURSIVE_EFFECTS)
            && !(def.traits.contains(Traits::WRITES_BUFFERS) && self.operands(op).any(is_buffer))
    }

    fn extra(&self, op: Op) -> Option<&Extra> {
        match self.data(op).extra {
            0 => None,
            n => Some(&self.extras[n as usize - 1]),
        }
    }

    /// The regions of `op`.
    pub fn regions(&self, op: Op) -> &[Region] {
        self.extra(op).map_or(&[], |extra| &extra.regions)
    }

    /// Region `i` of `op`. Panics if there is none.
    pub fn region(&self, op: Op, i: usize) -> Region {
        self.regions(op)[i]
    }

    /// The blocks that `op` may branch to.
    pub fn successors(&self, op: Op) -> &[Block] {
        self.extra(op).map_or(&[], |extra| &extra.successors)
    }

    /// Returns whether `a` stands before `b` in their common block. O(1).
    pub fn is_before(&self, a: Op, b: Op) -> bool {
        debug_assert_eq!(self.block(a), self.block(b));
        self.data(a).order < self.data(b).order
    }

    /// The operation in `block` that is `op` or holds it, however deep.
    pub fn ancestor_in(&self, block: Block, op: Op) -> Option<Op> {
        let mut at = op;
        loop {
            let home = self.block(at)?;
            if home == block {
                return Some(at);
            }
            at = self.block_parent(home)?;
        }
    }

    /// Returns whether `op` stands in the regions of `around`, however deep. An operation does not
    /// stand in itself; one that is erased or detached stands nowhere. O(nesting depth).
    pub fn is_proper_ancestor(&self, around: Op, op: Op) -> bool {
        let parent = |op: Op| self.is_live(op).then(|| self.parent(op)).flatten();
        std::iter::successors(parent(op), |&at| parent(at)).any(|at| at == around)
    }

    /// Returns whether `value` is defined before `op` runs, so far as regions with one block tell:
    /// in the same block earlier, or in a block around it. O(nesting depth).
    pub fn is_visible(&self, value: Value, op: Op) -> bool {
        match self.value_def(value) {
            ValueDef::Arg(block, _) => self.ancestor_in(block, op).is_some(),
            ValueDef::Result(def, _) => {
                let Some(block) = self.block(def) else { return false };
                self.ancestor_in(block, op).is_some_and(|at| at != def && self.is_before(def, at))
            }
        }
    }
}

/// Operands and results.
impl Module {
    /// How many operands `op` has.
    pub fn operand_count(&self, op: Op) -> usize {
        self.data(op).operand_count as usize
    }

    /// The operands of `op`.
    pub fn operands(&self, op: Op) -> Operands<'_> {
        let data = self.data(op);
        Operands {
            module: self,
            slots: data.first_operand..data.first_operand + data.operand_count,
        }
    }

    /// Operand `i` of `op`. Panics if there is none.
    pub fn operand(&self, op: Op, i: usize) -> Value {
        let data = self.data(op);
        assert!(i < data.operand_count as usize, "an operand with this number");
        let slot = Operand(data.first_operand + i as u32);
        self.operands[slot].value.expect("an operand of a live operation")
    }

    /// How many results `op` has.
    pub fn result_count(&self, op: Op) -> usize {
        self.data(op).result_count as usize
    }

    /// The results of `op`.
    pub fn results(&self, op: Op) -> Results {
        let data = self.data(op);
        Results { values: data.first_result..data.first_result + data.result_count }
    }

    /// Result `i` of `op`. Panics if there is none.
    pub fn result(&self, op: Op, i: usize) -> Value {
        let data = self.data(op);
        assert!(i < data.result_count as usize, "a result with this number");
        Value(data.first_result + i as u32)
    }
}

/// Values.
impl Module {
    /// The type of `value`.
    pub fn value_type(&self, value: Value) -> Type {
        self.values[value].ty
    }

    /// What `value` is.
    pub fn value_def(&self, value: Value) -> ValueDef {
        let data = &self.values[value];
        if data.index & ARG != 0 {
            ValueDef::Arg(Block(data.owner), data.index & !ARG)
        } else {
            ValueDef::Result(Op(data.owner), data.index)
        }
    }

    /// The operation that `value` is a result of.
    pub fn def_op(&self, value: Value) -> Option<Op> {
        match self.value_def(value) {
            ValueDef::Result(op, _) => Some(op),
            ValueDef::Arg(..) => None,
        }
    }

    /// The block in which `value` becomes known.
    pub fn def_block(&self, value: Value) -> Option<Block> {
        match self.value_def(value) {
            ValueDef::Result(op, _) => self.block(op),
            ValueDef::Arg(block, _) => Some(block),
        }
    }

    /// The uses of `value`, latest first. An operation that uses it twice comes twice.
    pub fn uses(&self, value: Value) -> impl Iterator<Item = Use> + '_ {
        let mut at = self.values[value].first_use.expand();
        std::iter::from_fn(move || {
            let slot = at?;
            let data = &self.operands[slot];
            at = data.next.expand();
            Some(Use { op: data.owner, index: slot.0 - self.ops[data.owner].first_operand })
        })
    }

    /// Returns whether anything uses `value`.
    pub fn has_uses(&self, value: Value) -> bool {
        self.values[value].first_use.is_some()
    }

    /// Returns whether `value` is used exactly once.
    pub fn has_one_use(&self, value: Value) -> bool {
        self.values[value].first_use.expand().is_some_and(|slot| self.operands[slot].next.is_none())
    }

    /// Returns whether no result of `op` is used.
    pub fn is_unused(&self, op: Op) -> bool {
        self.results(op).all(|value| !self.has_uses(value))
    }
}

/// Blocks and regions.
impl Module {
    /// The region that holds `block`; `None` while it is detached.
    pub fn block_region(&self, block: Block) -> Option<Region> {
        self.blocks[block].region.expand()
    }

    /// The operation whose region holds `block`.
    pub fn block_parent(&self, block: Block) -> Option<Op> {
        Some(self.regions[self.block_region(block)?].parent)
    }

    /// The operation that `region` belongs to.
    pub fn region_parent(&self, region: Region) -> Op {
        self.regions[region].parent
    }

    /// The arguments of `block`.
    pub fn args(&self, block: Block) -> &[Value] {
        &self.blocks[block].args
    }

    /// The first operation of `block`.
    pub fn first_op(&self, block: Block) -> Option<Op> {
        self.blocks[block].first.expand()
    }

    /// The last operation of `block`: its terminator, if it has one.
    pub fn last_op(&self, block: Block) -> Option<Op> {
        self.blocks[block].last.expand()
    }

    /// The operations of `block` in order.
    pub fn ops(&self, block: Block) -> impl Iterator<Item = Op> + '_ {
        std::iter::successors(self.first_op(block), |&op| self.next(op))
    }

    /// The first block of `region`.
    pub fn first_block(&self, region: Region) -> Option<Block> {
        self.regions[region].first.expand()
    }

    /// The last block of `region`.
    pub fn last_block(&self, region: Region) -> Option<Block> {
        self.regions[region].last.expand()
    }

    /// The block after `block` in its region.
    pub fn next_block(&self, block: Block) -> Option<Block> {
        self.blocks[block].next.expand()
    }

    /// The block before `block` in its region.
    pub fn prev_block(&self, block: Block) -> Option<Block> {
        self.blocks[block].prev.expand()
    }

    /// The blocks of `region` in order.
    pub fn blocks(&self, region: Region) -> impl Iterator<Item = Block> + '_ {
        std::iter::successors(self.first_block(region), |&block| self.next_block(block))
    }
}

/// Sizes.
impl Module {
    /// Counts of the arenas, and the bytes that their entities take.
    pub(crate) fn arena_statistics(&self) -> Statistics {
        let args: usize = self.blocks.values().map(|block| block.args.capacity()).sum();
        let bytes = self.ops.len() * size_of::<OpData>()
            + self.values.len() * size_of::<super::ValueData>()
            + self.operands.len() * size_of::<super::OperandData>()
            + self.branches.len() * size_of::<super::BranchData>()
            + self.blocks.len() * size_of::<super::BlockData>()
            + self.regions.len() * size_of::<super::RegionData>()
            + self.extras.len() * size_of::<Extra>()
            + args * size_of::<Value>();
        Statistics {
            operations: self.ops.len(),
            values: self.values.len(),
            operands: self.operands.len(),
            blocks: self.blocks.len(),
            regions: self.regions.len(),
            bytes,
            resource_bytes: 0,
        }
    }
}
