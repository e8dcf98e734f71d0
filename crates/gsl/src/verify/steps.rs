//! A program run operation by operation, for who wants to see or change what is between.

use rustc_hash::FxHashMap;
use tangram_dialects::constant;
use tangram_dialects::eval::evaluate;
use tangram_dialects::interpret::Datum;
use tangram_ir::{Module, Op, Value};
use tangram_tensor::{Tensor, within};

use super::real::MAX_BYTES;

/// What was computed: the inputs of the program, or the results of an operation.
pub(super) struct Step<'a> {
    pub(super) op: Option<Op>,
    pub(super) operands: &'a [Option<Tensor>],
    /// What later operations are given.
    pub(super) results: &'a mut [Tensor],
}

/// Runs a program on tensors and shows every step but constants. None where an operation has no
/// evaluation, or a step says so; else the tensor of each value.
pub(super) fn run(
    module: &Module,
    inputs: &[Datum],
    mut see: impl FnMut(Step<'_>) -> Option<()>,
) -> Option<FxHashMap<Value, Tensor>> {
    let mut found: FxHashMap<Value, Tensor> = FxHashMap::default();
    for (value, input) in module.args(module.body()).iter().zip(inputs) {
        let Datum::Tensor(tensor) = input else { return None };
        let mut results = [tensor.clone()];
        see(Step { op: None, operands: &[], results: &mut results })?;
        found.extend(results.map(|result| (*value, result)));
    }
    let last = module.last_op(module.body());
    for op in module.ops(module.body()).filter(|op| Some(*op) != last) {
        if constant::is_constant(module, op) {
            let value = module.result(op, 0);
            found.insert(value, constant::constant_tensor(module, value)?);
            continue;
        }
        let operands: Vec<Option<Tensor>> =
            module.operands(op).map(|value| found.get(&value).cloned()).collect();
        let mut results = within(MAX_BYTES, || evaluate(module, op, &operands)).ok()?;
        see(Step { op: Some(op), operands: &operands, results: &mut results })?;
        found.extend(module.results(op).zip(results));
    }
    Some(found)
}
