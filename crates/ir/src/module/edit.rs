//! Changing a module.
//!
//! These are the raw edits. Passes and patterns change IR through a rewriter, which tells its
//! listeners; only importers, parsers and rewriters call these.

use smallvec::SmallVec;

use super::{
    ARG, Block, BlockData, Extra, Module, Op, OpData, OpState, Operand, OperandData, Point, Region,
    RegionData, Value, ValueData,
};
use crate::attributes::Attr;
use crate::context::Str;
use crate::location::Loc;
use crate::types::Type;

pub(super) fn index(n: usize) -> u32 {
    u32::try_from(n).expect("fewer than 2^32 entities in a module")
}

/// Operations.
impl Module {
    /// Makes a detached operation.
    pub fn create(&mut self, state: OpState) -> Op {
        let op = self.ops.next_key();
        let first_result = index(self.values.len());
        for (i, &ty) in state.results.iter().enumerate() {
            self.values.push(ValueData {
                ty,
                owner: op.0,
                index: index(i),
                first_use: None.into(),
            });
        }
        let extra = if state.regions == 0 && state.successors.is_empty() {
            0
        } else {
            let regions = (0..state.regions)
                .map(|_| {
                    let (first, last) = (None.into(), None.into());
                    self.regions.push(RegionData { parent: op, first, last })
                })
                .collect();
            self.extras.push(Extra { regions, successors: state.successors, first_branch: 0 });
            index(self.extras.len())
        };
        self.ops.push(OpData {
            name: state.name,
            attrs: state.attrs,
            loc: state.loc,
            block: None.into(),
            prev: None.into(),
            next: None.into(),
            order: 0,
            first_operand: 0,
            operand_count: 0,
            first_result,
            result_count: index(state.results.len()),
            extra,
        });
        self.append_slots(op, &state.operands);
        self.link_branches(op);
        op
    }

    /// Makes an operation at `point`.
    pub fn create_at(&mut self, point: Point, state: OpState) -> Op {
        let op = self.create(state);
        self.insert(op, point);
        op
    }

    /// Puts the detached `op` at `point`. O(log n) amortised, n operations in the block; O(1) at
    /// either end of it.
    pub fn insert(&mut self, op: Op, point: Point) {
        let block = self.link_op(op, point);
        self.label(op, block);
    }

    /// Links the detached `op` into the list of a block, which is returned.
    pub(super) fn link_op(&mut self, op: Op, point: Point) -> Block {
        debug_assert!(self.block(op).is_none(), "{op:?} stands in a block already");
        let (block, prev, next) = match point {
            Point::Before(at) => (self.block(at), self.prev(at), Some(at)),
            Point::After(at) => (self.block(at), Some(at), self.next(at)),
            Point::Start(block) => (Some(block), None, self.first_op(block)),
            Point::End(block) => (Some(block), self.last_op(block), None),
        };
        let block = block.expect("an insertion point in a block");
        let data = &mut self.ops[op];
        (data.block, data.prev, data.next) = (block.into(), prev.into(), next.into());
        match prev {
            Some(prev) => self.ops[prev].next = op.into(),
            None => self.blocks[block].first = op.into(),
        }
        match next {
            Some(next) => self.ops[next].prev = op.into(),
            None => self.blocks[block].last = op.into(),
        }
        block
    }

    /// Takes `op` out of its block; it keeps operands, results and regions.
    pub fn detach(&mut self, op: Op) {
        let data = self.data(op);
        let Some(block) = data.block.expand() else { return };
        let (prev, next) = (data.prev, data.next);
        match prev.expand() {
            Some(prev) => self.ops[prev].next = next,
            None => self.blocks[block].first = next,
        }
        match next.expand() {
            Some(next) => self.ops[next].prev = prev,
            None => self.blocks[block].last = prev,
        }
        let data = &mut self.ops[op];
        (data.block, data.prev, data.next) = (None.into(), None.into(), None.into());
    }

    /// Moves `first` and what follows it in its block to the end of `to`.
    /// O(operations that move).
    pub fn move_rest(&mut self, first: Op, to: Block) {
        let Some(from) = self.block(first).filter(|&from| from != to) else { return };
        let (prev, last) = (self.prev(first), self.last_op(from));
        let end = self.last_op(to);
        if end.is_some_and(|end| self.ops[end].order >= self.ops[first].order) {
            // The labels would not grow along the block.
            let ops: Vec<Op> = std::iter::successors(Some(first), |&op| self.next(op)).collect();
            return ops.into_iter().for_each(|op| self.move_to(op, Point::End(to)));
        }
        match prev {
            Some(prev) => self.ops[prev].next = None.into(),
            None => self.blocks[from].first = None.into(),
        }
        self.blocks[from].last = prev.into();
        match end {
            Some(end) => self.ops[end].next = first.into(),
            None => self.blocks[to].first = first.into(),
        }
        self.ops[first].prev = end.into();
        self.blocks[to].last = last.into();
        let mut at = Some(first);
        while let Some(op) = at {
            self.ops[op].block = to.into();
            at = self.next(op);
        }
    }

    /// Moves `op` to `point`.
    pub fn move_to(&mut self, op: Op, point: Point) {
        self.detach(op);
        self.insert(op, point);
    }

    /// Erases `op` and all that its regions hold. Its results must have no uses outside.
    pub fn erase(&mut self, op: Op) {
        let mut doomed = vec![op];
        let mut at = 0;
        // The list grows by what the regions of its members hold.
        while at < doomed.len() {
            let op = doomed[at];
            at += 1;
            for &region in self.regions(op) {
                for block in self.blocks(region) {
                    doomed.extend(self.ops(block));
                }
            }
        }
        for &op in &doomed {
            self.clear_operands(op);
        }
        self.detach(op);
        for op in doomed {
            debug_assert!(self.is_unused(op), "{op:?} is erased while its results have uses");
            self.clear_branches(op);
            self.ops[op].order = u32::MAX;
        }
    }

    /// Sets where `op` comes from.
    pub fn set_loc(&mut self, op: Op, loc: Loc) {
        self.ops[op].loc = loc;
    }

    /// Sets the whole attribute dictionary of `op`.
    pub fn set_attrs(&mut self, op: Op, attrs: Attr) {
        self.ops[op].attrs = attrs;
    }

    /// Sets attribute `name` of `op`; `None` removes it.
    pub fn set_attr(&mut self, op: Op, name: Str, value: Option<Attr>) {
        self.ops[op].attrs = self.context.with_entry(self.ops[op].attrs, name, value);
    }
}

/// What only a parser needs: operations whose parts become known one after the other.
impl Module {
    /// Gives `op` one more region, which is empty.
    pub fn add_region(&mut self, op: Op) -> Region {
        let region =
            self.regions.push(RegionData { parent: op, first: None.into(), last: None.into() });
        let at = self.extra_index(op);
        self.extras[at].regions.push(region);
        region
    }

    /// Gives results of these types to `op`, which must have none yet.
    pub fn set_results(&mut self, op: Op, types: &[Type]) {
        debug_assert_eq!(self.ops[op].result_count, 0, "{op:?} has results already");
        self.ops[op].first_result = index(self.values.len());
        self.ops[op].result_count = index(types.len());
        for (i, &ty) in types.iter().enumerate() {
            let (owner, first_use) = (op.0, None.into());
            self.values.push(ValueData { ty, owner, index: index(i), first_use });
        }
    }

    /// Makes an empty block that stands in no region; see [`Module::insert_block`].
    pub fn detached_block(&mut self) -> Block {
        self.blocks.push(BlockData {
            region: None.into(),
            prev: None.into(),
            next: None.into(),
            first: None.into(),
            last: None.into(),
            first_branch: None.into(),
            args: SmallVec::new(),
        })
    }

    /// Makes a value that belongs to no operation; its uses have to be replaced.
    pub(crate) fn placeholder(&mut self, ty: Type) -> Value {
        let block = self.detached_block();
        self.add_arg(block, ty)
    }

    /// Makes `op`, which has one region of one block, the root; the old root is erased.
    pub(crate) fn set_root(&mut self, op: Op) {
        self.detach(op);
        let old = std::mem::replace(&mut self.root, op);
        self.erase(old);
    }
}

/// Operands and uses.
impl Module {
    fn append_slots(&mut self, op: Op, values: &[Value]) {
        self.ops[op].first_operand = index(self.operands.len());
        self.ops[op].operand_count = index(values.len());
        for &value in values {
            let (prev, next) = (None.into(), None.into());
            let slot =
                self.operands.push(OperandData { value: None.into(), owner: op, prev, next });
            self.link(slot, value);
        }
    }

    fn link(&mut self, slot: Operand, value: Value) {
        let head = self.values[value].first_use;
        if let Some(head) = head.expand() {
            self.operands[head].prev = slot.into();
        }
        let data = &mut self.operands[slot];
        (data.value, data.prev, data.next) = (value.into(), None.into(), head);
        self.values[value].first_use = slot.into();
    }

    fn unlink(&mut self, slot: Operand) {
        let OperandData { value, prev, next, .. } = self.operands[slot].clone();
        let Some(value) = value.expand() else { return };
        match prev.expand() {
            Some(prev) => self.operands[prev].next = next,
            None => self.values[value].first_use = next,
        }
        if let Some(next) = next.expand() {
            self.operands[next].prev = prev;
        }
        self.operands[slot].value = None.into();
    }

    fn clear_operands(&mut self, op: Op) {
        let data = self.data(op);
        for slot in data.first_operand..data.first_operand + data.operand_count {
            self.unlink(Operand(slot));
        }
        self.ops[op].operand_count = 0;
    }

    /// Sets operand `i` of `op`. Panics if there is none.
    pub fn set_operand(&mut self, op: Op, i: usize, value: Value) {
        let data = self.data(op);
        assert!(i < data.operand_count as usize, "an operand with this number");
        let slot = Operand(data.first_operand + index(i));
        self.unlink(slot);
        self.link(slot, value);
    }

    /// Sets all operands of `op`.
    pub fn set_operands(&mut self, op: Op, values: &[Value]) {
        if values.len() == self.operand_count(op) {
            for (i, &value) in values.iter().enumerate() {
                self.set_operand(op, i, value);
            }
            return;
        }
        self.clear_operands(op);
        self.append_slots(op, values);
    }

    /// Makes every user of `old` use `new` instead. O(uses).
    pub fn replace_uses(&mut self, old: Value, new: Value) {
        if old == new {
            return;
        }
        while let Some(slot) = self.values[old].first_use.expand() {
            self.unlink(slot);
            self.link(slot, new);
        }
    }

    /// Sets the type of `value`.
    pub fn set_value_type(&mut self, value: Value, ty: Type) {
        self.values[value].ty = ty;
    }
}

/// Blocks and regions.
impl Module {
    /// Appends an empty block to `region`.
    pub fn add_block(&mut self, region: Region) -> Block {
        let block = self.detached_block();
        self.insert_block(block, region, None);
        block
    }

    /// Puts the detached `block` into `region`, before `before` or at the end.
    pub fn insert_block(&mut self, block: Block, region: Region, before: Option<Block>) {
        let prev = match before {
            Some(before) => self.blocks[before].prev.expand(),
            None => self.regions[region].last.expand(),
        };
        let data = &mut self.blocks[block];
        (data.region, data.prev, data.next) = (region.into(), prev.into(), before.into());
        match prev {
            Some(prev) => self.blocks[prev].next = block.into(),
            None => self.regions[region].first = block.into(),
        }
        match before {
            Some(before) => self.blocks[before].prev = block.into(),
            None => self.regions[region].last = block.into(),
        }
    }

    /// Takes `block` out of its region; it keeps arguments and operations.
    pub fn detach_block(&mut self, block: Block) {
        let data = &self.blocks[block];
        let Some(region) = data.region.expand() else { return };
        let (prev, next) = (data.prev, data.next);
        match prev.expand() {
            Some(prev) => self.blocks[prev].next = next,
            None => self.regions[region].first = next,
        }
        match next.expand() {
            Some(next) => self.blocks[next].prev = prev,
            None => self.regions[region].last = prev,
        }
        let data = &mut self.blocks[block];
        (data.region, data.prev, data.next) = (None.into(), None.into(), None.into());
    }

    /// Erases `block` and its operations. Nothing else may use what it defines.
    pub fn erase_block(&mut self, block: Block) {
        // Operations may use each other backwards and forwards, so operands go first.
        let ops: Vec<Op> = self.ops(block).collect();
        for &op in &ops {
            self.clear_operands(op);
        }
        for op in ops.into_iter().rev() {
            self.erase(op);
        }
        self.detach_block(block);
    }

    /// Appends an argument to `block`.
    pub fn add_arg(&mut self, block: Block, ty: Type) -> Value {
        let number = index(self.blocks[block].args.len());
        let value = self.values.push(ValueData {
            ty,
            owner: block.0,
            index: number | ARG,
            first_use: None.into(),
        });
        self.blocks[block].args.push(value);
        value
    }

    /// Removes argument `i` of `block`, which must have no uses.
    pub fn erase_arg(&mut self, block: Block, i: usize) {
        let value = self.blocks[block].args.remove(i);
        debug_assert!(!self.has_uses(value), "{value:?} is erased while it has uses");
        for number in i..self.blocks[block].args.len() {
            let value = self.blocks[block].args[number];
            self.values[value].index = index(number) | ARG;
        }
    }
}

/// What only an undo journal needs.
impl Module {
    /// Gives `block` back an argument that [`Module::erase_arg`] took, as number `i`.
    pub fn restore_arg(&mut self, block: Block, i: usize, value: Value) {
        self.blocks[block].args.insert(i, value);
        for number in i..self.blocks[block].args.len() {
            let value = self.blocks[block].args[number];
            self.values[value].index = index(number) | ARG;
        }
    }
}
