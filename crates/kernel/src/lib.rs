//! Micro-kernels: the innermost tile of a contraction, from its definition to vector code.
//!
//! A *contraction* updates each element of its target by an expression over two groups of
//! operands, again and again along its reduced loops. *Row* operands vary with the rows of a tile
//! of the target, *column* operands with its columns:
//!
//! ```text
//! C[i][j] += A[i][p] * B[p][j]        A is a row operand, B a column operand, p is reduced
//! ```
//!
//! The [`RegisterTile`] of a machine has as many rows and columns as its registers hold. For it a
//! [`Program`] is made by named steps, each a program that computes the same bits, which
//! [`Program::run`] shows:
//!
//! 1. [`Program::unrolled`]: one iteration over `p` as straight code, an update for each element;
//! 2. [`Program::scalar_replaced`]: elements of the target stay in registers during the loop over
//!    `p`, and operands are loaded once;
//! 3. [`Program::vectorised`]: elements side by side in a row become one vector.
//!
//! ```
//! use tangram_kernel::{Body, Element, Program, RegisterTile};
//! use tangram_machine::{Isa, Machine};
//!
//! let body = Body::product(); // target += row * column
//! let tile = RegisterTile::of(&Machine::of(Isa::Avx2), Element::F64, &body);
//! assert_eq!((tile.rows, tile.columns(), tile.width), (6, 8, 4));
//!
//! let program = Program::for_tile(&body, &tile)?;
//! // 12 sums, 2 vectors of B, an element of A, and a product where nothing fuses it with its sum.
//! assert_eq!(program.registers(), 16);
//! let code = program.to_c("kernel", Element::F64)?;
//! assert!(code.contains("vector_size(32)"));
//! # Ok::<(), tangram_kernel::StepError>(())
//! ```
//!
//! # Order of operations
//! Sums start from the target and take the reduced loop's iterations in their order, each update
//! one expression of the same form as the source's. So results are the source's bit for bit
//! where the compiler fuses multiplications and additions alike in both, as GCC and Clang do by
//! default.
//!
//! # Source
//! K. Goto, R. van de Geijn, "Anatomy of high-performance matrix multiplication" (TOMS 34(3),
//! 2008); T. M. Low et al., "Analytical modeling is enough for high-performance BLIS" (TOMS 43(2),
//! 2016).

/// The example of the README runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod blocking;
mod body;
mod c;
mod cuda;
mod ir;
mod program;
mod ragged;
mod run;
mod steps;
mod tile;

pub use blocking::Blocking;
pub use body::{Body, BodyError, Op, Role};
pub use cuda::Threads;
pub use program::{Inst, Program, Register};
pub use run::Panels;
pub use steps::StepError;
pub use tile::{Element, PAIR, PAIR_OF_BYTES, RegisterTile};
