//! MLIR's text, both ways.
//!
//! [`print()`] writes what `mlir-opt --mlir-print-op-generic` writes. With [`Options::generic`] off,
//! operations whose definition has an assembly format are written as `mlir-opt` does by default.
//! [`parse`] reads both, also in one text:
//!
//! ```text
//! "builtin.module"() ({
//!   %0 = "nn.relu"(%1) : (tensor<?x3xf32, ["N", ""]>) -> tensor<?x3xf32, ["N", ""]>
//! }) : () -> ()
//! ```
//!
//! - Attributes that the definition of an operation names stand in `<{...}>`, others in `{...}`;
//!   those of an operation that is not registered stay where they were.
//! - A symbolic extent is printed as `?`; the encoding of the tensor type carries it: one string
//!   for each dimension, empty where there is nothing to say, and after them the encoding proper
//!   if there is one.
//! - An attribute or type of a dialect that is not registered is kept as it is written.
//! - Metadata of fused locations, and the end of a range location, are dropped.
//!
//! Printing what was parsed from printed text gives the same bytes.
//!
//! ```
//! use tangram_ir::{Context, text};
//!
//! let source = "%0 = \"x.make\"() {size = 3 : i64} : () -> tensor<?xf32, [\"N\"]>\n\
//!               \"x.use\"(%0) : (tensor<?xf32, [\"N\"]>) -> ()";
//! let module = text::parse(source, "a.mlir", Context::new()).map_err(|errors| errors.len());
//! let printed = text::print(&module.expect("a right module"));
//! assert!(printed.starts_with("\"builtin.module\"() ({\n  %0 = \"x.make\"()"));
//! ```

mod float;
mod obeyed;
mod occurrences;
mod parse;
mod print;

pub use obeyed::is_obeyed;
pub use occurrences::{Bytes, Occurrences, SymbolName, ValueName, ValueUse};
pub use parse::{parse, parse_with_occurrences, token_end};
pub use print::{
    Options, attr_text, attr_text_elided, print, print_elided, print_op, print_to, type_text,
};
