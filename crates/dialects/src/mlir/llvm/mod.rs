//! MLIR's `llvm` dialect: LLVM's instructions, functions and constants.
//!
//! Its types are kept as text. What is not in these tables has its generic form only.

mod instructions;
mod symbols;

use tangram_ir::{AttrDef, AttrKind};

use super::optional;

pub(super) const TABLES: [&[tangram_ir::OpDef]; 2] = [instructions::DEFS, symbols::DEFS];

/// Metadata of what reads or writes memory, also through a call.
const METADATA: [AttrDef; 4] = [
    optional("access_groups", AttrKind::Any, "metadata"),
    optional("alias_scopes", AttrKind::Any, "metadata"),
    optional("noalias_scopes", AttrKind::Any, "metadata"),
    optional("tbaa", AttrKind::Any, "metadata"),
];
