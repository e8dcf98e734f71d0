//! Onnxruntime, in a process of Python.

use std::ffi::{OsStr, OsString};

use serde_json::{Value, json};
use tangram::arrays::encode_npz;
use tangram::check::Reason;
use tangram::choose::{Running, Runtime};
use tangram::dialects::interpret::Datum;
use tangram::onnx::Model;
use tangram::onnx::file::SaveOptions;
use tangram_files::Scratch;

use crate::judge::known_python;
use crate::python::Script;

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
    script: Script,
    version: String,
    /// Inputs and models.
    folder: Scratch,
    loaded: usize,
}

impl Process {
    fn start(python: &OsStr, inputs: &[(String, Datum)]) -> Result<Process, Reason> {
        let folder = Scratch::new().map_err(|why| why.to_string())?;
        let feed = folder.path().join("feed.npz");
        let array = |(name, datum): &(String, Datum)| match datum {
            Datum::Tensor(tensor) => Ok((name.clone(), tensor.clone())),
            _ => Err(format!("input `{name}` is no tensor, and only those are passed on")),
        };
        let arrays = inputs.iter().map(array).collect::<Result<Vec<_>, Reason>>()?;
        let bytes = encode_npz(&arrays).map_err(|why| why.to_string())?;
        tangram_files::write(&feed, &bytes).map_err(|why| why.to_string())?;
        let mut script = Script::start(python, SCRIPT, [&feed])?;
        let told = told(script.answer()?)?;
        let version = told["version"].as_str().unwrap_or("?").to_owned();
        Ok(Process { script, version, folder, loaded: 0 })
    }

    fn ask(&mut self, asked: &Value) -> Result<Value, Reason> {
        self.script.ask(asked).and_then(told)
    }
}

/// An answer, or what it says went wrong.
fn told(answer: Value) -> Result<Value, Reason> {
    match answer["error"].as_str() {
        Some(why) => Err(why.to_owned()),
        None => Ok(answer),
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
