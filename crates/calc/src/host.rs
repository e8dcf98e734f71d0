//! What a program may ask of the world outside: files.

use std::fmt::Debug;

use tangram_polyhedral::scop::Scop;
use tangram_presburger::Budget;

/// Gives a session files to read and write; without one, a program that asks for them fails.
///
/// Errors are messages that name the file and the reason.
pub trait Host: Debug + Send {
    /// Reads a text.
    ///
    /// # Errors
    /// What was wrong with the file.
    fn read(&self, path: &str) -> Result<String, String>;

    /// Writes a text.
    ///
    /// # Errors
    /// What was wrong with the file.
    fn write(&self, path: &str, text: &str) -> Result<(), String>;

    /// Extracts the static control part of a C file.
    ///
    /// # Errors
    /// What was wrong with the file, or why there is no such part.
    fn scop(&self, path: &str, budget: &Budget) -> Result<Scop, String>;
}
