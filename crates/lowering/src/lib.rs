//! From tensor operations to loops.
//!
//! [`lower`] makes a [`Program`] of a function of nn operations: *steps* over *buffers*. An
//! operation with a structured definition ([`tangram_dialects::structured`]) becomes loop nests.
//! Nests are joined where that saves passes over memory, each is read as a static control part,
//! the polyhedral core finds its dependences and an order of its loops, and a function of C comes
//! out. Any other operation stays a step for the reference kernels.
//!
//! ```text
//! nn.conv2d, nn.bias_add, nn.relu ──▶ three nests ──▶ one: a sum, finished by + bias, max 0
//!                                  ──▶ statements I, S, F ──▶ schedule tree ──▶ loops in C
//! ```
//! ```
//! use tangram_lowering::{Options, ProgramStep, lower};
//!
//! let source = r#"
//! "func.func"() <{sym_name = "f",
//!     function_type = (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>}> ({
//! ^bb0(%x: tensor<16x64xf32>, %w: tensor<64x32xf32>):
//!   %0 = "nn.matmul"(%x, %w) : (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>
//!   %1 = "nn.relu"(%0) : (tensor<16x32xf32>) -> tensor<16x32xf32>
//!   "func.return"(%1) : (tensor<16x32xf32>) -> ()
//! }) : () -> ()"#;
//! let module = tangram_ir::text::parse(source, "f.mlir", tangram_dialects::context())
//!     .expect("a right program");
//! let function = module.first_op(module.body()).expect("a function");
//! let program = lower(&module, function, &Options::default())?;
//! // Weights are packed; the product and what finishes it are one function then.
//! let [ProgramStep::Call(_), ProgramStep::Call(call)] = &program.steps[..] else {
//!     panic!("{:?}", program.steps)
//! };
//! assert_eq!(call.ops.len(), 2);
//! assert!(program.text_of(&call.function).is_some_and(|text| text.contains("for (")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod array_contraction;
mod bounds;
mod c;
mod collapse;
mod contraction;
mod extent_assumptions;
mod function;
mod function_cache;
mod fusion;
mod group;
mod ir;
mod layout;
mod nest;
mod packing;
mod parameters;
mod passes;
mod program;
mod quantised;
mod ranges;
mod reason;
mod relations;
mod scaling;
mod scop;
mod storage;
mod unit_dims;
mod widening;
mod windows;
mod winograd;

pub use c::{DIVISION, OUTSIDE};
pub use function_cache::Texts;
pub use passes::{Nobody, Watch, pass_names};
pub use program::{Buffer, Call, FUNCTION_START, Program, ProgramStep, Storage, Stored};
pub use reason::Reason;

use std::sync::Arc;
use std::time::Instant;

use rustc_hash::FxHashMap;
use tangram_dialects::conversion::nn_to_linalg::nn_to_linalg;
pub use tangram_dialects::conversion::nn_to_linalg::{Linalg, LinalgError};
use tangram_ir::{Module, Op};
use tangram_kernel::StepError;
use tangram_machine::{Isa, Machine};
use tangram_polyhedral::Error as LoopError;
use tangram_presburger::Error as SetError;

/// How a function is lowered.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The processor that the loops are for.
    pub machine: Machine,
    /// Whether every sum is taken in the order of its definition.
    pub exact: bool,
    /// How many steps sets and schedules may take for one function of C.
    pub steps: u64,
    /// Who keeps functions that were written before.
    pub texts: Option<Arc<dyn Texts>>,
    /// Whether the program is written as IR and verified after each pass over nests: so in debug
    /// builds unless something else is said.
    pub verify_each: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            machine: Machine::of(Isa::Avx2),
            exact: false,
            steps: 50_000_000,
            texts: None,
            verify_each: cfg!(debug_assertions),
        }
    }
}

/// Why a function, or a part of it, was not lowered.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LowerError {
    /// The operation has no body to lower.
    #[error("`{0}` has no body")]
    NoBody(String),
    /// A loop nest has an access or a bound that is not affine.
    #[error("a loop nest is not affine")]
    NotAffine,
    /// What a pass left cannot be written as IR: our own mistake.
    #[error("a nest of `{0}` cannot be written as IR")]
    Unwritten(String),
    /// What a pass left is not valid: our own mistake.
    #[error("the program is not valid after the pass `{pass}`: {message}")]
    Invalid {
        /// The pass.
        pass: &'static str,
        /// What the verifier says.
        message: String,
    },
    /// A set could not be computed.
    #[error(transparent)]
    Sets(#[from] SetError),
    /// No order of the loops was found.
    #[error(transparent)]
    Loops(#[from] LoopError),
    /// A function is written with a size that is not among its arguments: our own mistake.
    #[error("the size `{0}` is no argument of the function that uses it")]
    Size(String),
    /// A register tile has no micro-kernel: our own mistake.
    #[error("a product has no micro-kernel: {0}")]
    Kernel(#[from] StepError),
}

/// The start of every source: the elementary functions that compiled code uses.
pub fn elementary_functions() -> String {
    c::preamble()
}

/// Converts the function `function` to `linalg` on tensors, for other compilers.
///
/// As [`lower`] does, it takes extents that inference leaves open to be equal where they have to
/// be; the code asserts it.
///
/// # Errors
/// [`LinalgError`].
pub fn linalg(module: &Module, function: Op) -> Result<Linalg, LinalgError> {
    let mut settled = module.clone();
    let assumed = extent_assumptions::unify(&mut settled, function);
    nn_to_linalg(&settled, function, &assumed)
}

/// A copy of `module` in which the values of `function`'s own block have the extents and contents
/// that [`lower`] takes them to have.
pub fn settled(module: &Module, function: Op) -> Module {
    let mut settled = module.clone();
    extent_assumptions::unify(&mut settled, function);
    settled
}

/// Lowers the function `function`.
///
/// The time is that of scheduling each loop nest, equal ones once.
///
/// # Errors
/// [`LowerError::NoBody`]; [`LowerError::Invalid`] where passes are verified.
pub fn lower(module: &Module, function: Op, options: &Options) -> Result<Program, LowerError> {
    let program = lower_watched(module, function, options, &mut Nobody)?;
    Ok(program.unwrap_or_default())
}

/// As [`lower`], while `watch` sees the nests after each pass over them, and the micro-kernels.
///
/// Returns `None` where it has seen enough.
///
/// # Errors
/// As [`lower`].
pub fn lower_watched(
    module: &Module,
    function: Op,
    options: &Options,
    watch: &mut dyn Watch,
) -> Result<Option<Program>, LowerError> {
    let block = module.regions(function).first().and_then(|&region| module.first_block(region));
    let name = || module.name_text(function).to_owned();
    let block = block.ok_or_else(|| LowerError::NoBody(name()))?;
    let mut settled = module.clone();
    let assumed = extent_assumptions::unify(&mut settled, function);
    // Of functions that were kept there is text alone.
    let texts = options.texts.clone().filter(|_| !watch.wants(passes::MICRO));
    let options = &Options { texts, ..options.clone() };
    // Operations that have a nest without an order run on the reference kernels, as a whole.
    let mut refused = FxHashMap::default();
    loop {
        let draft = passes::nests(&settled, (function, block), &refused, options, watch)?;
        let Some(draft) = draft else { return Ok(None) };
        let start = Instant::now();
        let program = function::program(draft, options);
        watch.after(passes::SCHEDULE, start.elapsed(), None);
        match program {
            Ok((program, kernels)) => {
                let goes_on = passes::micro(settled.context_arc(), &kernels, options, watch)?;
                return Ok(goes_on.then_some(Program { assumed, ..program }));
            }
            Err(ops) => refused.extend(ops),
        }
    }
}
