//! One model in a process of its own.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches};
use serde_json::Value;
use tangram::fleet::{Row, Source, State};

use super::queue::Job;
use crate::args::OptArgs;
use crate::error::{self, Error};
use crate::invocation;

/// What is not passed on: it is about the whole, or said anew for each model.
const OF_THE_WHOLE: [&str; 10] =
    ["input", "output", "more", "jobs", "max_memory", "table", "json", "trace", "steps", "quiet"];

/// The options of this command line that hold for each model, as it was given them.
pub(super) fn options() -> Result<Vec<OsString>, Error> {
    let command = crate::command();
    let matches = command.clone().get_matches_from(&invocation::current().words);
    let Some(("opt", given)) = matches.subcommand() else { return Ok(Vec::new()) };
    let opt = command.find_subcommand("opt");
    let arguments = opt.into_iter().flat_map(clap::Command::get_arguments);
    let mut words = Vec::new();
    for argument in arguments.filter(|arg| !OF_THE_WHOLE.contains(&arg.get_id().as_str())) {
        let name = argument.get_id().as_str();
        let said = given.try_contains_id(name).unwrap_or(false)
            && given.value_source(name) == Some(ValueSource::CommandLine);
        let Some(long) = argument.get_long().filter(|_| said) else { continue };
        words.extend(match argument.get_action() {
            ArgAction::SetTrue => vec![OsString::from(format!("--{long}"))],
            _ => values(given, name, long),
        });
    }
    Ok(words)
}

fn values(given: &ArgMatches, name: &str, long: &str) -> Vec<OsString> {
    let word = |value: &std::ffi::OsStr| {
        let mut word = OsString::from(format!("--{long}="));
        word.push(value);
        word
    };
    given.get_raw(name).into_iter().flatten().map(word).collect()
}

/// The process for one model.
pub(super) struct Child<'a> {
    job: &'a Job,
    command: Result<Command, Error>,
    report: PathBuf,
}

impl<'a> Child<'a> {
    pub(super) fn of(args: &OptArgs, job: &'a Job) -> Child<'a> {
        let name = job.output.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let report = job.output.with_file_name(format!(".{name}.{}.json", std::process::id()));
        Child { job, command: command(args, job, &report), report }
    }

    /// Runs it and says what became of the model.
    pub(super) fn run(self) -> Row {
        let start = Instant::now();
        let mut row = self.job.row.clone();
        match self
            .command
            .and_then(|mut it| tangram_files::output(&mut it).map_err(error::io(&self.job.input)))
        {
            Err(why) => row.note = why.to_string(),
            Ok(ended) => {
                let said = String::from_utf8_lossy(&ended.stdout);
                let complaint = String::from_utf8_lossy(&ended.stderr);
                tell(&mut row, ended.status, &said, &complaint, &self.report);
            }
        }
        row.bytes = row.bytes.map(|(before, _)| (before, size(&self.job.output)));
        row.seconds = start.elapsed().as_secs_f64();
        // There is none if the process ended early.
        let _ = std::fs::remove_file(&self.report);
        row
    }
}

fn command(args: &OptArgs, job: &Job, report: &Path) -> Result<Command, Error> {
    let folder = job.output.parent().unwrap_or(Path::new(""));
    std::fs::create_dir_all(folder).map_err(error::io(folder))?;
    let mut words = invocation::current().program.into_iter();
    let mut command = Command::new(words.next().unwrap_or_else(|| "tangram".into()));
    command.args(words).arg("opt").arg(&job.input).arg("--output").arg(&job.output);
    // The report of a child is for the table, which has no steps: a trace has.
    let steps = if args.trace.is_some() { args.steps } else { 0 };
    command.args(options()?).arg("--steps").arg(steps.to_string()).arg("--json").arg(report);
    if let Some(trace) = &args.trace {
        let ending = trace.extension().unwrap_or("html".as_ref());
        command.arg("--trace").arg(job.output.with_extension(ending));
    }
    command.stdin(Stdio::null());
    Ok(command)
}

/// Bytes of a result with its external weights.
fn size(output: &Path) -> u64 {
    Source::open(output).map_or(0, |source| source.bytes)
}

/// Fills in what the process said.
fn tell(
    row: &mut Row,
    status: std::process::ExitStatus,
    said: &str,
    complaint: &str,
    report: &Path,
) {
    let text = std::fs::read_to_string(report).unwrap_or_default();
    let report: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
    let both = |value: &Value| Some((value["before"].as_f64()?, value["after"].as_f64()?));
    row.nodes = both(&report["nodes"]).map(|(a, b)| (a as u64, b as u64));
    let cost = &report["cost"];
    row.flops = cost["before"]["flops"].as_f64().zip(cost["after"]["flops"].as_f64());
    let check = said.lines().find_map(|line| line.strip_prefix("check  "));
    row.difference = check.and_then(difference);
    let first = |text: &str| text.lines().next().unwrap_or_default().to_owned();
    row.note = match check {
        Some(check) if status.success() => {
            difference(check).map_or(first(check), |_| String::new())
        }
        Some(check) => first(check),
        None => first(complaint.trim_start_matches("error: ")),
    };
    row.state = match status.code() {
        Some(130) => State::Interrupted,
        _ if report.is_null() => State::Failed,
        Some(0) => State::Done,
        Some(3) => State::Unchecked,
        Some(1) => State::Different,
        _ => State::Failed,
    };
    if row.state == State::Failed && row.note.is_empty() {
        row.note = format!("the process ended by {status}");
    }
}

/// The number in `largest difference 1.2e-7 (3.4e-8 of the greatest magnitude)`.
fn difference(check: &str) -> Option<f64> {
    let (_, rest) = check.split_once('(')?;
    rest.split_whitespace().next()?.parse().ok()
}
