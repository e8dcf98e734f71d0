//! Why a session could not be made, or not be run.

use std::path::PathBuf;

use tangram_dialects::interpret::InterpretError;
use tangram_lowering::LowerError;
use tangram_machine::Isa;
use tangram_tensor::{DType, KernelError};

/// Why a model could not be compiled, loaded or run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The model has no graph.
    #[error("the model has no graph")]
    NoGraph,
    /// The model was not lowered.
    #[error(transparent)]
    Lower(#[from] LowerError),
    /// No code was made of the program.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The inputs are not those of the model.
    #[error(transparent)]
    Input(#[from] InputError),
    /// An operation could not be evaluated.
    #[error(transparent)]
    Interpret(#[from] InterpretError),
    /// The model has no such output.
    #[error("the model has no output `{name}`; it has {}", listed(known))]
    Output {
        /// What was asked for.
        name: String,
        /// The outputs that there are.
        known: Vec<String>,
    },
    /// A value has not the extents that were inferred for it.
    #[error("`{operation}` gave {found}, but {expected} was inferred")]
    Extents {
        /// The operation.
        operation: String,
        /// Element type and extents that it should have.
        expected: String,
        /// Those that it has.
        found: String,
    },
    /// A size of the program cannot be computed from the sizes of the inputs.
    #[error("`{0}` is no size for these inputs")]
    Size(String),
    /// The caller ended the run.
    #[error("the run was ended by its caller (`terminate` is set)")]
    Stopped,
    /// An output does not fit where it is to be written.
    #[error("output `{name}`: {expected} is bound, but the model gives {found}")]
    Target {
        /// The output.
        name: String,
        /// Element type and extents of the memory that is bound.
        expected: String,
        /// What the model gives.
        found: String,
    },
    /// Compiled code computed an index that is outside of the tensor that it is for.
    #[error("an index is outside of the tensor that it is for")]
    Index,
    /// Compiled code divided an integer by zero.
    #[error("integer division by zero")]
    Division,
    /// The code is not for inputs of these sizes, and what it was made of is not at hand.
    #[error("the code is not for inputs of these sizes")]
    Uncovered,
    /// A session that was kept is not enough, and it could not be made anew.
    #[error("the model could not be compiled anew: {0}")]
    Again(Box<dyn std::error::Error + Send + Sync>),
    /// Not all of the model is compiled.
    #[error("these operations are not compiled yet: {}", operations.join("; "))]
    NotCompiled {
        /// The operators, each with the first node of it and the reason.
        operations: Vec<String>,
        /// Whether some of them may be where all extents are known.
        want_extents: bool,
    },
    /// There is not enough memory.
    #[error("{0} bytes of memory could not be had")]
    Memory(usize),
    /// The program contradicts itself: a defect of the lowering.
    #[error("the program is wrong, which is a defect: {0}")]
    Broken(String),
    /// A tensor could not be made.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}

/// Why no code was made of a program.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// There is no C compiler.
    #[error(
        "no C compiler was found (tried {}): install gcc or clang (Debian and Ubuntu: `apt install \
         gcc`, Fedora: `dnf install gcc`, macOS: `xcode-select --install`) or name one in the \
         variable CC; the interpreter runs the model without one, only slower (`--interpret`, or \
         `SessionOptions.interpret = True` in Python)",
        listed(tried)
    )]
    NoCompiler {
        /// The commands that do not start.
        tried: Vec<String>,
    },
    /// The compiler refused.
    #[error(
        "the C compiler failed, which is a defect unless memory, disk or open files ran out: {command}\n{messages}"
    )]
    Refused {
        /// How it was called.
        command: String,
        /// What it said.
        messages: String,
    },
    /// The compiler was ended from outside, as by a system without memory.
    #[error("the C compiler was ended ({status}): {command}")]
    Ended {
        /// How it was called.
        command: String,
        /// How it ended.
        status: String,
    },
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The code is for a processor that has more than this one.
    #[error(
        "code for {isa} does not run on this processor, which has {here}: `--machine native` makes some \
         that does, and `tangram compile --machine {isa}` a library for another computer"
    )]
    Processor {
        /// What the code is for.
        isa: Isa,
        /// What the processor has.
        here: Isa,
    },
    /// The system does not load what was built.
    #[error("the compiled code was not loaded: {0}")]
    Load(String),
}

/// What is wrong with the inputs of a run.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// There is no input of this name.
    #[error("the model has no input `{name}`; it has {}", listed(known))]
    Unknown {
        /// The name.
        name: String,
        /// The inputs that there are.
        known: Vec<String>,
    },
    /// An input is given twice.
    #[error("input `{0}` is given twice")]
    Twice(String),
    /// Inputs are not given.
    #[error("no value is given for {}", listed(.0))]
    Missing(Vec<String>),
    /// The value has another kind.
    #[error("input `{name}`: {expected} expected, {found} given")]
    Kind {
        /// The input.
        name: String,
        /// What the model wants: a tensor, a sequence.
        expected: &'static str,
        /// What was given.
        found: &'static str,
    },
    /// The elements have another type.
    #[error("input `{name}`: elements of type {expected} expected, {found} given")]
    Element {
        /// The input.
        name: String,
        /// The type in the model.
        expected: DType,
        /// The type that was given.
        found: DType,
    },
    /// The value has another number of dimensions.
    #[error("input `{name}`: rank {expected} expected, {found} given (shape {shape:?})")]
    Rank {
        /// The input.
        name: String,
        /// The rank in the model.
        expected: usize,
        /// The rank that was given.
        found: usize,
        /// The shape that was given.
        shape: Vec<usize>,
    },
    /// A dimension has another extent.
    #[error("input `{name}`: dimension {dimension} is {found}, expected {expected}{because}")]
    Extent {
        /// The input.
        name: String,
        /// The number of the dimension.
        dimension: usize,
        /// The extent that it should have.
        expected: i64,
        /// The extent that it has.
        found: usize,
        /// Where that comes from, in words.
        because: String,
    },
    /// A size is outside the range that the model was compiled for.
    #[error(
        "input `{name}`: `{symbol}` is {found}, but the model was opened for {least} to {greatest}"
    )]
    Range {
        /// The input.
        name: String,
        /// The size.
        symbol: String,
        /// The least that it can be.
        least: i64,
        /// The greatest that it can be.
        greatest: i64,
        /// What it is.
        found: i64,
    },
}

fn listed(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    if quoted.is_empty() { "none".to_owned() } else { quoted.join(", ") }
}
