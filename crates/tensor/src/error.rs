//! What can go wrong in a kernel: always a value, never a panic.

use crate::dtype::DType;

/// Says why a tensor or the result of a kernel could not be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum KernelError {
    /// No element type has this name.
    #[error("unknown element type '{found}'")]
    UnknownDType {
        /// The name given.
        found: String,
    },
    /// A tensor has another element type than the kernel takes.
    #[error("{kernel}: expected {expected}, found {found}")]
    BadDType {
        /// The kernel.
        kernel: &'static str,
        /// What it takes, in words or as a type name.
        expected: &'static str,
        /// The type it was given.
        found: DType,
    },
    /// Two operands that must have the same element type differ.
    #[error("{kernel}: operands have different element types, {left} and {right}")]
    MixedDTypes {
        /// The kernel.
        kernel: &'static str,
        /// Type of the first operand.
        left: DType,
        /// Type of the operand that differs.
        right: DType,
    },
    /// A tensor has a shape that the kernel does not take.
    #[error("{kernel}: expected {expected}, found shape {found:?}")]
    BadShape {
        /// The kernel.
        kernel: &'static str,
        /// What it takes, in words.
        expected: String,
        /// The shape it was given.
        found: Box<[usize]>,
    },
    /// Two shapes do not broadcast together.
    #[error("{kernel}: shapes {left:?} and {right:?} do not broadcast together")]
    Broadcast {
        /// The kernel.
        kernel: &'static str,
        /// One shape.
        left: Box<[usize]>,
        /// The other shape.
        right: Box<[usize]>,
    },
    /// The data holds another number of elements or bytes than the shape asks for.
    #[error("{dtype} tensor of shape {shape:?} takes {expected} {unit}, found {found}")]
    BadLength {
        /// The element type.
        dtype: DType,
        /// The shape.
        shape: Box<[usize]>,
        /// `"bytes"` or `"elements"`.
        unit: &'static str,
        /// How many the shape asks for.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// An axis lies outside the rank.
    #[error("{kernel}: axis {axis} is out of range for rank {rank}")]
    BadAxis {
        /// The kernel.
        kernel: &'static str,
        /// The axis as given, possibly negative.
        axis: i64,
        /// Rank of the tensor.
        rank: usize,
    },
    /// An index lies outside the dimension that it indexes.
    #[error("{kernel}: index {index} is out of range for dimension of size {size}")]
    IndexOutOfRange {
        /// The kernel.
        kernel: &'static str,
        /// The index as given, possibly negative.
        index: i64,
        /// Size of the dimension.
        size: usize,
    },
    /// A parameter has a value that the kernel does not take.
    #[error("{kernel}: {parameter}: expected {expected}, found {found}")]
    BadParameter {
        /// The kernel.
        kernel: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// What it takes, in words.
        expected: &'static str,
        /// The value as text.
        found: String,
    },
    /// An element cannot be converted: text that is no number, bytes that are no text.
    #[error("cannot convert {found:?} to {to}")]
    BadElement {
        /// The target type.
        to: DType,
        /// The element as text.
        found: String,
    },
    /// An integer is divided by zero.
    #[error("{kernel}: integer division by zero")]
    DivisionByZero {
        /// The kernel.
        kernel: &'static str,
    },
    /// The result would exceed [`MAX_BYTES`](crate::MAX_BYTES).
    #[error("a {dtype} tensor of shape {shape:?} exceeds the limit of {limit} bytes")]
    TooLarge {
        /// Element type of the result.
        dtype: DType,
        /// Shape of the result.
        shape: Box<[usize]>,
        /// The limit.
        limit: usize,
    },
    /// There is not so much memory, or it may not be taken.
    #[error("{asked} more bytes are needed, {left} are left of the memory that may be taken")]
    OutOfMemory {
        /// The bytes that are needed at once.
        asked: u64,
        /// The bytes that are left.
        left: u64,
    },
    /// Somebody wants evaluation to end.
    #[error("evaluation was interrupted")]
    Stopped,
    /// Evaluation takes longer than it may.
    #[error("evaluation takes longer than {} s", most.as_secs_f64())]
    OutOfTime {
        /// How long it may take.
        most: std::time::Duration,
    },
    /// The kernel is defined for the request, but not implemented.
    #[error("{kernel}: {what} is not supported")]
    Unsupported {
        /// The kernel.
        kernel: &'static str,
        /// What is missing.
        what: String,
    },
}

/// What every kernel returns.
pub type Result<T, E = KernelError> = std::result::Result<T, E>;
