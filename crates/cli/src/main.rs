//! The `tangram` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    tangram_cli::main()
}
