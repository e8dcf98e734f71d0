//! `tangram rewrite`: passes and rules on MLIR's text.

use crate::exit::ExitCode;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use tangram::ir::{Context, Diagnostic, LocData, Module, Op, OpDef, Severity, text};
use tangram::passes::{
    Observer, Pipeline, PipelineError, Registry, RunError, RunOptions, RunReport,
};
use tangram::rewrite::{DebugKind, DebugLog, Listener};
use tangram::{Library, RuleSetOptions, dialects};

use crate::args::StrategyArg;
use crate::error::Error;
use crate::out;

/// What `--debug-only` can show.
const DRIVERS: [&str; 3] = ["greedy-rewriter", "walk-rewriter", "dialect-conversion"];

/// What flags that name passes become.
const PASS_FLAG: &str = "pass-of-pipeline";

/// The dialects and passes that there are.
pub(crate) struct Known {
    pub(crate) passes: Registry,
    /// The operations of dialects besides those of this project.
    pub(crate) operations: Vec<&'static OpDef>,
}

impl Known {
    /// Those of this project.
    pub(crate) fn standard() -> Known {
        Known { passes: Registry::standard(), operations: Vec::new() }
    }
}

/// Makes of `--canonicalize` and `--cse=x=1` what the parser of the command line knows, where a
/// pass has that name.
pub(crate) fn with_passes(words: Vec<OsString>, passes: &Registry) -> Vec<OsString> {
    let pass = |word: &OsString| -> Option<OsString> {
        let flag = word.to_str()?.strip_prefix('-')?;
        let flag = flag.strip_prefix('-').unwrap_or(flag);
        let (name, options) = flag.split_once('=').map_or((flag, None), |(n, o)| (n, Some(o)));
        passes.find(name)?;
        let options = options.map(|options| format!("{{{options}}}")).unwrap_or_default();
        Some(format!("--{PASS_FLAG}={name}{options}").into())
    };
    words.into_iter().map(|word| pass(&word).unwrap_or(word)).collect()
}

/// Arguments of `tangram rewrite`.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  tangram rewrite in.mlir --pass-pipeline 'builtin.module(func.func\
                        (canonicalize,cse),symbol-dce)'\n  tangram rewrite in.mlir --canonicalize --cse\n  tangram rewrite in.mlir --rules my.gsl \
                        --strategy greedy -o out.mlir\n\nThe input is MLIR's text, as `mlir-opt` prints it. \
                        Operations of unknown dialects have to be in generic form."
)]
pub(crate) struct RewriteArgs {
    /// The program to read; `-` is standard input.
    #[arg(default_value = "-", hide_default_value = true)]
    pub(crate) input: PathBuf,
    /// Where to write the result; standard output if absent.
    #[arg(short, long)]
    pub(crate) output: Option<PathBuf>,
    /// The passes to run, in MLIR's syntax. `--canonicalize --cse`, each with its options behind
    /// `=`, are passes on the whole program.
    #[arg(long, value_name = "PIPELINE", default_value = "")]
    pub(crate) pass_pipeline: String,
    /// A pass that was given as a flag of its own.
    #[arg(long = PASS_FLAG, hide = true, conflicts_with = "pass_pipeline")]
    pub(crate) passes: Vec<String>,
    /// Rules to apply before the passes: a file, a folder of `.gsl` files, or a name.
    #[arg(long, value_name = "FILE|DIR|NAME")]
    pub(crate) rules: Vec<String>,
    /// How rules are applied.
    #[arg(long, value_enum, default_value = "greedy")]
    pub(crate) strategy: StrategyArg,
    /// Print the program after this pass, or after `all`, to standard error.
    #[arg(long, value_name = "PASS", value_delimiter = ',')]
    pub(crate) print_after: Vec<String>,
    /// Print how long each pass took to standard error.
    #[arg(long)]
    pub(crate) time_passes: bool,
    /// Print what each pass counted to standard error, and for each pattern how often it rewrote and
    /// was tried, how long that took, and how many operations it made and erased.
    #[arg(long)]
    pub(crate) statistics: bool,
    /// Print what a driver does to standard error. Passes use the greedy driver and dialect
    /// conversion; rules are applied by the driver of `--strategy`.
    #[arg(long, value_name = "DRIVER", value_parser = DRIVERS)]
    pub(crate) debug_only: Option<String>,
    /// Hold every pattern to its contract: a success changes something, a failure nothing, every
    /// change is told, and the program stays valid. Slow.
    #[arg(long)]
    pub(crate) check_patterns: bool,
    /// Do not verify the program between passes.
    #[arg(long)]
    pub(crate) no_verify: bool,
    /// Print locations.
    #[arg(long)]
    pub(crate) locations: bool,
    /// Print every operation in MLIR's generic form.
    #[arg(long)]
    pub(crate) mlir_print_op_generic: bool,
    /// Take what lines `// -----` separate as programs of their own.
    #[arg(long)]
    pub(crate) split_input_file: bool,
    /// List the passes with their options and end.
    #[arg(long, exclusive = true)]
    pub(crate) list_passes: bool,
}

/// Rewrites a program by passes and dialects that are `known`.
pub(crate) fn run(args: &RewriteArgs, known: &Known) -> Result<ExitCode, Error> {
    if args.list_passes {
        out::print(list(&known.passes))?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = match &args.passes[..] {
        [] => args.pass_pipeline.clone(),
        passes => passes.join(","),
    };
    let pipeline = Pipeline::parse(&text)
        .map_err(|wrong| Error::Usage(format!("--pass-pipeline: {wrong}")))?;
    refuse_unknown(&args.print_after, &known.passes)?;
    let source = out::read(&args.input)?;
    let parts = if args.split_input_file { split(&source) } else { vec![source] };
    let mut printed = Vec::new();
    for part in parts {
        printed.push(rewrite(args, known, (&text, &pipeline), &part)?);
    }
    let printed = printed.join("\n// -----\n");
    out::deliver(args.output.as_deref(), &printed)?;
    Ok(ExitCode::SUCCESS)
}

/// The programs that lines `// -----` separate, each behind as many lines as stand before it.
fn split(source: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for (i, line) in source.lines().enumerate() {
        if line.trim_end() == "// -----" {
            parts.push("\n".repeat(i));
        }
        if let Some(part) = parts.last_mut() {
            *part += line;
            part.push('\n');
        }
    }
    parts
}

/// The text of one program after all passes.
fn rewrite(
    args: &RewriteArgs,
    known: &Known,
    (passes, pipeline): (&str, &Pipeline),
    source: &str,
) -> Result<String, Error> {
    let name = args.input.display().to_string();
    let start = Instant::now();
    let context = dialects::context();
    context.register(known.operations.iter().copied());
    let mut module = text::parse(source, &name, context.clone())
        .map_err(|errors| Error::Diagnostics(render_all(&errors, &context, source)))?;
    let parsed = start.elapsed();
    let mut sink = StandardError;
    let kind = args.debug_only.as_deref().and_then(DebugKind::of_flag);
    let log = kind.map(|kind| (kind, DebugLog::new(&mut sink, kind)));
    let mut printer = PrintAfter { wanted: &args.print_after, log };
    if !args.rules.is_empty() {
        apply_rules(args, &mut module, &mut printer)?;
    }
    let options = RunOptions { verify: !args.no_verify, check_patterns: args.check_patterns };
    let outcome = known.passes.run(&mut module, pipeline, &options, &mut printer);
    let report = outcome.map_err(|failed| explain(failed, passes, &context, source))?;
    for warning in &report.warnings {
        out::say(render(warning, &context, source));
    }
    let start = Instant::now();
    let mut printed = String::new();
    let generic = args.mlir_print_op_generic;
    let options = text::Options { locations: args.locations, generic, ..text::Options::default() };
    text::print_to(&mut printed, &module, options)
        .map_err(|_| Error::Usage("the program cannot be printed".into()))?;
    if args.time_passes {
        out::say(times(&report, parsed, start.elapsed()));
    }
    if args.statistics {
        out::say(statistics(&report));
    }
    Ok(printed)
}

/// Refuses names of passes that there are not.
fn refuse_unknown(names: &[String], passes: &Registry) -> Result<(), Error> {
    let is_pass = |name: &&String| *name == "all" || passes.find(name).is_some();
    match names.iter().find(|name| !is_pass(name)) {
        Some(name) => {
            let hint = "`--list-passes` describes them";
            Err(Error::Usage(format!("--print-after: there is no pass `{name}`; {hint}")))
        }
        None => Ok(()),
    }
}

fn apply_rules(
    args: &RewriteArgs,
    module: &mut Module,
    observer: &mut dyn Observer,
) -> Result<(), Error> {
    let mut library = Library::default();
    for name in &args.rules {
        library.add(name)?;
    }
    let (strategy, driver) = match args.strategy {
        StrategyArg::Greedy => (tangram::Strategy::Greedy, DebugKind::Greedy),
        StrategyArg::Walk => (tangram::Strategy::Walk, DebugKind::Walk),
        StrategyArg::Saturate => {
            return Err(Error::Usage("`--strategy saturate` works on models: use greedy".into()));
        }
    };
    let options = RuleSetOptions { strategy };
    let patterns = match observer.listener(driver) {
        Some(heard) => tangram::apply_rules_with_listener(module, &library, &options, heard),
        None => tangram::apply_rules(module, &library, &options),
    }?;
    if args.statistics {
        for pattern in patterns.iter().filter(|pattern| pattern.hits > 0) {
            out::say(format!("{:>10}  {}\n", pattern.hits, pattern.name));
        }
    }
    Ok(())
}

struct PrintAfter<'a> {
    wanted: &'a [String],
    /// Which driver is listened to, and where that goes.
    log: Option<(DebugKind, DebugLog<'a>)>,
}

/// Standard error, for the log.
struct StandardError;

impl std::fmt::Write for StandardError {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        out::say(text);
        Ok(())
    }
}

impl Observer for PrintAfter<'_> {
    fn after(&mut self, name: &str, module: &Module, root: Op) {
        if self.wanted.iter().any(|wanted| wanted == name || wanted == "all") {
            let what = module.name_text(root);
            out::say(format!("// ----- after {name} on {what} -----\n{}\n", text::print(module)));
        }
    }

    fn listener(&mut self, driver: DebugKind) -> Option<&mut dyn Listener> {
        let (kind, log) = self.log.as_mut()?;
        (*kind == driver).then_some(log as &mut dyn Listener)
    }
}

/// What went wrong in the pipeline `passes`: one message for each place that it is about.
fn explain(failed: RunError, passes: &str, context: &Context, source: &str) -> Error {
    let told = |errors: &[Diagnostic]| Error::Diagnostics(render_all(errors, context, source));
    match failed {
        RunError::Input(errors) => told(&errors),
        RunError::Failed { pass, error } => {
            let message = format!("pass `{pass}` failed: {}", error.message);
            told(&[Diagnostic { message, ..error }])
        }
        RunError::Broken { pass, mut errors } => {
            let note = format!("pass `{pass}` left a program that is not valid: a bug");
            if let Some(first) = errors.first_mut() {
                first.notes.push(note);
            }
            told(&errors)
        }
        RunError::UnknownPass { at, .. } => {
            let message = format!("{failed}; `--list-passes` describes them");
            let wrong = PipelineError { text: passes.to_owned(), at, message };
            Error::Usage(format!("--pass-pipeline: {wrong}"))
        }
        failed => Error::Usage(failed.to_string()),
    }
}

/// Ten of `errors`, and how many more there are.
fn render_all(errors: &[Diagnostic], context: &Context, source: &str) -> String {
    let shown: String =
        errors.iter().take(10).map(|error| render(error, context, source)).collect();
    let rest = errors.len().saturating_sub(10);
    let rest = if rest > 0 { format!("and {rest} more errors") } else { String::new() };
    format!("{shown}{rest}")
}

/// `file:line:column: error: message`, the line, and the way out.
fn render(diagnostic: &Diagnostic, context: &Context, source: &str) -> String {
    let kind = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let mut out = String::new();
    if let LocData::File { file, line, column }
    | LocData::Range { file, start: (line, column), .. } = context.loc_data(diagnostic.loc)
    {
        let (file, width) = (context.text(*file), *column as usize);
        out += &format!("{file}:{line}:{column}: {kind}: {}\n", diagnostic.message);
        let shown = source.lines().nth((*line as usize).saturating_sub(1)).unwrap_or("");
        if shown.len() < 200 {
            out += &format!("  {shown}\n  {:>width$}\n", "^");
        }
    } else {
        out += &format!("{kind}: {}\n", diagnostic.message);
    }
    out.extend(diagnostic.notes.iter().map(|note| format!("  note: {note}\n")));
    out.extend(diagnostic.hint.iter().map(|hint| format!("  help: {hint}\n")));
    out
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn times(report: &RunReport, parsed: Duration, printed: Duration) -> String {
    let mut out = format!("{:>12.3} ms  parse\n", milliseconds(parsed));
    for pass in &report.passes {
        let (time, indent) = (milliseconds(pass.time), "  ".repeat(pass.depth));
        out +=
            &format!("{time:>12.3} ms  {indent}{} on {} x{}\n", pass.name, pass.anchor, pass.runs);
    }
    out += &format!("{:>12.3} ms  verify\n", milliseconds(report.verifying));
    out + &format!("{:>12.3} ms  print\n", milliseconds(printed))
}

fn statistics(report: &RunReport) -> String {
    let mut out = String::new();
    for pass in &report.passes {
        out += &format!("{}{} on {}\n", "  ".repeat(pass.depth), pass.name, pass.anchor);
        for (name, count) in &pass.counts {
            out += &format!("{count:>12}  {name}\n");
        }
        for pattern in pass.patterns.iter().filter(|pattern| pattern.attempts > 0) {
            out += &format!(
                "{:>12} of {:>9} tried {:>10.3} ms  +{} -{}  {}\n",
                pattern.hits,
                pattern.attempts,
                milliseconds(pattern.time),
                pattern.added,
                pattern.removed,
                pattern.name
            );
        }
    }
    out
}

fn list(passes: &Registry) -> String {
    let mut out = String::new();
    for pass in passes.iter() {
        out += &format!("{:<28} {}\n", pass.name(), pass.summary());
        for (name, summary) in pass.options() {
            out += &format!("  {name:<26} {summary}\n");
        }
    }
    out
}
