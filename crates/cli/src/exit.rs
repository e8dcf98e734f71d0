//! What the command ends with.

use std::process::Termination;

/// The exit status of the command, as the help of each subcommand lists them.
///
/// As [`std::process::ExitCode`], whose number nobody can ask for: a process that carries the
/// command inside, such as Python's, has to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExitCode(u8);

impl ExitCode {
    /// All that was asked for is done.
    pub const SUCCESS: ExitCode = ExitCode(0);

    /// Returns the number that the process ends with.
    pub fn number(self) -> u8 {
        self.0
    }
}

impl From<u8> for ExitCode {
    fn from(number: u8) -> Self {
        ExitCode(number)
    }
}

impl Termination for ExitCode {
    fn report(self) -> std::process::ExitCode {
        self.0.into()
    }
}
