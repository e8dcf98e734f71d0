//! The `tangram` command: arguments, progress, printing. No algorithm lives here.

mod args;
mod calc;
mod codegen;
mod egraph;
mod error;
mod fleet;
mod flow;
mod machine;
mod opt;
mod out;
mod progress;
mod rewrite;
mod rules;
mod schedule;
mod scop;
mod show;
mod table;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};

fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = match cli.command {
        Command::Opt(args) => opt::run(&args),
        Command::Rules { command } => rules::run(&command),
        Command::Show(args) => show::run(&args),
        Command::Calc(args) => calc::run(&args),
        Command::Codegen(args) => codegen::run(&args),
        Command::Flow(args) => flow::run(&args),
        Command::Schedule(args) => schedule::run(&args),
        Command::Egraph { command } => egraph::run(&command),
        Command::Scop(args) => scop::run(&args),
        Command::Machine(args) => machine::run(&args),
        Command::Rewrite(args) => rewrite::run(&args),
    };
    match outcome {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
