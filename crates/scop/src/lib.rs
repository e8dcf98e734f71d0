//! Static control parts from C source.
//!
//! [`parts`] takes preprocessed C and returns what stands between `#pragma scop` and
//! `#pragma endscop`: loops and conditions that are affine in parameters and outer loops,
//! and statements that access arrays at affine places.
//!
//! ```c
//! #pragma scop
//! for (int i = 0; i < n; i++)
//!     for (int j = 0; j <= i; j++)
//!         y[i] += a[i][j] * x[j];
//! #pragma endscop
//! ```
//!
//! `examples/kernels` has more. Bounds and conditions may use `+`, `-`, multiplication by constants, `/` and `%` by
//! positive constants, `min`, `max`, `floord`, `ceild`, `?:`, `&&`, `||` and `!`. What is
//! not affine is reported with its place and the reason.
//!
//! [`rewrite`] puts generated loops in the place of parts.
//!
//! Assumed, as usual: arrays of different names do not overlap, subscripts stay within
//! extents, integer arithmetic does not overflow, and nothing behind a part uses the value
//! that a loop variable of it has at the end.

mod access;
mod affine;
mod build;
mod declare;
mod emit;
mod find;

pub use emit::{Emit, rewrite};

use std::fmt;

use tangram_polyhedral::scop::Scop;
use tangram_presburger::Budget;
use thiserror::Error;

/// A static control part and where it stands.
#[derive(Debug, Clone)]
pub struct Part {
    /// The function around it.
    pub function: String,
    /// The line of `#pragma scop` in the source, from 1.
    pub first_line: usize,
    /// The line of `#pragma endscop`.
    pub last_line: usize,
    /// What it does.
    pub scop: Scop,
    /// Variables declared directly in the part: what follows it may use them.
    pub declared: Vec<String>,
    /// Parameters that may be unsigned or of a type of unknown sign.
    pub unsigned: Vec<String>,
}

/// Something that keeps a part from being a static control part.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Error)]
pub struct Problem {
    /// The line, from 1, in the file that the preprocessor names.
    pub line: usize,
    /// The column of the preprocessed line, from 1, in characters.
    pub column: usize,
    /// What is wrong, and what could be there.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

/// Finds the parts of a preprocessed C file that are marked by `#pragma scop`.
///
/// Linear in the source but for the set operations on domains.
///
/// # Errors
/// All [`Problem`]s that were found, in the order of the source.
pub fn parts(source: &str, budget: &Budget) -> Result<Vec<Part>, Vec<Problem>> {
    find::parts(source, budget)
}
