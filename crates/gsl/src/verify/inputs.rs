//! The inputs that an instance is evaluated on: numbers of a kind, some of them related to those of
//! the program and to each other.
//!
//! A comparison changes its mind where two inputs are nearly equal, and what rounds a quotient where
//! one input is half an odd multiple of the other: numbers drawn apart from each other are neither.

use fastrand::Rng;
use tangram_dialects::constant;
use tangram_dialects::interpret::Datum;
use tangram_dialects::nn::numbers::{exponents, limits, whole};
use tangram_dialects::nn::sample;
use tangram_ir::{Module, Traits, Value};
use tangram_tensor::elementwise::cast;
use tangram_tensor::{DType, Tensor};

use super::marks;
use super::ties;
use super::trace::is_smooth;
use super::values::{self, Profile};

/// What of a source and a target the numbers are chosen by.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// The numbers that the programs have for themselves.
    marks: Vec<f64>,
    /// Their element types.
    types: Vec<DType>,
    /// An operation jumps: it rounds, compares or chooses.
    jumps: bool,
}

impl Known {
    pub(super) fn of(modules: [&Module; 2]) -> Known {
        let jumps = modules.into_iter().any(|module| !is_smooth(module));
        Known { marks: marks::of(modules), types: ties::types(modules), jumps }
    }
}

/// Random inputs; integers beside a module of another element type are places, where operations
/// take them for such.
pub(super) fn inputs(
    module: &Module,
    base: DType,
    profile: Profile,
    known: &Known,
    rng: &mut Rng,
) -> Option<Vec<Datum>> {
    let scales = scales(module);
    let args = module.args(module.body());
    let mut made: Vec<Tensor> = Vec::with_capacity(args.len());
    for value in args {
        let (dtype, shape) = constant::static_tensor(module.context(), module.value_type(*value))?;
        let is_place = dtype == DType::I64 && base != dtype && is_place(module, *value);
        let tensor = match profile {
            _ if is_place => values::indices(dtype, &shape, profile, rng)?,
            Profile::Fractions => {
                let tensor = values::tensor(dtype, &shape, profile, &known.types, rng)?;
                marks::mark(tensor, &known.marks, rng)?
            }
            _ => values::tensor(dtype, &shape, profile, &known.types, rng)?,
        };
        let tensor = match scales.contains(value) {
            true => values::positive(tensor)?,
            false if is_place => tensor,
            false => near(tensor, &made, profile, rng)?,
        };
        made.push(tensor);
    }
    if known.jumps && profile == Profile::Fractions {
        for i in (0..made.len()).filter(|i| !scales.contains(&args[*i])) {
            made[i] = multiples(&made, i, &known.marks, rng)?;
        }
    }
    Some(made.into_iter().map(Datum::Tensor).collect())
}

/// Whether some operation takes a value for places or sizes, and not as numbers.
fn is_place(module: &Module, value: Value) -> bool {
    module.uses(value).any(|user| {
        !module.has_traits(user.op, Traits::ELEMENTWISE)
            && !module.has_traits(user.op, Traits::BROADCASTING)
            && module.last_op(module.body()) != Some(user.op)
    })
}

/// Some elements become those of an earlier input of the same type and length, or are next to them.
fn near(tensor: Tensor, made: &[Tensor], profile: Profile, rng: &mut Rng) -> Option<Tensor> {
    let is_int = tensor.dtype().is_int();
    let apart = match profile {
        Profile::Limits | Profile::Special => !is_int,
        Profile::Fractions | Profile::Wide => !tensor.dtype().is_float(),
        _ => true,
    };
    let like = |other: &&Tensor| other.dtype() == tensor.dtype() && other.len() == tensor.len();
    let others: Vec<&Tensor> = made.iter().filter(like).collect();
    let Some(&other) = rng.choice(&others).filter(|_| !apart) else { return Some(tensor) };
    let dtype = tensor.dtype();
    if let Some((least, greatest)) = limits(dtype) {
        let mut numbers = whole(&tensor)?;
        for (number, other) in numbers.iter_mut().zip(whole(other)?) {
            if rng.u8(0..3) == 0 {
                *number = (other + rng.i128(-1..=1)).clamp(least, greatest);
            }
        }
        return values::integers(dtype, tensor.shape(), numbers);
    }
    let mut numbers = tensor.f64s().ok()?;
    for (number, other) in numbers.iter_mut().zip(other.f64s().ok()?) {
        if rng.u8(0..4) == 0 {
            *number = other + marks::ulp(dtype, other) * f64::from(rng.i8(-1..=1));
        }
    }
    cast(&Tensor::from_vec(tensor.shape(), numbers).ok()?, dtype).ok()
}

/// Some elements become half a multiple of a number of the program or of another input, rounded to
/// the type.
fn multiples(made: &[Tensor], at: usize, marks: &[f64], rng: &mut Rng) -> Option<Tensor> {
    let tensor = &made[at];
    let dtype = tensor.dtype();
    if !dtype.is_float() {
        return Some(tensor.clone());
    }
    let others = made.iter().enumerate().filter(|(i, other)| *i != at && other.dtype().is_float());
    let mut units: Vec<f64> = others.filter_map(|(_, other)| other.f64s().ok()).flatten().collect();
    units.extend(marks);
    units.retain(|unit| unit.is_finite() && *unit != 0.0);
    let mut numbers = tensor.f64s().ok()?;
    for number in &mut numbers {
        if let Some(unit) = rng.choice(&units).filter(|_| rng.u8(0..3) == 0) {
            let multiple = unit * f64::from(rng.i8(-21..=21)) / 2.0;
            // What the type has no number for is of another kind.
            if multiple.abs() < 2f64.powi(exponents(dtype).0 as i32) {
                *number = multiple;
            }
        }
    }
    cast(&Tensor::from_vec(tensor.shape(), numbers).ok()?, dtype).ok()
}

/// The values that are scales of what is quantised.
fn scales(module: &Module) -> Vec<Value> {
    module.ops(module.body()).flat_map(|op| sample::scales(module, op)).collect()
}

/// Floating-point inputs in `float64`, others as they are.
pub(super) fn widen(inputs: &[Datum]) -> Option<Vec<Datum>> {
    let wide = |input: &Datum| match input {
        Datum::Tensor(t) if t.dtype().is_float() => cast(t, DType::F64).ok().map(Datum::Tensor),
        other => Some(other.clone()),
    };
    inputs.iter().map(wide).collect()
}

/// Whether any input has fractions.
pub(super) fn has_floats(inputs: &[Datum]) -> bool {
    inputs.iter().any(|input| !matches!(input, Datum::Tensor(t) if !t.dtype().is_float()))
}
