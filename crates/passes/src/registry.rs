//! The passes, by name.

use std::fmt::Display;
use std::str::FromStr;

use crate::pass::Pass;
use crate::{canonicalize, convert, cse, dce, inline, loop_invariant, sccp, strip, symbols};

/// A pass that a pipeline can name.
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// Its options, with what each does.
    pub options: &'static [(&'static str, &'static str)],
    /// Makes it.
    pub make: fn(&PassOptions) -> Result<Box<dyn Pass>, OptionError>,
}

/// Every pass, by name.
pub static PASSES: &[Entry] = &[
    canonicalize::ENTRY,
    convert::INDEX_TO_I64,
    convert::SCF_TO_CF,
    cse::ENTRY,
    dce::ENTRY,
    inline::ENTRY,
    loop_invariant::ENTRY,
    convert::LOWER_AFFINE,
    convert::RECONCILE,
    sccp::ENTRY,
    strip::ENTRY,
    symbols::ENTRY,
];

impl Entry {
    /// The pass called `name`.
    pub fn find(name: &str) -> Option<&'static Entry> {
        PASSES.iter().find(|entry| entry.name == name)
    }
}

/// What is wrong with an option of a pass.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OptionError {
    /// The pass has no such option.
    #[error("no option `{name}`; there are: {}", listed(.known))]
    Unknown {
        /// The name.
        name: String,
        /// The options that the pass has.
        known: Vec<&'static str>,
    },
    /// The value cannot be read.
    #[error("option `{name}` takes no `{value}`; the default is `{default}`")]
    Value {
        /// The option.
        name: String,
        /// What was given.
        value: String,
        /// What it is if nothing is given.
        default: String,
    },
    /// The value is none of the words that the option takes.
    #[error("`{name}` is {}, not `{value}`", choice(.words))]
    Word {
        /// The option.
        name: &'static str,
        /// What was given.
        value: String,
        /// What it takes.
        words: &'static [&'static str],
    },
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

/// `` `a`, `b` or `c` ``.
fn choice(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match &quoted[..] {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => quoted.concat(),
    }
}

/// Options of one pass.
#[derive(Clone, Debug, Default)]
pub struct PassOptions(pub Vec<(String, String)>);

impl PassOptions {
    /// The option `name`, or `default`.
    ///
    /// # Errors
    /// If its value cannot be read.
    pub fn get<T: FromStr + Display>(&self, name: &str, default: T) -> Result<T, OptionError> {
        let Some((_, value)) = self.0.iter().rev().find(|entry| entry.0 == name) else {
            return Ok(default);
        };
        value.parse().map_err(|_| OptionError::Value {
            name: name.into(),
            value: value.clone(),
            default: default.to_string(),
        })
    }

    /// The words of option `name`, which commas separate.
    pub fn words(&self, name: &str) -> Vec<String> {
        let given = self.0.iter().filter(|entry| entry.0 == name);
        let words = given.flat_map(|(_, value)| value.split(','));
        words.map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect()
    }
}
