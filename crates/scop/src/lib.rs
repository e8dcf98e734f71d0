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
//! `examples/kernels` has more. Bounds and conditions may use `+`, `-`, multiplication by
//! constants, `/` and `%` by positive constants, `min`, `max`, `floord`, `ceild`, `?:`, `&&`, `||`
//! and `!`. What is not affine is reported with its place and the reason.
//!
//! A condition, subscript or inner loop that depends on data makes what it governs one
//! statement with uncertain accesses. [`detect`] finds parts that no pragma marks.
//!
//! [`rewrite`] puts generated loops in the place of parts.
//!
//! Assumed, as C says: subscripts stay within extents, and arithmetic in types with a sign does not
//! overflow. What else new code needs it tests, beside the loops of the source ([`guarded`]): that arrays
//! do not overlap, that values fit. Loop variables have their last values behind new loops; where these
//! have no plain form, a part stays as it is.
//! ```
//! use tangram_polyhedral::ast::{Ast, AstOptions};
//! use tangram_polyhedral::optimise::Recipe;
//! use tangram_presburger::Budget;
//! use tangram_scop::{Emit, parts, rewrite};
//!
//! let source = "void f(int n, double a[n][n], double b[n][n]) {
//! #pragma scop
//!   for (int j = 0; j < n; j++)
//!     for (int i = 0; i < n; i++) a[i][j] = 2 * b[i][j];
//! #pragma endscop
//! }
//! ";
//! let budget = Budget::steps(10_000_000);
//! let parts = parts(source, &budget).map_err(|problems| problems[0].to_string())?;
//! let best = parts[0].scop.optimise(&Recipe::default(), &budget)?;
//! let ast = Ast::of_tree(&best.tree, None, &AstOptions::default(), &budget)?;
//! let faster = rewrite(source, &[(&parts[0], Some(&ast))], &Emit::default())?;
//! // Rows outside, so that the innermost loop goes from cell to cell.
//! let loop_over = |name: &str| faster.find(&format!("{name} = 0;")).expect("a loop");
//! assert!(loop_over("i") < loop_over("j"), "{faster}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

/// The example of the README runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod access;
mod accumulate;
mod affine;
mod black_box;
mod build;
mod c_integer;
mod c_tokens;
mod constants;
mod contraction;
mod counting;
mod cuda;
mod declare;
mod definitions;
mod detect;
mod directives;
mod emit;
mod expand;
mod final_values;
mod floats;
mod guard;
mod item;
mod line_index;
mod live_out;
mod lvalue;
mod macros;
mod memory;
mod names;
mod nesting;
mod number;
mod parse;
mod plain;
mod polynomial;
mod pragma;
mod pure;
mod restored;
mod source;
mod source_range;
mod structure;
mod subscript;
mod top_level;
mod wrapping;

pub use contraction::Operands;
pub use cuda::{cuda, device_code};
pub use declare::Enumeration;
pub use emit::{Emit, guarded, rewrite};
pub use restored::with_directives;
pub use source_range::{Beside, places};

use std::fmt;

use tangram_polyhedral::ast::Ast;
use tangram_polyhedral::scop::Scop;
use tangram_presburger::Budget;
use thiserror::Error;

/// A static control part and where it stands.
#[derive(Debug, Clone)]
pub struct Part {
    /// The function around it.
    pub function: String,
    /// The line of `#pragma scop` in the source, from 1, or the first of the part itself.
    pub first_line: usize,
    /// The line of `#pragma endscop`, or the last of the part itself.
    pub last_line: usize,
    /// The file that it stands in, if the source includes that.
    pub file: Option<String>,
    /// Whether pragmas mark it.
    pub marked: bool,
    /// Whether code in its place needs braces, as it is one statement.
    pub braced: bool,
    /// Whether one of several threads runs it, so that it has no threads of its own.
    pub threaded: bool,
    /// What shares its lines, of a part that no pragma marks.
    pub beside: Beside,
    /// What it does.
    pub scop: Scop,
    /// For each statement of it, what it does.
    pub bodies: Vec<Body>,
    /// For each array of it, how it is declared.
    pub arrays: Vec<Declared>,
    /// For each statement of it, the types of the variables of the loops around it.
    pub types: Vec<Vec<String>>,
    /// Variables declared directly in the part: what follows it may use them.
    pub declared: Vec<String>,
    /// Parameters that may be unsigned or of a type of unknown sign.
    pub unsigned: Vec<String>,
    /// Variables that are assumed not to overlap: pointers without `restrict`, and what they
    /// could lead to: arrays, and scalars that are global or whose address is taken.
    pub distinct: Vec<String>,
    /// Pairs of them, by their names in relations, that may overlap: new code compares their ranges.
    pub overlaps: Vec<(String, String)>,
    /// Loop variables whose values at the end are needed behind a marked part, or could be, and that
    /// nothing sets there: such a part keeps its own loops.
    pub ended: Vec<String>,
    /// What sets other loop variables to the values that they have behind the source's loops.
    pub finals: Vec<FinalValue>,
    /// The function around it.
    pub around: Around,
    /// Assertions on parameters that stand in front of all its statements, as C.
    pub checks: Vec<String>,
    /// Members of structures that are arrays, variables or parameters of their own.
    pub members: Vec<Member>,
    /// Arrays in one dimension that are read as several: `A[i * n + j]` as `A[i][j]`.
    pub flat: Vec<Flat>,
    /// Runs a statement `run` where `scop.context` holds: code in the place of the part is right
    /// only then, so the part's own code stays beside it.
    pub test: Option<Ast>,
    /// For each statement that is an update of one element, the texts of its operands.
    pub operands: Vec<Option<Operands>>,
    /// Arrays that code in its place allocates, and frees at its end.
    pub allocated: Vec<Declared>,
}

/// The value of a loop variable behind a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinalValue {
    /// The variable.
    pub name: String,
    /// What sets it, as C.
    pub text: String,
}

/// What a statement does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    /// As C, over the names of the dimensions of the statement's instances.
    pub text: String,
    /// Where it starts in the source: line, from 1.
    pub line: usize,
}

/// An array or, without extents, a scalar as C declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    /// The name, which is that of its cells' tuple.
    pub name: String,
    /// The type of an element, as C; empty if no declaration is known.
    pub element: String,
    /// The number of cells in each dimension, as C; an unknown outermost extent is empty.
    pub extents: Vec<String>,
    /// Whether it is declared inside the part, so that nothing outside sees it.
    pub local: bool,
}

impl Declared {
    /// Returns whether pointers lead to its rows, which may be anywhere, and overlap.
    pub(crate) fn has_rows_apart(&self) -> bool {
        self.extents.iter().skip(1).any(String::is_empty)
    }
}

impl Member {
    /// Returns whether another one is in the same object: both are reached by the same pointers.
    pub(crate) fn is_beside(&self, other: &Self) -> bool {
        let object =
            |member: &Self| member.text.rsplit_once("->").map(|(object, _)| object.to_owned());
        self.base == other.base && object(self) == object(other)
    }

    /// Returns whether it is reached through a pointer, so that it is no part of a variable.
    pub(crate) fn is_apart(&self, names: &declare::Names) -> bool {
        self.text.contains("->") || names.restricted(&self.base).is_some()
    }
}

impl Part {
    /// What stands for parameters of its sets, in a type in which they may become negative.
    pub(crate) fn parameters(&self, names: &[String], index: &str) -> Vec<String> {
        let text = |name: &String| match self.members.iter().find(|member| member.name == *name) {
            Some(Member { text, array, .. }) if source::is_signed(&array.element) => text.clone(),
            Some(Member { text, .. }) => format!("(({index}){text})"),
            None if self.unsigned.contains(name) => format!("(({index}){name})"),
            None => name.clone(),
        };
        names.iter().map(text).collect()
    }

    /// Returns whether a variable is a pointer, be it one that is declared as an array.
    pub(crate) fn is_pointer(&self, name: &str) -> bool {
        self.around.pointers.iter().any(|own| own == name)
    }

    /// Makes a problem of the part as a whole.
    pub fn problem(&self, message: String) -> Problem {
        Problem::new(self.first_line, message)
    }
}

/// An array in one dimension that is read as several.
#[derive(Debug, Clone)]
pub struct Flat {
    /// Its name.
    pub name: String,
    /// Parameters that are factors of its extents, so that they are at least 1 where the part
    /// uses the array.
    pub sizes: Vec<String>,
    /// How many elements lie from an index to the next of each dimension, outermost first, as C;
    /// empty if that is no product of names.
    pub strides: Vec<String>,
    /// What its subscripts have to be below, as they are computed in a type that wraps around: the new
    /// code is right only then.
    pub limit: Option<i128>,
}

/// A member of a structure that a part uses as an array of its own.
#[derive(Debug, Clone)]
pub struct Member {
    /// What it is called in relations.
    pub name: String,
    /// As C, without subscripts: `s->a`.
    pub text: String,
    /// The variable that it is in.
    pub base: String,
    /// As an array.
    pub array: Declared,
    /// Of a pointer, whether it has `restrict`.
    pub restricted: Option<bool>,
}

/// What a function says of a part in it.
#[derive(Debug, Clone, Default)]
pub struct Around {
    /// The function's parameters, in their order.
    pub parameters: Vec<Declared>,
    /// The variables that the part uses and that are declared outside, in alphabetical order.
    pub variables: Vec<Declared>,
    /// Whether the part is all that the function does, which returns nothing.
    pub whole: bool,
    /// Variables that are pointers, be they declared as arrays.
    pub pointers: Vec<String>,
    /// Variables whose cells may be a part of anything, as characters may.
    pub anything: Vec<String>,
    /// Pointers, as C, that such cells may be a part of: others may lead to them.
    pub reached: Vec<String>,
    /// Types that `typedef` gives names to, with what they stand for.
    pub types: Vec<(String, String)>,
    /// Constants that enumerations declare, in their order.
    pub enumerations: Vec<Enumeration>,
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
    /// The file, if it is one that the source includes.
    pub file: Option<String>,
}

impl Problem {
    /// Makes a problem of a line as a whole.
    pub(crate) fn new(line: usize, message: String) -> Self {
        Self { line, column: 1, message, file: None }
    }

    /// Says where it is: in `source`, or in the file that this includes.
    pub fn at(&self, source: &str) -> String {
        let Self { line, column, file, .. } = self;
        format!("{}:{line}:{column}", file.as_deref().unwrap_or(source))
    }
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
    Ok(source::parts(source, false, budget)?.parts)
}

/// What was found without pragmas.
#[derive(Debug, Clone)]
pub struct Detected {
    /// In the order of the source, those that pragmas mark among them.
    pub parts: Vec<Part>,
    /// Why other loops are in no part, and what could not be read.
    pub refused: Vec<Problem>,
    /// Whether no declaration at all could be read: the file is hardly C.
    pub nothing_read: bool,
}

/// Finds the parts that pragmas mark, and says what of the file could not be read.
///
/// # Errors
/// As [`parts`].
pub fn marked(source: &str, budget: &Budget) -> Result<Detected, Vec<Problem>> {
    source::parts(source, false, budget)
}

/// Finds the parts that pragmas mark and the largest ones that none marks: from a loop to a
/// loop of one block, in the file itself.
///
/// Looks at each statement of a block again for each one behind it.
///
/// # Errors
/// All [`Problem`]s of marked parts, or the first one of the syntax.
pub fn detect(source: &str, budget: &Budget) -> Result<Detected, Vec<Problem>> {
    source::parts(source, true, budget)
}
