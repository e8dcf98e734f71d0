//! Random nests of operations, and what a run is started on.

use tangram_ir::{Block, Loc, Module, Op, OpState, Order, Point, Value, walk};
use tangram_rewrite::GreedyConfig;
use tangram_rewrite::greedy::{Seeding, Strictness};

use crate::common::context;

/// The deepest nest.
const DEPTH: usize = 5;

/// A module, and on what a driver is run.
pub struct Case {
    pub module: Module,
    /// The operation whose regions are gone through.
    pub root: Op,
    /// In the op form, the operations to start with.
    pub ops: Option<Vec<Op>>,
    pub config: GreedyConfig,
}

/// A random case. Folding and merging are off: the reference has neither.
pub fn case(rng: &mut fastrand::Rng) -> Case {
    let mut module = Module::new(context());
    let body = module.body();
    fill(rng, &mut module, body, &[], 0);
    let all = walk(&module, module.root(), Order::Pre);
    let nests: Vec<Op> = all.iter().copied().filter(|&op| !module.regions(op).is_empty()).collect();
    let root = nests[rng.usize(..nests.len())];
    let scope = rng.bool().then(|| nests[rng.usize(..nests.len())]);
    let listed = || all[1..].to_vec();
    let ops = rng.bool().then(|| {
        let mut ops = listed();
        rng.shuffle(&mut ops);
        ops.truncate(rng.usize(..=ops.len()));
        ops
    });
    let strictness =
        [Strictness::AnyOp, Strictness::ExistingAndNewOps, Strictness::ExistingOps][rng.usize(..3)];
    let config = GreedyConfig {
        fold: false,
        merge_equal: false,
        erase_dead: rng.bool(),
        strictness,
        scope,
        seeding: if rng.bool() { Seeding::TopDown } else { Seeding::BottomUp },
        shuffle: (rng.u8(..4) == 0).then(|| rng.u64(..)),
        ..GreedyConfig::default()
    };
    Case { module, root, ops, config }
}

/// Puts operations into `block`, where `known` can be used.
fn fill(rng: &mut fastrand::Rng, module: &mut Module, block: Block, known: &[Value], depth: usize) {
    let mut known = known.to_vec();
    for _ in 0..rng.usize(if depth == 0 { 4..14 } else { 0..7 }) {
        let one = |rng: &mut fastrand::Rng, known: &[Value]| {
            (!known.is_empty()).then(|| known[rng.usize(..known.len())])
        };
        match rng.u8(..18) {
            0..=1 => known.extend(make(module, block, "t.const", &[], true, Some(rng.i64(0..3)))),
            2 => known.extend(make(module, block, "t.target", &[], true, None)),
            3..=6 => {
                let Some(x) = one(rng, &known) else { continue };
                known.extend(make(module, block, "t.neg", &[x], true, None));
            }
            7 => {
                let (Some(x), Some(y)) = (one(rng, &known), one(rng, &known)) else { continue };
                known.extend(make(module, block, "t.add", &[x, y], true, None));
            }
            8..=10 => {
                let Some(x) = one(rng, &known) else { continue };
                let name = ["t.use", "t.sink", "t.poke"][rng.usize(..3)];
                make(module, block, name, &[x], false, None);
            }
            11 => {
                make(module, block, "t.cell", &[], false, Some(rng.i64(0..3)));
            }
            12 => {
                make(module, block, "t.old", &[], false, None);
            }
            _ if depth < DEPTH => nest(rng, module, block, &known, depth),
            _ => {}
        }
    }
}

fn nest(rng: &mut fastrand::Rng, module: &mut Module, block: Block, known: &[Value], depth: usize) {
    let isolated = rng.u8(..6) == 0;
    let mut state = state(module, if isolated { "t.func" } else { "t.if" }, &[], false);
    state.regions = 1;
    let op = module.create_at(Point::End(block), state);
    let word = ["keep", "inline", "few", "few"][rng.usize(..4)];
    let (name, n) = (module.context().str(word), module.context().i64_attr(rng.i64(1..6)));
    module.set_attr(op, name, Some(n));
    let region = module.region(op, 0);
    let inner = module.add_block(region);
    fill(rng, module, inner, if isolated { &[] } else { known }, depth + 1);
}

fn state(module: &Module, name: &str, operands: &[Value], result: bool) -> OpState {
    let context = module.context();
    let mut state = OpState::new(context.name(name), Loc::UNKNOWN);
    state.operands.extend(operands.iter().copied());
    state.results.extend(result.then(|| context.int_type(64)));
    state
}

fn make(
    module: &mut Module,
    block: Block,
    name: &str,
    operands: &[Value],
    result: bool,
    n: Option<i64>,
) -> Option<Value> {
    let state = state(module, name, operands, result);
    let op = module.create_at(Point::End(block), state);
    if let Some(n) = n {
        let (key, n) = (module.context().str("value"), module.context().i64_attr(n));
        module.set_attr(op, key, Some(n));
    }
    result.then(|| module.result(op, 0))
}
