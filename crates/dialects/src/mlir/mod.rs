//! MLIR's own dialects, under their names: what `mlir-opt` prints of them is known here.
//!
//! - [`arith`], [`math`]: numbers, one by one or element by element.
//! - [`cf`], [`scf`]: control flow between blocks, and in regions.
//! - [`affine`]: loops and accesses with affine bounds and indices.
//! - [`memref`], [`tensor`]: buffers and values with elements.
//! - [`linalg`]: operations on whole tensors and buffers.
//! - [`vector`]: vectors of fixed or scalable extents.
//! - [`ub`]: what only undefined behaviour reaches.
//! - [`index`], [`complex`]: numbers as wide as an address, and complex numbers.
//! - [`bufferization`]: between tensors and buffers.
//! - `llvm`: LLVM's instructions and functions.
//! - `gpu`: kernels, their launches, and what threads tell each other.
//!
//! Each file holds one table. Names of operations, operands and attributes are MLIR's; where MLIR
//! gives an attribute a value by default, it is not required here.

pub mod affine;
pub mod arith;
pub mod bufferization;
mod canonicalization;
pub mod cf;
pub mod complex;
mod extents;
pub(crate) mod fold;
mod gpu;
pub mod index;
mod infer;
pub mod linalg;
mod llvm;
pub mod math;
pub mod memref;
mod mixed;
pub mod run;
pub mod scf;
mod speculate;
pub mod tensor;
pub mod ub;
pub mod vector;
pub(crate) mod verify;

pub use canonicalization::canonicalization;
pub use fold::number::integers;
pub use speculate::may_trap;
use tangram_ir::{Absence, Arity, AttrDef, AttrKind, Context, OpDef, OperandDef, ResultDef};

/// The tables of all dialects of this folder.
pub static TABLES: [&[OpDef]; 19] = [
    arith::DEFS,
    math::DEFS,
    cf::DEFS,
    scf::DEFS,
    affine::DEFS,
    memref::DEFS,
    tensor::DEFS,
    linalg::DEFS,
    vector::DEFS,
    ub::DEFS,
    index::DEFS,
    complex::DEFS,
    bufferization::DEFS,
    llvm::TABLES[0],
    llvm::TABLES[1],
    gpu::TABLES[0],
    gpu::TABLES[1],
    gpu::TABLES[2],
    gpu::TABLES[3],
];

/// Makes the operations of these dialects known.
pub fn register(context: &Context) {
    context.register(TABLES.into_iter().flatten());
    context.set_materializer("arith", arith::constant);
    context.set_materializer("index", index::constant);
    ["llvm", "gpu"].into_iter().for_each(|dialect| context.keep_types_as_text(dialect));
}

/// Exactly one operand.
const fn value(name: &'static str, doc: &'static str) -> OperandDef {
    OperandDef { name, arity: Arity::One, doc }
}

/// One operand or none.
const fn maybe(name: &'static str, doc: &'static str) -> OperandDef {
    OperandDef { name, arity: Arity::Optional, doc }
}

/// Any number of operands.
const fn values(name: &'static str, doc: &'static str) -> OperandDef {
    OperandDef { name, arity: Arity::Variadic, doc }
}

/// Exactly one result.
const fn result(name: &'static str, doc: &'static str) -> ResultDef {
    ResultDef { name, arity: Arity::One, doc }
}

/// Any number of results.
const fn results(name: &'static str, doc: &'static str) -> ResultDef {
    ResultDef { name, arity: Arity::Variadic, doc }
}

/// An attribute that has to be there.
const fn required(name: &'static str, kind: AttrKind, doc: &'static str) -> AttrDef {
    AttrDef::required(name, kind, doc)
}

/// An attribute that may be absent.
const fn optional(name: &'static str, kind: AttrKind, doc: &'static str) -> AttrDef {
    AttrDef::optional(name, kind, doc)
}

/// Two operands of one type.
const LHS_RHS: &[OperandDef] = &[value("lhs", "left operand"), value("rhs", "right operand")];
/// The one result.
const RESULT: &[ResultDef] = &[result("result", "the result")];
/// What a floating-point operation may assume and ignore.
const FASTMATH: &[AttrDef] = &[optional(
    "fastmath",
    AttrKind::Any,
    "`#arith.fastmath<...>`: what may be ignored; none where absent",
)
.absent(Absence::Means("#arith.fastmath<none>"))];
/// The indices of an element.
const INDICES: OperandDef = values("indices", "one index for each dimension");
