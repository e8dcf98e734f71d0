//! The candidates: what several settings make of a model, and the model as it came.

use tangram_native::fingerprint;
use tangram_onnx::Model;
use tangram_onnx::file::SaveOptions;

use super::database::Standing;
use super::{Objective, Row, memory};
use crate::library::Library;
use crate::optimise::{Options, Strategy};
use crate::pipeline::{self, PipelineError};
use crate::report::Report;

/// What the model as it came is called.
pub(super) const BASE: &str = "as it came";
/// How many times the estimate of the best candidate one may have and still be measured.
const FAR: f64 = 1.5;
/// Labels of rules that each may cost what they were meant to gain: `greedy` is tried without them.
const DOUBTFUL: [&str; 4] = ["merge", "recognise", "pays", "fuse"];

/// A way to rewrite the model, and what is known of its result.
pub(super) struct Candidate {
    pub(super) name: String,
    pub(super) model: Model,
    pub(super) report: Report,
    /// Estimated seconds, or bytes.
    pub(super) predicted: f64,
    /// What it computes, as a number.
    pub(super) id: u128,
    /// How it compares with the model as it came, as measured.
    pub(super) standing: Option<Standing>,
    /// Why it is not measured; empty if it may be.
    pub(super) left_out: String,
    /// Whether the runtime refuses it: then it is never taken.
    pub(super) broken: bool,
    /// Why it was taken, or not.
    pub(super) why: String,
    /// Other ways that led to the same.
    pub(super) same: Vec<String>,
}

impl Candidate {
    /// Whether it is to be measured.
    pub(super) fn is_open(&self) -> bool {
        self.left_out.is_empty()
    }

    /// Never takes it.
    pub(super) fn refuse(&mut self, why: String) {
        (self.left_out, self.broken) = (why, true);
    }

    /// What is told of it, and of other ways that led to the same.
    pub(super) fn rows(&self, all: &[Candidate]) -> Vec<Row> {
        let own = self.row(all);
        let same = self.same.iter().map(|name| Row {
            name: name.clone(),
            same_as: Some(self.name.clone()),
            why: format!("the same as `{}`", self.name),
            ..own.clone()
        });
        [own.clone()].into_iter().chain(same).collect()
    }

    fn row(&self, all: &[Candidate]) -> Row {
        let standing = self.standing.as_ref();
        Row {
            name: self.name.clone(),
            predicted: self.predicted,
            predicted_gain: self.predicted_gain(all),
            gain: standing.map(|standing| standing.gain),
            noise: standing.map(|standing| standing.noise),
            seconds: standing.map(|standing| standing.seconds),
            same_as: None,
            why: self.why.clone(),
        }
    }

    /// How many times as good as the model as it came it is estimated to be.
    pub(super) fn predicted_gain(&self, all: &[Candidate]) -> f64 {
        let base = all.last().map_or(self.predicted, |base| base.predicted);
        if self.predicted > 0.0 { base / self.predicted } else { 1.0 }
    }
}

/// Makes the candidates, the preferred ones first and the model as it came last; of equal results
/// one.
pub(super) fn make(
    model: &Model,
    library: &Library,
    options: &Options,
    objective: Objective,
    notes: &mut Vec<String>,
) -> Result<Vec<Candidate>, PipelineError> {
    let mut all: Vec<Candidate> = Vec::new();
    for (name, settings) in settings(library, options) {
        let mut result = model.clone();
        let report = match pipeline::rewrite(&mut result, library, &settings) {
            Ok(report) => report,
            // What was asked for has to be possible; what is tried besides has not.
            Err(error) if all.is_empty() => return Err(error),
            Err(error) => {
                notes.push(format!("{name}: {error}"));
                continue;
            }
        };
        let interrupted = report.interrupted;
        add(&mut all, (name, result, report), options, objective)?;
        if interrupted {
            break;
        }
    }
    let mut result = model.clone();
    let report = pipeline::untouched(&mut result, library, options)?;
    let base = (BASE.to_owned(), result, report);
    // What changes nothing is the model as it came.
    let id = fingerprint(&base.1);
    let same = all.extract_if(.., |candidate| candidate.id == id).next();
    add(&mut all, base, options, objective)?;
    if let (Some(same), Some(base)) = (same, all.last_mut()) {
        base.same = [same.name].into_iter().chain(same.same).collect();
    }
    Ok(all)
}

fn add(
    all: &mut Vec<Candidate>,
    (name, model, report): (String, Model, Report),
    options: &Options,
    objective: Objective,
) -> Result<(), PipelineError> {
    let id = fingerprint(&model);
    if let Some(other) = all.iter_mut().find(|other| other.id == id) {
        other.same.push(name);
        return Ok(());
    }
    let predicted = match objective {
        Objective::Latency => options.cost.total(&model.module),
        Objective::Memory => memory::peak(&model, &options.cost),
        Objective::Size => size(&model, options)?,
    };
    all.push(Candidate {
        name,
        model,
        report,
        predicted,
        id,
        standing: None,
        left_out: String::new(),
        broken: false,
        why: String::new(),
        same: Vec::new(),
    });
    Ok(())
}

/// What is tried: what was asked for, the other strategy, and greedy without some rules.
fn settings(library: &Library, options: &Options) -> Vec<(String, Options)> {
    let asked = Options { choosing: None, ..options.clone() };
    let name = |strategy: Strategy| match strategy {
        Strategy::Greedy => "greedy",
        Strategy::Walk => "walk",
        Strategy::Saturate => "saturate",
    };
    let mut all = vec![(name(options.strategy).to_owned(), asked.clone())];
    for strategy in [Strategy::Greedy, Strategy::Saturate] {
        if strategy != options.strategy {
            all.push((name(strategy).to_owned(), Options { strategy, ..asked.clone() }));
        }
    }
    for label in DOUBTFUL.into_iter().filter(|label| library.has_label(label)) {
        let mut fewer = Options { strategy: Strategy::Greedy, ..asked.clone() };
        fewer.disable.push(label.to_owned());
        all.push((format!("greedy without {label}"), fewer));
    }
    all
}

/// The bytes of the files that a model is saved as.
fn size(model: &Model, options: &Options) -> Result<f64, PipelineError> {
    let proto = pipeline::export(model, options.opset)?;
    let folder = tangram_files::Scratch::new().map_err(pipeline::unsaved)?;
    model.save_proto(&proto, folder.path().join("model.onnx"), &SaveOptions::default())?;
    let files = tangram_files::entries(folder.path()).map_err(pipeline::unsaved)?;
    let bytes = files.iter().filter_map(|file| std::fs::metadata(file).ok()).map(|file| file.len());
    Ok(bytes.sum::<u64>() as f64)
}

/// Leaves out what is estimated to be far from the best: but what was asked for, and the model as it
/// came.
pub(super) fn leave_out(all: &mut [Candidate]) {
    let best = all.iter().map(|candidate| candidate.predicted).fold(f64::INFINITY, f64::min);
    let last = all.len() - 1;
    for candidate in all.iter_mut().take(last).skip(1) {
        let times = candidate.predicted / best.max(f64::MIN_POSITIVE);
        if times > FAR {
            candidate.left_out =
                format!("not measured: estimated to take {times:.2} times as long as the best");
        }
    }
}
