//! Blocks and regions: made, moved, split, merged, inlined and erased.

use tangram_ir::{Block, Diagnostic, Loc, Op, Point, Region, Type, Value};

use super::Rewriter;
use crate::journal::{Edit, block_place};

/// Blocks and regions.
impl Rewriter<'_> {
    /// Makes a block with arguments of `types` in `region`, before `before` or at the end.
    pub fn create_block(&mut self, region: Region, before: Option<Block>, types: &[Type]) -> Block {
        let block = self.module.detached_block();
        for &ty in types {
            self.module.add_arg(block, ty);
        }
        self.note(|_| Edit::BlockMoved(block, None));
        self.module.insert_block(block, region, before);
        self.listener.block_inserted(self.module, block);
        block
    }

    /// Moves `block` into `region`, before `before` or to the end.
    pub fn move_block(&mut self, block: Block, region: Region, before: Option<Block>) {
        if before == Some(block) {
            return;
        }
        if let Some(parent) = self.module.block_parent(block) {
            self.listener.vacated(self.module, parent);
        }
        self.note(|module| Edit::BlockMoved(block, block_place(module, block)));
        self.module.detach_block(block);
        self.module.insert_block(block, region, before);
        self.listener.block_moved(self.module, block);
    }

    /// Erases `block` and its operations, last first. Nothing else may use what it defines, or
    /// branch to it.
    pub fn erase_block(&mut self, block: Block) {
        let ops: Vec<Op> = self.module.ops(block).collect();
        for op in ops.into_iter().rev() {
            // Operations of a block that is never reached may use each other both ways.
            let values: Vec<Value> = self.module.results(op).collect();
            for value in values {
                self.drop_uses(value);
            }
            self.erase(op);
        }
        for i in 0..self.module.args(block).len() {
            self.drop_uses(self.module.args(block)[i]);
        }
        self.listener.block_erased(self.module, block);
        self.note(|module| Edit::BlockMoved(block, block_place(module, block)));
        self.module.detach_block(block);
    }

    /// Takes all operands from the operations that use `value`: they are about to be erased.
    fn drop_uses(&mut self, value: Value) {
        let users: Vec<Op> = self.module.uses(value).map(|used| used.op).collect();
        for op in users {
            if self.module.operand_count(op) > 0 {
                for value in self.module.operands(op).collect::<Vec<_>>() {
                    self.listener.released(self.module, value);
                }
                self.note(|module| Edit::Operands(op, module.operands(op).collect()));
                self.module.set_operands(op, &[]);
            }
        }
    }

    /// Appends an argument of type `ty` to `block`.
    pub fn add_argument(&mut self, block: Block, ty: Type) -> Value {
        self.add_argument_at(block, ty, Loc::UNKNOWN)
    }

    /// The same, of an argument that comes from `loc`.
    pub fn add_argument_at(&mut self, block: Block, ty: Type, loc: Loc) -> Value {
        let value = self.module.add_arg(block, ty);
        self.module.set_arg_loc(value, loc);
        self.note(|_| Edit::ArgAdded(block));
        self.listener.arguments_changed(self.module, block);
        value
    }

    /// Removes argument `i` of `block`, which must have no uses.
    pub fn erase_argument(&mut self, block: Block, i: usize) {
        let value = self.module.args(block)[i];
        self.note(|_| Edit::ArgErased(block, i, value));
        self.module.erase_arg(block, i);
        self.listener.arguments_changed(self.module, block);
    }

    /// Gives argument `i` of `block` another type.
    pub fn set_argument_type(&mut self, block: Block, i: usize, ty: Type) {
        let value = self.module.args(block)[i];
        self.note(|module| Edit::Type(value, module.value_type(value), module.contents(value)));
        self.module.set_value_type(value, ty);
        self.listener.arguments_changed(self.module, block);
    }

    /// Splits the block of `op`: what stands before `op` stays, `op` and the rest go to a new
    /// block after it, which is returned. The first part has no terminator then.
    ///
    /// O(operations that move).
    pub fn split_block(&mut self, op: Op) -> Option<Block> {
        let block = self.module.block(op)?;
        let region = self.module.block_region(block)?;
        let new = self.create_block(region, self.module.next_block(block), &[]);
        self.note(|_| Edit::Split(op, block));
        self.module.move_rest(op, new);
        let mut moved = self.module.last_op(new);
        while let Some(op) = moved {
            self.listener.moved(self.module, op);
            moved = self.module.prev(op);
        }
        Some(new)
    }

    /// Moves the operations of `block` to `point`, in place of its arguments uses `values`, and
    /// erases it. Nothing may branch to it.
    ///
    /// # Errors
    /// If `values` are fewer or more than the arguments; nothing is changed then.
    pub fn inline_block(
        &mut self,
        block: Block,
        point: Point,
        values: &[Value],
    ) -> Result<(), Diagnostic> {
        let args = self.module.args(block).to_vec();
        if args.len() != values.len() {
            let loc =
                self.module.block_parent(block).map_or(Loc::UNKNOWN, |op| self.module.loc(op));
            let message = format!("{} values replace {} arguments", values.len(), args.len());
            return Err(Diagnostic::error("replacement-count", loc, message));
        }
        for (old, &new) in args.into_iter().zip(values) {
            self.replace_uses(old, new);
            self.inherit_name(old, new);
        }
        let ops: Vec<Op> = self.module.ops(block).collect();
        let mut point = point;
        for op in ops {
            self.move_to(op, point);
            point = Point::After(op);
        }
        self.erase_block(block);
        Ok(())
    }

    /// Appends the operations of `block` to `to`; see [`Rewriter::inline_block`].
    ///
    /// # Errors
    /// As [`Rewriter::inline_block`].
    pub fn merge_blocks(
        &mut self,
        block: Block,
        to: Block,
        values: &[Value],
    ) -> Result<(), Diagnostic> {
        self.inline_block(block, Point::End(to), values)
    }

    /// Moves all blocks of `from` to `to`, before `before` or to the end.
    pub fn inline_region(&mut self, from: Region, to: Region, before: Option<Block>) {
        let blocks: Vec<Block> = self.module.blocks(from).collect();
        for block in blocks {
            self.move_block(block, to, before);
        }
    }
}
