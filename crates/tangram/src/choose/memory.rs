//! How much memory a run needs at once, estimated.

use rustc_hash::FxHashMap;
use tangram_ir::{Module, Op, Value};
use tangram_onnx::Model;
use tangram_rewrite::all_bytes;
use tangram_saturate::CostModel;

/// The bytes of all constants, and of the values that are alive at once where those are most: in the
/// order of the main graph, each from its operation to the last one that reads it. An extent that
/// is not known has the size that `cost` takes it for.
pub(super) fn peak(model: &Model, cost: &CostModel) -> f64 {
    let module = &model.module;
    let constants = all_bytes(module) as f64;
    let Some(graph) = model.graph() else { return constants };
    let ops: Vec<Op> = module.ops(graph).collect();
    let mut last: FxHashMap<Value, usize> = FxHashMap::default();
    for (at, &op) in ops.iter().enumerate() {
        last.extend(module.operands(op).map(|value| (value, at)));
    }
    let mut ending: FxHashMap<usize, f64> = FxHashMap::default();
    let (mut alive, mut most) = (0.0_f64, 0.0_f64);
    for (at, &op) in ops.iter().enumerate() {
        for value in module.results(op).filter(|_| !is_constant(module, op)) {
            let bytes = cost.bytes_of(module, value);
            alive += bytes;
            *ending.entry(last.get(&value).copied().unwrap_or(at)).or_default() += bytes;
        }
        most = most.max(alive);
        alive -= ending.remove(&at).unwrap_or(0.0);
    }
    constants + most
}

fn is_constant(module: &Module, op: Op) -> bool {
    tangram_dialects::constant::is_constant(module, op)
}
