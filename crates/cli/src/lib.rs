//! The `tangram` command: arguments, progress, printing. No algorithm lives here.
//!
//! [`main`] is the command, [`run_as`] the same inside another process; [`command`] is what it says
//! of itself, for tests that go through all commands and flags. [`rewrite_main`] is `tangram rewrite`
//! with passes and dialects of one's own.

// Both macros panic once nobody reads any more: `out` has what does not.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod args;
mod bench;
mod calc;
mod check;
mod choose;
mod codegen;
mod colour;
mod combination;
mod compile;
mod completions;
mod config;
mod diff;
mod edits;
mod egraph;
mod ends;
mod error;
mod exit;
mod fleet;
mod flow;
mod invocation;
mod judge;
mod kind;
mod limits;
mod lsp;
mod machine;
mod man;
mod memory;
mod opt;
mod out;
mod passes;
mod progress;
mod python;
mod rewrite;
mod rule_files;
mod rules;
mod run;
mod schedule;
mod scop;
mod show;
mod summary;
mod table;
mod tips;
mod values;
mod view;

use std::ffi::OsString;

use clap::{Args as _, CommandFactory, FromArgMatches};
use tangram::ir::OpDef;
use tangram::passes::Registry;

use args::{Cli, Command};
pub use choose::{Onnxruntime, database as measurements};
use error::Error;
pub use exit::ExitCode;
pub use invocation::Invocation;
pub use judge::by_onnxruntime;
pub use memory::Memory;

/// What is said where the system gives no more memory.
const NO_MEMORY: &str = "error: out of memory: the limit of the process, or what is free, is below what this takes; \
     every output is whole, old or new\n";

/// Runs the command on the arguments of the process.
pub fn main() -> ExitCode {
    tangram_files::end_without_memory(NO_MEMORY, 2);
    tangram_files::fail_on_large_files();
    run_as(&Invocation::of_this_process())
}

/// Runs the command on the words of `invocation`, and returns what it ends with.
///
/// A command line that is wrong, or asks for help, ends the process, as it does in [`main`].
pub fn run_as(invocation: &Invocation) -> ExitCode {
    invocation::enter(invocation);
    let definition = command();
    let mut words: Vec<OsString> = invocation.words.clone();
    if words.get(1).is_some_and(|word| word == "rewrite") {
        words = rewrite::with_passes(words, &Registry::standard());
    }
    let words = match config::with_config(words, &definition) {
        Ok(words) => words,
        Err(wrong) => return ended(Err(wrong)),
    };
    let parsed = definition.clone().try_get_matches_from(&words);
    let matches = parsed.unwrap_or_else(|error| {
        let words: Vec<String> = words.iter().map(|word| word.display().to_string()).collect();
        tips::with_tip(error, &definition, &words).exit()
    });
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    if let Some(wrong) = combination::refused(&cli.command, &matches) {
        wrong.exit();
    }
    let checked = kind::check(&cli.command).and_then(|()| ends::check(&cli.command, &matches));
    ended(checked.and_then(|()| run(cli.command)))
}

fn ended(outcome: Result<ExitCode, Error>) -> ExitCode {
    outcome.unwrap_or_else(|error| {
        out::say(error.report());
        ExitCode::from(2)
    })
}

/// The command line of `tangram rewrite` on the arguments of the process, with the passes of
/// `passes`, and with `operations` of dialects besides those of this project.
///
/// ```no_run
/// use tangram::passes::{Pass, PassCx, PassError, Registration, Registry};
///
/// /// Counts the operations of what it runs on.
/// struct Count;
///
/// impl Pass for Count {
///     fn run(&mut self, cx: &mut PassCx<'_>) -> Result<(), PassError> {
///         let all = tangram::ir::walk(cx.module, cx.root, tangram::ir::Order::Pre);
///         cx.count("operations", all.len() as u64);
///         Ok(())
///     }
/// }
///
/// fn main() -> tangram_cli::ExitCode {
///     let mut passes = Registry::standard();
///     let count = Registration::new("count", "counts operations", |_| Ok(Box::new(Count)));
///     passes.add(count).expect("a new name");
///     tangram_cli::rewrite_main(passes, &[])
/// }
/// ```
pub fn rewrite_main(passes: Registry, operations: &[&'static OpDef]) -> ExitCode {
    rewrite_with(std::env::args_os(), passes, operations)
}

/// As [`rewrite_main`], on other words than those of the process; the first is the program's name.
pub fn rewrite_with(
    words: impl IntoIterator<Item = OsString>,
    passes: Registry,
    operations: &[&'static OpDef],
) -> ExitCode {
    let words = rewrite::with_passes(words.into_iter().collect(), &passes);
    let definition = documented(rewrite::RewriteArgs::augment_args(clap::Command::new("rewrite")));
    let matches = definition.try_get_matches_from(words).unwrap_or_else(|error| error.exit());
    let parsed = rewrite::RewriteArgs::from_arg_matches(&matches);
    let args = parsed.unwrap_or_else(|error| error.exit());
    ended(rewrite::run(&args, &rewrite::Known { passes, operations: operations.to_vec() }))
}

/// Returns the definition of the command: what it has for subcommands, arguments and help.
pub fn command() -> clap::Command {
    documented(Cli::command())
}

/// What each command exits with.
const EXIT_CODES: &str = "Exit codes: 0 done, 1 a check failed, 2 the input or the command line is wrong, 3 a check was \
     not possible, 130 interrupted: what was reached is written.";

/// Gives each command its exit codes in the help, and lets options have negative numbers, so that
/// the message says what is wrong with these.
fn documented(command: clap::Command) -> clap::Command {
    let ended = |help: Option<&clap::builder::StyledStr>| match help {
        Some(help) => format!("{help}\n\n{EXIT_CODES}"),
        None => EXIT_CODES.to_owned(),
    };
    let after = ended(command.get_after_help());
    let long = command.get_after_long_help().map(|help| ended(Some(help)));
    let negative = |arg: clap::Arg| match arg.get_action().takes_values() && !arg.is_positional() {
        true => arg.allow_negative_numbers(true),
        false => arg,
    };
    let command = command.after_help(after).mut_args(negative).mut_subcommands(documented);
    match long {
        Some(long) => command.after_long_help(long),
        None => command,
    }
}

fn run(command: Command) -> Result<ExitCode, Error> {
    match command {
        Command::Opt(args) => opt::run(&args),
        Command::Rules { command } => rules::run(&command),
        Command::Show(args) => show::run(&args),
        Command::View(args) => view::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Bench(args) => bench::bench(&args),
        Command::Compile(args) => compile::run(&args),
        Command::Calc(args) => calc::run(&args),
        Command::Codegen(args) => codegen::run(&args),
        Command::Flow(args) => flow::run(&args),
        Command::Schedule(args) => schedule::run(&args),
        Command::Egraph { command } => egraph::run(&command),
        Command::Scop(args) => scop::run(&args),
        Command::Machine(args) => machine::run(&args),
        Command::Lsp(args) => lsp::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
        Command::Rewrite(args) => rewrite::run(&args, &rewrite::Known::standard()),
    }
}
