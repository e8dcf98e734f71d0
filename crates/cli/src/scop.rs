//! `tangram scop`.

use std::path::Path;
use std::process::{Command, ExitCode};

use tangram_polyhedral::ast::{Ast, AstOptions};
use tangram_polyhedral::optimise::{Optimised, Recipe};
use tangram_polyhedral::picture::Domains;
use tangram_polyhedral::schedule::Options;
use tangram_polyhedral::scop::{Basis, Kind, Scop};
use tangram_presburger::Budget;
use tangram_presburger::count::PwQPolynomial;
use tangram_scop::{Detected, Emit, Part, Problem};

use crate::args::{FormatArg, ScopArgs, ScopPrint, TargetArg, TileArg};
use crate::error::{self, Error};
use crate::out;
use crate::schedule::written;

/// Gives the parts of a C file other loops, or prints what is known about them.
pub(crate) fn run(args: &ScopArgs) -> Result<ExitCode, Error> {
    let budget = args.max_steps.map_or_else(Budget::unlimited, Budget::steps);
    let name = args.input.display();
    let drawn = [ScopPrint::Tree, ScopPrint::Schedule, ScopPrint::Domains];
    let text_only = args.print.is_some_and(|print| !drawn.contains(&print));
    if text_only && args.format == FormatArg::Svg {
        return Err(Error::Usage("only `tree`, `schedule` and `domains` are pictures".to_owned()));
    }
    let text = match preprocessed(&args.input, &flags(args))? {
        Ok(text) => text,
        Err(reason) => {
            eprintln!("{name}: error: {reason}");
            return Ok(ExitCode::from(2));
        }
    };
    let found = match args.detect || !is_marked(&text) {
        true => tangram_scop::detect(&text, &budget),
        false => {
            tangram_scop::parts(&text, &budget).map(|parts| Detected { parts, refused: Vec::new() })
        }
    };
    let Detected { parts, refused } = match found {
        Ok(found) => found,
        Err(problems) => {
            problems.iter().for_each(|problem| eprintln!("{name}:{problem}"));
            return Ok(ExitCode::from(2));
        }
    };
    for Problem { line, column, message } in &refused {
        eprintln!("{name}:{line}:{column}: note: {message}");
    }
    for part in parts.iter().filter(|part| !part.marked && !part.distinct.is_empty()) {
        let names: Vec<String> = part.distinct.iter().map(|name| format!("`{name}`")).collect();
        let (line, names) = (part.first_line, names.join(", "));
        eprintln!("{name}:{line}: note: {names} are assumed not to overlap: `restrict` says so");
    }
    for part in parts.iter().filter(|part| !part.ended.is_empty()) {
        let names: Vec<String> = part.ended.iter().map(|name| format!("`{name}`")).collect();
        let (line, names) = (part.last_line, names.join(", "));
        eprintln!(
            "{name}:{line}: warning: the part stays as it is, as what follows may need the value \
             of {names} at its end: declare the loop's variable in the loop"
        );
    }
    if parts.is_empty() {
        eprintln!("{name}: error: no static control part in the file");
        return Ok(ExitCode::from(2));
    }
    let Some(print) = args.print else {
        return match args.target {
            TargetArg::C => rewritten(args, &parts, &budget),
            TargetArg::Cuda => on_device(args, &parts, &budget),
        };
    };
    for part in &parts {
        if print != ScopPrint::Domains && args.format == FormatArg::Text {
            println!("# {}, lines {} to {}", part.function, part.first_line, part.last_line);
        }
        if let Err(error) = show(part, print, args, &budget) {
            eprintln!("{name}:{}: error: {}", part.first_line, error::loops(&error));
            return Ok(ExitCode::from(2));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Says whether pragmas mark parts.
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

/// Reads a file; one with directives goes through the system's preprocessor. The inner error says
/// why that failed.
pub(crate) fn preprocessed(path: &Path, flags: &[String]) -> Result<Result<String, String>, Error> {
    let text = std::fs::read_to_string(path).map_err(error::io(path))?;
    let directive = |line: &str| {
        let rest = line.trim_start().strip_prefix('#').map(str::trim_start);
        rest.is_some_and(|rest| !rest.starts_with("pragma"))
    };
    if flags.is_empty() && !text.lines().any(directive) {
        return Ok(Ok(text));
    }
    let output = match Command::new("cc").arg("-E").args(flags).arg(path).output() {
        Ok(output) => output,
        Err(error) => {
            return Ok(Err(format!("the preprocessor `cc -E` does not start: {error}")));
        }
    };
    if !output.status.success() {
        let reasons = String::from_utf8_lossy(&output.stderr);
        let hint = "`-I` names a folder of headers, `-D` defines a macro";
        return Ok(Err(format!("the preprocessor `cc -E` failed; {hint}\n{}", reasons.trim_end())));
    }
    Ok(String::from_utf8(output.stdout).map_err(|_| "expected UTF-8".to_owned()))
}

/// Writes the file with generated loops; a part that gains nothing keeps its own.
fn rewritten(args: &ScopArgs, parts: &[Part], budget: &Budget) -> Result<ExitCode, Error> {
    let name = args.input.display();
    let original = std::fs::read_to_string(&args.input).map_err(error::io(&args.input))?;
    let all: Vec<&Part> = parts.iter().collect();
    let mut generated = Vec::new();
    for (part, place) in parts.iter().zip(tangram_scop::places(&original, &all)) {
        if let Err(Problem { line, column, message }) = &place
            && !part.marked
        {
            eprintln!("{name}:{line}:{column}: note: {message}");
        }
        if !part.ended.is_empty() || (place.is_err() && !part.marked) {
            generated.push((part, None));
            continue;
        }
        match optimised(part, args, budget) {
            Ok(found) => {
                generated.push((part, found.filter(|(_, best)| !best.original)));
            }
            Err(error) => {
                eprintln!("{name}:{}: error: {}", part.first_line, error::loops(&error));
                return Ok(ExitCode::from(2));
            }
        }
    }
    let pairs: Vec<(&Part, Option<&Ast>)> =
        generated.iter().map(|(part, found)| (*part, found.as_ref().map(|(ast, _)| ast))).collect();
    let private = generated.iter().filter_map(|(part, found)| Some((part, &found.as_ref()?.1)));
    let private = private
        .flat_map(|(part, best)| best.private.iter().map(|name| (part.first_line, name.clone())));
    let private = private.collect();
    let emit = Emit { parallel: args.parallel, vectorize: args.vectorize, private };
    deliver(tangram_scop::rewrite(&original, &pairs, &emit), args)
}

/// Writes the text to where it was asked for, or says what is wrong.
fn deliver(made: Result<String, Problem>, args: &ScopArgs) -> Result<ExitCode, Error> {
    match (made, &args.output) {
        (Ok(text), Some(path)) => out::write(path, &text)?,
        (Ok(text), None) => out::print(text)?,
        (Err(problem), _) => {
            eprintln!("{}:{problem}", args.input.display());
            return Ok(ExitCode::from(2));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes kernels and host functions; a part that pragmas mark must have them.
fn on_device(args: &ScopArgs, parts: &[Part], budget: &Budget) -> Result<ExitCode, Error> {
    let name = args.input.display();
    let recipe = recipe(args);
    let (mut made, mut failed) = (Vec::new(), false);
    for part in parts {
        let threads = recipe.tile.as_deref().unwrap_or_default();
        let found = part.scop.on_device(&recipe.schedule, threads, budget);
        let place = |error| Problem { line: part.first_line, column: 1, message: error };
        let found = found.map_err(|error| place(error.to_string())).and_then(|code| {
            tangram_scop::cuda("", &[(part, &code)], budget)?;
            Ok(code)
        });
        match found {
            Ok(code) => made.push((part, code)),
            Err(problem) => {
                let kind = if part.marked { "error" } else { "note" };
                let Problem { line, column, message } = problem;
                eprintln!("{name}:{line}:{column}: {kind}: {message}");
                failed |= part.marked;
            }
        }
    }
    if failed || made.is_empty() {
        return Ok(ExitCode::from(2));
    }
    let pairs: Vec<_> = made.iter().map(|(part, code)| (*part, code)).collect();
    deliver(tangram_scop::cuda(&name.to_string(), &pairs, budget), args)
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
    recipe.diamond = args.tile.iter().flatten().any(|word| *word == TileArg::Diamond);
    recipe
}

/// Generates the loops of a part, and says how they came about.
fn optimised(
    part: &Part,
    args: &ScopArgs,
    budget: &Budget,
) -> Result<Option<(Ast, Optimised)>, tangram_polyhedral::Error> {
    let mut recipe = recipe(args);
    recipe.keep_source = args.tile.is_none();
    let best = part.scop.optimise(&recipe, budget)?;
    if let Some(reason) = &best.fallback {
        eprintln!("line {}: the original order stays: {}", part.first_line, error::loops(reason));
    }
    // Loops that cannot be generated within the budget are those of the source.
    match Ast::of_tree(&best.tree, part.scop.context.as_ref(), &AstOptions::default(), budget) {
        Ok(ast) => Ok(Some((ast, best))),
        Err(error) => {
            eprintln!(
                "line {}: the original loops stay: {}",
                part.first_line,
                error::loops(&error)
            );
            Ok(None)
        }
    }
}

fn show(
    part: &Part,
    print: ScopPrint,
    args: &ScopArgs,
    budget: &Budget,
) -> Result<(), tangram_polyhedral::Error> {
    let scop = &part.scop;
    let options = Options { fusion: args.fuse.into(), ..Options::default() };
    match print {
        ScopPrint::Ast => {
            if let Some((ast, _)) = optimised(part, args, budget)? {
                print!("{ast}");
            }
        }
        ScopPrint::Tree => print!("{}", written(&scop.schedule, args.format)),
        ScopPrint::Deps => {
            for kind in Kind::ALL {
                let found = scop.dependences(kind, Basis::Value, budget)?;
                println!("{}: \"{}\"", kind.name(), found.tagged);
                let [sources, sinks] = found.ends(budget)?.map(count);
                println!("{}_ends: {{ sources: \"{sources}\", sinks: \"{sinks}\" }}", kind.name());
            }
            println!("executions:");
            for runs in scop.schedule.executions(budget)?.functions() {
                println!("- \"{runs}\"");
            }
            println!("private: [ {} ]", scop.privatisable(budget)?.join(", "));
            println!("live_in: \"{}\"", scop.live_in(budget)?);
            println!("live_out: \"{}\"", scop.live_out(budget)?);
        }
        ScopPrint::Schedule => {
            let constraints = scop.constraints(budget)?;
            let scheduled = constraints.schedule(&options, Some(&scop.schedule), budget)?;
            if let Some(reason) = &scheduled.fallback {
                eprintln!(
                    "line {}: the original schedule stays: {}",
                    part.first_line,
                    error::loops(reason)
                );
            }
            print!("{}", written(&scheduled.tree, args.format));
        }
        ScopPrint::Stats => stats(scop, budget)?,
        ScopPrint::Domains => print!("{}", domains(scop, args, budget)?),
    }
    Ok(())
}

/// Writes how many instances there are at an end of dependences.
fn count(instances: Option<PwQPolynomial>) -> String {
    instances.map_or_else(|| "{ 0 }".to_owned(), |count| count.to_string())
}

fn stats(scop: &Scop, budget: &Budget) -> Result<(), tangram_polyhedral::Error> {
    println!("statements: {}", scop.effective().count());
    let parameters = scop.domain()?.parameters();
    let (scalars, arrays): (Vec<_>, Vec<_>) =
        scop.arrays.iter().partition(|array| array.extents.is_empty());
    let scalars = scalars.iter().filter(|scalar| !parameters.contains(&scalar.name));
    println!("arrays: {}", arrays.len());
    println!("scalars: {}", scalars.count());
    println!("parameters: {}", parameters.join(", "));
    for kind in Kind::ALL {
        let found = scop.dependences(kind, Basis::Value, budget)?;
        println!("{} dependences: {}", kind.name(), found.tagged.relations().count());
    }
    Ok(())
}

/// Draws the instances of a part: in the order of the source or, with tiles, the new one.
fn domains(
    scop: &Scop,
    args: &ScopArgs,
    budget: &Budget,
) -> Result<String, tangram_polyhedral::Error> {
    let recipe = recipe(args);
    let tree = match recipe.tile {
        Some(_) => scop.optimise(&recipe, budget)?.tree,
        None => scop.schedule.clone(),
    };
    let flow = scop.dependences(Kind::Flow, Basis::Value, budget)?.pairs(budget)?;
    let picture = Domains {
        tree: &tree,
        dependences: Some(&flow),
        params: &args.set,
        order: true,
        tiles: true,
    };
    picture.to_svg(budget)
}
