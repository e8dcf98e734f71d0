//! The e-graph of a function: e-nodes with their witnesses.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use smallvec::SmallVec;
use tangram_dialects::constant;
use tangram_egraph::{EGraph, Id, Symbol, SymbolLang};
use tangram_ir::{Attr, AttrData, Block, Module, Name, Op, Traits, Value};

use crate::classes::Table;

/// An e-node as an operation.
#[derive(Clone, Debug)]
pub(crate) struct Witness {
    pub op: Op,
    /// The e-node.
    pub id: Id,
    pub symbol: Symbol,
    /// The operands, captured values and, for effects, what has to happen before.
    pub children: SmallVec<[Id; 4]>,
    /// Equals nothing but itself, and stays.
    pub fixed: bool,
}

/// A function as an e-graph.
pub(crate) struct Graph {
    /// A copy of the module; the witnesses stand in `block`.
    pub module: Module,
    pub egraph: EGraph<SymbolLang, ()>,
    pub block: Block,
    pub terminator: Op,
    /// One for each e-node, those of the function first.
    pub witnesses: Vec<Witness>,
    /// Operations below this number are those of the function.
    pub original_ops: usize,
    ids: FxHashMap<Value, Id>,
    operators: FxHashMap<(Name, Attr, usize), Symbol>,
    by_name: FxHashMap<Name, usize>,
    constants: FxHashMap<u64, Vec<Attr>>,
    fixed_count: usize,
    pub(crate) table: Table,
}

impl Graph {
    /// Reads a function of one block; none if it has another shape.
    pub fn new(module: &Module, func: Op) -> Option<Self> {
        let &[region] = module.regions(func) else { return None };
        let block = module.first_block(region)?;
        let terminator = module.last_op(block)?;
        let plain =
            module.next_block(block).is_none() && module.has_traits(terminator, Traits::TERMINATOR);
        if !plain {
            return None;
        }
        let mut graph = Self {
            module: module.clone(),
            egraph: EGraph::new(()).with_explanations_enabled(),
            block,
            terminator,
            witnesses: Vec::new(),
            original_ops: module.op_capacity(),
            ids: FxHashMap::default(),
            operators: FxHashMap::default(),
            by_name: FxHashMap::default(),
            constants: FxHashMap::default(),
            fixed_count: 0,
            table: Table::default(),
        };
        graph.read();
        Some(graph)
    }

    fn read(&mut self) {
        for (i, &arg) in self.module.args(self.block).to_vec().iter().enumerate() {
            let leaf = SymbolLang::leaf(format!("argument{i}").as_str());
            let id = self.egraph.add_uncanonical(leaf);
            self.ids.insert(arg, id);
        }
        let mut before = None;
        for op in self.module.ops(self.block).collect::<Vec<_>>() {
            if is_pure(&self.module, op) {
                self.register(op);
            } else {
                before = self.register_fixed(op, before);
            }
        }
        self.refresh();
    }

    /// Adds an operation whose operands are known as an e-node.
    pub fn register(&mut self, op: Op) {
        let children: SmallVec<[Id; 4]> =
            self.module.operands(op).filter_map(|value| self.id(value)).collect();
        if children.len() != self.module.operand_count(op) {
            debug_assert!(false, "an operand of {op:?} is unknown");
            return;
        }
        let symbol = self.symbol(op);
        self.add(op, symbol, children, false);
    }

    /// Adds an operation that equals only itself; returns the last one with effects.
    fn register_fixed(&mut self, op: Op, before: Option<Id>) -> Option<Id> {
        let captured = captured(&self.module, op);
        let values = self.module.operands(op).chain(captured).collect::<Vec<_>>();
        let mut children: SmallVec<[Id; 4]> =
            values.into_iter().filter_map(|value| self.id(value)).collect();
        let effects = !self.module.has_traits(op, Traits::PURE)
            || self.module.has_traits(op, Traits::TERMINATOR);
        if effects {
            children.extend(before);
        }
        self.fixed_count += 1;
        let text = format!("{}!{}", self.module.name_text(op), self.fixed_count);
        let id = self.add(op, Symbol::from(text.as_str()), children, true);
        if effects { Some(id) } else { before }
    }

    fn add(&mut self, op: Op, symbol: Symbol, children: SmallVec<[Id; 4]>, fixed: bool) -> Id {
        let id = self.egraph.add_uncanonical(SymbolLang::new(symbol, children.to_vec()));
        let results: SmallVec<[Value; 2]> = self.module.results(op).collect();
        match results[..] {
            [result] => _ = self.ids.insert(result, id),
            _ => {
                for (i, &result) in results.iter().enumerate() {
                    let field = SymbolLang::new(format!("result{i}").as_str(), vec![id]);
                    let field = self.egraph.add_uncanonical(field);
                    self.ids.insert(result, field);
                }
            }
        }
        self.witnesses.push(Witness { op, id, symbol, children, fixed });
        id
    }

    /// The e-node that stands for a value.
    pub fn id(&self, value: Value) -> Option<Id> {
        self.ids.get(&value).copied()
    }

    /// Every value with its e-node.
    pub fn values(&self) -> impl Iterator<Item = (&Value, &Id)> {
        self.ids.iter()
    }

    /// The class of a value.
    pub fn class(&self, value: Value) -> Option<Id> {
        self.id(value).map(|id| self.egraph.find(id))
    }

    /// Returns whether an operation is one of the function that was read.
    pub fn is_original(&self, op: Op) -> bool {
        (op.as_u32() as usize) < self.original_ops
    }

    /// The operator of an operation: its name, attributes and number of results.
    fn symbol(&mut self, op: Op) -> Symbol {
        let attrs = self.known_attrs(op);
        let key = (self.module.name(op), attrs, self.module.result_count(op));
        if let Some(symbol) = self.operators.get(&key) {
            return *symbol;
        }
        let count = self.by_name.entry(key.0).or_default();
        *count += 1;
        let name = self.module.name_text(op);
        let text = if *count == 1 { name.to_owned() } else { format!("{name}#{count}") };
        let symbol = Symbol::from(text.as_str());
        self.operators.insert(key, symbol);
        symbol
    }

    /// The attributes; for a constant those of the first one with the same contents.
    fn known_attrs(&mut self, op: Op) -> Attr {
        let attrs = self.module.attrs(op);
        if !constant::is_constant(&self.module, op) || self.module.result_count(op) != 1 {
            return attrs;
        }
        let value = constant::constant_attr(&self.module, self.module.result(op, 0));
        let Some(hash) = value.and_then(|attr| self.contents_hash(attr)) else { return attrs };
        let known = self.constants.entry(hash).or_default();
        let (module, context) = (&self.module, self.module.context());
        let value_of = |attrs: Attr| context.entries(attrs).iter().map(|e| e.1).collect::<Vec<_>>();
        let equal = |other: &&Attr| {
            let (a, b) = (value_of(attrs), value_of(**other));
            a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| same_contents(module, *a, *b))
        };
        if let Some(found) = known.iter().find(equal) {
            return *found;
        }
        known.push(attrs);
        attrs
    }

    fn contents_hash(&self, attr: Attr) -> Option<u64> {
        let AttrData::Resource { ty, key } = self.module.context().attr_data(attr) else {
            return None;
        };
        let bytes = self.module.resources().find(*key)?;
        let mut hasher = FxHasher::default();
        (ty, &bytes[..]).hash(&mut hasher);
        Some(hasher.finish())
    }
}

fn same_contents(module: &Module, a: Attr, b: Attr) -> bool {
    if a == b {
        return true;
    }
    let context = module.context();
    match (context.attr_data(a), context.attr_data(b)) {
        (AttrData::Resource { ty, key }, AttrData::Resource { ty: other, key: second }) => {
            let (first, second) = (module.resources().find(*key), module.resources().find(*second));
            ty == other && first.is_some() && first == second
        }
        _ => false,
    }
}

/// Returns whether an operation may be an e-node like any other.
pub(crate) fn is_pure(module: &Module, op: Op) -> bool {
    let barred = Traits::RANDOM | Traits::TERMINATOR | Traits::SYMBOL;
    module
        .def(op)
        .is_some_and(|def| def.traits.contains(Traits::PURE) && !def.traits.intersects(barred))
        && module.regions(op).is_empty()
        && module.successors(op).is_empty()
        && module.result_count(op) > 0
}

/// Lists the values that the regions of `op` use and do not define, each once, in order.
pub(crate) fn captured(module: &Module, op: Op) -> Vec<Value> {
    let mut seen = FxHashSet::default();
    let mut found = Vec::new();
    for inner in nested(module, op) {
        for value in module.operands(inner) {
            if module.def_block(value) == module.block(op) && seen.insert(value) {
                found.push(value);
            }
        }
    }
    found
}

/// Lists the operations in the regions of `op`.
pub(crate) fn nested(module: &Module, op: Op) -> Vec<Op> {
    let mut found = Vec::new();
    let mut open = vec![op];
    while let Some(op) = open.pop() {
        for &region in module.regions(op) {
            for block in module.blocks(region) {
                let inner: Vec<Op> = module.ops(block).collect();
                open.extend(&inner);
                found.extend(inner);
            }
        }
    }
    found
}
