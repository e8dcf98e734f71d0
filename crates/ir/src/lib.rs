//! The intermediate representation: operations, regions, blocks, values, types and attributes.
//!
//! A program is a tree of *operations*. An operation has a name (`nn.conv2d`), an ordered list
//! of *operands* and of *results* (both [`Value`]s), a dictionary of *attributes*, and possibly
//! *regions*, which hold *blocks*, which hold operations again. A value is a result of an
//! operation or an argument of a block; each operand is linked into the list of uses of its
//! value, so that users are found without a search.
//!
//! - [`Context`] interns what is immutable and shared: names, types, attributes, locations.
//!   Equality of two handles is equality of what they stand for.
//! - [`Module`] owns what changes: operations, values, blocks, regions and the *resources* (big
//!   tensors, which are never interned). Handles are `u32`s into dense arenas.
//! - [`OpDef`] says what an operation is: operands, results, attributes, traits and functions.
//!
//! ```
//! use tangram_ir::{Context, Order, text, verify, walk};
//!
//! let source = r#"
//!     %0 = "toy.read"() : () -> tensor<2x3xf32>
//!     %1 = "toy.add"(%0, %0) {fast} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
//!     "toy.print"(%1) : (tensor<2x3xf32>) -> ()
//! "#;
//! let mut module = text::parse(source, "toy.mlir", Context::new()).expect("a right program");
//! assert!(verify(&module).is_ok());
//!
//! // Two operands of one operation: two uses of the value.
//! let read = module.first_op(module.body()).expect("an operation");
//! let value = module.results(read).next().expect("its result");
//! assert_eq!(module.uses(value).count(), 2);
//! assert!(text::print(&module).contains(r#""toy.add"(%0, %0) {fast}"#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//! Nothing here knows a dialect, reads a file or prints to a terminal.

mod assembly;
mod attributes;
mod branch;
mod context;
mod diagnostic;
mod dominance;
mod float_format;
mod fold;
mod implied;
mod infer;
mod interner;
mod location;
mod module;
mod nesting;
mod op_def;
mod paged;
mod payload;
pub mod resource;
mod shaped;
mod statistics;
pub mod text;
mod types;
mod verify;
mod walk;

pub use attributes::{Attr, AttrData};
pub use branch::Branch;
pub use context::Name;
pub use context::{Context, Str};
pub use diagnostic::{Diagnostic, Severity};
pub use dominance::Dominance;
pub use fold::{Fold, FoldCx, FoldFn, Folded, MaterializeFn};
pub use implied::{ImpliedBody, ImpliedStep, ImplyFn};
pub use location::{Loc, LocData};
pub use module::{
    Block, Module, Op, OpState, Operand, Operands, Point, Region, Results, Use, Value, ValueDef,
};
pub use op_def::{
    Absence, Arity, AttrDef, AttrKind, FlowFn, HidesFn, InferCx, InferError, InferFn, Inferred,
    NameFn, OpDef, OperandDef, ResultDef, Traits, VerifyFn,
};
pub use paged::Paged;
pub use resource::{ForeignResource, Resources};
pub use statistics::Statistics;
pub use types::{Dim, DimExpr, DimKind, FloatKind, Signedness, TensorType, Type, TypeData};
pub use verify::{compatible_types, verify, verify_op};
pub use walk::{Order, walk};
