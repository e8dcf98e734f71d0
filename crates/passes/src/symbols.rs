//! `symbol-dce`: erases private symbols that nothing names.

use rustc_hash::{FxHashMap, FxHashSet};
use tangram_ir::{Attr, AttrData, Context, Module, Op, Order, Str, Traits, TypeData, walk};
use tangram_rewrite::{Rewriter, Silent};

use crate::pass::{Pass, PassCx, PassError};
use crate::registry::Entry;

pub(crate) const ENTRY: Entry = Entry {
    name: "symbol-dce",
    summary: "erases private symbols that nothing names",
    options: &[],
    make: |_| Ok(Box::new(SymbolDce)),
};

struct SymbolDce;

/// The symbol that `op` defines.
pub(crate) fn symbol(module: &Module, op: Op) -> Option<Str> {
    if !module.has_traits(op, Traits::SYMBOL) {
        return None;
    }
    match module.context().attr_data(module.attr(op, "sym_name")?) {
        AttrData::String(name) => Some(*name),
        _ => None,
    }
}

/// Returns whether only what stands beside `op` sees its symbol.
pub(crate) fn is_private(module: &Module, op: Op) -> bool {
    let visibility = module.attr(op, "sym_visibility");
    visibility.and_then(|attr| module.context().as_text(attr)) == Some("private")
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

impl Pass for SymbolDce {
    fn run(&mut self, cx: &mut PassCx<'_>) -> Result<(), PassError> {
        let erased = erase_unnamed(cx.module, cx.root);
        cx.count("erased", erased);
        Ok(())
    }
}

/// Erases private symbols directly below `root` that nothing below it names. A symbol that only
/// erased ones name goes as well.
pub(crate) fn erase_unnamed(module: &mut Module, root: Op) -> u64 {
    let blocks = module.regions(root).iter().flat_map(|&region| module.blocks(region));
    let all: Vec<Op> = blocks.flat_map(|block| module.ops(block)).collect();
    let mut by_name: FxHashMap<Str, Vec<Op>> = FxHashMap::default();
    let mut open = Vec::new();
    for &op in &all {
        match symbol(module, op) {
            Some(name) if is_private(module, op) => by_name.entry(name).or_default().push(op),
            _ => open.push(op),
        }
    }
    // What is not private lives, and so does all that it names.
    while let Some(op) = open.pop() {
        for name in uses(module, op) {
            open.extend(by_name.remove(&name).unwrap_or_default());
        }
    }
    let mut dead: Vec<Op> = by_name.into_values().flatten().collect();
    dead.sort_unstable();
    let mut silent = Silent;
    let mut rewriter = Rewriter::new(module, &mut silent);
    for &op in &dead {
        rewriter.erase(op);
    }
    dead.len() as u64
}
