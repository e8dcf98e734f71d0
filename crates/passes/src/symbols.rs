//! `symbol-dce`: erases symbols that nothing names and nobody outside sees.
//!
//! A private symbol is seen beside it only. What is not public in a table of symbols that nobody
//! outside sees, as that of the outermost operation, is hidden as well.

use rustc_hash::{FxHashMap, FxHashSet};
use tangram_ir::{Attr, AttrData, Context, Module, Op, Order, Str, Traits, TypeData, walk};
use tangram_rewrite::{Rewriter, Silent};

use crate::pass::{Pass, PassCx, PassError};
use crate::registry::Entry;

pub(crate) const ENTRY: Entry = Entry {
    name: "symbol-dce",
    summary: "erases symbols that nothing names and nobody outside sees",
    options: &[],
    make: |_| Ok(Box::new(SymbolDce)),
};

struct SymbolDce;

/// The symbol that `op` defines. A table of symbols may have a name itself.
pub(crate) fn symbol(module: &Module, op: Op) -> Option<Str> {
    if !module.has_traits(op, Traits::SYMBOL) && !module.has_traits(op, Traits::SYMBOL_TABLE) {
        return None;
    }
    match module.context().attr_data(module.attr(op, "sym_name")?) {
        AttrData::String(name) => Some(*name),
        _ => None,
    }
}

/// Returns whether only what stands beside `op` sees its symbol.
pub(crate) fn is_private(module: &Module, op: Op) -> bool {
    visibility(module, op) == "private"
}

/// Who sees the symbol of `op`: `public`, `nested` or `private`.
fn visibility(module: &Module, op: Op) -> &str {
    let visibility = module.attr(op, "sym_visibility");
    visibility.and_then(|attr| module.context().as_text(attr)).unwrap_or("public")
}

/// Every symbol that `attr` names, however deep.
fn named(context: &Context, attr: Attr, seen: &mut FxHashSet<Attr>, out: &mut Vec<Str>) {
    let mut open = vec![attr];
    while let Some(attr) = open.pop() {
        if !seen.insert(attr) {
            continue;
        }
        match context.attr_data(attr) {
            AttrData::Symbol(path) => out.extend_from_slice(path),
            AttrData::Array(items) => open.extend_from_slice(items),
            AttrData::Dict(entries) => open.extend(entries.iter().map(|entry| entry.1)),
            AttrData::Properties { properties, attributes, .. } => {
                open.extend([*properties, *attributes]);
            }
            // What only its dialect can read may name a symbol as well.
            AttrData::Opaque(text) => out.extend(symbols_in(context, context.text(*text))),
            AttrData::Type(ty) => match context.type_data(*ty) {
                TypeData::Opaque(text) => out.extend(symbols_in(context, context.text(*text))),
                TypeData::Dialect { params, .. } => open.extend_from_slice(params),
                _ => {}
            },
            _ => {}
        }
    }
}

/// What stands behind each `@` of `text`.
fn symbols_in(context: &Context, text: &str) -> Vec<Str> {
    let name = |rest: &str| match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next().unwrap_or_default().to_owned(),
        None => {
            let part = |c: &char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | '-');
            rest.chars().take_while(part).collect()
        }
    };
    text.split('@').skip(1).map(|rest| context.str(&name(rest))).collect()
}

/// The symbols that `root` and what it holds name.
pub(crate) fn uses(module: &Module, root: Op) -> Vec<Str> {
    let (mut seen, mut out) = (FxHashSet::default(), Vec::new());
    for op in walk(module, root, Order::Pre) {
        named(module.context(), module.attrs(op), &mut seen, &mut out);
    }
    out
}

/// The symbols that `op` itself names.
pub(crate) fn named_by(module: &Module, op: Op) -> Vec<Str> {
    let (mut seen, mut out) = (FxHashSet::default(), Vec::new());
    named(module.context(), module.attrs(op), &mut seen, &mut out);
    out
}

/// The symbols that `op` names in attributes other than `but`.
pub(crate) fn named_besides(module: &Module, op: Op, but: &str) -> Vec<Str> {
    let context = module.context();
    let rest = context.with_entry(module.attrs(op), context.str(but), None);
    let (mut seen, mut out) = (FxHashSet::default(), Vec::new());
    named(context, rest, &mut seen, &mut out);
    out
}

impl Pass for SymbolDce {
    fn run(&mut self, cx: &mut PassCx<'_>) -> Result<(), PassError> {
        let erased = erase_unnamed(cx.module, cx.root);
        cx.count("erased", erased);
        Ok(())
    }
}

/// What is known to be needed, and what may be.
#[derive(Default)]
struct Needed {
    /// Operations whose names are still to be followed, and whether nobody outside sees theirs.
    open: Vec<(Op, bool)>,
    /// Symbols that nobody outside sees and that nothing has named yet.
    waiting: FxHashMap<Str, Vec<(Op, bool)>>,
    named: FxHashSet<Str>,
}

impl Needed {
    /// Looks at what stands in the table of symbols `table`, which is `hidden` from outside or not.
    fn enter(&mut self, module: &Module, table: Op, hidden: bool) {
        let blocks = module.regions(table).iter().flat_map(|&region| module.blocks(region));
        for op in blocks.flat_map(|block| module.ops(block)) {
            let unseen = match visibility(module, op) {
                "private" => true,
                "public" => false,
                _ => hidden,
            };
            match symbol(module, op).filter(|name| unseen && !self.named.contains(name)) {
                Some(name) => self.waiting.entry(name).or_default().push((op, hidden)),
                None => self.open.push((op, hidden)),
            }
        }
    }

    fn name(&mut self, name: Str) {
        self.named.insert(name);
        self.open.extend(self.waiting.remove(&name).unwrap_or_default());
    }

    /// Follows names from what is needed to what else is.
    fn follow(&mut self, module: &Module) {
        while let Some((op, hidden)) = self.open.pop() {
            if module.has_traits(op, Traits::SYMBOL_TABLE) {
                named_by(module, op).into_iter().for_each(|name| self.name(name));
                self.enter(module, op, hidden || is_private(module, op));
            } else {
                uses(module, op).into_iter().for_each(|name| self.name(name));
            }
        }
    }
}

/// Erases symbols below `root` that nothing below it names and that nobody outside sees, also in
/// tables of symbols inside. A symbol that only erased ones name goes as well.
pub(crate) fn erase_unnamed(module: &mut Module, root: Op) -> u64 {
    let mut needed = Needed::default();
    let hidden = module.parent(root).is_none() || is_private(module, root);
    needed.enter(module, root, hidden);
    needed.follow(module);
    let mut dead: Vec<Op> = needed.waiting.into_values().flatten().map(|(op, _)| op).collect();
    dead.sort_unstable();
    let mut silent = Silent;
    let mut rewriter = Rewriter::new(module, &mut silent);
    for &op in &dead {
        rewriter.erase(op);
    }
    dead.len() as u64
}
