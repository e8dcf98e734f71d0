//! MLIR's `gpu` dialect: kernels, how they are launched, and what threads ask and tell each other.
//!
//! What runs on the host may be asynchronous: it takes tokens of what has to be done before, and
//! then gives one.

/// Whether an operation is asynchronous, and what has to be done before.
macro_rules! tokens {
    () => {
        "tokens($asyncDependencies, async, gpu.async.token) "
    };
}

mod device;
mod host;
mod matrices;
mod sparse;
mod verify;

use tangram_ir::{Arity, AttrData, Module, Op, OpDef, OperandDef, ResultDef};

/// The tables of this dialect: what a device runs, what the host does, products of matrices, dense
/// and sparse.
pub(super) const TABLES: [&[OpDef]; 4] = [device::DEFS, host::DEFS, matrices::DEFS, sparse::DEFS];

/// What has to be done before.
const DEPENDENCIES: OperandDef =
    OperandDef { name: "asyncDependencies", arity: Arity::Variadic, doc: "what has to be done" };
/// What stands for the end of an asynchronous operation.
const TOKEN: ResultDef =
    ResultDef { name: "asyncToken", arity: Arity::Optional, doc: "its end, if it is asynchronous" };

/// The word in an attribute `#gpu<kind word>`.
fn word<'a>(module: &'a Module, op: Op, name: &str) -> Option<&'a str> {
    let attr = module.attr(op, name)?;
    match module.context().attr_data(attr) {
        AttrData::Opaque(text) => {
            module.context().text(*text).strip_suffix('>')?.rsplit(' ').next()
        }
        _ => None,
    }
}
