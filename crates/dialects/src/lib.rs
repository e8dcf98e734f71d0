//! Operation definitions: one readable place for each operation.
//!
//! - [`builtin`] and [`func`]: modules, functions, calls.
//! - [`nn`]: tensor operations at graph level, with type inference over symbolic dimensions and
//!   reference evaluation.
//! - [`conversion`]: from one dialect to another.
//! - [`structured`]: what operations compute, as loops over tensors.
//! - [`mlir`]: MLIR's dialects for numbers, control flow, loops, buffers and tensors.
//!
//! A definition is data plus functions. The verifier, type inference, the ONNX conversion, the
//! Python constructors and the reference documentation all read the same one.

pub mod assume;
pub mod attrs;
pub mod budget;
pub mod builtin;
pub mod constant;
pub mod conversion;
pub mod dims;
pub mod dtype;
pub mod eval;
pub mod func;
pub mod infer;
pub mod interpret;
pub mod mlir;
pub mod nn;
pub mod structured;

use std::sync::Arc;

use tangram_ir::Context;

/// A context that knows every dialect.
pub fn context() -> Arc<Context> {
    let context = Context::new();
    context.register(builtin::DEFS.iter().copied());
    context.register(func::DEFS.iter().copied());
    nn::register(&context);
    mlir::register(&context);
    context
}
