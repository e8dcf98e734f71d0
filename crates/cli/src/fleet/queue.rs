//! Which model is next: the first that memory is left for.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use tangram::fleet::{self, Found, Row, Source, State};

use super::child;
use crate::args::{OptArgs, StrategyArg};
use crate::error::Error;

/// How often a worker that waits for memory looks whether it should stop.
const PATIENCE: Duration = Duration::from_millis(100);

/// A model to do.
pub(super) struct Job {
    pub(super) input: PathBuf,
    pub(super) output: PathBuf,
    /// What is known of it before: its name, its fingerprint, its bytes.
    pub(super) row: Row,
    /// The row, if nothing is left to do.
    pub(super) ready: Option<Row>,
    /// The bytes of memory that it is counted with.
    peak: u64,
}

/// The models that are left, and the memory that is taken.
pub(super) struct Queue<'a> {
    pub(super) args: &'a OptArgs,
    /// Options, and the rules and costs that they name.
    request: String,
    before: HashMap<String, Row>,
    state: Mutex<(Vec<Found>, u64)>,
    freed: Condvar,
    all: usize,
}

impl<'a> Queue<'a> {
    pub(super) fn new(mut models: Vec<Found>, args: &'a OptArgs) -> Result<Queue<'a>, Error> {
        let journal = fleet::journal(&args.output).into_iter();
        let all = models.len();
        // The longest first: what is left at the end is short, and no worker waits long for another.
        models.reverse();
        models.sort_by_key(|found| found.path.metadata().map_or(0, |data| data.len()));
        Ok(Queue {
            args,
            request: request(args)?,
            before: journal.map(|row| (row.model.clone(), row)).collect(),
            state: Mutex::new((models, 0)),
            freed: Condvar::new(),
            all,
        })
    }

    pub(super) fn len(&self) -> usize {
        self.all
    }

    /// Takes the next model, and waits until there is memory for it; none if all are taken.
    pub(super) fn next(&self, stop: &AtomicBool) -> Option<Job> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        let found = state.0.pop()?;
        drop(state);
        let mut job = self.prepare(found);
        let Some(most) = self.args.max_memory.filter(|_| job.ready.is_none()) else {
            job.peak = 0;
            return Some(job);
        };
        if job.peak > most {
            job.row.note = format!(
                "needs about {} MB of memory; `--max-memory` allows {} MB",
                job.peak >> 20,
                most >> 20
            );
            job.ready = Some(job.row.clone());
            job.peak = 0;
            return Some(job);
        }
        state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.1 + job.peak > most {
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            let waited = self.freed.wait_timeout(state, PATIENCE);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.1 += job.peak;
        Some(job)
    }

    /// Gives back the memory of a model.
    pub(super) fn done(&self, job: &Job) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).1 -= job.peak;
        self.freed.notify_all();
    }

    /// Looks at a model's files, and at what the journal says of it.
    fn prepare(&self, found: Found) -> Job {
        let output = self.args.output.join(&found.name);
        let model = found.name.to_string_lossy().into_owned();
        let mut row = Row { model, ..Row::default() };
        let mut peak = 0;
        let ready;
        let source = Source::open(&found.path).map_err(|why| why.to_string());
        let known = source.and_then(|source| {
            let fingerprint = source.fingerprint(&self.request).map_err(|why| why.to_string())?;
            Ok((source, fingerprint))
        });
        match known {
            Ok((source, fingerprint)) => {
                let saturate = self.args.strategy == StrategyArg::Saturate;
                peak = source.peak(self.args.check, saturate);
                row.bytes = Some((source.bytes, 0));
                row.fingerprint = fingerprint;
                let known = self.before.get(&row.model);
                let same = |old: &&Row| {
                    old.is_final() && old.fingerprint == row.fingerprint && old.is_at(&output)
                };
                ready =
                    known.filter(same).map(|old| Row { state: State::Unchanged, ..old.clone() });
            }
            Err(why) => {
                row.note = why;
                ready = Some(row.clone());
            }
        }
        Job { input: found.path, output, row, ready, peak }
    }
}

/// The text of what results depend on beside the models: options, rules, costs.
fn request(args: &OptArgs) -> Result<String, Error> {
    let words = child::options()?;
    let mut text: String = words.iter().map(|word| word.to_string_lossy() + "\0").collect();
    let mut files: Vec<PathBuf> = args.cost.iter().cloned().collect();
    for name in args.rules.iter().map(PathBuf::from) {
        match tangram_files::entries(&name) {
            Ok(entries) => files.extend(entries),
            Err(_) => files.push(name),
        }
    }
    files.sort();
    // What is no file is a name, which stands among the options.
    text.extend(files.iter().filter_map(|file| std::fs::read_to_string(file).ok()));
    Ok(text)
}
