//! Forms that rewrites have given up, so that none goes round in a circle.
//!
//! ```text
//! x + y  ->  y + x       gives up `x + y`
//! y + x  ->  x + y       would make again what was given up: no progress, so it is refused
//! ```
//!
//! A form is a hash of the operations that make some values, down to a limit, without the places
//! at which they stand. One that was given up may come back only by a rewrite that makes less than
//! it matched: so every circle ends, whatever the rules are.
//!
//! Here, too, is what tensors may grow to: a rule that doubles an extent each time it fires has no
//! circle, and no end.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use tangram_ir::{Loc, Module, Op, Order, TypeData, Value, walk};

/// How many operations of a form are looked at.
const WIDTH: usize = 64;
/// Tensors of up to so many elements may always be made, and of so many times the largest one.
const ELEMENTS: u64 = 1 << 28;
const TIMES: u64 = 64;

/// What the rewrites of one run have given up.
#[derive(Clone, Debug)]
pub struct Forms {
    given_up: FxHashSet<(u64, Loc)>,
    most_elements: u64,
}

impl Forms {
    /// Nothing is given up yet, and tensors may grow as they like.
    pub(crate) fn unbounded() -> Forms {
        Forms { given_up: FxHashSet::default(), most_elements: u64::MAX }
    }

    /// Nothing is given up yet; the tensors below `root` say what may be made.
    pub fn new(module: &Module, root: Op) -> Forms {
        let values = walk(module, root, Order::Pre).into_iter().flat_map(|op| module.results(op));
        let largest = values.filter_map(|value| elements(module, value)).max().unwrap_or(0);
        let most_elements = largest.saturating_mul(TIMES).max(ELEMENTS);
        Forms { given_up: FxHashSet::default(), most_elements }
    }

    pub(crate) fn give_up(&mut self, form: u64, loc: Loc) {
        self.given_up.insert((form, loc));
    }

    pub(crate) fn is_given_up(&self, form: u64, loc: Loc) -> bool {
        self.given_up.contains(&(form, loc))
    }

    pub(crate) fn admits(&self, module: &Module, value: Value) -> bool {
        elements(module, value).is_none_or(|count| count <= self.most_elements)
    }
}

/// How many elements a value has, if its extents are numbers.
fn elements(module: &Module, value: Value) -> Option<u64> {
    let TypeData::Tensor(tensor) = module.context().type_data(module.value_type(value)) else {
        return None;
    };
    let extent = |dim: &tangram_ir::Dim| u64::try_from(dim.as_static()?).ok();
    tensor.dims.iter().try_fold(1u64, |n, dim| Some(n.saturating_mul(extent(dim)?)))
}

/// The form of `values`: the operations that make them, their attributes, and how they hang
/// together; the nearest `WIDTH` of them, and the values that those read.
pub fn form(module: &Module, values: &[Value]) -> u64 {
    let mut state = FxHasher::default();
    let mut numbers: FxHashMap<Op, u32> = FxHashMap::default();
    let mut waiting: Vec<Value> = values.to_vec();
    let mut next = 0;
    while let Some(&value) = waiting.get(next) {
        next += 1;
        let known = numbers.len();
        let op = module.def_op(value).filter(|op| module.regions(*op).is_empty());
        let result = op.and_then(|op| module.results(op).position(|other| other == value));
        match (op, op.and_then(|op| numbers.get(&op))) {
            (Some(_), Some(number)) => (1u8, *number, result).hash(&mut state),
            (Some(op), None) if known < WIDTH => {
                numbers.insert(op, known as u32);
                (2u8, module.name(op), module.attrs(op), result).hash(&mut state);
                module.operand_count(op).hash(&mut state);
                waiting.extend(module.operands(op));
            }
            _ => (3u8, value).hash(&mut state),
        }
    }
    state.finish()
}
