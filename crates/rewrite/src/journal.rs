//! The undo journal: what was changed, so that it can be taken back.
//!
//! A [`crate::Rewriter`] with a journal changes the module at once and notes the reverse of each
//! change. Taking back plays the notes from the last to the first, so each finds the module as it
//! was right after its change. An erased operation is only taken out of its block until the
//! journal is committed: its handle and its results come back with it. Without a journal nothing
//! is noted, and with one a change costs one entry.

use smallvec::SmallVec;
use tangram_ir::{Attr, Block, Loc, Module, Name, Op, Point, Region, Str, Type, Value};

/// The reverse of one change.
pub(crate) enum Edit {
    /// An operation was made.
    Created(Op),
    /// An operation stood here, or nowhere.
    Moved(Op, Option<Point>),
    /// This operation and what follows it stood at the end of that block.
    Split(Op, Block),
    /// An operation was erased; this is where it stood, if it stood in a block.
    Erased(Op, Option<Point>),
    /// An operation had these operands.
    Operands(Op, SmallVec<[Value; 4]>),
    /// Operand `.1` of an operation was `.2`.
    Operand(Op, u32, Value),
    /// An operation had this dictionary.
    Attrs(Op, Attr),
    /// An operation had this location.
    Loc(Op, Loc),
    /// An operation had these successors.
    Successors(Op, SmallVec<[Block; 2]>),
    /// A value had this type and these contents.
    Type(Value, Type, Option<Attr>),
    /// A value had this name.
    Named(Value, Option<Str>),
    /// A block stood in this region before that block, or nowhere.
    BlockMoved(Block, Option<(Region, Option<Block>)>),
    /// A block got one more argument at its end.
    ArgAdded(Block),
    /// A block lost this argument, which had this number.
    ArgErased(Block, usize, Value),
}

/// Changes that can be taken back.
///
/// Give it to [`crate::Rewriter::with_journal`], then take back what was done since a mark, or
/// commit all of it.
#[derive(Default)]
pub struct Journal {
    pub(crate) edits: Vec<Edit>,
    /// How often operations may have left the module with what their regions hold, or come back.
    pub(crate) upheavals: u64,
}

/// A place in a journal to go back to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Mark(usize);

impl Journal {
    /// An empty journal.
    pub fn new() -> Journal {
        Journal::default()
    }

    /// The present place.
    pub fn mark(&self) -> Mark {
        Mark(self.edits.len())
    }

    /// Returns whether nothing was changed since `mark`.
    pub fn is_unchanged_since(&self, mark: Mark) -> bool {
        self.edits.len() == mark.0
    }

    /// The operations made since `mark` that still stand in a block, in the order in which they
    /// were made.
    pub fn created_since(&self, module: &Module, mark: Mark) -> Vec<Op> {
        self.since(mark)
            .filter_map(|edit| match edit {
                Edit::Created(op) if module.block(*op).is_some() => Some(*op),
                _ => None,
            })
            .collect()
    }

    /// The operations that were made since `mark`, then those that were given other attributes,
    /// successors or a whole list of operands; without those that lost their place, each once. A
    /// user of a value that was replaced is not among them.
    pub fn touched_since(&self, module: &Module, mark: Mark) -> Vec<Op> {
        let mut ops = self.created_since(module, mark);
        let mut modified = self
            .since(mark)
            .filter_map(|edit| match edit {
                Edit::Attrs(op, _) | Edit::Operands(op, _) | Edit::Successors(op, _) => Some(*op),
                _ => None,
            })
            .filter(|&op| module.block(op).is_some())
            .peekable();
        if modified.peek().is_some() {
            let mut seen: rustc_hash::FxHashSet<Op> = ops.iter().copied().collect();
            ops.extend(modified.filter(|&op| seen.insert(op)));
        }
        ops
    }

    fn since(&self, mark: Mark) -> impl Iterator<Item = &Edit> {
        self.edits[mark.0.min(self.edits.len())..].iter()
    }

    /// Returns whether an operation named `name` was made.
    pub(crate) fn made(&self, module: &Module, name: Name) -> bool {
        let named = |op: Op| module.is_live(op) && module.name(op) == name;
        self.edits.iter().any(|edit| matches!(edit, Edit::Created(op) if named(*op)))
    }

    /// Takes back every change since `mark`, last first. O(changes).
    pub fn undo(&mut self, module: &mut Module, mark: Mark) {
        self.upheavals += u64::from(self.edits.len() > mark.0);
        while self.edits.len() > mark.0 {
            let Some(edit) = self.edits.pop() else { return };
            revert(module, edit);
        }
    }

    /// Makes the changes final: erased operations are gone for good.
    pub fn commit(&mut self, module: &mut Module) {
        for edit in self.edits.drain(..) {
            if let Edit::Erased(op, _) = edit
                && module.is_live(op)
            {
                module.erase(op);
            }
        }
    }
}

/// Where `op` stands.
pub(crate) fn place(module: &Module, op: Op) -> Option<Point> {
    let block = module.block(op)?;
    Some(module.next(op).map_or(Point::End(block), Point::Before))
}

/// Where `block` stands.
pub(crate) fn block_place(module: &Module, block: Block) -> Option<(Region, Option<Block>)> {
    Some((module.block_region(block)?, module.next_block(block)))
}

fn revert(module: &mut Module, edit: Edit) {
    match edit {
        Edit::Created(op) => module.erase(op),
        Edit::Moved(op, point) | Edit::Erased(op, point) => {
            module.detach(op);
            if let Some(point) = point {
                module.insert(op, point);
            }
        }
        Edit::Split(op, block) => module.move_rest(op, block),
        Edit::Operands(op, values) => module.set_operands(op, &values),
        Edit::Operand(op, i, value) => module.set_operand(op, i as usize, value),
        Edit::Attrs(op, attrs) => module.set_attrs(op, attrs),
        Edit::Loc(op, loc) => module.set_loc(op, loc),
        Edit::Successors(op, blocks) => module.set_successors(op, &blocks),
        Edit::Type(value, ty, contents) => {
            module.set_value_type(value, ty);
            module.set_contents(value, contents);
        }
        Edit::Named(value, name) => module.set_value_name(value, name),
        Edit::BlockMoved(block, place) => {
            module.detach_block(block);
            if let Some((region, before)) = place {
                module.insert_block(block, region, before);
            }
        }
        Edit::ArgAdded(block) => {
            let last = module.args(block).len() - 1;
            module.erase_arg(block, last);
        }
        Edit::ArgErased(block, i, value) => module.restore_arg(block, i, value),
    }
}
