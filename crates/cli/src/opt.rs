//! `tangram opt`.

use crate::exit::ExitCode;
use crate::judge::{self, Judge};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use tangram::arrays::{NpyError, decode_npz, read_npy};
use tangram::check::{CheckOptions, compare, compare_files, tolerance};
use tangram::ir::Context;
use tangram::onnx::edit::{Narrowing, Precision};
use tangram::onnx::file::{ExternalPolicy, FileError, Identity, Loaded, SaveOptions, Storage};
use tangram::onnx::proto::ModelProto;
use tangram::onnx::{self, Model};
use tangram::pipeline::{self, Endpoints, Outcome, Phase};
use tangram::saturate::CostModel;
use tangram::tensor::{Tensor, budget};
use tangram::trace::{Graph, Trace};
use tangram::{Library, ON_REQUEST, Options, Report, Strategy, dialects, optimise};

use crate::args::{ExternalDataArg, OptArgs, PrecisionArg, StrategyArg};
use crate::error::{self, Error};
use crate::limits::set_max_memory;
use crate::progress::Progress;
use crate::{fleet, out, table};

/// Optimises a model file.
pub(crate) fn run(args: &OptArgs) -> Result<ExitCode, Error> {
    if fleet::is_asked(args) {
        return fleet::run(args);
    }
    // What is there when the command begins is what its result may replace.
    let before = Identity::of(&args.output);
    outputs(args)?;
    set_max_memory(args.max_memory);
    let compared = check_options(args)?;
    let options = options(args, &compared)?;
    let library = library(args, &options)?;
    let asked = args.explain_rule.as_deref().map(|rule| asked(rule, args)).transpose()?;
    let mut ends = Ends::new(args, &options, asked, before);
    let done = pipeline::run(&mut ends, &library, &options);
    let Ends { progress, original, at, explained, .. } = ends;
    progress.finish();
    // What cannot be explained is said in place of what came of it: the result was declined.
    let explained = explained?;
    let Outcome { proto, report, .. } = done.map_err(error::pipeline(&at))?;
    let graph = original.as_ref().filter(|_| args.trace.is_some());
    let graph = graph.map(|original| Graph::of(&original.module));
    if let (Some(path), Some(graph)) = (&args.trace, graph) {
        write_trace(path, &args.input, graph, &report, &library)?;
    }
    say(args, &report, &explained)?;
    let checked = match original.filter(|_| args.check) {
        Some(original) => {
            let optimised = reread(args, &proto, library.context())?;
            budget::within_time(args.max_seconds, || check(args, &compared, &original, &optimised))?
        }
        None => ExitCode::SUCCESS,
    };
    let unmeasured = args.choose.is_unmeasured(report.choice.as_ref());
    let checked = match checked {
        ExitCode::SUCCESS if unmeasured => ExitCode::from(NOT_POSSIBLE),
        checked => checked,
    };
    // What was asked for is not what was done, whatever the check says of it.
    let success = checked == ExitCode::SUCCESS;
    Ok(if report.interrupted && success { ExitCode::from(INTERRUPTED) } else { checked })
}

/// Says what is wrong with rules, names and options, whatever the model is.
pub(crate) fn check_request(args: &OptArgs) -> Result<(), Error> {
    let options = options(args, &check_options(args)?)?;
    let mut empty = Model::empty(dialects::context()).map_err(error::model(&args.input))?;
    optimise(&mut empty, &library(args, &options)?, &options)?;
    Ok(())
}

/// The exit code after Ctrl-C, by convention.
const INTERRUPTED: u8 = 130;
/// The exit code of a check that was not possible.
pub(crate) const NOT_POSSIBLE: u8 = 3;

/// The file or pipe that a model comes from, those that it goes to, and what is shown meanwhile.
struct Ends<'a> {
    args: &'a OptArgs,
    options: &'a Options,
    progress: Progress,
    how: SaveOptions,
    /// The model before anything was rewritten, if somebody will want to see it.
    original: Option<Model>,
    /// What an error is about.
    at: PathBuf,
    /// The rule that is asked about.
    asked: Option<Library>,
    /// What was asked about the result, or why there is no answer.
    explained: Result<String, Error>,
}

impl<'a> Ends<'a> {
    fn new(
        args: &'a OptArgs,
        options: &'a Options,
        asked: Option<Library>,
        before: Identity,
    ) -> Self {
        Ends {
            args,
            options,
            progress: Progress::start("loading", args.quiet),
            how: SaveOptions {
                storage: storage(args),
                before: Some(before),
                ..SaveOptions::default()
            },
            original: None,
            at: named(&args.input, "standard input"),
            asked,
            explained: Ok(String::new()),
        }
    }
}

impl Ends<'_> {
    /// Answers what was asked about the result.
    fn answers(&self, model: &Model, report: &Report) -> Result<String, Error> {
        let proofs = match &self.args.explain {
            Some(output) => table::proofs(report, &model.output_names(), output)?,
            None => String::new(),
        };
        let near = match (&self.asked, &self.args.explain_rule) {
            (Some(one), Some(rule)) => explain(rule, self.args.at.as_deref(), one, model)?,
            _ => String::new(),
        };
        Ok(proofs + &near)
    }
}

impl Endpoints for Ends<'_> {
    fn load(&mut self) -> Result<Loaded, onnx::Error> {
        if !out::is_standard(&self.args.input) {
            return Ok(onnx::file::open(&self.args.input)?);
        }
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().read_to_end(&mut bytes);
        read.map_err(|source| refused("read", &self.at, source))?;
        Ok(onnx::file::decode(bytes.into())?)
    }

    fn save(&mut self, model: &Model, proto: &ModelProto) -> Result<(), onnx::Error> {
        self.at = named(&self.args.output, "standard output");
        if !out::is_standard(&self.args.output) {
            return model.save_proto(proto, &self.args.output, &self.how);
        }
        let inline = model.inline(proto)?;
        let mut to = std::io::stdout().lock();
        match onnx::file::encode(&inline, &mut to).and_then(|()| to.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(refused("write to", &self.at, error))
            }
            _ => Ok(()),
        }
    }

    fn begin(&mut self, phase: Phase) {
        match phase {
            Phase::Load => {}
            Phase::Rewrite => self.progress.watch("optimising", &self.options.progress),
            Phase::Save => self.progress.watch_saving("saving", &self.how.progress),
        }
    }

    fn prepare(&mut self, model: Model) -> Result<Model, onnx::Error> {
        let model = self.args.edits.apply(model)?;
        self.original = (self.args.check || self.args.trace.is_some()).then(|| model.clone());
        Ok(model)
    }

    fn review(&mut self, model: &Model, report: &Report) -> bool {
        self.explained = self.answers(model, report);
        self.explained.is_ok()
    }
}

/// Names a file, or the pipe that `-` stands for.
fn named(path: &Path, pipe: &str) -> PathBuf {
    if out::is_standard(path) { PathBuf::from(pipe) } else { path.to_owned() }
}

fn refused(action: &'static str, path: &Path, source: std::io::Error) -> onnx::Error {
    FileError::Io { action, path: path.to_owned(), source }.into()
}

fn storage(args: &OptArgs) -> Storage {
    match args.external_data {
        // There is nothing beside a pipe.
        _ if out::is_standard(&args.output) => Storage::Inline,
        ExternalDataArg::Auto => Storage::Auto,
        ExternalDataArg::Inline => Storage::Inline,
        ExternalDataArg::External => Storage::External(ExternalPolicy::default()),
        ExternalDataArg::Keep => Storage::Keep,
    }
}

/// Reads the result again, as whoever uses it will.
fn reread(args: &OptArgs, proto: &ModelProto, context: Arc<Context>) -> Result<Model, Error> {
    if out::is_standard(&args.output) {
        let mut bytes = Vec::new();
        let path = Path::new("standard output");
        onnx::file::encode(proto, &mut bytes).map_err(error::io(path))?;
        return Model::decode(bytes.into(), context).map_err(error::model(path));
    }
    Model::open(&args.output, context).map_err(error::model(&args.output))
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

/// Refuses outputs that cannot be written, before anything is done.
fn outputs(args: &OptArgs) -> Result<(), Error> {
    let output = Some(args.output.as_path()).filter(|path| !out::is_standard(path));
    let json = args.json.as_deref().filter(|path| !out::is_standard(path));
    [output, json, args.trace.as_deref()].into_iter().flatten().try_for_each(out::check)
}

/// Returns the rule that is asked about, which may be one that is not applied.
fn asked(rule: &str, args: &OptArgs) -> Result<Library, Error> {
    let mut all = Library::shipped()?;
    add_rules(&mut all, args)?;
    let one = all.named(rule);
    if one.rules.first().is_none_or(|first| first.rule.name() != rule) {
        let hint = "`tangram rules list` names all rules";
        return Err(Error::Usage(format!("there is no rule `{rule}`; {hint}")));
    }
    Ok(one)
}

/// Says why a rule does not match in the result.
fn explain(rule: &str, at: Option<&str>, one: &Library, model: &Model) -> Result<String, Error> {
    let misses = tangram::explain::explain(&model.module, one)
        .map_err(|error| Error::Usage(error.to_string()))?;
    if let Some(at) = at.filter(|at| !tangram::explain::has_value(&model.module, at)) {
        let hint = "`tangram show` prints the program";
        return Err(Error::Usage(format!("no operation of the result makes `{at}`; {hint}")));
    }
    let named = |results: &[String]| at.is_none_or(|at| results.iter().any(|name| name == at));
    let shown: Vec<_> = misses.iter().filter(|miss| named(&miss.results)).take(NEAREST).collect();
    let labels = one.rules[0].rule.labels();
    let matches = match labels.iter().any(|label| label == ON_REQUEST) {
        true => format!("it matches, and is applied where `--rules {rule}` asks for it"),
        false => "it matches".to_owned(),
    };
    if shown.is_empty() {
        return Ok(format!("{rule}: nothing in the result comes near\n"));
    }
    let line = |miss: &&tangram::explain::Miss| {
        let reason = if miss.reason.is_empty() { &matches } else { &miss.reason };
        let name = miss.results.join(", ");
        format!("{rule} at {name} ({}): {reason}\n", miss.operation)
    };
    Ok(shown.iter().map(line).collect())
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

/// What is done, and by which inputs it is chosen: those of the check, which may come from pipes and
/// are read once.
fn options(args: &OptArgs, compared: &CheckOptions) -> Result<Options, Error> {
    let strategy = match args.strategy {
        StrategyArg::Greedy => Strategy::Greedy,
        StrategyArg::Walk => Strategy::Walk,
        StrategyArg::Saturate => Strategy::Saturate,
    };
    if out::is_standard(&args.output) && args.json.as_deref().is_some_and(out::is_standard) {
        let hint = "write one of them to a file";
        return Err(Error::Usage(format!(
            "the result and the report cannot both go to `-`: {hint}"
        )));
    }
    Ok(Options {
        strategy,
        disable: args.disable.clone(),
        only: args.only.clone(),
        max_time: args.max_seconds,
        max_rewrites: args.max_rewrites,
        max_nodes: args.max_nodes,
        cost: cost_model(args)?,
        explain: args.explain.is_some(),
        fold_limit: args.fold_limit,
        exact: args.exact,
        opset: args.opset,
        choosing: args.choose.choosing(compared),
        narrow: precision(args).map(|to| Narrowing { to, keep: args.keep.clone() }),
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

/// The flag that Ctrl-C sets, the same for all who ask: the search ends, and what is reached is
/// kept.
pub(crate) fn on_interrupt() -> Arc<AtomicBool> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    let install = || {
        let flag = Arc::new(AtomicBool::new(false));
        let set = flag.clone();
        // A second Ctrl-C ends the process at once.
        let handler = move || {
            budget::stop();
            if set.swap(true, Ordering::SeqCst) {
                std::process::exit(130);
            }
        };
        // Without a handler Ctrl-C ends the process, which loses nothing.
        let _ = ctrlc::set_handler(handler);
        flag
    };
    FLAG.get_or_init(install).clone()
}

fn say(args: &OptArgs, report: &Report, explained: &str) -> Result<(), Error> {
    if let Some(path) = &args.json {
        let text = serde_json::to_string_pretty(report)
            .map_err(|source| error::io(path)(source.into()))?;
        out::deliver(Some(path), &(text + "\n"))?;
    }
    match args.quiet || json_on_stdout(args) {
        true => Ok(()),
        false => tell(args, table::render(report) + explained),
    }
}

/// Returns whether standard output is one JSON value, which nothing else may follow.
fn json_on_stdout(args: &OptArgs) -> bool {
    args.json.as_deref().is_some_and(out::is_standard)
}

/// Prints to standard output, or beside it where the result goes there.
fn tell(args: &OptArgs, text: impl std::fmt::Display) -> Result<(), Error> {
    match out::is_standard(&args.output) {
        true => out::say(text),
        false => out::print(text)?,
    }
    Ok(())
}

/// What is compared, with the data that is given for inputs: read before anything is done.
fn check_options(args: &OptArgs) -> Result<CheckOptions, Error> {
    Ok(CheckOptions {
        shapes: args.shape.clone(),
        data: read_data(&args.data)?,
        exact: args.exact,
        tolerance: args.tolerance.or(precision(args).map(|to| tolerance(to.dtype()))),
        ..CheckOptions::default()
    })
}

/// The floats that the result is to compute in.
fn precision(args: &OptArgs) -> Option<Precision> {
    args.to.map(|to| match to {
        PrecisionArg::Float16 => Precision::Float16,
        PrecisionArg::Bfloat16 => Precision::BFloat16,
    })
}

/// The arrays of files `.npy`, by input, and of archives `.npz`, which name theirs.
pub(crate) fn read_data(given: &[(String, PathBuf)]) -> Result<Vec<(String, Tensor)>, Error> {
    let mut arrays = Vec::new();
    for (name, path) in given {
        let wrong = |why: NpyError| Error::Usage(format!("{}: {why}", path.display()));
        if name.is_empty() {
            let bytes = std::fs::read(path).map_err(error::io(path))?;
            arrays.extend(decode_npz(&bytes.into()).map_err(wrong)?);
        } else {
            arrays.push((name.clone(), read_npy(path).map_err(wrong)?));
        }
    }
    Ok(arrays)
}

/// Compares both models on random inputs, or on those that are given.
fn check(
    args: &OptArgs,
    how: &CheckOptions,
    original: &Model,
    optimised: &Model,
) -> Result<ExitCode, Error> {
    let found = match (args.judge, args.runs) {
        (Judge::Onnxruntime, runs) => judge::by_onnxruntime(original, optimised, how, runs, None),
        (Judge::Tangram, 1) => compare(original, optimised, how),
        (Judge::Tangram, runs) => {
            compare_files(original, optimised, how, runs).map(|found| found.worst)
        }
    };
    match found {
        Ok(difference) => {
            let line = format!("check  {difference}\n");
            match (args.quiet, json_on_stdout(args)) {
                (true, _) => {}
                (false, true) => out::say(line),
                (false, false) => tell(args, line)?,
            }
            Ok(if difference.holds() { ExitCode::SUCCESS } else { ExitCode::from(1) })
        }
        Err(reason) => {
            out::say(format!("check  not possible: {reason}\n"));
            let interrupted = on_interrupt().load(Ordering::Relaxed);
            Ok(ExitCode::from(if interrupted { INTERRUPTED } else { NOT_POSSIBLE }))
        }
    }
}
