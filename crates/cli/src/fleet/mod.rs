//! `tangram opt` on many models: a process of the same command for each, some at a time.
//!
//! What one model does, be it a crash or memory, the others do not notice. A journal beside the
//! results says what is done: the next run leaves that out.

mod args;
mod child;
mod queue;

use crate::exit::ExitCode;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use indicatif::{ProgressBar, ProgressStyle};
use tangram::fleet::{self, Format, Found, Row, State};

use crate::args::OptArgs;
use crate::error::{self, Error};
use crate::opt::on_interrupt;
use crate::out;

pub(crate) use args::FleetArgs;
use child::Child;
use queue::Queue;

/// Whether the command line stands for many models: a folder, a pattern, or several files.
pub(crate) fn is_asked(args: &OptArgs) -> bool {
    let text = args.input.to_string_lossy();
    !args.fleet.more.is_empty()
        || args.input.is_dir()
        || (text.contains(['*', '?']) && !args.input.exists())
}

/// Optimises all of them; the exit code is 1 if a model has no result or one that differs.
pub(crate) fn run(args: &OptArgs) -> Result<ExitCode, Error> {
    // What is wrong with rules and options is wrong for each model, and said at once.
    crate::opt::check_request(args)?;
    let models = models(args)?;
    if args.output.is_file() {
        let shown = args.output.display();
        return Err(Error::Usage(format!("{shown}: many models need a folder for their results")));
    }
    std::fs::create_dir_all(&args.output).map_err(error::io(&args.output))?;
    let jobs = args
        .fleet
        .jobs
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get));
    let queue = Queue::new(models, args)?;
    let log = Log::open(&args.output, queue.len(), args.quiet)?;
    let stop = on_interrupt();
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, 1024) {
            scope.spawn(|| work(&queue, &log, &stop));
        }
    });
    finish(args, log.finish(), stop.load(Ordering::Relaxed))
}

/// Prints and writes the table.
fn finish(args: &OptArgs, mut rows: Vec<Row>, stopped: bool) -> Result<ExitCode, Error> {
    rows.sort_by(|a, b| a.model.cmp(&b.model));
    if !args.quiet {
        out::print(fleet::render(&rows, Format::Text))?;
        if stopped {
            out::print("interrupted: run it again to go on\n")?;
        }
    }
    for path in &args.fleet.table {
        out::write(path, &fleet::render(&rows, Format::of(path)))?;
    }
    let bad = rows.iter().any(|row| matches!(row.state, State::Failed | State::Different));
    Ok(match (stopped, bad) {
        (true, _) => ExitCode::from(130),
        (false, true) => ExitCode::from(1),
        (false, false) => ExitCode::SUCCESS,
    })
}

/// The models of the command line; names that stand for several files twice are an error.
fn models(args: &OptArgs) -> Result<Vec<Found>, Error> {
    let mut all = Vec::new();
    for wanted in std::iter::once(&args.input).chain(&args.fleet.more) {
        if wanted.is_file() {
            let name = wanted.file_name().unwrap_or_default().into();
            all.push(Found { path: wanted.clone(), name });
            continue;
        }
        all.extend(fleet::find(wanted).map_err(|why| Error::Usage(why.to_string()))?);
    }
    if !args.fleet.more.is_empty() {
        fleet::name_from_shared_folder(&mut all).map_err(error::io(&args.input))?;
    }
    // Results from an earlier run are no models of this one.
    let out = std::fs::canonicalize(&args.output).ok();
    let is_result = |found: &Found| {
        let path = std::fs::canonicalize(&found.path).ok();
        out.as_ref().zip(path).is_some_and(|(out, path)| path.starts_with(out))
    };
    let inside = all.iter().filter(|found| is_result(found)).count();
    if inside < all.len() {
        all.retain(|found| !is_result(found));
    } else if inside > 0 {
        return Err(Error::Usage("the results need a folder of their own".to_owned()));
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    if let Some(pair) = all.windows(2).find(|pair| pair[0].name == pair[1].name) {
        let (first, second) = (pair[0].path.display(), pair[1].path.display());
        return Err(Error::Usage(format!("{first} and {second} would have the same result file")));
    }
    Ok(all)
}

/// Does one model after the other until none is left.
fn work(queue: &Queue<'_>, log: &Log, stop: &AtomicBool) {
    while let Some(job) = queue.next(stop) {
        let row = match &job.ready {
            Some(row) => row.clone(),
            None => Child::of(queue.args, &job).run(),
        };
        log.add(row);
        queue.done(&job);
    }
}

/// What is done: rows, a line of the journal for each, and a bar where someone looks.
struct Log {
    rows: Mutex<(Vec<Row>, File)>,
    bar: Option<ProgressBar>,
}

impl Log {
    fn open(folder: &Path, models: usize, quiet: bool) -> Result<Log, Error> {
        use std::io::IsTerminal;
        let path = folder.join(fleet::JOURNAL);
        let file = tangram_files::append(&path).map_err(error::io(&path))?;
        let bar = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::new(models as u64);
            let form = "{wide_bar} {pos}/{len} models, {eta} left  {msg}";
            bar.with_style(
                ProgressStyle::with_template(form).unwrap_or(ProgressStyle::default_bar()),
            )
        });
        Ok(Log { rows: Mutex::new((Vec::new(), file)), bar })
    }

    fn add(&self, row: Row) {
        if let Some(bar) = &self.bar {
            bar.set_message(row.model.clone());
            bar.inc(1);
        }
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        if row.state != State::Unchanged
            && let Ok(line) = serde_json::to_string(&row)
        {
            // A journal that cannot be written costs the next run time, this one nothing.
            let _ = rows.1.write_all((line + "\n").as_bytes());
        }
        rows.0.push(row);
    }

    fn finish(self) -> Vec<Row> {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
        self.rows.into_inner().unwrap_or_else(PoisonError::into_inner).0
    }
}
