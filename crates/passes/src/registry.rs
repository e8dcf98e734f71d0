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
    pub make: fn(&PassOptions) -> Result<Box<dyn Pass>, String>,
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

/// Options of one pass.
#[derive(Clone, Debug, Default)]
pub struct PassOptions(pub Vec<(String, String)>);

impl PassOptions {
    /// The option `name`, or `default`.
    ///
    /// # Errors
    /// If its value cannot be read.
    pub fn get<T: FromStr + Display>(&self, name: &str, default: T) -> Result<T, String> {
        let Some((_, value)) = self.0.iter().rev().find(|entry| entry.0 == name) else {
            return Ok(default);
        };
        let wrong = |_| format!("option `{name}` takes no `{value}`; the default is `{default}`");
        value.parse().map_err(wrong)
    }

    /// The words of option `name`, which commas separate.
    pub fn words(&self, name: &str) -> Vec<String> {
        let given = self.0.iter().filter(|entry| entry.0 == name);
        let words = given.flat_map(|(_, value)| value.split(','));
        words.map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect()
    }
}
