//! What a rule may change in the numbers that come out.
//!
//! ```text
//! exact         the same number for every input                   transpose(transpose(x)) -> x
//! reassociates  rounding may differ; NaN stays NaN, and no        (x + y) + z -> x + (y + z)
//!               finite result becomes infinite
//! range         the same where inputs are finite and no product   (x * y) * z -> x * (y * z)
//!               or sum between overflows or underflows
//! ```
//!
//! Each promises less than the one before. A rule that says nothing is held to `reassociates`.
//! Numbers are compared by value: 0 and -0 are the same number, NaN is the same as NaN. For
//! integers and truth values there is no rounding: all three mean that results are equal, products
//! and sums modulo the size of the type; `range` leaves out results that depend on such a wrap.

use serde::{Deserialize, Serialize};

/// What a rule promises of its results; the greater, the less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Exactness {
    /// The same number for every input.
    Exact,
    /// Rounding may differ; NaN and infinities stay what they are.
    Reassociates,
    /// The same for finite inputs of which no intermediate result overflows.
    Range,
}

impl Exactness {
    /// All, from the strictest on.
    pub const ALL: [Exactness; 3] = [Exactness::Exact, Exactness::Reassociates, Exactness::Range];

    /// Returns the word that says it in the text form.
    pub fn word(self) -> &'static str {
        match self {
            Exactness::Exact => "exact",
            Exactness::Reassociates => "reassociates",
            Exactness::Range => "range",
        }
    }
}
