//! Passes over MLIR's dialects, and pipelines of passes in MLIR's syntax.
//!
//! A [`Pass`] changes what an operation holds: `builtin.module`, or each function in it. A
//! [`Pipeline`] says which passes run on what, in which order; [`run`] runs it, verifies what
//! each pass leaves, and says how long each took and what it counted. A program adds passes of its
//! own to a [`Registry`], and pipelines name them beside the others.
//!
//! ```
//! use tangram_passes::{Pipeline, RunOptions, Silent, run};
//!
//! let source = r#"
//! "func.func"() <{sym_name = "f", function_type = (i32) -> i32}> ({
//! ^bb0(%x: i32):
//!   %zero = "arith.constant"() <{value = 0 : i32}> : () -> i32
//!   %same = "arith.addi"(%x, %zero) : (i32, i32) -> i32
//!   "func.return"(%same) : (i32) -> ()
//! }) : () -> ()"#;
//! let context = tangram_dialects::context();
//! let mut module = tangram_ir::text::parse(source, "f.mlir", context).unwrap();
//! let pipeline = Pipeline::parse("builtin.module(func.func(canonicalize,cse))").unwrap();
//! run(&mut module, &pipeline, &RunOptions::default(), &mut Silent).unwrap();
//! assert!(!tangram_ir::text::print(&module).contains("arith.addi"));
//! ```

mod convert;
mod cse;
mod dce;
mod effects;
mod inline;
mod loop_invariant;
mod manager;
mod pass;
pub mod patterns;
mod pipeline;
mod registry;
mod sccp;
mod strip;
mod symbols;

pub use manager::{Observer, PassReport, RunError, RunOptions, RunReport, Silent, run};
pub use pass::{Pass, PassCx, PassError};
pub use pipeline::{Item, Pipeline, PipelineError};
pub use registry::{Entry, NameTaken, OptionError, PASSES, PassOptions, Registration, Registry};
