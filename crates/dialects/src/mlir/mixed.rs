//! Lists in which each entry is a number or an operand: offsets, sizes and strides of parts, what
//! stands around a tensor, new extents. In MLIR these are lists of `OpFoldResult`.

use tangram_ir::{Attr, Module, Op, Value};

use super::extents::{DYNAMIC, list};
use super::fold::Cx;

/// An entry of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Entry {
    /// A number that is written.
    Number(i64),
    /// An operand.
    Value(Value),
}

impl Entry {
    /// The number, if it is written.
    pub(super) fn number(self) -> Option<i64> {
        match self {
            Entry::Number(n) => Some(n),
            Entry::Value(_) => None,
        }
    }

    /// The number as attributes hold it, [`DYNAMIC`] for an operand.
    pub(super) fn held(self) -> i64 {
        self.number().unwrap_or(DYNAMIC)
    }
}

/// What parts of tensors and buffers are described by.
const PARTS: &[&str] = &["static_offsets", "static_sizes", "static_strides"];
/// The numbers of the lists of parts.
pub(super) const OFFSETS: usize = 0;
pub(super) const SIZES: usize = 1;
pub(super) const STRIDES: usize = 2;

/// Which lists operations have, and how many operands stand in front of their entries.
fn kind(name: &str) -> Option<(&'static [&'static str], usize)> {
    Some(match name {
        "tensor.extract_slice" | "memref.subview" | "memref.reinterpret_cast" => (PARTS, 1),
        "tensor.insert_slice" | "tensor.parallel_insert_slice" => (PARTS, 2),
        "tensor.pad" => (&["static_low", "static_high"], 1),
        "tensor.expand_shape" | "memref.expand_shape" => (&["static_output_shape"], 1),
        "scf.forall" => (&["staticLowerBound", "staticUpperBound", "staticStep"], 0),
        _ => return None,
    })
}

/// The lists of an operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Mixed {
    names: &'static [&'static str],
    /// The lists, in the order of the operation.
    pub(super) lists: Vec<Vec<Entry>>,
    /// The operands in front of them.
    pub(super) front: Vec<Value>,
    /// The operands behind them.
    pub(super) rest: Vec<Value>,
}

impl Mixed {
    /// The lists of `op`; `None` if it has none, or not as many operands as they need.
    pub(super) fn of(module: &Module, op: Op) -> Option<Mixed> {
        let (names, front) = kind(module.name_text(op))?;
        let mut operands = module.operands(op);
        let front: Vec<Value> = operands.by_ref().take(front).collect();
        let mut lists = Vec::with_capacity(names.len());
        for name in names {
            let entry = |number| match number {
                DYNAMIC => operands.next().map(Entry::Value),
                number => Some(Entry::Number(number)),
            };
            lists.push(list(module, op, name)?.into_iter().map(entry).collect::<Option<_>>()?);
        }
        let rest = operands.collect();
        Some(Mixed { names, lists, front, rest })
    }

    /// Makes constants among the operands numbers, where `accepts`, given list, place and number,
    /// says so. Returns whether there was one.
    pub(super) fn fix(
        &mut self,
        cx: &Cx<'_, '_>,
        accepts: impl Fn(usize, usize, i64) -> bool,
    ) -> bool {
        let mut changed = false;
        for (i, list) in self.lists.iter_mut().enumerate() {
            for (at, entry) in list.iter_mut().enumerate() {
                let &mut Entry::Value(value) = entry else { continue };
                let number = cx.int(value).and_then(|n| i64::try_from(n).ok());
                if let Some(n) = number.filter(|&n| n != DYNAMIC && accepts(i, at, n)) {
                    (*entry, changed) = (Entry::Number(n), true);
                }
            }
        }
        changed
    }

    /// List `i` as attributes hold it.
    pub(super) fn held(&self, i: usize) -> Vec<i64> {
        self.lists[i].iter().map(|entry| entry.held()).collect()
    }

    /// Returns whether every entry of list `i` is the number `n`.
    pub(super) fn all_are(&self, i: usize, n: i64) -> bool {
        self.lists[i].iter().all(|entry| *entry == Entry::Number(n))
    }

    /// All operands.
    pub(super) fn operands(&self) -> Vec<Value> {
        let value = |entry: &Entry| match entry {
            Entry::Number(_) => None,
            Entry::Value(value) => Some(*value),
        };
        let listed = self.lists.iter().flatten().filter_map(value);
        self.front.iter().copied().chain(listed).chain(self.rest.iter().copied()).collect()
    }

    /// The attributes `old` with these lists.
    pub(super) fn attrs(&self, cx: &Cx<'_, '_>, old: Attr) -> Attr {
        let context = cx.context;
        let values = |list: &Vec<Entry>| list.iter().filter(|e| e.number().is_none()).count();
        let counts = std::iter::repeat_n(1, self.front.len());
        let counts = counts.chain(self.lists.iter().map(values));
        // What stands behind the lists is one group, as the outputs of a loop are.
        let rest = (self.names.len() == 3 && self.front.is_empty()).then_some(self.rest.len());
        let segments = cx.module().i32s_attr(counts.chain(rest));
        let entries = context.entries(old).to_vec();
        context.dict(entries.into_iter().map(|(key, value)| {
            match self.names.iter().position(|&name| context.text(key) == name) {
                Some(i) => (key, context.i64s_attr(&self.held(i))),
                None if key == cx.known.segments => (key, segments),
                None => (key, value),
            }
        }))
    }
}

/// For each of `sizes` whether the dimension stays where a type of extents `dims` shows a part of
/// these sizes; the others have one point. `None` if it does not fit.
pub(super) fn shown(sizes: &[Entry], dims: &[Option<i64>]) -> Option<Vec<usize>> {
    let (mut left, mut kept) = (dims.iter().peekable(), Vec::with_capacity(dims.len()));
    for (at, size) in sizes.iter().enumerate() {
        match left.peek() {
            Some(&&dim) if dim == size.number() => {
                left.next();
                kept.push(at);
            }
            _ if *size == Entry::Number(1) => {}
            _ => return None,
        }
    }
    left.next().is_none().then_some(kept)
}
