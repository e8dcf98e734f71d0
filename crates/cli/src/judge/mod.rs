//! `--check --with onnxruntime`: another engine says whether two models compute the same.
//!
//! The reference kernels that fold constants judge the result as well, so what they have wrong they
//! do not see. Onnxruntime shares nothing with them. It is reached through Python, which has it or
//! has not: both models and made-up inputs go into a folder, a script runs both without
//! optimisations and prints how far they lie apart.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::ValueEnum;
use serde_json::{Value, json};
use tangram::arrays::encode_npz;
use tangram::check::{CheckOptions, Difference, Reason, input_names, made_up, tolerance};
use tangram::dialects::interpret::Datum;
use tangram::onnx::Model;
use tangram::onnx::edit::evaluable;
use tangram::onnx::file::SaveOptions;
use tangram::tensor::DType;

use crate::invocation;
use crate::python::Script;

/// Who compares two models.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Judge {
    /// The reference kernels.
    Tangram,
    /// Onnxruntime, where Python has it.
    Onnxruntime,
}

/// What Python runs.
const SCRIPT: &str = include_str!("onnxruntime.py");

/// How many sizes of inputs are made up at most.
const MOST_SIZES: usize = 16;

/// Runs both models in onnxruntime on `runs` inputs, and compares all outputs. `python` has it; none for
/// the one that the command was called from, or that is named.
///
/// # Errors
/// Why they could not be compared, in words.
pub fn by_onnxruntime(
    first: &Model,
    second: &Model,
    how: &CheckOptions,
    runs: usize,
    python: Option<&OsStr>,
) -> Result<Difference, Reason> {
    // What is drawn becomes an input, so that both models are given the same numbers.
    let given = [evaluable(first), evaluable(second)].map(|made| made.map_err(|e| e.to_string()));
    let [a, b] = given;
    let (a, b) = (a?, b?);
    let (first, second) = (a.as_ref().unwrap_or(first), b.as_ref().unwrap_or(second));
    let folder = tangram_files::Scratch::new().map_err(|error| error.to_string())?;
    let at = folder.path();
    for (name, model) in [("first.onnx", first), ("second.onnx", second)] {
        let saved = model.save(at.join(name), &SaveOptions::default());
        saved.map_err(|error| error.to_string())?;
    }
    write_inputs(at, first, how)?;
    let request = json!({
        "runs": runs, "exact": how.exact, "tolerance": how.tolerance, "tolerances": tolerances(),
    });
    let python = python.map_or_else(known_python, OsStr::to_owned);
    let told = run_script(&python, at, &request)?;
    let number = |name: &str| told[name].as_f64().unwrap_or(f64::INFINITY);
    match told["not_possible"].as_str() {
        Some(reason) => Err(reason.to_owned()),
        None => Ok(Difference {
            absolute: number("absolute"),
            relative: number("relative"),
            output: told["output"].as_str().unwrap_or_default().to_owned(),
            tolerance: number("tolerance"),
        }),
    }
}

/// The tolerance of each type, by numpy's name of it.
fn tolerances() -> Value {
    let named = DType::ALL.iter().map(|dtype| (dtype.name().to_owned(), json!(tolerance(*dtype))));
    Value::Object(named.collect())
}

/// Writes made-up inputs, an archive for each size, small ones first.
fn write_inputs(folder: &Path, model: &Model, how: &CheckOptions) -> Result<(), Reason> {
    let names = input_names(&model.module)?;
    let mut written = 0;
    for inputs in made_up(&model.module, how)?.take(MOST_SIZES) {
        let tensor = |(name, datum): (&String, Datum)| match datum {
            Datum::Tensor(tensor) => Ok((name.clone(), tensor)),
            _ => Err(format!("input `{name}` is no tensor, and only those are passed on")),
        };
        let arrays = names.iter().zip(inputs).map(tensor).collect::<Result<Vec<_>, Reason>>()?;
        let bytes = encode_npz(&arrays).map_err(|error| error.to_string())?;
        let path = folder.join(format!("{written:03}.npz"));
        tangram_files::write(&path, &bytes).map_err(|error| error.to_string())?;
        written += 1;
    }
    match written {
        0 => Err("the inputs are too large to be made up: give their shapes or data".to_owned()),
        _ => Ok(()),
    }
}

/// What the script prints: one JSON object.
fn run_script(python: &OsStr, folder: &Path, request: &Value) -> Result<Value, Reason> {
    let words = [folder.as_os_str().to_owned(), request.to_string().into()];
    Script::start(python, SCRIPT, words)?.answer()
}

/// The Python that the command was called from, or the one that is named, or the one on the path.
pub(crate) fn known_python() -> OsString {
    let call = invocation::current().program;
    match (call.len() > 1, std::env::var_os("TANGRAM_PYTHON")) {
        (true, _) => call[0].clone(),
        (false, Some(named)) => named,
        (false, None) => "python3".into(),
    }
}
