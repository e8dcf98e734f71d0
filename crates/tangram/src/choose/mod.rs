//! Choosing among several rewritings of a model: by what costs predict, or by what a runtime takes.
//!
//! ```text
//!         ┌── greedy ─────────┐                      ┌── known ─────┐
//!         ├── saturate ───────┤  equal ones once;    │  measured    │  not slower than the
//! model ──┼── greedy without ─┼─ what is predicted ──┼─  or else    ┼─ model as it came; of ──▶ one
//!         ├── …               │  far off left out    │  predicted   │  these the fastest
//!         └── as it came ─────┘                      └──────────────┘
//! ```
//!
//! Models are timed in rounds: each round runs every candidate once, in random order, and with them
//! the model as it came twice. What the second of these seems to gain is what a measurement cannot
//! tell from nothing. A candidate's gain is the median, over the rounds, of the time of the model as
//! it came over its own: what slows a round slows both.
//!
//! Results go to a [database] of lines, which later runs read in place of measuring.

mod candidates;
pub mod database;
mod decide;
mod memory;
mod runtime;
mod timing;

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;
use tangram_dialects::interpret::Datum;
use tangram_machine::Machine;
use tangram_onnx::Model;
use tangram_tensor::budget::within_time;

use crate::check::{CheckOptions, Reason, input_names, made_up};
use crate::library::Library;
use crate::optimise::Options;
use crate::pipeline::PipelineError;
use crate::report::Report;

use candidates::Candidate;
use database::{Database, Key, Line};
use decide::pick;
pub use runtime::{Native, Running, Runtime};

/// What a model is to be good at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Objective {
    /// Seconds of a run.
    #[default]
    Latency,
    /// Bytes of weights and of what is alive between them at once.
    Memory,
    /// Bytes of the file and its weights.
    Size,
}

impl Objective {
    /// The objective of a name.
    pub fn named(name: &str) -> Option<Objective> {
        match name {
            "latency" => Some(Objective::Latency),
            "memory" => Some(Objective::Memory),
            "size" => Some(Objective::Size),
            _ => None,
        }
    }
}

/// For what a model is rewritten, and how that is found out.
#[derive(Clone, Debug)]
pub struct Choosing {
    /// What it is to be good at.
    pub objective: Objective,
    /// What is to run it.
    pub runtime: Arc<dyn Runtime>,
    /// How candidates are timed; what costs predict is believed if absent.
    pub measuring: Option<Measuring>,
}

/// How candidates are timed.
#[derive(Clone, Debug)]
pub struct Measuring {
    /// How long it may take in all, loading included.
    pub budget: Duration,
    /// Where results are looked up and added; nowhere if absent.
    pub database: Option<PathBuf>,
    /// The inputs that candidates run on.
    pub inputs: CheckOptions,
}

/// What was chosen, and why.
#[derive(Clone, Debug, Serialize)]
pub struct Choice {
    /// What is to run the model, with its version where it was asked.
    pub runtime: String,
    /// What the model is to be good at.
    pub objective: Objective,
    /// The candidate that was taken.
    pub taken: String,
    /// What it was chosen by.
    pub basis: Basis,
    /// What a second copy of the model as it came seemed to gain over the first: 1 without noise.
    pub control: Option<f64>,
    /// Seconds that measuring took.
    pub seconds: f64,
    /// The inputs on which candidates were timed.
    pub inputs: String,
    /// All that were considered.
    pub candidates: Vec<Row>,
    /// What did not go as it was asked for.
    pub notes: Vec<String>,
    /// What was measured, as the database has it.
    pub lines: Vec<Line>,
}

/// What a choice rests on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// Times of this run.
    Measured,
    /// Times of earlier runs alone.
    Database,
    /// Estimates, or what can be counted.
    Predicted,
    /// No rewriting changes the model.
    Alone,
}

/// One candidate.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Row {
    /// How it was made.
    pub name: String,
    /// Estimated seconds, or bytes.
    pub predicted: f64,
    /// How many times as good as the model as it came it is estimated to be.
    pub predicted_gain: f64,
    /// The same as measured, here or earlier.
    pub gain: Option<f64>,
    /// How far from 1 a gain has to be to mean something.
    pub noise: Option<f64>,
    /// The median of its seconds.
    pub seconds: Option<f64>,
    /// The candidate that came out the same, of which the numbers are.
    pub same_as: Option<String>,
    /// Why it was taken, or not.
    pub why: String,
}

/// Makes candidates of a model and takes the best of them, which is never known to be worse than
/// the model as it came.
pub(crate) fn choose(
    model: &mut Model,
    library: &Library,
    options: &Options,
    how: &Choosing,
) -> Result<Report, PipelineError> {
    let mut notes = Vec::new();
    let mut all = candidates::make(model, library, options, how.objective, &mut notes)?;
    let mut choice = Choice {
        runtime: how.runtime.name().to_owned(),
        objective: how.objective,
        taken: String::new(),
        basis: Basis::Predicted,
        control: None,
        seconds: 0.0,
        inputs: String::new(),
        candidates: Vec::new(),
        notes,
        lines: Vec::new(),
    };
    match (&how.measuring, how.objective) {
        _ if all.len() == 1 => choice.basis = Basis::Alone,
        (None, _) => {}
        (Some(measuring), Objective::Latency) => {
            let started = Instant::now();
            if let Err(why) = measure(&mut all, how, measuring, options, &mut choice) {
                choice.notes.push(format!("not measured: {why}"));
            }
            choice.seconds = started.elapsed().as_secs_f64();
        }
        (Some(_), _) => {
            let note = "only latency is measured; memory is estimated, and sizes are counted";
            choice.notes.push(note.to_owned());
        }
    }
    let taken = pick(&mut all, &choice);
    choice.taken.clone_from(&all[taken].name);
    choice.candidates = all.iter().flat_map(|candidate| candidate.rows(&all)).collect();
    let winner = all.swap_remove(taken);
    *model = winner.model;
    let mut report = winner.report;
    report.choice = Some(choice);
    Ok(report)
}

/// Finds out how fast candidates are: from the database, or by running them.
fn measure(
    all: &mut [Candidate],
    how: &Choosing,
    measuring: &Measuring,
    options: &Options,
    choice: &mut Choice,
) -> Result<(), Reason> {
    let started_at = Instant::now();
    let base = &all[all.len() - 1];
    let start = || started(how.runtime.as_ref(), &base.model, &measuring.inputs);
    let (mut running, inputs) = within_time(Some(longest(measuring.budget)), start)?;
    choice.runtime = running.version();
    choice.inputs = described(&inputs);
    let machine = format!("{}, {} cores", processor(), Machine::native().cores);
    let key = Key {
        model: hex(base.id),
        runtime: choice.runtime.clone(),
        machine,
        inputs: choice.inputs.clone(),
    };
    let database = match &measuring.database {
        Some(path) => Database::read(path).map_err(|why| format!("{}: {why}", path.display()))?,
        None => Database::default(),
    };
    if database.damaged > 0 {
        let count = database.damaged;
        choice.notes.push(format!("{count} lines of the database are damaged and were left out"));
    }
    candidates::leave_out(all);
    let last = all.len() - 1;
    for candidate in all[..last].iter_mut().filter(|candidate| candidate.is_open()) {
        candidate.standing = database.find(&key, &hex(candidate.id));
    }
    if !all[..last].iter().any(|c| c.is_open() && c.standing.is_none()) {
        choice.basis = Basis::Database;
        return Ok(());
    }
    let left = measuring.budget.saturating_sub(started_at.elapsed());
    let _alone = alone(measuring);
    let deadline = Instant::now() + left;
    let time = || timing::time(running.as_mut(), all, (deadline, options), measuring);
    choice.control = within_time(Some(longest(left)), time)?;
    choice.basis = Basis::Measured;
    let lines = all[..last].iter().filter_map(|candidate| {
        let standing = candidate.standing.clone().filter(|standing| !standing.known)?;
        Some(Line::new(&key, hex(candidate.id), candidate.name.clone(), &standing))
    });
    choice.lines = lines.collect();
    let Some(path) = &measuring.database else { return Ok(()) };
    if let Err(why) = database.append(path, &choice.lines) {
        choice.notes.push(format!("{}: results were not kept: {why}", path.display()));
    }
    Ok(())
}

/// How long what was begun within some time may go on: a model whose run has no end is ended.
fn longest(time: Duration) -> Duration {
    time.saturating_mul(2).saturating_add(Duration::from_secs(1))
}

/// What the processor is called; its instruction set where it has no name.
fn processor() -> String {
    let told = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = told.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    name.map_or_else(|| Machine::native().isa.name().to_owned(), |(_, name)| name.trim().to_owned())
}

/// Waits until nobody else who keeps times in the same place measures: others at work would be
/// measured as well.
fn alone(measuring: &Measuring) -> Option<File> {
    let path = measuring.database.as_ref()?.with_extension("lock");
    std::fs::create_dir_all(tangram_files::folder_of(&path)).ok()?;
    let file = tangram_files::append(&path).ok()?;
    // Where files cannot be locked, times are noisier.
    file.lock().ok().map(|()| file)
}

/// A model's inputs by name.
type Feed = Vec<(String, Datum)>;

/// How many sizes of inputs are tried.
const SIZES: usize = 8;

/// Starts a runtime with inputs that the model as it came runs on: the largest of a few.
fn started(
    runtime: &dyn Runtime,
    model: &Model,
    how: &CheckOptions,
) -> Result<(Box<dyn Running>, Feed), Reason> {
    let names = input_names(&model.module)?;
    let mut sizes: Vec<Vec<Datum>> = made_up(&model.module, how)?.take(SIZES).collect();
    let elements = |data: &Vec<Datum>| {
        let count = |datum: &Datum| match datum {
            Datum::Tensor(tensor) => tensor.shape().iter().product(),
            _ => 0usize,
        };
        data.iter().map(count).fold(0usize, usize::saturating_add)
    };
    sizes.sort_by_key(|data| std::cmp::Reverse(elements(data)));
    let mut why = "no inputs can be made up: give their shapes".to_owned();
    for data in sizes {
        let feed: Feed = names.iter().cloned().zip(data).collect();
        let mut running = runtime.start(&feed)?;
        match running.load(model).and_then(|()| running.run(0, 1)) {
            Ok(_) => return Ok((running, feed)),
            Err(reason) => why = reason,
        }
    }
    Err(format!("{} does not run the model as it came: {why}", runtime.name()))
}

/// The types of inputs, in order of their names.
fn described(feed: &Feed) -> String {
    let mut all: Vec<String> =
        feed.iter().map(|(name, datum)| described_one(name, datum)).collect();
    all.sort();
    all.join(", ")
}

fn described_one(name: &str, datum: &Datum) -> String {
    match datum {
        Datum::Tensor(tensor) => {
            let extents: Vec<String> = tensor.shape().iter().map(usize::to_string).collect();
            format!("{name}: {}[{}]", tensor.dtype().name(), extents.join(", "))
        }
        _ => name.to_owned(),
    }
}

fn hex(id: u128) -> String {
    format!("{id:032x}")
}
