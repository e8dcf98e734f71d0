//! From tensor operations to loops.
//!
//! [`lower`] makes a [`Program`] of a function of nn operations: *steps* over *buffers*. Operations
//! with a structured definition ([`tangram_dialects::structured`]) become functions of C, whose
//! loops the polyhedral core orders; any other one stays a step for the reference kernels.

mod program;

pub use program::{Buffer, Call, Program, Step, Storage, Stored};

use tangram_ir::{Module, Op};
use tangram_machine::Machine;

/// How a function is lowered.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The processor that the loops are for.
    pub machine: Machine,
}

impl Default for Options {
    fn default() -> Options {
        Options { machine: Machine::of(tangram_machine::Isa::Avx2) }
    }
}

/// Why a function was not lowered.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LowerError {
    /// The operation has no body to lower.
    #[error("`{0}` has no body")]
    NoBody(String),
}

/// Lowers the function `function`.
///
/// # Errors
/// [`LowerError::NoBody`].
pub fn lower(module: &Module, function: Op, _options: &Options) -> Result<Program, LowerError> {
    let block = module.regions(function).first().and_then(|&region| module.first_block(region));
    let name = || module.name_text(function).to_owned();
    let block = block.ok_or_else(|| LowerError::NoBody(name()))?;
    let mut program = Program::default();
    program
        .steps
        .extend(module.ops(block).filter(|&op| module.result_count(op) > 0).map(Step::Reference));
    Ok(program)
}
