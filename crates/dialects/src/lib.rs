//! Operation definitions: one readable place for each operation.
//!
//! - [`builtin`] and [`func`]: modules, functions, calls.
//! - [`nn`]: tensor operations at graph level, with type inference over symbolic dimensions and
//!   reference evaluation.
//! - [`field`]: programs over a prime field, where equal polynomials are seen to be equal.
//! - [`conversion`]: from one dialect to another.
//! - [`structured`]: what operations compute, as loops over tensors.
//! - [`tg`]: loop nests over tensors, as operations.
//! - [`mlir`]: MLIR's dialects for numbers, control flow, loops, buffers and tensors.
//!
//! Without the feature `nn`, which is on by default, there are MLIR's dialects only, and no tensors.
//!
//! A definition is data plus functions. The verifier, type inference, the ONNX conversion, the
//! Python constructors and the reference documentation all read the same one.
//! ```
//! use tangram_dialects::interpret::{Datum, interpret};
//! use tangram_tensor::Tensor;
//!
//! let source = r#"
//! "func.func"() <{sym_name = "f", function_type = (tensor<2x?xf32>) -> tensor<?x2xf32>}> ({
//! ^bb0(%x: tensor<2x?xf32>):
//!   %0 = "nn.transpose"(%x) {axes = array<i64: 1, 0>} : (tensor<2x?xf32>) -> tensor<?x2xf32>
//!   %1 = "nn.relu"(%0) : (tensor<?x2xf32>) -> tensor<?x2xf32>
//!   "func.return"(%1) : (tensor<?x2xf32>) -> ()
//! }) : () -> ()"#;
//! let module = tangram_ir::text::parse(source, "f.mlir", tangram_dialects::context())
//!     .expect("a right program");
//! // The verifier infers the type of each result and compares.
//! assert!(tangram_ir::verify(&module).is_ok());
//!
//! let function = module.first_op(module.body()).expect("a function");
//! let x = Tensor::from_vec([2, 2], vec![1.0_f32, -2.0, 3.0, 4.0])?;
//! let results = interpret(&module, function, &[Datum::Tensor(x)])?;
//! let [Datum::Tensor(y)] = &results[..] else { panic!("one tensor") };
//! assert_eq!(y.to_vec::<f32>()?, [1.0, 3.0, 0.0, 4.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "nn")]
pub mod assume;
#[cfg(feature = "nn")]
pub mod attrs;
#[cfg(feature = "nn")]
pub mod budget;
pub mod builtin;
#[cfg(feature = "nn")]
pub mod constant;
pub mod conversion;
#[cfg(feature = "nn")]
pub mod defined;
#[cfg(feature = "nn")]
pub mod dims;
#[cfg(feature = "nn")]
pub mod dtype;
#[cfg(feature = "nn")]
pub mod eval;
#[cfg(feature = "nn")]
pub mod field;
pub mod func;
#[cfg(feature = "nn")]
pub mod infer;
#[cfg(feature = "nn")]
pub mod interpret;
pub mod mlir;
#[cfg(feature = "nn")]
pub mod nn;
#[cfg(feature = "nn")]
pub mod structured;
#[cfg(feature = "nn")]
pub mod tg;

use std::sync::Arc;

use tangram_ir::Context;

/// A context that knows every dialect.
pub fn context() -> Arc<Context> {
    let context = Context::new();
    context.register(builtin::DEFS.iter().copied());
    context.register(func::DEFS.iter().copied());
    #[cfg(feature = "nn")]
    nn::register(&context);
    #[cfg(feature = "nn")]
    tg::register(&context);
    mlir::register(&context);
    context
}
