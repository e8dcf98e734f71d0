//! Comparing two models by what they compute.

mod files;
mod inputs;

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;
use tangram_dialects::interpret::{Datum, interpret};
use tangram_onnx::Model;
use tangram_onnx::edit::evaluable;
use tangram_tensor::{DType, Tensor};

pub use files::{Comparison, compare_files};
pub use inputs::{made_up, names as input_names};

/// The largest difference of two models' outputs.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Difference {
    /// The greatest absolute difference of two elements, over all outputs.
    pub absolute: f64,
    /// The same, relative to the greatest magnitude in its output.
    pub relative: f64,
    /// The output in which it was found.
    pub output: String,
    /// The tolerance for that output's element type, relative to its greatest magnitude.
    pub tolerance: f64,
}

impl Difference {
    /// Returns whether the difference is within the tolerance.
    pub fn holds(&self) -> bool {
        self.relative <= self.tolerance
    }

    /// The numbers alone.
    pub fn measured(&self) -> String {
        let Difference { absolute, relative, output, .. } = self;
        format!("{absolute:.3e} ({relative:.3e} of the greatest magnitude) in `{output}`")
    }

    /// Whether it is further above its tolerance than `other`, or greater where none is above it,
    /// or the first one at all.
    fn is_worse_than(&self, other: &Difference) -> bool {
        let excess = |one: &Difference| (one.relative - one.tolerance).max(0.0);
        let (own, others) = (excess(self), excess(other));
        other.output.is_empty() || own > others || own == others && self.relative > other.relative
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.holds() { "equal" } else { "DIFFERENT" };
        write!(
            f,
            "{verdict}: largest difference {}, tolerance {:.0e}",
            self.measured(),
            self.tolerance
        )
    }
}

/// The tolerance of an element type, relative to the greatest magnitude in a tensor.
pub fn tolerance(dtype: DType) -> f64 {
    match dtype {
        DType::F64 => 1e-9,
        DType::F32 => 1e-3,
        DType::F16 => 5e-3,
        DType::BF16 => 3e-2,
        _ if dtype.is_float() => 1e-1,
        _ => 0.0,
    }
}

/// Why two models could not be compared.
pub type Reason = String;

/// What models are compared on.
#[derive(Clone, Debug, Default)]
pub struct CheckOptions {
    /// Where random choices start.
    pub seed: u64,
    /// The extents of inputs, by name; what is not named is chosen.
    pub shapes: Vec<(String, Vec<usize>)>,
    /// The data of inputs, by name; what is not named is random.
    pub data: Vec<(String, Tensor)>,
    /// Whether results have to be equal to the last bit.
    pub exact: bool,
    /// The tolerance for floats, relative to the greatest magnitude in an output; that of the
    /// element type if absent.
    pub tolerance: Option<f64>,
}

impl CheckOptions {
    /// `found` with the tolerance that is asked for.
    fn judged(&self, mut found: Difference) -> Difference {
        if self.exact {
            found.tolerance = 0.0;
        } else if let Some(tolerance) = self.tolerance.filter(|_| found.tolerance > 0.0) {
            found.tolerance = tolerance;
        }
        found
    }
}

/// Evaluates both models on the same inputs and compares all outputs.
///
/// Extents that `options` leave open get small sizes at first, then others, until the first model
/// can be evaluated.
///
/// # Errors
/// Why one of them could not be evaluated, in words.
pub fn compare(a: &Model, b: &Model, options: &CheckOptions) -> Result<Difference, Reason> {
    let (a, b) = (evaluated(a)?, evaluated(b)?);
    let (inputs, left) = inputs::find(&a, options)?;
    let given = inputs::names(&a.module)?;
    // One of them may draw fewer numbers than the other.
    let own = |(i, name): (usize, &String)| given.iter().position(|n| n == name).unwrap_or(i);
    let theirs: Vec<usize> = inputs::names(&b.module)?.iter().enumerate().map(own).collect();
    let inputs: Option<Vec<Datum>> = theirs.iter().map(|&at| inputs.get(at).cloned()).collect();
    let right = run(&b, &inputs.ok_or("the models have different inputs")?)?;
    if left.len() != right.len() {
        return Err(format!("{} outputs became {}", left.len(), right.len()));
    }
    let mut worst = Difference::default();
    for (i, (x, y)) in left.iter().zip(&right).enumerate() {
        let found = options.judged(difference(x, y, format!("output {i}"))?);
        if found.is_worse_than(&worst) {
            worst = found;
        }
    }
    Ok(worst)
}

/// The model in a form that can be evaluated.
fn evaluated(model: &Model) -> Result<Cow<'_, Model>, Reason> {
    let made = evaluable(model).map_err(|error| error.to_string())?;
    Ok(made.map_or(Cow::Borrowed(model), Cow::Owned))
}

fn run(model: &Model, inputs: &[Datum]) -> Result<Vec<Datum>, Reason> {
    let main = model.main().ok_or("the model has no graph")?;
    interpret(&model.module, main, inputs).map_err(|error| error.to_string())
}

fn difference(a: &Datum, b: &Datum, output: String) -> Result<Difference, Reason> {
    match (a, b) {
        (Datum::Tensor(a), Datum::Tensor(b)) => tensor_difference(a, b, output),
        (Datum::Sequence(a), Datum::Sequence(b)) if a.len() == b.len() => {
            let mut worst = Difference { output: output.clone(), ..Difference::default() };
            for (a, b) in a.iter().zip(b) {
                let found = difference(a, b, output.clone())?;
                if found.relative > worst.relative {
                    worst = found;
                }
            }
            Ok(worst)
        }
        (Datum::Map { keys, values: a }, Datum::Map { keys: other, values: b }) => {
            match keys == other {
                true => tensor_difference(a, b, output),
                false => Err(format!("{output} has other keys")),
            }
        }
        _ if a == b => Ok(Difference { output, ..Difference::default() }),
        _ => Err(format!("{output} has another kind of value")),
    }
}

fn tensor_difference(a: &Tensor, b: &Tensor, output: String) -> Result<Difference, Reason> {
    if a.dtype() != b.dtype() || a.shape() != b.shape() {
        return Err(format!(
            "{output} was {}{:?} and became {}{:?}",
            a.dtype(),
            a.shape(),
            b.dtype(),
            b.shape()
        ));
    }
    let tolerance = tolerance(a.dtype());
    let (Some(x), Some(y)) = (numbers(a), numbers(b)) else {
        let relative = if a == b { 0.0 } else { f64::INFINITY };
        return Ok(Difference { absolute: relative, relative, output, tolerance });
    };
    let scale = x.iter().filter(|v| v.is_finite()).fold(1e-30f64, |m, v| m.max(v.abs()));
    let apart = |(x, y): (&f64, &f64)| match (x.is_nan(), y.is_nan()) {
        (true, true) => 0.0,
        (false, false) if x == y => 0.0,
        (false, false) => (x - y).abs(),
        _ => f64::INFINITY,
    };
    let absolute = x.iter().zip(&y).map(apart).fold(0.0, f64::max);
    Ok(Difference { absolute, relative: absolute / scale, output, tolerance })
}

fn numbers(tensor: &Tensor) -> Option<Vec<f64>> {
    if let Ok(flags) = tensor.view::<bool>() {
        return Some(flags.iter().map(|&b| f64::from(u8::from(b))).collect());
    }
    tensor.f64s().ok().or_else(|| Some(tensor.i64s().ok()?.into_iter().map(|n| n as f64).collect()))
}
