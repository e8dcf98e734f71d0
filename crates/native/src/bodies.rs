//! Bodies of loops and branches, each compiled as a function of what it reads.
//!
//! The interpreter runs an operation with regions, such as `nn.loop`, whose steps it would evaluate
//! one operation after the other. Here each body becomes a function, with the arguments of the
//! block and the values around it as its own, which is lowered like a model. A body of a few
//! operations, or one without loops to compile, stays with the interpreter.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use tangram_affine::symbolic::Expr;
use tangram_dialects::dims;
use tangram_dialects::interpret::{self, Datum, InterpretError, values_read};
use tangram_ir::{Block, Dim, Loc, Module, Op, OpState, Order, Point, Type, TypeData, Value, walk};
use tangram_lowering::{Step, lower};
use tangram_rewrite::{Mapping, Rewriter, Silent};

use crate::error::SessionError;
use crate::runner::Runner;
use crate::session::{Options, lowering};

/// A body with fewer operations is not worth a call.
const LEAST: usize = 4;
/// Bodies deeper within each other than this stay with the interpreter.
const MAX_DEPTH: usize = 8;

/// A compiled body.
struct Body {
    runner: Runner,
    /// The values around the body that it takes after the arguments of the block.
    captured: Vec<Value>,
}

/// The compiled bodies of a module, by block.
#[derive(Default)]
pub(crate) struct Bodies {
    by_block: FxHashMap<Block, Body>,
}

impl Bodies {
    /// Compiles the bodies of the operations in `function`, whose copies come to lie in `module`.
    pub(crate) fn new(
        module: &mut Module,
        function: Op,
        options: &Options,
    ) -> Result<Bodies, SessionError> {
        let mut bodies = Bodies::default();
        let mut open = vec![(function, 0)];
        while let Some((op, depth)) = open.pop() {
            let blocks = op_blocks(module, op);
            let inner = blocks.iter().flat_map(|&block| module.ops(block));
            let inner: Vec<Op> = inner.filter(|&op| !module.regions(op).is_empty()).collect();
            for inner in inner {
                for block in op_blocks(module, inner) {
                    match body(module, block, options)? {
                        Some((function, body)) if depth < MAX_DEPTH => {
                            bodies.by_block.insert(block, body);
                            open.push((function, depth + 1));
                        }
                        // What lies deeper may be worth it.
                        _ if depth < MAX_DEPTH => open.push((inner, depth + 1)),
                        _ => {}
                    }
                }
            }
        }
        Ok(bodies)
    }

    /// How the interpreter of `module` runs bodies.
    pub(crate) fn within<'a>(&'a self, module: &'a Module) -> Within<'a> {
        Within { bodies: self, module }
    }

    /// Whether all bodies of `op` are compiled.
    pub(crate) fn have(&self, module: &Module, op: Op) -> bool {
        let blocks = op_blocks(module, op);
        !blocks.is_empty() && blocks.iter().all(|block| self.by_block.contains_key(block))
    }

    /// What runs each body.
    pub(crate) fn runners(&self) -> impl Iterator<Item = &Runner> {
        self.by_block.values().map(|body| &body.runner)
    }
}

/// Compiled bodies with the module that they lie in.
pub(crate) struct Within<'a> {
    bodies: &'a Bodies,
    module: &'a Module,
}

impl Within<'_> {
    /// Whether all bodies of `op` are compiled.
    pub(crate) fn have(&self, op: Op) -> bool {
        self.bodies.have(self.module, op)
    }
}

impl interpret::Bodies for Within<'_> {
    fn run(
        &self,
        block: Block,
        arguments: &[Datum],
        outer: &dyn Fn(Value) -> Option<Datum>,
    ) -> Option<Result<Vec<Datum>, InterpretError>> {
        let body = self.bodies.by_block.get(&block)?;
        let captured: Option<Vec<Datum>> =
            body.captured.iter().map(|&value| outer(value)).collect();
        let inputs = arguments.iter().cloned().chain(captured?).collect();
        match body.runner.execute((self.module, self.bodies), inputs, None) {
            Ok(results) => Some(Ok(results)),
            // Types that a model declares of its bodies may be wrong; the interpreter needs none.
            Err(SessionError::Input(_) | SessionError::Extents { .. } | SessionError::Size(_)) => {
                None
            }
            Err(SessionError::Interpret(error)) => Some(Err(error)),
            Err(error) => Some(Err(InterpretError::Body(Arc::new(error)))),
        }
    }
}

fn op_blocks(module: &Module, op: Op) -> Vec<Block> {
    module.regions(op).iter().filter_map(|&region| module.first_block(region)).collect()
}

/// Compiles a body, if that is worth it; returns the function that it became.
fn body(
    module: &mut Module,
    block: Block,
    options: &Options,
) -> Result<Option<(Op, Body)>, SessionError> {
    if module.ops(block).count() < LEAST {
        return Ok(None);
    }
    let (function, captured) = outline(module, block);
    let program = lower(module, function, &lowering(options))?;
    if !program.steps.iter().any(|step| matches!(step, Step::Call(_))) {
        return Ok(None);
    }
    let names = (0..).map(|i| format!("body argument {i}"));
    let runner = Runner::new(module, function, program, names, options)?;
    Ok(Some((function, Body { runner, captured })))
}

/// Copies `block` to a function of its own; returns that, and the values that it
/// takes after the arguments of the block. Constants around the body become its own.
fn outline(module: &mut Module, block: Block) -> (Op, Vec<Value>) {
    let outside = read_from_outside(module, block);
    let is_constant = |module: &Module, value: Value| {
        let name = module.def_op(value).map(|def| module.name_text(def));
        matches!(name, Some("nn.constant" | "nn.none"))
    };
    let (constants, captured): (Vec<Value>, Vec<Value>) =
        outside.into_iter().partition(|&value| is_constant(module, value));
    let name = module.context().name("func.func");
    let mut state = OpState::new(name, Loc::UNKNOWN);
    state.regions = 1;
    let body = module.body();
    let function = module.create_at(Point::End(body), state);
    let region = module.region(function, 0);
    let copy = module.add_block(region);
    let mut mapping = Mapping::new();
    let arguments: Vec<Value> = module.args(block).iter().chain(&captured).copied().collect();
    for (i, &value) in arguments.iter().enumerate() {
        let ty = argument_type(module, value, (function, i));
        let argument = module.add_arg(copy, ty);
        mapping.map(value, argument);
    }
    let defined = constants.iter().filter_map(|&value| module.def_op(value));
    let ops: Vec<Op> = defined.chain(module.ops(block)).collect();
    let mut silent = Silent;
    let mut rewriter = Rewriter::new(module, &mut silent);
    let copies: Vec<Op> =
        ops.iter().map(|&op| rewriter.clone_op(op, Point::End(copy), &mut mapping)).collect();
    for copied in copies {
        forget_extents(module, copied);
    }
    (function, captured)
}

/// Lists the values that `block` reads and that are not made in it.
fn read_from_outside(module: &Module, block: Block) -> Vec<Value> {
    let inside: FxHashSet<Op> =
        module.ops(block).flat_map(|op| walk(module, op, Order::Pre)).collect();
    let made_inside = |value: Value| match module.def_op(value) {
        Some(def) => inside.contains(&def),
        None => {
            let home = module.def_block(value);
            home == Some(block)
                || home
                    .and_then(|home| module.block_parent(home))
                    .is_some_and(|p| inside.contains(&p))
        }
    };
    let mut seen = FxHashSet::default();
    let reads = module.ops(block).flat_map(|op| values_read(module, op));
    reads.filter(|&value| !made_inside(value) && seen.insert(value)).collect()
}

/// The type of an argument of the copy: extents that are no number and no plain symbol get a name
/// of their own, which the run gives a value.
fn argument_type(module: &Module, value: Value, (function, i): (Op, usize)) -> Type {
    let (context, ty) = (module.context(), module.value_type(value));
    let Some((extents, element)) = context.as_tensor(ty) else { return ty };
    let named = extents.iter().enumerate().map(|(axis, &extent)| {
        let known = dims::expr(context, extent);
        match known.filter(|expr| expr.is_int() || expr.as_symbol().is_some()) {
            Some(_) => extent,
            None => dims::dim(context, &Expr::symbol(&format!("?{function:?}.{i}.{axis}"))),
        }
    });
    let named: Vec<Dim> = named.collect();
    context.tensor_type(&named, element)
}

/// Leaves open what the copy was said to give, since symbols around the body are not known in it:
/// inference finds it anew from the arguments.
fn forget_extents(module: &mut Module, op: Op) {
    if matches!(module.name_text(op), "nn.constant" | "nn.none") {
        return;
    }
    let ops = walk(module, op, Order::Pre);
    for op in ops {
        let results: Vec<Value> = module.results(op).collect();
        for value in results {
            let context = module.context();
            let ty = module.value_type(value);
            let Some((extents, element)) = context.as_tensor(ty) else { continue };
            let fixed = extents.iter().all(|extent| extent.as_static().is_some());
            if !fixed {
                let open = context.ty(TypeData::UnrankedTensor(element));
                module.set_value_type(value, open);
            }
            module.set_contents(value, None);
        }
    }
}
