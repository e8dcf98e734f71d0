//! Comparing two models by what they compute.

use std::collections::BTreeMap;
use std::fmt;

use fastrand::Rng;
use tangram_dialects::interpret::{Datum, interpret};
use tangram_dialects::{dims, dtype};
use tangram_ir::{Dim, TypeData};
use tangram_onnx::Model;
use tangram_tensor::{DType, Tensor, bf16, f16};

/// The largest difference of two models' outputs.
#[derive(Clone, PartialEq, Debug, Default)]
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
    /// Says whether the difference is within the tolerance.
    pub fn holds(&self) -> bool {
        self.relative <= self.tolerance
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.holds() { "equal" } else { "DIFFERENT" };
        write!(
            f,
            "{verdict}: largest difference {:.3e} ({:.3e} of the greatest magnitude) in `{}`, \
             tolerance {:.0e}",
            self.absolute, self.relative, self.output, self.tolerance
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

/// Evaluates both models on the same random inputs, made from `seed`, and compares all outputs.
///
/// Symbolic and unknown extents are given small sizes, the same ones throughout.
///
/// # Errors
/// Why one of them could not be evaluated, in words.
pub fn compare(a: &Model, b: &Model, seed: u64) -> Result<Difference, Reason> {
    let inputs = random_inputs(a, seed)?;
    let (left, right) = (run(a, &inputs)?, run(b, &inputs)?);
    if left.len() != right.len() {
        return Err(format!("{} outputs became {}", left.len(), right.len()));
    }
    let mut worst = Difference::default();
    for (i, (x, y)) in left.iter().zip(&right).enumerate() {
        let found = difference(x, y, format!("output {i}"))?;
        if worst.output.is_empty()
            || found.relative - found.tolerance > worst.relative - worst.tolerance
        {
            worst = found;
        }
    }
    Ok(worst)
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

/// Inputs for the main graph of `model`.
fn random_inputs(model: &Model, seed: u64) -> Result<Vec<Datum>, Reason> {
    let block = model.graph().ok_or("the model has no graph")?;
    let module = &model.module;
    let context = module.context();
    let mut random = Rng::with_seed(seed);
    let mut sizes: BTreeMap<String, i64> = BTreeMap::new();
    let mut inputs = Vec::new();
    for &arg in module.args(block) {
        let ty = module.value_type(arg);
        let element = context.element_type(ty);
        let dtype = element.and_then(|e| dtype::dtype_of(context, e));
        let dtype = dtype.ok_or("an input is no tensor of known elements")?;
        let extents: &[Dim] = match context.type_data(ty) {
            TypeData::Tensor(tensor) => &tensor.dims,
            _ => return Err("an input has an unknown rank".into()),
        };
        let shape: Vec<usize> = extents.iter().map(|&d| size(context, d, &mut sizes)).collect();
        inputs.push(Datum::Tensor(random_tensor(dtype, &shape, &mut random)?));
    }
    Ok(inputs)
}

/// The size of an extent: each symbol gets one of its own, from 2 on.
fn size(context: &tangram_ir::Context, dim: Dim, sizes: &mut BTreeMap<String, i64>) -> usize {
    let Some(expr) = dims::expr(context, dim) else { return 2 };
    for symbol in expr.symbols() {
        let next = 2 + (sizes.len() as i64 % 3);
        sizes.entry(symbol.to_owned()).or_insert(next);
    }
    let value = expr.eval(&|symbol| sizes.get(symbol).copied()).unwrap_or(2);
    usize::try_from(value).unwrap_or(2)
}

/// A number between -1 and 1.
fn unit(random: &mut Rng) -> f64 {
    random.f64() * 2.0 - 1.0
}

fn random_tensor(dtype: DType, shape: &[usize], random: &mut Rng) -> Result<Tensor, Reason> {
    let count: usize = shape.iter().product();
    macro_rules! fill {
        ($make:expr) => {{
            let data: Vec<_> = (0..count).map(|_| $make).collect();
            Tensor::from_vec(shape, data).map_err(|error| error.to_string())
        }};
    }
    // Integers are often indices: small ones stay in range.
    match dtype {
        DType::F32 => fill!(unit(random) as f32),
        DType::F64 => fill!(unit(random)),
        DType::F16 => fill!(f16::from_f64(unit(random))),
        DType::BF16 => fill!(bf16::from_f64(unit(random))),
        DType::Bool => fill!(random.bool()),
        DType::I64 => fill!(random.i64(0..2)),
        DType::I32 => fill!(random.i32(0..2)),
        DType::I16 => fill!(random.i16(0..2)),
        DType::I8 => fill!(random.i8(0..2)),
        DType::U64 => fill!(random.u64(0..2)),
        DType::U32 => fill!(random.u32(0..2)),
        DType::U16 => fill!(random.u16(0..2)),
        DType::U8 => fill!(random.u8(..)),
        DType::String => {
            let text: Vec<Vec<u8>> = (0..count).map(|i| format!("text {i}").into_bytes()).collect();
            Tensor::from_strings(shape, text).map_err(|error| error.to_string())
        }
        _ => Err(format!("there are no random inputs of {dtype}")),
    }
}
