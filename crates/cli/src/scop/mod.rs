//! `tangram scop`.

mod args;
mod bytes;
mod print;
pub(crate) mod quoted;
mod report;

pub(crate) use args::{ScopArgs, ScopPrint};

use crate::exit::ExitCode;
use std::borrow::Cow;
use std::path::Path;
use std::process::{Command, Output};

use tangram_files::{Bounds, same_file};
use tangram_polyhedral::Error as Fault;
use tangram_polyhedral::ast::{Ast, AstOptions};
use tangram_polyhedral::contraction::KERNEL;
use tangram_polyhedral::device::OnDevice;
use tangram_polyhedral::optimise::{Optimised, Recipe};
use tangram_presburger::Budget;
use tangram_scop::{Detected, Emit, Part, Problem};

use crate::args::{FormatArg, TargetArg};
use crate::error::{self, Error};
use crate::out;
use args::TileArg;

/// How many steps the search in one part may take, unless `--max-steps` says otherwise: about a
/// second.
const STEPS: u64 = 10_000_000;
/// How many the parts of a file may take together.
const ALL_STEPS: u64 = 40_000_000;
/// How many are left to each part even then.
const LEAST_STEPS: u64 = 500_000;

/// What one part, or all of extraction, may take.
fn budget(args: &ScopArgs) -> Budget {
    Budget::steps(args.max_steps.unwrap_or(STEPS))
}

/// What the next part may take, where those before it took `spent` steps.
fn next_budget(args: &ScopArgs, spent: u64) -> Budget {
    let left = ALL_STEPS.saturating_sub(spent).clamp(LEAST_STEPS, STEPS);
    Budget::steps(args.max_steps.unwrap_or(left))
}

/// Gives the parts of a C file other loops, or prints what is known about them.
pub(crate) fn run(args: &ScopArgs) -> Result<ExitCode, Error> {
    let name = args.input.display();
    if let Some(path) = args.output.as_deref().filter(|path| !out::is_standard(path)) {
        out::check(path)?;
    }
    let diamonds = args.tile.iter().flatten().any(|word| *word == TileArg::Diamond);
    if diamonds && args.target == TargetArg::Cuda {
        let why = "`--tile` gives the threads of a block there";
        return Err(Error::Usage(format!("`diamond` has no effect with `--target cuda`: {why}")));
    }
    if args.device_only && args.target != TargetArg::Cuda {
        let why = "it is about kernels, which `--target cuda` writes";
        return Err(Error::Usage(format!("`--device-only` has no effect: {why}")));
    }
    // Standard input can be read once only.
    let original = bytes::read(&args.input)?;
    let text = preprocessed_input(args, &original)?;
    no_header(args, &text)?;
    let marked = is_marked(&text);
    let Detected { parts, refused, nothing_read } = match found(args, &text) {
        Ok(found) => found,
        Err(problems) if !marked => {
            problems.iter().for_each(|problem| out::say(report::placed(&name, "note", problem)));
            return unchanged(args, &original);
        }
        Err(problems) => {
            let lines = problems.iter().map(|problem| report::placed(&name, "error", problem));
            out::say(lines.collect::<String>());
            return Ok(ExitCode::from(2));
        }
    };
    let severity = if nothing_read { "error" } else { "note" };
    refused.iter().for_each(|problem| out::say(report::placed(&name, severity, problem)));
    if nothing_read {
        return Ok(ExitCode::from(2));
    }
    let written = matches!(args.print, None | Some(ScopPrint::Report));
    let compared = written && args.target == TargetArg::C && !args.no_alias;
    parts.iter().for_each(|part| out::say(report::assumed(&name, part, compared)));
    if parts.is_empty() {
        return unchanged(args, &original);
    }
    let Some(print) = args.print else {
        return match args.target {
            TargetArg::C => rewritten(args, (&original, text), &parts),
            TargetArg::Cuda => on_device(args, &parts),
        };
    };
    for part in &parts {
        if print != ScopPrint::Domains && args.format == FormatArg::Text {
            let Part { function, first_line, last_line, .. } = part;
            out::print(format!("# {function}, lines {first_line} to {last_line}\n"))?;
        }
        match print::show(part, print, args, &budget(args)) {
            Ok(text) => out::print(text)?,
            Err(error) => {
                let (line, why) = (part.first_line, error::loops(&error));
                out::say(format!("{name}:{line}: error: {why}\n"));
                return Ok(ExitCode::from(2));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes what there is of a file without a part, as a build rule goes through such files, too: as C, the
/// file itself, and for a device, no kernels.
fn unchanged(args: &ScopArgs, original: &str) -> Result<ExitCode, Error> {
    let name = args.input.display();
    let mut became = "";
    match (args.print, args.target) {
        (Some(_), _) => {}
        (None, TargetArg::C) => {
            bytes::deliver(args.output.as_deref(), original)?;
            became = ": it stays as it is";
        }
        (None, TargetArg::Cuda) => {
            let code = deliver(text_of(args)(&name.to_string(), &[], &budget(args)), args)?;
            if code != ExitCode::SUCCESS {
                return Ok(code);
            }
        }
    }
    out::say(format!("{name}: note: no static control part in the file{became}\n"));
    Ok(ExitCode::SUCCESS)
}

/// Refuses an output that the file includes: it would be gone for the next run.
fn no_header(args: &ScopArgs, preprocessed: &str) -> Result<(), Error> {
    let Some(path) = args.output.as_deref().filter(|path| path.is_file()) else { return Ok(()) };
    let marks = preprocessed.lines().filter_map(|line| line.strip_prefix("# "));
    let mut names: Vec<&str> = marks.filter_map(|mark| mark.split('"').nth(1)).collect();
    names.sort_unstable();
    names.dedup();
    let is_header = |name: &&str| {
        let name = Path::new(name);
        same_file(name, path) && !same_file(&args.input, path)
    };
    match names.into_iter().find(is_header) {
        Some(name) => Err(Error::Usage(format!(
            "{}: this output would replace the header {name}; write to another file",
            path.display()
        ))),
        None => Ok(()),
    }
}

/// Returns the file behind the preprocessor.
fn preprocessed_input(args: &ScopArgs, original: &str) -> Result<String, Error> {
    if let Some(folder) = args.include.iter().find(|folder| !folder.is_dir()) {
        return Err(Error::Usage(format!("-I {0}: there is no folder {0}", folder.display())));
    }
    let text = preprocessed(original, &args.input, &flags(args))
        .map_err(|why| Error::Usage(format!("{}: {why}", args.input.display())))?;
    Ok(tangram_scop::with_directives(original, &text))
}

/// Reads the parts of the file.
fn found(args: &ScopArgs, text: &str) -> Result<Detected, Vec<Problem>> {
    let budget = budget(args);
    match args.detect || !is_marked(text) {
        true => tangram_scop::detect(text, &budget),
        false => tangram_scop::marked(text, &budget),
    }
}

/// Returns whether pragmas mark parts.
fn is_marked(text: &str) -> bool {
    let pragma = |line: &str| {
        let rest = line.trim_start().strip_prefix('#').map(str::trim_start);
        rest.and_then(|rest| rest.strip_prefix("pragma")).is_some_and(|rest| rest.trim() == "scop")
    };
    text.lines().any(pragma)
}

/// Returns what the preprocessor is to know, as its flags.
fn flags(args: &ScopArgs) -> Vec<String> {
    let flag = |letter: &'static str, all: &[String]| {
        all.iter().map(|value| format!("-{letter}{value}")).collect::<Vec<_>>()
    };
    let folders: Vec<String> =
        args.include.iter().map(|at| format!("-I{}", at.display())).collect();
    [folders, flag("D", &args.define), flag("U", &args.undefine)].concat()
}

/// Puts the text of a file through the system's preprocessor if it has directives. The error says
/// why that failed.
pub(crate) fn preprocessed(text: &str, path: &Path, flags: &[String]) -> Result<String, String> {
    let directive = |line: &str| {
        let line = line.trim_start_matches('\u{feff}').trim_start();
        let rest = line.strip_prefix('#').or_else(|| line.strip_prefix("%:")).map(str::trim_start);
        rest.is_some_and(|rest| !rest.starts_with("pragma"))
    };
    if flags.is_empty() && !text.lines().any(directive) {
        return Ok(text.to_owned());
    }
    let output = preprocess(text, path, flags)
        .map_err(|error| format!("the preprocessor `cc -E` does not start: {error}"))?;
    if output.status.code().is_none() {
        let Bounds { seconds, memory, printed } = PREPROCESSOR;
        let (memory, printed) = (memory >> 20, printed >> 20);
        return Err(format!(
            "the preprocessor `cc -E` was ended: it may take {seconds} s and {memory} MiB, and print {printed} MiB"
        ));
    }
    if !output.status.success() {
        let reasons = quoted::reasons(&String::from_utf8_lossy(&output.stderr), path);
        let hint = "`-I` names a folder of headers, `-D` defines a macro";
        return Err(format!("the preprocessor `cc -E` failed; {hint}\n{}", reasons.trim_end()));
    }
    bytes::text(&output.stdout).map_err(str::to_owned)
}

/// Lists the macros that the preprocessor knows at the end of a file.
fn macros(args: &ScopArgs, original: &str) -> Vec<String> {
    let flags = [flags(args), vec!["-dM".to_owned()]].concat();
    let found = preprocess(original, &args.input, &flags).map(|output| output.stdout);
    let text = bytes::text(&found.unwrap_or_default()).unwrap_or_default();
    let name = |line: &str| {
        let rest = line.strip_prefix("#define ")?;
        rest.split([' ', '(']).next().map(str::to_owned)
    };
    text.lines().filter_map(name).collect()
}

/// Runs the preprocessor on a file, or on the text where that came through a pipe and is gone.
fn preprocess(text: &str, path: &Path, flags: &[String]) -> std::io::Result<Output> {
    let mut command = Command::new("cc");
    command.arg("-E").args(flags);
    if path.is_file() {
        // A name that begins with `-` is a file here, not an option.
        let path = if path.is_absolute() { path.to_owned() } else { Path::new(".").join(path) };
        return tangram_files::output_within(command.arg(path), PREPROCESSOR);
    }
    command.args(["-x", "c", "-"]);
    let text = tangram_files::holding(&bytes::bytes(text))?;
    tangram_files::output_within(command.stdin(text), PREPROCESSOR)
}

/// What the preprocessor may take: macros that double, and devices that are included, have no end.
const PREPROCESSOR: Bounds = Bounds { seconds: 10, memory: 2 << 30, printed: 512 << 20 };

/// Writes the file with generated loops; a part that gains nothing keeps its own.
fn rewritten(
    args: &ScopArgs,
    (original, preprocessed): (&str, String),
    parts: &[Part],
) -> Result<ExitCode, Error> {
    let name = args.input.display();
    let all: Vec<&Part> = parts.iter().collect();
    let (mut generated, mut spent) = (Vec::new(), 0);
    // What became of the parts is said when it is written.
    let mut said = String::new();
    for (part, place) in parts.iter().zip(tangram_scop::places(original, &all)) {
        if let Err(problem) = &place {
            let kind = if part.marked { "warning" } else { "note" };
            said += &report::placed(&name, kind, &in_the_part(part, problem));
            generated.push((part, None));
            continue;
        }
        if !part.ended.is_empty() {
            generated.push((part, None));
            continue;
        }
        let budget = next_budget(args, spent);
        let found = optimised(part, args, &budget);
        spent += budget.used();
        said += &report::line(&name, part, &found);
        generated.push((part, found.ok().and_then(Outcome::code)));
    }
    let pairs: Vec<(&Part, Option<&Ast>)> = generated
        .iter()
        .map(|(part, found)| match found {
            Some(Code { part, ast, .. }) => (part.as_ref(), Some(ast)),
            None => (*part, None),
        })
        .collect();
    let found = || {
        let all = generated.iter().enumerate();
        all.filter_map(|(at, (_, found))| Some((at, &found.as_ref()?.best)))
    };
    let private =
        found().flat_map(|(at, best)| best.private.iter().map(move |name| (at, name.clone())));
    let private = private.collect();
    let contractions =
        found().flat_map(|(at, best)| best.contractions.iter().map(move |own| (at, own.clone())));
    let contractions = contractions.collect();
    let (parallel, vectorize) = (args.parallel, args.vectorize);
    let threads_from = tangram_polyhedral::optimise::threads_from(&args.machine);
    let no_alias = args.no_alias;
    let macros = macros(args, original);
    let emit = Emit {
        parallel,
        threads_from,
        vectorize,
        private,
        contractions,
        no_alias,
        macros,
        preprocessed,
    };
    let code = deliver(tangram_scop::rewrite(original, &pairs, &emit), args)?;
    if code == ExitCode::SUCCESS {
        out::say(said);
    }
    Ok(code)
}

/// Says of a part that pragmas mark that it is the one that stays.
fn in_the_part(part: &Part, problem: &Problem) -> Problem {
    let message = match part.marked {
        true => format!("the part stays as it is: {}", problem.message),
        false => problem.message.clone(),
    };
    Problem { message, ..problem.clone() }
}

/// Writes the text to where it was asked for, or says what is wrong.
fn deliver(made: Result<String, Problem>, args: &ScopArgs) -> Result<ExitCode, Error> {
    match (made, &args.output) {
        (Ok(text), path) => bytes::deliver(path.as_deref(), &text)?,
        (Err(problem), _) => {
            out::say(report::placed(&args.input.display(), "error", &problem));
            return Ok(ExitCode::from(2));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes kernels and host functions; a part that pragmas mark must have them.
fn on_device(args: &ScopArgs, parts: &[Part]) -> Result<ExitCode, Error> {
    let name = args.input.display();
    let recipe = recipe(args);
    let (mut made, mut failed) = (Vec::new(), false);
    let threads = recipe.tile.as_deref().unwrap_or_default();
    for part in parts {
        let budget = &budget(args);
        let found = part.on_device(&recipe.schedule, threads, budget);
        let place = |error| part.problem(error);
        let found = found.map_err(|error| place(error.to_string())).and_then(|(part, code)| {
            text_of(args)("", &[(&part, &code)], budget)?;
            Ok((part, code))
        });
        match found {
            Ok(found) => made.push(found),
            Err(problem) => {
                let kind = if part.marked { "error" } else { "note" };
                out::say(report::placed(&name, kind, &problem));
                failed |= part.marked;
            }
        }
    }
    if failed {
        return Ok(ExitCode::from(2));
    }
    if made.is_empty() {
        out::say(format!("{name}: note: no part of the file has a place on a device\n"));
    }
    let given = threads.iter().rposition(|size| *size > 0).map_or(0, |last| last + 1);
    let counts = made.iter().flat_map(|(_, code)| &code.kernels).map(|kernel| kernel.launch.rank());
    let used = counts.max().unwrap_or(0);
    if given > used && !made.is_empty() {
        let why = format!("no kernel has more than {used} parallel loops on threads");
        out::say(format!("{name}: note: `--tile` gives {given} sizes, but {why}\n"));
    }
    let pairs: Vec<_> = made.iter().map(|(part, code)| (&**part, code)).collect();
    deliver(text_of(args)(&name.to_string(), &pairs, &budget(args)), args)
}

/// Writes parts on a device.
type Text = fn(&str, &[(&Part, &OnDevice)], &Budget) -> Result<String, Problem>;

/// Returns what writes the kernels of a file: with host functions, or alone.
fn text_of(args: &ScopArgs) -> Text {
    if args.device_only { tangram_scop::device_code } else { tangram_scop::cuda }
}

fn recipe(args: &ScopArgs) -> Recipe {
    let size = |word: &TileArg| match word {
        TileArg::Size(size) => Some(i128::from(*size)),
        TileArg::Diamond => None,
    };
    let mut recipe = Recipe::default();
    recipe.machine = args.machine.clone();
    recipe.schedule.fusion = args.fuse.into();
    recipe.tile = args.tile.as_ref().map(|words| words.iter().filter_map(size).collect());
    recipe.wavefront = args.parallel;
    recipe.parallel = args.parallel;
    recipe.contract = args.vectorize;
    recipe.diamond = args.tile.iter().flatten().any(|word| *word == TileArg::Diamond);
    recipe
}

/// What was found for a part.
struct Outcome<'a> {
    /// The part, or one that computes the same with more memory.
    part: Cow<'a, Part>,
    best: Optimised,
    /// Its loops; nothing if they cannot be generated within the budget, and why.
    ast: Result<Ast, Fault>,
    /// Whether several threads were asked for, and the search for their loops took too long.
    one_thread: bool,
    /// What new loops test; or why they cannot take the place of the source's.
    guards: Result<Vec<String>, String>,
}

/// The loops that take the place of a part's.
struct Code<'a> {
    part: Cow<'a, Part>,
    best: Optimised,
    ast: Ast,
}

impl<'a> Outcome<'a> {
    /// Returns the loops that take the place of the source's, if any do.
    fn code(self) -> Option<Code<'a>> {
        let Self { part, best, ast, guards, .. } = self;
        ast.ok().filter(|_| !best.original && guards.is_ok()).map(|ast| Code { part, best, ast })
    }
}

/// Generates the loops of a part; those of one thread where the search for others takes too long.
fn optimised<'a>(part: &'a Part, args: &ScopArgs, budget: &Budget) -> Result<Outcome<'a>, Fault> {
    let mut recipe = recipe(args);
    recipe.keep_source = args.tile.is_none();
    recipe.parallel &= !part.threaded;
    recipe.wavefront &= !part.threaded;
    let found = attempt(part, &recipe, args.no_alias, budget);
    let is_done = found.as_ref().is_ok_and(|own| own.best.fallback.is_none() && own.ast.is_ok());
    if is_done || !recipe.parallel {
        return found;
    }
    recipe.parallel = false;
    match attempt(part, &recipe, args.no_alias, &self::budget(args)) {
        Ok(plain) if plain.ast.is_ok() && !plain.best.original => {
            Ok(Outcome { one_thread: true, ..plain })
        }
        _ => found,
    }
}

/// Generates the loops of a part as a recipe says.
fn attempt<'a>(
    part: &'a Part,
    recipe: &Recipe,
    no_alias: bool,
    budget: &Budget,
) -> Result<Outcome<'a>, Fault> {
    let (part, best) = part.optimise(recipe, budget)?;
    let context = part.scop.context.as_ref();
    let mut options = AstOptions::default();
    options.outlined = Some(KERNEL);
    options.guard_idle_loops = true;
    let ast = Ast::of_tree(&best.tree, context, &options, budget);
    let emit = Emit { no_alias, ..Emit::default() };
    let guards = match &ast {
        Ok(ast) if !best.original => tangram_scop::guarded(&part, ast, &emit),
        _ => Ok(Vec::new()),
    };
    Ok(Outcome { part, best, ast, one_thread: false, guards })
}
