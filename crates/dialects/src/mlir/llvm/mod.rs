//! MLIR's `llvm` dialect: LLVM's instructions, functions and constants.
//!
//! Its types are kept as text. What is not in these tables has its generic form only.

mod instructions;
mod symbols;

pub(super) const TABLES: [&[tangram_ir::OpDef]; 2] = [instructions::DEFS, symbols::DEFS];
