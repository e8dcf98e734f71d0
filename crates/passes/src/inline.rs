//! `inline`: puts the bodies of functions where they are called.
//!
//! Functions are taken so that callees come before callers; a call within a cycle of calls stays.
//! A body of several blocks goes only where several blocks may stand. Private functions that
//! nothing calls any more are erased.

use rustc_hash::FxHashMap;
use tangram_ir::{Attr, AttrData};
use tangram_ir::{
    Block, LocData, Module, Op, OpState, Order, Point, Region, Str, Traits, Value, walk,
};

use crate::clone::Copies;
use crate::pass::{Pass, PassCx, PassError};
use crate::registry::Entry;
use crate::symbols;

pub(crate) const ENTRY: Entry = Entry {
    name: "inline",
    summary: "puts the bodies of functions where they are called",
    options: &[(
        "max-operations",
        "functions with more operations than this stay where they are; `1000000`",
    )],
    make: |options| {
        Ok(Box::new(Inline { max_operations: options.get("max-operations", 1_000_000)? }))
    },
};

struct Inline {
    max_operations: usize,
}

impl Pass for Inline {
    fn run(&mut self, cx: &mut PassCx<'_>) -> Result<(), PassError> {
        let functions = functions(cx.module, cx.root);
        let order = callees_first(cx.module, &functions);
        // Only callees that come before their caller are final, and not in a cycle with it.
        let mut done: FxHashMap<Str, Op> = FxHashMap::default();
        let (mut inlined, mut budget) = (0, self.max_operations);
        for (name, function) in order {
            for call in calls(cx.module, function) {
                let Some(callee) = callee(cx.module, call) else { continue };
                let Some(&body) = done.get(&callee) else { continue };
                let size = walk(cx.module, body, Order::Pre).len();
                if size <= budget && inline(cx.module, call, body).is_some() {
                    inlined += 1;
                    budget -= size;
                }
            }
            done.insert(name, function);
        }
        let erased = symbols::erase_unnamed(cx.module, cx.root);
        cx.count("inlined", inlined);
        cx.count("erased", erased);
        Ok(())
    }
}

/// The functions directly below `root` that have a body, by name.
fn functions(module: &Module, root: Op) -> Vec<(Str, Op)> {
    let blocks = module.regions(root).iter().flat_map(|&region| module.blocks(region));
    let ops = blocks.flat_map(|block| module.ops(block));
    let has_body = |op: Op| {
        let region = module.regions(op).first();
        region.is_some_and(|&region| module.first_block(region).is_some())
    };
    ops.filter(|&op| module.name_text(op) == "func.func" && has_body(op))
        .filter_map(|op| Some((symbols::symbol(module, op)?, op)))
        .collect()
}

fn calls(module: &Module, function: Op) -> Vec<Op> {
    let all = walk(module, function, Order::Pre).into_iter();
    all.filter(|&op| module.name_text(op) == "func.call").collect()
}

fn callee(module: &Module, call: Op) -> Option<Str> {
    match module.context().attr_data(module.attr(call, "callee")?) {
        AttrData::Symbol(path) if path.len() == 1 => Some(path[0]),
        _ => None,
    }
}

/// Functions so that callees come first, as far as calls do not go round in a circle.
fn callees_first(module: &Module, functions: &[(Str, Op)]) -> Vec<(Str, Op)> {
    let by_name: FxHashMap<Str, usize> =
        functions.iter().enumerate().map(|(i, entry)| (entry.0, i)).collect();
    let targets: Vec<Vec<usize>> = functions
        .iter()
        .map(|&(_, function)| {
            let names = calls(module, function).into_iter().filter_map(|c| callee(module, c));
            names.filter_map(|name| by_name.get(&name).copied()).collect()
        })
        .collect();
    let mut seen = vec![false; functions.len()];
    let mut order = Vec::new();
    for start in 0..functions.len() {
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        let mut stack = vec![(start, 0)];
        while let Some((at, next)) = stack.pop() {
            match targets[at].get(next) {
                None => order.push(functions[at]),
                Some(&target) => {
                    stack.push((at, next + 1));
                    if !std::mem::replace(&mut seen[target], true) {
                        stack.push((target, 0));
                    }
                }
            }
        }
    }
    order
}

/// Puts the body of `function` in the place of `call`.
fn inline(module: &mut Module, call: Op, function: Op) -> Option<()> {
    let body = module.region(function, 0);
    let entry = module.first_block(body)?;
    let arguments: Vec<Value> = module.operands(call).collect();
    let types = |values: &[Value]| -> Vec<_> {
        values.iter().map(|&value| module.value_type(value)).collect()
    };
    if types(&arguments) != types(module.args(entry)) {
        return None;
    }
    match module.next_block(entry) {
        None => inline_block(module, call, entry, &arguments),
        Some(_) => inline_blocks(module, call, body, &arguments),
    }
}

fn inline_block(module: &mut Module, call: Op, entry: Block, arguments: &[Value]) -> Option<()> {
    let last = module.last_op(entry).filter(|&op| module.name_text(op) == "func.return")?;
    if module.operand_count(last) != module.result_count(call) {
        return None;
    }
    let mut copies = Copies::default();
    copies.values.extend(module.args(entry).iter().copied().zip(arguments.iter().copied()));
    let ops: Vec<Op> = module.ops(entry).filter(|&op| op != last).collect();
    for op in ops {
        copies.op(module, op, Point::Before(call));
    }
    finish(module, call, &copies);
    let returned: Vec<Value> = module.operands(last).collect();
    for (result, value) in module.results(call).zip(returned) {
        let value = *copies.values.get(&value).unwrap_or(&value);
        module.replace_uses(result, value);
    }
    module.erase(call);
    Some(())
}

/// Makes the copies use copies, and notes through which call they come.
fn finish(module: &mut Module, call: Op, copies: &Copies) {
    copies.finish(module);
    let caller = module.loc(call);
    for &op in &copies.made {
        let callee = module.loc(op);
        let loc = module.context().loc(LocData::CallSite { callee, caller });
        module.set_loc(op, loc);
    }
}

fn inline_blocks(module: &mut Module, call: Op, body: Region, arguments: &[Value]) -> Option<()> {
    let block = module.block(call)?;
    let region = module.block_region(block)?;
    let parent = module.region_parent(region);
    if module.has_traits(parent, Traits::SINGLE_BLOCK) || module.def(parent).is_none() {
        return None;
    }
    // What comes after the call gets a block of its own, whose arguments are the results.
    let after = module.detached_block();
    let next = module.next_block(block);
    module.insert_block(after, region, next);
    let results: Vec<Value> = module.results(call).collect();
    for &result in &results {
        let ty = module.value_type(result);
        let arg = module.add_arg(after, ty);
        module.replace_uses(result, arg);
    }
    let mut rest = module.next(call);
    while let Some(op) = rest {
        rest = module.next(op);
        module.move_to(op, Point::End(after));
    }
    let mut copies = Copies::default();
    copies.region(module, body, region, Some(after));
    finish(module, call, &copies);
    let branch = module.context().name("cf.br");
    for op in copies.made.clone() {
        let home = module.block(op).and_then(|block| module.block_region(block));
        if home == Some(region) && module.name_text(op) == "func.return" {
            let values: Vec<Value> = module.operands(op).collect();
            let mut state = OpState::new(branch, module.loc(op));
            state.operands = values.into();
            state.successors.push(after);
            module.create_at(Point::Before(op), state);
            module.erase(op);
        }
    }
    let entry = module.first_block(body).and_then(|entry| copies.blocks.get(&entry).copied())?;
    let mut state = OpState::new(branch, module.loc(call));
    state.attrs = Attr::EMPTY_DICT;
    state.operands = arguments.into();
    state.successors.push(entry);
    module.create_at(Point::Before(call), state);
    module.erase(call);
    Some(())
}
