//! A module: operations, values, blocks and regions in dense arenas.
//!
//! Order of operations in a block, of blocks in a region and of uses of a value are intrusive
//! doubly linked lists, so that insertion, removal and "who uses this" cost O(1) each. An erased
//! handle is never given out again during the life of the module; using one is caught by an
//! assertion in debug builds.

mod branches;
mod edit;
mod lists;
mod order;
mod query;

use std::sync::Arc;

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{PrimaryMap, SecondaryMap, entity_impl};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::attributes::Attr;
use crate::context::{Context, Name, Str};
use crate::location::Loc;
use crate::resource::Resources;
use crate::types::Type;
use branches::{Branch, BranchData};
pub use lists::{Operands, Results};

/// An operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Op(u32);
entity_impl!(Op, "op");

/// A result of an operation or an argument of a block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(u32);
entity_impl!(Value, "%");

/// A sequence of operations, entered at the top with arguments.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Block(u32);
entity_impl!(Block, "^bb");

/// A list of blocks that belongs to an operation; control enters at the first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Region(u32);
entity_impl!(Region, "region");

/// A place for a value among the operands of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Operand(u32);
entity_impl!(Operand, "use");

/// What a value is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ValueDef {
    /// Result number `.1` of an operation.
    Result(Op, u32),
    /// Argument number `.1` of a block.
    Arg(Block, u32),
}

/// A use of a value: operand number `index` of `op`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Use {
    /// The user.
    pub op: Op,
    /// The number of the operand.
    pub index: u32,
}

/// Where operations are inserted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Point {
    /// Just before an operation.
    Before(Op),
    /// Just after an operation.
    After(Op),
    /// At the start of a block.
    Start(Block),
    /// At the end of a block.
    End(Block),
}

/// What a new operation is made of.
#[derive(Clone, Debug)]
pub struct OpState {
    /// Its name.
    pub name: Name,
    /// Where it comes from.
    pub loc: Loc,
    /// Its operands.
    pub operands: SmallVec<[Value; 4]>,
    /// The types of its results.
    pub results: SmallVec<[Type; 2]>,
    /// Its attribute dictionary.
    pub attrs: Attr,
    /// How many (empty) regions it gets.
    pub regions: u32,
    /// The blocks it may branch to.
    pub successors: SmallVec<[Block; 2]>,
}

impl OpState {
    /// An operation without operands, results, attributes, regions or successors.
    pub fn new(name: Name, loc: Loc) -> OpState {
        OpState {
            name,
            loc,
            operands: SmallVec::new(),
            results: SmallVec::new(),
            attrs: Attr::EMPTY_DICT,
            regions: 0,
            successors: SmallVec::new(),
        }
    }

    /// An operation whose name and attributes are given as text, at no place of a source.
    pub fn of(
        context: &Context,
        name: &str,
        operands: &[Value],
        results: &[Type],
        attrs: &[(&str, Attr)],
    ) -> OpState {
        let mut state = OpState::new(context.name(name), Loc::UNKNOWN);
        state.operands.extend_from_slice(operands);
        state.results.extend_from_slice(results);
        state.attrs = context.dict(attrs.iter().map(|&(name, attr)| (context.str(name), attr)));
        state
    }
}

/// 48 bytes; with one result and two operands an operation takes 96.
#[derive(Clone)]
struct OpData {
    name: Name,
    attrs: Attr,
    loc: Loc,
    block: PackedOption<Block>,
    prev: PackedOption<Op>,
    next: PackedOption<Op>,
    /// Grows along the block; see [`order`]. `u32::MAX` marks an erased operation.
    order: u32,
    first_operand: u32,
    operand_count: u32,
    first_result: u32,
    result_count: u32,
    /// Index + 1 into `Module::extras`; 0 for none.
    extra: u32,
}

/// What few operations have.
#[derive(Clone, Default)]
struct Extra {
    regions: SmallVec<[Region; 2]>,
    successors: SmallVec<[Block; 2]>,
    /// The slot of the first successor; the others follow.
    first_branch: u32,
}

#[derive(Clone)]
struct ValueData {
    ty: Type,
    /// An operation or a block.
    owner: u32,
    /// Number of the result, or of the argument with the top bit set.
    index: u32,
    first_use: PackedOption<Operand>,
}

const ARG: u32 = 1 << 31;

#[derive(Clone)]
struct OperandData {
    value: PackedOption<Value>,
    owner: Op,
    prev: PackedOption<Operand>,
    next: PackedOption<Operand>,
}

#[derive(Clone)]
struct BlockData {
    region: PackedOption<Region>,
    prev: PackedOption<Block>,
    next: PackedOption<Block>,
    first: PackedOption<Op>,
    last: PackedOption<Op>,
    first_branch: PackedOption<Branch>,
    args: SmallVec<[Value; 4]>,
}

#[derive(Clone)]
struct RegionData {
    parent: Op,
    first: PackedOption<Block>,
    last: PackedOption<Block>,
}

/// Owns a program.
///
/// The root is an operation (`builtin.module`) with one region of one block. A clone is
/// independent and has the same handles.
#[derive(Clone)]
pub struct Module {
    context: Arc<Context>,
    ops: PrimaryMap<Op, OpData>,
    extras: Vec<Extra>,
    values: PrimaryMap<Value, ValueData>,
    operands: PrimaryMap<Operand, OperandData>,
    branches: PrimaryMap<Branch, BranchData>,
    blocks: PrimaryMap<Block, BlockData>,
    regions: PrimaryMap<Region, RegionData>,
    /// Known elements of values that are no constants; see [`crate::Inferred::contents`].
    contents: SecondaryMap<Value, Option<Attr>>,
    /// Names of values for people and for interfaces; they mean nothing to passes.
    names: SecondaryMap<Value, Option<Str>>,
    /// Where arguments come from, where that is known.
    arg_locs: FxHashMap<Value, Loc>,
    resources: Resources,
    root: Op,
}

impl Module {
    /// An empty `builtin.module`.
    pub fn new(context: Arc<Context>) -> Module {
        let name = context.name("builtin.module");
        let mut module = Module {
            context,
            ops: PrimaryMap::new(),
            extras: Vec::new(),
            values: PrimaryMap::new(),
            operands: PrimaryMap::new(),
            branches: PrimaryMap::new(),
            blocks: PrimaryMap::new(),
            regions: PrimaryMap::new(),
            contents: SecondaryMap::new(),
            names: SecondaryMap::new(),
            arg_locs: FxHashMap::default(),
            resources: Resources::default(),
            root: Op(0),
        };
        let mut state = OpState::new(name, Loc::UNKNOWN);
        state.regions = 1;
        module.root = module.create(state);
        let region = module.region(module.root, 0);
        module.add_block(region);
        module
    }

    /// The context that interned this module's handles.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The context, to be shared.
    pub fn context_arc(&self) -> &Arc<Context> {
        &self.context
    }

    /// The outermost operation.
    pub fn root(&self) -> Op {
        self.root
    }

    /// The block of the outermost operation.
    pub fn body(&self) -> Block {
        let region = self.region(self.root, 0);
        self.first_block(region).expect("a module has one block")
    }

    /// The big tensors.
    pub fn resources(&self) -> &Resources {
        &self.resources
    }

    /// The big tensors, to be changed.
    pub fn resources_mut(&mut self) -> &mut Resources {
        &mut self.resources
    }

    /// The name of `value`, if it has one.
    pub fn value_name(&self, value: Value) -> Option<Str> {
        self.names[value]
    }

    /// Names `value`.
    pub fn set_value_name(&mut self, value: Value, name: Option<Str>) {
        self.names[value] = name;
    }

    /// Where the block argument `arg` comes from.
    pub fn arg_loc(&self, arg: Value) -> Loc {
        self.arg_locs.get(&arg).copied().unwrap_or(Loc::UNKNOWN)
    }

    /// Says where the block argument `arg` comes from.
    pub fn set_arg_loc(&mut self, arg: Value, loc: Loc) {
        if loc == Loc::UNKNOWN {
            self.arg_locs.remove(&arg);
        } else {
            self.arg_locs.insert(arg, loc);
        }
    }

    /// The known elements of `value`; see [`crate::Inferred::contents`].
    pub fn contents(&self, value: Value) -> Option<Attr> {
        self.contents[value]
    }

    /// Records what is known of the elements of `value`.
    pub fn set_contents(&mut self, value: Value, contents: Option<Attr>) {
        if contents.is_some() || self.contents[value].is_some() {
            self.contents[value] = contents;
        }
    }

    /// How many operations were made so far, erased ones counted: all handles are below.
    pub fn op_capacity(&self) -> usize {
        self.ops.len()
    }

    /// How many values were made so far: all handles are below.
    pub fn value_capacity(&self) -> usize {
        self.values.len()
    }

    /// How many blocks were made so far: all handles are below.
    pub fn block_capacity(&self) -> usize {
        self.blocks.len()
    }
}
