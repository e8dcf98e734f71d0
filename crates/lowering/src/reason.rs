//! Why an operation is not compiled.

use tangram_dialects::structured::wants_extents;
use tangram_ir::{Module, Op};
use tangram_tensor::DType;

use crate::LowerError;

/// Why an operation stays for the reference kernels.
#[derive(Clone, Debug, Default, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// Operations of its kind are defined by their kernels alone.
    #[default]
    #[error("it has no definition as loops")]
    NoLoops,
    /// It has a definition as loops for other extents, or for these once they are known.
    #[error("it has no definition as loops while extents are open; fix them with --dim")]
    OpenExtents,
    /// Code has no form for elements of this type.
    #[error("elements of type {} are not compiled", .0.name())]
    Element(DType),
    /// An operand is no tensor whose type and extents are known, so it has no place in memory.
    #[error("operand {0} has no place in memory: its type or extents are not known")]
    Operand(usize),
    /// A result is no tensor whose type and extents are known.
    #[error("result {0} has no place in memory: its type or extents are not known")]
    Result(usize),
    /// It has so many operands or results that a compiler of C would not come to an end.
    #[error("it has {0} operands and results, more than are compiled")]
    TooMany(usize),
    /// Loops were made, and no order of them was found.
    #[error("its loops have no order: {0}")]
    Order(LowerError),
}

impl Reason {
    /// Why `op`, which has no structured definition, has none.
    pub(crate) fn without_definition(module: &Module, op: Op) -> Reason {
        if wants_extents(module, op) { Reason::OpenExtents } else { Reason::NoLoops }
    }
}
