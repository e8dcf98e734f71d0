//! A small dialect, programs as text, and a listener that writes down what it hears.
#![allow(dead_code)]

use std::sync::Arc;

use tangram_ir::{
    Arity, Attr, AttrData, Block, Branch, Context, Fold, FoldCx, Folded, Module, Name, Op, OpDef,
    OperandDef, ResultDef, Traits, Type, Value, text, verify,
};
use tangram_rewrite::{
    FnPattern, FrozenPatternSet, Listener, NoMatch, PatternSet, Rewriter, Roots,
};

const IN: &[OperandDef] = &[OperandDef { name: "xs", arity: Arity::Variadic, doc: "values" }];
const OUT: &[ResultDef] = &[ResultDef { name: "ys", arity: Arity::Variadic, doc: "values" }];
const BRANCHES: &[OperandDef] = &[
    OperandDef { name: "flag", arity: Arity::One, doc: "a flag" },
    OperandDef { name: "xs", arity: Arity::Variadic, doc: "values" },
    OperandDef { name: "ys", arity: Arity::Variadic, doc: "values" },
];

const fn pure(name: &'static str) -> OpDef {
    OpDef { operands: IN, results: OUT, traits: Traits::PURE, ..OpDef::new(name, "a value") }
}

const fn end(name: &'static str, branch: Branch) -> OpDef {
    OpDef { operands: IN, traits: Traits::TERMINATOR, branch, ..OpDef::new(name, "an end") }
}

static DEFS: &[OpDef] = &[
    OpDef { traits: Traits::PURE.union(Traits::CONSTANT_LIKE), ..pure("t.const") },
    OpDef { fold: Some(fold_add), ..pure("t.add") },
    pure("t.neg"),
    OpDef {
        operands: IN,
        results: OUT,
        regions: None,
        traits: Traits::NO_TERMINATOR,
        ..OpDef::new("t.if", "regions")
    },
    OpDef { regions: None, traits: Traits::ISOLATED, ..OpDef::new("t.func", "a function") },
    end("t.br", Branch::Operands),
    OpDef { operands: BRANCHES, ..end("t.cond_br", Branch::Segments(1)) },
    end("t.ret", Branch::None),
    end("t.yield", Branch::None),
];

fn fold_add(cx: &FoldCx<'_>) -> Option<Fold> {
    let int = |attr: Option<Attr>| cx.context().as_i64(attr?);
    let (a, b) = (int(cx.constants[0]), int(cx.constants[1]));
    let found = match (a, b) {
        (Some(a), Some(b)) => Folded::Attr(cx.context().i64_attr(a + b)),
        (_, Some(0)) => Folded::Value(cx.module.operand(cx.op, 0)),
        (Some(_), None) => {
            let operands = [1, 0].map(|i| cx.module.operand(cx.op, i)).into_iter().collect();
            return Some(Fold::InPlace { operands, attrs: cx.module.attrs(cx.op) });
        }
        _ => return None,
    };
    Some(Fold::Results([found].into_iter().collect()))
}

fn constant(context: &Context, attr: Attr, _: Type) -> Option<(Name, Attr)> {
    matches!(context.attr_data(attr), AttrData::Integer { .. })
        .then(|| (context.name("t.const"), context.dict([(context.str("value"), attr)])))
}

pub fn context() -> Arc<Context> {
    let context = Context::new();
    context.register(DEFS);
    context.set_materializer("t", constant);
    context
}

pub fn parse(context: &Arc<Context>, source: &str) -> Module {
    match text::parse(source, "test", context.clone()) {
        Ok(module) => module,
        Err(errors) => panic!("{errors:?}"),
    }
}

/// The text without the line of the module around it, and without indentation of its own.
pub fn show(module: &Module) -> String {
    if let Err(errors) = verify(module) {
        panic!("{errors:?}\n{}", text::print(module));
    }
    let all = text::print(module);
    let lines = all.lines().filter(|line| line.starts_with("  "));
    lines.map(|line| &line[2..]).collect::<Vec<_>>().join("\n")
}

/// The names of the operations of the module's block.
pub fn names(module: &Module) -> Vec<String> {
    module.ops(module.body()).map(|op| module.name_text(op).to_owned()).collect()
}

pub fn find(module: &Module, name: &str) -> Op {
    tangram_ir::walk(module, module.root(), tangram_ir::Order::Pre)
        .into_iter()
        .find(|&op| module.name_text(op) == name)
        .unwrap_or_else(|| panic!("no `{name}`"))
}

pub fn rule(
    context: &Context,
    name: &str,
    root: &str,
    rewrite: impl Fn(&mut Rewriter<'_>, Op) -> Result<(), NoMatch> + Send + Sync + 'static,
) -> FnPattern {
    FnPattern::new(name, Roots::Names(vec![context.name(root)]), rewrite)
}

pub fn frozen(patterns: impl IntoIterator<Item = FnPattern>) -> FrozenPatternSet {
    let mut set = PatternSet::new();
    patterns.into_iter().for_each(|pattern| set.add(pattern));
    set.freeze()
}

/// Writes down what it hears, one line for each event.
#[derive(Default)]
pub struct Log(pub Vec<String>);

impl Log {
    fn op(&mut self, what: &str, module: &Module, op: Op) {
        self.0.push(format!("{what} {}", module.name_text(op)));
    }

    fn block(&mut self, what: &str, module: &Module, block: Block) {
        let parent = module.block_parent(block).map_or("nothing", |op| module.name_text(op));
        self.0.push(format!("{what} block of {parent}"));
    }
}

impl Listener for Log {
    fn inserted(&mut self, module: &Module, op: Op) {
        self.op("insert", module, op);
    }
    fn moved(&mut self, module: &Module, op: Op) {
        self.op("move", module, op);
    }
    fn modified(&mut self, module: &Module, op: Op) {
        self.op("modify", module, op);
    }
    fn replaced(&mut self, module: &Module, op: Op, _: &[Value]) {
        self.op("replace", module, op);
    }
    fn erased(&mut self, module: &Module, op: Op) {
        self.op("erase", module, op);
    }
    fn block_inserted(&mut self, module: &Module, block: Block) {
        self.block("insert", module, block);
    }
    fn block_moved(&mut self, module: &Module, block: Block) {
        self.block("move", module, block);
    }
    fn block_erased(&mut self, module: &Module, block: Block) {
        self.block("erase", module, block);
    }
    fn arguments_changed(&mut self, module: &Module, block: Block) {
        self.block("arguments of", module, block);
    }
    fn visit_begin(&mut self, module: &Module, op: Op) {
        self.op("visit", module, op);
    }
}
