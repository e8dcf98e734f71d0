//! The `tangram` command.

fn main() -> tangram_cli::ExitCode {
    tangram_cli::main()
}
