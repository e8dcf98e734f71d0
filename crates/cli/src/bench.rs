//! `tangram bench`: a model here and under onnxruntime, run by run.

use crate::exit::ExitCode;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::json;
use tangram::arrays::{decode_npz, encode_npz};
use tangram::dialects;
use tangram::dialects::interpret::Datum;
use tangram::onnx::Model;
use tangram::tensor::Tensor;

use crate::error::{self, Error};
use crate::out;
use crate::run::{CompileOptions, Inputs, first_run, plain, read_inputs, refused};
use crate::values::shape;

/// Arguments of `tangram bench`.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  tangram bench model.onnx\n  tangram bench model.onnx --shape \
                        images=8,3,224,224 --threads 2\n\nBoth run on the same inputs and take \
                        turns, so that a machine that is busy slows both. A ratio below 1 says \
                        that Tangram is faster. onnxruntime is asked of `python3`, or of \
                        `--python`."
)]
pub(crate) struct BenchArgs {
    /// The model to run.
    pub(crate) model: PathBuf,
    /// The data of an input, as `images=photo.npy`, without a name for the only input; or of
    /// several, as an archive `feed.npz` that names them. Others are made up.
    #[arg(long, value_name = "[INPUT=]FILE")]
    input: Vec<String>,
    /// The extents of a made-up input, as `images=1,3,224,224`; others are chosen.
    #[arg(long, value_name = "INPUT=N,N", value_parser = shape)]
    shape: Vec<(String, Vec<usize>)>,
    /// Where random numbers start.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// How often each runs.
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Run on at most N threads; on as many as the machine has, if 0.
    #[arg(long, value_name = "N", default_value_t = 1)]
    threads: usize,
    /// The Python to ask for onnxruntime.
    #[arg(long, value_name = "COMMAND", default_value = "python3")]
    python: String,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    how: CompileOptions,
}

/// Runs the model here and there.
pub(crate) fn bench(args: &BenchArgs) -> Result<ExitCode, Error> {
    let original =
        Model::open(&args.model, dialects::context()).map_err(error::model(&args.model))?;
    let wanted = Inputs {
        model: &args.model,
        files: &args.input,
        random: Some(args.seed),
        shapes: &args.shape,
    };
    let given = read_inputs(&original.module, wanted)?;
    let session = args.how.session(&args.model, &original, args.threads)?;
    let (inputs, (outputs, _)) = first_run(&session, &original.module, &given, wanted)?;
    let mut peer = Peer::start(args, &inputs);
    let named: Vec<(&str, Datum)> =
        inputs.iter().map(|(name, datum)| (name.as_str(), datum.clone())).collect();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..args.runs {
        let start = Instant::now();
        session.run(&named).map_err(refused(&args.model))?;
        ours.push(start.elapsed().as_secs_f64());
        let Ok(running) = &mut peer else { continue };
        match running.run() {
            Some(seconds) => theirs.push(seconds),
            None => peer = Err("it stopped".to_owned()),
        }
    }
    let (peer, absent) = match peer {
        Ok(peer) => (Some(peer), None),
        Err(why) => (None, Some(why)),
    };
    let mut found = Found {
        ours: Times::of(ours),
        theirs: Times::of(theirs),
        version: peer.as_ref().map(|peer| peer.version.clone()),
        difference: peer.as_ref().and_then(|peer| difference(&outputs, &peer.outputs)),
        absent,
    };
    if found.version.is_none() {
        found.theirs = None;
    }
    out::print(match args.json {
        true => out::json(serde_json::to_string_pretty(&found.json(args)))?,
        false => found.table(args),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// onnxruntime in a process of Python.
struct Peer {
    child: Child,
    stdin: ChildStdin,
    lines: BufReader<ChildStdout>,
    version: String,
    outputs: Vec<Tensor>,
    /// Whether threads of its own watch for work for a while after a run.
    lingers: bool,
}

impl Peer {
    /// Starts it and runs it once, or says why it does not run.
    fn start(args: &BenchArgs, inputs: &[(String, Datum)]) -> Result<Peer, String> {
        let folder = tangram_files::Scratch::new().map_err(|why| why.to_string())?;
        let (feed, results) = (folder.path().join("feed.npz"), folder.path().join("outputs.npz"));
        let mut arrays = Vec::new();
        for (name, datum) in inputs {
            let Datum::Tensor(tensor) = datum else {
                return Err(format!("input `{name}` is no tensor"));
            };
            arrays.push((name.clone(), tensor.clone()));
        }
        let bytes = encode_npz(&arrays).map_err(|why| why.to_string())?;
        std::fs::write(&feed, bytes).map_err(|why| why.to_string())?;
        let child = Command::new(&args.python)
            .args(["-c", include_str!("bench.py")])
            .args([&args.model, &feed, &results])
            .arg(args.threads.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = child.map_err(|why| format!("`{}`: {why}", args.python))?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (Some(stdin), Some(stdout)) = (stdin, stdout) else {
            return Err("it has no pipes".to_owned());
        };
        let mut lines = BufReader::new(stdout);
        let mut version = String::new();
        if lines.read_line(&mut version).is_err() || version.is_empty() {
            return Err(last_words(child, &args.python));
        }
        let outputs = read_outputs(&results).map_err(|why| why.to_string())?;
        let version = version.trim().to_owned();
        Ok(Peer { child, stdin, lines, version, outputs, lingers: args.threads != 1 })
    }

    /// Runs it once; seconds.
    fn run(&mut self) -> Option<f64> {
        writeln!(self.stdin).ok()?;
        self.stdin.flush().ok()?;
        let mut line = String::new();
        self.lines.read_line(&mut line).ok()?;
        let seconds = line.trim().parse().ok()?;
        if self.lingers {
            std::thread::sleep(Duration::from_millis(10));
        }
        Some(seconds)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // Nothing is left to be done where it is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The last line that a process which ends has said.
fn last_words(child: Child, python: &str) -> String {
    let said = child.wait_with_output().map(|output| output.stderr).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it ended");
    match last.contains("No module named") {
        true => format!("{last}; `{python} -m pip install onnxruntime` installs it"),
        false => last.to_owned(),
    }
}

/// The outputs in their order.
fn read_outputs(path: &Path) -> Result<Vec<Tensor>, Error> {
    let bytes = std::fs::read(path).map_err(error::io(path))?;
    let wrong = |why: &dyn std::fmt::Display| Error::Usage(format!("{}: {why}", path.display()));
    let mut arrays = decode_npz(&bytes.into()).map_err(|why| wrong(&why))?;
    arrays.sort_by_key(|(name, _)| name.parse().unwrap_or(usize::MAX));
    Ok(arrays.into_iter().map(|(_, tensor)| tensor).collect())
}

/// The largest difference over the largest magnitude; nothing where shapes differ or elements are no
/// numbers.
fn difference(ours: &[Datum], theirs: &[Tensor]) -> Option<f64> {
    if ours.len() != theirs.len() {
        return None;
    }
    let mut most = 0.0_f64;
    for (own, other) in ours.iter().zip(theirs) {
        let Datum::Tensor(own) = own else { return None };
        if own.shape() != other.shape() {
            return None;
        }
        let (own, other) = (own.f64s().ok()?, other.f64s().ok()?);
        let scale = other.iter().filter(|x| x.is_finite()).fold(1.0_f64, |m, x| m.max(x.abs()));
        for (own, other) in own.iter().zip(&other) {
            let same = own == other || (own.is_nan() && other.is_nan());
            let apart = if same { 0.0 } else { (own - other).abs() / scale };
            most = if apart.is_nan() { f64::INFINITY } else { most.max(apart) };
        }
    }
    Some(most)
}

/// Seconds of some runs.
struct Times {
    least: f64,
    median: f64,
}

impl Times {
    fn of(mut all: Vec<f64>) -> Option<Times> {
        all.sort_by(f64::total_cmp);
        Some(Times { least: *all.first()?, median: all[all.len() / 2] })
    }
}

struct Found {
    ours: Option<Times>,
    theirs: Option<Times>,
    version: Option<String>,
    difference: Option<f64>,
    absent: Option<String>,
}

impl Found {
    /// Our time over theirs, by the least of each.
    fn ratio(&self) -> Option<f64> {
        let (ours, theirs) = (self.ours.as_ref()?, self.theirs.as_ref()?);
        Some(ours.least / theirs.least)
    }

    fn json(&self, args: &BenchArgs) -> serde_json::Value {
        let times = |times: &Option<Times>| {
            times.as_ref().map(|t| json!({"least_seconds": t.least, "median_seconds": t.median}))
        };
        json!({
            "runs": args.runs,
            "threads": args.threads,
            "tangram": times(&self.ours),
            "onnxruntime": times(&self.theirs),
            "onnxruntime_version": self.version,
            "ratio": self.ratio(),
            "difference": self.difference,
            "absent": self.absent,
        })
    }

    fn table(&self, args: &BenchArgs) -> String {
        let mut rows = plain(["run by", "least ms", "median ms"], 1);
        let ms = |seconds: f64| format!("{:.3}", seconds * 1e3);
        let theirs = format!("onnxruntime {}", self.version.as_deref().unwrap_or_default());
        for (name, times) in [("tangram", &self.ours), (theirs.as_str(), &self.theirs)] {
            if let Some(times) = times {
                rows.add_row([name.to_owned(), ms(times.least), ms(times.median)]);
            }
        }
        let threads = match args.threads {
            0 => "all threads".to_owned(),
            1 => "one thread".to_owned(),
            more => format!("{more} threads"),
        };
        let mut text = format!("{rows}\n\n{} runs each, on {threads}\n", args.runs);
        if let Some(ratio) = self.ratio() {
            text.push_str(&format!("ratio {ratio:.3}"));
            if let Some(difference) = self.difference {
                text.push_str(&format!(
                    ", largest difference {difference:.1e} of the largest magnitude"
                ));
            }
            text.push('\n');
        }
        if let Some(why) = &self.absent {
            text.push_str(&format!("without onnxruntime: {why}\n"));
        }
        text
    }
}
