//! Bodies of loops and branches, each compiled as a function of what it reads.
//!
//! The interpreter runs an operation with regions, such as `nn.loop`, whose steps it would evaluate
//! one operation after the other. Here each body becomes a function, with the arguments of the
//! block and the values around it as its own, which is lowered like a model. A body of a few
//! operations, or one without loops to compile, stays with the interpreter.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustc_hash::{FxHashMap, FxHashSet};
use tangram_dialects::interpret::{self, Datum, InterpretError, values_read};
use tangram_ir::{Block, Module, Op, Order, Type, Value, walk};

use crate::error::SessionError;
use crate::outline;
use crate::runner::{Runner, Trace};
use crate::segments;
use crate::session::Options;

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
    /// Compiles the bodies of the operations in `functions`, whose copies come to lie in `module`.
    pub(crate) fn new(
        module: &mut Module,
        functions: &[Op],
        options: &Options,
    ) -> Result<Bodies, SessionError> {
        let mut bodies = Bodies::default();
        let mut open: Vec<(Op, usize)> = functions.iter().map(|&function| (function, 0)).collect();
        while let Some((op, depth)) = open.pop() {
            // What a body reads has the extents that are inferred around it.
            let is_function = module.name_text(op) == "func.func";
            let typed = is_function.then(|| tangram_lowering::settled(module, op));
            let blocks = op_blocks(module, op);
            let inner = blocks.iter().flat_map(|&block| module.ops(block));
            let inner: Vec<Op> = inner.filter(|&op| !module.regions(op).is_empty()).collect();
            for inner in inner {
                for block in op_blocks(module, inner) {
                    match body(module, typed.as_ref(), block, options)? {
                        Some(body) if depth < MAX_DEPTH => {
                            open.extend(body.runner.functions().map(|one| (one, depth + 1)));
                            bodies.by_block.insert(block, body);
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

    /// How the interpreter of `module` runs bodies, until `stop` is set.
    pub(crate) fn within<'a>(
        &'a self,
        module: &'a Module,
        stop: Option<&'a AtomicBool>,
    ) -> Within<'a> {
        Within { bodies: self, module, stop }
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
    stop: Option<&'a AtomicBool>,
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
        if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Some(Err(InterpretError::Body(Arc::new(SessionError::Stopped))));
        }
        let body = self.bodies.by_block.get(&block)?;
        let captured: Option<Vec<Datum>> =
            body.captured.iter().map(|&value| outer(value)).collect();
        let inputs = arguments.iter().cloned().chain(captured?).collect();
        let mut trace = Trace { stop: self.stop, ..Trace::default() };
        match body.runner.execute((self.module, self.bodies), inputs, &mut trace) {
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

/// Compiles a body, if that is worth it; `typed` is `module` with better types around the body.
fn body(
    module: &mut Module,
    typed: Option<&Module>,
    block: Block,
    options: &Options,
) -> Result<Option<Body>, SessionError> {
    if module.ops(block).count() < LEAST {
        return Ok(None);
    }
    let (function, captured) = outlined(module, typed, block);
    let names = (0..).map(|i| format!("body argument {i}"));
    let runner = segments::runner(module, function, names, options)?;
    Ok(runner.has_calls().then_some(Body { runner, captured }))
}

/// Copies `block` to a function of its own; returns that, and the values that it
/// takes after the arguments of the block. Constants around the body become its own.
fn outlined(module: &mut Module, typed: Option<&Module>, block: Block) -> (Op, Vec<Value>) {
    let outside = read_from_outside(module, block);
    let (constants, captured): (Vec<Value>, Vec<Value>) =
        outside.into_iter().partition(|&value| outline::is_constant(module, value));
    let with_type = |&value: &Value| (value, typed.unwrap_or(module).value_type(value));
    let arguments: Vec<(Value, Type)> =
        module.args(block).iter().chain(&captured).map(with_type).collect();
    let defined = constants.iter().filter_map(|&value| module.def_op(value));
    let ops: Vec<Op> = defined.chain(module.ops(block)).collect();
    let (function, _) = outline::function(module, &arguments, &ops);
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
