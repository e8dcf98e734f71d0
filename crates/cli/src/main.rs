//! The `tangram` command.

#[global_allocator]
static MEMORY: tangram_cli::Memory = tangram_cli::Memory;

fn main() -> tangram_cli::ExitCode {
    tangram_cli::main()
}
