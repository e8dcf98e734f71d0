//! `tangram run`.

use crate::exit::ExitCode;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use comfy_table::{CellAlignment, Table, presets};
use serde_json::json;
use tangram::arrays::{decode_npz, encode_npy, encode_npz, read_npy};
use tangram::check::{CheckOptions, made_up};
use tangram::dialects::interpret::Datum;
use tangram::ir::Module;
use tangram::native::{Coverage, Options, Profile, SessionError};
use tangram::onnx::Model;
use tangram::onnx::edit::with_named_extents;
use tangram::pipeline::{self, PipelineError};
use tangram::tensor::Tensor;
use tangram::{Library, Session, dialects};

use crate::edits::EditArgs;
use crate::error::{self, Error};
use crate::limits::Limits;
use crate::values::shape;
use crate::{kind, out};

/// Arguments of `tangram run`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  tangram run model.onnx --random --profile\n  tangram run \
                        model.onnx --input images=photo.npy -o scores.npz\n  tangram run \
                        model.onnx --input feed.npz --json\n  tangram run model.so --input \
                        photo.npy\n\nCompiled code is kept in the cache folder of the user \
                        (TANGRAM_CACHE names another), so that the second start is quick.")]
pub(crate) struct RunArgs {
    /// The model to run, or a library that `tangram compile` wrote of one, with its weights beside it.
    pub(crate) model: PathBuf,
    /// The data of an input, as `images=photo.npy`, without a name for the only input; or of
    /// several, as an archive `feed.npz` that names them.
    #[arg(long, value_name = "[INPUT=]FILE")]
    pub(crate) input: Vec<String>,
    /// Make up the inputs that are not given.
    #[arg(long)]
    pub(crate) random: bool,
    /// Where random numbers start.
    #[arg(long, value_name = "N", default_value_t = 0, requires = "random")]
    pub(crate) seed: u64,
    /// The extents of a made-up input, as `images=1,3,224,224`; others are chosen.
    #[arg(long, value_name = "INPUT=N,N", value_parser = shape, requires = "random")]
    pub(crate) shape: Vec<(String, Vec<usize>)>,
    /// Write the outputs to FILE, an archive `.npz`, or `.npy` for a model with one.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Run as often, and time the fastest run.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) runs: u32,
    /// Run on at most N threads; on as many as the machine has, if 0. The results are the same bits.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) threads: usize,
    /// Print what each kind of step took.
    #[arg(long, conflicts_with = "json")]
    pub(crate) profile: bool,
    /// Write a page of what the model is compiled to: groups of operations with their time, memory and
    /// loops.
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) how: CompileOptions,
    #[command(flatten)]
    pub(crate) edits: EditArgs,
    #[command(flatten)]
    pub(crate) limits: Limits,
}

/// How a model is compiled.
#[derive(Args, Debug)]
#[command(next_help_heading = "Compilation")]
pub(crate) struct CompileOptions {
    /// Compile nothing: every operation runs on the reference kernels. Needs no C compiler.
    #[arg(long)]
    pub(crate) interpret: bool,
    /// Run the model as it is: no rule is applied before.
    #[arg(long)]
    pub(crate) no_rules: bool,
    /// Round each product and sum by itself, and apply only rules that change no result.
    #[arg(long)]
    pub(crate) exact: bool,
    /// The processor that the code is for: `native`, `avx2`, `avx512`, `neon`, `sse2`, `scalar`,
    /// or a file as `tangram machine --json` writes it.
    #[arg(long, value_name = "NAME|FILE", default_value = "native",
          value_parser = crate::machine::named)]
    pub(crate) machine: tangram_machine::Machine,
}

impl CompileOptions {
    pub(crate) fn options(&self) -> Options {
        let mut options = Options::default();
        options.machine = self.machine.clone();
        (options.exact, options.interpret) = (self.exact, self.interpret);
        options
    }

    /// A session of a model, which is compiled or found in the cache.
    pub(crate) fn session(
        &self,
        path: &Path,
        model: &Model,
        threads: usize,
    ) -> Result<Session, Error> {
        let mut options = self.options();
        options.threads = threads;
        let session = pipeline::session(model.clone(), !self.no_rules, &options);
        if let Some(why) = options.cache.refused() {
            out::say(format!("note: {why}\n"));
        }
        session.map_err(|error| match error {
            PipelineError::Session(why) => refused(path)(why),
            other => error::pipeline(path)(other),
        })
    }

    /// Applies the rules, unless they are not wanted.
    pub(crate) fn rewrite(&self, path: &Path, model: &mut Model) -> Result<(), Error> {
        if self.no_rules {
            return Ok(());
        }
        let settings = tangram::Options { exact: self.exact, ..tangram::Options::default() };
        let library = Library::shipped_for(&settings)?;
        pipeline::rewrite(model, &library, &settings).map_err(error::pipeline(path))?;
        Ok(())
    }
}

/// Opens the model, and changes it as is asked for.
pub(crate) fn opened(path: &Path, edits: &EditArgs) -> Result<Model, Error> {
    let model = Model::open_whole(path, dialects::context()).map_err(error::model(path))?;
    let edited = edits.apply(model).and_then(with_named_extents);
    edited.map_err(error::model(path))
}

/// Says which model an error of a session is about.
pub(crate) fn refused(path: &Path) -> impl Fn(SessionError) -> Error + '_ {
    move |source| Error::Usage(format!("{}: {source}", path.display()))
}

/// What a model runs on.
#[derive(Clone, Copy)]
pub(crate) struct Inputs<'a> {
    /// The model's file.
    pub model: &'a Path,
    /// Arguments of `--input`.
    pub files: &'a [String],
    /// Whether those that are not given are made up, and from where random numbers start.
    pub random: Option<u64>,
    /// The extents of some that are made up.
    pub shapes: &'a [(String, Vec<usize>)],
}

/// Runs the model.
pub(crate) fn run(args: &RunArgs) -> Result<ExitCode, Error> {
    args.limits.within(|| evaluated(args))
}

fn evaluated(args: &RunArgs) -> Result<ExitCode, Error> {
    for path in args.output.iter().chain(&args.report) {
        out::check(path)?;
    }
    let wanted = Inputs {
        model: &args.model,
        files: &args.input,
        random: args.random.then_some(args.seed),
        shapes: &args.shape,
    };
    let (session, inputs, (outputs, mut profile)) = if kind::is_library(&args.model) {
        let session = library(args)?;
        let given = read_inputs(session.module(), wanted)?;
        let (inputs, ran) = first_run(&session, session.module(), &given, wanted)?;
        (session, inputs, ran)
    } else {
        let original = opened(&args.model, &args.edits)?;
        let given = read_inputs(&original.module, wanted)?;
        let session = args.how.session(&args.model, &original, args.threads)?;
        let (inputs, ran) = first_run(&session, &original.module, &given, wanted)?;
        (session, inputs, ran)
    };
    let named = inputs.iter().map(|(name, datum)| (name.as_str(), datum.clone()));
    let named: Vec<(&str, Datum)> = named.collect();
    for _ in 1..args.runs {
        let (_, again) = session.profile(&named).map_err(refused(&args.model))?;
        if again.total < profile.total {
            profile = again;
        }
    }
    let names = session.outputs().iter().map(|port| port.name.clone());
    let outputs: Vec<(String, Datum)> = names.zip(outputs).collect();
    if let Some(path) = &args.report {
        write_report(path, &args.model, &session, &named, &args.how)?;
    }
    if let Some(path) = &args.output {
        write_outputs(path, &outputs)?;
    }
    match args.json {
        true => out::print(out::json(serde_json::to_string_pretty(&report(
            &outputs, &profile, &session,
        )))?)?,
        false => out::print(table(&outputs, &profile, &session.coverage(), args))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Opens a library that `tangram compile` wrote.
fn library(args: &RunArgs) -> Result<Session, Error> {
    let how = &args.how;
    let asked = [
        (how.interpret, "--interpret"),
        (how.no_rules, "--no-rules"),
        (how.exact, "--exact"),
        (how.machine != tangram_machine::Machine::native(), "--machine"),
        (!args.edits.is_empty(), "another size, input or output"),
        (args.report.is_some(), "--report"),
    ];
    if let Some((_, what)) = asked.iter().find(|(asked, _)| *asked) {
        return Err(Error::Usage(format!(
            "{}: {what} is for models: a library is compiled already",
            args.model.display()
        )));
    }
    let mut options = how.options();
    options.threads = args.threads;
    // SAFETY: whoever asks to run a library wants its code to run.
    let session = unsafe { Session::open(&args.model, &options) };
    session.map_err(refused(&args.model))
}

/// How often a model runs for a report, if it is quick.
const MEASURED: usize = 20;
/// About how long it runs for one.
const MEASURED_SECONDS: f64 = 2.0;

/// Measures some runs, and writes the page of what runs.
pub(crate) fn write_report(
    path: &Path,
    model: &Path,
    session: &Session,
    inputs: &[(&str, Datum)],
    how: &CompileOptions,
) -> Result<(), Error> {
    let (_, once) = session.profile(inputs).map_err(refused(model))?;
    let affordable = MEASURED_SECONDS / once.total.as_secs_f64().max(f64::MIN_POSITIVE);
    let runs = (affordable as usize).clamp(1, MEASURED);
    let (_, report) = session.report(inputs, runs).map_err(refused(model))?;
    let title = model.file_name().unwrap_or_default().to_string_lossy();
    out::write(path, &tangram::code_report(&title, &report, &how.machine))
}

pub(crate) type Ran = (Vec<Datum>, Profile);

/// Runs on what is given, and on made-up inputs of several sizes until one does.
pub(crate) fn first_run(
    session: &Session,
    module: &Module,
    given: &[(String, Tensor)],
    wanted: Inputs<'_>,
) -> Result<(Vec<(String, Datum)>, Ran), Error> {
    let profiled = |inputs: &[(String, Datum)]| {
        let inputs: Vec<(&str, Datum)> =
            inputs.iter().map(|(name, datum)| (name.as_str(), datum.clone())).collect();
        session.profile(&inputs)
    };
    let Some(seed) = wanted.random else {
        let inputs: Vec<(String, Datum)> =
            given.iter().map(|(name, t)| (name.clone(), Datum::Tensor(t.clone()))).collect();
        let ran = profiled(&inputs).map_err(|error| match error {
            SessionError::Input(missing) => {
                let hint = "`--input NAME=FILE.npy` gives one, `--random` makes them up";
                Error::Usage(format!("{}: {missing}; {hint}", wanted.model.display()))
            }
            other => refused(wanted.model)(other),
        })?;
        return Ok((inputs, ran));
    };
    let options = CheckOptions {
        seed,
        shapes: wanted.shapes.to_vec(),
        data: given.to_vec(),
        ..CheckOptions::default()
    };
    let why = |reason| Error::Usage(format!("{}: {reason}", wanted.model.display()));
    let names: Vec<String> = session.inputs().iter().map(|port| port.name.clone()).collect();
    let mut first = None;
    for values in made_up(module, &options).map_err(why)? {
        let inputs: Vec<(String, Datum)> = names.iter().cloned().zip(values).collect();
        match profiled(&inputs) {
            Ok(ran) => return Ok((inputs, ran)),
            Err(error) => {
                first.get_or_insert(error);
            }
        }
    }
    match first {
        Some(error) => Err(refused(wanted.model)(error)),
        None => Err(why("its inputs are too large to be made up".to_owned())),
    }
}

/// Reads the files that are given for inputs.
pub(crate) fn read_inputs(
    module: &Module,
    wanted: Inputs<'_>,
) -> Result<Vec<(String, Tensor)>, Error> {
    let block = module.first_op(module.body()).and_then(|main| module.regions(main).first());
    let block = block.and_then(|&region| module.first_block(region));
    let values = block.map(|block| module.args(block)).unwrap_or_default();
    let name = |&value| module.value_name(value).map(|name| module.context().text(name));
    let names: Vec<&str> = values.iter().filter_map(name).collect();
    let mut given = Vec::new();
    for text in wanted.files {
        // Names may have equals signs, paths as well: what is a name decides.
        let named = names.iter().find_map(|&name| {
            let rest = text.strip_prefix(name)?.strip_prefix('=')?;
            Some((name, rest))
        });
        let path = Path::new(named.map_or(text.as_str(), |(_, path)| path));
        let wrong =
            |why: &dyn std::fmt::Display| Error::Usage(format!("{}: {why}", path.display()));
        if path.extension().is_some_and(|extension| extension == "npz") && named.is_none() {
            let bytes = std::fs::read(path).map_err(error::io(path))?;
            given.extend(decode_npz(&bytes.into()).map_err(|why| wrong(&why))?);
            continue;
        }
        let name = match (named, names.as_slice()) {
            (Some((name, _)), _) => name,
            (None, [only]) if !text.contains('=') => only,
            _ => {
                let known = names.join(", ");
                return Err(Error::Usage(format!(
                    "`--input {text}` names no input: INPUT=FILE.npy is expected, the inputs are \
                     {known}"
                )));
            }
        };
        given.push((name.to_owned(), read_npy(path).map_err(|why| wrong(&why))?));
    }
    Ok(given)
}

/// Writes the outputs that are tensors.
fn write_outputs(path: &Path, outputs: &[(String, Datum)]) -> Result<(), Error> {
    let mut arrays = Vec::new();
    for (name, datum) in outputs {
        let Datum::Tensor(tensor) = datum else {
            return Err(Error::Usage(format!("output `{name}` is no tensor: files hold arrays")));
        };
        arrays.push((name.clone(), tensor.clone()));
    }
    let single = path.extension().is_some_and(|extension| extension == "npy");
    let encoded = match (single, arrays.as_slice()) {
        (true, [(_, tensor)]) => encode_npy(tensor),
        (true, _) => {
            let count = arrays.len();
            let why = format!("the model has {count} outputs: an archive `.npz` holds them");
            return Err(Error::Usage(format!("{}: {why}", path.display())));
        }
        (false, _) => encode_npz(&arrays),
    };
    let bytes = encoded.map_err(|why| Error::Usage(format!("{}: {why}", path.display())))?;
    out::write_bytes(path, &bytes)
}

/// The least, the mean and the greatest number of a tensor.
fn range(datum: &Datum) -> Option<(f64, f64, f64)> {
    let Datum::Tensor(tensor) = datum else { return None };
    let numbers = tensor.f64s().ok().filter(|numbers| !numbers.is_empty())?;
    let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
    let (least, most) = (numbers.iter().copied(), numbers.iter().copied());
    Some((least.fold(f64::INFINITY, f64::min), mean, most.fold(f64::NEG_INFINITY, f64::max)))
}

fn kind(datum: &Datum) -> String {
    match datum {
        Datum::Tensor(tensor) => format!("{}{:?}", tensor.dtype(), tensor.shape()),
        Datum::Sequence(items) => format!("a sequence of {}", items.len()),
        Datum::Map { keys, .. } => format!("a map of {}", keys.len()),
        Datum::Optional(Some(held)) => kind(held),
        Datum::Optional(None) | Datum::None => "absent".to_owned(),
    }
}

/// What a step computes, by the names of its operations: `nn.conv2d, nn.relu`.
fn computed(step: &tangram::native::Timing) -> String {
    const SHOWN: usize = 6;
    let mut names: Vec<&str> = Vec::new();
    for name in &step.operations {
        if names.last() != Some(&name.as_str()) {
            names.push(name);
        }
    }
    let more = names.len().saturating_sub(SHOWN);
    names.truncate(SHOWN);
    match (names.is_empty(), more) {
        (true, _) => step.name.clone(),
        (_, 0) => names.join(", "),
        _ => format!("{} and {more} more", names.join(", ")),
    }
}

/// Steps that compute the same: how many, whether compiled, seconds.
fn groups(profile: &Profile) -> Vec<(String, usize, bool, f64)> {
    let mut by_name: BTreeMap<(String, bool), (usize, f64)> = BTreeMap::new();
    for step in &profile.steps {
        let group = by_name.entry((computed(step), step.compiled)).or_default();
        *group = (group.0 + 1, group.1 + step.time.as_secs_f64());
    }
    let mut groups: Vec<(String, usize, bool, f64)> = by_name
        .into_iter()
        .map(|((name, compiled), (count, time))| (name, count, compiled, time))
        .collect();
    groups.sort_by(|a, b| b.3.total_cmp(&a.3));
    groups
}

fn report(outputs: &[(String, Datum)], profile: &Profile, session: &Session) -> serde_json::Value {
    let output = |(name, datum): &(String, Datum)| {
        let range =
            range(datum).map(|(min, mean, max)| json!({"min": min, "mean": mean, "max": max}));
        json!({"name": name, "type": kind(datum), "range": range})
    };
    let step = |step: &tangram::native::Timing| {
        json!({
            "name": step.name,
            "operations": step.operations,
            "compiled": step.compiled,
            "seconds": step.time.as_secs_f64(),
        })
    };
    let coverage = session.coverage();
    json!({
        "outputs": outputs.iter().map(output).collect::<Vec<_>>(),
        "seconds": profile.total.as_secs_f64(),
        "arena_bytes": profile.arena,
        "compiled": coverage.compiled(),
        "reference": coverage.reference(),
        "reasons": coverage.reasons,
        "steps": profile.steps.iter().map(step).collect::<Vec<_>>(),
    })
}

pub(crate) fn plain<const N: usize>(header: [&str; N], right_from: usize) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header);
    for column in table.column_iter_mut().skip(right_from) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// Why operations run on the reference kernels, a line for each kind and reason.
fn reasons(coverage: &Coverage) -> String {
    let all = coverage.reasons.iter();
    let lines = all.flat_map(|(name, reasons)| {
        reasons.iter().map(move |(why, count)| format!("not compiled: {count} {name}: {why}\n"))
    });
    let text: String = lines.collect();
    if text.is_empty() { text } else { text + "\n" }
}

fn table(
    outputs: &[(String, Datum)],
    profile: &Profile,
    coverage: &Coverage,
    args: &RunArgs,
) -> String {
    let mut text = String::new();
    let mut rows = plain(["output", "type", "least", "mean", "greatest"], 2);
    for (name, datum) in outputs {
        let number = |n: f64| format!("{n:.5}");
        let (least, mean, most) = range(datum)
            .map_or_else(Default::default, |(a, b, c)| (number(a), number(b), number(c)));
        rows.add_row([name.clone(), kind(datum), least, mean, most]);
    }
    text.push_str(&format!("{rows}\n\n"));
    if args.profile {
        let mut rows = plain(["step", "by", "count", "ms", "share"], 2);
        let total = profile.total.as_secs_f64().max(f64::MIN_POSITIVE);
        for (name, count, compiled, time) in groups(profile) {
            let by = if compiled { "code" } else { "reference" };
            let (ms, share) =
                (format!("{:.3}", time * 1e3), format!("{:.1} %", 100.0 * time / total));
            rows.add_row([name, by.to_owned(), count.to_string(), ms, share]);
        }
        text.push_str(&format!("{rows}\n\n{}", reasons(coverage)));
    }
    let operations = coverage.compiled() + coverage.reference();
    text.push_str(&format!(
        "{:.3} ms; {} of {operations} operations compiled, arena {} bytes\n",
        profile.total.as_secs_f64() * 1e3,
        coverage.compiled(),
        profile.arena,
    ));
    text
}
