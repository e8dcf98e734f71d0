//! `tangram opt --for`, `--objective` and `--measure`: for what a model is rewritten.

mod onnxruntime;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use comfy_table::{CellAlignment, Table};
use tangram::check::CheckOptions;
use tangram::choose::{Basis, Choice, Choosing, Measuring, Native, Objective, Row, Runtime};
use tangram::native::Cache;

use crate::table::plain;
use crate::values::seconds;

pub use onnxruntime::Onnxruntime;

/// What is to run a model.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum RuntimeArg {
    /// Onnxruntime, where Python has it.
    Onnxruntime,
    /// Sessions of this package.
    Native,
}

/// What a model is to be good at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum ObjectiveArg {
    /// The time of a run.
    Latency,
    /// The memory of a run, as estimated.
    Memory,
    /// The bytes of the file and its weights.
    Size,
}

/// For what a model is rewritten.
#[derive(Args, Debug)]
#[command(next_help_heading = "Choosing")]
pub(crate) struct ChooseArgs {
    /// What is to run the result. Several rewritings are made for it, by all strategies and without
    /// some rules; the one that is estimated to be the best is taken, or the model as it came.
    #[arg(long = "for", value_name = "RUNTIME", value_enum)]
    runtime: Option<RuntimeArg>,
    /// What the result is to be good at.
    #[arg(long, value_name = "WHAT", value_enum)]
    objective: Option<ObjectiveArg>,
    /// Time the rewritings under the runtime for S seconds, 20 if nothing is said, and take the
    /// fastest: never one that is slower than the model as it came, beyond noise.
    #[arg(long, value_name = "S", num_args = 0..=1, require_equals = true,
        default_missing_value = "20", value_parser = seconds)]
    measure: Option<Duration>,
    /// Where times are kept, and read by later runs in place of measuring: lines of JSON. A file in
    /// the cache folder of the user if absent.
    #[arg(long, value_name = "FILE", requires = "measure")]
    pub(crate) measurements: Option<PathBuf>,
}

impl ChooseArgs {
    /// What is to be chosen by; nothing if it is not asked for.
    pub(crate) fn choosing(&self, inputs: &CheckOptions) -> Option<Choosing> {
        let asked = (self.runtime, self.objective, self.measure);
        if asked == (None, None, None) {
            return None;
        }
        let runtime: Arc<dyn Runtime> = match self.runtime {
            Some(RuntimeArg::Native) => Arc::new(Native),
            _ => Arc::new(Onnxruntime::default()),
        };
        let objective = match self.objective {
            Some(ObjectiveArg::Memory) => Objective::Memory,
            Some(ObjectiveArg::Size) => Objective::Size,
            _ => Objective::Latency,
        };
        let measuring = self.measure.map(|budget| Measuring {
            budget,
            database: self.measurements.clone().or_else(database),
            inputs: inputs.clone(),
        });
        Some(Choosing { objective, runtime, measuring })
    }

    /// Whether a choice rests on less than was asked for.
    pub(crate) fn is_unmeasured(&self, choice: Option<&Choice>) -> bool {
        let latency = |choice: &Choice| choice.objective == Objective::Latency;
        self.measure.is_some()
            && choice.is_some_and(|choice| choice.basis == Basis::Predicted && latency(choice))
    }
}

/// Where times are kept if nothing else is said; nowhere if there is no place for it.
pub fn database() -> Option<PathBuf> {
    Some(Cache::of_user().folder()?.join("measured.jsonl"))
}

/// What was chosen, and why.
pub(crate) fn render(choice: &Choice) -> String {
    let mut table = plain(["rewriting", "predicted", "measured", "why"]);
    if let Some(column) = table.column_mut(3) {
        column.set_cell_alignment(CellAlignment::Left);
    }
    let (same, own): (Vec<&Row>, Vec<&Row>) =
        choice.candidates.iter().partition(|row| row.same_as.is_some());
    own.iter().for_each(|row| add(&mut table, row, &choice.taken));
    let basis = match choice.basis {
        Basis::Measured => format!("measured in {:.1} s", choice.seconds),
        Basis::Database => "by what was measured before".to_owned(),
        Basis::Predicted if choice.objective == Objective::Size => "counted".to_owned(),
        Basis::Predicted => "by estimates".to_owned(),
        Basis::Alone => "as no rewriting changes it".to_owned(),
    };
    let objective = match choice.objective {
        Objective::Latency => "latency",
        Objective::Memory => "memory",
        Objective::Size => "size",
    };
    let mut out = format!("{table}\n\n");
    out += &format!("taken  {}, {objective} under {}, {basis}", choice.taken, choice.runtime);
    if let Some(control) = choice.control {
        out += &format!("; the control gains {:+.1} %", 100.0 * (control - 1.0));
    }
    out.push('\n');
    for row in own {
        let equal = same.iter().filter(|other| other.same_as.as_ref() == Some(&row.name));
        let equal: Vec<&str> = equal.map(|other| other.name.as_str()).collect();
        if !equal.is_empty() {
            out += &format!("same   as {}: {}\n", row.name, equal.join(", "));
        }
    }
    for note in &choice.notes {
        out += &format!("note   {note}\n");
    }
    out
}

fn add(table: &mut Table, row: &Row, taken: &str) {
    let times = |gain: f64| format!("{gain:.2}x");
    let measured = match (row.gain, row.noise) {
        (Some(gain), Some(noise)) => format!("{} ± {noise:.2}", times(gain)),
        _ => String::new(),
    };
    let mark = if row.name == taken { " (taken)" } else { "" };
    let name = format!("{}{mark}", row.name);
    table.add_row([name, times(row.predicted_gain), measured, row.why.clone()]);
}
