//! Machines as files.

use std::str::FromStr;

use thiserror::Error;

use crate::{Isa, Machine};

/// Why a description of a machine cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum MachineError {
    /// A name that no instruction set has.
    #[error("no machine `{0}`; there are native, {known}, or a file", known = known())]
    Isa(String),
    /// The text is not that of a machine.
    #[error("line {line}, column {column}: {message}")]
    Text {
        /// Counted from 1.
        line: usize,
        /// Counted from 1.
        column: usize,
        /// What was expected there.
        message: String,
    },
    /// A number that cannot be.
    #[error("`{field}` is {found}, expected {expected}")]
    Number {
        /// The name of the field in the file.
        field: &'static str,
        /// What the file says.
        found: usize,
        /// What it may say.
        expected: &'static str,
    },
}

fn known() -> String {
    let names: Vec<&str> = Isa::all().map(Isa::name).collect();
    names.join(", ")
}

impl Machine {
    /// Reads a machine that [`Machine::to_json`] wrote, or someone who knows it better.
    ///
    /// # Errors
    /// [`MachineError::Text`] if it is not JSON with just the fields of a machine,
    /// [`MachineError::Number`] if no machine has such a number.
    pub fn from_json(text: &str) -> Result<Self, MachineError> {
        let machine: Self = serde_json::from_str(text).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let whole = error.to_string();
            let place = format!(" at line {line} column {column}");
            let message = whole.strip_suffix(&place).unwrap_or(&whole).to_owned();
            MachineError::Text { line, column, message }
        })?;
        machine.checked()
    }

    /// Writes the machine as JSON, a field a line.
    pub fn to_json(&self) -> String {
        // Structures of names and numbers have no part that JSON cannot say.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    fn checked(self) -> Result<Self, MachineError> {
        let power = |number: usize| number.is_power_of_two();
        let positive = |number: usize| number > 0;
        let few = |number: usize| (1..=1024).contains(&number);
        let mut faults = vec![
            ("vector_bytes", self.vector_bytes, "a power of two", power(self.vector_bytes)),
            ("vector_registers", self.vector_registers, "1 to 1024", few(self.vector_registers)),
            ("fma_latency", self.fma_latency, "1 to 1024", few(self.fma_latency)),
            ("fma_per_cycle", self.fma_per_cycle, "1 to 1024", few(self.fma_per_cycle)),
            ("cores", self.cores, "at least 1", positive(self.cores)),
        ];
        let mut before = (0, 0);
        for cache in &self.caches {
            faults.extend([
                ("level", cache.level, "levels that rise", cache.level > before.0),
                ("bytes", cache.bytes, "more than the level before", cache.bytes > before.1),
                ("ways", cache.ways, "at least 1", positive(cache.ways)),
                ("line", cache.line, "a power of two", power(cache.line)),
            ]);
            before = (cache.level, cache.bytes);
        }
        match faults.into_iter().find(|(.., right)| !right) {
            Some((field, found, expected, _)) => {
                Err(MachineError::Number { field, found, expected })
            }
            None => Ok(self),
        }
    }
}

impl FromStr for Machine {
    type Err = MachineError;

    /// Reads `native` or the name of an instruction set; files are the caller's to open.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "native" { Ok(Self::native()) } else { text.parse().map(Self::of) }
    }
}
