//! Onnxruntime, in a process of Python.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use tangram::arrays::encode_npz;
use tangram::check::Reason;
use tangram::choose::{Running, Runtime};
use tangram::dialects::interpret::Datum;
use tangram::onnx::Model;
use tangram::onnx::file::SaveOptions;
use tangram_files::Scratch;

use crate::judge::known_python;

/// What Python runs.
const SCRIPT: &str = include_str!("onnxruntime.py");

/// Onnxruntime, where Python has it.
#[derive(Debug, Default)]
pub struct Onnxruntime {
    /// The Python to ask; the one that the command was called from, or that is named, if absent.
    pub python: Option<OsString>,
}

impl Runtime for Onnxruntime {
    fn name(&self) -> &str {
        "onnxruntime"
    }

    fn start(&self, inputs: &[(String, Datum)]) -> Result<Box<dyn Running>, Reason> {
        let python = self.python.clone().unwrap_or_else(known_python);
        Ok(Box::new(Process::start(&python, inputs)?))
    }
}

/// A process that answers a line for each line.
struct Process {
    child: Child,
    stdin: ChildStdin,
    lines: BufReader<ChildStdout>,
    version: String,
    /// Inputs and models.
    folder: Scratch,
    loaded: usize,
}

impl Process {
    fn start(python: &OsString, inputs: &[(String, Datum)]) -> Result<Process, Reason> {
        let folder = Scratch::new().map_err(|why| why.to_string())?;
        let feed = folder.path().join("feed.npz");
        let array = |(name, datum): &(String, Datum)| match datum {
            Datum::Tensor(tensor) => Ok((name.clone(), tensor.clone())),
            _ => Err(format!("input `{name}` is no tensor, and only those are passed on")),
        };
        let arrays = inputs.iter().map(array).collect::<Result<Vec<_>, Reason>>()?;
        let bytes = encode_npz(&arrays).map_err(|why| why.to_string())?;
        tangram_files::write(&feed, &bytes).map_err(|why| why.to_string())?;
        let mut command = Command::new(python);
        command.args(["-c", SCRIPT]).arg(&feed);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let name = Path::new(python).display().to_string();
        let mut child = command.spawn().map_err(|error| {
            format!("`{name}` cannot be run ({error}): TANGRAM_PYTHON names another Python")
        })?;
        let pipes = (child.stdin.take(), child.stdout.take());
        let (Some(stdin), Some(stdout)) = pipes else { return Err("it has no pipes".to_owned()) };
        let lines = BufReader::new(stdout);
        let version = String::new();
        let mut process = Process { child, stdin, lines, version, folder, loaded: 0 };
        let told = process.answer().map_err(|why| format!("`{name}`: {why}"))?;
        process.version = told["version"].as_str().unwrap_or("?").to_owned();
        Ok(process)
    }

    fn ask(&mut self, asked: &Value) -> Result<Value, Reason> {
        let sent = writeln!(self.stdin, "{asked}").and_then(|()| self.stdin.flush());
        sent.map_err(|_| "onnxruntime has stopped".to_owned())?;
        self.answer()
    }

    fn answer(&mut self) -> Result<Value, Reason> {
        let mut line = String::new();
        let read = self.lines.read_line(&mut line);
        let told: Value = match read {
            Ok(1..) => serde_json::from_str(&line).map_err(|why| why.to_string())?,
            _ => return Err("onnxruntime has stopped without an answer".to_owned()),
        };
        match told["error"].as_str() {
            Some(why) => Err(why.to_owned()),
            None => Ok(told),
        }
    }
}

impl Running for Process {
    fn version(&self) -> String {
        format!("onnxruntime {}", self.version)
    }

    fn load(&mut self, model: &Model) -> Result<(), Reason> {
        let folder = self.folder.path().join(self.loaded.to_string());
        self.loaded += 1;
        std::fs::create_dir(&folder).map_err(|why| why.to_string())?;
        let path = folder.join("model.onnx");
        model.save(&path, &SaveOptions::default()).map_err(|why| why.to_string())?;
        let path = path.to_str().ok_or("the folder for temporary files has no name in Unicode")?;
        self.ask(&json!({"load": path})).map(|_| ())
    }

    fn run(&mut self, model: usize, times: usize) -> Result<f64, Reason> {
        let told = self.ask(&json!({"run": model, "times": times}))?;
        told["seconds"].as_f64().ok_or_else(|| "onnxruntime gave no time".to_owned())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Nothing is left to be done where it is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
