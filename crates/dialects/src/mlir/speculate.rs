//! Which operations may run where they did not run before.

use tangram_ir::{Module, Op, Traits, TypeData, Value};

use super::fold::number::as_int;

/// Returns whether `op` is undefined for some operands that it may have: a division is not where the
/// divisor is a constant other than 0 (and -1, if signed), an extent not where the number of the
/// dimension is a constant below the rank.
///
/// What its regions hold is not looked at.
pub fn may_trap(module: &Module, op: Op) -> bool {
    if !module.has_traits(op, Traits::MAY_TRAP) {
        return false;
    }
    let constant = || {
        let value = module.operands(op).nth(1)?;
        as_int(module.context(), module.constant_value(value)?)
    };
    let safe = match module.name_text(op) {
        "arith.divui" | "arith.remui" | "arith.ceildivui" => constant().is_some_and(|by| by != 0),
        "arith.divsi" | "arith.remsi" | "arith.floordivsi" | "arith.ceildivsi" => {
            constant().is_some_and(|by| by != 0 && by != -1)
        }
        "memref.dim" | "tensor.dim" => {
            let rank = module.operands(op).next().and_then(|value| rank(module, value));
            constant().zip(rank).is_some_and(|(at, rank)| at >= 0 && at < rank)
        }
        _ => false,
    };
    !safe
}

fn rank(module: &Module, value: Value) -> Option<i128> {
    match module.context().type_data(module.value_type(value)) {
        TypeData::MemRef { dims, .. } => Some(dims.len() as i128),
        TypeData::Tensor(tensor) => Some(tensor.dims.len() as i128),
        _ => None,
    }
}
