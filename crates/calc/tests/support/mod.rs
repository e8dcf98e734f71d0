//! Programs that run, and programs that do not.

use tangram_calc::Session;

/// What a program prints.
pub fn run(program: &str) -> Vec<String> {
    Session::with_steps(50_000_000)
        .run(program)
        .unwrap_or_else(|error| panic!("{program}: {error}"))
}

/// What is said of a program that does not run to its end.
pub fn fails(program: &str) -> String {
    Session::with_steps(50_000_000).run(program).expect_err(program).to_string()
}
