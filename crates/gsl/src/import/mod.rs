//! Rule collections of other optimisers, as rules of this language.
//!
//! TASO's generator writes substitutions as protobuf messages ([`taso()`]), TENSAT lists them as
//! terms ([`tensat()`]). Both are graphs over a few operators, which become text in one
//! place. What an operator here does not express is left out, with the reason.
//!
//! Neither format says how many groups a convolution has: the number follows from the shapes, and
//! a rule is meant for all. The imported rule is too, so that
//! [verification](crate::verify::verify) tells for which it holds.

mod graph;
mod taso;
mod tensat;
mod write;

use crate::schema::NnSchema;

pub use taso::taso;
pub use tensat::tensat;

/// Imported rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// The rules as text in canonical form; why others are left out is in comments.
    pub text: String,
    /// How many rules there are.
    pub rules: usize,
    /// What is left out: its number in the collection, counted from 0, and why.
    pub left_out: Vec<(usize, String)>,
}

/// Why a file is no collection of rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// Not the protobuf message that TASO reads.
    #[error("this is no collection of rules in protobuf: {0}")]
    Protobuf(String),
    /// A line that is no rule.
    #[error("line {line}: {reason}; a rule is `TERM=>TERM`")]
    Line {
        /// Its number, counted from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
}

/// Writes the rules that can be written.
fn collect(name: &str, rules: Vec<Result<graph::RuleGraph, String>>) -> Imported {
    let mut imported = Imported::default();
    let schema = NnSchema::new(&tangram_dialects::context());
    for (number, rule) in rules.into_iter().enumerate() {
        let text = rule.and_then(|rule| write::rule(&format!("{name}-{number}"), &rule, &schema));
        match text {
            Ok(text) => {
                imported.text += &text;
                imported.rules += 1;
            }
            Err(reason) => {
                imported.text += &format!("// {name}-{number} is left out: {reason}.\n\n");
                imported.left_out.push((number, reason));
            }
        }
    }
    imported
}
