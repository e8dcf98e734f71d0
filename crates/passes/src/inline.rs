//! `inline`: puts the bodies of functions where they are called.
//!
//! Functions are taken so that callees come before callers; a call within a cycle of calls stays.
//! A body of several blocks goes only where several blocks may stand. Each function is simplified
//! by a pipeline before others take it in. Private functions that nothing calls any more are erased.

use rustc_hash::FxHashMap;
use tangram_ir::{
    AttrData, Block, Loc, Module, Op, OpState, Order, Point, Region, Str, Traits, Value, walk,
};
use tangram_rewrite::{Mapping, Rewriter, Silent};

use crate::pass::{Pass, PassCx, PassError};
use crate::pipeline::{Item, Pipeline};
use crate::registry::{Entry, OptionError, PASSES, PassOptions, Registration};
use crate::symbols;

pub(crate) const ENTRY: Entry = Entry {
    name: "inline",
    summary: "puts the bodies of functions where they are called",
    options: &[
        (
            "inlining-threshold",
            "the most operations of a function, in percent of its caller's, that go there; any: `-1`",
        ),
        ("default-pipeline", "the passes that simplify each function; `canonicalize`"),
        (
            "max-operations",
            "functions with more operations than this stay where they are; `1000000`",
        ),
    ],
    make: |options| Ok(Box::new(Inline::new(options)?)),
};

struct Inline {
    /// In percent of the caller; any number where negative.
    threshold: i64,
    max_operations: usize,
    /// What simplifies a function.
    passes: Vec<Box<dyn Pass>>,
}

impl Inline {
    fn new(options: &PassOptions) -> Result<Inline, OptionError> {
        Ok(Inline {
            threshold: options.get("inlining-threshold", -1)?,
            max_operations: options.get("max-operations", 1_000_000)?,
            passes: passes(&options.get("default-pipeline", "canonicalize".to_owned())?)?,
        })
    }

    /// Runs the passes on `function`. What they count is not counted: they run once for each.
    fn simplify(&mut self, cx: &mut PassCx<'_>, function: Op) -> Result<(), PassError> {
        for pass in &mut self.passes {
            pass.run(&mut PassCx {
                module: cx.module,
                root: function,
                counts: &mut Vec::new(),
                warnings: cx.warnings,
                patterns: &mut Vec::new(),
                observer: cx.observer,
                check_patterns: cx.check_patterns,
            })?;
        }
        Ok(())
    }

    /// Returns whether a function of `callee` operations may go into one of `caller` ones.
    fn admits(&self, callee: usize, caller: usize) -> bool {
        let Ok(most) = usize::try_from(self.threshold) else { return true };
        callee.saturating_mul(100) / caller.max(1) <= most
    }
}

/// The passes of `text`, which has no pipelines inside.
fn passes(text: &str) -> Result<Vec<Box<dyn Pass>>, OptionError> {
    let wrong = || OptionError::Value {
        name: "default-pipeline".into(),
        value: text.into(),
        default: "canonicalize".into(),
    };
    let pipeline = Pipeline::parse(text).map_err(|_| wrong())?;
    let items = match &pipeline.items[..] {
        [Item::Nested(Pipeline { anchor, items })] if anchor == "func.func" => items,
        items => items,
    };
    let pass = |item: &Item| match item {
        Item::Pass { name, options, .. } => {
            let entry = PASSES.iter().find(|entry| entry.name == name).ok_or_else(wrong)?;
            Registration::from(entry).make(&PassOptions(options.clone()))
        }
        Item::Nested(_) => Err(wrong()),
    };
    items.iter().map(pass).collect()
}

impl Pass for Inline {
    fn run(&mut self, cx: &mut PassCx<'_>) -> Result<(), PassError> {
        let functions = functions(cx.module, cx.root);
        let order = callees_first(cx.module, &functions);
        // Only callees that come before their caller are final, and not in a cycle with it.
        let mut done: FxHashMap<Str, Op> = FxHashMap::default();
        let (mut inlined, mut budget) = (0, self.max_operations);
        for (name, function) in order {
            self.simplify(cx, function)?;
            let before = inlined;
            for call in calls(cx.module, function) {
                let Some(callee) = callee(cx.module, call) else { continue };
                let Some(&body) = done.get(&callee) else { continue };
                let size = walk(cx.module, body, Order::Pre).len();
                let caller = walk(cx.module, function, Order::Pre).len();
                let mut silent = Silent;
                let mut rewriter = Rewriter::new(cx.module, &mut silent);
                if size <= budget
                    && self.admits(size - 1, caller - 1)
                    && inline(&mut rewriter, call, body).is_some()
                {
                    inlined += 1;
                    budget -= size;
                }
            }
            if inlined > before {
                self.simplify(cx, function)?;
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
    all.filter(|&op| module.name_text(op) == "func.call" && sees(module, op, function)).collect()
}

/// Returns whether `call` stands in `function` so that it names what stands beside that, and so that
/// any operation may stand there: an operation of an unknown dialect may hold symbols of its own.
fn sees(module: &Module, call: Op, function: Op) -> bool {
    let mut at = module.parent(call);
    while let Some(around) = at.filter(|&around| around != function) {
        if module.may_have_traits(around, Traits::SYMBOL_TABLE) {
            return false;
        }
        at = module.parent(around);
    }
    true
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
fn inline(rewriter: &mut Rewriter<'_>, call: Op, function: Op) -> Option<()> {
    let module = rewriter.module();
    if [call, function].iter().any(|&op| module.attr(op, "no_inline").is_some()) {
        return None;
    }
    let body = module.region(function, 0);
    let entry = module.first_block(body)?;
    let arguments: Vec<Value> = module.operands(call).collect();
    let types = |values: &[Value]| -> Vec<_> {
        values.iter().map(|&value| module.value_type(value)).collect()
    };
    if types(&arguments) != types(module.args(entry)) {
        return None;
    }
    // Each copy says through which call it comes.
    let mut mapping = Mapping::new().through_call(module.loc(call));
    match module.next_block(entry) {
        None => inline_block(rewriter, call, entry, &arguments, &mut mapping),
        Some(_) => inline_blocks(rewriter, call, body, &arguments, &mut mapping),
    }
}

fn inline_block(
    rewriter: &mut Rewriter<'_>,
    call: Op,
    entry: Block,
    arguments: &[Value],
    mapping: &mut Mapping,
) -> Option<()> {
    let module = rewriter.module();
    let last = module.last_op(entry).filter(|&op| module.name_text(op) == "func.return")?;
    if module.operand_count(last) != module.result_count(call) {
        return None;
    }
    for (&arg, &value) in module.args(entry).iter().zip(arguments) {
        mapping.map(arg, value);
    }
    let ops: Vec<Op> = module.ops(entry).filter(|&op| op != last).collect();
    for op in ops {
        rewriter.clone_op(op, Point::Before(call), mapping);
    }
    let returned = rewriter.module().operands(last);
    let returned: Vec<Value> = returned.map(|value| mapping.value(value)).collect();
    rewriter.replace(call, &returned).ok()
}

fn inline_blocks(
    rewriter: &mut Rewriter<'_>,
    call: Op,
    body: Region,
    arguments: &[Value],
    mapping: &mut Mapping,
) -> Option<()> {
    let module = rewriter.module();
    let region = module.block_region(module.block(call)?)?;
    let parent = module.region_parent(region);
    if module.has_traits(parent, Traits::SINGLE_BLOCK) || module.def(parent).is_none() {
        return None;
    }
    // What comes after the call gets a block of its own, whose arguments are the results.
    let after = rewriter.split_block(module.next(call)?)?;
    let results: Vec<Value> = rewriter.module().results(call).collect();
    for result in results {
        let ty = rewriter.module().value_type(result);
        let arg = rewriter.add_argument(after, ty);
        rewriter.replace_uses(result, arg);
    }
    rewriter.clone_region(body, region, Some(after), mapping);
    let blocks: Vec<Block> = rewriter.module().blocks(body).collect();
    for &block in &blocks {
        let module = rewriter.module();
        let copy = mapping.block(block);
        let end = module.last_op(copy).filter(|&op| module.name_text(op) == "func.return");
        if let Some(end) = end {
            let values: Vec<Value> = module.operands(end).collect();
            let state = branch(module, module.loc(end), after, &values);
            rewriter.create(Point::Before(end), state);
            rewriter.erase(end);
        }
    }
    let module = rewriter.module();
    let state = branch(module, module.loc(call), mapping.block(*blocks.first()?), arguments);
    rewriter.create(Point::Before(call), state);
    rewriter.erase(call);
    Some(())
}

/// `cf.br` to `target`, which is given `values`.
fn branch(module: &Module, loc: Loc, target: Block, values: &[Value]) -> OpState {
    let mut state = OpState::new(module.context().name("cf.br"), loc);
    state.operands.extend_from_slice(values);
    state.successors.push(target);
    state
}
