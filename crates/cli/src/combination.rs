//! Flags that have no effect beside the others are errors: nothing that is asked for is ignored
//! in silence.
//!
//! ```text
//! tangram opt model.onnx -o better.onnx --explain
//! error: `--explain` has no effect without `--strategy saturate`
//! ```
//!
//! What clap's own `requires` and `conflicts_with` can say stands beside the flags; here is what
//! depends on the value of another one.

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory};

use crate::args::{
    AlgorithmArg, Cli, CodegenArgs, Command, FormatArg, OptArgs, RulesCommand, ScheduleArgs,
    ShowArgs, ShowFormat, StrategyArg, TargetArg,
};
use crate::compile::{CompileArgs, EmitArg};
use crate::egraph::EgraphCommand;
use crate::fleet;
use crate::out::is_standard;
use crate::rewrite::RewriteArgs;
use crate::scop::{ScopArgs, ScopPrint};

/// A flag by its name in the definition, and the combination in which it has no effect.
type Idle = (&'static str, &'static str);

/// Returns the error for the first flag of the command line that has no effect.
pub(crate) fn refused(command: &Command, matches: &ArgMatches) -> Option<clap::Error> {
    let mut definition = Cli::command();
    definition.build();
    let (mut at, mut given) = (&definition, matches);
    while let Some((name, inner)) = given.subcommand() {
        (at, given) = (at.find_subcommand(name)?, inner);
    }
    let is_given = |id: &str| given.value_source(id) == Some(ValueSource::CommandLine);
    let (id, why) = idle(command).into_iter().find(|(id, _)| is_given(id))?;
    let flag = at.get_arguments().find(|arg| arg.get_id() == id).and_then(|arg| {
        let short = arg.get_short().map(|short| format!("-{short}"));
        arg.get_long().map(|long| format!("--{long}")).or(short)
    });
    let message = format!("`{}` has no effect {why}", flag.unwrap_or_else(|| id.to_owned()));
    Some(at.clone().error(ErrorKind::ArgumentConflict, message))
}

/// Lists the flags that have no effect in this combination, given or not.
fn idle(command: &Command) -> Vec<Idle> {
    match command {
        Command::Opt(args) => opt(args),
        Command::Rules { command } => rules(command),
        Command::Codegen(args) => codegen(args),
        Command::Schedule(args) => schedule(args),
        Command::Egraph { command } => egraph(command),
        Command::Scop(args) => scop(args),
        Command::Rewrite(args) => rewrite(args),
        Command::Show(args) => show(args),
        Command::Compile(args) => compile(args),
        Command::Bench(_)
        | Command::Calc(_)
        | Command::Check(_)
        | Command::Completions(_)
        | Command::Diff(_)
        | Command::Flow(_)
        | Command::Machine(_)
        | Command::Man(_)
        | Command::Run(_)
        | Command::View(_)
        | Command::Lsp(_) => Vec::new(),
    }
}

fn when(condition: bool, flags: &[&'static str], why: &'static str) -> Vec<Idle> {
    flags.iter().filter(|_| condition).map(|flag| (*flag, why)).collect()
}

fn opt(args: &OptArgs) -> Vec<Idle> {
    let saturates = args.strategy == StrategyArg::Saturate;
    let on_stdout = args.json.as_deref().is_some_and(is_standard);
    let without = "without `--strategy saturate`";
    let told = args.json.is_some() || args.trace.is_some();
    let one = !fleet::is_asked(args);
    [
        when(one, &["jobs", "table"], "on one model: they are for several"),
        when(!saturates, &["max_nodes", "cost", "explain"], without),
        when(saturates, &["steps"], "beside `--strategy saturate`, which has no steps"),
        when(
            saturates,
            &["trace"],
            "beside `--strategy saturate`, which has no steps: `--explain` prints why its result \
             equals the model",
        ),
        when(!told, &["steps"], "without `--json` or `--trace`"),
        when(args.quiet, &["explain", "explain_rule"], "beside `--quiet`"),
        when(on_stdout, &["explain_rule"], "beside `--json -`, which has standard output"),
    ]
    .concat()
}

fn show(args: &ShowArgs) -> Vec<Idle> {
    [
        when(args.format != ShowFormat::Mlir, &["weights"], "without `--format mlir`"),
        when(
            args.format != ShowFormat::Svg,
            &["around", "limit", "unfold"],
            "without `--format svg`",
        ),
    ]
    .concat()
}

fn rules(command: &RulesCommand) -> Vec<Idle> {
    match command {
        RulesCommand::Check { quick: true, .. } => {
            when(true, &["json"], "beside `--quick`, which gives no verdicts")
        }
        _ => Vec::new(),
    }
}

fn codegen(args: &CodegenArgs) -> Vec<Idle> {
    let kernel = args.target == TargetArg::Cuda;
    when(kernel, &["parallel"], "beside `--target cuda`, whose tree says what runs in parallel")
}

fn schedule(args: &ScheduleArgs) -> Vec<Idle> {
    let feautrier = args.algorithm == Some(AlgorithmArg::Feautrier);
    when(feautrier, &["inner_parallel"], "beside `--algorithm feautrier`")
}

fn egraph(command: &EgraphCommand) -> Vec<Idle> {
    let Some(source) = command.source() else { return Vec::new() };
    let limits = ["iterations", "nodes", "seconds", "bytes", "scheduler"];
    when(source.rules.is_empty(), &limits, "without `--rules`")
}

fn scop(args: &ScopArgs) -> Vec<Idle> {
    let Some(print) = args.print else {
        let cuda = args.target == TargetArg::Cuda;
        return [
            when(true, &["set"], "without `--print domains`"),
            when(true, &["format"], "without `--print`"),
            when(cuda, &["vectorize", "machine", "no_alias"], "beside `--target cuda`"),
        ]
        .concat();
    };
    let tiled = args.tile.is_some();
    let only_c = "beside `--print`, which writes no C";
    let ordered = "beside a `--print` that does not change the order";
    let domains = print == ScopPrint::Domains;
    let optimised = matches!(print, ScopPrint::Ast | ScopPrint::Report);
    let changes = optimised || (domains && tiled);
    let scheduled = changes || print == ScopPrint::Schedule;
    let drawn = [ScopPrint::Tree, ScopPrint::Schedule, ScopPrint::Domains].contains(&print);
    let text = args.format == FormatArg::Text;
    [
        when(true, &["vectorize"], only_c),
        when(print != ScopPrint::Report, &["no_alias"], only_c),
        when(!changes, &["parallel"], ordered),
        when(!optimised && !domains, &["tile"], ordered),
        when(!scheduled, &["fuse"], ordered),
        when(!changes, &["machine"], ordered),
        when(!domains, &["set"], "without `--print domains`"),
        when(!drawn, &["format"], "on text: only `tree`, `schedule` and `domains` are drawn"),
        when(domains && text, &["format"], "on `--print domains`, which is a picture"),
    ]
    .concat()
}

fn compile(args: &CompileArgs) -> Vec<Idle> {
    const PASSES: &[&str] =
        &["print_after", "print_after_all", "stop_after", "time_passes", "verify_each"];
    let no_nests = "with `--emit mlir`, which has no passes over nests";
    let stops = args.passes.stop_after.is_some();
    [
        when(args.emit() == EmitArg::Mlir, PASSES, no_nests),
        when(args.passes.print_after_all, &["print_after"], "beside `--print-after-all`"),
        when(stops, &["report"], "with `--stop-after`, which makes no code"),
    ]
    .concat()
}

fn rewrite(args: &RewriteArgs) -> Vec<Idle> {
    let (passes, rules) = (!args.pass_pipeline.trim().is_empty(), !args.rules.is_empty());
    let neither = "without `--pass-pipeline` and `--rules`";
    [
        when(!rules, &["strategy"], "without `--rules`"),
        when(!passes, &["print_after", "check_patterns", "no_verify"], "without `--pass-pipeline`"),
        when(!passes && !rules, &["statistics", "debug_only"], neither),
    ]
    .concat()
}
