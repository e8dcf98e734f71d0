//! Many models: which they are, what each needs, what is done already, and one table of all.
//!
//! The command runs a process for each model, the Python package gives them to the executor of an
//! engine. Both keep the same books: a [`Row`] for each model, in the file [`JOURNAL`] of the
//! folder that results go to. A row with the same [`Source::fingerprint`] is not done again.
//!
//! ```text
//! models/a.onnx ─┐            ┌─▶ out/a.onnx
//! models/b/c.onnx ─ workers ──┼─▶ out/b/c.onnx
//!                             └─▶ out/tangram-fleet.jsonl: a line for each
//! ```

mod find;
mod source;
mod table;

use std::path::Path;

use serde::{Deserialize, Serialize};

pub use find::{FindError, Found, find, is_match, name_from_shared_folder};
pub use source::Source;
pub use table::{Format, render};

/// The file with a line of JSON for each model that is done.
pub const JOURNAL: &str = "tangram-fleet.jsonl";

/// What became of a model.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It is optimised, and where a check was asked for, that holds.
    Done,
    /// It was done by an earlier run, and nothing has changed since.
    Unchanged,
    /// It is optimised, and could not be compared with the original.
    Unchecked,
    /// It is optimised as far as it came when the run was interrupted.
    Interrupted,
    /// The result computes something else.
    Different,
    /// There is no result.
    Failed,
}

/// One model in the table.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Row {
    /// Its name below the folder that was asked for.
    pub model: String,
    /// What became of it.
    pub state: State,
    /// Nodes before and after.
    pub nodes: Option<(u64, u64)>,
    /// Bytes of its files before and after.
    pub bytes: Option<(u64, u64)>,
    /// Estimated arithmetic operations before and after.
    pub flops: Option<(f64, f64)>,
    /// Seconds that it took.
    pub seconds: f64,
    /// The largest difference of an output, relative to the greatest magnitude, if it was checked.
    pub difference: Option<f64>,
    /// Why there is no result, or what there is to know of it.
    pub note: String,
    /// Model, rules, options and version that it was made from.
    pub fingerprint: String,
}

impl Default for Row {
    fn default() -> Self {
        Row {
            model: String::new(),
            state: State::Failed,
            nodes: None,
            bytes: None,
            flops: None,
            seconds: 0.0,
            difference: None,
            note: String::new(),
            fingerprint: String::new(),
        }
    }
}

impl Row {
    /// Whether the next run may leave the model as it is.
    pub fn is_final(&self) -> bool {
        matches!(self.state, State::Done | State::Unchanged | State::Unchecked)
    }

    /// Whether its result is at `path` still, with all of its weights.
    pub fn is_at(&self, path: &Path) -> bool {
        let there = Source::open(path).ok().map(|source| source.bytes);
        there.is_some() && there == self.bytes.map(|(_, after)| after)
    }
}

/// The rows of a journal, the last of each model; none if there is no journal. A line that was
/// not written to its end is passed over.
pub fn journal(folder: &Path) -> Vec<Row> {
    let text = std::fs::read_to_string(folder.join(JOURNAL)).unwrap_or_default();
    let mut rows: Vec<Row> = text.lines().filter_map(|l| serde_json::from_str(l).ok()).collect();
    // The last one stands for the model.
    let mut seen = rustc_hash::FxHashSet::default();
    rows.reverse();
    rows.retain(|row| seen.insert(row.model.clone()));
    rows.reverse();
    rows
}
