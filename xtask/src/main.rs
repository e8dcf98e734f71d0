//! Developer commands: everything that a contributor or CI runs, behind `cargo xtask`.
//!
//! A command is a list of steps ([`step::Steps`]). Each prints one line with its time; the first
//! that fails shows its command and its output, and ends the run.

mod bench;
mod fuzz;
mod package;
mod same_code;
mod step;
mod test;
mod tidy;
mod venv;
mod workspace;

use clap::{Parser, Subcommand};
use std::process::ExitCode;
use step::Steps;

/// Checks, tests and measures Tangram.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    /// Shows the output of every step as it comes.
    #[arg(long, short, global = true)]
    verbose: bool,
    #[command(subcommand)]
    command: Command,
}

/// The developer commands.
#[derive(Subcommand)]
enum Command {
    /// Runs everything that CI runs: format, clippy, docs, tidy, every test.
    Check,
    /// Runs the tests: Rust, documentation and Python.
    Test(test::Options),
    /// Runs the long tests: ignored Rust tests, many property cases, large real models.
    Long,
    /// Checks the house rules: dependency directions, named paths, module docs.
    Tidy,
    /// Runs the benchmark of an area beside its peers.
    Bench(bench::Options),
    /// Compares the machine code of compiled models with that of an earlier commit.
    SameCode(same_code::Options),
    /// Makes what is published: wheels, the source distribution, a package of each crate.
    Package(package::Options),
    /// Fuzzes the readers, the passes and the set operations.
    Fuzz(fuzz::Options),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut steps = Steps::new(arguments.verbose);
    let outcome = match arguments.command {
        Command::Check => check(&mut steps),
        Command::Test(options) => test::run(&mut steps, &options),
        Command::Long => test::run_long(&mut steps),
        Command::Tidy => steps.inline("tidy", tidy::run),
        Command::Bench(options) => bench::run(&mut steps, &options),
        Command::SameCode(options) => same_code::run(&mut steps, &options),
        Command::Package(options) => package::all(&mut steps, &options),
        Command::Fuzz(options) => fuzz::run(&mut steps, &options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the whole of CI, the quickest answers first.
fn check(steps: &mut Steps) -> step::Outcome {
    use workspace::cargo;
    steps.run("format", cargo(["fmt", "--all", "--check"]))?;
    steps.inline("tidy", tidy::run)?;
    let clippy = ["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"];
    steps.run("clippy", cargo(clippy))?;
    // The command and the facade are both named `tangram`; only one can have the folder.
    let mut docs = cargo(["doc", "--workspace", "--exclude=tangram-cli", "--no-deps", "--quiet"]);
    docs.env("RUSTDOCFLAGS", "-Dwarnings");
    steps.run("docs", docs)?;
    test::run(steps, &test::Options::default())
}
