//! Functions in IR as text for a compiler.
//!
//! What is printed is a `func.func` of one block: loops of `scf` with carried values, buffers of one
//! dimension and tables of them, numbers and vectors of `arith` and `vector`, and the operations that `tg` has for
//! micro-kernels. A [`Target`] is a table of what types and operations are called; the printer knows
//! only what variables are:
//!
//! - *A carried value is one variable.* The value that a loop starts from, its argument, what an iteration
//!   yields and the loop's result share it where none of them is read after the next is written; so do
//!   loops inside of each other.
//! - *Views walk.* `tg.advance` of a carried view is `view += by;`.
//! - *Statements keep their order.* Each load is one, in the place where it stands. What is pure and used
//!   once is a part of the expression that uses it, unless that is in a loop which it is not in: compilers
//!   fuse a product with a sum only within an expression.
//!
//! ```
//! use tangram_target::{GNU_C, function};
//!
//! let source = "func.func @sum(%x: memref<?xf32> {tg.noalias}, %n: index, %y: memref<1xf32>) {
//!     %c0 = arith.constant 0 : index
//!     %c1 = arith.constant 1 : index
//!     %zero = arith.constant 0.0 : f32
//!     %sum:2 = scf.for %i = %c0 to %n step %c1 iter_args(%view = %x, %old = %zero)
//!         -> (memref<?xf32>, f32) {
//!       %a = memref.load %view[%c0] : memref<?xf32>
//!       %p = arith.mulf %a, %a : f32
//!       %new = arith.addf %old, %p : f32
//!       %next = \"tg.advance\"(%view, %c1) : (memref<?xf32>, index) -> memref<?xf32>
//!       scf.yield %next, %new : memref<?xf32>, f32
//!     }
//!     memref.store %sum#1, %y[%c0] : memref<1xf32>
//!     func.return
//! }";
//! let module = tangram_ir::text::parse(source, "sum.mlir", tangram_dialects::context())
//!     .expect("a right program");
//! let sum = module.first_op(module.body()).expect("a function");
//! let expected = "\
//! static void sum(const float *restrict v0, long v1, float *v2)
//! {
//!     float v3 = 0;
//!     for (long v4 = 0; v4 < v1; v4++) {
//!         float v5 = v0[0];
//!         v3 = v3 + v5 * v5;
//!         v0 += 1;
//!     }
//!     v2[0] = v3;
//! }
//!
//! ";
//! assert_eq!(function(&module, sum, &GNU_C)?, expected);
//! # Ok::<(), tangram_target::PrintError>(())
//! ```

/// The example of the README runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod comment;
mod gnu_c;
mod inlined;
mod pairs;
mod printer;
mod text;
mod types;

pub use comment::comment;
pub use gnu_c::GNU_C;
use tangram_ir::{Module, Op};
pub use text::Strength;

/// A language, and what types and operations are called in it.
#[derive(Debug)]
pub struct Target {
    /// What stands before the name of a function.
    pub function: &'static str,
    /// The same where it has vectors of so many bytes.
    pub long_vectors: (usize, &'static str),
    /// Types of elements: MLIR's name, the name, the size in bytes.
    pub elements: &'static [(&'static str, &'static str, usize)],
    /// What has to be defined before an element type is used, by its name here.
    pub definitions: &'static [(&'static str, &'static str)],
    /// The type of a vector: `%V` is its name, `%E` that of its elements, `%B` and `%A` the bytes of
    /// the vector and of an element.
    pub vector: &'static str,
    /// How operations are written.
    pub operations: &'static [(&'static str, Spelling)],
    /// Functions that operations call: the operation, what the function's name has behind that of the
    /// function that is printed, and its text.
    pub helpers: &'static [(&'static str, &'static str, HelperText)],
}

/// Writes a function that an operation calls.
pub type HelperText = fn(&Helper<'_>) -> String;

/// What a helper is for.
#[derive(Debug)]
pub struct Helper<'a> {
    /// Its name.
    pub name: &'a str,
    /// The type of its result.
    pub ty: &'a str,
    /// How many elements that has: 1 for a number.
    pub width: usize,
    /// Its size in bytes.
    pub bytes: usize,
}

/// How an operation is written.
///
/// In texts `%0` is the first operand, `%+0` the same in brackets where it binds weaker than a product,
/// `%@0` the place that the first two operands are, `%T` and `%t` the types of the result and of the first
/// operand, `%F` the function of [`Target::helpers`], and `%%` a percent sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spelling {
    /// `left sign right`.
    Infix(char, Strength),
    /// The sign, and the operand behind it.
    Prefix(char),
    /// A value, and how strong its last operation binds.
    Value(&'static str, Strength),
    /// A value that is read from memory: a statement of its own, but for a view that the operation right
    /// behind it uses alone.
    Read(&'static str, Strength),
    /// A value in another form: the element that is read for nothing else right in front of it is a part
    /// of its text.
    Form(&'static str, Strength),
    /// `view + by`, and `view += by` where the view is a variable that is not read again.
    Advance,
    /// A statement without a value.
    Statement(&'static str),
    /// A statement about the variable of its operand, which its result is as well.
    Touch(&'static str),
}

/// Why a function has no text.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PrintError {
    /// It has no body of one block, or no name.
    #[error("no function of one block")]
    Function,
    /// An operation has no spelling.
    #[error("the target has no spelling of `{0}`")]
    Operation(String),
    /// A type has no name.
    #[error("the target has no name for the type `{0}`")]
    Type(String),
    /// A value is used where it is not defined.
    #[error("`{0}` uses a value that is not defined there")]
    Undefined(String),
}

/// Writes a function, with the types and functions that it needs before it.
///
/// The time is linear in the number of operations, and in the length of the text.
///
/// # Errors
/// [`PrintError`]: something in it that the target has no words for.
pub fn function(module: &Module, op: Op, target: &Target) -> Result<String, PrintError> {
    printer::Printer::new(module, op, target)?.function()
}
