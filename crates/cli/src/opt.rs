//! `tangram opt`.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use tangram::onnx::{self, ExportOptions, Model};
use tangram::report::{self, BeforeAfter};
use tangram::saturate::CostModel;
use tangram::trace::{Graph, Trace};
use tangram::{Library, ON_REQUEST, Options, Report, Strategy, dialects, optimise};

use crate::args::{OptArgs, StrategyArg};
use crate::error::{self, Error};
use crate::progress::Progress;
use crate::{out, table};

/// Optimises a model file.
pub(crate) fn run(args: &OptArgs) -> Result<ExitCode, Error> {
    let options = options(args)?;
    let library = library(args, &options)?;
    let progress = Progress::start("loading", args.quiet);
    let start = Instant::now();
    let loaded = onnx::file::open(&args.input).map_err(error::file(&args.input))?;
    let before = report::histogram(&loaded.model);
    let mut model = onnx::import(loaded, dialects::context()).map_err(error::model(&args.input))?;
    let load = start.elapsed();

    progress.watch("optimising", &options.progress);
    let original = args.check.then(|| model.clone());
    let graph = args.trace.is_some().then(|| Graph::of(&model.module));
    let start = Instant::now();
    let mut report = optimise(&mut model, &library, &options)?;
    let spent = start.elapsed();

    progress.phase("saving");
    let start = Instant::now();
    let proto = onnx::export(&model, ExportOptions { opset: args.opset })
        .map_err(error::model(&args.input))?;
    model
        .save_proto(&proto, &args.output, &Default::default())
        .map_err(error::model(&args.output))?;
    let save = start.elapsed();

    let after = report::histogram(&proto);
    report.nodes = BeforeAfter { before: before.values().sum(), after: after.values().sum() };
    report.operators = report::compare(&before, &after);
    report.seconds = report::Seconds {
        load: load.as_secs_f64(),
        optimise: spent.as_secs_f64(),
        save: save.as_secs_f64(),
    };
    progress.finish();
    if let (Some(path), Some(graph)) = (&args.trace, graph) {
        write_trace(path, &args.input, graph, &report, &library)?;
    }
    say(args, &report)?;
    if let Some(rule) = &args.explain_rule {
        let mut all = Library::shipped()?;
        add_rules(&mut all, args)?;
        explain(rule, args.at.as_deref(), &all, &model)?;
    }
    match original {
        Some(original) => check(args, &original, &model),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// Writes what was done: as a page or as JSON, as the name of the file wants it.
fn write_trace(
    path: &Path,
    input: &Path,
    before: Graph,
    report: &Report,
    library: &Library,
) -> Result<(), Error> {
    let model = input.file_name().unwrap_or_default().to_string_lossy();
    let trace = Trace::new(&model, before, report, library);
    let page = path.extension().is_some_and(|end| end == "html" || end == "htm");
    let text = if page { trace.to_html() } else { trace.to_json() };
    out::write(path, &text.map_err(|source| error::io(path)(source.into()))?)
}

/// How many near misses are shown.
const NEAREST: usize = 10;

/// Says why a rule does not match in the result.
fn explain(rule: &str, at: Option<&str>, library: &Library, model: &Model) -> Result<(), Error> {
    let one = library.named(rule);
    if one.rules.is_empty() {
        let hint = "`tangram rules list` names all rules";
        return Err(Error::Usage(format!("there is no rule `{rule}`; {hint}")));
    }
    let misses = tangram::explain::explain(&model.module, &one)
        .map_err(|error| Error::Usage(error.to_string()))?;
    let named = |results: &[String]| at.is_none_or(|at| results.iter().any(|name| name == at));
    let shown: Vec<_> = misses.iter().filter(|miss| named(&miss.results)).take(NEAREST).collect();
    let labels = one.rules[0].rule.labels();
    let matches = match labels.iter().any(|label| label == ON_REQUEST) {
        true => format!("it matches, and is applied where `--rules {rule}` asks for it"),
        false => "it matches".to_owned(),
    };
    for miss in &shown {
        let reason = if miss.reason.is_empty() { &matches } else { &miss.reason };
        let name = miss.results.join(", ");
        out::print(format!("{rule} at {name} ({}): {reason}\n", miss.operation))?;
    }
    if shown.is_empty() {
        out::print(format!("{rule}: nothing in the result comes near\n"))?;
    }
    Ok(())
}

fn library(args: &OptArgs, options: &Options) -> Result<Library, Error> {
    let mut library =
        if args.no_library { Library::default() } else { Library::shipped_for(options)? };
    add_rules(&mut library, args)?;
    Ok(library)
}

fn add_rules(library: &mut Library, args: &OptArgs) -> Result<(), Error> {
    args.rules.iter().try_for_each(|name| Ok(library.add(name)?))
}

fn options(args: &OptArgs) -> Result<Options, Error> {
    let strategy = match args.strategy {
        StrategyArg::Greedy => Strategy::Greedy,
        StrategyArg::Walk => Strategy::Walk,
        StrategyArg::Saturate => Strategy::Saturate,
    };
    let fold_limit = match args.fold_limit.as_str() {
        "none" => None,
        bytes => Some(bytes.parse().map_err(|_| {
            Error::Usage(format!("`--fold-limit {bytes}` is neither a number of bytes nor `none`"))
        })?),
    };
    let max_time = match args.max_seconds {
        Some(s) => Some(Duration::try_from_secs_f64(s).map_err(|_| {
            Error::Usage(format!("`--max-seconds {s}` is no time that can be waited for"))
        })?),
        None => None,
    };
    if args.trace.is_some() && strategy == Strategy::Saturate {
        let hint = "`--explain` prints why its result equals the model";
        return Err(Error::Usage(format!(
            "a saturation has no steps that `--trace` could show; {hint}"
        )));
    }
    Ok(Options {
        strategy,
        disable: args.disable.clone(),
        only: args.only.clone(),
        max_time,
        max_rewrites: args.max_rewrites,
        max_nodes: args.max_nodes,
        cost: cost_model(args)?,
        explain: args.explain.is_some(),
        fold_limit,
        opset: args.opset,
        max_steps: if args.json.is_some() || args.trace.is_some() { args.steps } else { 0 },
        cancel: on_interrupt(),
        ..Options::default()
    })
}

fn cost_model(args: &OptArgs) -> Result<CostModel, Error> {
    let Some(path) = &args.cost else { return Ok(CostModel::default()) };
    let text = std::fs::read_to_string(path).map_err(error::io(path))?;
    CostModel::from_json(&text).map_err(|why| Error::Usage(format!("{}: {why}", path.display())))
}

/// A flag that Ctrl-C sets: the search ends, and what is reached is kept.
pub(crate) fn on_interrupt() -> std::sync::Arc<std::sync::atomic::AtomicBool> {
    let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let set = flag.clone();
    // A second Ctrl-C ends the process at once.
    let handler = move || {
        if set.swap(true, std::sync::atomic::Ordering::SeqCst) {
            std::process::exit(130);
        }
    };
    // Without a handler Ctrl-C ends the process, which loses nothing.
    let _ = ctrlc::set_handler(handler);
    flag
}

fn say(args: &OptArgs, report: &Report) -> Result<(), Error> {
    let to_stdout = args.json.as_deref() == Some(Path::new("-"));
    if let Some(path) = &args.json {
        let text = serde_json::to_string_pretty(report)
            .map_err(|source| error::io(path)(source.into()))?;
        if to_stdout {
            out::print(text + "\n")?;
        } else {
            out::write(path, &(text + "\n"))?;
        }
    }
    if !args.quiet && !to_stdout {
        out::print(table::render(report))?;
        if let Some(output) = &args.explain {
            out::print(table::proofs(report, output)?)?;
        }
    }
    Ok(())
}

/// Compares both models on random inputs.
fn check(args: &OptArgs, original: &Model, optimised: &Model) -> Result<ExitCode, Error> {
    let found = tangram::check::compare(original, optimised, 0);
    match found {
        Ok(difference) => {
            if !args.quiet {
                out::print(format!("check  {difference}\n"))?;
            }
            Ok(if difference.holds() { ExitCode::SUCCESS } else { ExitCode::from(1) })
        }
        Err(reason) => {
            eprintln!("check  not possible: {reason}");
            Ok(ExitCode::from(1))
        }
    }
}
